"""Details of an opened query, folded: answers, why it fails in each run, the pool, and nDCG."""

from __future__ import annotations

from collections.abc import Sequence

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import AnswerOutcome, LossAgainstRun, UsefulInPrompt
from labeler.model import Answer, format_count
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.ui import keyword_cache
from labeler.ui import shared as ui
from labeler.ui.query_view.opened import OpenedQuery
from labeler.ui.query_view.why import QueryAnswers, texts_of

POOL_DEPTH = 10


def show_details(opened: OpenedQuery, found: QueryAnswers, runs: Sequence[str]) -> None:
    """Show further details of the query, each in a fold; ``runs`` are the runs shown."""
    if found.answers:
        with st.expander("Answers"):
            show_answers(opened, found)
    with st.expander("All measures, and why it fails in each run", key="values"):
        show_why(opened, found, runs)
    with st.expander("Every graded chunk, and its rank in each run"):
        show_pool(opened)
    if not opened.is_apart:
        with st.expander("nDCG worked out"):
            show_dcg_table(opened)


def show_answers(opened: OpenedQuery, found: QueryAnswers) -> None:
    """Show the answers with each run beside the reference, the shown runs first."""
    first = [run for run in opened.runs if run in found.answers]
    runs = dict.fromkeys([*first, *found.answers])
    cards = [answer_with_outcome(opened, run, found.answers[run]) for run in runs]
    show_html(tables.answers_card(opened.query.reference, cards))


def answer_with_outcome(
    opened: OpenedQuery, run: str, answer: Answer
) -> tuple[htpy.Node, Answer, AnswerOutcome]:
    """Return the answer with a run, and the outcome of the query."""
    right = {opened.query_id: answer.correct}
    became = diagnosis.find_outcomes(opened.board, run, right, opened.rule)[opened.query_id]
    return tables.run_name(run, opened.short), answer, became


def show_why(opened: OpenedQuery, found: QueryAnswers, runs: Sequence[str]) -> None:
    """Show each run's values for the query, and why it fails there."""
    board, measures, number = opened.board, opened.measures, opened.number
    values = [board.values(measure)[number].tolist() for measure in measures]
    rule = UsefulInPrompt() if isinstance(opened.rule, LossAgainstRun) else opened.rule
    rows = [
        (
            run,
            [row[board.column_of(run)] for row in values],
            diagnosis.find_positions(
                *(board, run, opened.query_id),
                diagnosis.rule_requirements(board, run, rule)[number],
            ),
            found.failures.get(run),
        )
        for run in runs
    ]
    show_html(
        tables.run_failures_table(
            rows,
            headings=[board.conventions.heading(measure) for measure in measures],
            judged=[bool(board.judged_for(measure)[number]) for measure in measures],
            no_failure=describe_no_failure(opened),
            counted=[bool(board.counted(measure)[number]) for measure in measures],
            short=opened.short,
            text=opened.query.text,
        )
    )
    if found.reranked:
        st.text(found.reranked)
    show_keywords(opened)
    where = diagnosis.describe_rule(board, opened.rule, opened.short)
    said = f"{board.conventions.sentence} · a query fails where {where}"
    show_html(tables.small_print([said]), tables.folded_names(opened.short, runs))


def describe_no_failure(opened: OpenedQuery) -> str:
    """Say that the query does not fail in a run, or that nobody can know yet."""
    if opened.board.judged[opened.number]:
        return "does not fail"
    if opened.is_judged:
        return "not known: not every chunking has grades for this query"
    return "nobody has graded a chunk of this query"


def show_keywords(opened: OpenedQuery) -> None:
    """Say for each keyword of the query its rank in the runs."""
    places = keyword_cache.places_of_query(opened.board, opened.query_id)
    said = keyword_cache.describe_places(places, list(opened.runs), opened.short)
    show_html(tables.sentences(said))


def show_dcg_table(opened: OpenedQuery) -> None:
    """Show nDCG of the shown run line by line."""
    board, run, query_id = opened.board, opened.run, opened.query_id
    conventions = board.conventions
    fitting = [each for each in opened.measures if each.name == "nDCG" and not each.crosses]
    [measure, *_] = [*fitting, *conventions.measures("nDCG@10")]
    heading = conventions.heading(measure)
    table = comparison.dcg_table(board, run, query_id, measure)
    st.text(
        f"{heading} of {opened.short[run]}: the sum of gains, each divided by its rank's discount"
    )
    show_html(tables.ndcg_table(table, heading, opened.words))
    show_html(tables.small_print([f"{conventions.sentence} · an unjudged chunk gains 0"]))
    ui.offer(
        "Download this table as CSV",
        lambda: csv_exports.dcg_csv(table, run, query_id, conventions),
        "dcg.csv",
        board.revision,
    )


def show_pool(opened: OpenedQuery) -> None:
    """Show every chunk that is graded or near a run's top, with its rank in each run."""
    board, query_id = opened.board, opened.query_id
    golden = board.golden(query_id)
    names = dict.fromkeys([*opened.runs, *board.run_names])
    lists = {name: board.ranked(name, query_id) for name in names}
    rows = diagnosis.pool_rows(golden, lists, POOL_DEPTH, board.collection.chunk_ids)
    unjudged = sum(row.grade is None for row in rows)
    st.text(
        f"{format_count(len(golden), 'chunk is', 'chunks are')} graded; {unjudged:,} of the runs' "
        f"top {POOL_DEPTH} {'is' if unjudged == 1 else 'are'} not. "
        "A dash: the run does not return it."
    )
    with ui.open_store() as store:
        by_hand = store.assignment.found_by_hand(query_id)
        transferred = store.transfers.trails(query_id)
    known = texts_of({row.chunk for row in rows})
    heads = [tables.run_name(name, opened.short) for name in lists]
    show_html(tables.pool_table(rows, heads, known, opened.words, by_hand, transferred))
    ui.offer(
        "Download the lists as CSV, whole",
        lambda: csv_exports.lists_csv(lists, query_id, board.conventions),
        "lists.csv",
        board.revision,
    )
