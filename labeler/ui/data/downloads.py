"""Data > Download: the golden set, its parts, files for other tools, a backup, the tamper check."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import htpy
import streamlit as st

from labeler.evaluation import measures_for_runs, query_records
from labeler.model import (
    EVERYTHING,
    SHORT_HASH,
    Selection,
    chunking_from_label,
    chunking_label,
    format_count,
)
from labeler.render.markup import show_html, style
from labeler.render.tables.verdict_block import verdict_block
from labeler.services import import_export
from labeler.services.import_export.exports import WHOLE_ONLY, extract, name_with_selection
from labeler.services.import_export.parts import PartKind, write_part, write_rows
from labeler.store import Store, tamper_check
from labeler.store.addresses import Address, parse_location
from labeler.store.backup import backups
from labeler.store.backup.backups import Schedule
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui import shared as ui

LOOK_EVERY_SECONDS = 2
BUTTON_WIDTH = 350  # pixels, for the longest name
LARGEST_BACKUP = 500_000_000  # bytes; the server holds them in memory during a download
BACKUP_LABEL = "Everything in one file, checked; 'labeler restore' puts it back"
LEADING = {"jsonl": "primary", "csv": "secondary"}
PART_KINDS: tuple[PartKind, ...] = ("jsonl", "csv")
PART_TITLES = {
    "grades": "Grades that count",
    "judgments": "Every judgment",
    "queries": "Queries",
    "chunks": "Chunks",
    "runs": "Runs",
    "values": "Values",
}
FORMAT_LABELS = {
    "qrels": "TREC qrels, for trec_eval and others",
    "beir": "BEIR folder as .zip: corpus, queries and qrels",
    "quepid": "Quepid: ratings as CSV, by the queries' texts",
    "quepid-book": "Quepid: a book as JSON, with judges and their explanations",
    "opensearch": "OpenSearch: judgments as JSON, ready to import",
    "ragas": "RAGAS: samples with reference contexts, one per line",
    "ranx": "ranx: JSON of grades by query and chunk",
    "phoenix": "Phoenix: grades as annotations of the documents of its spans",
    "langfuse": "Langfuse: measures of each list as scores of its observation",
}
COMPLETE_LABEL = "Texts, settings and every judgment in one file; restores everything except runs"
LOG_LABEL = "The log of judgments and remarks, with its tamper check"
PART_NOTE = "This is a part: {}. It has its own hash; a backup always has everything."
JSONL_NOTE = "JSONL loads back as the same golden set; CSV is for people and spreadsheets."
SEAL_NOTE = (
    "Keep this line somewhere else than on this server. 'labeler check --against' then tells "
    "whether anybody has changed the log up to here."
)
FILE_NAMES = (
    "File names end with the date and the number of the last judgment, as in r1193; a few newer "
    "ones may be in the file."
)
STYLE = """
[class*="st-key-part-"] {
  border-top: 1px solid var(--line); padding: 0.25rem 0; gap: 0 1.5rem; max-width: 62.5rem;
}
.st-key-parts { gap: 0; }
.st-key-parts > div:last-child [class*="st-key-part-"] { border-bottom: 1px solid var(--line2); }
[class*="st-key-part-"] > div:first-child { flex: 1 1 20rem; min-width: 0; }
[class*="st-key-part-"] > div:not(:first-child) { flex: 0 0 7.5rem; }
[class*="st-key-part-"] button, [class*="st-key-part-"] button * { justify-content: start; }
[class*="st-key-part-"] button { padding: 0; text-align: left; }
.stApp .part {
  display: grid; grid-template-columns: minmax(8rem, 16.5rem) 1fr; gap: 0 1rem; margin: 0;
  font-size: 0.9375rem; line-height: 1.5rem;
}
.part b { font-weight: 400; }
.part span { color: var(--muted); }
@media (max-width: 60rem) { .stApp .part { grid-template-columns: 1fr; } }
"""


def show_downloads() -> None:
    """Offer the golden set, or the chosen queries and chunking, in every format."""
    show_html(style(STYLE))
    with ui.guard():
        with filter_widgets.row():
            filter_widgets.choose_selection(width=220)
            chunkings = choose_chunking()
        offer_files(replace(scoreboards.shown_selection(), chunkings=chunkings))


def choose_chunking() -> tuple[str, ...] | None:
    """Let the user choose one chunking, or all (None), if there are several."""
    with ui.open_store() as store:
        names = store.chunkings.names()
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
    """Offer files whose names follow the grading; those that most people want are first."""
    with ui.guard(), ui.open_store() as store:
        revision, seal = store.judgments.revision(), store.tamper_check.present_seal()
        refused = refusals(ui.database(), revision, store.golden_set.data_revision(), selected)
        contents, state = store.golden_set.contents(), store.collection.golden_state()
    if selected == EVERYTHING:
        grades = format_count(contents.golden, "golden grade", "golden grades")
        queries = format_count(contents.queries, "query", "queries")
        freeze = url_state.page_url("/data", section="Advanced", show="Versions")
        says = "The golden set as it is now, in one file."
        note: htpy.Node = [
            f"{grades}, {queries}, golden set {state.hash[:SHORT_HASH]}. To keep a number "
            "reproducible, ",
            htpy.a(href=freeze)["freeze a version"],
            " first.",
        ]
    else:
        says = "A part of the golden set, in one file."
        note = PART_NOTE.format(selected.describe())
    show_html(verdict_block(says, doubts=[note]))
    with st.container(horizontal=True):
        for kind, emphasis in LEADING.items():
            name = name_with_selection(import_export.EXPORTS[kind], selected)
            offer_file(kind, selected, revision, refused, f"Download {name}", emphasis)
    say_refusals(LEADING, refused)
    st.caption(f"{JSONL_NOTE} {FILE_NAMES}")
    offer_parts(selected, revision, refused)
    with st.expander("For other tools · TREC, BEIR, ranx, RAGAS, Quepid, OpenSearch", key="tools"):
        for kind, label in FORMAT_LABELS.items():
            if kind not in import_export.FEEDBACK_KINDS or kind not in refused:
                offer_row(kind, label, selected, revision, refused)
    with st.expander("Backup · the whole golden set, with runs", key="backup"):
        offer_backup(revision)
        offer_row("complete", COMPLETE_LABEL, selected, revision, refused)
    with st.expander("Tamper check (optional)", key="tamper"):
        seal_name = import_export.dated_name(f"golden{tamper_check.SEAL_SUFFIX}", revision)
        offer_seal(str(seal), seal_name)
        offer_row("events", LOG_LABEL, selected, revision, refused)


def offer_parts(selected: Selection, revision: int, refused: Mapping[str, str]) -> None:
    """Offer each part of the golden set as JSONL and as CSV."""
    with ui.open_store() as store:
        said = describe_parts(ui.database(), revision, store.golden_set.data_revision(), selected)
    if not said:
        return
    st.header("Parts")
    log_refused = refused.get("events")
    with st.container(key="parts"):
        for part, sentence in said.items():
            refusal = log_refused if part == "judgments" else None
            with st.container(horizontal=True, vertical_alignment="center", key=f"part-{part}"):
                says = htpy.b[PART_TITLES[part]], htpy.span[refusal or sentence]
                show_html(htpy.p(".part")[says])
                for kind in PART_KINDS:
                    base = name_with_selection(f"{part}.{kind}", selected)
                    name = import_export.dated_name(base, revision)
                    st.download_button(
                        base,
                        data=ui.with_audit(partial(part_bytes, part, kind, selected), name),
                        file_name=name,
                        key=f"download-{part}-{kind}",
                        on_click="ignore",
                        type="tertiary",
                        disabled=refusal is not None,
                    )


@st.cache_data(max_entries=2, show_spinner=False)
def describe_parts(
    path: str, revision: int, data_revision: int, selected: Selection
) -> dict[str, str]:
    """Return the size of each part in words; empty parts are left out."""
    with Store(path) as store:
        return dict(_described_parts(store, selected))


def _described_parts(store: Store, selected: Selection) -> Iterator[tuple[str, str]]:
    there, leaving = store.golden_set.contents(), extract(store, selected=selected)
    wanted = store.chunkings.names() if selected.chunkings is None else selected.chunkings
    of_runs = store.chunkings.of_runs()
    runs = [run for run in store.runs.all() if of_runs[run.name] in wanted]
    if leaving.grades:
        grades = format_count(len(leaving.grades), "golden grade", "golden grades")
        yield "grades", f"{grades}, one per query and chunk"
    if there.judgments:
        judgments = format_count(there.judgments, "judgment", "judgments")
        yield "judgments", f"{judgments}, with who, when and how long"
    if leaving.queries:
        queries = format_count(len(leaving.queries), "query", "queries")
        with_what = {
            "reference answers": any(query.reference for query in leaving.queries),
            "facets": any(query.task or query.buckets for query in leaving.queries),
        }
        more = " and ".join(name for name, is_there in with_what.items() if is_there)
        yield "queries", queries + (f", with {more}" if more else "")
    if chunks := sum(each.chunks for each in store.chunkings.all() if each.name in wanted):
        yield "chunks", format_count(chunks, "chunk", "chunks")
    if runs:
        deep = max(run.depth for run in runs)
        yield "runs", f"{format_count(len(runs), 'run', 'runs')}, up to {deep:,} results a query"
        if leaving.grades:
            yield "values", "every run, query and default measure"


def part_bytes(part: str, kind: PartKind, selected: Selection) -> bytes:
    """Return a part of the golden set as a file."""
    with ui.open_store() as store:
        if part != "values":
            return write_part(store, part, kind, selected)
        board = scoreboards.server_board(store, selected)
    measures = board.conventions.measures(measures_for_runs(board.collection, chunks=False))
    meant = f"{board.conventions.preset}: {board.conventions.describe()}"
    rows = [
        {**row, "conventions": meant}
        for run in board.run_names
        for row in query_records(board.per_query(run, measures))
    ]
    return write_rows(rows, kind)


def offer_row(
    kind: str, says: str, selected: Selection, revision: int, refused: Mapping[str, str]
) -> None:
    """Offer a file beside its description, or say why there is none."""
    name = name_with_selection(import_export.EXPORTS[kind], selected)
    label = import_export.dated_name(name, revision)
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_file(kind, selected, revision, refused, label, width=BUTTON_WIDTH)
        st.write(says)
    say_refusals([kind], refused)


def offer_file(
    kind: str,
    selected: Selection,
    revision: int,
    refused: Mapping[str, str],
    label: str,
    emphasis: str = "secondary",
    width: int | Literal["content"] = "content",
) -> None:
    """Draw the button of one file."""
    base = name_with_selection(import_export.EXPORTS[kind], selected)
    name = import_export.dated_name(base, revision)
    st.download_button(
        label,
        data=ui.with_audit(partial(export_bytes, kind, selected), name),
        file_name=name,
        key=f"download-{kind}",
        on_click="ignore",
        type="primary" if emphasis == "primary" else "secondary",
        width=width,
        disabled=kind in refused,
    )


def say_refusals(kinds: Iterable[str], refused: Mapping[str, str]) -> None:
    """Show why files cannot be made."""
    for kind in kinds:
        if kind in refused:
            (st.caption if kind in WHOLE_ONLY else ui.show_error)(refused[kind])


def offer_seal(seal: str, name: str) -> None:
    """Show the newest tamper check, and offer it as a file for 'labeler check --against'."""
    st.caption(SEAL_NOTE)
    st.code(seal, language=None, wrap_lines=True)
    st.download_button(
        *(name, f"{seal}\n", name), key="download-seal", on_click="ignore", width=BUTTON_WIDTH
    )


@st.cache_data(max_entries=2, show_spinner=False)
def refusals(path: str, revision: int, data_revision: int, selected: Selection) -> dict[str, str]:
    """Return by format why it cannot hold this golden set; a download could not show the reason."""
    with Store(path) as store:
        return import_export.refusals(store, selected)


def export_bytes(kind: str, selected: Selection) -> bytes:
    """Return the bytes ``labeler export`` would write."""
    with ui.open_store() as store:
        return import_export.export(store, kind, selected=selected)


def offer_backup(revision: int) -> None:
    """Offer a backup of the golden set; if it is too large, say how to make one otherwise."""
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
    st.caption("It contains sign-in data, and the key this server signs with: store it safely.")
    with ui.guard():
        st.text(backups.describe_schedule(Schedule.from_environment(os.environ), database))
