"""Check of a golden-set file: a line for each fact about it, and which of them are errors.

Nothing is written, except that an intact file loses the mark that an earlier check set.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeler.errors import BadInput
from labeler.store import integrity, schema, sqlite
from labeler.store.addresses import StoreLocation
from labeler.store.backup import atomic_files
from labeler.store.backup.backups import describe_position, format_megabytes
from labeler.store.backup.maintenance import has_wal_reset_bug
from labeler.store.hash_chain import Seal
from labeler.store.sqlite import check_path
from labeler.store.tamper_check import HashChain

WAL_RESET_BUG = (
    "has a known bug (WAL reset, 3.7.0 to 3.51.2): what was committed can be lost where several "
    "write to one file. labeler folds its log so that it cannot happen; let no other program write "
    "to the file, see https://sqlite.org/wal.html#walresetbug"
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One fact about a file: what was checked, the result in words, and whether it is an error."""

    what: str
    says: str
    is_wrong: bool = False


# A check of a readable file, which yields its results.
FileCheck = Callable[[StoreLocation, sqlite3.Connection], Iterator[CheckResult]]


def check_file(path: Path, against: Seal | None = None) -> list[CheckResult]:
    """Return the results of all checks of the golden set at ``path``.

    With a kept seal as ``against``, the logs are compared with it, too. Raises `NotFound` where
    there is no file, `BadInput` for a file that is no golden set.
    """
    check_path(path, create=False)
    if not path.stat().st_size:
        raise BadInput(f"{path}: the file is empty; 'labeler load' makes it a golden set")
    integrity.check_log(path)
    if found := integrity.find_damage(path, "integrity_check"):
        integrity.raise_for_foreign_log(path)
        sqlite.mark_damaged(path, found[0])
        return [
            *(CheckResult("pages", said, is_wrong=True) for said in found),
            *check_files_beside(path),
            check_sqlite_bug(),
        ]
    with integrity.open_read_only(path) as db:
        db.execute("BEGIN")
        findings = [each for look in FILE_CHECKS for each in look(path, db)]
        findings += compare_with_seal(db, against)
    return [
        CheckResult("pages", "every page of the database file is intact"),
        *findings,
        *lift_damage_mark(path),
        *check_files_beside(path),
        check_sqlite_bug(),
    ]


def check_in_database(
    place: StoreLocation, db: Any, against: Seal | None = None
) -> list[CheckResult]:
    """Return the results of all checks of a golden set in an open PostgreSQL database.

    Its server checks pages and references.
    """
    looks = (
        *check_schema(place, db),
        *check_logs(place, db),
        *check_chain(place, db),
        *compare_with_seal(db, against),
    )
    return list(looks)


def is_current(path: Path) -> bool:
    """Return whether a file has the schema of this version of labeler."""
    with integrity.open_read_only(path) as db:
        return integrity.has_current_schema(db)


def check_logs(_: StoreLocation, db: sqlite3.Connection) -> Iterator[CheckResult]:
    """Yield the last events of the logs, and where a log was more than appended to."""
    if not integrity.has_current_schema(db):
        return
    yield CheckResult("holds", describe_position(integrity.read_position(db)))
    broken = integrity.broken_rules(db)
    for said in broken:
        yield CheckResult("log", said, is_wrong=True)
    if not broken:
        yield CheckResult("log", "nothing is missing, and entries can only be added")


def check_references(_: StoreLocation, db: sqlite3.Connection) -> Iterator[CheckResult]:
    """Yield the references to rows that do not exist."""
    broken = integrity.broken_references(db)
    for said in broken:
        yield CheckResult("references", said, is_wrong=True)
    if not broken:
        yield CheckResult("references", "all point to something that is there")


def check_schema(place: StoreLocation, db: sqlite3.Connection) -> Iterator[CheckResult]:
    """Yield whether a golden set has the schema of this version of labeler."""
    try:
        schema.check_schema(place, schema.applied_migrations(db))
    except BadInput as error:
        yield CheckResult("schema", str(error).removeprefix(f"{place}: "), is_wrong=True)
    else:
        yield CheckResult("schema", schema.CURRENT)


def check_chain(_: StoreLocation, db: sqlite3.Connection) -> Iterator[CheckResult]:
    """Yield the events that do not match their seals, and the present seal to keep."""
    if not integrity.has_current_schema(db):
        return
    report = HashChain(db).check()
    for said in report.faults:
        yield CheckResult("events", said, is_wrong=True)
    if report.more:
        yield CheckResult("events", f"and {report.more:,} more like these", is_wrong=True)
    if not report.faults:
        sealed = report.events - report.unsealed
        later = f"; {report.unsealed:,} newer ones have no seal yet" if report.unsealed else ""
        unchanged = f"{sealed:,} are unchanged since they were recorded{later}"
        yield CheckResult("events", unchanged)
    yield CheckResult("seal", str(report.seal))


def compare_with_seal(db: sqlite3.Connection, kept: Seal | None) -> list[CheckResult]:
    """Return whether the logs still begin as they did when a seal was kept, if there is one."""
    if kept is None:
        return []
    if not integrity.has_current_schema(db):
        return [CheckResult("against", "the log of another schema is not compared", True)]
    differs = HashChain(db).differs_from(kept)
    if differs is not None:
        return [CheckResult("against", differs, is_wrong=True)]
    return [CheckResult("against", "the log still begins with all that this seal was made of")]


FILE_CHECKS: tuple[FileCheck, ...] = (check_schema, check_references, check_logs, check_chain)


def lift_damage_mark(path: Path) -> Iterator[CheckResult]:
    """Remove the damage mark of an intact file."""
    if sqlite.remove_damage_mark(path):
        yield CheckResult("mark", "it was marked as damaged and is whole: the mark is removed")


def check_files_beside(path: Path) -> Iterator[CheckResult]:
    """Yield the files beside the golden set: a log that is not folded yet, and abandoned parts."""
    if integrity.has_log(path):
        log = integrity.log_path(path)
        newest = (
            "some of the newest is in there alone, copy with 'labeler backup'"
            if integrity.log_has_more(path)
            else "the file has all judgments and remarks without it"
        )
        yield CheckResult(
            "log file", f"{log.name}, {format_megabytes(log.stat().st_size)}: {newest}"
        )
    for part in atomic_files.parts_beside(path.resolve()):
        if not atomic_files.has_lock(part):
            yield CheckResult("stray part", f"{part.name}, left by an earlier labeler: delete it")
        elif not atomic_files.is_in_progress(part):
            yield CheckResult(
                "stray part",
                f"{part.name}, left by a process that was killed; the next "
                "load or backup removes it",
            )


def check_sqlite_bug(version: str = sqlite3.sqlite_version) -> CheckResult:
    """Return the version of SQLite, and whether it has the WAL-reset bug."""
    bug = has_wal_reset_bug([int(part) for part in version.split(".")])
    return CheckResult("SQLite", f"{version} {WAL_RESET_BUG}" if bug else version)
