"""The Queries page: the list of queries, and the classes of failure by count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import htpy
import pandas as pd

from labeler.diagnosis import FailureClass, QueryRow
from labeler.evaluation import arrowed, number
from labeler.tables.shared import SHEET, framed, head

SIDE_WORDS = {"ranking": "ranking", "recall": "recall", "labels": "labels (cannot be told)"}


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
        frame["B − A"] = [arrowed(_known(row.delta)) for row in rows]
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


def failure_table(
    counts: Mapping[FailureClass, int], by_bucket: Mapping[str, Mapping[FailureClass, int]]
) -> htpy.Fragment:
    """Return the classes: count, share, meaning, lever, then a column a bucket."""
    total = sum(counts.values())
    what = htpy.th(".words", scope="col")["Class, what it means, ", htpy.em["what to try"]]
    heads = [what, *map(head, ("Failing queries", "Share", *by_bucket))]
    rows = [
        htpy.tr(class_={"few": not count})[
            _class_head(each),
            htpy.td(".lead")[str(count)],
            htpy.td[f"{count / total if total else 0:.0%}"],
            [htpy.td[str(inside[each])] for inside in by_bucket.values()],
        ]
        for each, count in counts.items()
    ]
    return framed(SHEET, "sheet failures", heads, rows)


def _class_head(each: FailureClass) -> htpy.Element:
    said = f"{SIDE_WORDS[each.side]}: {each.meaning} "
    return htpy.th(".words.wide", scope="row")[each.name, htpy.small[said, htpy.em[each.lever]]]
