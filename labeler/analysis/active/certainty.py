"""How sure it is which of two runs is better once the holes are graded, in one sentence.

The test of the queries and the interval of the holes stand beside it: where one of them seems to
say otherwise, a word says why. Knows no page.
"""

from __future__ import annotations

import math

from labeler.analysis.active import LEAST, SURE, Standing
from labeler.analysis.comparison import Delta
from labeler.evaluation import Conventions
from labeler.model import counted
from labeler.stats import Band

MEANING = (
    f"How sure it is who is ahead once all holes are graded is about these queries alone: others "
    f"are the matter of the interval and of p. It is settled at {SURE:.0%} and {LEAST} grades, and "
    "counted more strictly than the 90% where the grades are of few queries, since it is looked at "
    "again and again until it is"
)
LIKELY = 0.95
"""How sure it is which run is ahead where an interval of 90% just excludes no difference."""


def is_telling(standing: Standing | None) -> bool:
    """Say whether grades can say more: no hole is left where not, or nothing to be sure of."""
    return standing is not None and standing.known and standing.open > 0


def how_sure(
    standing: Standing,
    conventions: Conventions,
    names: tuple[str, str],
    seen: Delta | None = None,
    band: Band | None = None,
    over: str = "these queries",
) -> str:
    """Say who is ahead once all holes are graded, how surely, and how many grades would settle it.

    ``seen`` is the difference that is shown beside it and ``band`` what is said of its holes: where
    they are of some queries only, or seem to say something else, the sentence tells why. ``over``
    is what it calls the queries it speaks of.
    """
    if seen is not None and seen.bucket is not None:
        said = how_sure(standing, conventions, names, over="all of them")
        return f"Of all queries, not of this bucket alone: {said[:1].lower()}{said[1:]}"
    if not standing.known:
        return "No query has a value for both, so there is nothing to decide."
    by = f"by {conventions.heading(standing.measure)}"
    given = f"{standing.graded:,} of {standing.pool:,}"
    if standing.graded < LEAST and not standing.settled:
        more = f"about {counted(standing.likely, 'more is', 'more are')} likely needed"
        return f"Too few grades to say who will be ahead {by}: {given} are given, {more}."
    sure = f"on {over} {by} with {standing.surely}"
    if standing.same:
        said = f"there is no difference of {standing.matters:g} or more {sure}"
    else:
        ahead = f"{names[standing.delta > 0]} is ahead {sure}{_why(standing, band)}"
        turned = seen is not None and seen.delta * standing.delta < 0
        said = f"the holes are likely to turn it: {ahead}" if turned else ahead
    return f"Once all holes are graded, {said}; {_rest(standing)}."


def _why(standing: Standing, band: Band | None) -> str:
    """Say why the interval of the holes beside it excludes what this does not, or the reverse."""
    if band is None or math.isnan(band.low):
        return ""
    excludes = not band.low <= 0.0 <= band.high
    if excludes == (standing.certainty >= LIKELY):
        return ""
    return " (a stricter count than the 90%)" if excludes else " (from other draws than the 90%)"


def _rest(standing: Standing) -> str:
    if standing.settled:
        return f"that is settled, with {standing.graded:,} of {standing.pool:,} grades"
    if standing.open == 1:
        return "it takes the one open grade to settle it"
    if standing.likely >= standing.open:
        return f"it takes about all of the {standing.open:,} open grades to settle it"
    settle = "settles" if standing.likely == 1 else "settle"
    return f"about {standing.likely:,} of the {standing.open:,} open grades {settle} it"
