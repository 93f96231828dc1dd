"""Lists of runs that a file's reader has by column, in which only the judged chunks are looked up.

The id of another chunk is made a text only if somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from labeler.evaluation.alignment import (
    Lists,
    Scores,
    hits_of,
    in_trec_eval_order,
    lists_with,
    pairs_of,
)
from labeler.evaluation.graded import Chunks, QueryGrades
from labeler.evaluation.plain import Qrels
from labeler.measures import Bools, Hits, Ints
from labeler.model import Collection, Rankings, RankingsByQuery

_ROW = 35  # the bits of a hit's number below its row: 33 for its rank, then 2 for its grade


class ListsByColumn(Lists):
    """The lists of runs that are all by column; ``_queries`` are whose they are, -1 for unknown."""

    def __init__(
        self,
        collection: Collection,
        qrels: Qrels,
        runs: Sequence[RankingsByQuery],
        by_score: bool,
    ) -> None:
        super().__init__(collection, by_score)
        self._judged = list(dict.fromkeys(chain.from_iterable(qrels.values())))
        self._runs = [run.rankings for run in runs]
        numbers = {query_id: query for query, query_id in enumerate(qrels)}
        self._queries: list[Ints] = [
            np.array([numbers.get(query_id, -1) for query_id in run.query_ids], dtype=np.int64)
            for run in self._runs
        ]

    @cached_property
    def listed(self) -> Bools:
        """Say where a run has a list, (queries, runs)."""
        listed = np.zeros((len(self.collection.query_ids), len(self._runs)), np.bool_)
        for at, queries in enumerate(self._queries):
            listed[queries[queries >= 0], at] = True
        return listed

    @cached_property
    def scoreless(self) -> tuple[bool, ...]:
        """Whether each run has a list without scores."""
        return tuple(
            run.scores is None and bool((queries >= 0).any())
            for run, queries in zip(self._runs, self._queries, strict=True)
        )

    @cached_property
    def unsettled(self) -> tuple[dict[int, Scores], ...]:
        """For each run the scores, as 32-bit floats, of lists in which they do not all fall."""
        return tuple(
            {int(of[place]): scores for place, scores in found.items() if of[place] >= 0}
            for of, found in zip(self._queries, self._not_falling, strict=True)
        )

    @cached_property
    def _not_falling(self) -> list[dict[int, Scores]]:
        return [dict(_not_falling(run)) for run in self._runs]

    def hits(self, golden: Sequence[QueryGrades]) -> Hits:
        """Return where the judged chunks stand; ``golden`` is what is graded."""
        given = self.collection
        pairs = np.append(pairs_of(given.golden_query.astype(np.int64), given.golden_chunk), -1)
        found, length = [], np.zeros((len(golden), len(self._runs)), dtype=np.int64)
        for at, (run, queries) in enumerate(zip(self._runs, self._queries, strict=True)):
            there = queries >= 0
            length[queries[there], at] = np.diff(run.bounds)[there]
            query, rank, grade = self._found(run, queries, self._ordered(at), pairs)
            found.append(_numbered(query * len(self._runs) + at, rank, grade))
        return _hits_from(np.concatenate(found), self.collection, length)

    def _ordered(self, at: int) -> Chunks:
        """Return the chunks of a run in the order that counts, by its own numbers."""
        run, not_falling = self._runs[at], self._not_falling[at]
        if not self.by_score or not not_falling:
            return run.chunks
        chunks, names = run.chunks.copy(), run.names.texts().tolist()
        for place, scores in not_falling.items():
            mine = _span(run, place)
            chunks[mine] = in_trec_eval_order(chunks[mine], scores, names)
        return chunks

    def _found(
        self, run: Rankings, queries: Ints, chunks: Chunks, pairs: Ints
    ) -> tuple[Ints, Ints, Ints]:
        """Return query, rank and grade of each chunk in a run's lists that is among ``pairs``.

        ``pairs`` are the judged ones in the order of the golden grades, and a last that none is.
        """
        chunk = run.names.places_in(self._judged)[chunks]  # as the golden grades are numbered
        at = np.flatnonzero(chunk >= 0)
        place = np.searchsorted(run.bounds, at, side="right") - 1
        sought = pairs_of(queries[place], chunk[at])
        found = np.searchsorted(pairs[:-1], sought)
        judged = pairs[found] == sought
        at, place, found = at[judged], place[judged], found[judged]
        return (
            queries[place],
            at - run.bounds[place] + 1,
            self.collection.golden_grade[found].astype(np.int64),
        )


def _numbered(row: Ints, rank: Ints, grade: Ints) -> Ints:
    """Return a number for each hit; they rise with the row, and then with the rank."""
    numbers: Ints = row << _ROW | rank << 2 | grade
    return numbers


def _hits_from(numbers: Ints, collection: Collection, length: Ints) -> Hits:
    """Return hits from their numbers, in any order; ``length`` has shape (queries, runs)."""
    numbers.sort()
    rank = numbers >> 2 & (1 << _ROW - 2) - 1
    return hits_of(collection, numbers >> _ROW, rank, numbers & 3, length)


def _not_falling(run: Rankings) -> Iterator[tuple[int, Scores]]:
    """Give each list in which 32-bit scores do not all fall, and these scores."""
    if run.scores is not None:
        with np.errstate(over="ignore"):  # what no 32-bit score holds is infinite, and tied
            scores = run.scores.astype(np.float32)
        for place in lists_with(scores[1:] >= scores[:-1], run.bounds):
            yield place, scores[_span(run, place)]


def _span(run: Rankings, place: int) -> slice:
    return slice(run.bounds[place], run.bounds[place + 1])
