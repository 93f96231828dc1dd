"""``labeler agreement`` and ``disagreements``: how far graders agree, and where they differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import click

from labeler.analysis.agreement import (
    BANDS,
    METRICS,
    AgainstOthers,
    Agreement,
    GradeMatrix,
    Metric,
    Record,
    SelfAgreement,
    against_others_table,
    agreement_conventions,
    agreement_records,
    agreement_statements,
    all_agreement_records,
    bucket_table,
    compare_with_others,
    compute_agreement,
    confusion_tables,
    drift_table,
    overall_table,
    pair_table,
    self_agreement_by_grader,
)
from labeler.cli.explain import HINT, explain_option, is_explained, unusual_parts
from labeler.cli.groups import check_raw, database_option, format_option, raw_option
from labeler.cli.options import (
    FORMATS,
    SELECTION_OPTIONS,
    CountingCommand,
    check_facet_name,
    selection,
    with_options,
)
from labeler.cli.output import FOR_PROGRAMS, count_listed, most_option
from labeler.errors import NotFound
from labeler.formats import csv_tables
from labeler.model import (
    GOLDEN_RULE_MEANINGS,
    LOWER_MEDIAN,
    agreed_grade,
    escape_controls,
    format_count,
)
from labeler.model.results import NOTE, Statement, Table
from labeler.render import csv_exports
from labeler.render.results import (
    markdown_table,
    statements_markdown,
    statements_text,
    text_table,
)
from labeler.render.text import CellTable, in_markdown, markdown_lines, text_lines
from labeler.services import import_export
from labeler.store import Disagreement, Store
from labeler.store.addresses import StoreLocation


@click.command(cls=CountingCommand)
@click.argument("graders", nargs=-1, metavar="[GRADER]...")
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="ordinal",
    show_default=True,
    help="How alpha counts a difference: ordinal by the grades between the two, nominal as "
    "different or not, interval by its square.",
)
@click.option("--by", "facet", metavar="FACET", help="One line for each bucket of this facet.")
@with_options(*SELECTION_OPTIONS)
@click.option("--confusion", is_flag=True, help="Show the confusion table of each two graders.")
@click.option(
    "--drift",
    is_flag=True,
    help="Show each grader's difference from the agreed grade, week by week.",
)
@format_option(
    FORMATS,
    "table and md are for people and have four digits; csv and json have all of them, drift "
    "and confusion included.",
)
@raw_option
@explain_option
@database_option
@click.pass_obj
def agreement(
    db: StoreLocation,
    graders: tuple[str, ...],
    metric: Metric,
    facet: str | None,
    confusion: bool,
    drift: bool,
    kind: str,
    raw: bool,
) -> None:
    """Say how well graders agree, and who drifts.

    Covers everyone who graded blind, or those named, by their current blind grades. Every
    number has a 95% interval over the choice of queries. The agreed grade is another person's
    decision, else that of the others' grades by the golden set's rule.
    """
    check_raw(kind, raw=raw)
    if facet is not None and (confusion or drift):
        raise click.UsageError("--confusion and --drift are over all queries, without --by")
    with Store(db) as store:
        found = read_agreement(store, graders, metric, facet)
    if kind in FOR_PROGRAMS:
        click.echo(as_file(found, kind, raw=raw), nl=False)
    else:
        click.echo(as_page(found, kind, confusion=confusion, drift=drift))


class AgreementResult(NamedTuple):
    """The results to print; ``buckets`` is empty unless a facet was asked for."""

    agreement: Agreement
    against: Sequence[AgainstOthers]
    again: Mapping[str, SelfAgreement]
    aside: Mapping[str, int]
    conventions: Mapping[str, object]
    statements: list[Statement]
    facet: str | None
    buckets: Sequence[tuple[str, Agreement]]


def read_agreement(
    store: Store, graders: Sequence[str], metric: Metric, facet: str | None
) -> AgreementResult:
    """Measure the agreement of these graders, or of all."""
    settings, facets = store.settings.read(), store.queries.facets()
    check_facet_name(facet, facets)
    among = store.splits.selected(selection())
    sheet, again = (
        GradeMatrix.of_grades(store.activity.given_grades()),
        self_agreement_by_grader(store.activity.repeated_grades(among)),
    )
    if among is not None:
        sheet = sheet.within(among)
    if graders:
        sheet = sheet.among(graders)
        again = {name: again[name] for name in sheet.graders if name in again}
    found = compute_agreement(sheet, metric)
    parts = (
        []
        if facet is None
        else [(each, store.queries.in_bucket(facet, each)) for each in facets[facet]]
    )
    buckets = [(each, compute_agreement(sheet.within(part), metric)) for each, part in parts]
    rule = partial(agreed_grade, rule=settings.golden_rule)
    against = compare_with_others(sheet, rule)
    said = agreement_statements(found, sheet.aside, again)
    conventions = agreement_conventions(metric, settings.golden_rule, selection())
    return AgreementResult(found, against, again, sheet.aside, conventions, said, facet, buckets)


# --- for programs ----------------------------------------------------------------------------


def all_records(found: AgreementResult) -> list[Record]:
    """Return a row for each number."""
    if found.facet is not None:
        return [
            {"facet": found.facet, "bucket": bucket, **record}
            for bucket, each in found.buckets
            for record in agreement_records(each)
        ]
    return all_agreement_records(found.agreement, found.against, found.again, found.aside)


def as_file(found: AgreementResult, kind: str, *, raw: bool) -> bytes:
    """Return all numbers as CSV or JSON; undefined ones are empty cells, or null."""
    given = all_records(found), found.conventions, found.statements
    if kind == "csv":
        return csv_exports.agreement_csv(*given, raw=raw)
    return csv_exports.agreement_json(*given)


# --- for people ------------------------------------------------------------------------------


def as_page(found: AgreementResult, kind: str, *, confusion: bool, drift: bool) -> str:
    """Return the answer, its doubts, the tables, how they are computed, and the notes."""
    said, draw = statements_text, text_table
    meant = " · ".join(describe_conventions(found.conventions))
    if kind == "md":
        said, draw, meant = statements_markdown, markdown_table, in_markdown(meant)
    tables = tables_of(found, confusion=confusion, drift=drift)
    notes = [each for each in found.statements if each.severity == NOTE]
    parts = [
        said([each for each in found.statements if each.severity != NOTE]),
        *(draw(table) for table in tables),
        explanation(found.conventions, kind) if is_explained() else [],
        [meant],
        said([each for each in notes if is_explained() or each.kind != BANDS]),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def describe_conventions(conventions: Mapping[str, object]) -> list[str]:
    """Return the conventions, or without ``--explain`` only the unusual ones."""
    described = str(conventions["description"])
    if is_explained():
        return [described]
    usual = agreement_conventions("ordinal", LOWER_MEDIAN)
    return [*unusual_parts(described, str(usual["description"])), HINT]


def explanation(conventions: Mapping[str, object], kind: str) -> list[str]:
    """Return the lines that explain the coefficients, their intervals and the agreed grade."""
    how = explain_agreement(str(conventions["metric"]), str(conventions["golden_rule"]))
    if kind == "md":
        return ["How this is computed:", "", *(f"- {in_markdown(each)}" for each in how)]
    return ["How this is computed", *(f"- {each}" for each in how)]


def explain_agreement(metric: str, rule: str) -> list[str]:
    """Explain the coefficients, their intervals and the agreed grade."""
    return [
        "Counted are the current grades that people gave before they could see anybody else's, of "
        "the same passage text.",
        "Krippendorff's alpha is 1 minus the disagreement seen, divided by that expected by "
        f"chance: 1 is full agreement, 0 is chance. {METRIC_MEANINGS[metric]}",
        "Fleiss' kappa counts grades as the same or not, on the passages that all graded. The "
        "weighted kappa of a pair is Cohen's: grades two apart disagree four times as much as "
        "neighbours. It is 0 where one of the two gave one grade only.",
        "The 95% interval is over the choice of queries: a jackknife leaves out one query at a "
        "time, as passages of one query depend on each other.",
        "The agreed grade of a passage is somebody else's decision, else the "
        f"{rule} of the others' grades. A difference is the grader's grade minus that.",
    ]


METRIC_MEANINGS = {
    "ordinal": "A difference counts by the grades given between the two, squared.",
    "nominal": "Two grades are the same or not.",
    "interval": "A difference counts by its square.",
}


def tables_of(found: AgreementResult, *, confusion: bool, drift: bool) -> Iterable[Table]:
    """Yield the tables for people, without empty ones."""
    if found.facet is not None:
        yield bucket_table(found.facet, found.buckets)
        return
    if found.agreement.alpha.n:
        yield overall_table(found.agreement)
        yield pair_table(found.agreement)
        yield against_others_table(found.against)
    if confusion:
        yield from confusion_tables(found.agreement)
    if drift:
        yield drift_table(found.against)


NAME_COLUMNS = ["query", "chunk", "grades"]
NUMBER_COLUMNS = ["apart", "agreed", "decided"]


@click.command(cls=CountingCommand)
@click.argument("graders", nargs=-1, metavar="[GRADER]...")
@click.option("--in", "field", nargs=2, metavar="FACET BUCKET", help="Only queries of this bucket.")
@with_options(*SELECTION_OPTIONS)
@click.option("--open", "only_open", is_flag=True, help="Only those without a decision.")
@most_option
@format_option(
    FORMATS, "csv and json have all of them: a row for each person's grade, with its note."
)
@raw_option
@database_option
@click.pass_obj
def disagreements(
    db: StoreLocation,
    graders: tuple[str, ...],
    field: tuple[str, str] | None,
    only_open: bool,
    most: int | None,
    kind: str,
    raw: bool,
) -> None:
    """List the chunks that people grade differently.

    Also lists texts that several chunks of a query have, if their golden grades differ. The
    largest differences come first. With one GRADER: where they differ from anybody; with more:
    where these differ. A lead decides them on Review > Disagreements.
    """
    check_raw(kind, raw=raw)
    with Store(db) as store:
        found = find_disagreements(store, graders, field)
        found = [each for each in found if each.is_open or not only_open]
        rule, most = store.settings.read().golden_rule, count_listed(most, kind)
        listed = found[:most] if kind in FOR_PROGRAMS else []
        rows = list(import_export.disagreement_rows(store, listed))
    if kind == "csv":
        click.echo(csv_tables.as_csv(rows, raw=raw), nl=False)
    elif kind == "json":
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        click.echo(disagreements_page(found, most, rule, kind))


def find_disagreements(
    store: Store, graders: Sequence[str], field: tuple[str, str] | None
) -> list[Disagreement]:
    """Return the disagreements asked for.

    Raises `NotFound` for an unknown grader or bucket.
    """
    for name in graders:
        store.people.seed(name)
    if field is not None and not store.queries.in_bucket(*field):
        raise NotFound(f"no query has {field[0]} {field[1]!r}")
    among = store.splits.selected(selection(), *(field or ()))
    return store.adjudication.disagreements(graders, among)


def disagreements_page(found: Sequence[Disagreement], most: int, rule: str, kind: str) -> str:
    """Return a table for people, with the rule that makes one grade of several."""
    rows = [disagreement_row(each) for each in found[:most]]
    is_text = kind == "table"
    lines = (text_lines if is_text else markdown_lines)(
        CellTable(NAME_COLUMNS, NUMBER_COLUMNS, rows)
    )
    undecided = sum(each.is_open for each in found)
    said = f"{format_count(len(found), 'disagreement', 'disagreements')}, {undecided:,} to decide"
    if len(found) > most:
        said += f"; these are the first {most:,}, --most lists more"
    agreed = f"agreed: {rule} ({GOLDEN_RULE_MEANINGS[rule]}), unless a lead has decided"
    if not is_text:
        said, agreed = f"**{in_markdown(said)}**", in_markdown(agreed)
    return "\n".join([said, "", *([*lines, ""] if rows else []), agreed])


def agreed_words(each: Disagreement) -> str:
    """Return the agreed grade, "tie", or a dash without grades."""
    if each.agreed is not None:
        return str(each.agreed)
    return "tie" if each.grades else "–"


def disagreement_row(each: Disagreement) -> list[str]:
    """Return a disagreement as a row of the table."""
    grades = ", ".join(f"{escape_controls(name)} {grade}" for name, grade in each.grades.items())
    if each.is_of_copies or not grades:
        copies = ", ".join(f"{escape_controls(copy.chunk_id)} {copy.grade}" for copy in each.copies)
        grades = "; ".join(filter(None, [grades, f"same text: {copies}"]))
    decided = each.adjudication
    return [
        *(escape_controls(each.query_id), escape_controls(each.chunk_id), grades),
        str(each.spread),
        agreed_words(each),
        "–" if decided is None else f"{decided.grade} by {escape_controls(decided.grader)}",
    ]
