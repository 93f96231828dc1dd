"""Compare: A against B, query by query, as bars and as a scatter."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from labeler.analysis.comparison import OUTCOMES, DrawnQuery
from labeler.evaluation import number, signed
from labeler.render.charts.look import dressed
from labeler.render.palette import A_COLOUR, B_COLOUR, QUIET

SIDE = 300  # of the scatter, in pixels: square, so that the diagonal is one


def query_frame(rows: Sequence[DrawnQuery]) -> pd.DataFrame:
    """Return queries as the table behind both charts."""
    return pd.DataFrame(rows, columns=list(DrawnQuery._fields))


def delta_bars(frame: pd.DataFrame, heading: str, a: str, b: str) -> alt.Chart:
    """Return a bar for each query, best for B first; a click selects its ``place``."""
    chart: alt.Chart = (
        alt.Chart(_in_words(frame), height=SIDE)
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "place:O",
                title="queries, best for B first",
                axis=alt.Axis(labels=False, ticks=False),
            ),
            y=alt.Y("delta:Q", title=f"{heading}: B − A"),
            color=_outcome_colour(),
            tooltip=_tooltip(),
        )
        .add_params(_opened())
        .properties(
            description=f"{heading} of {b} minus {a}: a bar for each query, upward where B is "
            "better; the same numbers as the table"
        )
    )
    return dressed(chart)


def delta_scatter(frame: pd.DataFrame, heading: str, a: str, b: str) -> alt.LayerChart:
    """Return A against B with the diagonal: above it B is better; a click selects a ``place``.

    It is a square with the same values across and upward.
    """
    most = max(1.0, float(frame[["a", "b"]].max().max()))  # a count may be more than 1
    whole = alt.Scale(domain=[0, most], nice=False)
    diagonal: alt.Chart = (
        alt.Chart(pd.DataFrame({"a": [0.0, most], "b": [0.0, most]}))
        .mark_line(strokeDash=[4, 4], color=QUIET)
        .encode(x=alt.X("a:Q"), y=alt.Y("b:Q"))
    )
    shapes = alt.Scale(domain=list(OUTCOMES), range=["triangle-up", "circle", "triangle-down"])
    points: alt.Chart = (
        alt.Chart(_in_words(frame))
        .mark_point(size=60, filled=True, opacity=0.9, cursor="pointer")
        .encode(
            x=alt.X("a:Q", title=f"{heading} of A", scale=whole),
            y=alt.Y("b:Q", title=f"{heading} of B", scale=whole),
            color=_outcome_colour(),
            shape=alt.Shape("outcome:N", scale=shapes, legend=alt.Legend(title=None, orient="top")),
            tooltip=_tooltip(),
        )
        .add_params(_opened(nearest=True))
    )
    chart: alt.LayerChart = alt.LayerChart(
        layer=[diagonal, points],
        height=SIDE,
        width=SIDE,
        autosize="pad",  # axes and legend come on top: fitted in, they would take unlike shares
        description=f"{heading} of {a} across, of {b} upward, a point for each query; above the "
        "diagonal B is better; the same numbers as the table",
    )
    return dressed(chart)


def _in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the queries with their values written out, as tooltips show them."""
    return frame.assign(
        in_a=frame["a"].map(number),
        in_b=frame["b"].map(number),
        change=frame["delta"].map(signed),
    )


def _outcome_colour() -> alt.Color:
    return alt.Color(
        "outcome:N",
        scale=alt.Scale(domain=list(OUTCOMES), range=[B_COLOUR, QUIET, A_COLOUR]),
        legend=alt.Legend(title=None, orient="top"),
    )


def _tooltip() -> list[alt.Tooltip]:
    words = {
        "query": "query",
        "bucket": "bucket",
        "in_a": "in A",
        "in_b": "in B",
        "change": "B − A",
        "holes_a": "holes in A",
        "holes_b": "holes in B",
    }
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in words.items()]


def _opened(*, nearest: bool = False) -> alt.Parameter:
    return alt.selection_point(name="opened", fields=["place"], nearest=nearest)
