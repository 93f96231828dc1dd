"""Scores: runs by measures, and recall over k."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import altair as alt
import pandas as pd

from labeler.evaluation import Conventions, Score
from labeler.palette import MARKS

ROOM_AROUND = 110  # pixels: a chart's height is that of legend and axis too


def score_chart(scores: Sequence[Score], conventions: Conventions) -> alt.Chart:
    """Return a dot for each run on a line for each measure; runs differ by shape and colour.

    Counts are left to the table: they have no common scale with values between 0 and 1.
    """
    scores = [score for score in scores if not score.measure.definition.count]
    names = {score.measure: conventions.heading(score.measure) for score in scores}
    frame = pd.DataFrame(
        {
            "run": [score.run for score in scores],
            "measure": [names[score.measure] for score in scores],
            "value": [score.value for score in scores],
            "n": [score.n for score in scores],
            "holes": [score.holes for score in scores],
        }
    ).dropna(subset="value")
    runs = list(dict.fromkeys(score.run for score in scores))
    chart: alt.Chart = (
        alt.Chart(frame, height=34 * len(names) + ROOM_AROUND)
        .mark_point(size=110, filled=True, opacity=0.85)
        .encode(
            x=alt.X(
                "value:Q",
                title="mean",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(labelFlush=False),  # pushed inside, the last number would be cut
            ),
            y=alt.Y(
                "measure:N", title=None, sort=list(names.values()), axis=alt.Axis(labelLimit=280)
            ),
            shape=alt.Shape(
                "run:N",
                sort=runs,
                scale=alt.Scale(
                    domain=runs, range=[MARKS[i % len(MARKS)] for i in range(len(runs))]
                ),
                legend=alt.Legend(title=None, orient="top", columns=6, labelLimit=140),
            ),
            color=alt.Color("run:N", sort=runs, scale=alt.Scale(domain=runs, scheme="viridis")),
            tooltip=["run", "measure", alt.Tooltip("value:Q", format=".4f"), "n", "holes"],
        )
        .properties(description="Mean of each measure for each run; the same numbers as the table")
    )
    return chart


def recall_curve(scores: Iterable[Score], budgets: Iterable[int]) -> alt.LayerChart:
    """Return recall over k, a line for each run, with the prompt budgets as upright rules.

    ``scores`` are of R at several cut-offs; a budget is what really reaches the prompt.
    """
    frame = pd.DataFrame(
        [
            {"run": each.run, "k": each.measure.cutoff, "recall": each.value, "n": each.n}
            for each in scores
        ]
    ).dropna(subset="recall")
    runs = list(dict.fromkeys(frame["run"]))
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4]]
    lines = (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X("k:Q", title="k: the first k chunks", scale=alt.Scale(type="log")),
            y=alt.Y("recall:Q", title="mean R@k", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("run:N", sort=runs, scale=alt.Scale(domain=runs, scheme="viridis")),
            strokeDash=alt.StrokeDash(
                "run:N",
                sort=runs,
                scale=alt.Scale(domain=runs, range=[dashes[i % 5] for i in range(len(runs))]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            tooltip=["run", "k", alt.Tooltip("recall:Q", format=".4f"), "n"],
        )
    )
    rules = pd.DataFrame({"k": sorted(set(budgets)), "label": "prompt budget"})
    rule = (
        alt.Chart(rules)
        .mark_rule(strokeDash=[2, 4], color="#808890")
        .encode(x="k:Q", tooltip=["label", "k"])
    )
    name = (
        alt.Chart(rules)
        .mark_text(align="left", dx=4, y=10, color="#808890")
        .encode(x="k:Q", text="label:N")
    )
    chart: alt.LayerChart = (lines + rule + name).properties(
        height=320, description="Recall over k for each run; the same numbers as the table"
    )
    return chart
