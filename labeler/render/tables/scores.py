"""The Scores page: what stands in the cells of its tables, a row for each run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import htpy

from labeler.analysis.keywords import KeywordRow, keyword_columns
from labeler.evaluation import (
    NO_RESULT,
    Conventions,
    OwnPools,
    Residual,
    Score,
    TieRange,
    number,
    share_words,
)
from labeler.measures import BUDGET, MEASURES, Cutoff, Measure
from labeler.render.lineup import BY_NAME, DOWN
from labeler.render.tables.bands import NOTHING, Spread, band, scale_of
from labeler.render.tables.runs import Cell, Column, RunTable
from labeler.render.tables.shared import carried_words, hole_words, reach_words
from labeler.stats import Interval, Intervals

HOLE = "◌"
BELOW = "▽"
"""Stands beside a mean that is below its threshold; the words are where one hovers, and below."""
NO_INTERVALS: Intervals = MappingProxyType({})
Spreads = Mapping[tuple[str, Measure, str | None], Spread]
"""How far means may be off, by run, measure and bucket."""
Limits = Mapping[tuple[Measure, str | None], str]
"""What is asked of a column, in words, a limit a line, by measure and bucket."""
Marks = Mapping[tuple[str, Measure, str | None], str]
"""What is wrong with a mean, in words, by run, measure and bucket."""
Ways = Mapping[tuple[str, Measure, str | None], str]
"""Where a mean leads, by run, measure and bucket."""
NO_WAYS: Ways = MappingProxyType({})
NO_LIMITS: Limits = MappingProxyType({})
NO_MARKS: Marks = MappingProxyType({})


def score_table(
    scores: Sequence[Score],
    conventions: Conventions,
    intervals: Intervals = NO_INTERVALS,
    spreads: Spreads | None = None,
    limits: Limits = NO_LIMITS,
    marks: Marks = NO_MARKS,
) -> RunTable:
    """Return runs by measures, of one bucket or of all queries, each mean with its interval.

    ``spreads`` are drawn under the means, ``limits`` stand under headings, ``marks`` at the means.
    """
    first = {score.measure: score for score in reversed(scores)}
    measures = dict.fromkeys(score.measure for score in scores)
    columns = [
        Column(
            conventions.heading(measure),
            conventions.heading(measure),
            _under(first[measure], limits),
            MEASURES[measure.name].help,
        )
        for measure in measures
    ]
    drawn = (conventions, intervals, spreads or {}, marks)
    return _of_scores(columns, scores, lambda s: conventions.heading(s.measure), *drawn)


def bucket_table(
    scores: Sequence[Score],
    conventions: Conventions,
    intervals: Intervals = NO_INTERVALS,
    spreads: Spreads | None = None,
    limits: Limits = NO_LIMITS,
    marks: Marks = NO_MARKS,
    ways: Ways = NO_WAYS,
    link: Callable[[Score], str] | None = None,
) -> RunTable:
    """Return runs by buckets, of one measure for each bucket; otherwise as `score_table`.

    ``link`` gives the address of a bucket's queries, ``ways`` the means that lead somewhere.
    """
    first = {score.bucket: score for score in reversed(scores)}
    columns = [
        Column(
            column_of(bucket),
            str(bucket),
            f"{conventions.heading(first[bucket].measure)} · {_under(first[bucket], limits)}",
            MEASURES[first[bucket].measure.name].help,
            None if link is None else link(first[bucket]),
        )
        for bucket in dict.fromkeys(score.bucket for score in scores)
    ]
    drawn = (conventions, intervals, spreads or {}, marks, ways)
    return _of_scores(columns, scores, lambda score: column_of(score.bucket), *drawn)


def column_of(bucket: str | None) -> str:
    """Return the name a bucket's column is sorted by, apart from what means something to a lineup.

    >>> column_of("refund"), column_of("run"), column_of("-1")
    ('refund', '=run', '=-1')
    """
    name = str(bucket)
    return f"={name}" if name == BY_NAME or name.startswith((DOWN, "=")) else name


def _rests_on(score: Score) -> str:
    """Say over how many queries a column's means are."""
    left_out = f", {score.undefined:,} undefined" if score.undefined else ""
    return f"n {score.n:,}{left_out}"


def _under(score: Score, limits: Limits) -> str:
    """Say what a column's means rest on, and what is asked of them."""
    asked = limits.get((score.measure, score.bucket))
    return _rests_on(score) if asked is None else f"{_rests_on(score)}\n{asked}"


def _of_scores(
    columns: Sequence[Column],
    scores: Sequence[Score],
    name_of: Callable[[Score], str],
    conventions: Conventions,
    intervals: Intervals,
    spreads: Spreads,
    marks: Marks,
    ways: Ways = NO_WAYS,
) -> RunTable:
    """Return a table of means; the best of a column is set in bold, nothing is judged by colour."""
    of_column: dict[str, list[Score]] = {}
    for score in scores:
        of_column.setdefault(name_of(score), []).append(score)
    cells: dict[str, dict[str, Cell]] = {}
    for name, column in of_column.items():
        known = [score.value for score in column if not math.isnan(score.value)]
        own = [spreads.get((s.run, s.measure, s.bucket), NOTHING) for s in column]
        scale = scale_of(known, own)
        for score, spread in zip(column, own, strict=True):
            interval = intervals.get((score.run, str(score.measure), score.bucket))
            picture = band(score.value, spread, scale)
            place = (score.run, score.measure, score.bucket)
            depth = conventions.depth_of_holes(score.measure)
            more = (depth, interval, picture, marks.get(place), ways.get(place))
            element = _score_cell(score, max(known, default=math.nan), *more)
            cells.setdefault(score.run, {})[name] = Cell(score.value, element)
    return RunTable(columns, cells, _tags(scores))


def _score_cell(
    score: Score,
    best: float,
    depth: str,
    interval: Interval | None,
    picture: htpy.Element | None,
    mark: str | None,
    way: str | None,
) -> htpy.Element:
    """Return a mean with the holes it rests on, where it has a cut-off to count them above.

    Hovering says its interval, and of other means down to which ``depth`` holes are counted.
    """
    if score.reason is not None:
        said = "no result" if score.reason == NO_RESULT else score.reason
        return htpy.td(title=said)["–", _unseen(said), picture]
    shown = number(score.value)
    value: htpy.Node = htpy.strong[shown] if shown == number(best) else shown
    if way is not None:
        lowest = f"{shown}, the lowest bucket of {score.run}: its worst queries in {score.bucket}"
        value = htpy.a(href=way, aria_label=lowest)[value]
    is_cut = score.measure.cutoff is not None
    beside = _counted(score.holes, score.carried) if is_cut else None
    counted = hole_words(score.holes, "above the cut-off" if is_cut else depth)
    said = f"{counted}: chunks that nobody has graded"
    if score.carried:
        said = f"{said}; {carried_words(score.carried)}: grades that follow from other chunks'"
    if interval is not None:
        said = f"{reach_words(interval)}; {said}"
    if mark is not None:
        said, below = f"{mark}; {said}", [htpy.span(aria_hidden="true")[f"{BELOW} "], _unseen(mark)]
        return htpy.td(title=said)[below, value, htpy.small[beside], picture]
    return htpy.td(title=said)[value, htpy.small[beside], picture]


def _counted(holes: int, carried: int) -> htpy.Node:
    """Return how many chunks nobody has graded, and how many grades were carried over."""
    said: list[htpy.Node] = []
    if holes:
        said += [f"{HOLE} {holes:,}", _unseen(" hole" if holes == 1 else " holes")]
    if carried:
        said += [" · " * bool(holes), f"{carried:,} carried"]
    return said or None


def _unseen(text: str) -> htpy.Element:
    return htpy.span(".unseen")[text]


def _tags(scores: Iterable[Score]) -> dict[str, list[str]]:
    """Say of each run for how many queries it has no list, which is the same for all measures."""
    missing = {(score.run, score.bucket): score.missing for score in scores}
    whole: Counter[str] = Counter()
    for (run, _), count in missing.items():
        whole[run] += count
    return {run: [f"{count:,} absent"] for run, count in whole.items() if count}


def with_gaps(table: RunTable, cutoff: Cutoff, holes: Mapping[str, tuple[int, int]]) -> RunTable:
    """Return a table that says each run's share of holes where it has no room for their numbers.

    ``holes`` are those of the runs inside a cut-off, and of how many chunks.
    """
    of = "in the prompt" if cutoff == BUDGET else f"of the top {cutoff}"
    gaps = {run: _gap(count, among, of) for run, (count, among) in holes.items() if among}
    return replace(table, gaps=gaps)


def _gap(count: int, among: int, of: str) -> htpy.Element:
    share = share_words(count, among)
    said = f"{share} {of} are holes: chunks that nobody has graded"
    return htpy.small(".gaps", title=said)[f"{HOLE} {share}", _unseen(f" holes, {of}")]


def tie_table(ranges: Mapping[str, Sequence[TieRange]], conventions: Conventions) -> RunTable:
    """Return what runs' means could be in other orders of their tied chunks: lowest to highest."""
    headings = [conventions.heading(each.measure) for each in next(iter(ranges.values()), ())]
    columns = [Column(name, name, "lowest – highest") for name in headings]
    return RunTable(
        columns,
        {
            run: {
                name: Cell(each.value, _range_cell(each))
                for name, each in zip(headings, found, strict=True)
            }
            for run, found in ranges.items()
        },
        {},
    )


def _range_cell(each: TieRange) -> htpy.Element:
    low, high = number(each.lowest), number(each.highest)
    title = f"{number(each.value)} as it is"
    return htpy.td(title=title)[low if low == high else f"{low} – {high}"]


def own_pool_table(found: OwnPools, conventions: Conventions) -> RunTable:
    """Return each run's recall and rank, and both without what its system alone brought in."""
    heading = conventions.heading(found.measure)
    columns = [
        Column(heading, heading, "rank · queries", MEASURES[found.measure.name].help),
        Column(f"{heading} without", f"{heading} without", "what its system alone found"),
        Column("only this run", "Only this run", "relevant chunks"),
        Column("only this system", "Only this system", "relevant chunks"),
    ]
    cells = {
        row.run: {
            heading: _ranked_cell(row.value, row.rank, f"n {row.n:,}", row.reason),
            f"{heading} without": _ranked_cell(
                row.without, row.rank_without, f"n {row.n_without:,}", row.reason
            ),
            "only this run": Cell(row.only_run, htpy.td[f"{row.only_run:,}"]),
            "only this system": Cell(row.only_system, htpy.td[f"{row.only_system:,}"]),
        }
        for row in found.rows
    }
    return RunTable(columns, cells, {})


def _ranked_cell(value: float, rank: int | None, n: str, reason: str | None) -> Cell:
    """Return a mean with its rank and over how many queries it is, or why there is none."""
    if rank is None:
        return Cell(value, htpy.td(title=reason)["–", _unseen(reason or "")])
    return Cell(value, htpy.td[number(value), htpy.small[f"{rank}. · {n}"]])


def residual_table(rows: Sequence[Residual], conventions: Conventions) -> RunTable:
    """Return what each RBP is, what it could rise by and to what; ``rows`` are of one bucket."""
    parts = ("value", "residual", "value + residual")
    measures = list(dict.fromkeys(row.measure for row in rows))
    columns = [
        Column(f"{conventions.heading(measure)} {part}", conventions.heading(measure), part)
        for measure in measures
        for part in parts
    ]
    cells: dict[str, dict[str, Cell]] = {}
    for row in rows:
        heading = conventions.heading(row.measure)
        for part, value in zip(parts, (row.value, row.residual, row.highest), strict=True):
            cells.setdefault(row.run, {})[f"{heading} {part}"] = _plain(value)
    return RunTable(columns, cells, {})


def keyword_table(rows: Sequence[KeywordRow], k: int, headings: Sequence[str]) -> RunTable:
    """Return keyword measures beside graded ones."""
    names = keyword_columns(k, headings)
    numbers = {row.run: (*row.keyword, *row.graded, row.agreement) for row in rows}
    cells = {
        run: {name: _plain(value) for name, value in zip(names, values, strict=True)}
        for run, values in numbers.items()
    }
    return RunTable([Column(name, name) for name in names], cells, {})


def _plain(value: float) -> Cell:
    return Cell(value, htpy.td[number(value)])
