"""Integrity of a golden-set file: its pages, its references, and the rules of its logs.

Files are only read. In a file with another schema only the pages and references are checked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeler.errors import BadInput, StorageError
from labeler.store import sqlite
from labeler.store.addresses import Address, StoreLocation
from labeler.store.schema import CURRENT, Database, applied_migrations, migrations
from labeler.store.sqlite import check_path, open_mode, primary_code, translate_error

Rows = list[tuple[Any, ...]]

WITHOUT_LOG = "immutable=1"
MOST_COMPLAINTS = 5
FOREIGN_LOG = (
    "{path}: {log} beside it belongs to another file, as it does where a copy was put in place of "
    "a golden set that was in use; move {log} and {index} elsewhere, then try again. Without them "
    "the file is whole"
)
# The triggers allow no row that these find: somebody has worked around the triggers.
MISSING_ROWS = (
    "SELECT n, seq FROM (SELECT count(*) AS n FROM {log}), sqlite_sequence "
    "WHERE name = '{log}' AND n <> seq"
)
LOG_RULES = {
    "{0:,} of {1:,} judgments are there": MISSING_ROWS.format(log="judgments"),
    "judgment {0} takes back judgment {1}, which is of another pair or grader, later, or an undo": (
        "SELECT u.id, j.id FROM judgments AS u JOIN judgments AS j ON j.id = u.undoes "
        "WHERE j.id >= u.id OR j.undoes IS NOT NULL OR j.query <> u.query OR j.chunk <> u.chunk "
        "OR coalesce(j.grader, 0) <> coalesce(u.grader, 0)"
    ),
    "{0:,} of {1:,} remarks are there": MISSING_ROWS.format(log="remarks"),
    "remark {0} takes back remark {1}, which is of another query or grader, or later": (
        "SELECT u.id, r.id FROM remarks AS u JOIN remarks AS r ON r.id = u.undoes "
        "WHERE r.id >= u.id OR r.query <> u.query OR r.grader <> u.grader"
    ),
    "{0:,} of {1:,} changes of queries are there": MISSING_ROWS.format(log="query_history"),
    "the evidence of judgment {0} is not in the text that it is of": (
        "SELECT DISTINCT j.id FROM judgments AS j JOIN chunks AS c ON c.id = j.chunk, "
        "json_each(j.evidence) AS p WHERE j.evidence IS NOT NULL AND c.text_hash = j.text_hash "
        "AND CAST(json_extract(p.value, '$[1]') AS INTEGER) > length(c.text)"
    ),
    "the transferred grade {0} rests on judgment {1}, which is of another query, or no grade": (
        "SELECT j.id, base.id FROM judgments AS j, json_each(j.carried_from) AS said "
        "JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id') "
        "WHERE j.carried_from IS NOT NULL AND (base.query <> j.query "
        "OR base.kind NOT IN ('grade', 'adjudicate', 'import'))"
    ),
}
SELECT_TRIGGERS = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Which golden set a file holds, and the last event of each of its logs."""

    golden_set: str
    judgment: int
    remark: int
    data_revision: int
    judged_at: str | None

    def precedes(self, later: LogPosition) -> bool:
        """Return whether this can be an earlier state of the golden set that ``later`` is of."""
        return self.golden_set == later.golden_set and (
            self.judgment <= later.judgment
            and self.remark <= later.remark
            and self.data_revision <= later.data_revision
        )


@contextmanager
def open_read_only(path: Path, how: str | None = None) -> Iterator[sqlite3.Connection]:
    """Open a file for reading, and translate SQLite's errors.

    With ``how`` as `WITHOUT_LOG` the write-ahead log beside the file is ignored.
    """
    check_path(path, create=False)
    how = how or read_mode(path)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as db:
            db.execute("PRAGMA busy_timeout = 10000")
            db.execute("PRAGMA query_only = ON")
            yield db
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        raise translate_error(error, path, str(path)) from error


def read_mode(path: Path) -> str:
    """Return the URI option that opens a file without folding a log into it.

    The log may belong to another file. Where there is no log, a file that can be written to is
    opened for writing, so that SQLite removes the files that it makes beside it.
    """
    return "mode=ro" if has_log(path) else open_mode(path, create=False)


def has_log(path: Path) -> bool:
    """Return whether there is a log beside a file that is not empty."""
    try:
        return log_path(path).stat().st_size > 0
    except OSError:
        return False


def log_path(path: Path) -> Path:
    """Return the path at which SQLite looks for a file's log."""
    file = path.resolve()
    return file.with_name(f"{file.name}-wal")


def check_undamaged(path: StoreLocation) -> None:
    """Raise `StorageError` for a damaged golden set, before anything is written to it.

    Checks every page of the file, and the log of judgments in full. A damaged file is marked, and
    no process writes to it until it is replaced. A missing or empty file passes.
    """
    if isinstance(path, Address):
        return  # the database server checks its pages
    check_path(path, create=True)
    if not path.is_file() or not path.stat().st_size:
        return
    if sqlite.is_marked_damaged(path):
        raise StorageError(sqlite.describe_damage(path))
    check_log(path)
    found = find_damage(path, "quick_check") or find_damage(path, "integrity_check(judgments)")
    if not found:
        return
    raise_for_foreign_log(path)
    sqlite.mark_damaged(path, found[0])
    raise StorageError(sqlite.describe_damage(path))


def find_damage(path: Path, check: str, how: str | None = None) -> list[str]:
    """Return what SQLite finds damaged in a file, at most `MOST_COMPLAINTS` messages.

    ``check`` is ``quick_check``, ``integrity_check``, or one of them with a table in brackets.
    """
    pragma, _, table = check.rstrip(")").partition("(")
    if table and not has_table(path, table, how):
        return []
    try:
        with open_read_only(path, how) as db:
            rows = db.execute(f"PRAGMA {pragma}({table or MOST_COMPLAINTS})").fetchall()
    except StorageError as error:
        if primary_code(error.__cause__) != sqlite3.SQLITE_CORRUPT:  # type: ignore[arg-type]  # SQLite's
            raise
        return [str(error.__cause__)]
    return [str(said) for (said,) in rows if said != "ok"][:MOST_COMPLAINTS]


def has_table(path: Path, table: str, how: str | None = None) -> bool:
    """Return whether a file has a table of that name; False where the file cannot be read."""
    try:
        with open_read_only(path, how) as db:
            sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
            return bool(db.execute(sql, [table]).fetchall())
    except StorageError:
        return False


def check_log(path: Path) -> None:
    """Raise `StorageError` where the log beside a file leads to an earlier state.

    The file's own log only adds to it, so such a log belongs to another file.
    """
    found = _positions_without_and_with_log(path)
    if found is not None and not found[0].precedes(found[1]):
        raise StorageError(describe_foreign_log(path))


def log_has_more(path: Path) -> bool:
    """Return whether the log has events that the file lacks, or whether that cannot be told."""
    found = _positions_without_and_with_log(path)
    return has_log(path) and (found is None or found[0] != found[1])


def _positions_without_and_with_log(path: Path) -> tuple[LogPosition, LogPosition] | None:
    """Return a file's position without and with its log, None where that cannot be told."""
    if not has_log(path):
        return None
    try:
        with open_read_only(path, WITHOUT_LOG) as db:
            without = read_position(db)
        with open_read_only(path) as db:
            return without, read_position(db)
    except (StorageError, LookupError, BadInput):  # damaged, too new, or not of labeler
        return None


def raise_for_foreign_log(path: Path) -> None:
    """Raise `StorageError` where a damaged file is intact without the log beside it."""
    if has_log(path) and not find_damage(path, "integrity_check", WITHOUT_LOG):
        raise StorageError(describe_foreign_log(path))


def describe_foreign_log(path: Path) -> str:
    """Return the message that the log belongs to another file, and how to fix that."""
    log = log_path(path).name
    return FOREIGN_LOG.format(path=path, log=log, index=f"{log.removesuffix('-wal')}-shm")


def read_position(db: sqlite3.Connection) -> LogPosition:
    """Return which golden set is open, and the last event of each of its logs."""
    keys = dict(db.execute("SELECT key, json_extract(value, '$') FROM settings").fetchall())
    [(judgment, judged_at)] = db.execute(
        "SELECT coalesce(max(id), 0), (SELECT created_at FROM judgments ORDER BY id DESC LIMIT 1) "
        "FROM judgments"
    ).fetchall()
    remark = db.execute("SELECT coalesce(max(id), 0) FROM remarks").fetchone()[0]
    return LogPosition(
        str(keys["golden_set"]), judgment, remark, int(keys["data_revision"]), judged_at
    )


def broken_references(db: sqlite3.Connection) -> list[str]:
    """Return a sentence for each reference to a row that does not exist, a few at most."""
    rows = db.execute("PRAGMA foreign_key_check").fetchmany(MOST_COMPLAINTS)
    return [
        f"row {row} of {table} names a {parent} that is not there" for table, row, parent, _ in rows
    ]


def broken_rules(db: sqlite3.Connection) -> list[str]:
    """Return a sentence for each trace in the file that a log was more than appended to."""
    found = [
        said.format(*row)
        for said, sql in LOG_RULES.items()
        for row in db.execute(sql).fetchmany(MOST_COMPLAINTS)
    ]
    return [*found, *missing_triggers(db)]


def missing_triggers(db: sqlite3.Connection) -> list[str]:
    """Return a sentence for each trigger that is missing or not as this version creates it."""
    if not isinstance(db, sqlite3.Connection):
        return [f"the trigger {name} is gone or changed" for name in db.missing_triggers()]
    fresh = Database(memory=True)
    migrations.apply(fresh)
    wanted, there = (
        fresh.execute(SELECT_TRIGGERS).fetchall(),
        dict(db.execute(SELECT_TRIGGERS).fetchall()),
    )
    fresh.close()
    gone = [name for name, sql in wanted if there.get(name) != sql]
    return [f"the trigger {name} is gone or changed" for name in gone]


def has_current_schema(db: sqlite3.Connection) -> bool:
    """Return whether a golden set has the schema of this version of labeler."""
    try:
        return applied_migrations(db) == {CURRENT}
    except sqlite3.OperationalError:
        return False
