"""Charts of the Scores page: recall and precision over k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import altair as alt
import pandas as pd

from labeler.evaluation import Score
from labeler.render.charts.theme import (
    INK,
    LEAST_FONT,
    ChartNames,
    tooltips,
    with_theme,
)
from labeler.render.palette import MUTED_COLOUR, line_looks

CURVES_AT = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100)  # cut-offs at which a curve has a point


def curve_chart(
    scores: Iterable[Score], prompt_ks: Iterable[int], roles: Mapping[str, str] | None = None
) -> alt.LayerChart:
    """Return a measure over k with a line for each run and a vertical rule at each prompt size.

    ``scores`` are of one measure at several cut-offs. A prompt size is the number of chunks that
    really go into the prompt. For ``roles`` see `line_looks`. The legend is
    `labeler.render.tables.run_legend` for the same runs in the same order.
    """
    given = list(scores)
    name = next((each.measure.name for each in given), "")
    runs = ChartNames("runs", list(dict.fromkeys(each.run for each in given)))
    frame = pd.DataFrame(
        [
            {
                "run": each.run,
                "at": at,
                "k": each.measure.cutoff,
                "value": each.value,
                "n": each.n,
            }
            for each, at in zip(given, runs.places(each.run for each in given), strict=True)
        ],
        columns=["run", "at", "k", "value", "n"],
    ).dropna(subset="value")
    lines = (
        alt.Chart(frame)
        .mark_line(point=alt.OverlayMarkDef(size=45, filled=True))
        .encode(
            x=alt.X("k:Q", title="k: the first k chunks", scale=alt.Scale(type="log")),
            y=alt.Y("value:Q", title=f"mean {name}@k", scale=alt.Scale(domain=[0, 1])),
            **runs.with_looks(line_looks(runs.names, roles)),
            tooltip=[
                *tooltips("run:N", "k:Q"),
                alt.Tooltip("value:Q", title="mean", format=".4f"),
                alt.Tooltip("n:Q", title="queries"),
            ],
        )
    )
    chart: alt.LayerChart = alt.LayerChart(layer=[lines, *_prompt_k_rules(prompt_ks)]).properties(
        height=280,
        description=f"{name}@k over k for each run; the same numbers as the table",
    )
    return with_theme(chart)


def _prompt_k_rules(prompt_ks: Iterable[int]) -> tuple[alt.Chart, alt.Chart]:
    """Return a vertical line at each prompt size, and one label above the first.

    One label for each line would overlap the next where prompt sizes differ by task.
    """
    there = sorted(set(prompt_ks))
    words = f"prompt size{'s' if len(there) > 1 else ''} {', '.join(map(str, there))}"
    return (
        alt.Chart(pd.DataFrame({"k": there, "label": "prompt size"}))
        .mark_rule(strokeDash=[2, 4], color=MUTED_COLOUR)
        .encode(x=alt.X("k:Q"), tooltip=tooltips("label", "k")),
        alt.Chart(pd.DataFrame({"k": there[:1], "label": words}))
        .mark_text(align="left", y=-7, color=INK, fontSize=LEAST_FONT)
        .encode(x=alt.X("k:Q"), text=alt.Text("label:N")),
    )
