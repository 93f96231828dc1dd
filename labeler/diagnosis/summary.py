"""What all failing queries say together: ranking or recall, and whether reranking helped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labeler.diagnosis.classes import GENERATION, FailureClass, Side
from labeler.diagnosis.failures import Failure, classes_among
from labeler.diagnosis.places import Places, summed
from labeler.evaluation import Scoreboard

Found = Mapping[str, Failure | None]
MATTERS: Mapping[Side, tuple[str, str]] = {
    "ranking": ("ranking", "what they need is in the list, in a poor order: a reranker can help"),
    "recall": ("recall", "it is not in the list, or too little of it: no reranker can help"),
    "unknown": ("cannot be told", "nobody knows a chunk that they need"),
    "generation": (
        "generation",
        "it is in the prompt, and the answer is wrong: no retriever can help",
    ),
}
"""What each side of a `FailureClass` is called, and what it means for queries."""
RERANKED: Mapping[Side, str] = {
    "recall": "what is needed is not in the list: reranking did not help, so it is recall",
    "ranking": "what is needed is in the list, and reranking did not bring it up",
}


def in_words(found: Found, where: str) -> list[str]:
    """Say in sentences how many queries fail, and whether it is ranking, recall or missing grades.

    ``where`` says when one fails, as `fails_where` does.

    >>> in_words({"q1": None, "q2": None}, "RR is below 0.5")
    ['0 of 2 judged queries fail; one fails where RR is below 0.5']
    """
    sides = [each.failure.side for each in found.values() if each is not None]
    if not sides:
        return [f"0 of {len(found):,} judged queries fail; one fails where {where}"]
    missed = [each for each in found.values() if each and each.failure is not GENERATION]
    matters = [
        f"{name} {sides.count(side):,} ({meaning})"
        for side, (name, meaning) in MATTERS.items()
        if side in sides
    ]
    places = summed(each.places for each in missed)
    if 0 < len(missed) < len(sides):
        places = f"apart from generation, {places}"
    return [
        f"{len(sides):,} of {len(found):,} judged queries fail: {where}",
        " · ".join(matters),
        places,
    ]


class Tally(NamedTuple):
    """The failing queries of one class: how many, and where their known relevant chunks are.

    Of these ``top`` are in the top k of the lists, ``below`` further down, and ``missed`` not in
    the run. For ``mostly_holes`` of the queries more than half of the top is not graded.
    """

    queries: int
    top: int
    below: int
    missed: int
    mostly_holes: int


def tallies(found: Found) -> dict[FailureClass, Tally]:
    """Count what is known of each class, the most frequent first, those that nobody has last."""
    failing = [each for each in found.values() if each is not None]
    made = {
        kind: _tally([each.places for each in failing if each.failure is kind])
        for kind in classes_among([each.failure for each in failing])
    }
    return dict(sorted(made.items(), key=lambda pair: -pair[1].queries))


def _tally(each: Sequence[Places]) -> Tally:
    return Tally(
        len(each),
        sum(one.top for one in each),
        sum(one.below for one in each),
        sum(one.elsewhere + one.nowhere for one in each),
        sum(one.mostly_holes for one in each),
    )


def reranking_in_words(
    board: Scoreboard, a: str, b: str, in_a: Found, in_b: Found, which: str = "fail in both"
) -> str:
    """Say what reranking did for the queries that fail in A and in B, by the same rule.

    Only those count for which B holds no chunk that A has not. Empty where there is none.
    ``which`` says in words what the rule found.
    """
    both = [each for name, each in in_b.items() if each and in_a.get(name)]
    sides = [each.failure.side for each in both if _only_reorders(board, a, b, each.query_id)]
    if not sides:
        return ""
    of = "all" if len(both) == len(sides) > 1 else f"{len(sides):,} of"
    parts = [f"B only reorders what A found in {of} {len(both):,} queries that {which}"]
    parts += [f"for {sides.count(side):,} {RERANKED[side]}" for side in RERANKED if side in sides]
    return "; ".join(parts)


def reranking_of_one(
    board: Scoreboard, a: str, b: str, in_a: Failure | None, in_b: Failure | None
) -> str:
    """Say what reranking did for one query that fails in both, as `reranking_in_words` does."""
    if in_a is None or in_b is None or in_b.failure.side not in RERANKED:
        return ""
    if not _only_reorders(board, a, b, in_b.query_id):
        return ""
    return f"B only reorders what A found here; {RERANKED[in_b.failure.side]}"


def _only_reorders(board: Scoreboard, a: str, b: str, query_id: str) -> bool:
    in_a, in_b = (board.chunks(run, query_id) for run in (a, b))
    return len(in_b) > 0 and bool(np.isin(in_b, in_a).all())
