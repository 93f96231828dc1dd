"""The domain on plain data: dicts, frames and files in, frames out; for notebooks and scripts.

Knows no database and no page.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from labeler import comparison
from labeler.errors import BadInput
from labeler.evaluation import Conventions, GivenList, Scoreboard, collect, residuals_by_place
from labeler.formats import GradeRule, OnDuplicate, read_golden, read_run
from labeler.measures import Measure
from labeler.model import GRADES, check_id

GivenGrades: TypeAlias = "Mapping[str, Mapping[str, int]] | pd.DataFrame | str | PathLike[str]"
GivenRun: TypeAlias = (
    "Mapping[str, Mapping[str, float] | Sequence[str]] | pd.DataFrame | str | PathLike[str]"
)
Measures: TypeAlias = "str | Iterable[str]"

DEFAULT_MEASURES = "nDCG@10 R@10 P@5 Success@3 RR AP Judged@10"
# ir_measures' names, then PyTerrier's
QUERY, CHUNK = ("query_id", "qid"), ("doc_id", "docno", "chunk_id")
GRADE, SCORE = ("relevance", "label", "grade"), ("score",)
MOST = sys.float_info.max
# Messages name the options of the command line; these are the same in Python.
IN_PYTHON = {
    r"--grade-map (\S+)=(\d)": r"grade_map={\1: \2}",
    "--negative-as-zero": "negative_as_zero=True",
    "--on-duplicate first": "on_duplicate='first'",
}


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
    chunks could add to it. The conventions are in ``frame.attrs["conventions"]``.

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
    rule = _rule(grade_map, negative_as_zero)
    board = _board(qrels, runs, conventions, rule, on_duplicate)
    wanted = _wanted(conventions, measures)
    rows = _query_rows(board, wanted) if per_query else _mean_rows(board, wanted)
    found = residuals_by_place(board, wanted, per_query=per_query)
    if found:
        for row in rows:
            row["residual"] = found.get((row["run"], row["measure"], row.get("query_id")), math.nan)
    return _frame(rows, conventions)


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
    rule = _rule(grade_map, negative_as_zero)
    board = _board(qrels, {"A": a, "B": b}, conventions, rule, on_duplicate)
    found = comparison.compare(board, "A", "B", _wanted(conventions, measures))
    left_out = ("facet", "bucket", "missing_a", "missing_b", "judged")
    rows: list[dict[str, Any]] = []
    if per_query:
        for measure in found.measures:
            rows += [row._asdict() for row in found.queries(measure) if row.judged]
    else:
        rows = [row._asdict() for row in found.deltas]
    kept = [{name: row[name] for name in row if name not in left_out} for row in rows]
    return _frame(kept, conventions)


def _mean_rows(board: Scoreboard, wanted: Sequence[Measure]) -> list[dict[str, Any]]:
    return [
        {
            "run": score.run,
            "measure": score.measure,
            "value": score.value,
            "n": score.n,
            "undefined": score.undefined,
            "holes": score.holes,
        }
        for score in board.table(wanted)
    ]


def _query_rows(board: Scoreboard, wanted: Sequence[Measure]) -> list[dict[str, Any]]:
    return [
        {
            "run": score.run,
            "query_id": score.query_id,
            "measure": score.measure,
            "value": score.value,
            "n": int(not math.isnan(score.value)),
            "undefined": int(math.isnan(score.value)),
            "holes": score.holes,
        }
        for name in board.run_names
        for score in board.per_query(name, wanted)
        if score.judged
    ]


def _frame(rows: Sequence[Mapping[str, Any]], conventions: Conventions) -> pd.DataFrame:
    frame = pd.DataFrame([{**row, "measure": str(row["measure"])} for row in rows])
    frame.attrs["conventions"] = conventions.describe()
    return frame


def _wanted(conventions: Conventions, measures: Measures) -> tuple[Measure, ...]:
    wanted = conventions.measures(measures)
    if not wanted:
        raise BadInput("no measure is named; one is written like nDCG@10")
    return wanted


def _rule(grade_map: Mapping[float, int] | None, negative_as_zero: bool) -> GradeRule:
    if grade_map is not None and not isinstance(grade_map, Mapping):
        raise BadInput("grade_map must be {number: grade}, such as {0.3: 1, 1.0: 3}")
    return GradeRule(negative_as_zero, grade_map or {})


def _board(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    conventions: Conventions,
    rule: GradeRule,
    on_duplicate: OnDuplicate,
) -> Scoreboard:
    if not isinstance(runs, Mapping) or not runs:
        raise BadInput("runs must be {name: run} with at least one run")
    with _in_python():
        grades = _grades(qrels, rule)
        if not grades:
            raise BadInput("there is no query in the qrels")
        lists = {
            check_id(name, "run"): _lists(name, run, on_duplicate) for name, run in runs.items()
        }
    for name, found in lists.items():
        if not grades.keys() & found.keys():
            raise BadInput(
                f"run {name!r} and the qrels share no query (the qrels begin with "
                f"{next(iter(grades))!r}, the run with {next(iter(found), None)!r})"
            )
    return Scoreboard(collect(grades, lists), conventions)


@contextmanager
def _in_python() -> Iterator[None]:
    """Let messages name options as they are written in Python."""
    try:
        yield
    except BadInput as error:
        text = str(error)
        for option, argument in IN_PYTHON.items():
            text = re.sub(option, argument, text)
        if text == str(error):
            raise
        raise BadInput(text) from error


def _grades(given: GivenGrades, rule: GradeRule) -> dict[str, dict[str, int]]:
    if isinstance(given, str | PathLike):
        read = read_golden(
            Path(given), negative_as_zero=rule.negative_as_zero, grade_map=rule.grade_map
        )
        return _gathered((each.query_id, each.chunk_id, each.grade) for each in read.grades.records)
    if isinstance(given, pd.DataFrame):
        given = _nested(given, "qrels", GRADE)
    elif not isinstance(given, Mapping):
        raise BadInput(f"qrels must be a dict, a frame or a path, not {type(given).__name__}")
    grades: dict[str, dict[str, int]] = {}
    for query_id, chunks in given.items():
        check_id(query_id, "query")
        if not isinstance(chunks, Mapping):
            raise BadInput(f"qrels of query {query_id!r} must be {{chunk: grade}}, not {chunks!r}")
        grades[query_id] = {
            chunk_id: _grade(query_id, chunk_id, grade, rule) for chunk_id, grade in chunks.items()
        }
    return grades


def _grade(query_id: str, chunk_id: str, value: Any, rule: GradeRule) -> int:
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise BadInput(f"grade must be 0, 1, 2 or 3, not {value!r}")
        if value in GRADES and not rule.grade_map:
            return int(value)  # the rule takes more than twice as long
        return rule.read(float(value))
    except BadInput as error:
        raise BadInput(f"qrels: chunk {chunk_id!r} for query {query_id!r}: {error}") from error


def _lists(name: str, given: GivenRun, on_duplicate: OnDuplicate) -> Mapping[str, GivenList]:
    if isinstance(given, str | PathLike):
        read = read_run(Path(given), on_duplicate=on_duplicate)
        return {each.query_id: each for each in read.records}
    if isinstance(given, pd.DataFrame):
        given = _nested(given, f"run {name!r}", SCORE)
    elif not isinstance(given, Mapping):
        raise BadInput(
            f"run {name!r} must be a dict, a frame or a path, not {type(given).__name__}"
        )
    for query_id, ranked in given.items():
        _check_list(f"run {name!r}, query {query_id!r}", ranked)
    return given


def _check_list(where: str, ranked: object) -> None:
    if isinstance(ranked, Mapping):
        scores = np.array(list(ranked.values()))
        if scores.dtype.kind not in "iuf" or not np.isfinite(scores).all():
            _check_scores(where, ranked)
    elif isinstance(ranked, str) or not isinstance(ranked, Sequence):
        raise BadInput(f"{where}: expected {{chunk: score}} or a list of chunks, best first")
    elif len(set(ranked)) < len(ranked):
        twice = next(chunk for chunk in ranked if list(ranked).count(chunk) > 1)
        raise BadInput(f"{where}: chunk {twice!r} stands there twice")


def _check_scores(where: str, scores: Mapping[str, Any]) -> None:
    for chunk_id, score in scores.items():
        is_number = isinstance(score, int | float | np.integer | np.floating)
        if isinstance(score, bool) or not is_number or not -MOST <= score <= MOST:
            raise BadInput(
                f"{where}: the score of chunk {chunk_id!r} is not a finite number: {score!r}"
            )


def _nested(frame: pd.DataFrame, what: str, value: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return a frame's rows as ``{query: {chunk: value}}``; raises `BadInput` for a repeat."""
    columns = [_column(frame, what, names) for names in (QUERY, CHUNK, value)]
    if frame[columns].isna().to_numpy().any():
        missing = next(name for name in columns if frame[name].isna().any())
        raise BadInput(f"{what}: column {missing!r} has a row without a value")
    repeated = frame.duplicated(columns[:2])
    if repeated.any():
        query_id, chunk_id = frame.loc[repeated, columns[:2]].iloc[0]
        raise BadInput(f"{what}: chunk {chunk_id!r} stands twice for query {query_id!r}")
    parts = (frame[name].tolist() for name in columns)
    return _gathered(zip(*parts, strict=True))


def _column(frame: pd.DataFrame, what: str, names: tuple[str, ...]) -> str:
    for name in names:
        if name in frame.columns:
            return name
    there = ", ".join(map(repr, frame.columns)) or "none"
    raise BadInput(f"{what}: there is no column {' or '.join(names)}; the columns are {there}")


def _gathered(rows: Iterable[tuple[Any, Any, Any]]) -> dict[str, dict[str, Any]]:
    gathered: dict[str, dict[str, Any]] = {}
    for query_id, chunk_id, value in rows:
        if not isinstance(query_id, str) or not isinstance(chunk_id, str):
            wrong = chunk_id if isinstance(query_id, str) else query_id
            raise BadInput(f"ids are text, not {wrong!r}; convert the column with .astype(str)")
        gathered.setdefault(query_id, {})[chunk_id] = value
    return gathered
