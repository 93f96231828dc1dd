"""Positions of a query's known relevant chunks in a run, and how much of its top is unjudged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labeler.analysis.failures.failure_rules import RuleRequirement
from labeler.evaluation import Scoreboard
from labeler.model import format_count


@dataclass(frozen=True, slots=True)
class RelevantPositions:
    """Counts of a query's known relevant chunks by where a run has them.

    ``top`` are among the first ``k``, ``below`` further down a list of ``length``, ``elsewhere``
    only in another run, and ``nowhere`` in no run. The top k has ``shown`` chunks (fewer than k in
    a short list), of which ``unjudged`` have no grade and could be relevant. Relevant means grade
    ``rel`` or better; ``first`` is the rank of the first relevant chunk, or None.
    """

    k: int
    length: int
    rel: int
    top: int
    below: int
    elsewhere: int
    nowhere: int
    unjudged: int
    shown: int
    first: int | None

    @property
    def known(self) -> int:
        """Number of known relevant chunks."""
        return self.top + self.below + self.elsewhere + self.nowhere

    @property
    def mostly_unjudged(self) -> bool:
        """Whether more than half of the top is unjudged."""
        return 2 * self.unjudged > self.shown

    @property
    def sentence(self) -> str:
        """The positions in one line.

        >>> RelevantPositions(10, 100, 1, 0, 2, 1, 2, 4, 10, 37).sentence
        '5 known relevant: 0 in the top 10, 2 at 11–100, 3 never retrieved (another run has 1); \
4 of the top 10 are unjudged'
        """
        unjudged = (
            f"; {_describe_unjudged(self.unjudged, f'the top {self.k}')}" if self.unjudged else ""
        )
        what = _describe_known({self.rel})
        where = f"{self.known} {what}: {self._where}" if self.known else f"none {what}"
        return f"{where}{unjudged}"

    @property
    def short_sentence(self) -> str:
        """The positions in one line for a table, whose headings say what is counted.

        >>> RelevantPositions(5, 100, 2, 0, 0, 0, 2, 4, 5, None).short_sentence
        '2 of grade 2+: 0 in the top 5, 2 never retrieved'
        """
        above = f" of grade {self.rel}+" if self.rel > 1 else ""
        return f"{self.known}{above}: {self._where}" if self.known else f"none{above}"

    @property
    def _where(self) -> str:
        missed = self.elsewhere + self.nowhere
        parts = [f"{self.top} in the top {self.k}"]
        if self.below:
            parts.append(f"{self.below} at {_format_span(self.k + 1, self.length)}")
        if missed:
            others = f" (another run has {self.elsewhere})" if self.elsewhere else ""
            parts.append(f"{missed} never retrieved{others}")
        return ", ".join(parts)


def _describe_known(rels: set[int]) -> str:
    """Describe which chunks are counted, given the lowest relevant grades of the queries.

    >>> _describe_known({1}), _describe_known({2})
    ('known relevant', 'known of grade 2 or better')
    >>> _describe_known({1, 2})
    'known of grade 2 or better, or of grade 1 where a query has none such'
    """
    best, least = max(rels), min(rels)
    if best == 1:
        return "known relevant"
    known = f"known of grade {best} or better"
    return known if best == least else f"{known}, or of grade {least} where a query has none such"


def _format_span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _describe_unjudged(unjudged: int, top: str) -> str:
    return f"{unjudged:,} of {top} {'is unjudged' if unjudged == 1 else 'are unjudged'}"


def find_positions(
    board: Scoreboard, run: str, query_id: str, requirement: RuleRequirement
) -> RelevantPositions:
    """Return where a run has the chunks of a query that are relevant under a requirement.

    Raises `NotFound` for an unknown run or query.
    """
    rel, k = requirement.rel, requirement.k
    grades = board.golden(query_id)
    relevant = np.array([chunk for chunk, grade in grades.items() if grade >= rel], dtype=np.int32)
    chunks = board.chunks(run, query_id)
    ranks = np.flatnonzero(np.isin(chunks, relevant)) + 1
    anywhere = np.concatenate([board.chunks(name, query_id) for name in board.run_names])
    found = int(np.isin(relevant, anywhere).sum())
    shown = min(k, len(chunks))
    top = int(np.sum(ranks <= k))
    return RelevantPositions(
        k=k,
        length=len(chunks),
        rel=rel,
        top=top,
        below=len(ranks) - top,
        elsewhere=found - len(ranks),
        nowhere=len(relevant) - found,
        unjudged=int(np.sum(board.grades(query_id, chunks[:k]) < 0)),
        shown=shown,
        first=int(ranks[0]) if len(ranks) else None,
    )


def describe_positions(found: Iterable[RelevantPositions]) -> str:
    """Describe where the relevant chunks of several queries are; empty without a query.

    >>> describe_positions([RelevantPositions(10, 100, 1, 0, 2, 1, 2, 4, 10, 37),
    ...     RelevantPositions(10, 50, 1, 1, 0, 0, 0, 7, 10, 9)])
    '6 known relevant: 1 in the top 10, 2 further down, 3 never retrieved by this run (1 of them \
by another); 11 of the 20 chunks in their top 10 are unjudged, more than half in 1 query'
    """
    each = list(found)
    if not each:
        return ""
    depths = sorted({one.k for one in each})
    top = f"top {depths[0]}" if len(depths) == 1 else f"top {depths[0]} to {depths[-1]}"
    elsewhere = sum(one.elsewhere for one in each)
    missed = elsewhere + sum(one.nowhere for one in each)
    other = f" by this run ({elsewhere:,} of them by another)" if elsewhere else ""
    what = _describe_known({one.rel for one in each if one.known} or {1})
    return (
        f"{sum(one.known for one in each):,} {what}: "
        f"{sum(one.top for one in each):,} in the {top}, "
        f"{sum(one.below for one in each):,} further down, {missed:,} never retrieved{other}"
        f"{_describe_all_unjudged(each, top)}"
    )


def _describe_all_unjudged(each: Sequence[RelevantPositions], top: str) -> str:
    unjudged, mostly = sum(one.unjudged for one in each), sum(one.mostly_unjudged for one in each)
    if not unjudged:
        return ""
    shown = sum(one.shown for one in each)
    words = f"; {_describe_unjudged(unjudged, f'the {shown:,} chunks in their {top}')}"
    in_mostly = format_count(mostly, "query", "queries")
    return f"{words}, more than half in {in_mostly}" if mostly else words
