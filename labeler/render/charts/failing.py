"""Queries: how many fail for which reason, over all and in each bucket."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from labeler.analysis.failures import FailureClass
from labeler.evaluation import share_words
from labeler.render.charts.heat import HeatCell, heat_chart
from labeler.render.charts.look import INK, LEAST_FONT, dressed, tips

BAR_COLOUR = "#4a8fd0"
ROOM_FOR_WORDS = 80  # pixels behind the longest bar


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
            "shown": [f"{count}  ({share_words(count, total)})" for count in counts.values()],
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
                range=[0, alt.ExprRef(f"width - {ROOM_FOR_WORDS}")],
            ),
        ),
        tooltip=[*tips("class", "side", "queries"), alt.Tooltip("shown:N", title="share")],
    )
    chart = alt.layer(
        base.mark_bar(color=BAR_COLOUR, height=16),
        base.mark_text(align="left", dx=5, fontSize=LEAST_FONT, color=INK).encode(
            text=alt.Text("shown:N")
        ),
    ).properties(height=26 * len(frame) + 70, description=description)
    return dressed(chart)


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
