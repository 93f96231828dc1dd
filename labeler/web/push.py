"""Live push: a WebSocket that tells open pages that the golden set has changed.

=================  =============================================================================
``WS /api/live``   for leads: a page says which numbers it shows, and is told when there are newer
=================  =============================================================================

Only revisions are sent, see `Store.newest`: ``{"shows": [7, 0, 3]}`` from a page, or ``null``
from one that nobody looks at, and ``{"newest": [8, 0, 3]}`` to it. A page that was told says
what it shows once it shows it; that is how much of the server's time it took. The server's
first message is ``{"start": "..."}``, which names this start of the server.

Grading comes first: `Pace` limits the share of the server's time that pages may have, and the
more grades come in, the smaller it is. Whoever grades while a page runs waits for it, and so do
as many who come right after. Of twenty grades nineteen are as fast as without open pages only
if page runs take about a hundredth of the time.
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

LOOK_EVERY_SECONDS = 1.0  # for what other processes write
LEAST_GAP_SECONDS = 0.3  # between two runs of one page
LOOK_GAP_SECONDS = 0.1  # after a look that found something: many grades are seen at once
PATIENCE_SECONDS = 2.0
# A socket's codes for why it is closed.
NOT_ALLOWED, BAD_MESSAGE, TRY_AGAIN = 1008, 1007, 1013

# A server that is started anew knows nothing of the pages that an earlier one made.
START = uuid4().hex

log = logging.getLogger(__name__)


class LivePush:
    """Tells the open pages of the golden set at ``path`` when it moves.

    A page's run takes a hundred times as long as taking a grade: so pages run one at a time, those
    that waited longest first, and as often as their `Pace` lets them.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._pages: list[OpenPage] = []
        self._newest: Revisions | None = None
        self._pace = Pace(time.monotonic())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_wanted = asyncio.Event()
        self._is_written = asyncio.Event()
        self._is_stirred = asyncio.Event()

    def route(self) -> WebSocketRoute:
        """Return the route that pages open their sockets at."""
        return WebSocketRoute("/api/live", self._serve)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look out and tell, as long as the block runs."""
        self._loop = asyncio.get_running_loop()
        works = (self._look_out, self._tell_in_turn)
        tasks = [asyncio.create_task(_run_forever(work)) for work in works]
        try:
            with short_switch_interval():
                yield
        finally:
            self._loop = None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def look_now(self) -> None:
        """Say that something was written; in whatever thread."""
        loop = self._loop
        if loop is not None and self._pages:
            with suppress(RuntimeError):  # the loop ends: so do the pages
                loop.call_soon_threadsafe(self._is_written.set)

    async def _serve(self, socket: WebSocket) -> None:
        page = OpenPage(socket, self._path)
        try:
            welcome = await page.is_welcome()
        except DatabaseUnavailable:
            welcome = False  # and tries again
        if not welcome:
            await socket.close(NOT_ALLOWED)
            return
        await socket.accept()
        self._pages.append(page)
        self._is_wanted.set()
        self._is_written.set()
        try:
            await self._greet(page)
            async for words in socket.iter_text():
                page.hear(words)
                self._is_stirred.set()
        except WebSocketDisconnect:
            pass
        except (ValueError, TypeError, KeyError, RecursionError):  # a KeyError: it is no text
            await socket.close(BAD_MESSAGE)
        finally:
            self._pages.remove(page)

    async def _greet(self, page: OpenPage) -> None:
        """Say that it is told from now on; look again, as it was not of what was just written."""
        await page.socket.send_json({"start": START})
        with suppress(DatabaseUnavailable):
            if not await page.is_welcome():
                await self._part_with(page)

    async def _look_out(self) -> None:
        async with open_poller(self._path) as golden_set:
            seen, is_lost = None, False
            while True:
                await self._next_look()
                try:
                    if (commits := await golden_set.ask(Store.commits_of_others)) != seen:
                        is_newer = self._learn(await golden_set.ask(Store.newest))
                        if seen is None or not is_newer:
                            await self._part_with_strangers()
                        seen = commits
                        await asyncio.sleep(LOOK_GAP_SECONDS)
                    is_lost = False
                except LabelerError as error:
                    if not is_lost:
                        log.warning("open pages are not told of what is new: %s", error)
                    is_lost = True
                    await self._leave_alone()

    async def _next_look(self) -> None:
        if not self._pages:
            self._is_wanted.clear()
            await self._is_wanted.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_SECONDS):
                await self._is_written.wait()
        self._is_written.clear()

    def _learn(self, newest: Revisions) -> bool:
        """Take note of what is newest; say whether anything is newer than before."""
        before, self._newest = self._newest, newest
        if before is not None:
            self._pace.note_grades(time.monotonic(), newest[0] - before[0])
        self._is_stirred.set()
        return newest != before

    async def _part_with_strangers(self) -> None:
        """Look who is still a lead, as what was written may be that somebody is not."""
        for page in list(self._pages):
            if not await page.is_welcome():
                await self._part_with(page)

    async def _part_with(self, page: OpenPage) -> None:
        """Let a page run for the last time, so that it says why, and tell it nothing more."""
        with suppress(WebSocketDisconnect, RuntimeError):
            await page.socket.send_json({"newest": self._newest})
            await page.socket.close(NOT_ALLOWED)

    async def _leave_alone(self) -> None:
        """Let pages say that their numbers may be old, and come back once there are newer ones."""
        for page in list(self._pages):
            with suppress(WebSocketDisconnect, RuntimeError):
                await page.socket.close(TRY_AGAIN)

    async def _tell_in_turn(self) -> None:
        while True:
            page, newest = await self._next_page()
            began = page.told_at = time.monotonic()
            try:
                if not await page.is_welcome():
                    await self._part_with(page)
                    continue
            except DatabaseUnavailable:
                await self._leave_alone()
                continue
            with suppress(WebSocketDisconnect, RuntimeError):  # it has gone: `_serve` sees it, too
                await page.tell(newest, PATIENCE_SECONDS)
            now = time.monotonic()
            self._pace.spend(now, now - began)

    async def _next_page(self) -> tuple[OpenPage, Revisions]:
        """Return the page to be told, and of what, when it is time for it."""
        while True:
            self._is_stirred.clear()
            wait = None
            if (page := self._longest_behind()) is not None and self._newest is not None:
                if (wait := self._wait_for(page)) <= 0:
                    return page, self._newest
                wait = min(wait, LOOK_EVERY_SECONDS)  # it shortens as fewer grades come
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._is_stirred.wait()

    def _longest_behind(self) -> OpenPage | None:
        newest = self._newest
        behind = [page for page in self._pages if newest is not None and page.is_behind(newest)]
        return min(behind, key=lambda page: page.told_at, default=None)

    def _wait_for(self, page: OpenPage) -> float:
        now = time.monotonic()
        return max(self._pace.wait(now), page.told_at + LEAST_GAP_SECONDS - now)


async def _run_forever(work: Callable[[], Awaitable[None]]) -> None:
    """Do what does not end by itself, and begin anew where an error that nobody foresaw ends it."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("open pages were not told of what is new; they are from now on")
        await asyncio.sleep(LOOK_EVERY_SECONDS)


Revisions = tuple[int, ...]


class OpenPage:
    """A page that somebody has open; ``shows`` is None while it is busy, or nobody looks at it."""

    def __init__(self, socket: WebSocket, path: str) -> None:
        self.socket = socket
        self.path = path
        self.shows: Revisions | None = None
        self.told_at = 0.0
        self._answered = asyncio.Event()

    async def is_welcome(self) -> bool:
        """Say whether whoever has the page open is a lead, now; raises `DatabaseUnavailable` if
        nobody knows.
        """
        return await run_in_threadpool(self._is_leads)

    def _is_leads(self) -> bool:
        try:
            with Store(self.path) as store:
                return is_visitor_lead(store, self.socket)
        except DatabaseUnavailable:
            raise
        except LabelerError:
            return False  # the page says why when it runs, and the socket is tried again

    def hear(self, words: str) -> None:
        """Take note of what the page says; raises `ValueError` for anything we do not say."""
        said = json.loads(words)
        shows = said.get("shows") if isinstance(said, dict) else ()
        if shows is not None and (len(shows) != 3 or not all(isinstance(n, int) for n in shows)):
            raise ValueError(f"no revision: {words[:80]}")
        self.shows = None if shows is None else tuple(shows)
        self._answered.set()

    def is_behind(self, newest: Revisions) -> bool:
        """Say whether the page waits, and shows older numbers than there are."""
        return self.shows is not None and any(
            shown < there for shown, there in zip(self.shows, newest, strict=True)
        )

    async def tell(self, newest: Revisions, patience: float) -> None:
        """Tell the page that there are newer numbers; return once it shows them, or after a while.

        A page that does not answer is left alone until it says something.
        """
        self.shows = None
        self._answered.clear()
        try:
            async with asyncio.timeout(patience):
                await self.socket.send_json({"newest": newest})
                await self._answered.wait()
        except TimeoutError:
            return


QUIET_SHARE = 0.5  # of one core, where hardly anybody grades
HALVED_AT = 4.0  # grades a second that leave pages half of that, twice as many a fifth
LEAST_SHARE = 0.0075  # pages move slowly where many grade, but they move
SAVED_SECONDS = 1.0  # one grade on a quiet server is shown at once, on many pages
WINDOW_SECONDS = 5.0  # one who grades ten times in a second is no crowd
TURN_SECONDS = 0.0003  # Python's own are 5 ms


class Pace:
    """A purse of seconds: it fills by the share that pages may have, and each run is paid from it.

    It holds less where the share is small, so that what was saved on a quiet server is not spent
    in one go when many begin to grade. Times are of one clock, in seconds.
    """

    def __init__(self, now: float) -> None:
        self._purse = SAVED_SECONDS
        self._filled_at = now
        self._graded: deque[tuple[float, int]] = deque()

    def note_grades(self, now: float, count: int) -> None:
        """Take note that so many grades came in since the last time."""
        self._fill(now)
        self._graded.append((now, count))

    def spend(self, now: float, seconds: float) -> None:
        """Pay for one page's run; a long one may leave a debt."""
        self._fill(now)
        self._purse -= seconds

    def wait(self, now: float) -> float:
        """Return in how many seconds another page may run, 0 for now."""
        self._fill(now)
        return max(0.0, -self._purse / self._share(now))

    def _fill(self, now: float) -> None:
        share = self._share(now)
        self._purse += (now - self._filled_at) * share
        self._purse = min(SAVED_SECONDS * share / QUIET_SHARE, self._purse)
        self._filled_at = now

    def _share(self, now: float) -> float:
        while self._graded and self._graded[0][0] < now - WINDOW_SECONDS:
            self._graded.popleft()
        grades_a_second = sum(count for _, count in self._graded) / WINDOW_SECONDS
        return max(LEAST_SHARE, QUIET_SHARE / (1 + (grades_a_second / HALVED_AT) ** 2))


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Let threads take turns more often, as long as the block runs.

    A grade takes the interpreter a dozen times, after every statement that waits for the disk.
    While a page runs, each time it waits until that page's turn is over.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
