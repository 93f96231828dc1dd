"""What RBP leaves open: how much everything that nobody graded could add to its mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from labeler.evaluation.notes import Note
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Floats, Measure, rbp_residual


class Residual(NamedTuple):
    """A mean of RBP and its residual, over all queries or those of one bucket.

    Over the queries that are in the mean, RBP lies between ``value`` and ``highest`` however the
    rest is graded; both are NaN where no query is.
    """

    run: str
    measure: Measure
    facet: str | None
    bucket: str | None
    value: float
    residual: float

    @property
    def highest(self) -> float:
        """What the mean would be if everything that nobody graded were relevant."""
        return self.value + self.residual


def residual_means(
    board: Scoreboard, measures: Iterable[Measure], facet: str | None = None
) -> list[Residual]:
    """Return each RBP among ``measures`` with its residual, in the order of `Scoreboard.table`.

    Other measures have none. Raises `NotFound` for an unknown facet.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "x", "d"]}}
    >>> board = Scoreboard(collect({"q": {"c": 3, "d": 0}}, runs), Conventions.of())
    >>> [each] = residual_means(board, board.conventions.measures("RBP(p=0.5) AP"))
    >>> each.value, each.residual, each.highest
    (0.5, 0.375, 0.875)
    """
    board = board.snapshot()
    chosen = [measure for measure in board.resolve(measures) if _is_rbp(measure)]
    buckets, group = board.groups(facet)
    if not chosen:
        return []
    inside = {bucket: group == place for place, bucket in enumerate(buckets)}
    by_query = {measure: residuals_by_query(board, measure) for measure in chosen}
    return [
        Residual(
            *(row.run, row.measure, row.facet, row.bucket, row.value),
            _mean(by_query[row.measure][inside[row.bucket], board.column_of(row.run)]),
        )
        for row in board.table(chosen, facet)
    ]


def residuals_by_query(board: Scoreboard, measure: Measure) -> Floats:
    """Return the residuals of an RBP, (queries, runs), NaN where a query is not in the mean.

    What stands below the cut-off or below the end of a list is open, too, as Moffat and Zobel
    define it: of a query that a run has no list for everything is, and its residual is 1.
    """
    board = board.snapshot()
    return np.where(np.isnan(board.values(measure)), np.nan, left_open(board, measure))


def left_open(board: Scoreboard, measure: Measure) -> Floats:
    """Return the same whether a query is in the mean or not."""
    found = [
        rbp_residual(board.hits(run), board.cutoffs(measure), p=measure.parameters["p"])
        for run in board.run_names
    ]
    return np.array(found).reshape(len(board.run_names), -1).T


def residuals_by_place(
    board: Scoreboard,
    measures: Iterable[Measure],
    *,
    facet: str | None = None,
    per_query: bool = False,
) -> dict[tuple[str, Measure, str | None], float]:
    """Return the residual of each RBP among ``measures`` by run, measure and place.

    A place is None for all queries, the bucket where a ``facet`` is given, or the query's id.
    """
    if not per_query:
        means = residual_means(board, measures, facet)
        return {(each.run, each.measure, each.bucket): each.residual for each in means}
    board = board.snapshot()
    return {
        (run, measure, query_id): residual
        for measure in board.resolve(measures)
        if _is_rbp(measure)
        for query_id, row in zip(
            board.collection.query_ids, residuals_by_query(board, measure).tolist(), strict=True
        )
        for run, residual in zip(board.run_names, row, strict=True)
    }


def residual_notes(board: Scoreboard, measures: Iterable[Measure]) -> list[Note]:
    """Say for each RBP how much ungraded chunks could add to each run's mean."""
    said: dict[Measure, list[str]] = {}
    for each in residual_means(board, measures):
        if not math.isnan(each.residual):
            said.setdefault(each.measure, []).append(f"{each.residual:.4f} ({each.run})")
    return [
        Note(
            "residual",
            f"{board.conventions.heading(measure)}: ungraded chunks"
            f"{'' if measure.cutoff is None else ' and all below the cut-off'} could add up to "
            + ", ".join(runs),
            measure=measure,
        )
        for measure, runs in said.items()
    ]


def _is_rbp(measure: Measure) -> bool:
    return measure.name == "RBP" and not measure.crosses


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan
