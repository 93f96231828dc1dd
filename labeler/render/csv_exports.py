"""CSV and JSON files that the pages offer for download.

Values have full precision, and every row of measure values names its conventions, so that a
file can be read without the page it came from. Text that a spreadsheet would run as a formula
is quoted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labeler.analysis.comparison import (
    Comparison,
    CrossedCell,
    DcgTable,
    GraderSensitivity,
    PerfectReranking,
    QueryDelta,
    ShownPair,
    comparison_table,
    query_delta_records,
    sensitivity_records,
)
from labeler.analysis.failures import Failure, FailureClass, QueryRow, TwoByTwo, answer_table
from labeler.analysis.keywords import KeywordRow, keyword_headings
from labeler.evaluation import (
    Conventions,
    OwnPoolComparison,
    RankedChunk,
    Residual,
    Score,
    TieRangesByRun,
    measure_names,
    own_pool_table,
    score_records,
    why_no_mean,
    with_tie_ranges,
)
from labeler.formats import csv_tables, json_records
from labeler.measures import Measure
from labeler.model.results import Statement
from labeler.render.results import statements_records
from labeler.stats import (
    IntervalsByPlace,
    MeanRanges,
    with_intervals,
    with_unjudged_ranges,
)


def rows_csv(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return rows as a CSV file in which no cell runs as a formula of a spreadsheet.

    >>> rows_csv([{"grade": 3, "note": "=1+1"}, {"grade": None, "note": "a"}])
    b"grade,note\\n3,'=1+1\\n,a\\n"
    """
    return csv_tables.as_csv(rows).encode()


def as_csv(rows: Iterable[Mapping[Any, object]], conventions: Conventions) -> bytes:
    """Return rows as a CSV file, each with its conventions.

    >>> print(as_csv([{"value": 0.5}], Conventions()).decode())  # doctest: +ELLIPSIS
    value,conventions
    0.5,"graded: gain 2^grade−1 ...
    """
    described = f"{conventions.preset}: {conventions.describe()}"
    return rows_csv({**row, "conventions": described} for row in rows)


def agreement_csv(
    records: Iterable[Mapping[str, object]],
    conventions: Mapping[str, object],
    statements: Sequence[Statement],
    *,
    raw: bool = False,
) -> bytes:
    """Return a row for each number of agreement, with its method and its meaning."""
    notes = " · ".join(each.line for each in statements)
    more = {"conventions": conventions["description"], "notes": notes}
    return csv_tables.as_csv([{**row, **more} for row in records], raw=raw).encode()


def agreement_json(
    records: Iterable[Mapping[str, object]],
    conventions: Mapping[str, object],
    statements: Sequence[Statement],
) -> bytes:
    """Return the numbers of agreement as a JSON list; an undefined number is null."""
    more = {"conventions": conventions, "notes": statements_records(statements)}
    return json_records.as_json({**row, **more} for row in records).encode()


# --- Scores ----------------------------------------------------------------------------------


def score_csv(
    scores: Iterable[Score],
    conventions: Conventions,
    residuals: Iterable[Residual] = (),
    *,
    ranges: TieRangesByRun | None = None,
    within: tuple[str, str] | None = None,
    bands: MeanRanges | None = None,
    intervals: IntervalsByPlace | None = None,
) -> bytes:
    """Return a row for each score.

    ``intervals`` add two columns for their ends. ``residuals`` add one column, empty for every
    measure but RBP. ``ranges`` add two columns for what other orders of tied chunks could give.
    ``within`` is the facet and the bucket that scores by task are restricted to; it adds a column
    for each.
    """
    found = {(each.run, each.measure, each.bucket): each.residual for each in residuals}
    rows = score_records(scores, found)
    if intervals is not None:
        rows = with_intervals(rows, intervals)
    if ranges is not None:
        rows = with_tie_ranges(rows, ranges)
    if bands is not None:
        rows = with_unjudged_ranges(rows, bands)
    if within is not None:
        narrowed = dict(zip(("within_facet", "within_bucket"), within, strict=True))
        rows = [{**row, **narrowed} for row in rows]
    return as_csv(rows, conventions)


def own_pool_csv(found: Iterable[OwnPoolComparison], conventions: Conventions) -> bytes:
    """Return each run's recall with and without the chunks that only its system pooled."""
    return as_csv(own_pool_table(found).records(), conventions)


def keyword_csv(
    rows: Iterable[KeywordRow],
    k: int,
    headings: Sequence[str],
    conventions: Conventions,
    *,
    substring: bool,
) -> bytes:
    """Return keyword and graded measures, a row for each run; an undefined value is empty."""
    names = keyword_headings(k, headings)
    found_as = {"found as": "parts of words, too" if substring else "whole words"}
    return as_csv(
        (
            {"run": row.run, "queries with keywords": row.n, "graded of them": row.judged}
            | dict(zip(names, (*row.keyword, *row.graded, row.agreement), strict=True))
            | found_as
            for row in rows
        ),
        conventions,
    )


# --- Compare and Slices ----------------------------------------------------------------------


def comparison_csv(shown: ShownPair) -> bytes:
    """Return the differences shown, in the same table as every other output."""
    return as_csv(comparison_table([shown]).records(), shown.compared.conventions)


def survival_csv(found: Iterable[GraderSensitivity], comparison: Comparison) -> bytes:
    """Return A against B under each reading of the grades, the golden grades first."""
    rows = sensitivity_records(found, comparison.a, comparison.b)
    return as_csv(rows, comparison.conventions)


def query_delta_csv(
    rows: Sequence[QueryDelta],
    comparison: Comparison,
    texts: Mapping[str, str],
    buckets: Mapping[str, str],
) -> bytes:
    """Return all queries that the page lists, in its order.

    ``texts`` and ``buckets`` are by query. A query without a value says why.
    """
    records = query_delta_records(comparison, rows)
    places = {row.query_id: place for place, row in enumerate(rows, 1)}
    return as_csv(
        (
            {
                "place": places[record["query_id"]],
                "query_id": record["query_id"],
                "query": texts.get(record["query_id"], ""),
                "bucket": buckets.get(record["query_id"], ""),
                **record,
            }
            for record in records
        ),
        comparison.conventions,
    )


def crossed_facets_csv(
    cells: Iterable[CrossedCell],
    runs: Sequence[str],
    measure: Measure,
    facets: tuple[str, str],
    conventions: Conventions,
) -> bytes:
    """Return crossed facets: a row for each cell and run."""
    cells = list(cells)
    has_transferred = any(any(cell.transferred) for cell in cells)
    return as_csv(
        (
            {
                "run": run,
                **names,
                "facet": facets[0],
                "bucket": cell.bucket,
                "other_facet": facets[1],
                "other_bucket": cell.other,
                "value": cell.values[at],
                "reason": why_no_mean(cell.n, cell.undefined, measure)
                if math.isnan(cell.values[at])
                else None,
                "n": cell.n,
                "undefined": cell.undefined,
                "unjudged": cell.unjudged[at],
                **({"transferred": cell.transferred[at]} if has_transferred else {}),
            }
            for cell in cells
            for at, run in enumerate(runs)
            for names in measure_names(measure)
        ),
        conventions,
    )


# --- Queries ---------------------------------------------------------------------------------


def query_list_csv(
    rows: Iterable[QueryRow],
    run: str,
    a: str | None,
    measures: Sequence[Measure],
    conventions: Conventions,
) -> bytes:
    """Return the list of queries with a column for each measure, named as the user wrote it."""
    rows = list(rows)
    has_transferred = any(row.transferred for row in rows)
    return as_csv(
        (
            {"query_id": row.query_id, "query": row.text, "task": row.task, "bucket": row.bucket}
            | {"split": row.split, "leaked": row.leaked, "run": run}
            | {
                name: row.values[at]
                for at, measure in enumerate(measures)
                for name in measure.names
            }
            | {"full_names": " ".join(map(str, measures))}
            | ({} if a is None else {"run_a": a, "value_a": row.a, "delta": row.delta})
            | {"unjudged": row.unjudged, "top_k": row.shown, "judged": row.judged}
            | ({"transferred": row.transferred} if has_transferred else {})
            | {"absent": row.missing, "class": row.status}
            | ({} if row.outcome is None else {"outcome": row.outcome.name})
            | _relevant_position_columns(row.failure)
            for row in rows
        ),
        conventions,
    )


def answers_csv(
    run: str,
    tables: Mapping[str | None, TwoByTwo],
    facet: str | None,
    conventions: Conventions,
) -> bytes:
    """Return the outcomes of retrieval and answers over all queries and by bucket of ``facet``."""
    counted = ((run, bucket, table) for bucket, table in tables.items())
    return as_csv(answer_table(counted, facet).records(), conventions)


def _relevant_position_columns(failure: Failure | None) -> dict[str, object]:
    """Return where the relevant chunks of a failing query are; None for any other query."""
    places = None if failure is None else failure.places
    return {
        title: None if places is None else getattr(places, name)
        for title, name in {
            "relevant_from": "rel",
            "k": "k",
            "known_relevant": "known",
            "in_top_k": "top",
            "below_k": "below",
            "other_runs_only": "elsewhere",
            "in_no_run": "nowhere",
            "first_relevant_rank": "first",
            "unjudged_in_top_k": "unjudged",
        }.items()
    }


def failures_csv(
    counts: Mapping[FailureClass, int],
    by_bucket: Mapping[str, Mapping[FailureClass, int]],
    run: str,
    facet: str | None,
    conventions: Conventions,
) -> bytes:
    """Return the number of failing queries by reason, over all queries and by bucket."""
    parts: list[tuple[str | None, Mapping[FailureClass, int]]] = [(None, counts)]
    parts += list(by_bucket.items())
    return as_csv(
        (
            {"run": run, "facet": None if bucket is None else facet, "bucket": bucket}
            | {"class": each.name, "side": each.side, "failing_queries": count}
            for bucket, part in parts
            for each, count in part.items()
        ),
        conventions,
    )


def reranked_csv(rows: Iterable[PerfectReranking], conventions: Conventions) -> bytes:
    """Return what a perfect reranker would gain, a row for each run and measure."""
    return as_csv(
        (
            {"run": row.run, **names, "top": row.top, "value": row.now}
            | {"reranked": row.reranked, "gain": row.order, "all_retrieved": row.complete}
            | {"left_to_recall": row.recall, "n": row.n}
            for row in rows
            for names in measure_names(row.measure)
        ),
        conventions,
    )


def lists_csv(
    lists: Mapping[str, Sequence[RankedChunk]], query_id: str, conventions: Conventions
) -> bytes:
    """Return the ranked lists of one query; the grade of an unjudged chunk is empty, never 0."""
    return as_csv(
        (
            {"query_id": query_id, "run": run, "rank": each.rank, "chunk_id": each.chunk_id}
            | {"score": each.score, "grade": each.grade}
            for run, ranked in lists.items()
            for each in ranked
        ),
        conventions,
    )


def dcg_csv(table: DcgTable, run: str, query_id: str, conventions: Conventions) -> bytes:
    """Return the terms of nDCG: the rows of the run's list, then those of the ideal list."""
    return as_csv(
        (
            {"run": run, "query_id": query_id, **names, "list": name}
            | {
                "rank": row.rank,
                "chunk_id": row.chunk_id,
                "grade": row.grade,
                "gain": row.gain,
            }
            | {"discount": row.discount, "term": row.term, "running": row.running}
            for name, rows in (("run", table.rows), ("ideal", table.ideal))
            for row in rows
            for names in measure_names(table.measure)
        ),
        conventions,
    )
