"""``labeler backup``, ``restore`` and ``check``, and when ``serve`` makes backups by itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import click

from labeler.cli.group import FILE, CommandT, database_option
from labeler.cli.times import duration
from labeler.cli.verbs import restore
from labeler.errors import BadInput, LabelerError
from labeler.model import Version, legible
from labeler.services.import_export import freezing
from labeler.store import Store, health, versions_in
from labeler.store.addresses import Place, file_of
from labeler.store.backup import backups, checking, restoring
from labeler.store.backup.backups import Schedule, described
from labeler.store.backup.kept import kept_seal
from labeler.store.chain import Seal

BY_DUMP = (
    "its server's own tool makes a backup, also while people grade: pg_dump --format custom --file "
    "FILE {name}; 'labeler copy' makes a golden set's file of it"
)
BY_RESTORE = (
    "put a backup of pg_dump into a new database: createdb --template template0 --encoding UTF8 "
    "--locale C NEW, then pg_restore --dbname NEW FILE"
)


def backup_options(command: CommandT) -> CommandT:
    """Let a server make backups by itself."""
    every = click.option(
        "--backup-every",
        metavar="TIME",
        callback=duration,
        help="Make a backup that often, where anything is new: 15m, 2h, 1d. With --backup-to.",
    )
    folder = click.option(
        "--backup-to", type=FILE, metavar="FOLDER", help="Where they are put: best another disk."
    )
    keep = click.option(
        "--keep",
        type=click.IntRange(1),
        default=48,
        show_default=True,
        help="How many of them stay; what has another name is never removed.",
    )
    return every(folder(keep(command)))


def schedule_of(every: timedelta | None, folder: Path | None, keep: int) -> Schedule | None:
    """Return when a server makes backups, None where it makes none.

    Raises `BadInput` for a folder that is none or takes no file, before the server starts.
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
def backup(db: Place, path: Path, force: bool) -> None:
    """Copy the golden set, also while people grade.

    The copy is one file with everything that was acknowledged, read back and checked before it
    gets its name. In a folder it is named after the moment. Keep it as safe as the golden set: it
    holds the same keys.
    """
    db = file_of(db, BY_DUMP)
    made = backups.back_up(db, path, replace=force)
    click.echo(made)
    seal = {} if made.seal is None else {"seal": str(made.seal)}
    note(db, "backup", made.path, seal)


@restore.command("backup")
@click.argument("path", type=FILE)
@click.option("--force", is_flag=True, help="Also where the backup is of another golden set.")
@database_option
@click.pass_obj
def restore_backup(db: Place, path: Path, force: bool) -> None:
    """Put a backup in the place of the golden set.

    The backup is checked first, and stays where it is. Nobody may have the golden set open: stop
    the server. What is replaced is kept beside it under another name, with the log that belongs
    to it.
    """
    db = file_of(db, BY_RESTORE)
    done = restoring.restore(db, path, force=force)
    click.echo(f"{db}: {described(done.newest)}, as in {path}")
    replaced = {} if done.replaced is None else {"replaced": described(done.replaced)}
    note(db, "put_back", path, replaced)
    if done.odd:
        click.echo("Not all is right in it, as in what it was made of: 'labeler check' says more.")
    if done.aside is None:
        return
    click.echo(f"what was there is {done.aside} now{what_is_newer(done)}")
    if done.replaced and done.replaced.judgment > done.newest.judgment:
        aside = shlex.quote(str(done.aside))
        click.echo(
            "to take over what was graded since: "
            f"labeler --db {aside} export since.jsonl --format events; "
            f"labeler --db {shlex.quote(str(db))} load golden since.jsonl"
        )


def what_is_newer(done: restoring.Restored) -> str:
    """Say how much was in the replaced golden set."""
    return f" ({described(done.replaced)})" if done.replaced else " (damaged, or no golden set)"


def note(db: Path, kind: str, path: Path, detail: Mapping[str, str]) -> None:
    """Add to the audit what was done, if the file is of this version: no backup migrates it."""
    if not checking.is_current(db):
        return
    with suppress(LabelerError), Store(db) as store:
        store.note_if_possible(kind, str(path), detail)


@click.command()
@click.option(
    "--against",
    metavar="SEAL|FILE",
    help="A seal that was kept, or what carries one (the .seal.txt beside an export, a log, a BEIR "
    "set, a backup): whether what was said until then is the same.",
)
@database_option
@click.pass_obj
def check(db: Place, against: str | None) -> None:
    """Say whether the golden set's file is whole.

    Looks at every page, every reference, the laws of the log and its seals, at the file's shape,
    at what lies beside it and at the SQLite in use. Ends with 1 where anything is wrong.
    """
    kept = None if against is None else kept_seal(against)
    try:
        findings = examined(db, kept)
    except LabelerError as error:
        raise BadInput(f"{error}\n{line(checking.sqlite())}") from error
    for finding in findings:
        click.echo(line(finding))
    if any(finding.is_wrong for finding in findings):
        raise click.exceptions.Exit(1)


def examined(db: Place, kept: Seal | None) -> list[checking.Finding]:
    """Look at all there is of a golden set, wherever it is."""
    if isinstance(db, Path):
        return [*checking.examine(db, kept), *frozen_in(db)]
    with Store(db) as store, store.looked_at() as there:
        found = checking.examine_in_database(db, there, kept)
        return [*found, *_of_versions(str(db), versions_in(there))]


def frozen_in(db: Path) -> list[checking.Finding]:
    """Say whether every frozen version is still what its hash says, where there are some."""
    with health.reading(db) as file:  # which leaves what lies beside it where it is
        kept = [] if health.migrations_behind(file) else versions_in(file)
    return _of_versions(db, kept)


def _of_versions(db: str | Path, kept: list[tuple[Version, bytes]]) -> list[checking.Finding]:
    faults = freezing.faults_in(db, kept)
    wrong = [checking.Finding("versions", said, is_wrong=True) for said in faults]
    whole = [checking.Finding("versions", f"{len(kept)} frozen, each as its hash says")]
    return wrong or whole[: len(kept)]


def line(finding: checking.Finding) -> str:
    """Return a finding as it is printed."""
    mark = "WRONG: " if finding.is_wrong else ""
    return f"{finding.what + ':':<12}{mark}{legible(finding.says)}"
