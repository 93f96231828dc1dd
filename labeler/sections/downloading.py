"""The golden set as files to take away; how each is written is not known here."""

from __future__ import annotations

from functools import partial

import streamlit as st

from labeler import transfer, ui
from labeler.store import Store

LOOK_EVERY_SECONDS = 2
WORDS = {
    "jsonl": "JSONL, complete: loads back as the same golden set",
    "qrels": "TREC qrels, for trec_eval and others",
    "beir": "BEIR folder as .zip: corpus, queries and qrels",
    "csv": "CSV, for people and spreadsheets",
    "events": "The whole log as JSONL: every judgment of every grader",
}


@st.fragment(run_every=LOOK_EVERY_SECONDS)
def download() -> None:
    """Offer the golden set in every format, under names that keep up with the grading."""
    with ui.guard(), ui.open_store() as store:
        revision = store.revision()
        refused = refusals(ui.database(), revision, store.data_revision())
    for kind, words in WORDS.items():
        name = transfer.dated(transfer.EXPORTS[kind], revision)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                name,
                data=partial(exported, kind),
                file_name=name,
                key=f"download-{kind}",
                on_click="ignore",
                width=300,
                disabled=kind in refused,
            )
            st.write(words)
        if kind in refused:
            ui.show_error(refused[kind])
    st.caption(
        "A name says of which day a file is and up to which judgment it goes: r12 holds the first "
        "twelve, or some that came while it was being fetched."
    )


@st.cache_data(max_entries=2, show_spinner=False)
def refusals(path: str, revision: int, data_revision: int) -> dict[str, str]:
    """Return why formats cannot carry the golden set as it is: a download cannot say it."""
    with Store(path) as store:
        return transfer.refusals(store)


def exported(kind: str) -> bytes:
    """Return the bytes ``labeler export`` would write."""
    with ui.open_store() as store:
        return transfer.export(store, kind)
