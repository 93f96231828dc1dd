"""Bands beside a number: its possible range, its 90% range and its 95% confidence interval.

The possible range, a pale box, covers all ways of grading the unjudged chunks. The 90% range, a
dark bar, covers 90 of 100 simulated gradings. A thin line is the 95% confidence interval over the
choice of queries, and a stroke the number. They differ in shape, not only in colour. A band that
extends beyond the picture has no end on that side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import htpy

from labeler.analysis.comparison import Delta, PairTests
from labeler.evaluation import format_number, format_signed
from labeler.measures import Measure
from labeler.render.markup import style
from labeler.stats import DeltaRanges, IntervalsByPlace, MeanRanges, UnjudgedRange

BAND_STYLE = style("""
.band { display: block; position: relative; height: 0.5rem; min-width: 3.4rem; margin: 0.1rem 0; }
.band > span { position: absolute; left: var(--from); width: max(2px, var(--wide)); }
.band .could { top: 0.05rem; height: 0.4rem; box-sizing: border-box; border-radius: 0.1rem;
    border: 1px solid color-mix(in srgb, currentColor 38%, transparent);
    background: color-mix(in srgb, currentColor 9%, transparent); }
.band .likely { top: 0.14rem; height: 0.22rem; border-radius: 0.1rem;
    background: color-mix(in srgb, currentColor 48%, transparent); }
.band .chance { top: 0.1rem; height: 0.3rem; box-sizing: border-box;
    border: solid currentColor; border-width: 0 1px;
    background: linear-gradient(currentColor, currentColor) center / 100% 1px no-repeat; }
.band .is { top: -0.05rem; height: 0.6rem; width: 2px; margin-left: -1px;
    background: currentColor; }
.band .on-left { border-left-width: 0; border-top-left-radius: 0; border-bottom-left-radius: 0; }
.band .on-right {
    border-right-width: 0; border-top-right-radius: 0; border-bottom-right-radius: 0; }
""")

SLACK = 1e-9  # of a scale's width: what adding up can put a number beyond its end


class Scale(NamedTuple):
    """What is at the left end of a picture, and what at the right: the same in a whole column."""

    left: float
    right: float

    def place(self, value: float) -> float:
        """Return where a value stands, from 0 to 100."""
        wide = self.right - self.left
        return 100 * min(max((value - self.left) / wide, 0.0), 1.0) if wide > 0 else 0.0


class Spread(NamedTuple):
    """How far a number may be off: because of unjudged chunks, and because of the choice of
    queries.

    NaN where nothing is known, or nothing is open.
    """

    lowest: float = math.nan
    highest: float = math.nan
    low: float = math.nan
    high: float = math.nan
    from_queries: tuple[float, float] = (math.nan, math.nan)
    exact: bool = True

    @property
    def is_open(self) -> bool:
        """Say whether there is anything to draw."""
        low, high = self.from_queries
        return self.highest > self.lowest or high > low

    @property
    def ends(self) -> list[float]:
        """All numbers that have to be on the picture."""
        found = (self.lowest, self.highest, self.low, self.high, *self.from_queries)
        return [each for each in found if not math.isnan(each)]

    def words(self, *, delta: bool = False) -> str:
        """Say it in words.

        >>> Spread(0.2, 0.9, 0.4, 0.5).words()
        'possible range 0.2000 to 0.9000, 90% range once graded 0.4000 to 0.5000'
        """
        write = format_signed if delta else format_number
        said = []
        if self.highest > self.lowest:
            bound = "" if self.exact else "at most "
            lowest, highest = write(self.lowest), write(self.highest)
            said.append(f"possible range {bound}{lowest} to {highest}")
        if self.highest > self.lowest and not math.isnan(self.low):
            said.append(f"90% range once graded {write(self.low)} to {write(self.high)}")
        low, high = self.from_queries
        if not math.isnan(low):
            said.append(f"95% confidence interval {write(low)} to {write(high)}")
        return ", ".join(said)


NO_SPREAD = Spread()


def scale_of(values: Iterable[float], spreads: Iterable[Spread], *, around: bool = False) -> Scale:
    """Return a scale on which all of them are; with 0 in its middle where it is ``around`` 0."""
    known = [each for each in values if not math.isnan(each)]
    known += [end for spread in spreads for end in spread.ends]
    if not known:
        return Scale(0.0, 1.0)
    if around:
        most = max(map(abs, known))
        return Scale(-most, most)
    return Scale(min(known), max(known))


def draw_band(
    value: float, spread: Spread, scale: Scale, *, delta: bool = False
) -> htpy.Element | None:
    """Return the picture of a number, which says itself to whoever does not see it.

    None where there is nothing that could move it.
    """
    if not spread.is_open:
        return None
    parts = [
        _band_part("could", spread.lowest, spread.highest, scale),
        _band_part("likely", spread.low, spread.high, scale),
        _band_part("chance", *spread.from_queries, scale),
        None if math.isnan(value) else _band_part("is", value, value, scale),
    ]
    words = spread.words(delta=delta)
    return htpy.span(".band", role="img", aria_label=words, title=words)[parts]


def _band_part(name: str, low: float, high: float, scale: Scale) -> htpy.Element | None:
    if math.isnan(low) or math.isnan(high):
        return None
    left = scale.place(low)
    wide = scale.place(high) - left
    slack = SLACK * (scale.right - scale.left)
    look = {
        name: True,
        "on-left": low < scale.left - slack,
        "on-right": high > scale.right + slack,
    }
    return htpy.span(class_=look, style=f"--from: {left:.2f}%; --wide: {wide:.2f}%")


BAND_WORDS = (
    "Under a number, the pale box is its possible range: from the lowest to the highest value, "
    "however the unjudged chunks are graded. The dark bar is its 90% range once graded, if only "
    "the chunks above the cut-off are graded further (without a cut-off those in the top 20). The "
    "line is its confidence interval over the choice of queries, the stroke or dot the number."
)
GOES_ON = "A range without an end goes on beyond its column."
BAND_DOUBTS = (
    "The 90% range takes an unjudged chunk to be like the graded chunks that runs have at similar "
    "ranks, that as many runs found, of queries like it. It is wide where no chunk of a kind is "
    "graded. It is too narrow where people chose what to grade by what it says. Neither range is "
    "about the choice of queries or about graders. Chunks below the cut-off count as not relevant."
)

MeanSpreads = Mapping[tuple[str, Measure, str | None], Spread]
BucketSpreads = Mapping[tuple[Measure, str | None], Spread]
"""How far the numbers of a picture may be off, by measure and bucket."""


def spreads_of_means(means: MeanRanges, intervals: IntervalsByPlace) -> MeanSpreads:
    """Return bands as pictures take them, with the intervals over the choice of queries."""
    found = {}
    for (run, measure, bucket), band in means.items():
        interval = intervals.get((run, str(measure), bucket))
        ends = (math.nan, math.nan) if interval is None else (interval.lo, interval.hi)
        found[run, measure, bucket] = spread_from_band(band, ends)
    return found


def delta_spreads(bands: DeltaRanges, tests: PairTests, rows: Iterable[Delta]) -> BucketSpreads:
    """Return how far B - A may be off in each row, whether it has a band or an interval or not."""
    found = {}
    for row in rows:
        interval = tests.of(row).interval
        band = bands.get((row.measure, row.bucket))
        found[row.measure, row.bucket] = spread_from_band(band, (interval.lo, interval.hi))
    return found


def spread_from_band(
    band: UnjudgedRange | None, from_queries: tuple[float, float] = (math.nan, math.nan)
) -> Spread:
    """Return a band as a picture takes it; None is of a measure that has none.

    ``from_queries`` is the interval over the choice of queries, where it is known.
    """
    if band is None:
        return Spread(from_queries=from_queries)
    ends = (band.lowest, band.highest, band.low, band.high)
    return Spread(*ends, from_queries, band.exact)
