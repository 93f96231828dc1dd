"""Two runs at a glance: the answer with its number and doubts, and the picture of the differences.

The picture is a table whose cells hold marks at a share of their width. Screen readers read it as a
table, and it prints as it looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import htpy

from labeler.analysis.comparison import Delta, DeltaTest, PairTests, describe_buckets
from labeler.analysis.comparison.buckets import clear_losses
from labeler.evaluation import Conventions, format_number, format_signed
from labeler.model.results import ANSWER, CAUTION, NOTE, Statement, by_severity
from labeler.render.markup import style
from labeler.render.tables.bucket_list import (
    CLEAR,
    NOT_CLEAR,
    UNTESTED,
    WHAT_MARKS_MEAN,
    key_to_marks,
    look_of,
)
from labeler.render.tables.verdict_block import verdict_block

PICTURE_STYLE = style("""
.picture { overflow-x: auto; }
.picture table { border-collapse: collapse; width: 100%; font-size: 0.9375rem;
    font-variant-numeric: tabular-nums; color: var(--ink); }
.picture th { font-weight: 400; text-align: left; }
.picture thead th { font-size: 0.8125rem; color: var(--muted); padding: 0 0 0.5rem;
    vertical-align: bottom; }
.picture thead th.plot { min-width: 7.5rem; width: 48%; height: 1.75rem; }
.picture tbody :is(th, td) { height: 2.5rem; padding: 0; border-top: 1px solid var(--line); }
.picture :is(th, td) + :is(th, td) { padding-left: 1.5rem; }
.picture .number { text-align: right; white-space: nowrap; }
.picture tbody tr.lead > * { height: 3.5rem; border: solid var(--line2); border-width: 1px 0;
    font-weight: 600; }
.picture small { font-size: 0.8125rem; font-weight: 400; color: var(--muted); }
.picture .differ { font-size: 0.8125rem; font-weight: 400 !important; color: var(--muted); }
.picture .plot { position: relative; }
.picture .plot > div { position: absolute; inset: 0 0 0 1.5rem; }
.picture .plot i { position: absolute; display: block; }
.picture .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
.picture .grid { top: 0; bottom: 0; width: 1px; background: var(--line); }
.picture .zero { top: -1px; bottom: -1px; width: 1px; background: var(--muted); }
.picture .interval { height: 2px; top: 50%; margin-top: -1px; background: var(--side); }
.picture .mark { box-sizing: border-box; width: 10px; height: 10px; top: 50%;
    margin: -5px 0 0 -5px; border: 2px solid var(--side); background: var(--side); }
.picture .mark.open { background: var(--bg); }
.picture .plain { width: 7px; height: 7px; margin: -3.5px 0 0 -3.5px;
    border: 1.5px solid var(--line2); border-radius: 50%; background: var(--bg); }
.picture .for-a { --side: var(--run-a); }
.picture .for-b { --side: var(--run-b); }
.picture .for-b .mark { border-radius: 50%; }
.picture .lead .interval { height: 4px; margin-top: -2px; }
.picture .lead .mark { width: 14px; height: 14px; margin: -7px 0 0 -7px; border-width: 3px; }
.picture tr.axis > * { border-top-color: var(--line2); height: 1.75rem; }
.picture .tick { position: absolute; top: 4px; transform: translateX(-50%); white-space: nowrap;
    font-size: 0.8125rem; color: var(--muted); }
.picture .way { position: absolute; bottom: 8px; white-space: nowrap; color: var(--side);
    overflow: hidden; text-overflow: ellipsis; }
.picture .run { display: inline-block; max-width: 10rem; overflow: hidden; white-space: nowrap;
    text-overflow: ellipsis; vertical-align: bottom; }
.picture .run::before { content: ""; display: inline-block; width: 10px; height: 10px;
    margin-right: 0.5rem; background: var(--side); }
.picture .run.for-b::before { border-radius: 50%; }
.picture .run:not(.for-a, .for-b)::before { content: none; }
.picture tbody tr.part > * { height: 3rem; vertical-align: bottom; padding-bottom: 0.4rem;
    font-size: 0.8125rem; color: var(--muted); }
.picture tbody a { color: inherit; text-decoration-color: var(--line2);
    text-underline-offset: 0.15em; }
@media (max-width: 56rem) {
    .picture :is(th, td) + :is(th, td) { padding-left: 0.5rem; }
    .picture .plot > div { inset: 0 0 0 0.5rem; }
    .picture :is(.differ, .mean) { display: none; }
    .picture tbody th small { display: block; }
    .picture tbody tr.part > * { height: auto; padding-top: 0.75rem; }
}
""")

# Statements that the picture or its details show; the answer does not repeat them.
IN_PICTURE = ("bucket losses", "bucket gains", "bucket loss", "bucket gain")
IN_DETAILS = ("graders agree", "graders leave nothing", "parts", "same chunks")
OWN_HEADINGS = ("Grades so far", "Certainty")
MOST_LOSSES = 3
MOST_TICKS = 6

Link = Callable[[Mapping[str, str]], str]


def is_detail(statement: Statement) -> bool:
    """Return whether the picture or the details below it show a statement."""
    is_other = statement.kind == "other measure" and not statement.sentence.startswith("But ")
    return is_other or statement.kind in (*IN_PICTURE, *IN_DETAILS)


def verdict_html(
    statements: Sequence[Statement],
    link: Link,
    counts: str = "",
    step: htpy.Node = None,
    *,
    whole: bool = False,
) -> htpy.Fragment:
    """Return statements as a page's answer: the first large, then its number, doubts and counts.

    ``counts`` follow in small print, then the next ``step``. Details are left out unless ``whole``
    is true.
    """
    shown = [each for each in by_severity(statements) if whole or not is_detail(each)]
    small = [each for each in shown if each.kind == "queries" or each.severity == NOTE]
    rest = [each for each in shown if each not in small]
    says = rest.pop(0) if rest and rest[0].severity == ANSWER else None
    number = next((each for each in rest if is_number(each)), None)
    figure, _, of = (number.sentence if number else "").removesuffix(".").partition(" ")
    parts = [*(_linked(each, link) for each in small), *([counts] if counts else [])]
    return verdict_block(
        None if says is None else _linked(says, link),
        (figure, of) if number else None,
        [_doubt(each, link) for each in rest if each is not number],
        [[" · " * bool(at), part] for at, part in enumerate(parts)],
        step,
    )


def is_number(statement: Statement) -> bool:
    """Return whether a statement is the answer's number."""
    return statement.kind == "number" and statement.severity == ANSWER


def _doubt(statement: Statement, link: Link) -> htpy.Node:
    heading = statement.heading if statement.heading in OWN_HEADINGS else ""
    said = [
        "! " if statement.severity == CAUTION else None,
        (htpy.b[heading], " ") if heading else None,
        _linked(statement, link),
    ]
    return htpy.span(".beside")[said] if statement.severity == ANSWER else said


def _linked(statement: Statement, link: Link) -> htpy.Node:
    if statement.target is None:
        return statement.sentence
    return htpy.a(href=link(statement.target), target="_self")[statement.sentence]


@dataclass(frozen=True, slots=True)
class PictureRow:
    """One difference in the picture: its name, the small print under it, and its link.

    ``beside`` are the means of further runs.
    """

    row: Delta
    name: str
    note: str = ""
    href: str | None = None
    beside: Sequence[float] = ()


@dataclass(frozen=True)
class DeltaPicture:
    """The differences of two runs by measure, then the buckets where B loses most.

    ``names`` are those of A and B, ``also`` those of the runs beside them.
    """

    tests: PairTests
    conventions: Conventions
    names: tuple[str, str]
    measures: Sequence[PictureRow]
    buckets: Sequence[PictureRow] = ()
    also: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()

    def html(self) -> htpy.Fragment:
        """Return the picture as a table with an axis, and its key."""
        axis = DeltaAxis.over([(each.row, self.tests.of(each.row)) for each in self._rows])
        part = self._part()
        body = [
            *(self._row(each, axis) for each in self.measures),
            *([part] if part is not None else []),
            *(self._row(each, axis) for each in self.buckets),
            self._axis_row(axis),
        ]
        table = htpy.table(aria_label=f"{' against '.join(self.names)} by measure")[
            htpy.thead[self._head(axis)], htpy.tbody[body]
        ]
        return htpy.fragment[PICTURE_STYLE, htpy.div(".picture")[table, self._key()]]

    @property
    def _rows(self) -> list[PictureRow]:
        return [*self.measures, *self.buckets]

    def _head(self, axis: DeltaAxis) -> htpy.Element:
        a, b = self.names
        zero = axis.place(0.0)
        rest = 100 - zero
        ways = [
            htpy.span(
                ".way.for-a",
                style=f"right: calc({rest:.2f}% + 12px); max-width: calc({zero:.2f}% - 12px)",
            )["← ", _brief(a), htpy.span(".mean")[" better"]]
            if zero > 20
            else None,
            htpy.span(
                ".way.for-b",
                style=f"left: calc({zero:.2f}% + 12px); max-width: calc({rest:.2f}% - 12px)",
            )[_brief(b), htpy.span(".mean")[" better"], " →"]
            if zero < 80
            else None,
        ]
        runs = [
            htpy.th(".number.mean", scope="col")[htpy.span(f".run.for-{side}", title=name)[name]]
            for side, name in zip("ab", self.names, strict=True)
        ]
        runs += [
            htpy.th(".number.mean", scope="col")[htpy.span(".run", title=name)[name]]
            for name in self.also
        ]
        return htpy.tr[
            htpy.th(scope="col")[htpy.span(".unseen")["Measure"]],
            htpy.th(".number.differ", scope="col")["queries differ"],
            htpy.th(".plot", scope="col")[htpy.div[ways]],
            *runs,
            htpy.th(".number", scope="col")["difference"],
        ]

    def _row(self, shown: PictureRow, axis: DeltaAxis) -> htpy.Element:
        row, test = shown.row, self.tests.of(shown.row)
        is_lead = row.measure == self.tests.deciding and shown in self.measures
        name: htpy.Node = shown.name
        if shown.href is not None:
            name = htpy.a(href=shown.href, target="_self")[shown.name]
        means = [row.a, row.b, *shown.beside] if shown in self.measures else []
        width = 2 + len(self.also)
        meaning = row.measure.definition.help if means else None
        cells = [htpy.td(".number.mean")[format_number(mean)] for mean in means]
        cells += [htpy.td(".number.mean")] * (width - len(cells))
        differ = test.differ if test.tests else row.wins + row.losses
        return htpy.tr(class_={"lead": is_lead})[
            htpy.th(scope="row", title=meaning)[
                name, (" ", htpy.small[shown.note]) if shown.note else None
            ],
            htpy.td(".number.differ")[f"{differ:,} of {row.n:,}"],
            axis.cell(row, test),
            *cells,
            htpy.td(".number")[format_signed(row.delta)],
        ]

    def _part(self) -> htpy.Element | None:
        said = [
            each for each in describe_buckets(self.tests, self.names) if each.kind in IN_PICTURE
        ]
        if not said or not self.buckets:
            return None
        sentences = [
            each.sentence for each in said if each.kind in ("bucket losses", "bucket gains")
        ]
        return htpy.tr(".part")[htpy.td(colspan=5 + 1 + len(self.also))[" ".join(sentences)]]

    def _axis_row(self, axis: DeltaAxis) -> htpy.Element:
        ticks = [
            htpy.span(".tick", style=f"left: {axis.place(at):.2f}%")[axis.written(at)]
            for at in axis.ticks
        ]
        return htpy.tr(".axis", aria_hidden="true")[
            htpy.td,
            htpy.td(".differ"),
            htpy.td(".plot")[htpy.div[ticks]],
            *[htpy.td(".mean")] * (2 + len(self.also)),
            htpy.td,
        ]

    def _key(self) -> htpy.Node:
        corrected = sorted(
            {
                (test.tests, test.counted)
                for each in self._rows
                if (test := self._of(each)).tests > 1
            }
        )
        said = "95%"
        if corrected:
            many = " and ".join(f"{count:,} {counted}" for count, counted in corrected)
            heading = self.conventions.heading(self.measures[0].row.measure)
            said = f"95%: {heading} alone, others corrected for {many}"
        links = [htpy.a(href=href, target="_self")[words] for words, href in self.links]
        looks = {CLEAR, NOT_CLEAR, *(look_of(self._of(each)) for each in self._rows)}
        meaning = {**WHAT_MARKS_MEAN, UNTESTED: "not tested"}
        shown = [each for each in meaning.items() if each[0] in looks]
        return key_to_marks(shown, said, links)

    def _of(self, shown: PictureRow) -> DeltaTest:
        return self.tests.of(shown.row)


def lost_buckets(tests: PairTests) -> list[Delta]:
    """Return the buckets where B loses most: the clear losses first, then the largest."""
    clear = clear_losses(tests)
    falls = [row for row in tests.tested_buckets if row.direction < 0 and row not in clear]
    falls.sort(key=lambda row: row.delta)
    return [*clear, *falls][: max(MOST_LOSSES, min(len(clear), MOST_LOSSES + 1))]


LONGEST_BRIEF = 24


def _brief(name: str) -> str:
    return name if len(name) <= LONGEST_BRIEF else f"{name[: LONGEST_BRIEF - 1]}…"


@dataclass(frozen=True, slots=True)
class DeltaAxis:
    """The scale that all rows of a picture share."""

    low: float
    high: float
    ticks: Sequence[float]

    @classmethod
    def over(cls, rows: Iterable[tuple[Delta, DeltaTest]]) -> DeltaAxis:
        """Return the axis with room for 0 and for all differences and intervals.

        >>> DeltaAxis.over([]).ticks
        [-0.01, 0.0, 0.01]
        """
        ends = [0.0]
        for row, test in rows:
            ends += [row.delta, test.interval.lo, test.interval.hi]
        known = [each for each in ends if not math.isnan(each)]
        low, high = min(known), max(known)
        room = 0.04 * (high - low) or 0.012
        low, high = low - room, high + room
        step = next(
            (
                step
                for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
                if (high - low) / step < MOST_TICKS
            ),
            1.0,
        )
        first, last = math.ceil(low / step), math.floor(high / step)
        return cls(low, high, [round(step * at, 2) for at in range(first, last + 1)])

    def place(self, value: float) -> float:
        """Return a value's place on the axis, in percent from the left."""
        return 100 * (value - self.low) / (self.high - self.low)

    def written(self, value: float) -> str:
        """Return a value as the label of a tick."""
        return f"{value:+.2f}".rstrip("0").rstrip(".").replace("-", "−") if value else "0"

    def cell(self, row: Delta, test: DeltaTest) -> htpy.Element:
        """Return the cell that draws one difference: filled if it is clear, hollow if not."""
        lines = [
            htpy.i(".grid" if at else ".zero", style=f"left: {self.place(at):.2f}%")
            for at in self.ticks
        ]
        if math.isnan(row.delta):
            return htpy.td(".plot")[htpy.div[lines]]
        low, high = test.interval.lo, test.interval.hi
        has_interval = not math.isnan(low)
        if has_interval:
            wide = self.place(high) - self.place(low)
            lines.append(
                htpy.i(".interval", style=f"left: {self.place(low):.2f}%; width: {wide:.2f}%")
            )
        looks = {CLEAR: ".mark", UNTESTED: ".plain"}
        look = looks.get(look_of(test), ".mark.open")
        lines.append(htpy.i(look, style=f"left: {self.place(row.delta):.2f}%"))
        said = test.reason or "not tested"
        if has_interval:
            said = f"{format_signed(low)} to {format_signed(high)}"
            said += ", clear" if test.is_clear else ", could be chance"
        side = "b" if row.delta >= 0 else "a"
        return htpy.td(f".plot.for-{side}", title=said)[
            htpy.div(role="img", aria_label=said)[lines]
        ]
