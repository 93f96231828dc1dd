"""Copies a golden set, page by page as SQLite does it, while others go on writing to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from labeler.store import health
from labeler.store.chain import Seal
from labeler.store.chained import Chain
from labeler.store.health import Newest
from labeler.store.sqlite import in_words


def copy(path: Path, target: Path) -> Newest:
    """Copy the golden set at ``path`` as it is at one moment into the new file ``target``.

    Nobody waits meanwhile. Returns what is in the copy. Raises `Unusable` where either file does
    not work.
    """
    with health.reading(path) as db:
        db.execute("BEGIN")
        newest = health.newest_in(db)
        try:
            target.touch(0o600, exist_ok=False)  # it holds keys; who may read it is decided later
            with closing(sqlite3.connect(target)) as copied:
                db.backup(copied)
        except sqlite3.DatabaseError as error:
            raise in_words(error, target, str(target)) from error
    return newest


def check_copy(path: Path, newest: Newest) -> list[str]:
    """Return where a finished copy is not what was copied, read as it stands on the disk."""
    if found := health.complaints(path, "integrity_check", health.ALONE):
        return found
    with health.reading(path, health.ALONE) as db:
        there = health.newest_in(db)
    return [] if there == newest else [f"it goes up to {there}, not up to {newest}"]


def oddities(path: Path) -> list[str]:
    """Return what is odd in a finished copy because it is so in what was copied."""
    with health.reading(path, health.ALONE) as db:
        chain = Chain(db)
        faults = chain.check().faults if chain.is_there() else ()
        return [*health.broken_references(db), *health.broken_laws(db), *faults]


def seal_of(path: Path) -> Seal | None:
    """Return the seal of the logs in a file, None in one of a version that made none."""
    with health.reading(path) as db:
        chain = Chain(db)
        return chain.present_seal() if chain.is_there() else None


def newest_of(path: Path) -> Newest:
    """Return which golden set a file holds, and how far it goes."""
    with health.reading(path) as db:
        return health.newest_in(db)
