"""Rules that combine several people's grades into one, single grades, and evidence for grades.

A golden grade may rest on passages of the chunk's text, given as offsets in Unicode code points,
and a transferred grade on judgments of other chunks, kept as they were at the transfer.
`agreed_grade` does in Python what the ``golden`` view does in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from statistics import median_high, median_low, multimode
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput

GOLDEN_RULES = ("lower median", "upper median", "mean rounded half down", "majority")
LOWER_MEDIAN, UPPER_MEDIAN, ROUNDED_MEAN, MAJORITY = GOLDEN_RULES
GOLDEN_RULE_MEANINGS = {
    LOWER_MEDIAN: "the middle one counts, of two in the middle the lower",
    UPPER_MEDIAN: "the middle one counts, of two in the middle the higher",
    ROUNDED_MEAN: "their mean counts, rounded to a grade; a half is rounded down",
    MAJORITY: "the one that most gave counts; where two grades have as many, none does: the chunk "
    "is unjudged until one more grade, or an adjudication, decides",
}


def agreed_grade(grades: Sequence[int], rule: str = LOWER_MEDIAN) -> int | None:
    """Return the one grade for people's ``grades`` of a pair, each person counting once.

    None if there are none, and for `MAJORITY` if several grades are equally frequent: a tie leaves
    the pair unjudged instead of taking the lower grade. A mean may be a grade that nobody gave.
    ``grades`` excludes adjudications, which overrule it, and imports, which count only without it.

    >>> [agreed_grade([0, 3], rule) for rule in GOLDEN_RULES]
    [0, 3, 1, None]
    >>> [agreed_grade([0, 2, 2, 3], rule) for rule in GOLDEN_RULES]
    [2, 2, 2, 2]
    """
    check_golden_rule(rule)
    if not grades:
        return None
    if rule == MAJORITY:
        first, *others = multimode(grades)
        return None if others else first
    if rule == ROUNDED_MEAN:
        return -((len(grades) - 2 * sum(grades)) // (2 * len(grades)))
    return (median_low if rule == LOWER_MEDIAN else median_high)(grades)


def check_golden_rule(rule: object) -> None:
    """Raise `BadInput` unless ``rule`` is one of `GOLDEN_RULES`."""
    if rule not in GOLDEN_RULES:
        raise BadInput(f"several grades become one by {', '.join(GOLDEN_RULES)}, not by {rule!r}")


class GivenGrade(NamedTuple):
    """A current grade of a pair: one person's, or an adjudication that ``overrules`` them.

    ``wording`` identifies the text of the chunk that was graded, None where it has none. ``blind``
    says that they knew neither the systems nor others' grades. ``at`` is UTC, ISO 8601.
    """

    query_id: str
    chunk_id: str
    wording: str | None
    grader: str
    grade: int
    blind: bool
    at: str
    overrules: bool = False


class GradedPair(NamedTuple):
    """A pair with a golden grade: how many ``people`` graded it, and if a lead ``adjudicated`` it.

    Neither, where the grade is only from a file. ``at`` is when the deciding judgment was given or
    loaded; UTC, ISO 8601. ``chunk`` is the chunk's number.
    """

    query_id: str
    people: int
    adjudicated: bool
    at: str
    chunk: int = 0
    grade: int = 0


class CopyGrades(NamedTuple):
    """Chunks of a query with the same text, by id, each with its golden grade or None."""

    query_id: str
    grades: tuple[tuple[str, int | None], ...]

    @property
    def differ(self) -> bool:
        """Whether two of them have different golden grades."""
        return len({grade for _, grade in self.grades if grade is not None}) > 1

    @property
    def ungraded(self) -> int:
        """How many of them have no golden grade, where another has one."""
        known = sum(grade is not None for _, grade in self.grades)
        return len(self.grades) - known if known else 0


class SuggestionCheck(NamedTuple):
    """The grade a ``source`` suggested for a pair, and the one a grader gave before seeing it."""

    query_id: str
    source: str
    proposed: int
    given: int


DECIDING_KINDS = ("grade", "adjudicate", "import")
GRADE_KIND, ADJUDICATE_KIND, IMPORT_KIND = range(len(DECIDING_KINDS))

IntColumn = npt.NDArray[np.int64]
BoolColumn = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SingleGrades:
    """The current judgments at ``revision`` as columns, (n,), grouped by pair, oldest first.

    ``pair`` is a query's index in `Collection.query_ids` << 32 | its chunk's number. ``grader`` is
    a key of ``names``, -1 for a grade from a file; ``kind`` an index in `DECIDING_KINDS`. ``blind``
    says that the grader knew neither the systems nor others' grades, ``stale`` that the chunk's
    text has changed since.
    """

    revision: int
    names: Mapping[int, str]
    pair: IntColumn
    grader: IntColumn
    kind: IntColumn
    grade: IntColumn
    blind: BoolColumn
    stale: BoolColumn

    @staticmethod
    def of(revision: int, names: Mapping[int, str], table: IntColumn) -> SingleGrades:
        """Return the judgments of a table, (n, 6), with the columns from ``pair`` to ``stale``."""
        pair, grader, kind, grade, blind, stale = table.T
        flags = (blind.astype(np.bool_), stale.astype(np.bool_))
        return SingleGrades(revision, names, pair, grader, kind, grade, *flags)

    @property
    def table(self) -> IntColumn:
        """All columns, (n, 6)."""
        columns = (self.pair, self.grader, self.kind, self.grade, self.blind, self.stale)
        return np.stack(columns, axis=1).astype(np.int64)

    def only(self, chosen: BoolColumn) -> SingleGrades:
        """Return the judgments that are ``chosen``, a mask (n,)."""
        return SingleGrades.of(self.revision, self.names, self.table[chosen])

    def among(self, places: IntColumn) -> SingleGrades:
        """Return the judgments of some queries, (m,) ascending, renumbered in this order."""
        query = self.pair >> 32
        at = np.searchsorted(places, query)
        kept = np.append(places, -1)[at] == query
        found = self.only(kept)
        return replace(found, pair=at[kept] << 32 | found.pair & 2**32 - 1)

    def updated_with(self, newer: SingleGrades, judged: IntColumn) -> SingleGrades:
        """Return these judgments, those of the pairs ``judged`` replaced by those in ``newer``."""
        table = np.concatenate([self.table[~np.isin(self.pair, judged)], newer.table])
        order = np.argsort(table[:, 0], kind="stable")
        return SingleGrades.of(newer.revision, newer.names, table[order])


MOST_PASSAGES = 100
MOST_TEXT = 2**31  # characters; a larger offset is a mistake

Passage: TypeAlias = tuple[int, int]
"""Start and end of a passage in a chunk's stored text, in Unicode code points, half open.

JavaScript counts UTF-16 code units and most editors bytes: both have to be converted.
"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Passages of one wording of a text, in order; ``text_hash`` identifies the wording."""

    text_hash: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class GradeEvidence:
    """The passages that one current judgment rests on.

    ``who`` is the grader, or the graders that an import names. ``is_golden`` says that this is the
    golden grade of the pair, ``is_found`` that the chunk still has the text in which they were
    marked: otherwise the offsets are meaningless.
    """

    query_id: str
    chunk_id: str
    grade: int
    who: tuple[str, ...]
    judgment: int
    kind: str
    passages: tuple[Passage, ...]
    text_hash: str
    is_golden: bool
    is_found: bool


def evidence_by_chunk(evidence: Iterable[GradeEvidence]) -> dict[str, list[GradeEvidence]]:
    """Group the evidence of one query by chunk id."""
    groups: dict[str, list[GradeEvidence]] = {}
    for each in evidence:
        groups.setdefault(each.chunk_id, []).append(each)
    return groups


def check_evidence(value: object) -> tuple[Passage, ...]:
    """Return passages given as a list of ``[start, end]``, which may be empty.

    Raises `BadInput` if passages are not in order, overlap, are empty or are too many.

    >>> check_evidence([[0, 12], [30, 41]])
    ((0, 12), (30, 41))
    >>> check_evidence([[5, 5]])
    Traceback (most recent call last):
    labeler.errors.BadInput: evidence: the passage [5, 5] holds nothing: it ends where it starts
    """
    if not isinstance(value, list | tuple):
        raise BadInput(f"evidence must be a list of [start, end], not {_short_repr(value)}")
    if len(value) > MOST_PASSAGES:
        raise BadInput(f"evidence can have {MOST_PASSAGES} passages, not {len(value):,}")
    passages = tuple(map(_check_passage, value))
    for before, after in pairwise(passages):
        if after[0] < before[1]:
            raise BadInput(
                f"evidence: the passages {list(before)} and {list(after)} overlap or are not in "
                "order; sort them by their start"
            )
    return passages


def check_passages_inside(passages: Sequence[Passage], length: int) -> None:
    """Raise `BadInput` if a passage ends beyond a text of ``length`` characters."""
    if passages and passages[-1][1] > length:
        raise BadInput(
            f"evidence: the passage {list(passages[-1])} ends beyond the text, which has "
            f"{length:,} characters (Unicode code points)"
        )


def merge_passages(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return passages in order, overlapping ones merged; adjacent ones are not merged.

    >>> merge_passages([(20, 30), (0, 5), (5, 9), (25, 40)])
    ((0, 5), (5, 9), (20, 40))
    """
    merged: list[Passage] = []
    for start, end in sorted(passages):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def _check_passage(value: object) -> Passage:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise BadInput(f"evidence: a passage is [start, end], not {_short_repr(value)}")
    start, end = value
    for place in (start, end):
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < MOST_TEXT:
            raise BadInput(
                f"evidence: a place in a text is a whole number from 0 on, not {_short_repr(place)}"
            )
    if end == start:
        raise BadInput(
            f"evidence: the passage [{start}, {end}] holds nothing: it ends where it starts"
        )
    if end < start:
        raise BadInput(f"evidence: the passage [{start}, {end}] ends before it starts")
    return start, end


def _short_repr(value: object) -> str:
    return repr(value)[:60]


COUNT_TRANSFERRED, IGNORE_TRANSFERRED = TRANSFER_CHOICES = ("count", "ignore")
"""Whether transferred grades count for pairs that nobody has graded."""

MOST_SOURCES = 1_000


@dataclass(frozen=True, slots=True)
class TransferSource:
    """A judgment that a transferred grade rests on, as it was at the transfer.

    ``golden`` was the golden grade of its pair. ``who`` is the grader, or the graders that an
    import named; ``at`` is when it was given.
    """

    event_id: str
    golden: int
    chunk_id: str
    grade: int
    who: tuple[str, ...]
    at: str

    @property
    def in_words(self) -> str:
        """The chunk, the grade, who gave it and on which day, in words.

        >>> TransferSource("e1", 3, "c7", 3, ("Ana",), "2026-03-04T10:00:00Z").in_words
        'chunk c7: 3 by Ana on 2026-03-04'
        """
        who = ", ".join(self.who) or "a file"
        return f"chunk {self.chunk_id}: {self.grade} by {who} on {self.at[:10]}"


_SOURCE_KEYS = tuple(each.name for each in fields(TransferSource))


def transfer_source_dicts(sources: Sequence[TransferSource]) -> list[dict[str, Any]]:
    """Return the sources of a transferred grade as dicts, for files and database columns."""
    return [asdict(each) for each in sources]


def check_transfer_sources(value: object) -> tuple[TransferSource, ...]:
    """Return sources given as a list of objects with the keys of `TransferSource`.

    An empty list withdraws a transferred grade. Raises `BadInput` for anything else.

    >>> check_transfer_sources([{"event_id": "e1"}])
    Traceback (most recent call last):
    labeler.errors.BadInput: carried_from needs event_id, golden, chunk_id, grade, who, at; 1 has no golden
    """  # noqa: E501
    if not isinstance(value, list | tuple) or len(value) > MOST_SOURCES:
        raise BadInput(f"carried_from must be a list of at most {MOST_SOURCES:,} judgments")
    sources = tuple(_check_source(given, at) for at, given in enumerate(value, 1))
    if len({each.event_id for each in sources}) < len(sources):
        raise BadInput("carried_from names a judgment twice")
    return sources


def _check_source(given: object, at: int) -> TransferSource:
    if not isinstance(given, Mapping):
        raise BadInput(f"carried_from must be a list of objects; {at} is none")
    problem = f"carried_from needs {', '.join(_SOURCE_KEYS)}; {at} has"
    for key in _SOURCE_KEYS:
        if key not in given:
            raise BadInput(f"{problem} no {key}")
    if extra := sorted(map(str, given.keys() - set(_SOURCE_KEYS))):
        raise BadInput(f"{problem} {', '.join(extra)}, too")
    for key in ("event_id", "chunk_id", "at"):
        if not isinstance(given[key], str) or not given[key]:
            raise BadInput(f"{problem} a {key} that is no text")
    for key in ("golden", "grade"):
        if isinstance(given[key], bool) or given[key] not in (0, 1, 2, 3):
            raise BadInput(f"{problem} a {key} that is not 0, 1, 2 or 3")
    who = given["who"]
    if not isinstance(who, list | tuple) or not all(isinstance(name, str) for name in who):
        raise BadInput(f"{problem} a who that is no list of names")
    return TransferSource(**{**given, "who": tuple(who)})
