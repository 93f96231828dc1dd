"""The domain on plain data: dicts, frames and files in, frames out; for notebooks and scripts.

Knows no database and no page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd

from labeler import comparison
from labeler.errors import BadInput
from labeler.evaluation import (
    Conventions,
    Scoreboard,
    collect,
    residuals_by_place,
    residuals_by_query,
    tie_notes,
)
from labeler.formats import GradeRule, OnDuplicate
from labeler.given import (
    GivenGrades,
    GivenRun,
    check_on_duplicate,
    grade_rule,
    grades_from,
    lists_from,
    named_in_python,
)
from labeler.measures import Measure
from labeler.model import check_id

Measures: TypeAlias = "str | Measure | Iterable[str | Measure]"

DEFAULT_MEASURES = "nDCG@10 R@10 P@5 Success@3 RR AP Judged@10"


def evaluate(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    measures: Measures = DEFAULT_MEASURES,
    *,
    preset: str = "graded",
    rel: int = 1,
    budget: int = 5,
    per_query: bool = False,
    grade_map: Mapping[float, int] | None = None,
    negative_as_zero: bool = False,
    on_duplicate: OnDuplicate = "refuse",
) -> pd.DataFrame:
    """Compute measures of runs: a row for each run and measure, or also for each query.

    ``qrels`` are ``{query: {chunk: grade}}``, a frame with the columns ``query_id, doc_id,
    relevance`` (or PyTerrier's ``qid, docno, label``), or the path of a file that ``labeler load
    golden`` reads. A run is ``{query: {chunk: score}}`` or ``{query: [chunk, ...]}``, best first, a
    frame with ``score`` in place of ``relevance``, or the path of a run.

    Grades are 0, 1, 2 or 3; ``grade_map={4: 3}`` reads other scales, ``negative_as_zero`` the -1
    of many TREC qrels. A chunk that stands twice in a query's list of a file is refused, or with
    ``on_duplicate="first"`` counts where it is better placed.

    Columns are ``run, measure, value, n, undefined, holes`` (and ``query_id``): ``n`` queries are
    in the mean, ``undefined`` ones were left out, ``holes`` chunks inside the top k nobody graded.
    ``value`` is NaN where it is undefined. With RBP comes ``residual``, which is how much ungraded
    chunks could add to it. ``frame.attrs`` has the ``"conventions"``, and as ``"notes"`` what was
    left out or could surprise, such as queries with tied scores, or for which a run has no list.

    A query that nobody graded is in no mean; one that a run has no list for counts 0:

    >>> qrels = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 1}}
    >>> frame = evaluate(qrels, {"A": {"q1": ["c2", "c1"]}}, "RR nDCG@10")
    >>> frame[["run", "measure", "n"]].values.tolist()
    [['A', 'RR(rel=1)', 2], ['A', "nDCG(dcg='exp-log2')@10", 2]]
    >>> frame.value.round(4).tolist()
    [0.25, 0.3155]

    Raises `BadInput` for an unknown measure, malformed data, or qrels and runs that share no query.
    """
    conventions = Conventions.of(preset, rel=rel, budget=budget)
    rule = grade_rule(grade_map, negative_as_zero)
    board = _board(qrels, runs, conventions, rule, on_duplicate)
    wanted = _wanted(conventions, measures)
    rows = _query_columns(board, wanted) if per_query else _mean_rows(board, wanted)
    return _frame(rows, board, wanted)


def compare(
    qrels: GivenGrades,
    a: GivenRun,
    b: GivenRun,
    measures: Measures = DEFAULT_MEASURES,
    *,
    preset: str = "graded",
    rel: int = 1,
    budget: int = 5,
    per_query: bool = False,
    grade_map: Mapping[float, int] | None = None,
    negative_as_zero: bool = False,
    on_duplicate: OnDuplicate = "refuse",
) -> pd.DataFrame:
    """Set run ``b`` against run ``a``: a row for each measure, or also for each query.

    Takes what `evaluate` takes. Columns are ``measure, a, b, delta`` (b minus a), ``wins, ties,
    losses`` of B over the ``n`` queries, ``undefined, holes_a, holes_b``; per query ``query_id,
    measure, a, b, delta, holes_a, holes_b``.

    >>> frame = compare({"q": {"c": 1, "x": 0}}, {"q": ["x", "c"]}, {"q": ["c", "x"]}, "RR")
    >>> frame[["a", "b", "delta", "wins"]].values.tolist()
    [[0.5, 1.0, 0.5, 1.0]]
    """
    conventions = Conventions.of(preset, rel=rel, budget=budget)
    rule = grade_rule(grade_map, negative_as_zero)
    board = _board(qrels, {"A": a, "B": b}, conventions, rule, on_duplicate)
    wanted = _wanted(conventions, measures)
    found = comparison.compare(board, "A", "B", wanted)
    left_out = ("facet", "bucket", "missing_a", "missing_b", "judged")
    rows: list[dict[str, Any]] = []
    if per_query:
        for measure in found.measures:
            rows += [row._asdict() for row in found.queries(measure) if row.judged]
    else:
        rows = [row._asdict() for row in found.deltas]
    kept = [{name: row[name] for name in row if name not in left_out} for row in rows]
    return _frame([{**row, "measure": str(row["measure"])} for row in kept], board, wanted)


def _mean_rows(board: Scoreboard, wanted: Sequence[Measure]) -> list[dict[str, Any]]:
    found = residuals_by_place(board, wanted)
    return [
        {
            "run": score.run,
            "measure": str(score.measure),
            "value": score.value,
            "n": score.n,
            "undefined": score.undefined,
            "holes": score.holes,
        }
        | ({"residual": found.get((score.run, score.measure, None), math.nan)} if found else {})
        for score in board.table(wanted)
    ]


def _query_columns(board: Scoreboard, wanted: Sequence[Measure]) -> dict[str, Any]:
    """Return the values of judged queries by column: run after run, query after query."""
    wanted = board.resolve(wanted)
    judged, runs = np.flatnonzero(board.judged), board.run_names
    queries = [board.collection.query_ids[query] for query in judged.tolist()]
    values = np.array([board.values(measure)[judged] for measure in wanted])
    holes = np.array([board.holes(measure)[judged] for measure in wanted])
    flat = values.transpose(2, 1, 0).ravel()
    columns = {
        "run": np.repeat(np.array(runs, object), len(queries) * len(wanted)),
        "query_id": np.tile(np.repeat(np.array(queries, object), len(wanted)), len(runs)),
        "measure": np.tile(np.array(list(map(str, wanted)), object), len(runs) * len(queries)),
        "value": flat,
        "n": (~np.isnan(flat)).astype(np.int64),
        "undefined": np.isnan(flat).astype(np.int64),
        "holes": holes.transpose(2, 1, 0).ravel(),
    }
    if any(measure.name == "RBP" for measure in wanted):
        open_values = [
            residuals_by_query(board, measure)[judged]
            if measure.name == "RBP"
            else np.full((len(queries), len(runs)), np.nan)
            for measure in wanted
        ]
        columns["residual"] = np.array(open_values).transpose(2, 1, 0).ravel()
    return columns


def _frame(
    rows: Sequence[Mapping[str, Any]] | dict[str, Any], board: Scoreboard, wanted: Sequence[Measure]
) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    frame.attrs["conventions"] = board.conventions.describe()
    frame.attrs["notes"] = [*board.notes(), *tie_notes(board, wanted)]
    return frame


def _wanted(conventions: Conventions, measures: Measures) -> tuple[Measure, ...]:
    """Read measures from texts, or from measures of this library or of ir_measures."""
    one = isinstance(measures, str | bytes) or not isinstance(measures, Iterable)
    given: Iterable[object] = [measures] if one else cast(Iterable[object], measures)
    wanted = conventions.measures(map(str, given))
    if not wanted:
        raise BadInput("no measure is named; one is written like nDCG@10")
    return wanted


def _board(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    conventions: Conventions,
    rule: GradeRule,
    on_duplicate: OnDuplicate,
) -> Scoreboard:
    if not isinstance(runs, Mapping) or not runs:
        raise BadInput("runs must be {name: run} with at least one run")
    check_on_duplicate(on_duplicate)
    with named_in_python():
        grades = grades_from(qrels, rule)
        if not grades:
            raise BadInput("there is no query in the qrels")
        lists = {
            check_id(name, "run"): lists_from(name, run, on_duplicate) for name, run in runs.items()
        }
    for name, found in lists.items():
        if not grades.keys() & found.keys():
            raise BadInput(
                f"run {name!r} and the qrels share no query (the qrels begin with "
                f"{next(iter(grades))!r}, the run with {next(iter(found), None)!r})"
            )
    return Scoreboard(collect(grades, lists), conventions)
