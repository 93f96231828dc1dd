"""Counts in a grid, darker for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import altair as alt
import pandas as pd

from labeler.render.charts.look import LEAST_FONT, Names, dressed

HEAT_COLOURS = ("#eaf0f6", "#1a5ba6")
DARK_INK, LIGHT_INK = "#000000", "#ffffff"


class HeatCell(NamedTuple):
    """One cell of a heat map: its number and the line under it."""

    row: str
    column: str
    number: int
    note: str


def heat_chart(
    cells: Sequence[HeatCell], *, rows: str, columns: str, description: str
) -> alt.LayerChart | alt.FacetChart:
    """Return a heat map on one sequential scale from 0 to the largest count, each in its cell.

    ``rows`` and ``columns`` say what a cell's names are, in words of ours.
    """
    frame = pd.DataFrame(cells, columns=list(HeatCell._fields))
    most = max([1, *frame["number"]])
    frame["ink"] = [_ink(number / most) for number in frame["number"]]
    down = Names("rows", list(dict.fromkeys(frame["row"])))
    across = Names("columns", list(dict.fromkeys(frame["column"])))
    frame["at_row"], frame["at_column"] = down.places(frame["row"]), across.places(frame["column"])
    base = alt.Chart(frame).encode(
        x=alt.X("at_column:O", title=columns, scale=_all_of(across), axis=_axis(across, "top")),
        y=alt.Y("at_row:O", title=rows, scale=_all_of(down), axis=_axis(down, "left")),
        tooltip=[
            alt.Tooltip("row:N", title=rows),
            alt.Tooltip("column:N", title=columns),
            alt.Tooltip("number:Q", title="queries"),
            alt.Tooltip("note:N", title="rests on"),
        ],
    )
    scale = alt.Scale(domain=[0, most], range=list(HEAT_COLOURS))
    boxes = base.mark_rect(stroke="#ffffff", strokeWidth=1)
    inks = [DARK_INK, LIGHT_INK]
    ink = alt.Color("ink:N", scale=alt.Scale(domain=inks, range=inks), legend=None)
    chart = alt.layer(
        boxes.encode(color=alt.Color("number:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=13, dy=-6).encode(text=alt.Text("number:Q"), color=ink),
        base.mark_text(fontSize=LEAST_FONT, dy=9).encode(text=alt.Text("note:N"), color=ink),
    ).properties(height=40 * len(down.names) + 78, description=description)
    chart = chart.add_params(down.parameter, across.parameter)
    chart.resolve = alt.Resolve(scale=alt.ScaleResolveMap(color="independent"))
    return dressed(chart)


def _all_of(names: Names) -> alt.Scale:
    return alt.Scale(domain=names.numbers)


def _axis(names: Names, orient: Literal["top", "left"]) -> alt.Axis:
    """Return an axis whose bands stand for names, in their order."""
    return alt.Axis(
        orient=orient,
        labelExpr=names.spelled,
        labelLimit=240,
        labelAngle=0,
        domain=False,
        ticks=False,
    )


def _ink(share: float) -> str:
    return LIGHT_INK if share > 0.8 else DARK_INK  # where both are 4.5 to 1 from the box
