"""Slows guesses at links and counts them; a link that works is never asked about here."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable

MINUTE_SECONDS = 60.0
SLOWER_BY_SECONDS = 0.05  # with every wrong guess of the last minute
LONGEST_SECONDS = 3.0
MOST_WAITING = 50

log = logging.getLogger(__name__)


class Guesses:
    """The links of the last minute that did not work, whoever tried them.

    An answer to a wrong one comes later the more there were, and while too many wait, at once and
    without a word: nobody who has a link that works waits for any of them, whatever they share.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause = pause
        self._wrong: deque[float] = deque()
        self._untold = 0
        self._waiting = 0

    async def slow(self) -> bool:
        """Take note of a wrong guess and wait; say whether it is to be answered in words."""
        self._note(time.monotonic())
        if self._waiting >= MOST_WAITING:
            return False
        self._waiting += 1
        try:
            await self._pause(min(SLOWER_BY_SECONDS * len(self._wrong), LONGEST_SECONDS))
        finally:
            self._waiting -= 1
        return True

    def _note(self, now: float) -> None:
        while self._wrong and self._wrong[0] < now - MINUTE_SECONDS:
            self._wrong.popleft()
        self._wrong.append(now)
        if len(self._wrong) > LONGEST_SECONDS / SLOWER_BY_SECONDS:
            self._wrong.popleft()  # more make no difference, and would fill the memory
        self._untold += 1
        if self._untold == 1:
            asyncio.get_running_loop().call_later(MINUTE_SECONDS, self._tell)

    def _tell(self) -> None:
        """Write to the log how many there were: one line a minute, whatever a stranger does."""
        log.warning("links that do not work were opened %d times in a minute", self._untold)
        self._untold = 0
