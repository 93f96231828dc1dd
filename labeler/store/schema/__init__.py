"""Schema of a golden set: its SQL files, the migration that runs them, and the version check.

Each ``.sql`` file has one group of tables; ``postgres/schema`` has the same files for PostgreSQL.
There is one migration, which creates everything. Its name ends with a fingerprint of the files.
The schema may change until the first release: a golden set of another draft has another
fingerprint, and is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sqlite3
import uuid
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from labeler.errors import BadInput
from labeler.store.schema.sqlite_utils_import import Database, Migrations

__all__ = ["Database", "Migrations", "migrations"]

GROUPS = (
    "chunks",
    "queries",
    "runs",
    "people",
    "judgments",
    "records",
    "golden",
    "candidates",
    "signals",
    "append_only",
)
"""The files of one engine's schema, each after those whose tables it references."""
FOLDER = Path(__file__).parent
POSTGRES_FOLDER = FOLDER.parent / "postgres" / "schema"
SCRIPTS = {FOLDER: GROUPS, POSTGRES_FOLDER: ("functions", *GROUPS, "numbering")}
_COMMENT = re.compile(r"--[^\n]*")
_VIEW = re.compile(r"^CREATE VIEW (\w+) AS\n(.*?);\n", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^CREATE TABLE (\w+) \(\n(.*?)\n\)", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(r'^    "?([a-z]\w*)"? [A-Z]', re.MULTILINE)


@cache
def schema_sql(folder: Path = FOLDER) -> str:
    """Return all statements of an engine's schema, in order."""
    scripts = (folder / f"{name}.sql" for name in SCRIPTS[folder])
    return "\n".join(script.read_text(encoding="utf-8") for script in scripts)


def fingerprint() -> str:
    """Return eight hex digits that change with either engine's schema, but not with comments."""
    words = [_COMMENT.sub("", schema_sql(folder)).split() for folder in (FOLDER, POSTGRES_FOLDER)]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:8]


@cache
def views(folder: Path = FOLDER) -> Mapping[str, str]:
    """Return the query of each view of an engine's schema, by the view's name."""
    return dict(_VIEW.findall(schema_sql(folder)))


@cache
def table_columns() -> Mapping[str, tuple[str, ...]]:
    """Return the columns of each table, in the order in which tables can be filled."""
    return {name: tuple(_COLUMN.findall(columns)) for name, columns in _TABLE.findall(schema_sql())}


migrations = Migrations("labeler")
DRAFTS = "first_schema_"
CURRENT = f"{DRAFTS}{fingerprint()}"
LAST_DEVELOPMENT = "m023_what_was_on_screen"
"""The newest migration of the development shape that `labeler upgrade` reads."""
COPY_FIRST = (
    "copy it into a file with the version that wrote it ('labeler copy ADDRESS FILE'), then "
    "'labeler upgrade FILE NEW' makes a golden set of this version from that"
)


@migrations(name=CURRENT)
def first_schema(db: Database) -> None:
    """Create every table, trigger and view, and the identity of a new golden set."""
    run_script(db, schema_sql())
    for key, value in new_identity().items():
        db.execute("INSERT INTO settings (key, value) VALUES (?, ?)", [key, json.dumps(value)])


def new_identity() -> dict[str, str | int]:
    """Return the settings that a golden set is created with."""
    return {
        "golden_set": str(uuid.uuid4()),
        "signing_key": secrets.token_hex(32),
        "data_revision": 0,
    }


def run_script(db: Database, script: str) -> None:
    """Run the statements of a script; each must end at the end of a line.

    ``executescript`` would commit the open transaction. sqlite-utils looks for the end of a
    statement after each letter, which took two thirds of the time to create a golden set.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def applied_migrations(db: Any) -> set[str]:
    """Return the names of labeler's migrations that were applied to a database of either engine."""
    sql = f"SELECT name FROM {migrations.migrations_table} WHERE migration_set = ?"
    return {name for (name,) in db.execute(sql, [migrations.name]).fetchall()}


def check_schema(place: object, applied: set[str]) -> None:
    """Raise `BadInput`, with a remedy, if this version cannot open the golden set at ``place``."""
    if applied == {CURRENT}:
        return
    if LAST_DEVELOPMENT in applied:
        remedy = (
            f"'labeler upgrade {place} NEW' makes a golden set of this version from it"
            if isinstance(place, Path)
            else COPY_FIRST
        )
        raise BadInput(f"{place}: has the schema of a development version of labeler; {remedy}")
    if any(name.startswith(DRAFTS) for name in applied - {CURRENT}):
        raise BadInput(
            f"{place}: has another draft of the schema than this version of labeler; write it out "
            "with the version that made it ('labeler export FILE --complete') and load that file "
            "into a new golden set"
        )
    raise BadInput(f"{place}: written by a newer version of labeler; upgrade labeler to open it")
