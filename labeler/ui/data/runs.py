"""The stored runs: listed, renamed, dated and dropped; what is in them never changes."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import streamlit as st

from labeler.model import HOLES_OF_TWO, WHAT_DECIDES, Settings, chunking_shown, counted
from labeler.render import downloads
from labeler.ui import address
from labeler.ui import shared as ui
from labeler.ui.data import online

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labeler.store import ChunkingSummary, RunSummary

SYSTEM = "Runs of one system stand together over time."
DATE = "Empty where nobody knows."
HINTS = {
    "--system": 'On this page: "System"',
    "is not like 2026-01-31": 'On this page: "Made on"',
}


def runs() -> None:
    """List the runs, change what is said of one, or drop it; and the signals of their systems."""
    list_runs()
    online.signals()


def list_runs() -> None:
    """List the runs, and change what is said of one, or drop it."""
    with ui.open_store() as store:
        found, strangers = store.runs(), store.runs_that_match_nothing()
        answers, newest = store.answered_runs(), store.revision()
        of_runs, chunkings = store.chunkings_of_runs(), store.chunkings()
    if not found:
        st.write("There is no run yet. Load one here or with: `labeler load run FILE`")
        return
    rows = [
        {
            "run": run.name,
            "system": run.system,
            **({"chunking": chunking_shown(of_runs[run.name])} if len(chunkings) > 1 else {}),
            "made on": run.created_at or "",
            "queries": run.queries,
            "depth": run.depth,
            **({"answers": answers.get(run.name, 0)} if answers else {}),
        }
        for run in found
    ]
    st.dataframe(rows, hide_index=True)
    ui.offer("Download this table as CSV", lambda: downloads.rows_csv(rows), "runs.csv", newest)
    st.caption(
        "What a run holds never changes. Its name, its system and its date may. In a "
        "terminal, labeler export FILE.trec --run NAME gives it back as a TREC file."
    )
    if len(chunkings) > 1:
        list_chunkings(chunkings)
    if strangers:
        st.text(f"⚠ no query of these is in the golden set: {', '.join(strangers)}")
    by_name = {run.name: run for run in found}
    with ui.guard():
        chosen = address.choose_or_not(
            "Change a run", list(by_name), "run", nothing="choose one", what="run", width=320
        )
    if chosen is not None:
        change(by_name[chosen])


def change(run: RunSummary) -> None:
    """Let a lead rename a run, say of which system it is and when it was made, or drop it."""
    with (
        st.form(f"rename-{run.name}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        new = st.text_input("Name", run.name)
        if st.form_submit_button("Rename"):
            with ui.guard(HINTS), ui.open_store() as store:
                store.rename_run(run.name, new)
            ui.done("Renamed", **with_another(run.name, new))
    with (
        st.form(f"change-{run.name}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        system = st.text_input("System", run.system, help=SYSTEM)
        made = st.date_input("Made on", day_of(run), help=DATE)
        if st.form_submit_button("Save"):
            said = None if made == day_of(run) else made.isoformat() if made else ""
            with ui.guard(HINTS), ui.open_store() as store:
                store.change_run(run.name, system=system, created_at=said)
            ui.done("Saved")
    online.drop_answers(run.name)
    with st.popover("Drop this run …", key=f"drop-{run.name}"):
        with ui.open_store() as store:
            answers = store.answered_runs().get(run.name, 0)
            st.text(what_goes(run, store.settings(), answers))
        if st.button("Drop it", type="primary"):
            with ui.guard(), ui.open_store() as store:
                store.drop_run(run.name)
            ui.done("Dropped", **with_another(run.name, None))


def list_chunkings(found: Sequence[ChunkingSummary]) -> None:
    """List the chunkings that stand side by side, and how much there is of each."""
    rows = [
        {
            "chunking": chunking_shown(each.name),
            "chunks": each.chunks,
            "without text": each.without_text,
            "with start and end": each.placed,
            "runs": each.runs,
            "golden grades": each.golden,
        }
        for each in found
    ]
    st.dataframe(rows, hide_index=True)
    st.caption(
        "Chunkings side by side: a chunk of a named one is called by its name and its id, as in "
        "v2:c7, and a run is measured by the grades of its own chunking's chunks."
    )


def with_another(name: str, new: str | None) -> dict[str, list[str]]:
    """Return the address's parameters of runs with another name for one, or without it."""
    there = address.given_all(("run", "a", "b", "also"))
    put = [] if new is None else [new]
    return {
        each: [run for old in runs for run in (put if old == name else [old])]
        for each, runs in there.items()
    }


def day_of(run: RunSummary) -> date | None:
    """Return the day a run was made, None where nobody said."""
    return date.fromisoformat(run.created_at[:10]) if run.created_at else None


def what_goes(run: RunSummary, settings: Settings, answers: int = 0) -> str:
    """Say what a run takes with it when it is dropped."""
    lists = counted(run.queries, "list", "lists")
    deep = counted(run.depth, "chunk", "chunks")
    also = f" and {counted(answers, 'answer', 'answers')}" if answers else ""
    gone = (
        f"{run.name!r} goes with its {lists}, {deep} deep at most,{also} and leaves "
        "every table and chart.\nChunks that no other run found are not asked for any more.\n"
        "Every judgment stays. To have it back, load its file again."
    )
    of_two = settings.strategy in (HOLES_OF_TWO, WHAT_DECIDES)
    if of_two and run.name in (settings.holes_of or ()):
        given = settings.strategy
        gone += f"\n⚠ Graders are given {given!r} with this run: choose anew under Settings."
    return gone
