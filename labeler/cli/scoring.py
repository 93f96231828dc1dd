"""``labeler score``: values for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain

import click

from labeler.analysis.comparison import FEW, reranked_notes
from labeler.cli.by_keyword import check_keywords, keyword_options, print_keywords
from labeler.cli.each_chunking import apart
from labeler.cli.golden import golden_option
from labeler.cli.group import CommandT, check_raw, database_option, format_option, raw_option
from labeler.cli.selecting import SELECTION_OPTIONS, chunking_option, selection
from labeler.cli.tables import FOR_PROGRAMS, Row, Table, as_page, described, wide, written
from labeler.cli.undefined import undefined_asked, undefined_option
from labeler.cli.weighting import traffic_asked, weighed, weighted_option
from labeler.errors import BadInput, NotFound
from labeler.evaluation import (
    PRESETS,
    USUAL,
    Conventions,
    Note,
    QueryScore,
    Record,
    Score,
    Scoreboard,
    TieRanges,
    query_records,
    residual_notes,
    residuals_by_place,
    score_records,
    tie_notes,
    tied_ranges,
    with_ties,
)
from labeler.measures import MEASURES, Measure
from labeler.model import Collection, Settings, Traffic, legible
from labeler.services.import_export import freezing
from labeler.stats import Bands, mean_intervals, with_bands, with_intervals
from labeler.store import Store
from labeler.store.addresses import Place

FORMATS = ("table", "csv", "json", "md")


Decorator = Callable[[CommandT], CommandT]

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


def measures_option(usual: Sequence[str], more: str = "") -> Decorator[CommandT]:
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


def with_options(command: CommandT, options: Sequence[Decorator[CommandT]]) -> CommandT:
    """Add options to a command, in their order."""
    return reduce(lambda inner, option: option(inner), options[::-1], command)


def asking_options(command: CommandT) -> CommandT:
    """Add the options that say which values are asked for, and in which form."""
    options: tuple[Decorator[CommandT], ...] = (
        measures_option(USUAL),
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
@asking_options
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
    db: Place,
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
    check_asked(facet, kind, per_query=per_query, raw=raw)
    if top is not None and (facet is not None or per_query):
        raise click.UsageError("--reranked is over all queries, without --by and --per-query")
    check_keywords(by_keyword, top, k, substring)
    with Store(db) as store:
        collection, settings = freezing.collection_of(store, golden)
        refused = {"per_query": per_query, "reranked": top, "keywords": by_keyword}
        traffic = traffic_asked(store, **refused)
    if by_keyword:
        asked = partial(print_keywords, db, chosen(collection, runs), facet, kind)
        asked(k=k, substring=substring, per_query=per_query, raw=raw)
        return
    conventions = conventions_of(settings, preset, rel, budget).on(collection.golden)
    asked_for = Asked(measures_of(conventions, texts), facet, kind, per_query, top, traffic)
    found = chosen(collection, runs)
    refuse_strangers(found)
    parts = [
        part_of(found, each, replace(asked_for, measures=some))
        for each, some in apart(found, conventions, asked_for.measures)
    ]
    if kind in FOR_PROGRAMS:
        told = written(kind, chain.from_iterable(part.rows(collection) for part in parts), raw=raw)
    else:
        told = "\n".join(part.text() for part in parts)
    click.echo(told, nl=False)


@dataclass(frozen=True)
class Asked:
    """What is to be said of the measures of some runs, and in which form."""

    measures: Sequence[Measure]
    facet: str | None
    kind: str
    per_query: bool
    top: int | None
    traffic: Traffic | None


@dataclass(frozen=True)
class Part:
    """Runs that are looked at together, and what there is to know of what is asked of them.

    Where it is known, ``ranges`` are what ties could make of the means.
    """

    board: Scoreboard
    asked: Asked
    notes: Sequence[Note]
    ranges: TieRanges | None

    def rows(self, whole: Collection) -> Iterator[Record]:
        """Return what programs get; ``whole`` has all runs there are."""
        board, asked = self.board, self.asked
        records = records_of(board, asked.measures, asked.facet, per_query=asked.per_query)
        if asked.traffic is not None:
            records = with_intervals(records, mean_intervals(board, asked.measures, asked.facet))
        elif not asked.per_query:
            # as on the page, all runs there are tell what ungraded chunks may be
            is_whole = whole.runs == board.collection.runs
            every_run = board if is_whole else Scoreboard(whole, board.conventions)
            bands = Bands(every_run, board.run_names).means(every_run, asked.measures, asked.facet)
            records = with_bands(records, bands)
        return told_of(asked.kind, records, self.ranges, board.conventions, self.notes)

    def text(self) -> str:
        """Return what people read."""
        board, asked = self.board, self.asked
        if asked.per_query:
            rows = query_rows(board, asked.measures)
        else:
            rows = mean_rows(board, asked.measures, asked.facet)
        table = wide(rows, board.conventions)
        return as_page(asked.kind, [table], board.conventions, self.notes)


def part_of(collection: Collection, conventions: Conventions, asked: Asked) -> Part:
    """Measure the runs of a collection by some conventions."""
    measures, facet, is_plain = asked.measures, asked.facet, asked.traffic is None
    board, unsaid = weighed(Scoreboard(collection, conventions), asked.traffic)
    check_facet(board, facet)
    notes = notes_on(board, measures, facet) + unsaid
    by_place = facet is not None or asked.per_query
    ranges = tied_ranges(board, measures) if is_plain and not by_place else None
    if ranges is not None:
        notes += tie_notes(ranges, board.conventions) + residual_notes(board, measures)
    if asked.top is not None:
        notes += reranked_notes(board, measures, asked.top)
    return Part(board, asked, notes, ranges)


def records_of(
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
    ranges: TieRanges | None,
    conventions: Conventions,
    notes: Sequence[Note],
    *,
    raw: bool,
) -> None:
    """Print rows for programs, with what ties could make of them where that is known."""
    told = told_of(kind, records, ranges, conventions, notes)
    click.echo(written(kind, told, raw=raw), nl=False)


def print_table(table: Table, conventions: Conventions, notes: Sequence[Note], kind: str) -> None:
    """Print a table for people, with what is to know under it."""
    click.echo(as_page(kind, [table], conventions, notes), nl=False)


def told_of(
    kind: str,
    records: list[Record],
    ranges: TieRanges | None,
    conventions: Conventions,
    notes: Sequence[Note],
) -> Iterator[Record]:
    """Return rows for programs with all that is to be said of each."""
    rows = records if ranges is None else with_ties(records, ranges)
    return described(kind, rows, conventions, notes)


def check_asked(facet: str | None, kind: str, *, per_query: bool, raw: bool) -> None:
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
        undefined=undefined_asked(),
        selected=selection(),
    )


def measures_of(conventions: Conventions, texts: Sequence[str]) -> tuple[Measure, ...]:
    """Read the measures asked for; there must be one."""
    measures = conventions.measures(texts)
    if not measures:
        raise BadInput(f"no measure is named; there are {', '.join(MEASURES)}")
    return measures


def refuse_strangers(collection: Collection) -> None:
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
    return notes if facet is None else [*notes, *_of_few(board, measures, facet)]


def _of_few(board: Scoreboard, measures: Iterable[Measure], facet: str) -> Iterator[Note]:
    """Say which buckets have so few queries that a difference between two runs may be chance."""
    n: dict[str | None, int] = {}
    for row in board.table(measures, facet):
        n[row.bucket] = max(n.get(row.bucket, 0), row.n)
    for bucket, queries in n.items():
        if 0 < queries < FEW:
            few = f"fewer than {FEW} queries (n {queries}): a difference may be chance"
            yield Note("few", f"{facet} = {bucket}: {few}", bucket=(facet, bucket))


def chosen(collection: Collection, names: Sequence[str]) -> Collection:
    """Return the collection with these runs only, in the order named; all without names."""
    known = {run.name: run for run in collection.runs}
    if not collection.query_ids:
        raise NotFound("there are no queries yet; add some with 'labeler load queries FILE'")
    if not known:
        raise NotFound("there are no runs yet; add one with 'labeler load run FILE'")
    for name in names:
        if name not in known:
            raise NotFound(
                f"no run is called {name!r}; there are: {', '.join(map(legible, known))}"
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
