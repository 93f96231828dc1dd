"""Review > Health: the state of the golden set, what it can measure, and what should be done."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from functools import partial

import htpy
import streamlit as st

from labeler.analysis.active import parse_deciding_measure
from labeler.analysis.health import (
    GoldenSetHealth,
    HealthInput,
    HealthSection,
    assess_health,
    describe_health,
    health_record,
    spread_of_deltas,
)
from labeler.analysis.text_similarity import count_similar_pairs
from labeler.model import EVERYTHING, Selection
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.tables import TextCell
from labeler.ui import filter_widgets, links, scoreboards, url_state
from labeler.ui import shared as ui


def choose() -> None:
    """Let the user choose which queries it is said of, as far as there are splits or leaks."""
    with filter_widgets.row():
        filter_widgets.choose_selection(width=220)


def show() -> None:
    """Show how the golden set stands: all queries together, or those that the address selects."""
    selected = scoreboards.shown_selection()
    with ui.open_store() as store:
        newest = (store.data_revision(), store.revision())
    found = measured(ui.database(), *newest, selected, datetime.now(UTC).date())
    if not found.queries:
        ui.say_empty(
            "There is no query yet",
            "The health of a golden set is measured by its queries.",
            "labeler load queries FILE",
        )
        return
    if selected != EVERYTHING:
        logs = " The logs are of all questions." if found.logs else ""
        st.text(f"Of the queries of: {selected.describe()}.{logs}")
    parts = describe_health(found)
    if warned := [said for part in parts for said in part.warnings]:
        show_html(htpy.ul[(htpy.li[said] for said in warned)])
    for shares in found.shares:
        if shares.differs:
            to = url_state.page_url("/scores", weighted=shares.facet)
            links.link(f"Scores, weighted by {shares.facet}", to)
    if found.unlike_copies:
        to = url_state.page_url("/review", review="Disagreements")
        links.link("Decide the grades of identical texts", to)
    for part in parts:
        show_part(part)
    file = partial(as_json, found, selected)
    ui.offer("Download all of it as JSON", file, "health.json", newest[1])


def show_part(part: HealthSection) -> None:
    """Show one side of it: sentences, and a table where there is one."""
    show_html(htpy.h3[part.title])
    for said in part.sentences:
        st.text(said)
    if part.rows:
        rows = [[TextCell(str(first)), *rest] for first, *rest in part.rows]
        show_html(tables.plain_table(part.headings, rows))


def as_json(found: GoldenSetHealth, selected: Selection) -> bytes:
    """Return it as a file for programs."""
    said = {"split": selected.split, "leaked": selected.leaked, **health_record(found)}
    return json.dumps(said, ensure_ascii=False, indent=1).encode()


@st.cache_data(max_entries=4, show_spinner="Looking at the golden set …")
def measured(
    path: str, data_revision: int, revision: int, selected: Selection, today: date
) -> GoldenSetHealth:
    """Work it out once for each change, and once a day: grades grow old meanwhile."""
    with ui.open_store() as store:
        settings, among = store.settings(), store.selected_queries(selected)
        spread = None
        if len(store.run_names()) > 1:
            board = scoreboards.live_board(
                store, scoreboards.conventions(settings, selected=selected)
            )
            spread = spread_of_deltas(
                board.values(parse_deciding_measure(board.conventions, settings.decide_by))
            )
        near = alike(path, data_revision, selected)
        told = HealthInput.of(store, spread, settings.decide_by, near, among)
    return assess_health(told, datetime.now(UTC))


@st.cache_data(max_entries=4, show_spinner=False)
def alike(path: str, data_revision: int, selected: Selection) -> int | None:
    """Count the pairs of queries that are nearly the same; None where that takes too long."""
    with ui.open_store() as store:
        among = store.selected_queries(selected)
        return count_similar_pairs(
            [query.text for query in store.queries() if among is None or query.query_id in among]
        )
