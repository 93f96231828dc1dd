"""The Queries page: the list of queries worst first, and the classes of failure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import altair as alt
import pandas as pd

from labeler.charts.files import as_csv
from labeler.charts.listing import QueryRow
from labeler.charts.slicing import SHEET_STYLE, HeatCell, heat_chart, signed
from labeler.diagnosis import CLASSES, FailureClass
from labeler.evaluation import Conventions, number
from labeler.measures import Measure

SIDE_WORDS = {"ranking": "ranking", "recall": "recall", "labels": "labels (cannot be told)"}
BAR_COLOUR = "#4a8fd0"


def failing_frame(
    rows: Sequence[QueryRow], headings: Sequence[str], bucket: str | None
) -> pd.DataFrame:
    """Return queries as the list on the screen: one line of text each, values of four digits."""
    frame: dict[str, list[object]] = {
        "query": [row.query_id for row in rows],
        "text": [" ".join(row.text.split()) for row in rows],
    }
    first, *others = headings
    frame[first] = [value_words(row.values[0], row.judged, row.counted[0]) for row in rows]
    if any(row.delta is not None for row in rows):
        frame[f"{first} of A"] = [
            value_words(_known(row.a), row.judged, row.counted[0]) for row in rows
        ]
        frame["B − A"] = [signed(_known(row.delta)) for row in rows]
    frame["class"] = [row.status for row in rows]
    frame["holes"] = [_hole_words(row) for row in rows]
    for at, heading in enumerate(others, 1):
        frame[heading] = [value_words(row.values[at], row.judged, row.counted[at]) for row in rows]
    frame["task"] = [row.task or "–" for row in rows]
    if bucket is not None and bucket != "task":
        frame[bucket] = [row.bucket or "–" for row in rows]
    return pd.DataFrame(frame)


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def value_words(value: float, judged: bool, counted: bool) -> str:
    """Write a query's value, or why it has none; a run without results has none that is counted.

    >>> nan = math.nan
    >>> value_words(0.5, True, True), value_words(nan, True, False), value_words(nan, True, True)
    ('0.5000', 'undefined', 'no result')
    """
    if not math.isnan(value):
        return number(value)
    if counted:
        return "no result"
    return "undefined" if judged else "not graded"


def _hole_words(row: QueryRow) -> str:
    if row.missing:
        return "absent"
    return f"{row.holes} of {row.shown}" if row.holes else "none"


def failing_csv(
    rows: Iterable[QueryRow],
    run: str,
    a: str | None,
    measures: Sequence[Measure],
    conventions: Conventions,
) -> bytes:
    """Return the list as a CSV file: full precision, conventions in every row.

    There is a column for each measure, under the name it was asked for by.
    """
    return as_csv(
        (
            {"query_id": row.query_id, "query": row.text, "task": row.task, "bucket": row.bucket}
            | {"run": run}
            | {
                name: row.values[at]
                for at, measure in enumerate(measures)
                for name in measure.names
            }
            | {"full_names": " ".join(map(str, measures))}
            | ({} if a is None else {"run_a": a, "value_a": row.a, "delta": row.delta})
            | {"holes": row.holes, "top_k": row.shown, "judged": row.judged}
            | {"absent": row.missing, "class": row.status}
            for row in rows
        ),
        conventions,
    )


def failure_chart(
    counts: Mapping[FailureClass, int], description: str
) -> alt.LayerChart | alt.FacetChart:
    """Return a bar for each class of failure with its count, in the order they are asked."""
    total = sum(counts.values())
    frame = pd.DataFrame(
        {
            "class": [each.name for each in counts],
            "side": [each.side for each in counts],
            "queries": list(counts.values()),
            "shown": [_share_words(count, total) for count in counts.values()],
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
            scale=alt.Scale(domain=[0, max([1, *counts.values()]) * 1.12]),
        ),
        tooltip=["class", "side", "queries", alt.Tooltip("shown:N", title="share")],
    )
    return alt.layer(
        base.mark_bar(color=BAR_COLOUR, height=16),
        base.mark_text(align="left", dx=5, fontSize=12, color="#76838f").encode(text="shown:N"),
    ).properties(height=26 * len(frame) + 50, description=description)


def _share_words(count: int, total: int) -> str:
    return f"{count}  ({count / total:.0%})" if count else "0"


def failure_heat(
    by_bucket: Mapping[str, Mapping[FailureClass, int]], facet: str, description: str
) -> alt.LayerChart | alt.FacetChart:
    """Return classes by bucket as a heat map of counts, without the classes that nobody has."""
    seen = [each for each in CLASSES if any(counts[each] for counts in by_bucket.values())]
    failing = {bucket: sum(counts.values()) for bucket, counts in by_bucket.items()}
    cells = [
        HeatCell(
            each.name,
            bucket,
            float(counts[each]),
            f"of {failing[bucket]} failing" if counts[each] else "",
        )
        for each in seen
        for bucket, counts in by_bucket.items()
    ]
    most = max((cell.value for cell in cells), default=1.0)
    return heat_chart(
        cells, rows="class", columns=facet, description=description, most=most, digits=0
    )


def failure_table(
    counts: Mapping[FailureClass, int], by_bucket: Mapping[str, Mapping[FailureClass, int]]
) -> str:
    """Return the classes as an HTML table: count, share, meaning, lever, then a column a bucket."""
    total = sum(counts.values())
    heads = ["Failing queries", "Share", *by_bucket]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(
        f'<tr class="{"" if count else "few"}"><th scope="row" class="words wide">'
        f"{escape(each.name)}<small>{escape(SIDE_WORDS[each.side])}: {escape(each.meaning)} "
        f"<em>{escape(each.lever)}</em></small></th>"
        f'<td class="lead">{count}</td><td>{count / total if total else 0:.0%}</td>'
        + "".join(f"<td>{inside[each]}</td>" for inside in by_bucket.values())
        + "</tr>"
        for each, count in counts.items()
    )
    return (
        f'{SHEET_STYLE}<div class="sheet failures" tabindex="0"><table><thead><tr>'
        f'<th scope="col" class="words">Class, what it means, <em>what to try</em></th>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )


def failures_csv(
    counts: Mapping[FailureClass, int],
    by_bucket: Mapping[str, Mapping[FailureClass, int]],
    run: str,
    facet: str | None,
    conventions: Conventions,
) -> bytes:
    """Return the counts as a CSV file: a row for each class, over all and in each bucket."""
    parts: list[tuple[str | None, Mapping[FailureClass, int]]] = [(None, counts)]
    parts += list(by_bucket.items())
    return as_csv(
        (
            {"run": run, "facet": None if bucket is None else facet, "bucket": bucket}
            | {"class": each.name, "side": each.side, "failing_queries": count}
            for bucket, part in parts
            for each, count in part.items()
        ),
        conventions,
    )
