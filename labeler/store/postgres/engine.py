"""PostgreSQL engine: opening and creating golden sets, search, and errors in plain words.

`Connection` calls the methods of `Postgres`; `labeler.store.sqlite.SQLite` has the same ones. They
take a `PostgresDatabase`, which has the interface of `sqlite_utils.Database`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout

from labeler.errors import BadInput, Busy, DatabaseUnavailable, LabelerError, StorageError
from labeler.store.addresses import Address, NoGoldenSet, redact_secrets
from labeler.store.columns import as_json, moment, quoted
from labeler.store.postgres.adapter import FILLED_TABLES, PostgresDatabase
from labeler.store.postgres.pool import SCHEMA
from labeler.store.schema import (
    CURRENT,
    POSTGRES_FOLDER,
    applied_migrations,
    check_schema,
    migrations,
    new_identity,
    schema_sql,
    views,
)

SHORT_TIMEOUT_MS = 1_000
IDENTITY_TABLES = """
SELECT table_name::text FROM information_schema.columns
WHERE table_schema = 'labeler' AND column_name = 'id' AND is_identity = 'YES'
"""
LAST_IDS = """
SELECT c.relname::text, coalesce(s.last_value, 0)
FROM pg_sequences AS s JOIN pg_class AS q ON q.relname = s.sequencename
JOIN pg_namespace AS n ON n.oid = q.relnamespace AND n.nspname = s.schemaname
JOIN pg_depend AS d ON d.objid = q.oid AND d.deptype = 'i'
JOIN pg_class AS c ON c.oid = d.refobjid
WHERE s.schemaname = 'labeler'
"""
SEARCH_CHUNKS = """
SELECT c.id FROM chunk_words AS c, to_tsquery('simple', ?) AS sought
WHERE c.words @@ sought<AMONG>
ORDER BY ts_rank('{0, 0, 0.33, 1}', c.words, sought, 1) DESC, c.id LIMIT ?
"""
IN_CHUNKINGS = """
AND EXISTS (SELECT 1 FROM chunks AS k WHERE k.id = c.id
    AND coalesce(k.chunking, 0) IN (SELECT CAST(value AS BIGINT) FROM json_each(?)))"""
PLAIN_WORDS = "SELECT plain(value) FROM json_each(?)"
TEXT_PART = """
SELECT substring(convert_to(text, 'UTF8') FROM ? FOR ?), octet_length(text)
FROM chunks WHERE id = ?
"""


class Postgres:
    """The operations on a golden set in a database that SQLite does differently."""

    Error = psycopg.Error, PoolTimeout
    is_shared = True
    schema_name = SCHEMA

    def __init__(self, address: Address, busy_seconds: float) -> None:
        self._address = address
        self._busy_seconds = busy_seconds

    def open(self, *, create: bool) -> PostgresDatabase:
        """Open the golden set; ``create`` makes it if it is missing."""
        db = PostgresDatabase(self._address, self._busy_seconds)
        try:
            self._prepare(db, create=create)
        except BaseException:
            db.close()
            raise
        return db

    def close(self, db: PostgresDatabase) -> None:
        """Return the connection to the pool."""
        db.close()

    def _prepare(self, db: PostgresDatabase, *, create: bool) -> None:
        try:
            applied = applied_migrations(db)
        except psycopg.errors.UndefinedTable:
            applied = set()
        if applied:
            check_schema(self._address, applied)
            return
        if not create:
            raise NoGoldenSet(
                f"{self._address}: there is no golden set in this database; 'labeler load' or "
                "'labeler serve --new' makes one, 'labeler copy FILE ADDRESS' brings one"
            )
        with db.alone():
            if not has_golden_set(db):
                create_golden_set(db, self._address)

    def translate(self, error: Exception, place: str) -> LabelerError | None:
        """Return PostgreSQL's error as an error of labeler; None for a bug in labeler."""
        said = redact_secrets(str(error).partition("\n")[0], self._address)
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return Busy(
                f"{self._address}: another process is writing to it; nothing was changed, try "
                "again in a moment"
            )
        if isinstance(error, psycopg.errors.NumericValueOutOfRange):
            return BadInput(f"{place}: a whole number is too large to be stored")
        if isinstance(error, psycopg.IntegrityError):
            return BadInput(f"{place}: the golden set does not take this: {said}")
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return StorageError(f"{self._address}: its user may not do this: {said}")
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | PoolTimeout):
            return DatabaseUnavailable(f"{self._address}: the database does not answer: {said}")
        if isinstance(error, psycopg.DataError):
            return BadInput(f"{place}: {said}")
        return None

    @contextmanager
    def short_timeout(self, db: PostgresDatabase) -> Iterator[None]:
        """Wait at most a second for other writers in the block."""
        db.wait_at_most(min(SHORT_TIMEOUT_MS, db.busy_ms))
        try:
            yield
        finally:
            db.wait_at_most(db.busy_ms)

    def drop_if_empty(self, db: PostgresDatabase) -> None:
        """Drop the schema, unless any table has a row."""
        with db.alone():
            if not any(
                db.execute(f"SELECT 1 FROM {each} LIMIT 1").fetchall() for each in FILLED_TABLES
            ):
                db.connection().execute(f"DROP SCHEMA {SCHEMA} CASCADE".encode())

    def views(self) -> Mapping[str, str]:
        """Return the query of each view, by its name."""
        return views(POSTGRES_FOLDER)

    def last_ids(self, db: PostgresDatabase) -> dict[str, int]:
        """Return the last id of each table whose ids are never used again."""
        logs = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        return {**logs, **dict(db.execute(LAST_IDS).fetchall())}

    def set_last_ids(self, db: PostgresDatabase, given: Mapping[str, int]) -> None:
        """Set the last ids, so that no id of the source is used again."""
        counters = {table for (table,) in db.execute(IDENTITY_TABLES).fetchall()}
        for table in sorted(counters & {name for name, last in given.items() if last}):
            counter = f"pg_get_serial_sequence('{SCHEMA}.{table}', 'id')"
            db.execute(f"SELECT setval({counter}, ?)", [given[table]])

    def commits(self, db: PostgresDatabase) -> int:
        """Return a number that changes when anybody writes."""
        [(number,)] = db.execute("SELECT hashtext(pg_current_snapshot()::text)").fetchall()
        return int(number)

    def each(self, db: PostgresDatabase, sql: str, parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement as they are sent."""
        return db.each(sql, parameters)

    def often(
        self, db: PostgresDatabase, sql: str, numbers: Sequence[int]
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query that the server plans once for all parameters."""
        return db.often(sql, numbers)

    def fill(
        self,
        db: PostgresDatabase,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
    ) -> None:
        """Add many rows to a table."""
        db.fill(f"{table} ({', '.join(map(quoted, columns))})", rows)

    def update_statistics(self, db: PostgresDatabase) -> None:
        """Update the statistics of the tables after a large write, before reads."""
        db.update_statistics()

    def expect_large_run(self, db: PostgresDatabase) -> None:
        """Do nothing: the server sizes its own cache."""

    def read_text_part(
        self, db: PostgresDatabase, chunk: int, start: int, most: int
    ) -> tuple[bytes, int]:
        """Return at most ``most`` bytes of a chunk's text from ``start`` on, and its length."""
        [(part, length)] = db.execute(TEXT_PART, [start + 1, most, chunk]).fetchall()
        return bytes(part), int(length)

    def search(
        self,
        db: PostgresDatabase,
        words: Sequence[str],
        *,
        all_of: bool,
        most: int,
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Return the chunks with all of some words, or any; the last may be the beginning of one.

        ``among`` are numbers of chunkings, 0 the default one, None all of them.
        """
        found = db.execute(PLAIN_WORDS, [as_json(list(words))]).fetchall()
        terms = [" & ".join(f"'{each}'" for each in plain.split()) for (plain,) in found]
        terms = [f"({term})" for term in terms if term]
        if not terms:
            return []
        terms[-1] = terms[-1].removesuffix(")") + ":*)"
        sought = (" & " if all_of else " | ").join(terms)
        chunkings = [] if among is None else [as_json(list(among))]
        sql = SEARCH_CHUNKS.replace("<AMONG>", IN_CHUNKINGS if chunkings else "")
        return [number for (number,) in db.execute(sql, [sought, *chunkings, most])]


SCHEMA_EXISTS = """
SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s LIMIT 1
"""


def has_golden_set(db: PostgresDatabase) -> bool:
    """Return whether the database has a golden set."""
    asked = f"SELECT to_regclass('{SCHEMA}.{migrations.migrations_table}') IS NOT NULL"
    return bool(db.execute(asked).fetchall()[0][0])


def create_golden_set(db: PostgresDatabase, address: Address) -> None:
    """Create the schema of a golden set in the open transaction.

    Raises `BadInput` if the schema has other tables.
    """
    connection = db.connection()
    if connection.execute(SCHEMA_EXISTS, [SCHEMA]).fetchall():
        raise BadInput(
            f"{address}: has a schema {SCHEMA!r} already that is no golden set; name another "
            "database"
        )
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}".encode())
    connection.execute(schema_sql(POSTGRES_FOLDER).encode())
    for key, value in new_identity().items():
        db.execute("INSERT INTO settings (key, value) VALUES (?, ?)", [key, json.dumps(value)])
    db.execute(
        f"INSERT INTO {migrations.migrations_table} (migration_set, name, applied_at) "
        "VALUES (?, ?, ?)",
        [migrations.name, CURRENT, moment()],
    )
