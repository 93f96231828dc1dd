"""Review > Agreement: how far graders agree, by pair of graders, by bucket, and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

import streamlit as st

from labeler.analysis import agreement
from labeler.analysis.agreement import (
    METRICS,
    AgainstOthers,
    Agreement,
    GradeMatrix,
    Metric,
    SelfAgreement,
)
from labeler.model import GOLDEN_RULE_MEANINGS, Selection, Settings, agreed_grade, format_count
from labeler.model.results import NOTE, Statement
from labeler.render import charts, csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.tables import TextCell
from labeler.render.tables.verdict_block import verdict_block
from labeler.ui import filter_widgets, links, scoreboards, url_state
from labeler.ui import shared as ui

EVERYBODY, EVERY_TWO = "all graders", "all pairs of graders"
ONE_GRADER, OTHER_GRADER = "one grader's grade", "another grader's grade of the same passage"
BOTH_WAYS = "Each pair of grades is counted in both directions."
HOW_TO_READ = "Shares are of the row; the larger, the darker. Outlined: the same grade."


@dataclass(frozen=True, slots=True)
class AgreementChoice:
    """What the section shows: graders (all if none are named), queries, and the metric of alpha.

    A facet without a bucket means each of its buckets, beside all ``selected`` queries.
    """

    metric: Metric
    graders: tuple[str, ...]
    facet: str | None
    bucket: str | None
    selected: Selection


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredAgreement:
    """Everything that the section shows, at one revision."""

    sheet: GradeMatrix
    agreement: Agreement
    against: tuple[AgainstOthers, ...]
    again: Mapping[str, SelfAgreement]
    buckets: Sequence[tuple[str, Agreement]]


# --- choosing --------------------------------------------------------------------------------


def choose() -> AgreementChoice:
    """Let the user choose alpha's metric, graders and queries; the URL has all of it."""
    with ui.open_store() as store:
        names, facets = store.activity.names_of_graders(), store.queries.facets()
    with filter_widgets.row(), filter_widgets.folded() as say:
        names_of = {str(metric): metric for metric in METRICS}
        metric = names_of[url_state.choose("Alpha", list(names_of), "metric", what="metric")]
        graders = url_state.choose_some("Graders", names, "grader", "grader", placeholder=EVERYBODY)
        facet, bucket = filter_widgets.choose_bucket(facets)
        filter_widgets.choose_selection()
    selected = scoreboards.shown_selection()
    say(
        selected.describe(),
        f"alpha {metric}",
        agreement.join_names(graders) or EVERYBODY,
        filter_widgets.say_queries(facet, bucket),
    )
    return AgreementChoice(metric, tuple(graders), facet, bucket, selected)


# --- measuring -------------------------------------------------------------------------------


@st.cache_resource(max_entries=8, show_spinner=False)
def measured(
    path: str, newest: tuple[int, ...], asked: AgreementChoice, rule: str
) -> MeasuredAgreement:
    """Return the measured agreement; cached for all sessions until something is written."""
    with ui.open_store() as store:
        among = store.splits.selected(asked.selected, asked.facet, asked.bucket)
        sheet = GradeMatrix.of_grades(store.activity.given_grades())
        again = agreement.self_agreement_by_grader(store.activity.repeated_grades(among))
        names = [] if asked.facet is None else store.queries.facets()[asked.facet]
        inside = {name: store.queries.in_bucket(str(asked.facet), name) for name in names}
    if asked.graders:
        sheet = sheet.among([name for name in asked.graders if name in sheet.graders])
        again = {name: again[name] for name in asked.graders if name in again}
    if among is not None:
        sheet = sheet.within(among)
    if asked.bucket is not None:
        inside = {}
    return MeasuredAgreement(
        sheet,
        agreement.compute_agreement(sheet, asked.metric),
        agreement.compare_with_others(sheet, partial(agreed_grade, rule=rule)),
        again,
        [
            (name, agreement.compute_agreement(sheet.within(queries), asked.metric))
            for name, queries in inside.items()
        ],
    )


# --- what is shown ---------------------------------------------------------------------------


def show(asked: AgreementChoice) -> None:
    """Show how far graders agree, or why nobody can say and what to do."""
    with ui.open_store() as store:
        settings, revision, newest = (
            store.settings.read(),
            store.judgments.revision(),
            store.golden_set.newest(),
        )
    found = measured(ui.database(), newest, asked, settings.golden_rule)
    statements = agreement.agreement_statements(found.agreement, found.sheet.aside, found.again)
    show_answer(found.agreement, statements, asked, settings)
    if found.agreement.alpha.n:
        if found.buckets:
            st.header("By bucket")
            table = agreement.bucket_table(str(asked.facet), found.buckets)
            show_html(tables.html_table_of(table, label="By bucket", details=True))
        if remedies := [each for each in statements if each.target]:
            left, right = st.columns((3, 2), gap="medium")
            with left:
                show_confusion(found.agreement, settings)
            with right:
                show_what_to_do(asked, remedies)
        else:
            show_confusion(found.agreement, settings)
        with st.expander("All numbers", key="all-numbers"):
            table = agreement.overall_table(found.agreement)
            show_html(tables.html_table_of(table, label="All graders", details=True))
        with st.expander("Each grader against the others", key="each-grader"):
            show_against(found.against, settings)
        with st.expander("Pairs of graders", key="pairs"):
            show_pairs(found.agreement, asked)
        with st.expander("Drift, week by week", key="weeks"):
            show_weeks(found.against)
    show_repeats(found.again)
    show_notes(statements, asked, settings)
    if found.sheet.graders:
        offer_files(found, statements, asked, settings, revision)


def show_answer(
    found: Agreement, statements: Sequence[Statement], asked: AgreementChoice, settings: Settings
) -> None:
    """Show how far graders agree, what could change that, and what to do."""
    first, *rest = [each for each in statements if each.severity != NOTE]
    doubts = [each.sentence for each in rest if each.kind != "alpha" and not each.target]
    if not found.alpha.n:
        doubts.append(describe_remedy(found, settings))
    counts = None
    if asked.facet is not None and asked.bucket is not None:
        counts = f"Of the queries of {asked.facet} = {asked.bucket} alone."
    figure = describe_alpha(found, first) if found.alpha.is_defined else None
    show_html(verdict_block(first.sentence, figure, doubts, counts))


def describe_alpha(found: Agreement, answer: Statement) -> tuple[str, str]:
    """Return alpha and its description."""
    alpha = found.alpha
    passages = format_count(alpha.n, "passage", "passages")
    queries = format_count(alpha.queries, "query", "queries")
    who = "both" if answer.numbers["compared"] == 2 else "two or more"
    what = f"Krippendorff's alpha, {found.metric}, on {passages} of {queries} that {who} graded"
    return f"{alpha.value:.3f}", what


def show_what_to_do(asked: AgreementChoice, remedies: Sequence[Statement]) -> None:
    """Say what to do about the largest difference, with a link."""
    st.header("What to do")
    for each in remedies:
        st.text(each.sentence)
    with st.container(horizontal=True, vertical_alignment="center"):
        links.button("Decide the differences", disagreements_url(asked, *asked.graders))
        links.link("Edit the guideline", url_state.page_url("/data", section="Settings"))


def show_pairs(found: Agreement, asked: AgreementChoice) -> None:
    """Show each pair of graders who share a passage; the other pairs are one number."""

    def link(row: Mapping[str, Any]) -> str:
        return disagreements_url(asked, row["grader"], row["other"]) if row["differing"] else ""

    table = agreement.pair_table(found)
    show_html(tables.html_table_of(table, label="Pairs", details=True, links={"differing": link}))
    if apart := len(found.pairs) - len(table.rows):
        pairs = format_count(apart, "pair shares", "pairs share")
        st.caption(f"{pairs} no passage.")


def show_notes(statements: Sequence[Statement], asked: AgreementChoice, settings: Settings) -> None:
    """Show how the numbers are computed, and further notes on them."""
    with st.expander("How computed", key="computed"):
        st.text(str(stated_conventions(asked, settings)["description"]))
        show_html(tables.statements_html([each for each in statements if each.severity == NOTE]))


def stated_conventions(asked: AgreementChoice, settings: Settings) -> dict[str, object]:
    """Return the conventions of the numbers, ready for JSON."""
    return agreement.agreement_conventions(asked.metric, settings.golden_rule, asked.selected)


def disagreements_url(asked: AgreementChoice, *graders: str) -> str:
    """Return the URL of these graders' disagreements, of all graders if none is named."""
    where = {"review": "Disagreements", "facet": asked.facet, "bucket": asked.bucket}
    return url_state.page_url("/review", **where, grader=graders or None)


def describe_remedy(found: Agreement, settings: Settings) -> str:
    """Say what is needed before agreement can be measured."""
    overlap = f"{settings.overlap:.0%} of the queries go to every grader."
    if len(found.graders) < 2:
        return f"{overlap} Agreement is shown here once a second grader has graded some of them."
    return f"{overlap} With more, graders share passages sooner: see Settings on the Data page."


def show_confusion(found: Agreement, settings: Settings) -> None:
    """Show the confusion matrix of all pairs of graders, or of two of them."""
    st.header("Who gave what")
    down, across, table = choose_confusion(found)
    show_html(tables.confusion_matrix(table, settings.words, down, across))
    st.caption(f"{HOW_TO_READ} {BOTH_WAYS}" if down == ONE_GRADER else HOW_TO_READ)
    with st.expander("As a table", key="confusion"):
        heads = [f"rows: {down}", *map(str, range(len(table))), "all"]
        sums = [sum(column) for column in zip(*table, strict=True)]
        names = [*(f"{grade} {word}" for grade, word in enumerate(settings.words)), "all"]
        *rows, total = [
            row_of(name, *counts, sum(counts))
            for name, counts in zip(names, [*table, sums], strict=True)
        ]
        show_html(tables.plain_table(heads, rows, total))


def row_of(name: str, *counts: int) -> list[tables.CellContent]:
    """Return a row of a table: a name, and counts."""
    return [TextCell(name), *counts]


def choose_confusion(found: Agreement) -> tuple[str, str, list[list[int]]]:
    """Let the user choose whose grades are the rows and the columns; return both and the matrix."""
    pairs = {(pair.one, pair.other): pair.table for pair in found.pairs}
    pairs |= {(pair.other, pair.one): pair.table.T for pair in found.pairs}
    if len(found.graders) == 2:
        one, other = found.graders
        return one, other, pairs[one, other].tolist()
    with st.container(horizontal=True):
        down = url_state.choose_or_not(
            *("Rows", found.graders, "down"),
            nothing=EVERY_TWO,
            what="grader",
            clears=["across"],
            width=280,
        )
        if down is None:
            return ONE_GRADER, OTHER_GRADER, found.table.tolist()
        others = [name for name in found.graders if name != down]
        across = url_state.choose("Columns", others, "across", what="grader", width=280)
    return down, across, pairs[down, across].tolist()


def show_against(rows: Sequence[AgainstOthers], settings: Settings) -> None:
    """Compare each grader with the grade agreed without them, over all weeks and by week."""
    st.text(
        "Each is compared with the grade agreed without them: somebody else's decision, or else "
        f"the others' grades by the rule {describe_rule(settings.golden_rule)}."
    )
    table = agreement.against_others_table(rows)
    show_html(tables.html_table_of(table, label="Each grader", details=True))
    st.caption(
        "Above 0: this grader gives higher grades than the others; below 0: lower. It doesn't say "
        "who is right. Passages are left out if nobody else has graded them blind, or if the "
        "others disagree on them."
    )


def show_weeks(rows: Sequence[AgainstOthers]) -> None:
    """Compare each grader with the agreed grade, week by week."""
    show_drift(
        [
            charts.Drift(row.grader, week.monday, week.difference, week.n)
            for row in rows
            for week in row.weeks
        ]
    )


def describe_rule(rule: str) -> str:
    """Say how several grades become one, with the rule's name."""
    return f"{rule}: {GOLDEN_RULE_MEANINGS[rule]} (a setting)"


def show_drift(rows: Sequence[charts.Drift]) -> None:
    """Show how far each grader was from the agreed grade, week by week."""
    if len({row.week for row in rows}) < 2:
        st.text("All passages were graded within one week: too short to see drift.")
        return
    words = "Mean of grade minus agreed grade, by week and grader"
    st.text(words)
    st.altair_chart(charts.drift_chart(rows, words))
    st.caption(
        "A line that moves away from 0: this grader reads the guideline differently than before. "
        "Hollow points: fewer than 10 passages."
    )
    st.dataframe(charts.drift_frame(rows), hide_index=True, height="auto")


def show_repeats(found: Mapping[str, SelfAgreement]) -> None:
    """Say how each grader graded chunks that came back to them."""
    if not found:
        return
    st.header("Each grader against themselves")
    rows = [row_of(name, *astuple(again)) for name, again in found.items()]
    show_html(tables.plain_table(["grader", "shown again", "same grade", "differ by one"], rows))
    st.caption("Graders see a few of their own passages again, unmarked: see Work.")


def offer_files(
    found: MeasuredAgreement,
    statements: Sequence[Statement],
    asked: AgreementChoice,
    settings: Settings,
    revision: int,
) -> None:
    """Offer all numbers in full, as a table and for programs."""
    records = agreement.all_agreement_records(
        found.agreement, found.against, found.again, found.sheet.aside
    )
    meant = stated_conventions(asked, settings)
    where = {"facet": asked.facet, "bucket": asked.bucket} if asked.bucket is not None else {}
    rows = [where | row for row in records]
    rows += [
        {"facet": asked.facet, "bucket": name, **row}
        for name, each in found.buckets
        for row in agreement.agreement_records(each)
    ]
    with st.container(horizontal=True):
        csv = partial(csv_exports.agreement_csv, rows, meant, statements)
        ui.offer("Download all of it as CSV", csv, "agreement.csv", revision)
        ui.offer(
            "Download as JSON",
            partial(csv_exports.agreement_json, rows, meant, statements),
            "agreement.json",
            revision,
        )
