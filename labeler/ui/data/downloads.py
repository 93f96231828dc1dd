"""Data > Download: the golden set in every format, a backup, and the tamper check of the log."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial

import streamlit as st

from labeler.model import EVERYTHING, Selection, chunking_from_label, chunking_label
from labeler.services import import_export
from labeler.services.import_export.exports import WHOLE_ONLY, name_with_selection
from labeler.store import Store, tamper_check
from labeler.store.addresses import Address, parse_location
from labeler.store.backup import backups
from labeler.store.backup.backups import Schedule
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui import shared as ui

LOOK_EVERY_SECONDS = 2
BUTTON_WIDTH = 350  # pixels, for the longest name there is
LARGEST_BACKUP = 500_000_000  # bytes, which the server holds in its memory while they are fetched
BACKUP_LABEL = "Backup: everything in one file, checked; 'labeler restore' puts it back"
FORMAT_LABELS = {
    "jsonl": "JSONL: queries and golden grades; loads back as the same golden set",
    "qrels": "TREC qrels, for trec_eval and others",
    "beir": "BEIR folder as .zip: corpus, queries and qrels",
    "csv": "CSV, for people and spreadsheets",
    "quepid": "Quepid: ratings as CSV, by the queries' texts",
    "quepid-book": "Quepid: a book as JSON, with judges and their explanations",
    "opensearch": "OpenSearch: judgments as JSON, to be imported",
    "ragas": "RAGAS: samples with reference contexts, a line each",
    "ranx": "ranx: JSON of grades by query and chunk",
    "phoenix": "Phoenix: grades as annotations of the documents of its spans",
    "langfuse": "Langfuse: measures of each list as scores of its observation",
    "events": "The whole log as JSONL: every judgment of every grader",
    "complete": "All in one file: texts, settings, the whole log; makes it anew without runs",
}
PART_NOTE = "This is a part: {}. It has a hash of its own, and a backup is of all."
SEAL_NOTE = (
    "The log's seal up to now. Kept with a file, or anywhere but on this server, it tells later "
    "whether somebody has changed what was said until now:"
)


def show_downloads() -> None:
    """Offer the golden set, or the queries and the chunking that are chosen, in every format."""
    with ui.guard():
        with filter_widgets.row():
            filter_widgets.choose_selection(width=220)
            chunkings = choose_chunking()
        offer_files(replace(scoreboards.shown_selection(), chunkings=chunkings))


def choose_chunking() -> tuple[str, ...] | None:
    """Let the user choose one chunking, None for all, where there are several."""
    with ui.open_store() as store:
        names = store.chunking_names()
    if len(names) == 1 and not url_state.get("chunks"):
        return None
    chosen = url_state.choose_or_not(
        *("Chunks", [chunking_label(name) for name in names], "chunks"),
        nothing=filter_widgets.ALL_CHUNKINGS,
        what="chunking",
        help="One chunking leaves with its chunks' own ids. In files of all of them ids begin with "
        "the name of their chunking, as in v2:c7.",
        width=220,
    )
    return None if chosen is None else (chunking_from_label(chosen),)


@st.fragment(run_every=LOOK_EVERY_SECONDS)
def offer_files(selected: Selection) -> None:
    """Offer files under names that keep up with the grading."""
    with ui.guard(), ui.open_store() as store:
        revision, seal = store.revision(), store.present_seal()
        refused = refusals(ui.database(), revision, store.data_revision(), selected)
    if selected != EVERYTHING:
        st.text(PART_NOTE.format(selected.describe()))
    for kind, words in FORMAT_LABELS.items():
        if kind in import_export.FEEDBACK_KINDS and kind in refused:
            continue  # no run came from that tool
        name = import_export.dated_name(
            name_with_selection(import_export.EXPORTS[kind], selected), revision
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                name,
                data=ui.with_audit(partial(export_bytes, kind, selected), name),
                file_name=name,
                key=f"download-{kind}",
                on_click="ignore",
                width=BUTTON_WIDTH,
                disabled=kind in refused,
            )
            st.write(words)
        if kind in refused:
            (st.caption if kind in WHOLE_ONLY else ui.show_error)(refused[kind])
    offer_backup(revision)
    st.caption(
        "A name says of which day a file is and up to which judgment it goes: r12 holds the first "
        "twelve, or some that came while it was being fetched."
    )
    offer_seal(str(seal), import_export.dated_name(f"golden{tamper_check.SEAL_SUFFIX}", revision))


def offer_seal(seal: str, name: str) -> None:
    """Show the newest tamper check, and offer it as a file for 'labeler check --against'."""
    st.caption(SEAL_NOTE)
    st.code(seal, language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            *(name, f"{seal}\n", name), key="download-seal", on_click="ignore", width=BUTTON_WIDTH
        )
        st.write("The seal as a file, for 'labeler check --against'")


@st.cache_data(max_entries=2, show_spinner=False)
def refusals(path: str, revision: int, data_revision: int, selected: Selection) -> dict[str, str]:
    """Return why formats cannot hold this golden set; a download could not say so."""
    with Store(path) as store:
        return import_export.refusals(store, selected)


def export_bytes(kind: str, selected: Selection) -> bytes:
    """Return the bytes ``labeler export`` would write."""
    with ui.open_store() as store:
        return import_export.export(store, kind, selected=selected)


def offer_backup(revision: int) -> None:
    """Offer a backup of the golden set; where it is too large, say how else it is made."""
    database = parse_location(ui.database())
    if isinstance(database, Address):
        st.write("Its database's own tool makes a backup of this golden set; on the server:")
        st.code(f"pg_dump --format custom --file golden.dump {database.name}")
        return
    if database.stat().st_size > LARGEST_BACKUP:
        st.write("A backup of this golden set is too large for a browser; on the server:")
        st.code("labeler backup FOLDER")
        return
    name = import_export.dated_name("golden.db", revision)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            name,
            data=ui.with_audit(partial(backups.content_of, database), name),
            file_name=name,
            mime="application/vnd.sqlite3",
            key="download-backup",
            on_click="ignore",
            width=BUTTON_WIDTH,
        )
        st.write(BACKUP_LABEL)
    st.caption(
        "Keep a backup as safe as the golden set: it holds who may come in, and the key that signs "
        "for this server."
    )
    with ui.guard():
        st.text(backups.describe_schedule(Schedule.from_environment(os.environ), database))
