"""Connection to a golden set, with its transactions; every part of the store uses one.

Open one per script run, request or command and close it: a connection belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from labeler.errors import BadInput, StorageError
from labeler.model import Actor
from labeler.store.addresses import Address, NoGoldenSet, StoreLocation, parse_location
from labeler.store.sqlite import SQLite

if TYPE_CHECKING:
    from labeler.store.postgres.engine import Postgres

__all__ = ["BUSY_SECONDS", "Connection", "StorageError"]

BUSY_SECONDS = 10.0


class Connection:
    """An open golden set. Use as a context manager.

    ``engine`` has the operations that SQLite and PostgreSQL do differently. ``handle`` is the open
    database, which they take: a `sqlite_utils.Database`, or a class with its interface. ``conn`` is
    the DB-API connection inside it. ``actor`` is the user that the audit log names; None means the
    user who runs the process.
    """

    def __init__(
        self,
        path: str | Path | Address,
        *,
        create: bool = False,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        """Open the golden set at ``path``.

        ``path`` is a file, or the address of a PostgreSQL database. ``create`` makes a new one if
        it is missing; without it a missing file raises `NotFound`, so that a typo does not make an
        empty golden set. ``busy_seconds`` is how long a write waits for another writer before it
        raises `Busy`. Two processes may open a new file at once. Raises `BadInput` for a file that
        is no golden set or has another schema, and its subclass `StorageError` for one that cannot
        be read. A file marked as damaged is opened read-only.
        """
        self.path = parse_location(path)
        self.actor: Actor | None = None
        self.engine = engine_for(self.path, busy_seconds)
        with self.translated():
            self.handle: Any = self.engine.open(create=create)
        self.conn: Any = self.handle.conn

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.engine.close(self.handle)

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        """Run a statement and return its cursor; wrap it in `translated` or a transaction."""
        return self.handle.execute(sql, parameters)

    @contextmanager
    def translated(self, place: str | None = None) -> Iterator[None]:
        """Raise errors of the database as exceptions of `labeler.errors`.

        ``place`` is the source of the values (``file:line``), named if one cannot be stored.
        """
        place = place or str(self.path)
        try:
            yield
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            raise BadInput(f"{place}: a text holds {letter!a}, which cannot be stored") from error
        except OverflowError as error:
            raise BadInput(f"{place}: a whole number is too large to be stored") from error
        except self.engine.Error as error:
            said = self.engine.translate(error, place)
            if said is None:
                raise
            raise said from error

    @contextmanager
    def transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        """Run the block in one transaction, rolled back if it raises.

        IMMEDIATE takes the write lock first. A deferred transaction that reads and then writes
        would fail at once, without waiting, if another writer was faster.
        """
        with self.translated():
            self.handle.execute(begin)
            try:
                yield
            except BaseException:
                if self.conn.in_transaction:
                    self.conn.rollback()
                raise
            self.conn.commit()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run a block that changes anything but a single judgment; it raises the data revision."""
        with self.transaction():
            before = self.conn.total_changes
            yield
            if self.conn.total_changes == before:
                return
            self.handle.execute(
                "UPDATE settings SET value = CAST(value AS INTEGER) + 1 WHERE key = 'data_revision'"
            )

    def short_timeout(self) -> AbstractContextManager[None]:
        """Wait at most a second for other writers within the block."""
        return self.engine.short_timeout(self.handle)

    def reading(self) -> AbstractContextManager[None]:
        """Run a block whose reads all see the same moment."""
        return self.transaction("BEGIN")

    def rows(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        with self.translated():
            rows: list[tuple[Any, ...]] = self.handle.execute(sql, parameters).fetchall()
            return rows

    def each(self, sql: str, parameters: Any = ()) -> Generator[tuple[Any, ...]]:
        """Yield rows one by one, for results too large for a list."""
        with self.translated():
            yield from self.engine.each(self.handle, sql, parameters)

    def often(self, sql: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement that is run many times with other ``numbers``."""
        with self.translated():
            return self.engine.often(self.handle, sql, numbers)

    def drop_if_empty(self) -> None:
        """Drop a golden set that was just created in a database, unless it has a row.

        A load that fails then leaves no empty golden set behind.
        """
        with self.translated():
            self.engine.drop_if_empty(self.handle)

    def value(self, sql: str, parameters: Any = ()) -> Any:
        """Return the first column of the first row, None without rows."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None


def golden_set_exists(address: Address) -> bool:
    """Return whether a database has a golden set; raises if the database cannot be opened."""
    try:
        Connection(address).close()
    except NoGoldenSet:
        return False
    return True


def engine_for(place: StoreLocation, busy_seconds: float) -> SQLite | Postgres:
    """Return the engine for the database of a golden set: SQLite or PostgreSQL."""
    if not isinstance(place, Address):
        return SQLite(place, busy_seconds)
    try:
        from labeler.store.postgres.engine import Postgres
    except ImportError as error:
        raise StorageError(
            f"{place}: needs psycopg, which is not installed: "
            "pip install 'retrieval-labeler[postgres]'"
        ) from error
    return Postgres(place, busy_seconds)
