"""Seals for what was graded, and the refusals of minutes that are over: soon, and in one go.

While grading rests it writes nothing, so that the log can be folded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.concurrency import run_in_threadpool

from labeler.errors import LabelerError
from labeler.model import Actor
from labeler.store import Store
from labeler.web.audit_log.refusals import Minute, Refusals
from labeler.web.push.watching import watching

LOOK_EVERY_SECONDS = 1.0
MOST_LOOKS = 5  # while people grade and never rest
LOOKS_AFTER_FAILURE = 10

log = logging.getLogger(__name__)


@asynccontextmanager
async def keep_books(
    path: str, refusals: Refusals, every: float = LOOK_EVERY_SECONDS
) -> AsyncIterator[None]:
    """Make rounds while the block runs, and a last one after it."""
    task = asyncio.create_task(_make_rounds(path, refusals, every))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with suppress(LabelerError):
            await run_in_threadpool(write_up, path, refusals.all())


async def _make_rounds(path: str, refusals: Refusals, every: float) -> None:
    seen, waits = None, 0
    async with watching(path) as golden_set:
        while True:
            await asyncio.sleep(every)
            refused = refusals.finished()
            try:
                moved = (commits := await golden_set.ask(Store.commits_of_others)) != seen
                seen, waits = commits, waits + 1 if moved or waits else 0
                if refused or (waits and not moved) or waits >= MOST_LOOKS:
                    await run_in_threadpool(write_up, path, refused)
                    waits = 0
            except LabelerError as error:
                refusals.put_back(refused)
                log.warning("what was done lately is not sealed or not in the audit yet: %s", error)
                await asyncio.sleep(every * LOOKS_AFTER_FAILURE)


def write_up(path: str, refused: list[Minute]) -> None:
    """Seal what is new and put refusals into the audit; what is written is out of the list."""
    with Store(path) as store:
        while refused:
            write_minute(store, refused[0])
            refused.pop(0)
        store.seal()


def write_minute(store: Store, minute: Minute) -> None:
    """Put what was refused within a minute into the audit, as one entry."""
    store.actor = Actor(None, "unknown", minute.addresses[0] if minute.addresses else None)
    others = ", and others" if minute.others else ""
    more = {"from": ", ".join(minute.addresses) + others} if len(minute.addresses) > 1 else {}
    store.note("refuse", minute.kind, more, at=minute.at, count=minute.count)
