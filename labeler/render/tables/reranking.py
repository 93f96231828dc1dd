"""What a perfect reranker would make of runs, a row for each measure and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy

from labeler.analysis.comparison import Reranked
from labeler.evaluation import Conventions, number, signed
from labeler.measures import MEASURES
from labeler.render.tables.shared import SHEET, framed, head, run_name, small


def reranked_table(
    rows: Sequence[Reranked], short: Mapping[str, str], conventions: Conventions
) -> htpy.Fragment:
    """Return the means now, perfectly reranked and with everything retrieved.

    Runs are named, as in ``short``, where there is more than one.
    """
    several = len({row.run for row in rows}) > 1
    heads = [
        head("Measure", words=True),
        *([head("Run", words=True)] if several else []),
        head("Now", "mean"),
        head("Perfectly reranked", "gain"),
        head("Everything retrieved", "known relevant"),
        head("Left to recall", "of this top"),
        head("n", "in the mean"),
    ]
    body = [
        htpy.tr[
            htpy.th(".words", scope="row", title=MEASURES[row.measure.name].help)[
                conventions.heading(row.measure)
            ],
            htpy.td(".words")[run_name(row.run, short)] if several else None,
            htpy.td[number(row.now)],
            htpy.td(".lead")[number(row.reranked), small(signed(row.order))],
            htpy.td[number(row.complete)],
            htpy.td[number(row.recall)],
            htpy.td[f"{row.n:,}"],
        ]
        for row in rows
    ]
    return framed(SHEET, "sheet reranked", heads, body, label="A perfect reranker")
