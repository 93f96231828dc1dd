"""Queries of a comparison as pages and reports show them: sorted, with a value each, or as strips.

A strip is one row per query with one cell per rank: the golden grade of the chunk at that rank, or
a mark that it is unjudged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.analysis.comparison.deltas import TOLERANCE, Comparison, QueryDelta
from labeler.evaluation import Scoreboard
from labeler.measures import Measure

QUERY_SORTS = ("worst for B", "best for B", "bucket", "query text")
QUERY_OUTCOMES = ("B better", "tie", "A better")


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """Two runs compared, by one measure in particular; ``rows`` are the queries in order.

    ``also`` are further runs shown beside them. ``names`` are short names of runs.
    """

    board: Scoreboard
    compared: Comparison
    by: Measure
    rows: Sequence[QueryDelta]
    texts: Mapping[str, str]
    buckets: Mapping[str, str]
    also: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> tuple[str, ...]:
        """All runs shown, A and B first."""
        return (self.compared.a, self.compared.b, *self.also)

    def called(self, run: str) -> str:
        """Return the short name of a run, or its name if it has none."""
        return self.names.get(run, run)

    @property
    def heading(self) -> str:
        """The measure's name as these conventions write it."""
        return self.compared.conventions.heading(self.by)

    @property
    def facets(self) -> str:
        """The facet of the ``buckets``: the one compared by, or all facets."""
        return self.compared.facet or " · ".join(self.board.collection.facets)

    def drawn(self) -> list[DrawnQuery]:
        """Return the queries that have a value, as charts draw them."""
        return drawn_queries(self.rows, self.texts, self.buckets)


class DrawnQuery(NamedTuple):
    """A query that has a value in A and in B; ``place`` counts from 1, best for B first."""

    place: int
    query_id: str
    query: str
    bucket: str
    a: float
    b: float
    delta: float
    outcome: str
    unjudged_a: int
    unjudged_b: int


def drawn_queries(
    rows: Iterable[QueryDelta], texts: Mapping[str, str], buckets: Mapping[str, str]
) -> list[DrawnQuery]:
    """Return the queries that have a value, best for B first."""
    kept = sorted((row for row in rows if not math.isnan(row.delta)), key=lambda row: -row.delta)
    return [
        DrawnQuery(
            place,
            row.query_id,
            texts.get(row.query_id, ""),
            buckets.get(row.query_id, ""),
            *(
                row.a,
                row.b,
                row.delta,
                query_outcome(row.delta) or "",
                row.unjudged_a,
                row.unjudged_b,
            ),
        )
        for place, row in enumerate(kept, 1)
    ]


def query_outcome(delta: float) -> str | None:
    """Return which of `QUERY_OUTCOMES` a query's difference is; None if it has none."""
    better, tie, worse = QUERY_OUTCOMES
    if math.isnan(delta):
        return None
    if abs(delta) <= TOLERANCE:
        return tie
    return better if delta > 0 else worse


def bucket_labels(board: Scoreboard, facet: str | None) -> dict[str, str]:
    """Return each query's bucket of a facet, or its buckets of all facets in one text.

    A missing bucket is ``–``; the text is empty if the query has no bucket at all.
    """
    facets = board.collection.facets
    columns = [facets[facet]] if facet else list(facets.values())
    ids = board.collection.query_ids
    given = zip(*columns, strict=True) if columns else [()] * len(ids)
    return {
        query_id: " · ".join(bucket or "–" for bucket in row) if any(row) else ""
        for query_id, row in zip(ids, given, strict=True)
    }


def sort_queries(
    rows: Iterable[QueryDelta], sort: str, texts: Mapping[str, str], buckets: Mapping[str, str]
) -> list[QueryDelta]:
    """Sort queries in one of `QUERY_SORTS`; those without a value come last, except by text."""

    def place(row: QueryDelta) -> tuple[bool, str, float]:
        undefined = math.isnan(row.delta)
        delta = 0.0 if undefined else row.delta
        if sort == "query text":
            return False, texts[row.query_id].casefold(), delta
        if sort == "bucket":
            return undefined, buckets[row.query_id], delta
        return undefined, "", -delta if sort == "best for B" else delta

    return sorted(rows, key=place)


UNJUDGED_CELL = -1
ABSENT_CELL = -2
Strips = npt.NDArray[np.int8]


def grade_strips(board: Scoreboard, run: str, k: int) -> Strips:
    """Return the cells of ranks 1 to ``k`` of each query: int8 (queries, k).

    0 to 3 is a golden grade; `UNJUDGED_CELL` is a chunk nobody has graded, which is not a grade 0;
    `ABSENT_CELL` is past the end of the list. Rows are in the collection's order. Raises `NotFound`
    for an unknown run.
    """
    hits = board.hits(run)
    cells = np.where(np.arange(k) < hits.length[:, np.newaxis], UNJUDGED_CELL, ABSENT_CELL).astype(
        np.int8
    )
    shown = hits.rank <= k
    cells[hits.row[shown], hits.rank[shown] - 1] = hits.grade[shown]
    return cells


def format_strip(row: Strips | Sequence[int]) -> str:
    """Return a row of `grade_strips` for a terminal: one character per rank, none past the end.

    Grades are digits, an unjudged chunk is ``·``.

    >>> format_strip([3, 0, -1, 2, -2])
    '3 0 · 2'
    """
    cells = np.asarray(row).tolist()
    return " ".join(
        "·" if cell == UNJUDGED_CELL else str(cell) for cell in cells if cell != ABSENT_CELL
    )
