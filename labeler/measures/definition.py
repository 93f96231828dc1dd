"""Definition of a measure: its meaning, formula, rule of thumb, and the parameters it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from labeler.measures.formulas import GAINS
from labeler.measures.hits import Floats

LARGEST_GAIN = 1_000_000
LARGEST_BETA = 1000.0


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of measures: how it is described, checked, read and written.

    ``takes`` describes valid values, and ``joined`` is the word that links it to other parameters'
    descriptions. ``read`` converts the text after ``=``, or returns a text that ``is_right``
    refuses. ``default`` applies where a name leaves the parameter out; ``unsaid`` defaults are left
    out of the measure's name, since ir_measures has no such parameter or leaves it out too.
    """

    takes: str
    is_right: Callable[[object], bool]
    read: Callable[[str], object]
    write: Callable[[object], str] = repr
    joined: str = "and"
    default: object = None
    unsaid: bool = False


def is_whole(value: object, low: int, high: int) -> bool:
    """Return whether a value is an int, and no bool or float, from ``low`` to ``high``.

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
    """Return four gains; the gain of a grade that is left out is the grade, as in ir_measures."""
    if not re.fullmatch(r"\{[^{}]*\}", text):
        return text
    inside = filter(None, map(str.strip, text[1:-1].split(",")))
    pairs = [re.fullmatch(r"([0-3])\s*:\s*([0-9]{1,9})", pair) for pair in inside]
    given = {int(pair[1]): int(pair[2]) for pair in pairs if pair}
    complete = len(given) == len(pairs)
    return tuple(given.get(grade, grade) for grade in range(4)) if complete else text


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
            write=lambda value: repr(dict(enumerate(value)) if isinstance(value, tuple) else value),
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

HIT_OPTIONS = ("documents", "judged_only")
"""Parameters that decide which hits a measure gets; its functions do not take them."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The meaning of a measure, for people and for programs.

    ``function`` and ``terms`` take hits, the cut-off unless there is none, and the ``parameters``,
    of which those in ``optional`` may be left out; they do not take `HIT_OPTIONS`, which are last.
    If the measure ``reads`` evidence they take `FoundEvidence`, and no ``rel``. ``terms`` returns
    one number per hit, and a row's numbers sum to ``function``'s value; ``depends`` is a sentence
    on how a term depends on other chunks, or that terms do not sum to the value, else empty.

    ``after_at`` is the parameter written after @ in place of a cut-off, or as an alternative to it.
    ``instead`` is the measure to suggest if a cut-off is given to one that takes none.

    A ``count`` is a whole number that may exceed 1; every other value is from 0 to 1.
    ``always_defined`` measures have a value even if nothing relevant is known. ``bands`` continues
    "a mean" with a rule of thumb for reading it, which ignores how hard the queries are and how
    many chunks are judged.
    """

    name: str
    function: Callable[..., Floats]
    terms: Callable[..., Floats]
    meaning: str
    hides: str
    formula: str
    example: str
    aliases: tuple[str, ...] = ()
    depends: str = ""
    parameters: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    cutoff: Literal["may", "must", "never"] = "may"
    instead: str = ""
    after_at: str = ""
    count: bool = False
    always_defined: bool = False
    bands: str = ""
    reads: Literal["chunks", "evidence"] = "chunks"

    @property
    def help(self) -> str:
        """The meaning and, if there is one, the rule of thumb for a mean."""
        return (
            f"{self.meaning} As a rule of thumb, a mean {self.bands}"
            if self.bands
            else self.meaning
        )

    @property
    def takes(self) -> str:
        """The parameters except `HIT_OPTIONS`, as words to follow the measure's name."""
        return _describe_parameters(
            tuple(name for name in self.parameters if name not in HIT_OPTIONS)
        )

    @property
    def takes_all(self) -> str:
        """All parameters, as words to follow the measure's name.

        >>> from labeler.measures import MEASURES
        >>> MEASURES["P"].takes_all
        'takes rel=1, rel=2 or rel=3, and documents=True, and judged_only=True'
        """
        return _describe_parameters(self.parameters)

    @property
    def condenses(self) -> bool:
        """Whether the measure takes ``judged_only``, which leaves out unjudged chunks."""
        return "judged_only" in self.parameters


def _describe_parameters(parameters: tuple[str, ...]) -> str:
    if not parameters:
        return "takes no parameters"
    first, *others = (PARAMETERS[name] for name in parameters)
    return "takes " + first.takes + "".join(f", {each.joined} {each.takes}" for each in others)
