"""What the address asks of the golden set: which version, queries and chunkings, and its board.

A board is shared by all who look and follows the grades; what a page gets of it stands still.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from labeler.errors import NotFound
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.model import (
    EVERYTHING,
    LEAKED,
    SPLITS,
    UNNAMED,
    WITH,
    Collection,
    Query,
    Selection,
    Settings,
    chunking_in_words,
    chunking_shown,
    counted,
)
from labeler.model.versions import Content
from labeler.services.import_export import freezing
from labeler.store import Store
from labeler.ui import address, links
from labeler.ui import shared as ui
from labeler.ui.address import Astray

EVERY_CHUNKING = "*"  # no chunking can be called so
MOST_LISTS = 100_000  # the bands of 20,000 take three seconds and 54 MB


def conventions(
    settings: Settings, preset: str = "graded", selected: Selection = EVERYTHING
) -> Conventions:
    """Return a preset with the team's threshold and budgets, for the queries ``selected``."""
    return Conventions.of(
        preset,
        rel=settings.rel,
        budget=settings.budget,
        budget_by_task=settings.budget_by_task,
        pool_depth=settings.pool_depth,
        golden_rule=settings.golden_rule,
        carried=settings.carried,
        selected=selected,
    )


def shown_conventions(
    settings: Settings, preset: str = "graded", *, every: bool = False
) -> Conventions:
    """Return the same for what the address names; a page may be able to show ``every`` chunking."""
    selected = replace(shown_selection(), chunkings=shown_chunkings(every=every))
    found = conventions(settings, preset, selected)
    return replace(found, frozen=address.given("golden"))


def shown_selection() -> Selection:
    """Return which queries the address names as ``split`` and ``leaked``; `Astray` for others."""
    splits, leaked = selectable()
    split = address.among("split", splits, "split")
    told = address.among("leaked", leaked or [WITH], "choice of leaked queries")
    return Selection(split, told or WITH)


def shown_chunkings(*, every: bool) -> tuple[str, ...] | None:
    """Return the chunkings the address asks for, None for the first; `Astray` for others.

    Without ``every`` it is one alone.
    """
    with ui.open_store() as store:
        there, of_runs = store.chunkings_with_runs(), store.chunkings_of_runs()
    address.among("chunking", [*there, EVERY_CHUNKING], "chunking")
    return _asked(there, of_runs, every=every)


def _asked(
    there: Sequence[str], of_runs: Mapping[str, str], *, every: bool
) -> tuple[str, ...] | None:
    """Return the chunkings that the address names, else those of its runs; None for the first.

    Without ``every`` it is that of the run that is looked at: of B, or of A where there is no B.
    """
    chosen = address.given("chunking")
    if chosen == EVERY_CHUNKING and every:
        return tuple(there) or None
    if chosen is not None and chosen in there:
        return (chosen,)
    runs = [run for name in ("b", "a") if (run := address.given(name)) is not None]
    of = [of_runs[run] for run in runs if run in of_runs]
    found = tuple(name for name in there if name in (of if every else of[:1]))
    return found if found and found != tuple(there[:1]) else None


def run_names() -> list[str]:
    """Return the names of the runs as they were loaded, those of the chunkings shown first."""
    with Store(ui.database()) as store:
        there, of_runs = store.chunkings_with_runs(), store.chunkings_of_runs()
    shown = _asked(there, of_runs, every=True) or there[:1]
    return sorted(of_runs, key=lambda run: of_runs[run] not in shown)


def selectable() -> tuple[list[str], list[str]]:
    """Return the splits that have queries, and how those that leaked may be treated."""
    with ui.open_store() as store:
        version = shown_version(store)
        sizes = store.split_sizes() if version is None else {q.split for q in version.queries}
        leaked = store.leaked()
    return [split for split in SPLITS if split in sizes], list(LEAKED) if leaked else []


def shown_version(store: Store) -> Content | None:
    """Return the frozen golden set that the address names as ``golden``, None where it is live.

    Raises `Astray` for one that is not there.
    """
    asked = address.given("golden")
    if asked is None:
        return None
    try:
        return _version(ui.database(), store.data_revision(), asked)[0]
    except NotFound as error:
        raise Astray(str(error), ["golden"]) from error


def shown_settings(store: Store) -> Settings:
    """Return the team's settings, with the conventions of the golden set that is shown."""
    version = shown_version(store)
    return store.settings() if version is None else version.settings


def shown_queries(store: Store) -> Sequence[Query]:
    """Return the queries of the golden set that is shown."""
    version = shown_version(store)
    return store.queries() if version is None else version.queries


def check_chosen(board: Scoreboard, query_id: str) -> None:
    """Raise `Astray` where a query is not among those of the split and the leaks of the address."""
    if query_id not in board.collection.query_ids:
        chosen = board.conventions.selected.describe()
        raise Astray(f"query {query_id!r} is not among those chosen: {chosen}", ["split", "leaked"])


def queries_of(store: Store, frozen: str | None) -> Sequence[Query]:
    """Return the queries of a frozen version, or of the live set, to one who has no page."""
    if frozen is None:
        return store.queries()
    content, _ = _version(ui.database(), store.data_revision(), frozen)
    return content.queries


@st.cache_resource(max_entries=2, show_spinner="Reading the frozen golden set …")
def _version(path: str, data_revision: int, asked: str) -> tuple[Content, Collection]:
    with Store(path) as store:
        content = freezing.frozen(store, asked)
        return content, freezing.collected(store, content)


def live_board(store: Store, chosen: Conventions) -> Scoreboard:
    """Return the board as the newest judgment leaves it, for one look.

    Where the conventions name a frozen golden set it is the board of that one, which never moves.
    All sessions share one, which is brought up to date with the log's tail, and built again only
    when something other than a judgment was written; what is returned does not move under the
    hands of who shows it. Raises `Forbidden` for a visitor who is no lead, or not any more.
    """
    ui.check_lead(store)
    return _followed(store, chosen, _board)


def board_without_page(store: Store, selected: Selection = EVERYTHING) -> Scoreboard:
    """Return the same under the team's conventions to one who asks without a page: the server."""
    return _followed(store, conventions(store.settings(), selected=selected), _opened)


def _followed(
    store: Store, chosen: Conventions, opened: Callable[[str, int, Conventions], Scoreboard]
) -> Scoreboard:
    board = opened(ui.database(), store.data_revision(), chosen)
    if chosen.frozen is not None:
        return board.snapshot()
    newest = store.revision()
    if newest != board.revision:
        try:
            board.refresh(*store.news_since(board.revision, board.golden_state))
        except NotFound:
            # a query was loaded and judged between the two reads above
            board = opened(ui.database(), store.data_revision(), chosen)
    return board.snapshot()


@st.cache_resource(
    max_entries=6,
    show_spinner="Reading the runs …",
    hash_funcs={Conventions: lambda chosen: repr(chosen)},
)
def _board(path: str, data_revision: int, chosen: Conventions) -> Scoreboard:
    if chosen.frozen is not None:
        return Scoreboard(_version(path, data_revision, chosen.frozen)[1], chosen)
    with Store(path) as store:
        return Scoreboard(store.collection(), chosen)


def open_board() -> None:
    """Open the board that pages show where nobody chose other conventions, before anybody looks."""
    with Store(ui.database()) as store:
        _opened(ui.database(), store.data_revision(), conventions(store.settings()))
    _opened.clear()


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs={Conventions: repr})
def _opened(path: str, data_revision: int, chosen: Conventions) -> Scoreboard:
    """Open a board without a page: in a cached function, another one's spinner is not shown."""
    board = _board(path, data_revision, chosen)
    board.notes()  # what it looks up first and keeps
    return board


def is_small(board: Scoreboard) -> bool:
    """Say whether what the holes of a board could be may be drawn before anybody asks."""
    return len(board.run_names) * len(board.collection.query_ids) <= MOST_LISTS


def moment(board: Scoreboard, measures: Iterable[Measure] = ()) -> tuple[Hashable, ...]:
    """Return what an answer of a board rests on, to keep it by beside whatever else was asked.

    Of measures it has the names by which they were asked, too: files repeat them.
    """
    asked = ((repr(measure), measure.asked) for measure in measures)
    return ui.database(), board.data_revision, board.revision, repr(board.conventions), *asked


def say_nothing_graded(selected: Selection, lacks: str) -> None:
    """Say under `graded_line` that nobody has graded, what it ``lacks`` therefore, and how to.

    Where the grades of another chunking may be carried over to this one, a link leads there.
    """
    shown = selected.chunkings or (UNNAMED,)
    name = shown[0] if len(shown) == 1 else UNNAMED
    of = f" of {chunking_in_words(name)}" if name else ""
    into = f" --chunking {shlex.quote(name)}" if name else ""
    how = f"{lacks} until somebody does. Grade on the Label page, or load a golden set:"
    ui.say_empty(f"Nobody has graded a chunk{of} yet", how, f"labeler load golden FILE{into}")
    with ui.open_store() as store:
        openings = [(old, new) for old, new in store.openings() if new in shown]
    for old, new in openings[:1]:
        there = {"from": chunking_shown(old), "to": chunking_shown(new)}
        graded = f"Carry over what grades of {chunking_in_words(old)} say of these chunks"
        links.link(graded, address.onward("/data", section="Carry over", **there))


def graded_line(board: Scoreboard) -> str:
    """Say in one line how much of the golden set, or what is selected, there are grades for."""
    counts, selected = board.counts, board.conventions.selected
    where = "In the whole golden set" if selected == EVERYTHING else f"Of {selected.describe()}:"
    each = " in each of these chunkings" if len(selected.chunkings or ()) > 1 else ""
    return (
        f"{where} {counts.judged:,} of {counted(counts.queries, 'query has', 'queries have')} "
        f"grades{each} · "
        f"{counted(counts.grades, 'grade', 'grades')}"
    )
