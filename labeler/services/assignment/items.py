"""Records the grading API returns (one item per query-chunk pair), and limits on their size.

An item holds the grader's own judgment and progress, never a system or a rank. Long texts are cut
and long lists are paged; the rest is requested separately.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labeler.model import CurrentJudgment, Query, Remark
from labeler.model.near_duplicates import first_near_duplicates
from labeler.services.transfer import Hint
from labeler.store import PairContent, UndoableJudgment, UndoableRemark


@dataclass(frozen=True, slots=True)
class GradingItem:
    """One pair as it lies before a grader.

    ``source`` says why: from the ``pool``, a ``repeat`` of an earlier chunk, from the ``list`` of a
    whole query, or found by ``search``. ``judged`` is what this grader said of it, and ``hint``
    what is told of it beforehand, so that what they give is not blind.
    """

    item: PairContent
    source: str
    stale: bool = False
    judged: CurrentJudgment | None = None
    pooled: bool = True
    hint: Hint | None = None


@dataclass(frozen=True, slots=True)
class QueryInfo:
    """What a grader gets to know of a query: its help, how far they are, what they said of it."""

    query: Query
    total: int
    left: int
    remark: Remark | None


@dataclass(frozen=True, slots=True)
class NextItems:
    """The next chunks for a grader, and how far they and all are in their field.

    Of ``queries_total`` nothing is left to grade in ``queries_done``, whoever graded it; in
    ``queries_mine`` of these the grader has graded something, or said something of the query.
    ``looked`` is the share of the texts that was looked at for what is told beforehand.
    """

    papers: Sequence[GradingItem]
    saved: int
    open: int
    queries_mine: int
    queries_done: int
    queries_total: int
    without_text: int
    looked: float = 1.0


UndoableStep = tuple[UndoableJudgment, GradingItem] | UndoableRemark
"""What a grader did and can take back: a judgment with its pair, or a remark on a query."""


def group_near_duplicates(
    papers: Sequence[GradingItem],
) -> tuple[list[GradingItem], list[int | None]]:
    """Bring papers together whose chunks are nearly the same; say where each group begins.

    The second list has for each of them the place of the first, None for a chunk that is like no
    other. Of texts that were cut nobody can say it.
    """
    first = first_near_duplicates(
        None if each.item.more else each.item.chunk.text for each in papers
    )
    groups: dict[int, list[GradingItem]] = {}
    for at, paper in enumerate(papers):
        groups.setdefault(alike_at if (alike_at := first[at]) is not None else at, []).append(paper)
    ordered: list[GradingItem] = []
    begins: list[int | None] = []
    for group in groups.values():
        begins += [len(ordered) if len(group) > 1 else None] * len(group)
        ordered += group
    return ordered, begins


LONGEST_TEXT = 20_000  # characters of a chunk that is read alone, before one reads on
LONGEST_IN_LIST = 8_000  # of one among others
LONGEST_HELP = 50_000  # of a query's text, its guideline or its reference
LONGEST_NAME = 2_000  # of a title or a document's id
MOST_LISTED = 200  # chunks of a list
PIECE = 300_000  # characters of a text at a time, for who reads on: six bytes each at worst
MOST_BYTES = 900_000  # of a list of chunks with their queries; an answer has two at most
ELLIPSIS = "…"


def truncate(text: str | None, most: int) -> str | None:
    """Return a text, or its beginning and an ellipsis where it is longer.

    >>> truncate("abcdef", 3), truncate("abc", 3), truncate(None, 3)
    ('abc…', 'abc', None)
    """
    return text if text is None or len(text) <= most else text[:most] + ELLIPSIS


def count_fitting(sizes: Iterable[int], most: int = MOST_BYTES) -> int:
    """Return how many of the first things fit; the first always does.

    >>> count_fitting([5, 5, 5], 11), count_fitting([50, 1], 11), count_fitting([])
    (2, 1, 0)
    """
    count = total = 0
    for size in sizes:
        total += size
        if total > most and count:
            break
        count += 1
    return count


def json_size(answer: object) -> int:
    """Return how many bytes a part of an answer takes."""
    return len(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
