"""``labeler freeze``, ``versions`` and ``diff``: frozen golden sets and their differences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from labeler.cli.groups import check_raw, database_option, format_option, raw_option, say
from labeler.cli.options import (
    FORMATS,
    SELECTION_OPTIONS,
    CountingCommand,
    selection,
    with_options,
)
from labeler.cli.output import (
    Table,
    count_listed,
    in_markdown,
    markdown_lines,
    most_option,
    shorten,
    text_lines,
)
from labeler.errors import NotFound
from labeler.formats import csv_tables
from labeler.model import (
    EVERYTHING,
    SHORT_HASH,
    GoldenVersion,
    Selection,
    escape_controls,
    format_count,
    format_minute,
)
from labeler.model.snapshot import (
    GoldenChange,
    GoldenSnapshot,
    change_rows,
    describe_changes,
    find_changes,
)
from labeler.services.import_export import snapshots
from labeler.services.import_export.exports import part_of
from labeler.store import Store
from labeler.store.addresses import StoreLocation

LONGEST_CELL = 40


@click.command()
@click.argument("name")
@click.option("--note", help="A note on this version.")
@database_option
@click.pass_obj
def freeze(db: StoreLocation, name: str, note: str | None) -> None:
    """Freeze the golden set as it is now under NAME.

    Grading goes on, and what is frozen stays: 'score --golden NAME' gives the same numbers for the
    same run, whatever is graded later.
    """
    with Store(db) as store:
        version = snapshots.freeze(store, name, note)
    queries = format_count(version.queries, "query", "queries")
    grades = format_count(version.grades, "golden grade", "golden grades")
    say(f"{version.name}: {queries}, {grades}")
    click.echo(f"golden: {version.hash}")


@click.command()
@format_option(["table", "json"], "json is for programs: every digit of the hashes.")
@database_option
@click.pass_obj
def versions(db: StoreLocation, kind: str) -> None:
    """List the frozen versions, the oldest first.

    The last line is the hash of the golden set as it is now.
    """
    with Store(db) as store:
        found, now = store.versions.all(), store.collection.golden_state()
    if kind == "json":
        rows = [asdict(version) for version in found]
        click.echo(json.dumps({"live": now.hash, "versions": rows}, ensure_ascii=False, indent=1))
        return
    if found:
        headings = ["version", "golden", "frozen (UTC)", "by", "note"]
        body = [_cells(version, now.hash) for version in found]
        click.echo("\n".join(text_lines(Table(headings, ["queries", "grades"], body))))
    else:
        click.echo("Nothing is frozen yet: labeler freeze NAME")
    same = [escape_controls(version.name) for version in found if version.hash == now.hash]
    as_is = f", as {', '.join(same)}" if same else ""
    click.echo(f"\nlive: golden {now.hash}{as_is}")


def _cells(version: GoldenVersion, now: str) -> list[str]:
    texts = (version.name, version.hash[:SHORT_HASH], format_minute(version.at))
    more = (version.by or "", version.note or "")
    return [*map(escape_controls, (*texts, *more)), f"{version.queries:,}", f"{version.grades:,}"]


@click.command(cls=CountingCommand)
@click.argument("old")
@click.argument("new", required=False)
@format_option(
    FORMATS,
    "table and md are for people and show the first; csv and json have every change, whole.",
)
@raw_option
@most_option
@with_options(*SELECTION_OPTIONS)
@database_option
@click.pass_obj
def diff(
    db: StoreLocation, old: str, new: str | None, kind: str, raw: bool, most: int | None
) -> None:
    """List what changed between two golden versions.

    OLD and NEW are names or hashes of frozen versions. Without NEW it is the golden set as it is
    now. Settings come first, then queries and buckets, then golden grades with who gave them. With
    --split a query that moved to another split is removed from the one and added to the other.
    """
    check_raw(kind, raw=raw)
    selected = selection()
    with Store(db) as store:
        before, after = snapshots.frozen_content(store, old), snapshots.content_of(store, new)
        parts = [part_of(store, each, selected) for each in (before, after)]
    if not any(part.queries for part in parts):
        raise NotFound(selected.nothing())
    changes, most = find_changes(*parts), count_listed(most, kind)
    if kind == "json":
        click.echo(_as_json(before, after, changes, selected))
    elif kind == "csv":
        rows = change_rows(changes, before.state.hash, after.state.hash)
        click.echo(csv_tables.as_csv(rows, raw=raw), nl=False)
    else:
        click.echo("\n".join(_as_page(before, after, changes, most, kind)))
        if selected != EVERYTHING:
            click.echo(f"Of the queries of: {selected.describe()}")


def _as_json(
    before: GoldenSnapshot,
    after: GoldenSnapshot,
    changes: Sequence[GoldenChange],
    selected: Selection,
) -> str:
    sides = {
        side: {"name": each.title, "golden": each.state.hash}
        for side, each in (("old", before), ("new", after))
    }
    rows = [{**change.as_row(), "by": list(change.by)} for change in changes]
    of = {"split": selected.split, "leaked": selected.leaked}
    told = {**sides, **of, "description": describe_changes(changes), "changes": rows}
    return json.dumps(told, ensure_ascii=False, indent=1)


def _as_page(
    before: GoldenSnapshot,
    after: GoldenSnapshot,
    changes: Sequence[GoldenChange],
    most: int,
    kind: str,
) -> Iterator[str]:
    """Yield the lines for people: a table, and the result."""
    is_text = kind == "table"
    if changes:
        body = [
            [shorten(escape_controls(value), LONGEST_CELL) for value in change.as_cells().values()]
            for change in changes[:most]
        ]
        headings = ["change", "of", "query", "chunk", "field", "before", "after", "by"]
        yield from (text_lines if is_text else markdown_lines)(Table(headings, [], body))
        if len(changes) > most:
            yield from [] if is_text else [""]
            yield f"... and {len(changes) - most:,} more; --most lists them"
        yield ""
    sides = (f"{each.title} (golden {each.state.hash[:SHORT_HASH]})" for each in (before, after))
    said = escape_controls(f"{' to '.join(sides)}: {describe_changes(changes)}")
    yield said if is_text else in_markdown(said)
