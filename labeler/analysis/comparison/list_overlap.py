"""Overlap of two runs' ranked lists, which needs no grade: what both found, and where they part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labeler.analysis.comparison.deltas import check_pair
from labeler.evaluation import Scoreboard
from labeler.model import format_count
from labeler.model.results import ANSWER, COUNT, DOUBT, TEXT, Column, Statement, Table

Chunks = npt.NDArray[np.int32]

OVERLAP_DEPTH = 10
"""How many results from the top are compared."""


@dataclass(frozen=True, slots=True)
class QueryOverlap:
    """One query's two lists down to `OVERLAP_DEPTH`.

    They ``share`` so many chunks; ``parts_at`` is the first rank at which they differ, None where
    they do not. ``shown_a`` and ``shown_b`` are how many results there are.
    """

    query_id: str
    share: int
    parts_at: int | None
    shown_a: int
    shown_b: int

    @property
    def only_a(self) -> int:
        return self.shown_a - self.share

    @property
    def only_b(self) -> int:
        return self.shown_b - self.share


@dataclass(frozen=True, slots=True)
class ListOverlap:
    """The overlap of A and B, query by query; ``rows`` are those that both answered.

    The rows begin with those whose lists part most. ``alone`` counts the queries for which only A,
    or only B, has results.
    """

    a: str
    b: str
    rows: Sequence[QueryOverlap]
    alone: tuple[int, int]

    @property
    def mean_share(self) -> float:
        """How many of the first results both have, on average over the queries."""
        return sum(row.share for row in self.rows) / len(self.rows)

    @property
    def parting(self) -> list[QueryOverlap]:
        """The queries in which the lists differ."""
        return [row for row in self.rows if row.parts_at is not None]

    def statements(self, names: tuple[str, str] | None = None) -> list[Statement]:
        """Return what both found, in sentences; ``names`` are shown for A and B."""
        a, b = names or (self.a, self.b)
        n, depth = len(self.rows), OVERLAP_DEPTH
        sentence = f"{a} and {b} share {self.mean_share:.1f} of their top {depth} on average."
        numbers = {"share": self.mean_share, "depth": depth, "n": n}
        found = [Statement("overlap", sentence, ANSWER, numbers=numbers)]
        return [*found, self._first_results(), *self._extremes((a, b))]

    def _first_results(self) -> Statement:
        n = len(self.rows)
        same = sum(row.parts_at != 1 for row in self.rows)
        verb = "is" if n == 1 else "are"
        where = f"In {same:,} of {format_count(n, 'query', 'queries')}"
        sentence = f"{where} the first result is the same."
        if not same or same == n:
            whole = "The first result of the one query" if n == 1 else "The first results"
            every = "" if n == 1 else f" in all {n:,} queries"
            sentence = f"{whole} {verb} {'the same' if same else 'different'}{every}."
        return Statement("first result", sentence, ANSWER, numbers={"same_first": same, "n": n})

    def _extremes(self, names: tuple[str, str]) -> list[Statement]:
        same = len(self.rows) - len(self.parting)
        none = sum(not row.share for row in self.rows)
        found = []
        if none:
            sentence = f"Nothing is shared in {format_count(none, 'query', 'queries')}."
            found.append(Statement("nothing shared", sentence, DOUBT, numbers={"queries": none}))
        if same:
            whole = f"In {format_count(same, 'query', 'queries')} the top {OVERLAP_DEPTH} is"
            sentence = f"{whole} the same in both, in the same order."
            found.append(Statement("same top", sentence, DOUBT, numbers={"queries": same}))
        for name, count in zip(names, self.alone, strict=True):
            if count:
                more = format_count(count, "more query", "more queries")
                sentence = f"{name} alone has results for {more}."
                found.append(Statement("answered alone", sentence, DOUBT))
        return found

    def table(
        self,
        texts: Mapping[str, str],
        most: int | None = None,
        names: tuple[str, str] | None = None,
    ) -> Table:
        """Return the queries in which the lists part, most of all first, at most ``most``."""
        a, b = names or (self.a, self.b)
        columns = (
            *((Column("query", "Query", TEXT),) if texts else ()),
            Column("query_id", "Query id" if texts else "Query"),
            Column("share", f"Shared in the top {OVERLAP_DEPTH}", COUNT),
            Column("parts_at", "First differing rank", COUNT),
            Column("only_a", f"Only {a}", COUNT, detail=True),
            Column("only_b", f"Only {b}", COUNT, detail=True),
        )
        rows = [
            {
                "query_id": row.query_id,
                **({"query": texts.get(row.query_id, "")} if texts else {}),
                "share": row.share,
                "only_a": row.only_a,
                "only_b": row.only_b,
                "parts_at": row.parts_at,
            }
            for row in self.parting[:most]
        ]
        return Table(columns, rows)


def compare_lists(board: Scoreboard, a: str, b: str) -> ListOverlap:
    """Return how far the lists of A and B agree, graded or not.

    Runs of two chunkings share no chunk, so nothing is to be read from their overlap. Raises
    `NotFound` for an unknown run, `BadInput` for two that cannot be compared.

    >>> from labeler.evaluation import Conventions, collect
    >>> lists = {"A": {"q": ["x", "y"], "r": ["z"]}, "B": {"q": ["x", "v"], "r": ["z"]}}
    >>> found = compare_lists(Scoreboard(collect({"q": {}, "r": {}}, lists), Conventions.of()),
    ...     "A", "B")
    >>> [(row.query_id, row.share, row.parts_at) for row in found.rows]
    [('q', 1, 2), ('r', 1, None)]
    >>> found.statements()[0].sentence
    'A and B share 1.0 of their top 10 on average.'
    """
    board = board.snapshot()
    check_pair(board, a, b)
    rows, alone = [], [0, 0]
    for query_id in board.collection.query_ids:
        in_a, in_b = (board.chunks(run, query_id)[:OVERLAP_DEPTH] for run in (a, b))
        if len(in_a) and len(in_b):
            rows.append(_overlap(query_id, in_a, in_b))
        else:
            alone[0] += len(in_a) > 0
            alone[1] += len(in_b) > 0
    never = OVERLAP_DEPTH + 1
    rows.sort(key=lambda row: (row.share - max(row.shown_a, row.shown_b), row.parts_at or never))
    return ListOverlap(a, b, rows, (alone[0], alone[1]))


def _overlap(query_id: str, in_a: Chunks, in_b: Chunks) -> QueryOverlap:
    both = min(len(in_a), len(in_b))
    apart = np.flatnonzero(in_a[:both] != in_b[:both])
    is_same = not len(apart) and len(in_a) == len(in_b)
    parts_at = None if is_same else (int(apart[0]) if len(apart) else both) + 1
    share = len(np.intersect1d(in_a, in_b))
    return QueryOverlap(query_id, share, parts_at, len(in_a), len(in_b))
