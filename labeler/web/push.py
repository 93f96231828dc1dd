"""Live push: a WebSocket that tells open pages that the golden set has changed.

=================  =============================================================================
``WS /api/live``   for leads: a page sends which numbers it shows and is notified of newer ones
=================  =============================================================================

Only revisions are sent, see `GoldenSet.newest`: ``{"shows": [7, 0, 3]}`` from a page, or ``null``
from one that nobody looks at, and ``{"newest": [8, 0, 3]}`` to it. A notified page answers once
it shows the new numbers; the time until then is what its run cost the server. The server's first
message is ``{"start": "..."}``, an id that changes with every start of the server.

Grading comes first: `Pace` limits the share of the server's time that pages may have, and lowers
it as more grades arrive. A grade sent while a page runs waits for it, and so do those right
after it. Nineteen of twenty grades are as fast as without open pages only if page runs take
about a hundredth of the time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from uuid import uuid4

from starlette.concurrency import run_in_threadpool
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from labeler.errors import DatabaseUnavailable, LabelerError
from labeler.store import Store
from labeler.web.auth.middleware import is_visitor_lead
from labeler.web.poller import open_poller

LOOK_EVERY_SECONDS = 1.0  # for writes by other processes
LEAST_GAP_SECONDS = 0.3  # between two runs of one page
LOOK_GAP_SECONDS = 0.1  # after a change was found, so that many grades are seen at once
PATIENCE_SECONDS = 2.0
# WebSocket close codes
NOT_ALLOWED, BAD_MESSAGE, TRY_AGAIN = 1008, 1007, 1013

# After a restart the server does not know the pages that were opened before it.
START = uuid4().hex

log = logging.getLogger(__name__)


class LivePush:
    """Sends the newest revisions to the open pages of the golden set at ``path``.

    A page's run takes a hundred times as long as accepting a grade. So pages run one at a time, the
    longest waiting first, and as often as `Pace` permits.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._pages: list[OpenPage] = []
        self._newest: Revisions | None = None
        self._pace = Pace(time.monotonic())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_wanted = asyncio.Event()
        self._is_written = asyncio.Event()
        self._has_news = asyncio.Event()

    def route(self) -> WebSocketRoute:
        """Return the WebSocket route for pages."""
        return WebSocketRoute("/api/live", self._serve)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch for changes and notify pages while the block runs."""
        self._loop = asyncio.get_running_loop()
        loops = (self._watch, self._notify_in_turn)
        tasks = [asyncio.create_task(_run_forever(loop)) for loop in loops]
        try:
            with short_switch_interval():
                yield
        finally:
            self._loop = None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def look_now(self) -> None:
        """Signal that something was written; thread-safe."""
        loop = self._loop
        if loop is not None and self._pages:
            with suppress(RuntimeError):  # the loop is closing, and the pages with it
                loop.call_soon_threadsafe(self._is_written.set)

    async def _serve(self, socket: WebSocket) -> None:
        page = OpenPage(socket, self._path)
        try:
            welcome = await page.is_welcome()
        except DatabaseUnavailable:
            welcome = False  # the page tries again
        if not welcome:
            await socket.close(NOT_ALLOWED)
            return
        await socket.accept()
        self._pages.append(page)
        self._is_wanted.set()
        self._is_written.set()
        try:
            await self._greet(page)
            async for message in socket.iter_text():
                page.hear(message)
                self._has_news.set()
        except WebSocketDisconnect:
            pass
        except (ValueError, TypeError, KeyError, RecursionError):  # KeyError: not a text message
            await socket.close(BAD_MESSAGE)
        finally:
            self._pages.remove(page)

    async def _greet(self, page: OpenPage) -> None:
        """Send the start message, and check access again, as it may have changed."""
        await page.socket.send_json({"start": START})
        with suppress(DatabaseUnavailable):
            if not await page.is_welcome():
                await self._dismiss(page)

    async def _watch(self) -> None:
        async with open_poller(self._path) as golden_set:
            seen, is_lost = None, False
            while True:
                await self._next_look()
                try:
                    if (
                        commits := await golden_set.ask(
                            lambda store: store.golden_set.commits_of_others()
                        )
                    ) != seen:
                        is_newer = self._note_newest(
                            await golden_set.ask(lambda store: store.golden_set.newest())
                        )
                        if seen is None or not is_newer:
                            await self._dismiss_non_leads()
                        seen = commits
                        await asyncio.sleep(LOOK_GAP_SECONDS)
                    is_lost = False
                except LabelerError as error:
                    if not is_lost:
                        log.warning("open pages are not told of what is new: %s", error)
                    is_lost = True
                    await self._close_all()

    async def _next_look(self) -> None:
        if not self._pages:
            self._is_wanted.clear()
            await self._is_wanted.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_SECONDS):
                await self._is_written.wait()
        self._is_written.clear()

    def _note_newest(self, newest: Revisions) -> bool:
        """Store the newest revisions, and return whether any is newer than before."""
        before, self._newest = self._newest, newest
        if before is not None:
            self._pace.note_grades(time.monotonic(), newest[0] - before[0])
        self._has_news.set()
        return newest != before

    async def _dismiss_non_leads(self) -> None:
        """Check who is still a lead, as the change may have removed one."""
        for page in list(self._pages):
            if not await page.is_welcome():
                await self._dismiss(page)

    async def _dismiss(self, page: OpenPage) -> None:
        """Let a page run a last time, to show why, and close its socket."""
        with suppress(WebSocketDisconnect, RuntimeError):
            await page.socket.send_json({"newest": self._newest})
            await page.socket.close(NOT_ALLOWED)

    async def _close_all(self) -> None:
        """Close all sockets: pages then warn that numbers may be old, and reconnect later."""
        for page in list(self._pages):
            with suppress(WebSocketDisconnect, RuntimeError):
                await page.socket.close(TRY_AGAIN)

    async def _notify_in_turn(self) -> None:
        while True:
            page, newest = await self._next_page()
            began = page.told_at = time.monotonic()
            try:
                if not await page.is_welcome():
                    await self._dismiss(page)
                    continue
            except DatabaseUnavailable:
                await self._close_all()
                continue
            with suppress(WebSocketDisconnect, RuntimeError):  # `_serve` handles the disconnect
                await page.tell(newest, PATIENCE_SECONDS)
            now = time.monotonic()
            self._pace.spend(now, now - began)

    async def _next_page(self) -> tuple[OpenPage, Revisions]:
        """Wait for the next page that may run; return it with the newest revisions."""
        while True:
            self._has_news.clear()
            wait = None
            if (page := self._longest_behind()) is not None and self._newest is not None:
                if (wait := self._wait_for(page)) <= 0:
                    return page, self._newest
                wait = min(wait, LOOK_EVERY_SECONDS)  # the wait shortens as fewer grades arrive
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._has_news.wait()

    def _longest_behind(self) -> OpenPage | None:
        newest = self._newest
        behind = [page for page in self._pages if newest is not None and page.is_behind(newest)]
        return min(behind, key=lambda page: page.told_at, default=None)

    def _wait_for(self, page: OpenPage) -> float:
        now = time.monotonic()
        return max(self._pace.wait(now), page.told_at + LEAST_GAP_SECONDS - now)


async def _run_forever(work: Callable[[], Awaitable[None]]) -> None:
    """Run an endless task, and restart it after an unexpected error."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("open pages were not told of what is new; they are from now on")
        await asyncio.sleep(LOOK_EVERY_SECONDS)


Revisions = tuple[int, ...]


class OpenPage:
    """An open page; ``shows`` is None while it is busy or nobody looks at it."""

    def __init__(self, socket: WebSocket, path: str) -> None:
        self.socket = socket
        self.path = path
        self.shows: Revisions | None = None
        self.told_at = 0.0
        self._answered = asyncio.Event()

    async def is_welcome(self) -> bool:
        """Return whether its visitor is a lead now.

        Raises `DatabaseUnavailable` if that cannot be read.
        """
        return await run_in_threadpool(self._is_leads)

    def _is_leads(self) -> bool:
        try:
            with Store(self.path) as store:
                return is_visitor_lead(store, self.socket)
        except DatabaseUnavailable:
            raise
        except LabelerError:
            return False  # the page says why when it runs, and opens the socket again

    def hear(self, message: str) -> None:
        """Store the revisions that the page shows; raise `ValueError` for another message."""
        parsed = json.loads(message)
        shows = parsed.get("shows") if isinstance(parsed, dict) else ()
        if shows is not None and (len(shows) != 3 or not all(isinstance(n, int) for n in shows)):
            raise ValueError(f"no revision: {message[:80]}")
        self.shows = None if shows is None else tuple(shows)
        self._answered.set()

    def is_behind(self, newest: Revisions) -> bool:
        """Return whether the page is idle and shows older numbers than the newest."""
        return self.shows is not None and any(
            shown < there for shown, there in zip(self.shows, newest, strict=True)
        )

    async def tell(self, newest: Revisions, patience: float) -> None:
        """Notify the page of newer numbers, and wait until it shows them.

        After ``patience`` seconds the wait ends, and the page is not notified again until it sends
        something.
        """
        self.shows = None
        self._answered.clear()
        try:
            async with asyncio.timeout(patience):
                await self.socket.send_json({"newest": newest})
                await self._answered.wait()
        except TimeoutError:
            return


QUIET_SHARE = 0.5  # of one core, while hardly anybody grades
HALVED_AT = 4.0  # grades per second at which the share is halved; at twice as many it is a fifth
LEAST_SHARE = 0.0075  # while many grade, pages update slowly, but they do
SAVED_SECONDS = 1.0  # so that one grade on a quiet server is shown at once on many pages
WINDOW_SECONDS = 5.0  # ten grades of one person within a second are not many graders
TURN_SECONDS = 0.0003  # Python's default is 5 ms


class Pace:
    """An allowance of seconds for page runs, which grows by the share of time that pages may have.

    Its limit shrinks with the share, so that what was saved on a quiet server is not spent at once
    when many begin to grade. Times are in seconds, of one clock.
    """

    def __init__(self, now: float) -> None:
        self._saved = SAVED_SECONDS
        self._filled_at = now
        self._graded: deque[tuple[float, int]] = deque()

    def note_grades(self, now: float, count: int) -> None:
        """Record how many grades arrived since the last call."""
        self._fill(now)
        self._graded.append((now, count))

    def spend(self, now: float, seconds: float) -> None:
        """Subtract one page's run from the allowance; a long run may leave a debt."""
        self._fill(now)
        self._saved -= seconds

    def wait(self, now: float) -> float:
        """Return in how many seconds another page may run, 0 for now."""
        self._fill(now)
        return max(0.0, -self._saved / self._share(now))

    def _fill(self, now: float) -> None:
        share = self._share(now)
        self._saved += (now - self._filled_at) * share
        self._saved = min(SAVED_SECONDS * share / QUIET_SHARE, self._saved)
        self._filled_at = now

    def _share(self, now: float) -> float:
        while self._graded and self._graded[0][0] < now - WINDOW_SECONDS:
            self._graded.popleft()
        grades_a_second = sum(count for _, count in self._graded) / WINDOW_SECONDS
        return max(LEAST_SHARE, QUIET_SHARE / (1 + (grades_a_second / HALVED_AT) ** 2))


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Shorten the interpreter's switch interval while the block runs.

    Saving a grade needs the interpreter a dozen times, after every statement that waits for the
    disk. While a page runs, it waits each time for the end of the page's turn.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
