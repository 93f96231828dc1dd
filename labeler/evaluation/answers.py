"""Which queries a run answers, and so whether it has values at all; knows no query by name.

An absent query is a 0 that counts: the run was asked and found nothing. Where a run answers none of
the queries that count, its mean would be 0 for no reason of ranking: ids differ, or the run is
empty. So it has no value, in no bucket and for no query.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.evaluation.adding import Grouping
from labeler.evaluation.sheet import Sheet
from labeler.measures import Bools, Floats, Ints, Measure


@dataclass(frozen=True, eq=False)
class Answers:
    """Where runs have a list, and where it holds a result: both (queries, runs)."""

    listed: Bools
    answered: Bools

    @cached_property
    def _empty(self) -> Ints:
        """How many lists of each run hold nothing, (runs,)."""
        empty: Ints = np.sum(self.listed & ~self.answered, axis=0)
        return empty

    def values(self, sheet: Sheet, measure: Measure) -> Floats:
        """Return a measure's values, (queries, runs), NaN where undefined or without any answer."""
        values = sheet.values(measure)
        values[:, self.silent(sheet, measure)] = np.nan
        return values

    def silence(
        self, means: Floats, sheet: Sheet, measures: tuple[Measure, ...], everything: Grouping
    ) -> None:
        """Set to NaN the means, (measures, runs, buckets), of runs without an answer that counts.

        A run has one if more queries count than it leaves open, which sums tell at no cost; only
        where they do not are the queries looked at.
        """
        totals = sheet.totals(None, everything)[0]
        left_open = totals[1 : 1 + means.shape[1]] + self._empty
        counted = totals[sheet.layout.columns(measures).defined]
        most = np.maximum.reduce(left_open, initial=-1)
        if np.minimum.reduce(counted, initial=np.inf) > most:
            return
        for at in np.flatnonzero(counted <= most).tolist():
            means[at, self.silent(sheet, measures[at])] = np.nan

    def silent(self, sheet: Sheet, measure: Measure) -> Bools:
        """Say which runs answer no query that counts, (runs,)."""
        answers: Bools = np.any(self.answered[sheet.defined(measure)], axis=0)
        return ~answers
