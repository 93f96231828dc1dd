"""Judged chunks of ranked lists, which are all that measures read: no other chunk has a gain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
SmallInts = npt.NDArray[np.signedinteger[Any]]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

WHOLE_LIST = 2**31 - 1
_FEW = 400  # hits; of fewer, selecting some takes longer than using all
_FEW_TOGETHER = 4_000  # hits; of fewer, all cut-offs at once are faster than one by one


@dataclass(frozen=True, eq=False)
class Hits:
    """The judged chunks of ``n`` rankings, and what else is known about their queries.

    ``row``, ``rank``, ``grade``: one entry per judged chunk of a ranking, sorted by row, then by
    rank (from 1); ranks and grades may be integers of any width. ``known`` (n, 4): how many chunks
    of each grade the ranking's query has, retrieved or not. ``length`` (n,): how many chunks the
    ranking holds, judged or not. ``pooled``, for each hit: how many unjudged chunks of the query's
    pool are above it; None if none is known to be.
    """

    row: Ints
    rank: SmallInts
    grade: SmallInts
    known: Ints
    length: Ints
    pooled: Ints | None = field(default=None, kw_only=True)
    _of_known: dict[object, Any] = field(default_factory=dict, repr=False)
    _counts: dict[int, Ints] = field(default_factory=dict, init=False, repr=False)
    _insides: dict[bytes, tuple[Ints, Ints]] = field(default_factory=dict, init=False, repr=False)
    _relevant: dict[int, Hits] = field(default_factory=dict, init=False, repr=False)
    _tops: dict[int, Hits] = field(default_factory=dict, init=False, repr=False)
    _gained: dict[tuple[float, ...], Floats] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(
        rankings: Sequence[Sequence[int | None]], missed: Sequence[Sequence[int]] | None = None
    ) -> Hits:
        """Return hits from grades in ranked order, None for an unjudged chunk.

        -1 is an unjudged chunk of the query's pool. ``missed`` holds, for each ranking, the grades
        of the query's chunks it did not retrieve.

        >>> Hits.of([[3, None, 0]], missed=[[2]]).known.tolist()
        [[1, 0, 1, 1]]
        """
        judged = [[g for g in ranking if g is not None and g >= 0] for ranking in rankings]
        unseen = missed if missed is not None else [[] for _ in rankings]
        known = [[*seen, *more] for seen, more in zip(judged, unseen, strict=True)]
        return Hits(
            row=_ints([i for i, ranking in enumerate(judged) for _ in ranking]),
            rank=_ints([k for r in rankings for k, g in enumerate(r, 1) if g not in (None, -1)]),
            grade=_ints([grade for ranking in judged for grade in ranking]),
            known=_ints([[grades.count(g) for g in range(4)] for grades in known]).reshape(-1, 4),
            length=_ints([len(ranking) for ranking in rankings]),
            pooled=_ints(
                [
                    list(r[:k]).count(-1)
                    for r in rankings
                    for k, g in enumerate(r)
                    if g not in (None, -1)
                ]
            )
            if any(-1 in ranking for ranking in rankings)
            else None,
        )

    @staticmethod
    def join(parts: Sequence[Hits]) -> Hits:
        """Concatenate the rankings of ``parts``, in order."""
        if not parts:
            return Hits.of([])
        if len(parts) == 1:
            return parts[0]
        offsets = np.cumsum([0, *(len(part.length) for part in parts[:-1])])
        row = np.concatenate([part.row for part in parts])
        row += np.repeat(offsets, [len(part.row) for part in parts])
        return Hits(
            row=row,
            rank=np.concatenate([part.rank for part in parts]),
            grade=np.concatenate([part.grade for part in parts]),
            known=np.concatenate([part.known for part in parts]),
            length=np.concatenate([part.length for part in parts]),
            pooled=np.concatenate([part.pooled_above for part in parts])
            if any(part.pooled is not None for part in parts)
            else None,
        )

    @staticmethod
    def known_to_all(known: Ints, rows: int) -> Ints:
        """Return a query's known grades, (4,), for each of its rankings, (rows, 4), stored once."""
        return np.ndarray((rows, 4), known.dtype, known, strides=(0, known.itemsize))

    @property
    def is_small(self) -> bool:
        """Whether the calls for each cut-off would take longer than the computation."""
        return len(self.row) < _FEW_TOGETHER

    @property
    def is_one_query(self) -> bool:
        """Whether all rows share one row of known grades, as `known_to_all` returns it."""
        return len(self.known) > 0 and self.known.strides[0] == 0

    @property
    def pooled_above(self) -> Ints:
        """The number of unjudged chunks of the pool above each hit."""
        return np.zeros(len(self.row), dtype=np.int64) if self.pooled is None else self.pooled

    @cached_property
    def ideal(self) -> Hits:
        """The best possible rankings: every known chunk with a gain, highest grade first."""
        best_first = self.known[:, :0:-1]
        per_row = best_first.sum(axis=1)
        row = np.repeat(np.arange(len(self.known)), per_row)
        rank = np.arange(1, len(row) + 1) - np.repeat(np.cumsum(per_row) - per_row, per_row)
        grade = np.repeat(np.tile([3, 2, 1], len(self.known)), best_first.ravel())
        return Hits(row, rank, grade, self.known, per_row)

    @cached_property
    def condensed(self) -> Hits:
        """The same rankings without their unjudged chunks: those below move up.

        >>> Hits.of([[None, 3, None, 0]]).condensed.rank.tolist()
        [1, 2]
        """
        return Hits(self.row, self.ordinal, self.grade, self.known, self.per_row)

    @cached_property
    def best_order(self) -> Hits:
        """The same chunks in their best order: highest grade first, unjudged ones last.

        Unlike `ideal` it has only what was retrieved: the best possible result of a reranker.
        """
        order = np.lexsort((-self.grade, self.row))
        return Hits(self.row, self.ordinal, self.grade[order], self.known, self.length)

    def every(self, step: int, start: int) -> Hits:
        """Return the rows ``start``, ``start + step`` and so on, renumbered from 0."""
        keep = np.flatnonzero(self.row % step == start)
        return Hits(
            self.row[keep] // step,
            self.rank[keep],
            self.grade[keep],
            self.known[start::step],
            self.length[start::step],
            pooled=None if self.pooled is None else self.pooled[keep],
        )

    def rows(self, chosen: Sequence[int]) -> Hits:
        """Return the rows that are ``chosen``, in that order.

        >>> Hits.of([[3], [None, 1], [0]]).rows([2, 1]).rank.tolist()
        [1, 2]
        """
        per_row = self.per_row[chosen]
        row = np.repeat(np.arange(len(chosen)), per_row)
        within = np.arange(len(row)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
        keep = np.repeat(self.start[chosen], per_row) + within
        hits = (self.rank[keep], self.grade[keep])
        pooled = None if self.pooled is None else self.pooled[keep]
        return Hits(row, *hits, self.known[chosen], self.length[chosen], pooled=pooled)

    def relevant(self, rel: int) -> Hits:
        """Return the hits of grade ``rel`` or better; cached, since measures share them."""
        if rel not in self._relevant:
            self._relevant[rel] = self._only(self.grade >= rel, self.deepest)
        return self._relevant[rel]

    def top(self, k: int | Ints) -> Hits:
        """Return the hits in the top ``k``, if it is a number; cached, since measures share them.

        Measures with that cut-off have the same value, and fewer hits are faster to process. They
        are selected from the nearest deeper top, so start with the deepest. If there are few hits,
        all are returned: selecting some would take longer than processing all.
        """
        if isinstance(k, np.ndarray) or len(self.row) < _FEW or not self.reaches_below(k):
            return self
        if k not in self._tops:
            cached = tuple(self._tops)  # another thread may add one meanwhile
            deeper = min((each for each in cached if each > k), default=None)
            hits = self if deeper is None else self._tops[deeper]
            self._tops[k] = hits._only(hits.rank <= k, k)
        return self._tops[k]

    def reaches_below(self, k: int | Ints) -> bool:
        """Return whether a hit may be below the top ``k``."""
        return isinstance(k, np.ndarray) or k < self.deepest

    @cached_property
    def deepest(self) -> int:
        """A rank below which there is no hit."""
        return int(np.maximum.reduce(self.rank, initial=0))

    @cached_property
    def discount(self) -> Floats:
        """1 / log2(rank + 1) of each hit."""
        return _discounts(1 << self.deepest.bit_length())[self.rank]

    def gained(self, gains: tuple[float, ...]) -> Floats:
        """Return each hit's discounted gain; for few hits cached, since measures share it."""
        if gains in self._gained:
            return self._gained[gains]
        gained: Floats = _by_grade(gains)[self.grade] * self.discount
        if len(self.row) < _FEW:
            self._gained[gains] = gained
        return gained

    def _only(self, chosen: Bools, deepest: int) -> Hits:
        keep = chosen.nonzero()[0]
        hits = (self.row[keep], self.rank[keep], self.grade[keep])
        pooled = None if self.pooled is None else self.pooled[keep]
        part = Hits(*hits, self.known, self.length, self._of_known, pooled=pooled)
        vars(part)["deepest"] = deepest  # known already, so need not be computed
        return part

    @cached_property
    def per_row(self) -> Ints:
        """The number of hits of each row, (n,)."""
        return np.bincount(self.row, minlength=len(self.length))

    @cached_property
    def start(self) -> Ints:
        """The index of the first hit of each row, (n,)."""
        return self.per_row.cumsum() - self.per_row

    @cached_property
    def ordinal(self) -> Ints:
        """The position of each hit among the hits of its row, from 1."""
        return np.arange(1, len(self.row) + 1) - self.start[self.row]

    @cached_property
    def without_grades(self) -> Bools:
        """Whether the query of each row has no grade at all, (n,)."""
        rows: Bools = self.known.sum(axis=1) == 0
        return rows

    def sums(self, weights: Floats, k: int | Ints = WHOLE_LIST) -> Floats:
        """Return the sum of the weights of each row's hits in its top ``k``, (n,).

        For several cut-offs, (cut-offs, 1), the sums are (cut-offs, n).

        All measures use this method: `numpy.bincount` adds one after the other by rank, so that a
        row has the same bits alone as among thousands, which pairwise sums do not guarantee.
        """
        rows = len(self.length)
        if not isinstance(k, np.ndarray) or is_by_row(k):
            sums = np.bincount(self.row, self.upto(k, weights), minlength=rows)
        else:
            hits, each = self._inside(k)
            sums = np.bincount(each, weights[hits], minlength=len(k) * rows)
            sums = sums.reshape(len(k), rows)
        return np.asarray(sums, dtype=np.float64)

    def within(self, k: int | Ints) -> Bools:
        """Return which hits are in the top ``k``: one number, or one for each row."""
        return self.rank <= (k[self.row] if is_by_row(k) else k)

    def _inside(self, cutoffs: Ints) -> tuple[Ints, Ints]:
        """Return the hits inside each cut-off, (cut-offs, 1), cut-off by cut-off, and their rows.

        The numbers of the rows continue from cut-off to cut-off. Cached, since measures share it.
        """
        key = cutoffs.tobytes()
        if key not in self._insides:
            inside = (self.rank <= cutoffs).ravel().nonzero()[0]  # half the time of 2-D
            which, hits = np.divmod(inside, len(self.rank))
            self._insides[key] = hits, which * len(self.length) + self.row[hits]
        return self._insides[key]

    def upto(self, k: int | Ints, weights: Floats) -> Floats:
        """Return the weights of the hits, 0 below the top ``k``."""
        return weights * self.within(k) if self.reaches_below(k) else weights

    def count(self, k: int | Ints) -> Ints:
        """Return the number of hits in each row's top ``k``, read-only since it may be cached."""
        rows = len(self.length)
        if is_by_row(k):
            return np.bincount(self.row[self.within(k)], minlength=rows)
        if isinstance(k, np.ndarray):
            each = self._inside(k)[1]
            return np.bincount(each, minlength=len(k) * rows).reshape(len(k), rows)
        if not self.reaches_below(k):
            return self.per_row
        if k not in self._counts:
            top = self.top(k)
            inside = top.row[top.rank <= k] if top.reaches_below(k) else top.row
            self._counts[k] = np.bincount(inside, minlength=rows)
        return self._counts[k]

    def unjudged(self, k: int | Ints) -> Ints:
        """Return the number of unjudged chunks in each row's top ``k``."""
        return np.minimum(self.length, k) - self.count(k)

    def wanted(self, rel: int) -> Ints:
        """Return how many chunks of grade ``rel`` or better each row's query has, found or not."""
        if rel not in self._of_known:
            self._of_known[rel] = np.add.reduce(self.known[:, rel:], axis=1)
        counts: Ints = self._of_known[rel]
        return counts

    def undefined(self, rel: int) -> Floats:
        """Return 0 for each row, NaN where its query has no chunk of grade ``rel`` or better.

        Added to a value it makes undefined ones NaN and does not change others.
        """
        if ("undefined", rel) not in self._of_known:
            undefined = np.where(self.wanted(rel) > 0, 0.0, np.nan)
            self._of_known["undefined", rel] = undefined
        zeros: Floats = self._of_known["undefined", rel]
        return zeros

    def best_dcg(self, k: int | Ints, gains: tuple[float, ...]) -> Floats:
        """Return the best possible DCG of each row's query in ``k`` ranks, NaN where that is 0.

        The gains of `ideal` are added, but only once for adjacent rows with the same known grades;
        for a single query the sum is cached for all queries with the same known grades.
        """
        if is_by_row(k):
            return _or_nan(self.ideal.sums(self.ideal.gained(gains), k))
        key = k.tobytes() if isinstance(k, np.ndarray) else k, gains
        if key not in self._of_known:
            if self.is_one_query:
                best_of_all = _best_dcg(tuple(self.known[0, 1:].tolist()), *key)
                self._of_known[key] = best_of_all.repeat(len(self.known), axis=-1)
            else:
                kinds, kind = self._kinds
                best = kinds.top(k)
                self._of_known[key] = _or_nan(best.sums(best.gained(gains), k))[..., kind]
        sums: Floats = self._of_known[key]
        return sums

    @property
    def _kinds(self) -> tuple[Hits, Ints | slice]:
        """The ideal of each group of adjacent rows with equal known grades, and each row's group.

        The runs of a query are adjacent, so there are far fewer groups than rows. If there are few
        rows, each is its own group: comparing them would take longer.
        """
        if "kinds" not in self._of_known and len(self.known) < _FEW:
            self._of_known["kinds"] = self.ideal, slice(None)
        elif "kinds" not in self._of_known:
            is_new = np.ones(len(self.known), dtype=np.bool_)
            is_new[1:] = (self.known[1:] != self.known[:-1]).any(axis=1)
            none, known = np.zeros(0, dtype=np.int64), self.known[is_new]
            kinds = Hits(none, none, none, known, np.zeros(len(known), dtype=np.int64))
            self._of_known["kinds"] = kinds.ideal, np.cumsum(is_new) - 1
        kinds_and_kind: tuple[Hits, Ints | slice] = self._of_known["kinds"]
        return kinds_and_kind


def is_by_row(k: int | Ints) -> TypeGuard[Ints]:
    """Return whether ``k`` is a cut-off for each row, not a number or a column (cut-offs, 1)."""
    return isinstance(k, np.ndarray) and k.ndim == 1


def _ints(values: object) -> Ints:
    return np.array(values, dtype=np.int64)


@cache
def _discounts(size: int) -> Floats:
    """Return 1 / log2(rank + 1) by rank, and 0 for rank 0.

    Computed by scalar logarithms: vector units may round the tail of an array differently.
    """
    return np.array([0.0, *(1 / math.log2(rank + 1) for rank in range(1, size))])


@lru_cache(maxsize=64)
def _by_grade(gains: tuple[float, ...]) -> Floats:
    return np.array(gains, dtype=np.float64)


@lru_cache(maxsize=4096)
def _best_dcg(known: tuple[int, ...], k: int | bytes, gains: tuple[float, ...]) -> Floats:
    """Return `Hits.best_dcg` of a query with ``known`` chunks of grade 1, 2 and 3."""
    ideal = _by_grade(gains)[:0:-1].repeat(known[::-1])
    count, sums = len(ideal), np.zeros(len(ideal) + 1)
    np.cumsum(ideal * _discounts(1 << count.bit_length())[1 : count + 1], out=sums[1:])
    depth = np.frombuffer(k, np.int64)[:, np.newaxis] if isinstance(k, bytes) else _ints([k])
    return _or_nan(sums[np.minimum(depth, count)])


def _or_nan(sums: Floats) -> Floats:
    return np.where(sums > 0, sums, np.nan)
