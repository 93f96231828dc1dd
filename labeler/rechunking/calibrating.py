"""Which grades chunks have that hold a part of what answers a query, learnt of those graded.

Knows shares and grades; not whose they are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labeler.rechunking.seeing import Old, Sight
from labeler.rechunking.spans import Span, common, joined, length

BEST = 3
NEAREST = 10  # graded chunks on each side that have to agree
_AGREED = 0.97  # of them


class Answer(NamedTuple):
    """All that is marked for a query, every relevant chunk of which has passages marked."""

    spans: list[Span]

    def share(self, spans: Sequence[Span]) -> float:
        """Return how much of it lies in spans of the ground, from 0 to 1."""
        return length(common(self.spans, spans)) / length(self.spans)


def answer_of(olds: Sequence[Old]) -> Answer | None:
    """Return what is marked for a query; None where not all is marked that made its grades."""
    relevant = [old for old in olds if old.grade.grade]
    if not relevant or not all(old.evidence for old in relevant):
        return None
    return Answer(joined(span for old in relevant for span in old.evidence))


class Learnt(NamedTuple):
    """The share of an answer that a chunk holds, and the grades of chunks that hold as much."""

    share: float
    low: int
    high: int


class Calibration:
    """How grades go by the share of an answer that a chunk holds, where they go by it at all.

    Where graders do not grade by how much is there, it says nothing: 0 to 3.
    """

    def __init__(self, graded: Iterable[tuple[float, int]]) -> None:
        pairs = sorted(graded)
        self._shares = [share for share, _ in pairs]
        self._grades = [grade for _, grade in pairs]

    def of(self, sight: Sight, answer: Answer | None) -> Learnt | None:
        """Return what is learnt of a chunk that holds a part of an answer."""
        if answer is None or not sight.evidence:
            return None
        share = answer.share(joined(sight.place.spans))
        return Learnt(share, *self.bounds(share))

    def bounds(self, share: float) -> Span:
        """Return the least and the highest grade of a chunk that holds such a share.

        The ten graded chunks that hold just less, and all that hold as much, have at least the
        one; those that hold more at most the other.

        >>> graded = [(at / 100, 1 if at < 50 else 2) for at in range(0, 90)]
        >>> Calibration(graded).bounds(0.7), Calibration(graded).bounds(0.5)
        ((2, 2), (1, 2))
        """
        first, last = bisect_left(self._shares, share), bisect_right(self._shares, share)
        below = self._grades[max(0, first - NEAREST) : last]
        above = self._grades[first : last + NEAREST]
        low = [grade for grade in range(BEST + 1) if _most(value >= grade for value in below)]
        high = [grade for grade in range(BEST + 1) if _most(value <= grade for value in above)]
        return max(low, default=0), min(high, default=BEST)


def _most(agree: Iterable[bool]) -> bool:
    votes = list(agree)
    return len(votes) >= NEAREST and sum(votes) >= _AGREED * len(votes)


def calibrate(queries: Iterable[Sequence[Old]]) -> Calibration:
    """Learn from the relevant chunks of queries, as far as all passages are marked."""
    graded: list[tuple[float, int]] = []
    for olds in queries:
        answer = answer_of(olds)
        if answer is not None:
            graded += [
                (answer.share(old.spans), old.grade.grade) for old in olds if old.grade.grade
            ]
    return Calibration(graded)
