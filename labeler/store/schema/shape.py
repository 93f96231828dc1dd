"""The newest shape of a golden set, as SQLite has it; knows no other database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from labeler.store.schema.light import Database, Migrations

OWN = "name NOT LIKE 'sqlite_%' AND name NOT LIKE 'chunk_words_%'"
MADE = f"SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND {OWN}"


@dataclass(frozen=True, slots=True)
class Made:
    """A table, index, view or trigger: its name, its table's, and the statement that made it."""

    kind: str
    name: str
    table: str
    sql: str


@cache
def shape_after(migrations: Migrations) -> tuple[Made, ...]:
    """Return everything that migrations make, in the order they made it."""
    db = born(migrations)
    try:
        return tuple(Made(*row) for row in db.execute(f"{MADE} ORDER BY rowid").fetchall())
    finally:
        db.close()


def columns_after(migrations: Migrations) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table that a golden set's content is in."""
    db = born(migrations)
    try:
        return {
            each.name: tuple(row[1] for row in db.execute(f"PRAGMA table_info({each.name})"))
            for each in shape_after(migrations)
            if each.kind == "table" and each.name not in ("chunk_words", "_sqlite_migrations")
        }
    finally:
        db.close()


def born(migrations: Migrations) -> Any:
    """Return a new golden set, in memory, with an identity of its own."""
    db = Database(memory=True)
    migrations.apply(db)
    return db


def in_order(made: Sequence[Made]) -> list[Made]:
    """Return tables or views so that each comes after those it names."""
    left = {each.name: each for each in made}
    found: list[Made] = []

    def take(each: Made) -> None:
        if left.pop(each.name, None) is None:
            return
        for name in sorted(set(re.findall(r"\w+", each.sql))):
            if name in left:
                take(left[name])
        found.append(each)

    for each in made:
        take(each)
    return found
