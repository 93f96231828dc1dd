"""What the holes could make of means and deltas, as pictures take it, and how to read it, in words.

Knows how far a number may be off, not how that is found out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from labeler.analysis.comparison import Comparison, Delta, Place, Reach
from labeler.measures import Measure
from labeler.render.tables.bands import Spread
from labeler.stats import Band, DeltaBands, Intervals, MeanBands

BAND_WORDS = (
    "The pale band of a number is where it could be, however the holes of these runs are graded "
    "(above the cut-off; without one in the top 20: if nothing below rank 20 is relevant); its "
    "dark band where it is in 90 of 100 ways drawn by chance, as likely as the grades so far make "
    "them; the whisker where another choice of queries could have it (95%); a stroke or a dot "
    "where it is. Other ungraded chunks are taken as not relevant."
)
GOES_ON = "A band without an end goes on beyond its column."
BAND_DOUBTS = (
    "The dark band takes a hole to be like the graded chunks that runs put at similar ranks, as "
    "many agree on, of queries like it, and is wide where none of a kind is graded. It is too sure "
    "where people chose what to grade by what it says, and of a difference where mostly what one "
    "run alone found is not graded. Neither band is about the choice of queries, nor about graders."
)

MeanSpreads = Mapping[tuple[str, Measure, str | None], Spread]
Spreads = Mapping[tuple[Measure, str | None], Spread]
"""How far the numbers of a picture may be off, by measure and bucket."""


def spreads_of(means: MeanBands, intervals: Intervals) -> MeanSpreads:
    """Return bands as pictures take them, with the intervals over the choice of queries."""
    found = {}
    for (run, measure, bucket), band in means.items():
        interval = intervals.get((run, str(measure), bucket))
        ends = (math.nan, math.nan) if interval is None else (interval.lo, interval.hi)
        found[run, measure, bucket] = spread(band, ends)
    return found


def pair_spreads(
    compared: Comparison, row: Delta, bands: tuple[MeanBands, DeltaBands], reach: Reach
) -> list[Spread]:
    """Return how far A, B and B - A may be off, for one row of the table."""
    of_means, of_deltas = bands
    places = [(run, row.measure, row.bucket) for run in (compared.a, compared.b)]
    interval = (reach.interval.lo, reach.interval.hi)
    delta = spread(of_deltas.get((row.measure, row.bucket)), interval)
    return [*(spread(of_means.get(place)) for place in places), delta]


def delta_spreads(bands: DeltaBands, reaches: Mapping[Place, Reach]) -> Spreads:
    """Return how far B - A may be off, for what is looked at, whether it has a band or not."""
    return {
        (measure, bucket): spread(
            bands.get((measure, bucket)), (reach.interval.lo, reach.interval.hi)
        )
        for (measure, _, bucket), reach in reaches.items()
    }


def spread(band: Band | None, from_queries: tuple[float, float] = (math.nan, math.nan)) -> Spread:
    """Return a band as a picture takes it; None is of a measure that has none.

    ``from_queries`` is the interval over the choice of queries, where it is known.
    """
    if band is None:
        return Spread(from_queries=from_queries)
    ends = (band.lowest, band.highest, band.low, band.high)
    return Spread(*ends, from_queries, band.exact)
