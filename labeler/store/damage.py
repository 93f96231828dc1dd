"""Remembers beside a golden set that it was found damaged, so that no process writes to it again.

A file of its own, as the damaged one must not be touched; knows nothing of what is in either.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from labeler.store.columns import moment


def mark_of(path: Path) -> Path:
    """Return the place of the mark: beside the file itself, wherever a link to it stands."""
    file = path.resolve()
    return file.with_name(f"{file.name}-damaged")


def is_marked(path: Path) -> bool:
    """Say whether the file was found damaged, and not restored since."""
    return mark_of(path).exists()


def is_in_pages(path: Path) -> bool:
    """Say whether SQLite finds the pages of a file damaged, by looking at each."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return bool(db.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)])
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT


def mark(path: Path, why: str) -> None:
    """Remember that the file is damaged; in a folder that takes no files nobody writes anyway."""
    with suppress(OSError), mark_of(path).open("x", encoding="utf-8") as file:
        file.write(f"{moment()} {why}\n")


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    """Let connections to a damaged file close in the block without folding the log into it.

    SQLite does that for the last one only, and never for one that may only read.
    """
    if not is_marked(path):
        yield
        return
    with ExitStack() as stack:
        with suppress(sqlite3.DatabaseError):  # gone; or it has the file open all the same
            last = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            stack.callback(last.close)
            last.execute("SELECT 1 FROM sqlite_master").fetchone()
        yield


def lift(path: Path) -> bool:
    """Forget that the file was damaged, as another is in its place or it is whole after all."""
    try:
        mark_of(path).unlink()
    except FileNotFoundError:
        return False
    return True


def in_words(path: Path) -> str:
    """Say that a file is damaged, and what helps."""
    return (
        f"{path}: damaged; nothing more is written to it. Put a backup in its place: "
        "'labeler restore BACKUP'; 'labeler check' says what is wrong"
    )
