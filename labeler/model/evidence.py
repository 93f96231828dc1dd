"""Which passages of a text made a grade, as places in it; knows no text and no grade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from labeler.errors import BadInput

MOST_PASSAGES = 100
LONGEST_TEXT = 2**31  # characters: a place beyond it is a slip

Passage: TypeAlias = tuple[int, int]
"""Where a passage begins and ends in a chunk's stored text, in Unicode code points, half open.

JavaScript counts UTF-16 code units and most editors bytes: both have to be converted.
"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The passages of one wording of a text, in order; ``text_hash`` is its fingerprint."""

    text_hash: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class GradeEvidence:
    """The passages that one current judgment rests on.

    ``who`` is the grader, or those whom an import names. ``is_golden`` says that the golden grade
    of the pair is this one, ``is_found`` that the chunk's text still is the one they were marked
    in: where it is not, the places mean nothing in it.
    """

    query_id: str
    chunk_id: str
    grade: int
    who: tuple[str, ...]
    judgment: int
    kind: str
    passages: tuple[Passage, ...]
    text_hash: str
    is_golden: bool
    is_found: bool


def by_chunk(evidence: Iterable[GradeEvidence]) -> dict[str, list[GradeEvidence]]:
    """Return what was marked for one query by the ids of the chunks."""
    found: dict[str, list[GradeEvidence]] = {}
    for each in evidence:
        found.setdefault(each.chunk_id, []).append(each)
    return found


def check_evidence(value: object) -> tuple[Passage, ...]:
    """Return passages that were given as a list of ``[start, end]``; none of them is an empty list.

    Raises `BadInput` where they are not in order, overlap, hold nothing or are too many.

    >>> check_evidence([[0, 12], [30, 41]])
    ((0, 12), (30, 41))
    >>> check_evidence([[5, 5]])
    Traceback (most recent call last):
    labeler.errors.BadInput: evidence: the passage [5, 5] holds nothing: it ends where it starts
    """
    if not isinstance(value, list | tuple):
        raise BadInput(f"evidence must be a list of [start, end], not {_short(value)}")
    if len(value) > MOST_PASSAGES:
        raise BadInput(f"evidence can have {MOST_PASSAGES} passages, not {len(value):,}")
    passages = tuple(map(_passage, value))
    for before, after in pairwise(passages):
        if after[0] < before[1]:
            raise BadInput(
                f"evidence: the passages {list(before)} and {list(after)} overlap or are not in "
                "order; sort them by their start"
            )
    return passages


def check_inside(passages: Sequence[Passage], length: int) -> None:
    """Raise `BadInput` where a passage ends beyond a text of so many characters."""
    if passages and passages[-1][1] > length:
        raise BadInput(
            f"evidence: the passage {list(passages[-1])} ends beyond the text, which has "
            f"{length:,} characters (Unicode code points)"
        )


def union_of(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return passages in order, those that overlap as one; those that only meet stay apart.

    >>> union_of([(20, 30), (0, 5), (5, 9), (25, 40)])
    ((0, 5), (5, 9), (20, 40))
    """
    found: list[Passage] = []
    for start, end in sorted(passages):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return tuple(found)


def _passage(value: object) -> Passage:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise BadInput(f"evidence: a passage is [start, end], not {_short(value)}")
    start, end = value
    for place in (start, end):
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < LONGEST_TEXT:
            raise BadInput(
                f"evidence: a place in a text is a whole number from 0 on, not {_short(place)}"
            )
    if end == start:
        raise BadInput(
            f"evidence: the passage [{start}, {end}] holds nothing: it ends where it starts"
        )
    if end < start:
        raise BadInput(f"evidence: the passage [{start}, {end}] ends before it starts")
    return start, end


def _short(value: object) -> str:
    return repr(value)[:60]
