"""``labeler agreement``: how far graders agree, as tables for people, as rows for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import click

from labeler.analysis.agreement import (
    LIMITS,
    METRICS,
    AgainstOthers,
    Agreement,
    Coefficient,
    Draws,
    Metric,
    Note,
    Record,
    SelfAgreement,
    Sheet,
    against_others,
    agreement_of,
    agreement_records,
    by_grader,
    conventions_of,
    in_words,
    left_aside,
    listed,
    meaning,
    notes,
    records_of,
    summary,
)
from labeler.cli.group import check_raw, database_option, format_option, raw_option
from labeler.cli.scoring import FORMATS, with_options
from labeler.cli.selecting import SELECTION_OPTIONS, selection
from labeler.cli.tables import FOR_PROGRAMS, Table, in_markdown, markdown_lines, text_lines
from labeler.errors import NotFound
from labeler.evaluation import number, signed
from labeler.formats import rows, spreadsheet
from labeler.model import agreed_grade, legible
from labeler.store import Store
from labeler.store.addresses import Place


@click.command()
@click.argument("graders", nargs=-1, metavar="[GRADER]...")
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="ordinal",
    show_default=True,
    help="How alpha counts a difference: by the grades between the two, as different or not, or "
    "by its square.",
)
@click.option("--by", "facet", metavar="FACET", help="One line for each bucket of this facet.")
@lambda command: with_options(command, SELECTION_OPTIONS)
@click.option("--confusion", is_flag=True, help="Show what one gave where another gave what.")
@click.option(
    "--drift", is_flag=True, help="Show how far each was from the agreed grade, week by week."
)
@format_option(
    FORMATS,
    "table and md are for people and have four digits; csv and json have all of them, drift "
    "and confusion included.",
)
@raw_option
@database_option
@click.pass_obj
def agreement(
    db: Place,
    graders: tuple[str, ...],
    metric: Metric,
    facet: str | None,
    confusion: bool,
    drift: bool,
    kind: str,
    raw: bool,
) -> None:
    """Say how far graders agree, and who drifts.

    Of all who have graded blind, or of those named. Each one's current blind grades count; every
    number has a 95% interval over the choice of queries. The agreed grade is somebody else's
    adjudication, or what the others' grades come to by the golden set's rule.
    """
    check_raw(kind, raw=raw)
    if facet is not None and (confusion or drift):
        raise click.UsageError("--confusion and --drift are over all queries, without --by")
    with Store(db) as store:
        found = found_in(store, graders, metric, facet)
    if kind in FOR_PROGRAMS:
        click.echo(as_csv(found, raw=raw) if kind == "csv" else as_json(found), nl=False)
    else:
        click.echo(as_page(found, kind, confusion=confusion, drift=drift))


class Found(NamedTuple):
    """What there is to print; ``buckets`` are empty unless a facet was asked for."""

    agreement: Agreement
    against: Sequence[AgainstOthers]
    again: Mapping[str, SelfAgreement]
    aside: Mapping[str, int]
    conventions: Mapping[str, object]
    notes: list[Note]
    facet: str | None
    buckets: Sequence[tuple[str, Agreement]]


def found_in(store: Store, graders: Sequence[str], metric: Metric, facet: str | None) -> Found:
    """Measure what a golden set holds, of these graders or of all."""
    settings, facets = store.settings(), store.facets()
    if facet is not None and facet not in facets:
        there = ", ".join(map(legible, facets)) or "none"
        raise NotFound(f"no facet is called {facet!r}; there are: {there}")
    among = store.selected_queries(selection())
    sheet, again = Sheet.of_grades(store.given_grades()), by_grader(store.repeated_grades(among))
    if among is not None:
        sheet = sheet.within(among)
    if graders:
        sheet = sheet.among(graders)
        again = {name: again[name] for name in sheet.graders if name in again}
    draws = Draws()
    found = agreement_of(sheet, metric, draws)
    parts = (
        [] if facet is None else [(each, store.queries_in(facet, each)) for each in facets[facet]]
    )
    buckets = [(each, agreement_of(sheet.within(part), metric, draws)) for each, part in parts]
    rule = partial(agreed_grade, rule=settings.golden_rule)
    against = against_others(sheet, rule, draws)
    said = [*notes(found), *left_aside(sheet)]
    conventions = conventions_of(metric, settings.golden_rule, selection())
    return Found(found, against, again, sheet.aside, conventions, said, facet, buckets)


# --- for programs ----------------------------------------------------------------------------


def all_of(found: Found) -> list[Record]:
    """Return all there is, a row for each number."""
    if found.facet is not None:
        return [
            {"facet": found.facet, "bucket": bucket, **record}
            for bucket, each in found.buckets
            for record in agreement_records(each)
        ]
    return records_of(found.agreement, found.against, found.again, found.aside)


def as_json(found: Found) -> str:
    """Return a JSON list of rows, one a line; null is not defined."""
    said = [{"kind": note.kind, "text": note.sentence} for note in found.notes]
    more = {"conventions": found.conventions, "notes": said}
    return rows.as_json(row | more for row in all_of(found))


def as_csv(found: Found, *, raw: bool) -> str:
    """Return CSV with a header; what is not defined is an empty cell."""
    notes = " · ".join(note.sentence for note in found.notes)
    more = {"conventions": found.conventions["description"], "notes": notes}
    return spreadsheet.as_csv([row | more for row in all_of(found)], raw=raw)


# --- for people ------------------------------------------------------------------------------


def as_page(found: Found, kind: str, *, confusion: bool, drift: bool) -> str:
    """Put the answer, the tables and how they are meant below each other."""
    draw = markdown_lines if kind == "md" else text_lines
    said = f"{summary(found.agreement)} {meaning(found.agreement)}".strip()
    parts = [[_said(said, kind)]]
    parts += [draw(table) for table in tables_of(found, confusion=confusion, drift=drift)]
    parts += [[_said(in_words(again, name), kind)] for name, again in found.again.items()]
    parts += [[_said(f"{found.conventions['description']} · {LIMITS}", kind)]]
    mark = "- " if kind == "md" else "! "
    parts += [[mark + _said(note.sentence, kind) for note in found.notes]] if found.notes else []
    return "\n\n".join("\n".join(lines) for lines in parts)


def _said(text: str, kind: str) -> str:
    return in_markdown(legible(text)) if kind == "md" else legible(text)


def tables_of(found: Found, *, confusion: bool, drift: bool) -> Iterable[Table]:
    """Give the tables people see: those that have a row."""
    if found.facet is not None:
        yield by_bucket(found.facet, found.buckets)
        return
    if len(found.agreement.graders) > 1:
        yield of_all(found.agreement)
        yield of_pairs(found.agreement)
        yield of_each(found.against)
    if confusion:
        for pair in found.agreement.pairs:
            heads = [legible(f"{pair.other} {grade:g}") for grade in found.agreement.values]
            body = [
                [legible(f"{pair.one} {grade:g}"), *map(str, row)]
                for grade, row in zip(found.agreement.values, pair.table, strict=True)
            ]
            yield Table([""], heads, body)
    if drift:
        body = [
            [legible(row.grader), week.monday, signed(week.difference), f"{week.n:,}"]
            for row in found.against
            for week in row.weeks
        ]
        yield Table(["grader", "week from"], ["mean difference", "chunks"], body)


def of_all(found: Agreement) -> Table:
    """Return a line for each coefficient of all graders together."""
    lines = [
        (f"Krippendorff's alpha, {found.metric}", found.alpha),
        ("Fleiss' kappa", found.fleiss),
        ("same grade, every two", found.same),
    ]
    if len(found.graders) > 2:
        lines.append(("same grade, all of them", found.all_same))
    heading = f"all {len(found.graders)} graders"
    return Table([heading], COUNTED, [[what, *cells(each)] for what, each in lines])


def of_pairs(found: Agreement) -> Table:
    """Return a line for every two graders."""
    body = [
        [legible(listed([pair.one, pair.other])), *cells(pair.kappa), number(pair.same.value)]
        for pair in found.pairs
    ]
    return Table(["every two"], ["weighted kappa", *COUNTED[1:], "same grade"], body)


COUNTED = ["value", "95% from", "to", "chunks", "queries"]


def cells(found: Coefficient) -> list[str]:
    """Return a number with its interval and what it rests on."""
    bounds = [number(found.value), number(found.low), number(found.high)]
    return [*bounds, f"{found.n:,}", f"{found.queries:,}"]


def of_each(against: Sequence[AgainstOthers]) -> Table:
    """Return a line for each grader against the grade agreed without them."""
    body = [
        [
            legible(row.grader),
            number(row.kappa.value),
            number(row.same.value),
            number(row.near.value),
            signed(row.difference.value),
            *(signed(bound) for bound in (row.difference.low, row.difference.high)),
            *(f"{count:,}" for count in (row.kappa.n, row.alone, row.at_odds)),
        ]
        for row in against
    ]
    numbers = ["kappa", "same", "within one", "difference", "95% from", "to", "chunks"]
    return Table(["against the agreed grade"], [*numbers, "no other", "at odds"], body)


def by_bucket(facet: str, buckets: Sequence[tuple[str, Agreement]]) -> Table:
    """Return a line for each bucket: alpha, and how many queries it rests on."""
    body = [
        [legible(bucket), *cells(found.alpha), number(found.fleiss.value), number(found.same.value)]
        for bucket, found in buckets
    ]
    return Table([legible(facet)], ["alpha", *COUNTED[1:], "Fleiss' kappa", "same grade"], body)
