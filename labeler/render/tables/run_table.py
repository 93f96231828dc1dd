"""Tables with one row per run; links sort, filter, pin and group the rows.

`RunTableState` is what a reader chose to see, `RunTable` has the columns and cells. Other modules
fill the cells, and pages make the addresses of the links.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import htpy

from labeler.render.markup import style
from labeler.render.name_parts import NameParts
from labeler.render.tables.html_table import SCROLL_SHADE, html_table, is_long, run_name, small_line

BY_NAME = "run"
DESCENDING = "-"
ValuesByRun = Mapping[str, Mapping[str, float]]
"""The value of each column, by run and by the column's name."""


class RunGroup(NamedTuple):
    """Runs that are shown together, in order; ``name`` is their system, None if it is not shown."""

    name: str | None
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunTableState:
    """What a reader chose to see.

    ``sort`` is a column or `BY_NAME`, with `DESCENDING` before it for the highest first. If the
    table has no such column, `on` chooses one. ``only`` are the runs to show, all if it is empty.
    ``holding`` is a text in the name or the system of the runs to show; case does not matter.
    Pinned runs are shown first and never filtered out.
    """

    sort: str = ""
    only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    holding: str = ""
    by_system: bool = False

    def on(self, columns: Sequence[str]) -> RunTableState:
        """Return the state for these columns; if ``sort`` is none of them, the first one sorts."""
        if self.column in (BY_NAME, *columns) or not columns:
            return self
        return replace(self, sort=f"{DESCENDING}{columns[0]}")

    def turned(self, column: str) -> str:
        """Return the sort order after a click on a column's heading.

        A first click puts the highest value first, or sorts names from A. A second click reverses
        the order.
        """
        first, second = (column, f"{DESCENDING}{column}")
        if column != BY_NAME:
            first, second = second, first
        return second if self.sort == first else first

    @property
    def column(self) -> str:
        """The column that rows are sorted by."""
        return self.sort.removeprefix(DESCENDING)

    @property
    def falls(self) -> bool:
        """Whether the highest value is first."""
        return self.sort.startswith(DESCENDING)

    def shows(self, run: str, system: str) -> bool:
        """Say whether a run is shown."""
        if run in self.hidden:
            return False
        if run in self.pinned:
            return True
        wanted = self.holding.strip().casefold()
        is_chosen = not self.only or run in self.only
        return is_chosen and (wanted in run.casefold() or wanted in system.casefold())

    def order(self, values: ValuesByRun, systems: Mapping[str, str]) -> list[RunGroup]:
        """Return the runs shown: pinned runs first, then by system if the reader chose that.

        Systems are in the order of their first run.
        """
        shown = {run: row for run, row in values.items() if self.shows(run, systems.get(run, run))}
        ordered = sorted_runs(shown, self.sort)
        pinned = tuple(run for run in ordered if run in self.pinned)
        rest = [run for run in ordered if run not in self.pinned]
        if not self.by_system:
            return [RunGroup(None, (*pinned, *rest))] if shown else []
        groups: dict[str, list[str]] = {}
        for run in rest:
            groups.setdefault(systems.get(run, run), []).append(run)
        named = [RunGroup(name, tuple(runs)) for name, runs in groups.items()]
        return [RunGroup(None, pinned), *named] if pinned else named


def sorted_runs(values: ValuesByRun, sort: str) -> list[str]:
    """Return the runs sorted by a column, runs without a value last; equal runs keep their order.

    >>> values = {"a": {"RR": 0.5}, "b": {"RR": math.nan}, "c": {"RR": 1.0}, "d": {"RR": 0.5}}
    >>> sorted_runs(values, "-RR"), sorted_runs(values, "RR")
    (['c', 'a', 'd', 'b'], ['a', 'd', 'c', 'b'])
    >>> sorted_runs({"run 10": {}, "run 9": {}}, "run")
    ['run 9', 'run 10']
    """
    column, falls = sort.removeprefix(DESCENDING), sort.startswith(DESCENDING)
    if column == BY_NAME:
        return sorted(values, key=natural_key, reverse=falls)
    known = {run: row.get(column, math.nan) for run, row in values.items()}
    valued = [run for run in known if not math.isnan(known[run])]
    ordered = sorted(valued, key=known.__getitem__, reverse=falls)
    return [*ordered, *(run for run in known if math.isnan(known[run]))]


def natural_key(name: str) -> list[tuple[int, str]]:
    """Return a sort key for names that sorts the numbers in them by value.

    >>> sorted(["k10", "K9", "k9b"], key=natural_key)
    ['K9', 'k9b', 'k10']
    """
    parts = re.split(r"(\d+)", name.casefold())
    return [(int(part), "") if at % 2 else (-1, part) for at, part in enumerate(parts)]


def drawn_runs(groups: Iterable[RunGroup], pinned: Sequence[str], most: int, few: int) -> list[str]:
    """Return the runs of a picture: all if there are at most ``most``, else the pinned ones.

    If none is pinned, these are the first ``few`` of the table.

    >>> table = [RunGroup(None, ("a", "b", "c", "d"))]
    >>> drawn_runs(table, ["c"], 3, 2), drawn_runs(table, [], 3, 2), drawn_runs(table, [], 4, 2)
    (['c'], ['a', 'b'], ['a', 'b', 'c', 'd'])
    """
    shown = [run for group in groups for run in group.runs]
    if len(shown) <= most:
        return shown
    return [run for run in shown if run in pinned][:most] or shown[:few]


MANY, CROWDED = 5, 8  # columns: above these a narrow page, or any page, hides counts in cells
LONG_NAME = 36  # characters: a longer name wraps if measures need the room

RUN_TABLE_STYLE = style(
    f"""
.scores {{ {SCROLL_SHADE} }}
"""
    """
.scores { position: relative; overflow-x: auto; container-type: inline-size; }
.scores table {
    border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums;
    font-size: 0.93rem; line-height: 1.35;
    min-width: min(100%, calc(14rem + var(--columns) * 8rem));
}
.scores th, .scores td {
    padding: 0.19rem 0.55rem; text-align: right; vertical-align: middle; white-space: nowrap;
    --rule: 1px solid color-mix(in srgb, currentColor 18%, transparent);
}
.scores thead th { border-bottom: var(--rule); }
/* over a row, since the sticky cell of the next one would cover what stands under it */
.scores tbody tr + tr > * { border-top: var(--rule); }
.scores tbody tr:last-child > * { border-bottom: var(--rule); }
.scores td { position: relative; }
.scores thead th { font-weight: 600; border-bottom-width: 2px; vertical-align: bottom; }
.scores thead .tall { min-width: 12rem; }
.scores thead .tall > a { white-space: normal; overflow-wrap: anywhere; overflow: hidden;
    display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.scores thead a { color: inherit; text-decoration: none; }
.scores thead th > a { display: block; padding-block: 0.15rem; margin-block: -0.15rem; }
.scores thead a:hover { text-decoration: underline; text-underline-offset: 0.2em; }
.scores td a { color: inherit; }
.scores thead a.leads, .scores td a {
    text-decoration: underline; text-underline-offset: 0.2em; text-decoration-thickness: 1px;
}
.scores a:focus-visible { outline: 2px solid currentColor; outline-offset: 1px; }
.scores th:first-child {
    text-align: left; position: sticky; left: 0; background: var(--ground);
    z-index: 1;
}
.scores tbody th { font-weight: 400; }
.scores tbody th .run { display: flex; align-items: center; gap: 0.3rem; }
.scores tbody th .long { white-space: normal; overflow-wrap: anywhere;
    min-width: 15rem; max-width: 30rem; }
.scores tbody th bdi, .scores tbody th .long { overflow-x: clip; }
.scores tbody th small.long { width: 14rem; max-height: 2.7em; overflow: clip; }
.scores tr.group th {
    font-weight: 600; padding-top: 0.5rem; text-align: left; white-space: normal;
}
.scores tbody tr:not(.group):hover > * {
    background: color-mix(in srgb, currentColor 7%, var(--ground));
}
.scores small {
    font-size: 0.8125rem; font-weight: 400;
    color: color-mix(in srgb, currentColor 74%, transparent);
}
.scores thead small { display: block; }
.scores td small { display: inline-block; min-width: 2.6rem; margin-left: 0.25rem; }
.scores .unseen {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}
.scores .gaps { display: none; white-space: nowrap; }
.scores.crowded td small { display: none; }
.scores.crowded .gaps { display: inline; }
@container (max-width: 72rem) {
    .scores.many td small { display: none; }
    .scores.many .gaps { display: inline; }
    /* on a line of its own under the name, which takes all the width there is */
    .scores.many:not(.crowded) tbody th:has(.gaps) { padding-bottom: 0.95rem; }
    .scores.many:not(.crowded) .gaps {
        position: absolute; left: 2.4rem; bottom: 0.2rem; font-size: 0.75rem; line-height: 1;
    }
}
@container (max-width: 58rem) {
    .scores table { font-size: 0.875rem; }
    .scores th, .scores td { padding: 0.19rem 0.35rem; }
}
@container (max-width: 40rem) {
    .scores tbody th { white-space: normal; overflow-wrap: anywhere; font-size: 0.8125rem; }
    .scores tbody th .run { flex-wrap: wrap; gap: 0 0.3rem; width: 9.5rem; }
    .scores tbody th bdi, .scores tbody th .long { flex: 1 1 100%; order: -1; width: 100%;
        min-width: 0; }
    .scores th, .scores td { padding: 0.3rem 0.4rem; }
    .scores.many:not(.crowded) tbody th:has(.gaps) { padding-bottom: 0.3rem; }
    .scores.many:not(.crowded) .gaps { position: static; }
}
"""
)


class RunColumn(NamedTuple):
    """A column; ``name`` is what links sort by, and ``meaning`` is shown on hover.

    ``leads`` is the address that the line under its heading links to, if any.
    """

    name: str
    heading: str
    under: str = ""
    meaning: str | None = None
    leads: str | None = None


class RunCell(NamedTuple):
    """The content of a cell, and the value by which its row is sorted."""

    value: float
    element: htpy.Element


@dataclass(frozen=True, slots=True)
class RunTable:
    """Columns, a cell for each run and column, and ``tags`` with further notes on a run.

    ``gaps`` are each run's unjudged chunks; they are shown at its name if the cells have no room
    for counts.
    """

    columns: Sequence[RunColumn]
    cells: Mapping[str, Mapping[str, RunCell]]
    tags: Mapping[str, Sequence[str]]
    gaps: Mapping[str, htpy.Element] = field(default_factory=dict)

    @property
    def values(self) -> ValuesByRun:
        """The values that rows are sorted by."""
        return {
            run: {name: cell.value for name, cell in row.items()} for run, row in self.cells.items()
        }

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


@dataclass(frozen=True, slots=True)
class RunNames:
    """The names of runs: ``short`` has the short form of each, ``systems`` its system.

    ``of_systems`` are the short names of systems. ``parts`` are the parts of long names.
    """

    short: Mapping[str, str]
    systems: Mapping[str, str]
    of_systems: Mapping[str, str] = field(default_factory=dict)
    parts: NameParts | None = None

    def system(self, run: str) -> str:
        """Return a run's system, "" if the run's name as shown contains it.

        A run without a named system is its own system; this returns "" for it, too.
        """
        system = self.systems.get(run, run)
        is_said = system == run or system in self.short.get(run, run)
        return "" if is_said else self.of_systems.get(system, system)


def sentence_with_link(sentence: str, link: str, address: str) -> htpy.Element:
    """Return a sentence with a link after it."""
    look = "color: inherit; text-underline-offset: 0.15em"
    return htpy.p(style="margin: 0")[sentence, " ", htpy.a(href=address, style=look)[link]]


def runs_table(
    table: RunTable,
    groups: Sequence[RunGroup],
    lineup: RunTableState,
    names: RunNames,
    sort_url: Callable[[str], str] | None = None,
) -> htpy.Fragment:
    """Return the table with the runs of ``groups``, as ``lineup`` sorts them.

    ``sort_url`` returns the address that sorts by a column. Without it headings are not links.
    """
    count = len(table.columns)
    first = table.names[0] if count else ""
    columns = [RunColumn(BY_NAME, "Run"), *table.columns]
    heads = [
        _run_column_head(column, first, lineup, sort_url, _lines_under_heading(column))
        for column in columns
    ]
    rows: list[htpy.Element] = []
    for group in groups:
        if group.name is not None:
            rows.append(_group_row(group, len(heads)))
        rows += [_run_row(run, table, lineup, names) for run in group.runs]
    classes = f"scores{' many' * (count > MANY)}{' crowded' * (count > CROWDED)}"
    return html_table(RUN_TABLE_STYLE, classes, heads, rows, columns=count)


def _run_column_head(
    column: RunColumn,
    first: str,
    lineup: RunTableState,
    sort_url: Callable[[str], str] | None,
    under: htpy.Node,
) -> htpy.Element:
    """Return a heading that sorts; its id, unlike its position, stays the same after sorting."""
    is_sorted = lineup.column == column.name
    order = "descending" if lineup.falls else "ascending"
    sign = {"descending": "▼", "ascending": "▲"}[order] if is_sorted else ""
    look, whole = ("tall", column.heading) if is_long(column.heading) else (None, None)
    cell = htpy.th(
        scope="col", aria_sort=order if is_sorted else None, class_=look, title=column.meaning
    )
    if sort_url is None:
        return cell[htpy.span[column.heading], under]
    link = {"id": f"sort {first} {column.name}", "href": sort_url(column.name), "title": whole}
    return cell[
        htpy.a(link)[column.heading, htpy.span(aria_hidden="true")[f" {sign}"] if sign else None],
        under,
    ]


def _lines_under_heading(column: RunColumn) -> list[htpy.Element | None]:
    """Return the lines under a heading; the first is a link if the column has an address."""
    lines = column.under.splitlines()
    if column.leads is None or not lines:
        return [small_line(line) for line in lines]
    first, *others = lines
    what = f"{first}: the queries of {column.heading}"
    link = htpy.a(".leads", href=column.leads, title=what, aria_label=what)[first]
    return [htpy.small[link], *map(small_line, others)]


def _group_row(group: RunGroup, columns: int) -> htpy.Element:
    runs = f"{len(group.runs)} run{'s' * (len(group.runs) != 1)}"
    return htpy.tr(".group")[
        htpy.th(scope="rowgroup", colspan=columns)[group.name, " ", htpy.small[runs]]
    ]


def _small_note(text: str, whole: str | None = None) -> htpy.Element:
    return htpy.small(class_="long" if len(text) > LONG_NAME else None, title=whole)[text]


def _run_row(run: str, table: RunTable, lineup: RunTableState, names: RunNames) -> htpy.Element:
    system = "" if lineup.by_system else names.system(run)
    return htpy.tr[
        htpy.th(scope="row")[
            htpy.div(".run")[
                run_name(run, names.short, long=LONG_NAME),
                _small_note(system, names.systems[run]) if system else None,
                [_small_note(text) for text in table.tags.get(run, ())],
                table.gaps.get(run),
            ]
        ],
        [table.cells[run][name].element for name in table.names],
    ]
