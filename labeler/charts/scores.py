"""The Scores page: runs by measures as a table, a chart and a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import altair as alt
import pandas as pd

from labeler.charts.files import as_csv
from labeler.charts.palette import MARKS
from labeler.evaluation import (
    NO_RESULT,
    Conventions,
    Residual,
    Score,
    TieRange,
    number,
    score_records,
)
from labeler.keywords import KeywordRow
from labeler.measures import MEASURES, Measure

ROOM_AROUND = 110  # pixels: a chart's height is that of legend and axis too


def score_table(
    scores: Sequence[Score], systems: Mapping[str, str], conventions: Conventions
) -> str:
    """Return the scores as an HTML table: a row for each run, a column for each measure.

    Every name is escaped. The best value of a column is set in bold; nothing is judged by colour.
    """
    measures = list(dict.fromkeys(score.measure for score in scores))
    by_run: dict[str, dict[Measure, Score]] = {}
    for score in scores:
        by_run.setdefault(score.run, {})[score.measure] = score
    best = {
        measure: max(
            (v for row in by_run.values() if not math.isnan(v := row[measure].value)),
            default=math.nan,
        )
        for measure in measures
    }
    head = "".join(
        head_cell(conventions.heading(measure), next(iter(by_run.values()))[measure])
        for measure in measures
    )
    body = "".join(
        f'<tr><th scope="row">{escape(run)}{system_line(run, systems)}</th>'
        + "".join(value_cell(row[measure], best[measure]) for measure in measures)
        + "</tr>"
        for run, row in by_run.items()
    )
    return (
        f'{TABLE_STYLE}<div class="scores" tabindex="0"><table style="--columns: {len(measures)}">'
        f'<thead><tr><th scope="col">Run</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def system_line(run: str, systems: Mapping[str, str]) -> str:
    """Name a run's system where it is not its own name."""
    system = systems.get(run, run)
    return "" if system == run else f"<small>{escape(system)}</small>"


def head_cell(heading: str, score: Score) -> str:
    """Return a column's heading with how many queries its means are over."""
    left_out = f", {score.undefined} undefined" if score.undefined else ""
    meaning = escape(MEASURES[score.measure.name].meaning, quote=True)
    return (
        f'<th scope="col" title="{meaning}">{escape(heading)}'
        f"<small>n {score.n}{left_out}</small></th>"
    )


def value_cell(score: Score, best: float) -> str:
    """Return a mean with the holes it rests on, and the queries its run has no list for."""
    if not score.n + score.undefined:
        return "<td>–<small>nothing graded</small></td>"
    if score.reason == NO_RESULT:
        return "<td>–<small>no result</small></td>"
    shown = number(score.value)
    holes = "no holes" if not score.holes else f"{score.holes:,} hole{'s' * (score.holes != 1)}"
    missing = f", {score.missing} absent" if score.missing else ""
    strong = f"<strong>{shown}</strong>" if shown == number(best) != "–" else shown
    return f"<td>{strong}<small>{holes}{missing}</small></td>"


TABLE_STYLE = """<style>
.scores { overflow-x: auto; }
.scores table {
    border-collapse: collapse; table-layout: fixed; width: 100%;
    min-width: calc(10rem + var(--columns) * 6rem);
    max-width: calc(10rem + var(--columns) * 14rem);
    font-variant-numeric: tabular-nums;
}
.scores th, .scores td {
    padding: 0.45rem 0.75rem;
    text-align: right;
    vertical-align: top;
    border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent);
    white-space: nowrap;
}
.scores thead th {
    font-weight: 600; border-bottom-width: 2px; white-space: normal; overflow-wrap: anywhere;
}
.scores thead th + th { padding-left: 0.25rem; }
.scores th:first-child {
    text-align: left; white-space: normal; overflow-wrap: anywhere; width: 10rem;
}
.scores tbody th { font-weight: 400; }
.scores td { font-size: 1.05rem; }
.scores small {
    display: block; font-size: 0.78rem; font-weight: 400;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
</style>"""


def tie_table(ranges: Mapping[str, Sequence[TieRange]], conventions: Conventions) -> str:
    """Return what each run's means could be in other orders of its tied chunks, as HTML."""
    rows = "".join(
        f'<tr><th scope="row">{escape(run)}</th>'
        f"<td>{escape(conventions.heading(each.measure))}</td><td>{number(each.lowest)}</td>"
        f"<td>{number(each.value)}</td><td>{number(each.highest)}</td></tr>"
        for run, found in ranges.items()
        for each in found
    )
    heads = "".join(
        f'<th scope="col">{word}</th>'
        for word in ("Run", "Measure", "lowest", "as it is", "highest")
    )
    return (
        f'{TABLE_STYLE}<div class="scores" tabindex="0" style="--columns: 4"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def residual_table(rows: Sequence[Residual], conventions: Conventions) -> str:
    """Return what each RBP is, what it could rise by and to what, as HTML: run below run."""
    body = "".join(
        f'<tr><th scope="row">{escape(row.run)}</th>'
        f"<td>{escape(conventions.heading(row.measure))}</td><td>{number(row.value)}</td>"
        f"<td>{number(row.residual)}</td><td>{number(row.highest)}</td></tr>"
        for measure in dict.fromkeys(row.measure for row in rows)
        for row in rows
        if row.measure == measure
    )
    heads = "".join(
        f'<th scope="col">{word}</th>'
        for word in ("Run", "Measure", "value", "residual", "value + residual")
    )
    return (
        f'{TABLE_STYLE}<div class="scores" tabindex="0" style="--columns: 4"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def keyword_table(rows: Sequence[KeywordRow], k: int, headings: Sequence[str]) -> str:
    """Return keyword measures beside graded ones, run by run, as HTML."""
    names = keyword_columns(k, headings)
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row">{escape(row.run)}<small>queries with keywords: {row.n:,}, '
        f"graded of them: {row.judged:,}</small></th>"
        + "".join(f"<td>{number(each)}</td>" for each in (*row.keyword, *row.graded, row.agreement))
        + "</tr>"
        for row in rows
    )
    return (
        f'{TABLE_STYLE}<div class="scores" tabindex="0" style="--columns: {len(names)}">'
        f'<table><thead><tr><th scope="col">Run</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def keyword_columns(k: int, headings: Sequence[str]) -> list[str]:
    """Name a `KeywordRow`'s numbers in their order; ``headings`` are of the graded ones."""
    return ["RR by keyword", f"nDCG@{k} by keyword", f"coverage@{k}", *headings, "agreement"]


def keyword_csv(
    rows: Iterable[KeywordRow],
    k: int,
    headings: Sequence[str],
    conventions: Conventions,
    *,
    substring: bool,
) -> bytes:
    """Return what `keyword_table` shows as a CSV file: full precision, empty where undefined."""
    names = keyword_columns(k, headings)
    found_as = {"found as": "parts of words, too" if substring else "whole words"}
    return as_csv(
        (
            {"run": row.run, "queries with keywords": row.n, "graded of them": row.judged}
            | dict(zip(names, (*row.keyword, *row.graded, row.agreement), strict=True))
            | found_as
            for row in rows
        ),
        conventions,
    )


def score_csv(
    scores: Iterable[Score], conventions: Conventions, residuals: Iterable[Residual] = ()
) -> bytes:
    """Return scores as a CSV file, in full precision: a row for each, by which conventions.

    With residuals there is a column for them, which is empty for every measure but RBP.
    """
    found = {(each.run, each.measure, each.bucket): each.residual for each in residuals}
    return as_csv(score_records(scores, found), conventions)


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
