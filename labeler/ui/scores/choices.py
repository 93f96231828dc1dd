"""Choices on Scores: view, measures, queries and runs; all of it is in the URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from labeler import evaluation
from labeler.evaluation import (
    NOTHING_RELEVANT,
    OTHER_CHUNKINGS,
    SEVERAL_CHUNKINGS,
    Conventions,
    Note,
    Score,
    Scoreboard,
)
from labeler.measures import Measure
from labeler.model import Settings, Traffic
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.short_names import short_names
from labeler.render.tables import RunNames, RunTableLinks
from labeler.render.tables.run_table import RunTableState
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui import shared as ui

PATH = "/scores"
MEASURES, TASKS, TREND, CURVES, TIES, RECALL, KEYWORDS = (
    *("measures", "by task", "trend", "recall over k"),
    *("ties", "trust in recall", "keywords"),
)
VIEW_LABELS = {CURVES: "recall and precision over k"}  # an address keeps the names it always had
OWN_MEASURES = {
    TASKS: "Each task has the measures that fit it.",
    CURVES: "These are R and P at each k.",
}
SAID_ABOVE = (SEVERAL_CHUNKINGS, OTHER_CHUNKINGS, NOTHING_RELEVANT)  # kinds of notes
WEIGHED = (MEASURES, TASKS, TREND, CURVES)
"""The views whose means can be weighted by traffic."""
SORT, ONLY_RUNS, HIDDEN, PINNED, NAME_CONTAINS, SYSTEMS = (
    "sort",
    "run",
    "hide",
    "pin",
    "find",
    "systems",
)
NAMING_RUNS = ("a", "b", ONLY_RUNS, HIDDEN, PINNED)


@dataclass(frozen=True, slots=True)
class ScoresChoice:
    """What is shown: a view, by which measures, of which queries, and which runs in it.

    ``traffic`` weights the means, None if each query counts the same; ``by_task`` are the team's
    measures for a task.
    """

    view: str
    measures: Sequence[Measure]
    facet: str | None
    bucket: str | None
    conventions: Conventions
    lineup: RunTableState
    names: RunNames
    traffic: Traffic | None = None
    by_task: Mapping[str, str] = field(default_factory=dict)

    @property
    def within(self) -> tuple[str, str] | None:
        """The one bucket that is looked at, with its facet."""
        return None if self.facet is None or self.bucket is None else (self.facet, self.bucket)

    @property
    def place(self) -> str:
        """Which queries a view's numbers are of, if it cannot show every bucket."""
        has_room = self.view == MEASURES or (self.view == TREND and self.bucket is None)
        if self.facet is None or has_room:
            return ""
        if self.bucket is None:
            return (
                f"Over all queries: this view shows one bucket of {self.facet} at a time; "
                "choose it."
            )
        return f"Over the queries of one bucket: {self.facet} = {self.bucket}."

    def shows(self, run: str) -> bool:
        """Say whether a run is shown."""
        return self.lineup.shows(run, self.names.systems[run])

    def alone(self, board: Scoreboard) -> Scoreboard:
        """Return the board with the queries of the chosen bucket alone, if one is chosen."""
        return board if self.within is None else board.within(*self.within)

    def of_shown(self, scores: Sequence[Score]) -> list[Score]:
        """Return those of the runs that are shown; of all where none is, for a table's columns."""
        return [each for each in scores if self.shows(each.run)] or list(scores)

    def table(self, board: Scoreboard, measures: Sequence[Measure]) -> list[Score]:
        """Return the shown runs' scores of all queries, or of the chosen bucket if one is."""
        scores = board.table(measures, None if self.within is None else self.facet)
        inside = [each for each in scores if self.within is None or each.bucket == self.bucket]
        return self.of_shown(inside)


def choose(board: Scoreboard, settings: Settings) -> ScoresChoice:
    """Let the user choose; the view is in sight, the rest is said in a line and folded."""
    systems = {run.name: run.system for run in board.collection.runs}
    names = RunNames(short_names(systems), systems, short_names(systems.values()))
    views = [MEASURES, TASKS, TREND, CURVES, TIES, RECALL, KEYWORDS]
    view = url_state.choose_tab(
        *("View", views, "view"), what="view", format_func=lambda name: VIEW_LABELS.get(name, name)
    )
    with filter_widgets.row():
        with filter_widgets.folded() as say:
            tasks = filter_widgets.tasks_shown()
            usual = filter_widgets.default_measures(
                settings, tasks, evaluation.measures_for_runs(board.collection, chunks=False)
            )
            texts = [] if view in OWN_MEASURES else filter_widgets.choose_measures(usual)
            facet, bucket = filter_widgets.choose_bucket(board.facets)
            conventions = filter_widgets.choose_conventions(settings, every=True, runs=NAMING_RUNS)
            traffic = filter_widgets.choose_traffic(board.facets)
        with ui.guard():
            lineup = choose_runs(names)
    say(
        filter_widgets.say_selection(conventions),
        filter_widgets.say_traffic(traffic),
        filter_widgets.say_queries(facet, bucket),
        filter_widgets.say_wider(bucket),
        filter_widgets.say_measures(texts) if texts else None,
        filter_widgets.say_tasks(settings, tasks) if texts else None,
        filter_widgets.say_conventions(conventions),
    )
    with ui.guard():
        measures = filter_widgets.measures_of(conventions, texts)
    traffic = traffic if view in WEIGHED else None
    return ScoresChoice(
        view,
        measures,
        facet,
        bucket,
        conventions,
        lineup,
        names,
        traffic,
        settings.measures_by_task,
    )


def choose_runs(names: RunNames) -> RunTableState:
    """Let the user choose runs, a text in their names, and whether they are grouped by system.

    Raises `StaleLink` if the URL names a run to show that does not exist.
    """
    runs = list(names.systems)
    with filter_widgets.fold("Choose runs", "filter_list", of="-runs"):
        only = url_state.choose_some(
            *("Show only", runs, ONLY_RUNS, "run"),
            format_func=lambda run: names.short.get(run, run),
            placeholder="all runs",
        )
        holding = url_state.write_text("Whose name or system holds", NAME_CONTAINS)
        by_system = url_state.switch("Group by system", SYSTEMS)
    return RunTableState(
        sort=url_state.get(SORT) or "",
        only=tuple(only),
        hidden=tuple(url_state.get_all([HIDDEN]).get(HIDDEN, ())),
        pinned=tuple(url_state.check_some_of(PINNED, runs, "run")),
        holding=holding,
        by_system=by_system,
    )


def table_links(lineup: RunTableState) -> RunTableLinks:
    """Return where the links of a table lead."""
    return RunTableLinks(
        sort=lambda column: _url_with({SORT: lineup.turned(column)}),
        pin=lambda run: _url_with({PINNED: _toggled(lineup.pinned, run)}),
        hide=lambda run: _url_with(
            {HIDDEN: [*lineup.hidden, run], PINNED: [each for each in lineup.pinned if each != run]}
        ),
    )


def show_warnings(notes: Iterable[Note]) -> None:
    """Say what compares where runs are of several chunkings, or lead to those that are not here.

    Before any number stands, too, why there may be none.
    """
    for note in notes:
        if note.kind in (SEVERAL_CHUNKINGS, NOTHING_RELEVANT):
            st.text(f"⚠ {note.sentence}")
        if note.kind == OTHER_CHUNKINGS:
            every = _url_with({"chunking": scoreboards.EVERY_CHUNKING, "measure": []})
            said = f"{note.sentence}."
            show_html(tables.sentence_with_link(said, "All chunkings in one table", every))


def show_what(choice: ScoresChoice, shown: int, there: int) -> None:
    """Say on one line whose measures, of which queries and how many runs are shown."""
    said = " ".join(filter(None, (OWN_MEASURES.get(choice.view), choice.place)))
    if shown < there:
        runs = f"{said} {shown} of {there} runs are shown.".lstrip()
        show_html(tables.sentence_with_link(runs, "Show all", all_runs_url()))
    elif said:
        st.text(said)


def all_runs_url() -> str:
    """Return the address that shows every run again."""
    return _url_with({ONLY_RUNS: [], HIDDEN: [], NAME_CONTAINS: []})


def _toggled(names: Sequence[str], name: str) -> list[str]:
    return [each for each in names if each != name] if name in names else [*names, name]


def _url_with(changes: Mapping[str, str | Sequence[str]]) -> str:
    return url_state.this_page_url(PATH, **changes)
