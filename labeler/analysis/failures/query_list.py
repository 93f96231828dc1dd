"""Lists of queries with their values and status, filtered and sorted; and the pool of one query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison import TOLERANCE, QueryDelta, compare
from labeler.analysis.failures.answer_outcomes import AnswerOutcome
from labeler.analysis.failures.diagnosis import FAILURE_CLASSES, GENERATION, Failure
from labeler.analysis.failures.failure_rules import useful_grades
from labeler.evaluation import RankedChunk, Scoreboard
from labeler.measures import Measure
from labeler.model import Query

ANY_STATUS, FAILING, NOT_FAILING, NOT_GRADED = "any", "failing", "does not fail", "not graded yet"
LARGEST_LOSS, LARGEST_GAIN, WORST_FIRST, MOST_UNJUDGED, AS_LOADED = (
    *("largest loss first", "largest gain first"),
    *("worst first", "most unjudged first", "as loaded"),
)
STATUSES = (ANY_STATUS, FAILING, *(each.name for each in FAILURE_CLASSES), NOT_FAILING, NOT_GRADED)
STATUSES_WITH_ANSWERS = (*STATUSES[:-2], GENERATION.name, NOT_FAILING, NOT_GRADED)
"""The values of `QueryFilters.kind`; the second where answers are loaded, too."""
QUERY_ORDERS, QUERY_ORDERS_AGAINST = (
    (WORST_FIRST, MOST_UNJUDGED, AS_LOADED),
    (LARGEST_LOSS, LARGEST_GAIN, WORST_FIRST, MOST_UNJUDGED, AS_LOADED),
)
"""Sort orders of the list, the default first: for one run, and for a run against another."""


NO_OUTCOMES: Mapping[str, AnswerOutcome] = MappingProxyType({})


class QueryRow(NamedTuple):
    """A query as the list shows it: for one run, and against run A where ``a`` is not None.

    ``bucket`` and ``crossing`` are its buckets in the one or two facets shown. ``values`` are of
    the measures shown. A value is NaN if it is undefined, if nobody has graded the query (not
    ``judged``), or if the query is ``counted`` but the run has no list for any counted query.
    ``a`` and ``delta`` are of the first measure. Of the ``shown`` chunks, ``unjudged`` have no
    grade and ``transferred`` have a transferred one. ``first`` is the rank of the first useful
    chunk, as `useful_grades` says. ``leaked`` marks a query found in other texts. ``outcome`` is
    None unless answers of the run are loaded.
    """

    query_id: str
    text: str
    task: str | None
    bucket: str | None
    crossing: str | None
    values: tuple[float, ...]
    counted: tuple[bool, ...]
    a: float | None
    delta: float | None
    unjudged: int
    transferred: int
    shown: int
    judged: bool
    missing: bool
    failure: Failure | None
    first: int | None = None
    split: str | None = None
    leaked: bool = False
    outcome: AnswerOutcome | None = None

    @property
    def share(self) -> float:
        """The share of the top k that is unjudged; 0 where the list is empty."""
        return self.unjudged / self.shown if self.shown else 0.0

    @property
    def loses(self) -> bool:
        """Whether the run is worse than A here, as a comparison counts it."""
        return self.delta is not None and self.delta < -TOLERANCE

    @property
    def status(self) -> str:
        """The class of the failure, or that the query does not fail or is not graded."""
        if not self.judged:
            return NOT_GRADED
        return self.failure.failure.name if self.failure else NOT_FAILING

    @property
    def positions_text(self) -> str:
        """Where the known relevant chunks of a failing query are; a dash for other queries."""
        return self.failure.places.short_sentence if self.failure else "–"


@dataclass(frozen=True, slots=True)
class QueryFilters:
    """Filters of the query list; each default matches all queries.

    ``kind`` is the name of a failure class or one of ``any``, ``failing``, ``does not fail``, ``not
    graded yet``; ``outcome`` is the name of an `AnswerOutcome`. ``text`` is searched in id and
    text, ignoring case.
    """

    facet: str | None = None
    bucket: str | None = None
    other: str | None = None
    crossing: str | None = None
    task: str | None = None
    kind: str = ANY_STATUS
    share: float = 0.0
    text: str = ""
    outcome: str | None = None

    def let_in(self, row: QueryRow, *, any_class: bool = False) -> bool:
        """Return whether a row matches; with ``any_class`` whatever its class and outcome."""
        return (
            self.bucket in (None, row.bucket)
            and self.crossing in (None, row.crossing)
            and self.task in (None, row.task)
            and (any_class or (self._is_kind(row) and self._became(row)))
            and row.share >= self.share
            and self.text.casefold().strip() in f"{row.query_id} {row.text}".casefold()
        )

    def _became(self, row: QueryRow) -> bool:
        return self.outcome is None or (
            row.outcome is not None and row.outcome.name == self.outcome
        )

    def _is_kind(self, row: QueryRow) -> bool:
        if self.kind in (ANY_STATUS, FAILING):
            return self.kind == ANY_STATUS or row.failure is not None
        return row.status == self.kind


def query_rows(
    board: Scoreboard,
    queries: Mapping[str, Query],
    run: str,
    a: str | None,
    measures: Sequence[Measure],
    facets: tuple[str | None, str | None],
    failures: Mapping[str, Failure | None],
    became: Mapping[str, AnswerOutcome] = NO_OUTCOMES,
) -> list[QueryRow]:
    """Return a row per query in load order; unjudged chunks are those of the first measure.

    ``became`` are the outcomes of the queries, where answers are loaded.
    """
    at, first = board.run_names.index(run), measures[0]
    values = zip(*(board.values(measure)[:, at].tolist() for measure in measures), strict=True)
    counted = zip(*(board.counted(measure).tolist() for measure in measures), strict=True)
    against: dict[str, QueryDelta] = {}
    if a is not None:
        against = {each.query_id: each for each in compare(board, a, run, [first]).queries()}
    ids = board.collection.query_ids
    columns = zip(
        ids,
        first_useful_ranks(board, run),
        values,
        counted,
        *(board.collection.facets.get(facet or "", (None,) * len(ids)) for facet in facets),
        board.looked_at(first)[:, at].tolist(),
        board.unjudged(first)[:, at].tolist(),
        board.transferred(first)[:, at].tolist(),
        board.judged.tolist(),
        board.absent(run).tolist(),
        strict=True,
    )
    return [
        QueryRow(
            query_id=name,
            text=queries[name].text,
            task=queries[name].task,
            bucket=bucket,
            crossing=cross,
            values=found,
            counted=counts,
            a=against[name].a if against else None,
            delta=against[name].delta if against else None,
            unjudged=unjudged,
            transferred=derived,
            shown=shown,
            judged=judged,
            missing=missing,
            failure=failures.get(name),
            first=at_rank,
            split=queries[name].split,
            leaked=name in board.collection.leaked,
            outcome=became.get(name),
        )
        for name, at_rank, found, counts, bucket, cross, shown, unjudged, derived, *said in columns
        for judged, missing in [said]
        if name in queries
    ]


def first_useful_ranks(board: Scoreboard, run: str) -> list[int | None]:
    """Return for each query the rank of its first useful chunk, None without one."""
    hits, grades = board.hits(run), useful_grades(board, run)
    found = hits.grade >= grades[hits.row]
    first = np.full(len(grades), np.iinfo(np.int64).max)
    np.minimum.at(first, hits.row[found], hits.rank[found])
    return [None if rank == np.iinfo(np.int64).max else rank for rank in first.tolist()]


def sort_query_rows(rows: Iterable[QueryRow], order: str) -> list[QueryRow]:
    """Sort rows; queries without the value to sort by come last."""
    key = _SORT_KEYS[order]
    return sorted(rows, key=lambda row: (math.isnan(key(row)), key(row)))


_SORT_KEYS: Mapping[str, Callable[[QueryRow], float]] = {
    WORST_FIRST: lambda row: row.values[0],
    LARGEST_LOSS: lambda row: math.nan if row.delta is None else row.delta,
    LARGEST_GAIN: lambda row: math.nan if row.delta is None else -row.delta,
    MOST_UNJUDGED: lambda row: -row.share,
    AS_LOADED: lambda row: 0.0,
}


class PoolRow(NamedTuple):
    """A chunk that is graded or near the top of a run, with its rank in each run (or None)."""

    chunk: int
    chunk_id: str
    grade: int | None
    ranks: tuple[int | None, ...]


def pool_rows(
    golden: Mapping[int, int],
    lists: Mapping[str, Sequence[RankedChunk]],
    depth: int,
    chunk_ids: Sequence[str],
) -> list[PoolRow]:
    """Return the chunks graded or in a run's top ``depth``: best grade first, unjudged last."""
    near = {each.chunk for ranked in lists.values() for each in ranked[:depth]}
    ranks = [{each.chunk: each.rank for each in ranked} for ranked in lists.values()]
    rows = [
        PoolRow(chunk, chunk_ids[chunk], golden.get(chunk), tuple(at.get(chunk) for at in ranks))
        for chunk in near | golden.keys()
    ]
    return sorted(rows, key=_pool_sort_key)


def _pool_sort_key(row: PoolRow) -> tuple[int, float, str]:
    best = min((rank for rank in row.ranks if rank is not None), default=math.inf)
    return (1 if row.grade is None else -row.grade, best, row.chunk_id)
