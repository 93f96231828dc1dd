"""``labeler health``: the state of the golden set and what it is good for."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import click

from labeler.analysis.active import parse_deciding_measure
from labeler.analysis.health import (
    OLD_AFTER,
    HealthSection,
    assess_health,
    describe_health,
    health_record,
    summarize_health,
)
from labeler.analysis.health import spread_of_deltas as spread_in
from labeler.analysis.text_similarity import count_similar_pairs
from labeler.cli.groups import database_option, format_option
from labeler.cli.options import (
    SELECTION_OPTIONS,
    CountingCommand,
    conventions_of,
    selection,
    with_options,
)
from labeler.cli.output import Table, text_lines
from labeler.evaluation import Scoreboard
from labeler.model import EVERYTHING, Settings, escape_controls
from labeler.services.health import read_health_input
from labeler.store import Store
from labeler.store.addresses import StoreLocation


@click.command(cls=CountingCommand)
@click.option(
    "--older-than",
    "after",
    type=click.IntRange(min=0),
    default=OLD_AFTER,
    show_default=True,
    metavar="DAYS",
    help="The age at which a grade counts as old.",
)
@format_option(("table", "json"), "table is for people; json has every number in all digits.")
@with_options(*SELECTION_OPTIONS)
@database_option
@click.pass_obj
def health(db: StoreLocation, after: int, kind: str) -> None:
    """Check what the golden set is good for.

    Prints its size and what that is enough for, who confirmed the grades and when, buckets with
    too few queries, single-answer queries with several answers, its buckets compared with those
    of the logs, how often people agreed with suggestions, where queries came from, and
    near-duplicates. Lines with ! need attention. --split and --leaked limit everything but
    the logs to these queries.
    """
    chosen = selection()
    with Store(db) as store:
        settings, golden = store.settings.read(), store.collection.golden_state().hash
        among = store.splits.selected(chosen)
        texts = [q.text for q in store.queries.all() if among is None or q.query_id in among]
        spread, alike = spread_of(store, settings), count_similar_pairs(texts)
        told = read_health_input(store, spread, settings.decide_by, alike, among)
    found = assess_health(told, datetime.now(UTC), after)
    if kind == "json":
        said = {"golden": golden, "split": chosen.split, "leaked": chosen.leaked}
        click.echo(json.dumps({**said, **health_record(found)}, ensure_ascii=False))
    else:
        of = [] if chosen == EVERYTHING else [f"Of the queries of: {chosen.describe()}"]
        parts = describe_health(found)
        first = summarize_health(parts)
        if any(part.warnings for part in parts):
            first = f"{first[:-1]}: the lines with '!'."
        click.echo("\n\n".join([first, *of, *(as_text(part) for part in parts)]))


def spread_of(store: Store, settings: Settings) -> tuple[float, int] | None:
    """Return the spread of the differences between runs, by the measure that decides."""
    if len(store.runs.names()) < 2:
        return None
    conventions = conventions_of(settings, "graded", None, None)
    board = Scoreboard(store.collection.read(), conventions)
    return spread_in(board.values(parse_deciding_measure(conventions, settings.decide_by)))


def as_text(part: HealthSection) -> str:
    """Return a section as text for a terminal."""
    said = (*part.sentences, *part.notes)
    lines = [part.title, *(f"  {escape_controls(sentence)}" for sentence in said)]
    if part.rows:
        words, *numbers = part.headings
        body = [[escape_controls(str(cell)) for cell in map(shown, row)] for row in part.rows]
        lines += [
            f"  {line}" for line in text_lines(Table([escape_controls(words)], numbers, body))
        ]
    return "\n".join([*lines, *(f"! {escape_controls(each.sentence)}" for each in part.warnings)])


def shown(cell: str | int) -> str:
    """Format a cell for people."""
    return f"{cell:,}" if isinstance(cell, int) else cell
