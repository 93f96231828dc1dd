"""Contents of loaded files: ranked lists by column, and records with their line numbers.

`LoadReport` says what a load did, for people to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """One system's result for one query: chunk ids, best first, and their scores, if any."""

    query_id: str
    chunk_ids: tuple[str, ...]
    scores: tuple[float, ...] | None = None


class ChunkNames(Protocol):
    """Distinct chunk ids by number; they are converted to text only when needed."""

    def __len__(self) -> int: ...

    def texts(self) -> npt.NDArray[np.object_]:
        """Return the ids by number."""

    def places_in(self, ids: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return each one's index in ``ids``, which are distinct; -1 where it is not there."""


@dataclass(eq=False, repr=False)
class Rankings(Sequence[Ranking]):
    """A run's lists by column, each best first; a `Ranking` is made on access.

    The list of ``query_ids[i]`` is ``chunks[bounds[i]:bounds[i + 1]]``, which are numbers in
    ``names``, and likewise in ``scores`` (64 bits; None where there are none).
    """

    query_ids: Sequence[str]
    bounds: npt.NDArray[np.int64]
    chunks: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64] | None
    names: ChunkNames

    def __len__(self) -> int:
        return len(self.query_ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._rankings == list(other)

    def __repr__(self) -> str:
        return repr(self._rankings)

    @overload
    def __getitem__(self, at: int) -> Ranking: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Ranking]: ...
    def __getitem__(self, at: int | slice) -> Ranking | Sequence[Ranking]:
        return self._rankings[at]

    def __iter__(self) -> Iterator[Ranking]:
        """Yield lists without keeping them: together they take as much memory as a large file."""
        if "_rankings" in self.__dict__:
            return iter(self._rankings)
        return self.in_order(range(len(self)))

    def in_order(self, places: Iterable[int]) -> Iterator[Ranking]:
        """Yield the lists at these positions without keeping them."""
        texts, bounds = self.names.texts(), self.bounds
        for place in places:
            part = slice(bounds[place], bounds[place + 1])
            scores = None if self.scores is None else tuple(self.scores[part].tolist())
            yield Ranking(self.query_ids[place], tuple(texts[self.chunks[part]].tolist()), scores)

    @cached_property
    def _rankings(self) -> list[Ranking]:
        return list(self.in_order(range(len(self))))


class RankingsByQuery(Mapping[str, Ranking]):
    """The lists of a `Rankings` by query id."""

    def __init__(self, rankings: Rankings) -> None:
        self.rankings = rankings
        self._places = {query_id: at for at, query_id in enumerate(rankings.query_ids)}

    def __getitem__(self, query_id: str) -> Ranking:
        return self.rankings[self._places[query_id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class ChangedRankings(Sequence[Ranking]):
    """A run's lists with a change made to each on access, as a run may be large."""

    def __init__(self, rankings: Sequence[Ranking], change: Callable[[Ranking], Ranking]) -> None:
        self._rankings, self._change = rankings, change

    def __len__(self) -> int:
        return len(self._rankings)

    def __iter__(self) -> Iterator[Ranking]:
        return map(self._change, self._rankings)

    @overload
    def __getitem__(self, at: int) -> Ranking: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Ranking]: ...
    def __getitem__(self, at: int | slice) -> Ranking | Sequence[Ranking]:
        found = self._rankings[at]
        return self._change(found) if isinstance(found, Ranking) else [*map(self._change, found)]


RecordT = TypeVar("RecordT")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[RecordT]):
    """The content of a file: its records, the line of each, and what the reader noticed.

    ``source`` is the file's name in messages. ``facts`` are counts worth reporting
    (``{"queries": 225, "tied scores": 3}``), ``warnings`` whole sentences.
    """

    source: str
    records: Sequence[RecordT]
    lines: Sequence[int]
    facts: Mapping[str, int | str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def where(self, index: int) -> str:
        """Return the location of a record as ``file:line``."""
        return f"{self.source}:{self.lines[index]}"


@dataclass(frozen=True, slots=True)
class LoadedRun(Loaded[Ranking]):
    """The content of a run file: its lists, by column."""

    records: Rankings


@dataclass(frozen=True, slots=True)
class LoadedGolden:
    """The content of a golden-set file; the parts that a format does not have are empty.

    Only JSONL has ``queries``; only the log has ``events`` (judgments, and remarks on whole
    queries), and all other formats have ``grades``. ``ungraded`` are pairs that are in the pool
    unjudged, as the file says; ``asked`` are queries of which the file has only the text, and
    ``chunks`` the texts that some formats have beside their grades. ``by_graders`` are the grades
    of a file in which several graders grade one pair.
    """

    queries: Loaded[Query]
    grades: Loaded[GoldenGrade]
    events: Loaded[Judgment | Remark]
    ungraded: Loaded[UnjudgedPair] = field(default_factory=lambda: Loaded("", (), ()))
    asked: Loaded[Query] = field(default_factory=lambda: Loaded("", (), ()))
    chunks: Loaded[Chunk] = field(default_factory=lambda: Loaded("", (), ()))
    by_graders: Loaded[Judgment] = field(default_factory=lambda: Loaded("", (), ()))

    def of_chunking(self, chunking: str) -> LoadedGolden:
        """Return the content with the full ids that its chunks have in a chunking.

        Raises `BadInput` if the file says that a chunk is of another chunking.
        """
        _check_chunking_in_file(self.grades, chunking)
        return replace(
            self,
            grades=_with_full_ids(self.grades, chunking),
            events=_with_full_ids(self.events, chunking),
            ungraded=_with_full_ids(self.ungraded, chunking),
            by_graders=_with_full_ids(self.by_graders, chunking),
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
    """The content of a BEIR folder."""

    queries: Loaded[Query]
    chunks: Loaded[Chunk]
    golden: LoadedGolden


@dataclass(frozen=True, slots=True)
class ListSource:
    """The record of a ranked list in the tool that wrote it: the ids of its span and its trace.

    ``chunk_ids`` are the list's chunks as they stand there, ``places`` the place of each, from 0;
    None for one after the other.
    """

    span: str | None
    trace: str | None
    chunk_ids: tuple[str, ...]
    places: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class LoadedRetrievals:
    """The content of a file of retrieval records; the parts that it lacks are empty.

    ``runs`` are by system, "" where the file names none, and ``items`` the sources of their lists
    by system and query, as far as the file names any. ``asked`` says of a log how often each query
    was asked, where one was asked again; the ``newest`` list is of that time (UTC, ISO 8601), None
    where none is known.
    """

    source: str
    queries: Loaded[Query]
    chunks: Loaded[Chunk]
    runs: Mapping[str, Loaded[Ranking]]
    golden: LoadedGolden
    items: Mapping[str, Mapping[str, ListSource]] = field(default_factory=dict)
    asked: Mapping[str, int] = field(default_factory=dict)
    newest: str | None = None
    facts: Mapping[str, int | str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did, for people to read: facts in order, then warnings as sentences.

    ``changed`` is False if everything in the file was stored already. ``load`` is the number of a
    load of golden grades, by which it can be taken back.
    """

    title: str
    facts: Mapping[str, int | str]
    warnings: tuple[str, ...] = ()
    changed: bool = True
    load: int | None = None

    def __str__(self) -> str:
        facts = {
            escape_controls(name): escape_controls(str(value)) for name, value in self.facts.items()
        }
        width = max(map(len, facts), default=0)
        rows = [f"  {name:<{width}}  {value}" for name, value in facts.items()]
        warnings = [f"  ! {escape_controls(warning)}" for warning in self.warnings]
        undo = f"  load {self.load}; undo it with 'labeler undo-load {self.load}'"
        ends = [] if self.load is None else [undo]
        return "\n".join([escape_controls(self.title), *rows, *warnings, *ends])
