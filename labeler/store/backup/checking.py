"""What there is to say of a golden set's file, line by line, and which of it is wrong.

Reads only, but for one mark: a file that was found damaged and is whole after all is not marked
any more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeler.errors import BadInput
from labeler.store import damage, health
from labeler.store.addresses import Place
from labeler.store.backup import parts
from labeler.store.backup.backups import described, megabytes
from labeler.store.chain import Seal
from labeler.store.chained import Chain
from labeler.store.folding import has_reset_bug
from labeler.store.sqlite import check_place

WAL_RESET = (
    "has a known bug (WAL reset, 3.7.0 to 3.51.2): what was committed can be lost where several "
    "write to one file. labeler folds its log so that it cannot happen; let no other program write "
    "to the file, see https://sqlite.org/wal.html#walresetbug"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, what there is to say of it, and whether that is wrong."""

    what: str
    says: str
    is_wrong: bool = False


# A look at a file that can be read; each gives what it finds.
Look = Callable[[Place, sqlite3.Connection], Iterator[Finding]]


def examine(path: Path, against: Seal | None = None) -> list[Finding]:
    """Return everything there is to say of the golden set at ``path``.

    ``against`` is a seal that was kept: then it is said, too, whether the logs still begin as they
    were when it was made. Raises `NotFound` where there is none and `BadInput` for a file that is
    something else.
    """
    check_place(path, create=False)
    if not path.stat().st_size:
        raise BadInput(f"{path}: the file is empty; 'labeler load' makes it a golden set")
    health.check_log(path)
    if found := health.complaints(path, "integrity_check"):
        health.raise_for_foreign_log(path)
        damage.mark(path, found[0])
        return [*(Finding("pages", said, is_wrong=True) for said in found), *beside(path), sqlite()]
    with health.reading(path) as db:
        db.execute("BEGIN")
        findings = [each for look in LOOKS for each in look(path, db)]
        findings += compared(db, against)
    return [Finding("pages", "whole"), *findings, *lifted(path), *beside(path), sqlite()]


def examine_in_database(place: Place, db: Any, against: Seal | None = None) -> list[Finding]:
    """Return everything there is to say of a golden set in a database that is open.

    Its pages and references are its server's to look after.
    """
    looks = (*shape(place, db), *logs(place, db), *seals(place, db), *compared(db, against))
    return list(looks)


def is_current(path: Path) -> bool:
    """Say whether a file has the shape of this version of labeler."""
    with health.reading(path) as db:
        return not health.migrations_behind(db)


def logs(_: Place, db: sqlite3.Connection) -> Iterator[Finding]:
    """Say up to where the logs go, and where they are not what was only ever added to."""
    yield Finding("holds", described(health.newest_in(db)))
    broken = health.broken_laws(db)
    for said in broken:
        yield Finding("log", said, is_wrong=True)
    if not broken:
        yield Finding("log", "nothing is missing in it, and it can only be added to")


def references(_: Place, db: sqlite3.Connection) -> Iterator[Finding]:
    """Say what refers to what is not there."""
    broken = health.broken_references(db)
    for said in broken:
        yield Finding("references", said, is_wrong=True)
    if not broken:
        yield Finding("references", "whole")


def shape(path: Place, db: sqlite3.Connection) -> Iterator[Finding]:
    """Say whether the file has the shape of this version of labeler, or of which other."""
    behind, strange = health.migrations_behind(db), health.migrations_ahead(db)
    if strange:
        newer = f"of a newer labeler ({', '.join(strange)}); upgrade labeler to open {path}"
        yield Finding("shape", newer, is_wrong=True)
    elif behind:
        yield Finding("shape", f"of an earlier labeler; opening it brings it up to {behind[-1]}")
    else:
        yield Finding("shape", health.newest_migration())


def seals(_: Place, db: sqlite3.Connection) -> Iterator[Finding]:
    """Say whether every event is as it was sealed, and the newest seal, which is to be kept."""
    chain = Chain(db)
    if not chain.is_there():
        return
    report = chain.check()
    for said in report.faults:
        yield Finding("seals", said, is_wrong=True)
    if report.more:
        yield Finding("seals", f"and {report.more:,} more like these", is_wrong=True)
    if not report.faults:
        sealed = report.events - report.unsealed
        later = f"; {report.unsealed:,} newer ones have no seal yet" if report.unsealed else ""
        yield Finding("seals", f"{sealed:,} events are as they were sealed{later}")
    yield Finding("seal", str(report.seal))


def compared(db: sqlite3.Connection, kept: Seal | None) -> list[Finding]:
    """Say whether the logs still begin as they were when a seal was kept, if there is one."""
    if kept is None:
        return []
    if health.migrations_behind(db):
        return [Finding("against", "a file of an earlier labeler has to be opened first", True)]
    differs = Chain(db).differs_from(kept)
    if differs is not None:
        return [Finding("against", differs, is_wrong=True)]
    return [Finding("against", "the log still begins with all that this seal was made of")]


LOOKS: tuple[Look, ...] = (shape, references, logs, seals)


def lifted(path: Path) -> Iterator[Finding]:
    """Forget that the file was found damaged, as it is whole."""
    if damage.lift(path):
        yield Finding("mark", "it was marked as damaged and is whole: the mark is removed")


def beside(path: Path) -> Iterator[Finding]:
    """Say what lies beside the file: a log that is not folded yet, parts that nobody finishes."""
    if health.has_log(path):
        log = health.log_of(path)
        newest = (
            "some of the newest is in there alone, copy with 'labeler backup'"
            if health.has_more_in_log(path)
            else "the file has all judgments and remarks without it"
        )
        yield Finding("log file", f"{log.name}, {megabytes(log.stat().st_size)}: {newest}")
    for part in parts.parts_beside(path.resolve()):
        if not parts.has_lock(part):
            yield Finding("stray part", f"{part.name}, left by an earlier labeler: delete it")
        elif not parts.is_being_made(part):
            yield Finding(
                "stray part",
                f"{part.name}, left by a process that was killed; the next "
                "load or backup removes it",
            )


def sqlite(version: str = sqlite3.sqlite_version) -> Finding:
    """Say which SQLite this is, and what is known to be wrong with it."""
    bug = has_reset_bug([int(part) for part in version.split(".")])
    return Finding("SQLite", f"{version} {WAL_RESET}" if bug else version)
