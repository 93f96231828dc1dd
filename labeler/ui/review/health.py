"""Review > Health: the state of the golden set, what it can measure, and what to do."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial

import htpy
import streamlit as st

from labeler.analysis.active import parse_deciding_measure
from labeler.analysis.health import (
    GoldenSetHealth,
    HealthSection,
    HealthWarning,
    assess_health,
    describe_health,
    describe_size,
    health_record,
    spread_of_deltas,
    summarize_health,
)
from labeler.analysis.text_similarity import count_similar_pairs
from labeler.model import EVERYTHING, Selection
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.tables import TextCell
from labeler.render.tables.verdict_block import verdict_block
from labeler.services.health import read_health_input
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui import shared as ui


def choose() -> None:
    """Let the user choose queries, if there are splits or leaks."""
    with filter_widgets.row():
        filter_widgets.choose_selection(width=220)


def show() -> None:
    """Show the health of the golden set, for all queries or those selected in the URL."""
    selected = scoreboards.shown_selection()
    with ui.open_store() as store:
        newest = (store.golden_set.data_revision(), store.judgments.revision())
    found = measured(ui.database(), *newest, selected, datetime.now(UTC).date())
    if not found.queries:
        ui.say_empty(
            "There is no query yet",
            "The health of a golden set is measured by its queries.",
            "labeler load queries FILE",
        )
        return
    parts = describe_health(found)
    counts = None
    if selected != EVERYTHING:
        logs = " Logs are of all questions." if found.logs else ""
        counts = f"Of the queries of: {selected.describe()}.{logs}"
    show_html(verdict_block(summarize_health(parts), doubts=[describe_size(found)], counts=counts))
    if warned := [warning for part in parts for warning in part.warnings]:
        lines = (htpy.li[warning.sentence, " ", way_of(warning)] for warning in warned)
        show_html(htpy.ul[lines])
    size, graded, *others = parts
    show_part(replace(size, sentences=()))  # the sentences are shown above
    show_part(graded)
    for part in (part for part in others if part.rows):
        with st.expander(part.title, key=f"health-{part.title}"):
            show_content(part)
    if quiet := [said for part in others if not part.rows for said in part.sentences]:
        with st.expander("Other checks", key="health-others"):
            show_html(htpy.ul[(htpy.li[said] for said in quiet)])
    file = partial(as_json, found, selected)
    ui.offer("Download all of it as JSON", file, "health.json", newest[1])


def way_of(warning: HealthWarning) -> htpy.Element:
    """Return the link to the page that fixes a warning."""
    page_url, target = url_state.page_url, warning.target
    ways = {
        "grade": ("Grade on", page_url("/")),
        "add queries": ("Add queries", page_url("/data", section="Queries")),
        "open query": (f"Open {target}", page_url("/queries", query=target)),
        "decide": ("Decide their grades", page_url("/review", review="Disagreements")),
        "weigh": (f"Scores, weighted by {target}", page_url("/scores", weighted=target)),
        "review queries": ("Go to the queries", page_url("/data", section="Queries")),
    }
    label, address = ways[warning.remedy]
    return htpy.a(href=address, style="color: var(--accent)")[label]


def show_part(part: HealthSection) -> None:
    """Show one section under its title."""
    st.header(part.title)
    show_content(part)


def show_content(part: HealthSection) -> None:
    """Show a section's sentences, its table if there is one, and how its numbers are computed."""
    for said in part.sentences:
        st.text(said)
    if part.rows:
        rows = [[TextCell(str(first)), *rest] for first, *rest in part.rows]
        show_html(tables.plain_table(part.headings, rows))
    if part.notes:
        st.caption(" ".join(part.notes))


def as_json(found: GoldenSetHealth, selected: Selection) -> bytes:
    """Return the health as a JSON file."""
    said = {"split": selected.split, "leaked": selected.leaked, **health_record(found)}
    return json.dumps(said, ensure_ascii=False, indent=1).encode()


@st.cache_data(max_entries=4, show_spinner="Looking at the golden set …")
def measured(
    path: str, data_revision: int, revision: int, selected: Selection, today: date
) -> GoldenSetHealth:
    """Return the health; cached until a change, and for one day at most, because grades age."""
    with ui.open_store() as store:
        settings, among = store.settings.read(), store.splits.selected(selected)
        spread = None
        if len(store.runs.names()) > 1:
            board = scoreboards.live_board(
                store, scoreboards.conventions(settings, selected=selected)
            )
            spread = spread_of_deltas(
                board.values(parse_deciding_measure(board.conventions, settings.decide_by))
            )
        near = alike(path, data_revision, selected)
        told = read_health_input(store, spread, settings.decide_by, near, among)
    return assess_health(told, datetime.now(UTC))


@st.cache_data(max_entries=4, show_spinner=False)
def alike(path: str, data_revision: int, selected: Selection) -> int | None:
    """Count the pairs of queries that are nearly the same; None if that takes too long."""
    with ui.open_store() as store:
        among = store.splits.selected(selected)
        return count_similar_pairs(
            [
                query.text
                for query in store.queries.all()
                if among is None or query.query_id in among
            ]
        )
