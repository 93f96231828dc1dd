"""``labeler score`` and ``labeler measures``: values of runs, and what each measure means.

The options and checks that other commands of numbers share are here, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain

import click

from labeler.analysis.comparison import FEW, perfect_reranking_notes
from labeler.cli.groups import CommandT, check_raw, database_option, format_option, raw_option
from labeler.cli.keyword_scores import check_keyword_options, keyword_options, print_keywords
from labeler.cli.options import (
    SELECTION_OPTIONS,
    chunking_option,
    golden_option,
    requested_traffic,
    requested_undefined,
    selection,
    undefined_option,
    weighted_option,
    with_weights,
)
from labeler.cli.output import (
    FOR_PROGRAMS,
    Row,
    Table,
    annotated,
    format_page,
    format_records,
    wide_table,
)
from labeler.errors import BadInput, NotFound
from labeler.evaluation import (
    DEFAULT_MEASURES,
    PRESETS,
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
    with_tie_ranges,
)
from labeler.measures import MEASURES, Definition, Measure
from labeler.model import Collection, Settings, Traffic, escape_controls
from labeler.services.import_export import snapshots
from labeler.stats import LiveRanges, mean_intervals, with_intervals, with_unjudged_ranges
from labeler.store import Store
from labeler.store.addresses import StoreLocation

FORMATS = ("table", "csv", "json", "md")


OptionDecorator = Callable[[CommandT], CommandT]

CONVENTION_OPTIONS = (
    click.option(
        "--preset",
        type=click.Choice(PRESETS),
        default="graded",
        show_default=True,
        help="The conventions: our own for graded relevance, or those of trec_eval.",
    ),
    click.option(
        "--rel",
        type=click.IntRange(1, 3),
        help="The lowest grade that counts as relevant.  [default: the golden set's setting]",
    ),
    click.option(
        "--budget",
        type=click.IntRange(min=1),
        help="What @budget stands for, whatever the task.  [default: the golden set's setting]",
    ),
    undefined_option,
    *SELECTION_OPTIONS,
    chunking_option,
)
FORM_OPTIONS = (
    format_option(
        FORMATS,
        "table and md are for people and have four digits; csv and json have all of them.",
    ),
    raw_option,
)


def measures_option(usual: Sequence[str], more: str = "") -> OptionDecorator[CommandT]:
    """Let the user name measures; without, they are the ``usual`` ones. ``more`` may be said."""
    return click.option(
        "--measures",
        "texts",
        multiple=True,
        default=usual,
        metavar="NAMES",
        help=f"Measures, set apart by spaces; may be repeated. {more}'labeler measures' explains "
        f"them.  [default: {' '.join(usual)}]",
    )


def with_options(command: CommandT, options: Sequence[OptionDecorator[CommandT]]) -> CommandT:
    """Add options to a command, in their order."""
    return reduce(lambda inner, option: option(inner), options[::-1], command)


def value_options(command: CommandT) -> CommandT:
    """Add the options that say which values are asked for, and in which form."""
    options: tuple[OptionDecorator[CommandT], ...] = (
        measures_option(DEFAULT_MEASURES),
        *CONVENTION_OPTIONS,
        click.option(
            "--by", "facet", metavar="FACET", help="One value for each bucket of this facet."
        ),
        click.option("--per-query", is_flag=True, help="One value for each query."),
        *FORM_OPTIONS,
    )
    return with_options(command, options)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@value_options
@click.option(
    "--reranked",
    "top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Say as well what a perfect reranker of the N first would give, over all queries.",
)
@keyword_options
@weighted_option
@golden_option
@database_option
@click.pass_obj
def score(
    db: StoreLocation,
    runs: tuple[str, ...],
    texts: tuple[str, ...],
    preset: str,
    rel: int | None,
    budget: int | None,
    facet: str | None,
    per_query: bool,
    kind: str,
    raw: bool,
    top: int | None,
    by_keyword: bool,
    k: int | None,
    substring: bool,
    golden: str | None,
) -> None:
    """Print the measures of all runs, or of those named."""
    check_common_options(facet, kind, per_query=per_query, raw=raw)
    if top is not None and (facet is not None or per_query):
        raise click.UsageError("--reranked is over all queries, without --by and --per-query")
    check_keyword_options(by_keyword, top, k, substring)
    with Store(db) as store:
        collection, settings = snapshots.collection_of(store, golden)
        refused = {"per_query": per_query, "reranked": top, "keywords": by_keyword}
        traffic = requested_traffic(store, **refused)
    if by_keyword:
        asked = partial(print_keywords, db, select_runs(collection, runs), facet, kind)
        asked(k=k, substring=substring, per_query=per_query, raw=raw)
        return
    conventions = conventions_of(settings, preset, rel, budget).on(collection.golden)
    asked_for = ScoreRequest(
        parse_measures(conventions, texts), facet, kind, per_query, top, traffic
    )
    found = select_runs(collection, runs)
    check_shared_queries(found)
    parts = [
        score_part(found, each, replace(asked_for, measures=some))
        for each, some in split_by_chunking(found, conventions, asked_for.measures)
    ]
    if kind in FOR_PROGRAMS:
        told = format_records(
            kind, chain.from_iterable(part.rows(collection) for part in parts), raw=raw
        )
    else:
        told = "\n".join(part.text() for part in parts)
    click.echo(told, nl=False)


@dataclass(frozen=True)
class ScoreRequest:
    """What is to be said of the measures of some runs, and in which form."""

    measures: Sequence[Measure]
    facet: str | None
    kind: str
    per_query: bool
    top: int | None
    traffic: Traffic | None


@dataclass(frozen=True)
class ScorePart:
    """Runs that are looked at together, and what there is to know of what is asked of them.

    Where it is known, ``ranges`` are what ties could make of the means.
    """

    board: Scoreboard
    asked: ScoreRequest
    notes: Sequence[Note]
    ranges: TieRangesByRun | None

    def rows(self, whole: Collection) -> Iterator[Record]:
        """Return what programs get; ``whole`` has all runs there are."""
        board, asked = self.board, self.asked
        records = value_records(board, asked.measures, asked.facet, per_query=asked.per_query)
        if asked.traffic is not None:
            records = with_intervals(records, mean_intervals(board, asked.measures, asked.facet))
        elif not asked.per_query:
            # as on the page, all runs there are tell what ungraded chunks may be
            is_whole = whole.runs == board.collection.runs
            every_run = board if is_whole else Scoreboard(whole, board.conventions)
            bands = LiveRanges(every_run, board.run_names).means(
                every_run, asked.measures, asked.facet
            )
            records = with_unjudged_ranges(records, bands)
        return annotated_records(asked.kind, records, self.ranges, board.conventions, self.notes)

    def text(self) -> str:
        """Return what people read."""
        board, asked = self.board, self.asked
        if asked.per_query:
            rows = query_rows(board, asked.measures)
        else:
            rows = mean_rows(board, asked.measures, asked.facet)
        table = wide_table(rows, board.conventions)
        return format_page(asked.kind, [table], board.conventions, self.notes)


def score_part(collection: Collection, conventions: Conventions, asked: ScoreRequest) -> ScorePart:
    """Measure the runs of a collection by some conventions."""
    measures, facet, is_plain = asked.measures, asked.facet, asked.traffic is None
    board, unsaid = with_weights(Scoreboard(collection, conventions), asked.traffic)
    check_facet(board, facet)
    notes = notes_on(board, measures, facet) + unsaid
    by_place = facet is not None or asked.per_query
    ranges = find_tie_ranges(board, measures) if is_plain and not by_place else None
    if ranges is not None:
        notes += tie_notes(ranges, board.conventions) + residual_notes(board, measures)
    if asked.top is not None:
        notes += perfect_reranking_notes(board, measures, asked.top)
    return ScorePart(board, asked, notes, ranges)


def value_records(
    board: Scoreboard, measures: Sequence[Measure], facet: str | None, *, per_query: bool
) -> list[Record]:
    """Return what programs get: the same values in every digit, with the residuals of RBP."""
    residuals = None
    if board.weights is None:
        residuals = residuals_by_place(board, measures, facet=facet, per_query=per_query)
    if not per_query:
        return score_records(board.table(measures, facet), residuals)
    scores = [score for run in board.run_names for score in board.per_query(run, measures)]
    return query_records(scores, residuals)


def print_records(
    kind: str,
    records: list[Record],
    ranges: TieRangesByRun | None,
    conventions: Conventions,
    notes: Sequence[Note],
    *,
    raw: bool,
) -> None:
    """Print rows for programs, with what ties could make of them where that is known."""
    told = annotated_records(kind, records, ranges, conventions, notes)
    click.echo(format_records(kind, told, raw=raw), nl=False)


def print_table(table: Table, conventions: Conventions, notes: Sequence[Note], kind: str) -> None:
    """Print a table for people, with what is to know under it."""
    click.echo(format_page(kind, [table], conventions, notes), nl=False)


def annotated_records(
    kind: str,
    records: list[Record],
    ranges: TieRangesByRun | None,
    conventions: Conventions,
    notes: Sequence[Note],
) -> Iterator[Record]:
    """Return rows for programs with all that is to be said of each."""
    rows = records if ranges is None else with_tie_ranges(records, ranges)
    return annotated(kind, rows, conventions, notes)


def check_common_options(facet: str | None, kind: str, *, per_query: bool, raw: bool) -> None:
    """Raise a usage error for options that cannot be asked for together."""
    if facet is not None and per_query:
        raise click.UsageError("--by and --per-query cannot be asked for together")
    check_raw(kind, raw=raw)


def check_facet(board: Scoreboard, facet: str | None) -> None:
    """Raise `NotFound` for a facet that none of the queries that are looked at has a bucket of."""
    if facet is not None and board.facets.get(facet) == ():
        raise NotFound(f"none of the queries that are chosen has a bucket of {facet!r}")


def conventions_of(
    settings: Settings, preset: str, rel: int | None, budget: int | None
) -> Conventions:
    """Return a preset's conventions; what was not asked for comes from the settings."""
    return Conventions.of(
        preset,
        rel=settings.rel if rel is None else rel,
        budget=settings.budget if budget is None else budget,
        budget_by_task=settings.budget_by_task if budget is None else {},
        pool_depth=settings.pool_depth,
        golden_rule=settings.golden_rule,
        carried=settings.carried,
        undefined=requested_undefined(),
        selected=selection(),
    )


def parse_measures(conventions: Conventions, texts: Sequence[str]) -> tuple[Measure, ...]:
    """Read the measures asked for; there must be one."""
    measures = conventions.measures(texts)
    if not measures:
        raise BadInput(f"no measure is named; there are {', '.join(MEASURES)}")
    return measures


def check_shared_queries(collection: Collection) -> None:
    """Raise `BadInput` where no run shares a query with the golden set."""
    if not any(run.lists for run in collection.runs):
        names = ", ".join(repr(run.name) for run in collection.runs)
        raise BadInput(
            f"no query of the golden set is in {names}; are the query ids the same in the golden "
            "set and in the run?"
        )


def notes_on(board: Scoreboard, measures: Iterable[Measure], facet: str | None) -> list[Note]:
    """Say what was left out or could surprise, also by the choice of a facet."""
    notes = [*board.notes(measures)]
    if facet is not None and (lost := board.unbucketed(facet)):
        sentence = f"judged queries in no bucket of {facet!r}, so in no row: {lost}"
        notes.append(Note("no bucket", sentence))
    return notes if facet is None else [*notes, *_few_query_notes(board, measures, facet)]


def _few_query_notes(board: Scoreboard, measures: Iterable[Measure], facet: str) -> Iterator[Note]:
    """Say which buckets have so few queries that a difference between two runs may be chance."""
    n: dict[str | None, int] = {}
    for row in board.table(measures, facet):
        n[row.bucket] = max(n.get(row.bucket, 0), row.n)
    for bucket, queries in n.items():
        if 0 < queries < FEW:
            few = f"fewer than {FEW} queries (n {queries}): a difference may be chance"
            yield Note("few", f"{facet} = {bucket}: {few}", bucket=(facet, bucket))


def select_runs(collection: Collection, names: Sequence[str]) -> Collection:
    """Return the collection with these runs only, in the order named; all without names."""
    known = {run.name: run for run in collection.runs}
    if not collection.query_ids:
        raise NotFound("there are no queries yet; add some with 'labeler load queries FILE'")
    if not known:
        raise NotFound("there are no runs yet; add one with 'labeler load run FILE'")
    for name in names:
        if name not in known:
            raise NotFound(
                f"no run is called {name!r}; there are: {', '.join(map(escape_controls, known))}"
            )
    wanted = dict.fromkeys(names or known)
    return replace(collection, runs=tuple(known[name] for name in wanted))


def mean_rows(board: Scoreboard, measures: Iterable[Measure], facet: str | None) -> list[Row]:
    """Return the means over all queries, or over those of each bucket."""
    return [_mean_row(score) for score in board.table(measures, facet)]


def _mean_row(score: Score) -> Row:
    return Row(
        run=score.run,
        measure=score.measure,
        value=score.value,
        n=score.n,
        holes=score.holes,
        facet=score.facet,
        bucket=score.bucket,
        carried=score.carried,
    )


def query_rows(board: Scoreboard, measures: Sequence[Measure]) -> list[Row]:
    """Return the values of every query, one run after the other."""
    return [_query_row(s) for run in board.run_names for s in board.per_query(run, measures)]


def _query_row(score: QueryScore) -> Row:
    return Row(
        run=score.run,
        measure=score.measure,
        value=score.value,
        n=int(not math.isnan(score.value)),
        holes=score.holes,
        query_id=score.query_id,
        carried=score.carried,
    )


def split_by_chunking(
    collection: Collection, conventions: Conventions, measures: Sequence[Measure]
) -> list[tuple[Conventions, list[Measure]]]:
    """Return conventions for each chunking that has a run, in order, with what it is measured by.

    Measures that compare between chunkings come first, for all of these at once. Where there is one
    chunking, or one was chosen, all measures are of it.
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
def explain_measures() -> None:
    """Say what each measure means and what it hides."""
    click.echo("\n\n".join(describe_measure(definition) for definition in MEASURES.values()))


_CONDENSES = " drops the chunks nobody graded from the list, before ranks are counted"


def describe_measure(definition: Definition) -> str:
    """Return what the registry says of a measure, as text."""
    rows = {
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
    lines = [f"  {what:<8} {text}" for what, text in rows.items() if text]
    return "\n".join([definition.name, *lines])
