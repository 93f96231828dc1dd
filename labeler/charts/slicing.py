"""The Slices page: buckets by measures as tables, heat maps and files; one run, or A against B."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

import altair as alt
import pandas as pd

from labeler.charts.files import as_csv
from labeler.comparison import Cell, Comparison, Delta
from labeler.evaluation import NO_RESULT, Conventions, Score, names_of, number, why_no_mean
from labeler.measures import Measure

LinkOf = Callable[..., str]
"""Gives the address of a bucket's queries, of two that cross, or (for None) of all queries."""

HEAT_COLOURS = ("#eaf0f6", "#1a5ba6")
DARK_INK, LIGHT_INK, NO_INK = "#000000", "#ffffff", "#76838f"

SHEET_STYLE = """<style>
.sheet { overflow-x: auto; }
.sheet table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
.sheet caption { text-align: left; font-weight: 600; padding: 0.2rem 0 0.45rem; }
.sheet caption small { font-weight: 400; }
.sheet th, .sheet td {
    padding: 0.38rem 0.7rem; text-align: right; vertical-align: top; white-space: nowrap;
    border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent);
}
.sheet thead th { font-weight: 600; border-bottom-width: 2px; vertical-align: bottom; }
.sheet tbody th { font-weight: 400; }
.sheet th.words, .sheet td.words {
    text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 8rem;
}
.sheet th.wide { min-width: 17rem; }
.sheet.failures th, .sheet.failures td { padding: 0.38rem 0.4rem; font-size: 0.93rem; }
.sheet.dcg th, .sheet.dcg td { padding: 0.35rem 0.42rem; font-size: 0.88rem; }
.sheet.dcg thead th { white-space: normal; }
.sheet td.id { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 6rem; }
.sheet tr.total > * {
    font-weight: 600; border-top: 2px solid color-mix(in srgb, currentColor 45%, transparent);
}
.sheet tr.few > * { color: color-mix(in srgb, currentColor 68%, transparent); }
.sheet tr.few td.lead { font-weight: 400; } .sheet tr.few small { color: inherit; }
.sheet td.lead { font-weight: 600; }
.sheet small { display: block; font-size: 0.78rem; font-weight: 400;
    color: color-mix(in srgb, currentColor 74%, transparent); }
.sheet .aside { font-size: 0.78rem; font-weight: 400; }
.sheet .tag { border: 1px dashed currentColor; border-radius: 0.6rem; padding: 0 0.4rem;
    font-size: 0.75rem; font-weight: 400; margin-left: 0.3rem; }
.sheet a { color: inherit; text-decoration: underline; text-underline-offset: 0.15em; }
</style>"""


def slice_table(
    rows: Sequence[Score],
    totals: Sequence[Score],
    conventions: Conventions,
    *,
    facet: str,
    least: int,
    link: LinkOf,
) -> str:
    """Return one run's buckets as an HTML table: a row a bucket, a column a measure, then all.

    A value over fewer than ``least`` queries is greyed and says "few"; it is never left out. Every
    name is escaped and leads to the bucket's queries.
    """
    by_bucket: dict[str | None, list[Score]] = {}
    for row in [*rows, *totals]:
        by_bucket.setdefault(row.bucket, []).append(row)
    head = "".join(
        f'<th scope="col" title="{escape(row.measure.definition.meaning)}">'
        f"{escape(conventions.heading(row.measure))}</th>"
        for row in totals
    )
    body = "".join(
        f"{_opening(bucket, max((s.n for s in scores), default=0), least)}"
        f"{_bucket_cell(bucket, link)}"
        + "".join(_score_cell(score, least) for score in scores)
        + "</tr>"
        for bucket, scores in by_bucket.items()
    )
    return (
        f'{SHEET_STYLE}<div class="sheet slices" tabindex="0"><table><thead><tr>'
        f'<th scope="col" class="words">{escape(facet)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def slice_pair_table(comparison: Comparison, measure: Measure, *, least: int, link: LinkOf) -> str:
    """Return one measure's buckets, B against A, as an HTML table with the total at its foot.

    Wins and losses are B's. A bucket of fewer than ``least`` queries is greyed and says "few".
    """
    rows = [row for row in comparison.buckets if row.measure == measure]
    rows += [row for row in comparison.deltas if row.measure == measure]
    heading = escape(comparison.conventions.heading(measure))
    meaning = escape(measure.definition.meaning)
    names = [f"A: {comparison.a}", f"B: {comparison.b}", "B − A", "B wins", "ties", "B loses"]
    columns = ["n", "holes A", "holes B", *names]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f"{_opening(row.bucket, row.n, least)}{_bucket_cell(row.bucket, link)}"
        f"{_delta_cells(row, least)}</tr>"
        for row in rows
    )
    return (
        f'{SHEET_STYLE}<div class="sheet slices" tabindex="0"><table>'
        f"<caption>{heading}<small>{meaning}</small></caption><thead><tr>"
        f'<th scope="col" class="words">{escape(comparison.facet or "")}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def crossed_table(
    cells: Sequence[Cell], runs: Sequence[str], facet: str, other: str, *, least: int, link: LinkOf
) -> str:
    """Return where two facets cross as an HTML table: a row for each pair that has queries."""
    pair = len(runs) == 2
    names = [f"{side}: {run}" for side, run in zip("AB", runs, strict=False)] if pair else runs
    columns = ["n", *("holes " + side for side in "AB" if pair), *(() if pair else ("holes",))]
    columns += [*names, *(("B − A",) if pair else ())]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_crossed_row(cell, least, link) for cell in cells if cell.n + cell.undefined)
    return (
        f'{SHEET_STYLE}<div class="sheet slices" tabindex="0"><table><thead><tr>'
        f'<th scope="col" class="words">{escape(facet)}</th>'
        f'<th scope="col" class="words">{escape(other)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _crossed_row(cell: Cell, least: int, link: LinkOf) -> str:
    values = "".join(_mean_cell(value, cell.n, name="lead") for value in cell.values)
    holes = "".join(f"<td>{count:,}</td>" for count in cell.holes)
    delta = f"<td>{signed(cell.delta)}</td>" if len(cell.values) > 1 else ""
    return (
        f"{_opening(cell.bucket, cell.n, least)}"
        f'<th scope="row" class="words"><a href="{escape(link(cell.bucket, cell.other))}">'
        f"{escape(cell.bucket)}</a></th>"
        f'<th scope="row" class="words">{escape(cell.other)}</th>'
        f"{_n_cell(cell.n, cell.undefined, least)}{holes}{values}{delta}</tr>"
    )


def _opening(bucket: str | None, n: int, least: int) -> str:
    names = [name for name, holds in (("total", bucket is None), ("few", n < least)) if holds]
    return f'<tr class="{" ".join(names)}">'


def _bucket_cell(bucket: str | None, link: LinkOf) -> str:
    name = "all judged queries" if bucket is None else bucket
    said = escape(f"Open the queries of {name}")
    return (
        f'<th scope="row" class="words"><a href="{escape(link(bucket))}" title="{said}">'
        f"{escape(name)}</a></th>"
    )


def _n_cell(n: int, undefined: int, least: int) -> str:
    left_out = f'<span class="aside"> +{undefined} undefined</span>' if undefined else ""
    return f"<td>{n}{_few(n, least)}{left_out}</td>"


def _few(n: int, least: int) -> str:
    return '<span class="tag">few</span>' if n < least else ""


def _score_cell(score: Score, least: int) -> str:
    left_out = f", {score.undefined} undefined" if score.undefined else ""
    holes = f" · {score.holes:,} hole{'s' * (score.holes != 1)}" if score.holes else " · no holes"
    absent = f" · {score.missing} absent" if score.missing else ""
    if score.reason == NO_RESULT:
        holes, absent = " · no result", ""
    return (
        f'<td class="lead">{number(score.value)}'
        f"<small>n {score.n}{left_out}{_few(score.n, least)}{holes}{absent}</small></td>"
    )


def _delta_cells(row: Delta, least: int) -> str:
    values = "".join(
        _mean_cell(value, row.n, missing)
        for value, missing in ((row.a, row.missing_a), (row.b, row.missing_b))
    )
    counts = "".join(f"<td>{count}</td>" for count in (row.wins, row.ties, row.losses))
    return (
        f"{_n_cell(row.n, row.undefined, least)}<td>{row.holes_a:,}</td><td>{row.holes_b:,}</td>"
        f'{values}<td class="lead">{signed(row.delta)}</td>{counts}'
    )


def _mean_cell(value: float, n: int, missing: int = 0, name: str = "") -> str:
    small = f"<small>{missing} absent</small>" if missing else ""
    if n and math.isnan(value):
        small = "<small>no result</small>"
    return f'<td class="{name}">{number(value)}{small}</td>'


def signed(value: float) -> str:
    """Write a difference for people: sign and arrow, so that direction needs no colour.

    >>> signed(0.25), signed(-0.25), signed(0.0), signed(float("nan"))
    ('▲ +0.2500', '▼ −0.2500', '0.0000', '–')
    """
    if math.isnan(value) or f"{abs(value):.4f}" == "0.0000":
        return "–" if math.isnan(value) else "0.0000"
    return f"▲ +{value:.4f}" if value > 0 else f"▼ −{-value:.4f}"


class HeatCell(NamedTuple):
    """One cell of a heat map: its number and the line under it; NaN is drawn without a colour."""

    row: str
    column: str
    value: float
    note: str


def score_cells(scores: Iterable[Score], conventions: Conventions, least: int) -> list[HeatCell]:
    """Return one run's means as the cells of a heat map, bucket by measure."""
    return [
        HeatCell(
            score.bucket or "all judged queries",
            conventions.heading(score.measure),
            score.value,
            heat_note(score.value, score.n, least),
        )
        for score in scores
    ]


def pair_cells(comparison: Comparison, least: int) -> list[HeatCell]:
    """Return B's means as the cells of a heat map, bucket by measure, with B − A under each."""
    return [
        HeatCell(
            row.bucket or "all judged queries",
            comparison.conventions.heading(row.measure),
            row.b,
            f"{signed(row.delta)} · {heat_note(row.b, row.n, least)}",
        )
        for row in (*comparison.buckets, *comparison.deltas)
    ]


def crossed_cells(cells: Iterable[Cell], least: int) -> list[HeatCell]:
    """Return crossed facets as the cells of a heat map: the last run's value, B − A under it."""
    return [
        HeatCell(
            cell.bucket,
            cell.other,
            cell.values[-1],
            (f"{signed(cell.delta)} · " if len(cell.values) > 1 else "")
            + heat_note(cell.values[-1], cell.n, least),
        )
        for cell in cells
    ]


def heat_note(value: float, n: int, least: int) -> str:
    """Say how many queries a cell rests on, and where that is few or the run answers none."""
    if n and math.isnan(value):
        return "no result"
    return f"n {n}, few" if 0 < n < least else f"n {n}"


def heat_chart(
    cells: Sequence[HeatCell],
    *,
    rows: str,
    columns: str,
    description: str,
    most: float = 1.0,
    digits: int = 4,
) -> alt.LayerChart | alt.FacetChart:
    """Return a heat map on one sequential scale from 0 to ``most``, its number in every cell."""
    frame = pd.DataFrame(cells, columns=list(HeatCell._fields))
    frame["shown"] = [
        "–" if math.isnan(value) else f"{value:.{digits}f}" for value in frame["value"]
    ]
    frame["ink"] = [_ink(value / most if most else 0.0) for value in frame["value"]]
    order = {name: list(dict.fromkeys(frame[name])) for name in ("row", "column")}
    axis = alt.Axis(labelLimit=240, labelAngle=0, domain=False, ticks=False)
    across = alt.Axis(orient="top", labelLimit=240, labelAngle=0, domain=False, ticks=False)
    base = alt.Chart(frame).encode(
        x=alt.X("column:N", title=columns, sort=order["column"], axis=across),
        y=alt.Y("row:N", title=rows, sort=order["row"], axis=axis),
        tooltip=[
            alt.Tooltip("row:N", title=rows),
            alt.Tooltip("column:N", title=columns),
            alt.Tooltip("shown:N", title="value"),
            alt.Tooltip("note:N", title="rests on"),
        ],
    )
    scale = alt.Scale(domain=[0, most or 1], range=list(HEAT_COLOURS), clamp=True)
    boxes = base.transform_filter("isValid(datum.value)").mark_rect(stroke="#ffffff", strokeWidth=1)
    inks = [DARK_INK, LIGHT_INK, NO_INK]
    ink = alt.Color("ink:N", scale=alt.Scale(domain=inks, range=inks), legend=None)
    chart = alt.layer(
        boxes.encode(color=alt.Color("value:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=13, dy=-6).encode(text="shown:N", color=ink),
        base.mark_text(fontSize=10.5, dy=9).encode(text="note:N", color=ink),
    ).properties(height=40 * len(order["row"]) + 78, description=description)
    chart.resolve = alt.Resolve(scale=alt.ScaleResolveMap(color="independent"))
    return chart


def _ink(share: float) -> str:
    if math.isnan(share):
        return NO_INK
    return LIGHT_INK if share > 0.8 else DARK_INK  # where both are 4.5 to 1 from the box


def crossed_csv(
    cells: Iterable[Cell],
    runs: Sequence[str],
    measure: Measure,
    facets: tuple[str, str],
    conventions: Conventions,
) -> bytes:
    """Return crossed facets as a CSV file at full precision: a row for each cell and run."""
    return as_csv(
        (
            {
                "run": run,
                **names,
                "facet": facets[0],
                "bucket": cell.bucket,
                "other_facet": facets[1],
                "other_bucket": cell.other,
                "value": cell.values[at],
                "reason": why_no_mean(cell.n, cell.undefined)
                if math.isnan(cell.values[at])
                else None,
                "n": cell.n,
                "undefined": cell.undefined,
                "holes": cell.holes[at],
            }
            for cell in cells
            for at, run in enumerate(runs)
            for names in names_of(measure)
        ),
        conventions,
    )
