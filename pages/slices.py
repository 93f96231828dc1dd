"""The Slices page: bucket by measure, for one run or for A against B.

It shows buckets that collapsed although the mean over all queries did not.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from labeler import evaluation
from labeler.analysis import comparison
from labeler.analysis.keywords import describe_keyword_conventions, keyword_means
from labeler.model import capitalize_first, format_count
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.short_names import short_names
from labeler.stats import mean_intervals
from labeler.ui import filter_widgets, keyword_cache, live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.deep_links import bucket_queries_url, describe_lowest, with_links

ONE_RUN = "no second run"
MOST_DRAWN, MOST_ACROSS = 40, 12  # buckets in a picture, and columns where two facets cross
MOST_SAID = 3
ON_A_PAGE = 200  # rows of a table


# --- choosing --------------------------------------------------------------------------------


def choose_runs(names) -> tuple[str, str | None]:
    """Let the user choose run A and, to compare, run B; in the address as ``a`` and ``b``."""
    shown = filter_widgets.run_box_options(names)
    a = url_state.choose("Run, or A", names, "a", what="run", always=True, **shown)
    b = url_state.choose_or_not("B, to compare", names, "b", nothing=ONE_RUN, what="run", **shown)
    return a, b


def choose_facets(facets) -> tuple[str, str | None, int]:
    """Let the user choose a facet, one to cross it with, and from which n a bucket is not few."""
    facet = url_state.choose("Facet", facets, "facet", what="facet", clears=["bucket"])
    other = filter_widgets.choose_other("Crossed with", facets, facet)
    least = url_state.choose_number(
        *("Few is under", "least", 1, 1_000, comparison.FEW),
        help="Buckets of fewer queries are greyed: their mean may be chance.",
    )
    return facet, other, least


def bucket_link(bucket: str | None, crossing: str | None = None) -> str:
    """Return the address of a bucket's queries, worst first or, with B, by loss against A."""
    where = {"other": other, "crossing": crossing} if crossing is not None else {}
    return bucket_queries_url(facet, bucket, texts[0], a=a, b=b, preset=chosen.preset, **where)


# --- what is shown ---------------------------------------------------------------------------


def show_one_run(board) -> None:
    """Show one run's buckets: a picture, each measure on a scale of its own, and the numbers."""
    rows = [row for row in board.table(measures, facet) if row.run == a]
    totals = [row for row in board.table(measures) if row.run == a]
    buckets = list(board.facets[facet])
    first = [row for row in rows if row.measure == totals[0].measure]
    drawn = buckets
    worst = comparison.lowest_first(first, least)
    show_html(tables.sentences(describe_lowest(worst[0], first, least, chosen, bucket_link)))
    if len(buckets) > MOST_DRAWN:
        drawn = in_same_order(worst, totals[0].measure)[:MOST_DRAWN]
    intervals = reaches_of((*scoreboards.cache_key(board, measures), a, facet), board)
    rules = {"facet": facet, "least": least, "link": bucket_link, "intervals": intervals}
    bands = scoreboards.bucket_ranges(board, [a], measures, facet)
    spreads = tables.spreads_of_means(bands, intervals)
    drawn_behind = {place[1:]: spread for place, spread in spreads.items()}
    show_html(tables.mean_plot(rows, totals, drawn, chosen, spreads=drawn_behind, **rules))
    heading = chosen.heading(totals[0].measure)
    order = "" if drawn == buckets else f", lowest {heading} first{few_come_last(first)}"
    explain(
        f"Means of {short[a]}{order}. {tables.SHADES if any_shaded(rows) else ''}Hovering a mean "
        "says its 95% interval, which covers the choice of queries, not holes or graders; all "
        f"numbers in a table say it, too.{whose_n(rows, heading)}",
        rows,
        len(buckets) - len(drawn),
        bands=bands,
    )
    if part := numbers_asked_for(buckets):
        show_html(tables.slice_table(in_order(rows, part), totals, chosen, **rules))
    more = {"intervals": intervals, "bands": bands}
    file = partial(csv_exports.score_csv, [*rows, *totals], board.conventions, **more)
    offer(board, file, "slices.csv")


def show_pair(board) -> None:
    """Show B against A: what moves against the total in words, the differences as dots, numbers."""
    with url_state.stale_if_incomparable("b"):
        found = comparison.compare(board, a, b, measures, facet)
    tested, reaches = how_sure((*scoreboards.cache_key(board, measures), a, b, facet), found)
    against = say_against(found, tested)
    buckets = in_same_order(comparison.worst_first(found, least), found.measures[0])
    drawn = buckets[:MOST_DRAWN]
    rules = {"least": least, "link": bucket_link}
    bands = scoreboards.pair_ranges(board, a, b, measures, facet)
    spreads = tables.delta_spreads(bands[1], reaches)
    show_html(tables.delta_plot(found, drawn, tested, reaches, spreads=spreads, **rules))
    first = [row for row in found.buckets if row.measure == found.measures[0]]
    heading = chosen.heading(found.measures[0])
    explain(
        f"B − A over the queries of each bucket, worst {heading} first{few_come_last(first)}: left "
        f"of the line B is worse. Filled is {comparison.SIGNIFICANCE_RULE}; hollow may be chance."
        + ("" if against else f" No bucket of {facet} moves against the total by more than that.")
        + f" {tests_in_words(tested)} {tables.GOES_ON}{whose_n(found.buckets, heading)}",
        found.buckets,
        len(buckets) - len(drawn),
        bands=bands[1],
    )
    if part := numbers_asked_for(buckets):
        headings = {chosen.heading(measure): measure for measure in found.measures}
        of = url_state.choose_tab("Measure", list(headings), "of")
        some = replace(found, buckets=in_order(found.buckets, part))
        show_html(tables.slice_pair_table(some, headings[of], short, tested, reaches, **rules))
    offer(board, lambda: csv_exports.slices_csv(found, bands), "slices.csv")


@st.cache_data(max_entries=20, show_spinner=False)
def reaches_of(at, _board):
    """Return the interval of each of a run's means, over all queries and in each bucket."""
    sums = scoreboards.resample_cache()
    of_all, of_buckets = (
        mean_intervals(_board, measures, each, runs=[a], sums=sums) for each in (None, facet)
    )
    return {**of_all, **of_buckets}


@st.cache_data(max_entries=20, show_spinner=False)
def how_sure(at, _found):
    """Test all that the picture shows together; return it with what each bucket's queries show."""
    rows = [*_found.deltas, *_found.buckets]
    reaches = comparison.power_by_key(_found, rows, scoreboards.resample_cache())
    return comparison.assess_buckets(_found), reaches


def tests_in_words(tested) -> str:
    """Say how many tests are shown, and what they do not cover."""
    family = comparison.describe_correction(each.family for each in tested.found.values())
    covers = comparison.COVERAGE_NOTE
    hovering = "Hovering a dot says its test and interval, and so do all numbers in a table."
    return f"{capitalize_first(family)}; {covers}. {hovering}"


def say_against(found, tested) -> list[comparison.ComparisonFinding]:
    """Say where B loses most, and which buckets move against the total by more than chance.

    All but a few of those are folded; each sentence leads to the bucket's worst queries.
    """
    worst, against = comparison.find_bucket_findings(found, (short[a], short[b]), tested)
    said = [replace(each, sentence=f"⚠ {each.sentence}") for each in against]
    told = [*([worst] if worst else []), *said[:MOST_SAID]]
    show_html(tables.sentences(with_links(each, found, is_of_slices=True) for each in told))
    if rest := said[MOST_SAID:]:
        with st.expander(f"{format_count(len(rest), 'more moves', 'more move')} against the total"):
            show_html(tables.sentences(with_links(each, found, is_of_slices=True) for each in rest))
    return said


def show_crossed(board) -> None:
    """Show where two facets cross, by the first measure."""
    runs = [a] if b is None else [a, b]
    if b is not None:
        comparison.check_pair(board, a, b)
    [measure, *_] = board.resolve(measures)
    cells = comparison.cross_facets(board, runs, measure, facet, other)
    rows, columns = list(board.facets[facet]), list(board.facets[other])
    drawn, across = rows[:MOST_DRAWN], columns[:MOST_ACROSS]
    rules = {"least": least, "link": bucket_link}
    what = "B − A" if b else f"mean of {short[a]}"
    st.text(f"{chosen.heading(measure)}: {what} by {facet} and {other}")
    show_html(tables.crossed_plot(cells, drawn, across, facet=facet, **rules))
    how = "Left of the line B is worse. " if b else ""
    if b is None and any_shaded(cells):
        how = "A shade is from the lowest mean to the highest of those that are not greyed. "
    left = (len(rows) - len(drawn), len(columns) - len(across))
    explain(f"{how}n is of the whole row.", cells, *left)
    filled = [cell for cell in cells if cell.n + cell.undefined]
    if part := numbers_asked_for(filled):
        show_html(tables.crossed_table(part, runs, short, (facet, other), **rules))
    offer(
        board,
        lambda: csv_exports.crossed_facets_csv(
            cells, runs, measure, (facet, other), board.conventions
        ),
        "crossed.csv",
    )


def show_by_keyword(board) -> None:
    """Show without grades where the keywords of each bucket's queries turn up, if asked to."""
    if not url_state.switch("Keywords by bucket, without grades", "keywords"):
        return
    k, runs = keyword_cache.choose_depth(), tuple(filter(None, (a, b)))
    at = keyword_cache.KeywordKey.of(board)
    found, unusable = keyword_cache.keyword_values(at, False, k, runs, board)
    if not any(found.values()):
        keyword_cache.say_nothing_found(at, unusable)
        return
    ids = board.collection.query_ids
    bucket_of = dict(zip(ids, board.collection.facets[facet], strict=True))
    buckets = list(board.facets[facet])
    totals, means = keyword_means(found), keyword_means(found, bucket_of, buckets)
    show_html(tables.keyword_slices(means, totals, facet, k))
    show_html(
        tables.small_print([describe_keyword_conventions(k, substring=False), unusable or ""])
    )


def explain(said: str, rows, rows_left: int, columns_left: int = 0, bands=None) -> None:
    """Say under a picture of ``rows`` how to read it and its ``bands``, and what is left out."""
    left = [
        format_count(rows_left, f"more bucket of {facet}", f"more buckets of {facet}"),
        format_count(columns_left, f"more of {other}", f"more of {other}"),
    ]
    left = [words for words, count in zip(left, (rows_left, columns_left), strict=True) if count]
    beyond = f"{' and '.join(left)}: in the table and in the file." if left else ""
    any_few = any(0 < row.n < least for row in rows)
    greyed = f"Greyed: fewer than {least} queries." if any_few else ""
    is_open = any(band.is_open for band in (bands or {}).values())
    show_html(tables.small_print([said, greyed, beyond, *([tables.BAND_WORDS] if is_open else [])]))


def whose_n(rows, heading: str) -> str:
    """Say by which measure n beside a bucket is, where others rest on other queries."""
    buckets, sizes = {row.bucket for row in rows}, {(row.bucket, row.n) for row in rows}
    if len(sizes) == len(buckets):
        return ""
    return f" n beside a bucket is by {heading}; hovering a number says its own."


def any_shaded(rows) -> bool:
    """Say whether any of them is of queries enough for a shade."""
    return any(row.n >= least for row in rows)


def few_come_last(rows) -> str:
    """Say where buckets of few queries stand by one measure, if there are some beside others."""
    few = sum(row.n < least for row in rows)
    return f", those under {least} queries last" if 0 < few < len(rows) else ""


def in_same_order(buckets, measure):
    """Return buckets in the order in which the reader saw them, though their values move."""
    return live.keep_order(buckets, str, ("slices", a, b, facet, least, str(measure), repr(chosen)))


def in_order(rows, buckets):
    """Return the rows of these buckets, in their order."""
    places = {bucket: place for place, bucket in enumerate(buckets)}
    return sorted((row for row in rows if row.bucket in places), key=lambda r: places[r.bucket])


def numbers_asked_for(rows):
    """Let the user ask for the table behind a picture; return its page of ``rows``, else none."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if not url_state.switch("All numbers in a table", "numbers"):
            return []
        return url_state.choose_part(rows, ON_A_PAGE)


def offer(board, content, name: str) -> None:
    """Say by which conventions the numbers were made, who is left out, and offer them as a file."""
    notes = [note.sentence for note in board.notes(measures) if note.is_about(a, b)]
    for each in filter(None, (facet, other)):
        if left_out := board.unbucketed(each):
            who = format_count(left_out, "judged query has", "judged queries have")
            where = "" if other else ", but in the row of all queries"
            notes.insert(0, f"{who} no {each}: in no bucket{where}")
    if url_state.get("weighted"):
        notes.append(filter_widgets.NOT_WEIGHTED_HERE)
    show_html(
        tables.small_print([board.conventions.sentence, *(f"· {note}" for note in notes)]),
        tables.folded_names(short, [run for run in (a, b) if run]),
    )
    ui.offer("Download as CSV", content, name, board.revision)


def show_slices(say) -> None:
    """Show the buckets as the newest grades leave them, and say how much is graded."""
    with ui.open_store() as store:
        board = scoreboards.live_board(store, chosen)
    say(scoreboards.graded_line(board))
    if not board.counts.grades:
        scoreboards.say_nothing_graded(chosen.selected, "No bucket has a number")
        show_by_keyword(board)
        return
    if empty := next((name for name in (facet, other) if board.facets.get(name) == ()), None):
        st.text(f"None of the queries that are chosen has a bucket of {empty}.")
        return
    if other is not None:
        show_crossed(board)
    elif b is not None:
        show_pair(board)
    else:
        show_one_run(board)
    show_by_keyword(board)


# --- the page --------------------------------------------------------------------------------

with ui.open_store() as store:
    settings = scoreboards.shown_settings(store)
    board = scoreboards.live_board(store, scoreboards.shown_conventions(settings, every=True))

if not board.run_names:
    where = "Load one on the Data page, or in a terminal:"
    ui.say_empty("There is no run to slice yet", where, "labeler load run FILE")
    st.stop()
if not board.facets:
    ui.say_empty(
        "No query has a bucket yet",
        "Give queries a task or buckets, and load them again:",
        '{"query_id": "q1", "query": "…", "task": "single", "buckets": {"intent": "refund"}}\n\n'
        "labeler load queries FILE --update",
    )
    st.stop()

short = short_names(board.run_names)
with filter_widgets.row():
    a, b = choose_runs(board.run_names)
    with filter_widgets.folded() as say:
        facet, other, least = choose_facets(list(board.facets))
        of_team = settings.measures_by_task if facet == "task" else ()
        tasks = [task for task in board.facets.get("task", ()) if task in of_team]
        usual = evaluation.measures_for_runs(board.collection, chunks=False)
        texts = filter_widgets.choose_measures(
            filter_widgets.default_measures(settings, tasks, usual)
        )
        chosen = filter_widgets.choose_conventions(settings, every=True)
say(
    filter_widgets.say_selection(chosen),
    f"by {facet}" if other is None else f"by {facet} and {other}",
    filter_widgets.say_measures(texts if other is None else texts[:1]),
    filter_widgets.say_tasks(settings, tasks),
    None if least == comparison.FEW else f"few is under {least}",
    filter_widgets.say_conventions(chosen),
)
with ui.guard():
    measures = filter_widgets.measures_of(chosen, texts)
live.follow(show_slices)
