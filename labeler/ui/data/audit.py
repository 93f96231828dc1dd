"""Data > Advanced > Audit: search and download who did what; entries never change."""

from __future__ import annotations

import json
import math

import streamlit as st

from labeler.model import (
    AUDIT_KINDS,
    IDENTIFICATION_LABELS,
    AuditEntry,
    escape_controls,
    format_count,
)
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.tables import TextCell
from labeler.ui import shared as ui
from labeler.ui import url_state

ON_A_PAGE = 100
PAGE_PARAMETER = "audit-page"
HEADINGS = ["when (UTC)", "who", "from", "what", "about", "more"]
EVERYTHING = "everything"
NOTE = (
    "Entries never change. Repeated refusals are counted per minute. Who: the name at that time. "
    "From: the network address the server saw; behind a proxy, what the proxy says. Grades are in "
    "a log of their own: see Download."
)


def show_audit() -> None:
    """Show the audit, the newest first."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = url_state.write_text("Find", "audited", placeholder="a name, a file, an address")
        kind = url_state.choose_or_not(
            "What", list(AUDIT_KINDS), "what", nothing=EVERYTHING, what="kind of entry", width=220
        )
    at = choose_audit_page(words, kind)
    with ui.open_store() as store:
        found, count = store.audit.search(words, kind=kind, most=ON_A_PAGE, skip=at * ON_A_PAGE)
        revision = store.judgments.revision()
    if not found:
        st.header("No match" if words or kind else "Nothing has been done yet")
        st.write("Invitations, sign-ins, loads, exports, settings and refusals are listed here.")
        return
    show_html(tables.plain_table(HEADINGS, [audit_row(entry) for entry in found]))
    st.caption(f"{format_count(count, 'entry', 'entries')}, newest first. {NOTE}")
    ui.offer("Download all of it as JSONL", audit_file, "audit.jsonl", revision)


def choose_audit_page(words: str, kind: str | None) -> int:
    """Let the user turn pages if there are several; return the open one, from 0."""
    with ui.open_store() as store:
        _, count = store.audit.search(words, kind=kind, most=0)
    return url_state.choose_page(math.ceil(count / ON_A_PAGE), PAGE_PARAMETER) - 1


def audit_row(entry: AuditEntry) -> list[TextCell | str | None]:
    """Return the table's row of an entry, as text: every word of it may be hostile."""
    times = f"{entry.count:,} times" if entry.count > 1 else ""
    return [
        TextCell(entry.at[:19].replace("T", " ")),
        TextCell(escape_controls(entry.by), IDENTIFICATION_LABELS.get(entry.way, entry.way)),
        TextCell(entry.address) if entry.address else None,
        TextCell(AUDIT_KINDS.get(entry.kind, entry.kind), times),
        TextCell(escape_controls(entry.subject)) if entry.subject else None,
        TextCell(escape_controls(entry.more)) if entry.more else None,
    ]


def audit_file() -> bytes:
    """Return every entry as JSONL, the oldest first."""
    with ui.open_store() as store:
        return "".join(f"{json.dumps(each.as_dict())}\n" for each in store.audit.log()).encode()
