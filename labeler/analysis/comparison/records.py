"""Tables of a comparison: the columns of all outputs, and a row a measure, bucket or query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from labeler.analysis.comparison.deltas import TOLERANCE, Comparison, Delta, QueryDelta
from labeler.analysis.comparison.significance import PairTests
from labeler.evaluation import (
    NO_RESULT,
    Record,
    Scoreboard,
    measure_names,
    why_no_mean,
    why_no_value,
)
from labeler.model.results import COUNT, NUMBER, P_VALUE, SIGNED, SIGNED_RANGE, TEXT, Column, Table
from labeler.stats import DeltaRanges, LiveRanges, MeanRanges, with_unjudged_ranges


@dataclass(frozen=True, eq=False)
class ShownPair:
    """Two runs and the ``rows`` shown of them, with their tests.

    ``ranges`` are those of means and differences over unjudged chunks; None leaves them out.
    """

    compared: Comparison
    rows: Sequence[Delta]
    tests: PairTests
    ranges: tuple[MeanRanges, DeltaRanges] | None = None

    def with_ranges(
        self, board: Scoreboard, ranges_of: Callable[[str, str], LiveRanges]
    ) -> ShownPair:
        """Return this pair with the ranges of its measures, in each bucket if of a facet."""
        live = ranges_of(self.compared.a, self.compared.b)
        asked = (board, self.compared.measures, self.compared.facet)
        return replace(self, ranges=(live.means(*asked), live.deltas(*asked)))


STATISTICS = (
    *("measure", "p_corrected", "tests", "interval of the difference"),
    *("differ", "detectable", "more_queries", "caution"),
)
"""The columns that say how sure a difference is."""


def statistics_table(tests: PairTests, row: Delta) -> Table:
    """Return for people how sure a difference by the deciding measure is, and the other measures.

    The others are of all queries; of a bucket the deciding measure alone is tested.
    """
    rows = [row, *(tests.others if row.bucket is None else [])]
    table = comparison_table([ShownPair(tests.source_of(row), rows, tests)], ("", ""))
    is_empty = all(not each["caution"] for each in table.rows)
    wanted = [name for name in STATISTICS if not (is_empty and name == "caution")]
    columns = {each.name: each for each in table.columns}
    is_clear = [tests.of(each).is_clear for each in rows]
    shown = [
        {**each, "more_queries": None if clear else each["more_queries"]}
        for each, clear in zip(table.rows, is_clear, strict=True)
    ]
    return Table(tuple(columns[name] for name in wanted), shown)


AB = ("A", "B")


def comparison_table(
    pairs: Sequence[ShownPair],
    names: tuple[str, str] | None = None,
    called: tuple[str, str] = AB,
) -> Table:
    """Return a row for each difference shown, with the columns of all outputs.

    ``names`` are shown to people over the means of A and B, which other titles call as ``called``,
    and each measure has its heading. Without them, for
    programs, a measure is named as requested, with a row for each of its names. Of several pairs
    the runs are columns.
    """
    rows = [row for pair in pairs for row in pair.rows]
    has_transferred = any(row.transferred_a or row.transferred_b for row in rows)
    facet = next((row.facet for row in rows if row.facet is not None), None)
    has_ranges = all(pair.ranges is not None for pair in pairs)
    columns = [
        *_place_columns(facet, several=len(pairs) > 1),
        *_value_columns(names or AB, called, has_transferred=has_transferred),
        *TEST_COLUMNS,
        *(RANGE_COLUMNS if has_ranges else ()),
    ]
    for_people = names is not None
    records = [row for each in pairs for row in _delta_records(each, for_people=for_people)]
    return Table(tuple(columns), records)


def _place_columns(facet: str | None, *, several: bool) -> Sequence[Column]:
    of_bucket = [Column("facet"), Column("bucket", facet)] if facet is not None else []
    return [
        Column("run_a", "A" if several else ""),
        Column("run_b", "B" if several else ""),
        *of_bucket,
        Column("measure", "Measure"),
        Column("full_name"),
    ]


def _value_columns(
    titles: tuple[str, str], runs: tuple[str, str], *, has_transferred: bool
) -> Sequence[Column]:
    a, b = runs
    transferred = [
        Column(f"transferred_{side}", f"Transferred in {run}", COUNT, detail=True)
        for side, run in zip("ab", runs, strict=True)
    ]
    return [
        Column("a", titles[0], NUMBER, help=f"the mean of {a}"),
        Column("b", titles[1], NUMBER, help=f"the mean of {b}"),
        Column("delta", "Difference", SIGNED, help=f"the mean of {b} minus that of {a}"),
        Column("reason"),
        Column("wins", "Wins", COUNT, "queries", f"queries in which {b} is better"),
        Column("ties", "Ties", COUNT, "queries", "queries in which both are equal", detail=True),
        Column("losses", "Losses", COUNT, "queries", f"queries in which {b} is worse"),
        Column("n", "n", COUNT, "queries", "queries in the means"),
        Column("undefined", "Undefined", COUNT, "queries", "with nothing relevant", detail=True),
        Column("unjudged_a", f"Unjudged in {a}", COUNT, help="chunks that nobody has graded"),
        Column("unjudged_b", f"Unjudged in {b}", COUNT, help="chunks that nobody has graded"),
        Column("missing_a"),
        Column("missing_b"),
        *(transferred if has_transferred else ()),
    ]


TEST_COLUMNS = (
    Column(
        "interval of the difference",
        "Confidence interval",
        SIGNED_RANGE,
        help="of the difference, over the choice of queries: 95% for the measure that decides, "
        "corrected for the number of tests for the others; none where nothing is tested",
        parts=("lo", "hi"),
    ),
    Column("interval"),
    Column("level"),
    Column("p"),
    Column("p_corrected", "p", P_VALUE, help="of a randomisation test, corrected as the interval"),
    Column("test"),
    Column(
        *("tests", "Corrected for", COUNT, "tests"),
        help="p and the interval are corrected for so many; 1 is tested alone",
        detail=True,
    ),
    Column("differ", "Differ", COUNT, "queries", "in which the two runs differ", detail=True),
    Column(
        "detectable",
        "Smallest difference these queries can show",
        NUMBER,
        help="the smallest true difference that so many queries show with 80% power",
        detail=True,
    ),
    Column(
        "more_queries",
        "More queries needed",
        COUNT,
        help="that would show the difference seen, if it is the true one, with 80% power",
        detail=True,
    ),
    Column("caution", "Note", TEXT, detail=True),
    Column("n_both"),
    Column("both_a"),
    Column("both_b"),
)

RANGE_COLUMNS = (
    Column(
        "possible range",
        "Possible range",
        SIGNED_RANGE,
        help="of the difference, however the unjudged chunks are graded",
        parts=("possible_low", "possible_high"),
        detail=True,
    ),
    Column("possible_exact"),
    Column(
        "90% range",
        "90% range once graded",
        SIGNED_RANGE,
        help="of the difference, if only the chunks that count here are graded further",
        parts=("likely_low", "likely_high"),
        detail=True,
    ),
    *(
        Column(f"{name}_{side}")
        for side in ("a", "b")
        for name in ("possible_low", "possible_high", "possible_exact", "likely_low", "likely_high")
    ),
)


def _delta_records(shown: ShownPair, *, for_people: bool) -> list[Record]:
    """Return the rows of one pair in full precision; a missing number is NaN, and why in words."""
    compared = shown.compared
    called = compared.conventions if for_people else None
    records = [
        {
            "run_a": compared.a,
            "run_b": compared.b,
            "facet": row.facet,
            "bucket": row.bucket,
            **names,
            "a": row.a,
            "b": row.b,
            "delta": row.delta,
            "reason": _reason(compared, row, why_no_mean(row.n, row.undefined, row.measure)),
            "wins": row.wins,
            "ties": row.ties,
            "losses": row.losses,
            "n": row.n,
            "undefined": row.undefined,
            "unjudged_a": row.unjudged_a,
            "unjudged_b": row.unjudged_b,
            "missing_a": row.missing_a,
            "missing_b": row.missing_b,
            "transferred_a": row.transferred_a,
            "transferred_b": row.transferred_b,
            **_test_values(compared, row, shown.tests),
        }
        for row in shown.rows
        for names in measure_names(row.measure, called)
    ]
    return records if shown.ranges is None else with_unjudged_ranges(records, *shown.ranges)


def _test_values(compared: Comparison, row: Delta, tests: PairTests) -> Record:
    """Return the values of a difference's test, interval and power."""
    test, both = tests.of(row), compared.means_in_common(row)
    return {
        "lo": test.interval.lo,
        "hi": test.interval.hi,
        "interval": test.interval.method or None,
        "level": test.level,
        "p": test.p,
        "p_corrected": test.p_corrected,
        "test": test.kind,
        "tests": test.tests or None,
        "differ": test.differ if test.tests else None,
        "detectable": test.detectable,
        "more_queries": test.more_queries,
        "caution": test.reason or None,
        "n_both": both.n if both else None,
        "both_a": both.a if both else math.nan,
        "both_b": both.b if both else math.nan,
    }


def query_table(compared: Comparison, names: tuple[str, str]) -> Table:
    """Return a row for each query and measure for people, as `query_delta_records` does."""
    records = query_delta_records(compared, for_people=True)
    has_transferred = any("transferred_a" in record for record in records)
    counted = ("wins", "ties", "losses", "n", "undefined")
    columns = [
        Column("run_a"),
        Column("run_b"),
        Column("query_id", "Query"),
        Column("measure", "Measure"),
        Column("full_name"),
        Column("a", names[0], NUMBER),
        Column("b", names[1], NUMBER),
        Column("delta", "Difference", SIGNED),
        Column("reason"),
        *map(Column, counted),
        Column("unjudged_a", "Unjudged in A", COUNT),
        Column("unjudged_b", "Unjudged in B", COUNT),
        Column("missing_a"),
        Column("missing_b"),
        *(map(Column, ("transferred_a", "transferred_b")) if has_transferred else ()),
    ]
    return Table(tuple(columns), records)


def query_delta_records(
    comparison: Comparison,
    rows: Iterable[QueryDelta] | None = None,
    *,
    for_people: bool = False,
) -> list[Record]:
    """Return values of queries as rows; the counts are 0 or 1.

    Without ``rows``, all queries are included, each with all measures. A measure is named as
    `comparison_table` does.
    """
    columns = [comparison.queries(measure) for measure in comparison.measures]
    every = chain.from_iterable(zip(*columns, strict=True))
    has_transferred = any(each.transferred.any() for each in comparison.columns.values())
    return [
        record | (_transferred_columns(row) if has_transferred else {})
        for row in (every if rows is None else rows)
        for record in _query_records(comparison, row, for_people=for_people)
    ]


def _transferred_columns(row: QueryDelta) -> Record:
    return {"transferred_a": row.transferred_a, "transferred_b": row.transferred_b}


def _query_records(comparison: Comparison, row: QueryDelta, *, for_people: bool) -> list[Record]:
    called = comparison.conventions if for_people else None
    return [
        {
            "run_a": comparison.a,
            "run_b": comparison.b,
            "query_id": row.query_id,
            **names,
            "a": row.a,
            "b": row.b,
            "delta": row.delta,
            "reason": _reason(comparison, row, why_no_value(row.judged, row.counted, row.measure)),
            "wins": int(row.delta > TOLERANCE),
            "ties": int(abs(row.delta) <= TOLERANCE),
            "losses": int(row.delta < -TOLERANCE),
            "n": int(row.counted),
            "undefined": int(row.judged and not row.counted),
            "unjudged_a": row.unjudged_a,
            "unjudged_b": row.unjudged_b,
            "missing_a": int(row.missing_a),
            "missing_b": int(row.missing_b),
        }
        for names in measure_names(row.measure, called)
    ]


def _reason(comparison: Comparison, row: Delta | QueryDelta, why: str) -> str | None:
    if not math.isnan(row.delta):
        return None
    if why != NO_RESULT:
        return why
    sides = ((comparison.a, row.a), (comparison.b, row.b))
    return "; ".join(f"{run}: {why}" for run, value in sides if math.isnan(value))
