"""The Scores page: the answer and all runs in a table, and below it the open view, live."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from labeler.analysis.cautions import find_cautions
from labeler.evaluation import NOT_WEIGHTED, NOTHING_GRADED, Note, Scoreboard
from labeler.measures import Measure
from labeler.model import Settings, format_count
from labeler.model.results import Statement
from labeler.paths import help_url
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.short_names import shorten_runs
from labeler.ui import keyword_cache, live, scoreboards
from labeler.ui import shared as ui
from labeler.ui.folds import show_folds
from labeler.ui.scores.answer import find_best, mark_runs, show_answer
from labeler.ui.scores.choices import (
    COMPUTED,
    CURVES,
    KEYWORDS,
    RECALL,
    SAID_ABOVE,
    TASKS,
    TIES,
    TREND,
    WEIGHED,
    ScoresChoice,
    choose,
    fold_url,
    show_others,
    show_warnings,
    show_what,
)
from labeler.ui.scores.keywords import show_keywords
from labeler.ui.scores.trend import show_trend
from labeler.ui.scores.views import FileContent, show_curves, show_recall, show_tasks, show_ties

FOLDS: Mapping[str, tuple[str, str]] = {
    CURVES: ("Over k", "recall and precision at each depth"),
    TASKS: ("By task", "each by its own measures"),
    TREND: ("Over time", "the runs of each system by date"),
    RECALL: ("Pooling bias", "how much each run’s recall owes to its own results"),
    TIES: ("Ties", "what other orders of equal scores would give"),
    KEYWORDS: ("Keywords", "where the words of an answer are found, without grades"),
    COMPUTED: ("How computed", ""),
}
SHOWS: Mapping[str, Callable[[ScoresChoice, Scoreboard], FileContent | None]] = {
    CURVES: show_curves,
    TASKS: show_tasks,
    TREND: show_trend,
    RECALL: show_recall,
    TIES: show_ties,
}
"""By view what shows its numbers, and returns what makes a file of them, None where none are."""
INTERVALS_NOTE = (
    "an interval covers the choice of queries, not unjudged chunks or graders; the file has the "
    "intervals of all means"
)


def show_page() -> None:
    """Show the page, or say which data it needs."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
        board = scoreboards.read_board(store, settings, every=True)
        params = store.runs.params()
    if not board.run_names:
        what = "A run is one system's ranked results for each query."
        ui.say_empty("There is no run to score yet", what, "labeler load run FILE")
        st.stop()
    scoreboards.best_first(board, settings)  # the header's links name the best
    live.follow(partial(show_scores, choose(board, settings, params), settings))


def show_scores(choice: ScoresChoice, settings: Settings, say: Callable[[str], None]) -> None:
    """Show the newest numbers, and say how much is graded."""
    with ui.open_store() as store:
        board = scoreboards.live_board(store, choice.conventions)
    even = board
    if choice.traffic is not None:
        board = board.weighted_by(choice.traffic)
    now = replace(choice, conventions=board.conventions)
    shown = [run for run in board.run_names if choice.shows(run)]
    with ui.reading(f"Comparing {format_count(len(shown), 'run', 'runs')}…"):
        there = board.notes(choice.measures)
        found = cautions_of(choice, board, settings) if board.counts.grades else []
    with st.container():  # so that the table keeps its place as lines appear
        show_what(choice, len(shown), len(board.run_names))
        show_warnings(there)
    notes = [
        note.sentence for note in there if note.is_about(*shown) and note.kind not in SAID_ABOVE
    ]
    file = None
    if board.counts.grades:
        foreign = [note.sentence for note in there if explains_zeros(note, shown)]
        cautions = [shorten_runs(each, now.names.short).sentence for each in found]
        best = find_best(now, board, settings)
        now = replace(now, marked=mark_runs(best))
        file = show_answer(now, board, best, [*foreign, *cautions])
        notes = [*cautions, *left_out_notes(choice, board), *notes, INTERVALS_NOTE]
        notes += [] if choice.traffic is None else [NOT_WEIGHTED]
    else:
        say(scoreboards.graded_line(board))
        if choice.view != KEYWORDS:
            scoreboards.say_nothing_graded(board.conventions.selected, "No run has a score")
            show_others(board)
    show_views(now, board, even, notes)
    if file is not None:
        ui.offer("Download CSV", file, "scores.csv", board.revision)


def explains_zeros(note: Note, shown: Sequence[str]) -> bool:
    """Return whether a note explains why all values of a shown run are 0."""
    return note.kind == NOTHING_GRADED and note.is_about(*shown)


def left_out_notes(choice: ScoresChoice, board: Scoreboard) -> list[str]:
    """Say how many judged queries are in none of the buckets shown."""
    left_out = 0 if choice.facet is None else board.unbucketed(choice.facet)
    if not left_out:
        return []
    judged = format_count(left_out, "judged query", "judged queries")
    return [f"{judged} without {choice.facet}: not in these rows"]


def folds_of(choice: ScoresChoice, board: Scoreboard) -> list[str]:
    """Return the views that have something to show, and the one in the URL."""
    if not board.counts.grades:
        return [KEYWORDS, COMPUTED]
    has = {
        TASKS: bool(board.facets.get("task")),
        TREND: any(run.created_at for run in board.collection.runs),
        TIES: any(board.tied.values()),
        KEYWORDS: bool(keyword_cache.keywords_by_query(keyword_cache.KeywordKey.of(board, None))),
    }
    return [view for view in FOLDS if has.get(view, True) or view == choice.view]


def show_views(
    choice: ScoresChoice, board: Scoreboard, even: Scoreboard, notes: Sequence[str]
) -> None:
    """Show the folds, and the numbers of the open view."""
    golden = choice.conventions.golden
    folds = {view: FOLDS[view] for view in folds_of(choice, board)}
    folds[COMPUTED] = (FOLDS[COMPUTED][0], f"golden set {golden[:8]}" if golden else "")
    shown = board if choice.view in WEIGHED else even
    show_folds(folds, choice.view, fold_url, lambda: show_view(choice, shown, notes))


def show_view(choice: ScoresChoice, board: Scoreboard, notes: Sequence[str]) -> None:
    """Show the numbers of the open view, with their file."""
    if choice.place:
        st.text(choice.place)
    if choice.traffic is not None and choice.view not in WEIGHED:
        st.text("This is not weighted: each query counts the same.")
    if choice.view == COMPUTED:
        show_computed(choice, notes)
    elif choice.view == KEYWORDS:
        show_keywords(choice, board)
    elif (shows := SHOWS.get(choice.view)) is not None and board.counts.grades:
        file = shows(choice, board)
        if file is not None:
            label = f"Download {FOLDS[choice.view][0].lower()} as CSV"
            ui.offer(label, file, "scores.csv", board.revision)


def show_computed(choice: ScoresChoice, notes: Sequence[str]) -> None:
    """Show the conventions, what was left out or may surprise, and the shortened names."""
    short = choice.names.short
    show_html(
        tables.small_print([choice.conventions.sentence, *(f"· {note}" for note in notes)]),
        tables.measure_meanings(choice.measures, help_url),
        tables.folded_names(short, filter(choice.shows, short)),
    )


def cautions_of(choice: ScoresChoice, board: Scoreboard, settings: Settings) -> list[Statement]:
    """Return the ways in which the numbers mislead, the gravest first."""
    shown = tuple(run for run in board.run_names if choice.shows(run))
    runs = None if len(shown) == len(board.run_names) else shown
    at = (*scoreboards.cache_key(board, choice.measures), runs, choice.within, settings.matters)
    return _cautions((*at, choice.traffic), choice.measures, runs, choice.within, settings, board)


@st.cache_data(max_entries=16, show_spinner=False)
def _cautions(
    at: tuple[Hashable, ...],
    _measures: Sequence[Measure],
    _runs: Sequence[str] | None,
    _within: tuple[str, str] | None,
    _settings: Settings,
    _board: Scoreboard,
) -> list[Statement]:
    facet, bucket = _within or (None, None)
    return find_cautions(
        *(_board, _measures),
        runs=_runs,
        facet=facet,
        bucket=bucket,
        settings=_settings,
        most=None,
    )
