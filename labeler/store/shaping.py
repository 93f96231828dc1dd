"""Makes a golden set's tables in PostgreSQL, brings them to the newest shape; asks nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import psycopg

from labeler.errors import BadInput
from labeler.store.addresses import Address
from labeler.store.columns import moment
from labeler.store.schema import migrations
from labeler.store.schema.postgres import (
    FOLDING,
    SCHEMA,
    in_migration,
    statements,
    views_and_triggers,
    without_views_and_triggers,
)
from labeler.store.schema.shape import Made, born, shape_after

if TYPE_CHECKING:
    from labeler.store.database import Database

TAKEN = """
SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s LIMIT 1
"""


def is_made(db: Database) -> bool:
    """Say whether there is a golden set in the database."""
    asked = f"SELECT to_regclass('{SCHEMA}.{migrations.migrations_table}') IS NOT NULL"
    return bool(db.execute(asked).fetchall()[0][0])


def make(db: Database, address: Address) -> None:
    """Make a golden set's tables in the transaction that is open."""
    connection = db.connection()
    if connection.execute(TAKEN, [SCHEMA]).fetchall():
        raise BadInput(
            f"{address}: has a schema {SCHEMA!r} already that is no golden set; name another "
            "database"
        )
    there = {name for (name,) in connection.execute("SELECT collname FROM pg_collation")}
    folding = next(name for name in FOLDING if name in there)
    made = shape_after(migrations)
    for statement in statements(made, folding):
        connection.execute(statement.encode())
    new = born(migrations)
    try:
        for table in ("settings", migrations.migrations_table):
            columns = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
            rows = new.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            marks = ", ".join("?" * len(columns))
            db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)
    finally:
        new.close()
    note_shape(db, made)


def note_shape(db: Database, made: Sequence[Made]) -> None:
    """Let the database say what shape it has, as a file does."""
    db.execute("DELETE FROM sqlite_master")
    db.executemany(
        "INSERT INTO sqlite_master (type, name, tbl_name, sql) VALUES (?, ?, ?, ?)",
        [(each.kind, each.name, each.table, each.sql) for each in made],
    )


def upgrade(db: Database, applied: set[str]) -> None:
    """Bring a golden set to the newest shape, in the transaction that is open.

    Views and triggers are made anew from that shape, whatever the migrations in between did.
    """
    connection = db.connection()
    there = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    for statement in without_views_and_triggers(Made(*row) for row in there):
        connection.execute(statement.encode())
    migrating = Migrating(db)
    for migration in migrations._migrations:
        if migration.name not in applied:
            migration.fn(migrating)  # type: ignore[arg-type]  # as much of one as it uses
            db.execute(
                f"INSERT INTO {migrations.migrations_table} (migration_set, name, applied_at) "
                "VALUES (?, ?, ?)",
                [migrations.name, migration.name, moment()],
            )
    made = shape_after(migrations)
    for statement in views_and_triggers(made):
        connection.execute(statement.encode())
    note_shape(db, made)


class Migrating:
    """What a migration is given: it says what it always says, and is understood."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.conn = db

    def execute(self, sql: str, parameters: Any = ()) -> psycopg.Cursor[Any]:
        """Run a statement of a migration."""
        made = in_migration(sql, shape_after(migrations))
        if made is None:
            return self._db.execute("SELECT 1 WHERE false")
        return self._db.execute(made, parameters)
