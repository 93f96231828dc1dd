"""Review > Disagreements: chunks that people grade differently, to be decided with one key each.

The component reads pairs from the grading API and posts decisions to it; no script runs per key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import streamlit as st

from labeler.model import (
    GOLDEN_RULE_MEANINGS,
    MAJORITY,
    WITH_LEAKED,
    Selection,
    Settings,
    format_count,
)
from labeler.render import csv_exports
from labeler.render.tokens import GRADE_FILLS
from labeler.services import import_export
from labeler.store import Disagreement, Store
from labeler.ui import filter_widgets, links, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.adjudication import BenchData, bench
from labeler.ui.review.name_form import ask_name

SELECTION_PARAMETERS = (
    "facet",
    "bucket",
    "grader",
    "split",
    "leaked",
)  # parameters of the URL that select disagreements
BOX_WIDTH = 300  # pixels
NOT_BLIND_NOTE = (
    "You see what the graders gave, so your decisions and your later grades of these chunks are "
    "not blind. A decision overrides every grade, whatever the rule. The log keeps what the "
    "graders gave, and what you undo."
)
TIES_NOTE = (
    "A tie is unjudged in every measure until you decide it here or one more person grades it."
)


def choose() -> None:
    """Let a lead select queries and graders; the URL has them as `SELECTION_PARAMETERS`."""
    with ui.open_store() as store:
        facets, names = store.queries.facets(), store.activity.names_of_graders()
    some: list[str] = []
    with filter_widgets.row(), filter_widgets.folded() as say:
        filter_widgets.choose_selection(width=BOX_WIDTH)
        facet, bucket = filter_widgets.choose_bucket(facets, width=BOX_WIDTH)
        if len(names) > 2 or url_state.get("grader"):
            some = url_state.choose_some(
                *("Graders", names, "grader", "grader"),
                placeholder="anybody",
                width=BOX_WIDTH,
                help="One: where they differ from anybody. Two or more: where these differ.",
            )
    selected = scoreboards.shown_selection()
    is_usual = not (url_state.get_all(SELECTION_PARAMETERS) or ui.grader() is None)
    say(
        selected.describe(),
        f"graders {', '.join(some)}" if some else "all graders",
        filter_widgets.say_queries(facet, bucket),
        beside_count=is_usual,
    )


def show() -> None:
    """Show the disagreements of graders, each to be decided with one key."""
    asked = url_state.get_all(SELECTION_PARAMETERS)
    with ui.open_store() as store:
        settings, newest = store.settings.read(), store.golden_set.newest()
        name = ui.grader()
        if name is None:
            ask_who(store, asked)
            return
        bench(bench_data(store, settings, name, urlencode(asked, doseq=True), newest))
        revision = store.judgments.revision()
    with st.expander("How grades become one", key="rule"):
        st.caption(small_print(settings))
        links.link("Change the rule", url_state.page_url("/data", section="Settings"))
    ui.offer(
        "Download these as CSV", lambda: disagreements_file(asked), "disagreements.csv", revision
    )


def ask_who(store: Store, asked: Mapping[str, Sequence[str]]) -> None:
    """Say how much there is to decide, and ask for a name, because every decision has an author."""
    found = _disagreements(store, asked)
    if not found:
        st.header("No disagreements")
        st.write("Passages that two people grade differently are decided here.")
        return
    open_ones = sum(each.adjudication is None for each in found)
    some = format_count(len(found), "disagreement", "disagreements")
    st.header(f"{some}, {open_ones:,} to decide")
    st.write("Each decision is saved under a name. What's yours?")
    ask_name("Decisions and grades of this browser are saved under it.")


def bench_data(
    store: Store, settings: Settings, name: str, asked: str, newest: tuple[int, int, int]
) -> BenchData:
    """Return the data of the adjudication component."""
    token = ui.grading_token(store, name)
    return BenchData(
        golden_set=store.golden_set.uuid(),
        grader=name,
        key=store.people.giver(name).key,
        token=token,
        words=settings.words,
        meanings=settings.meanings,
        colours=GRADE_FILLS,
        rule=settings.golden_rule,
        rule_in_words=GOLDEN_RULE_MEANINGS[settings.golden_rule],
        asked=asked,
        newest=newest,
    )


def small_print(settings: Settings) -> str:
    """Say which rule turns several grades into one, and what a decision is."""
    rule = settings.golden_rule
    said = f"When graders differ: {rule}, {GOLDEN_RULE_MEANINGS[rule]}. "
    return said + (f"{TIES_NOTE} " if rule == MAJORITY else "") + NOT_BLIND_NOTE


def disagreements_file(asked: Mapping[str, Sequence[str]]) -> bytes:
    """Return the disagreements selected in the URL as a file, a row for each person's grade."""
    with Store(ui.database()) as store:
        found = _disagreements(store, asked)
        return csv_exports.rows_csv(import_export.disagreement_rows(store, found))


def _disagreements(store: Store, asked: Mapping[str, Sequence[str]]) -> list[Disagreement]:
    said = {name: values[0] for name, values in asked.items()}
    selected = Selection(said.get("split"), said.get("leaked", WITH_LEAKED))
    among = store.splits.selected(selected, said.get("facet"), said.get("bucket"))
    return store.adjudication.disagreements(asked.get("grader", ()), among)
