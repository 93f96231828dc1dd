"""Choices on Scores: view, measures, queries and runs; all of it is in the URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import htpy
import streamlit as st

from labeler.evaluation import (
    NOTHING_RELEVANT,
    OTHER_CHUNKINGS,
    Conventions,
    Note,
    Score,
    Scoreboard,
)
from labeler.measures import Measure
from labeler.model import Settings, Traffic, describe_chunking, format_count
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.name_parts import name_parts, parameter_parts
from labeler.render.short_names import short_names
from labeler.render.tables import RunNames
from labeler.render.tables.run_table import RunTableState
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui import shared as ui

PATH = "/scores"
VIEWS = MEASURES, CURVES, TASKS, TREND, RECALL, TIES, KEYWORDS, COMPUTED = (
    *("measures", "recall over k", "by task", "trend"),
    *("trust in recall", "ties", "keywords", "how computed"),
)
"""What is unfolded below the table, as addresses have always named it; at first nothing."""
SAID_ABOVE = (OTHER_CHUNKINGS, NOTHING_RELEVANT)  # kinds of notes
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
class MarkedRuns:
    """The runs that are marked to compare, as in the URL: A, B and further ones."""

    runs: tuple[str, ...]

    @classmethod
    def of(cls, ranked: Sequence[str]) -> MarkedRuns:
        """Return the marked runs in the URL, by default the best as B and the next one as A.

        ``ranked`` are the runs, best first.
        """
        named = [*(url_state.get(name) for name in ("a", "b")), *url_state.get_each("also")]
        found = tuple(run for run in dict.fromkeys(named) if run is not None and run in ranked)
        return cls(found or tuple(reversed(ranked[:2])))

    def role(self, run: str) -> str:
        """Return a run's role, ``a``, ``b`` or ``beside``, empty if it is not marked."""
        if run not in self.runs:
            return ""
        at = self.runs.index(run)
        return "ab"[at] if at < 2 else "beside"

    @property
    def roles(self) -> dict[str, str]:
        """The roles of A and B, so that charts draw them as on other pages."""
        return dict(zip(self.runs, "ab", strict=False))

    def turned(self, run: str) -> str:
        """Return the URL of the page with the run marked or, if it is marked, unmarked."""
        left = [each for each in self.runs if each != run]
        return url_with(self._named([*left, run] if run not in self.runs else left))

    @property
    def compare_url(self) -> str:
        """The URL that compares these runs."""
        return url_state.page_url("/compare", **self._named(self.runs))

    @staticmethod
    def _named(runs: Sequence[str]) -> dict[str, str | Sequence[str]]:
        a, b, *also = [*runs, "", ""][: max(2, len(runs))]
        return {"a": a or [], "b": b or [], "also": also}


@dataclass(frozen=True, slots=True)
class ScoresChoice:
    """What the page shows: a view, its measures, queries and runs.

    ``traffic`` weights the means, None if each query counts the same. ``by_task`` are the team's
    measures for a task, and ``marked`` the runs to compare.
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
    marked: MarkedRuns = MarkedRuns(())

    @property
    def within(self) -> tuple[str, str] | None:
        """The facet and the bucket that the page is restricted to, if any."""
        return None if self.facet is None or self.bucket is None else (self.facet, self.bucket)

    @property
    def place(self) -> str:
        """The queries of an open view's numbers, if it cannot show every bucket."""
        if self.facet is None or self.bucket is not None or self.view in (MEASURES, TREND):
            return ""
        return f"Over all queries: this shows one bucket of {self.facet} at a time; choose it."

    def shows(self, run: str) -> bool:
        """Say whether a run is shown."""
        return self.lineup.shows(run, self.names.systems[run])

    def alone(self, board: Scoreboard) -> Scoreboard:
        """Return the board with only the queries of the chosen bucket, if one is chosen."""
        return board if self.within is None else board.within(*self.within)

    def of_shown(self, scores: Sequence[Score]) -> list[Score]:
        """Return the scores of the runs shown; if none is, of all, for a table's columns."""
        return [each for each in scores if self.shows(each.run)] or list(scores)

    def table(self, board: Scoreboard, measures: Sequence[Measure]) -> list[Score]:
        """Return the shown runs' scores of all queries, or of the chosen bucket if one is."""
        scores = board.table(measures, None if self.within is None else self.facet)
        inside = [each for each in scores if self.within is None or each.bucket == self.bucket]
        return self.of_shown(inside)


def choose(
    board: Scoreboard, settings: Settings, params: Mapping[str, Mapping[str, str]]
) -> ScoresChoice:
    """Let the user choose; one line shows the choices, and a fold has the widgets.

    ``params`` are the parameters of runs that were loaded with some.
    """
    systems = {run.name: run.system for run in board.collection.runs}
    names = names_of_runs(systems, params)
    with ui.guard():
        view = url_state.check_among("view", VIEWS, "view") or MEASURES
    with filter_widgets.row():
        with filter_widgets.folded() as say:
            tasks = filter_widgets.tasks_shown()
            tested = filter_widgets.usual_measures(board, settings)
            usual = filter_widgets.default_measures(settings, tasks, tested)
            texts = filter_widgets.choose_measures(usual)
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
        filter_widgets.say_measures(texts),
        filter_widgets.say_tasks(settings, tasks),
        filter_widgets.say_conventions(conventions),
    )
    with ui.guard():
        measures = filter_widgets.measures_of(conventions, texts)
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


def names_of_runs(systems: Mapping[str, str], params: Mapping[str, Mapping[str, str]]) -> RunNames:
    """Return the names of the runs, by their parameters or by the parts of long names."""
    given = {run: params.get(run, {}) for run in systems}
    parts = parameter_parts(given) or name_parts(tuple(systems))
    short = short_names(systems) if parts is None else {run: parts.called(run) for run in systems}
    return RunNames(short, systems, short_names(systems.values()), parts)


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


def sort_url(lineup: RunTableState, column: str) -> str:
    """Return the URL of the page sorted by a column."""
    return url_with({SORT: lineup.turned(column)})


def show_warnings(notes: Iterable[Note]) -> None:
    """Say why there may be no number."""
    for note in notes:
        if note.kind == NOTHING_RELEVANT:
            st.text(f"⚠ {note.sentence}")


def show_others(board: Scoreboard) -> None:
    """Name the runs of other chunkings, which are not in the table, with a link to them."""
    others = board.collection.runs_left_out
    if not others:
        return
    called = f", {others[0].name}," if len(others) == 1 else ""
    verb = "returns" if len(others) == 1 else "return"
    of = dict.fromkeys(describe_chunking(run.chunking) for run in others)
    said = (
        f"{format_count(len(others), 'more run', 'more runs')}{called} {verb} other chunks "
        f"({' and '.join(of)}) and can't be compared here. "
    )
    every = url_with({"chunking": scoreboards.EVERY_CHUNKING, "measure": []})
    show_html(tables.legend_line(said, htpy.a(href=every)["Rank all by evidence and documents"]))


def show_what(choice: ScoresChoice, shown: int, there: int) -> None:
    """Say in one line which queries and how many runs are shown, if not all."""
    if shown < there:
        runs = f"{shown} of {there} runs are shown."
        show_html(tables.sentence_with_link(runs, "Show all", all_runs_url()))


def all_runs_url() -> str:
    """Return the URL that shows every run again."""
    return url_with({ONLY_RUNS: [], HIDDEN: [], NAME_CONTAINS: []})


def fold_url(view: str | None) -> str:
    """Return the URL with a view open, or with none."""
    return url_with({"view": view or []})


def url_with(changes: Mapping[str, str | Sequence[str]]) -> str:
    """Return this page's URL with these changes."""
    return url_state.this_page_url(PATH, **changes)
