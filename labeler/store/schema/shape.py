"""The objects of the newest schema as SQLite has them: tables, indexes, views and triggers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from labeler.store.schema.sqlite_utils_import import Database, Migrations

OWN_NAMES = "name NOT LIKE 'sqlite_%' AND name NOT LIKE 'chunk_words_%'"
SELECT_OBJECTS = (
    f"SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND {OWN_NAMES}"
)


@dataclass(frozen=True, slots=True)
class SchemaObject:
    """A table, index, view or trigger: its name, its table's, and the statement that made it."""

    kind: str
    name: str
    table: str
    sql: str


@cache
def schema_objects(migrations: Migrations) -> tuple[SchemaObject, ...]:
    """Return everything that migrations make, in the order they made it."""
    db = new_in_memory(migrations)
    try:
        return tuple(
            SchemaObject(*row) for row in db.execute(f"{SELECT_OBJECTS} ORDER BY rowid").fetchall()
        )
    finally:
        db.close()


def table_columns(migrations: Migrations) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table that a golden set's content is in."""
    db = new_in_memory(migrations)
    try:
        return {
            each.name: tuple(row[1] for row in db.execute(f"PRAGMA table_info({each.name})"))
            for each in schema_objects(migrations)
            if each.kind == "table" and each.name not in ("chunk_words", "_sqlite_migrations")
        }
    finally:
        db.close()


def new_in_memory(migrations: Migrations) -> Any:
    """Return a new golden set, in memory, with an identity of its own."""
    db = Database(memory=True)
    migrations.apply(db)
    return db


def dependency_order(made: Sequence[SchemaObject]) -> list[SchemaObject]:
    """Return tables or views so that each comes after those it names."""
    left = {each.name: each for each in made}
    found: list[SchemaObject] = []

    def take(each: SchemaObject) -> None:
        if left.pop(each.name, None) is None:
            return
        for name in sorted(set(re.findall(r"\w+", each.sql))):
            if name in left:
                take(left[name])
        found.append(each)

    for each in made:
        take(each)
    return found
