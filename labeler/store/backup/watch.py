"""What the server does for its file beside the pages: folds the log at rest, makes backups.

Knows nothing of requests; the pages go on whatever fails here, and what fails is said in the log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from labeler.errors import LabelerError
from labeler.store import Store, copying
from labeler.store.addresses import is_address
from labeler.store.backup import backups
from labeler.store.backup.backups import Schedule
from labeler.store.folding import fold

LOOK_EVERY_SECONDS = 1.0
REST_SECONDS = 10.0  # without a write: a copy that somebody makes now has everything
LONGEST_SECONDS = 60.0  # for those who never rest: the log is not to grow without end

log = logging.getLogger(__name__)


class Rest:
    """When the log was last written to, and how long something in it has waited to be folded."""

    def __init__(self, now: float, rest_seconds: float = REST_SECONDS) -> None:
        self._rest_seconds = rest_seconds
        self._written_at = self._waits_since = now
        self._waits = True

    def note_write(self, now: float) -> None:
        """Note that somebody has written."""
        self._written_at = now
        if not self._waits:
            self._waits, self._waits_since = True, now

    def note_folded(self) -> None:
        """Note that nothing waits any more."""
        self._waits = False

    def is_time(self, now: float) -> bool:
        """Say whether to fold now."""
        rests = now - self._written_at >= self._rest_seconds
        return self._waits and (rests or now - self._waits_since >= LONGEST_SECONDS)


class Watch:
    """Looks after the golden set at ``path`` while the server runs."""

    def __init__(
        self,
        path: str,
        schedule: Schedule | None = None,
        *,
        rest_seconds: float = REST_SECONDS,
        look_every: float = LOOK_EVERY_SECONDS,
    ) -> None:
        self._path = path
        self._schedule = schedule
        self._rest_seconds = rest_seconds
        self._look_every = look_every

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look after the file as long as the block runs."""
        work = [] if is_address(self._path) else [self._fold_at_rest()]
        if self._schedule is not None:
            work.append(self._back_up(self._schedule))
        tasks = [asyncio.create_task(each) for each in work]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _fold_at_rest(self) -> None:
        with Store(self._path) as store:
            rest = Rest(time.monotonic(), self._rest_seconds)
            seen = store.commits_of_others()
            while True:
                await asyncio.sleep(self._look_every)
                try:
                    if (commits := store.commits_of_others()) != seen:
                        rest.note_write(time.monotonic())
                        seen = commits
                    if rest.is_time(time.monotonic()) and await asyncio.to_thread(fold, self._path):
                        rest.note_folded()
                except LabelerError as error:  # somebody writes: there is another look
                    log.debug("the log is not folded yet: %s", error)

    async def _back_up(self, schedule: Schedule) -> None:
        await asyncio.sleep(self._until_first(schedule))
        with Store(self._path) as store:
            seen: int | None = None
            while True:
                try:
                    if (commits := store.commits_of_others()) != seen:
                        path = Path(self._path)
                        made = await asyncio.to_thread(backups.back_up_in_series, path, schedule)
                        seen = commits
                        if made.odd:
                            log.warning("%s", made)
                except LabelerError as error:  # those that are there stay
                    log.error("no backup was made: %s", error)
                await asyncio.sleep(schedule.every.total_seconds())

    def _until_first(self, schedule: Schedule) -> float:
        """Return how many seconds the newest backup of an earlier server is still new enough."""
        try:
            golden_set = copying.newest_of(Path(self._path)).golden_set
            made = backups.series(schedule.folder, Path(self._path).stem, golden_set)
        except (LabelerError, OSError):
            return 0.0
        if not made:
            return 0.0
        due = backups.moment_of(made[-1]) + schedule.every - datetime.now(UTC)
        return min(max(due.total_seconds(), 0.0), schedule.every.total_seconds())
