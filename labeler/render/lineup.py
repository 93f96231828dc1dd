"""Which runs a table shows and in which order: sorted, chosen, hidden, pinned, by system.

Knows runs by their names and columns by theirs; not what the numbers mean nor how they are drawn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

BY_NAME = "run"
DOWN = "-"
Values = Mapping[str, Mapping[str, float]]
"""By run, and by the name of a column."""


class Group(NamedTuple):
    """Runs that stand together, in their order; ``name`` is their system where that is shown."""

    name: str | None
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lineup:
    """What a reader chose to see.

    ``sort`` is a column, or `BY_NAME`, with `DOWN` before it for the highest first; where it names
    none, a table has its own, see `on`. ``only`` are
    the runs to show, all where none is named, and ``holding`` is a text that their name or their
    system holds, whatever its case. Pinned runs stand above the others, and are never filtered
    away.
    """

    sort: str = ""
    only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    holding: str = ""
    by_system: bool = False

    def on(self, columns: Sequence[str]) -> Lineup:
        """Return this for a table with these columns: by the first where it sorts by no other."""
        if self.column in (BY_NAME, *columns) or not columns:
            return self
        return replace(self, sort=f"{DOWN}{columns[0]}")

    def turned(self, column: str) -> str:
        """Return what a click on a column's heading sorts by.

        A first click puts the highest first, and names from A on; a second one turns it round.
        """
        first, second = (column, f"{DOWN}{column}")
        if column != BY_NAME:
            first, second = second, first
        return second if self.sort == first else first

    @property
    def column(self) -> str:
        """The column that is sorted by."""
        return self.sort.removeprefix(DOWN)

    @property
    def falls(self) -> bool:
        """Say whether the highest stands first."""
        return self.sort.startswith(DOWN)

    def shows(self, run: str, system: str) -> bool:
        """Say whether a run is shown."""
        if run in self.hidden:
            return False
        if run in self.pinned:
            return True
        wanted = self.holding.strip().casefold()
        is_chosen = not self.only or run in self.only
        return is_chosen and (wanted in run.casefold() or wanted in system.casefold())

    def order(self, values: Values, systems: Mapping[str, str]) -> list[Group]:
        """Return the runs that are shown, pinned ones first, then by system if that is chosen.

        Systems come in the order of their first run.
        """
        shown = {run: row for run, row in values.items() if self.shows(run, systems.get(run, run))}
        ordered = sorted_runs(shown, self.sort)
        pinned = tuple(run for run in ordered if run in self.pinned)
        rest = [run for run in ordered if run not in self.pinned]
        if not self.by_system:
            return [Group(None, (*pinned, *rest))] if shown else []
        groups: dict[str, list[str]] = {}
        for run in rest:
            groups.setdefault(systems.get(run, run), []).append(run)
        named = [Group(name, tuple(runs)) for name, runs in groups.items()]
        return [Group(None, pinned), *named] if pinned else named


def sorted_runs(values: Values, sort: str) -> list[str]:
    """Return the runs by a column; those it has no value for come last, equal ones as they were.

    >>> values = {"a": {"RR": 0.5}, "b": {"RR": math.nan}, "c": {"RR": 1.0}, "d": {"RR": 0.5}}
    >>> sorted_runs(values, "-RR"), sorted_runs(values, "RR")
    (['c', 'a', 'd', 'b'], ['a', 'd', 'c', 'b'])
    >>> sorted_runs({"run 10": {}, "run 9": {}}, "run")
    ['run 9', 'run 10']
    """
    column, falls = sort.removeprefix(DOWN), sort.startswith(DOWN)
    if column == BY_NAME:
        return sorted(values, key=natural, reverse=falls)
    known = {run: row.get(column, math.nan) for run, row in values.items()}
    valued = [run for run in known if not math.isnan(known[run])]
    ordered = sorted(valued, key=known.__getitem__, reverse=falls)
    return [*ordered, *(run for run in known if math.isnan(known[run]))]


def natural(name: str) -> list[tuple[int, str]]:
    """Return what names are sorted by, so that a number stands where its value does.

    >>> sorted(["k10", "K9", "k9b"], key=natural)
    ['K9', 'k9b', 'k10']
    """
    parts = re.split(r"(\d+)", name.casefold())
    return [(int(part), "") if at % 2 else (-1, part) for at, part in enumerate(parts)]


def picked(groups: Iterable[Group], pinned: Sequence[str], most: int, few: int) -> list[str]:
    """Return the runs a picture shows: all where they are at most ``most``, else the pinned ones.

    Where none is pinned it shows the first ``few`` of the table.

    >>> table = [Group(None, ("a", "b", "c", "d"))]
    >>> picked(table, ["c"], 3, 2), picked(table, [], 3, 2), picked(table, [], 4, 2)
    (['c'], ['a', 'b'], ['a', 'b', 'c', 'd'])
    """
    shown = [run for group in groups for run in group.runs]
    if len(shown) <= most:
        return shown
    return [run for run in shown if run in pinned][:most] or shown[:few]
