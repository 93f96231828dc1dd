"""Half-open spans of whole numbers: joined, cut, counted; knows nothing of what they are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap or meet as one.

    >>> joined([(5, 9), (0, 5), (20, 30), (12, 12)])
    [(0, 9), (20, 30)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def common(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return what lies in both; each is joined and in order, and so is what is returned.

    >>> common([(0, 9), (20, 30)], [(5, 25)])
    [(5, 9), (20, 25)]
    """
    found = []
    at = 0
    for start, end in some:
        while at < len(others) and others[at][1] <= start:
            at += 1
        reached = at
        while reached < len(others) and others[reached][0] < end:
            found.append((max(start, others[reached][0]), min(end, others[reached][1])))
            reached += 1
    return found


def without(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return what lies in the first alone; each is joined and in order.

    >>> without([(0, 9), (20, 30)], [(5, 25)])
    [(0, 5), (25, 30)]
    """
    found = []
    for start, end in some:
        for other in common([(start, end)], others):
            found.append((start, other[0]))
            start = other[1]
        found.append((start, end))
    return [span for span in found if span[0] < span[1]]


def length(spans: Iterable[Span]) -> int:
    """Return how much spans hold that do not overlap.

    >>> length([(0, 9), (20, 30)])
    19
    """
    return sum(end - start for start, end in spans)
