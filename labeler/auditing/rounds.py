"""Every five seconds: seals for what was graded since, and refusals of minutes that are over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.concurrency import run_in_threadpool

from labeler.auditing.refusals import Minute, Refusals
from labeler.errors import LabelerError
from labeler.model import Actor
from labeler.store import Store

EVERY_SECONDS = 5.0

log = logging.getLogger(__name__)


@asynccontextmanager
async def keep_books(
    path: str, refusals: Refusals, every: float = EVERY_SECONDS
) -> AsyncIterator[None]:
    """Make rounds while the block runs, and a last one after it."""
    task = asyncio.create_task(_make_rounds(path, refusals, every))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await run_in_threadpool(write_up, path, refusals, refusals.all())


async def _make_rounds(path: str, refusals: Refusals, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        await run_in_threadpool(write_up, path, refusals, refusals.finished())


def write_up(path: str, refusals: Refusals, refused: list[Minute]) -> None:
    """Seal what is new and put refusals into the audit; what fails is tried in the next round."""
    try:
        with Store(path) as store:
            while refused:
                write_minute(store, refused[0])
                refused.pop(0)
            store.seal()
    except LabelerError as error:
        refusals.put_back(refused)
        log.warning("what was graded lately is not sealed yet: %s", error)


def write_minute(store: Store, minute: Minute) -> None:
    """Put what was refused within a minute into the audit, as one entry."""
    store.actor = Actor(None, "unknown", minute.addresses[0] if minute.addresses else None)
    others = ", and others" if minute.others else ""
    more = {"from": ", ".join(minute.addresses) + others} if len(minute.addresses) > 1 else {}
    store.note("refuse", minute.kind, more, at=minute.at, count=minute.count)
