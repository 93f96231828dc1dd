"""Queries, chunks, documents, golden grades, judgments and remarks; online signals and answers.

Each checks its fields on creation. Ids are text and are kept exactly as given: never folded, cast
or stripped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from unicodedata import normalize

from labeler.errors import BadInput
from labeler.model.grades import Evidence, Passage, TransferSource, check_evidence
from labeler.model.text import find_control_character

GRADES = (0, 1, 2, 3)
SPLITS = ("dev", "test", "held-out")
JUDGMENT_KINDS = ("grade", "cannot_tell", "withdraw", "adjudicate", "import", "propose", "carry")
GRADELESS_KINDS = ("cannot_tell", "withdraw")
REMARK_KINDS = ("unanswered", "unclear", "withdraw")
ASSIGNMENT_SOURCES = ("pool", "repeat", "list", "search")  # why a grader was given a chunk
ACTIVE_SOURCE = "deciding"  # likewise: it helps to decide between two runs; graders are not told

Pair = tuple[str, int]  # a query's id, a chunk's number


def check_id(value: object, what: str) -> str:
    """Return ``value`` if it can be the id of a ``what`` (a query, a chunk, a grader).

    Raises `BadInput` if it is not text, is empty, or has a character that a file or SQLite cannot
    store (NUL, half of a surrogate pair).

    >>> check_id("007", "query")
    '007'
    """
    a = "an" if what[0] in "aeiou" else "a"
    if not isinstance(value, str):
        raise BadInput(f"{a} {what} id must be text, not {value!r}")
    if not value:
        raise BadInput(f"{a} {what} id must not be empty")
    if not is_storable(value):
        raise BadInput(f"{what} id {value!r} holds a character that cannot be stored")
    return value


def check_name(value: object, what: str) -> str:
    r"""Return ``value`` if it can be the name of a ``what`` (a person, a run, a facet, a bucket).

    Raises `BadInput` as `check_id` does, and for control characters.

    >>> check_name("Zoë 👩‍🏫", "grader")
    'Zoë 👩‍🏫'
    >>> check_name("a\x1b[2J", "grader")
    Traceback (most recent call last):
    labeler.errors.BadInput: grader name 'a\x1b[2J' holds the control character \x1b; take it out
    """
    if value == "":
        raise BadInput(f"a {what} name must not be empty")
    name = check_id(value, what)
    if found := find_control_character(name):
        raise BadInput(f"{what} name {name!r} holds the control character {found}; take it out")
    return name


def name_key(name: str) -> str:
    """Return what two names share that differ only in case, blanks or how letters are composed.

    >>> name_key(" marit  Dahl ") == name_key("Marit Dahl"), name_key("Ann") == name_key("Anne")
    (True, False)
    """
    return " ".join(normalize("NFKC", name).casefold().split())


def is_storable(text: str) -> bool:
    """Return whether SQLite and UTF-8 can both store ``text`` unchanged."""
    try:
        return "\0" not in text and (text.isascii() or bool(text.encode()))
    except UnicodeEncodeError:  # half of a surrogate pair has no UTF-8
        return False


def check_grade(value: object) -> int:
    """Return ``value`` if it is one of the four grades, else raise `BadInput`."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in GRADES:
        raise BadInput(f"a grade must be 0, 1, 2 or 3, not {value!r}")
    return value


@dataclass(frozen=True, slots=True)
class Query:
    """A question that users ask the retriever, with what a grader needs to know about it."""

    query_id: str
    text: str
    task: str | None = None
    reference: str | None = None
    guideline: str | None = None
    keywords: tuple[str, ...] = ()
    buckets: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    split: str | None = None

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")
        if not self.text.strip():
            raise BadInput(
                f"query {self.query_id!r} has no text; give it one as query, text or question"
            )
        if self.task is not None:
            check_name(self.task, "task")
        if self.split is not None and self.split not in SPLITS:
            raise BadInput(
                f"query {self.query_id!r} has split {self.split!r}; it can be {', '.join(SPLITS)} "
                "or be left out"
            )


TITLE_CHARACTERS = 120  # of the text, where there is no title


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit a retriever returns. ``text`` is None where only the id is known.

    ``start`` and ``end`` are its offsets in its document, in characters; both or none.
    """

    chunk_id: str
    text: str | None = None
    title: str | None = None
    document_id: str | None = None
    position: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    start: int | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        check_id(self.chunk_id, "chunk")
        if (self.start is None) != (self.end is None):
            raise BadInput(f"chunk {self.chunk_id!r} has one of start and end; it needs both")
        if self.start is not None and self.end is not None and not 0 <= self.start <= self.end:
            raise BadInput(
                f"chunk {self.chunk_id!r} has start {self.start} and end {self.end}; they count "
                "characters of its document from 0, the end not included"
            )

    @property
    def called(self) -> str:
        """The title, else the beginning of the text, else an empty text."""
        return self.title or " ".join((self.text or "")[:TITLE_CHARACTERS].split())


@dataclass(frozen=True, slots=True)
class Document:
    """A whole text that chunks were cut from; their offsets count characters of ``text``."""

    document_id: str
    text: str
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_id(self.document_id, "document")
        if not self.text:
            raise BadInput(f"document {self.document_id!r} has no text; give it one as text")


@dataclass(frozen=True, slots=True)
class GoldenGrade:
    """The one grade that counts for a query and a chunk, and who gave it.

    A grade with ``carried_from`` was transferred from other chunks: nobody gave it except those
    whose judgments it rests on. ``chunking`` is the chunk's; its name is also the prefix of
    ``chunk_id``.
    """

    query_id: str
    chunk_id: str
    grade: int
    graders: tuple[str, ...] = ()
    note: str | None = None
    evidence: Evidence | None = None
    chunking: str = field(default="", compare=False)
    carried_from: tuple[TransferSource, ...] = ()

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")
        check_id(self.chunk_id, "chunk")
        check_grade(self.grade)


@dataclass(frozen=True, slots=True)
class UnjudgedPair:
    """A chunk of a query's pool that nobody graded, as a file says."""

    query_id: str
    chunk_id: str

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")
        check_id(self.chunk_id, "chunk")

    @property
    def grade(self) -> int:
        """The value that trec_eval's files have for an unjudged chunk."""
        return -1


@dataclass(frozen=True, slots=True)
class Judgment:
    """One event of the log: a grader graded a pair, could not tell, or withdrew a grade.

    ``event_id`` is made where the event happens (a browser), so that sending it twice is harmless.
    ``undoes`` is the id of the event whose effect this one reverts. An import has no single grader:
    ``graders`` are those that its file names. ``text_hash`` identifies the wording of the chunk
    that was judged, and ``evidence`` the passages the grade rests on. Times are UTC, ISO 8601.
    ``seen_whole`` says whether all of the text was on the grader's screen, ``highlighted`` whether
    the query's words were marked in it; both are None where nobody knows. A ``carry`` is a
    transferred grade: it has no grader, and ``carried_from`` are the judgments it rests on. A
    ``withdraw`` with an empty ``carried_from`` withdraws a transferred grade, or an import that it
    ``undoes``.
    """

    event_id: str
    query_id: str
    chunk_id: str
    grader: str | None
    kind: str = "grade"
    grade: int | None = None
    graders: tuple[str, ...] = ()
    reason: str | None = None
    note: str | None = None
    blind: bool = True
    source: str | None = None
    undoes: str | None = None
    elapsed_ms: int | None = None
    text_hash: str | None = None
    created_at: str | None = None
    evidence: tuple[Passage, ...] = ()
    carried_from: tuple[TransferSource, ...] | None = None
    seen_whole: bool | None = None
    highlighted: bool | None = None

    def __post_init__(self) -> None:
        check_id(self.event_id, "event")
        check_id(self.query_id, "query")
        check_id(self.chunk_id, "chunk")
        if self.kind not in JUDGMENT_KINDS:
            raise BadInput(
                f"a judgment's kind can be {', '.join(JUDGMENT_KINDS)}, not {self.kind!r}"
            )
        self._check_transferred()
        if self.kind != "import" and self.carried_from is None:
            check_id(self.grader, "grader")
        elif self.grader is not None:
            names = "an import names its graders in 'graders' and"
            what = names if self.kind == "import" else "what was transferred"
            raise BadInput(f"{what} has no grader of its own")
        if self.kind in GRADELESS_KINDS:
            if self.grade is not None:
                raise BadInput(f"a judgment of kind {self.kind!r} carries no grade")
        else:
            check_grade(self.grade)
        if check_evidence(self.evidence) and self.grade is None:
            raise BadInput(f"evidence is for a grade; a judgment of kind {self.kind!r} has none")

    def _check_transferred(self) -> None:
        if self.kind == "carry" and not self.carried_from:
            raise BadInput("a transferred grade names in 'carried_from' what it rests on")
        if self.carried_from is not None and self.kind not in ("carry", "withdraw"):
            raise BadInput(f"a judgment of kind {self.kind!r} is not transferred from others")
        if self.carried_from and self.kind == "withdraw":
            raise BadInput("what takes a transferred grade back has an empty 'carried_from': []")


class CurrentJudgment(NamedTuple):
    """A grader's current judgment of a pair, for choosing what they grade next.

    A tuple, because thousands are read at once when a grader starts. ``number`` grows with every
    judgment; ``repeated`` says that the pair was already given to them again, ``present`` that the
    chunk's text is still the one that was judged, so that the offsets of ``evidence`` are valid.
    """

    event_id: str
    number: int
    kind: str
    grade: int | None
    reason: str | None
    note: str | None
    repeated: bool
    present: bool
    evidence: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """A grader's remark on a whole query; the newest of each grader counts.

    ``unanswered``: no chunk answers it; ``unclear``: nobody can tell what it asks; ``withdraw``
    removes the grader's remark. ``undoes`` is the remark whose effect this one reverts, by
    repeating what counted before.
    """

    event_id: str
    query_id: str
    grader: str
    kind: str
    note: str | None = None
    created_at: str | None = None
    undoes: str | None = None

    def __post_init__(self) -> None:
        check_id(self.event_id, "event")
        check_id(self.query_id, "query")
        check_id(self.grader, "grader")
        if self.kind not in REMARK_KINDS:
            raise BadInput(f"a remark can be {', '.join(REMARK_KINDS)}, not {self.kind!r}")


@dataclass(frozen=True, slots=True)
class Signal:
    """A number measured online for a system at a ``date``: a day, or a time in UTC.

    Without ``query_id`` it is for all queries. ``n`` is the number of observations, None where it
    is unknown.
    """

    date: str
    system: str
    name: str
    value: float
    query_id: str | None = None
    n: int | None = None

    def __post_init__(self) -> None:
        check_name(self.system, "system")
        check_name(self.name, "signal")
        if not self.system.strip() or not self.name.strip():
            raise BadInput("a system and a signal have names that are not blank")
        if self.query_id is not None:
            check_id(self.query_id, "query")
        if not math.isfinite(self.value):
            raise BadInput(f"a value is a finite number, not {self.value}")
        if self.n is not None and self.n < 1:
            raise BadInput(f"n is how often something was counted, from 1 on, not {self.n}")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer given to a query from the chunks of a run, and whether it was correct.

    ``run`` is None if the file leaves it to the caller, ``answer`` if only the verdict is known.
    """

    run: str | None
    query_id: str
    answer: str | None
    correct: bool

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")
        if self.run is not None:
            check_name(self.run, "run")


@dataclass(frozen=True, slots=True)
class SignalPoint:
    """One value of a system's signal at a date.

    It is the file's value for all queries, and ``queries`` is 0; or the mean over the number of
    ``queries`` that the file names, weighted by their ``n`` if all have one. ``n`` is None where it
    is unknown.
    """

    system: str
    name: str
    date: str
    value: float
    n: int | None
    queries: int
