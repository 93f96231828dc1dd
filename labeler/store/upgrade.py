"""Upgrade of a golden-set file from the last development schema: copy every row into a new file.

The old file has every present column. Left out are a grader's name from before keys, the cookies
that links once were, and when signing began. Some settings are renamed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

from labeler.errors import BadInput
from labeler.model import settings_from, settings_to_store
from labeler.model.settings import OLD_NAMES
from labeler.store import integrity, schema
from labeler.store.columns import as_json
from labeler.store.connection import Connection
from labeler.store.full_copy import fill_tables, select_rows
from labeler.store.tamper_check import HashChain

GOLDEN_GRADES = "SELECT query, chunk, grade, kind, judgment, stale FROM golden ORDER BY 1, 2"


def upgrade(source: Path, target: Connection) -> None:
    """Copy a golden set of the last development schema into a new one, or raise `BadInput`.

    ``target`` is empty. The golden grades and the hash chain are compared at the end; if they
    differ, nothing is stored.
    """
    with integrity.open_read_only(source) as old, target.transaction():
        old.execute("BEGIN")
        _check_shape(source, old)
        last_ids = dict(old.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        fill_tables(target, partial(_converted, old), last_ids)
        for content in (_golden_grades, _present_seal):
            if content(old) != content(target.conn):
                raise BadInput(
                    f"{source}: what came of it is not the same golden set; 'labeler check' of "
                    "the version that wrote it says what is wrong there. Nothing was changed"
                )


def _check_shape(source: Path, db: sqlite3.Connection) -> None:
    applied = schema.applied_migrations(db)
    if applied == {schema.CURRENT}:
        raise BadInput(f"{source}: has the schema of this version already; nothing to upgrade")
    if schema.LAST_DEVELOPMENT not in applied:
        raise BadInput(
            f"{source}: has an older schema than the last development version; open it with that "
            "version once, which brings it up to date, then upgrade it"
        )


def _converted(
    old: sqlite3.Connection, table: str, columns: tuple[str, ...]
) -> Generator[tuple[Any, ...]]:
    """Yield the rows of a table in the present schema."""
    for row in old.execute(select_rows(table, columns)):
        stored = dict(zip(columns, row, strict=True))
        if table == "settings" and stored["key"] == "signs_since":
            continue
        if table == "settings" and stored["key"] == "settings":
            settings = settings_from(json.loads(stored["value"]))
            stored["value"] = as_json(settings_to_store(settings))
        if table == "audit" and stored["kind"] == "settings":
            changes = json.loads(stored["detail"])
            stored["detail"] = as_json({OLD_NAMES.get(k, k): v for k, v in changes.items()})
        yield tuple(stored.values())


def _golden_grades(db: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in db.execute(GOLDEN_GRADES).fetchall()]


def _present_seal(db: Any) -> Any:
    return HashChain(db).present_seal()
