"""Review: who graded when, and how far the pool is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

import altair as alt
import pandas as pd

from labeler.render.charts.look import Names, dressed, tips
from labeler.render.palette import GRADE_COLOURS, QUIET, RUN_COLOURS

LEAST_DAYS, MOST_DAYS = 14, 92
MOST_NAMED = 6
OTHERS = "everyone else"
GRADED, CANNOT_TELL, STALE, OPEN = "graded", "can't tell", "text changed", "open"
STATES = {GRADED: GRADE_COLOURS[3], CANNOT_TELL: "#9aa5b1", STALE: GRADE_COLOURS[1], OPEN: "#0000"}
OUTLINE = QUIET


def day_frame(given: Iterable[tuple[str, str, int]]) -> pd.DataFrame:
    """Return (day, grader, grades) as the table behind `day_chart`."""
    return pd.DataFrame(given, columns=["day", "grader", "grades"])


def day_chart(given: Sequence[tuple[str, str, int]], description: str) -> alt.Chart:
    """Return a bar for each day, stacked by grader; ``given`` is (day, grader, grades).

    Days without a grade are drawn too. It goes back `MOST_DAYS` days from the last; the graders
    with fewest grades are one part of the bar.
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
    graders = Names("graders", [name for name in (*named, OTHERS) if name in there])
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
            tooltip=tips("day", "grader", "grades"),
        )
        .add_params(graders.parameter)
        .properties(height=320, description=description)
    )
    return dressed(chart)


def day_legend(graders: Names) -> alt.Legend | None:
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
    """Return the days a chart shows without gaps, the last one given at its end.

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
    """Return the graders who are named in the chart, who gave most first."""
    sums: dict[str, int] = {}
    for _, grader, grades in given:
        sums[grader] = sums.get(grader, 0) + grades
    ranked = sorted(sums, key=lambda name: (-sums[name], name))
    return ranked if len(ranked) <= MOST_NAMED + 1 else ranked[:MOST_NAMED]


class Share(NamedTuple):
    """One bucket's pool by state, in chunks of queries; ``words`` say the share that is graded."""

    bucket: str
    words: str
    graded: int
    cannot_tell: int
    stale: int
    open: int


def progress_chart(shares: Sequence[Share], description: str) -> alt.LayerChart | alt.FacetChart:
    """Return a bar for each bucket: how much of its pool is graded; what is open stays hollow."""
    names = list(STATES)
    buckets = Names("buckets", [each.bucket for each in shares])
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
        tooltip=[*tips("bucket", "state", "chunks"), alt.Tooltip("share:N", title="graded")],
    )
    height = 30 * len(shares) + 90
    chart = alt.layer(bars).properties(height=height, description=description)
    return dressed(chart.add_params(buckets.parameter))
