"""Review > Disagreements: which pairs are shown, the rule by which grades become one, the bench.

The bench asks the routes for the pairs and sends what is decided; no script runs for a key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import streamlit as st

from labeler.model import MAJORITY, RULES_IN_WORDS, WITH, Selection, Settings
from labeler.render import downloads
from labeler.render.palette import GRADE_COLOURS
from labeler.services import import_export as transfer
from labeler.store import Store
from labeler.ui import address, choices, links
from labeler.ui import shared as ui
from labeler.ui.adjudication import Bench, bench

ASKED = (
    "facet",
    "bucket",
    "grader",
    "split",
    "leaked",
)  # what an address says of which disagreements
BOX = 300  # pixels
NOT_BLIND = (
    "Whoever decides here sees what the graders gave, so no decision and no later grade of theirs "
    "on these chunks is blind. A decision comes before every grade, whatever the rule; what the "
    "graders gave stays in the log, and so does what is taken back."
)
TIES = (
    "A tie is a hole in every measure until it is decided: here, or by one more grade, for which "
    "the chunk is open to those who have not graded it."
)


def choose() -> None:
    """Let a lead keep to some queries and graders; the address has them as `ASKED`."""
    with ui.open_store() as store:
        facets, names = store.facets(), store.names_of_graders()
    with choices.row():
        choices.choose_selection(width=BOX)
        choices.choose_bucket(facets, width=BOX)
        if len(names) > 2 or address.given("grader"):
            address.choose_some(
                *("Graders", names, "grader", "grader"),
                placeholder="anybody",
                width=BOX,
                help="One: where they differ from anybody. Two or more: where these differ.",
            )


def show() -> None:
    """Show what graders disagree on, to be decided by one key each."""
    asked = address.given_all(ASKED)
    with ui.open_store() as store:
        settings, newest = store.settings(), store.newest()
        name = ui.grader()
        if name is None:
            say_who()
            return
        bench(bench_for(store, settings, name, urlencode(asked, doseq=True), newest))
        revision = store.revision()
    st.caption(small_print(settings))
    links.link("Change the rule", address.onward("/data", section="Settings"))
    ui.offer("Download these as CSV", lambda: as_file(asked), "disagreements.csv", revision)


def say_who() -> None:
    """Ask for a name where nobody has given one: a decision is somebody's."""
    st.subheader("Who decides?")
    st.write("A decision stands under a name. Say yours on the Label page, and come back.")
    links.link("Say who you are", address.onward("/"))


def bench_for(
    store: Store, settings: Settings, name: str, asked: str, newest: tuple[int, int, int]
) -> Bench:
    """Return what the bench needs to know."""
    token = ui.grading_token(store, name)
    return Bench(
        golden_set=store.golden_set_uuid(),
        grader=name,
        key=store.giver(name).key,
        token=token,
        words=settings.words,
        meanings=settings.meanings,
        colours=GRADE_COLOURS,
        rule=settings.golden_rule,
        rule_in_words=RULES_IN_WORDS[settings.golden_rule],
        asked=asked,
        newest=newest,
    )


def small_print(settings: Settings) -> str:
    """Say by which rule grades become one, and what a decision is."""
    rule = settings.golden_rule
    said = f"Several grades of a chunk become one by {rule}: {RULES_IN_WORDS[rule]}. "
    return said + (f"{TIES} " if rule == MAJORITY else "") + NOT_BLIND


def as_file(asked: Mapping[str, Sequence[str]]) -> bytes:
    """Return the disagreements an address asks for as a file: a row for each person's grade."""
    said = {name: values[0] for name, values in asked.items()}
    with Store(ui.database()) as store:
        selected = Selection(said.get("split"), said.get("leaked", WITH))
        among = store.selected_queries(selected, said.get("facet"), said.get("bucket"))
        found = store.disagreements(asked.get("grader", ()), among)
        return downloads.rows_csv(transfer.disagreement_rows(store, found))
