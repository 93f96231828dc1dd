"""The Review page: work, progress, agreement, disagreements, and what graders said, for leads."""

from collections import Counter
from dataclasses import asdict

import streamlit as st

from labeler.analysis.agreement import describe_self_agreement, self_agreement_by_grader
from labeler.evaluation import format_share
from labeler.model import MAJORITY, format_count, format_minute
from labeler.render import charts, csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.tables import TextCell
from labeler.ui import filter_widgets, links, live, scoreboards, transfers, url_state
from labeler.ui import shared as ui
from labeler.ui.review import agreement, disagreements, health

ON_A_PAGE = 100
MOST_REASONS, NO_REASON = 20, "no reason given"
WORKED = ["grader", "grades", "can't tell", "remarks on queries", "found by hand"]
WORKED += ["seconds a grade", "first day", "last day", "shown again"]
STATES = ["graded", "share", "can't tell", "text changed", "open"]
REMARKS = {"unanswered": "nothing here answers it", "unclear": "the query is unclear"}
WORK_NOTE = (
    "Every chunk of a query counts once, by what it is now; grades taken back, retired queries and "
    "grades that came with a file are left out. The seconds are the median; over 5 minutes is a "
    "pause and is left out. A few of a grader's own earlier chunks come back unmarked: nobody "
    "gives the same grade every time, and a difference often marks a chunk worth talking about."
)

TIES = "Open: nobody has graded it, or the grades that most gave are tied. "


def queries_link(query_id: str) -> str:
    """Return the address of a query in full."""
    return url_state.page_url("/queries", a=run, b=None, query=query_id)


def about_query(row) -> TextCell:
    """Name a query by its text and id; a click opens it."""
    return TextCell(row.query, row.query_id, queries_link(row.query_id))


def about_chunk(row) -> TextCell | None:
    """Name a chunk by its title and id, or None where a whole query is meant."""
    if row.chunk_id is None:
        return None
    return TextCell(row.title, row.chunk_id) if row.title else TextCell(row.chunk_id)


def offer(label: str, rows, name: str, as_row=asdict) -> None:
    """Offer what is above, and all of it, as a file."""
    with ui.open_store() as store:
        revision = store.revision()
    ui.offer(label, lambda: csv_exports.rows_csv(map(as_row, rows)), name, revision)


def chosen(store, rows):
    """Return the rows of the queries that the address selects."""
    among = store.selected_queries(selected)
    return [row for row in rows if among is None or row.query_id in among]


def show_work() -> None:
    """Show what each grader has done, and on which days."""
    with ui.open_store() as store:
        among = store.selected_queries(selected)
        rows, days = store.work(among), store.work_by_day(among)
        again = self_agreement_by_grader(store.repeated_grades(among))
    if not any(row.grades or row.cannot_tell or row.remarks for row in rows):
        st.subheader("Nobody has graded yet")
        st.write(
            "Grades that came with a file are nobody's work. Grade on the Label page, or invite "
            "somebody who does, on Data or in a terminal:"
        )
        st.code("labeler invite NAME")
        links.link("Invite a grader", url_state.page_url("/data", section="People"))
        return
    show_html(tables.plain_table(WORKED, [work_row(row, again.get(row.grader)) for row in rows]))
    st.caption(WORK_NOTE)
    offer("Download this table as CSV", rows, "graders.csv")
    if days:
        show_days(days)


def work_row(row, again):
    """Return one grader as the table shows them."""
    return [
        TextCell(row.grader, row.role),
        *(row.grades, row.cannot_tell, row.remarks, row.found),
        None if row.seconds is None else f"{row.seconds:.1f}",
        *(row.first, row.last),
        TextCell(describe_self_agreement(again, row.grader)),
    ]


def show_days(days) -> None:
    """Show how many grades were given on which day."""
    given = [(row.day, row.grader, row.grades) for row in days]
    words = "Grades given on each day, by grader"
    st.text(words)
    st.altair_chart(charts.day_chart(given, words))
    st.caption(
        f"A grade that was changed later counts on both days. The chart goes back at most "
        f"{charts.MOST_DAYS} days; the table and the file have all."
    )
    with st.expander("The numbers of this chart"):
        st.dataframe(charts.day_frame(given), hide_index=True, height="auto")
    offer("Download the days as CSV", days, "days.csv")


def show_progress() -> None:
    """Show how much of the pool is graded, over all and in each bucket of a facet."""
    with ui.open_store() as store:
        settings = store.settings()
        pool, without_text = store.pool(settings.pool_depth)
        among = store.selected_queries(selected)
        pool = {name: chunks for name, chunks in pool.items() if among is None or name in among}
        buckets, total = store.progress(pool, facet)
    if not total.pool:
        ui.say_empty(
            "There is nothing to grade yet",
            "The pool is made of what the runs return for the queries. Load both:",
            "labeler load queries FILE\nlabeler load chunks FILE\nlabeler load run FILE",
        )
        return
    rows = buckets if facet else [total]
    shares = [
        charts.BucketProgress(name_of(row, facet), share_of(row), *counts_of(row)) for row in rows
    ]
    words = f"Share of the pool that is graded{f', by {facet}' if facet else ''}"
    st.text(words)
    st.altair_chart(charts.progress_chart(shares, words))
    headings = [facet or "", "queries", "finished", "pool", *STATES]
    table = [progress_row(row, name_of(row, facet)) for row in rows]
    whole = progress_row(total, filter_widgets.ALL_QUERIES) if facet else None
    show_html(tables.plain_table(headings, table, whole))
    st.caption(small_print(settings.pool_depth, without_text, settings.golden_rule))
    named = [(name_of(row, facet), row) for row in rows]
    named += [(filter_widgets.ALL_QUERIES, total)] if facet else []
    content = [
        {"facet": facet} | asdict(row) | {"bucket": name, "open": row.open} for name, row in named
    ]
    offer("Download this table as CSV", content, "progress.csv", dict)


def choose_facet() -> str | None:
    """Let the user choose a facet, or all queries."""
    with ui.open_store() as store:
        facets = store.facets()
    return filter_widgets.choose_facet(facets, width=220)


def name_of(row, facet: str | None) -> str:
    """Name a row of the progress: its bucket, no bucket, or all queries."""
    if facet is None:
        return filter_widgets.ALL_QUERIES
    return f"no {facet}" if row.bucket is None else row.bucket


def share_of(row) -> str:
    """Say how much of a bucket's pool is graded; whole only where nothing is missing."""
    return format_share(row.graded, row.pool)


def counts_of(row) -> tuple[int, int, int, int]:
    """Return a bucket's pool by state, in the order charts have them."""
    return row.graded, row.cannot_tell, row.stale, row.open


def progress_row(row, name: str):
    """Return a bucket as the table shows it."""
    return [
        TextCell(name),
        *(row.queries, row.finished, row.pool, row.graded),
        share_of(row),
        *(row.cannot_tell, row.stale, row.open),
    ]


def small_print(depth: int, without_text: int, rule: str) -> str:
    """Say what the pool is made of and what the columns mean."""
    bare = format_count(without_text, "without text is", "without text are")
    left_out = f"; {bare} left out" if without_text else ""
    return (
        f"The pool is the top {depth} of every run, in chunks of queries{left_out}. Graded: there "
        "is a golden grade for the chunk's present text. Can't tell: nobody has graded it, and "
        "somebody could not. Text changed: graded for an earlier text and asked again. "
        f"{TIES if rule == MAJORITY else ''}A query is finished where nothing is open or changed."
    )


def show_cannot_tell() -> None:
    """Show why chunks could not be graded, and which."""
    with ui.open_store() as store:
        rows = chosen(store, store.cannot_tells())
    if not rows:
        st.subheader("Every chunk so far could be graded")
        st.write("Where a grader cannot tell (`X` on the Label page), chunk and reason stand here.")
        return
    reasons = Counter(row.reason or NO_REASON for row in rows)
    common = [[TextCell(name), count] for name, count in reasons.most_common(MOST_REASONS)]
    show_html(tables.plain_table(["reason", "chunks"], common))
    if len(reasons) > len(common):
        left = format_count(len(reasons) - len(common), "rarer reason is", "rarer reasons are")
        st.caption(f"{left} in the list only.")
    here = url_state.choose_part(rows, ON_A_PAGE, "unsure-page")
    ui.note_told(here)
    shown = [
        [
            about_query(row),
            about_chunk(row),
            TextCell(row.grader),
            TextCell(row.reason or NO_REASON),
            TextCell(row.note) if row.note else None,
            format_minute(row.created_at),
        ]
        for row in here
    ]
    st.caption(f"{len(rows):,} in all, the newest first · click a query to open it")
    show_html(
        tables.plain_table(["query", "chunk", "grader", "reason", "note", "when (UTC)"], shown)
    )
    offer("Download this list as CSV", rows, "cannot-tell.csv")


def show_remarks() -> None:
    """Show what graders say of whole queries."""
    with ui.open_store() as store:
        rows = chosen(store, store.remarks())
        texts = {query.query_id: query.text for query in store.queries()}
    if not rows:
        st.subheader("Nobody has remarked on a query")
        st.write(
            "Where nothing in the pool answers a query, or the query is unclear, a grader says so "
            "on the Label page (`Q`), and it stands here."
        )
        return
    counts = Counter(REMARKS[row.kind] for row in rows)
    st.text(" · ".join(f"{name}: {count:,}" for name, count in counts.most_common()))
    shown = [
        [
            TextCell(texts.get(row.query_id, ""), row.query_id, queries_link(row.query_id)),
            TextCell(REMARKS[row.kind]),
            TextCell(row.grader),
            TextCell(row.note) if row.note else None,
            format_minute(row.created_at),
        ]
        for row in url_state.choose_part(rows, ON_A_PAGE, "remarks-page")
    ]
    st.caption(f"{len(rows):,} in all, the newest first · click a query to open it")
    show_html(tables.plain_table(["query", "remark", "grader", "note", "when (UTC)"], shown))
    offer("Download this list as CSV", rows, "remarks.csv")


def show_notes() -> None:
    """Show what graders wrote beside grades and queries."""
    with ui.open_store() as store:
        rows, scale = chosen(store, store.notes()), store.settings().words
    if not rows:
        st.subheader("Nobody has written a note")
        st.write("A grader writes one beside a grade with `N` on the Label page; it stands here.")
        return
    here = url_state.choose_part(rows, ON_A_PAGE, "notes-page")
    ui.note_told(here)
    shown = [
        [
            TextCell(row.note),
            about_query(row),
            about_chunk(row),
            TextCell(given(row, scale)),
            TextCell(row.grader, "from a file" if row.kind == "import" else ""),
            format_minute(row.created_at),
        ]
        for row in here
    ]
    st.caption(f"{len(rows):,} in all, the newest first · click a query to open it")
    show_html(
        tables.plain_table(["note", "query", "chunk", "given", "grader", "when (UTC)"], shown)
    )
    offer("Download this list as CSV", rows, "notes.csv")


def given(row, scale) -> str:
    """Say what was given with a note."""
    if row.grade is not None:
        return f"{row.grade} {scale[row.grade]}"
    return REMARKS.get(row.kind, "can't tell")


def show_agreement() -> None:
    """Show how far graders agree."""
    agreement.show(asked)


SECTIONS = {
    "Work": show_work,
    "Progress": show_progress,
    "Health": health.show,
    "Agreement": show_agreement,
    "Disagreements": disagreements.show,
    "Can't tell": show_cannot_tell,
    "Remarks on queries": show_remarks,
    "Notes": show_notes,
}

run = url_state.get("a") or next(iter(scoreboards.run_names()), None)  # a query is opened in a run
with ui.open_store() as store:
    if transfers.has_other_chunking(store):
        SECTIONS["Carried over"] = transfers.show_transferred
    section = url_state.choose_tab("Section", list(SECTIONS), "review", what="section")
    ui.warn_of_default_guideline(store.settings())
selected = scoreboards.shown_selection()
if section == "Agreement":
    asked = agreement.choose()
elif section == "Disagreements":
    disagreements.choose()
elif section == "Health":
    health.choose()
else:
    with filter_widgets.row():
        facet = choose_facet() if section == "Progress" else None
        filter_widgets.choose_selection(width=220)
live.follow(lambda _: SECTIONS[section]())
