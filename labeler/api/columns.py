"""Columns of result frames: means, and values by query, run after run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from labeler.evaluation import (
    MergedPartitions,
    Record,
    Scoreboard,
    residuals_by_query,
    why_no_value,
)
from labeler.measures import Bools, Floats, Ints, Measure

LEADING_COLUMNS = ("run", "measure", "value")
"""What a printed frame of means begins with."""


def mean_rows(records: Iterable[Record]) -> list[Record]:
    """Return the rows of `score_records` with what one reads first in front."""
    return [{**dict.fromkeys(LEADING_COLUMNS), **record} for record in records]


DIFFERENCE_COLUMNS = ("run_a", "run_b", "query_id", "measure", "a", "b", "delta", "lo", "hi", "p")
"""What a printed frame of differences begins with, where it has them."""


def difference_rows(records: Iterable[Record]) -> list[Record]:
    """Return rows that begin with what one reads first: the two values, the difference, its test.

    >>> difference_rows([{"measure": "RR", "full_name": "RR(rel=1)", "a": 0, "b": 1, "delta": 1}])
    [{'measure': 'RR', 'a': 0, 'b': 1, 'delta': 1, 'full_name': 'RR(rel=1)'}]
    """
    return [
        {**{name: row[name] for name in DIFFERENCE_COLUMNS if name in row}, **row}
        for row in records
    ]


def value_columns_by_query(board: Scoreboard, wanted: Iterable[Measure]) -> dict[str, Any]:
    """Return the values of a scoreboard's judged queries as columns."""
    measures, judged = board.resolve(wanted), np.flatnonzero(board.judged)
    return _value_columns(
        board.run_names,
        [board.collection.query_ids[query] for query in judged.tolist()],
        measures,
        np.array([board.values(measure)[judged] for measure in measures]),
        np.array([board.unjudged(measure)[judged] for measure in measures]),
        np.array([board.counted(measure)[judged] for measure in measures]),
        np.array([board.absent(run)[judged] for run in board.run_names]),
        {
            measure: residuals_by_query(board, measure)[judged]
            for measure in measures
            if measure.name == "RBP" and not measure.crosses
        },
    )


def value_columns_of_parts(whole: MergedPartitions) -> dict[str, Any]:
    """Return the columns of `value_columns_by_query` from merged partitions."""
    measures, judged = whole.shape.measures, np.flatnonzero(whole.judged)
    return _value_columns(
        whole.shape.runs,
        [whole.part.query_ids[query] for query in judged.tolist()],
        measures,
        np.array([whole.values(measure)[judged] for measure in measures]),
        np.array([whole.sheet.unjudged(measure)[judged] for measure in measures]),
        np.array([whole.sheet.defined(measure)[judged] for measure in measures]),
        whole.absent[judged].T,
        {measure: whole.residuals(measure)[judged] for measure in whole.shape.rbp},
    )


def _value_columns(
    runs: Sequence[str],
    queries: Sequence[str],
    measures: Sequence[Measure],
    values: Floats,
    unjudged: Ints,
    counted: Bools,
    missing: Bools,
    residuals: Mapping[Measure, Floats],
) -> dict[str, Any]:
    """Return the columns; ``values`` and ``unjudged`` are (measures, queries, runs)."""
    at = [place for place, measure in enumerate(measures) for _ in measure.names]
    size = len(runs) * len(queries)
    n = np.tile(counted[at].T.ravel(), len(runs))
    flat = values[at].transpose(2, 1, 0).ravel()
    measure_at = np.tile(np.array(at, dtype=np.int64), size)

    def repeated(texts: Iterable[str]) -> npt.NDArray[np.object_]:
        return np.tile(np.array(list(texts), object), size)

    columns = {
        "run": np.repeat(np.array(runs, object), len(queries) * len(at)),
        "query_id": np.tile(np.repeat(np.array(queries, object), len(at)), len(runs)),
        "measure": repeated(name for measure in measures for name in measure.names),
        "value": flat,
        "full_name": repeated(str(measures[place]) for place in at),
        "reason": _reasons(measures)[measure_at, np.isnan(flat) * (1 + n)],
        "n": n.astype(np.int64),
        "undefined": (~n).astype(np.int64),
        "unjudged": unjudged[at].transpose(2, 1, 0).ravel(),
        "missing": np.repeat(missing.ravel(), len(at)).astype(np.int64),
    }
    if residuals:
        none = np.full((len(queries), len(runs)), np.nan)
        by_name = [residuals.get(measures[place], none) for place in at]
        columns["residual"] = np.array(by_name).transpose(2, 1, 0).ravel()
    return columns


def _reasons(measures: Sequence[Measure]) -> npt.NDArray[np.object_]:
    """Return why a value is missing, (measures, 3).

    By column: None for a value that is there, the reason for a query that is not in the mean, and
    for one that is in it.
    """
    found = np.full((len(measures), 3), None, dtype=np.object_)
    for at, measure in enumerate(measures):
        found[at, 1:] = [why_no_value(True, each, measure) for each in (False, True)]
    return found
