"""SQLite engine: opening and creating golden-set files, damage marks, and errors in plain words.

`Connection` calls the methods of `SQLite`; `labeler.store.postgres.engine.Postgres` has the same
ones. A damaged file must not be changed, so another file beside it marks it as damaged, and every
process then opens it read-only.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from labeler.errors import BadInput, Busy, LabelerError, NotFound, StorageError
from labeler.store.columns import as_json, moment, quoted
from labeler.store.schema import Database, applied_migrations, check_schema, migrations, views

SHORT_TIMEOUT_MS = 1_000
CACHE_KILOBYTES = 32_000  # the ids of a large run are looked up in random order
OLDEST_SQLITE = (3, 37, 0)  # the first with STRICT tables
# a word in the title weighs more than one in the text
SEARCH_CHUNKS = """
SELECT rowid FROM chunk_words WHERE chunk_words MATCH ?{among}
ORDER BY bm25(chunk_words, 3.0, 1.0), rowid LIMIT ?
"""
IN_CHUNKINGS = """
AND EXISTS (SELECT 1 FROM chunks AS c WHERE c.id = chunk_words.rowid
    AND coalesce(c.chunking, 0) IN (SELECT value FROM json_each(?)))"""


class SQLite:
    """The operations on a golden set in a file that PostgreSQL does differently."""

    Error = sqlite3.DatabaseError
    is_shared = False
    schema_name = "main"

    def __init__(self, path: Path, busy_seconds: float) -> None:
        check_sqlite_version()
        self._path = path
        self._busy_seconds = busy_seconds
        self._file: tuple[int, int] | None = None

    def open(self, *, create: bool) -> Database:
        """Open the file; ``create`` makes it if it is missing."""
        while True:
            check_path(self._path, create=create)
            self._file = file_identity(self._path)
            db = self._connect(create=create)
            if self._file in (None, file_identity(self._path)):
                self._file = file_identity(self._path)
                return db
            # Another file replaced this one while it was being opened. Writes here would be lost,
            # and this file's log would be read as the log of the other.
            db.close()

    def _connect(self, *, create: bool) -> Database:
        db = Database(
            sqlite3.connect(
                f"{self._path.absolute().as_uri()}?{open_mode(self._path, create=create)}",
                uri=True,
                timeout=self._busy_seconds,
            ),
            execute_plugins=False,
        )
        try:
            self._prepare(db, create=create)
        except BaseException:
            db.close()
            raise
        return db

    def close(self, db: Database) -> None:
        """Close the file; the last connection to close folds the write-ahead log into it.

        A damaged file is left as it is.
        """
        with without_checkpoint(self._path):
            db.close()

    def _prepare(self, db: Database, *, create: bool) -> None:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA synchronous = FULL")
        # No automatic checkpoints, see `labeler.store.backup.maintenance`.
        db.execute("PRAGMA wal_autocheckpoint = 0")
        # Table names are read before migrations: another process may create the schema in between.
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_master").fetchall()}
        applied = self._applied(db) if migrations.migrations_table in names else set()
        if applied:
            check_schema(self._path, applied)
            return
        if names:
            raise BadInput(
                f"{self._path}: an SQLite database, but not a golden set of labeler; "
                "name another with --db"
            )
        if not create:
            raise NotFound(
                f"{self._path}: the file is empty; 'labeler load' or 'labeler serve --new' makes "
                "it a golden set"
            )
        self._use_write_ahead_log(db)
        db.execute("BEGIN IMMEDIATE")
        try:
            migrations.apply(db)
        except BaseException:
            if db.conn.in_transaction:
                db.conn.rollback()
            raise
        db.conn.commit()

    def _applied(self, db: Database) -> set[str]:
        """Return the names of labeler's migrations that were applied to the file."""
        try:
            return applied_migrations(db)
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_ERROR:
                raise
            return set()  # a table of another program, with other columns

    def _use_write_ahead_log(self, db: Database) -> None:
        # SQLite ignores its busy timeout here when two processes open a new file at once.
        give_up = time.monotonic() + self._busy_seconds
        while True:
            try:
                db.enable_wal()
                return
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)

    def translate(self, error: Exception, place: str) -> LabelerError | None:
        """Return SQLite's error as an error of labeler; None for a bug in labeler."""
        if isinstance(error, sqlite3.ProgrammingError) or not isinstance(error, self.Error):
            return None
        if primary_code(error) == sqlite3.SQLITE_CORRUPT:
            self._mark_damaged(str(error))
        return translate_error(error, self._path, place)

    def _mark_damaged(self, why: str) -> None:
        # The error may also come from another file put in this one's place, or from a damaged
        # word index, which SQLite reports in the same way.
        is_same = self._file is not None and self._file == file_identity(self._path)
        if is_same and has_damaged_pages(self._path):
            mark_damaged(self._path, why)

    @contextmanager
    def short_timeout(self, db: Database) -> Iterator[None]:
        """Wait at most a second for other writers in the block."""
        db.execute(f"PRAGMA busy_timeout = {min(SHORT_TIMEOUT_MS, self._busy_seconds * 1000):.0f}")
        try:
            yield
        finally:
            db.execute(f"PRAGMA busy_timeout = {self._busy_seconds * 1000:.0f}")

    def drop_if_empty(self, db: Database) -> None:
        """Do nothing: a new file gets its name only when it is filled."""

    def views(self) -> Mapping[str, str]:
        """Return the query of each view, by its name."""
        return views()

    def last_ids(self, db: Database) -> dict[str, int]:
        """Return the last id of each table whose ids are never used again."""
        return dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())

    def set_last_ids(self, db: Database, given: Mapping[str, int]) -> None:
        """Set the last ids, so that no id of the source is used again."""
        for table, last in given.items():
            db.execute("DELETE FROM sqlite_sequence WHERE name = ?", [table])
            db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, last])

    def commits(self, db: Database) -> int:
        """Return a number that changes when another connection writes."""
        [(number,)] = db.execute("PRAGMA data_version").fetchall()
        return int(number)

    def each(self, db: Database, sql: str, parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement as they are found."""
        return iter(db.execute(sql, parameters))

    def often(self, db: Database, sql: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the rows of a query that is run often; `sqlite3` caches the compiled statement."""
        return db.execute(sql, numbers).fetchall()

    def fill(
        self, db: Database, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Add many rows to a table."""
        names, marks = ", ".join(map(quoted, columns)), ", ".join("?" * len(columns))
        db.conn.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)

    def update_statistics(self, db: Database) -> None:
        """Do nothing: SQLite plans well without statistics."""

    def expect_large_run(self, db: Database) -> None:
        """Enlarge the cache for a large run."""
        db.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")

    def read_text_part(self, db: Database, chunk: int, start: int, most: int) -> tuple[bytes, int]:
        """Return at most ``most`` bytes of a chunk's text from ``start`` on, and its length.

        The rest of the text is not read from the file.
        """
        with db.conn.blobopen("chunks", "text", chunk, readonly=True) as text:
            text.seek(min(start, len(text)))
            return text.read(most), len(text)

    def search(
        self,
        db: Database,
        words: Sequence[str],
        *,
        all_of: bool,
        most: int,
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Return the chunks with all of some words, or any; the last may be the beginning of one.

        ``among`` are numbers of chunkings, 0 the default one, None all of them.
        """
        expression = (" AND " if all_of else " OR ").join(fts_terms(words))
        chunkings = [] if among is None else [as_json(list(among))]
        sql = SEARCH_CHUNKS.format(among=IN_CHUNKINGS if chunkings else "")
        return [number for (number,) in db.execute(sql, [expression, *chunkings, most])]


def fts_terms(words: Sequence[str]) -> list[str]:
    """Return words as terms of an FTS5 query, quoted so that none is an operator.

    >>> fts_terms(["refund", "OR", "late"])
    ['"refund"', '"OR"', '"late"*']
    """
    terms = [f'"{word}"' for word in words]
    return [*terms[:-1], f"{terms[-1]}*"] if terms else []


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


def primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, 0 where the error is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def translate_error(error: sqlite3.DatabaseError, path: Path, place: str) -> LabelerError:
    """Return SQLite's error about the file at ``path``, or values from ``place``, as labeler's."""
    code = primary_code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(
            f"{path}: another process is writing to it; nothing was changed, try again in a moment"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY) and is_marked_damaged(path):
        return StorageError(describe_damage(path))
    if code in REMEDIES:
        return StorageError(f"{path}: {REMEDIES[code]}")
    if code == sqlite3.SQLITE_CONSTRAINT:
        return BadInput(f"{place}: the golden set does not take this: {error}")
    return BadInput(f"{place}: {error}")


def open_mode(path: Path, *, create: bool) -> str:
    """Return the URI option to open ``path`` with.

    SQLite needs a writable folder even to read a file with a write-ahead log. Where the file or
    its folder is read-only and there is no log, the file is opened as immutable. A log means that
    somebody may be writing.
    """
    if is_marked_damaged(path):
        return "mode=ro"
    if create:
        return "mode=rwc"
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return "mode=rw"
    file = path.resolve()
    return "mode=ro" if file.with_name(f"{file.name}-wal").exists() else "immutable=1"


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file at ``path``, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_sqlite_version(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Raise `StorageError` where Python's SQLite is too old for a golden set."""
    if version < OLDEST_SQLITE:
        least, found = (".".join(map(str, each)) for each in (OLDEST_SQLITE, version))
        raise StorageError(
            f"this Python comes with SQLite {found}; labeler needs {least} or later: use a newer "
            "Python"
        )


def broken_link_error(path: Path) -> NotFound:
    """Return the error for a broken link, which names its target."""
    try:
        path.stat()
        why = f"to {path.readlink()}, where nothing is"
    except OSError as error:
        loop = error.errno == errno.ELOOP
        why = "that leads back to itself" if loop else f"to {path.readlink()}, where nothing is"
    return NotFound(f"{path}: is a link {why}; remove the link, or name another file")


def check_path(path: Path, *, create: bool) -> None:
    """Raise unless ``path`` can be a golden set, or with ``create`` can become one."""
    try:
        if path.is_dir():
            raise BadInput(f"{path}: is a folder; name a file with --db")
        there, folder = path.exists(), path.parent.is_dir()
        file_above, link = path.parent.exists() and not folder, path.is_symlink()
        ordinary = path.is_file()
    except OSError as error:
        raise StorageError(f"{path}: cannot be opened: {error.strerror}") from error
    if there and not ordinary:
        raise BadInput(f"{path}: is a pipe or a device; name a file with --db")
    if there:
        return
    if link:
        raise broken_link_error(path)
    if file_above:
        raise NotFound(f"{path}: {path.parent} is a file, not a folder; name another with --db")
    if not create:
        raise NotFound(
            f"{path}: there is no golden set here; 'labeler load' or 'labeler serve --new' makes "
            "one, 'labeler demo' shows one, --db names another"
        )
    if not folder:
        raise NotFound(f"{path}: the folder {path.parent} does not exist; create it first")


def damage_mark_path(path: Path) -> Path:
    """Return the path of the damage mark: beside the file itself, not beside a link to it."""
    file = path.resolve()
    return file.with_name(f"{file.name}-damaged")


def is_marked_damaged(path: Path) -> bool:
    """Return whether the file was found damaged and has not been restored since."""
    return damage_mark_path(path).exists()


def has_damaged_pages(path: Path) -> bool:
    """Return whether SQLite finds a damaged page in the file; reads every page."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return bool(db.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)])
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT


def mark_damaged(path: Path, why: str) -> None:
    """Mark the file as damaged; does nothing in a read-only folder, where nobody writes anyway."""
    with suppress(OSError), damage_mark_path(path).open("x", encoding="utf-8") as file:
        file.write(f"{moment()} {why}\n")


@contextmanager
def without_checkpoint(path: Path) -> Iterator[None]:
    """Close connections to a damaged file in the block without folding the log into it.

    Only the last connection to close folds the log, and a read-only one never does. So a read-only
    connection stays open for the block.
    """
    if not is_marked_damaged(path):
        yield
        return
    with ExitStack() as stack:
        with suppress(sqlite3.DatabaseError):  # the file is gone, or is open in spite of the error
            last = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            stack.callback(last.close)
            last.execute("SELECT 1 FROM sqlite_master").fetchone()
        yield


def remove_damage_mark(path: Path) -> bool:
    """Remove the damage mark of a file that is replaced or intact; return whether it had one."""
    try:
        damage_mark_path(path).unlink()
    except FileNotFoundError:
        return False
    return True


def describe_damage(path: Path) -> str:
    """Return the message that a file is damaged, and how to fix that."""
    return (
        f"{path}: damaged; nothing more is written to it. Put a backup in its place: "
        "'labeler restore BACKUP'; 'labeler check' says what is wrong"
    )
