"""``labeler transfer``: transfer grades from one chunking to the chunks of another, or undo it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from labeler.cli.atomic_output import check_writable
from labeler.cli.export import write_output
from labeler.cli.groups import CHUNKING, FILE_OR_OUTPUT, database_option, format_option
from labeler.cli.output import Table, progress_bar, text_lines
from labeler.errors import BadInput
from labeler.formats import write_golden
from labeler.model import chunking_label, escape_controls, format_count
from labeler.render.results import statements_records, statements_text
from labeler.services.transfer import (
    TRANSFER_STATES,
    Transfer,
    TransferOutcome,
    compute_transfer,
    describe_left_out,
    describe_logged,
    describe_transfer,
    locate_basis,
    record_transfer,
    transfer_statements,
)
from labeler.store import Store
from labeler.store.addresses import StoreLocation

MOST_REASONS = 30
NOTHING_NEW_NOTE = "nothing new to transfer"
chunking_help = "; 'default' is the one without a name."


@click.command("transfer")
@click.option(
    "--from",
    "old",
    type=CHUNKING,
    required=True,
    metavar="NAME",
    help=f"The chunking whose chunks are graded{chunking_help}",
)
@click.option(
    "--to",
    "new",
    type=CHUNKING,
    required=True,
    metavar="NAME",
    help=f"The chunking whose chunks its runs ask for{chunking_help}",
)
@click.option(
    "-o",
    "--output",
    "path",
    type=FILE_OR_OUTPUT,
    help="Write the decided grades to a file, in JSONL, and not into the golden set.",
)
@click.option("--dry-run", is_flag=True, help="Only print what would be done.")
@click.option("--undo", is_flag=True, help="Undo the last transfer between the two.")
@click.option("--force", is_flag=True, help="Replace what is at the output's path.")
@click.option("--list", "listed", is_flag=True, help="Also print every pair, with its reason.")
@format_option(
    ("table", "json"), "table is for people; json has all names, and with --list all pairs."
)
@database_option
@click.pass_obj
def transfer_grades(
    db: StoreLocation,
    old: str,
    new: str,
    path: Path | None,
    dry_run: bool,
    undo: bool,
    force: bool,
    listed: bool,
    kind: str,
) -> None:
    """Transfer grades to another chunking, where they follow.

    It looks at the ungraded chunks that runs of the new chunking have within the pool depth.
    For each it says whether the grades of the old chunks with its text decide its grade, make
    one likely, or leave it open, and why. Decided grades are added to the log, all or none; the
    others are left to graders. --dry-run only prints what would be done.

    A transferred grade counts only where no person and no file graded the pair, and never in
    agreement. It names the judgments it rests on: once one of these is changed, undone or of an
    earlier text, it no longer counts and the pair is open again. Run the command again when grades
    have changed; nothing is added twice. --undo undoes the last transfer.
    """
    if old == new:
        raise click.UsageError("--from and --to name the same chunking; name two")
    if force and path is None:
        raise click.UsageError("--force goes with -o FILE")
    if sum((undo, dry_run, path is not None)) > 1:
        raise click.UsageError("--dry-run, --undo and -o FILE: name one of them")
    if undo:
        _undo(db, old, new, kind)
        return
    to_output = path is not None and str(path) == "-"
    if path is not None and not to_output:
        check_writable(path, replace=force)
    found = computed_transfer(db, old, new)
    told = (
        json_output(found, listed=listed)
        if kind == "json"
        else "\n".join(text_output(found, listed))
    )
    click.echo(told, err=to_output)
    if path is not None:
        said = write_transfer(db, found, path, replace=force)
    elif dry_run:
        said = f"{describe_logged(found, 'would be transferred')}; nothing was written"
    else:
        with Store(db) as store, progress_bar("Writing", then="Done.") as progress:
            record_transfer(store, found, progress)
        said = f"{describe_logged(found)}; --undo undoes this" if found.is_new else NOTHING_NEW_NOTE
        said += describe_left_open(found)
    click.echo(said, err=to_output or kind == "json")


def _undo(db: StoreLocation, old: str, new: str, kind: str) -> None:
    with Store(db) as store:
        undone = store.transfers.undo(old, new)
    if kind == "json":
        click.echo(json.dumps({"from": old, "to": new, "undone": undone}))
    else:
        grades = format_count(undone, "transferred grade", "transferred grades")
        click.echo(f"{grades} undone; every number is what it was before")


def computed_transfer(db: StoreLocation, old: str, new: str) -> Transfer:
    """Compute the transfer, with a progress bar if it takes long."""
    with Store(db) as store:
        basis = store.transfers.basis(old, new)
    with progress_bar("Placing chunks", then="Transferring grades ...") as progress:
        places = locate_basis(basis, progress)
    with progress_bar("Transferring grades", then="Done.") as progress:
        return compute_transfer(basis, places, progress)


def describe_left_open(found: Transfer) -> str:
    """Say how many pairs are left to graders, and on which page; empty if none is."""
    if not found.left:
        return ""
    old, new = map(chunking_label, (found.basis.old_name, found.basis.new_name))
    where = f"/?from={old}&to={new}"
    pairs = format_count(found.left, "pair is", "pairs are")
    return f"\n{pairs} left to graders, the most useful first: {where} on the Label page"


def write_transfer(db: StoreLocation, found: Transfer, path: Path, *, replace: bool) -> str:
    """Write the decided grades; return what was written, and the next step."""
    grades = found.grades
    if not grades:
        raise BadInput(f"{path}: no grade is decided, so nothing was written")
    wanted = {grade.query_id for grade in grades}
    with Store(db) as store:
        queries = [query for query in store.queries.all() if query.query_id in wanted]
        there = {query.query_id for query in queries}
        data = write_golden(queries, [each for each in grades if each.query_id in there], "jsonl")
        write_output(path, data, replace=replace)
        names = {"format": "jsonl", "from": found.basis.old_name, "to": found.basis.new_name}
        noted = store.audit.note_if_possible(
            "export", str(path), {**names, "transferred": len(grades)}
        )
    unnoted = "" if noted else f"\n{db} takes no writes now: this export is not in its audit"
    of = "of " + format_count(len(queries), "query", "queries")
    next_step = "" if str(path) == "-" else f"; to take them in: labeler load golden {path}"
    grades_of = format_count(len(grades), "decided grade", "decided grades")
    return escape_controls(f"{path}: {grades_of} {of}{next_step}{unnoted}", keep="\n")


# --- for people ------------------------------------------------------------------------------


def text_output(found: Transfer, listed: bool) -> Iterator[str]:
    """Yield the text for people: counts by reason, every pair if ``listed``, and warnings."""
    yield from map(escape_controls, describe_transfer(found))
    yield ""
    rows = found.by_reason()
    body = [
        [state, _grade(grade), f"{count:>7,}", escape_controls(why)]
        for state, grade, why, count in rows[:MOST_REASONS]
    ]
    if body:
        yield from text_lines(Table(["state", "grade", "  pairs", "why"], [], body))
    if len(rows) > MOST_REASONS:
        yield f"... and {len(rows) - MOST_REASONS:,} more reasons, which --format json has"
    yield ", ".join(f"{state} {found.states[state]:,}" for state in TRANSFER_STATES)
    if listed and found.outcomes:
        yield ""
        yield from _pairs(found)
    yield from (f"! {escape_controls(said)}" for said in describe_left_out(found))
    yield from statements_text(transfer_statements(found))


def _pairs(found: Transfer) -> list[str]:
    body = [
        [
            each.found.state,
            _grade(each.found.grade),
            f"{each.found.covered:.2f}",
            *map(escape_controls, (each.found.query_id, each.found.chunk_id, each.found.reason)),
        ]
        for each in found.outcomes
    ]
    names = ["state", "grade", "covered", "query", "chunk", "why"]
    return text_lines(Table(names, [], body))


def _grade(grade: int | None) -> str:
    return "-" if grade is None else str(grade)


# --- for programs ----------------------------------------------------------------------------


def json_output(found: Transfer, *, listed: bool) -> str:
    """Return the transfer as JSON, with every pair if ``listed``."""
    basis = found.basis
    reasons = [
        {"state": state, "grade": grade, "why": why, "pairs": count}
        for state, grade, why, count in found.by_reason()
    ]
    facts: dict[str, Any] = {
        "from": basis.old_name,
        "to": basis.new_name,
        "runs": basis.runs,
        "depth": basis.depth,
        "asked": len(found.outcomes),
        "graded_already": found.graded,
        **{state: found.states[state] for state in TRANSFER_STATES},
        "new": len(found.fresh),
        "reasons": reasons,
        "not_found": found.places.unplaced,
        "in_several_places": found.places.ambiguous,
        "statements": statements_records(transfer_statements(found)),
        "outdated_grades": found.outdated,
        "without_text": basis.unreadable,
        "follow_no_more": [[each.found.query_id, each.found.chunk_id] for each in found.lost],
    }
    if listed:
        facts["pairs"] = [_pair(each) for each in found.outcomes]
    return json.dumps(facts, indent=1)


def _pair(each: TransferOutcome) -> dict[str, Any]:
    found = each.found
    return {
        "query_id": found.query_id,
        "chunk_id": found.chunk_id,
        "state": found.state,
        "grade": found.grade,
        "reason": found.reason,
        "covered": found.covered,
        "low": found.low,
        "high": found.high,
        "transferred_before": each.before,
        "passages": found.passages,
        "rests_on": [
            {
                "event_id": witness.event_id,
                "chunk_id": witness.chunk_id,
                "grade": witness.grade,
                "who": witness.who,
                "at": witness.at,
                "passages": witness.passages,
            }
            for witness in each.witnesses
        ],
    }
