"""Certainty about which of two runs is ahead once every chunk is graded, in numbers and words.

It is about the grades of these queries only; the test and the confidence interval cover the choice
of queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from labeler.analysis.active.simulation import Simulation, within_cutoff
from labeler.evaluation import Scoreboard
from labeler.measures import Measure

SMALLEST_MATTERING = 0.01
"""A smaller difference does not matter, unless a team sets another limit."""

WIDER = 1.5
"""Factor on the spread of the simulated deltas: what the model gets wrong is wrong for many chunks
at once, and the same pair of runs is wrong each time. With it, verdicts are right about as often as
they claim; docs/explanation/statistics.md has the table, ``tests/benchmarks/deciding.py`` makes it.
"""

MOST_CLAIMED = 0.9
"""No verdict claims more while a chunk is unjudged: those that could were right in 92% of cases."""

SETTLED_AT = 0.9
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
        """The probability of the likeliest verdict, at most `MOST_CLAIMED` while a pair is
        unjudged.
        """
        if not self.known:
            return 0.0
        share = self.near if self.same else max(self.ahead, 1 - self.ahead)
        return min(share, MOST_CLAIMED) if self.open else share

    @property
    def claim(self) -> str:
        """That probability in words, a whole percentage rounded down."""
        over = "over " if self.open and self.certainty >= MOST_CLAIMED else ""
        return f"{over}{math.floor(self.certainty * 100 + 1e-9)}% certainty"

    def sentence(self, names: tuple[str, str] | None = None) -> str:
        """Return what more grades could change, and how many it takes to know who is ahead.

        It is about the grades of these queries only. ``names`` replace the names of A and B.
        """
        a, b = names or (self.a, self.b)
        by = f"by {self.measure.label}"
        if not self.known:
            return f"No query has a value for both {a} and {b}, so there is nothing to decide."
        if not self.pool:
            return f"{a} and {b} have no chunk for any query, so there is nothing to decide."
        better, worse = (b, a) if self.delta > 0 else (a, b)
        near = f"{a} and {b} differ by less than what matters ({self.matters:g}) {by}"
        if not self.open:
            verdict = near if self.same else f"{better} is ahead of {worse} {by}"
            return f"{verdict}. All {self.pool:,} chunks are graded."
        if self.settled and self.same:
            more = "however the unjudged chunks are graded"
            return f"{near}, with {self.claim}, {more}."
        if self.settled:
            unlikely = f"More grades are unlikely to change who is ahead {by}"
            return f"{unlikely}: {better}, with {self.claim}."
        work = f"{_count_work(self.likely, self.open)} to know who is ahead {by}."
        if not self.graded:
            return f"{work} Nothing is graded yet."
        if self.graded < LEAST_GRADES:
            return f"{work} Only {self.graded:,} of {self.pool:,} chunks are graded so far."
        return f"{work} So far it is {better}, with {self.claim}."


def _count_work(likely: int, unjudged: int) -> str:
    if unjudged == 1:
        return "Grade the one unjudged chunk"
    if likely >= unjudged:
        return "Grade all unjudged chunks"
    return f"Grade about {likely:,} more chunks"


def assess_certainty(
    board: Scoreboard, simulation: Simulation, matters: float = SMALLEST_MATTERING
) -> Certainty:
    """Return how sure the verdict is, given the possible grades of unjudged chunks.

    It is settled if the sign, or that the difference does not matter, has a probability of
    `SETTLED_AT` after at least `LEAST_GRADES` grades; or if no grade changes the delta. With fewer
    grades neither run is likelier to be ahead: a model fitted on them is not to be believed.
    """
    inside = within_cutoff(board, simulation.model, simulation.measure, simulation.columns)
    graded = inside & (simulation.model.grades >= 0)
    queries = len(np.unique(simulation.model.tops.query[graded]))
    delta, spread = expected_delta(simulation, queries)
    ahead, near = outcome_chances(delta, spread, matters)
    pool, done = int(inside.sum()), int(graded.sum())
    sure = max(ahead, 1 - ahead, near) >= SETTLED_AT
    settled = done == pool or not spread or (sure and done >= LEAST_GRADES)
    if done < LEAST_GRADES and not settled:
        ahead, near = 0.5, 0.0
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
    distribution: a model fitted on few queries is less certain than it seems. See `WIDER`, too.
    """
    means = simulation.means
    means = means[~np.isnan(means)]
    if not len(means):
        return math.nan, math.nan
    spread = float(means.std(ddof=1)) if len(simulation.places) else 0.0
    return float(means.mean()), spread * width_factor(queries)


def width_factor(queries: int) -> float:
    """Return `WIDER` times how much wider Student's t with a degree of freedom per query is."""
    df = max(queries - 1, 3)
    return WIDER * math.sqrt(df / (df - 2))


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
    z = WIDER * NormalDist().inv_cdf(SETTLED_AT)
    explained = np.cumsum(np.sort(simulation.moves**2)[::-1])
    shared = max((spread / width_factor(queries)) ** 2 - simulation.noise, 0.0)
    far = math.hypot(delta, PROBABLE_ERROR * math.sqrt(shared))
    wanted = max(far, matters - far) / z
    graded = max(len(simulation.model.grades) - len(simulation.model.unjudged), 1)
    added = np.arange(1, len(explained) + 1)
    left = np.maximum(simulation.noise - explained, 0.0) + shared * graded / (graded + added)
    enough = np.flatnonzero(left <= wanted**2)
    return int(added[enough[0]]) if len(enough) else len(explained)
