"""Review > Work: what each grader has done, and how much of the pool is graded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from labeler.analysis.agreement import (
    SelfAgreement,
    describe_self_agreement,
    self_agreement_by_grader,
)
from labeler.evaluation import format_share
from labeler.model import MAJORITY, format_count
from labeler.render import charts, tables
from labeler.render.markup import show_html
from labeler.render.tables import CellContent, TextCell
from labeler.store.activity import DayActivity, GraderActivity, Progress
from labeler.ui import filter_widgets, links, url_state
from labeler.ui import shared as ui
from labeler.ui.review.rows import ReviewChoice, offer_rows

WORKED = ["grader", "grades", "can't tell", "question problems", "found by search"]
WORKED += ["median seconds per grade", "first day", "last day", "self-consistency"]
WORK_NOTE = (
    "Each chunk is counted once per query, with its current grade. Undone grades, retired queries "
    "and imported grades are left out. Times over 5 minutes count as a pause. Self-consistency: "
    "each grader sees a few of their own chunks again, unmarked. Nobody is always consistent; a "
    "difference often points to a chunk worth discussing."
)
STATES = ["graded", "share", "can't tell", "text changed", "open"]
TIES = "Open: nobody has graded it, or the most frequent grades are tied. "


def show_work(choice: ReviewChoice) -> None:
    """Show what each grader has done, and on which days."""
    with ui.open_store() as store:
        among = store.splits.selected(choice.selected)
        rows, days = store.activity.work(among), store.activity.work_by_day(among)
        again = self_agreement_by_grader(store.activity.repeated_grades(among))
        worked = [row for row in rows if row.grades or row.cannot_tell or row.remarks]
        is_gradable = bool(worked or (store.queries.count() and store.runs.names()))
    if not worked:
        if not is_gradable:
            return  # the progress says what is missing
        st.header("Nobody has graded yet")
        st.write("Imported grades aren't counted here. Grade on the Label page, or invite graders.")
        links.button("Invite graders", url_state.page_url("/data", section="People"))
        return
    show_html(tables.plain_table(WORKED, [work_row(row, again.get(row.grader)) for row in worked]))
    if idle := [row.grader for row in rows if row not in worked]:
        have = format_count(len(idle), "person has", "people have")
        with st.expander(f"{have} not graded yet", key="idle"):
            st.text(", ".join(idle))
    st.caption(WORK_NOTE)
    offer_rows("Download this table as CSV", rows, "graders.csv")
    if days:
        show_days(days)


def work_row(row: GraderActivity, again: SelfAgreement | None) -> list[CellContent]:
    """Return one grader as the table shows them."""
    return [
        TextCell(row.grader, row.role),
        *(row.grades, row.cannot_tell, row.remarks, row.found),
        None if row.seconds is None else f"{row.seconds:.1f}",
        *(row.first, row.last),
        TextCell(describe_self_agreement(again, row.grader)),
    ]


def show_days(days: Sequence[DayActivity]) -> None:
    """Show the number of grades by day."""
    given = [(row.day, row.grader, row.grades) for row in days]
    words = "Grades given on each day, by grader"
    with st.expander("Day by day", key="days"):
        st.text(words)
        st.altair_chart(charts.day_chart(given, words))
        st.caption(
            f"A grade that was changed later counts on both days. The chart shows the last "
            f"{charts.MOST_DAYS} days; the table and the file have all of them."
        )
        st.dataframe(charts.day_frame(given), hide_index=True, height="auto")
        offer_rows("Download the days as CSV", days, "days.csv")


def choose_facet() -> str | None:
    """Let the user choose a facet, or all queries."""
    with ui.open_store() as store:
        facets = store.queries.facets()
    if not facets and url_state.get("facet") is None:
        return None
    return filter_widgets.choose_facet(facets, width=220)


def show_progress(choice: ReviewChoice) -> None:
    """Show how much of the pool is graded, over all and in each bucket of a facet."""
    facet = choice.facet
    with ui.open_store() as store:
        settings = store.settings.read()
        pool, without_text = store.assignment.pool(settings.pool_depth)
        among = store.splits.selected(choice.selected)
        pool = {name: chunks for name, chunks in pool.items() if among is None or name in among}
        buckets, total = store.activity.progress(pool, facet)
    if not total.pool:
        ui.say_empty(
            "There is nothing to grade yet",
            "The pool is what runs return for queries, so it needs both.",
            "labeler load queries FILE\nlabeler load chunks FILE\nlabeler load run FILE",
        )
        return
    rows = buckets if facet else [total]
    shares = [
        charts.BucketProgress(name_of(row, facet), share_of(row), *counts_of(row)) for row in rows
    ]
    st.header("Progress")
    words = f"Share of the pool that is graded{f', by {facet}' if facet else ''}"
    st.text(words)
    st.altair_chart(charts.progress_chart(shares, words))
    headings = [facet or "bucket", "queries", "finished", "pool", *STATES]
    table = [progress_row(row, name_of(row, facet)) for row in rows]
    whole = progress_row(total, filter_widgets.ALL_QUERIES) if facet else None
    show_html(tables.plain_table(headings, table, whole))
    st.caption(progress_note(settings.pool_depth, without_text, settings.golden_rule))
    named = [(name_of(row, facet), row) for row in rows]
    named += [(filter_widgets.ALL_QUERIES, total)] if facet else []
    content = [
        {"facet": facet} | asdict(row) | {"bucket": name, "open": row.open} for name, row in named
    ]
    offer_rows("Download this table as CSV", content, "progress.csv", dict)


def name_of(row: Progress, facet: str | None) -> str:
    """Name a row of the progress: its bucket, no bucket, or all queries."""
    if facet is None:
        return filter_widgets.ALL_QUERIES
    return f"no {facet}" if row.bucket is None else row.bucket


def share_of(row: Progress) -> str:
    """Say how much of a bucket's pool is graded; 100% only if nothing is missing."""
    return format_share(row.graded, row.pool)


def counts_of(row: Progress) -> tuple[int, int, int, int]:
    """Return the counts of a bucket's pool by state, in the order of the charts."""
    return row.graded, row.cannot_tell, row.stale, row.open


def progress_row(row: Progress, name: str) -> list[CellContent]:
    """Return a bucket as the table shows it."""
    return [
        TextCell(name),
        *(row.queries, row.finished, row.pool, row.graded),
        share_of(row),
        *(row.cannot_tell, row.stale, row.open),
    ]


def progress_note(depth: int, without_text: int, rule: str) -> str:
    """Explain the pool and the columns."""
    bare = format_count(without_text, "chunk without text is", "chunks without text are")
    left_out = f"; {bare} left out" if without_text else ""
    return (
        f"The pool is the top {depth} of every run for each query{left_out}. Graded: there "
        "is a golden grade for the chunk's current text. Can't tell: nobody has graded it, and "
        "somebody couldn't. Text changed: graded for an earlier text, so it is asked for again. "
        f"{TIES if rule == MAJORITY else ''}A query is finished if nothing is open or changed."
    )
