"""One query in full: as one run answers it, on Queries, and as two runs do, on Compare.

Queries shows why it fails in each run, the ranked lists, the DCG table and the pool. Compare
shows both lists with lines between equal chunks, what each chunk contributes, and one chunk that
can be graded.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from string import ascii_uppercase

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis import failures as diagnosis
from labeler.analysis.comparison import ComparisonView, RankChange
from labeler.analysis.failures import AnswerOutcome, Failure, FailureRule
from labeler.evaluation import RankedChunk, Scoreboard, format_number, format_signed
from labeler.measures import Measure
from labeler.model import (
    GRADES,
    Answer,
    Chunk,
    Judgment,
    Query,
    Remark,
    evidence_by_chunk,
    format_count,
)
from labeler.model.results import ANSWER, Statement
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html, style
from labeler.render.short_names import short_names
from labeler.render.tables.delta_picture import verdict_html
from labeler.render.tokens import BESIDE, GRADE_FILLS, RUN_A, RUN_B
from labeler.services.assignment.items import LONGEST_IN_LIST
from labeler.ui import keyword_cache, links, rank_views, url_state
from labeler.ui import shared as ui
from labeler.ui.rank_views import RankStyle, RunSide, picked, rank_lists

LISTS_PART, DCG_PART, POOL_PART = "Ranked lists", "DCG table", "Pool"
LIST_DEPTHS = {"top 10": 10, "top 20": 20, "top 50": 50, "whole list": 1_000_000}
DEEPEST_POOL = 100
RUNS_IN_SIGHT = 4
RankedByRun = Mapping[str, Sequence[RankedChunk]]


@dataclass(frozen=True, slots=True)
class QueryDetail:
    """A query as one run answers it, and the other runs beside it, run ``a`` first.

    ``rule`` says when a query fails, ``failures`` by run why it does, ``reranked`` what reranking
    changed. ``words`` are the names of the grades, ``small_print`` follows the numbers, ``answers``
    are the generated answers by run.
    """

    query: Query
    board: Scoreboard
    run: str
    measures: Sequence[Measure]
    a: str | None
    rule: FailureRule
    failures: Mapping[str, Failure | None]
    reranked: str
    remarks: Sequence[Remark]
    words: Sequence[str]
    small_print: str
    answers: Mapping[str, Answer]

    @property
    def query_id(self) -> str:
        """The query's id."""
        return self.query.query_id

    @property
    def short(self) -> Mapping[str, str]:
        """The runs' names as they are shown."""
        return short_names(self.board.run_names)

    def lists(self) -> dict[str, Sequence[RankedChunk]]:
        """Return every run's list, that of the chosen run first, then that of A."""
        first = [self.run, *([self.a] if self.a else [])]
        names = dict.fromkeys([*first, *self.board.run_names])
        return {name: self.board.ranked(name, self.query_id) for name in names}

    @property
    def in_sight(self) -> int:
        """How many of the lists are seen without a click: all of a few, else the run's and A's."""
        every = len(self.board.run_names)
        return every if every <= RUNS_IN_SIGHT else 1 + (self.a is not None)


def show_query(opened: QueryDetail) -> None:
    """Show one query in full."""
    show_html(tables.query_card(opened.query, reference=not opened.answers))
    if opened.answers:
        show_answers(opened)
    show_leak(opened)
    for remark in opened.remarks:
        words = "nothing here answers it" if remark.kind == "unanswered" else "it is unclear"
        st.text(f"{remark.grader} says: {words}{f' ({remark.note})' if remark.note else ''}")
    lists = opened.lists()
    show_why(opened, lists)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = url_state.choose_tab(
            "In full", [LISTS_PART, DCG_PART, POOL_PART], "part", what="part"
        )
        # the table of DCG is as deep as its measure
        depth = (
            0
            if part == DCG_PART
            else LIST_DEPTHS[url_state.choose("Depth", list(LIST_DEPTHS), "top", width=150)]
        )
    if part == LISTS_PART:
        show_lists(opened, lists, depth)
    elif part == DCG_PART:
        show_dcg_table(opened)
    else:
        show_pool(opened, lists, min(depth, DEEPEST_POOL))


def show_answers(opened: QueryDetail) -> None:
    """Show what was answered with the run, and with A, beside the reference; others are folded."""
    first = [run for run in (opened.run, opened.a) if run is not None and run in opened.answers]
    others = [run for run in opened.answers if run not in first]
    reference = opened.query.reference
    show_html(tables.answers_card(reference, [answer_with_outcome(opened, run) for run in first]))
    if others:
        runs = "run" if len(others) == 1 else "runs"
        with st.expander(f"Answers of {len(others)} other {runs}"):
            show_html(
                tables.answers_card(reference, [answer_with_outcome(opened, run) for run in others])
            )


def answer_with_outcome(opened: QueryDetail, run: str) -> tuple[htpy.Node, Answer, AnswerOutcome]:
    """Return what was answered with a run, and what that makes of the query."""
    answer = opened.answers[run]
    right = {opened.query_id: answer.correct}
    became = diagnosis.find_outcomes(opened.board, run, right, opened.rule)[opened.query_id]
    return tables.run_name(run, opened.short), answer, became


def show_leak(opened: QueryDetail) -> None:
    """Say where the query was found, if it is marked as leaked."""
    if opened.query_id not in opened.board.collection.leaked:
        return
    with ui.open_store() as store:
        found = [each for each in store.leaked() if each.query_id == opened.query_id]
    for leak in found:
        st.text(f"⚠ {leak.sentence}")


def show_why(opened: QueryDetail, lists: RankedByRun) -> None:
    """Show each run's values for the query, and why it fails there."""
    board, measures = opened.board, opened.measures
    number = board.number_of(opened.query_id)
    asked = diagnosis.rule_requirements(board, opened.run, opened.rule)[number]
    values = [board.values(measure)[number].tolist() for measure in measures]
    found = [
        (
            name,
            [row[board.column_of(name)] for row in values],
            diagnosis.find_positions(board, name, opened.query_id, asked),
            opened.failures.get(name),
        )
        for name in lists
    ]
    headings = [board.conventions.heading(measure) for measure in measures]
    judged = bool(board.judged[number])
    counts = [bool(board.counted(measure)[number]) for measure in measures]
    table = partial(
        tables.run_failures_table,
        headings=headings,
        judged=judged,
        counted=counts,
        short=opened.short,
        text=opened.query.text,
    )
    show_html(table(found[: opened.in_sight]))
    if others := found[opened.in_sight :]:
        with st.expander(f"The other {len(others)} runs"):
            show_html(table(others))
    if opened.reranked:
        st.text(opened.reranked)
    show_keywords(opened)
    show_html(tables.small_print([opened.small_print]), tables.folded_names(opened.short, lists))


def show_keywords(opened: QueryDetail) -> None:
    """Say for each keyword of the query its rank in the run and in A."""
    runs = [opened.run, *([opened.a] if opened.a else [])]
    places = keyword_cache.places_of_query(opened.board, opened.query_id)
    show_html(tables.sentences(keyword_cache.describe_places(places, runs, opened.short)))


def show_lists(opened: QueryDetail, lists: RankedByRun, depth: int) -> None:
    """Show every run's list side by side, the chosen run first, those of many others folded."""
    chunks = texts_of({each.chunk for ranked in lists.values() for each in ranked[:depth]})
    k = int(opened.board.prompt_ks[opened.board.number_of(opened.query_id)])
    with ui.open_store() as store:
        marked = evidence_by_chunk(store.evidence(opened.query_id))
        transferred = store.transfer_trails(opened.query_id)
    columns = []
    for name, ranked in lists.items():
        part = ranked[:depth]
        unjudged = sum(each.grade is None for each in part)
        many = format_count(len(ranked), "chunk", "chunks")
        line = f"{many}, {unjudged} of the {len(part)} shown not graded"
        columns.append(
            tables.list_column(
                tables.run_name(name, opened.short),
                part,
                chunks,
                opened.words,
                prompt_k=k,
                line=line,
                evidence=marked,
                transferred=transferred,
            )
        )
    if not chunks and any(lists.values()):
        st.caption(
            "These chunks are known by id only: load their texts with: labeler load chunks FILE"
        )
    to_read = " Click a title for its text." if chunks else ""
    st.caption(f"The dashed line is below rank {k}, the prompt size.{to_read}")
    show_html(tables.lists_side_by_side(columns[: opened.in_sight]))
    if others := columns[opened.in_sight :]:
        with st.expander(f"The lists of the other {len(others)} runs"):
            show_html(tables.lists_side_by_side(others))
    ui.offer(
        "Download these lists as CSV, whole",
        lambda: csv_exports.lists_csv(lists, opened.query_id, opened.board.conventions),
        "lists.csv",
        opened.board.revision,
    )


def show_dcg_table(opened: QueryDetail) -> None:
    """Show nDCG of the run worked out line by line."""
    board, run, query_id = opened.board, opened.run, opened.query_id
    conventions = board.conventions
    fitting = [each for each in opened.measures if each.name == "nDCG" and not each.crosses]
    [measure, *_] = [*fitting, *conventions.measures("nDCG@10")]
    heading = conventions.heading(measure)
    table = comparison.dcg_table(board, run, query_id, measure)
    st.text(
        f"{heading} of {opened.short[run]}: gain, divided by the discount of its rank, added up"
    )
    show_html(tables.ndcg_table(table, heading, opened.words))
    show_html(tables.small_print([f"{conventions.sentence} · a chunk not graded gains 0"]))
    ui.offer(
        "Download this table as CSV",
        lambda: csv_exports.dcg_csv(table, run, query_id, conventions),
        "dcg.csv",
        board.revision,
    )


def show_pool(opened: QueryDetail, lists: RankedByRun, depth: int) -> None:
    """Show every chunk that is graded or near a run's top, with its rank in each run."""
    golden = opened.board.golden(opened.query_id)
    rows = diagnosis.pool_rows(golden, lists, depth, opened.board.collection.chunk_ids)
    unjudged = sum(row.grade is None for row in rows)
    st.text(
        f"{format_count(len(golden), 'chunk is', 'chunks are')} graded; "
        f"{unjudged:,} of the runs' top "
        f"{depth} {'is' if unjudged == 1 else 'are'} not. "
        "A dash: the run has it at no depth."
    )
    with ui.open_store() as store:
        by_hand = store.found_by_hand(opened.query_id)
    known = texts_of({row.chunk for row in rows})
    names = [tables.run_name(name, opened.short) for name in lists]
    show_html(tables.pool_table(rows, names, known, opened.words, by_hand))


def texts_of(numbers: Iterable[int]) -> dict[int, Chunk]:
    """Return the chunks that have text, by number; a long one to where a reader would stop."""
    with ui.open_store() as store:
        return store.chunks_numbered(numbers, LONGEST_IN_LIST)


DEPTHS = [10, 20, 50, 100]
USEFUL_DEPTH = 10  # ranks among which useful chunks are counted
LONGEST_TITLE, LONGEST_SHOWN = 200, 100_000  # characters of a text: for a title, in full
# The chunk stays in view beside a long table; Streamlit puts a box of its own around it.
STICKY_STYLE = """
div:has(> .st-key-chunk-panel) { position: sticky; top: 4rem; }
.st-key-chunk-panel { max-height: calc(100vh - 5rem); overflow-y: auto; scroll-margin-top: 4rem; }
.st-key-ranks-shown { flex-wrap: nowrap; width: auto; }
"""


def show_pair(view: ComparisonView, query_id: str, words: Sequence[str]) -> None:
    """Show a query: both lists, what each chunk contributed, and one chunk in full.

    ``words`` are what the grades are called.
    """
    if query_id not in view.texts:
        ui.show_error(f"no query is called {query_id!r} in this golden set")
        st.button("Show all queries", on_click=open_query, args=[None])
        return
    ui.note_lists_shown(query_id)
    between = short_names((view.compared.a, view.compared.b))  # what tells these two apart
    view = replace(view, names={**view.names, **between})
    depth = show_steps(view, query_id)
    about = comparison.describe_query_buckets(view.board, query_id)
    show_html(tables.query_heading(view.texts[query_id], query_id, about))
    moves = comparison.find_rank_changes(
        view.board, view.compared.a, view.compared.b, query_id, view.by
    )
    chosen = rank_views.chosen_move(moves, url_state.get("chunk"))
    show_ranks_answer(view, query_id, moves)
    left, right = st.columns([8, 5], gap="medium")
    with left:
        show_rank_lists(view, query_id, moves, depth, chosen)
        with st.expander("All measures of this query", key="values"):
            show_values(view, query_id)
    show_html(style(STICKY_STYLE))
    with right, st.container(key="chunk-panel"):
        if chosen is None:
            st.write("Neither list holds a chunk for this query.")
        else:
            show_chunk_panel(view, query_id, chosen, words)


def show_ranks_answer(view: ComparisonView, query_id: str, moves: Sequence[RankChange]) -> None:
    """Say where each run ranks what is useful, and what that makes of the query's value."""
    row = view.compared.queries(view.by)[view.board.number_of(query_id)]
    says = "" if view.compared.apart else describe_useful_ranks(view, query_id, moves)
    said = [Statement("ranks", says, ANSWER)] if says else []
    if not math.isnan(row.delta):
        values = f"from {format_number(row.a)} to {format_number(row.b)}"
        number = f"{format_signed(row.delta)} {view.heading}, {values}."
        said.append(Statement("number", number, ANSWER))
    elif why := comparison.why_undefined(view.board, query_id, view.by):
        said.append(Statement("no value", why, ANSWER))
    if said:
        show_html(verdict_html(said, lambda _: "", whole=True))


RANKS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def describe_useful_ranks(view: ComparisonView, query_id: str, moves: Sequence[RankChange]) -> str:
    """Return in words where A and B rank the chunks that are relevant; empty if none is known."""
    a, b = (view.called(run) for run in (view.compared.a, view.compared.b))
    least = view.compared.conventions.rel
    useful = {chunk for chunk, grade in view.board.golden(query_id).items() if grade >= least}
    found = [move for move in moves if move.chunk in useful]
    if not useful:
        return ""
    if len(useful) > 1:
        in_a, in_b = (
            sum(rank is not None and rank <= USEFUL_DEPTH for rank in ranks)
            for ranks in ([m.rank_a for m in found], [m.rank_b for m in found])
        )
        of = f"of {len(useful):,} useful chunks in the top {USEFUL_DEPTH}"
        return (
            f"Both find {in_a:,} {of}."
            if in_a == in_b
            else f"{b} finds {in_b:,} {of}, {a} {in_a:,}."
        )
    rank_a, rank_b = (found[0].rank_a, found[0].rank_b) if found else (None, None)
    if rank_a is None and rank_b is None:
        return "Neither run returns the one useful chunk."
    if rank_b is None:
        return f"{b} does not return the one useful chunk, {a} ranks it {rank_in_words(rank_a)}."
    if rank_a is None:
        return f"{a} does not return the one useful chunk, {b} ranks it {rank_in_words(rank_b)}."
    if rank_a == rank_b:
        return f"Both rank the one useful chunk {rank_in_words(rank_a)}."
    there = f"the one useful chunk {rank_in_words(rank_a)}"
    return f"{a} ranks {there}, {b} {rank_in_words(rank_b)}."


def rank_in_words(rank: int | None) -> str:
    """Return a rank as a sentence has it.

    >>> rank_in_words(5), rank_in_words(13)
    ('fifth', 'at 13')
    """
    return RANKS[rank] if rank is not None and rank < len(RANKS) else f"at {rank}"


def open_query(query_id: str | None) -> None:
    """Open a query, or close the one that is open."""
    url_state.write(query=query_id, chunk=None)


def show_steps(view: ComparisonView, query_id: str) -> int:
    """Offer the way back and to the queries around this one; return how many ranks to show."""
    ids = [row.query_id for row in view.rows]
    at = ids.index(query_id) if query_id in ids else None
    before = ids[at - 1] if at else None
    after = ids[at + 1] if at is not None and at + 1 < len(ids) else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            *("All queries", "all-queries"),
            icon=":material/close:",
            on_click=open_query,
            args=[None],
        )
        for words, icon, to in (("Previous", "left", before), ("Next", "right", after)):
            st.button(
                words,
                icon=f":material/chevron_{icon}:",
                on_click=open_query,
                args=[to],
                disabled=to is None,
            )
        st.caption("not in this bucket" if at is None else f"{at + 1:,} of {len(ids):,}")
        st.space("stretch")
        with st.container(
            horizontal=True, vertical_alignment="center", width="content", key="ranks-shown"
        ):
            st.caption("Ranks shown", width="content")
            return url_state.choose_tab("Ranks shown", DEPTHS, "ranks")


def rank_style(view: ComparisonView) -> RankStyle:
    """Return the names and colours of A, B and the runs beside them."""
    colours = chain((RUN_A, RUN_B), repeat(BESIDE))
    runs = zip(view.runs, ascii_uppercase, colours, strict=False)
    sides = [RunSide(letter, view.called(run), run, colour) for run, letter, colour in runs]
    return RankStyle(sides, GRADE_FILLS)


def show_values(view: ComparisonView, query_id: str) -> None:
    """Show the query's value by each measure."""
    at = view.board.number_of(query_id)
    rows = [view.compared.queries(measure)[at] for measure in view.compared.measures]
    show_html(tables.query_table(rows, view.compared, view.names))
    places = keyword_cache.places_of_query(view.board, query_id)
    names = {view.compared.a: "A", view.compared.b: "B"}
    show_html(tables.sentences(keyword_cache.describe_places(places, list(names), names)))
    show_html(
        tables.small_print([view.compared.conventions.sentence]),
        tables.folded_names(view.names, view.runs),
    )


def show_rank_lists(
    view: ComparisonView,
    query_id: str,
    moves: Sequence[RankChange],
    depth: int,
    chosen: RankChange | None,
) -> None:
    """Show the two lists with lines, and the table of moves under them."""
    shown = rank_views.within_depth(moves, depth)
    with ui.open_store() as store:
        items = store.items([(query_id, move.chunk) for move in shown], LONGEST_TITLE)
    titles = rank_views.titles(shown, {chunk: item.chunk for (_, chunk), item in items.items()})
    shared = comparison.find_shared_text(view.board, view.compared.a, view.compared.b, query_id)
    rank_lists(
        *rank_views.listed_chunks(shown, titles, depth, shared),
        rank_views.move_rows(shown, titles, shared, by_grade=not view.by.crosses),
        rank_views.format_total(moves),
        view.heading,
        None if chosen is None else chosen.chunk_id,
        rank_style(view),
        rank_views.text_links(moves, shared, depth),
        depth=depth,
        key="lists",
        on_choose=choose_chunk,
    )
    if depends := comparison.describe_dependence(view.by):
        st.caption(depends)


def choose_chunk() -> None:
    """Keep the clicked chunk in the URL."""
    if (chunk := picked("lists")) is not None:
        url_state.write(chunk=chunk)


def show_chunk_panel(
    view: ComparisonView, query_id: str, move: RankChange, words: Sequence[str]
) -> None:
    """Show a chunk's text, let it be graded, and try it at another rank."""
    with ui.open_store() as store:
        items = store.items([(query_id, move.chunk)], LONGEST_SHOWN)
        marked = evidence_by_chunk(store.evidence(query_id)).get(move.chunk_id, [])
        trail = store.transfer_trails(query_id).get(move.chunk_id, "")
    item = items.get((query_id, move.chunk))
    grade(view, query_id, move, None if item is None else item.text_hash, words)
    title, text = (None, None) if item is None else (item.chunk.title, item.chunk.text)
    show_html(tables.chunk_text(move.chunk_id, title, text, marked))
    if trail:
        st.text(tables.transfer_note(trail))
    if item is not None and item.more is not None:
        st.caption(f"The first {LONGEST_SHOWN:,} characters; Label shows all of it.")
    try_rank(view, query_id, move)


def grade(
    view: ComparisonView,
    query_id: str,
    move: RankChange,
    text_hash: str | None,
    words: Sequence[str],
) -> None:
    """Let the grader of this browser grade the chunk; it is recorded as not blind."""
    given = "nobody has graded this chunk" if move.grade is None else f"golden grade {move.grade}"
    places = f"Rank {move.rank_a or '–'} in A, {move.rank_b or '–'} in B"
    name = ui.grader()
    is_live = view.board.conventions.frozen is None
    who = "" if name is None or not is_live else f" · you are {name}"
    st.text(f"{places} · {given}{who}")
    if not is_live:
        return  # a grade would be of today, and nothing here would show it
    if name is None:
        there = url_state.page_url("/", query=query_id)
        links.link("To grade here, first say who you are on Label", there)
        return
    # The same control for as long as the same grade counts, so that no push takes it from under a
    # hand; a click leaves it showing what counts, and so any click is an event.
    key = f"grade-{move.grade}-{query_id}-{move.chunk_id}"
    st.segmented_control(
        "Grade it",
        GRADES,
        default=move.grade,
        key=key,
        width="stretch",
        on_change=save_grade,
        args=[key, query_id, move, text_hash, name],
        help="Saved at once, and marked as given while looking at the systems. A click on the "
        "marked grade confirms it as yours.",
    )
    meanings = zip(GRADES, words, strict=True)
    show_html(tables.small_print([" · ".join(f"{grade} {word}" for grade, word in meanings)]))


def save_grade(key: str, query_id: str, move: RankChange, text_hash: str | None, name: str) -> None:
    """Write a grade to the log; the next run of the page shows what it changed."""
    said = st.session_state[key]
    event = Judgment(
        event_id=str(uuid.uuid4()),
        query_id=query_id,
        chunk_id=move.chunk_id,
        grader=name,
        grade=move.grade if said is None else said,
        blind=False,
        source="compare",
        text_hash=text_hash,
    )
    with ui.guard(), ui.open_store() as store:
        store.add_grader(name)
        store.judge_with_copies(event)
    st.session_state[key] = move.grade
    url_state.write(chunk=move.chunk_id)
    st.toast(f"Grade {event.grade} saved", icon=":material/check:")


def try_rank(view: ComparisonView, query_id: str, move: RankChange) -> None:
    """Say what the values would be with the chunk at another rank; nothing is saved."""
    limits = comparison.last_ranks(view, query_id, move)
    rank = st.number_input(
        "What if this chunk were at rank …",
        min_value=1,
        max_value=max(limits),
        value=None,
        placeholder="a rank",
        key=f"rank-{query_id}-{move.chunk_id}",
        help="Recomputes both lists with the chunk there. Nothing is saved.",
    )
    if rank is not None:
        trial = comparison.try_at_rank(view, query_id, move, rank)
        show_html(tables.what_if_table(trial, view.compared))
