"""Learns that the golden set has moved, and tells open pages of it, one after another."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from labeler.errors import Away, LabelerError
from labeler.store import Store
from labeler.web.push.pace import Pace, short_turns
from labeler.web.push.pages import Newest, OpenPage
from labeler.web.push.watching import watching

LOOK_EVERY_SECONDS = 1.0  # for what other processes write
LEAST_GAP_SECONDS = 0.3  # between two runs of one page
LOOK_GAP_SECONDS = 0.1  # after a look that found something: many grades are seen at once
PATIENCE_SECONDS = 2.0
# A socket's codes for why it is closed.
NOT_WELCOME, NOT_UNDERSTOOD, COME_BACK = 1008, 1007, 1013

# A server that is started anew knows nothing of the pages that an earlier one made.
START = uuid4().hex

log = logging.getLogger(__name__)


class Telling:
    """Tells the open pages of the golden set at ``path`` when it moves.

    A page's run takes a hundred times as long as taking a grade: so pages run one at a time, those
    that waited longest first, and as often as their `Pace` lets them.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._pages: list[OpenPage] = []
        self._newest: Newest | None = None
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
        tasks = [asyncio.create_task(_keep_doing(work)) for work in works]
        try:
            with short_turns():
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
        except Away:
            welcome = False  # and tries again
        if not welcome:
            await socket.close(NOT_WELCOME)
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
            await socket.close(NOT_UNDERSTOOD)
        finally:
            self._pages.remove(page)

    async def _greet(self, page: OpenPage) -> None:
        """Say that it is told from now on; look again, as it was not of what was just written."""
        await page.socket.send_json({"start": START})
        with suppress(Away):
            if not await page.is_welcome():
                await self._part_with(page)

    async def _look_out(self) -> None:
        async with watching(self._path) as golden_set:
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

    def _learn(self, newest: Newest) -> bool:
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
            await page.socket.close(NOT_WELCOME)

    async def _leave_alone(self) -> None:
        """Let pages say that their numbers may be old, and come back once there are newer ones."""
        for page in list(self._pages):
            with suppress(WebSocketDisconnect, RuntimeError):
                await page.socket.close(COME_BACK)

    async def _tell_in_turn(self) -> None:
        while True:
            page, newest = await self._next_page()
            began = page.told_at = time.monotonic()
            try:
                if not await page.is_welcome():
                    await self._part_with(page)
                    continue
            except Away:
                await self._leave_alone()
                continue
            with suppress(WebSocketDisconnect, RuntimeError):  # it has gone: `_serve` sees it, too
                await page.tell(newest, PATIENCE_SECONDS)
            now = time.monotonic()
            self._pace.spend(now, now - began)

    async def _next_page(self) -> tuple[OpenPage, Newest]:
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


async def _keep_doing(work: Callable[[], Awaitable[None]]) -> None:
    """Do what does not end by itself, and begin anew where an error that nobody foresaw ends it."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("open pages were not told of what is new; they are from now on")
        await asyncio.sleep(LOOK_EVERY_SECONDS)
