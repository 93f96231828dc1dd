"""A number and how far it may be off, as one small picture: plain numbers in, no run, no measure.

From left to right: pale is where the number could go, dark where it is likely to go, a whisker in
front where chance could have it, and a stroke where it is. Shapes tell them apart, not colours.
What goes on beyond the picture has no end there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import htpy

from labeler.evaluation import number, signed
from labeler.render.markup import style

LOOK = style("""
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
    """How far a number may be off: because of holes, and because of the choice of queries.

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
        'however the holes are graded 0.2000 to 0.9000, likely 0.4000 to 0.5000'
        """
        write = signed if delta else number
        said = []
        if self.highest > self.lowest:
            bound = "" if self.exact else "at most "
            lowest, highest = write(self.lowest), write(self.highest)
            said.append(f"however the holes are graded {bound}{lowest} to {highest}")
        if self.highest > self.lowest and not math.isnan(self.low):
            said.append(f"likely {write(self.low)} to {write(self.high)}")
        low, high = self.from_queries
        if not math.isnan(low):
            said.append(f"with other queries (95%) {write(low)} to {write(high)}")
        return ", ".join(said)


NOTHING = Spread()


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


def band(value: float, spread: Spread, scale: Scale, *, delta: bool = False) -> htpy.Element | None:
    """Return the picture of a number, which says itself to whoever does not see it.

    None where there is nothing that could move it.
    """
    if not spread.is_open:
        return None
    parts = [
        _part("could", spread.lowest, spread.highest, scale),
        _part("likely", spread.low, spread.high, scale),
        _part("chance", *spread.from_queries, scale),
        None if math.isnan(value) else _part("is", value, value, scale),
    ]
    words = spread.words(delta=delta)
    return htpy.span(".band", role="img", aria_label=words, title=words)[parts]


def _part(name: str, low: float, high: float, scale: Scale) -> htpy.Element | None:
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
