"""A run in portions of whole lists: what only putting them in order needs is held for one of them.

Knows neither a format nor what orders a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.formats.ranked import OnDuplicate, Order, Tally, loaded_run, place
from labeler.formats.reading import Source
from labeler.formats.results import RankedLists
from labeler.model import LoadedRun, Rankings

if TYPE_CHECKING:  # pyarrow is loaded where it is worth it
    from labeler.formats.bulk import PackedIds, RunColumns

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int32]
Wholes: TypeAlias = npt.NDArray[np.int64]

PORTION = 1_000_000  # results


class Scattered(Exception):
    """The file cannot be read in portions: a list goes on where others have been before."""


class Portions:
    """The lists of a run as they come; once there are many, those that are whole are put in order.

    Without ``most`` all are one portion. With it a file may turn out to be `Scattered`.
    """

    def __init__(
        self, source: Source, order: Order, on_duplicate: OnDuplicate, most: int | None
    ) -> None:
        self.lists = RankedLists(source)
        self._order, self._on_duplicate, self._most = order, on_duplicate, most
        self._earlier: _Earlier | None = None

    def lists_for(self, query_id: str) -> RankedLists:
        """Return where the next result belongs, which is of this query."""
        if self._is_due() and self.lists.first_of(query_id) is None:
            self._settle()
        return self.lists

    def extend(self, line: int, columns: RunColumns) -> None:
        """Append a block of results, one a line, the first of them on ``line``."""
        if not self._is_due():
            self.lists.extend(line, columns)
            return
        whole, last = columns.last_apart()
        if whole is not None:
            self.lists.extend(line, whole)
            line += len(whole.ranks)
        self.lists_for(last.queries[0]).extend(line, last)

    def _is_due(self) -> bool:
        return self._most is not None and self.lists.size >= self._most

    def _settle(self) -> None:
        """Put in order what there is and begin a new portion."""
        lists = self.lists
        if self._earlier is None:
            self._earlier = _Earlier()
        self._earlier.add(lists, *place(lists, self._order, self._on_duplicate))
        self.lists = RankedLists(lists.source)
        self.lists.scored, self.lists.tags = lists.scored, lists.tags

    def loaded(self) -> LoadedRun:
        """Return all lists, best result first, with facts and warnings."""
        lists = self.lists
        if self._earlier is None:
            rankings, tally, by_rank = place(lists, self._order, self._on_duplicate)
            return loaded_run(lists, rankings, lists.first, tally, by_rank)
        self._earlier.add(lists, *place(lists, self._order, self._on_duplicate))
        return self._earlier.loaded(lists)


class _Earlier:
    """Portions that are in order, by column; their chunks are numbers in the names of all."""

    def __init__(self) -> None:
        from labeler.formats.bulk import PackedIds

        self._names: PackedIds = PackedIds()
        self._named = 0
        self._lines: dict[str, int] = {}
        self._sizes: list[Wholes] = []
        self._chunks: list[Numbers] = []
        self._scores: list[Floats] = []
        self._tally: Tally | None = None
        self._alike: tuple[bool, ...] | None = None

    def add(self, lists: RankedLists, rankings: Rankings, tally: Tally, by_rank: bool) -> None:
        """Keep a portion; raises `Scattered` where it cannot stand beside those before it."""
        alike = by_rank, lists.ranked > 0, lists.unranked > 0
        apart = self._lines.keys().isdisjoint(rankings.query_ids)
        if not apart or self._alike not in (None, alike):
            raise Scattered
        self._alike = alike
        self._lines |= zip(rankings.query_ids, lists.first, strict=True)
        self._sizes.append(np.diff(rankings.bounds))
        self._chunks.append(rankings.chunks + np.int32(self._named))
        self._names.extend(rankings.names.texts().tolist())
        self._named += len(rankings.names)
        if rankings.scores is not None:
            self._scores.append(rankings.scores)
        self._tally = tally if self._tally is None else self._tally + tally

    def loaded(self, lists: RankedLists) -> LoadedRun:
        """Return all portions as one run."""
        if self._tally is None or self._alike is None:
            raise ValueError("no portion has been added")
        numbers, names = self._names.numbered()
        bounds = np.cumsum(np.concatenate([np.zeros(1, np.int64), *self._sizes]))
        chunks = np.empty(bounds[-1], np.int32)
        start = 0
        for portion in self._chunks:
            chunks[start : start + len(portion)] = numbers[portion]
            start += len(portion)
        scores = np.concatenate(self._scores) if self._scores else None
        rankings = Rankings(list(self._lines), bounds, chunks, scores, names)
        return loaded_run(lists, rankings, list(self._lines.values()), self._tally, self._alike[0])
