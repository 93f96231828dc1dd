"""What tests ask of the SQLite file itself: that it is sound, that its logs only grow."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from labeler.model import Judgment
from labeler.store import Store


def assert_whole(store: Store) -> None:
    assert store._value("PRAGMA integrity_check") == "ok"
    assert store._rows("PRAGMA foreign_key_check") == []


def assert_refused(store: Store, table: str, statement: str, recursive: str) -> None:
    """Assert that a statement from outside changes nothing in a table that is append-only."""
    before = store._rows(f"SELECT * FROM {table} ORDER BY id")
    other = sqlite3.connect(store.path)
    other.execute(f"PRAGMA recursive_triggers = {recursive}")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        other.execute(statement)
    other.commit()
    other.close()
    assert store._rows(f"SELECT * FROM {table} ORDER BY id") == before


def grade(path: Path, count: int, by: str = "more") -> None:
    """Add grades to a golden set as the fixture ``filled`` makes it."""
    with Store(path) as store, store._transaction():
        for n in range(count):
            store.judge(Judgment(f"{by}/{n}", "q1", "c3", "Ann", grade=n % 4))


def newest_alone(path: Path) -> int:
    """Return up to where the log of a file goes, whatever lies beside it."""
    with sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True) as db:
        [(found,)] = db.execute("SELECT max(id) FROM judgments").fetchall()
    db.close()
    return int(found)


def rewrite(path: Path, *statements: str) -> None:
    """Change a file with another tool, past its triggers, and put those back."""
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
