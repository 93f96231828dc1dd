"""Grades as files write them to grades 0-3; knows no file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from labeler.errors import BadInput
from labeler.formats.records import Rounded, is_rounded, short
from labeler.model import GRADES, check_grade


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


@dataclass(frozen=True, slots=True)
class GradeRule:
    """How numbers in a file become grades: as they are, by a map, negative ones as 0 if asked."""

    negative_as_zero: bool = False
    grade_map: Mapping[float, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for grade in self.grade_map.values():
            check_grade(grade)

    def read(self, value: object) -> int:
        """Return the grade a value stands for; ``2.0`` and ``"2"`` are 2.

        The map comes first; what it does not name must be a grade already. Raises `BadInput`
        that says which option would admit the value.
        """
        if isinstance(value, Rounded):
            raise BadInput(
                f"grade must be 0, 1, 2 or 3; this number is {value:.15g} only when it is rounded"
            )
        try:
            number = _number(value)
        except (ValueError, OverflowError) as error:
            raise BadInput(f"grade must be 0, 1, 2 or 3, not {short(value)}") from error
        if number in self.grade_map:
            return self.grade_map[number]
        if number < 0:
            return self._negative(number)
        if number in GRADES:
            return int(number)
        raise _refused(number)

    def _negative(self, number: float) -> int:
        if self.negative_as_zero:
            return 0
        raise BadInput(f"grade {number:.15g} is negative; --negative-as-zero reads it as 0")


def _refused(number: float) -> BadInput:
    text, nearest = f"{number:.15g}", math.ceil(min(number, 3))
    remedy = f"--grade-map {text}={nearest} reads it as {nearest}"
    if number.is_integer():
        return BadInput(f"grade must be 0, 1, 2 or 3, not {text}; {remedy}")
    return BadInput(f"grade {text} is fractional; {remedy}")
