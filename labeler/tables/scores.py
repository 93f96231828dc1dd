"""The Scores page: runs by measures, how far ties and holes could move them, and keywords."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import htpy

from labeler.evaluation import NO_RESULT, Conventions, Residual, Score, TieRange, number
from labeler.keywords import KeywordRow, keyword_columns
from labeler.markup import style
from labeler.measures import MEASURES, Measure
from labeler.tables.shared import cells, framed, head, hole_words, row_head, small

LOOK = style("""
.scores { overflow-x: auto; }
.scores table {
    border-collapse: collapse; table-layout: fixed; width: 100%;
    min-width: calc(10rem + var(--columns) * 6rem);
    max-width: calc(10rem + var(--columns) * 14rem);
    font-variant-numeric: tabular-nums;
}
.scores th, .scores td {
    padding: 0.45rem 0.75rem;
    text-align: right;
    vertical-align: top;
    border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent);
    white-space: nowrap;
}
.scores thead th {
    font-weight: 600; border-bottom-width: 2px; white-space: normal; overflow-wrap: anywhere;
}
.scores thead th + th { padding-left: 0.25rem; }
.scores th:first-child {
    text-align: left; white-space: normal; overflow-wrap: anywhere; width: 10rem;
}
.scores tbody th { font-weight: 400; }
.scores td { font-size: 1.05rem; }
.scores small {
    display: block; font-size: 0.78rem; font-weight: 400;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
""")


def score_table(
    scores: Sequence[Score], systems: Mapping[str, str], conventions: Conventions
) -> htpy.Fragment:
    """Return the scores: a row for each run, a column for each measure.

    The best value of a column is set in bold; nothing is judged by colour.
    """
    measures = list(dict.fromkeys(score.measure for score in scores))
    by_run: dict[str, dict[Measure, Score]] = {}
    for score in scores:
        by_run.setdefault(score.run, {})[score.measure] = score
    best = {measure: _best(row[measure].value for row in by_run.values()) for measure in measures}
    some_run = next(iter(by_run.values()), {})
    heads = [head("Run"), *(_score_head(some_run[each], conventions) for each in measures)]
    rows = [
        htpy.tr[
            row_head(run, small(_system_of(run, systems))),
            [_score_cell(row[measure], best[measure]) for measure in measures],
        ]
        for run, row in by_run.items()
    ]
    return framed(LOOK, "scores", heads, rows, columns=len(measures))


def _best(values: Iterable[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _system_of(run: str, systems: Mapping[str, str]) -> str:
    """Name a run's system where it is not its own name."""
    system = systems.get(run, run)
    return "" if system == run else system


def _score_head(score: Score, conventions: Conventions) -> htpy.Element:
    """Name a measure, and how many queries its means are over."""
    left_out = f", {score.undefined} undefined" if score.undefined else ""
    meaning = MEASURES[score.measure.name].meaning
    return head(conventions.heading(score.measure), f"n {score.n}{left_out}", title=meaning)


def _score_cell(score: Score, best: float) -> htpy.Element:
    """Return a mean with the holes it rests on, and the queries its run has no list for."""
    if not score.n + score.undefined:
        return htpy.td["–", small("nothing graded")]
    if score.reason == NO_RESULT:
        return htpy.td["–", small("no result")]
    shown = number(score.value)
    missing = f", {score.missing} absent" if score.missing else ""
    value = htpy.strong[shown] if shown == number(best) != "–" else shown
    return htpy.td[value, small(f"{hole_words(score.holes)}{missing}")]


def tie_table(ranges: Mapping[str, Sequence[TieRange]], conventions: Conventions) -> htpy.Fragment:
    """Return what each run's means could be in other orders of its tied chunks."""
    heads = map(head, ("Run", "Measure", "lowest", "as it is", "highest"))
    rows = [
        htpy.tr[
            row_head(run),
            htpy.td[conventions.heading(each.measure)],
            cells((each.lowest, each.value, each.highest)),
        ]
        for run, found in ranges.items()
        for each in found
    ]
    return framed(LOOK, "scores", heads, rows, columns=4)


def residual_table(rows: Sequence[Residual], conventions: Conventions) -> htpy.Fragment:
    """Return what each RBP is, what it could rise by and to what: run below run."""
    heads = map(head, ("Run", "Measure", "value", "residual", "value + residual"))
    body = [
        htpy.tr[
            row_head(row.run),
            htpy.td[conventions.heading(row.measure)],
            cells((row.value, row.residual, row.highest)),
        ]
        for measure in dict.fromkeys(row.measure for row in rows)
        for row in rows
        if row.measure == measure
    ]
    return framed(LOOK, "scores", heads, body, columns=4)


def keyword_table(rows: Sequence[KeywordRow], k: int, headings: Sequence[str]) -> htpy.Fragment:
    """Return keyword measures beside graded ones, run by run."""
    names = keyword_columns(k, headings)
    body = [
        htpy.tr[
            row_head(
                row.run,
                small(f"queries with keywords: {row.n:,}, graded of them: {row.judged:,}"),
            ),
            cells((*row.keyword, *row.graded, row.agreement)),
        ]
        for row in rows
    ]
    return framed(LOOK, "scores", map(head, ("Run", *names)), body, columns=len(names))
