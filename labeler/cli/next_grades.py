"""``labeler next``: which of two runs is ahead, how surely, and the pairs that decide."""

from __future__ import annotations

import json
import math

import click

from labeler.analysis.active import (
    BATCH,
    LEAST_GRADES,
    MOST_CLAIMED,
    NO_FAIR_SAMPLE_NOTE,
    SETTLED_AT,
    Certainty,
    Decider,
    DecidingPair,
    parse_deciding_measure,
)
from labeler.analysis.comparison import DecisionRules
from labeler.analysis.run_verdict import PairResult, judge_pair
from labeler.cli.explain import explain_by, explain_option
from labeler.cli.groups import database_option, format_option
from labeler.cli.options import (
    SELECTION_OPTIONS,
    CountingCommand,
    conventions_of,
    preset_option,
    with_options,
)
from labeler.cli.output import RunLabels, Table, rank_cell, text_footer, text_lines
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Note, Scoreboard
from labeler.model import escape_controls
from labeler.model.results import ANSWER
from labeler.render.results import statements_records, statements_text
from labeler.store import Store
from labeler.store.addresses import StoreLocation


@click.command("next", cls=CountingCommand)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--measure",
    "text",
    metavar="NAME",
    help="The measure by which one run is better.  [default: the golden set's setting]",
)
@click.option(
    "--count",
    type=click.IntRange(1, 1_000),
    default=BATCH,
    show_default=True,
    help="How many pairs to list.",
)
@click.option(
    "--matters",
    type=click.FloatRange(0, 1),
    metavar="DELTA",
    help="A smaller difference does not matter.  [default: the golden set's setting]",
)
@preset_option
@format_option(("table", "json"), "table is for people and has four digits; json has all of them.")
@explain_option
@with_options(*SELECTION_OPTIONS)
@database_option
@click.pass_obj
def next_grades(
    db: StoreLocation,
    a: str,
    b: str,
    text: str | None,
    count: int,
    matters: float | None,
    preset: str,
    kind: str,
) -> None:
    """List the pairs whose grades decide between runs A and B.

    Prints which run is ahead on these queries so far and how surely, how many more grades it
    takes to know, and which pairs to grade next: those whose grades should change the
    difference most. Where nothing is graded yet it prints what both runs found. 'labeler
    compare' says whether the difference is likely to hold for other queries.
    """
    with Store(db) as store:
        collection, settings = store.collection.read(), store.settings.read()
        singles = store.activity.single_grades()
    conventions = conventions_of(settings, preset, None, None).on(collection.golden)
    conventions = conventions.across(collection, [a, b])
    board = Scoreboard(collection, conventions)
    if board.collection.has_several_chunkings:
        raise BadInput(
            f"runs {a!r} and {b!r} are of different chunkings: a grade is known to one of them "
            "alone, so that none decides between them; compare shows what is known of both"
        )
    asked = settings.decide_by if text is None else text
    [measure] = board.resolve([parse_deciding_measure(conventions, asked)])
    least = settings.matters if matters is None else matters
    decider = Decider()
    standing = decider.standing(board, a, b, measure, least)
    found = [] if standing.settled else decider.choices(board, a, b, measure, count)
    rules = DecisionRules(asked, settings.measures, least)
    labels = RunLabels([a, b])
    names = None if kind == "json" else labels.pair(a, b)
    judged = judge_pair(board, a, b, rules, singles=singles, decider=decider, names=names)
    if kind == "json":
        page = format_json(judged, standing, found, conventions)
    else:
        page = format_text(judged, standing, found, conventions, labels)
    click.echo(page, nl=False)


def format_text(
    judged: PairResult,
    standing: Certainty,
    found: list[DecidingPair],
    conventions: Conventions,
    labels: RunLabels,
) -> str:
    """Return which run is better so far, what grades could change, and a row for each pair."""
    body = [
        [
            escape_controls(each.query_id),
            escape_controls(each.chunk_id),
            rank_cell(each.rank_a),
            rank_cell(each.rank_b),
            f"{each.move:.4f}",
        ]
        for each in found
    ]
    names = [f"rank in {name}" for name in labels.pair(standing.a, standing.b)]
    table = Table(["query", "chunk"], [*names, "could change the difference by"], body)
    answers = [each for each in judged.statements if each.severity == ANSWER]
    lines = [*statements_text(answers), standing.sentence(labels.pair(standing.a, standing.b))]
    lines += ["", *labels.lines("table"), *text_lines(table)] if found else []
    notes = [
        Note("chosen to decide", NO_FAIR_SAMPLE_NOTE),
        *explain_by(explain_certainty(standing)),
    ]
    return "\n".join([*lines, *text_footer(conventions, notes)])


def explain_certainty(standing: Certainty) -> list[str]:
    """Explain how sure it is which run is ahead, and which pairs are listed."""
    return [
        "The certainty is about these queries only: how likely the run is still ahead by "
        f"{standing.measure.label} once every chunk of both is graded. A model draws possible "
        "grades of the unjudged chunks many times. It takes them to be like judged chunks at "
        "similar ranks, found by as many runs.",
        f"It is decided at {SETTLED_AT:.0%}, after at least {LEAST_GRADES} grades, or once no "
        f"grade changes the difference. A difference below {standing.matters:g} does not matter. "
        f"While a chunk is unjudged, no more than {MOST_CLAIMED:.0%} is claimed.",
        "First comes the pair whose grade is expected to move the difference of the means most, up "
        "or down.",
        "'labeler compare' says whether the difference is likely to hold for other queries.",
    ]


def format_json(
    judged: PairResult, standing: Certainty, found: list[DecidingPair], conventions: Conventions
) -> str:
    """Return one JSON object in full precision; missing values are null."""
    said = {
        "a": standing.a,
        "b": standing.b,
        "measure": standing.measure.label,
        "full_name": str(standing.measure),
        "leader": standing.leader,
        "certainty": json_number(standing.certainty) if standing.known else None,
        "settled": standing.settled,
        "delta": json_number(standing.delta),
        "spread": json_number(standing.spread),
        "matters": standing.matters,
        "graded": standing.graded,
        "open": standing.open,
        "pool": standing.pool,
        "likely_needed": standing.likely,
        "sentence": standing.sentence(),
        "verdict": statements_records(judged.verdict.statements),
        "pairs": [
            {
                "query_id": each.query_id,
                "chunk_id": each.chunk_id,
                "rank_a": each.rank_a,
                "rank_b": each.rank_b,
                "move": each.move,
            }
            for each in found
        ],
        "conventions": conventions.as_dict(),
        "notes": [{"kind": "chosen to decide", "text": NO_FAIR_SAMPLE_NOTE}],
    }
    return json.dumps(said, allow_nan=False, indent=1) + "\n"


def json_number(value: float) -> float | None:
    """Return a number, or None for NaN, which JSON cannot hold."""
    return None if math.isnan(value) else value
