"""Who did what, for leads: searched, page by page, and as a file; nothing here can be changed."""

from __future__ import annotations

import json
import math

import streamlit as st

from labeler.model import AUDITED, WAYS, AuditEntry, counted, legible
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.tables import Said
from labeler.ui import address
from labeler.ui import shared as ui

ON_A_PAGE = 100
PAGE = "audit-page"
HEADINGS = ["when (UTC)", "who", "from", "what", "of", "more"]
EVERYTHING = "everything"
NOTE = (
    "Entries are added and never changed. Refusals of one kind are counted by the minute, and "
    "stand here once it is over. Who is the name they had then; from is the network address as the "
    "server saw it: behind a proxy, what the proxy says. Grades are not in here but in a log of "
    "their own, see Download."
)


def audit() -> None:
    """Show the audit, the newest first."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = address.write_text("Find", "audited", placeholder="a name, a file, an address")
        kind = address.choose_or_not(
            "What", list(AUDITED), "what", nothing=EVERYTHING, what="kind of entry", width=220
        )
    at = page_of(words, kind)
    with ui.open_store() as store:
        found, count = store.audited(words, kind=kind, most=ON_A_PAGE, skip=at * ON_A_PAGE)
        revision = store.revision()
    if not found:
        st.subheader("Nothing here is like that" if words or kind else "Nothing was done yet")
        st.write("Invitations, sign-ins, loads, exports, settings and refusals stand here.")
        return
    show_html(tables.sheet(HEADINGS, [row_of(entry) for entry in found]))
    st.caption(f"{counted(count, 'entry', 'entries')}, the newest first. {NOTE}")
    ui.offer("Download all of it as JSONL", whole, "audit.jsonl", revision)


def page_of(words: str, kind: str | None) -> int:
    """Let the user turn pages where there is more than one; return which one, from 0."""
    with ui.open_store() as store:
        _, count = store.audited(words, kind=kind, most=0)
    return address.choose_page(math.ceil(count / ON_A_PAGE), PAGE) - 1


def row_of(entry: AuditEntry) -> list[Said | str | None]:
    """Return an entry as the table shows it; every word of it may be hostile, and is text."""
    times = f"{entry.count:,} times" if entry.count > 1 else ""
    return [
        entry.at[:19].replace("T", " "),
        Said(legible(entry.by), WAYS.get(entry.way, entry.way)),
        Said(entry.address) if entry.address else None,
        Said(AUDITED.get(entry.kind, entry.kind), times),
        Said(legible(entry.subject)) if entry.subject else None,
        Said(legible(entry.more)) if entry.more else None,
    ]


def whole() -> bytes:
    """Return every entry as JSONL, the oldest first."""
    with ui.open_store() as store:
        return "".join(f"{json.dumps(each.as_dict())}\n" for each in store.audit_log()).encode()
