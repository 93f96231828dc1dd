"""Charts of failing queries by class and bucket.

The heat map writes each count into its cell, so it is readable without colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import altair as alt
import pandas as pd

from labeler.analysis.failures import FailureClass
from labeler.evaluation import format_share
from labeler.render.charts.theme import INK, LEAST_FONT, ChartNames, tooltips, with_theme

BAR_COLOUR = "#4a8fd0"
LABEL_WIDTH = 80  # pixels behind the longest bar


def failure_chart(
    counts: Mapping[FailureClass, int], description: str
) -> alt.LayerChart | alt.FacetChart:
    """Return a bar for each class that a failing query has, in the order of ``counts``."""
    counts = {each: count for each, count in counts.items() if count}
    total = sum(counts.values())
    frame = pd.DataFrame(
        {
            "class": [each.name for each in counts],
            "side": [each.side for each in counts],
            "queries": list(counts.values()),
            "shown": [f"{count}  ({format_share(count, total)})" for count in counts.values()],
        }
    )
    base = alt.Chart(frame).encode(
        y=alt.Y(
            "class:N",
            title=None,
            sort=list(frame["class"]),
            axis=alt.Axis(labelLimit=280, labelOverlap=False),
        ),
        x=alt.X(
            "queries:Q",
            title="failing queries",
            axis=alt.Axis(tickMinStep=1),
            scale=alt.Scale(
                domain=[0, max([1, *counts.values()])],
                range=[0, alt.ExprRef(f"width - {LABEL_WIDTH}")],
            ),
        ),
        tooltip=[*tooltips("class", "side", "queries"), alt.Tooltip("shown:N", title="share")],
    )
    chart = alt.layer(
        base.mark_bar(color=BAR_COLOUR, height=16),
        base.mark_text(align="left", dx=5, fontSize=LEAST_FONT, color=INK).encode(
            text=alt.Text("shown:N")
        ),
    ).properties(height=26 * len(frame) + 70, description=description)
    return with_theme(chart)


def failure_heat(
    by_bucket: Mapping[str, Mapping[FailureClass, int]], description: str
) -> alt.LayerChart | alt.FacetChart:
    """Return classes by bucket as a heat map of counts, without the classes that nobody has."""
    kinds = next(iter(by_bucket.values()), {})
    seen = [each for each in kinds if any(counts[each] for counts in by_bucket.values())]
    failing = {bucket: sum(counts.values()) for bucket, counts in by_bucket.items()}
    cells = [
        HeatCell(
            each.name,
            bucket,
            counts[each],
            f"of {failing[bucket]} failing" if counts[each] else "",
        )
        for each in seen
        for bucket, counts in by_bucket.items()
    ]
    return heat_chart(cells, rows="class", columns="bucket", description=description)


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
    frame["ink"] = [_text_colour(number / most) for number in frame["number"]]
    down = ChartNames("rows", list(dict.fromkeys(frame["row"])))
    across = ChartNames("columns", list(dict.fromkeys(frame["column"])))
    frame["at_row"], frame["at_column"] = down.places(frame["row"]), across.places(frame["column"])
    base = alt.Chart(frame).encode(
        x=alt.X(
            "at_column:O", title=columns, scale=_name_domain(across), axis=_name_axis(across, "top")
        ),
        y=alt.Y("at_row:O", title=rows, scale=_name_domain(down), axis=_name_axis(down, "left")),
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
    return with_theme(chart)


def _name_domain(names: ChartNames) -> alt.Scale:
    return alt.Scale(domain=names.numbers)


def _name_axis(names: ChartNames, orient: Literal["top", "left"]) -> alt.Axis:
    """Return an axis whose bands stand for names, in their order."""
    return alt.Axis(
        orient=orient,
        labelExpr=names.spelled,
        labelLimit=240,
        labelAngle=0,
        domain=False,
        ticks=False,
    )


def _text_colour(share: float) -> str:
    return LIGHT_INK if share > 0.8 else DARK_INK  # where both are 4.5 to 1 from the box
