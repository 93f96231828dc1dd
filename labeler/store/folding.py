"""Folds the write-ahead log into the file itself; decides nothing about when.

SQLite from 3.7.0 to 3.51.2 can lose what was committed (https://sqlite.org/wal.html#walresetbug):
a checkpoint reads how long the log is; before it reads how much of it is folded already, a commit
begins the log anew; and what the checkpoint then notes about the old log holds for the new one.
So a log is folded here only while this process holds the one lock under which anything can be
committed, and nowhere else while others have the file open: no connection of ours folds in
passing (``wal_autocheckpoint = 0``), and the last one to close has the file for itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from labeler.store.connection import Connection

PATIENCE_SECONDS = 1.0
FIXED = (3, 51, 3)
FIXED_TOO = ((3, 44, 6), (3, 50, 7))  # and the later ones of 3.44 and 3.50


class Folding(Connection):
    """A connection that folds while another keeps writers out."""

    def fold(self) -> bool:
        """Fold what readers let fold; return whether the whole log is in the file now."""
        [(_, length, folded)] = self._rows("PRAGMA wal_checkpoint(PASSIVE)")
        return bool(length == folded)

    def writers_wait(self) -> AbstractContextManager[None]:
        """Keep everybody else from writing, as long as the block runs."""
        return self._transaction()


def fold(path: str | Path) -> bool:
    """Fold the log of the golden set at ``path``; return whether all of it is in the file now.

    Somebody who reads an older state keeps the rest in the log. Nobody can write meanwhile, for
    about as long as the log takes to copy; raises `Busy` where somebody writes right now.
    """
    with (
        Folding(path, busy_seconds=PATIENCE_SECONDS) as guard,
        Folding(path) as folder,
        guard.writers_wait(),
    ):
        return folder.fold()


def has_reset_bug(version: Sequence[int] = sqlite3.sqlite_version_info) -> bool:
    """Say whether this SQLite can lose what was committed when a log is folded carelessly.

    >>> [has_reset_bug(each) for each in ((3, 40, 1), (3, 44, 6), (3, 51, 2), (3, 51, 3))]
    [True, False, True, False]
    """
    given = tuple(version)
    backported = any(given[:2] == fixed[:2] and given >= fixed for fixed in FIXED_TOO)
    return given < FIXED and not backported
