"""Repeated reads of a golden set in a thread of their own, while the server's event loop goes on.

A connection belongs to one thread, and a database may be far away, slow or gone, so each poller
keeps one thread and one connection.
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
    """A golden set that is kept open in a thread of its own."""

    def __init__(self, path: str, thread: ThreadPoolExecutor) -> None:
        self._path = path
        self._thread = thread
        self._store: Store | None = None

    async def ask(self, question: Callable[[Store], Answer]) -> Answer:
        """Return what a question about the golden set is answered; raises as the store does."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, question)

    def _ask(self, question: Callable[[Store], Answer]) -> Answer:
        if self._store is None:
            self._store = Store(self._path)
        return question(self._store)

    def close(self) -> None:
        """Close the golden set."""
        if self._store is not None:
            self._store.close()


@asynccontextmanager
async def open_poller(path: str) -> AsyncIterator[Poller]:
    """Watch the golden set at ``path`` as long as the block runs."""
    thread = ThreadPoolExecutor(1, "watches the golden set")
    watcher = Poller(path, thread)
    try:
        yield watcher
    finally:
        thread.submit(watcher.close)
        thread.shutdown(wait=False)
