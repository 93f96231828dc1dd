"""Review > Health: how the golden set stands, what that is good for, and what is to be done."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import htpy
import streamlit as st

from labeler import address, links, tables, ui
from labeler.deciding import one_measure
from labeler.fitness import Fitness, Part, Told, fitness_of, parts_of, record_of, spread_of
from labeler.leakage import count_alike
from labeler.markup import show_html
from labeler.tables import Said


def show() -> None:
    """Show how the golden set stands, all queries together."""
    with ui.open_store() as store:
        newest = (store.data_revision(), store.revision())
    found = measured(ui.database(), *newest)
    if not found.queries:
        ui.say_empty(
            "There is no query yet",
            "How a golden set stands is said of its queries. Load some:",
            "labeler load queries FILE",
        )
        return
    parts = parts_of(found)
    if warned := [said for part in parts for said in part.warnings]:
        show_html(htpy.ul[(htpy.li[said] for said in warned)])
    for shares in found.shares:
        if shares.differs:
            to = address.to("/scores", weighted=shares.facet)
            links.link(f"Scores, weighted by {shares.facet}", to)
    for part in parts:
        show_part(part)
    ui.offer("Download all of it as JSON", lambda: as_json(found), "health.json", newest[1])


def show_part(part: Part) -> None:
    """Show one side of it: sentences, and a table where there is one."""
    show_html(htpy.h3[part.title])
    for said in part.sentences:
        st.text(said)
    if part.rows:
        rows = [[Said(str(first)), *rest] for first, *rest in part.rows]
        show_html(tables.sheet(part.headings, rows))


def as_json(found: Fitness) -> bytes:
    """Return it as a file for programs."""
    return json.dumps(record_of(found), ensure_ascii=False, indent=1).encode()


@st.cache_data(max_entries=2, show_spinner="Looking at the golden set …")
def measured(path: str, data_revision: int, revision: int) -> Fitness:
    """Work it out once for each change."""
    with ui.open_store() as store:
        settings = store.settings()
        spread = None
        if len(store.run_names()) > 1:
            board = ui.live_board(store, ui.conventions(settings))
            spread = spread_of(board.values(one_measure(board.conventions, settings.decide_by)))
        told = Told.of(store, spread, settings.decide_by, alike(path, data_revision))
    return fitness_of(told, datetime.now(UTC))


@st.cache_data(max_entries=2, show_spinner=False)
def alike(path: str, data_revision: int) -> int | None:
    """Count the pairs of queries that are nearly the same; None where that takes too long."""
    with ui.open_store() as store:
        return count_alike([query.text for query in store.queries()])
