"""``labeler disagreements``: the pairs that people grade differently, and what was decided."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from labeler.cli.group import check_raw, database_option, format_option, raw_option
from labeler.cli.scoring import FORMATS, with_options
from labeler.cli.selecting import SELECTION_OPTIONS, selection
from labeler.cli.tables import FOR_PROGRAMS, Table, in_markdown, markdown_lines, text_lines
from labeler.errors import NotFound
from labeler.formats import spreadsheet
from labeler.model import RULES_IN_WORDS, legible
from labeler.services import import_export as transfer
from labeler.store import Disagreement, Store
from labeler.store.addresses import Place

NAMES = ["query", "chunk", "grades"]
NUMBERS = ["apart", "agreed", "decided"]


@click.command()
@click.argument("graders", nargs=-1, metavar="[GRADER]...")
@click.option("--in", "field", nargs=2, metavar="FACET BUCKET", help="Only queries of this bucket.")
@lambda command: with_options(command, SELECTION_OPTIONS)
@click.option("--open", "only_open", is_flag=True, help="Only those that nobody has decided.")
@click.option(
    "--most", type=click.IntRange(min=1), default=50, show_default=True, help="How many to list."
)
@format_option(
    FORMATS,
    "csv and json have all of them: a row for each person's grade, with its note.",
)
@raw_option
@database_option
@click.pass_obj
def disagreements(
    db: Place,
    graders: tuple[str, ...],
    field: tuple[str, str] | None,
    only_open: bool,
    most: int,
    kind: str,
    raw: bool,
) -> None:
    """List the chunks that people grade differently.

    The widest apart come first. Of one GRADER those on which they differ from anybody, of more
    those on which these differ. A lead decides them on Review > Disagreements.
    """
    check_raw(kind, raw=raw)
    with Store(db) as store:
        found = found_in(store, graders, field)
        found = [each for each in found if each.is_open or not only_open]
        rule = store.settings().golden_rule
        rows = list(transfer.disagreement_rows(store, found)) if kind in FOR_PROGRAMS else []
    if kind == "csv":
        click.echo(spreadsheet.as_csv(rows, raw=raw), nl=False)
    elif kind == "json":
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        click.echo(as_page(found, most, rule, kind))


def found_in(
    store: Store, graders: Sequence[str], field: tuple[str, str] | None
) -> list[Disagreement]:
    """Return the disagreements that are asked for; raises `NotFound` for what is not there."""
    for name in graders:
        store.grader_seed(name)
    if field is not None and not store.queries_in(*field):
        raise NotFound(f"no query has {field[0]} {field[1]!r}")
    among = store.selected_queries(selection(), *(field or ()))
    return store.disagreements(graders, among)


def as_page(found: Sequence[Disagreement], most: int, rule: str, kind: str) -> str:
    """Return them as people read them, with the rule by which several grades become one."""
    rows = [row_of(each) for each in found[:most]]
    is_text = kind == "table"
    lines = (text_lines if is_text else markdown_lines)(Table(NAMES, NUMBERS, rows))
    undecided = sum(each.is_open for each in found)
    said = [f"{len(found):,} in all, {undecided:,} of them nobody has decided"]
    if len(found) > most:
        said[0] += f"; --most lists more than these {most:,}"
    said.append(f"agreed: by {rule}, {RULES_IN_WORDS[rule]}; a decision comes before it")
    said = said if is_text else [f"- {in_markdown(each)}" for each in said]
    return "\n".join([*(lines if rows else []), *([""] if rows else []), *said])


def row_of(each: Disagreement) -> list[str]:
    """Return one as a line of the table."""
    grades = ", ".join(f"{legible(name)} {grade}" for name, grade in each.grades.items())
    decided = each.adjudication
    return [
        *(legible(each.query_id), legible(each.chunk_id), grades),
        str(each.spread),
        "tie" if each.agreed is None else str(each.agreed),
        "–" if decided is None else f"{decided.grade} by {legible(decided.grader)}",
    ]
