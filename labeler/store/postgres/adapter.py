"""A PostgreSQL database with the interface of `sqlite_utils.Database`.

Statements are written once, in what both engines understand; only the marks of parameters differ.
Functions of SQLite that PostgreSQL lacks are part of its schema. A writer holds one lock from
before its first statement until it commits, as in SQLite: ids are therefore in the order of
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
"""The advisory lock that whoever writes holds, so that ids come in the order of commits."""
ASSIGNMENT_LOCK = WRITER_LOCK + 1
"""The one that a server holds while it chooses what to hand out."""
ROWS_AT_ONCE = 1_000  # rows that are sent together
ANALYZE_AFTER_ROWS = 1_000  # rows after which a server has to look at tables anew
WRITE_STATEMENT = re.compile(r"\s*(INSERT|UPDATE|DELETE)\b")
PARAMETER = re.compile(r"'(?:[^']|'')*'|%|\?|(?<![:\w]):([a-z_]+)")
BEGIN_STATEMENTS = {
    "BEGIN IMMEDIATE": f"BEGIN; SELECT pg_advisory_xact_lock({WRITER_LOCK})",
    # a long write keeps nobody from choosing; what a crash forgets of this, it may
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
    """As much of `sqlite_utils.Database` and its connection as the store uses."""

    def __init__(self, address: Address, busy_seconds: float) -> None:
        self._address = address
        self._pool: ConnectionPool[Any]
        self.busy_ms = round(busy_seconds * 1000)
        self.total_changes = self._settled = self._cursors = 0
        self._leased: psycopg.Connection[Any] | None = None

    @property
    def conn(self) -> PostgresDatabase:
        """What SQLite's connection is to sqlite-utils' database: here they are one."""
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
        """Say how long a write waits for another."""
        self.connection().execute(f"SET lock_timeout = {milliseconds}")

    def close(self) -> None:
        """Give the connection back; what was not committed is undone."""
        leased, self._leased = self._leased, None
        if leased is not None:
            with suppress(psycopg.Error):
                if leased.info.transaction_status != TransactionStatus.IDLE:
                    leased.rollback()
            self._pool.putconn(leased)

    def _ready(
        self, statement: str, parameters: Any = None, *, planned: bool = False
    ) -> psycopg.Cursor[Any]:
        """Run what no transaction is open for; by another connection where this one has ended."""
        try:
            return self._run(statement, parameters, planned=planned)
        except psycopg.OperationalError:
            if self._leased is None or not self._leased.broken:
                raise
        self.close()
        self._pool.check()  # what the server has forgotten is not handed out again
        return self._run(statement, parameters, planned=planned)

    def _run(
        self, statement: str, parameters: Any, *, planned: bool = False
    ) -> psycopg.Cursor[Any]:
        """Run a statement; ``planned`` ones are prepared once, for numbers as parameters alone."""
        if planned:
            return self.connection().cursor().execute(statement, parameters, prepare=True)
        return psycopg.ClientCursor(self.connection()).execute(statement, parameters)

    def execute(self, sql: str, parameters: Any = ()) -> psycopg.Cursor[Any]:
        """Run a statement whose parameters are marked as SQLite marks them."""
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
            self.rollback()  # begun without the lock is not begun
            raise

    def each(self, sql: str, parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Give the rows of a statement, some at a time, while others are run; none are left out.

        Outside a transaction the server keeps nothing open, and sends all at once.
        """
        if not self.in_transaction:
            yield from self.execute(sql, parameters)
            return
        self._cursors += 1
        name = f"rows_{self._cursors}"
        self._run(f"DECLARE {name} NO SCROLL CURSOR FOR {to_psycopg(sql)}", parameters)
        while rows := self._run(f"FETCH {ROWS_AT_ONCE} FROM {name}", ()).fetchall():
            yield from rows
        self._run(f"CLOSE {name}", ())  # the end of the transaction does it where nobody comes here

    def often(self, sql: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the rows of a question that the server plans once for all numbers."""
        run = self._run if self.in_transaction else self._ready
        of_one_type = [Int8(number) for number in numbers]
        return run(to_psycopg(sql), of_one_type, planned=True).fetchall()

    def executemany(self, sql: str, rows: Iterable[Any]) -> psycopg.Cursor[Any]:
        """Run a statement with each of some rows."""
        with self.alone():
            cursor = self.connection().cursor()
            cursor.executemany(to_psycopg(sql), rows)
        self.total_changes += max(cursor.rowcount, 0)
        return cursor

    def fill(self, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Send many rows to columns of a table, without a statement for each."""
        with self.alone():
            cursor = self.connection().cursor()
            with cursor.copy(f"COPY {columns} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
        self.total_changes += max(cursor.rowcount, 0)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of writers; where no transaction is open, the block is one."""
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
        """End the transaction: what was written is on the disk."""
        if self.total_changes - self._settled > ANALYZE_AFTER_ROWS:
            self.settle()
        self.connection().execute("COMMIT")

    def settle(self) -> None:
        """Let the server count what was written: else it would plan as if there were nothing."""
        self._settled = self.total_changes
        for table in FILLED_TABLES:  # one that is known to be empty would be planned for as such
            if self._run(f"SELECT 1 FROM {table} LIMIT 1", ()).fetchall():
                self.connection().execute(f"ANALYZE {table}".encode())

    def rollback(self) -> None:
        """Undo the transaction, or what a server that is gone will undo by itself."""
        self._settled = self.total_changes
        with suppress(psycopg.OperationalError):
            if self.in_transaction:
                self.connection().execute("ROLLBACK")

    def missing_triggers(self) -> list[str]:
        """Return the triggers that are not as this version makes them."""
        schema = schema_sql(POSTGRES_FOLDER)
        sources = dict(TRIGGER_FUNCTION.findall(schema))
        there = dict(self.execute(SELECT_TRIGGERS).fetchall())
        return [
            name
            for name, function in TRIGGER.findall(schema)
            if there.get(name, "").strip() != sources[function].strip()
        ]

    def create_function(self, *_: object, **__: object) -> None:
        """Do nothing: the golden set brings its functions along."""


@lru_cache(maxsize=2_000)
def to_psycopg(sql: str) -> str:
    """Return a statement with its parameters marked as psycopg marks them.

    >>> to_psycopg("SELECT '?%' FROM a WHERE b = ? AND c = :d")
    "SELECT '?%%' FROM a WHERE b = %s AND c = %(d)s"
    """

    def parameter(found: re.Match[str]) -> str:
        if found[1]:
            return f"%({found[1]})s"
        return "%s" if found[0] == "?" else found[0].replace("%", "%%")

    return PARAMETER.sub(parameter, sql)
