"""Every run by every chosen measure, live: the numbers move while others grade."""

from collections.abc import Callable, Sequence

import streamlit as st

from labeler import address, charts, choices, choosing, downloads, live, tables, ui
from labeler.evaluation import (
    Residual,
    Score,
    Scoreboard,
    TieRanges,
    cautions,
    primary,
    residual_means,
    tied_ranges,
)
from labeler.keywords import Corpus, beside_grades, keyword_scores, say_unusable
from labeler.lineup import Group, picked
from labeler.markup import show_html
from labeler.naming import short_names

PATH = "/scores"
K = 10  # how deep keywords are looked for
LABEL_FREE = "keywords are looked for in every query that has them, graded or not"
MOST_CAUTIONS_OPEN, MOST_NOTES_OPEN = 6, 5
MOST_DRAWN, FEW_DRAWN = 8, 5  # as many runs as can be told apart; the best, where there are more
MOST_BUCKETS = 60
CURVES_AT = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100)

with ui.open_store() as store:
    settings = store.settings()
    board = ui.live_board(store, ui.conventions(settings))

if not board.run_names:
    st.subheader("There is no run to score yet")
    st.write("Load one on the Data page, or in a terminal:")
    st.code("labeler load run FILE")
    st.stop()


facets = board.facets
systems = {run.name: run.system for run in board.collection.runs}
names = tables.RunNames(short_names(board.run_names), systems)
# An address keeps the names it always had.
VIEW_NAMES = {"recall over k": "recall and precision over k"}
views = ["measures", "by task", "recall over k", "ties", "keywords"]
view = address.choose_tab(
    *("View", views, "view"), what="view", format_func=lambda name: VIEW_NAMES.get(name, name)
)
OWN_MEASURES = {
    "by task": "Each task has the measures that fit it.",
    "recall over k": "These are R and P at each k.",
}
with choices.row():
    with choices.folded() as say:
        texts = [] if view in OWN_MEASURES else choices.choose_measures()
        facet, bucket = choices.choose_bucket(facets)
        chosen = choices.choose_conventions(settings)
    with ui.guard():
        lineup = choosing.choose_runs(names)
say(
    choices.say_queries(facet, bucket),
    choices.say_measures(texts) if texts else None,
    choices.say_conventions(chosen),
)
with ui.guard():
    measures = chosen.measures(texts)
within = None if facet is None or bucket is None else (facet, bucket)


# --- tables ----------------------------------------------------------------------------------


def show_table(
    table: tables.RunTable, first: str | None = None, *, folded: bool = False
) -> list[Group]:
    """Show a table of runs as the reader lined them up; return what it shows.

    ``first`` is the column it is sorted by until somebody chooses another. The runs stay in the
    order in which the reader saw them, unless the table is ``folded``.
    """
    lined_up = lineup.on(table.names if first is None else [first, *table.names])
    groups = lined_up.order(table.values, systems)
    if not folded:
        asked = (PATH, view, facet, bucket, chosen.preset, lined_up, *table.names)
        groups = in_same_order(groups, asked)
    show_html(tables.runs_table(table, groups, lined_up, names, choosing.steps(PATH, lined_up)))
    return groups


def in_same_order(groups: Sequence[Group], asked: tuple) -> list[Group]:
    """Return runs in the order in which the reader saw them, though their values move."""
    runs = [run for group in groups for run in group.runs]
    places = {run: at for at, run in enumerate(live.keep_order(runs, str, asked))}
    same = [Group(name, tuple(sorted(runs, key=places.__getitem__))) for name, runs in groups]
    return sorted(same, key=lambda group: places[group.runs[0]])


def drawn_of(groups: Sequence[Group]) -> list[str]:
    """Return the runs that charts have room for, and say which where these are not all."""
    drawn = picked(groups, lineup.pinned, MOST_DRAWN, FEW_DRAWN)
    if len(drawn) < sum(len(group.runs) for group in groups):
        is_pinned = set(drawn) <= set(lineup.pinned)
        which = "pinned" if is_pinned else f"first {len(drawn)}"
        st.caption(f"Drawn are the {which} runs of the table; ☆ pins a run.")
    return drawn


def of_runs(scores: Sequence[Score], runs: Sequence[str]) -> list[Score]:
    """Return the scores of some runs, run by run in their order."""
    return [score for run in runs for score in scores if score.run == run]


def place() -> str:
    """Say of which queries a view's numbers are, where it has no room for every bucket."""
    if facet is None:
        return ""
    if bucket is None:
        return f"Over all queries: this view shows one bucket of {facet} at a time; choose it."
    return f"Over the queries of one bucket: {facet} = {bucket}."


# --- views: each shows its numbers, and returns what makes a file of them ------------------------

File = Callable[[], bytes]


def show_measures(board: Scoreboard) -> File:
    """Show every run by every chosen measure, or by every bucket."""
    if facet is not None and bucket is None:
        return show_buckets(board, facet)
    scores = [score for score in board.table(measures, facet) if score.bucket == bucket]
    if bucket is not None:
        st.text(f"{facet}: {bucket}")
    groups = show_table(tables.score_table(scores, chosen))
    show_residuals(board, [bucket])
    drawn = drawn_of(groups)
    if drawn:
        show_html(tables.run_legend(drawn, names.short))
        st.altair_chart(charts.score_chart(of_runs(scores, drawn), chosen))
    return lambda: file_of(scores, residual_means(board, measures, facet))


def show_buckets(board: Scoreboard, facet: str) -> File:
    """Show every run by every bucket, the largest first, by the first measure."""
    scores = board.table(measures[:1], facet)
    sizes = {score.bucket: score.n + score.undefined for score in scores}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:MOST_BUCKETS]
    which = "each bucket"
    if len(sizes) > MOST_BUCKETS:
        which = f"the {MOST_BUCKETS} largest of {len(sizes):,} buckets"
    st.text(
        f"{chosen.heading(measures[0])}, the first measure, in {which} of {facet}. "
        "Choose one bucket to see every measure in it."
    )
    part = [score for name in largest for score in scores if score.bucket == name]
    show_table(tables.bucket_table(part, chosen))
    show_residuals(board, largest)
    return lambda: file_of(board.table(measures, facet), residual_means(board, measures, facet))


def show_residuals(board: Scoreboard, buckets: Sequence[str | None]) -> None:
    """Show what each RBP leaves open, folded where there is a table for each of many buckets."""
    found = residual_means(board, measures, facet)
    if not found:
        return
    with st.expander("RBP and its residual", expanded=len(buckets) == 1, key="residuals"):
        for name in buckets:
            if name is not None:
                st.text(f"{facet}: {name}")
            part = [each for each in found if each.bucket == name]
            show_table(tables.residual_table(part, chosen), folded=True)
        st.caption(
            "The residual is what RBP could rise by if everything that nobody graded were "
            "relevant: the holes, and all that stands below the cut-off or the end of a list. "
            "However the rest is graded, RBP over these queries is from value to value + residual."
        )


def show_tasks(board: Scoreboard) -> File:
    """Show each task by the leading one of the measures that fit it, the others folded."""
    tasks = board.facets.get("task", ())
    if not tasks:
        st.write("No query has a task. Give queries a `task` and load them again with --update.")
        return lambda: file_of([])
    by_task = {
        task: [
            score
            for score in alone(board).table(primary(chosen, task), "task")
            if score.bucket == task
        ]
        for task in tasks
    }
    leading = [score for task in by_task.values() for score in leading_of(task)]
    show_table(tables.bucket_table(leading, chosen))
    with st.expander("Every measure of each task", key="tasks"):
        for task, scores in by_task.items():
            st.text(f"task: {task}")
            show_table(tables.score_table(scores, chosen), folded=True)
    return lambda: file_of([score for scores in by_task.values() for score in scores])


def leading_of(scores: Sequence[Score]) -> list[Score]:
    """Return the scores of the measure that comes first."""
    return [score for score in scores if score.measure == scores[0].measure]


def show_curves(board: Scoreboard) -> File:
    """Show recall over k beside precision over k, against the prompt budget."""
    found = [curve(board, name) for name in ("R", "P")]
    recall, precision = (tables.score_table(scores, chosen) for scores in found)
    above = st.container()
    groups = show_table(recall, f"R@{K}")
    show_table(precision, f"P@{K}")
    budgets = board.budgets[alone(board).counted(found[0][0].measure)].tolist()
    with above:
        drawn = drawn_of(groups)
        show_html(tables.run_legend(drawn, names.short, lines=True))
        for column, scores in zip(st.columns(2), found, strict=True):
            column.altair_chart(charts.curve_chart(of_runs(scores, drawn), budgets))
    return lambda: file_of([*found[0], *found[1]])


def curve(board: Scoreboard, name: str) -> list[Score]:
    """Return a measure at each k, for all queries or one bucket."""
    return in_place(board, chosen.measures([f"{name}@{k}" for k in CURVES_AT]))


def in_place(board: Scoreboard, wanted: tuple) -> list[Score]:
    """Return the scores of all queries, or of the chosen bucket if one is chosen."""
    if within is None:
        return board.table(wanted)
    return [score for score in board.table(wanted, facet) if score.bucket == bucket]


def file_of(
    scores: Sequence[Score], residuals: Sequence[Residual] = (), ranges: TieRanges | None = None
) -> bytes:
    """Return the file with the scores of the runs that are shown."""
    shown = [each for each in scores if lineup.shows(each.run, systems[each.run])]
    narrowed = within if view == "by task" else None
    return downloads.score_csv(shown, chosen, residuals, ranges=ranges, within=narrowed)


def alone(board: Scoreboard) -> Scoreboard:
    """Return the board with the queries of the chosen bucket alone, if one is chosen."""
    return board if within is None else board.within(*within)


@st.cache_data(max_entries=8, show_spinner="Re-ordering ties …")
def ranges_of_ties(at, _board: Scoreboard):
    """Return what other orders of tied chunks could give; worked out once for each change."""
    return tied_ranges(_board, measures)


def show_ties(board: Scoreboard) -> File:
    """Show how much of each mean the order of equal scores decides."""
    at = (ui.database(), board.data_revision, board.revision, repr(chosen), repr(measures), within)
    ranges = ranges_of_ties(at, alone(board))
    if ranges:
        show_table(tables.tie_table(ranges, chosen))
        st.caption(
            "The lowest and the highest mean that re-ordering chunks with equal "
            "scores could give. Scores are equal where they are as 32-bit numbers."
        )
    else:
        st.write("No run has tied scores, so no order of ties decides anything.")
    return lambda: file_of(in_place(board, measures), ranges=ranges)


@st.cache_resource(max_entries=2, show_spinner="Reading the chunks …")
def corpus(path: str, data_revision: int, substring: bool) -> Corpus:
    """Return the words of every chunk; one read for each change of the data."""
    with ui.open_store() as store:
        texts = store.chunks_numbered(store.chunks_with_text())
    return Corpus({n: chunk.text or "" for n, chunk in texts.items()}, substring=substring)


@st.cache_data(max_entries=4, show_spinner="Looking for keywords …")
def keyword_values(at, substring: bool, _board: Scoreboard):
    """Return every run's keyword scores by query, and what cannot be looked for; knows no grade."""
    with ui.open_store() as store:
        asked = None if within is None else store.queries_in(*within)
        keywords = {
            query.query_id: query.keywords
            for query in store.queries()
            if query.keywords and (asked is None or query.query_id in asked)
        }
    known = corpus(*at[:2], substring)
    found = {
        run: keyword_scores(known, keywords, lambda q, run=run: _board.chunks(run, q).tolist(), K)
        for run in _board.run_names
    }
    return found, say_unusable(known, keywords)


def show_keywords(board: Scoreboard) -> None:
    """Show what can be said without grades, beside what grades say, and whether they agree."""
    substring = address.switch(
        "Find keywords inside longer words, too",
        "substring",
        help="A keyword without letters and digits, such as `++`, is then looked for, too.",
    )
    at = (ui.database(), board.data_revision, chosen.preset, within)
    found, unusable = keyword_values(at, substring, board)
    if unusable:
        st.text(unusable)
    elif not any(found.values()):
        st.write("No query has keywords. Give queries `keywords` and load them with --update.")
        return
    beside = board.resolve(measures)
    rows = [beside_grades(board, run, scores, beside) for run, scores in found.items()]
    headings = [chosen.heading(measure) for measure in beside]
    first = max(rows, key=lambda row: row.judged)
    st.text(f"queries with keywords: {first.n:,}, graded of them: {first.judged:,}")
    show_table(tables.keyword_table(rows, K, headings))
    explain_keywords(first.judged, headings[0])
    show_small_print([*notes_of(board), LABEL_FREE])
    ui.offer(
        "Download these numbers as CSV",
        lambda: downloads.keyword_csv(rows, K, headings, chosen, substring=substring),
        "keywords.csv",
        board.revision,
    )


def explain_keywords(judged: int, first: str) -> None:
    """Say what the columns mean, and what agreement needs where too few queries are judged."""
    if judged < 2:
        so_far = "none of these queries is graded yet"
        if judged:
            so_far = "1 of these queries is graded so far"
        st.write(
            "Agreement with graded measures needs at least two graded queries that have keywords; "
            f"{so_far}."
        )
    st.caption(
        "By keyword, over all queries that have any: where the words an answer should hold first "
        "turn up, how many of the chunks that hold them are near the top, and the share of them "
        "the top holds. Nobody has to grade for that, and nothing in it knows whether a chunk that "
        "holds the word answers the question: agreement is the rank correlation (Spearman) of "
        f"nDCG@{K} by keyword with {first} by grades over the graded queries; 1 is the same "
        "order, 0 none in common. A dash stands for what is undefined, as agreement is where one "
        "of the two is the same for all queries."
    )


VIEWS = {
    "measures": show_measures,
    "by task": show_tasks,
    "recall over k": show_curves,
    "ties": show_ties,
}


def show_scores() -> str:
    """Show the newest numbers; return how much they rest on."""
    with ui.open_store() as store:
        board = ui.live_board(store, chosen)
    shown = [run for run in board.run_names if lineup.shows(run, systems[run])]
    if len(shown) < len(board.run_names):
        said = f"{len(shown)} of {len(board.run_names)} runs are shown."
        show_html(tables.sentence_with_link(said, "Show all", choosing.show_all(PATH)))
    if view in OWN_MEASURES:
        st.caption(OWN_MEASURES[view])
    if view != "measures" and (said := place()):
        st.text(said)
    if view == "keywords":
        show_keywords(board)
    elif board.counts.judged:
        show_graded(board)
    else:
        st.write("Nothing is graded yet, so there is nothing to score. Grade on the Label page.")
    return ui.graded_line(board.counts)


def show_graded(board: Scoreboard) -> None:
    """Show the chosen view of graded measures, with all that was left out of it."""
    file = VIEWS[view](board)
    notes = notes_of(board)
    if view == "measures" and facet is not None and (left_out := board.unbucketed(facet)):
        notes.append(f"{left_out:,} judged queries have no {facet} and are in none of these rows")
    show_small_print(notes)
    of_one_bucket = facet if bucket else None, bucket
    if view == "measures" and (warned := cautions(board, measures, *of_one_bucket)):
        few = len(warned) <= MOST_CAUTIONS_OPEN
        with st.expander("Where these numbers can mislead", expanded=few, key="cautions"):
            st.text("\n".join(f"· {caution.sentence}" for caution in warned))
    ui.offer(
        "Download these numbers as CSV",
        file,
        "scores.csv",
        board.revision,
    )


def notes_of(board: Scoreboard) -> list[str]:
    """Return what to know of the numbers: of all runs, and of each that is shown."""
    notes = board.notes(measures)
    shown = [run for run in board.run_names if lineup.shows(run, systems[run])]
    return [note.sentence for note in notes if note.is_about(*shown)]


def show_small_print(notes: Sequence[str]) -> None:
    """Show the conventions, and what was left out or treated in a way that could surprise."""
    st.caption(chosen.sentence)
    said = "\n".join(f"· {note}" for note in notes)
    if len(notes) > MOST_NOTES_OPEN:
        with st.expander(f"{len(notes)} things to know of these numbers", key="notes"):
            st.text(said)
    elif notes:
        st.text(said)


live.follow(show_scores)
