"""What all failing queries say together: ranking or recall, and whether reranking helped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labeler.analysis.failures.classes import GENERATION, FailureClass, Side
from labeler.analysis.failures.failures import Failure, classes_among
from labeler.analysis.failures.places import Places, summed
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
LEFT_OUT = "left out"
RERANKED: Mapping[str, str] = {
    "recall": "what is needed is in neither list: reranking did not help, so it is recall",
    LEFT_OUT: "what is needed is in A's list, and B left it out: keep more of what is reranked",
    "ranking": "what is needed is in the list, and reranking did not bring it up",
}
"""What reranking did for a query that fails in A and in B."""


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
    both = [(here, each) for name, each in in_b.items() if each and (here := in_a.get(name))]
    within = [_reranked(*each) for each in both if _is_within(board, a, b, each[1])]
    if not within:
        return ""
    of = "all" if len(both) == len(within) > 1 else f"{len(within):,} of"
    parts = [f"B holds nothing that A did not find in {of} {len(both):,} queries that {which}"]
    parts += [
        f"for {within.count(what):,} {said}" for what, said in RERANKED.items() if what in within
    ]
    if others := within.count(""):
        parts.append(f"for {others:,} it cannot be told")
    return "; ".join(parts)


def reranking_of_one(
    board: Scoreboard, a: str, b: str, in_a: Failure | None, in_b: Failure | None
) -> str:
    """Say what reranking did for one query that fails in both, as `reranking_in_words` does."""
    if in_a is None or in_b is None or not _is_within(board, a, b, in_b):
        return ""
    what = _reranked(in_a, in_b)
    return f"B holds nothing here that A did not find; {RERANKED[what]}" if what else ""


def _reranked(in_a: Failure, in_b: Failure) -> str:
    """Return what reranking did, of `RERANKED`; nothing where no list or no grade tells."""
    a, b = in_a.failure.side, in_b.failure.side
    if b == "recall" and a == "ranking":  # the best order of A's list would do
        return LEFT_OUT
    return b if b in RERANKED else ""


def _is_within(board: Scoreboard, a: str, b: str, failure: Failure) -> bool:
    in_a, in_b = (board.chunks(run, failure.query_id) for run in (a, b))
    return len(in_b) > 0 and bool(np.isin(in_b, in_a).all())
