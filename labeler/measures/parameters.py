"""What may stand in the parentheses after a measure's name: how it is written, read and checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from labeler.measures.functions import GAINS

LARGEST_GAIN = 1_000_000
LARGEST_BETA = 1000.0


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: ``takes`` says what is right, in words that ``joined`` adds to others'.

    ``read`` makes a value of the text after ``=``, or leaves it a text that ``is_right`` refuses.
    ``default`` is what a name that leaves the parameter open means, and ``unsaid`` whether it then
    stays out of the measure's text, since ir_measures has no such parameter or leaves it out too.
    """

    takes: str
    is_right: Callable[[object], bool]
    read: Callable[[str], object]
    write: Callable[[object], str] = repr
    joined: str = "and"
    default: object = None
    unsaid: bool = False


def is_whole(value: object, low: int, high: int) -> bool:
    """Say whether a value is a whole number from ``low`` to ``high``, written as one.

    >>> is_whole(2, 1, 3), is_whole(2.0, 1, 3), is_whole(True, 1, 3)
    (True, False, False)
    """
    return type(value) is int and low <= value <= high


def _is_between(value: object, low: float, high: float) -> bool:
    return isinstance(value, int | float) and low < value < high


def _are_gains(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 4
        and all(is_whole(gain, 0, LARGEST_GAIN) for gain in value)
        and value[0] == 0 < value[3]
        and list(value) == sorted(value)
    )


def _read_whole(text: str) -> object:
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text


def _read_bool(text: str) -> object:
    return {"True": True, "False": False}.get(text, text)


def _read_number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _read_gains(text: str) -> object:
    """Return four gains; a grade that is not named gains itself, as in ir_measures."""
    if not re.fullmatch(r"\{[^{}]*\}", text):
        return text
    inside = filter(None, map(str.strip, text[1:-1].split(",")))
    pairs = [re.fullmatch(r"([0-3])\s*:\s*([0-9]{1,9})", pair) for pair in inside]
    given = {int(pair[1]): int(pair[2]) for pair in pairs if pair}
    complete = len(given) == len(pairs)
    return tuple(given.get(grade, grade) for grade in range(4)) if complete else text


def _write_gains(value: object) -> str:
    return repr(dict(enumerate(value))) if isinstance(value, tuple) else repr(value)


def _write_number(value: object) -> str:
    return repr(float(value)) if isinstance(value, int | float) else repr(value)


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        "rel": Parameter(
            takes="rel=1, rel=2 or rel=3",
            is_right=lambda value: is_whole(value, 1, 3),
            read=_read_whole,
        ),
        "dcg": Parameter(
            takes="dcg='log2' or dcg='exp-log2'",
            is_right=lambda value: value in GAINS,
            read=lambda text: text.strip("'\""),
        ),
        "gains": Parameter(
            takes="gains={0: 0, 1: 1, 2: 10, 3: 100} (whole numbers that never fall, 0 for "
            "grade 0)",
            joined="or",
            is_right=_are_gains,
            read=_read_gains,
            write=_write_gains,
        ),
        "p": Parameter(
            takes="p above 0 and below 1, as p=0.8",
            is_right=lambda value: _is_between(value, 0.0, 1.0),
            read=_read_number,
            write=_write_number,
            default=0.8,
        ),
        "beta": Parameter(
            takes=f"beta above 0 and below {LARGEST_BETA:.0f}, as beta=1.0",
            is_right=lambda value: _is_between(value, 0.0, LARGEST_BETA),
            read=_read_number,
            write=_write_number,
            default=1.0,
        ),
        "max": Parameter(
            takes="max=3 or a higher whole number (gdeval: max=4)",
            is_right=lambda value: is_whole(value, 3, 10**9),
            read=_read_whole,
            default=3,
            unsaid=True,
        ),
        "recall": Parameter(
            takes="a recall from 0 to 1 after @",
            is_right=lambda value: isinstance(value, float) and 0 <= value <= 1,
            read=_read_number,
            write=_write_number,
        ),
        "characters": Parameter(
            takes="a number of characters after @, as @2000c",
            is_right=lambda value: is_whole(value, 1, 10**9 - 1),
            read=_read_whole,
        ),
        "documents": Parameter(
            takes="documents=True",
            is_right=lambda value: type(value) is bool,
            read=_read_bool,
            default=False,
            unsaid=True,
        ),
        "judged_only": Parameter(
            takes="judged_only=True",
            is_right=lambda value: type(value) is bool,
            read=_read_bool,
            default=False,
            unsaid=True,
        ),
    }
)
