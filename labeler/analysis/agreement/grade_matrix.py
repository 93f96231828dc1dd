"""Matrix of grades, graders by chunks, from which agreement is computed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from labeler.analysis.agreement.coefficients import Floats
from labeler.errors import BadInput
from labeler.model import GRADES, GivenGrade

NO_GRADE = -1
MOST_VALUES = 100
FIRST_MONDAY = date(1970, 1, 5)

Codes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class GradeMatrix:
    """Grades by grader and chunk; a chunk here is one text of a chunk, for one query.

    ``codes`` (graders, chunks) are indices into ``values``, the possible grades in ascending
    order, or `NO_GRADE`. ``query`` (chunks,) is the index of each chunk's query in ``queries``.
    ``week`` has the week of each grade, see `monday_of_week`. Where a chunk was adjudicated,
    ``overruled`` (chunks,) has that grade and ``by`` its author, an index into ``graders`` or
    `NO_GRADE` for somebody else. ``aside`` counts each grader's grades that were not given blind:
    they are excluded.
    """

    graders: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    codes: Codes
    query: Ints
    week: Ints
    overruled: Codes
    by: Ints
    aside: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_grades(cls, given: Iterable[GivenGrade]) -> GradeMatrix:
        """Build the matrix from each person's current blind grades, and from adjudications."""
        rows = list(given)
        aside = Counter(row.grader for row in rows if not (row.blind or row.overrules))
        counted = [row for row in rows if row.blind and not row.overrules]
        graders = _positions(sorted({row.grader for row in counted}))
        queries = _positions(row.query_id for row in counted)
        names = [_chunk_key(row) for row in counted]
        chunks = _positions(names)
        codes = np.full((len(graders), len(chunks)), NO_GRADE, np.int8)
        week = np.zeros(codes.shape, np.int32)
        if counted:
            at = [graders[row.grader] for row in counted], [chunks[name] for name in names]
            codes[at] = [row.grade for row in counted]
            week[at] = [(_utc_day(row.at) - FIRST_MONDAY).days // 7 for row in counted]
        overruled, by = _adjudications(rows, chunks, graders)
        query = np.array([queries[query_id] for query_id, *_ in chunks], np.int32)
        values = np.array(GRADES, np.float64)
        heads = tuple(graders), tuple(queries), values
        return cls(*heads, codes, query, week, overruled, by, dict(sorted(aside.items())))

    @classmethod
    def of_ratings(
        cls,
        ratings: Sequence[Sequence[float | None]] | Floats,
        queries: Sequence[str] | None = None,
    ) -> GradeMatrix:
        """Build the matrix from numbers: a row per grader, a column per chunk; None or NaN: none.

        ``queries`` names each chunk's query; without it all are of one query and no coefficient
        has an interval.
        """
        grid = _as_grid(ratings)
        named = [""] * grid.shape[1] if queries is None else list(queries)
        if len(named) != grid.shape[1]:
            raise BadInput(f"{grid.shape[1]} chunks need as many queries, not {len(named)}")
        known = ~np.isnan(grid)
        values = np.unique(grid[known])
        if len(values) > MOST_VALUES:
            raise BadInput(f"ratings can have {MOST_VALUES} different values, not {len(values):,}")
        codes = np.where(known, np.searchsorted(values, np.where(known, grid, 0)), NO_GRADE)
        places = _positions(named)
        chunks = grid.shape[1]
        return cls(
            graders=tuple(str(number) for number in range(1, len(grid) + 1)),
            queries=tuple(places),
            values=values,
            codes=codes.astype(np.int8),
            query=np.array([places[name] for name in named], np.int32),
            week=np.zeros(grid.shape, np.int32),
            overruled=np.full(chunks, NO_GRADE, np.int8),
            by=np.full(chunks, NO_GRADE, np.int32),
        )

    def among(self, graders: Sequence[str]) -> GradeMatrix:
        """Return the matrix of these graders only; raises `BadInput` for an unknown one."""
        for name in graders:
            if name not in self.graders:
                there = ", ".join(self.graders) or "none"
                raise BadInput(f"no grader called {name!r} has graded blind; there are: {there}")
        kept = sorted({self.graders.index(name) for name in graders})
        moved = np.full(len(self.graders) + 1, NO_GRADE, np.int32)  # the last index is nobody
        moved[kept] = np.arange(len(kept))
        return replace(
            self,
            graders=tuple(self.graders[place] for place in kept),
            codes=self.codes[kept],
            week=self.week[kept],
            by=moved[self.by],
            aside={name: count for name, count in self.aside.items() if name in graders},
        )

    def within(self, queries: Collection[str]) -> GradeMatrix:
        """Return the matrix of these queries only; ``aside``, not counted by query, is empty."""
        inside = np.array([name in queries for name in self.queries], np.bool_)
        kept = inside[self.query]
        return replace(
            self,
            codes=self.codes[:, kept],
            query=self.query[kept],
            week=self.week[:, kept],
            overruled=self.overruled[kept],
            by=self.by[kept],
            aside={},
        )

    @property
    def counts(self) -> Floats:
        """Number of graders who gave each grade to each chunk, (chunks, k)."""
        shape = (self.codes.shape[1], len(self.values))
        counts = np.zeros(shape)
        for code in range(len(self.values)):
            counts[:, code] = (self.codes == code).sum(0)
        return counts

    def by_query(self, numbers: Floats, kept: npt.NDArray[np.bool_]) -> Floats:
        """Sum numbers of chunks (chunks, ...) by query, over the queries of the ``kept`` chunks."""
        size = math.prod(numbers.shape[1:])
        flat = numbers[kept].reshape(int(kept.sum()), size)
        queries, at = self.queries_of(kept)
        sums = np.zeros((queries, size))
        for column in range(size):
            sums[:, column] = np.bincount(at, flat[:, column], queries)
        return sums.reshape(queries, *numbers.shape[1:])

    def queries_of(self, kept: npt.NDArray[np.bool_]) -> tuple[int, npt.NDArray[np.int64]]:
        """Return how many queries the ``kept`` chunks have, and the index of each one's query."""
        query = self.query[kept]
        is_there = np.bincount(query, minlength=len(self.queries)) > 0
        return int(is_there.sum()), (np.cumsum(is_there) - 1)[query]


def monday_of_week(week: int) -> date:
    """Return the Monday (UTC) on which a week begins.

    >>> monday_of_week(0).isoformat(), monday_of_week(1).isoformat()
    ('1970-01-05', '1970-01-12')
    """
    return FIRST_MONDAY + timedelta(weeks=week)


def _chunk_key(row: GivenGrade) -> tuple[str, str, str | None]:
    return row.query_id, row.chunk_id, row.wording


def _positions(names: Iterable[Any]) -> dict[Any, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _utc_day(at: str) -> date:
    """Return the UTC day of a time; in a loaded log it may be in another time zone."""
    moment = datetime.fromisoformat(at)
    return (moment if moment.tzinfo is None else moment.astimezone(UTC)).date()


def _adjudications(
    rows: Iterable[GivenGrade], chunks: Mapping[Any, int], graders: Mapping[str, int]
) -> tuple[Codes, Ints]:
    """Return the newest adjudication of each chunk, and its author."""
    grade = np.full(len(chunks), NO_GRADE, np.int8)
    by = np.full(len(chunks), NO_GRADE, np.int32)
    for row in rows:
        place = chunks.get(_chunk_key(row)) if row.overrules else None
        if place is not None:
            grade[place] = row.grade
            by[place] = graders.get(row.grader, NO_GRADE)
    return grade, by


def _as_grid(ratings: Sequence[Sequence[float | None]] | Floats) -> Floats:
    rows = [
        [math.nan if each is None else float(each) for each in row]  # None is not a float
        for row in ratings
    ]
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise BadInput(
            "ratings need a row for each grader, as long as there are chunks, with None where one "
            f"graded nothing; these have {', '.join(map(str, sorted(widths))) or 'none'}"
        )
    return np.array(rows, np.float64)
