"""Loads of golden grades: their numbers, what still counts of them, and what undoing one does.

The words for an undone load are here, so that terminal and page say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from labeler.model.text import format_count

_SOURCE = "undo-load:"
DECIDED = "decided"
REGRADED = "regraded"
REPLACED = "replaced"
UNDONE_BY_LOG = "undone by log"
TAKEN_BACK = "undone before"

# Why grades of a load are left, for one of them and for several.
_REASONS: Mapping[str, tuple[str, str]] = {
    REPLACED: ("was replaced by a later load", "were replaced by later loads"),
    REGRADED: ("was given again by its grader since", "were given again by their graders since"),
    DECIDED: ("is a lead's decision, which stays", "are leads' decisions, which stay"),
    UNDONE_BY_LOG: (
        "was undone by the loaded log itself",
        "were undone by the loaded log itself",
    ),
    TAKEN_BACK: ("was undone before", "were undone before"),
}


def undo_source(number: int) -> str:
    """Return the source of the events that undo a load.

    >>> undo_source(3)
    'undo-load:3'
    """
    return f"{_SOURCE}{number}"


def undone_load(source: str | None) -> str | None:
    """Return the number of the load that an event with this source undoes, if it does.

    >>> undone_load("undo-load:3"), undone_load("pool")
    ('3', None)
    """
    if source is None or not source.startswith(_SOURCE):
        return None
    return source.removeprefix(_SOURCE)


@dataclass(frozen=True, slots=True)
class GoldenLoad:
    """A load of golden grades: its number, when it was, who loaded which file.

    ``first`` and ``last`` are the ids of its events in the log, between which no others stand.
    ``at`` is UTC, ISO 8601.
    """

    number: int
    at: str
    who: str | None
    file: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class LoadState:
    """What became of a load: how many grades it ``brought``, how many of them are ``current``.

    ``taken_back`` is when it was last undone, None where it never was.
    """

    load: GoldenLoad
    brought: int
    current: int
    taken_back: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, the load's beside its state."""
        told = asdict(self.load)
        del told["first"], told["last"]
        return {
            **told,
            "brought": self.brought,
            "current": self.current,
            "undone": self.taken_back,
        }


@dataclass(frozen=True, slots=True)
class LoadUndo:
    """What undoing a load does: how many grades go, and how many are ``restored`` by that.

    A grade is restored where the load had replaced another one. ``left`` counts the grades that
    stay as they are, by the reason.
    """

    load: GoldenLoad
    taken_back: int
    restored: int
    left: Mapping[str, int]

    def sentences(self, *, is_done: bool = True) -> list[str]:
        """Return what was done, or what would be, and why other grades of the load are left.

        >>> load = GoldenLoad(3, "2026-01-31T09:30:00Z", "Ann", "a.qrels", "e1", "e9")
        >>> LoadUndo(load, 7, 2, {REPLACED: 1}).sentences()
        ['7 grades are undone', '2 grades that it had replaced count again', '1 is left: it was replaced by a later load']
        >>> LoadUndo(load, 0, 0, {TAKEN_BACK: 7}).sentences()
        ['there is nothing left to undo', '7 are left: they were undone before']
        """  # noqa: E501
        said = [self._what_goes(is_done=is_done)]
        if self.restored:
            verb = ("counts" if self.restored == 1 else "count") if is_done else "would count"
            grades = format_count(self.restored, "grade", "grades")
            said.append(f"{grades} that it had replaced {verb} again")
        for reason, count in self.left.items():
            if count:
                verb, it = ("is", "it") if count == 1 else ("are", "they")
                said.append(f"{count:,} {verb} left: {it} {_REASONS[reason][count > 1]}")
        return said

    def _what_goes(self, *, is_done: bool) -> str:
        if not self.taken_back:
            return "there is nothing left to undo"
        grades = format_count(self.taken_back, "grade", "grades")
        if not is_done:
            return f"{grades} would be undone"
        return f"{grades} {'is' if self.taken_back == 1 else 'are'} undone"
