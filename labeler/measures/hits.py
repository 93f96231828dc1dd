"""Judged chunks of ranked lists: all that measures read, because nothing else can gain."""

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
_FEW = 400  # hits of which to cut some out takes longer than to leave them in
_FEW_TOGETHER = 4_000  # hits of which all cut-offs at once are found sooner than one by one


@dataclass(frozen=True, eq=False)
class Hits:
    """The judged chunks of ``n`` rankings, and what else is known about their queries.

    ``row``, ``rank``, ``grade``: one entry per judged chunk that a ranking holds, sorted by row,
    then by rank (from 1); ranks and grades may be of any width. ``known`` (n, 4): how many chunks
    of each grade the ranking's query has, retrieved or not. ``length`` (n,): how many chunks the
    ranking holds, judged or not. ``pooled``, beside each hit: how many chunks above it are in the
    query's pool though nobody graded them; None where none is known to be.
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
        """Make hits from grades in ranked order, None for a chunk nobody graded.

        -1 is one that nobody graded either, but that is in the query's pool. ``missed`` holds, for
        each ranking, the grades of the query's chunks it did not retrieve.

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
        """Put the rankings of ``parts`` below each other, in order."""
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
        """Return what is known of a query, (4,), for each of its rankings, (rows, 4): kept once."""
        return np.ndarray((rows, 4), known.dtype, known, strides=(0, known.itemsize))

    @property
    def is_small(self) -> bool:
        """Whether a call for each cut-off would take longer than what it computes."""
        return len(self.row) < _FEW_TOGETHER

    @property
    def is_one_query(self) -> bool:
        """Whether one row of known grades stands for all, as `known_to_all` gives it."""
        return len(self.known) > 0 and self.known.strides[0] == 0

    @property
    def pooled_above(self) -> Ints:
        """How many chunks above each hit are in the pool though nobody graded them."""
        return np.zeros(len(self.row), dtype=np.int64) if self.pooled is None else self.pooled

    @cached_property
    def ideal(self) -> Hits:
        """The best rankings there could be: every known chunk with a gain, highest grade first."""
        best_first = self.known[:, :0:-1]
        per_row = best_first.sum(axis=1)
        row = np.repeat(np.arange(len(self.known)), per_row)
        rank = np.arange(1, len(row) + 1) - np.repeat(np.cumsum(per_row) - per_row, per_row)
        grade = np.repeat(np.tile([3, 2, 1], len(self.known)), best_first.ravel())
        return Hits(row, rank, grade, self.known, per_row)

    @cached_property
    def condensed(self) -> Hits:
        """The same rankings without the chunks that nobody graded: those below move up.

        >>> Hits.of([[None, 3, None, 0]]).condensed.rank.tolist()
        [1, 2]
        """
        return Hits(self.row, self.ordinal, self.grade, self.known, self.per_row)

    @cached_property
    def best_order(self) -> Hits:
        """The same chunks in their best order: highest grade first, ungraded ones last.

        Unlike `ideal` it knows only what was retrieved: the best a reranker could make of it.
        """
        order = np.lexsort((-self.grade, self.row))
        return Hits(self.row, self.ordinal, self.grade[order], self.known, self.length)

    def every(self, step: int, start: int) -> Hits:
        """Only the rows ``start``, ``start + step`` and so on, numbered from 0."""
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
        """Only the rows that are ``chosen``, in that order.

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
        """Only the hits of grade ``rel`` or better; made once, since measures share it."""
        if rel not in self._relevant:
            self._relevant[rel] = self._only(self.grade >= rel, self.deepest)
        return self._relevant[rel]

    def top(self, k: int | Ints) -> Hits:
        """Only the hits in the top ``k``, if that is a number; made once, since measures share it.

        No measure with that cut-off sees the difference, and what is left is quicker to go through.
        It is cut from the nearest deeper one, so that the deepest should be asked for first. Of a
        few hits none is cut: that would take longer than going through them.
        """
        if isinstance(k, np.ndarray) or len(self.row) < _FEW or not self.reaches_below(k):
            return self
        if k not in self._tops:
            there = tuple(self._tops)  # another thread may add one meanwhile
            deeper = min((each for each in there if each > k), default=None)
            hits = self if deeper is None else self._tops[deeper]
            self._tops[k] = hits._only(hits.rank <= k, k)
        return self._tops[k]

    def reaches_below(self, k: int | Ints) -> bool:
        """Whether a hit may stand below the top ``k``."""
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
        """The gain of each hit's grade, discounted; of a few hits kept, since measures share it."""
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
        vars(part)["deepest"] = deepest  # known without looking for it
        return part

    @cached_property
    def per_row(self) -> Ints:
        """How many hits each row has, (n,)."""
        return np.bincount(self.row, minlength=len(self.length))

    @cached_property
    def start(self) -> Ints:
        """Where the hits of each row begin, (n,)."""
        return self.per_row.cumsum() - self.per_row

    @cached_property
    def ordinal(self) -> Ints:
        """The position of each hit among the hits of its row, from 1."""
        return np.arange(1, len(self.row) + 1) - self.start[self.row]

    @cached_property
    def unjudged(self) -> Bools:
        """The rows whose query has no grade at all."""
        rows: Bools = self.known.sum(axis=1) == 0
        return rows

    def sums(self, weights: Floats, k: int | Ints = WHOLE_LIST) -> Floats:
        """Add the weights of each row's hits in its top ``k``, in the order of their ranks, (n,).

        For several cut-offs, (cut-offs, 1), the sums are (cut-offs, n).

        Every measure adds through here: `numpy.bincount` adds one after the other, so that a row
        has the same bits alone as among thousands, which pairwise sums do not promise.
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
        """Say which hits are in the top ``k``: one number, or one for each row."""
        return self.rank <= (k[self.row] if is_by_row(k) else k)

    def _inside(self, cutoffs: Ints) -> tuple[Ints, Ints]:
        """Return the hits inside each cut-off, (cut-offs, 1), one cut-off's after the other's.

        Beside each hit stands its row, counted on from cut-off to cut-off. Found once, since
        measures share it.
        """
        key = cutoffs.tobytes()
        if key not in self._insides:
            inside = (self.rank <= cutoffs).ravel().nonzero()[0]  # half the time of two dimensions
            which, hits = np.divmod(inside, len(self.rank))
            self._insides[key] = hits, which * len(self.length) + self.row[hits]
        return self._insides[key]

    def upto(self, k: int | Ints, weights: Floats) -> Floats:
        """Return the weights of the hits, 0 below the top ``k``."""
        return weights * self.within(k) if self.reaches_below(k) else weights

    def count(self, k: int | Ints) -> Ints:
        """How many hits each row has in its top ``k``; for a number counted once, to be read."""
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

    def holes(self, k: int | Ints) -> Ints:
        """How many chunks in the top ``k`` of each row nobody has graded."""
        return np.minimum(self.length, k) - self.count(k)

    def wanted(self, rel: int) -> Ints:
        """How many chunks of grade ``rel`` or better each row's query has, retrieved or not."""
        if rel not in self._of_known:
            self._of_known[rel] = np.add.reduce(self.known[:, rel:], axis=1)
        counts: Ints = self._of_known[rel]
        return counts

    def undefined(self, rel: int) -> Floats:
        """0 for each row, and NaN where its query has no chunk of grade ``rel`` or better.

        Added to a value it leaves that as it is, or undefined.
        """
        if ("undefined", rel) not in self._of_known:
            undefined = np.where(self.wanted(rel) > 0, 0.0, np.nan)
            self._of_known["undefined", rel] = undefined
        zeros: Floats = self._of_known["undefined", rel]
        return zeros

    def best_dcg(self, k: int | Ints, gains: tuple[float, ...]) -> Floats:
        """Return the discounted gain that the best ranking of each row's query has in ``k`` ranks.

        The gains of `ideal` are added, but once for neighbours whose known grades are the same, and
        for one query alone once for all that have as many of each grade. NaN where there is nothing
        to gain.
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
        """The ideal of each stretch of rows with the same known grades, and each row's stretch.

        The runs of a query follow each other, so that there are far fewer stretches than rows. Of a
        few rows each stands for itself: to compare them would take longer.
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
    """Say whether this is a cut-off for each row, and not one number, or some below each other."""
    return isinstance(k, np.ndarray) and k.ndim == 1


def _ints(values: object) -> Ints:
    return np.array(values, dtype=np.int64)


@cache
def _discounts(size: int) -> Floats:
    """Return 1 / log2(rank + 1) by rank, and 0 for rank 0.

    By scalar logarithms: vector units may round the tail of an array differently.
    """
    return np.array([0.0, *(1 / math.log2(rank + 1) for rank in range(1, size))])


@lru_cache(maxsize=64)
def _by_grade(gains: tuple[float, ...]) -> Floats:
    return np.array(gains, dtype=np.float64)


@lru_cache(maxsize=4096)
def _best_dcg(known: tuple[int, ...], k: int | bytes, gains: tuple[float, ...]) -> Floats:
    """Return what `Hits.best_dcg` does for a query with so many chunks of grade 1, 2 and 3."""
    ideal = _by_grade(gains)[:0:-1].repeat(known[::-1])
    count, sums = len(ideal), np.zeros(len(ideal) + 1)
    np.cumsum(ideal * _discounts(1 << count.bit_length())[1 : count + 1], out=sums[1:])
    depth = np.frombuffer(k, np.int64)[:, np.newaxis] if isinstance(k, bytes) else _ints([k])
    return _or_nan(sums[np.minimum(depth, count)])


def _or_nan(sums: Floats) -> Floats:
    return np.where(sums > 0, sums, np.nan)
