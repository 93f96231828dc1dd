"""The ranked lists of a run: one query's, or all of them by column as a file's reader has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, overload

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one system returned for one query: chunk ids, best first, and their scores if any."""

    query_id: str
    chunk_ids: tuple[str, ...]
    scores: tuple[float, ...] | None = None


class ChunkNames(Protocol):
    """Distinct chunk ids by number, which need not be texts yet."""

    def __len__(self) -> int: ...

    def texts(self) -> npt.NDArray[np.object_]:
        """Return the ids by number."""

    def places_in(self, ids: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return where each one stands in ``ids``, which are distinct, and -1 where it does not."""


@dataclass(eq=False, repr=False)
class Rankings(Sequence[Ranking]):
    """A run's lists by column, each best first; a `Ranking` is made when one is asked for.

    The list of ``query_ids[i]`` stands from ``bounds[i]`` up to ``bounds[i + 1]`` in ``chunks``,
    which are numbers in ``names``, and in ``scores`` (64 bits; None where there are none).
    """

    query_ids: Sequence[str]
    bounds: npt.NDArray[np.int64]
    chunks: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64] | None
    names: ChunkNames

    def __len__(self) -> int:
        return len(self.query_ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._made == list(other)

    def __repr__(self) -> str:
        return repr(self._made)

    @overload
    def __getitem__(self, at: int) -> Ranking: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Ranking]: ...
    def __getitem__(self, at: int | slice) -> Ranking | Sequence[Ranking]:
        return self._made[at]

    def __iter__(self) -> Iterator[Ranking]:
        """Give one list after the other and keep none: all at once take as much as a large file."""
        return iter(self._made) if "_made" in self.__dict__ else self.in_order(range(len(self)))

    def in_order(self, places: Iterable[int]) -> Iterator[Ranking]:
        """Give the lists at these places, and keep none."""
        texts, bounds = self.names.texts(), self.bounds
        for place in places:
            mine = slice(bounds[place], bounds[place + 1])
            scores = None if self.scores is None else tuple(self.scores[mine].tolist())
            yield Ranking(self.query_ids[place], tuple(texts[self.chunks[mine]].tolist()), scores)

    @cached_property
    def _made(self) -> list[Ranking]:
        return list(self.in_order(range(len(self))))


class RankingsByQuery(Mapping[str, Ranking]):
    """The same lists by query."""

    def __init__(self, rankings: Rankings) -> None:
        self.rankings = rankings
        self._places = {query_id: at for at, query_id in enumerate(rankings.query_ids)}

    def __getitem__(self, query_id: str) -> Ranking:
        return self.rankings[self._places[query_id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
