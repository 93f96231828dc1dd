"""A run in portions of whole lists: what only putting them in order needs is held for one of them.

Knows neither a format nor what orders a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labeler.formats.ranked import OnDuplicate, Order, Tally, loaded_run, place, told_of
from labeler.formats.reading import Source
from labeler.formats.results import RankedLists
from labeler.formats.spool import Spool
from labeler.model import Loaded, Ranking, Rankings

if TYPE_CHECKING:  # pyarrow is loaded where it is worth it
    from labeler.formats.bulk import RunColumns

PORTION = 1_000_000  # results
_EACH = 100  # bytes that one takes in memory


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

    def loaded(self) -> Loaded[Ranking]:
        """Return all lists, best result first, with facts and warnings."""
        lists = self.lists
        if self._earlier is None:
            rankings, tally, by_rank = place(lists, self._order, self._on_duplicate)
            return loaded_run(lists, rankings, lists.first, tally, by_rank)
        self._earlier.add(lists, *place(lists, self._order, self._on_duplicate))
        return self._earlier.loaded(lists)


class _Earlier:
    """Portions that are in order: their lists, and what is counted of them."""

    def __init__(self) -> None:
        self._lists: Spool[Ranking] = Spool()
        self._lines: dict[str, int] = {}
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
        for ranking in rankings.in_order(range(len(rankings))):
            self._lists.add(ranking, _EACH * len(ranking.chunk_ids))
        self._tally = tally if self._tally is None else self._tally + tally

    def loaded(self, lists: RankedLists) -> Loaded[Ranking]:
        """Return all portions as one run."""
        if self._tally is None or self._alike is None:
            raise ValueError("no portion has been added")
        first, by_rank = list(self._lines.values()), self._alike[0]
        return Loaded(*told_of(lists, self._lists, first, self._tally, by_rank))
