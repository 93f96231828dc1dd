"""System A against System B: by how much, on which queries, and which chunk moved where."""

from dataclasses import replace

import streamlit as st

from labeler import evaluation
from labeler.analysis import comparison
from labeler.analysis.comparison import View
from labeler.render.naming import short_names
from labeler.ui import address, boards, choices, live
from labeler.ui import compare as comparing
from labeler.ui import shared as ui
from labeler.ui.query_detail import show_pair

EACH_THE_SAME = (
    "The means are weighted; queries are shown one by one, and what is added up over them counts "
    "each the same, as the report does."
)


@st.cache_resource(max_entries=4, show_spinner=False)
def query_texts(path: str, data_revision: int, golden: str | None) -> dict[str, str]:
    """Return each query's text on one line."""
    with ui.open_store() as store:
        queries = boards.shown_queries(store)
    return {query.query_id: " ".join(query.text.split()) for query in queries}


def ask_for_runs(names: list[str]) -> None:
    """Say what is missing where there are no two runs, and end the page."""
    if not names:
        st.subheader("There is no run to compare yet")
    else:
        st.subheader("There is only one run: to compare, load another")
        st.text(f"The one run: {names[0]}")
    st.write("Load runs on the Data page, or in a terminal:")
    st.code("labeler load run FILE")
    st.stop()


def choose_also(others, names, short) -> list[str]:
    """Let the user set further runs beside A and B; in the address as ``also``."""
    if not others:
        address.some_of("also", names, "run")  # which says what is not there
        return []
    return address.choose_some(
        *("Further runs", others, "also", "run"),
        known=names,
        format_func=short.get,
        placeholder="none",
        help="They stand beside A and B in the table of means and in the rank strips; order and "
        "difference stay those of A and B.",
    )


with ui.open_store() as store:
    settings = boards.shown_settings(store)
    board = boards.live_board(store, boards.shown_conventions(settings))
texts = query_texts(ui.database(), board.data_revision, address.given("golden"))
names = [*board.run_names, *(run.name for run in board.collection.runs_left_out)]
if len(names) < 2:
    ask_for_runs(names)

short = short_names(names)
with choices.row():
    shown = {"clears": ["chunking"], **choices.of_runs(names)}
    first = next(name for name in names if name != address.given("b"))
    a = address.choose("A", names, "a", what="run", default=first, always=True, **shown)
    other = next(name for name in names if name != a)
    b = address.choose("B", names, "b", what="run", default=other, always=True, **shown)
    with choices.folded() as say:
        also = choose_also([name for name in names if name not in (a, b)], names, short)
        tasks = choices.tasks_shown()
        usual = evaluation.usual(board.collection, [a, b, *also])
        measure_texts = choices.choose_measures(choices.starting_with(settings, tasks, usual))
        by_text = address.choose(
            *("By measure", measure_texts, "by"),
            help="The one measure that sorts the queries and whose delta is explained.",
        )
        sort = address.choose("Order", comparison.SORTS, "sort", what="order")
        facet, bucket = choices.choose_bucket(board.facets)
        chosen = choices.choose_conventions(settings, across=True)
        chosen = chosen.across(board.collection, [a, b, *also])
        traffic = choices.choose_traffic(board.facets)
say(
    choices.say_selection(chosen),
    choices.say_traffic(traffic),
    choices.say_queries(facet, bucket),
    choices.say_wider(bucket),
    f"{sort} by {by_text}",
    choices.say_measures(measure_texts),
    choices.say_tasks(settings, tasks),
    choices.say_conventions(chosen),
    f"beside {', '.join(short[name] for name in also)}" if also else None,
)

with ui.guard():
    measures = choices.measures_of(chosen, measure_texts)


def show_compared(say) -> None:
    """Show what the newest grades say of both runs, and say how much is graded."""
    with ui.open_store() as store:
        board = boards.live_board(store, chosen)
    say(boards.graded_line(board))
    compared = comparison.compare(board, a, b, measures, facet)
    [by] = board.resolve(chosen.measures([by_text])[:1])
    buckets = comparison.buckets_of(board, facet)
    rows = compared.queries(by)
    if bucket is not None:
        rows = [row for row in rows if buckets[row.query_id] == bucket]
    rows = comparison.sort_queries(rows, sort, texts, buckets)
    asked = ("compare", a, b, str(by), sort, facet, bucket, repr(chosen))
    rows = live.keep_order(rows, lambda row: row.query_id, asked)
    view = even = View(board, compared, by, rows, texts, buckets, also, short)
    if traffic is not None:
        weighed = board.weighing(traffic)
        compared = comparison.compare(weighed, a, b, measures, facet)
        view = replace(even, board=weighed, compared=compared)
    for note in board.notes():
        if note.kind == evaluation.SEVERAL_CHUNKINGS:
            st.text(f"⚠ {note.sentence}")
    if not board.counts.grades:
        boards.say_nothing_graded(board.conventions.selected, "No measure has a value")
    if (query := address.given("query")) is not None:
        if query in texts:
            boards.check_chosen(board, query)
        show_pair(even, query, settings.words)
    else:
        show_means = comparing.show_answer(view, bucket)
        show_picture, is_first = comparing.choose_picture(even)
        if traffic is not None:
            st.caption(EACH_THE_SAME)
        if is_first:
            show_picture()
        show_means()
        if not is_first:
            show_picture()
        comparing.offer_files(view, bucket, even)


live.follow(show_compared)
