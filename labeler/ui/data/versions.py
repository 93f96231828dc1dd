"""Data > Advanced > Versions: frozen golden sets, and what changed between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from labeler.model import SHORT_HASH, GoldenVersion, format_minute
from labeler.model.snapshot import GoldenChange, change_rows, describe_changes, find_changes
from labeler.render import csv_exports
from labeler.services.import_export import snapshots
from labeler.store import Store
from labeler.ui import links, url_state
from labeler.ui import shared as ui

MOST_SHOWN = 500
LIVE = "the golden set as it is now"
WHAT_IT_IS = (
    "A frozen version keeps queries, buckets, golden grades and the stored conventions for good. "
    "Grading goes on; pages, commands and gates can use that version."
)
NOTHING_YET = "No version is frozen yet. On the command line: `labeler freeze NAME`"


def show_versions() -> None:
    """List frozen golden sets, freeze the live one, and show changes between two."""
    with ui.guard(), ui.open_store() as store:
        found, now = store.versions.all(), store.collection.golden_state()
    st.caption(WHAT_IT_IS)
    same = [version.name for version in found if version.hash == now.hash]
    frozen = f"frozen as {', '.join(same)}" if same else "not frozen"
    st.text(f"Current golden set {now.hash[:SHORT_HASH]}: {frozen}")
    _freeze()
    if not found:
        st.write(NOTHING_YET)
        return
    st.dataframe([_row(version) for version in reversed(found)], hide_index=True)
    by_name = {version.name: version for version in reversed(found)}
    with st.container(horizontal=True, vertical_alignment="bottom"), ui.guard():
        names = list(by_name)
        old = url_state.choose("Version", names, "version", what="version", width=320)
        newer = [name for name in names if name != old]
        new = url_state.choose_or_not(
            *("Compare with", newer, "until"), nothing=LIVE, what="version", width=320
        )
    _offer(by_name[old])
    _show_changes(old, new)


def _freeze() -> None:
    with (
        st.form("freeze", border=False, clear_on_submit=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input("Name", placeholder="2026-11 release", width=240)
        note = st.text_input("Note", placeholder="what it is for", width=320)
        if st.form_submit_button("Freeze the golden set"):
            with ui.guard(), ui.open_store() as store:
                snapshots.freeze(store, name, note)
            ui.done("Frozen")


def _row(version: GoldenVersion) -> dict[str, object]:
    return {
        "version": version.name,
        "golden": version.hash[:SHORT_HASH],
        "frozen (UTC)": format_minute(version.at),
        "by": version.by or "",
        "note": version.note or "",
        "queries": version.queries,
        "grades": version.grades,
    }


def _offer(version: GoldenVersion) -> None:
    """Link to the numbers of a version, and offer it as a file."""
    with st.container(horizontal=True, vertical_alignment="center"):
        links.link("Scores by this version", url_state.to("/scores", golden=version.name))
        name = f"golden-version-{version.hash[:SHORT_HASH]}.jsonl"
        st.download_button(
            "Download the version",
            data=ui.with_audit(partial(_file_of, version.name), name),
            file_name=name,
            on_click="ignore",
        )
    st.code(version.hash, language=None, wrap_lines=True)


def _file_of(name: str) -> bytes:
    with ui.open_store() as store:
        return snapshots.version_file(snapshots.frozen_content(store, name))


def _show_changes(old: str, new: str | None) -> None:
    with ui.guard(), ui.open_store() as store:
        at = (ui.database(), store.golden_set.data_revision(), store.judgments.revision())
        hashes, changes = _changes(*at, old, new)
    st.text(f"From {old} to {new or LIVE}: {describe_changes(changes)}")
    if not changes:
        return
    rows = [change.as_cells() for change in changes[:MOST_SHOWN]]
    st.dataframe(rows, hide_index=True)
    if len(changes) > MOST_SHOWN:
        st.caption(f"The first {MOST_SHOWN:,} of {len(changes):,}; the file has them all.")
    file = partial(csv_exports.rows_csv, change_rows(changes, *hashes))
    ui.offer("Download these changes as CSV", file, "golden-changes.csv", at[2])


@st.cache_data(max_entries=4, show_spinner="Comparing the golden sets …")
def _changes(
    path: str, data_revision: int, revision: int, old: str, new: str | None
) -> tuple[tuple[str, str], Sequence[GoldenChange]]:
    """Return the hashes of both golden sets, and what changed from one to the other."""
    with Store(path) as store:
        before, after = snapshots.frozen_content(store, old), snapshots.content_of(store, new)
    return (before.state.hash, after.state.hash), find_changes(before, after)
