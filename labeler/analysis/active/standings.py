"""Whether a verdict is settled: how sure it is, and how many grades it is likely to need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from labeler.analysis.active.trials import Trial, inside_of
from labeler.evaluation import Scoreboard
from labeler.measures import Measure

MATTERS = 0.01
"""A smaller difference is none that matters, unless a team says otherwise."""

SURE = 0.97
LEAST = 30
"""Grades of A's and B's chunks before which no verdict is settled while any is open."""

FAVOURS = (
    "grades chosen to decide between two runs favour no third one: what only another run found is "
    "left ungraded, so they are no fair sample for it"
)

PROBABLE = 0.6745
"""Half of what is normally distributed lies within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class Standing:
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
        return self.near >= SURE or (self.known and not self.spread and not self.delta)

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
    def surely(self) -> str:
        """How sure the likeliest verdict is, in words; never certain while a pair is open."""
        return "over 99%" if self.open and self.certainty > 0.99 else percent(self.certainty)

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
        sure = f"with {self.surely} over what the holes could be"
        said = f"{better} > {worse}"
        if self.same:
            said = f"no difference that matters (under {self.matters:g}) between {a} and {b}"
        if not self.open:
            return f"{said} {by}: all {self.pool:,} grades are given"
        if self.settled:
            return f"{said} {by} {sure}; {counted} were needed"
        if self.graded < LEAST:
            return (
                f"{a} or {b} {by}: {self.graded:,} of {self.pool:,} chunks are graded, too few to "
                f"say; about {self.likely:,} more grades are likely needed"
            )
        return (
            f"{said} {by} {sure}; {counted} are given, about {self.likely:,} more are likely needed"
        )


def percent(share: float) -> str:
    """Return a share as a whole percentage, never rounded up to what it has not reached.

    >>> percent(0.979), percent(0.9999), percent(1.0)
    ('97%', 'over 99%', '100%')
    """
    if 0.99 < share < 1.0:
        return "over 99%"
    return f"{math.floor(share * 100 + 1e-9)}%"


def stand(board: Scoreboard, trial: Trial, matters: float = MATTERS) -> Standing:
    """Say how sure the verdict is over what the holes could be.

    It is settled where the sign, or that no difference matters, is `SURE`, and at least `LEAST`
    grades say so; or where no hole is left.
    """
    inside = inside_of(board, trial.filling, trial.measure, trial.columns)
    graded = inside & (trial.filling.grades >= 0)
    queries = len(np.unique(trial.filling.tops.query[graded]))
    delta, spread = believed(trial, queries)
    ahead, near = chances(delta, spread, matters)
    pool, done = int(inside.sum()), int(graded.sum())
    sure = max(ahead, 1 - ahead) >= SURE and done >= LEAST
    settled = done == pool or sure or near >= SURE
    likely = 0 if settled else more_needed(trial, delta, spread, queries, matters)
    a, b = trial.columns
    return Standing(
        a=board.run_names[a],
        b=board.run_names[b],
        measure=trial.measure,
        delta=delta,
        spread=spread,
        ahead=ahead,
        near=near,
        graded=done,
        pool=pool,
        likely=min(max(likely, LEAST - done if not settled else 0), pool - done),
        matters=matters,
        settled=settled,
    )


def believed(trial: Trial, queries: int) -> tuple[float, float]:
    """Return the expected mean delta and its standard deviation over what the holes could be.

    The latter is wider where the grades are of few ``queries``, as Student's t is wider than the
    normal distribution: what is learnt of few says less than it seems.
    """
    means = trial.means
    means = means[~np.isnan(means)]
    if not len(means):
        return math.nan, math.nan
    spread = float(means.std(ddof=1)) if len(trial.places) else 0.0
    return float(means.mean()), spread * widening(queries)


def widening(queries: int) -> float:
    """Return how much wider Student's t is than the normal, with a degree of freedom a query."""
    df = max(queries - 1, 3)
    return math.sqrt(df / (df - 2))


def chances(delta: float, spread: float, matters: float) -> tuple[float, float]:
    """Return the chance that B is better, and that the difference is less than ``matters``."""
    if math.isnan(delta):
        return 0.5, 0.0
    if not spread:
        return (0.5 if not delta else float(delta > 0)), float(abs(delta) < matters)
    off = NormalDist(delta, spread)
    return 1 - off.cdf(0.0), off.cdf(matters) - off.cdf(-matters)


def more_needed(trial: Trial, delta: float, spread: float, queries: int, matters: float) -> int:
    """Return how many of the grades that move the delta most would leave the verdict settled.

    If the delta turns out as expected, or as far from it as it may well be: what those grades
    leave open of each query, and what they leave unknown of how A and B differ, which falls as
    grades are added.
    """
    if math.isnan(delta) or not spread:
        return len(trial.places)
    z = NormalDist().inv_cdf(SURE)
    told = np.cumsum(np.sort(trial.moves**2)[::-1])
    shared = max((spread / widening(queries)) ** 2 - trial.noise, 0.0)
    far = math.hypot(delta, PROBABLE * math.sqrt(shared))
    wanted = max(far, matters - far) / z
    graded = max(len(trial.filling.grades) - len(trial.filling.holes), 1)
    asked = np.arange(1, len(told) + 1)
    left = np.maximum(trial.noise - told, 0.0) + shared * graded / (graded + asked)
    enough = np.flatnonzero(left <= wanted**2)
    return int(asked[enough[0]]) if len(enough) else len(told)
