"""Opens a golden set's file, brings it to the newest shape and guards its transactions.

Open one per script run, request or command and close it: a connection belongs to one thread.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labeler.errors import BadInput, Busy, LabelerError, NotFound
from labeler.schema import migrations
from labeler.schema.light import Database
from labeler.store import damage

BUSY_SECONDS = 10.0
BRIEF_MS = 1_000
LEAST_SQLITE = (3, 37, 0)  # the first that knows STRICT tables


class Unusable(BadInput):
    """The file or the disk under it does not work: whatever was asked may work once it does."""


class Connection:
    """A golden set's file, open. Use as a context manager."""

    def __init__(
        self, path: str | Path, *, create: bool = False, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        """Open the file at ``path``, migrating it if an older version wrote it.

        ``create`` makes a new file where there is none; without it a missing file is `NotFound`,
        so that a typo does not make an empty golden set. ``busy_seconds`` is how long a write
        waits for another writer before it raises `Busy`. Two processes may open a new file at
        once. Raises `BadInput` for a file that is no golden set or is of a newer version, and
        its kind `Unusable` for one that cannot be read. A file that was found damaged is opened
        to be read only.
        """
        self.path = Path(path)
        self._busy_seconds = busy_seconds
        check_sqlite()
        while True:
            check_place(self.path, create=create)
            self._file = file_at(self.path)
            self._open(create=create)
            if self._file in (None, file_at(self.path)):
                self._file = file_at(self.path)
                return
            # Another file was put in its place while this waited for it: nobody sees the one that
            # is open any more, and its log would be the log of the other.
            self._db.close()

    def _open(self, *, create: bool) -> None:
        with self._translated():
            self._db = Database(
                sqlite3.connect(
                    f"{self.path.absolute().as_uri()}?{open_mode(self.path, create=create)}",
                    uri=True,
                    timeout=self._busy_seconds,
                ),
                execute_plugins=False,
            )
            try:
                self._prepare(create=create)
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; closing the last connection folds the write-ahead log into it.

        Into a damaged file nothing is folded.
        """
        with damage.untouched(self.path):
            self._db.close()

    def _prepare(self, *, create: bool) -> None:
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.execute("PRAGMA synchronous = FULL")
        # Nobody folds the log in passing, see `labeler.store.folding`.
        self._db.execute("PRAGMA wal_autocheckpoint = 0")
        known = {migration.name for migration in migrations._migrations}
        # The names first: what another process creates in between can then only be too much.
        names = {name for (name,) in self._rows("SELECT name FROM sqlite_master")}
        applied = self._applied() if migrations.migrations_table in names else set()
        if applied - known:
            raise BadInput(
                f"{self.path}: written by a newer version of labeler; upgrade labeler to open it"
            )
        if applied == known:
            return
        if names and not applied:
            raise BadInput(
                f"{self.path}: an SQLite database, but not a golden set of labeler; "
                "name another with --db"
            )
        if not applied and not create:
            raise NotFound(
                f"{self.path}: the file is empty; 'labeler load' or 'labeler serve --new' makes "
                "it a golden set"
            )
        self._use_write_ahead_log()
        with self._transaction():
            migrations.apply(self._db)

    def _applied(self) -> set[str]:
        """Return the names of our migrations that the file has been through."""
        try:
            rows = self._db.execute(
                f"SELECT name FROM {migrations.migrations_table} WHERE migration_set = ?",
                [migrations.name],
            ).fetchall()
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_ERROR:
                raise
            return set()  # a table of that name with other columns: somebody else's
        return {name for (name,) in rows}

    def _use_write_ahead_log(self) -> None:
        # SQLite does not wait for its busy timeout here when two first visitors race.
        give_up = time.monotonic() + self._busy_seconds
        while True:
            try:
                self._db.enable_wal()
                return
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)

    @contextmanager
    def _translated(self, place: str | None = None) -> Iterator[None]:
        """Say SQLite's complaints in the words of the errors module.

        ``place`` is where the values come from (``file:line``), for values that cannot be stored.
        """
        place = place or str(self.path)
        try:
            yield
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise BadInput(f"{place}: a text holds {letter!a}, which cannot be stored") from error
        except OverflowError as error:
            raise BadInput(f"{place}: a whole number is too large to be stored") from error
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.DatabaseError as error:
            if code_of(error) == sqlite3.SQLITE_CORRUPT:
                self._mark_damaged(str(error))
            raise in_words(error, self.path, place) from error

    def _mark_damaged(self, why: str) -> None:
        # What is open may be damaged because somebody has put another file in its place.
        # And an index of words can be, of which SQLite speaks in the same way.
        is_same = self._file is not None and self._file == file_at(self.path)
        if is_same and damage.is_in_pages(self.path):
            damage.mark(self.path, why)

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        """Run the block in one transaction, rolled back whole if it raises.

        IMMEDIATE takes the write lock first: a deferred transaction that reads and then writes
        fails at once, without waiting, when another writer was faster.
        """
        with self._translated():
            self._db.execute(begin)
            try:
                yield
            except BaseException:
                if self._db.conn.in_transaction:
                    self._db.conn.rollback()
                raise
            self._db.conn.commit()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Change anything but a single judgment; a change moves the data revision."""
        with self._transaction():
            before = self._db.conn.total_changes
            yield
            if self._db.conn.total_changes == before:
                return
            self._db.execute(
                "UPDATE settings SET value = CAST(value AS INTEGER) + 1 WHERE key = 'data_revision'"
            )

    @contextmanager
    def _briefly(self) -> Iterator[None]:
        """Let the block wait a second for other writers, and no longer."""
        self._db.execute(f"PRAGMA busy_timeout = {min(BRIEF_MS, self._busy_seconds * 1000):.0f}")
        try:
            yield
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {self._busy_seconds * 1000:.0f}")

    def _reading(self) -> AbstractContextManager[None]:
        """Read several things as they were at one moment."""
        return self._transaction("BEGIN")

    def _rows(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        with self._translated():
            return self._db.execute(sql, parameters).fetchall()

    def _each(self, sql: str, parameters: Any = ()) -> Iterator[tuple[Any, ...]]:
        """Give rows one by one: for so many that a list of them would take much memory."""
        with self._translated():
            yield from self._db.execute(sql, parameters)

    def _value(self, sql: str, parameters: Any = ()) -> Any:
        rows = self._rows(sql, parameters)
        return rows[0][0] if rows else None


REMEDIES = {
    sqlite3.SQLITE_CORRUPT: "something in it is damaged, though each page is whole, such as the "
    "index of the chunks' words; 'labeler check' says more, and a backup may have a whole one",
    sqlite3.SQLITE_NOTADB: "not a golden set of labeler, or a damaged one; name another with "
    "--db, or restore a backup",
    sqlite3.SQLITE_READONLY: "read-only; make it and its folder writable, or copy it elsewhere",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check the permissions of the file and its folder",
    sqlite3.SQLITE_FULL: "the disk is full; nothing was changed",
    sqlite3.SQLITE_IOERR: "the disk does not read or write; nothing was changed, check its space "
    "and its health",
}


def code_of(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, 0 where the error is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def in_words(error: sqlite3.DatabaseError, path: Path, place: str) -> LabelerError:
    """Return what SQLite complained of: about the file at ``path`` or values from ``place``."""
    code = code_of(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(
            f"{path}: another process is writing to it; nothing was changed, try again in a moment"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY) and damage.is_marked(path):
        return Unusable(damage.in_words(path))
    if code in REMEDIES:
        return Unusable(f"{path}: {REMEDIES[code]}")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return BadInput(f"{place}: the golden set does not take this: {error}")
    return BadInput(f"{place}: {error}")


def open_mode(path: Path, *, create: bool) -> str:
    """Name the URI option to open ``path`` with.

    A write-ahead log needs a writable folder even to read. Where there is neither, SQLite may
    take the file for unchanging; a log that is there means that somebody else may be writing.
    """
    if damage.is_marked(path):
        return "mode=ro"
    if create:
        return "mode=rwc"
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return "mode=rw"
    file = path.resolve()
    return "mode=ro" if file.with_name(f"{file.name}-wal").exists() else "immutable=1"


def file_at(path: Path) -> tuple[int, int] | None:
    """Return which file is at ``path``: two that follow each other there are told apart."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Raise `Unusable` where Python's SQLite is too old for a golden set."""
    if version < LEAST_SQLITE:
        least, found = (".".join(map(str, each)) for each in (LEAST_SQLITE, version))
        raise Unusable(
            f"this Python comes with SQLite {found}; labeler needs {least} or later: use a newer "
            "Python"
        )


def broken_link(path: Path) -> NotFound:
    """Return the error that says where a link leads that leads nowhere."""
    try:
        path.stat()
        why = f"to {path.readlink()}, where nothing is"
    except OSError as error:
        loop = error.errno == errno.ELOOP
        why = "that leads back to itself" if loop else f"to {path.readlink()}, where nothing is"
    return NotFound(f"{path}: is a link {why}; remove the link, or name another file")


def check_place(path: Path, *, create: bool) -> None:
    """Raise unless a golden set can be at ``path``, or be made there with ``create``."""
    try:
        if path.is_dir():
            raise BadInput(f"{path}: is a folder; name a file with --db")
        there, folder = path.exists(), path.parent.is_dir()
        file_above, link = path.parent.exists() and not folder, path.is_symlink()
        ordinary = path.is_file()
    except OSError as error:
        raise Unusable(f"{path}: cannot be opened: {error.strerror}") from error
    if there and not ordinary:
        raise BadInput(f"{path}: is a pipe or a device; name a file with --db")
    if there:
        return
    if link:
        raise broken_link(path)
    if file_above:
        raise NotFound(f"{path}: {path.parent} is a file, not a folder; name another with --db")
    if not create:
        raise NotFound(
            f"{path}: there is no golden set here; 'labeler load' or 'labeler serve --new' makes "
            "one, 'labeler demo' shows one, --db names another"
        )
    if not folder:
        raise NotFound(f"{path}: the folder {path.parent} does not exist; create it first")
