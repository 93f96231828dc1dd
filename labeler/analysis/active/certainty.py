"""Certainty about which of two runs is better once all is graded: its numbers and its sentence.

It is about these queries alone; the test and the interval over the choice of queries are shown
beside it. Where one of them seems to say otherwise, the sentence says why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from labeler.analysis.active.simulation import Simulation, within_cutoff
from labeler.analysis.comparison import Delta
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.model import format_count
from labeler.stats import UnjudgedRange

SMALLEST_MATTERING = 0.01
"""A smaller difference is none that matters, unless a team says otherwise."""

SETTLED_AT = 0.97
LEAST_GRADES = 30
"""Grades of A's and B's chunks before which no verdict is settled while any is open."""

NO_FAIR_SAMPLE_NOTE = (
    "grades chosen to decide between two runs favour no third one: what only another run found is "
    "left ungraded, so they are no fair sample for it"
)

PROBABLE_ERROR = 0.6745
"""Half of what is normally distributed lies within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure it is, over what the holes could be, which of A and B is better.

    ``delta`` is the mean of B minus A that is expected and ``spread`` its standard deviation;
    ``ahead`` is the chance that B is better, ``near`` that the difference does not matter.
    ``graded`` of the ``pool`` (pairs that A or B has above the cut-off) have a golden grade, and
    ``likely`` more are expected to settle it.
    """

    a: str
    b: str
    measure: Measure
    delta: float
    spread: float
    ahead: float
    near: float
    graded: int
    pool: int
    likely: int
    matters: float
    settled: bool

    @property
    def open(self) -> int:
        """How many pairs nobody has graded."""
        return self.pool - self.graded

    @property
    def known(self) -> bool:
        """Whether there is anything to be sure of: a query for which the measure is defined."""
        return not math.isnan(self.delta)

    @property
    def same(self) -> bool:
        """Whether the likeliest verdict is that no difference matters."""
        return self.near >= SETTLED_AT or (self.known and not self.spread and not self.delta)

    @property
    def leader(self) -> str | None:
        """The run that is likelier to be better, None where the difference does not matter."""
        if not self.known or self.same:
            return None
        return self.b if self.delta > 0 else self.a

    @property
    def certainty(self) -> float:
        """How sure the likeliest verdict is, from 0 to 1."""
        if not self.known:
            return 0.0
        return self.near if self.same else max(self.ahead, 1 - self.ahead)

    @property
    def certainty_text(self) -> str:
        """How sure the likeliest verdict is, in words; never certain while a pair is open."""
        return (
            "over 99%" if self.open and self.certainty > 0.99 else format_certainty(self.certainty)
        )

    def sentence(self, names: tuple[str, str] | None = None) -> str:
        """Say it in one sentence; ``names`` stand in for those of A and B."""
        a, b = names or (self.a, self.b)
        by = f"by {self.measure.label}"
        if not self.known:
            return f"{a} or {b} {by}: no query has a value for both, so there is nothing to decide"
        counted = f"{self.graded:,} of {self.pool:,} grades"
        if not self.pool:
            return f"{a} and {b} have no chunk for any query, so there is nothing to decide"
        better, worse = (b, a) if self.delta > 0 else (a, b)
        sure = f"with {self.certainty_text} over what the holes could be"
        said = f"{better} > {worse}"
        if self.same:
            said = f"no difference that matters (under {self.matters:g}) between {a} and {b}"
        if not self.open:
            return f"{said} {by}: all {self.pool:,} grades are given"
        if self.settled:
            return f"{said} {by} {sure}; {counted} were needed"
        if self.graded < LEAST_GRADES:
            return (
                f"{a} or {b} {by}: {self.graded:,} of {self.pool:,} chunks are graded, too few to "
                f"say; about {self.likely:,} more grades are likely needed"
            )
        return (
            f"{said} {by} {sure}; {counted} are given, about {self.likely:,} more are likely needed"
        )


def format_certainty(share: float) -> str:
    """Return a share as a whole percentage, never rounded up to what it has not reached.

    >>> format_certainty(0.979), format_certainty(0.9999), format_certainty(1.0)
    ('97%', 'over 99%', '100%')
    """
    if 0.99 < share < 1.0:
        return "over 99%"
    return f"{math.floor(share * 100 + 1e-9)}%"


def assess_certainty(
    board: Scoreboard, trial: Simulation, matters: float = SMALLEST_MATTERING
) -> Certainty:
    """Say how sure the verdict is over what the holes could be.

    It is settled where the sign, or that no difference matters, is `SETTLED_AT`, and at least
    `LEAST_GRADES` grades say so; or where no hole is left.
    """
    inside = within_cutoff(board, trial.filling, trial.measure, trial.columns)
    graded = inside & (trial.filling.grades >= 0)
    queries = len(np.unique(trial.filling.tops.query[graded]))
    delta, spread = expected_delta(trial, queries)
    ahead, near = outcome_chances(delta, spread, matters)
    pool, done = int(inside.sum()), int(graded.sum())
    sure = max(ahead, 1 - ahead) >= SETTLED_AT and done >= LEAST_GRADES
    settled = done == pool or sure or near >= SETTLED_AT
    likely = 0 if settled else grades_needed(trial, delta, spread, queries, matters)
    a, b = trial.columns
    return Certainty(
        a=board.run_names[a],
        b=board.run_names[b],
        measure=trial.measure,
        delta=delta,
        spread=spread,
        ahead=ahead,
        near=near,
        graded=done,
        pool=pool,
        likely=min(max(likely, LEAST_GRADES - done if not settled else 0), pool - done),
        matters=matters,
        settled=settled,
    )


def expected_delta(trial: Simulation, queries: int) -> tuple[float, float]:
    """Return the expected mean delta and its standard deviation over what the holes could be.

    The latter is wider where the grades are of few ``queries``, as Student's t is wider than the
    normal distribution: what is learnt of few says less than it seems.
    """
    means = trial.means
    means = means[~np.isnan(means)]
    if not len(means):
        return math.nan, math.nan
    spread = float(means.std(ddof=1)) if len(trial.places) else 0.0
    return float(means.mean()), spread * student_width_factor(queries)


def student_width_factor(queries: int) -> float:
    """Return how much wider Student's t is than the normal, with a degree of freedom a query."""
    df = max(queries - 1, 3)
    return math.sqrt(df / (df - 2))


def outcome_chances(delta: float, spread: float, matters: float) -> tuple[float, float]:
    """Return the chance that B is better, and that the difference is less than ``matters``."""
    if math.isnan(delta):
        return 0.5, 0.0
    if not spread:
        return (0.5 if not delta else float(delta > 0)), float(abs(delta) < matters)
    off = NormalDist(delta, spread)
    return 1 - off.cdf(0.0), off.cdf(matters) - off.cdf(-matters)


def grades_needed(
    trial: Simulation, delta: float, spread: float, queries: int, matters: float
) -> int:
    """Return how many of the grades that move the delta most would leave the verdict settled.

    If the delta turns out as expected, or as far from it as it may well be: what those grades
    leave open of each query, and what they leave unknown of how A and B differ, which falls as
    grades are added.
    """
    if math.isnan(delta) or not spread:
        return len(trial.places)
    z = NormalDist().inv_cdf(SETTLED_AT)
    told = np.cumsum(np.sort(trial.moves**2)[::-1])
    shared = max((spread / student_width_factor(queries)) ** 2 - trial.noise, 0.0)
    far = math.hypot(delta, PROBABLE_ERROR * math.sqrt(shared))
    wanted = max(far, matters - far) / z
    graded = max(len(trial.filling.grades) - len(trial.filling.holes), 1)
    asked = np.arange(1, len(told) + 1)
    left = np.maximum(trial.noise - told, 0.0) + shared * graded / (graded + asked)
    enough = np.flatnonzero(left <= wanted**2)
    return int(asked[enough[0]]) if len(enough) else len(told)


CERTAINTY_MEANING = (
    f"How sure it is who is ahead once all holes are graded is about these queries alone: others "
    f"are the matter of the interval and of p. It is settled at {SETTLED_AT:.0%} "
    f"and {LEAST_GRADES} grades, and "
    "counted more strictly than the 90% where the grades are of few queries, since it is looked at "
    "again and again until it is"
)
LIKELY_CERTAINTY = 0.95
"""How sure it is which run is ahead where an interval of 90% just excludes no difference."""


def can_change(standing: Certainty | None) -> bool:
    """Say whether grades can say more: no hole is left where not, or nothing to be sure of."""
    return standing is not None and standing.known and standing.open > 0


def explain_certainty(
    standing: Certainty,
    conventions: Conventions,
    names: tuple[str, str],
    seen: Delta | None = None,
    band: UnjudgedRange | None = None,
    over: str = "these queries",
) -> str:
    """Say who is ahead once all holes are graded, how surely, and how many grades would settle it.

    ``seen`` is the difference that is shown beside it and ``band`` what is said of its holes: where
    they are of some queries only, or seem to say something else, the sentence tells why. ``over``
    is what it calls the queries it speaks of.
    """
    if seen is not None and seen.bucket is not None:
        said = explain_certainty(standing, conventions, names, over="all of them")
        return f"Of all queries, not of this bucket alone: {said[:1].lower()}{said[1:]}"
    if not standing.known:
        return "No query has a value for both, so there is nothing to decide."
    by = f"by {conventions.heading(standing.measure)}"
    given = f"{standing.graded:,} of {standing.pool:,}"
    if standing.graded < LEAST_GRADES and not standing.settled:
        more = f"about {format_count(standing.likely, 'more is', 'more are')} likely needed"
        return f"Too few grades to say who will be ahead {by}: {given} are given, {more}."
    sure = f"on {over} {by} with {standing.certainty_text}"
    if standing.same:
        said = f"there is no difference of {standing.matters:g} or more {sure}"
    else:
        ahead = f"{names[standing.delta > 0]} is ahead {sure}{_why_other_interval(standing, band)}"
        turned = seen is not None and seen.delta * standing.delta < 0
        said = f"the holes are likely to turn it: {ahead}" if turned else ahead
    return f"Once all holes are graded, {said}; {_describe_open_grades(standing)}."


def _why_other_interval(standing: Certainty, band: UnjudgedRange | None) -> str:
    """Say why the interval of the holes beside it excludes what this does not, or the reverse."""
    if band is None or math.isnan(band.low):
        return ""
    excludes = not band.low <= 0.0 <= band.high
    if excludes == (standing.certainty >= LIKELY_CERTAINTY):
        return ""
    return " (a stricter count than the 90%)" if excludes else " (from other draws than the 90%)"


def _describe_open_grades(standing: Certainty) -> str:
    if standing.settled:
        return f"that is settled, with {standing.graded:,} of {standing.pool:,} grades"
    if standing.open == 1:
        return "it takes the one open grade to settle it"
    if standing.likely >= standing.open:
        return f"it takes about all of the {standing.open:,} open grades to settle it"
    settle = "settles" if standing.likely == 1 else "settle"
    return f"about {standing.likely:,} of the {standing.open:,} open grades {settle} it"
