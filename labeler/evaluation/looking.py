"""What is looked up on a board: a query's grades, a run's list, what a measure reads of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation.alignment import Lists, Ranked, ranked
from labeler.evaluation.graded import Chunks
from labeler.evaluation.state import State
from labeler.measures import Finds, Hits, Ints, Measure
from labeler.model import Collection


class Looking:
    """One query, one run: what is known of them as it is now."""

    collection: Collection
    run_names: tuple[str, ...]
    _state: State
    _lists: Lists
    _query_numbers: Mapping[str, int]

    def golden(self, query_id: str) -> dict[int, int]:
        """Return the golden grades of a query by chunk, retrieved or not."""
        return self._state.golden[self.number_of(query_id)].as_dict()

    def grades(self, query_id: str, chunks: Chunks) -> Ints:
        """Return the golden grade of each of the chunks for a query, -1 where there is none."""
        return self._state.golden[self.number_of(query_id)].of(chunks)

    def graded(self) -> tuple[Ints, Ints]:
        """Return every pair with a golden grade, rising, and its grade.

        A pair's number is its query's place << 32 | its chunk's number.
        """
        return self._state.graded()

    def counts_of(self, query_id: str) -> tuple[int, ...]:
        """Return how many chunks of a query have grade 0, 1, 2 and 3."""
        golden = self._state.golden[self.number_of(query_id)]
        return tuple(np.bincount(golden.grades, minlength=4).tolist())

    def chunks(self, run: str, query_id: str) -> Chunks:
        """Return a run's list in the order the conventions use; empty where it has none."""
        return self._lists.ordered(self.column_of(run), self.number_of(query_id))

    def ranked(self, run: str, query_id: str) -> list[Ranked]:
        """Return a run's list with scores and golden grades, in the order the conventions use.

        Under trec_eval's that is not the order of the file where scores are tied. A query the run
        has no list for gives an empty one. Raises `NotFound` for an unknown run or query.
        """
        chunks, query = self.chunks(run, query_id), self.number_of(query_id)
        stored = self.collection.runs[self.column_of(run)].lists.get(query)
        return ranked(chunks, stored, self._state.golden[query], self.collection.chunk_ids)

    def hits(self, run: str, query_id: str | None = None) -> Hits:
        """Return a run's judged chunks: a row for each query in order, or the row of one."""
        state = self._state
        if query_id is None:
            return state.hits_of(self.column_of(run))
        return state.hits_in(self.column_of(run), self.number_of(query_id))

    def read_by(self, measure: Measure, run: str, query_id: str | None = None) -> Hits | Finds:
        """Return what a measure reads of a run's lists: its hits, its documents, what it finds."""
        query = None if query_id is None else self.number_of(query_id)
        return self._state.seen_of(self.column_of(run), query).of(measure)

    def chunking_of(self, run: str) -> str:
        """Return the chunking that a run's chunks are of; may raise `NotFound`."""
        return self.collection.runs[self.column_of(run)].chunking

    def overlaps(
        self, some: Sequence[int], others: Sequence[int]
    ) -> list[tuple[int, int, float, float]]:
        """Return the places of chunks that have text in common, with the share of each text."""
        return self._state.across.overlaps(some, others)

    def column_of(self, name: str) -> int:
        """Return a run's column in `values`, its place in `run_names`; may raise `NotFound`."""
        if name not in self.run_names:
            there = ", ".join(self.run_names) or "none"
            raise NotFound(f"no run is called {name!r}; there are: {there}")
        return self.run_names.index(name)

    def number_of(self, query_id: str) -> int:
        """Return a query's row in `values`, its place in the collection; may raise `NotFound`."""
        if query_id not in self._query_numbers:
            raise NotFound(f"query {query_id!r} is not on this board; read the data again")
        return self._query_numbers[query_id]
