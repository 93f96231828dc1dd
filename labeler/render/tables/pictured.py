"""Rows of dots and of shaded cells: numbers that are seen before they are read, and can be read.

Every cell says its number, so nothing needs colour. Knows no run and no bucket.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import htpy

from labeler.evaluation import number, signed
from labeler.render.markup import style
from labeler.render.palette import RUN_COLOURS, SHADE
from labeler.render.tables.bands import LOOK as BAND_LOOK
from labeler.render.tables.bands import NOTHING, SLACK, Scale, Spread, band
from labeler.render.tables.shared import SHEET, framed, head, small

STEPS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)  # of a scale
MOST_ABREAST = 7  # columns in which a number has room beside its dot; of more it stands below
MOST_SHADE = 45  # per cent: the page's own ink stays readable on it, in the light and in the dark
LOOK = style(
    """
.pictured th, .pictured td { padding: 0.18rem 0.5rem; vertical-align: middle; }
.pictured thead th { white-space: normal; overflow-wrap: break-word; max-width: 12rem; }
.pictured tbody th, .pictured tbody td { border-bottom-width: 0; }
.pictured tbody tr:nth-child(even) { background: color-mix(in srgb, currentColor 4%, transparent); }
.pictured tr.total > * {
  border-top-width: 0;
  border-bottom: 2px solid color-mix(in srgb, currentColor 45%, transparent);
}
.pictured tbody th.words { min-width: 7rem; max-width: 22rem; }
.pictured td.n { white-space: nowrap; width: 1%; }
.pictured td.n .aside { display: block; }
.pictured td.few { color: color-mix(in srgb, currentColor 68%, transparent); }
.pictured td.drawn > div { min-width: 4.2rem; }
.pictured .track { display: block; position: relative; height: 1.1rem; margin: 0 0.4rem;
  background:
    linear-gradient(currentColor, currentColor) center / 1px 100% no-repeat,
    linear-gradient(color-mix(in srgb, currentColor 25%, transparent) 0 0)
    center / 100% 1px no-repeat; }
.pictured .dot { position: absolute; left: var(--at); top: 50%; width: 0.72rem; height: 0.72rem;
  margin: -0.36rem 0 0 -0.36rem; border: 2px solid var(--dot); border-radius: 50%; }
.pictured .dot.sure, .pictured .dot.plain { background: var(--dot); }
.pictured .dot.maybe { background: color-mix(in srgb, currentColor 4%, transparent); }
.pictured .dot.beyond { border-radius: 0; width: 0.5rem; height: 1rem;
  margin: -0.5rem 0 0 -0.25rem; }
.pictured .track .band {
  position: absolute; inset: 0.2rem 0 auto; height: 0.7rem; margin: 0; min-width: 0;
}
.pictured .track .band .could { top: 0; height: 0.7rem; }
.pictured .track .band .likely { top: 0.15rem; height: 0.4rem; opacity: 0.6; }
.pictured td.shaded {
  background: color-mix(in srgb, var(--shade) calc(var(--share) * 1%), transparent);
}
.pictured .of-none { --dot: currentColor; }
@media (min-width: 75rem) {
  .pictured tbody th.words { width: 1%; min-width: 10rem; }
  .pictured.roomy td.drawn > div {
    display: flex; align-items: center; justify-content: flex-end;
  }
  .pictured.roomy .track { flex: 1 1 3rem; min-width: 2rem; }
  .pictured.roomy .track + span { min-width: 3.9rem; }
}
"""
    + f".pictured {{ --shade: {SHADE}; }}"
    + "".join(f".pictured .of-{at} {{ --dot: {colour}; }}" for at, colour in enumerate(RUN_COLOURS))
)


class Column(NamedTuple):
    """One column of a picture: what it is called, a line under it and what hovering says."""

    heading: str
    under: str = ""
    meaning: str = ""


class Line(NamedTuple):
    """A row: its head, what it rests on, a `dot` or `shade` for each column.

    Then whether what it rests on is little, and whether it is the total.
    """

    head: htpy.Node
    rests_on: htpy.Node
    cells: Sequence[htpy.Element]
    is_few: bool = False
    is_total: bool = False


class Said(NamedTuple):
    """What a cell says beside its number: when one hovers, and where there is none, why.

    ``is_few`` is whether it rests on little, and is greyed; ``href`` is where the number leads.
    """

    words: str
    is_few: bool
    missing: str = ""
    href: str | None = None

    def number(self, shown: str) -> htpy.Node:
        """Return the number as it is ``shown``, as a link where it leads somewhere."""
        return htpy.a(href=self.href)[shown] if self.href else shown


def picture(corner: Column, columns: Sequence[Column], lines: Iterable[Line]) -> htpy.Fragment:
    """Return the rows under their columns; the ``corner`` is over the rows' heads."""
    heads = [head(corner.heading, corner.under, words=True), head("n")]
    heads += [head(each.heading, each.under, title=each.meaning or None) for each in columns]
    body = [
        htpy.tr(class_={"total": line.is_total, "few": line.is_few})[
            htpy.th(".words", scope="row")[line.head], htpy.td(".n")[line.rests_on], line.cells
        ]
        for line in lines
    ]
    look = (SHEET, LOOK, BAND_LOOK)
    roomy = " roomy" if len(columns) <= MOST_ABREAST else ""
    return framed(look, f"sheet slices pictured{roomy}", heads, body, label=corner.heading)


def dot(
    value: float,
    said: Said,
    edge: float,
    *,
    spread: Spread = NOTHING,
    is_sure: bool | None = None,
    colour: int = 0,
) -> htpy.Element:
    """Return a difference as a dot left or right of a line: by how much, and which way.

    One beyond the ``edge`` is a bar there. ``is_sure`` is whether it is more than chance, None
    where nobody has asked: then it has no ``colour``.
    """
    cell = htpy.td(class_={"drawn": True, "few": said.is_few}, title=said.words)
    shown = said.number(signed(value))
    if math.isnan(value):
        return cell[shown, small(said.missing)]
    place = min(max(value / edge, -1.0), 1.0)
    kind = {None: "plain", True: "sure", False: "maybe"}[is_sure]
    of = "of-none" if is_sure is None else f"of-{colour % len(RUN_COLOURS)}"
    look = {"dot": True, kind: True, of: True, "beyond": abs(value) > edge * (1 + SLACK)}
    mark = htpy.span(class_=look, style=f"--at: {50 + 50 * place:.2f}%")
    behind = band(math.nan, spread, Scale(-edge, edge), delta=True)
    track = htpy.span(".track")[behind, mark]
    return cell[htpy.div[track, htpy.span[shown]]]


def shade(
    value: float, said: Said, bounds: Scale | None, *, under: htpy.Node = None
) -> htpy.Element:
    """Return a number on a shade that says where it is in its column's ``bounds``.

    None is no shade: a total is no bucket among others. Nor has a number one that rests on little,
    which is greyed: on a shade it could not be read. ``under`` it stands its band.
    """
    shown = [said.number(number(value)), under, small(said.missing)]
    if bounds is None or said.is_few or math.isnan(value):
        return htpy.td(class_={"few": said.is_few}, title=said.words)[shown]
    share = f"--share: {MOST_SHADE * bounds.place(value) / 100:.1f}"
    return htpy.td(".shaded", title=said.words, style=share)[shown]


def edge_of(values: Iterable[float]) -> float:
    """Return a round number that no value's distance from 0 exceeds, 1 where there is none.

    >>> edge_of([0.13, -0.071]), edge_of([-0.3]), edge_of([12, 7]), edge_of([])
    (0.15, 0.3, 15.0, 1.0)
    """
    most = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    if not most:
        return 1.0
    power = math.floor(math.log10(most))
    step = next(step for step in STEPS if most <= step * 10**power * (1 + SLACK))
    return float(f"{step}e{power}")
