"""The grade of a new chunk, between the least and the most that graded chunks leave it.

Knows what a chunk holds of others; not how that was found, nor who gave the grades.
"""

from __future__ import annotations

from typing import NamedTuple

from labeler.rechunking.calibrating import Learnt
from labeler.rechunking.records import Carried, State
from labeler.rechunking.seeing import TRIFLE, Held, Sight
from labeler.rechunking.spans import common, length, without

BEST = 3
COVERED = 0.98  # of a text must lie in graded chunks for a grade to follow
LIKELY = 0.8  # the share of an unmarked relevant text from which on its grade is likely


class Bound(NamedTuple):
    """A least or a highest grade, and why it is that."""

    grade: int
    reason: str


def decide(query_id: str, sight: Sight, learnt: Learnt | None = None) -> Carried:
    """Return what is decided, proposed or open of a chunk, with the reason."""
    low, high = _bounds(sight, learnt)
    state, grade, reason = _stated(sight, low, high)
    return Carried(
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


def _bounds(sight: Sight, learnt: Learnt | None) -> tuple[Bound, Bound]:
    """Return the least and the highest grade there may be."""
    same = _same(sight)
    if same:
        grades = [each.grade for each in same]
        reason = f"the same text as chunk {same[0].old.grade.chunk_id}"
        return Bound(max(grades), reason), Bound(min(grades), reason)
    low, high = _low(sight), _high(sight)
    if learnt is None or low.grade >= high.grade:
        return low, high
    reason = (
        f"it holds {learnt.share:.0%} of what is marked for the query, as chunks of that grade do"
    )
    if low.grade < learnt.low <= high.grade:
        low = Bound(learnt.low, reason)
    if low.grade <= learnt.high < high.grade:
        high = Bound(learnt.high, reason)
    return low, high


def _stated(sight: Sight, low: Bound, high: Bound) -> tuple[State, int | None, str]:
    doubt = _doubt(sight, low, high)
    if sight.covered < COVERED:
        return "open", None, _said_of_cover(sight)
    if low.grade == high.grade:
        reason = low.reason or high.reason
        return ("proposed", low.grade, doubt) if doubt else ("decided", low.grade, reason)
    if low.grade > high.grade:
        return "proposed", high.grade, f"graded chunks differ: {low.reason}, yet {high.reason}"
    likely = _likely(sight, low, high)
    if likely is None:
        return "open", None, f"a part of chunk {_best(sight)}, in which no passage is marked"
    reasons = [reason for reason in (low.reason, high.reason, doubt) if reason]
    return "proposed", likely, "; ".join(reasons) or _said_of_share(sight)


def _doubt(sight: Sight, low: Bound, high: Bound) -> str:
    """Return why nothing is decided although a grade follows; nothing where it may be."""
    if sight.place.others:
        return f"its text stands in {sight.place.others + 1} places or more"
    if any(each.old.place.others for each in sight.held):
        return "a graded chunk's text stands in several places"
    if sight.place.is_changed:
        return "words of its text were changed"
    return ""


def _said_of_cover(sight: Sight) -> str:
    if not sight.place.segments:
        return "its text was not found"
    return f"{sight.covered:.0%} of its text lies in graded chunks"


def _said_of_share(sight: Sight) -> str:
    best = max(sight.held, key=lambda each: each.share * each.grade)
    of = "what is marked in chunk" if best.is_marked else "chunk"
    return f"it holds {best.share:.0%} of {of} {best.old.grade.chunk_id}, grade {best.grade}"


def _same(sight: Sight) -> list[Held]:
    """Return the graded chunks whose text it is, up to what does not count."""
    return [
        each
        for each in sight.held
        if each.of_text >= 1 - TRIFLE and length(each.cover) >= (1 - TRIFLE) * sight.size
    ]


def _low(sight: Sight) -> Bound:
    """Return the best grade of which the chunk holds all that made it."""
    low = Bound(0, "")
    for each in sight.held:
        name = each.old.grade.chunk_id
        if each.all and each.grade > low.grade:
            what = "every passage" if each.is_marked else "all"
            low = Bound(each.grade, f"it holds {what} of chunk {name}, grade {each.grade}")
        elif each.some and each.grade and not low.grade:
            low = Bound(1, f"it holds a passage of chunk {name}, grade {each.grade}")
    return low


def _high(sight: Sight) -> Bound:
    """Return the least grade of a chunk that holds all it may have of an answer."""
    if not sight.possible:
        zero = all(each.grade == 0 for each in sight.held)
        where = "chunks graded 0" if zero else "graded chunks, outside of what made their grades"
        return Bound(0, f"its text lies in {where}")
    high = Bound(BEST, "")
    for each in sight.held:
        missed = without(sight.possible, each.cover)
        is_in = length(missed) <= TRIFLE * length(sight.possible) or not sight.says(missed)
        if is_in and each.grade < high.grade:
            name = each.old.grade.chunk_id
            high = Bound(
                each.grade, f"what it may answer with is in chunk {name}, grade {each.grade}"
            )
    return high


def _likely(sight: Sight, low: Bound, high: Bound) -> int | None:
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


def _best(sight: Sight) -> str:
    """Return the chunk that covers most of what it may answer with."""
    relevant = [each for each in sight.held if each.grade]
    return max(
        relevant, key=lambda each: length(common(each.cover, sight.possible))
    ).old.grade.chunk_id
