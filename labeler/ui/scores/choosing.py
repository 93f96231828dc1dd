"""What is chosen on Scores: a view, measures, queries and runs; all of it is in the address."""

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
from labeler.render.lineup import Lineup
from labeler.render.markup import show_html
from labeler.render.naming import short_names
from labeler.render.tables import RunNames, Steps
from labeler.ui import address, boards, choices
from labeler.ui import shared as ui

PATH = "/scores"
MEASURES, TASKS, TREND, CURVES, TIES, RECALL, KEYWORDS = (
    *("measures", "by task", "trend", "recall over k"),
    *("ties", "trust in recall", "keywords"),
)
NAMES = {CURVES: "recall and precision over k"}  # an address keeps the names it always had
OWN_MEASURES = {
    TASKS: "Each task has the measures that fit it.",
    CURVES: "These are R and P at each k.",
}
SAID_ABOVE = (SEVERAL_CHUNKINGS, OTHER_CHUNKINGS, NOTHING_RELEVANT)  # kinds of notes
WEIGHED = (MEASURES, TASKS, TREND, CURVES)
"""The views whose means can be weighted by traffic."""
SORT, ONLY, HIDDEN, PINNED, HOLDING, SYSTEMS = "sort", "run", "hide", "pin", "find", "systems"
NAMING_RUNS = ("a", "b", ONLY, HIDDEN, PINNED)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is looked at: a view, by which measures, of which queries, and which runs in it.

    ``traffic`` is what its means are weighted by, None where each query counts the same;
    ``by_task`` are the measures that the team chose for a task.
    """

    view: str
    measures: Sequence[Measure]
    facet: str | None
    bucket: str | None
    conventions: Conventions
    lineup: Lineup
    names: RunNames
    traffic: Traffic | None = None
    by_task: Mapping[str, str] = field(default_factory=dict)

    @property
    def within(self) -> tuple[str, str] | None:
        """The one bucket that is looked at, with its facet."""
        return None if self.facet is None or self.bucket is None else (self.facet, self.bucket)

    @property
    def place(self) -> str:
        """Of which queries a view's numbers are, where it has no room for every bucket."""
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


def choose(board: Scoreboard, settings: Settings) -> Choice:
    """Let the user choose; the view is in sight, the rest is said in a line and folded."""
    systems = {run.name: run.system for run in board.collection.runs}
    names = RunNames(short_names(systems), systems, short_names(systems.values()))
    views = [MEASURES, TASKS, TREND, CURVES, TIES, RECALL, KEYWORDS]
    view = address.choose_tab(
        *("View", views, "view"), what="view", format_func=lambda name: NAMES.get(name, name)
    )
    with choices.row():
        with choices.folded() as say:
            tasks = choices.tasks_shown()
            usual = choices.starting_with(
                settings, tasks, evaluation.usual(board.collection, chunks=False)
            )
            texts = [] if view in OWN_MEASURES else choices.choose_measures(usual)
            facet, bucket = choices.choose_bucket(board.facets)
            conventions = choices.choose_conventions(settings, every=True, runs=NAMING_RUNS)
            traffic = choices.choose_traffic(board.facets)
        with ui.guard():
            lineup = choose_runs(names)
    say(
        choices.say_selection(conventions),
        choices.say_traffic(traffic),
        choices.say_queries(facet, bucket),
        choices.say_wider(bucket),
        choices.say_measures(texts) if texts else None,
        choices.say_tasks(settings, tasks) if texts else None,
        choices.say_conventions(conventions),
    )
    with ui.guard():
        measures = choices.measures_of(conventions, texts)
    traffic = traffic if view in WEIGHED else None
    return Choice(
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


def choose_runs(names: RunNames) -> Lineup:
    """Let the user choose runs, a text their names hold, and whether they stand by system.

    Raises `Astray` where the address names a run to show that is not there.
    """
    runs = list(names.systems)
    with choices.fold("Choose runs", "filter_list", of="-runs"):
        only = address.choose_some(
            *("Show only", runs, ONLY, "run"),
            format_func=lambda run: names.short.get(run, run),
            placeholder="all runs",
        )
        holding = address.write_text("Whose name or system holds", HOLDING)
        by_system = address.switch("Group by system", SYSTEMS)
    return Lineup(
        sort=address.given(SORT) or "",
        only=tuple(only),
        hidden=tuple(address.given_all([HIDDEN]).get(HIDDEN, ())),
        pinned=tuple(address.some_of(PINNED, runs, "run")),
        holding=holding,
        by_system=by_system,
    )


def steps(lineup: Lineup) -> Steps:
    """Return where the links of a table lead."""
    return Steps(
        sort=lambda column: _changed({SORT: lineup.turned(column)}),
        pin=lambda run: _changed({PINNED: _toggled(lineup.pinned, run)}),
        hide=lambda run: _changed(
            {
                HIDDEN: [*lineup.hidden, run],
                PINNED: [each for each in lineup.pinned if each != run],
            },
        ),
    )


def say_above(notes: Iterable[Note]) -> None:
    """Say what compares where runs are of several chunkings, or lead to those that are not here.

    Before any number stands, too, why there may be none.
    """
    for note in notes:
        if note.kind in (SEVERAL_CHUNKINGS, NOTHING_RELEVANT):
            st.text(f"⚠ {note.sentence}")
        if note.kind == OTHER_CHUNKINGS:
            every = _changed({"chunking": boards.EVERY_CHUNKING, "measure": []})
            said = f"{note.sentence}."
            show_html(tables.sentence_with_link(said, "All chunkings in one table", every))


def say_what(choice: Choice, shown: int, there: int) -> None:
    """Say on one line whose measures, of which queries and how many runs are shown."""
    said = " ".join(filter(None, (OWN_MEASURES.get(choice.view), choice.place)))
    if shown < there:
        runs = f"{said} {shown} of {there} runs are shown.".lstrip()
        show_html(tables.sentence_with_link(runs, "Show all", show_all()))
    elif said:
        st.text(said)


def show_all() -> str:
    """Return the address that shows every run again."""
    return _changed({ONLY: [], HIDDEN: [], HOLDING: []})


def _toggled(names: Sequence[str], name: str) -> list[str]:
    return [each for each in names if each != name] if name in names else [*names, name]


def _changed(changes: Mapping[str, str | Sequence[str]]) -> str:
    return address.here(PATH, **changes)
