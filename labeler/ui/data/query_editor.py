"""Data > Queries: find, add, edit and retire queries; the fields of one query and its history.

The URL says which version of a query a user began to edit, so that another user's change is
shown before it could be overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from labeler.errors import LabelerError
from labeler.formats import LIMITS, parse_query, query_id_from_text
from labeler.model import (
    QUERY_CHANGES,
    SPLITS,
    Query,
    QueryChange,
    format_count,
    format_minute,
)
from labeler.render.markup import show_html, style
from labeler.services import import_export
from labeler.services.candidates import nearest_queries
from labeler.store import query_fingerprint
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui import shared as ui

if TYPE_CHECKING:
    from labeler.store import QuerySummary


MOST = 20
QUERY_STATES: Mapping[str, tuple[bool | None, bool | None]] = {
    "all": (None, None),
    "in use": (False, None),
    "retired": (True, None),
    "leaked": (None, True),
}
"""Whether queries are retired, and whether they are marked as leaked; None is either."""
ADD_LABEL = "Add a query"


def show_queries() -> None:
    """Let a lead find, add, edit, retire and restore queries."""
    if (opened := url_state.get("edit")) is not None:
        edit_query(opened)
        return
    if url_state.get("new") is not None:
        add_query()
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = url_state.write_text("Find", "find", placeholder="id or text")
        shown = url_state.choose("Which", list(QUERY_STATES), "which", width=140)
        split = filter_widgets.choose_split(scoreboards.selection_options()[0], width=140)
        st.button(ADD_LABEL, on_click=url_state.write, kwargs={"new": "true"})
    retired, leaked = QUERY_STATES[shown]
    with ui.guard(), ui.open_store() as store:
        found, count = store.queries.find(
            words, retired=retired, split=split, leaked=leaked, most=MOST
        )
        leaks = {leak.query_id: leak.sentence for leak in store.splits.leaked()}
        there = store.golden_set.contents()
    if not there.queries + there.retired:
        ui.say_empty(
            "There is no query yet", "Load the questions people ask.", "labeler load queries FILE"
        )
        return
    more = f", the first {MOST} shown; find the others by their id or text" * (count > MOST)
    st.caption(
        f"{count:,} of {there.queries + there.retired:,} queries{more} · {there.retired:,} "
        "retired. A retired query is left out of grading, scores and exports; its grades stay."
    )
    for query in found:
        show_query_row(query, leaks.get(query.query_id, ""))


def show_query_row(query: QuerySummary, leak: str) -> None:
    """Show a query with its grades, its marks and the buttons that edit, retire or restore it."""
    grades = format_count(query.grades, "grade", "grades")
    split = f" · split {query.split}" if query.split else ""
    state = f" · retired on {query.retired_at[:10]}" if query.retired_at else ""
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, horizontal_alignment="right"
    ):
        with st.container(gap=None):
            st.text(f"{query.query_id} · {query.text}")
            st.caption(f"{grades}{split}{state}")
            if leak:
                st.text(f"⚠ {leak}")
        if not query.retired_at:
            opened = {"edit": query.query_id, "seen": None}
            st.button("Edit", key=f"Edit-{query.query_id}", on_click=url_state.write, kwargs=opened)
        label = "Restore" if query.retired_at else "Retire"
        if st.button(label, key=f"{label}-{query.query_id}"):
            with ui.guard(), ui.open_store() as store:
                put = store.queries.restore if query.retired_at else store.queries.retire
                put(query.query_id)
            ui.done("Restored" if query.retired_at else "Retired")


NO_VALUE = "none"
ID_LABEL = "Id"
ID_HELP = "What files and runs call it; it stays. Empty: one made of its words."
KEYWORDS_HELP = "Words or names that a right answer holds, one a line"
NEW_FACET, NEW_BUCKET = "Another facet", "Its bucket"
EDITOR_PARAMETERS = ("edit", "seen", "new", "take")
STYLE = '[class*="-facet-"] [data-testid="stText"] { font-size: 0.875rem; }'
HINTS = {
    "labeler queries restore": 'On this page: "Restore" beside it in the list of queries',
    "give this one another id": f'On this page: the field "{ID_LABEL}"',
    "give it as query, text or question": 'On this page: the field "Question"',
}
CHANGED_MEANWHILE = (
    "Nothing of yours is lost or stored yet. Your fields are above, what it says now is below."
)


def edit_query(query_id: str) -> None:
    """Let a lead change a query, and show its earlier changes.

    The URL holds the version that the lead started from. If somebody else has changed the query
    since, that change is shown before anything is overwritten.
    """
    with ui.guard(), ui.open_store() as store:
        query, facets = store.queries.get(query_id), store.queries.facets()
        origin, history = store.history.origin_of(query_id), store.history.of(query_id)
        proposed = len(store.suggestions.proposals_of(query_id))
    now, seen = query_fingerprint(query), url_state.get("seen")
    if seen is None or f"edit-{query_id}-{seen}-text" not in st.session_state:
        seen = now  # the fields have the current version
        url_state.write(seen=seen)
    back_button()
    st.text(f"Query {query_id}")
    label = "Save" if seen == now else "Overwrite with mine"
    typed = query_fields(f"edit-{query_id}-{seen}", query, facets, label, now)
    if seen != now:
        say_changed_meanwhile(history)
    if typed is not None:
        try:
            with ui.open_store() as store:
                changed = store.queries.edit(typed, now)
        except LabelerError as error:
            ui.explain(error, HINTS)
        else:
            finish("Saved" if changed else "Nothing was changed")
    show_history(history)
    told = f"Source: {origin}"
    if proposed:
        told += f" · {format_count(proposed, 'suggested grade', 'suggested grades')}, never counted"
    st.text(told)


def say_changed_meanwhile(history: Sequence[QueryChange]) -> None:
    """Say who changed the query meanwhile, and offer the current version for the fields."""
    newest = next(iter(history), None)
    who = "Somebody" if newest is None else newest.who or "Somebody"
    what = "" if newest is None else f": {', '.join(name for name, *_ in newest.fields())}"
    with st.container(border=True):
        st.text(f"⚠ {who} has changed this query since you opened it{what}. {CHANGED_MEANWHILE}")
        st.button("Reload the current version", on_click=url_state.remove, args=[["seen"]])


def add_query() -> None:
    """Let a lead type a query."""
    with ui.guard(), ui.open_store() as store:
        facets, queries = store.queries.facets(), store.queries.texts()
    back_button()
    near = nearest_query(str(st.session_state.get("new-text", "")), queries)
    typed = query_fields("new", None, facets, "Add it anyway" if near else "Add", near or "")
    if near:
        st.text(f"⚠ It is nearly the same as {near}")
    if typed is None:
        return
    try:
        with ui.open_store() as store:
            store.queries.add(typed)
    except LabelerError as error:
        ui.explain(error, HINTS)
    else:
        finish("Added")


def take_candidate(number: int) -> None:
    """Let a lead complete a candidate before it becomes a query."""
    with ui.guard(), ui.open_store() as store:
        candidate, facets = store.candidates.get(number), store.queries.facets()
    back_button()
    query = import_export.query_from_candidate(candidate)
    typed = query_fields(f"take-{number}", query, facets, "Take it", with_id=True)
    if typed is None:
        return
    try:
        with ui.open_store() as store:
            store.candidates.take(number, typed)
    except LabelerError as error:
        ui.explain(error, HINTS)
    else:
        finish("Taken")


def nearest_query(text: str, queries: Mapping[str, str]) -> str | None:
    """Name the query that a text nearly repeats, if any."""
    [found] = nearest_queries([text], queries)
    return None if found is None else f"{found[0]}: {queries[found[0]]}"


def back_button() -> None:
    """Draw the button that goes back to the list."""
    st.button(
        "← Back to the list", on_click=url_state.remove, args=[EDITOR_PARAMETERS], type="tertiary"
    )


def finish(word: str) -> None:
    """Say that something was done, and show the list again."""
    ui.done(word, **dict.fromkeys(EDITOR_PARAMETERS))


def query_fields(
    place: str,
    query: Query | None,
    facets: Mapping[str, Sequence[str]],
    label: str,
    turn: str = "",
    *,
    with_id: bool = False,
) -> Query | None:
    """Draw a query's fields; return their content when ``label`` is pressed and it is valid.

    The button's key includes ``turn``, so that a press meant for an earlier state does nothing.
    """
    show_html(style(STYLE))
    with st.form(f"{place}-fields", enter_to_submit=False):
        text = st.text_area("Question", query.text if query else "", key=f"{place}-text", height=80)
        with st.container(horizontal=True):
            query_id = query.query_id if query else ""
            if query is None or with_id:
                query_id = st.text_input(
                    ID_LABEL,
                    query_id,
                    key=f"{place}-id",
                    help=ID_HELP,
                    placeholder="made from its words",
                )
            task = choose_word(
                *("Task", facets.get("task", ()), query.task if query else None, f"{place}-task"),
                free=True,
            )
            split = choose_word("Split", SPLITS, query.split if query else None, f"{place}-split")
        buckets = bucket_fields(place, dict(query.buckets) if query else {}, facets)
        told = guidance_fields(place, query)
        pressed = st.form_submit_button(label, type="primary", key=f"{place}-press-{turn}")
    if not pressed:
        return None
    is_new = query is None or with_id
    record = {
        "query_id": query_id.strip() or query_id_from_text(text) if is_new else query_id,
        "query": as_typed(text, query.text if query else None),
        "task": task,
        "split": split,
        "buckets": buckets,
        **told,
    }
    try:
        return parse_query(
            {name: said for name, said in record.items() if said}, LIMITS, exact=True
        )
    except LabelerError as error:
        ui.explain(error, HINTS)
        return None


def choose_word(
    label: str, options: Sequence[str], value: str | None, key: str, *, free: bool = False
) -> str | None:
    """Draw a box for one of a few words, or none of them; ``free`` takes a new word, too."""
    there = list(dict.fromkeys([NO_VALUE, *options, *([value] if value else [])]))
    chosen = st.selectbox(
        *(label, there, there.index(value or NO_VALUE)),
        key=key,
        width=160,
        accept_new_options=free,
    )
    return None if chosen == NO_VALUE else chosen


def bucket_fields(
    place: str, buckets: Mapping[str, str], facets: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Draw a box for each facet, and the fields of a new one; return what is chosen."""
    known = {name: list(names) for name, names in facets.items() if name not in ("task", "split")}
    chosen: dict[str, str] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for number, facet in enumerate(dict.fromkeys([*known, *buckets]), 1):
            own = [buckets[facet]] if facet in buckets else []
            there = list(dict.fromkeys([*known.get(facet, []), *own]))
            nothing = url_state.apart_from(there, NO_VALUE)
            with st.container(width=200, gap="xsmall", key=f"{place}-facet-{number}"):
                st.text(facet)  # a label would be read as Markdown
                said = st.selectbox(
                    f"Bucket of {facet if is_plain(facet) else f'facet {number}'}",
                    [nothing, *there],
                    there.index(own[0]) + 1 if own else 0,
                    key=f"{place}-bucket-{facet}",
                    accept_new_options=True,
                    label_visibility="collapsed",
                )
            if said is not None and said != nothing:
                chosen[facet] = said
        facet = st.text_input(NEW_FACET, key=f"{place}-facet", width=160, placeholder="topic")
        bucket = st.text_input(NEW_BUCKET, key=f"{place}-bucket", width=160, placeholder="refund")
    return {**chosen, **({facet.strip(): bucket.strip()} if facet.strip() and bucket else {})}


def is_plain(name: str) -> bool:
    """Return whether a name is the same text in Markdown, as which labels are read."""
    return name.replace(" ", "").replace("-", "").isalnum() and not name.startswith("-")


def guidance_fields(place: str, query: Query | None) -> dict[str, object]:
    """Draw what graders read about a query; return it as a file has it."""
    guideline = st.text_area(
        "Guideline for graders",
        (query and query.guideline) or "",
        key=f"{place}-guideline",
        height=80,
    )
    reference = st.text_area(
        "Reference answer", (query and query.reference) or "", key=f"{place}-reference", height=80
    )
    keywords = st.text_area(
        "Keywords",
        "\n".join(query.keywords) if query else "",
        key=f"{place}-keywords",
        help=KEYWORDS_HELP,
        height=80,
        placeholder="one per line",
    )
    return {
        "guideline": as_typed(guideline, query.guideline if query else None),
        "reference": as_typed(reference, query.reference if query else None),
        "keywords": [*query.keywords]
        if query and keywords == "\n".join(query.keywords)
        else [line.strip() for line in keywords.splitlines() if line.strip()],
    }


def as_typed(text: str, former: str | None) -> str | None:
    """Return a field's text without blanks around it, or the former text if it did not change."""
    return former if text == (former or "") else text.strip() or None


def show_history(history: Sequence[QueryChange]) -> None:
    """Show the changes of a query: author, time, old and new values."""
    if not history:
        st.caption("No changes yet.")
        return
    rows = [
        {
            "when (UTC)": format_minute(change.at),
            "who": change.who or "",
            "what": QUERY_CHANGES[change.kind],
            "field": name,
            "before": old,
            "after": new,
        }
        for change in history
        for name, old, new in change.fields()
    ]
    wide = st.column_config.TextColumn(width=280)
    st.dataframe(rows, hide_index=True, column_config={"before": wide, "after": wide})
