"""Data > Runs: runs, chunkings, answers and signals: listed, renamed, dated, dropped.

What a stored run holds never changes.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import streamlit as st

from labeler.model import ACTIVE_OF_TWO, UNJUDGED_OF_TWO, Settings, chunking_label, format_count
from labeler.render import csv_exports
from labeler.ui import shared as ui
from labeler.ui import url_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labeler.store import ChunkingSummary, RunSummary


SYSTEM_HELP = "Runs of one system are shown together over time."
DATE_HELP = "Empty if unknown."
HINTS = {"--system": 'On this page: "System"', "is not like 2026-01-31": 'On this page: "Made on"'}


def show_runs() -> None:
    """List the runs and the signals of their systems, to edit or drop."""
    list_runs()
    show_signals()


def list_runs() -> None:
    """List the runs, to edit or drop one."""
    with ui.open_store() as store:
        found, strangers = store.runs.all(), store.runs.matching_nothing()
        answers, newest = store.answers.runs(), store.judgments.revision()
        of_runs, chunkings = store.chunkings.of_runs(), store.chunkings.all()
    if not found:
        ui.say_empty(
            "There is no run yet",
            "A run is one system's ranked results for each query.",
            "labeler load run FILE",
        )
        return
    rows = [
        {
            "run": run.name,
            "system": run.system,
            **({"chunking": chunking_label(of_runs[run.name])} if len(chunkings) > 1 else {}),
            "made on": run.created_at or "",
            "queries": run.queries,
            "depth": run.depth,
            **({"answers": answers.get(run.name, 0)} if answers else {}),
        }
        for run in found
    ]
    st.dataframe(rows, hide_index=True)
    ui.offer("Download this table as CSV", lambda: csv_exports.rows_csv(rows), "runs.csv", newest)
    st.caption(
        "A run's ranked lists never change; its name, system and date can. To export one: labeler "
        "export FILE.trec --run NAME"
    )
    if len(chunkings) > 1:
        list_chunkings(chunkings)
    if strangers:
        st.text(f"⚠ No query of these runs is in the golden set: {', '.join(strangers)}")
    by_name = {run.name: run for run in found}
    with ui.guard():
        chosen = url_state.choose_or_not(
            "Change a run", list(by_name), "run", nothing="choose one", what="run", width=320
        )
    if chosen is not None:
        change_run(by_name[chosen])


def change_run(run: RunSummary) -> None:
    """Let a lead rename a run, set its system and its date, or drop it."""
    with (
        st.form(f"rename-{run.name}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        new = st.text_input("Name", run.name)
        if st.form_submit_button("Rename"):
            with ui.guard(HINTS), ui.open_store() as store:
                store.runs.rename(run.name, new)
            ui.done("Renamed", **renamed_parameters(run.name, new))
    with (
        st.form(f"change-{run.name}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        system = st.text_input("System", run.system, help=SYSTEM_HELP)
        made = st.date_input("Made on", run_date(run), help=DATE_HELP)
        if st.form_submit_button("Save"):
            said = None if made == run_date(run) else made.isoformat() if made else ""
            with ui.guard(HINTS), ui.open_store() as store:
                store.runs.change(run.name, system=system, created_at=said)
            ui.done("Saved")
    drop_answers(run.name)
    with st.popover("Drop this run …", key=f"drop-{run.name}"):
        with ui.open_store() as store:
            answers = store.answers.runs().get(run.name, 0)
            st.text(describe_drop(run, store.settings.read(), answers))
        if st.button("Drop it", type="primary"):
            with ui.guard(), ui.open_store() as store:
                store.runs.drop(run.name)
            ui.done("Dropped", **renamed_parameters(run.name, None))


def list_chunkings(found: Sequence[ChunkingSummary]) -> None:
    """List the chunkings with their sizes."""
    rows = [
        {
            "chunking": chunking_label(each.name),
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
        "Several chunkings: ids begin with the name of their chunking, as in v2:c7, and a run is "
        "measured by the grades of its own chunking."
    )


def renamed_parameters(name: str, new: str | None) -> dict[str, list[str]]:
    """Return the URL's parameters of runs with one run renamed or removed."""
    there = url_state.get_all(("run", "a", "b", "also"))
    put = [] if new is None else [new]
    return {
        each: [run for old in runs for run in (put if old == name else [old])]
        for each, runs in there.items()
    }


def run_date(run: RunSummary) -> date | None:
    """Return the day a run was made, None if unknown."""
    return date.fromisoformat(run.created_at[:10]) if run.created_at else None


def describe_drop(run: RunSummary, settings: Settings, answers: int = 0) -> str:
    """Say what is lost when a run is dropped."""
    lists = format_count(run.queries, "list", "lists")
    deep = format_count(run.depth, "chunk", "chunks")
    also = f" and {format_count(answers, 'answer', 'answers')}" if answers else ""
    gone = (
        f"{run.name!r} is removed with its {lists} of up to {deep}{also}, from every table and "
        "chart.\nGraders are no longer asked for chunks that only it returned.\n"
        "All judgments stay. To get it back, load its file again."
    )
    of_two = settings.strategy in (UNJUDGED_OF_TWO, ACTIVE_OF_TWO)
    if of_two and run.name in (settings.unjudged_of or ()):
        given = settings.strategy
        gone += f"\n⚠ Graders get {given!r} with this run: choose another one under Settings."
    return gone


NO_SIGNAL = "choose one"


def show_signals() -> None:
    """List the signals, to drop one; draw nothing if there are none."""
    with ui.open_store() as store:
        found, newest = store.signals.all(), store.judgments.revision()
        systems = {run.system for run in store.runs.all()}
    if not found:
        return
    st.markdown("**Signals**")
    rows = [
        {
            "system": each.system,
            "signal": each.name,
            "first": each.first,
            "last": each.last,
            "dates": each.dates,
            "values": each.values,
            "queries": each.queries,
        }
        for each in found
    ]
    st.dataframe(rows, hide_index=True)
    ui.offer(
        "Download this table as CSV", lambda: csv_exports.rows_csv(rows), "signals.csv", newest
    )
    st.caption(
        "User signals such as clicks. Scores > Trend shows them beside the runs of the same system."
    )
    if strangers := sorted({each.system for each in found} - systems):
        st.text(f"⚠ These signals are of systems without a run: {', '.join(strangers)}")
    by_words = {f"{each.name} of {each.system}": each for each in found}
    with ui.guard():
        chosen = url_state.choose_or_not(
            *("Drop a signal", list(by_words), "signal"),
            nothing=NO_SIGNAL,
            what="signal",
            width=320,
        )
    if chosen is not None:
        drop_signal(by_words[chosen].system, by_words[chosen].name, by_words[chosen].values)


def drop_signal(system: str, name: str, values: int) -> None:
    """Let a lead drop one signal of a system."""
    with st.popover("Drop this signal …", key=f"drop-{name}-of-{system}"):
        st.text(
            f"{name!r} of {system!r} is removed with its "
            f"{format_count(values, 'value', 'values')}. To get it back, load its file again."
        )
        if st.button("Drop it", type="primary", key="drop-signal"):
            with ui.guard(), ui.open_store() as store:
                store.signals.drop(system, name)
            ui.done("Dropped", signal=None)


def drop_answers(run: str) -> None:
    """Let a lead drop the answers of a run, if it has any; the run stays."""
    with ui.open_store() as store:
        answers = store.answers.runs().get(run, 0)
    if not answers:
        return
    with st.popover("Drop its answers …", key=f"drop-answers-{run}"):
        st.text(
            f"{format_count(answers, 'answer', 'answers')} of {run!r} are removed; the run stays. "
            "To get them back, load their file again."
        )
        if st.button("Drop them", type="primary", key="drop-answers"):
            with ui.guard(), ui.open_store() as store:
                store.answers.drop(run)
            ui.done("Dropped")
