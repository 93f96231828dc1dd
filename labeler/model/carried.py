"""What a grade that was carried over rests on, as it was when that was done; knows no log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from labeler.errors import BadInput

COUNT, IGNORE = CARRIED = ("count", "ignore")
"""Whether grades that were carried over count, where nobody has graded their pair."""

MOST_BASES = 1_000


@dataclass(frozen=True, slots=True)
class CarriedFrom:
    """A judgment that a carried grade rests on, and what it said.

    ``golden`` was the golden grade of its pair. ``who`` is the grader, or those whom an import
    named, ``at`` when it was given.
    """

    event_id: str
    golden: int
    chunk_id: str
    grade: int
    who: tuple[str, ...]
    at: str

    @property
    def in_words(self) -> str:
        """Say whose grade it is, of which chunk and of which day.

        >>> CarriedFrom("e1", 3, "c7", 3, ("Ana",), "2026-03-04T10:00:00Z").in_words
        'chunk c7: 3 by Ana on 2026-03-04'
        """
        who = ", ".join(self.who) or "a file"
        return f"chunk {self.chunk_id}: {self.grade} by {who} on {self.at[:10]}"


_KEYS = tuple(each.name for each in fields(CarriedFrom))


def carried_fields(bases: Sequence[CarriedFrom]) -> list[dict[str, Any]]:
    """Return what a carried grade rests on as our files and columns have it."""
    return [asdict(each) for each in bases]


def check_carried_from(value: object) -> tuple[CarriedFrom, ...]:
    """Return what was given as a list of objects with the keys of `CarriedFrom`.

    An empty list takes a carried grade back. Raises `BadInput` for anything else.

    >>> check_carried_from([{"event_id": "e1"}])
    Traceback (most recent call last):
    labeler.errors.BadInput: carried_from needs event_id, golden, chunk_id, grade, who, at; 1 has no golden
    """  # noqa: E501
    if not isinstance(value, list | tuple) or len(value) > MOST_BASES:
        raise BadInput(f"carried_from must be a list of at most {MOST_BASES:,} judgments")
    found = tuple(_base_of(given, at) for at, given in enumerate(value, 1))
    if len({each.event_id for each in found}) < len(found):
        raise BadInput("carried_from names a judgment twice")
    return found


def _base_of(given: object, at: int) -> CarriedFrom:
    if not isinstance(given, Mapping):
        raise BadInput(f"carried_from must be a list of objects; {at} is none")
    said = f"carried_from needs {', '.join(_KEYS)}; {at} has"
    for key in _KEYS:
        if key not in given:
            raise BadInput(f"{said} no {key}")
    if extra := sorted(map(str, given.keys() - set(_KEYS))):
        raise BadInput(f"{said} {', '.join(extra)}, too")
    for key in ("event_id", "chunk_id", "at"):
        if not isinstance(given[key], str) or not given[key]:
            raise BadInput(f"{said} a {key} that is no text")
    for key in ("golden", "grade"):
        if isinstance(given[key], bool) or given[key] not in (0, 1, 2, 3):
            raise BadInput(f"{said} a {key} that is not 0, 1, 2 or 3")
    who = given["who"]
    if not isinstance(who, list | tuple) or not all(isinstance(name, str) for name in who):
        raise BadInput(f"{said} a who that is no list of names")
    return CarriedFrom(**{**given, "who": tuple(who)})
