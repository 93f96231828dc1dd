"""Decision between two runs that graders are asked for: how far it is, and how sure, in statements.

It is about the grades of the queries at hand. `RELIABILITY` is how often verdicts that claimed a
certainty were right when graded collections were replayed (``tests/benchmarks/deciding.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from labeler.analysis.active.certainty import (
    LEAST_GRADES,
    SETTLED_AT,
    Certainty,
)
from labeler.evaluation import format_signed
from labeler.model import format_count
from labeler.model.results import ANSWER, DOUBT, Statement

AT_ONCE = 12
"""Passages that are offered at once; they are chosen again after each grade."""

CERTAINTY_HEADING = "Certainty"
DECIDED, UNDECIDED = "decided", "not decided yet"


@dataclass(frozen=True, slots=True)
class ClaimedVerdicts:
    """Verdicts of replays that claimed a certainty from ``least`` on: how many were ``right``.

    ``far`` counts those on runs that really differ by 0.01 or more.
    """

    least: float
    verdicts: int
    right: int
    far: int
    far_right: int


RELIABILITY = (
    ClaimedVerdicts(0.5, 226, 132, 59, 42),
    ClaimedVerdicts(0.6, 190, 145, 81, 69),
    ClaimedVerdicts(0.7, 205, 175, 144, 138),
    ClaimedVerdicts(0.8, 317, 273, 242, 242),
    ClaimedVerdicts(0.9, 357, 328, 305, 305),
)
"""By the least certainty claimed; the table in docs/explanation/statistics.md."""


def describe_decision(
    standing: Certainty, names: tuple[str, str] | None = None
) -> tuple[Statement, ...]:
    """Return how far a decision between A and B is: the answer, what it rests on, the next step.

    ``names`` are shown for A and B. Nothing where all chunks are graded, or none has to be: the
    verdict on the grades says it all.
    """
    if not standing.open or not (standing.known or not standing.graded):
        return ()
    return tuple(_statements(standing, names or (standing.a, standing.b)))


def _statements(standing: Certainty, names: tuple[str, str]) -> Iterator[Statement]:
    a, b = names
    by = standing.measure.label
    numbers = {
        "certainty": standing.certainty,
        "graded": standing.graded,
        "pool": standing.pool,
        "likely_needed": standing.likely,
        "measure": str(standing.measure),
    }
    if standing.settled:
        yield Statement(DECIDED, _decided(standing, names), ANSWER, numbers=numbers)
        yield _expected(standing, names)
        yield Statement("how often right", _how_often_right(standing), DOUBT, CERTAINTY_HEADING)
        return
    more = f"It takes about {format_count(standing.likely, 'more grade', 'more grades')}"
    if not standing.graded:
        sentence = (
            f"Nothing is graded yet: about {format_count(standing.likely, 'grade', 'grades')} will "
            f"say which of the two is ahead by {by}."
        )
    elif standing.graded < LEAST_GRADES:
        so_far = f"{format_count(standing.graded, 'chunk is', 'chunks are')} graded"
        sentence = f"{a} against {b} is not decided yet: {so_far}."
        yield Statement(UNDECIDED, sentence, ANSWER, numbers=numbers)
        sentence = (
            f"{more}. Who is ahead is said from {LEAST_GRADES} grades on: with fewer it would be a "
            "guess."
        )
    else:
        so_far = f"so far {_ahead(standing, names)}, with {standing.claim}"
        yield Statement(UNDECIDED, f"Not decided yet: {so_far}.", ANSWER, numbers=numbers)
        yield _expected(standing, names)
        sentence = f"{more} to decide it: {SETTLED_AT:.0%} certainty is enough."
    yield Statement("grades needed", sentence, DOUBT, "Next step", numbers)


def _ahead(standing: Certainty, names: tuple[str, str]) -> str:
    a, b = names
    by = standing.measure.label
    if standing.same:
        return f"{a} and {b} differ by less than what matters ({standing.matters:g}) by {by}"
    better, worse = (b, a) if standing.delta > 0 else (a, b)
    return f"{better} is ahead of {worse} by {by}"


def _decided(standing: Certainty, names: tuple[str, str]) -> str:
    return f"Decided: {_ahead(standing, names)} on these queries, with {standing.claim}."


def _expected(standing: Certainty, names: tuple[str, str]) -> Statement:
    """Return the difference that is expected once all chunks are graded, and its 80% range.

    That range excludes 0 exactly where one run is ahead with `SETTLED_AT`.
    """
    reach = NormalDist().inv_cdf(SETTLED_AT) * standing.spread
    low, high = standing.delta - reach, standing.delta + reach
    graded = f"{standing.graded:,} of {standing.pool:,} chunks are graded"
    sentence = (
        f"{format_signed(standing.delta)} {standing.measure.label} is expected once all are graded "
        f"({format_signed(low)} to {format_signed(high)}, 80% range); {graded}."
    )
    numbers = {"delta": standing.delta, "low": low, "high": high}
    return Statement("expected", sentence, ANSWER, numbers=numbers)


def _how_often_right(standing: Certainty) -> str:
    if not standing.spread:
        return "No grade of the unjudged chunks can change it. It is about these queries alone."
    found = RELIABILITY[-1]
    return (
        f"Where graded collections were replayed, {found.right / found.verdicts:.0%} of verdicts "
        f"that claimed {found.least:.0%} or more named the right run, and all {found.far:,} where "
        "the runs differ by 0.01 or more did. It is about these queries; others may tell another "
        "story."
    )
