"""The queries that fail: worst first, why, and one query in full."""

import math
from dataclasses import dataclass

import streamlit as st

from labeler import address, charts, diagnosis, downloads, links, live, tables, ui
from labeler.diagnosis import Bar, count_by_bucket, count_classes, in_words
from labeler.evaluation import PRIMARY, Scoreboard, primary
from labeler.markup import show_html
from labeler.model import TASKS, Remark
from labeler.opened import Opened, show_query, texts_of

DEFAULT_MEASURES = ["nDCG@10", "R@budget", "RR"]
NO_RUN, ANY_TASK, TASK_BARS = "no other run", "every task", "each task's own measure"
LIST, CLASSES_VIEW, NOT_CROSSED = "List", "Why they fail", "not crossed"
ON_A_PAGE = 200


def choose_runs(names) -> tuple[str, str | None]:
    """Let the user choose a run, and one it is set against.

    As on the other pages, the address has the one run as ``a``, or the two as ``a`` and ``b``.
    """
    run, a = runs_given(names)
    others = [name for name in names if name != run]
    st.session_state["run"], st.session_state["against"] = run, a or NO_RUN
    st.selectbox("Run", names, key="run", on_change=write_runs, width=200)
    st.selectbox(
        "Against run A",
        [NO_RUN, *others],
        key="against",
        on_change=write_runs,
        width=200,
        help="With a run A, queries are sorted by what the run loses against it.",
    )
    return run, a


def runs_given(names) -> tuple[str, str | None]:
    """Return the run the address asks for, and the one it is set against."""
    a, b = address.among("a", names, "run"), address.among("b", names, "run")
    if b is None:
        return a or names[0], None
    return b, a if a != b else None


def write_runs() -> None:
    """Put the chosen runs into the address."""
    run, against = st.session_state["run"], st.session_state["against"]
    if against in (NO_RUN, run):
        address.write(a=run, b=None)
    else:
        address.write(a=against, b=run)


def choose_filters() -> diagnosis.Filters:
    """Let the user narrow the list; every choice is in the address under its own name."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        facet, bucket = ui.choose_bucket(facets)
        other, crossing = choose_crossing(facet)
        task = address.choose_or_not(
            "Task", TASKS, "task", nothing=ANY_TASK, what="task", width=150
        )
        kind = address.choose("Class", diagnosis.KINDS, "class", what="class of failure", width=260)
        share = address.choose_number(
            *("Holes, % at least", "holes", 0, 100, 0, 10),
            width=150,
            help="Share of the top k of the first measure that nobody has graded.",
        )
        text = address.write_text("Text contains", "contains", width=220)
    return diagnosis.Filters(facet, bucket, other, crossing, task, kind, share / 100, text)


def choose_crossing(facet) -> tuple[str | None, str | None]:
    """Let the user narrow a facet's bucket by that of another; ``other`` and ``crossing``."""
    address.among("other", facets, "facet")
    others = [name for name in facets if name != facet]
    if facet is None or not others:
        return None, None
    crossed = {"nothing": NOT_CROSSED, "clears": ["crossing"], "width": 150}
    other = address.choose_or_not("and", others, "other", **crossed)
    return other, ui.choose_within("in", facets, other, "crossing", 150)


def choose_bar():
    """Let the user say when a query fails; return the usual bar and those of tasks."""
    offered = list(dict.fromkeys(["Success@budget", TASK_BARS, *ui.OFFERED_MEASURES]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = address.choose(
            *("A query fails where", offered, "bar"),
            accept_new_options=True,
            width=260,
            help="Any measure at any cut-off; or the one that fits a task.",
        )
        below = address.choose_number("is below", "below", 0.01, 1.0, 1.0, 0.05, width=130)
    if name != TASK_BARS:
        [measure, *_] = chosen.measures(name) or chosen.measures("Success@budget")
        return Bar(measure, below), {}
    bars = {task: Bar(primary(chosen, task)[0], below) for task in PRIMARY}
    return Bar(chosen.measures("Success@budget")[0], below), bars


@st.cache_resource(max_entries=2, show_spinner=False)
def corpus(path: str, data_revision: int) -> frozenset[int]:
    """Return the numbers of the chunks that have text; one read for each change of the data."""
    with ui.open_store() as store:
        return store.chunks_with_text()


@st.cache_resource(max_entries=40, show_spinner=False)
def diagnosed(at, words, name, usual, by_task, said, _board):
    """Return why queries fail in a run; the rest says at which revision, by which rules."""
    known = corpus(*at[:2])
    return diagnosis.find_failures(_board, name, usual, by_task, known, texts_of, said)


@dataclass(frozen=True)
class Newest:
    """The grades as they are now, and what graders say of queries."""

    board: Scoreboard
    said: list[Remark]

    def failures_in(self, name: str):
        """Say of every judged query why it fails in a run; worked out once for each change."""
        remarks = {query_id: [] for query_id in sorted({each.query_id for each in self.said})}
        for remark in self.said:
            remarks[remark.query_id].append(remark.kind)
        at = (ui.database(), self.board.data_revision, self.board.revision)
        return diagnosed(at, repr(chosen), name, bar, bars, remarks, self.board)


def open_query(query_id: str) -> None:
    """Open a query in full, or none."""
    address.write(query=query_id or None)


def open_clicked(ids) -> None:
    """Open the query whose cell was clicked: a position, mapped back to the id it showed."""
    cells = st.session_state["listed"]["selection"]["cells"]
    if cells and cells[0][0] < len(ids):
        open_query(ids[cells[0][0]])


def in_small_print(board) -> str:
    """Stand under every number: by which conventions, and what "fails" means here."""
    return f"{chosen.sentence} · a query fails where {diagnosis.fails_where(board, bar, bars)}"


def offer(board, label: str, content, name: str) -> None:
    """Offer the numbers above as a file."""
    ui.offer(label, content, name, board.revision)


def show_list(board, rows, shown, sort, page) -> None:
    """Show the queries; a click opens one."""
    if not shown:
        st.text("No query gets through these filters. Widen them to see one.")
        return
    part = shown[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
    of = "" if len(part) == len(shown) else f", {len(part)} on this page"
    against = "" if a is None else f" · A is {a}, B is {run}"
    st.caption(
        f"{len(shown):,} of {len(rows):,} queries{of} · {sort}{against} · click one to open it"
    )
    frame = tables.failing_frame(part, headings, filters.facet)
    st.dataframe(
        frame,
        hide_index=True,
        key="listed",
        height=min(38 + 35 * len(part), 560),
        selection_mode="single-cell",
        on_select=lambda: open_clicked([r.query_id for r in part]),
        column_config={"text": st.column_config.TextColumn(width=290)},
    )
    st.caption(in_small_print(board))
    offer(
        board,
        "Download these queries as CSV",
        lambda: downloads.failing_csv(shown, run, a, measures, chosen),
        "queries.csv",
    )


def show_classes(board, found) -> None:
    """Show how many queries fail for which reason, over all and in each bucket."""
    counts = count_classes(found)
    if not sum(counts.values()):
        st.text(f"No query of the {len(found):,} judged ones here fails in {run}.")
        st.caption(in_small_print(board))
        return
    failing = sum(counts.values())
    st.text(
        f"{failing:,} of {len(found):,} judged queries fail in {run}, each counted in one class"
    )
    st.altair_chart(charts.failure_chart(counts, f"Failing queries by class: {in_words(found)}"))
    facet = filters.facet
    by_bucket = count_by_bucket(board, found, facet) if facet else {}
    if facet:
        words = f"Failing queries of {run} by class and bucket of {facet}"
        st.text(words)
        st.altair_chart(charts.failure_heat(by_bucket, facet, words))
    else:
        st.text("Choose a facet to see the classes in each bucket.")
    show_html(tables.failure_table(counts, by_bucket))
    st.caption(in_small_print(board))
    offer(
        board,
        "Download these counts as CSV",
        lambda: downloads.failures_csv(counts, by_bucket, run, facet, chosen),
        "failures.csv",
    )


def show_steps(query_id: str, shown, sort) -> None:
    """Draw the ways out of an opened query: back, to its neighbours in the list, other pages."""
    ids = [row.query_id for row in shown]
    at = ids.index(query_id) if query_id in ids else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Back to the list", icon=":material/arrow_back:", on_click=open_query, args=("",))
        for label, step in (("Previous", -1), ("Next", 1)):
            there = at is not None and 0 <= at + step < len(ids)
            st.button(
                label,
                disabled=not there,
                on_click=open_query,
                args=(ids[at + step] if there else query_id,),
            )
        st.text("not in the filtered list" if at is None else f"{at + 1:,} of {len(ids):,}, {sort}")
        pair = {"a": a, "b": run} if a else {"a": run}
        given = {"query": query_id, "measure": texts, "preset": chosen.preset}
        links.link("Compare runs on it", address.to("/compare", **pair, **given))
        links.link("Grade chunks", address.to("/", query=query_id))


def show_opened(query_id: str, now: Newest) -> None:
    """Show one query in full."""
    ui.note_lists_shown(query_id)
    query = queries[query_id]
    show_query(
        Opened(
            query,
            now.board,
            run,
            measures,
            {name: now.failures_in(name).get(query_id) for name in now.board.run_names},
            bars.get(query.task, bar).measure.rel or 1,
            [remark for remark in now.said if remark.query_id == query_id],
            settings.words,
            in_small_print(now.board),
        )
    )


with ui.open_store() as store:
    settings = store.settings()
    board = ui.live_board(store, ui.conventions(settings))
    queries = {query.query_id: query for query in store.queries()}

if not queries or not board.run_names:
    st.subheader("There is no run to look at yet" if queries else "There are no queries yet")
    st.write("Load what is missing on the Data page, or in a terminal:")
    st.code("labeler load run FILE" if queries else "labeler load queries FILE")
    st.stop()

facets = board.facets
with st.container(horizontal=True, vertical_alignment="bottom"):
    run, a = choose_runs(board.run_names)
    texts = ui.choose_measures(DEFAULT_MEASURES)
    chosen = ui.choose_conventions(settings)
with st.expander("Filters, and when a query fails", expanded=address.given("query") is None):
    filters = choose_filters()
    with ui.guard():
        bar, bars = choose_bar()
with ui.guard(), ui.open_store() as store:
    board = ui.live_board(store, chosen)
    measures = board.resolve(chosen.measures(texts))
headings = [chosen.heading(measure) for measure in measures]


def show_failing() -> str:
    """Show which queries fail by the newest grades; return how much is graded."""
    with ui.open_store() as store:
        now = Newest(ui.live_board(store, chosen), store.remarks())
    board = now.board
    if not board.counts.judged:
        st.subheader("Nobody has graded a chunk yet")
        st.write("Until then no query can fail. Grade on the Label page, or load a golden set:")
        st.code("labeler load golden FILE")
    failures = now.failures_in(run)
    crossed = (filters.facet, filters.other)
    rows = diagnosis.query_rows(board, queries, run, a, measures, crossed, failures)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = address.choose_tab("Show", [LIST, CLASSES_VIEW], "view", what="view")
        sorts = diagnosis.ORDERS_AGAINST if a else diagnosis.ORDERS
        sort = address.choose("Sorted", sorts, "sort", width=190)
        shown = diagnosis.in_order((row for row in rows if filters.let_in(row)), sort)
        asked = ("queries", run, a, sort, str(measures[0]), chosen.preset, str(filters))
        shown = live.keep_order(shown, lambda row: row.query_id, asked)
        page = address.choose_page(math.ceil(len(shown) / ON_A_PAGE))
        query_id = address.write_text("Query", "query", width=200, placeholder="id, or click one")
    through = {row.query_id for row in rows if filters.let_in(row, any_class=True)}
    found = {name: each for name, each in failures.items() if name in through}
    if found:
        st.text(f"{run}: {in_words(found)}")
    if query_id and query_id not in queries:
        ui.show_error(f"no query is called {query_id!r}; choose one from the list")
        st.button("Back to the list", on_click=open_query, args=("",))
    elif query_id:
        show_steps(query_id, shown, sort)
        show_opened(query_id, now)
    elif view == LIST:
        show_list(board, rows, shown, sort, page)
    else:
        show_classes(board, found)
    return ui.graded_line(board.counts)


live.follow(show_failing)
