"""Rows of scores for CSV, JSON and the Python functions.

A row has the name by which its measure was requested; a measure requested by two names has two
rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from labeler.evaluation.conventions import Conventions
from labeler.evaluation.means import QueryScore, Score
from labeler.evaluation.notes import Note
from labeler.measures import Measure

Record = dict[str, Any]
ResidualsByPlace = Mapping[tuple[str, Measure, str | None], float]
"""How much unjudged chunks could add to an RBP, by run, measure and bucket or query id."""


def measure_names(measure: Measure, conventions: Conventions | None = None) -> list[Record]:
    """Return the two columns that name a measure, once for each name it was requested by.

    With ``conventions`` once, by the heading that people read.

    >>> from labeler.measures import parse
    >>> measure_names(parse("MRR"))
    [{'measure': 'MRR', 'full_name': 'RR(rel=1)'}]
    """
    names = measure.names if conventions is None else (conventions.heading(measure),)
    return [{"measure": name, "full_name": str(measure)} for name in names]


def score_records(
    scores: Iterable[Score],
    residuals: ResidualsByPlace | None = None,
    conventions: Conventions | None = None,
) -> list[Record]:
    """Return means as rows; facet and bucket are columns if any score is of a bucket.

    ``value`` is NaN if there is none, and ``reason`` says why. ``residuals`` add a column, NaN for
    every measure but RBP. ``transferred`` is a column if any grade was transferred. With
    ``conventions`` measures are called as people read them.
    """
    rows = list(scores)
    has_transferred = any(row.transferred for row in rows)
    in_buckets = any(row.facet is not None for row in rows)
    return [
        {
            "run": row.run,
            **({"facet": row.facet, "bucket": row.bucket} if in_buckets else {}),
            **names,
            "value": row.value,
            "reason": row.reason,
            "n": row.n,
            "undefined": row.undefined,
            "unjudged": row.unjudged,
            "missing": row.missing,
            **({"transferred": row.transferred} if has_transferred else {}),
            **_residual_column(residuals, (row.run, row.measure, row.bucket)),
        }
        for row in rows
        for names in measure_names(row.measure, conventions)
    ]


def query_records(
    scores: Iterable[QueryScore],
    residuals: ResidualsByPlace | None = None,
    conventions: Conventions | None = None,
) -> list[Record]:
    """Return values query by query as rows of the same columns; the counts are 0 or 1."""
    rows = list(scores)
    has_transferred = any(row.transferred for row in rows)
    return [
        {
            "run": row.run,
            "query_id": row.query_id,
            **names,
            "value": row.value,
            "reason": row.reason,
            "n": int(row.counted),
            "undefined": int(row.judged and not row.counted),
            "unjudged": row.unjudged,
            "missing": int(row.missing),
            **({"transferred": row.transferred} if has_transferred else {}),
            **_residual_column(residuals, (row.run, row.measure, row.query_id)),
        }
        for row in rows
        for names in measure_names(row.measure, conventions)
    ]


def notes_on_record(record: Record, notes: Iterable[Note]) -> list[Note]:
    """Return the notes that concern a row: those on its run or runs, and those on all runs.

    A note on a measure or a bucket concerns only the rows of that one.
    """
    place = (record.get("facet"), record.get("bucket"))
    runs = [record[name] for name in ("run", "run_a", "run_b") if name in record]
    return [
        note
        for note in notes
        if note.is_about(*runs)
        and (note.measure is None or str(note.measure) == record["full_name"])
        and note.bucket in (None, place)
    ]


def _residual_column(
    residuals: ResidualsByPlace | None, place: tuple[str, Measure, str | None]
) -> Record:
    return {"residual": residuals.get(place, math.nan)} if residuals else {}
