"""Measures of runs, and one run against another, of plain data."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import cast

import numpy as np
import pandas as pd

from labeler.analysis import comparison
from labeler.api.columns import columns_of_board, columns_of_means
from labeler.api.cutting import Progress, are_cut, evaluate_cut
from labeler.api.given import GivenGrades, GivenRun, RunRule
from labeler.api.grounds import Measures, board_of, frame_of, rule_of, wanted_of
from labeler.api.parquet import Given
from labeler.api.plans import Plan
from labeler.errors import BadInput
from labeler.evaluation import (
    USUAL,
    Conventions,
    Record,
    Scoreboard,
    Undefined,
    residuals_by_place,
    score_records,
)
from labeler.formats import LIMITS, Limits, OnDuplicate, Order
from labeler.stats import Bands, with_bands


def evaluate(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    measures: Measures = USUAL,
    *,
    preset: str = "graded",
    rel: int = 1,
    budget: int = 5,
    per_query: bool = False,
    bands: bool = False,
    grade_map: Mapping[float, int] | None = None,
    negative_as_zero: bool = False,
    negative_as_ungraded: bool | None = None,
    undefined: Undefined | None = None,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
    limits: Limits = LIMITS,
    workers: int = 1,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Compute measures of runs: a row for each run and measure, or also for each query.

    ``qrels`` are ``{query: {chunk: grade}}``, a frame with the columns ``query_id, doc_id,
    relevance`` (or PyTerrier's ``qid, docno, label``), or the path of a file that ``labeler load
    golden`` reads. A run is ``{query: {chunk: score}}`` or ``{query: [chunk, ...]}``, best first, a
    frame with ``score`` in place of ``relevance``, or the path of a run.

    A file may hold any of the formats that ``labeler load`` knows, such as JSON by query. Where
    a chunk is only said to be right, as in ``{query: {chunk, ...}}``, its grade is 1.

    Grades are 0, 1, 2 or 3; ``grade_map={4: 3}`` reads other scales, ``negative_as_zero`` the -1
    of many TREC qrels as 0, and ``negative_as_ungraded`` as trec_eval does, which is the default
    under its preset: the chunk is in the pool, which infAP asks for, and ungraded. ``undefined`` is
    what a query counts for which nothing is relevant: 0, 1, or ``"nan"``, which leaves it out.

    With ``order="rank"`` the rank column of a file or of a frame orders a list. A chunk that stands
    twice in a query's list of a file is refused, or with ``on_duplicate="first"`` counts where it
    is better placed. ``limits`` says how much of a file is taken in, such as
    ``labeler.Limits(unpacked=4_000_000_000)``.

    Columns are ``run, measure, full_name, value, reason, n, undefined, holes, missing`` (and
    ``query_id``): ``measure`` is the name that was asked for, ``full_name`` says all of it. ``n``
    queries are in the mean, ``undefined`` ones were left out, ``holes`` chunks inside the top k
    nobody graded, and for ``missing`` queries the run has no list. ``value`` is NaN where there is
    none, as for a run without a result for any query that counts, and ``reason`` says why. With RBP
    comes ``residual``, which is how much ungraded chunks could add to it. ``frame.attrs`` has the
    ``"conventions"``, and as ``"notes"`` what was left out or could surprise, such as queries with
    tied scores, or for which a run has no list.

    Frames with many queries and Parquet files (``*.parquet``, or a folder of them) are evaluated
    some thousand queries at a time: what that takes does not grow with them. ``workers`` is how
    many processes do so, 0 for one a processor; a script that asks for several does its work under
    ``if __name__ == "__main__":``. ``progress`` is called with how many queries are done and how
    many there are. The numbers are the same to the bit.

    A query that nobody graded is in no mean; one that a run has no list for counts 0:

    >>> qrels = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 1}}
    >>> frame = evaluate(qrels, {"A": {"q1": ["c2", "c1"]}}, "RR nDCG@10")
    >>> frame[["measure", "full_name", "n"]].values.tolist()
    [['RR', 'RR(rel=1)', 2], ['nDCG@10', "nDCG(dcg='exp-log2')@10", 2]]
    >>> frame.value.round(4).tolist()
    [0.25, 0.3155]

    With ``bands`` come ``holes_lowest`` and ``holes_highest``, between which a mean is however its
    holes are graded (reached by one way of grading them where ``holes_exact``), and ``sampled_low``
    and ``sampled_high``, between which it is in 90 of 100 ways that are drawn as all runs given
    here make them likely; NaN for measures of what is graded. On 1,000 queries x 10 runs that takes
    about a second.

    >>> frame = evaluate(qrels, {"A": {"q1": ["new", "c1"]}}, "RR", bands=True)
    >>> frame[["value", "holes_lowest", "holes_highest"]].values.tolist()
    [[0.25, 0.25, 0.5]]

    Raises `BadInput` for an unknown measure, malformed data, if no run shares a query with the
    qrels, or for ``bands`` of single queries.
    """
    _check_bands(bands, per_query)
    conventions = Conventions.of(preset, rel=rel, budget=budget, undefined=undefined)
    rule = rule_of(conventions, grade_map, negative_as_zero, negative_as_ungraded)
    asked = workers != 1 or progress is not None
    if not bands and are_cut(qrels, runs, asked=asked):
        rules = (rule, RunRule(on_duplicate, order, limits))
        made = Plan.of(runs, wanted_of(conventions, measures), conventions, *rules)
        given = cast(Given, qrels), cast(Mapping[str, Given], runs)
        return evaluate_cut(made, *given, per_query, workers, progress)
    board = board_of(qrels, runs, conventions, rule, RunRule(on_duplicate, order, limits))
    wanted = wanted_of(conventions, measures)
    if per_query:
        return frame_of(columns_of_board(board, wanted), board, wanted)
    if not bands:
        return frame_of(columns_of_means(board, wanted), board, wanted)
    rows = score_records(board.table(wanted), residuals_by_place(board, wanted))
    return frame_of(with_bands(rows, Bands(board).means(board, wanted)), board, wanted)


def compare(
    qrels: GivenGrades,
    a: GivenRun | Mapping[str, GivenRun],
    b: GivenRun | None = None,
    measures: Measures = USUAL,
    *,
    preset: str = "graded",
    rel: int = 1,
    budget: int = 5,
    per_query: bool = False,
    bands: bool = False,
    grade_map: Mapping[float, int] | None = None,
    negative_as_zero: bool = False,
    negative_as_ungraded: bool | None = None,
    undefined: Undefined | None = None,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
    limits: Limits = LIMITS,
) -> pd.DataFrame:
    """Set run ``b`` against run ``a``: a row for each measure, or also for each query.

    Takes what `evaluate` takes. Columns are ``measure, full_name, a, b, delta`` (b minus a),
    ``reason, wins, ties, losses`` of B over the ``n`` queries, ``undefined, holes_a, holes_b,
    missing_a, missing_b``; the same per query, with ``query_id``, for every query that somebody
    graded. Without ``b``, ``a`` are two runs or more by name, ``{name: run}``: all pairs are
    compared, each run with those before it, and ``run_a, run_b`` come first.

    How sure a difference of means is stands beside it. ``lo`` and ``hi`` are the ends of its 95%
    ``interval`` (``BCa``, or ``percentile`` where that is not defined), ``p`` is that of a
    randomisation ``test`` (``exact`` or ``drawn``), ``p_holm`` that after Holm's correction over
    the ``family``, which is how many tests the frame has. ``detectable`` is the smallest true
    difference that so many queries show with 80% power at 5%, ``more_queries`` how many more it
    takes if the difference seen is the true one. All of it covers the choice of queries, not holes
    or graders. What cannot be said is NaN, and ``caution`` says why. Where the runs answered
    different queries, ``both_a`` and ``both_b`` are the means over the ``n_both`` that both did.

    With ``bands`` come the bands of holes as `evaluate` has them, of the difference, in which a
    chunk that both runs hold has one grade, and with ``_a`` and ``_b`` of the means.

    >>> frame = compare({"q": {"c": 1, "x": 0}}, {"q": ["x", "c"]}, {"q": ["c", "x"]}, "RR")
    >>> frame[["a", "b", "delta", "wins", "caution"]].values.tolist()
    [[0.5, 1.0, 0.5, 1, 'not tested: one query']]
    """
    _check_bands(bands, per_query)
    conventions = Conventions.of(preset, rel=rel, budget=budget, undefined=undefined)
    rule = rule_of(conventions, grade_map, negative_as_zero, negative_as_ungraded)
    runs = _named_runs(a, b)
    board = board_of(qrels, runs, conventions, rule, RunRule(on_duplicate, order, limits))
    wanted = wanted_of(conventions, measures)
    found = [comparison.compare(board, *pair, wanted) for pair in combinations(runs, 2)]
    if per_query:
        rows = [row for each in found for row in _judged_records(each)]
    else:
        tested = comparison.sureties_of_pairs([(each, each.deltas) for each in found])
        pairs = zip(found, tested, strict=True)
        rows = [row for each, by in pairs for row in _mean_records(board, each, by, banded=bands)]
    frame = frame_of(rows, board, wanted)
    return frame if b is None else frame.drop(columns=["run_a", "run_b"], errors="ignore")


def _check_bands(bands: bool, per_query: bool) -> None:
    if bands and per_query:
        raise BadInput("bands are of means: leave out per_query, or bands")


def _mean_records(
    board: Scoreboard, found: comparison.Comparison, tested: comparison.Sureties, *, banded: bool
) -> list[Record]:
    """Return the rows of a pair, with what its holes could make of them where that is asked for."""
    rows = comparison.delta_records(found, found.deltas, tested)
    if not banded:
        return rows
    bands, measures = Bands(board, (found.a, found.b)), found.measures
    return with_bands(rows, bands.means(board, measures), bands.deltas(board, measures))


def _named_runs(a: GivenRun | Mapping[str, GivenRun], b: GivenRun | None) -> Mapping[str, GivenRun]:
    """Return the runs to compare, which are called A and B where they have no names."""
    if b is not None:
        return {"A": cast(GivenRun, a), "B": b}
    if not isinstance(a, Mapping) or len(a) < 2:
        raise BadInput("without b, a must be {name: run} with at least two runs")
    return cast(Mapping[str, GivenRun], a)


def _judged_records(found: comparison.Comparison) -> list[Record]:
    judged = {found.query_ids[at] for at in np.flatnonzero(found.judged)}
    rows = comparison.query_delta_records(found)
    return [row for row in rows if row["query_id"] in judged]
