"""A golden set in PostgreSQL: what `labeler.store.sqlite` is to a file; knows no other table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout

from labeler.errors import Away, BadInput, Busy, LabelerError, Unusable
from labeler.store.addresses import Address, NoGoldenSet, without_secrets
from labeler.store.columns import as_json, quoted
from labeler.store.database import FILLED, Database
from labeler.store.schema import migrations
from labeler.store.schema.postgres import SCHEMA
from labeler.store.shaping import is_made, make, upgrade

BRIEF_MS = 1_000
APPLIED = f"SELECT name FROM {SCHEMA}.{migrations.migrations_table} WHERE migration_set = ?"
COUNTERS = """
SELECT table_name::text FROM information_schema.columns
WHERE table_schema = 'labeler' AND column_name = 'id' AND is_identity = 'YES'
"""
GIVEN = """
SELECT c.relname::text, coalesce(s.last_value, 0)
FROM pg_sequences AS s JOIN pg_class AS q ON q.relname = s.sequencename
JOIN pg_namespace AS n ON n.oid = q.relnamespace AND n.nspname = s.schemaname
JOIN pg_depend AS d ON d.objid = q.oid AND d.deptype = 'i'
JOIN pg_class AS c ON c.oid = d.refobjid
WHERE s.schemaname = 'labeler'
"""
FOUND = """
SELECT c.id FROM chunk_words AS c, to_tsquery('simple', ?) AS sought
WHERE c.words @@ sought<AMONG>
ORDER BY ts_rank('{0, 0, 0.33, 1}', c.words, sought, 1) DESC, c.id LIMIT ?
"""
OF_CHUNKINGS = """
AND EXISTS (SELECT 1 FROM chunks AS k WHERE k.id = c.id
    AND coalesce(k.chunking, 0) IN (SELECT CAST(value AS BIGINT) FROM json_each(?)))"""
PLAIN = "SELECT plain(value) FROM json_each(?)"
PART = """
SELECT substring(convert_to(text, 'UTF8') FROM ? FOR ?), octet_length(text)
FROM chunks WHERE id = ?
"""


class Postgres:
    """How a golden set in a database is opened, written to and read where SQLite differs."""

    Error = psycopg.Error, PoolTimeout
    is_shared = True

    def __init__(self, address: Address, busy_seconds: float) -> None:
        self._address = address
        self._busy_seconds = busy_seconds

    def open(self, *, create: bool) -> Database:
        """Open the golden set, made where there is none and ``create`` says so."""
        db = Database(self._address, self._busy_seconds)
        try:
            self._prepare(db, create=create)
        except BaseException:
            db.close()
            raise
        return db

    def close(self, db: Database) -> None:
        """Let go of it."""
        db.close()

    def _prepare(self, db: Database, *, create: bool) -> None:
        known = {each.name for each in migrations._migrations}
        try:
            applied = self._applied(db)
        except psycopg.errors.UndefinedTable:
            applied = set()
        if applied == known:
            return
        if applied - known:
            raise BadInput(
                f"{self._address}: written by a newer version of labeler; upgrade labeler to "
                "open it"
            )
        if not applied and not create:
            raise NoGoldenSet(
                f"{self._address}: there is no golden set in this database; 'labeler load' or "
                "'labeler serve --new' makes one, 'labeler copy FILE ADDRESS' brings one"
            )
        with db.alone():
            if not is_made(db):
                make(db, self._address)
            elif applied := self._applied(db):
                upgrade(db, applied)

    def _applied(self, db: Database) -> set[str]:
        return {name for (name,) in db.execute(APPLIED, [migrations.name]).fetchall()}

    def in_words(self, error: Exception, place: str) -> LabelerError | None:
        """Return what PostgreSQL complained of, in words; None for a mistake of ours."""
        said = without_secrets(str(error).partition("\n")[0], self._address)
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
            return Unusable(f"{self._address}: its user may not do this: {said}")
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | PoolTimeout):
            return Away(f"{self._address}: the database does not answer: {said}")
        if isinstance(error, psycopg.DataError):
            return BadInput(f"{place}: {said}")
        return None

    @contextmanager
    def briefly(self, db: Database) -> Iterator[None]:
        """Let the block wait a second for other writers, and no longer."""
        db.wait_at_most(min(BRIEF_MS, db.busy_ms))
        try:
            yield
        finally:
            db.wait_at_most(db.busy_ms)

    def unmake(self, db: Database) -> None:
        """Take the tables away, unless there is anything in them."""
        with db.alone():
            if not any(db.execute(f"SELECT 1 FROM {each} LIMIT 1").fetchall() for each in FILLED):
                db.connection().execute(f"DROP SCHEMA {SCHEMA} CASCADE".encode())

    def numbers_given(self, db: Database) -> dict[str, int]:
        """Return the last number that each table gave whose numbers never come again."""
        logs = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        return {**logs, **dict(db.execute(GIVEN).fetchall())}

    def go_on_from(self, db: Database, given: Mapping[str, int]) -> None:
        """Give no number again that was given where the rows came from."""
        counters = {table for (table,) in db.execute(COUNTERS).fetchall()}
        for table in sorted(counters & {name for name, last in given.items() if last}):
            counter = f"pg_get_serial_sequence('{SCHEMA}.{table}', 'id')"
            db.execute(f"SELECT setval({counter}, ?)", [given[table]])

    def commits(self, db: Database) -> int:
        """Return a number that moves when anybody writes."""
        [(number,)] = db.execute("SELECT hashtext(pg_current_snapshot()::text)").fetchall()
        return int(number)

    def each(self, db: Database, sql: str, parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Give the rows of a statement while they are sent."""
        return db.each(sql, parameters)

    def often(self, db: Database, sql: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the rows of a question that the server plans once for all numbers."""
        return db.often(sql, numbers)

    def fill(
        self, db: Database, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Add many rows to a table."""
        db.fill(f"{table} ({', '.join(map(quoted, columns))})", rows)

    def settle(self, db: Database) -> None:
        """Be told that much was written, and is read next."""
        db.settle()

    def expect_much(self, db: Database) -> None:
        """Do nothing: the server has its memory."""

    def part_of_text(self, db: Database, chunk: int, start: int, most: int) -> tuple[bytes, int]:
        """Return some bytes of a chunk's text from one on, and how many it has."""
        [(part, length)] = db.execute(PART, [start + 1, most, chunk]).fetchall()
        return bytes(part), int(length)

    def search(
        self,
        db: Database,
        words: Sequence[str],
        *,
        all_of: bool,
        most: int,
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Return the chunks with all of some words, or any; the last may only begin one.

        ``among`` are numbers of chunkings, 0 the unnamed one, None all of them.
        """
        found = db.execute(PLAIN, [as_json(list(words))]).fetchall()
        terms = [" & ".join(f"'{each}'" for each in plain.split()) for (plain,) in found]
        terms = [f"({term})" for term in terms if term]
        if not terms:
            return []
        terms[-1] = terms[-1].removesuffix(")") + ":*)"
        sought = (" & " if all_of else " | ").join(terms)
        chunkings = [] if among is None else [as_json(list(among))]
        sql = FOUND.replace("<AMONG>", OF_CHUNKINGS if chunkings else "")
        return [number for (number,) in db.execute(sql, [sought, *chunkings, most])]
