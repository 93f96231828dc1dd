"""The frozen golden sets: listed, made, taken away, and what changed between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from labeler.model import SHORT, Version, minute
from labeler.model.versions import Change, cells_of, difference, in_words
from labeler.render import downloads
from labeler.services.import_export import freezing
from labeler.store import Store
from labeler.ui import address, links
from labeler.ui import shared as ui

MOST_SHOWN = 500
NOW = "the golden set as it is now"
WHAT_IT_IS = (
    "A frozen version keeps queries, buckets, golden grades and the stored conventions for good. "
    "Grading goes on; pages, commands and gates can count by the version."
)
NOTHING_YET = "Nothing is frozen yet. In a terminal: `labeler freeze NAME`"


def versions() -> None:
    """List what is frozen, freeze what is live, and show what changed."""
    with ui.guard(), ui.open_store() as store:
        found, now = store.versions(), store.golden_state()
    st.caption(WHAT_IT_IS)
    same = [version.name for version in found if version.hash == now.hash]
    as_is = f", frozen as {', '.join(same)}" if same else ", not frozen as it is"
    st.text(f"Now: golden {now.hash[:SHORT]}{as_is}")
    _freeze()
    if not found:
        st.write(NOTHING_YET)
        return
    st.dataframe([_row(version) for version in reversed(found)], hide_index=True)
    by_name = {version.name: version for version in reversed(found)}
    with st.container(horizontal=True, vertical_alignment="bottom"), ui.guard():
        names = list(by_name)
        old = address.choose("Version", names, "version", what="version", width=320)
        newer = [name for name in names if name != old]
        new = address.choose_or_not(
            *("What changed until", newer, "until"), nothing=NOW, what="version", width=320
        )
    _offer(by_name[old])
    _show_changes(old, new)


def _freeze() -> None:
    with (
        st.form("freeze", border=False, clear_on_submit=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input("Name", placeholder="2026-11 release", width=240)
        note = st.text_input("Note", placeholder="what it is kept for", width=320)
        if st.form_submit_button("Freeze the golden set"):
            with ui.guard(), ui.open_store() as store:
                freezing.freeze(store, name, note)
            ui.done("Frozen")


def _row(version: Version) -> dict[str, object]:
    return {
        "version": version.name,
        "golden": version.hash[:SHORT],
        "frozen (UTC)": minute(version.at),
        "by": version.by or "",
        "note": version.note or "",
        "queries": version.queries,
        "grades": version.grades,
    }


def _offer(version: Version) -> None:
    """Lead to the numbers of a version, and offer it as a file."""
    with st.container(horizontal=True, vertical_alignment="center"):
        links.link("Scores by it", address.to("/scores", golden=version.name))
        name = f"golden-version-{version.hash[:SHORT]}.jsonl"
        st.download_button(
            "Download the version",
            data=ui.noted(partial(_file_of, version.name), name),
            file_name=name,
            on_click="ignore",
        )
    st.code(version.hash, language=None, wrap_lines=True)


def _file_of(name: str) -> bytes:
    with ui.open_store() as store:
        return freezing.as_file(freezing.frozen(store, name))


def _show_changes(old: str, new: str | None) -> None:
    with ui.guard(), ui.open_store() as store:
        at = (ui.database(), store.data_revision(), store.revision())
        hashes, changes = _changes(*at, old, new)
    st.text(f"From {old} to {new or NOW}: {in_words(changes)}")
    if not changes:
        return
    rows = [change.as_cells() for change in changes[:MOST_SHOWN]]
    st.dataframe(rows, hide_index=True)
    if len(changes) > MOST_SHOWN:
        st.caption(f"The first {MOST_SHOWN:,} of {len(changes):,}; the file has them all.")
    file = partial(downloads.rows_csv, cells_of(changes, *hashes))
    ui.offer("Download these changes as CSV", file, "golden-changes.csv", at[2])


@st.cache_data(max_entries=4, show_spinner="Comparing the golden sets …")
def _changes(
    path: str, data_revision: int, revision: int, old: str, new: str | None
) -> tuple[tuple[str, str], Sequence[Change]]:
    """Return the hashes of both golden sets, and what changed from one to the other."""
    with Store(path) as store:
        before, after = freezing.frozen(store, old), freezing.content_of(store, new)
    return (before.state.hash, after.state.hash), difference(before, after)
