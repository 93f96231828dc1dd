"""Transfer of grades to another chunking: which grades of new chunks follow from old grades.

A grade says how much of the answer to a query a chunk contains. A chunk that contains all evidence
of another is at least as good; a chunk whose evidence is all contained in another is at most as
good. A grade is decided where the two bounds meet.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labeler.errors import NotFound
from labeler.rechunking.location import LocatedChunkings, Progress
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
from labeler.rechunking.records import ChunkLocation, DerivedGrade, OldGrade, TransferState

_PAIRS_PER_REPORT = 256
_MOST_PLACES = 8  # of a text that repeats: what would be decided is looked at there


def transfer_grades(
    grades: Iterable[OldGrade],
    asked: Iterable[tuple[str, str]],
    places: LocatedChunkings,
    progress: Progress | None = None,
) -> list[DerivedGrade]:
    """Return for each pair ``asked`` the grade that follows from the old chunking's grades.

    A grade is decided if graded chunks cover all but 2% of the text and one of these holds. The
    text is that of a graded chunk. It is covered by chunks graded 0, or by parts of others outside
    the evidence for their grades (0). It contains all evidence of a grade, and nothing more. Or it
    contains as much of the text marked for its query as graded chunks of a single grade do. A
    relevant chunk without marked passages is transferred only whole. Nothing is decided if the
    location is ambiguous, if words of the text were changed, or if graded chunks contradict each
    other.

    ``grades`` are golden grades of the old chunking, of any queries; ``asked`` are pairs of query
    and new chunk. The result is in their order. Raises `NotFound` for an unknown chunk.

    >>> from labeler.rechunking import GradeBasis, Cut, OldGrade, find_locations
    >>> old = [Cut("o1", "Fees are due in May. Late fees are refused."), Cut("o2", "Dues vary.")]
    >>> new = [Cut("n1", "Fees are due in May."), Cut("n2", "Late fees are refused. Dues vary.")]
    >>> basis = GradeBasis(7, ((0, 19),))
    >>> grades = [OldGrade("when", "o1", 3, (basis,)), OldGrade("when", "o2", 0)]
    >>> asked, places = [("when", "n1"), ("when", "n2")], find_locations(old, new)
    >>> [(each.state, each.grade) for each in transfer_grades(grades, asked, places)]
    [('decided', 3), ('decided', 0)]
    """
    graded: dict[str, list[GradedChunk]] = defaultdict(list)
    for grade in grades:
        if grade.chunk_id not in places.old:
            raise NotFound(f"chunk {grade.chunk_id!r} is graded, and not in the old chunking")
        graded[grade.query_id].append(locate_graded_chunk(grade, places))
    calibration = calibrate(graded.values())
    answers = {query_id: find_marked_answer(chunks) for query_id, chunks in graded.items()}
    pairs = list(asked)
    found = []
    for done, (query_id, chunk_id) in enumerate(pairs, 1):
        if chunk_id not in places.new:
            raise NotFound(f"chunk {chunk_id!r} is asked for, and not in the new chunking")
        near = graded.get(query_id, ())
        overlap = find_overlap(chunk_id, near, places)
        learnt = calibration.of(overlap, answers.get(query_id))
        derived = decide_grade(query_id, overlap, learnt)
        if _is_repeated(overlap) and derived.state != "decided":
            at_places = (find_overlap(chunk_id, near, places, at) for at in _some_places(overlap))
            follow = [_follows(each, calibration, answers.get(query_id)) for each in at_places]
            derived = derived._replace(if_located=sum(follow) / len(follow))
        found.append(derived)
        if progress is not None and (done % _PAIRS_PER_REPORT == 0 or done == len(pairs)):
            progress(done / len(pairs))
    return found


BEST_GRADE = 3
COVERED = 0.98  # the share of a text that graded chunks must cover for a decided grade
LIKELY = 0.8  # from this share of an unmarked relevant text on, its grade is likely


class GradeBound(NamedTuple):
    """A lowest or a highest possible grade, and the reason."""

    grade: int
    reason: str


def decide_grade(
    query_id: str, overlap: ChunkOverlap, learnt: LearntBounds | None = None
) -> DerivedGrade:
    """Return the decided, proposed or open grade of a chunk, with the reason."""
    low, high = _bounds(overlap, learnt)
    state, grade, reason = _state_of(overlap, low, high)
    judgments = (base.judgment for each in overlap.coverages for base in each.old.grade.bases)
    return DerivedGrade(
        query_id,
        overlap.chunk_id,
        state,
        grade,
        reason,
        overlap.covered,
        low.grade,
        high.grade,
        tuple(dict.fromkeys(judgments)),
        overlap.passages,
    )


def _bounds(overlap: ChunkOverlap, learnt: LearntBounds | None) -> tuple[GradeBound, GradeBound]:
    same = _same_text(overlap)
    if same:
        grades = [each.grade for each in same]
        reason = f"the same text as chunk {same[0].old.grade.chunk_id}"
        return GradeBound(max(grades), reason), GradeBound(min(grades), reason)
    low, high = _lower_bound(overlap), _upper_bound(overlap)
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
    overlap: ChunkOverlap, low: GradeBound, high: GradeBound
) -> tuple[TransferState, int | None, str]:
    doubt = _why_undecided(overlap, low, high)
    if overlap.covered < COVERED:
        return "open", None, _describe_cover(overlap)
    if low.grade == high.grade:
        reason = low.reason or high.reason
        return ("proposed", low.grade, doubt) if doubt else ("decided", low.grade, reason)
    if low.grade > high.grade:
        return "proposed", high.grade, f"graded chunks differ: {low.reason}, yet {high.reason}"
    likely = _likely_grade(overlap, low, high)
    if likely is None:
        return (
            "open",
            None,
            f"a part of chunk {_most_covered(overlap)}, in which no passage is marked",
        )
    reasons = [reason for reason in (low.reason, high.reason, doubt) if reason]
    return "proposed", likely, "; ".join(reasons) or _describe_share(overlap)


def _is_repeated(overlap: ChunkOverlap) -> bool:
    """Say whether the chunk or a graded one fits several places."""
    olds = (each.old.location.others for each in overlap.coverages)
    return bool(overlap.location.others) or any(olds)


def _some_places(overlap: ChunkOverlap) -> list[ChunkLocation]:
    """Return the chunk at some of the places that its text fits."""
    location = overlap.location
    step = max(1, len(location.starts) // _MOST_PLACES)
    return [location.at(start) for start in location.starts[::step]] or [location]


def _follows(overlap: ChunkOverlap, calibration: Calibration, answer: MarkedAnswer | None) -> bool:
    """Say whether a grade would be decided if all locations were sure."""
    low, high = _bounds(overlap, calibration.of(overlap, answer))
    is_changed = overlap.location.is_changed
    return overlap.covered >= COVERED and low.grade == high.grade and not is_changed


def _why_undecided(overlap: ChunkOverlap, low: GradeBound, high: GradeBound) -> str:
    """Return why a grade that follows is not decided; an empty text if it may be."""
    if overlap.location.others:
        return f"its text fits {overlap.location.others + 1} places equally well"
    if any(each.old.location.others for each in overlap.coverages):
        return "a graded chunk's text fits several places equally well"
    if overlap.location.is_changed:
        return "words of its text were changed"
    return ""


def _describe_cover(overlap: ChunkOverlap) -> str:
    if not overlap.location.segments:
        return "its text was not found"
    return f"{overlap.covered:.0%} of its text is in graded chunks"


def _describe_share(overlap: ChunkOverlap) -> str:
    best = max(overlap.coverages, key=lambda each: each.share * each.grade)
    of = "what is marked in chunk" if best.is_marked else "chunk"
    return f"it holds {best.share:.0%} of {of} {best.old.grade.chunk_id}, grade {best.grade}"


def _same_text(overlap: ChunkOverlap) -> list[Coverage]:
    """Return the graded chunks with the same text, up to 2%."""
    return [
        each
        for each in overlap.coverages
        if each.of_text >= 1 - TRIFLE and total_length(each.cover) >= (1 - TRIFLE) * overlap.size
    ]


def _lower_bound(overlap: ChunkOverlap) -> GradeBound:
    """Return the best grade with all its evidence in the chunk."""
    low = GradeBound(0, "")
    for each in overlap.coverages:
        name = each.old.grade.chunk_id
        if each.all and each.grade > low.grade:
            what = "every passage" if each.is_marked else "all"
            low = GradeBound(each.grade, f"it holds {what} of chunk {name}, grade {each.grade}")
        elif each.some and each.grade and not low.grade:
            low = GradeBound(1, f"it holds a passage of chunk {name}, grade {each.grade}")
    return low


def _upper_bound(overlap: ChunkOverlap) -> GradeBound:
    """Return the lowest grade of a graded chunk that contains all possible evidence."""
    if not overlap.possible:
        zero = all(each.grade == 0 for each in overlap.coverages)
        where = "chunks graded 0" if zero else "graded chunks, outside of what made their grades"
        return GradeBound(0, f"its text is in {where}")
    high = GradeBound(BEST_GRADE, "")
    trifle = TRIFLE * total_length(overlap.possible)
    for each in overlap.coverages:
        missed = subtract_spans(overlap.possible, each.cover)
        is_in = total_length(missed) <= trifle or not overlap.has_words_in(missed)
        if is_in and each.grade < high.grade:
            name = each.old.grade.chunk_id
            high = GradeBound(
                each.grade, f"what it may answer with is in chunk {name}, grade {each.grade}"
            )
    return high


def _likely_grade(overlap: ChunkOverlap, low: GradeBound, high: GradeBound) -> int | None:
    """Return the likely grade between two bounds; None if none is."""
    shares = [
        (each.share * each.grade, each)
        for each in overlap.coverages
        if each.grade and (each.is_marked or each.share >= LIKELY)
    ]
    if not shares and not low.grade:
        return None
    best = max((share for share, _ in shares), default=0.0)
    return max(low.grade, min(high.grade, round(best)))


def _most_covered(overlap: ChunkOverlap) -> str:
    """Return the relevant chunk that covers most of the possible evidence."""
    relevant = [each for each in overlap.coverages if each.grade]
    return max(
        relevant, key=lambda each: total_length(intersect_spans(each.cover, overlap.possible))
    ).old.grade.chunk_id


NEAREST = 10  # graded chunks on each side that must agree
_AGREEING = 0.97  # the share of them that must


class MarkedAnswer(NamedTuple):
    """All text marked for a query of which every relevant chunk has marked passages."""

    spans: list[Span]

    def share(self, spans: Sequence[Span]) -> float:
        """Return the share of it in spans of the text index, from 0 to 1."""
        return total_length(intersect_spans(self.spans, spans)) / total_length(self.spans)


def find_marked_answer(graded: Sequence[GradedChunk]) -> MarkedAnswer | None:
    """Return all text marked for a query; None if a relevant chunk has no evidence marked."""
    relevant = [old for old in graded if old.grade.grade]
    if not relevant or not all(old.evidence for old in relevant):
        return None
    return MarkedAnswer(merge_spans(span for old in relevant for span in old.evidence))


class LearntBounds(NamedTuple):
    """The share of an answer in a chunk, and the grades of chunks with a similar share."""

    share: float
    low: int
    high: int


class Calibration:
    """The relation between a chunk's share of an answer and its grade, learnt from graded chunks.

    Where grades do not follow the share, the bounds are 0 and 3.
    """

    def __init__(self, graded: Iterable[tuple[float, int]]) -> None:
        pairs = sorted(graded)
        self._shares = [share for share, _ in pairs]
        self._grades = [grade for _, grade in pairs]

    def of(self, overlap: ChunkOverlap, answer: MarkedAnswer | None) -> LearntBounds | None:
        """Return the learnt bounds of a chunk; None if it contains nothing marked."""
        if answer is None or not overlap.evidence:
            return None
        share = answer.share(merge_spans(overlap.location.spans))
        return LearntBounds(share, *self.bounds(share))

    def bounds(self, share: float) -> Span:
        """Return the lowest and the highest grade of a chunk with this share of an answer.

        Nearly all of the ten graded chunks with shares just below, and of those with the same
        share, have at least the lowest grade. Nearly all with the same share and of the ten just
        above have at most the highest.

        >>> graded = [(at / 100, 1 if at < 50 else 2) for at in range(0, 90)]
        >>> Calibration(graded).bounds(0.7), Calibration(graded).bounds(0.5)
        ((2, 2), (1, 2))
        """
        first, last = bisect_left(self._shares, share), bisect_right(self._shares, share)
        below = self._grades[max(0, first - NEAREST) : last]
        above = self._grades[first : last + NEAREST]
        low = [
            grade
            for grade in range(BEST_GRADE + 1)
            if _nearly_all(value >= grade for value in below)
        ]
        high = [
            grade
            for grade in range(BEST_GRADE + 1)
            if _nearly_all(value <= grade for value in above)
        ]
        return max(low, default=0), min(high, default=BEST_GRADE)


def _nearly_all(agree: Iterable[bool]) -> bool:
    votes = list(agree)
    return len(votes) >= NEAREST and sum(votes) >= _AGREEING * len(votes)


def calibrate(queries: Iterable[Sequence[GradedChunk]]) -> Calibration:
    """Learn from the relevant chunks of those queries that have all passages marked."""
    pairs: list[tuple[float, int]] = []
    for graded in queries:
        answer = find_marked_answer(graded)
        if answer is not None:
            pairs += [
                (answer.share(old.spans), old.grade.grade) for old in graded if old.grade.grade
            ]
    return Calibration(pairs)
