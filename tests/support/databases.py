"""What tests ask of a golden set past the store: that its logs only grow, what is in it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from labeler.model import Judgment
from labeler.store import Store
from labeler.store.addresses import Address
from labeler.store.schema import table_columns

IN_BOTH = pytest.mark.parametrize("kept", ["file", "postgres"], indirect=True)
"""Asks the same of a golden set in a file and in PostgreSQL, where not all of a module does."""


def assert_whole(store: Store) -> None:
    if not isinstance(store.path, Path):
        return  # a server sees to that by itself
    assert store.connection.value("PRAGMA integrity_check") == "ok"
    assert store.connection.rows("PRAGMA foreign_key_check") == []


@contextmanager
def another_tool(store: Store) -> Iterator[Callable[..., Any]]:
    """Let a test run statements as another program would; they last if the block succeeds."""
    if isinstance(store.path, Path):
        other = sqlite3.connect(store.path)
        other.execute("PRAGMA foreign_keys = ON")
        with closing(other), other:
            yield other.execute
        return
    path = {"options": "-c search_path=labeler,pg_catalog"}
    with psycopg.connect(store.path.url, cursor_factory=psycopg.ClientCursor, **path) as other:
        yield lambda sql, row=None: other.execute(re.sub(r":(\w+)", r"%(\1)s", sql), row)


@contextmanager
def another_writer(store: Store) -> Iterator[None]:
    """Let another process write to a golden set as long as the block runs."""
    with Store(store.path) as other, other.connection.transaction():
        yield


REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError, psycopg.DataError)


def assert_refused(store: Store, table: str, statement: str, recursive: str) -> None:
    """Assert that a statement from outside changes nothing in a table that is append-only."""
    is_of_sqlite = "REPLACE" in statement or "zeroblob" in statement or recursive == "on"
    if not isinstance(store.path, Path) and is_of_sqlite:
        pytest.skip("a statement of SQLite's")
    before = store.connection.rows(f"SELECT * FROM {table} ORDER BY id")
    with another_tool(store) as run:
        if isinstance(store.path, Path):
            run(f"PRAGMA recursive_triggers = {recursive}")
        with pytest.raises(REFUSED, match="append-only"):
            run(statement)
    assert store.connection.rows(f"SELECT * FROM {table} ORDER BY id") == before


def dump(store: Store) -> list[Any]:
    """Return everything that is in a golden set."""
    if isinstance(store.path, Path):
        return list(store.connection.conn.iterdump())
    return [
        (name, sorted(store.connection.rows(f"SELECT * FROM {name}"), key=repr))
        for name in table_columns()
    ]


def grade(path: Path, count: int, by: str = "more") -> None:
    """Add grades to a golden set as the fixture ``filled`` makes it."""
    with Store(path) as store, store.connection.transaction():
        for n in range(count):
            store.judgments.add(Judgment(f"{by}/{n}", "q1", "c3", "Ann", grade=n % 4))


def newest_alone(path: Path) -> int:
    """Return up to where the log of a file goes, whatever lies beside it."""
    with sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True) as db:
        [(found,)] = db.execute("SELECT max(id) FROM judgments").fetchall()
    db.close()
    return int(found)


def rewrite(path: Path | Address, *statements: str) -> None:
    """Change a golden set with another tool, past its triggers, and put those back."""
    if isinstance(path, Address):
        with psycopg.connect(path.url, options="-c search_path=labeler,pg_catalog") as other:
            for statement in ("SET session_replication_role = replica", *statements):
                other.execute(statement)
        return
    with sqlite3.connect(path) as db:
        triggers = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        made = db.execute(triggers).fetchall()
        for name, _ in made:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        for _, sql in made:
            db.execute(sql)
    db.close()
