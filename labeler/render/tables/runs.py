"""A table with one row for each run, whatever its columns say: sorted, pinned and hidden by links.

What the cells hold is another module's; where the links lead is the page's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import htpy

from labeler.render.lineup import BY_NAME, Group, Lineup, Values
from labeler.render.markup import style
from labeler.render.tables.bands import LOOK as BAND_LOOK
from labeler.render.tables.shared import EDGE, framed, is_long, run_name, small

MANY, CROWDED = 5, 8  # beside more columns, a narrow page, or any, shows no counts in the cells
LONG_NAME = 36  # characters: a longer name takes several lines where measures need the room

LOOK = style(
    f"""
.scores {{ {EDGE} }}
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
.scores td:has(.band) { padding-bottom: 0.36rem; }
.scores td .band { position: absolute; inset: auto 0.4rem 1px 0.4rem; height: 0.4rem; margin: 0;
    min-width: 0; /* a narrow column's would lie over the next */ }
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
.scores .act {
    flex: none; color: color-mix(in srgb, currentColor 66%, transparent); text-decoration: none;
    min-width: 1.5rem; line-height: 1.5rem; margin-block: -0.19rem; text-align: center;
    border-radius: 0.3rem;
}
.scores .act:hover { color: inherit; }
.scores .act:hover { background: color-mix(in srgb, currentColor 12%, transparent); }
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


class Column(NamedTuple):
    """A column by the name that it is sorted by; ``meaning`` is shown where one hovers.

    ``leads`` is where the line under its heading leads, if anywhere.
    """

    name: str
    heading: str
    under: str = ""
    meaning: str | None = None
    leads: str | None = None


class Cell(NamedTuple):
    """What stands in a cell, and the value by which its row is sorted."""

    value: float
    element: htpy.Element


class Steps(NamedTuple):
    """Where the links of a table lead: an address for a column, or for a run."""

    sort: Callable[[str], str]
    pin: Callable[[str], str]
    hide: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class RunTable:
    """Columns, and a cell for each run and column; ``tags`` say of a run what no column does.

    ``gaps`` are each run's holes, said at its name where the cells have no room to count them.
    """

    columns: Sequence[Column]
    cells: Mapping[str, Mapping[str, Cell]]
    tags: Mapping[str, Sequence[str]]
    gaps: Mapping[str, htpy.Element] = field(default_factory=dict)

    @property
    def values(self) -> Values:
        """What the rows are sorted by."""
        return {
            run: {name: cell.value for name, cell in row.items()} for run, row in self.cells.items()
        }

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


@dataclass(frozen=True, slots=True)
class RunNames:
    """How runs are called: ``short`` where names are folded, and the system each belongs to.

    ``of_systems`` are the folded names of systems.
    """

    short: Mapping[str, str]
    systems: Mapping[str, str]
    of_systems: Mapping[str, str] = field(default_factory=dict)

    def system(self, run: str) -> str:
        """Name a run's system where the run's own name, as it is shown, does not say it.

        A run that is its own system, as one is unless another is named, has said so.
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
    groups: Sequence[Group],
    lineup: Lineup,
    names: RunNames,
    steps: Steps | None = None,
    under_run: htpy.Node = None,
) -> htpy.Fragment:
    """Return the table with the runs of ``groups``, as ``lineup`` sorts them.

    Without ``steps`` nothing in it can be clicked. ``under_run`` stands in the head of the names.
    """
    count = len(table.columns)
    first = table.names[0] if count else ""
    columns = [Column(BY_NAME, "Run"), *table.columns]
    heads = [
        _head(column, first, lineup, steps, _under(column) if at else under_run)
        for at, column in enumerate(columns)
    ]
    rows: list[htpy.Element] = []
    for group in groups:
        if group.name is not None:
            rows.append(_group_row(group, len(heads)))
        rows += [_run_row(run, table, lineup, names, steps) for run in group.runs]
    classes = f"scores{' many' * (count > MANY)}{' crowded' * (count > CROWDED)}"
    return framed((LOOK, BAND_LOOK), classes, heads, rows, columns=count)


def _head(
    column: Column, first: str, lineup: Lineup, steps: Steps | None, under: htpy.Node
) -> htpy.Element:
    """Return a heading that sorts; its id, unlike its place, is still there afterwards."""
    is_sorted = lineup.column == column.name
    order = "descending" if lineup.falls else "ascending"
    sign = {"descending": "▼", "ascending": "▲"}[order] if is_sorted else ""
    look, whole = ("tall", column.heading) if is_long(column.heading) else (None, None)
    cell = htpy.th(
        scope="col", aria_sort=order if is_sorted else None, class_=look, title=column.meaning
    )
    if steps is None:
        return cell[htpy.span[column.heading], under]
    link = {"id": f"sort {first} {column.name}", "href": steps.sort(column.name), "title": whole}
    return cell[
        htpy.a(link)[column.heading, htpy.span(aria_hidden="true")[f" {sign}"] if sign else None],
        under,
    ]


def _under(column: Column) -> list[htpy.Element | None]:
    """Return the lines under a heading, the first as the link where it leads anywhere."""
    lines = column.under.splitlines()
    if column.leads is None or not lines:
        return [small(line) for line in lines]
    first, *others = lines
    what = f"{first}: the queries of {column.heading}"
    link = htpy.a(".leads", href=column.leads, title=what, aria_label=what)[first]
    return [htpy.small[link], *map(small, others)]


def _group_row(group: Group, columns: int) -> htpy.Element:
    runs = f"{len(group.runs)} run{'s' * (len(group.runs) != 1)}"
    return htpy.tr(".group")[
        htpy.th(scope="rowgroup", colspan=columns)[group.name, " ", htpy.small[runs]]
    ]


def _aside(text: str, whole: str | None = None) -> htpy.Element:
    return htpy.small(class_="long" if len(text) > LONG_NAME else None, title=whole)[text]


def _run_row(
    run: str, table: RunTable, lineup: Lineup, names: RunNames, steps: Steps | None
) -> htpy.Element:
    system = "" if lineup.by_system else names.system(run)
    return htpy.tr[
        htpy.th(scope="row")[
            htpy.div(".run")[
                None if steps is None else _pin(run, table, lineup, steps),
                run_name(run, names.short, long=LONG_NAME),
                _aside(system, names.systems[run]) if system else None,
                [_aside(text) for text in table.tags.get(run, ())],
                table.gaps.get(run),
                None if steps is None else _hide(run, table, steps),
            ]
        ],
        [table.cells[run][name].element for name in table.names],
    ]


def _pin(run: str, table: RunTable, lineup: Lineup, steps: Steps) -> htpy.Element:
    is_pinned = run in lineup.pinned
    what = f"Unpin {run}" if is_pinned else f"Pin {run} on top"
    link = {"id": f"pin {table.names[0]} {run}", "href": steps.pin(run)}
    return htpy.a(".act", link, title=what, aria_label=what)["★" if is_pinned else "☆"]


def _hide(run: str, table: RunTable, steps: Steps) -> htpy.Element:
    what = f"Hide {run}"
    link = {"id": f"hide {table.names[0]} {run}", "href": steps.hide(run)}
    return htpy.a(".act", link, title=what, aria_label=what)["×"]
