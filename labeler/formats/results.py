"""Results as a file gives them, by column; knows neither their best order nor any format."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput
from labeler.formats.reading import Source
from labeler.model import ChunkNames

if TYPE_CHECKING:  # pyarrow is loaded where it is worth it
    from labeler.formats.bulk import PackedIds, RunColumns

Places: TypeAlias = npt.NDArray[np.intp]
Flags: TypeAlias = npt.NDArray[np.bool_]
Wholes: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]

_NONE = np.empty(0, np.int64)


class _Part(NamedTuple):
    """Some results in file order; ``repeats`` says how many in a row have the same query."""

    queries: Numbers
    repeats: Wholes | int
    scores: Floats
    ranks: Floats | Wholes
    lines: Wholes | range


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """A file's n results by column, each of shape (n,), list after list.

    ``queries`` and ``chunks`` are numbers in ``query_ids`` and ``names``. ``scores`` is None
    in a file without scores, a rank that is missing 0. ``spaceless`` is true where no id can hold
    a space.
    """

    query_ids: Sequence[str]
    names: ChunkNames
    queries: Numbers
    chunks: Numbers
    scores: Floats | None
    ranks: Wholes
    lines: Wholes
    spaceless: bool

    def at(self, places: Places | None) -> Results:
        """Return the results at ``places``, in that order; None stands for all as they are."""
        if places is None:
            return self
        return replace(
            self,
            queries=self.queries[places],
            chunks=self.chunks[places],
            scores=None if self.scores is None else self.scores[places],
            ranks=self.ranks[places],
            lines=self.lines[places],
        )

    def bare(self) -> Results:
        """Return the same without ranks and lines, which take as much memory as all the rest."""
        return replace(self, ranks=_NONE, lines=_NONE)

    def follows(self) -> Flags:
        """Say of each result but the first whether it is in the list of the one before, (n-1,)."""
        return np.equal(self.queries[1:], self.queries[:-1])

    def bounds(self) -> list[int]:
        """Return where each list begins, and at last where the last one ends."""
        wanted = np.arange(len(self.query_ids) + 1, dtype=self.queries.dtype)
        found: list[int] = np.searchsorted(self.queries, wanted).tolist()
        return found

    def pairs(self) -> Wholes:
        """Return a number for each result's query and chunk, equal where both are equal."""
        return self.queries.astype(np.int64) * len(self.names) + self.chunks


class RankedLists:
    """All results of a file in file order, and what the file says for all of them alike."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.first: list[int] = []
        self.scored: bool | None = None
        self.unranked = 0
        self.ranked = 0
        self.tags: dict[str, None] = {}
        self.comments = 0
        self._known: dict[str, int] = {}
        self._queries, self._scores = array("i"), array("d")
        self._ranks, self._lines = array("q"), array("q")
        self._chunks: list[str] = []
        self._parts: list[_Part] = []
        self._spaceless = True
        self.size = 0
        self._packed: PackedIds | None = None

    def first_of(self, query_id: str) -> int | None:
        """Return the line a query's list begins on, None where there is no list."""
        place = self._known.get(query_id)
        return None if place is None else self.first[place]

    def list_of(self, query_id: str, line: int) -> int:
        """Return the number of a query's list; its first line is ``line`` if it is new."""
        place = self._known.get(query_id)
        if place is None:
            place = self._known[query_id] = len(self.first)
            self.first.append(line)
        return place

    def add(
        self, into: int, line: int, chunk_id: str, score: float | None, rank: int | None
    ) -> None:
        """Append a result; refuse a score that others lack, or one lacking that others have."""
        if (score is not None) is not self.scored:
            if self.scored is not None:
                raise BadInput(
                    f"{'no score here' if score is None else 'a score here'}, but "
                    f"{'none' if score is not None else 'one'} on the lines before; "
                    "all results of a file need one, or none"
                )
            self.scored = score is not None
        self.size += 1
        self._queries.append(into)
        self._chunks.append(chunk_id)
        self._lines.append(line)
        if score is not None:
            self._scores.append(score)
        self._ranks.append(0 if rank is None else rank)
        if rank is None:
            self.unranked = self.unranked or line
        else:
            self.ranked = self.ranked or line

    def extend(self, line: int, columns: RunColumns) -> None:
        """Append a block of results, one a line, the first of them on ``line``."""
        begins = line + np.cumsum(columns.repeats) - columns.repeats
        into = [self.list_of(*each) for each in zip(columns.queries, begins.tolist(), strict=True)]
        self._put_away()
        self._spaceless &= columns.ascii
        numbers = np.array(into, np.int32)
        lines = range(line, line + len(columns.ranks))
        self._parts.append(_Part(numbers, columns.repeats, columns.scores, columns.ranks, lines))
        self._pack(columns)
        self.size += len(columns.ranks)
        self.scored = True
        self.ranked = self.ranked or line
        self.tags |= dict.fromkeys(columns.tags)

    def _pack(self, columns: RunColumns) -> None:
        if self._packed is None:
            from labeler.formats.bulk import PackedIds

            self._packed = PackedIds()
        self._packed.extend(self._chunks)
        self._packed.extend(columns.chunks)
        self._chunks = []

    def _put_away(self) -> None:
        """Close the columns that grew line by line, and begin new ones."""
        self._spaceless &= not self._queries
        grown = self._queries, self._scores, self._ranks, self._lines
        queries, *others = map(np.asarray, grown)
        self._parts.append(_Part(queries, 1, *others))
        self._queries, self._scores = array("i"), array("d")
        self._ranks, self._lines = array("q"), array("q")

    def results(self) -> Results:
        """Hand over all results, the lists in order of their first lines, each in file order."""
        self._put_away()
        columns = list(zip(*self._parts, strict=True))
        self._parts.clear()
        # Taken one by one, so that the parts of a column go when it is whole.
        lines = np.concatenate([_wholes(each) for each in columns.pop()])
        ranks = np.concatenate(columns.pop(), dtype=np.int64, casting="unsafe")
        scores = np.concatenate(columns.pop())
        queries = np.concatenate(list(map(np.repeat, *columns)))
        chunks, names = self._numbered()
        scored = scores if self.scored else None
        query_ids, spaceless = list(self._known), self._spaceless
        found = Results(query_ids, names, queries, chunks, scored, ranks, lines, spaceless)
        mixed = (queries[1:] < queries[:-1]).any()
        return found.at(np.argsort(queries, kind="stable")) if mixed else found

    def _numbered(self) -> tuple[Numbers, ChunkNames]:
        """Hand over the chunk of each result as a number, and the chunk ids by number."""
        chunks, self._chunks = self._chunks, []
        if self._packed is not None:
            self._packed.extend(chunks)
            return self._packed.numbered()
        known: dict[str, int] = {}
        each = (known.setdefault(chunk_id, len(known)) for chunk_id in chunks)
        numbers = np.fromiter(each, np.int32, len(chunks))
        return numbers, _Known(known)


class _Known:
    """Chunk ids by number, as texts."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def texts(self) -> npt.NDArray[np.object_]:
        return np.fromiter(self._numbers, object, len(self))

    def places_in(self, ids: Sequence[str]) -> Numbers:
        places = {chunk_id: at for at, chunk_id in enumerate(ids)}
        return np.fromiter((places.get(each, -1) for each in self._numbers), np.int32, len(self))


def _wholes(lines: Wholes | range) -> Wholes:
    return np.arange(lines.start, lines.stop) if isinstance(lines, range) else lines
