"""``labeler undo-load``: list the loads of golden grades by number, or undo one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

import click

from labeler.cli.groups import database_option, format_option, say
from labeler.cli.output import Table, print_list, print_rows, shorten
from labeler.errors import BadInput
from labeler.model import LoadState, escape_controls
from labeler.store import Store
from labeler.store.addresses import StoreLocation

MOST_ENTRIES = 1_000  # newest audit entries that are searched for a file
NO_LOADS = "there is no load of golden grades to undo"
NAMES, NUMBERS = ["load", "when (UTC)", "by", "file", "undone (UTC)"], ["grades", "current"]


@click.command("undo-load")
@click.argument("which", metavar="[NUMBER]", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be undone.")
@format_option(("table", "json", "jsonl"), "Of the list: json and jsonl are for programs.")
@database_option
@click.pass_obj
def undo_load(db: StoreLocation, which: str | None, dry_run: bool, kind: str) -> None:
    """Undo a load of golden grades.

    NUMBER is what the load printed; without it the loads are listed. Grades that the load brought
    and that still count are withdrawn, and grades it replaced count again. What people graded
    since stays, and so do queries, chunks and leads' decisions. The log keeps the load and its
    undo. To get the grades back, load the file again. A later file that only repeated them added
    nothing: load that one again as well.
    """
    with Store(db) as store:
        if which is None:
            if dry_run:
                raise click.UsageError("--dry-run goes with the number of a load")
            _print_loads(store.golden_loads.states(), kind)
            return
        if not (which.isascii() and which.isdigit()):
            raise BadInput(_describe_wrong_word(store, which))
        number = int(which)
        undo = store.golden_loads.undo_of(number) if dry_run else store.golden_loads.undo(number)
    say(f"load {number} ({undo.load.file}):")
    for sentence in undo.sentences(is_done=not dry_run):
        say(f"  {sentence}")


def _print_loads(loads: Sequence[LoadState], kind: str) -> None:
    if kind != "table":
        print_rows(kind, (each.as_dict() for each in loads))
        return
    if not loads:
        click.echo(NO_LOADS)
        return
    print_list(Table(NAMES, NUMBERS, [*map(_load_row, loads)]), len(loads))


def _load_row(state: LoadState) -> list[str]:
    load = state.load
    who, file = (shorten(escape_controls(text)) for text in (load.who or "", load.file))
    counts = [f"{count:,}" for count in (state.brought, state.current)]
    return [str(load.number), _second(load.at), who, file, _second(state.taken_back or ""), *counts]


def _second(moment: str) -> str:
    return escape_controls(moment[:19].replace("T", " "))


def _describe_wrong_word(store: Store, given: str) -> str:
    """Say what to do about a word that is not a number: the name of a file, a run, or neither."""
    numbers = [
        str(load.number)
        for load in store.golden_loads.all()
        if given in (load.file, PurePath(load.file).name)
    ]
    if numbers:
        came = f"{given!r} came with load {' and load '.join(numbers)}"
        return f"{came}; name it by its number: labeler undo-load {numbers[-1]}"
    if given in store.runs.names():
        return _describe_run(given, given)
    entries, _ = store.audit.search(given, kind="load", most=MOST_ENTRIES)
    for entry in entries:
        subject, what = entry.subject or "", str(entry.detail.get("what", ""))
        if given not in (subject, PurePath(subject).name):
            continue
        if what.startswith("run "):
            return _describe_run(given, what.removeprefix("run "))
        return (
            f"{given!r} was loaded as {what}, and only loads of golden grades are undone; load "
            "the right file with --update"
        )
    return (
        f"{given!r} is no number of a load of golden grades; 'labeler undo-load' lists them with "
        "their numbers"
    )


def _describe_run(given: str, run: str) -> str:
    return (
        f"{given!r} is a run, and only loads of golden grades are undone here; to take the run "
        f"away: labeler drop run {shlex.quote(run)}"
    )
