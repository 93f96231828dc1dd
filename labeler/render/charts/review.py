"""Charts of the Review page: grades per day, progress of the pool, and each grader's drift.

Drift is a grader's mean difference from the agreed grade, week by week.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

import altair as alt
import pandas as pd

from labeler.render.charts.theme import ChartNames, tooltips, with_theme
from labeler.render.palette import GRADE_COLOURS, MARKS, MUTED_COLOUR, RUN_COLOURS

LEAST_DAYS, MOST_DAYS = 14, 92
MOST_NAMED = 6
OTHERS = "everyone else"
GRADED, CANNOT_TELL, STALE, OPEN = "graded", "can't tell", "text changed", "open"
STATES = {GRADED: GRADE_COLOURS[3], CANNOT_TELL: "#9aa5b1", STALE: GRADE_COLOURS[1], OPEN: "#0000"}
OUTLINE = MUTED_COLOUR


def day_frame(given: Iterable[tuple[str, str, int]]) -> pd.DataFrame:
    """Return (day, grader, grades) as the table behind `day_chart`."""
    return pd.DataFrame(given, columns=["day", "grader", "grades"])


def day_chart(given: Sequence[tuple[str, str, int]], description: str) -> alt.Chart:
    """Return a bar for each day, stacked by grader; ``given`` is (day, grader, grades).

    Days without a grade are drawn too. The chart goes back at most `MOST_DAYS` days from the last
    one. The graders with the fewest grades share one part of the bar.
    """
    days = shown_days([day for day, _, _ in given])
    named = most_active(given)
    sums: dict[tuple[str, str], int] = {}
    for day, grader, grades in given:
        at = (day, grader if grader in named else OTHERS)
        sums[at] = sums.get(at, 0) + grades
    frame = pd.DataFrame(
        [(day, grader, grades) for (day, grader), grades in sums.items() if day in days],
        columns=["day", "grader", "grades"],
    )
    there = set(frame["grader"])
    graders = ChartNames("graders", [name for name in (*named, OTHERS) if name in there])
    frame["place"] = graders.places(frame["grader"])
    scale = alt.Scale(domain=graders.numbers, range=list(RUN_COLOURS[: len(graders.names)]))
    axis = alt.Axis(labelAngle=0, labelOverlap="greedy", labelExpr="slice(datum.value, 5)")
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar(stroke="#ffffff", strokeWidth=0.6)
        .encode(
            x=alt.X("day:O", title="day (UTC)", scale=alt.Scale(domain=days), axis=axis),
            y=alt.Y("grades:Q", title="grades", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("place:N", scale=scale, legend=day_legend(graders)),
            order=alt.Order("place:Q"),
            tooltip=tooltips("day", "grader", "grades"),
        )
        .add_params(graders.parameter)
        .properties(height=320, description=description)
    )
    return with_theme(chart)


def day_legend(graders: ChartNames) -> alt.Legend | None:
    """Return a legend where there is more than one grader to tell apart."""
    if len(graders.names) == 1:
        return None
    return alt.Legend(
        title=None,
        labelExpr=graders.spelled,
        orient="top",
        columns=7,
        labelLimit=140,
        symbolStrokeWidth=0,
    )


def shown_days(days: Iterable[str]) -> list[str]:
    """Return the days of a chart without gaps, up to the last of ``days``.

    >>> shown_days(["2026-03-02"])[0], len(shown_days(["2026-03-02", "2026-02-01"]))
    ('2026-02-17', 30)
    """
    known = sorted(map(date.fromisoformat, set(days)))
    if not known:
        return []
    last = known[-1]
    count = min(max((last - known[0]).days + 1, LEAST_DAYS), MOST_DAYS)
    return [(last - timedelta(days=back)).isoformat() for back in reversed(range(count))]


def most_active(given: Iterable[tuple[str, str, int]]) -> list[str]:
    """Return the graders that the chart names, by number of grades, most first."""
    sums: dict[str, int] = {}
    for _, grader, grades in given:
        sums[grader] = sums.get(grader, 0) + grades
    ranked = sorted(sums, key=lambda name: (-sums[name], name))
    return ranked if len(ranked) <= MOST_NAMED + 1 else ranked[:MOST_NAMED]


class BucketProgress(NamedTuple):
    """Count the chunks of a bucket's pool by state; ``words`` say which share is graded."""

    bucket: str
    words: str
    graded: int
    cannot_tell: int
    stale: int
    open: int


def progress_chart(
    shares: Sequence[BucketProgress], description: str
) -> alt.LayerChart | alt.FacetChart:
    """Return a bar for each bucket with the graded share of its pool; the open part is hollow."""
    names = list(STATES)
    buckets = ChartNames("buckets", [each.bucket for each in shares])
    frame = pd.DataFrame(
        [
            (each.bucket, at, state, count, place, each.words)
            for at, each in enumerate(shares)
            for place, (state, count) in enumerate(
                zip(names, (each.graded, each.cannot_tell, each.stale, each.open), strict=True)
            )
            if count
        ],
        columns=["bucket", "at", "state", "chunks", "place", "share"],
    )
    axis = alt.Axis(
        labelExpr=buckets.spelled, labelLimit=240, labelOverlap=False, domain=False, ticks=False
    )
    places = alt.Scale(domain=buckets.numbers)
    base = alt.Chart(frame).encode(y=alt.Y("at:O", title=None, scale=places, axis=axis))
    shown = [name for name in names if name in set(frame["state"])]
    scale = alt.Scale(domain=shown, range=[STATES[name] for name in shown])
    legend = alt.Legend(
        title=None,
        orient="top",
        symbolStrokeColor=OUTLINE,
        symbolStrokeWidth=1,
        symbolType="square",
    )
    bars = base.mark_bar(height=18, stroke=OUTLINE, strokeWidth=0.8).encode(
        x=alt.X(
            "chunks:Q",
            stack="normalize",
            title="share of the pool",
            axis=alt.Axis(format="%", tickCount=5, labelFlushOffset=-6),  # 100% would be cut
        ),
        color=alt.Color("state:N", scale=scale, sort=shown, legend=legend),
        order=alt.Order("place:Q"),
        tooltip=[*tooltips("bucket", "state", "chunks"), alt.Tooltip("share:N", title="graded")],
    )
    height = 30 * len(shares) + 90
    chart = alt.layer(bars).properties(height=height, description=description)
    return with_theme(chart.add_params(buckets.parameter))


MOST_DRAWN = len(RUN_COLOURS)
BOOLEAN_SCALE = alt.Scale(domain=[0, 1], range=[0, 1])
FEW = 10  # chunks: a week with fewer is drawn hollow


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
    """Return a line of drift over weeks for each grader; above 0 is more than the agreed grade.

    Only the `MOST_DRAWN` graders with the most chunks are drawn. Weeks with fewer than `FEW` chunks
    are hollow.
    """
    graders = ChartNames("graders", most_compared(rows))
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
            *tooltips("grader:N"),
            alt.Tooltip("week:O", title="week from"),
            alt.Tooltip("difference:Q", title="mean difference", format="+.4f"),
            *tooltips("chunks:Q"),
        ],
    )
    colours = graders.in_turn(RUN_COLOURS)
    coloured = base.encode(color=alt.Color("at:N", scale=colours, legend=legend))
    points = coloured.mark_point(size=70, opacity=1, strokeWidth=2).encode(
        shape=alt.Shape("at:N", scale=graders.in_turn(MARKS), legend=legend),
        fill=alt.Fill("at:N", scale=colours, legend=legend),
        fillOpacity=alt.FillOpacity("enough:Q", scale=BOOLEAN_SCALE, legend=None),
    )
    rule = alt.Chart(pd.DataFrame({"difference": [0.0]})).mark_rule(color=MUTED_COLOUR)
    layers = alt.layer(rule.encode(y=alt.Y("difference:Q")), coloured.mark_line(), points)
    chart = layers.properties(height=260, description=description)
    return with_theme(chart.add_params(graders.parameter))


def most_compared(rows: Sequence[Drift]) -> list[str]:
    """Return the `MOST_DRAWN` graders with the most chunks, in the order of ``rows``."""
    chunks: dict[str, int] = {}
    for row in rows:
        chunks[row.grader] = chunks.get(row.grader, 0) + row.chunks
    ranked = sorted(chunks, key=lambda name: -chunks[name])[:MOST_DRAWN]
    return [name for name in chunks if name in ranked]
