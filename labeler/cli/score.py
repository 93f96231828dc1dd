"""``labeler score`` and ``labeler measures``: values of runs, and what each measure means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import click

from labeler.analysis.cautions import MOST_CAUTIONS, caution_notes, find_cautions
from labeler.analysis.comparison import DecisionRules, find_best_run, perfect_reranking_notes
from labeler.cli.explain import explain_best_run, explain_by
from labeler.cli.groups import database_option, format_option
from labeler.cli.options import (
    CONVENTION_OPTIONS,
    FORM_OPTIONS,
    PER_VALUE_OPTIONS,
    CountingCommand,
    ValueOptions,
    check_facet,
    check_shared_queries,
    golden_option,
    measures_option,
    requested_traffic,
    select_runs,
    weighted_option,
    with_options,
    with_value_options,
    with_weights,
)
from labeler.cli.output import (
    RunLabels,
    annotated,
    format_records,
    format_result,
    notes_on,
    print_rows,
    query_scores,
    wide_table,
)
from labeler.evaluation import (
    DEFAULT_MEASURES,
    Conventions,
    Note,
    QueryScore,
    Record,
    Score,
    Scoreboard,
    TieRangesByRun,
    find_tie_ranges,
    query_records,
    residual_notes,
    residuals_by_place,
    score_records,
    tie_notes,
)
from labeler.measures import MEASURES, Definition, Measure
from labeler.model import Collection, Settings, Traffic
from labeler.stats import LiveRanges, mean_intervals, with_intervals, with_unjudged_ranges
from labeler.store import Store
from labeler.store.addresses import StoreLocation

DEFAULT_DEPTH = 10
KEYWORD_OPTIONS = (
    click.option(
        "--keywords",
        "by_keyword",
        is_flag=True,
        help="Score without grades, by where the queries' keywords are found; with --per-query "
        "each keyword.",
    ),
    click.option(
        "--top",
        "k",
        type=click.IntRange(min=1),
        metavar="K",
        help=f"With --keywords: look at the first K chunks.  [default: {DEFAULT_DEPTH}]",
    ),
    click.option(
        "--substring", is_flag=True, help="With --keywords: find them inside longer words, too."
    ),
)


@click.command(cls=CountingCommand)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@with_value_options(
    measures_option(DEFAULT_MEASURES), *CONVENTION_OPTIONS, *PER_VALUE_OPTIONS, *FORM_OPTIONS
)
@click.option(
    "--reranked",
    "top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also print what a perfect reranker of the first N would give, over all queries.",
)
@with_options(*KEYWORD_OPTIONS)
@weighted_option
@golden_option
@database_option
@click.pass_obj
def score(
    db: StoreLocation,
    runs: tuple[str, ...],
    options: ValueOptions,
    top: int | None,
    by_keyword: bool,
    k: int | None,
    substring: bool,
) -> None:
    """Print the measures of all runs, or of those named."""
    options.check()
    if top is not None and (options.facet is not None or options.per_query):
        raise click.UsageError("--reranked is over all queries, without --by and --per-query")
    check_keyword_options(by_keyword, top, k, substring)
    with Store(db) as store:
        collection, conventions, settings = options.read(store)
        refused = {"per_query": options.per_query, "reranked": top, "keywords": by_keyword}
        traffic = requested_traffic(store, **refused)
    if by_keyword:
        from labeler.cli.keyword_scores import print_keywords  # here: only --keywords needs it

        some = select_runs(collection, runs)
        print_keywords(db, some, options, k=k or DEFAULT_DEPTH, substring=substring)
        return
    asked_for = ScoreRequest(options.measures(conventions), options, top, traffic, settings)
    found = select_runs(collection, runs)
    check_shared_queries(found)
    parts = [
        score_part(found, each, replace(asked_for, measures=some))
        for each, some in split_by_chunking(found, conventions, asked_for.measures)
    ]
    if options.for_programs:
        rows = chain.from_iterable(part.rows(collection) for part in parts)
        told = format_records(options.kind, rows, raw=options.raw)
    else:
        told = "\n".join(part.text() for part in parts)
    click.echo(told, nl=False)


def check_keyword_options(
    by_keyword: bool, top: int | None, k: int | None, substring: bool
) -> None:
    """Raise a usage error for options that do not go together."""
    if not by_keyword and (k is not None or substring):
        raise click.UsageError("--top and --substring go with --keywords")
    if by_keyword and top is not None:
        raise click.UsageError("--reranked is by grades; ask for it without --keywords")


@dataclass(frozen=True)
class ScoreRequest:
    """The measures to print for some runs, and the output format."""

    measures: Sequence[Measure]
    options: ValueOptions
    top: int | None
    traffic: Traffic | None
    settings: Settings


@dataclass(frozen=True)
class ScorePart:
    """Runs that are scored together, the request, and its notes.

    ``ranges`` are the means that other orders of tied scores could give, if known.
    """

    board: Scoreboard
    asked: ScoreRequest
    notes: Sequence[Note]
    ranges: TieRangesByRun | None

    def rows(self, whole: Collection) -> Iterator[Record]:
        """Yield rows for programs; ``whole`` has all runs."""
        board, asked, options = self.board, self.asked, self.asked.options
        records = value_records(board, asked.measures, options.facet, per_query=options.per_query)
        if asked.traffic is not None:
            records = with_intervals(records, mean_intervals(board, asked.measures, options.facet))
        elif not options.per_query:
            # as on the page, ranges over unjudged chunks are computed from all runs
            is_whole = whole.runs == board.collection.runs
            every_run = board if is_whole else Scoreboard(whole, board.conventions)
            bands = LiveRanges(every_run, board.run_names).means(
                every_run, asked.measures, options.facet
            )
            records = with_unjudged_ranges(records, bands)
        return annotated(options.kind, records, board.conventions, self.notes, self.ranges)

    def text(self) -> str:
        """Return the text for people."""
        board, asked = self.board, self.asked
        scores: Sequence[Score] | Sequence[QueryScore]
        if asked.options.per_query:
            scores = query_scores(board, asked.measures)
        else:
            scores = board.table(asked.measures, asked.options.facet)
        labels = RunLabels(board.run_names)
        table = wide_table(scores, board.conventions, labels)
        found = find_best_run(board, DecisionRules.of(asked.settings), labels)
        best = () if found is None else found.statements
        how = explain_by([] if found is None else explain_best_run(found.heading))
        notes = [*self.notes, *how]
        return format_result(asked.options.kind, best, table, board.conventions, notes, labels)


def score_part(collection: Collection, conventions: Conventions, asked: ScoreRequest) -> ScorePart:
    """Score the runs of a collection by these conventions."""
    measures, options, is_plain = asked.measures, asked.options, asked.traffic is None
    facet = options.facet
    board, unsaid = with_weights(Scoreboard(collection, conventions), asked.traffic)
    check_facet(board, facet)
    notes = notes_on(board, measures, facet) + unsaid
    by_place = facet is not None or options.per_query
    ranges = find_tie_ranges(board, measures) if is_plain and not by_place else None
    if ranges is not None:
        notes += tie_notes(ranges, board.conventions) + residual_notes(board, measures)
    if asked.top is not None:
        notes += perfect_reranking_notes(board, measures, asked.top)
    if not options.per_query:
        most = None if options.for_programs else MOST_CAUTIONS
        about = find_cautions(board, measures, facet=facet, settings=asked.settings, most=most)
        notes += caution_notes(about)
    return ScorePart(board, asked, notes, ranges)


def value_records(
    board: Scoreboard, measures: Sequence[Measure], facet: str | None, *, per_query: bool
) -> list[Record]:
    """Return the values in full precision for programs, with the residuals of RBP."""
    residuals = None
    if board.weights is None:
        residuals = residuals_by_place(board, measures, facet=facet, per_query=per_query)
    if not per_query:
        return score_records(board.table(measures, facet), residuals)
    return query_records(query_scores(board, measures), residuals)


def split_by_chunking(
    collection: Collection, conventions: Conventions, measures: Sequence[Measure]
) -> list[tuple[Conventions, list[Measure]]]:
    """Return conventions and measures for each chunking that has a run, in order.

    Measures that compare chunkings come first, for all chunkings at once. If there is only one
    chunking, or one was chosen, it gets all measures.
    """
    sides, of_runs = collection.sides, {run.chunking for run in collection.runs}
    if sides is None or conventions.selected.chunkings is not None:
        return [(conventions, list(measures))]
    names = [name for name in sides.names if name in of_runs]
    own = [measure for measure in measures if len(names) == 1 or not measure.crosses]
    parts: list[tuple[tuple[str, ...], list[Measure]]] = [((name,), own) for name in names]
    if len(names) > 1:
        parts.insert(0, ((*names,), [measure for measure in measures if measure.crosses]))
    return [
        (replace(conventions, selected=replace(conventions.selected, chunkings=chunkings)), some)
        for chunkings, some in parts
        if some
    ]


@click.command("measures")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@format_option(("table", "json"), "json is for programs.")
def explain_measures(names: Sequence[str], kind: str) -> None:
    """Say what each measure means and what it hides.

    NAME may be as in '--measures', such as nDCG@10 or MRR.
    """
    named = dict.fromkeys(measure.name for measure in Conventions.of().measures(names))
    found = [MEASURES[name] for name in named or MEASURES]
    if kind == "json":
        print_rows(kind, ({"measure": each.name, **measure_facts(each)} for each in found))
    else:
        for at, each in enumerate(found):
            facts = measure_facts(each).items()
            lines = [each.name, *(f"  {what:<8} {text}" for what, text in facts if text)]
            click.echo("\n".join([*([""] if at else []), *lines]))


_CONDENSES = " drops the chunks nobody graded from the list, before ranks are counted"


def measure_facts(definition: Definition) -> dict[str, str]:
    """Return the registry's facts on a measure; missing ones are ''."""
    return {
        "meaning": definition.meaning,
        "hides": definition.hides,
        "formula": definition.formula,
        "example": f"{definition.example} ({definition.takes})",
        "option": f"judged_only=True{_CONDENSES}" if definition.condenses else "",
        "usually": f"a mean {definition.bands}" if definition.bands else "",
        "also": ", ".join(definition.aliases),
        "values": "whole numbers from 0, not shares from 0 to 1" if definition.count else "",
        "terms": definition.depends,
    }
