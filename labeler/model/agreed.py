"""How several people's grades of one pair become one, as the ``golden`` view does it in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_high, median_low, multimode

from labeler.errors import BadInput

RULES = ("lower median", "upper median", "mean rounded half down", "majority")
LOWER_MEDIAN, UPPER_MEDIAN, ROUNDED_MEAN, MAJORITY = RULES
RULES_IN_WORDS = {
    LOWER_MEDIAN: "the middle one counts, of two in the middle the lower",
    UPPER_MEDIAN: "the middle one counts, of two in the middle the higher",
    ROUNDED_MEAN: "their mean counts, rounded to a grade; a half is rounded down",
    MAJORITY: "the one that most gave counts; where two grades have as many, none does: the chunk "
    "is a hole until one more grade, or an adjudication, decides",
}


def agreed_grade(grades: Sequence[int], rule: str = LOWER_MEDIAN) -> int | None:
    """Return the grade that people's ``grades`` of a pair become, each person's counting once.

    None where there are none, and where by `MAJORITY` several grades are the most frequent: a tie
    is a hole, not the lower of the two. A mean may be a grade that nobody gave. Adjudications and
    imports are none of ``grades``: the one comes before them, the other after.

    >>> [agreed_grade([0, 3], rule) for rule in RULES]
    [0, 3, 1, None]
    >>> [agreed_grade([0, 2, 2, 3], rule) for rule in RULES]
    [2, 2, 2, 2]
    """
    check_rule(rule)
    if not grades:
        return None
    if rule == MAJORITY:
        first, *others = multimode(grades)
        return None if others else first
    if rule == ROUNDED_MEAN:
        return -((len(grades) - 2 * sum(grades)) // (2 * len(grades)))
    return (median_low if rule == LOWER_MEDIAN else median_high)(grades)


def check_rule(rule: object) -> None:
    """Raise `BadInput` for what is no rule."""
    if rule not in RULES:
        raise BadInput(f"several grades become one by {', '.join(RULES)}, not by {rule!r}")
