"""Agreement: how far each grader is from the agreed grade, week by week."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import pandas as pd

from labeler.render.charts.look import Names, dressed, tips
from labeler.render.palette import MARKS, QUIET, RUN_COLOURS

MOST_DRAWN = len(RUN_COLOURS)
WHETHER = alt.Scale(domain=[0, 1], range=[0, 1])
FEW = 10  # chunks: a week of fewer is drawn hollow


class Drift(NamedTuple):
    """A grader's mean difference from the agreed grade in a week, over ``chunks``."""

    grader: str
    week: str
    difference: float
    chunks: int


def drift_frame(rows: Sequence[Drift]) -> pd.DataFrame:
    """Return the table behind `drift_chart`."""
    frame = pd.DataFrame(rows, columns=list(Drift._fields))
    return frame.rename(columns={"week": "week from", "difference": "mean difference"})


def drift_chart(rows: Sequence[Drift], description: str) -> alt.LayerChart | alt.FacetChart:
    """Return a line for each grader over weeks; above 0 they grade higher than is agreed.

    Those with most chunks are drawn, the first `MOST_DRAWN`; weeks of few chunks are hollow.
    """
    graders = Names("graders", most_compared(rows))
    kept = [row for row in rows if row.grader in graders.names]
    frame = pd.DataFrame(kept, columns=list(Drift._fields))
    frame["at"] = graders.places(frame["grader"])
    frame["enough"] = (frame["chunks"] >= FEW).astype(int)
    weeks = sorted(set(frame["week"]))
    axis = alt.Axis(labelAngle=0, labelOverlap="greedy")
    legend = alt.Legend(title=None, labelExpr=graders.spelled, orient="top", columns=4)
    base = alt.Chart(frame).encode(
        x=alt.X("week:O", title="week from (UTC)", scale=alt.Scale(domain=weeks), axis=axis),
        y=alt.Y("difference:Q", title="grade − agreed grade", scale=alt.Scale(nice=True)),
        tooltip=[
            *tips("grader:N"),
            alt.Tooltip("week:O", title="week from"),
            alt.Tooltip("difference:Q", title="mean difference", format="+.4f"),
            *tips("chunks:Q"),
        ],
    )
    colours = graders.in_turn(RUN_COLOURS)
    coloured = base.encode(color=alt.Color("at:N", scale=colours, legend=legend))
    points = coloured.mark_point(size=70, opacity=1, strokeWidth=2).encode(
        shape=alt.Shape("at:N", scale=graders.in_turn(MARKS), legend=legend),
        fill=alt.Fill("at:N", scale=colours, legend=legend),
        fillOpacity=alt.FillOpacity("enough:Q", scale=WHETHER, legend=None),
    )
    rule = alt.Chart(pd.DataFrame({"difference": [0.0]})).mark_rule(color=QUIET)
    layers = alt.layer(rule.encode(y=alt.Y("difference:Q")), coloured.mark_line(), points)
    chart = layers.properties(height=260, description=description)
    return dressed(chart.add_params(graders.parameter))


def most_compared(rows: Sequence[Drift]) -> list[str]:
    """Return the graders who are drawn, in the order in which they are given."""
    chunks: dict[str, int] = {}
    for row in rows:
        chunks[row.grader] = chunks.get(row.grader, 0) + row.chunks
    ranked = sorted(chunks, key=lambda name: -chunks[name])[:MOST_DRAWN]
    return [name for name in chunks if name in ranked]
