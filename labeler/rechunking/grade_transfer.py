"""Transfer of grades to another chunking: what old grades say of new chunks, and what stays open.

A grade says how much of what answers a query a chunk holds. A chunk that holds all of another's
evidence is at least as good as it; one whose evidence all lies in another is at best as good. A
grade is decided where the two bounds meet.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from labeler.errors import NotFound
from labeler.rechunking.location import LocatedChunkings
from labeler.rechunking.normalised_text import (
    Span,
    intersect_spans,
    merge_spans,
    subtract_spans,
    total_length,
)
from labeler.rechunking.overlap import (
    TRIFLE,
    ChunkOverlap,
    Coverage,
    GradedChunk,
    find_overlap,
    locate_graded_chunk,
)
from labeler.rechunking.records import DerivedGrade, OldGrade, TransferState

Progress = Callable[[float], None]

_PAIRS_PER_REPORT = 256  # pairs after which progress is told


def transfer_grades(
    grades: Iterable[OldGrade],
    asked: Iterable[tuple[str, str]],
    places: LocatedChunkings,
    progress: Progress | None = None,
) -> list[DerivedGrade]:
    """Return for each query and new chunk asked for what the old chunking's grades say of it.

    A grade is decided where it follows and all but 2% of the text lies in graded chunks: it is the
    same text as a graded chunk; or it lies in chunks graded 0, or in others outside of what made
    their grades (0); or it holds all that made a grade, and nothing more; or it holds as much of
    what is marked for its query as graded chunks of one and the same grade do. Without passages a
    relevant chunk is carried over only whole. Nothing is decided where the place is ambiguous,
    where words of the text were changed, and where graded chunks contradict each other.

    Grades are those of the old chunking, golden grades, of any queries; ``asked`` are pairs of
    query and new chunk. What is returned is in their order. Raises `NotFound` for an unknown chunk.

    >>> from labeler.rechunking import GradeBasis, Cut, OldGrade, find_locations
    >>> old = [Cut("o1", "Fees are due in May. Late fees are refused."), Cut("o2", "Dues vary.")]
    >>> new = [Cut("n1", "Fees are due in May."), Cut("n2", "Late fees are refused. Dues vary.")]
    >>> grades = [OldGrade("when", "o1", 3, (GradeBasis(7, ((0,
    ...     19),)),)), OldGrade("when", "o2", 0)]
    >>> asked = [("when", "n1"), ("when", "n2")]
    >>> [(each.state, each.grade) for each in transfer_grades(grades,
    ...     asked, find_locations(old, new))]
    [('decided', 3), ('decided', 0)]
    """
    olds: dict[str, list[GradedChunk]] = defaultdict(list)
    for grade in grades:
        if grade.chunk_id not in places.old:
            raise NotFound(f"chunk {grade.chunk_id!r} is graded, and not in the old chunking")
        olds[grade.query_id].append(locate_graded_chunk(grade, places))
    calibration = calibrate(olds.values())
    answers = {query_id: find_marked_answer(own) for query_id, own in olds.items()}
    pairs = list(asked)
    found = []
    for done, (query_id, chunk_id) in enumerate(pairs, 1):
        if chunk_id not in places.new:
            raise NotFound(f"chunk {chunk_id!r} is asked for, and not in the new chunking")
        sight = find_overlap(chunk_id, olds.get(query_id, ()), places)
        found.append(decide_grade(query_id, sight, calibration.of(sight, answers.get(query_id))))
        if progress is not None and (done % _PAIRS_PER_REPORT == 0 or done == len(pairs)):
            progress(done / len(pairs))
    return found


BEST_GRADE = 3
COVERED = 0.98  # of a text must lie in graded chunks for a grade to follow
LIKELY = 0.8  # the share of an unmarked relevant text from which on its grade is likely


class GradeBound(NamedTuple):
    """A least or a highest grade, and why it is that."""

    grade: int
    reason: str


def decide_grade(
    query_id: str, sight: ChunkOverlap, learnt: LearntBounds | None = None
) -> DerivedGrade:
    """Return what is decided, proposed or open of a chunk, with the reason."""
    low, high = _bounds(sight, learnt)
    state, grade, reason = _state_of(sight, low, high)
    return DerivedGrade(
        query_id,
        sight.chunk_id,
        state,
        grade,
        reason,
        sight.covered,
        low.grade,
        high.grade,
        tuple(dict.fromkeys(base.judgment for each in sight.held for base in each.old.grade.bases)),
        sight.passages,
    )


def _bounds(sight: ChunkOverlap, learnt: LearntBounds | None) -> tuple[GradeBound, GradeBound]:
    """Return the least and the highest grade there may be."""
    same = _same_text(sight)
    if same:
        grades = [each.grade for each in same]
        reason = f"the same text as chunk {same[0].old.grade.chunk_id}"
        return GradeBound(max(grades), reason), GradeBound(min(grades), reason)
    low, high = _lower_bound(sight), _upper_bound(sight)
    if learnt is None or low.grade >= high.grade:
        return low, high
    reason = (
        f"it holds {learnt.share:.0%} of what is marked for the query, as chunks of that grade do"
    )
    if low.grade < learnt.low <= high.grade:
        low = GradeBound(learnt.low, reason)
    if low.grade <= learnt.high < high.grade:
        high = GradeBound(learnt.high, reason)
    return low, high


def _state_of(
    sight: ChunkOverlap, low: GradeBound, high: GradeBound
) -> tuple[TransferState, int | None, str]:
    doubt = _why_undecided(sight, low, high)
    if sight.covered < COVERED:
        return "open", None, _describe_cover(sight)
    if low.grade == high.grade:
        reason = low.reason or high.reason
        return ("proposed", low.grade, doubt) if doubt else ("decided", low.grade, reason)
    if low.grade > high.grade:
        return "proposed", high.grade, f"graded chunks differ: {low.reason}, yet {high.reason}"
    likely = _likely_grade(sight, low, high)
    if likely is None:
        return (
            "open",
            None,
            f"a part of chunk {_most_covered(sight)}, in which no passage is marked",
        )
    reasons = [reason for reason in (low.reason, high.reason, doubt) if reason]
    return "proposed", likely, "; ".join(reasons) or _describe_share(sight)


def _why_undecided(sight: ChunkOverlap, low: GradeBound, high: GradeBound) -> str:
    """Return why nothing is decided although a grade follows; nothing where it may be."""
    if sight.place.others:
        return f"its text stands in {sight.place.others + 1} places or more"
    if any(each.old.place.others for each in sight.held):
        return "a graded chunk's text stands in several places"
    if sight.place.is_changed:
        return "words of its text were changed"
    return ""


def _describe_cover(sight: ChunkOverlap) -> str:
    if not sight.place.segments:
        return "its text was not found"
    return f"{sight.covered:.0%} of its text lies in graded chunks"


def _describe_share(sight: ChunkOverlap) -> str:
    best = max(sight.held, key=lambda each: each.share * each.grade)
    of = "what is marked in chunk" if best.is_marked else "chunk"
    return f"it holds {best.share:.0%} of {of} {best.old.grade.chunk_id}, grade {best.grade}"


def _same_text(sight: ChunkOverlap) -> list[Coverage]:
    """Return the graded chunks whose text it is, up to what does not count."""
    return [
        each
        for each in sight.held
        if each.of_text >= 1 - TRIFLE and total_length(each.cover) >= (1 - TRIFLE) * sight.size
    ]


def _lower_bound(sight: ChunkOverlap) -> GradeBound:
    """Return the best grade of which the chunk holds all that made it."""
    low = GradeBound(0, "")
    for each in sight.held:
        name = each.old.grade.chunk_id
        if each.all and each.grade > low.grade:
            what = "every passage" if each.is_marked else "all"
            low = GradeBound(each.grade, f"it holds {what} of chunk {name}, grade {each.grade}")
        elif each.some and each.grade and not low.grade:
            low = GradeBound(1, f"it holds a passage of chunk {name}, grade {each.grade}")
    return low


def _upper_bound(sight: ChunkOverlap) -> GradeBound:
    """Return the least grade of a chunk that holds all it may have of an answer."""
    if not sight.possible:
        zero = all(each.grade == 0 for each in sight.held)
        where = "chunks graded 0" if zero else "graded chunks, outside of what made their grades"
        return GradeBound(0, f"its text lies in {where}")
    high = GradeBound(BEST_GRADE, "")
    for each in sight.held:
        missed = subtract_spans(sight.possible, each.cover)
        is_in = total_length(missed) <= TRIFLE * total_length(sight.possible) or not sight.says(
            missed
        )
        if is_in and each.grade < high.grade:
            name = each.old.grade.chunk_id
            high = GradeBound(
                each.grade, f"what it may answer with is in chunk {name}, grade {each.grade}"
            )
    return high


def _likely_grade(sight: ChunkOverlap, low: GradeBound, high: GradeBound) -> int | None:
    """Return the grade between two bounds that is likely by what it holds, None if none is."""
    shares = [
        (each.share * each.grade, each)
        for each in sight.held
        if each.grade and (each.is_marked or each.share >= LIKELY)
    ]
    if not shares and not low.grade:
        return None
    best = max((share for share, _ in shares), default=0.0)
    return max(low.grade, min(high.grade, round(best)))


def _most_covered(sight: ChunkOverlap) -> str:
    """Return the chunk that covers most of what it may answer with."""
    relevant = [each for each in sight.held if each.grade]
    return max(
        relevant, key=lambda each: total_length(intersect_spans(each.cover, sight.possible))
    ).old.grade.chunk_id


HIGHEST_GRADE = 3
NEAREST = 10  # graded chunks on each side that have to agree
_AGREEING = 0.97  # of them


class MarkedAnswer(NamedTuple):
    """All that is marked for a query, every relevant chunk of which has passages marked."""

    spans: list[Span]

    def share(self, spans: Sequence[Span]) -> float:
        """Return how much of it lies in spans of the ground, from 0 to 1."""
        return total_length(intersect_spans(self.spans, spans)) / total_length(self.spans)


def find_marked_answer(olds: Sequence[GradedChunk]) -> MarkedAnswer | None:
    """Return what is marked for a query; None where not all is marked that made its grades."""
    relevant = [old for old in olds if old.grade.grade]
    if not relevant or not all(old.evidence for old in relevant):
        return None
    return MarkedAnswer(merge_spans(span for old in relevant for span in old.evidence))


class LearntBounds(NamedTuple):
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

    def of(self, sight: ChunkOverlap, answer: MarkedAnswer | None) -> LearntBounds | None:
        """Return what is learnt of a chunk that holds a part of an answer."""
        if answer is None or not sight.evidence:
            return None
        share = answer.share(merge_spans(sight.place.spans))
        return LearntBounds(share, *self.bounds(share))

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
        low = [
            grade
            for grade in range(HIGHEST_GRADE + 1)
            if _nearly_all(value >= grade for value in below)
        ]
        high = [
            grade
            for grade in range(HIGHEST_GRADE + 1)
            if _nearly_all(value <= grade for value in above)
        ]
        return max(low, default=0), min(high, default=HIGHEST_GRADE)


def _nearly_all(agree: Iterable[bool]) -> bool:
    votes = list(agree)
    return len(votes) >= NEAREST and sum(votes) >= _AGREEING * len(votes)


def calibrate(queries: Iterable[Sequence[GradedChunk]]) -> Calibration:
    """Learn from the relevant chunks of queries, as far as all passages are marked."""
    graded: list[tuple[float, int]] = []
    for olds in queries:
        answer = find_marked_answer(olds)
        if answer is not None:
            graded += [
                (answer.share(old.spans), old.grade.grade) for old in olds if old.grade.grade
            ]
    return Calibration(graded)
