"""Data > Queries > Candidates: questions that may become queries, loaded from files or typed."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from labeler.errors import LabelerError
from labeler.formats import DOWN_GRADE, GENERATED_GRADE, UP_GRADE, SuggestionRule
from labeler.model import (
    CANDIDATE_SOURCES,
    DROPPED_STATE,
    OPEN_STATE,
    TAKEN_STATE,
    Candidate,
    CandidateBatch,
    format_count,
    format_minute,
)
from labeler.render.markup import show_html, style
from labeler.services import import_export
from labeler.services.candidates import SAMPLE_SIZE, nearest_queries
from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.ui.data import query_editor

PAGE_SIZE = 20
LONGEST_NUMBER = 18  # digits: any such number fits a database
STATES = {"open": OPEN_STATE, "set aside": DROPPED_STATE, "taken": TAKEN_STATE}
EVERY_SOURCE = "every source"
WHAT_IT_IS = (
    "Questions that may become queries. Equal questions are counted together, also with "
    "the query that already asks the same. Nothing here is in the golden set until you add it. "
    "Suggested grades never count."
)
EXAMPLES = {
    "log": "query,count,date,channel",
    "generated": '{"question": "how long does a refund take?", "chunk_id": "c7", "answer": "…"}',
    "thumbs": "query,chunk_id,vote      (up or down, 1 or 0, true or false)",
    "typed": "a .txt with one question per line, or a table with the column query",
}
STYLE = """
    [class*="st-key-told-"] [data-testid="stElementContainer"] + * [data-testid="stText"],
    [class*="st-key-told-"] [data-testid="stElementContainer"] + * {
        font-size: 0.875rem; opacity: 0.8;
    }
    @media (max-width: 640px) { [class*="st-key-told-"] { flex: 1 1 100%; } }
"""
FACETS, EVENLY, DRAW = "Buckets, separated by commas", "Draw evenly over", "How many to draw"
HINTS = {
    "--facet": f'On this page: the field "{FACETS}"',
    "--limit": "On this page limits are fixed; on the command line that option takes more",
    "labeler load queries": 'On this page: load its queries first, under "Load"',
}


def show_candidates() -> None:
    """Let a lead load or type questions, and decide on each."""
    if (number := url_state.get("take")) is not None:
        with ui.guard():
            taken = candidate_number(number)
        query_editor.take_candidate(taken)
        return
    show_html(style(STYLE))
    st.caption(WHAT_IT_IS)
    with ui.open_store() as store:
        is_empty = not store.candidates.counts()
    with st.expander("Add questions", expanded=is_empty):
        add_questions()
    with ui.open_store() as store:
        counts, batches = store.candidates.counts(), store.candidates.batches()
    if not counts:
        return
    list_candidates(counts)
    with st.expander("What was loaded"):
        st.dataframe([batch_row(batch) for batch in reversed(batches)], hide_index=True)


def candidate_number(text: str) -> int:
    """Return a number from the URL; `StaleLink` for any other text."""
    if not text.isdecimal() or len(text) > LONGEST_NUMBER:
        raise url_state.StaleLink(f"no candidate has the number {text!r}", ["take"])
    return int(text)


def add_questions() -> None:
    """Let a lead load a file of questions, or type them."""
    words = list(CANDIDATE_SOURCES)
    source = url_state.choose("Where they are from", words, "from_where", width=200)
    st.caption(f"{CANDIDATE_SOURCES[source].capitalize()}, such as:")
    st.code(EXAMPLES[source], language=None, wrap_lines=True)
    with st.form(f"questions-{source}", border=False):
        file = st.file_uploader("A file of questions", key=f"questions-file-{source}")
        typed = ""
        if source == "typed":
            typed = st.text_area(
                "Or type them here, one per line", key="questions-typed", height=120
            )
        options = load_options(source)
        pressed = st.form_submit_button("Load the questions", type="primary")
    if not pressed:
        return
    if file is not None:
        load_questions(source, file.name, file.getvalue(), options)
    elif typed.strip():
        load_questions(source, "typed.txt", typed.encode(), options)
    else:
        st.text("⚠ Choose a file above first")


def load_options(source: str) -> Mapping[str, object]:
    """Draw the options of a file of this kind; return them as `transfer` takes them."""
    said: dict[str, object] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if source == "log":
            said["most"] = st.number_input(DRAW, 1, None, SAMPLE_SIZE, key="questions-most")
            said["evenly"] = names_in(
                st.text_input(EVENLY, key="questions-evenly", placeholder="all their buckets")
            )
            said["seed"] = st.number_input("Seed", 0, None, 0, key="questions-seed")
        said["facets"] = names_in(
            st.text_input(FACETS, key="questions-facets", placeholder="every field with few values")
        )
        if source == "generated":
            of = "Suggested grade of the source chunk"
            grade = st.selectbox(of, range(4), GENERATED_GRADE, key="questions-grade", width=280)
            said["proposing"] = SuggestionRule(source=grade)
        if source == "thumbs":
            up = st.selectbox("Thumbs up suggests", range(4), UP_GRADE, key="questions-up")
            down = st.selectbox("Thumbs down suggests", range(4), DOWN_GRADE, key="questions-down")
            said["proposing"] = SuggestionRule(up=up, down=down)
    return said


def names_in(text: str) -> list[str] | None:
    """Return names separated by commas, None if there are none."""
    return [name.strip() for name in text.split(",") if name.strip()] or None


def load_questions(source: str, name: str, content: bytes, options: Mapping[str, object]) -> None:
    """Load a file of questions, and show the outcome."""
    bar = st.progress(0.0, "Reading …")
    try:
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "upload"
            path.write_bytes(content)
            put = import_export.read_candidates(
                path,
                source,
                name=name,
                progress=lambda share: bar.progress(share, "Reading …"),
                **options,  # type: ignore[arg-type]  # each as `load_options` has drawn it
            )
        with ui.open_store() as store:
            reports = put(store)
    except LabelerError as error:
        bar.empty()
        ui.explain(error, HINTS)
        return
    bar.empty()
    for report in reports:
        said = "Loaded" if report.changed else "Nothing new: all of it was loaded before"
        st.success(said, icon=":material/check:")
        st.code(str(report), language=None)


def list_candidates(counts: Mapping[tuple[str, str], int]) -> None:
    """Show candidates, those asked most often first, with buttons to decide on each."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = url_state.write_text("Find", "find", placeholder="words")
        state = STATES[url_state.choose("Which", list(STATES), "state", width=140)]
        there = sorted({source for source, _ in counts})
        source = url_state.choose_or_not(
            "From", there, "source", nothing=EVERY_SOURCE, what="source", clears=["page"], width=160
        )
    with ui.guard(), ui.open_store() as store:
        _, count = store.candidates.find(words, state=state, source=source, most=0)
        pages = max(-(-count // PAGE_SIZE), 1)
        page = url_state.page_in_url(pages)
        found, _ = store.candidates.find(
            words, state=state, source=source, most=PAGE_SIZE, skip=PAGE_SIZE * (page - 1)
        )
        queries = {query.query_id: query.text for query in store.queries.all()}
    by_state = {
        word: sum(often for (_, of), often in counts.items() if of == name)
        for word, name in STATES.items()
    }
    st.caption(" · ".join(f"{often:,} {word}" for word, often in by_state.items()))
    if not found:
        st.write("No match.")
    near = nearest_queries([each.text for each in found], queries)
    for each, alike in zip(found, near, strict=True):
        show_candidate(each, alike, queries)
    url_state.choose_page(pages)
    if state == DROPPED_STATE and found:
        offer_to_forget(by_state["set aside"])


def show_candidate(
    candidate: Candidate, alike: tuple[str, float] | None, queries: Mapping[str, str]
) -> None:
    """Show a candidate with its details and the buttons that decide on it."""
    number = candidate.number
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, horizontal_alignment="right"
    ):
        with st.container(gap=None, key=f"told-{number}"):
            st.text(candidate.text)
            st.text(describe_candidate(candidate))
            if candidate.state == TAKEN_STATE:
                st.text(f"it is query {candidate.query_id}")
            elif alike is not None:
                nearly = "the same words as" if alike[1] == 1 else f"{alike[1]:.0%} the words of"
                st.text(f"⚠ {nearly} {alike[0]}: {queries[alike[0]]}")
        if candidate.state == TAKEN_STATE:
            opened = {"show": None, "edit": candidate.query_id, "seen": None}
            key = f"open-{number}"
            st.button("Open that query", key=key, on_click=url_state.write, kwargs=opened)
            return
        if st.button("Take", key=f"take-{number}"):
            with ui.guard(query_editor.HINTS), ui.open_store() as store:
                store.candidates.take(number, import_export.query_from_candidate(candidate))
            ui.done("Taken")
        opened = {"take": str(number)}
        st.button("Edit first", key=f"edit-{number}", on_click=url_state.write, kwargs=opened)
        if alike is not None and st.button("It is that query", key=f"same-{number}"):
            with ui.guard(), ui.open_store() as store:
                store.candidates.link(number, alike[0])
            ui.done("Counted to that query")
        show_drop_button(candidate)


def show_drop_button(candidate: Candidate) -> None:
    """Draw the button that sets a candidate aside, or brings it back."""
    label = "Look at it again" if candidate.state == DROPPED_STATE else "Set aside"
    if st.button(label, key=f"aside-{candidate.number}"):
        with ui.guard(), ui.open_store() as store:
            move = (
                store.candidates.reopen
                if candidate.state == DROPPED_STATE
                else store.candidates.drop
            )
            move([candidate.number])
        ui.done("Open again" if candidate.state == DROPPED_STATE else "Set aside")


def describe_candidate(candidate: Candidate) -> str:
    """Say in one line where a candidate is from, how often it was asked, and in which buckets."""
    parts = [candidate.source]
    if candidate.source in ("log", "thumbs"):
        parts.append(f"asked {format_count(candidate.times, 'time', 'times')}")
    if candidate.asked_at:
        parts.append(f"last on {candidate.asked_at}")
    parts += [f"{facet} {bucket}" for facet, bucket in candidate.usual_buckets().items()]
    if candidate.reference:
        parts.append("with a reference answer")
    return " · ".join(parts)


def offer_to_forget(count: int) -> None:
    """Let a lead delete the candidates that were set aside, with their texts."""
    with st.popover("Delete what was set aside …"):
        st.text(
            f"{format_count(count, 'question is', 'questions are')} deleted for good, with their "
            "texts.\nA later file that contains them brings them back."
        )
        if st.button("Delete", type="primary", key="forget"):
            with ui.guard(), ui.open_store() as store:
                store.candidates.forget_dropped()
            ui.done("Deleted")


def batch_row(batch: CandidateBatch) -> dict[str, object]:
    """Return the table's row of a batch."""
    days: Sequence[str] = [day for day in (batch.first_asked, batch.last_asked) if day]
    return {
        "file": batch.file or "",
        "from": batch.source,
        "questions": batch.times,
        "distinct": batch.texts,
        "kept": batch.kept,
        "drawn evenly over": ", ".join(batch.evenly),
        "seed": "" if batch.seed is None else str(batch.seed),
        "asked": " to ".join(dict.fromkeys(days)),
        "loaded (UTC)": format_minute(batch.at),
        "by": batch.who or "",
    }
