"""``labeler recall``: recall of each run with and without the chunks that only its system found."""

from __future__ import annotations

from collections.abc import Sequence

import click

from labeler.cli.groups import database_option
from labeler.cli.options import (
    CONVENTION_OPTIONS,
    FORM_OPTIONS,
    CountingCommand,
    ValueOptions,
    check_shared_queries,
    golden_option,
    measures_option,
    select_runs,
    with_value_options,
)
from labeler.cli.output import RunLabels, print_records, print_result
from labeler.evaluation import (
    Conventions,
    OwnPoolComparison,
    Scoreboard,
    compare_own_pools,
    describe_tau,
    own_pool_notes,
    own_pool_table,
)
from labeler.model.results import ANSWER, DOUBT, Statement
from labeler.store import Store
from labeler.store.addresses import StoreLocation

DEFAULT_RECALL = ("R@prompt",)


@click.command(cls=CountingCommand)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@with_value_options(
    measures_option(DEFAULT_RECALL, "R or SetR. "), *CONVENTION_OPTIONS, *FORM_OPTIONS
)
@golden_option
@database_option
@click.pass_obj
def recall(db: StoreLocation, runs: tuple[str, ...], options: ValueOptions) -> None:
    """Say how much each run's recall owes to its own pool.

    Chunks are graded because some run returned them near the top, which favours that run. So
    recall is printed twice: as it is, and without the relevant chunks that only runs of the same
    system brought into the pool. Chunks that graders found by search count in both. All runs
    are considered, even if only some are named.
    """
    options.check()
    with Store(db) as store:
        collection, conventions, _ = options.read(store)
        by_hand = store.assignment.pairs_found_by_hand()
    measures = options.measures(conventions)
    shown = [run.name for run in select_runs(collection, runs).runs]
    check_shared_queries(collection)
    board = Scoreboard(collection, conventions)
    found = [each.of(shown) for each in compare_own_pools(board, measures, by_hand)]
    notes = [note for note in board.notes(measures) if note.is_about(*shown)]
    if options.for_programs:
        notes = [*own_pool_notes(found, conventions), *notes]
        records = own_pool_table(found).records()
        print_records(options.kind, records, conventions, notes, raw=options.raw)
        return
    labels = RunLabels(shown)
    said, table = pool_statements(found, conventions, labels), own_pool_table(found, conventions)
    print_result(options.kind, said, table, conventions, notes, labels)


def pool_statements(
    found: Sequence[OwnPoolComparison], conventions: Conventions, labels: RunLabels
) -> list[Statement]:
    """Say for each recall measure whether the best run stays best without its own pool."""
    said = []
    for each in found:
        heading = conventions.heading(each.measure)
        ranks = ((row.rank, row.run) for row in each.rows if row.rank is not None)
        without = ((row.rank_without, row.run) for row in each.rows if row.rank_without is not None)
        first, first_without = min(ranks, default=None), min(without, default=None)
        if len(each.rows) > 1 and first is not None and first_without is not None:
            best, other = labels[first[1]], labels[first_without[1]]
            sentence = f"{best} is best by {heading}, with and without its own pool."
            if best != other:
                sentence = f"{best} is best by {heading}, but without its own pool {other} is."
            said.append(Statement("own pool", sentence, ANSWER))
        tau = f"{describe_tau(each, conventions)}."
        said.append(Statement("order of runs", tau, DOUBT))
    return said
