"""Keyword means by bucket: a row a bucket, the runs side by side."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.evaluation import number, signed
from labeler.keywords import KeywordMean
from labeler.tables.sheets import Cell, Said, sheet

NAMES = ("A", "B")


def keyword_slices(
    means: Sequence[KeywordMean], totals: Sequence[KeywordMean], facet: str, k: int
) -> htpy.Fragment:
    """Return RR, nDCG and coverage by keyword in each bucket, of one run or of A and B.

    ``means`` are run after run; buckets without a query that has keywords are left out. The total
    stands at the foot.
    """
    buckets = list(dict.fromkeys(each.bucket for each in means))
    by_place = {(each.run, each.bucket): each for each in means}
    runs = [each.run for each in totals]
    rows = [
        _row(str(bucket), [by_place[run, bucket] for run in runs])
        for bucket in buckets
        if all((run, bucket) in by_place for run in runs)
    ]
    return sheet(_headings(facet, k, len(runs)), rows, _row("all of them", totals))


def _headings(facet: str, k: int, runs: int) -> list[str]:
    measures = [f"RR@{k}", f"nDCG@{k}", f"coverage@{k}"]
    if runs == 1:
        return [facet, "n", *measures]
    return [facet, "n", *(f"{name} {side}" for name in measures for side in (*NAMES, "B − A"))]


def _row(name: str, of_runs: Sequence[KeywordMean]) -> list[Cell]:
    cells: list[Cell] = [Said(name), of_runs[0].n]
    for values in zip(*((each.rr, each.ndcg, each.coverage) for each in of_runs), strict=True):
        cells += map(number, values)
        if len(values) == len(NAMES):
            cells.append(signed(values[1] - values[0]))
    return cells
