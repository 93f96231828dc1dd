"""``labeler answers``: retrieval compared with answers, with Wilson intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import AnswerOutcome, TwoByTwo
from labeler.cli.groups import database_option
from labeler.cli.options import (
    CONVENTION_OPTIONS,
    FORM_OPTIONS,
    CountingCommand,
    ValueOptions,
    golden_option,
    select_runs,
    with_value_options,
)
from labeler.cli.output import RunLabels, print_records, print_result
from labeler.errors import NotFound
from labeler.evaluation import Note, Scoreboard
from labeler.model import escape_controls
from labeler.model.results import ANSWER, DOUBT, Column, Statement, Table
from labeler.render.text import NOTHING
from labeler.store import Store
from labeler.store.addresses import StoreLocation

SHARES_NOTE = Note(
    "shares", "shares are of the queries in the four cells, with Wilson's 95% interval"
)


@dataclass(frozen=True)
class RunAnswers:
    """A run, which of its answers are right, and the outcome of each query."""

    run: str
    right: Mapping[str, bool]
    became: Mapping[str, AnswerOutcome]

    def table(self, query_ids: Sequence[str]) -> TwoByTwo:
        """Return the two-by-two of these queries."""
        inside = ((name, self.became[name]) for name in query_ids)
        return diagnosis.count_two_by_two(inside, self.right, self.became)


@click.command(cls=CountingCommand)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@with_value_options(
    *CONVENTION_OPTIONS,
    click.option("--by", "facet", metavar="FACET", help="Count each bucket of this facet."),
    click.option("--per-query", is_flag=True, help="Print the outcome of each query."),
    *FORM_OPTIONS,
)
@golden_option
@database_option
@click.pass_obj
def answers(db: StoreLocation, runs: tuple[str, ...], options: ValueOptions) -> None:
    """Compare answers with what was retrieved for them.

    What a query needs is in the prompt or not, and its answer is right or wrong: found but
    wrong is a problem of generation, not found one of retrieval. A query is counted apart if an
    unjudged chunk could be what it needs. 'labeler load answers' loads answers.
    """
    options.check()
    with Store(db) as store:
        collection, conventions, _ = options.read(store)
        right = {run: store.answers.right(run) for run in store.answers.runs()}
    board = Scoreboard(select_runs(collection, runs), conventions)
    named = [run for run in board.run_names if run in right]
    check_has_answers(runs, named, right)
    found = [
        RunAnswers(run, right[run], diagnosis.find_outcomes(board, run, right[run]))
        for run in named
    ]
    where = diagnosis.describe_rule(board, diagnosis.UsefulInPrompt())
    notes = [Note("found", f"not found: {where}"), SHARES_NOTE]
    print_answers(board, found, notes, options)


def check_has_answers(
    asked: Sequence[str], named: Sequence[str], right: Mapping[str, object]
) -> None:
    """Raise `NotFound` if a requested run has no answers, or no run has any."""
    there = ", ".join(map(escape_controls, right)) or "none yet"
    load = "'labeler load answers FILE --run RUN' loads some"
    for run in asked:
        if run not in right:
            raise NotFound(f"run {run!r} has no answers; runs that have some: {there}; {load}")
    if not named:
        raise NotFound(f"no run has answers; {load}")


def _outcome_notes(found: Sequence[RunAnswers]) -> list[Note]:
    """Explain the outcomes that occur."""
    there = {each for one in found for each in one.became.values()}
    return [
        Note("outcome", f"{each.name} ({each.matter}): {each.meaning}")
        for each in diagnosis.ANSWER_OUTCOMES
        if each in there
    ]


def print_answers(
    board: Scoreboard, found: Sequence[RunAnswers], notes: Sequence[Note], options: ValueOptions
) -> None:
    """Print the outcomes of all queries, by bucket, or query by query."""
    kind, facet = options.kind, options.facet
    table = query_table(found) if options.per_query else outcome_table(board, found, facet)
    if options.for_programs:
        records = table.records()
        print_records(kind, records, board.conventions, notes, raw=options.raw)
        return
    if not options.per_query:
        cells = [] if facet is not None else [each.name for each in diagnosis.OUTCOME_CELLS]
        shown = [row for row in table.rows if row["queries"] or row["outcome"] in cells]
        table = replace(table, rows=shown)
    notes = [*notes, *_outcome_notes(found)]
    labels = RunLabels([each.run for each in found])
    said = answer_statements(found, board.collection.query_ids, labels)
    print_result(kind, said, table, board.conventions, notes, labels)


def answer_statements(
    found: Sequence[RunAnswers], query_ids: Sequence[str], labels: RunLabels
) -> list[Statement]:
    """Say how many answers of each run are right, and which queries are not counted."""
    said = []
    for each in found:
        right, *aside = each.table(query_ids).sentences
        said.append(Statement("answers", f"{labels[each.run]}: {right}.", ANSWER))
        said += [Statement("counted aside", f"{labels[each.run]}: {one}.", DOUBT) for one in aside]
    return said


def bucket_queries(board: Scoreboard, facet: str | None) -> Iterator[tuple[str | None, list[str]]]:
    """Yield each bucket with its queries; without a facet, None with all queries."""
    ids = board.collection.query_ids
    if facet is None:
        yield None, list(ids)
        return
    buckets, group = board.groups(facet)
    for at, bucket in enumerate(buckets):
        inside = [name for name, of in zip(ids, group.tolist(), strict=True) if of == at]
        yield bucket, inside


def outcome_table(board: Scoreboard, found: Sequence[RunAnswers], facet: str | None) -> Table:
    """Return a row for each run, bucket and outcome."""
    counted = (
        (each.run, bucket, each.table(inside))
        for each in found
        for bucket, inside in bucket_queries(board, facet)
    )
    return diagnosis.answer_table(counted, facet)


def query_table(found: Sequence[RunAnswers]) -> Table:
    """Return a row for each run and query; unknown values are None."""
    words = {True: "right", False: "wrong", None: NOTHING}
    columns = (
        *(Column("query_id", "query"), Column("run", "run"), Column("outcome", "outcome")),
        *(Column("matter", "a matter of"), Column("found")),
        Column("right", "answer", show=lambda row: words[row["right"]]),
    )
    rows = [
        {
            "query_id": name,
            "run": each.run,
            "outcome": outcome.name,
            "matter": outcome.matter,
            "found": outcome.found,
            "right": each.right.get(name),
        }
        for each in found
        for name, outcome in each.became.items()
    ]
    return Table(columns, rows)
