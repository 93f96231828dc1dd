"""What tests ask of the SQLite file itself: that it is sound, that its logs only grow."""

from __future__ import annotations

import sqlite3

import pytest

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
