"""What is stored of a system's use: signals by date, and answers by run; listed and dropped."""

from __future__ import annotations

import streamlit as st

from labeler.model import counted
from labeler.render import downloads
from labeler.ui import address
from labeler.ui import shared as ui

CHOOSE = "choose one"


def signals() -> None:
    """List the signals, and drop one; nothing is drawn where there are none."""
    with ui.open_store() as store:
        found, newest = store.signals(), store.revision()
        systems = {run.system for run in store.runs()}
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
    ui.offer("Download this table as CSV", lambda: downloads.rows_csv(rows), "signals.csv", newest)
    st.caption("What users did, beside the runs of the same system on Scores, under trend.")
    if strangers := sorted({each.system for each in found} - systems):
        st.text(f"⚠ no run is of the system of these signals: {', '.join(strangers)}")
    by_words = {f"{each.name} of {each.system}": each for each in found}
    with ui.guard():
        chosen = address.choose_or_not(
            *("Drop a signal", list(by_words), "signal"), nothing=CHOOSE, what="signal", width=320
        )
    if chosen is not None:
        drop_signal(by_words[chosen].system, by_words[chosen].name, by_words[chosen].values)


def drop_signal(system: str, name: str, values: int) -> None:
    """Let a lead drop one signal of a system."""
    with st.popover("Drop this signal …", key=f"drop-{name}-of-{system}"):
        st.text(
            f"{name!r} of {system!r} goes with its {counted(values, 'value', 'values')}. To "
            "have it back, load its file again."
        )
        if st.button("Drop it", type="primary", key="drop-signal"):
            with ui.guard(), ui.open_store() as store:
                store.drop_signals(system, name)
            ui.done("Dropped", signal=None)


def drop_answers(run: str) -> None:
    """Let a lead drop the answers of a run, if it has any; the run stays."""
    with ui.open_store() as store:
        answers = store.answered_runs().get(run, 0)
    if not answers:
        return
    with st.popover("Drop its answers …", key=f"drop-answers-{run}"):
        st.text(
            f"{counted(answers, 'answer', 'answers')} of {run!r} go; the run stays. To have "
            "them back, load their file again."
        )
        if st.button("Drop them", type="primary", key="drop-answers"):
            with ui.guard(), ui.open_store() as store:
                store.drop_answers(run)
            ui.done("Dropped")
