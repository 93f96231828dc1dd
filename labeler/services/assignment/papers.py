"""What lies before a grader: pairs as they are handed out, and what goes with them.

Knows nothing of who is handed which, nor of requests; nothing here tells of systems and ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labeler.model import Judged, Query, Remark
from labeler.model.likeness import first_alike
from labeler.services.carryover import Hint
from labeler.store import Item, Undoable, Unsayable


@dataclass(frozen=True, slots=True)
class Paper:
    """One pair as it lies before a grader.

    ``source`` says why: from the ``pool``, a ``repeat`` of an earlier chunk, from the ``list`` of a
    whole query, or found by ``search``. ``judged`` is what this grader said of it, and ``hint``
    what is told of it beforehand, so that what they give is not blind.
    """

    item: Item
    source: str
    stale: bool = False
    judged: Judged | None = None
    pooled: bool = True
    hint: Hint | None = None


@dataclass(frozen=True, slots=True)
class About:
    """What a grader gets to know of a query: its help, how far they are, what they said of it."""

    query: Query
    total: int
    left: int
    remark: Remark | None


@dataclass(frozen=True, slots=True)
class Next:
    """The next chunks for a grader, and how far they and all are in their field.

    Of ``queries_total`` nothing is left to grade in ``queries_done``, whoever graded it; in
    ``queries_mine`` of these the grader has graded something, or said something of the query.
    ``looked`` is the share of the texts that was looked at for what is told beforehand.
    """

    papers: Sequence[Paper]
    saved: int
    open: int
    queries_mine: int
    queries_done: int
    queries_total: int
    without_text: int
    looked: float = 1.0


Step = tuple[Undoable, Paper] | Unsayable
"""What a grader did and can take back: a judgment with its pair, or a remark on a query."""


def together(papers: Sequence[Paper]) -> tuple[list[Paper], list[int | None]]:
    """Bring papers together whose chunks are nearly the same; say where each group begins.

    The second list has for each of them the place of the first, None for a chunk that is like no
    other. Of texts that were cut nobody can say it.
    """
    first = first_alike(None if each.item.more else each.item.chunk.text for each in papers)
    groups: dict[int, list[Paper]] = {}
    for at, paper in enumerate(papers):
        groups.setdefault(alike_at if (alike_at := first[at]) is not None else at, []).append(paper)
    ordered: list[Paper] = []
    begins: list[int | None] = []
    for group in groups.values():
        begins += [len(ordered) if len(group) > 1 else None] * len(group)
        ordered += group
    return ordered, begins
