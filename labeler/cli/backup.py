"""``labeler backup``, ``restore``, ``check`` and ``copy``; and the server's own backup schedule."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import click

from labeler.cli.atomic_output import is_new, new_golden_set
from labeler.cli.groups import (
    FILE,
    GOLDEN_SET,
    CommandT,
    database_option,
    format_option,
    restore,
)
from labeler.cli.options import parse_duration
from labeler.cli.output import print_rows
from labeler.errors import BadInput, LabelerError
from labeler.model import GoldenVersion, escape_controls
from labeler.services.import_export import snapshots
from labeler.store import Store, integrity, read_versions
from labeler.store.addresses import StoreLocation, require_file
from labeler.store.backup import backups, file_check
from labeler.store.backup.backups import Schedule, describe_position
from labeler.store.hash_chain import Seal
from labeler.store.tamper_check import read_seal

PG_DUMP_HINT = (
    "its server's own tool makes a backup, also while people grade: pg_dump --format custom --file "
    "FILE {name}; 'labeler copy' makes a golden set's file of it"
)
PG_RESTORE_HINT = (
    "put a backup of pg_dump into a new database: createdb --template template0 --encoding UTF8 "
    "--locale C NEW, then pg_restore --dbname NEW FILE"
)


def backup_options(command: CommandT) -> CommandT:
    """Add the options for a server's automatic backups."""
    every = click.option(
        "--backup-every",
        metavar="TIME",
        callback=parse_duration,
        help="Make a backup this often if something changed: 15m, 2h, 1d. With --backup-to.",
    )
    folder = click.option(
        "--backup-to",
        type=FILE,
        metavar="FOLDER",
        help="The folder of the backups, best on another disk.",
    )
    keep = click.option(
        "--keep",
        type=click.IntRange(1),
        default=48,
        show_default=True,
        help="How many backups to keep; files with other names are never removed.",
    )
    return every(folder(keep(command)))


def schedule_of(every: timedelta | None, folder: Path | None, keep: int) -> Schedule | None:
    """Return a server's backup schedule, None if it makes no backups.

    Raises `BadInput` if ``folder`` is not a folder or cannot be written to.
    """
    if every is None and folder is None:
        return None
    if every is None or folder is None:
        raise click.UsageError("--backup-every and --backup-to go together")
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder for backups; create it first")
    backups.check_folder(folder)
    return Schedule(every, folder, keep)


@click.command()
@click.argument("path", type=FILE)
@click.option("--force", is_flag=True, help="Replace what is at PATH.")
@database_option
@click.pass_obj
def backup(db: StoreLocation, path: Path, force: bool) -> None:
    """Copy the golden set, even while people grade.

    The copy is one file with everything that was saved, read back and checked before it gets
    its name. If PATH is a folder, the file is named after the time. Keep it as safe as the
    golden set: it contains the same sign-in keys.
    """
    db = require_file(db, PG_DUMP_HINT)
    made = backups.back_up(db, path, replace=force)
    click.echo(made)
    seal = {} if made.seal is None else {"seal": str(made.seal)}
    note_in_audit(db, "backup", made.path, seal)


@restore.command("backup")
@click.argument("path", type=FILE)
@click.option("--force", is_flag=True, help="Even if the backup is of another golden set.")
@database_option
@click.pass_obj
def restore_backup(db: StoreLocation, path: Path, force: bool) -> None:
    """Replace the golden set by a backup.

    The backup is checked first, and stays where it is. Nobody may have the golden set open: stop
    the server. What is replaced is kept beside it under another name, with the log that belongs
    to it.
    """
    db = require_file(db, PG_RESTORE_HINT)
    done = backups.restore(db, path, force=force)
    click.echo(f"{db}: {describe_position(done.newest)}, as in {path}")
    replaced = {} if done.replaced is None else {"replaced": describe_position(done.replaced)}
    note_in_audit(db, "put_back", path, replaced)
    if done.odd:
        click.echo("Not all is right in it, as in what it was made of: 'labeler check' says more.")
    if done.aside is None:
        return
    click.echo(f"what was there is {done.aside} now{describe_replaced(done)}")
    if done.replaced and done.replaced.judgment > done.newest.judgment:
        aside = shlex.quote(str(done.aside))
        click.echo(
            "to take over what was graded since: "
            f"labeler --db {aside} export since.jsonl --format events; "
            f"labeler --db {shlex.quote(str(db))} load golden since.jsonl"
        )


def describe_replaced(done: backups.RestoreResult) -> str:
    """Say how much was in the replaced golden set."""
    return (
        f" ({describe_position(done.replaced)})"
        if done.replaced
        else " (damaged, or no golden set)"
    )


def note_in_audit(db: Path, kind: str, path: Path, detail: Mapping[str, str]) -> None:
    """Note in the audit what was done, if the file has this version's schema."""
    if not file_check.is_current(db):
        return
    with suppress(LabelerError), Store(db) as store:
        store.audit.note_if_possible(kind, str(path), detail)


@click.command()
@click.option(
    "--against",
    metavar="SEAL|FILE",
    help="Check that the log up to then is unchanged. SEAL is what an export printed; FILE "
    "holds one: a .seal.txt, a log, a BEIR set or a backup.",
)
@format_option(("table", "json"), "json is for programs: a row for each thing that is checked.")
@database_option
@click.pass_obj
def check(db: StoreLocation, against: str | None, kind: str) -> None:
    """Check that the golden set's file is intact.

    Checks every page and reference, the rules of the log and its tamper checks, the file's
    schema, the files beside it and the SQLite version. Exits with 1 if anything is wrong.
    """
    kept = None if against is None else read_seal(against)
    try:
        findings = examine(db, kept)
    except LabelerError as error:
        raise BadInput(f"{error}\n{finding_line(file_check.check_sqlite_bug())}") from error
    if kind == "json":
        print_rows(kind, map(asdict, findings))
    else:
        click.echo("\n".join(map(finding_line, findings)))
    if any(finding.is_wrong for finding in findings):
        raise click.exceptions.Exit(1)


def examine(db: StoreLocation, kept: Seal | None) -> list[file_check.CheckResult]:
    """Check a golden set, whether it is a file or a database."""
    if isinstance(db, Path):
        return [*file_check.check_file(db, kept), *check_versions(db)]
    with Store(db) as store, store.connection.reading():
        there = store.connection.conn
        found = file_check.check_in_database(db, there, kept)
        return [*found, *_version_findings(str(db), read_versions(there))]


def check_versions(db: Path) -> list[file_check.CheckResult]:
    """Check that every frozen version still matches its hash; no result without versions."""
    with integrity.open_read_only(db) as file:  # leaves the files beside it alone
        kept = read_versions(file) if integrity.has_current_schema(file) else []
    return _version_findings(db, kept)


def _version_findings(
    db: str | Path, kept: list[tuple[GoldenVersion, bytes]]
) -> list[file_check.CheckResult]:
    faults = snapshots.faults_in(db, kept)
    wrong = [file_check.CheckResult("versions", said, is_wrong=True) for said in faults]
    whole = [file_check.CheckResult("versions", f"{len(kept)} frozen, each as its hash says")]
    return wrong or whole[: len(kept)]


def finding_line(finding: file_check.CheckResult) -> str:
    """Return a finding as it is printed."""
    mark = "WRONG: " if finding.is_wrong else ""
    return f"{finding.what + ':':<12}{mark}{escape_controls(finding.says)}"


@click.command("copy")
@click.argument("source", metavar="FROM", type=GOLDEN_SET)
@click.argument("target", metavar="TO", type=GOLDEN_SET)
def copy(source: StoreLocation, target: StoreLocation) -> None:
    """Copy a golden set into a new file or an empty database.

    Everything or nothing is copied. FROM and TO are files or addresses,
    postgresql://USER@HOST/DATABASE. The copy has the same judgments under the same numbers, and
    the same tamper checks, people, sign-in keys and hash. Stop the server first, and start it
    with --db TO afterwards, so that nobody goes on grading in FROM.
    """
    with Store(source) as there:
        if not is_new(target):
            raise BadInput(
                f"{target}: there is a golden set already; name a new file or an empty database"
            )
        with new_golden_set(target) as store:
            golden = store.full_copy.become(there.full_copy)
            judgments = store.judgments.revision()
    click.echo(f"{target}: {judgments:,} judgments, golden set {golden[:16]}, as in {source}")
