"""Charts of queries: A against B as bars and as a scatter, failing queries by class and bucket.

The heat map writes each count into its cell, so it is readable without colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import altair as alt
import pandas as pd

from labeler.analysis.comparison import QUERY_OUTCOMES, DrawnQuery
from labeler.analysis.failures import FailureClass
from labeler.evaluation import format_number, format_share, format_signed
from labeler.render.charts.theme import INK, LEAST_FONT, ChartNames, tooltips, with_theme
from labeler.render.palette import A_COLOUR, B_COLOUR, MUTED_COLOUR

SQUARE_SIDE = 300  # of the scatter, in pixels: square, so that the diagonal is one


def query_frame(rows: Sequence[DrawnQuery]) -> pd.DataFrame:
    """Return queries as the table behind both charts."""
    return pd.DataFrame(rows, columns=list(DrawnQuery._fields))


def delta_bars(frame: pd.DataFrame, heading: str, a: str, b: str) -> alt.Chart:
    """Return a bar for each query, best for B first; a click selects its ``place``."""
    chart: alt.Chart = (
        alt.Chart(_format_values(frame), height=SQUARE_SIDE)
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "place:O",
                title="queries, best for B first",
                axis=alt.Axis(labels=False, ticks=False),
            ),
            y=alt.Y("delta:Q", title=f"{heading}: B − A"),
            color=_outcome_colour(),
            tooltip=_delta_tooltip(),
        )
        .add_params(_click_selection())
        .properties(
            description=f"{heading} of {b} minus {a}: a bar for each query, upward where B is "
            "better; the same numbers as the table"
        )
    )
    return with_theme(chart)


def delta_scatter(frame: pd.DataFrame, heading: str, a: str, b: str) -> alt.LayerChart:
    """Return A against B with the diagonal: above it B is better; a click selects a ``place``.

    It is a square with the same values across and upward.
    """
    most = max(1.0, float(frame[["a", "b"]].max().max()))  # a count may be more than 1
    whole = alt.Scale(domain=[0, most], nice=False)
    diagonal: alt.Chart = (
        alt.Chart(pd.DataFrame({"a": [0.0, most], "b": [0.0, most]}))
        .mark_line(strokeDash=[4, 4], color=MUTED_COLOUR)
        .encode(x=alt.X("a:Q"), y=alt.Y("b:Q"))
    )
    shapes = alt.Scale(
        domain=list(QUERY_OUTCOMES), range=["triangle-up", "circle", "triangle-down"]
    )
    points: alt.Chart = (
        alt.Chart(_format_values(frame))
        .mark_point(size=60, filled=True, opacity=0.9, cursor="pointer")
        .encode(
            x=alt.X("a:Q", title=f"{heading} of A", scale=whole),
            y=alt.Y("b:Q", title=f"{heading} of B", scale=whole),
            color=_outcome_colour(),
            shape=alt.Shape("outcome:N", scale=shapes, legend=alt.Legend(title=None, orient="top")),
            tooltip=_delta_tooltip(),
        )
        .add_params(_click_selection(nearest=True))
    )
    chart: alt.LayerChart = alt.LayerChart(
        layer=[diagonal, points],
        height=SQUARE_SIDE,
        width=SQUARE_SIDE,
        autosize="pad",  # axes and legend come on top: fitted in, they would take unlike shares
        description=f"{heading} of {a} across, of {b} upward, a point for each query; above the "
        "diagonal B is better; the same numbers as the table",
    )
    return with_theme(chart)


def _format_values(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the queries with their values written out, as tooltips show them."""
    return frame.assign(
        in_a=frame["a"].map(format_number),
        in_b=frame["b"].map(format_number),
        change=frame["delta"].map(format_signed),
    )


def _outcome_colour() -> alt.Color:
    return alt.Color(
        "outcome:N",
        scale=alt.Scale(domain=list(QUERY_OUTCOMES), range=[B_COLOUR, MUTED_COLOUR, A_COLOUR]),
        legend=alt.Legend(title=None, orient="top"),
    )


def _delta_tooltip() -> list[alt.Tooltip]:
    words = {
        "query": "query",
        "bucket": "bucket",
        "in_a": "in A",
        "in_b": "in B",
        "change": "B − A",
        "unjudged_a": "unjudged in A",
        "unjudged_b": "unjudged in B",
    }
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in words.items()]


def _click_selection(*, nearest: bool = False) -> alt.Parameter:
    return alt.selection_point(name="opened", fields=["place"], nearest=nearest)


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
