"""The picture of Scores as HTML: the runs on one axis, beside their means.

A picture is a table whose cells hold elements placed with CSS ``left``. It scales and prints, and
screen readers read it as a table. A hollow mark is a run that is not clearly lower than the best.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import htpy

from labeler.analysis.comparison import CLEARLY_HIGHEST, HIGHEST, LOWER, NOT_CLEARLY_LOWER
from labeler.evaluation import NO_RESULT, Score, format_number
from labeler.measures import MEASURES
from labeler.render.markup import style
from labeler.render.name_parts import BETWEEN
from labeler.render.tables.html_table import BACKGROUND, describe_interval, run_name, small_line
from labeler.render.tables.run_table import BY_NAME, RunGroup, RunNames, RunTableState
from labeler.render.tables.scores import BELOW_SIGN, Limits, Marks
from labeler.stats import ConfidenceInterval

MANY_RUNS = 8  # with more runs, rows are lower
MOST_TICKS = 7
STEPS = (1, 2, 5, 10)
ROLES = ("a", "b")  # the two runs that are compared, on every page; others have the role "beside"

RANKING_STYLE = style(
    f".ranking {{ {BACKGROUND} }}"
    """
.ranking { overflow-x: auto; color: var(--ink); }
.ranking table { border-collapse: collapse; width: 100%; min-width: 56rem;
    font-size: 0.9375rem; line-height: 1.25rem; font-variant-numeric: tabular-nums; }
.ranking th, .ranking td { padding: 0 0 0 1.25rem; height: 2.5rem; text-align: right;
    vertical-align: middle; font-weight: 400; white-space: nowrap; border: 0; }
.ranking tbody :is(th, td) { border-top: 1px solid var(--line); }
.ranking.many tbody tr:not(.axis) > * { height: 2rem; }
.ranking thead th { height: auto; padding-bottom: 0.5rem; vertical-align: bottom;
    font-size: 0.8125rem; color: var(--muted); white-space: pre-line; max-width: 8rem;
    overflow-wrap: break-word; }
.ranking :is(th, td):first-child { text-align: left; padding-left: 0; }
.ranking tbody th { white-space: normal; overflow-wrap: anywhere; min-width: 8rem;
    max-width: 24rem;
    position: sticky; left: 0; z-index: 1; background: var(--ground); }
.ranking tbody th > div { display: flex; align-items: center; gap: 0.75rem; padding: 0.125rem 0; }
.ranking tbody th > div > span { flex: 1 1 0; min-width: 0; }
.ranking tbody th bdi { display: inline-block; max-width: 100%; overflow-x: clip;
    vertical-align: top; }
.ranking tbody tr:not(.axis):hover > * { background: var(--soft); }
.ranking a { color: inherit; text-decoration: none; }
.ranking a:hover { text-decoration: underline; text-underline-offset: 3px; }
.ranking a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.ranking small, .ranking .said, .ranking .open { font-size: 0.8125rem; color: var(--muted); }
.ranking thead small { display: block; }
.ranking tbody small { margin-left: 0.5rem; }
.ranking .said { text-align: left; }
.ranking .lead, .ranking thead [aria-sort] { font-weight: 600; color: var(--ink); }
.ranking .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
.ranking td { position: relative; }
.ranking .system th { font-weight: 600; }
.ranking .part { text-align: left; white-space: normal; max-width: 14rem; }
.ranking .rest { display: none; }
.ranking.parted tbody th { white-space: nowrap; overflow-wrap: normal; }
.ranking.parted .plot { width: 24%; } .ranking .open { min-width: 5.5rem; }
.ranking.parted .part + .part { font-size: 0.8125rem; color: var(--muted); }
.ranking .box { flex: none; width: 1rem; height: 1rem; display: grid; place-items: center;
    border: 1px solid var(--line2); border-radius: 4px; background: var(--card); }
.ranking .box i { width: 10px; height: 10px; background: var(--c); border-radius: 50%; }
.ranking .run-a { --c: var(--run-a); } .ranking .run-b { --c: var(--run-b); }
.ranking .beside { --c: var(--ink); }
.ranking .run-a :is(.box i, .point) { border-radius: 2px; }
.ranking .plot { position: relative; width: 40%; --c: var(--muted); }
.ranking .plot > div { position: absolute; inset: 0 0.5rem 0 2rem; }
.ranking .run-a .plot { --c: var(--run-a); } .ranking .run-b .plot { --c: var(--run-b); }
.ranking .beside .plot { --c: var(--ink); }
.ranking .plot i { position: absolute; display: block; }
.ranking .grid { top: 0; bottom: 0; width: 1px; background: var(--line); }
.ranking .line { top: 50%; height: 2px; margin-top: -1px; background: var(--c); }
.ranking .point { top: 50%; width: 10px; height: 10px; margin: -5px 0 0 -5px;
    border: 2px solid var(--c); border-radius: 50%; background: var(--c); }
.ranking .point.hollow { background: var(--ground); }
.ranking .level { top: 50%; width: 3px; height: 14px; margin: -7px 0 0 -1.5px;
    background: var(--c); }
.ranking .best .line { height: 4px; margin-top: -2px; }
.ranking .best .point { width: 14px; height: 14px; margin: -7px 0 0 -7px; }
.ranking .axis > * { border-top-color: var(--line2) !important; height: 1.75rem; }
.ranking .tick { position: absolute; top: 0.25rem; transform: translateX(-50%);
    font-size: 0.8125rem; color: var(--muted); }
.legend-line a { color: var(--accent); text-underline-offset: 3px; }
.legend-line { margin: 0.25rem 0 0; font-size: 0.8125rem; line-height: 1.25rem; max-width: 60rem;
    color: var(--muted); }
@media (max-width: 48rem) {
    .ranking table { min-width: 0; }
    .ranking tbody th { min-width: 6.5rem; max-width: 9.5rem; }
    .ranking :is(th, td) { padding-left: 0.5rem; }
    .ranking :is(.said, .open, .more, .part) { display: none; }
    .ranking .rest { display: inline; }
    .ranking.parted tbody th { white-space: normal; overflow-wrap: anywhere; }
    .ranking.parted .plot { width: 38%; }
    .ranking .plot { width: 42%; } .ranking .plot > div { inset: 0 0.5rem; }
    .ranking .tick:nth-child(even) { display: none; }
}
"""
)

FOLDS_STYLE = style("""
.folds a { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; color: var(--ink);
    padding: 0.7rem 0; border-top: 1px solid var(--line); text-decoration: none;
    font-size: 0.9375rem; line-height: 1.5rem; }
.folds a:last-child { border-bottom: 1px solid var(--line); }
.folds a::before { content: ""; width: 7px; height: 7px; margin: 0 2px;
    border: solid var(--muted); border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg); }
.folds a[aria-expanded="true"]::before { transform: translateY(-3px) rotate(45deg); }
.folds a:hover { background: var(--soft); }
.folds a:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.folds span { font-size: 0.8125rem; color: var(--muted); }
""")


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis with round numbers at both ends and between them."""

    ticks: tuple[float, ...]
    step: float

    @classmethod
    def over(cls, values: Iterable[float]) -> Axis:
        """Return an axis with room for these values.

        >>> axis = Axis.over([0.51, 0.7086])
        >>> [axis.name(tick) for tick in axis.ticks], axis.place(0.6)
        (['0.50', '0.55', '0.60', '0.65', '0.70', '0.75'], 40.0)
        >>> Axis.over([]).ticks
        (0.0, 1.0)
        """
        known = [each for each in values if math.isfinite(each)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        room = (high - low) / (MOST_TICKS - 1) or abs(high) / 10 or 0.1
        unit = 10.0 ** math.floor(math.log10(room))
        step = next(n * unit for n in STEPS if n * unit >= room * (1 - 1e-9))
        if not known:
            return cls((0.0, 1.0), 1.0)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        ticks = range(first, max(last, first + 1) + 1)
        return cls(tuple(round(n * step, 12) for n in ticks), step)

    def place(self, value: float) -> float:
        """Return a value's place on the axis, in per cent from the left."""
        first, last = self.ticks[0], self.ticks[-1]
        return round(100 * (value - first) / (last - first), 2)

    def name(self, tick: float) -> str:
        """Return a tick's label; all ticks have the same number of digits."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return f"{tick:,.{max(digits, 2 if self.step < 1 else 0)}f}"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with its ``scores`` by column and the interval of the first.

    ``said`` compares it with the best run. ``hints`` are the texts on hover, by column. ``role`` is
    ``a`` or ``b`` for one of the two runs to compare, ``beside`` for a further one, "" for none.
    ``turn`` is the address that marks the run to compare, or takes the mark away.
    """

    run: str
    scores: Mapping[str, Score]
    interval: ConfidenceInterval | None
    said: str = ""
    open_share: str = ""
    hints: Mapping[str, str] = field(default_factory=dict)
    tags: Sequence[str] = ()
    role: str = ""
    turn: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class RankingHead:
    """The headings of the columns: the address that sorts by each, and its thresholds."""

    columns: Mapping[str, str]
    open_title: str
    limits: Limits = field(default_factory=dict)
    marks: Marks = field(default_factory=dict)

    @property
    def columns_of_means(self) -> list[str]:
        """The columns that hold means, the leading one first."""
        return [name for name in self.columns if name != BY_NAME]


def ranking_table(
    rows: Mapping[str, RunRow],
    groups: Sequence[RunGroup],
    lineup: RunTableState,
    names: RunNames,
    head: RankingHead,
) -> htpy.Fragment:
    """Return the runs of ``groups`` with means, and the first measure's intervals on one axis.

    ``head.columns`` gives the address that sorts by each column, also by `BY_NAME`.
    """
    shown = [run for group in groups for run in group.runs]
    first = next(iter(rows[shown[0]].scores))
    ends = [end for run in shown for end in _ends(rows[run], first)]
    axis = Axis.over(ends)
    body: list[htpy.Element] = []
    for group in groups:
        if group.name is not None:
            body.append(htpy.tr(".system")[htpy.th(scope="rowgroup", colspan=12)[group.name]])
        body += [
            _run_row(rows[run], first, axis, names, head, with_system=not lineup.by_system)
            for run in group.runs
        ]
    beyond = head.columns_of_means
    ticks = [
        htpy.span(".tick", style=f"left: {axis.place(tick):g}%")[axis.name(tick)]
        for tick in axis.ticks
    ]
    body.append(
        htpy.tr(".axis", aria_hidden="true")[
            htpy.td,
            [htpy.td(".part") for _ in _beyond_first(names)],
            htpy.td(".said"),
            htpy.td(".plot")[htpy.div[ticks]],
            [htpy.td(class_="more" if at else None) for at in range(len(beyond))],
            htpy.td(".open"),
        ]
    )
    scores = rows[shown[0]].scores
    heads: list[htpy.Element] = [
        _column_head(BY_NAME, lineup, head, "Run"),
        *(htpy.th(".part", scope="col")[title] for title in _beyond_first(names)),
        htpy.td(".said"),
        htpy.td(".plot"),
        *(_column_head(each, lineup, head, each, scores[each], scores[first].n) for each in beyond),
        htpy.th(".open", scope="col")[head.open_title],
    ]
    many = " many" * (len(shown) > MANY_RUNS) + " parted" * (names.parts is not None)
    return htpy.fragment[
        RANKING_STYLE,
        htpy.div(class_=f"ranking{many}", tabindex="0")[
            htpy.table(aria_label="Runs by measure")[htpy.thead[htpy.tr[heads]], htpy.tbody[body]]
        ],
    ]


def _ends(row: RunRow, first: str) -> list[float]:
    interval = row.interval
    ends = [interval.lo, interval.hi] if interval is not None and interval.method else []
    return [row.scores[first].value, *ends]


def _column_head(
    name: str,
    lineup: RunTableState,
    head: RankingHead,
    words: str,
    score: Score | None = None,
    usual: int = 0,
) -> htpy.Element:
    """Return a heading that sorts; its id, unlike its position, stays the same after sorting.

    It gives the number of queries of the means if that is not the ``usual`` one.
    """
    order = "descending" if lineup.falls else "ascending"
    is_sorted = lineup.column == name
    sign = f" {'↓' if lineup.falls else '↑'}" if is_sorted else ""
    under = []
    if score is not None:
        under = (head.limits.get((score.measure, score.bucket)) or "").splitlines()
        under += [] if score.n == usual else [f"{score.n:,} queries"]
    return htpy.th(
        scope="col",
        class_={"more": score is not None and name != head.columns_of_means[0]},
        aria_sort=order if is_sorted else None,
        title=None if score is None else MEASURES[score.measure.name].help,
    )[
        htpy.a(id=f"rank by {name}", href=head.columns[name])[
            breakable(words), htpy.span(aria_hidden="true")[sign] if sign else None
        ],
        [small_line(line) for line in under],
    ]


def breakable(name: str) -> htpy.Node:
    """Return a measure's name that may break before its cut-off or inside its brackets.

    >>> print(htpy.td[breakable("nDCG(documents=True)@10")])
    <td>nDCG(<wbr>documents=True)<wbr>@10</td>
    """
    first, *rest = re.split(r"(?<=\()|(?=@)", name)
    return [first, *([htpy.wbr, part] for part in rest)]


def _run_row(
    row: RunRow, first: str, axis: Axis, names: RunNames, head: RankingHead, *, with_system: bool
) -> htpy.Element:
    system = names.system(row.run) if with_system else ""
    look = {"best": row.said in (HIGHEST, CLEARLY_HIGHEST), f"run-{row.role}": row.role in ROLES}
    look["beside"] = bool(row.role) and row.role not in ROLES
    return htpy.tr(class_=look)[
        htpy.th(scope="row")[
            htpy.div[
                _mark_link(row),
                htpy.span[
                    htpy.a(href=row.link)[_first_part(row.run, names)],
                    small_line(" · ".join(filter(None, [system, *row.tags]))),
                ],
            ]
        ],
        _parts(row.run, names)[1:],
        htpy.td(".said")[row.said],
        _plot_cell(row, first, axis),
        [
            _value_cell(score, head.marks, row.hints.get(name), is_lead=name == first)
            for name, score in row.scores.items()
        ],
        htpy.td(".open")[row.open_share],
    ]


def _beyond_first(names: RunNames) -> Sequence[str]:
    """Return the titles of the columns of name parts after the first one."""
    if names.parts is None:
        return ()
    width = len(next(iter(names.parts.of.values())))
    return (names.parts.titles or ("",) * width)[1:]


def _parts(run: str, names: RunNames) -> list[htpy.Element]:
    """Return the parts of a run's name as cells."""
    of = () if names.parts is None else names.parts.of.get(run, ())
    return [htpy.td(".part")[htpy.bdi[part]] for part in of]


def _first_part(run: str, names: RunNames) -> htpy.Node:
    """Return the first cell of a row: the name or its first part; a phone shows all parts here."""
    if names.parts is None or run not in names.parts.of:
        return run_name(run, names.short)
    first, *rest = names.parts.of[run]
    more = htpy.span(".rest")[BETWEEN, BETWEEN.join(filter(None, rest))] if any(rest) else None
    return htpy.bdi(title=run)[first or "–", more]


def _mark_link(row: RunRow) -> htpy.Element | None:
    """Return the box that marks a run to compare or unmarks it, None without an address."""
    if not row.turn:
        return None
    said = f"Unmark {row.run}" if row.role else f"Mark {row.run} to compare"
    link = {"id": f"mark {row.run}", "href": row.turn, "aria-label": said, "title": said}
    return htpy.a(".box", link)[htpy.i(aria_hidden="true") if row.role else None]


def _plot_cell(row: RunRow, first: str, axis: Axis) -> htpy.Element:
    score, interval = row.scores[first], row.interval
    grid = [htpy.i(".grid", style=f"left: {axis.place(tick):g}%") for tick in axis.ticks]
    drawn: list[htpy.Element] = []
    if interval is not None and interval.method and not math.isnan(interval.lo):
        left, right = axis.place(interval.lo), axis.place(interval.hi)
        drawn.append(htpy.i(".line", style=f"left: {left:g}%; width: {right - left:.2f}%"))
    if not math.isnan(score.value):
        is_hollow = row.said in (HIGHEST, NOT_CLEARLY_LOWER)
        is_tested = is_hollow or row.said in (CLEARLY_HIGHEST, LOWER)
        look = {"point": is_tested, "hollow": is_hollow, "level": not is_tested}
        drawn.append(htpy.i(class_=look, style=f"left: {axis.place(score.value):g}%"))
    said = None if interval is None else describe_interval(interval)
    return htpy.td(".plot", title=said)[htpy.div(aria_hidden="true")[grid, drawn]]


def _value_cell(score: Score, marks: Marks, hint: str | None, *, is_lead: bool) -> htpy.Element:
    """Return a mean, or why there is none, with a sign if it is below its threshold."""
    look = "lead" if is_lead else "more"
    if score.reason is not None:
        said = "no result" if score.reason == NO_RESULT else score.reason
        return htpy.td(class_=look, title=said)["–", htpy.span(".unseen")[said]]
    mark = marks.get((score.run, score.measure, score.bucket))
    below: htpy.Node = None
    if mark is not None:
        below = [htpy.span(aria_hidden="true")[f"{BELOW_SIGN} "], htpy.span(".unseen")[f"{mark} "]]
    title = "; ".join(filter(None, [mark, hint])) or None
    return htpy.td(class_=look, title=title)[below, format_number(score.value)]


@dataclass(frozen=True, slots=True)
class Fold:
    """A row that opens the content under it; ``address`` opens or closes it."""

    title: str
    hint: str
    address: str
    is_open: bool = False


def folds_html(folds: Sequence[Fold]) -> htpy.Fragment:
    """Return rows that open; the caller shows the content of the open one after them."""
    rows = [
        htpy.a(
            {"id": f"fold {each.title}", "href": each.address},
            aria_expanded="true" if each.is_open else "false",
        )[each.title, htpy.span[each.hint] if each.hint else None]
        for each in folds
    ]
    return htpy.fragment[FOLDS_STYLE, htpy.div(".folds")[rows]]


def legend_line(*said: htpy.Node) -> htpy.Fragment:
    """Return a small line under a picture that says how to read it or what it leaves out."""
    return htpy.fragment[htpy.p(".legend-line")[said]]
