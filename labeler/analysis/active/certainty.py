"""Certainty about which of two runs is better once every chunk is graded, in numbers and words.

It is about these queries alone; the test and the confidence interval cover the choice of queries
and are shown beside it. Where one of them seems to disagree, the sentence says why.
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
"""A smaller difference does not matter, unless a team sets another limit."""

SETTLED_AT = 0.97
LEAST_GRADES = 30
"""The verdict needs this many grades of A's and B's chunks, unless no chunk is unjudged."""

NO_FAIR_SAMPLE_NOTE = (
    "grades chosen to decide between two runs favour no third one: what only another run found is "
    "left ungraded, so they are no fair sample for it"
)

PROBABLE_ERROR = 0.6745
"""Half of a normal distribution is within this many standard deviations of its mean."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure we can be which of A and B is better, given the possible grades of unjudged chunks.

    ``delta`` is the expected mean of B minus A and ``spread`` its standard deviation; ``ahead`` is
    the probability that B is better, ``near`` that the difference does not matter. ``graded`` of
    the ``pool`` (pairs that A or B has above the cut-off) have a golden grade, and about ``likely``
    more are needed to settle it.
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
        """The number of unjudged pairs."""
        return self.pool - self.graded

    @property
    def known(self) -> bool:
        """Whether the measure is defined for any query, so that there is something to decide."""
        return not math.isnan(self.delta)

    @property
    def same(self) -> bool:
        """Whether the likeliest verdict is that the difference does not matter."""
        return self.near >= SETTLED_AT or (self.known and not self.spread and not self.delta)

    @property
    def leader(self) -> str | None:
        """The run that is likelier to be better, None where the difference does not matter."""
        if not self.known or self.same:
            return None
        return self.b if self.delta > 0 else self.a

    @property
    def certainty(self) -> float:
        """The probability of the likeliest verdict."""
        if not self.known:
            return 0.0
        return self.near if self.same else max(self.ahead, 1 - self.ahead)

    @property
    def certainty_text(self) -> str:
        """That probability in words; never certain while a pair is unjudged."""
        return (
            "over 99%" if self.open and self.certainty > 0.99 else format_certainty(self.certainty)
        )

    def sentence(self, names: tuple[str, str] | None = None) -> str:
        """Return the verdict as one sentence; ``names`` replace the names of A and B."""
        a, b = names or (self.a, self.b)
        by = f"by {self.measure.label}"
        if not self.known:
            return f"{a} or {b} {by}: no query has a value for both, so there is nothing to decide"
        counted = f"{self.graded:,} of {self.pool:,} grades"
        if not self.pool:
            return f"{a} and {b} have no chunk for any query, so there is nothing to decide"
        better, worse = (b, a) if self.delta > 0 else (a, b)
        sure = f"with {self.certainty_text} over what the unjudged chunks could be"
        verdict = f"{better} > {worse}"
        if self.same:
            verdict = f"no difference that matters (under {self.matters:g}) between {a} and {b}"
        if not self.open:
            return f"{verdict} {by}: all {self.pool:,} grades are given"
        if self.settled:
            return f"{verdict} {by} {sure}; {counted} were needed"
        if self.graded < LEAST_GRADES:
            return (
                f"{a} or {b} {by}: {self.graded:,} of {self.pool:,} chunks are graded, too few to "
                f"say; about {self.likely:,} more grades are likely needed"
            )
        more = f"about {self.likely:,} more are likely needed"
        return f"{verdict} {by} {sure}; {counted} are given, {more}"


def format_certainty(share: float) -> str:
    """Return a share as a whole percentage, rounded down.

    >>> format_certainty(0.979), format_certainty(0.9999), format_certainty(1.0)
    ('97%', 'over 99%', '100%')
    """
    if 0.99 < share < 1.0:
        return "over 99%"
    return f"{math.floor(share * 100 + 1e-9)}%"


def assess_certainty(
    board: Scoreboard, simulation: Simulation, matters: float = SMALLEST_MATTERING
) -> Certainty:
    """Return how sure the verdict is, given the possible grades of unjudged chunks.

    It is settled if the sign, or that the difference does not matter, has a probability of
    `SETTLED_AT` after at least `LEAST_GRADES` grades; or if no chunk is unjudged.
    """
    inside = within_cutoff(board, simulation.model, simulation.measure, simulation.columns)
    graded = inside & (simulation.model.grades >= 0)
    queries = len(np.unique(simulation.model.tops.query[graded]))
    delta, spread = expected_delta(simulation, queries)
    ahead, near = outcome_chances(delta, spread, matters)
    pool, done = int(inside.sum()), int(graded.sum())
    sure = max(ahead, 1 - ahead) >= SETTLED_AT and done >= LEAST_GRADES
    settled = done == pool or sure or near >= SETTLED_AT
    likely = 0 if settled else grades_needed(simulation, delta, spread, queries, matters)
    a, b = simulation.columns
    return Certainty(
        a=board.run_names[a],
        b=board.run_names[b],
        measure=simulation.measure,
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


def expected_delta(simulation: Simulation, queries: int) -> tuple[float, float]:
    """Return the expected mean delta and its standard deviation over possible grades.

    The latter is wider where few ``queries`` have grades, as Student's t is wider than the normal
    distribution: a model fitted on few queries is less certain than it seems.
    """
    means = simulation.means
    means = means[~np.isnan(means)]
    if not len(means):
        return math.nan, math.nan
    spread = float(means.std(ddof=1)) if len(simulation.places) else 0.0
    return float(means.mean()), spread * student_width_factor(queries)


def student_width_factor(queries: int) -> float:
    """Return how much wider Student's t is than the normal, with a degree of freedom per query."""
    df = max(queries - 1, 3)
    return math.sqrt(df / (df - 2))


def outcome_chances(delta: float, spread: float, matters: float) -> tuple[float, float]:
    """Return the probability that B is better, and that the difference is below ``matters``."""
    if math.isnan(delta):
        return 0.5, 0.0
    if not spread:
        return (0.5 if not delta else float(delta > 0)), float(abs(delta) < matters)
    off = NormalDist(delta, spread)
    return 1 - off.cdf(0.0), off.cdf(matters) - off.cdf(-matters)


def grades_needed(
    simulation: Simulation, delta: float, spread: float, queries: int, matters: float
) -> int:
    """Return how many of the grades that move the delta most would settle the verdict.

    The estimate assumes a final delta of size sqrt(delta² + e²), where e is the probable error of
    the uncertainty that all queries share. Two kinds of uncertainty remain after those grades: in
    each query, and in how A and B differ overall, which falls as grades are added.
    """
    if math.isnan(delta) or not spread:
        return len(simulation.places)
    z = NormalDist().inv_cdf(SETTLED_AT)
    explained = np.cumsum(np.sort(simulation.moves**2)[::-1])
    shared = max((spread / student_width_factor(queries)) ** 2 - simulation.noise, 0.0)
    far = math.hypot(delta, PROBABLE_ERROR * math.sqrt(shared))
    wanted = max(far, matters - far) / z
    graded = max(len(simulation.model.grades) - len(simulation.model.unjudged), 1)
    added = np.arange(1, len(explained) + 1)
    left = np.maximum(simulation.noise - explained, 0.0) + shared * graded / (graded + added)
    enough = np.flatnonzero(left <= wanted**2)
    return int(added[enough[0]]) if len(enough) else len(explained)


CERTAINTY_MEANING = (
    "How sure it is who is ahead once all unjudged chunks are graded is about "
    "these queries alone: others "
    f"are the matter of the interval and of p. It is settled at {SETTLED_AT:.0%} and "
    f"{LEAST_GRADES} grades, and counted more strictly than the 90% where the grades are of few "
    "queries, since it is looked at again and again until it is"
)
LIKELY_CERTAINTY = 0.95
"""The probability that the leader is better at which a 90% interval just excludes 0."""


def can_change(certainty: Certainty | None) -> bool:
    """Return whether more grades can change the verdict: a pair is unjudged and a value defined."""
    return certainty is not None and certainty.known and certainty.open > 0


def explain_certainty(
    certainty: Certainty,
    conventions: Conventions,
    names: tuple[str, str],
    seen: Delta | None = None,
    band: UnjudgedRange | None = None,
    over: str = "these queries",
) -> str:
    """Return which run is likely to be ahead once all is graded, and how many grades settle it.

    ``seen`` is the difference shown beside the sentence, and ``band`` its range over possible
    grades of unjudged chunks. Where they cover only some queries, or seem to disagree, the sentence
    says why. ``over`` is the phrase for the queries.
    """
    if seen is not None and seen.bucket is not None:
        verdict = explain_certainty(certainty, conventions, names, over="all of them")
        return f"Of all queries, not of this bucket alone: {verdict[:1].lower()}{verdict[1:]}"
    if not certainty.known:
        return "No query has a value for both, so there is nothing to decide."
    by = f"by {conventions.heading(certainty.measure)}"
    given = f"{certainty.graded:,} of {certainty.pool:,}"
    if certainty.graded < LEAST_GRADES and not certainty.settled:
        more = f"about {format_count(certainty.likely, 'more is', 'more are')} likely needed"
        return f"Too few grades to say who will be ahead {by}: {given} are given, {more}."
    sure = f"on {over} {by} with {certainty.certainty_text}"
    if certainty.same:
        verdict = f"there is no difference of {certainty.matters:g} or more {sure}"
    else:
        leader = names[certainty.delta > 0]
        leads = f"{leader} is ahead {sure}{_why_other_interval(certainty, band)}"
        turned = seen is not None and seen.delta * certainty.delta < 0
        verdict = f"the unjudged chunks are likely to turn it: {leads}" if turned else leads
    return f"Once all unjudged chunks are graded, {verdict}; {_describe_open_grades(certainty)}."


def _why_other_interval(certainty: Certainty, band: UnjudgedRange | None) -> str:
    """Return why the 90% range excludes 0 although the verdict is not that sure, or the reverse."""
    if band is None or math.isnan(band.low):
        return ""
    excludes = not band.low <= 0.0 <= band.high
    if excludes == (certainty.certainty >= LIKELY_CERTAINTY):
        return ""
    return " (a stricter count than the 90%)" if excludes else " (from other draws than the 90%)"


def _describe_open_grades(certainty: Certainty) -> str:
    if certainty.settled:
        return f"that is settled, with {certainty.graded:,} of {certainty.pool:,} grades"
    if certainty.open == 1:
        return "it takes the one open grade to settle it"
    if certainty.likely >= certainty.open:
        return f"it takes about all of the {certainty.open:,} open grades to settle it"
    settle = "settles" if certainty.likely == 1 else "settle"
    return f"about {certainty.likely:,} of the {certainty.open:,} open grades {settle} it"
