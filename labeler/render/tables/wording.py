"""What runs do for keywords: means of each run and in each bucket, and where a keyword stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import htpy

from labeler.analysis.keywords import KeywordMean, KeywordPlace
from labeler.evaluation import number, signed
from labeler.render.tables.sheets import Cell, Said, sheet

NAMES = ("A", "B")


def keyword_means_table(
    names: Sequence[str], means: Sequence[KeywordMean], k: int
) -> htpy.Fragment:
    """Return RR, nDCG and coverage by keyword of each run, and by how much the second is above."""
    values = [(each.rr, each.ndcg, each.coverage) for each in means]
    rows: list[list[Cell]] = [
        [Said(name), *map(number, own), mean.n]
        for name, own, mean in zip(names, values, means, strict=True)
    ]
    if len(values) == len(NAMES):
        change = [signed(b - a) for a, b in zip(*values, strict=True)]
        rows.append([Said("B − A"), *change, None])
    return sheet(["", *_measures(k), "n"], rows)


def keyword_places_table(
    places: Sequence[KeywordPlace], a: str, b: str, link: Callable[[str], str] | None = None
) -> htpy.Fragment:
    """Return where keywords stand in A and in B; ``link`` leads to a query."""
    headings = ["Keyword", "Query", "rank in A", "rank in B", "chunks that hold it"]
    rows: list[list[Cell]] = [
        [
            Said(each.keyword),
            Said(each.query_id, link=link(each.query_id) if link else ""),
            *(each.ranks[a], each.ranks[b], each.chunks),
        ]
        for each in places
    ]
    return sheet(headings, rows)


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
    if runs == 1:
        return [facet, "n", *_measures(k)]
    return [facet, "n", *(f"{name} {side}" for name in _measures(k) for side in (*NAMES, "B − A"))]


def _measures(k: int) -> list[str]:
    return [f"RR@{k}", f"nDCG@{k}", f"coverage@{k}"]


def _row(name: str, of_runs: Sequence[KeywordMean]) -> list[Cell]:
    cells: list[Cell] = [Said(name), of_runs[0].n]
    for values in zip(*((each.rr, each.ndcg, each.coverage) for each in of_runs), strict=True):
        cells += map(number, values)
        if len(values) == len(NAMES):
            cells.append(signed(values[1] - values[0]))
    return cells
