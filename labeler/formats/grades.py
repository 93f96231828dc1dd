"""Grades in files: rules that map other numbers to 0-3, and the collector of a file's grades.

The collector keeps each query-chunk pair once and refuses two different grades for one pair.
Numbers off the scale are reported together at the end, because only the whole scale shows which
``--grade-map`` is needed.
"""

from __future__ import annotations

import math
import operator
import uuid
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import cast

from labeler.errors import BadInput
from labeler.formats.grade_words import (
    WordMap,
    as_pairs,
    as_word,
    exact,
    fold_word,
    propose_words,
)
from labeler.formats.json_records import (
    RoundedFloat,
    format_keys,
    is_rounded,
    short,
    space_warnings,
)
from labeler.formats.lines import InputFile
from labeler.formats.peers.peer_rows import PeerGrade
from labeler.formats.spool import FirstSeen, Spool, compact_lines
from labeler.model import (
    GRADES,
    GoldenGrade,
    Judgment,
    Loaded,
    LoadedGolden,
    Query,
    UnjudgedPair,
    check_grade,
    format_list,
)

UNGRADED = -1
"""Means "in the pool, but ungraded", as in qrels of trec_eval."""

_MOST_NAMED = 12


def parse_grade_map(text: str) -> dict[float, int]:
    """Parse ``--grade-map``: the grade of each number in a file, or of each word.

    >>> parse_grade_map("0.3=1, 1.0=3")
    {0.3: 1, 1.0: 3}
    >>> parse_grade_map("not relevant=0, relevant=2").words
    {'not relevant': 0, 'relevant': 2}
    """
    found: dict[float, int] = {}
    words: dict[str, int] = {}
    for part in text.split(","):
        old, _, new = part.partition("=")
        word = as_word(old)
        try:
            grade = check_grade(int(new))
            if word is None:
                known = found.setdefault(_number(old), grade)
            else:
                known = words.setdefault(fold_word(word), grade)
        except (ValueError, ArithmeticError) as error:
            raise BadInput(
                f"--grade-map: {part.strip()!r} must be a number or a word in the file, =, and a "
                "grade from 0 to 3, such as 0.3=1,1.0=3"
            ) from error
        if known != grade:
            raise BadInput(f"--grade-map: {old.strip()} is given two grades")
    return WordMap(found, words) if words else found


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        raise ValueError
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return _number(str(Decimal(value.rstrip()[:-1].strip()) / 100))
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    if isinstance(value, str) and number in GRADES and is_rounded(value, number):
        raise ValueError
    return number


class GradeCuts(Mapping[float, int]):
    """A grade map for numbers on a continuous scale: how many of the cuts a number reaches.

    >>> cuts = GradeCuts(0.25, 0.5, 0.75)
    >>> [cuts[number] for number in (0.0, 0.25, 0.7, 1.0)]
    [0, 1, 2, 3]
    """

    def __init__(self, *cuts: float) -> None:
        if not 1 <= len(cuts) <= max(GRADES) or any(map(operator.ge, cuts, cuts[1:])):
            raise BadInput(
                f"cuts are one to three numbers that rise, such as 0.25,0.5,0.75, not {cuts}"
            )
        self.cuts = tuple(map(float, cuts))

    def __getitem__(self, number: float) -> int:
        return bisect_right(self.cuts, number)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | float)

    def __iter__(self) -> Iterator[float]:
        return iter(self.cuts)

    def __len__(self) -> int:
        return len(self.cuts)

    def __repr__(self) -> str:
        return f"GradeCuts({', '.join(map(str, self.cuts))})"


def parse_grade_cuts(text: str) -> GradeCuts:
    """Parse ``--grade-cuts``: the lowest number of each grade from 1 on.

    >>> parse_grade_cuts("0.25,0.5,0.75")
    GradeCuts(0.25, 0.5, 0.75)
    """
    try:
        return GradeCuts(*map(_number, text.split(",")))
    except (BadInput, ValueError) as error:
        raise BadInput(
            f"--grade-cuts: {text!r} must be one to three numbers that rise, such as 0.25,0.5,0.75"
        ) from error


class OffScale(BadInput):
    """A number that no rule maps to a grade; a reader may continue to see the whole scale."""


@dataclass(frozen=True, slots=True)
class GradeRule:
    """The mapping of numbers in a file to grades: unchanged, by a map, negative ones by option.

    Negative ones may be read as 0, or as trec_eval reads them: in the pool, but ungraded. A map
    with a fraction must name every number but 0, so that none is rounded or ambiguous.
    """

    negative_as_zero: bool = False
    grade_map: Mapping[float, int] = field(default_factory=dict)
    negative_as_ungraded: bool = False

    def __post_init__(self) -> None:
        if self.negative_as_zero and self.negative_as_ungraded:
            raise BadInput(
                "a negative grade cannot be both 0 and none; leave out --negative-as-zero or "
                "--negative-as-ungraded"
            )
        for grade in self.grade_map.values():
            check_grade(grade)

    def read(self, value: object) -> int:
        """Return the grade of a value, -1 for ungraded; ``2.0`` and ``"2"`` are 2.

        The map comes first; a number that it does not name must be a grade, and ``"85%"`` is 0.85.
        Raises `BadInput` that names the option that would accept the value.
        """
        word = as_word(value)
        return self.grade(self.number(value)) if word is None else self.word(word)

    def word(self, word: str) -> int:
        """Return the grade of a word; raises `OffScale` where the map has none."""
        words: Mapping[str, int] = getattr(self.grade_map, "words", {})
        if (grade := words.get(fold_word(word))) is not None:
            return grade
        pairs = as_pairs(propose_words([word]) or {word: 0})
        raise OffScale(f"grade must be 0, 1, 2 or 3, not {word!r}; --grade-map {pairs} names its")

    def number(self, value: object) -> float:
        """Return a value as a number, or raise `BadInput`."""
        if isinstance(value, RoundedFloat):
            raise BadInput(
                f"grade must be 0, 1, 2 or 3; this number is {value:.15g} only when it is rounded"
            )
        try:
            return _number(value)
        except (ValueError, ArithmeticError) as error:
            raise BadInput(f"grade must be 0, 1, 2 or 3, not {short(value)}") from error

    def grade(self, number: float) -> int:
        """Return the grade of a number; raises `OffScale` where it has none."""
        if number in self.grade_map:
            return self.grade_map[number]
        if number < 0:
            return self._negative(number)
        if (
            number
            and self.grade_map
            and not all(old.is_integer() for old in map(float, self.grade_map))
        ):
            nearest = _nearest(number)
            raise OffScale(
                f"grade {exact(number)} is not in the map, and a map with fractions names every "
                f"grade; add {exact(number)}={nearest} to --grade-map to read it as {nearest}"
            )
        if number in GRADES:
            return int(number)
        raise _off_scale_error(number)

    def _negative(self, number: float) -> int:
        if self.negative_as_zero:
            return 0
        if self.negative_as_ungraded:
            return UNGRADED
        raise OffScale(
            f"grade {exact(number)} is negative; --negative-as-zero reads it as 0, "
            "--negative-as-ungraded as in the pool, but ungraded"
        )


def _nearest(number: float) -> int:
    return max(0, math.ceil(min(number, 3)))


def _off_scale_error(number: float) -> OffScale:
    text, nearest = exact(number), _nearest(number)
    remedy = f"--grade-map {text}={nearest} reads it as {nearest}"
    if number.is_integer():
        return OffScale(f"grade must be 0, 1, 2 or 3, not {text}; {remedy}")
    return OffScale(f"grade {text} is fractional; {remedy}")


def describe_scale(
    numbers: Collection[float], rule: GradeRule, words: Collection[str] = ()
) -> str | None:
    """Describe a file's whole scale, and a map that would read it; None where only one is off.

    >>> describe_scale({0.0, 2.0, 4.0, 8.0, 16.0}, GradeRule())
    'the grades here are 0 2 4 8 16, which --grade-map 2=1,4=2,8=3,16=3 would read'
    >>> describe_scale({0.0, 1.0, 2.0, 3.0, 4.0}, GradeRule()) is None
    True
    """
    if words:
        return _describe_words(words, numbers, rule)
    off = [number for number in numbers if _is_off(number, rule)]
    if max(off, default=-1) < 0:
        return None
    ordered = sorted(numbers)
    if len(off) < 2 and all(number.is_integer() for number in map(float, numbers)):
        return None
    if len(numbers) < 2:
        return None
    texts = [*map(exact, ordered)]
    more = len(texts) - _MOST_NAMED
    named = " ".join(texts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    text = f"the grades here are {named}"
    new = _spread(ordered)
    if len(new) <= _MOST_NAMED:
        text += f", which --grade-map {as_pairs(new)} would read"
    elif not rule.grade_map:
        cuts = ",".join(f"{ordered[-1] * part / 4:.3g}" for part in (1, 2, 3))
        text += f", of which --grade-cuts {cuts} would make grades: 1 from the first number on"
    if ordered[0] < 0 and not (rule.negative_as_zero or rule.negative_as_ungraded):
        text += ", and --negative-as-zero or --negative-as-ungraded those below 0"
    return text


def _spread(numbers: Iterable[float]) -> dict[float, int]:
    """Return the numbers above 0 with grades from 1 to 3, as evenly as these allow."""
    positive = sorted(number for number in numbers if number > 0)
    return {number: math.ceil(3 * at / len(positive)) for at, number in enumerate(positive, 1)}


def _describe_words(words: Collection[str], numbers: Collection[float], rule: GradeRule) -> str:
    named = ", ".join([*words][:_MOST_NAMED])
    more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    text = f"the grades here are words: {named}{more}"
    proposed = propose_words(words)
    if proposed is None:
        return f"{text}; --grade-map 'WORD=GRADE,...' says what each of them means"
    if any(_is_off(number, rule) for number in numbers):
        proposed |= {exact(number): grade for number, grade in _spread(numbers).items()}
    return f"{text}; --grade-map {as_pairs(proposed)} would read them"


def with_scale(
    error: OffScale, numbers: Collection[float], rule: GradeRule, words: Collection[str] = ()
) -> str:
    """Return what is wrong with a grade, with the whole scale that it is of."""
    unread = [word for word in words if _is_off(word, rule)]
    whole = describe_scale(numbers, rule, unread)
    return str(error) if whole is None else f"{str(error).split('; ')[0]}; {whole}"


def _is_off(value: float | str, rule: GradeRule) -> bool:
    try:
        rule.word(value) if isinstance(value, str) else rule.grade(value)
    except OffScale:
        return True
    return False


_MOST_NUMBERS = 1_000  # distinct numbers kept to describe the scale


def empty_golden(source: str) -> LoadedGolden:
    """Return the result of a source without grades."""
    return LoadedGolden(Loaded(source, (), ()), Loaded(source, (), ()), Loaded(source, (), ()))


class GradeCollector:
    """The grades of a file so far, each pair once, including pairs in the pool but ungraded.

    A pair may come again with a grade by another grader: then each grade is its grader's own.
    """

    def __init__(self, source: InputFile, rule: GradeRule) -> None:
        self.source = source
        self.rule = rule
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.disputed = 0  # pairs that several judges rate differently
        self.left: dict[str, None] = {}  # fields that are not read
        self.contradicted: list[tuple[PeerGrade, int]] = []  # and listed as relevant, or not
        self._grades: Spool[GoldenGrade | UnjudgedPair] = Spool()
        self._values = bytearray()
        self._lines = array("q")
        self._firsts = FirstSeen()
        self._others: dict[tuple[str, str, str], tuple[int, GoldenGrade]] = {}
        self._ungraded = 0
        self._numbers: set[float] = set()
        self._words: dict[str, None] = {}
        self._known: dict[str, int] = {}  # grades of cells
        self._off_scale: tuple[int, OffScale] | None = None

    def grade_of(self, line: int, value: object) -> int | None:
        """Return the grade of a value, -1 for ungraded; None where it is off the scale.

        `check_scale` reports such numbers at the end, with the file's whole scale.
        """
        if isinstance(value, str) and (known := self._known.get(value)) is not None:
            return known
        word = as_word(value)
        number = 0.0 if word is not None else self.rule.number(value)
        if word is not None and len(self._words) < _MOST_NUMBERS:
            self._words[word] = None
        elif len(self._numbers) < _MOST_NUMBERS:
            self._numbers.add(number)
        try:
            grade = self.rule.grade(number) if word is None else self.rule.word(word)
            if isinstance(value, str) and len(self._known) < _MOST_NUMBERS:
                self._known[value] = grade
            return grade
        except OffScale as error:
            self._off_scale = self._off_scale or (line, error)
            return None

    def check_scale(self) -> None:
        """Raise `BadInput`, with line and whole scale, where a number was off the scale."""
        if self._off_scale is not None:
            line, error = self._off_scale
            raise self.source.fail(line, with_scale(error, self._numbers, self.rule, self._words))

    def add(self, line: int, grade: GoldenGrade) -> None:
        """Add a grade; raises `BadInput` where the pair has a different one."""
        self._add(line, grade, len(grade.note or ""))

    def add_ungraded(self, line: int, query_id: str, chunk_id: str) -> None:
        """Add a pair that is in the pool, but ungraded."""
        self._add(line, UnjudgedPair(query_id, chunk_id), 0)
        self._ungraded += 1

    def _add(self, line: int, grade: GoldenGrade | UnjudgedPair, weight: int) -> None:
        place = self._firsts.add((grade.query_id, grade.chunk_id))
        if place is None:
            self._grades.add(grade, weight)
            self._values.append(grade.grade & 255)
            self._lines.append(line)
            return
        first = self._grades[place]
        if isinstance(grade, GoldenGrade) and _are_of_two_graders(first, grade):
            self._add_other(line, grade)
        elif self._values[place] == grade.grade & 255:
            self.skipped["duplicates"] += 1
        else:
            raise BadInput(_other_grade(grade, first.grade, self._lines[place]))

    def _add_other(self, line: int, grade: GoldenGrade) -> None:
        """Add the grade that another grader gives a pair; raises `BadInput` for two by one."""
        key = grade.query_id, grade.chunk_id, grade.graders[0]
        first, known = self._others.setdefault(key, (line, grade))
        if known.grade != grade.grade:
            raise BadInput(_other_grade(grade, known.grade, first))
        self.skipped["duplicates"] += int(first != line)

    def _drop_repeats(self) -> None:
        """Keep each pair once, including repeats that were too many to detect while reading."""
        repeats: set[int] = set()
        others: set[int] = set()
        for place, later in self._firsts.suspected_repeats():
            grade, first = self._grades[later], self._grades[place]
            if (first.query_id, first.chunk_id) != (grade.query_id, grade.chunk_id):
                continue
            line = self._lines[later]
            if isinstance(grade, GoldenGrade) and _are_of_two_graders(first, grade):
                with self.source.at(line):
                    self._add_other(line, grade)
                others.add(later)
            elif first.grade != grade.grade:
                message = _other_grade(grade, first.grade, self._lines[place])
                raise self.source.fail(line, message)
            repeats.add(later)
        if repeats:
            self.skipped["duplicates"] += len(repeats) - len(others)
            kept: Spool[GoldenGrade | UnjudgedPair] = Spool()
            for place, grade in enumerate(self._grades):
                if place not in repeats:
                    kept.add(grade, _note_size(grade))
            lines = (line for place, line in enumerate(self._lines) if place not in repeats)
            self._grades, self._lines = kept, array("q", lines)

    def golden(self, queries: Loaded[Query] | None = None) -> LoadedGolden:
        """Return the grades as a golden set, with its queries if the file has any.

        Raises `BadInput` where a number was off the scale, or a pair has two grades.
        """
        self.check_scale()
        self._drop_repeats()
        by_graders = self._split_graders()
        graded, ungraded = self._apart()
        empty = empty_golden(self.source.name)
        grades = self._loaded(*graded)
        if by_graders.records and not grades.records:
            grades = empty.grades
        return replace(
            empty,
            queries=queries or empty.queries,
            grades=grades,
            ungraded=ungraded,
            by_graders=by_graders,
        )

    def _split_graders(self) -> Loaded[Judgment]:
        """Take out the grades by one grader each, where several grade the same pair."""
        if not self._others:
            return Loaded(self.source.name, (), ())
        found, kept, lines = [], Spool[GoldenGrade | UnjudgedPair](), array("q")
        for line, each in zip(self._lines, self._grades, strict=True):
            if isinstance(each, GoldenGrade) and _has_one_grader(each):
                found.append((line, each))
            else:
                kept.add(each, _note_size(each))
                lines.append(line)
        self._grades, self._lines = kept, lines
        found = sorted([*found, *self._others.values()], key=lambda each: each[0])
        people = dict.fromkeys(each.graders[0] for _, each in found)
        facts: dict[str, int | str] = {
            "judgments": len(found),
            "graders": format_list([*people], _MOST_NAMED),
        }
        facts |= {} if kept else {**(+self.skipped), **self._left_out()}
        records = [_judgment(each, self.source.name) for _, each in found]
        return Loaded(self.source.name, records, [line for line, _ in found], facts)

    def _left_out(self) -> dict[str, str]:
        return {"not read": format_keys(self.left)} if self.left else {}

    def _apart(self) -> tuple[tuple[Sequence[GoldenGrade], array[int]], Loaded[UnjudgedPair]]:
        """Return the grades with their lines, and separately the ungraded pairs."""
        if not self._ungraded:
            nothing: Loaded[UnjudgedPair] = Loaded(self.source.name, (), ())
            return (cast(Spool[GoldenGrade], self._grades), self._lines), nothing
        grades: Spool[GoldenGrade] = Spool()
        none: list[UnjudgedPair] = []
        lines, other_lines = array("q"), array("q")
        for line, each in zip(self._lines, self._grades, strict=True):
            if isinstance(each, UnjudgedPair):
                none.append(each)
                other_lines.append(line)
            else:
                grades.add(each, _note_size(each))
                lines.append(line)
        facts: dict[str, int | str] = {"in the pool, but ungraded": len(none)}
        return (grades, lines), Loaded(self.source.name, none, other_lines, facts)

    def _loaded(self, grades: Sequence[GoldenGrade], lines: array[int]) -> Loaded[GoldenGrade]:
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
        facts |= {**self.skipped, **self._left_out()}
        warnings = (
            *self.warnings,
            *space_warnings(queries, "query"),
            *space_warnings(spaced, "chunk"),
        )
        if not grades:
            warnings = ("there is no grade in it", *warnings)
        return Loaded(self.source.name, grades, compact_lines(lines), facts, warnings)


def _has_one_grader(grade: GoldenGrade) -> bool:
    return len(grade.graders) == 1 and not (grade.chunking or grade.evidence or grade.carried_from)


def _are_of_two_graders(
    first: GoldenGrade | UnjudgedPair, grade: GoldenGrade | UnjudgedPair
) -> bool:
    if isinstance(first, UnjudgedPair) or isinstance(grade, UnjudgedPair):
        return False
    return _has_one_grader(first) and _has_one_grader(grade) and first.graders != grade.graders


def _other_grade(grade: GoldenGrade | UnjudgedPair, first: int, line: int) -> str:
    return (
        f"chunk {grade.chunk_id!r} has grade {grade.grade} for query {grade.query_id!r}, "
        f"but {first} on line {line}; keep one of them"
    )


def _judgment(grade: GoldenGrade, source: str) -> Judgment:
    """Return the event of a grade by one grader; a file does not say whether it was given blind."""
    return Judgment(
        str(uuid.uuid4()),
        grade.query_id,
        grade.chunk_id,
        grade.graders[0],
        grade=grade.grade,
        note=grade.note,
        blind=False,
        source=source,
    )


def _note_size(grade: GoldenGrade | UnjudgedPair) -> int:
    return 0 if isinstance(grade, UnjudgedPair) else len(grade.note or "")
