"""Grades as files write them to grades 0-3; knows no file."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from labeler.errors import BadInput
from labeler.formats.records import Rounded, is_rounded, short
from labeler.model import GRADES, check_grade

UNGRADED = -1
"""What stands for "in the pool, but nobody graded it", as trec_eval has it in qrels."""

_MOST_NAMED = 12


def parse_grade_map(text: str) -> dict[float, int]:
    """Return what ``--grade-map`` says: which grade a number in a file stands for.

    >>> parse_grade_map("0.3=1, 1.0=3")
    {0.3: 1, 1.0: 3}
    """
    found: dict[float, int] = {}
    for part in text.split(","):
        old, _, new = part.partition("=")
        try:
            value, grade = _number(old), check_grade(int(new))
        except ValueError as error:
            raise BadInput(
                f"--grade-map: {part.strip()!r} must be a number in the file, =, and a grade from "
                "0 to 3, such as 0.3=1,1.0=3"
            ) from error
        if found.setdefault(value, grade) != grade:
            raise BadInput(f"--grade-map: {old.strip()} is given two grades")
    return found


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        raise ValueError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    if isinstance(value, str) and number in GRADES and is_rounded(value, number):
        raise ValueError
    return number


class OffScale(BadInput):
    """A number that no rule makes a grade; who reads a file may go on to see its whole scale."""


@dataclass(frozen=True, slots=True)
class GradeRule:
    """How numbers in a file become grades: as they are, by a map, negative ones only if asked.

    Those may be read as 0, or as trec_eval reads them: the chunk is in the pool, and ungraded.
    A map that names a fraction names every number but 0, so that none is rounded or means two
    things.
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
        """Return the grade a value stands for, -1 for none; ``2.0`` and ``"2"`` are 2.

        The map comes first; what it does not name must be a grade already. Raises `BadInput`
        that says which option would admit the value.
        """
        return self.grade(self.number(value))

    def number(self, value: object) -> float:
        """Return the number that a value is, or raise `BadInput`."""
        if isinstance(value, Rounded):
            raise BadInput(
                f"grade must be 0, 1, 2 or 3; this number is {value:.15g} only when it is rounded"
            )
        try:
            return _number(value)
        except (ValueError, OverflowError) as error:
            raise BadInput(f"grade must be 0, 1, 2 or 3, not {short(value)}") from error

    def grade(self, number: float) -> int:
        """Return the grade a number stands for; raises `OffScale` where it is none."""
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
                f"grade {number:.15g} is not in the map, and a map with fractions names every "
                f"grade; add {number:.15g}={nearest} to --grade-map to read it as {nearest}"
            )
        if number in GRADES:
            return int(number)
        raise _refused(number)

    def _negative(self, number: float) -> int:
        if self.negative_as_zero:
            return 0
        if self.negative_as_ungraded:
            return UNGRADED
        raise OffScale(
            f"grade {number:.15g} is negative; --negative-as-zero reads it as 0, "
            "--negative-as-ungraded as in the pool, but ungraded"
        )


def _nearest(number: float) -> int:
    return max(0, math.ceil(min(number, 3)))


def _refused(number: float) -> OffScale:
    text, nearest = f"{number:.15g}", _nearest(number)
    remedy = f"--grade-map {text}={nearest} reads it as {nearest}"
    if number.is_integer():
        return OffScale(f"grade must be 0, 1, 2 or 3, not {text}; {remedy}")
    return OffScale(f"grade {text} is fractional; {remedy}")


def scale_in_words(numbers: Collection[float], rule: GradeRule) -> str | None:
    """Describe a file's whole scale, and a map that would read it; None where one number is off.

    >>> scale_in_words({0.0, 2.0, 4.0, 8.0, 16.0}, GradeRule())
    'the grades here are 0 2 4 8 16, which --grade-map 2=1,4=2,8=3,16=3 would read'
    >>> scale_in_words({0.0, 1.0, 2.0, 3.0, 4.0}, GradeRule()) is None
    True
    """
    off = [number for number in numbers if _is_off(number, rule)]
    if max(off, default=-1) < 0:
        return None
    ordered = sorted(numbers)
    positive = [number for number in ordered if number > 0]
    if len(off) < 2 and all(number.is_integer() for number in map(float, numbers)):
        return None
    if len(numbers) < 2:
        return None
    texts = [f"{number:.15g}" for number in ordered]
    more = len(texts) - _MOST_NAMED
    named = " ".join(texts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    said = f"the grades here are {named}"
    new = {number: math.ceil(3 * place / len(positive)) for place, number in enumerate(positive, 1)}
    if len(new) <= _MOST_NAMED:
        pairs = ",".join(f"{number:.15g}={grade}" for number, grade in new.items())
        said += f", which --grade-map {pairs} would read"
    if ordered[0] < 0 and not (rule.negative_as_zero or rule.negative_as_ungraded):
        said += ", and --negative-as-zero or --negative-as-ungraded those below 0"
    return said


def _is_off(number: float, rule: GradeRule) -> bool:
    try:
        rule.grade(number)
    except OffScale:
        return True
    return False
