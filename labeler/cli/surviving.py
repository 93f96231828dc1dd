"""``labeler compare --graders``: A against B under each grader's own grades, and other readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from labeler.analysis import comparison
from labeler.analysis.comparison import Comparison, Survival
from labeler.cli.group import CommandT
from labeler.cli.pairs import Shown
from labeler.cli.scoring import print_records, print_table
from labeler.cli.tables import FOR_PROGRAMS, Table
from labeler.errors import BadInput
from labeler.evaluation import Note, Scoreboard, number, signed
from labeler.model import SingleGrades, legible


def graders_option(command: CommandT) -> CommandT:
    """Let the comparison be made under other readings of the grades."""
    return click.option(
        "--graders",
        "by_graders",
        is_flag=True,
        help="Compare with each grader's own grades wherever they gave one, with the lowest, "
        "median and highest, and without stale and without non-blind judgments: a row for each, "
        "and whether the verdict holds.",
    )(command)


def check_graders(
    runs: Sequence[str], facet: str | None, *, per_query: bool, stripped: bool
) -> None:
    """Raise a usage error for what cannot be asked for together with ``--graders``."""
    if len(runs) > 2:
        raise click.UsageError("--graders is of two runs; name A and B alone")
    if facet is not None or per_query or stripped:
        raise click.UsageError(
            "--graders is over all queries, without --by, --per-query and --strips"
        )


def print_survival(
    board: Scoreboard,
    shown: Shown,
    singles: SingleGrades,
    kind: str,
    notes: Sequence[Note],
    *,
    raw: bool,
) -> None:
    """Print the readings; to people only those that change something, of the golden grades."""
    found, tested = shown.found, {row.measure: shown.tested.of(row) for row in shown.rows}
    measures = [measure for measure in found.measures if not measure.crosses]
    if not measures:
        raise BadInput(
            "--graders reads what each one says of a chunk, and these measures are of documents "
            "and of the evidence; ask for measures of chunks, such as nDCG@10"
        )
    told = comparison.survivals(board, found, singles, measures, tested=tested)
    names, conventions = (found.a, found.b), found.conventions
    if kind in FOR_PROGRAMS:
        records = comparison.survival_records(told, *names)
        said = [*notes, *survival_notes(told, names)]
        print_records(kind, records, None, conventions, said, raw=raw)
        return
    table, said = table_of(told, found), [*survival_notes(told[:1], names), *notes]
    print_table(table, conventions, said, kind)


def survival_notes(told: Sequence[Survival], names: tuple[str, str]) -> list[Note]:
    """Say of each measure whether the verdict holds under every grader, or why nothing is said."""
    return [
        Note(
            "survives",
            comparison.survival_in_words(each, names) or f"{each.heading}: {each.why_silent}",
            measure=each.measure,
        )
        for each in told
    ]


def table_of(told: Sequence[Survival], found: Comparison) -> Table:
    """Return a line for each measure and reading that changes something."""
    numbers = ["pairs differ", legible(found.a), legible(found.b), "delta", "wins", "ties"]
    lines = [line for survival in told for line in _lines(survival)]
    return Table(["measure", "grades"], [*numbers, "losses", "n", "p"], lines)


def _lines(survival: Survival) -> Iterator[list[str]]:
    for each in survival.told:
        row = each.row
        if each.changed or each is survival.golden:
            values = [number(row.a), number(row.b), signed(row.delta)]
            counts = map(str, (row.wins, row.ties, row.losses, row.n))
            named = [survival.heading, legible(each.reading.called), str(each.changed)]
            yield [*named, *values, *counts, number(each.p)]
