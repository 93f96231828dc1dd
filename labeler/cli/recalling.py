"""``labeler recall``: how much each run's recall owes to what its own system brought in."""

from __future__ import annotations

from collections.abc import Sequence

import click

from labeler.cli.golden import golden_option
from labeler.cli.group import CommandT, database_option
from labeler.cli.scoring import (
    CONVENTION_OPTIONS,
    FORM_OPTIONS,
    Decorator,
    check_asked,
    chosen,
    conventions_of,
    measures_of,
    measures_option,
    print_records,
    print_table,
    refuse_strangers,
    with_options,
)
from labeler.cli.tables import FOR_PROGRAMS, Table
from labeler.evaluation import (
    Conventions,
    OwnPool,
    OwnPools,
    Scoreboard,
    number,
    own_pool_notes,
    own_pool_records,
    own_pools,
)
from labeler.model import legible
from labeler.services.import_export import freezing
from labeler.store import Store
from labeler.store.addresses import Place

USUAL_RECALL = ("R@budget",)


def recall_options(command: CommandT) -> CommandT:
    """Add the options that say which recalls are asked for, and in which form."""
    options: tuple[Decorator[CommandT], ...] = (
        measures_option(USUAL_RECALL, "R or SetR. "),
        *CONVENTION_OPTIONS,
        *FORM_OPTIONS,
    )
    return with_options(command, options)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@recall_options
@golden_option
@database_option
@click.pass_obj
def recall(
    db: Place,
    runs: tuple[str, ...],
    texts: tuple[str, ...],
    preset: str,
    rel: int | None,
    budget: int | None,
    kind: str,
    raw: bool,
    golden: str | None,
) -> None:
    """Say how much each run's recall owes to its own pool.

    A chunk is graded because some run has it near its top. Here recall stands beside what it is if
    relevant chunks that only runs of the same system have within the pool depth count as not
    relevant; chunks that graders found by hand stay. All runs are asked, also where some are named.
    """
    check_asked(None, kind, per_query=False, raw=raw)
    with Store(db) as store:
        collection, settings = freezing.collection_of(store, golden)
        by_hand = store.pairs_found_by_hand()
    conventions = conventions_of(settings, preset, rel, budget).on(collection.golden)
    measures = measures_of(conventions, texts)
    shown = [run.name for run in chosen(collection, runs).runs]
    refuse_strangers(collection)
    board = Scoreboard(collection, conventions)
    found = [each.of(shown) for each in own_pools(board, measures, by_hand)]
    notes = own_pool_notes(found, conventions)
    notes += [note for note in board.notes(measures) if note.is_about(*shown)]
    if kind in FOR_PROGRAMS:
        print_records(kind, own_pool_records(found), None, conventions, notes, raw=raw)
        return
    print_table(table_of(found, conventions), conventions, notes, kind)


def table_of(found: Sequence[OwnPools], conventions: Conventions) -> Table:
    """Return a line for each run and recall."""
    names = ["run", "measure"]
    numbers = ["value", "rank", "n", "without", "rank", "n", "only this run", "only this system"]
    body = [
        [legible(row.run), conventions.heading(row.measure), *_numbers(row)]
        for each in found
        for row in each.rows
    ]
    return Table(names, numbers, body)


def _numbers(row: OwnPool) -> list[str]:
    return [
        number(row.value),
        _rank(row.rank),
        str(row.n),
        number(row.without),
        _rank(row.rank_without),
        str(row.n_without),
        str(row.only_run),
        str(row.only_system),
    ]


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
