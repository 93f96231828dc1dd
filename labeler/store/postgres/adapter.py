"""PostgreSQL database with the interface of `sqlite_utils.Database`.

Statements are written once, in SQL that both engines understand; only the parameter marks are
translated. The schema adds the functions of SQLite that PostgreSQL lacks. As in SQLite, a writer
holds one lock from before its first statement until it commits. So ids are in the order of
commits, and what a statement checks is still true when it writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8
from psycopg_pool import ConnectionPool

from labeler.store.addresses import Address
from labeler.store.columns import BEGIN_ASSIGNMENT
from labeler.store.postgres.pool import lease
from labeler.store.schema import POSTGRES_FOLDER, schema_sql

WRITER_LOCK = 7_261_201
"""The advisory lock of writers, which keeps ids in the order of commits."""
ASSIGNMENT_LOCK = WRITER_LOCK + 1
"""The advisory lock of a server while it assigns work to a grader."""
ROWS_AT_ONCE = 1_000  # rows of one FETCH
ANALYZE_AFTER_ROWS = 1_000  # written rows after which the statistics are updated
WRITE_STATEMENT = re.compile(r"\s*(INSERT|UPDATE|DELETE)\b")
PARAMETER = re.compile(r"'(?:[^']|'')*'|%|\?|(?<![:\w]):([a-z_]+)")
BEGIN_STATEMENTS = {
    "BEGIN IMMEDIATE": f"BEGIN; SELECT pg_advisory_xact_lock({WRITER_LOCK})",
    # its own lock, so as not to wait for a long write; a crash may lose assignments
    BEGIN_ASSIGNMENT: (
        "BEGIN; SET LOCAL synchronous_commit = off; SELECT "
        f"pg_advisory_xact_lock({ASSIGNMENT_LOCK})"
    ),
    "BEGIN": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}
FILLED_TABLES = ("queries", "chunks", "runs", "ranked_lists", "judgments", "candidates", "signals")
TRIGGER_FUNCTION = re.compile(
    r"^CREATE FUNCTION (\w+)\(\) RETURNS trigger .*?\$\$(.*?)\$\$;", re.MULTILINE | re.DOTALL
)
TRIGGER = re.compile(r"^CREATE TRIGGER (\w+) .*?EXECUTE FUNCTION (\w+)\(", re.MULTILINE | re.DOTALL)
SELECT_TRIGGERS = """
SELECT t.tgname::text, p.prosrc FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'labeler' AND t.tgenabled <> 'D' AND NOT t.tgisinternal
"""


class PostgresDatabase:
    """The part of `sqlite_utils.Database` and of its connection that the store uses."""

    def __init__(self, address: Address, busy_seconds: float) -> None:
        self._address = address
        self._pool: ConnectionPool[Any]
        self.busy_ms = round(busy_seconds * 1000)
        self.total_changes = self._analyzed = self._cursors = 0
        self._leased: psycopg.Connection[Any] | None = None

    @property
    def conn(self) -> PostgresDatabase:
        """The database itself, which is also its connection."""
        return self

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        leased = self._leased
        return leased is not None and leased.info.transaction_status not in (
            TransactionStatus.IDLE,
            TransactionStatus.UNKNOWN,
        )

    def connection(self) -> psycopg.Connection[Any]:
        if self._leased is None:
            self._pool, self._leased = lease(self._address)
            self.wait_at_most(self.busy_ms)
        return self._leased

    def wait_at_most(self, milliseconds: int) -> None:
        """Set how long a write waits for another."""
        self.connection().execute(f"SET lock_timeout = {milliseconds}")

    def close(self) -> None:
        """Return the connection to the pool; an open transaction is rolled back."""
        leased, self._leased = self._leased, None
        if leased is not None:
            with suppress(psycopg.Error):
                if leased.info.transaction_status != TransactionStatus.IDLE:
                    leased.rollback()
            self._pool.putconn(leased)

    def _ready(
        self, statement: str, parameters: Any = None, *, planned: bool = False
    ) -> psycopg.Cursor[Any]:
        """Run a statement outside a transaction, on a new connection if this one is broken."""
        try:
            return self._run(statement, parameters, planned=planned)
        except psycopg.OperationalError:
            if self._leased is None or not self._leased.broken:
                raise
        self.close()
        self._pool.check()  # drops the other broken connections
        return self._run(statement, parameters, planned=planned)

    def _run(
        self, statement: str, parameters: Any, *, planned: bool = False
    ) -> psycopg.Cursor[Any]:
        """Run a statement; ``planned`` ones are prepared, and their parameters must be numbers."""
        if planned:
            return self.connection().cursor().execute(statement, parameters, prepare=True)
        return psycopg.ClientCursor(self.connection()).execute(statement, parameters)

    def execute(self, sql: str, parameters: Any = ()) -> psycopg.Cursor[Any]:
        """Run a statement with the parameter marks of SQLite."""
        if sql in BEGIN_STATEMENTS:
            return self._begun(BEGIN_STATEMENTS[sql])
        if not WRITE_STATEMENT.match(sql):
            run = self._run if self.in_transaction else self._ready
            return run(to_psycopg(sql), parameters)
        with self.alone():
            cursor = self._run(to_psycopg(sql), parameters)
        self.total_changes += max(cursor.rowcount, 0)
        return cursor

    def _begun(self, statement: str) -> psycopg.Cursor[Any]:
        try:
            return self._ready(statement)
        except BaseException:
            self.rollback()  # a transaction without the lock must not go on
            raise

    def each(self, sql: str, parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement in batches; other statements may run in between.

        Outside a transaction the server cannot keep a cursor open, and sends all rows at once.
        """
        if not self.in_transaction:
            yield from self.execute(sql, parameters)
            return
        self._cursors += 1
        name = f"rows_{self._cursors}"
        self._run(f"DECLARE {name} NO SCROLL CURSOR FOR {to_psycopg(sql)}", parameters)
        while rows := self._run(f"FETCH {ROWS_AT_ONCE} FROM {name}", ()).fetchall():
            yield from rows
        self._run(f"CLOSE {name}", ())  # else closed by the end of the transaction

    def often(self, sql: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the rows of a query that the server plans once for all parameters."""
        run = self._run if self.in_transaction else self._ready
        of_one_type = [Int8(number) for number in numbers]
        return run(to_psycopg(sql), of_one_type, planned=True).fetchall()

    def executemany(self, sql: str, rows: Iterable[Any]) -> psycopg.Cursor[Any]:
        """Run a statement once for each row."""
        with self.alone():
            cursor = self.connection().cursor()
            cursor.executemany(to_psycopg(sql), rows)
        self.total_changes += max(cursor.rowcount, 0)
        return cursor

    def fill(self, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Copy many rows into columns of a table (``COPY``)."""
        with self.alone():
            cursor = self.connection().cursor()
            with cursor.copy(f"COPY {columns} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
        self.total_changes += max(cursor.rowcount, 0)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run the block as a transaction with the writer lock, or within the open transaction."""
        if self.in_transaction:
            yield
            return
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.rollback()
            raise
        self.commit()

    def commit(self) -> None:
        """Commit the transaction, and update the statistics after many writes."""
        if self.total_changes - self._analyzed > ANALYZE_AFTER_ROWS:
            self.update_statistics()
        self.connection().execute("COMMIT")

    def update_statistics(self) -> None:
        """Update the statistics of the tables, without which the server plans badly."""
        self._analyzed = self.total_changes
        for table in FILLED_TABLES:  # statistics of an empty table would mislead the planner
            if self._run(f"SELECT 1 FROM {table} LIMIT 1", ()).fetchall():
                self.connection().execute(f"ANALYZE {table}".encode())

    def rollback(self) -> None:
        """Roll back the transaction; a lost server rolls it back on its own."""
        self._analyzed = self.total_changes
        with suppress(psycopg.OperationalError):
            if self.in_transaction:
                self.connection().execute("ROLLBACK")

    def missing_triggers(self) -> list[str]:
        """Return the triggers that are missing or not as this version creates them."""
        schema = schema_sql(POSTGRES_FOLDER)
        sources = dict(TRIGGER_FUNCTION.findall(schema))
        there = dict(self.execute(SELECT_TRIGGERS).fetchall())
        return [
            name
            for name, function in TRIGGER.findall(schema)
            if there.get(name, "").strip() != sources[function].strip()
        ]

    def create_function(self, *_: object, **__: object) -> None:
        """Do nothing: the schema has the functions."""


@lru_cache(maxsize=2_000)
def to_psycopg(sql: str) -> str:
    """Return a statement with the parameter marks of psycopg.

    >>> to_psycopg("SELECT '?%' FROM a WHERE b = ? AND c = :d")
    "SELECT '?%%' FROM a WHERE b = %s AND c = %(d)s"
    """

    def parameter(found: re.Match[str]) -> str:
        if found[1]:
            return f"%({found[1]})s"
        return "%s" if found[0] == "?" else found[0].replace("%", "%%")

    return PARAMETER.sub(parameter, sql)
