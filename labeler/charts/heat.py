"""Counts in a grid, darker for more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import altair as alt
import pandas as pd

from labeler.charts.look import INK, LEAST_FONT, Names, dressed

HEAT_COLOURS = ("#eaf0f6", "#1a5ba6")
DARK_INK, LIGHT_INK, NO_INK = "#000000", "#ffffff", INK


class HeatCell(NamedTuple):
    """One cell of a heat map: its number and the line under it; NaN is drawn without a colour."""

    row: str
    column: str
    value: float
    note: str


def heat_chart(
    cells: Sequence[HeatCell],
    *,
    rows: str,
    columns: str,
    description: str,
    most: float = 1.0,
    digits: int = 4,
) -> alt.LayerChart | alt.FacetChart:
    """Return a heat map on one sequential scale from 0 to ``most``, its number in every cell.

    ``rows`` and ``columns`` say what a cell's names are, in words of ours.
    """
    frame = pd.DataFrame(cells, columns=list(HeatCell._fields))
    frame["shown"] = [
        "–" if math.isnan(value) else f"{value:.{digits}f}" for value in frame["value"]
    ]
    frame["ink"] = [_ink(value / most if most else 0.0) for value in frame["value"]]
    down = Names("rows", list(dict.fromkeys(frame["row"])))
    across = Names("columns", list(dict.fromkeys(frame["column"])))
    frame["at_row"], frame["at_column"] = down.places(frame["row"]), across.places(frame["column"])
    base = alt.Chart(frame).encode(
        x=alt.X("at_column:O", title=columns, scale=_all_of(across), axis=_axis(across, "top")),
        y=alt.Y("at_row:O", title=rows, scale=_all_of(down), axis=_axis(down, "left")),
        tooltip=[
            alt.Tooltip("row:N", title=rows),
            alt.Tooltip("column:N", title=columns),
            alt.Tooltip("shown:N", title="value"),
            alt.Tooltip("note:N", title="rests on"),
        ],
    )
    scale = alt.Scale(domain=[0, most or 1], range=list(HEAT_COLOURS), clamp=True)
    boxes = base.transform_filter("isValid(datum.value)").mark_rect(stroke="#ffffff", strokeWidth=1)
    inks = [DARK_INK, LIGHT_INK, NO_INK]
    ink = alt.Color("ink:N", scale=alt.Scale(domain=inks, range=inks), legend=None)
    chart = alt.layer(
        boxes.encode(color=alt.Color("value:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=13, dy=-6).encode(text=alt.Text("shown:N"), color=ink),
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
    if math.isnan(share):
        return NO_INK
    return LIGHT_INK if share > 0.8 else DARK_INK  # where both are 4.5 to 1 from the box
