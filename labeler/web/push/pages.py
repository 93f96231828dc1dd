"""One open page at the other end of a socket: what it shows, and whether it may be told more."""

from __future__ import annotations

import asyncio
import json

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket

from labeler.errors import Away, LabelerError
from labeler.store import Store
from labeler.web.auth.guarding import comes_as_lead

Newest = tuple[int, ...]


class OpenPage:
    """A page that somebody has open; ``shows`` is None while it is busy, or nobody looks at it."""

    def __init__(self, socket: WebSocket, path: str) -> None:
        self.socket = socket
        self.path = path
        self.shows: Newest | None = None
        self.told_at = 0.0
        self._answered = asyncio.Event()

    async def is_welcome(self) -> bool:
        """Say whether whoever has the page open is a lead, now; raises `Away` if nobody knows."""
        return await run_in_threadpool(self._is_leads)

    def _is_leads(self) -> bool:
        try:
            with Store(self.path) as store:
                return comes_as_lead(store, self.socket)
        except Away:
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

    def is_behind(self, newest: Newest) -> bool:
        """Say whether the page waits, and shows older numbers than there are."""
        return self.shows is not None and any(
            shown < there for shown, there in zip(self.shows, newest, strict=True)
        )

    async def tell(self, newest: Newest, patience: float) -> None:
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
