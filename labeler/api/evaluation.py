"""Evaluation, comparison and trends of runs, from dicts, frames and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache, partial
from itertools import combinations
from typing import Unpack, cast

import numpy as np
import pandas as pd

from labeler.analysis import comparison, trend
from labeler.analysis.cautions import find_cautions
from labeler.analysis.run_verdict import judge_pair
from labeler.api.columns import (
    difference_rows,
    mean_rows,
    value_columns_by_query,
)
from labeler.api.inputs import (
    GivenGrades,
    GivenRun,
    Measures,
    build_board,
    parse_measures,
    prepare_inputs,
    read_inputs,
    result_frame,
)
from labeler.api.options import EvaluationOptions, EvaluationRules, with_options
from labeler.api.partwise import (
    EvaluationPlan,
    Progress,
    TableInput,
    evaluate_partwise,
    is_partwise,
)
from labeler.api.tables import split_systems
from labeler.errors import BadInput
from labeler.evaluation import (
    DEFAULT_MEASURES,
    Record,
    residuals_by_place,
    score_records,
)
from labeler.model import StoredRun
from labeler.stats import LiveRanges, mean_intervals, with_unjudged_ranges


@with_options(EvaluationOptions)
def evaluate(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    measures: Measures = DEFAULT_MEASURES,
    *,
    per_query: bool = False,
    bands: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
    **options: Unpack[EvaluationOptions],
) -> pd.DataFrame:
    """Compute measures of runs: a row for each run and measure, or also for each query.

    ``qrels`` are ``{query: {chunk: grade}}``, a frame with the columns ``query_id, doc_id,
    relevance`` (or PyTerrier's ``qid, docno, label``), or the path of a file that ``labeler load
    golden`` reads; of a log of judgments the golden grades count, several people's by their lower
    median. A run is ``{query: {chunk: score}}`` or ``{query: [chunk, ...]}``, best first, a frame
    with ``score`` in place of ``relevance``, or the path of a run. Files can have any format that
    ``labeler load`` reads, such as JSON by query. Chunks that are only listed as relevant, as in
    ``{query: {chunk, ...}}``, have grade 1. Lists of records, such as the ``Qrel`` and
    ``ScoredDoc`` of ir_measures, are frames, too; one frame with a column ``system`` in place of
    ``runs`` is a run of each system. Columns may have the names that they may have in files.

    ``metrics`` is another name of ``measures``.

    Grades are 0, 1, 2 or 3; ``grade_map={4: 3}`` reads other scales, ``grade_map={"relevant": 2}``
    words, and ``GradeCuts`` numbers on a continuous one. ``negative_as_zero`` reads the -1 of many
    TREC qrels as 0. ``negative_as_ungraded`` reads it as trec_eval does (the default under its
    preset): the chunk is unjudged, but in the pool, which infAP needs. ``undefined`` is the value
    of a query for which nothing is relevant: 0, 1, or ``"nan"``, which leaves it out.

    With ``order="rank"`` the rank column of a file or of a frame orders a list. A chunk that occurs
    twice in a query's list of a file is refused, or with ``on_duplicate="first"`` counts at its
    better rank. ``leave_out_self`` reads lists without the chunk that has their query's own id.
    ``limits`` says how much of a file may be read, such as
    ``labeler.Limits(unpacked=4_000_000_000)``.

    Columns are ``run, measure, value, full_name, reason, n, undefined, unjudged, missing`` (and
    ``query_id``): ``measure`` is the name as given, ``full_name`` has all parameters. ``n``
    queries are in the mean, ``undefined`` ones were left out, ``unjudged`` chunks of the top k have
    no grade, and ``missing`` queries have no list in the run. ``value`` is NaN if there is none, as
    for a run without a result for any query that counts, and ``reason`` says why. For RBP,
    ``residual`` is how much unjudged chunks could add to the value. ``frame.attrs`` has the
    ``"conventions"``, and as ``"notes"`` what was left out or could surprise, such as queries with
    tied scores, or without a list in a run. ``"cautions"`` are the ways in which the means mislead,
    the gravest first, such as few queries or relevant chunks below the prompt; frames by query and
    data that are evaluated in parts have none.

    Frames with many queries and Parquet files (``*.parquet``, or a folder of them) are evaluated
    some thousand queries at a time, so that memory does not grow with them, in ``workers``
    processes, 0 for one per processor; a script that uses several must call this under
    ``if __name__ == "__main__":``. ``progress`` is called with the number of queries done and the
    number of all. The values are bit-for-bit the same.

    An unjudged query is in no mean; one without a list in a run counts 0:

    >>> qrels = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 1}}
    >>> frame = evaluate(qrels, {"A": {"q1": ["c2", "c1"]}}, "RR nDCG@10")
    >>> frame[["measure", "full_name", "n"]].values.tolist()
    [['RR', 'RR(rel=1)', 2], ['nDCG@10', "nDCG(dcg='exp-log2')@10", 2]]
    >>> frame.value.round(4).tolist()
    [0.25, 0.3155]

    With ``bands``, ``possible_low`` and ``possible_high`` are the possible range of a mean however
    its unjudged chunks are graded (``possible_exact``: some grades reach both ends), and
    ``likely_low`` and ``likely_high`` its 90% range once graded, sampled with a model of all runs
    given here; NaN for measures without a range, such as Judged. On 1,000 queries x 10 runs that
    takes about a second.

    >>> frame = evaluate(qrels, {"A": {"q1": ["new", "c1"]}}, "RR", bands=True)
    >>> frame[["value", "possible_low", "possible_high"]].values.tolist()
    [[0.25, 0.25, 0.5]]

    Raises `BadInput` for an unknown measure, malformed data, runs that share no query with the
    qrels, or ``bands`` with ``per_query``.
    """
    _check_bands(bands, per_query)
    rules = EvaluationRules.of(**options)
    qrels, runs, said = prepare_inputs(qrels, runs, rules)
    forced = workers != 1 or progress is not None
    if not bands and is_partwise(qrels, runs, forced=forced):
        plan = EvaluationPlan.of(runs, measures, rules)
        frame = evaluate_partwise(plan, cast(TableInput, qrels), runs, per_query, workers, progress)
        frame.attrs["notes"] = [*said, *frame.attrs["notes"]]
        return frame
    board = build_board(qrels, runs, rules, said)
    wanted = parse_measures(rules.conventions, measures)
    if per_query:
        return result_frame(value_columns_by_query(board, wanted), board, wanted, said)
    rows = mean_rows(score_records(board.table(wanted), residuals_by_place(board, wanted)))
    if bands:
        rows = with_unjudged_ranges(rows, LiveRanges(board).means(board, wanted))
    frame = result_frame(rows, board, wanted, said)
    cautions = find_cautions(board, wanted, most=None)
    frame.attrs["cautions"] = [each.sentence for each in cautions]
    return frame


@with_options(EvaluationOptions)
def compare(
    qrels: GivenGrades,
    a: GivenRun | Mapping[str, GivenRun],
    b: GivenRun | None = None,
    measures: Measures = DEFAULT_MEASURES,
    *,
    decide_by: str = "nDCG@10",
    tested: str = "nDCG@10 R@5 RR",
    matters: float = 0.01,
    per_query: bool = False,
    bands: bool = False,
    **options: Unpack[EvaluationOptions],
) -> pd.DataFrame:
    """Compare run ``b`` with run ``a``: a row for each measure, or also for each query.

    Takes what `evaluate` takes. Columns are ``measure, a, b, delta`` (b minus a), its test (below),
    ``full_name, reason, wins, ties, losses`` of B over the ``n`` queries, ``undefined, unjudged_a,
    unjudged_b, missing_a, missing_b``; without the test, and with ``query_id``, the same for every
    judged query. Without ``b``, ``a`` is ``{name: run}`` with at least two runs: all pairs are
    compared, each run with those before it, and ``run_a, run_b`` are the first columns.

    Which run is better is said of one measure, ``decide_by``, which is tested alone. The measures
    ``tested`` are corrected for their number, and no others are tested, whichever are in the frame.
    ``frame.attrs["verdict"]`` is the answer in sentences; a difference below ``matters`` is called
    too small to matter. ``lo`` and ``hi`` are the ends of the confidence ``interval`` (``t`` or
    ``Tango``) at the ``level`` 0.95, or more where ``tests`` are corrected together. ``p`` is the
    p-value of a randomisation ``test`` (``exact`` or ``drawn``), ``p_corrected`` that after the
    correction; it is above 0.05 exactly where the interval includes 0. ``differ`` of the queries
    differ. ``detectable`` is the smallest true difference that so many queries show with 80% power
    at 5%, ``more_queries`` how many more are needed if the observed difference is the true one.
    All of these cover the choice of queries, not unjudged chunks or graders. Numbers that cannot be
    computed are NaN, and ``caution`` says why. If the runs answered different queries, ``both_a``
    and ``both_b`` are the means over the ``n_both`` that both did.

    With ``bands``, the ranges of `evaluate` are given for the difference and, with ``_a`` and
    ``_b``, for the means. A chunk that both runs return has the same grade in both.

    >>> frame = compare({"q": {"c": 1, "x": 0}}, {"q": ["x", "c"]}, {"q": ["c", "x"]}, "RR")
    >>> frame[["a", "b", "delta", "wins", "caution"]].values.tolist()
    [[0.5, 1.0, 0.5, 1, 'not tested: one query']]
    """
    _check_bands(bands, per_query)
    rules = EvaluationRules.of(**options)
    board, said = read_inputs(qrels, _named_runs(a, b), rules)
    wanted = parse_measures(rules.conventions, measures)
    found = [comparison.compare(board, *pair, wanted) for pair in combinations(board.run_names, 2)]
    if per_query:
        rows = [row for each in found for row in _query_records(each)]
    else:
        decision = comparison.DecisionRules(decide_by, tested, matters)
        ranges_of = cache(lambda a, b: LiveRanges(board, (a, b)))
        judge = partial(judge_pair, board, pairs=len(found), ranges_of=ranges_of)
        judged = [judge(each.a, each.b, decision) for each in found]
        pairs = zip(found, judged, strict=True)
        shown = [comparison.ShownPair(each, each.deltas, by.tests) for each, by in pairs]
        if bands:
            shown = [each.with_ranges(board, ranges_of) for each in shown]
        rows = comparison.comparison_table(shown).records()
    frame = result_frame(difference_rows(rows), board, wanted, said)
    if not per_query:
        frame.attrs["verdict"] = [line.line for each in judged for line in each.statements]
    return frame if b is None else frame.drop(columns=["run_a", "run_b"], errors="ignore")


def _check_bands(bands: bool, per_query: bool) -> None:
    if bands and per_query:
        raise BadInput("bands are of means: leave out per_query, or bands")


def _named_runs(a: GivenRun | Mapping[str, GivenRun], b: GivenRun | None) -> Mapping[str, GivenRun]:
    """Return the runs to compare, named A and B if they have no names."""
    if b is not None:
        return {"A": cast(GivenRun, a), "B": b}
    a = split_systems(a)
    if not isinstance(a, Mapping) or len(a) < 2:
        raise BadInput("without b, a must be {name: run} with at least two runs")
    return cast(Mapping[str, GivenRun], a)


def _query_records(found: comparison.Comparison) -> list[Record]:
    judged = {found.query_ids[at] for at in np.flatnonzero(found.judged)}
    rows = comparison.query_delta_records(found)
    return [row for row in rows if row["query_id"] in judged]


DEFAULT_SYSTEM = "system"
"""The system of runs for which none is given."""


@with_options(EvaluationOptions)
def trend_of(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    dates: Mapping[str, str | date],
    measures: Measures = DEFAULT_MEASURES,
    *,
    systems: Mapping[str, str] | None = None,
    window: str = "all runs",
    per_run: bool = False,
    **options: Unpack[EvaluationOptions],
) -> pd.DataFrame:
    """Return how systems changed from run to run, and what fell: a row for each system and measure.

    Takes what `evaluate` takes, and in ``dates`` when each run was made, as a date or a text such
    as "2026-01-31" or "2026-01-31T09:30:00Z"; a time without a zone is UTC. A run without a date is
    in no trend. ``systems`` is the system of each run; by default all are of one. All runs are
    scored by the same grades. ``window`` is how far to look back from a system's newest run: "30
    runs", "90 days".

    Columns are ``system, measure, full_name, runs, runs_with_value, current, mean, median, spread``
    (the standard deviation), ``lowest, highest`` with the run and the date of each, ``change`` of
    the straight line through the values, its ``direction`` by a randomisation test over queries
    with the p-value ``p`` and, after Holm's correction over all rows, ``p_holm``, and ``alert``,
    which names what fell by more than chance. With ``per_run`` there is a row for each run, with
    its ``value``, the ends ``lo`` and ``hi`` of the 95% confidence interval over the choice of
    queries, and the ``change`` since the run before. Numbers that cannot be computed are NaN.

    >>> runs = {"old": {"q": ["c", "x"]}, "new": {"q": ["x", "c"]}}
    >>> dates = {"new": "2026-02-28", "old": "2026-01-31"}
    >>> frame = trend_of({"q": {"c": 1}}, runs, dates, "RR", per_run=True)
    >>> frame[["run", "date", "value", "change"]].values.tolist()
    [['old', '2026-01-31', 1.0, nan], ['new', '2026-02-28', 0.5, -0.5]]
    """
    rules = EvaluationRules.of(**options)
    board, said = read_inputs(qrels, runs, rules)
    wanted = parse_measures(rules.conventions, measures)
    timeline = _timeline(board.run_names, dates, systems or {})
    back = trend.parse_window(window)
    dated = {system: back.of(timeline.of(system)) for system in timeline.systems}
    ends = mean_intervals(board, board.resolve(wanted)) if per_run else {}
    series = trend.build_series(board, dated, board.resolve(wanted), intervals=ends)
    scan = trend.scan_for_alerts(trend.QueryValues(board), series)
    table = (
        trend.points_table(series)
        if per_run
        else trend.summaries_table(trend.summarize_series(board, series), scan.alerts)
    )
    frame = result_frame(table.records(), board, wanted, said).drop(columns="threshold")
    frame.attrs["notes"] += [each.sentence for each in (*timeline.statements, scan.rule)]
    return frame


def _timeline(
    names: Sequence[str], dates: Mapping[str, str | date], systems: Mapping[str, str]
) -> trend.Timeline:
    """Return runs in order of date; raise `BadInput` for an unknown run, and if none has a date."""
    for name in (*dates, *systems):
        if name not in names:
            raise BadInput(f"no run is called {name!r}; there are: {', '.join(names)}")
    texts = {
        name: each if isinstance(each, str) else each.isoformat() for name, each in dates.items()
    }
    runs = [
        StoredRun(name, systems.get(name, DEFAULT_SYSTEM), texts.get(name), {}) for name in names
    ]
    found = trend.build_timeline(runs)
    if not found.systems:
        raise BadInput("no run has a date; dates must be {run: date}")
    return found
