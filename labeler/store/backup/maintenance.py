"""Maintenance of a golden-set file by the running server: checkpoints and backups.

SQLite from 3.7.0 to 3.51.2 can lose committed data
(https://sqlite.org/wal.html#walresetbug). A checkpoint reads the length of the log, and then how
much of it is in the file already. If a commit restarts the log in between, the checkpoint applies
the old length to the new log. So a checkpoint runs only here, while this
process holds the one write lock. No connection checkpoints automatically
(``wal_autocheckpoint = 0``), except the last one to close, which has the file to itself. Failures
are logged and do not stop the pages.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from labeler.errors import LabelerError
from labeler.store import Store
from labeler.store.addresses import is_address
from labeler.store.backup import backups
from labeler.store.backup.backups import Schedule
from labeler.store.connection import Connection

CHECKPOINT_WAIT_SECONDS = 1.0
FIXED_IN = (3, 51, 3)
BACKPORTED_TO = ((3, 44, 6), (3, 50, 7))  # and later releases of 3.44 and 3.50


def checkpoint(path: str | Path) -> bool:
    """Fold the log of the golden set at ``path``; return whether all of it is in the file now.

    A reader of an older state keeps the rest in the log. Writers wait for about as long as the log
    takes to copy. Raises `Busy` where another process is writing.
    """
    with (
        Connection(path, busy_seconds=CHECKPOINT_WAIT_SECONDS) as guard,
        Connection(path) as folder,
        guard.transaction(),
    ):
        [(_, length, folded)] = folder.rows("PRAGMA wal_checkpoint(PASSIVE)")
        return bool(length == folded)


def has_wal_reset_bug(version: Sequence[int] = sqlite3.sqlite_version_info) -> bool:
    """Return whether a version of SQLite has the WAL-reset bug.

    >>> [has_wal_reset_bug(each) for each in ((3, 40, 1), (3, 44, 6), (3, 51, 2), (3, 51, 3))]
    [True, False, True, False]
    """
    given = tuple(version)
    backported = any(given[:2] == fixed[:2] and given >= fixed for fixed in BACKPORTED_TO)
    return given < FIXED_IN and not backported


POLL_SECONDS = 1.0
IDLE_SECONDS = 10.0  # without a write, then a checkpoint: a plain copy of the file is complete
LONGEST_WAIT_SECONDS = 60.0  # under constant writes, so that the log stays small

log = logging.getLogger(__name__)


class IdleTimer:
    """Timer of checkpoints: when the log was last written to, and since when it has waited."""

    def __init__(self, now: float, rest_seconds: float = IDLE_SECONDS) -> None:
        self._rest_seconds = rest_seconds
        self._written_at = self._waits_since = now
        self._waits = True

    def note_write(self, now: float) -> None:
        """Note a write."""
        self._written_at = now
        if not self._waits:
            self._waits, self._waits_since = True, now

    def note_checkpoint(self) -> None:
        """Note that all of the log is in the file."""
        self._waits = False

    def is_time(self, now: float) -> bool:
        """Return whether to run a checkpoint now."""
        rests = now - self._written_at >= self._rest_seconds
        return self._waits and (rests or now - self._waits_since >= LONGEST_WAIT_SECONDS)


class FileMaintenance:
    """Runs checkpoints and backups of the golden set at ``path`` while the server runs."""

    def __init__(
        self,
        path: str,
        schedule: Schedule | None = None,
        *,
        rest_seconds: float = IDLE_SECONDS,
        look_every: float = POLL_SECONDS,
    ) -> None:
        self._path = path
        self._schedule = schedule
        self._rest_seconds = rest_seconds
        self._look_every = look_every

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run checkpoints and backups during the block."""
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
            rest = IdleTimer(time.monotonic(), self._rest_seconds)
            seen = store.golden_set.commits_of_others()
            while True:
                await asyncio.sleep(self._look_every)
                try:
                    if (commits := store.golden_set.commits_of_others()) != seen:
                        rest.note_write(time.monotonic())
                        seen = commits
                    if rest.is_time(time.monotonic()) and await asyncio.to_thread(
                        checkpoint, self._path
                    ):
                        rest.note_checkpoint()
                except LabelerError as error:  # somebody is writing: try again at the next poll
                    log.debug("the log is not folded yet: %s", error)

    async def _back_up(self, schedule: Schedule) -> None:
        await asyncio.sleep(self._until_first(schedule))
        with Store(self._path) as store:
            seen: int | None = None
            while True:
                try:
                    if (commits := store.golden_set.commits_of_others()) != seen:
                        path = Path(self._path)
                        made = await asyncio.to_thread(backups.back_up_in_series, path, schedule)
                        seen = commits
                        if made.odd:
                            log.warning("%s", made)
                except LabelerError as error:  # earlier backups stay
                    log.error("no backup was made: %s", error)
                await asyncio.sleep(schedule.every.total_seconds())

    def _until_first(self, schedule: Schedule) -> float:
        """Return the seconds until the first backup, due one interval after the newest there is."""
        try:
            golden_set = backups.position_in_file(Path(self._path)).golden_set
            made = backups.backups_in_series(schedule.folder, Path(self._path).stem, golden_set)
        except (LabelerError, OSError):
            return 0.0
        if not made:
            return 0.0
        due = backups.backup_time(made[-1]) + schedule.every - datetime.now(UTC)
        return min(max(due.total_seconds(), 0.0), schedule.every.total_seconds())
