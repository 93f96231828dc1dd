"""Opens a golden set and guards its transactions; what only one kind of database knows is not here.

Open one per script run, request or command and close it: a connection belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labeler.errors import BadInput, Unusable
from labeler.store.sqlite import SQLite

__all__ = ["BUSY_SECONDS", "Connection", "Unusable"]

BUSY_SECONDS = 10.0


class Connection:
    """A golden set, open. Use as a context manager."""

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = False,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        """Open the golden set at ``path``, migrating it if an older version wrote it.

        ``create`` makes a new file where there is none; without it a missing file is `NotFound`,
        so that a typo does not make an empty golden set. ``busy_seconds`` is how long a write
        waits for another writer before it raises `Busy`. Two processes may open a new file at
        once. Raises `BadInput` for a file that is no golden set or is of a newer version, and
        its kind `Unusable` for one that cannot be read. A file that was found damaged is opened
        to be read only.
        """
        self.path = Path(path)
        self._engine = SQLite(self.path, busy_seconds)
        with self._translated():
            self._db = self._engine.open(create=create)

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
        """Close it: for others to open, or for good."""
        self._engine.close(self._db)

    @contextmanager
    def _translated(self, place: str | None = None) -> Iterator[None]:
        """Say the database's complaints in the words of the errors module.

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
        except self._engine.Error as error:
            said = self._engine.in_words(error, place)
            if said is None:
                raise
            raise said from error

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

    def _briefly(self) -> AbstractContextManager[None]:
        """Let the block wait a second for other writers, and no longer."""
        return self._engine.briefly(self._db)

    def _reading(self) -> AbstractContextManager[None]:
        """Read several things as they were at one moment."""
        return self._transaction("BEGIN")

    def _rows(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        with self._translated():
            rows: list[tuple[Any, ...]] = self._db.execute(sql, parameters).fetchall()
            return rows

    def _each(self, sql: str, parameters: Any = ()) -> Iterator[tuple[Any, ...]]:
        """Give rows one by one: for so many that a list of them would take much memory."""
        with self._translated():
            yield from self._db.execute(sql, parameters)

    def _value(self, sql: str, parameters: Any = ()) -> Any:
        rows = self._rows(sql, parameters)
        return rows[0][0] if rows else None
