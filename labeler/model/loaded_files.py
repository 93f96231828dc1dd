"""Contents of files to be loaded: ranked lists by column, and records with their line numbers.

`LoadReport` says what a load did, for a person to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput
from labeler.model.chunkings import describe_chunking, full_chunk_id
from labeler.model.records import Chunk, GoldenGrade, Judgment, Query, Remark, UnjudgedPair
from labeler.model.text import escape_controls


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


RecordT = TypeVar("RecordT")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[RecordT]):
    """What a file gave: its records, the line each stood on, and what the reader noticed.

    ``source`` is the file's name as messages show it. ``facts`` are counts worth reporting
    (``{"queries": 225, "tied scores": 3}``), ``warnings`` whole sentences.
    """

    source: str
    records: Sequence[RecordT]
    lines: Sequence[int]
    facts: Mapping[str, int | str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def where(self, index: int) -> str:
        """Name the place of a record as ``file:line``."""
        return f"{self.source}:{self.lines[index]}"


@dataclass(frozen=True, slots=True)
class LoadedRun(Loaded[Ranking]):
    """What the file of a run gave: its lists, by column."""

    records: Rankings


@dataclass(frozen=True, slots=True)
class LoadedGolden:
    """What a golden-set file gave; the parts a format does not have are empty.

    ``queries`` comes with JSONL only, ``events`` with the log only (judgments, and remarks on whole
    queries), ``grades`` with all others. ``ungraded`` are pairs of which a file says that they are
    in the pool and nobody graded them; ``asked`` are the queries of a file that knows no more of
    them than their text.
    """

    queries: Loaded[Query]
    grades: Loaded[GoldenGrade]
    events: Loaded[Judgment | Remark]
    ungraded: Loaded[UnjudgedPair] = field(default_factory=lambda: Loaded("", (), ()))
    asked: Loaded[Query] = field(default_factory=lambda: Loaded("", (), ()))

    def of_chunking(self, chunking: str) -> LoadedGolden:
        """Return it with what its chunks are called where they are of a chunking.

        Raises `BadInput` where it says itself that some are of another.
        """
        _check_chunking_in_file(self.grades, chunking)
        return replace(
            self,
            grades=_with_full_ids(self.grades, chunking),
            events=_with_full_ids(self.events, chunking),
            ungraded=_with_full_ids(self.ungraded, chunking),
        )


def _check_chunking_in_file(grades: Loaded[GoldenGrade], chunking: str) -> None:
    if not any(grade.chunking for grade in grades.records):
        return
    for at, grade in enumerate(grades.records):
        if grade.chunking != chunking:
            raise BadInput(
                f"{grades.where(at)}: chunk {grade.chunk_id!r} is of "
                f"{describe_chunking(grade.chunking)}, as this file says, and not of "
                f"{describe_chunking(chunking)}; load it without --chunking"
            )


def _with_full_ids(loaded: Loaded[RecordT], chunking: str) -> Loaded[RecordT]:
    return replace(loaded, records=[_with_full_id(each, chunking) for each in loaded.records])


def _with_full_id(record: RecordT, chunking: str) -> RecordT:
    if isinstance(record, GoldenGrade | UnjudgedPair | Judgment):
        return replace(record, chunk_id=full_chunk_id(chunking, record.chunk_id))
    return record


@dataclass(frozen=True, slots=True)
class LoadedBeir:
    """What a BEIR folder gave."""

    queries: Loaded[Query]
    chunks: Loaded[Chunk]
    golden: LoadedGolden


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did, for a person to read: facts in order, then warnings as sentences.

    ``changed`` is False where everything in the file was there already.
    """

    title: str
    facts: Mapping[str, int | str]
    warnings: tuple[str, ...] = ()
    changed: bool = True

    def __str__(self) -> str:
        facts = {
            escape_controls(name): escape_controls(str(value)) for name, value in self.facts.items()
        }
        width = max(map(len, facts), default=0)
        rows = [f"  {name:<{width}}  {value}" for name, value in facts.items()]
        warnings = [f"  ! {escape_controls(warning)}" for warning in self.warnings]
        return "\n".join([escape_controls(self.title), *rows, *warnings])
