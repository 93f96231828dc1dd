"""Tables of the Scores page, the legend of its charts, and tables of keyword measures.

The legend is HTML, not part of a chart, so that it wraps and no run's name is cut.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from types import MappingProxyType

import htpy

from labeler.analysis.keywords import KeywordMean, KeywordRanks, KeywordRow, keyword_headings
from labeler.evaluation import (
    NO_RESULT,
    Conventions,
    OwnPoolComparison,
    Residual,
    Score,
    TieRange,
    format_number,
    format_signed,
)
from labeler.measures import MEASURES, PROMPT, Cutoff, Measure
from labeler.render.markup import style
from labeler.render.palette import LineLook, line_looks
from labeler.render.short_names import RUN_LETTERS
from labeler.render.tables.html_table import (
    CellContent,
    TextCell,
    describe_interval,
    describe_transferred,
    describe_unjudged,
    plain_table,
    run_name,
)
from labeler.render.tables.run_table import BY_NAME, DESCENDING, RunCell, RunColumn, RunTable
from labeler.stats import ConfidenceInterval, IntervalsByPlace

UNJUDGED_SIGN = "◌"
BELOW_SIGN = "▽"
"""Marks a mean below its threshold; hovering over it says so in words."""
NO_INTERVALS: IntervalsByPlace = MappingProxyType({})
"""Confidence intervals of means by run, measure and bucket."""
Limits = Mapping[tuple[Measure, str | None], str]
"""The thresholds of a column in words, one per line, by measure and bucket."""
Marks = Mapping[tuple[str, Measure, str | None], str]
"""The threshold that a mean is below, in words, by run, measure and bucket."""
MeanLinks = Mapping[tuple[str, Measure, str | None], str]
"""The address that a mean links to, by run, measure and bucket."""
NO_LINKS: MeanLinks = MappingProxyType({})
NO_LIMITS: Limits = MappingProxyType({})
NO_MARKS: Marks = MappingProxyType({})


def score_table(
    scores: Sequence[Score],
    conventions: Conventions,
    intervals: IntervalsByPlace = NO_INTERVALS,
) -> RunTable:
    """Return a table of runs by measures, for one bucket or all queries; means have intervals."""
    first = {score.measure: score for score in reversed(scores)}
    measures = dict.fromkeys(score.measure for score in scores)
    columns = [
        RunColumn(
            conventions.heading(measure),
            conventions.heading(measure),
            _rests_on(first[measure]),
            MEASURES[measure.name].help,
        )
        for measure in measures
    ]
    drawn = (conventions, intervals, NO_MARKS)
    return _table_of_scores(columns, scores, lambda s: conventions.heading(s.measure), *drawn)


def bucket_table(
    scores: Sequence[Score],
    conventions: Conventions,
    intervals: IntervalsByPlace = NO_INTERVALS,
    limits: Limits = NO_LIMITS,
    marks: Marks = NO_MARKS,
    ways: MeanLinks = NO_LINKS,
    link: Callable[[Score], str] | None = None,
) -> RunTable:
    """Return a table of runs by buckets, with one measure for each bucket; else as `score_table`.

    ``limits`` are shown under headings, ``marks`` beside means. ``link`` returns the address of a
    bucket's queries, ``ways`` has the addresses of means.
    """
    first = {score.bucket: score for score in reversed(scores)}
    columns = [
        RunColumn(
            bucket_column_name(bucket),
            str(bucket),
            f"{conventions.heading(first[bucket].measure)} · {_under_head(first[bucket], limits)}",
            MEASURES[first[bucket].measure.name].help,
            None if link is None else link(first[bucket]),
        )
        for bucket in dict.fromkeys(score.bucket for score in scores)
    ]
    drawn = (conventions, intervals, marks, ways)
    return _table_of_scores(columns, scores, lambda score: bucket_column_name(score.bucket), *drawn)


def bucket_column_name(bucket: str | None) -> str:
    """Return a bucket's column name, with "=" before a name that `RunTableState` would misread.

    >>> bucket_column_name("refund"), bucket_column_name("run"), bucket_column_name("-1")
    ('refund', '=run', '=-1')
    """
    name = str(bucket)
    return f"={name}" if name == BY_NAME or name.startswith((DESCENDING, "=")) else name


def _rests_on(score: Score) -> str:
    """Say how many queries a column's means are over."""
    left_out = f", {score.undefined:,} undefined" if score.undefined else ""
    return f"n {score.n:,}{left_out}"


def _under_head(score: Score, limits: Limits) -> str:
    """Say how many queries a column's means are over, then their thresholds."""
    asked = limits.get((score.measure, score.bucket))
    return _rests_on(score) if asked is None else f"{_rests_on(score)}\n{asked}"


def _table_of_scores(
    columns: Sequence[RunColumn],
    scores: Sequence[Score],
    name_of: Callable[[Score], str],
    conventions: Conventions,
    intervals: IntervalsByPlace,
    marks: Marks,
    ways: MeanLinks = NO_LINKS,
) -> RunTable:
    """Return a table of means; the best of each column is bold, and colour has no meaning."""
    of_column: dict[str, list[Score]] = {}
    for score in scores:
        of_column.setdefault(name_of(score), []).append(score)
    cells: dict[str, dict[str, RunCell]] = {}
    for name, column in of_column.items():
        known = [score.value for score in column if not math.isnan(score.value)]
        for score in column:
            interval = intervals.get((score.run, str(score.measure), score.bucket))
            place = (score.run, score.measure, score.bucket)
            depth = conventions.depth_of_unjudged(score.measure)
            more = (depth, interval, marks.get(place), ways.get(place))
            element = _score_cell(score, max(known, default=math.nan), *more)
            cells.setdefault(score.run, {})[name] = RunCell(score.value, element)
    return RunTable(columns, cells, _missing_tags(scores))


def _score_cell(
    score: Score,
    best: float,
    depth: str,
    interval: ConfidenceInterval | None,
    mark: str | None,
    way: str | None,
) -> htpy.Element:
    """Return a mean; if its measure has a cut-off, with the unjudged chunks above it.

    Hovering shows the mean's interval and its unjudged chunks; without a cut-off, these are counted
    down to ``depth``.
    """
    if score.reason is not None:
        said = "no result" if score.reason == NO_RESULT else score.reason
        return htpy.td(title=said)["–", _visually_hidden(said)]
    shown = format_number(score.value)
    value: htpy.Node = htpy.strong[shown] if shown == format_number(best) else shown
    if way is not None:
        lowest = f"{shown}, the lowest bucket of {score.run}: its worst queries in {score.bucket}"
        value = htpy.a(href=way, aria_label=lowest)[value]
    is_cut = score.measure.cutoff is not None
    beside = _count_note(score.unjudged, score.transferred) if is_cut else None
    said = explain_mean(score, depth, interval)
    if mark is not None:
        said, below = (
            f"{mark}; {said}",
            [htpy.span(aria_hidden="true")[f"{BELOW_SIGN} "], _visually_hidden(mark)],
        )
        return htpy.td(title=said)[below, value, htpy.small[beside]]
    return htpy.td(title=said)[value, htpy.small[beside]]


def explain_mean(score: Score, depth: str, interval: ConfidenceInterval | None) -> str:
    """Describe a mean's interval and its chunks that are unjudged or have a transferred grade.

    Chunks are counted above the measure's cut-off; without one, down to ``depth``.
    """
    where = depth if score.measure.cutoff is None else "above the cut-off"
    said = f"{describe_unjudged(score.unjudged, where)}: chunks that nobody has graded"
    if score.transferred:
        transferred = describe_transferred(score.transferred)
        said = f"{said}; {transferred}: grades that follow from other chunks'"
    return said if interval is None else f"{describe_interval(interval)}; {said}"


def _count_note(unjudged: int, transferred: int) -> htpy.Node:
    """Return how many chunks nobody has graded, and how many grades were transferred."""
    said: list[htpy.Node] = []
    if unjudged:
        said += [
            f"{UNJUDGED_SIGN} {unjudged:,}",
            _visually_hidden(" unjudged chunk" if unjudged == 1 else " unjudged chunks"),
        ]
    if transferred:
        said += [" · " * bool(unjudged), f"{transferred:,} transferred"]
    return said or None


def _visually_hidden(text: str) -> htpy.Element:
    return htpy.span(".unseen")[text]


def _missing_tags(scores: Iterable[Score]) -> dict[str, list[str]]:
    """Say for how many queries each run has no list; the number is the same for all measures."""
    missing = {(score.run, score.bucket): score.missing for score in scores}
    whole: Counter[str] = Counter()
    for (run, _), count in missing.items():
        whole[run] += count
    return {run: [f"{count:,} absent"] for run, count in whole.items() if count}


def with_unjudged_shares(
    table: RunTable, cutoff: Cutoff, unjudged: Mapping[str, float]
) -> RunTable:
    """Return the table with each run's share of unjudged chunks, for when counts have no room.

    ``unjudged`` are the runs' shares within the cut-off.
    """
    of = "in the prompt" if cutoff == PROMPT else f"of the top {cutoff}"
    gaps = {run: _unjudged_share(share, of) for run, share in unjudged.items()}
    return replace(table, gaps=gaps)


def _unjudged_share(unjudged: float, of: str) -> htpy.Element:
    share = f"{unjudged:.0%}"
    said = f"{share} {of} are unjudged: chunks that nobody has graded"
    return htpy.small(".gaps", title=said)[
        f"{UNJUDGED_SIGN} {share}", _visually_hidden(f" unjudged chunks, {of}")
    ]


def tie_table(ranges: Mapping[str, Sequence[TieRange]], conventions: Conventions) -> RunTable:
    """Return the lowest and the highest mean of each run over all orders of its tied chunks."""
    headings = [conventions.heading(each.measure) for each in next(iter(ranges.values()), ())]
    columns = [RunColumn(name, name, "lowest – highest") for name in headings]
    return RunTable(
        columns,
        {
            run: {
                name: RunCell(each.value, _range_cell(each))
                for name, each in zip(headings, found, strict=True)
            }
            for run, found in ranges.items()
        },
        {},
    )


def _range_cell(each: TieRange) -> htpy.Element:
    low, high = format_number(each.lowest), format_number(each.highest)
    title = f"{format_number(each.value)} as it is"
    return htpy.td(title=title)[low if low == high else f"{low} – {high}"]


def own_pool_table(found: OwnPoolComparison, conventions: Conventions) -> RunTable:
    """Return each run's recall and rank, with and without the chunks only its system pooled."""
    heading = conventions.heading(found.measure)
    columns = [
        RunColumn(heading, heading, "rank · queries", MEASURES[found.measure.name].help),
        RunColumn(f"{heading} without", f"{heading} without", "what its system alone found"),
        RunColumn("only this run", "Only this run", "relevant chunks"),
        RunColumn("only this system", "Only this system", "relevant chunks"),
    ]
    cells = {
        row.run: {
            heading: _ranked_cell(row.value, row.rank, f"n {row.n:,}", row.reason),
            f"{heading} without": _ranked_cell(
                row.without, row.rank_without, f"n {row.n_without:,}", row.reason
            ),
            "only this run": RunCell(row.only_run, htpy.td[f"{row.only_run:,}"]),
            "only this system": RunCell(row.only_system, htpy.td[f"{row.only_system:,}"]),
        }
        for row in found.rows
    }
    return RunTable(columns, cells, {})


def _ranked_cell(value: float, rank: int | None, n: str, reason: str | None) -> RunCell:
    """Return a mean with its rank and its number of queries, or why there is none."""
    if rank is None:
        return RunCell(value, htpy.td(title=reason)["–", _visually_hidden(reason or "")])
    return RunCell(value, htpy.td[format_number(value), htpy.small[f"{rank}. · {n}"]])


def residual_table(rows: Sequence[Residual], conventions: Conventions) -> RunTable:
    """Return each RBP with its residual and their sum; ``rows`` are of one bucket."""
    parts = ("value", "residual", "value + residual")
    measures = list(dict.fromkeys(row.measure for row in rows))
    columns = [
        RunColumn(f"{conventions.heading(measure)} {part}", conventions.heading(measure), part)
        for measure in measures
        for part in parts
    ]
    cells: dict[str, dict[str, RunCell]] = {}
    for row in rows:
        heading = conventions.heading(row.measure)
        for part, value in zip(parts, (row.value, row.residual, row.highest), strict=True):
            cells.setdefault(row.run, {})[f"{heading} {part}"] = _number_cell(value)
    return RunTable(columns, cells, {})


def keyword_table(rows: Sequence[KeywordRow], k: int, headings: Sequence[str]) -> RunTable:
    """Return a table of keyword measures beside graded ones."""
    names = keyword_headings(k, headings)
    numbers = {row.run: (*row.keyword, *row.graded, row.agreement) for row in rows}
    cells = {
        run: {name: _number_cell(value) for name, value in zip(names, values, strict=True)}
        for run, values in numbers.items()
    }
    return RunTable([RunColumn(name, name) for name in names], cells, {})


def _number_cell(value: float) -> RunCell:
    return RunCell(value, htpy.td[format_number(value)])


LEGEND_STYLE = style("""
.legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1.2rem; padding: 0; margin: 0;
    list-style: none; font-size: 0.8125rem; }
.legend li { display: flex; align-items: center; gap: 0.4rem; margin: 0;
    overflow-wrap: anywhere; max-width: 100%; overflow-x: clip; }
.legend bdi { min-width: 0; }
.legend .line { flex: none; width: 2.25rem; height: 3px; position: relative; }
.legend .line i { position: absolute; left: 50%; top: 50%; width: 10px; height: 10px;
    margin: -5px; background: inherit; }
.legend .circle i { border-radius: 50%; } .legend .square i { border-radius: 2px; }
""")


def run_legend(
    runs: Sequence[str], short: Mapping[str, str], roles: Mapping[str, str] | None = None
) -> htpy.Fragment:
    """Return a legend of a chart's lines, in the order of its runs."""
    looks = line_looks(runs, roles)
    entries = [
        htpy.li[_legend_line(look, has_mark=bool((roles or {}).get(run))), run_name(run, short)]
        for run, look in looks.items()
    ]
    return htpy.fragment[LEGEND_STYLE, htpy.ul(".legend", aria_label="Runs in the chart")[entries]]


def _legend_line(look: LineLook, *, has_mark: bool) -> htpy.Element:
    return htpy.span(
        class_=["line", look.mark], style=f"background: {dashed_gradient(look.colour, look.dash)}"
    )[htpy.i if has_mark else None]


def dashed_gradient(colour: str, dashes: Sequence[int]) -> str:
    """Return a CSS gradient that draws a line of these dashes and gaps, in pixels.

    >>> dashed_gradient("red", [6, 3])
    'repeating-linear-gradient(to right, red 0px 6px, #0000 6px 9px)'
    """
    ends = [0, *accumulate(dashes)]
    parts = [
        f"{'#0000' if at % 2 else colour} {start}px {end}px"
        for at, (start, end) in enumerate(pairwise(ends))
    ]
    return f"repeating-linear-gradient(to right, {', '.join(parts)})"


def keyword_means_table(
    names: Sequence[str], means: Sequence[KeywordMean], k: int
) -> htpy.Fragment:
    """Return RR, nDCG and coverage by keyword of each run, and the second minus the first."""
    values = [(each.rr, each.ndcg, each.coverage) for each in means]
    rows: list[list[CellContent]] = [
        [TextCell(name), *map(format_number, own), mean.n]
        for name, own, mean in zip(names, values, means, strict=True)
    ]
    if len(values) == len(RUN_LETTERS):
        change = [format_signed(b - a) for a, b in zip(*values, strict=True)]
        rows.append([TextCell("difference"), *change, None])
    return plain_table(["run", *_keyword_measures(k), "n"], rows)


def keyword_places_table(
    places: Sequence[KeywordRanks],
    runs: tuple[str, str],
    names: tuple[str, str],
    link: Callable[[str], str] | None = None,
) -> htpy.Fragment:
    """Return the ranks of keywords in two runs; ``link`` returns the address of a query."""
    ranks = [f"rank in {name}" for name in names]
    headings = ["Keyword", "Query", *ranks, "chunks that hold it"]
    rows: list[list[CellContent]] = [
        [
            TextCell(each.keyword),
            TextCell(each.query_id, link=link(each.query_id) if link else ""),
            *(*map(each.ranks.get, runs), each.chunks),
        ]
        for each in places
    ]
    return plain_table(headings, rows)


def keyword_slices(
    means: Sequence[KeywordMean], totals: Sequence[KeywordMean], facet: str, k: int
) -> htpy.Fragment:
    """Return RR, nDCG and coverage by keyword in each bucket, of one run or of A and B.

    ``means`` lists one run after the other. Buckets whose queries have no keywords are left out.
    The total is the last row.
    """
    buckets = list(dict.fromkeys(each.bucket for each in means))
    by_place = {(each.run, each.bucket): each for each in means}
    runs = [each.run for each in totals]
    rows = [
        _keyword_row(str(bucket), [by_place[run, bucket] for run in runs])
        for bucket in buckets
        if all((run, bucket) in by_place for run in runs)
    ]
    return plain_table(
        _keyword_headings(facet, k, len(runs)), rows, _keyword_row("all of them", totals)
    )


def _keyword_headings(facet: str, k: int, runs: int) -> list[str]:
    if runs == 1:
        return [facet, "n", *_keyword_measures(k)]
    return [
        facet,
        "n",
        *(f"{name} {side}" for name in _keyword_measures(k) for side in (*RUN_LETTERS, "B − A")),
    ]


def _keyword_measures(k: int) -> list[str]:
    return [f"RR@{k}", f"nDCG@{k}", f"coverage@{k}"]


def _keyword_row(name: str, of_runs: Sequence[KeywordMean]) -> list[CellContent]:
    cells: list[CellContent] = [TextCell(name), of_runs[0].n]
    for values in zip(*((each.rr, each.ndcg, each.coverage) for each in of_runs), strict=True):
        cells += map(format_number, values)
        if len(values) == len(RUN_LETTERS):
            cells.append(format_signed(values[1] - values[0]))
    return cells
