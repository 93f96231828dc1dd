"""Records that the grading API returns (one item per query-chunk pair), and limits on their size.

An item holds the grader's own judgment and progress, never a system or a rank. Long texts are cut
and long lists are paged; the rest is requested separately.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeler.model import CurrentJudgment, Pair, Query, Remark
from labeler.model.near_duplicates import first_near_duplicates
from labeler.services.transfer import Hint
from labeler.store import PairContent, UndoableJudgment, UndoableRemark


@dataclass(frozen=True, slots=True)
class GradingItem:
    """One query-chunk pair for a grader.

    ``source`` is why the grader gets it: the ``pool``, a ``repeat`` of an earlier chunk, the
    ``list`` of a whole query, or a ``search``. ``judged`` is the grader's own judgment. With a
    ``hint`` from a transfer, the grade given is not blind. ``copies`` is how many chunks of the
    query's pool have this text, for all of which the grade counts. ``asked`` is whether the
    grader is asked for the pair: it is open to them, or they have judged it.
    """

    item: PairContent
    source: str
    stale: bool = False
    judged: CurrentJudgment | None = None
    pooled: bool = True
    hint: Hint | None = None
    copies: int = 1
    asked: bool = True


@dataclass(frozen=True, slots=True)
class QueryInfo:
    """A query as a grader sees it: its texts, the grader's progress and remark."""

    query: Query
    total: int
    left: int
    mine: int
    remark: Remark | None


@dataclass(frozen=True, slots=True)
class DecisionWork:
    """What decides between two runs: ``pairs``, the most decisive first, and how far it is.

    About ``likely`` more grades settle it; nothing says which two runs, or which is ahead.
    """

    pairs: Sequence[Pair]
    graded: int
    likely: int
    settled: bool


@dataclass(frozen=True, slots=True)
class NextItems:
    """The next chunks for a grader, and the progress in the grader's scope.

    Of ``queries_total``, ``queries_done`` have nothing left to grade, and in ``queries_mine`` of
    those the grader has graded a chunk or left a remark. ``looked`` is the computed share of the
    hints of a transfer. ``decision`` is there if the scope is what decides between two runs.
    """

    papers: Sequence[GradingItem]
    saved: int
    open: int
    queries_mine: int
    queries_done: int
    queries_total: int
    without_text: int
    looked: float = 1.0
    decision: DecisionWork | None = None


@dataclass(frozen=True, slots=True)
class OwnWork:
    """What a grader has graded so far, counted: by grade, by kind, and in how many queries.

    ``found`` are the judgments of the kind that was asked for, ``items`` a part of them with their
    texts, the newest first.
    """

    items: Sequence[GradingItem]
    found: int
    by_grade: Mapping[int, int]
    cannot_tell: int
    with_note: int
    queries: int


UndoableStep = tuple[UndoableJudgment, GradingItem] | UndoableRemark
"""A step that a grader can undo: a judgment with its item, or a remark on a query."""


def group_near_duplicates(
    items: Sequence[GradingItem],
) -> tuple[list[GradingItem], list[int | None]]:
    """Return the items with near-duplicate chunks next to each other, and where each group begins.

    The second list has for each item the index of the first one of its group, None for a chunk
    without near-duplicates. Texts that were cut are not compared. What the grader is not asked for
    comes last, beside nothing that they are.
    """
    if others := [each for each in items if not each.asked]:
        ordered, begins = _grouped([each for each in items if each.asked])
        last, last_begins = _grouped(others)
        begins += [at if at is None else at + len(ordered) for at in last_begins]
        return ordered + last, begins
    return _grouped(items)


def _grouped(items: Sequence[GradingItem]) -> tuple[list[GradingItem], list[int | None]]:
    first = first_near_duplicates(
        None if each.item.more else each.item.chunk.text for each in items
    )
    groups: dict[int, list[GradingItem]] = {}
    for at, each in enumerate(items):
        groups.setdefault(alike_at if (alike_at := first[at]) is not None else at, []).append(each)
    ordered: list[GradingItem] = []
    begins: list[int | None] = []
    for group in groups.values():
        begins += [len(ordered) if len(group) > 1 else None] * len(group)
        ordered += group
    return ordered, begins


LONGEST_TEXT = 20_000  # characters of a single chunk; the rest is loaded on request
LONGEST_IN_LIST = 8_000  # characters of a chunk in a list
LONGEST_HELP = 50_000  # characters of a query's text, its guideline or its reference
LONGEST_NAME = 2_000  # characters of a title or a document's id
MOST_LISTED = 200  # chunks in a list
MOST_OWN = 50  # of a grader's own judgments at once
PIECE = 50_000  # characters of a long text per request: a browser lays them out at once
MOST_BYTES = 900_000  # of a list of chunks with their queries; a response has at most two
ELLIPSIS = "…"


def truncate(text: str | None, most: int) -> str | None:
    """Return a text, or its first ``most`` characters and an ellipsis where it is longer.

    >>> truncate("abcdef", 3), truncate("abc", 3), truncate(None, 3)
    ('abc…', 'abc', None)
    """
    return text if text is None or len(text) <= most else text[:most] + ELLIPSIS


def count_fitting(sizes: Iterable[int], most: int = MOST_BYTES) -> int:
    """Return how many items, from the first on, fit into ``most`` bytes; at least the first.

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
    """Return the number of bytes of a part of a response."""
    return len(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
