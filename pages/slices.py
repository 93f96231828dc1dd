"""Bucket by measure, for one run or A against B: where a mean hides a bucket that collapsed."""

import streamlit as st

from labeler import address, charts, choices, comparison, downloads, live, tables, ui
from labeler.markup import show_html

ONE_RUN, NOT_CROSSED = "no second run", "not crossed"
FEW = 5  # queries in a bucket; under it a mean may be chance


def choose_runs(names) -> tuple[str, str | None]:
    """Let the user choose run A and, to compare, run B; in the address as ``a`` and ``b``."""
    shown = choices.of_runs(names)
    a = address.choose("Run, or A", names, "a", what="run", always=True, **shown)
    b = address.choose_or_not("B, to compare", names, "b", nothing=ONE_RUN, what="run", **shown)
    return a, b


def choose_facets(facets) -> tuple[str, str | None, int]:
    """Let the user choose a facet, one to cross it with, and from which n a bucket is not few."""
    address.among("other", facets, "facet")
    facet = address.choose("Facet", facets, "facet", what="facet", clears=["bucket"])
    others = [name for name in facets if name != facet]
    crossed = {"nothing": NOT_CROSSED, "clears": ["crossing"]}
    other = address.choose_or_not("Crossed with", others, "other", **crossed)
    least = address.choose_number(
        *("Few is under", "least", 1, 1_000, FEW),
        help="Buckets of fewer queries are greyed: their mean may be chance.",
    )
    return facet, other, least


def bucket_link(bucket: str | None, crossing: str | None = None) -> str:
    """Return the address of a bucket's queries, worst first or, with B, by loss against A."""
    where = {"facet": facet, "bucket": bucket} if bucket is not None else {}
    if crossing is not None:
        where |= {"other": other, "crossing": crossing}
    return address.to("/queries", a=a, b=b, measure=texts, preset=chosen.preset, **where)


def show_one_run(board) -> None:
    """Show one run's buckets: heat map, table, file."""
    rows = [row for row in board.table(measures, facet) if row.run == a]
    totals = [row for row in board.table(measures) if row.run == a]
    cells = charts.score_cells([*rows, *totals], chosen, least)
    show_heat(cells, "measure", f"Mean of {a} by bucket of {facet} and measure")
    show_html(tables.slice_table(rows, totals, chosen, facet=facet, least=least, link=bucket_link))
    offer(board, lambda: downloads.score_csv([*rows, *totals], chosen), "slices.csv")


def show_pair(board) -> None:
    """Show B against A: what moves against the total in words, heat map, a table a measure."""
    found = comparison.compare(board, a, b, measures, facet)
    against = [each.sentence for each in comparison.contradictions(found)]
    if against:
        with st.container(border=True):
            st.text("\n".join(f"⚠ {sentence}" for sentence in against))
    else:
        st.text(f"No bucket of {facet} moves against the total by more than chance.")
    what = f"Mean of B ({b}) by bucket of {facet} and measure; under it B − A and n"
    show_heat(charts.pair_cells(found, least), "measure", what)
    for measure in found.measures:
        show_html(tables.slice_pair_table(found, measure, least=least, link=bucket_link))
    offer(board, lambda: downloads.compare_csv(found), "slices.csv")


def show_crossed(board) -> None:
    """Show where two facets cross, by the first measure."""
    runs = [a] if b is None else [a, b]
    if b is not None:
        comparison.check_pair(board, a, b)
    cells = comparison.crossed(board, runs, measures[0], facet, other)
    name = chosen.heading(board.resolve(measures)[0])
    under = "" if b is None else "; under it B − A and n"
    heat = charts.crossed_cells(cells, least)
    show_heat(heat, other, f"{name} of {runs[-1]} by {facet} and {other}{under}")
    show_html(tables.crossed_table(cells, runs, facet, other, least=least, link=bucket_link))
    offer(
        board,
        lambda: downloads.crossed_csv(cells, runs, measures[0], (facet, other), chosen),
        "crossed.csv",
    )


def show_heat(cells, columns: str, description: str) -> None:
    """Show a heat map under the sentence that describes it; the table below has its numbers."""
    st.text(description)
    st.altair_chart(charts.heat_chart(cells, rows=facet, columns=columns, description=description))


def offer(board, content, name: str) -> None:
    """Say by which conventions the numbers were made, who is left out, and offer them as a file."""
    notes = [note.sentence for note in board.notes(measures) if note.is_about(a, b)]
    for each in filter(None, (facet, other)):
        if left_out := board.unbucketed(each):
            who = "1 judged query has" if left_out == 1 else f"{left_out:,} judged queries have"
            notes.insert(0, f"{who} no {each}: in no bucket, but in the row of all queries")
    st.caption(chosen.sentence)
    if notes:
        st.text("\n".join(f"· {note}" for note in notes))
    ui.offer("Download as CSV", content, name, board.revision)


with ui.open_store() as store:
    settings = store.settings()
    board = ui.live_board(store, ui.conventions(settings))

if not board.run_names:
    st.subheader("There is no run to slice yet")
    st.write("Load one on the Data page, or in a terminal:")
    st.code("labeler load run FILE")
    st.stop()
if not board.facets:
    st.subheader("No query has a bucket yet")
    st.write("Give queries a task or buckets, and load them again:")
    st.code(
        '{"query_id": "q1", "query": "…", "task": "single", "buckets": {"intent": "refund"}}\n\n'
        "labeler load queries FILE --update"
    )
    st.stop()

with choices.row():
    a, b = choose_runs(board.run_names)
    with choices.folded() as say:
        facet, other, least = choose_facets(list(board.facets))
        texts = choices.choose_measures()
        chosen = choices.choose_conventions(settings)
say(
    f"by {facet}" if other is None else f"by {facet} and {other}",
    choices.say_measures(texts if other is None else texts[:1]),
    None if least == FEW else f"few is under {least}",
    choices.say_conventions(chosen),
)
with ui.guard():
    measures = chosen.measures(texts)


def show_slices() -> str | None:
    """Show the buckets as the newest grades leave them; return how much is graded."""
    with ui.open_store() as store:
        board = ui.live_board(store, chosen)
    if not board.counts.judged:
        st.subheader("Nobody has graded a chunk yet")
        st.write("Grade on the Label page, or load a golden set; then the buckets get numbers.")
        st.code("labeler load golden FILE")
        return None
    if other is not None:
        show_crossed(board)
    elif b is not None:
        show_pair(board)
    else:
        show_one_run(board)
    return ui.graded_line(board.counts)


live.follow(show_slices)
