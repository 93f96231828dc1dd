"""The query view from top to bottom: links, query, verdict, lists, opened chunk, details."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import RankChange
from labeler.analysis.failures import LossAgainstRun
from labeler.evaluation import format_number, format_signed
from labeler.model import format_count
from labeler.render import tables
from labeler.render.markup import show_html, style
from labeler.render.tables.verdict_block import verdict_block
from labeler.render.text import in_label
from labeler.ui import links, url_state
from labeler.ui import shared as ui
from labeler.ui.query_view.chunk import show_chunk
from labeler.ui.query_view.details import show_details
from labeler.ui.query_view.opened import OpenedQuery
from labeler.ui.query_view.why import QueryAnswers
from labeler.web.static_js import loader, read_assets

DEPTHS = (10, 20, 50, 100)
RUNS_IN_SIGHT = 4
LONGEST_TITLE = 200  # characters of a text used as a title
# The query replaces the page's title and choices on screen; the choices still apply.
STYLE = style("""
.title:has(h1) { position: absolute; width: 1px; height: 1px; padding: 0; overflow: hidden;
    clip-path: inset(50%); }
.st-key-choices { display: none; }
.st-key-query-steps { row-gap: 0.25rem; padding-top: 0.5rem; }
.st-key-query-back, .st-key-query-back button { max-width: 100%; }
.st-key-query-back p { white-space: normal; overflow-wrap: anywhere; text-align: left; }
.st-key-query-steps :is(a, button) { font-size: 0.9375rem; }
.st-key-query-steps kbd { color: var(--muted); }
@media (max-width: 40rem) {
    .st-key-query-steps { column-gap: 0.5rem; }
    .st-key-query-steps kbd { display: none; }
    .st-key-query-steps .st-key-query-back { flex: 1 0 100%; }
    .st-key-query-back :is(button, button *) { justify-content: flex-start; }
}
.st-key-chunk-panel { border-top: 1px solid var(--line2); padding-top: 1.5rem;
    scroll-margin: 4rem 0 1rem; }
""")


_wires = st.components.v2.component(
    "labeler_query_wires",
    html='<svg class="wires" aria-hidden="true" preserveAspectRatio="none"></svg>',
    css=read_assets("query_view/wires.css"),
    js=loader("query_view", "wires"),
    isolate_styles=False,
)


def show_query(opened: OpenedQuery) -> None:
    """Show one query in full."""
    ui.note_lists_shown(opened.query_id)
    few = opened.board.run_names if len(opened.board.run_names) <= RUNS_IN_SIGHT else opened.runs
    runs = list(dict.fromkeys([opened.run, *opened.runs, *few]))
    found = QueryAnswers.of(opened, runs)
    show_html(STYLE)
    with st.container(key="query-view"):
        show_steps(opened)
        show_heading(opened)
        show_verdict(opened, found)
        chosen = choose_chunk(opened.changes)
        show_lists(opened, chosen)
        with st.container(key="chunk-panel"):
            if chosen is None:
                nobody = "Neither run has a result" if opened.a else "The run has no result"
                st.text(f"{nobody} for this query.")
            else:
                show_chunk(opened, chosen)
        show_details(opened, found, runs)


def show_steps(opened: OpenedQuery) -> None:
    """Draw the links: back, to the neighbours (keys J and K), to Label and to Compare."""
    steps = opened.steps
    with st.container(horizontal=True, vertical_alignment="center", key="query-steps"):
        st.button(
            *(in_label(steps.back), "query-back"),
            icon=":material/arrow_back:",
            type="tertiary",
            shortcut="esc",
            on_click=steps.leave,
        )
        st.space("stretch")
        if opened.a is None and len(opened.board.run_names) > 1:
            links.link("Compare with another run", compare_url(opened))
        elif opened.path != "/compare" and opened.a is not None:
            links.link("Open in Compare", url_state.page_url("/compare", query=opened.query_id))
        links.link("Grade this query", url_state.page_url("/", query=opened.query_id))
        st.caption(in_label(steps.place), width="content")
        for label, key, to in (("Previous", "k", steps.before), ("Next", "j", steps.after)):
            st.button(
                label,
                shortcut=key,
                on_click=steps.go,
                args=[to],
                disabled=to is None,
                key=f"query-{label.lower()}",
            )


def compare_url(opened: OpenedQuery) -> str:
    """Return the URL of the query on Compare, with the run and the first other one.

    The two are in the order in which they were loaded, as on other pages.
    """
    names = opened.board.run_names
    other = next(name for name in names if name != opened.run)
    a, b = sorted((opened.run, other), key=names.index)
    return url_state.page_url("/compare", a=a, b=b, query=opened.query_id)


def show_heading(opened: OpenedQuery) -> None:
    """Show the query's id and buckets, its text, the guidance for graders, and their comments."""
    query = opened.query
    named = {"task": query.task, "split": query.split, **query.buckets}
    facts = [query.query_id, *(f"{name}: {value}" for name, value in named.items() if value)]
    said = {
        "Reference": query.reference,
        "Guideline": query.guideline,
        "Keywords": ", ".join(query.keywords),
    }
    for remark in opened.remarks:
        if remark.query_id == query.query_id:
            words = (
                "none of these passages answers it"
                if remark.kind == "unanswered"
                else "it is unclear"
            )
            said[f"{remark.grader} says"] = f"{words}{f' ({remark.note})' if remark.note else ''}"
    leaks = []
    if query.query_id in opened.board.collection.leaked:
        with ui.open_store() as store:
            leaks = [
                each.sentence for each in store.splits.leaked() if each.query_id == query.query_id
            ]
    known = {name: words for name, words in said.items() if words}
    show_html(tables.query_heading(query.text, facts, known, leaks))


def show_verdict(opened: OpenedQuery, found: QueryAnswers) -> None:
    """Show the ranks of useful chunks in each run, the value that follows, and the doubts."""
    unjudged = {run: count_unjudged(opened, run) for run in opened.runs}
    step = None
    if any(unjudged.values()) and opened.board.conventions.frozen is None:
        many = len(unjudged_in_tops(opened))
        words = f"Grade {format_count(many, 'unjudged chunk', 'unjudged chunks')}"
        step = htpy.a(".go", href=url_state.page_url("/", query=opened.query_id))[words]
    show_html(
        verdict_block(
            describe_ranks(opened),
            query_figure(opened),
            filter(
                None,
                [
                    " ".join([describe_prompt(opened), describe_answers(opened, found)]).strip(),
                    describe_grounds(opened),
                    describe_failure(opened, found),
                ],
            ),
            step=step,
        )
    )


def describe_ranks(opened: OpenedQuery) -> str:
    """Say at which ranks the runs have useful chunks, or why that cannot be said."""
    if opened.is_apart:
        return "The two runs return different chunks; lines join those that have text in common."
    if not opened.board.judged[opened.number]:
        return "Nobody has graded a chunk of this query."
    ranks = [(opened.short[run], opened.ranks_of_useful(run)) for run in opened.runs]
    return comparison.describe_useful_ranks(ranks) or "No useful chunk of this query is known."


def query_figure(opened: OpenedQuery) -> tuple[str, str] | None:
    """Return the query's value, or the difference of the runs, and its description."""
    values = [opened.value(run) for run in opened.runs]
    if any(map(math.isnan, values)):
        return None
    if opened.a is None:
        return format_number(values[0]), opened.heading
    if abs(values[1] - values[0]) <= comparison.TOLERANCE:
        return format_number(values[0]), f"{opened.heading}, the same in both"
    between = f"from {format_number(values[0])} to {format_number(values[1])}"
    return format_signed(values[1] - values[0]), f"{opened.heading}, {between}"


def describe_failure(opened: OpenedQuery, found: QueryAnswers) -> str:
    """Say why the query fails in the shown run, and what to try."""
    why = comparison.why_undefined(opened.board, opened.query_id, opened.measure)
    if not opened.is_judged:
        return ""
    failure = found.failures.get(opened.run)
    said = "" if failure is None else f"{failure.failure.meaning} Try: {failure.failure.lever}"
    if isinstance(opened.rule, LossAgainstRun) and count_in_prompt(opened, opened.run):
        said = ""  # less than in A, but enough: there is nothing to fix
    if opened.board.absent(opened.run)[opened.number]:
        said = ""  # another sentence names every run that lacks the query
    return " ".join(filter(None, [why and f"{why[0].upper()}{why[1:]}.", said]))


def count_in_prompt(opened: OpenedQuery, run: str) -> int:
    """Return how many useful chunks a run puts into the prompt."""
    ranks = opened.ranks_of_useful(run)
    return sum(rank is not None and rank <= opened.prompt_k for rank in ranks)


def describe_prompt(opened: OpenedQuery) -> str:
    """Say how many useful chunks go into the prompt."""
    k, names = opened.prompt_k, [opened.short[run] for run in opened.runs]
    if not opened.useful or opened.is_apart:
        return ""
    counts = [count_in_prompt(opened, run) for run in opened.runs]
    every = len(opened.useful)
    if every == 1:
        return _describe_one_in_prompt(names, counts)
    if opened.a is None:
        return f"The prompt of {format_count(k, 'chunk', 'chunks')} has {counts[0]:,} of them."
    if not any(counts):
        return "Neither has any of them in the prompt."
    if counts[0] == counts[1]:
        return f"Both put {counts[0]:,} of the {every:,} useful chunks in the prompt."
    return (
        f"Of the {every:,} useful chunks, {names[0]} puts {counts[0]:,} in the prompt, "
        f"{names[1]} {counts[1]:,}."
    )


def _describe_one_in_prompt(names: Sequence[str], counts: Sequence[int]) -> str:
    """Say which runs have the one useful chunk in the prompt."""
    if len(counts) == 1:
        return f"It is {'' if counts[0] else 'not '}in the prompt."
    if counts[0] == counts[1]:
        return f"{'Both have' if counts[0] else 'Neither has'} it in the prompt."
    return f"Only {names[counts[1] > counts[0]]} has it in the prompt."


def describe_answers(opened: OpenedQuery, found: QueryAnswers) -> str:
    """Say whether the answers with the runs are right."""
    said = [
        f"{opened.short[run]}’s answer is {'right' if found.answers[run].correct else 'wrong'}"
        for run in opened.runs
        if run in found.answers
    ]
    return f"{', '.join(said)}." if said else ""


def describe_others(opened: OpenedQuery) -> str:
    """Return the values of the other measures in words."""
    said = []
    for measure in opened.measures[1:3]:
        values = [opened.value(run, measure) for run in opened.runs]
        if not any(map(math.isnan, values)):
            heading = opened.board.conventions.heading(measure)
            said.append(f"{heading}: {' and '.join(map(format_number, values))}.")
    return " ".join(said)


def describe_lower_grades(opened: OpenedQuery) -> str:
    """Say at which rank RR counts a chunk of a lower grade, above the first useful one."""
    lower = [each.rel for each in opened.measures[1:3] if each.name == "RR" and each.rel]
    if not lower or lower[0] >= opened.useful_grade:
        return ""
    said = []
    for run in opened.runs:
        grades = opened.board.grades(opened.query_id, opened.board.chunks(run, opened.query_id))
        first = next((at for at, each in enumerate(grades, 1) if each >= lower[0]), None)
        if first is not None and grades[first - 1] < opened.useful_grade:
            said.append(f"rank {first:,}{f' in {opened.short[run]}' if opened.a else ''}")
    return f"RR also counts grade {lower[0]}: {' and '.join(said)}." if said else ""


def count_unjudged(opened: OpenedQuery, run: str) -> int:
    """Return how many chunks in a run's top 10 are unjudged."""
    top = opened.board.chunks(run, opened.query_id)[: DEPTHS[0]]
    return int((opened.board.grades(opened.query_id, top) < 0).sum())


def unjudged_in_tops(opened: OpenedQuery) -> set[int]:
    """Return the unjudged chunks in the top 10 of the runs."""
    golden = opened.board.golden(opened.query_id)
    tops = [opened.board.chunks(run, opened.query_id)[: DEPTHS[0]].tolist() for run in opened.runs]
    return {chunk for top in tops for chunk in top if chunk not in golden}


def describe_unjudged(opened: OpenedQuery) -> str:
    """Say how much of each top 10 is unjudged."""
    if opened.is_apart:
        return ""
    counts = [(opened.short[run], count_unjudged(opened, run)) for run in opened.runs]
    missing = [run for run in opened.runs if opened.board.absent(run)[opened.number]]
    if missing:
        return " ".join(f"{opened.short[run]} has no result for this query." for run in missing)
    if not any(count for _, count in counts):
        return f"{'Both top 10s are' if opened.a else 'The top 10 is'} fully judged."
    said = " and ".join(f"{count:,} in {name}" for name, count in counts)
    return f"Unjudged in the top 10: {said}."


def describe_transferred(opened: OpenedQuery) -> str:
    """Say how many transferred grades the runs' values rest on, empty if none."""
    counted = opened.board.transferred(opened.measure)[opened.number]
    counts = [int(counted[opened.board.column_of(run)]) for run in opened.runs]
    if not any(counts):
        return ""
    each = zip(counts, opened.runs, strict=True)
    said = " and ".join(f"{count:,} in {opened.short[run]}" for count, run in each)
    return f"Transferred grades behind {opened.heading}: {said}."


def describe_grounds(opened: OpenedQuery) -> str:
    """Give the values of the other measures, and the missing and transferred grades."""
    said = (
        *(describe_others(opened), describe_lower_grades(opened)),
        *(describe_unjudged(opened), describe_transferred(opened)),
    )
    return " ".join(filter(None, said))


def show_lists(opened: OpenedQuery, chosen: RankChange | None) -> None:
    """Show the lists, with notes on how to read them."""
    depth = chosen_depth()
    shared = None
    if opened.a is not None:
        given = (opened.a, opened.run, opened.query_id)
        shared = comparison.find_shared_text(opened.board, *given)
    sides = [_list_side(opened, run, depth) for run in opened.runs]
    shown = {each.change.chunk for side in sides for each, _ in side.rows()}
    with ui.open_store() as store:
        known = store.texts.numbered(shown, LONGEST_TITLE)
    look = tables.ListLook(
        {number: chunk.called for number, chunk in known.items() if chunk.called},
        lambda chunk: opened.inside_url(chunk=chunk, rank=None, grade=None, tried=None),
        None if chosen is None else chosen.chunk,
        depth,
        opened.prompt_k,
        shared,
        comparison.best_partners(shared or ()),
    )
    lines = [
        (
            "A line joins a chunk to itself; thick: relevant."
            if shared is None
            else "A line joins chunks that have text in common; the thicker, the more."
        )
        if opened.a
        else "",
        f"The parts of {opened.heading} add up to its value." if sides[0].part_of else "",
        describe_useful(opened),
        comparison.describe_dependence(opened.measure) if sides[0].part_of else "",
        ""
        if known or not shown
        else "The texts of these chunks are not loaded: labeler load chunks FILE",
        _depth_links(opened, depth),
    ]
    with st.container(key="query-lists"):
        show_html(tables.ranked_lists(sides, look))
        if len(sides) > 1:
            show_wires(sides, look)
    show_html(tables.under_lists(lines))


def show_wires(sides: Sequence[tables.ListSide], look: tables.ListLook) -> None:
    """Draw the lines between two lists, in the gap between them."""
    a, b = sides
    lines = [wire._asdict() for wire in tables.wires(a, b, look)]
    with st.container(key="query-wires"):
        _wires(key="wires", data={"height": max(a.height, b.height), "wires": lines})


def describe_useful(opened: OpenedQuery) -> str:
    """Say which grade is useful here, and which measures count lower ones, too."""
    grade = opened.useful_grade
    lower = [
        opened.board.conventions.heading(measure)
        for measure in opened.measures[:3]
        if measure.rel is not None and measure.rel < grade
    ]
    count = f"; {' and '.join(lower)} count from grade {opened.board.conventions.rel}"
    return f"Useful: grade {grade}{' or better' if grade < 3 else ''}{count if lower else ''}."


def _list_side(opened: OpenedQuery, run: str, depth: int) -> tables.ListSide:
    side: Literal["a", "b"] = "a" if run == opened.a else "b"
    given = (opened.changes, side, depth, opened.useful)
    top, below = comparison.place_chunks(*given, apart=opened.is_apart)
    has_parts = any(each.term_a or each.term_b for each in opened.changes) and all(
        comparison.terms_sum_to(
            opened.changes, "a" if each == opened.a else "b", opened.value(each)
        )
        for each in opened.runs
    )
    return tables.ListSide(opened.short[run], run, top, below, opened.heading * has_parts)


def chosen_depth() -> int:
    """Return the number of ranks in the URL."""
    text = url_state.get("ranks") or ""
    return next((depth for depth in DEPTHS if str(depth) == text), DEPTHS[0])


def _depth_links(opened: OpenedQuery, depth: int) -> htpy.Node:
    """Return links to other depths that the lists have chunks for."""
    longest = max(len(opened.board.chunks(run, opened.query_id)) for run in opened.runs)
    there = [each for at, each in enumerate(DEPTHS) if not at or DEPTHS[at - 1] < longest]
    others = [
        htpy.a(
            id=f"depth {each}",
            href=opened.inside_url(ranks=None if each == DEPTHS[0] else str(each)),
            target="_self",
            data_in_place="",
        )[f"{each}"]
        for each in there
        if each != depth
    ]
    if not others:
        return None
    return ["Ranks shown: ", str(depth), [[", ", each] for each in others]]


def choose_chunk(changes: Sequence[RankChange]) -> RankChange | None:
    """Return the chunk in the URL, else the one that explains most."""
    asked = url_state.get("chunk")
    named = next((each for each in changes if each.chunk_id == asked), None)
    return named or max(changes, key=_explains, default=None)


def _explains(change: RankChange) -> tuple[float, float]:
    """Return a sort key: a chunk's part of the difference, then what it adds at all."""
    return abs(change.contribution or 0.0), max(change.term_a or 0.0, change.term_b or 0.0)
