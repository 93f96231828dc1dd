"""Rows of a comparison for CSV, JSON and the Python API: one per measure, bucket or query."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain

from labeler.analysis.comparison.deltas import TOLERANCE, Comparison, Delta, QueryDelta
from labeler.analysis.comparison.significance import (
    Power,
    SignificanceTable,
    assess_power,
    assess_significance,
    describe_caution,
)
from labeler.evaluation import (
    NO_RESULT,
    Record,
    measure_names,
    why_no_mean,
    why_no_value,
)


def delta_records(
    comparison: Comparison, rows: Iterable[Delta], tested: SignificanceTable | None = None
) -> list[Record]:
    """Return means as rows, with columns for facet and bucket if one of ``rows`` is of a bucket.

    A measure requested under two names has a row for each. ``a``, ``b`` and ``delta`` are NaN where
    there is no value; ``reason`` then says why and for which run. ``tested`` are the tests of the
    rows; without it they are tested as one family.
    """
    rows = list(rows)
    tested = assess_significance(comparison, rows) if tested is None else tested
    in_buckets = any(row.facet is not None for row in rows)
    has_transferred = any(row.transferred_a or row.transferred_b for row in rows)
    return [
        {
            "run_a": comparison.a,
            "run_b": comparison.b,
            **({"facet": row.facet, "bucket": row.bucket} if in_buckets else {}),
            **names,
            "a": row.a,
            "b": row.b,
            "delta": row.delta,
            "reason": _reason(comparison, row, why_no_mean(row.n, row.undefined, row.measure)),
            "wins": row.wins,
            "ties": row.ties,
            "losses": row.losses,
            "n": row.n,
            "undefined": row.undefined,
            "unjudged_a": row.unjudged_a,
            "unjudged_b": row.unjudged_b,
            "missing_a": row.missing_a,
            "missing_b": row.missing_b,
            **(
                {"transferred_a": row.transferred_a, "transferred_b": row.transferred_b}
                if has_transferred
                else {}
            ),
            **_significance_columns(comparison, row, power, tested),
        }
        for row, power in zip(rows, assess_power(comparison, rows), strict=True)
        for names in measure_names(row.measure)
    ]


def _significance_columns(
    comparison: Comparison, row: Delta, power: Power, tested: SignificanceTable
) -> Record:
    """Return the columns of test, interval and power."""
    significance, both = tested.of(row), comparison.means_in_common(row)
    return {
        "lo": power.interval.lo,
        "hi": power.interval.hi,
        "interval": power.interval.method or None,
        "p": significance.p,
        "p_holm": significance.holm,
        "test": significance.kind,
        "family": significance.family,
        "detectable": power.detectable,
        "more_queries": power.more_queries,
        "caution": describe_caution(row, power) or None,
        "n_both": both.n if both else None,
        "both_a": both.a if both else math.nan,
        "both_b": both.b if both else math.nan,
    }


def query_delta_records(
    comparison: Comparison, rows: Iterable[QueryDelta] | None = None
) -> list[Record]:
    """Return values of queries as rows; the counts are 0 or 1.

    Without ``rows``, all queries are included, each with all measures.
    """
    columns = [comparison.queries(measure) for measure in comparison.measures]
    every = chain.from_iterable(zip(*columns, strict=True))
    has_transferred = any(each.transferred.any() for each in comparison.columns.values())
    return [
        record | (_transferred_columns(row) if has_transferred else {})
        for row in (every if rows is None else rows)
        for record in _query_records(comparison, row)
    ]


def _transferred_columns(row: QueryDelta) -> Record:
    return {"transferred_a": row.transferred_a, "transferred_b": row.transferred_b}


def _query_records(comparison: Comparison, row: QueryDelta) -> list[Record]:
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
        for names in measure_names(row.measure)
    ]


def _reason(comparison: Comparison, row: Delta | QueryDelta, why: str) -> str | None:
    if not math.isnan(row.delta):
        return None
    if why != NO_RESULT:
        return why
    sides = ((comparison.a, row.a), (comparison.b, row.b))
    return "; ".join(f"{run}: {why}" for run, value in sides if math.isnan(value))
