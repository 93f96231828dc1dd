"""Repeated reads of a golden set in a separate thread, while the server's event loop continues.

A connection belongs to one thread, and a database may be remote, slow or unavailable, so each
poller keeps one thread and one connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from labeler.store import Store

Answer = TypeVar("Answer")


class Poller:
    """A golden set kept open in a separate thread."""

    def __init__(self, path: str, thread: ThreadPoolExecutor) -> None:
        self._path = path
        self._thread = thread
        self._store: Store | None = None

    async def ask(self, function: Callable[[Store], Answer]) -> Answer:
        """Return ``function(store)``, called in the thread; raise what ``function`` raises."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, function)

    def _ask(self, function: Callable[[Store], Answer]) -> Answer:
        if self._store is None:
            self._store = Store(self._path)
        return function(self._store)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()


@asynccontextmanager
async def open_poller(path: str) -> AsyncIterator[Poller]:
    """Open a poller of the golden set at ``path`` for the duration of the block."""
    thread = ThreadPoolExecutor(1, "watches the golden set")
    poller = Poller(path, thread)
    try:
        yield poller
    finally:
        thread.submit(poller.close)
        thread.shutdown(wait=False)
