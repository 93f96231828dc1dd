"""The grades of a file as they are read: each pair once, off-scale numbers told all at once."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import cast

from labeler.errors import BadInput
from labeler.formats.grades import GradeRule, OffScale, scale_in_words
from labeler.formats.reading import Source
from labeler.formats.records import outer_spaces
from labeler.formats.spool import Firsts, Spool, lines_of_records
from labeler.model import GRADES, GoldenGrade, Loaded, LoadedGolden, Query, Ungraded

_MOST_NUMBERS = 1_000  # of a scale that are kept apart, to describe it


def empty_golden(source: str) -> LoadedGolden:
    """Return what a source without any grade gives."""
    return LoadedGolden(Loaded(source, (), ()), Loaded(source, (), ()), Loaded(source, (), ()))


class Pairs:
    """The grades of a file so far, each pair once; those in the pool but ungraded among them."""

    def __init__(self, source: Source, rule: GradeRule) -> None:
        self.source = source
        self.rule = rule
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.disputed = 0  # pairs that several judges rate differently
        self._grades: Spool[GoldenGrade | Ungraded] = Spool()
        self._values = bytearray()
        self._lines = array("q")
        self._firsts = Firsts()
        self._ungraded = 0
        self._numbers: set[float] = set()
        self._off_scale: tuple[int, OffScale] | None = None

    def grade_of(self, line: int, value: object) -> int | None:
        """Return the grade a value stands for, -1 for none; None where it is off the scale.

        That is told in the end, by `check_scale`, with all that the file has on its scale.
        """
        number = self.rule.number(value)
        if len(self._numbers) < _MOST_NUMBERS:
            self._numbers.add(number)
        try:
            return self.rule.grade(number)
        except OffScale as error:
            self._off_scale = self._off_scale or (line, error)
            return None

    def check_scale(self) -> None:
        """Raise `BadInput` where a number was no grade: its line, and the file's whole scale."""
        if self._off_scale is not None:
            line, error = self._off_scale
            whole = scale_in_words(self._numbers, self.rule)
            said = str(error) if whole is None else f"{str(error).split('; ')[0]}; {whole}"
            raise self.source.fail(line, said)

    def add(self, line: int, grade: GoldenGrade) -> None:
        """Note a grade; refuse it where the pair is known to have another one."""
        self._add(line, grade, len(grade.note or ""))

    def add_ungraded(self, line: int, query_id: str, chunk_id: str) -> None:
        """Note a pair that is in the pool, but ungraded."""
        self._add(line, Ungraded(query_id, chunk_id), 0)
        self._ungraded += 1

    def _add(self, line: int, grade: GoldenGrade | Ungraded, weight: int) -> None:
        place = self._firsts.add((grade.query_id, grade.chunk_id))
        if place is None:
            self._grades.add(grade, weight)
            self._values.append(grade.grade & 255)
            self._lines.append(line)
        elif self._values[place] == grade.grade & 255:
            self.skipped["duplicates"] += 1
        else:
            raise BadInput(self._other_grade(grade, place))

    def _other_grade(self, grade: GoldenGrade | Ungraded, place: int) -> str:
        first = self._values[place]
        return (
            f"chunk {grade.chunk_id!r} has grade {grade.grade} for query {grade.query_id!r}, "
            f"but {first - 256 if first > 3 else first} on line {self._lines[place]}; "
            "keep one of them"
        )

    def _drop_repeats(self) -> None:
        """Leave each pair once, those too that were too many to be known while reading."""
        repeats: set[int] = set()
        for place, later in self._firsts.suspects():
            grade, first = self._grades[later], self._grades[place]
            if (first.query_id, first.chunk_id) != (grade.query_id, grade.chunk_id):
                continue
            if first.grade != grade.grade:
                raise self.source.fail(self._lines[later], self._other_grade(grade, place))
            repeats.add(later)
        if repeats:
            self.skipped["duplicates"] += len(repeats)
            kept: Spool[GoldenGrade | Ungraded] = Spool()
            for place, grade in enumerate(self._grades):
                if place not in repeats:
                    kept.add(grade, _weight(grade))
            lines = (line for place, line in enumerate(self._lines) if place not in repeats)
            self._grades, self._lines = kept, array("q", lines)

    def golden(self, queries: Loaded[Query] | None = None) -> LoadedGolden:
        """Return the grades as a golden set, with its queries if the file has any.

        Raises `BadInput` where a number was no grade, or a pair has two grades.
        """
        self.check_scale()
        self._drop_repeats()
        graded, ungraded = self._apart()
        empty = empty_golden(self.source.name)
        return LoadedGolden(queries or empty.queries, self._loaded(*graded), empty.events, ungraded)

    def _apart(
        self,
    ) -> tuple[tuple[Sequence[GoldenGrade], array[int]], Loaded[Ungraded]]:
        """Return the grades, with their lines, apart from the pairs that have none."""
        if not self._ungraded:
            nothing: Loaded[Ungraded] = Loaded(self.source.name, (), ())
            return (cast(Spool[GoldenGrade], self._grades), self._lines), nothing
        grades: Spool[GoldenGrade] = Spool()
        none: list[Ungraded] = []
        lines, other_lines = array("q"), array("q")
        for line, each in zip(self._lines, self._grades, strict=True):
            if isinstance(each, Ungraded):
                none.append(each)
                other_lines.append(line)
            else:
                grades.add(each, _weight(each))
                lines.append(line)
        facts: dict[str, int | str] = {"in the pool, but ungraded": len(none)}
        return (grades, lines), Loaded(self.source.name, none, other_lines, facts)

    def _loaded(self, grades: Sequence[GoldenGrade], lines: array[int]) -> Loaded[GoldenGrade]:
        """Return the grades with their facts."""
        queries: dict[str, None] = {}
        spaced: dict[str, None] = {}
        counts: Counter[int] = Counter()
        for grade in grades:
            queries[grade.query_id] = None
            counts[grade.grade] += 1
            if grade.chunk_id != grade.chunk_id.strip():
                spaced[grade.chunk_id] = None
        facts: dict[str, int | str] = {
            "judgments": len(grades),
            "queries with grades": len(queries),
        }
        facts |= {f"grade {grade}": counts[grade] for grade in GRADES}
        facts |= self.skipped
        warnings = (*self.warnings, *outer_spaces(queries, "query"), *outer_spaces(spaced, "chunk"))
        if not grades:
            warnings = ("there is no grade in it", *warnings)
        return Loaded(self.source.name, grades, lines_of_records(lines), facts, warnings)


def _weight(grade: GoldenGrade | Ungraded) -> int:
    return 0 if isinstance(grade, Ungraded) else len(grade.note or "")
