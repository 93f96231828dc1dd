"""A query opened on Queries: what it asks, why it fails where, its lists, nDCG, its pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import Failure, Outcome, Rule
from labeler.evaluation import Ranked, Scoreboard
from labeler.measures import Measure
from labeler.model import Answer, Chunk, Query, Remark, by_chunk, counted
from labeler.render import downloads, tables
from labeler.render.markup import show_html
from labeler.render.naming import short_names
from labeler.services.assignment.portions import LONGEST_IN_LIST
from labeler.ui import address, wording
from labeler.ui import shared as ui

LISTS, DCG, POOL = "Ranked lists", "DCG table", "Pool"
TOPS = {"top 10": 10, "top 20": 20, "top 50": 50, "whole list": 1_000_000}
DEEPEST_POOL = 100
RUNS_IN_SIGHT = 4
Lists = Mapping[str, Sequence[Ranked]]


@dataclass(frozen=True, slots=True)
class Opened:
    """A query as one run answers it, and the others beside it, run ``a`` before the rest.

    ``rule`` says when a query fails, ``failures`` by run why it fails there, and ``reranked`` what
    reranking did for it, if anything. ``words`` are what the grades are called; ``small_print``
    stands under the numbers. ``answers`` are what was answered to it, by run.
    """

    query: Query
    board: Scoreboard
    run: str
    measures: Sequence[Measure]
    a: str | None
    rule: Rule
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

    def lists(self) -> dict[str, Sequence[Ranked]]:
        """Return every run's list, that of the chosen run first, then that of A."""
        first = [self.run, *([self.a] if self.a else [])]
        names = dict.fromkeys([*first, *self.board.run_names])
        return {name: self.board.ranked(name, self.query_id) for name in names}

    @property
    def in_sight(self) -> int:
        """How many of the lists are seen without a click: all of a few, else the run's and A's."""
        every = len(self.board.run_names)
        return every if every <= RUNS_IN_SIGHT else 1 + (self.a is not None)


def show_query(opened: Opened) -> None:
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
        part = address.choose_tab("In full", [LISTS, DCG, POOL], "part", what="part")
        # the table of DCG is as deep as its measure
        depth = 0 if part == DCG else TOPS[address.choose("Depth", list(TOPS), "top", width=150)]
    if part == LISTS:
        show_lists(opened, lists, depth)
    elif part == DCG:
        show_worked(opened)
    else:
        show_pool(opened, lists, min(depth, DEEPEST_POOL))


def show_answers(opened: Opened) -> None:
    """Show what was answered with the run, and with A, beside the reference; others are folded."""
    first = [run for run in (opened.run, opened.a) if run is not None and run in opened.answers]
    others = [run for run in opened.answers if run not in first]
    reference = opened.query.reference
    show_html(tables.answers_card(reference, [answered(opened, run) for run in first]))
    if others:
        runs = "run" if len(others) == 1 else "runs"
        with st.expander(f"Answers of {len(others)} other {runs}"):
            show_html(tables.answers_card(reference, [answered(opened, run) for run in others]))


def answered(opened: Opened, run: str) -> tuple[htpy.Node, Answer, Outcome]:
    """Return what was answered with a run, and what that makes of the query."""
    answer = opened.answers[run]
    right = {opened.query_id: answer.correct}
    became = diagnosis.outcomes(opened.board, run, right, opened.rule)[opened.query_id]
    return tables.run_name(run, opened.short), answer, became


def show_leak(opened: Opened) -> None:
    """Say where the query was found, if it is marked as leaked."""
    if opened.query_id not in opened.board.collection.leaked:
        return
    with ui.open_store() as store:
        found = [each for each in store.leaked() if each.query_id == opened.query_id]
    for leak in found:
        st.text(f"⚠ {leak.sentence}")


def show_why(opened: Opened, lists: Lists) -> None:
    """Show each run's values for the query, and why it fails there."""
    board, measures = opened.board, opened.measures
    number = board.number_of(opened.query_id)
    asked = diagnosis.asked(board, opened.run, opened.rule)[number]
    values = [board.values(measure)[number].tolist() for measure in measures]
    found = [
        (
            name,
            [row[board.column_of(name)] for row in values],
            diagnosis.places(board, name, opened.query_id, asked),
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
    show_html(tables.small_print([opened.small_print]), tables.whole_names(opened.short, lists))


def show_keywords(opened: Opened) -> None:
    """Say of each keyword of the query where it stands in the run and in A."""
    runs = [opened.run, *([opened.a] if opened.a else [])]
    places = wording.places_of_query(opened.board, opened.query_id)
    show_html(tables.sentences(wording.in_words(places, runs, opened.short)))


def show_lists(opened: Opened, lists: Lists, depth: int) -> None:
    """Show every run's list side by side, the chosen run first, those of many others folded."""
    chunks = texts_of({each.chunk for ranked in lists.values() for each in ranked[:depth]})
    k = int(opened.board.budgets[opened.board.number_of(opened.query_id)])
    with ui.open_store() as store:
        marked = by_chunk(store.evidence(opened.query_id))
        carried = store.carried_trails(opened.query_id)
    columns = []
    for name, ranked in lists.items():
        part = ranked[:depth]
        holes = sum(each.grade is None for each in part)
        many = counted(len(ranked), "chunk", "chunks")
        line = f"{many}, {holes} of the {len(part)} shown not graded"
        columns.append(
            tables.list_column(
                tables.run_name(name, opened.short),
                part,
                chunks,
                opened.words,
                budget=k,
                line=line,
                evidence=marked,
                carried=carried,
            )
        )
    if not chunks and any(lists.values()):
        st.caption(
            "These chunks are known by id only: load their texts with: labeler load chunks FILE"
        )
    to_read = " Click a title for its text." if chunks else ""
    st.caption(f"The dashed line stands under the prompt budget of {k}.{to_read}")
    show_html(tables.lists_side_by_side(columns[: opened.in_sight]))
    if others := columns[opened.in_sight :]:
        with st.expander(f"The lists of the other {len(others)} runs"):
            show_html(tables.lists_side_by_side(others))
    ui.offer(
        "Download these lists as CSV, whole",
        lambda: downloads.lists_csv(lists, opened.query_id, opened.board.conventions),
        "lists.csv",
        opened.board.revision,
    )


def show_worked(opened: Opened) -> None:
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
    show_html(tables.worked_table(table, heading, opened.words))
    show_html(tables.small_print([f"{conventions.sentence} · a chunk not graded gains 0"]))
    ui.offer(
        "Download this table as CSV",
        lambda: downloads.dcg_csv(table, run, query_id, conventions),
        "dcg.csv",
        board.revision,
    )


def show_pool(opened: Opened, lists: Lists, depth: int) -> None:
    """Show every chunk that is graded or near a run's top, with its rank in each run."""
    golden = opened.board.golden(opened.query_id)
    rows = diagnosis.pool_rows(golden, lists, depth, opened.board.collection.chunk_ids)
    holes = sum(row.grade is None for row in rows)
    st.text(
        f"{counted(len(golden), 'chunk is', 'chunks are')} graded; {holes:,} of the runs' top "
        f"{depth} {'is' if holes == 1 else 'are'} not. "
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
