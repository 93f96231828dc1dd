"""What Scores shows of a change between two runs: what is of the run, the grades, the queries."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import streamlit as st

from labeler.analysis import trend
from labeler.analysis.trend import Dated
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.ui import address, boards, choices
from labeler.ui import shared as ui
from labeler.ui.scores.choosing import Choice

ALIKE = "The parts are not weighted: each query counts the same in them."
NOT_LOGGED = "Which bucket a query is in is not logged: buckets are those of now."


def show_parts(
    choice: Choice,
    board: Scoreboard,
    systems: Mapping[str, Sequence[Dated]],
    measures: Sequence[Measure],
) -> None:
    """Show whose doing a change between two of the runs was, where the reader asks for it."""
    runs = sorted((run for each in systems.values() for run in each), key=lambda run: run.when)
    if len(runs) < 2 or not address.switch("Split a change into its parts", "parts"):
        return
    choice, board = counting_alike(choice, board)
    with ui.guard():
        older, newer, graded_by = choose_pair(runs, last_step(runs, systems))
    until = trend.end_of(graded_by or older.said)
    revision = _revision_at(until)
    then = None
    if revision or graded_by:
        at = (ui.database(), board.data_revision, revision, repr(choice.conventions))
        then = _then((*at, older.run, until), choice.conventions, older.run, until)
    parts = [
        trend.part(then or board, board, older.run, newer.run, measure, choice.within)
        for measure in measures
    ]
    show_html(tables.parts_table(parts, choice.conventions))
    frozen = choice.conventions.frozen
    now = "of now" if frozen is None else f"frozen as {frozen}"
    if then is None:
        said = (
            f"Nothing was graded yet by {older.said}, so both runs are by the grades {now}; "
            "name a later day to see what grading has changed since."
        )
    else:
        day = graded_by or older.said
        said = f"The older run is by the grades of {day} (UTC), the newer by those {now}."
    lines = [said, f"The order: {trend.ORDER}.", NOT_LOGGED if choice.within else ""]
    lines += [ALIKE] if choice.traffic else []
    show_html(tables.small_print(lines))


def counting_alike(choice: Choice, board: Scoreboard) -> tuple[Choice, Scoreboard]:
    """Return what is looked at where each query counts the same, as the parts are of such means."""
    if choice.traffic is None:
        return choice, board
    conventions = replace(choice.conventions, weighted=None)
    with ui.open_store() as store:
        return replace(choice, conventions=conventions), boards.live_board(store, conventions)


def last_step(runs: Sequence[Dated], systems: Mapping[str, Sequence[Dated]]) -> tuple[Dated, Dated]:
    """Return the newest run and the one before it of its own system, or of any if it is the first.

    ``runs`` are all of them in order of date.
    """
    newest = runs[-1]
    own = next((each for each in systems.values() if newest in each), runs)
    return (own[-2] if len(own) > 1 else runs[-2]), newest


def choose_pair(runs: Sequence[Dated], usual: tuple[Dated, Dated]) -> tuple[Dated, Dated, str]:
    """Let the user choose two runs, and by which day's grades the older is taken ("" is its own).

    Raises `Astray` where the address has none of them, or no day.
    """
    dated = {run.run: run for run in runs}
    boxes = choices.of_runs(dated)
    dates = {run.run: f"{run.said} · {boxes['format_func'](run.run)}" for run in runs}
    shown: dict[str, Any] = {
        "what": "run",
        "format_func": lambda name: dates.get(name, name),
        "width": 320,
    }
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair"):
        names = list(dated)
        older = address.choose("From", names, "from", default=usual[0].run, **shown)
        newer = address.choose("To", names, "to", default=usual[1].run, **shown)
        day = address.write_text(
            *("Older run by the grades of", "grades"), placeholder="its own day", width=220
        ).strip()
    if day:
        try:
            trend.end_of(day)
        except BadInput as error:
            raise address.Astray(str(error), ["grades"]) from None
    return dated[older], dated[newer], day


def _revision_at(until: datetime) -> int:
    with ui.open_store() as store:
        return store.revision_at(until)


@st.cache_resource(max_entries=4, show_spinner="Reading the grades of that day …")
def _then(
    at: tuple[Hashable, ...], _conventions: Conventions, _run: str, _until: datetime
) -> Scoreboard:
    """Return a run under the golden set of an earlier time; nothing that is graded now moves it."""
    with ui.open_store() as store:
        collection, rule = store.collection_at(_until, [_run]), store.rule_at(_until)
    return Scoreboard(collection, replace(_conventions, golden_rule=rule, frozen=None))
