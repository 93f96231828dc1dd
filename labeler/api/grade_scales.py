"""Grades in arguments of Python: how other scales are read, and the grades of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from labeler.errors import BadInput
from labeler.evaluation import is_number
from labeler.formats import GradeCuts, GradeRule
from labeler.formats.grade_words import WordMap, as_word
from labeler.formats.grades import OffScale, with_scale
from labeler.model import GRADES, check_grade

GivenMap: TypeAlias = "Mapping[float, int] | Mapping[str, int] | Mapping[float | str, int]"


def grade_rule(
    grade_map: GivenMap | None,
    negative_as_zero: bool,
    negative_as_ungraded: bool = False,
) -> GradeRule:
    """Return how grades of other scales are read; raise `BadInput` for an invalid map."""
    if grade_map is None or isinstance(grade_map, GradeCuts):
        return GradeRule(negative_as_zero, grade_map or {}, negative_as_ungraded)
    if not isinstance(grade_map, Mapping) or not all(
        is_number(old) or as_word(old) is not None for old in grade_map
    ):
        raise BadInput(
            f"grade_map must be {{number: grade}}, such as {{0.3: 1, 1.0: 3}}, not {grade_map!r}"
        )
    words = {**getattr(grade_map, "words", {})}
    grades: dict[float, int] = {}
    for old, given in grade_map.items():
        new = check_grade(int(given) if is_number(given) and given in GRADES else given)
        if (word := as_word(old)) is None:
            grades[float(old)] = new
        else:
            words[word] = new
    return GradeRule(negative_as_zero, WordMap(grades, words), negative_as_ungraded)


def grades_of_rows(rows: Iterable[tuple[str, str, Any]], rule: GradeRule) -> list[int]:
    """Return the grade of each row of query, chunk and value.

    Raises `BadInput` for the first that has none, with a map that would read them all.
    """
    found: list[int] = []
    numbers: set[float] = set()
    words: dict[str, None] = {}
    refused: OffScale | None = None
    first = ""
    for query_id, chunk_id, given in rows:
        where = f"qrels: chunk {chunk_id!r} for query {query_id!r}"
        try:
            value = _plain(given)
            if (word := as_word(value)) is not None:
                words[word] = None
            else:
                numbers.add(rule.number(value))
            found.append(rule.read(value))
        except OffScale as error:
            first, refused = first or where, refused or error
        except BadInput as error:
            raise BadInput(f"{where}: {error}") from error
    if refused is not None:
        raise BadInput(f"{first}: {with_scale(refused, numbers, rule, words)}") from refused
    return found


def _plain(value: Any) -> Any:
    """Return a grade as Python has it; raise `BadInput` for what is neither a number nor a word."""
    if isinstance(value, np.generic):
        value = value.item()
    is_percent = isinstance(value, str) and value.endswith("%")
    if not isinstance(value, int | float) and as_word(value) is None and not is_percent:
        raise BadInput(f"grade must be 0, 1, 2 or 3, not {value!r}")
    return value
