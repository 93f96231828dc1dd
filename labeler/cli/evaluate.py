"""``labeler evaluate``: measures of run files by a qrels file, without a golden set.

Users of other tools type this first, so it starts fast: what few of its forms need is imported
late, and pandas and pyarrow only for Parquet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from labeler.analysis.cautions import MOST_CAUTIONS, caution_notes, find_cautions
from labeler.analysis.comparison import DecisionRules, describe_best_run
from labeler.api.inputs import QRELS, Warnings, read_board
from labeler.api.options import EvaluationRules
from labeler.cli.explain import explain_best_run, explain_by, explain_mean_intervals
from labeler.cli.file_options import grade_options, limit_option, list_options
from labeler.cli.groups import FILE
from labeler.cli.options import (
    FORM_OPTIONS,
    CountingCommand,
    OptionDecorator,
    ValueOptions,
    measures_option,
    preset_option,
    prompt_k_option,
    rel_option,
    requested_undefined,
    undefined_option,
    with_value_options,
)
from labeler.cli.output import (
    RunLabels,
    annotated,
    format_records,
    format_result,
    query_scores,
)
from labeler.errors import BadInput
from labeler.evaluation import (
    DEFAULT_MEASURES,
    Note,
    Scoreboard,
    find_tie_ranges,
    query_records,
    residual_notes,
    residuals_by_place,
    score_records,
    tie_notes,
)
from labeler.formats import guess
from labeler.measures import Measure
from labeler.model import Settings, check_id, escape_controls
from labeler.model.results import COUNT, NUMBER, RANGE, Column, Table
from labeler.stats import (
    LiveRanges,
    mean_intervals,
    with_intervals,
    with_unjudged_ranges,
)

RUN_ENDINGS = (".gz", ".trec", ".run", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".pq")
USUAL = Settings()
OPTIONS: tuple[OptionDecorator[Any], ...] = (
    measures_option(DEFAULT_MEASURES, "MRR, MAP, Recall@10 and other names are understood. "),
    preset_option,
    rel_option(USUAL.rel, more=""),
    prompt_k_option(USUAL.prompt_k, more=""),
    undefined_option,
    click.option("--per-query", is_flag=True, help="One value for each query."),
    click.option(
        "--compare",
        "pair",
        nargs=2,
        metavar="A B",
        help="Say which of these two runs is better, and how surely; name them as the table does.",
    ),
    *FORM_OPTIONS,
    grade_options,
    list_options,
    limit_option,
)


@click.command(cls=CountingCommand)
@click.argument("qrels", type=FILE)
@click.argument("paths", type=FILE, nargs=-1, required=True, metavar="RUN...")
@with_value_options(*OPTIONS)
def evaluate(
    qrels: Path,
    paths: tuple[Path, ...],
    options: ValueOptions,
    pair: tuple[str, str] | None,
    negative_as_ungraded: bool,
    **given: Any,
) -> None:
    """Measure run files by a qrels file; no golden set is needed.

    QRELS and each RUN can have any format that 'labeler load' takes. A run is named after its
    file; a table of several systems holds a run of each. Nothing is stored.
    """
    options.check()
    rules = EvaluationRules.of(
        preset=options.preset,
        rel=options.rel or USUAL.rel,
        prompt_k=options.prompt_k or USUAL.prompt_k,
        undefined=requested_undefined(),
        negative_as_ungraded=negative_as_ungraded or None,  # without the option, the preset decides
        **given,
    )
    measures = options.measures(rules.conventions)
    runs = name_runs(paths)
    board, notes = read_files(qrels, runs, rules)
    chosen = choose_pair(board.run_names, runs, pair)
    if chosen is not None:
        told = compare_text(board, chosen, measures, notes, options)
    elif options.per_query:
        told = query_text(board, measures, notes, options)
    else:
        told = mean_text(board, measures, notes, options)
    click.echo(told, nl=False)


def name_runs(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files by name: without endings, or as given if two would be the same.

    >>> [*name_runs([Path("runs/bm25.trec.gz"), Path("dense.jsonl")])]
    ['bm25', 'dense']
    >>> [*name_runs([Path("new/bm25.trec"), Path("old/bm25.trec")])]
    ['new/bm25.trec', 'old/bm25.trec']
    """
    names = [_name_of(path) for path in paths]
    shared = {name for name, count in Counter(names).items() if count > 1}
    found: dict[str, Path] = {}
    for name, path in zip(names, paths, strict=True):
        called = str(path) if name in shared else name
        if called in found:
            raise BadInput(f"{path}: is given twice; give each run once")
        try:
            found[check_id(called, "run")] = path
        except BadInput as error:
            raise BadInput(f"{path}: {error}; give the file another name") from error
    return found


def _name_of(path: Path) -> str:
    name = path.name
    while name.lower().endswith(RUN_ENDINGS) and name.rpartition(".")[0]:
        name = name.rpartition(".")[0]
    return name or str(path)


def choose_pair(
    names: Sequence[str], files: Mapping[str, Path], pair: tuple[str, str] | None
) -> tuple[str, str] | None:
    """Return the names of the runs to compare, which may be given as file names."""
    if pair is None:
        return None
    of_files = {str(path): name for name, path in files.items() if name in names}
    for given in pair:
        if given not in names and given not in of_files:
            there = ", ".join(map(escape_controls, names))
            raise BadInput(f"no run is called {given!r}; there are: {there}")
    a, b = (given if given in names else of_files[given] for given in pair)
    if a == b:
        raise BadInput(f"--compare takes two runs, and was given {a!r} twice")
    return a, b


def read_files(
    qrels: Path, runs: Mapping[str, Path], rules: EvaluationRules
) -> tuple[Scoreboard, list[Note]]:
    """Return the scoreboard of the files, and their readers' warnings."""
    warnings: Warnings = {}
    try:
        board = read_board(qrels, runs, rules, warnings, by_system=True)
    except BadInput as error:
        if not (str(error).startswith(f"{qrels}:") and qrels.is_file()):
            raise
        if guess(qrels).kind != "run":
            raise
        raise BadInput(f"{error}; it reads like a run: QRELS come first, then RUNs") from error
    of_qrels = [Note("file", warning, is_warning=True) for warning in warnings.get(QRELS, ())]
    return board, of_qrels + [
        Note("file", warning, (name,), is_warning=True)
        for name in board.run_names
        for warning in warnings.get(name, ())
    ]


_VALUE, _UNJUDGED = Column("value", "value", NUMBER), Column("unjudged", "unjudged", COUNT)
MEAN_COLUMNS = (
    *(Column("run", "run"), Column("measure", "measure"), _VALUE),
    Column("interval", "95% interval", RANGE, parts=("lo", "hi")),
    *(Column("n", "n", COUNT), _UNJUDGED),
)
QUERY_COLUMNS = (
    *(Column("run", "run"), Column("query_id", "query"), Column("measure", "measure")),
    *(_VALUE, _UNJUDGED),
)


def mean_text(
    board: Scoreboard, measures: Sequence[Measure], notes: list[Note], options: ValueOptions
) -> str:
    """Return the means of all runs, with 95% intervals."""
    ranges = find_tie_ranges(board, measures)
    notes += board.notes(measures)
    notes += tie_notes(ranges, board.conventions) + residual_notes(board, measures)
    most = None if options.for_programs else MOST_CAUTIONS
    notes += caution_notes(find_cautions(board, measures, most=most))
    intervals = mean_intervals(board, measures)
    scores = board.table(measures)
    if options.for_programs:
        records = score_records(scores, residuals_by_place(board, measures))
        records = with_unjudged_ranges(records, LiveRanges(board).means(board, measures))
        told = annotated(
            options.kind, with_intervals(records, intervals), board.conventions, notes, ranges
        )
        return format_records(options.kind, told, raw=options.raw)
    labels = RunLabels(board.run_names)
    best = describe_best_run(board, DecisionRules.of(USUAL), labels)
    rows = with_intervals(score_records(scores, conventions=board.conventions), intervals)
    notes += explain_by(explain_mean_intervals())
    notes += explain_by(explain_best_run(USUAL.decide_by) if best else [])
    table = Table(MEAN_COLUMNS, rows)
    return format_result(options.kind, best, table, board.conventions, notes, labels)


def query_text(
    board: Scoreboard, measures: Sequence[Measure], notes: list[Note], options: ValueOptions
) -> str:
    """Return the value of each query, run by run."""
    notes += board.notes(measures)
    scores = query_scores(board, measures)
    if options.for_programs:
        records = query_records(scores, residuals_by_place(board, measures, per_query=True))
        told = annotated(options.kind, records, board.conventions, notes)
        return format_records(options.kind, told, raw=options.raw)
    labels = RunLabels(board.run_names)
    best = describe_best_run(board, DecisionRules.of(USUAL), labels)
    table = Table(QUERY_COLUMNS, query_records(scores, conventions=board.conventions))
    notes += explain_by(explain_best_run(USUAL.decide_by) if best else [])
    return format_result(options.kind, best, table, board.conventions, notes, labels)


def compare_text(
    board: Scoreboard,
    pair: tuple[str, str],
    measures: Sequence[Measure],
    notes: list[Note],
    options: ValueOptions,
) -> str:
    """Return what `labeler compare` prints for two runs; ranges are computed from all runs."""
    from labeler.analysis.run_verdict import judge_pair
    from labeler.cli import compare as comparisons

    found, _ = comparisons.compare_each(board, pair, measures, None)
    ranges_of = cache(lambda a, b: LiveRanges(board, (a, b)))
    labels = RunLabels(pair)
    names = None if options.for_programs else labels.pair(*pair)
    rules = DecisionRules.of(USUAL)
    said = {pair: judge_pair(board, *pair, rules, names=names, ranges_of=ranges_of)}
    shown = [comparisons.show_pair(found[0], said[pair])]
    ranges = comparisons.tie_ranges(board, measures, options)
    notes += board.notes(measures)
    notes += [] if ranges is None else tie_notes(ranges, board.conventions)
    notes = [note for note in notes if note.is_about(*pair)]
    judged = comparisons.JudgedPairs(board, shown, said, ranges_of, labels, ranges)
    cautions = judged.cautions(measures, USUAL)
    return judged.as_text(options, cautions, notes)
