"""What files give to be stored: records with the lines they stand on, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from labeler.errors import BadInput
from labeler.model.chunkings import called_in, chunking_in_words
from labeler.model.letters import legible
from labeler.model.rankings import Ranking, Rankings
from labeler.model.records import Chunk, GoldenGrade, Judgment, Query, Remark, Ungraded

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
    ungraded: Loaded[Ungraded] = field(default_factory=lambda: Loaded("", (), ()))
    asked: Loaded[Query] = field(default_factory=lambda: Loaded("", (), ()))

    def of_chunking(self, chunking: str) -> LoadedGolden:
        """Return it with what its chunks are called where they are of a chunking.

        Raises `BadInput` where it says itself that some are of another.
        """
        _check_said(self.grades, chunking)
        return replace(
            self,
            grades=_called(self.grades, chunking),
            events=_called(self.events, chunking),
            ungraded=_called(self.ungraded, chunking),
        )


def _check_said(grades: Loaded[GoldenGrade], chunking: str) -> None:
    if not any(grade.chunking for grade in grades.records):
        return
    for at, grade in enumerate(grades.records):
        if grade.chunking != chunking:
            raise BadInput(
                f"{grades.where(at)}: chunk {grade.chunk_id!r} is of "
                f"{chunking_in_words(grade.chunking)}, as this file says, and not of "
                f"{chunking_in_words(chunking)}; load it without --chunking"
            )


def _called(loaded: Loaded[RecordT], chunking: str) -> Loaded[RecordT]:
    return replace(loaded, records=[_called_one(each, chunking) for each in loaded.records])


def _called_one(record: RecordT, chunking: str) -> RecordT:
    if isinstance(record, GoldenGrade | Ungraded | Judgment):
        return replace(record, chunk_id=called_in(chunking, record.chunk_id))
    return record


@dataclass(frozen=True, slots=True)
class LoadedBeir:
    """What a BEIR folder gave."""

    queries: Loaded[Query]
    chunks: Loaded[Chunk]
    golden: LoadedGolden


@dataclass(frozen=True, slots=True)
class IntakeReport:
    """What a load did, for a person to read: facts in order, then warnings as sentences.

    ``changed`` is False where everything in the file was there already.
    """

    title: str
    facts: Mapping[str, int | str]
    warnings: tuple[str, ...] = ()
    changed: bool = True

    def __str__(self) -> str:
        facts = {legible(name): legible(str(value)) for name, value in self.facts.items()}
        width = max(map(len, facts), default=0)
        rows = [f"  {name:<{width}}  {value}" for name, value in facts.items()]
        warnings = [f"  ! {legible(warning)}" for warning in self.warnings]
        return "\n".join([legible(self.title), *rows, *warnings])
