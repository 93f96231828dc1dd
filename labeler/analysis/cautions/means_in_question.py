"""The means that cautions are about, and tests whether what they show is more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from labeler.evaluation import Scoreboard, queries_in_scope
from labeler.measures import Bools, Floats, Measure
from labeler.model.results import CAUTION, Statement
from labeler.stats import ALPHA, EXACT, FEWEST_QUERIES, as_equal_weights, p_values

MANY_QUERIES = 200  # from here on the normal distribution is exact enough


@dataclass(frozen=True)
class MeansInQuestion:
    """The means that cautions are about: of runs, by the leading measure, over some queries."""

    board: Scoreboard
    lead: Measure
    names: tuple[str, ...]
    facet: str | None
    bucket: str | None
    matters: float
    _tables: dict[Measure, Floats] = field(default_factory=dict)

    @cached_property
    def scope(self) -> Bools:
        """The queries that are looked at and judged, (queries,)."""
        judged = self.board.judged_for(self.lead)
        return queries_in_scope(self.board, judged, self.facet, self.bucket)

    @cached_property
    def counted(self) -> Bools:
        """Those of them that are in the mean of the leading measure, (queries,)."""
        inside: Bools = self.scope & self.board.counted(self.lead)
        return inside

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each run with a value for any of these queries."""
        values = self.board.values(self.lead)[self.counted]
        known: Bools = np.any(~np.isnan(values), axis=0)
        columns = {name: self.board.column_of(name) for name in self.names}
        return {name: at for name, at in columns.items() if known[at]}

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of runs of the same chunks."""
        chunking = self.board.chunking_of
        return [(a, b) for a, b in combinations(self.columns, 2) if chunking(a) == chunking(b)]

    @property
    def where(self) -> str:
        """The bucket, as the end of a sentence's part."""
        return "" if self.bucket is None else f" in {self.facet} = {self.bucket}"

    def heading(self, measure: Measure | None = None) -> str:
        """Return what a measure is called, the leading one if none is given."""
        return self.board.conventions.heading(measure or self.lead)

    def values(self, measure: Measure, run: str, among: Bools) -> Floats:
        """Return a run's values for some queries, NaN where undefined."""
        if measure not in self._tables:
            self._tables[measure] = self.board.values(measure)
        found: Floats = self._tables[measure][among, self.columns[run]]
        return found

    def sample(self, values: Floats, among: Bools) -> Floats:
        """Return known values whose plain mean is the mean of these queries."""
        known = ~np.isnan(values)
        if self.board.weights is None:
            return values[known]
        return as_equal_weights(values[known], self.board.weights[among][known])

    def mean(self, measure: Measure, run: str, among: Bools) -> float:
        """Return a run's mean over some queries, NaN if there is none."""
        return mean_of(self.sample(self.values(measure, run, among), among))

    def tasks(self, *tasks: str) -> Bools:
        """Return which of the queries in the mean have one of these tasks; none if few do."""
        given = self.board.collection.facets.get("task", (None,) * len(self.counted))
        found: Bools = self.counted & np.array([task in tasks for task in given], dtype=np.bool_)
        if found.sum() < FEWEST_QUERIES or 2 * found.sum() < self.counted.sum():
            return np.zeros_like(found)
        return found

    def caution(self, kind: str, sentence: str, *runs: str, **numbers: Any) -> Statement:
        """Return a caution about the leading measure, and about ``runs`` if they are given."""
        about = {"measure": str(self.lead), "n": int(self.counted.sum()), **numbers}
        return Statement(
            kind, sentence, CAUTION, numbers={**about, "runs": runs} if runs else about
        )


def mean_of(sample: Floats) -> float:
    return float(sample.mean()) if len(sample) else math.nan


def differ_surely(samples: Sequence[Floats], tests: int = 1) -> list[bool]:
    """Return which means are not 0, beyond chance and corrected for the number of tests."""
    counted = [len(each) <= MANY_QUERIES or np.count_nonzero(each) <= EXACT for each in samples]
    by_flips = iter(p_values([each for each, few in zip(samples, counted, strict=True) if few]))
    p = [
        next(by_flips).p if few else _normal_p_value(each)
        for each, few in zip(samples, counted, strict=True)
    ]
    return [each <= ALPHA / tests for each in p]


def _normal_p_value(sample: Floats) -> float:
    spread, mean = float(sample.std(ddof=1)) / math.sqrt(len(sample)), abs(mean_of(sample))
    return math.erfc(mean / spread / math.sqrt(2)) if spread else float(mean == 0)


def is_surely_above(sample: Floats, least: float) -> bool:
    """Say whether a mean is above ``least``, beyond chance."""
    return mean_of(sample) > least and differ_surely([sample - least])[0]
