"""Scoreboards for pages: the one the URL asks for, shared by all sessions and kept up to date.

Each session gets a snapshot that does not change while a page shows it. A scoreboard is updated
from the log's tail and rebuilt only if something other than a judgment was written. The ranges over
unjudged chunks are cached here, too, by runs and conventions.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from labeler.analysis.comparison import DecisionRules, PairTests, assess_pair
from labeler.errors import NotFound
from labeler.evaluation import Conventions, Scoreboard, measures_for_runs
from labeler.measures import Measure
from labeler.model import (
    DEFAULT_CHUNKING,
    EVERYTHING,
    LEAKED_CHOICES,
    SPLITS,
    WITH_LEAKED,
    Collection,
    Query,
    Selection,
    Settings,
    chunking_label,
    describe_chunking,
    format_count,
)
from labeler.model.snapshot import GoldenSnapshot
from labeler.services.import_export import snapshots
from labeler.stats import DeltaRanges, LiveRanges, MeanRanges
from labeler.store import Store
from labeler.ui import links, url_state
from labeler.ui import shared as ui
from labeler.ui.url_state import StaleLink

EVERY_CHUNKING = "*"  # no chunking can have this name
MOST_LISTS = 100_000  # the ranges of 20,000 take three seconds and 54 MB


def conventions(
    settings: Settings, preset: str = "graded", selected: Selection = EVERYTHING
) -> Conventions:
    """Return a preset with the team's threshold and prompt sizes, for the queries ``selected``."""
    return Conventions.of(
        preset,
        rel=settings.rel,
        prompt_k=settings.prompt_k,
        prompt_k_by_task=settings.prompt_k_by_task,
        pool_depth=settings.pool_depth,
        golden_rule=settings.golden_rule,
        transferred=settings.transferred,
        selected=selected,
    )


def shown_conventions(
    settings: Settings, preset: str = "graded", *, every: bool = False
) -> Conventions:
    """Return the conventions for the URL; ``every`` says that the page can show all chunkings."""
    selected = replace(shown_selection(), chunkings=shown_chunkings(every=every))
    found = conventions(settings, preset, selected)
    return replace(found, frozen=url_state.get("golden"))


def shown_selection() -> Selection:
    """Return the selection of ``split`` and ``leaked`` in the URL; `StaleLink` for unknown ones."""
    splits, leaked = selection_options()
    split = url_state.check_among("split", splits, "split")
    told = url_state.check_among("leaked", leaked or [WITH_LEAKED], "choice of leaked queries")
    return Selection(split, told or WITH_LEAKED)


def shown_chunkings(*, every: bool) -> tuple[str, ...] | None:
    """Return the chunkings in the URL, None for the first; `StaleLink` for unknown ones.

    Without ``every`` it is a single one.
    """
    with ui.open_store() as store:
        there, of_runs = store.chunkings.with_runs(), store.chunkings.of_runs()
    url_state.check_among("chunking", [*there, EVERY_CHUNKING], "chunking")
    return _chunkings_in_url(there, of_runs, every=every)


def _chunkings_in_url(
    there: Sequence[str], of_runs: Mapping[str, str], *, every: bool
) -> tuple[str, ...] | None:
    """Return the chunkings in the URL, else those of its runs; None for the first.

    Without ``every`` it is the chunking of B, or of A if there is no B.
    """
    chosen = url_state.get("chunking")
    if chosen == EVERY_CHUNKING and every:
        return tuple(there) or None
    if chosen is not None and chosen in there:
        return (chosen,)
    runs = [run for name in ("b", "a") if (run := url_state.get(name)) is not None]
    of = [of_runs[run] for run in runs if run in of_runs]
    found = tuple(name for name in there if name in (of if every else of[:1]))
    return found if found and found != tuple(there[:1]) else None


def run_names() -> list[str]:
    """Return the names of the runs, the best first once a page has ranked them.

    Runs of the chunkings shown are before others.
    """
    with Store(ui.database()) as store:
        there, of_runs = store.chunkings.with_runs(), store.chunkings.of_runs()
    shown = _chunkings_in_url(there, of_runs, every=True) or there[:1]
    places = _ranking(ui.database())
    return sorted(of_runs, key=lambda run: (of_runs[run] not in shown, places.get(run, 0)))


@st.cache_resource(show_spinner=False)
def _ranking(path: str) -> dict[str, int]:
    """Return the place of each run among all; `best_first` fills it for the header's links."""
    return {}


def selection_options() -> tuple[list[str], list[str]]:
    """Return the splits that have queries, and the choices for leaked queries."""
    with ui.open_store() as store:
        version = shown_version(store)
        sizes = store.splits.sizes() if version is None else {q.split for q in version.queries}
        leaked = store.splits.leaked()
    return [split for split in SPLITS if split in sizes], list(LEAKED_CHOICES) if leaked else []


def shown_version(store: Store) -> GoldenSnapshot | None:
    """Return the frozen golden set that the URL names as ``golden``, None for the live one.

    Raises `StaleLink` for an unknown one.
    """
    asked = url_state.get("golden")
    if asked is None:
        return None
    try:
        return _version(ui.database(), store.golden_set.data_revision(), asked)[0]
    except NotFound as error:
        raise StaleLink(str(error), ["golden"]) from error


def shown_settings(store: Store) -> Settings:
    """Return the team's settings, with the conventions of the golden set that is shown."""
    version = shown_version(store)
    return store.settings.read() if version is None else version.settings


def shown_queries(store: Store) -> Sequence[Query]:
    """Return the queries of the golden set that is shown."""
    version = shown_version(store)
    return store.queries.all() if version is None else version.queries


def check_query_selected(board: Scoreboard, query_id: str) -> None:
    """Raise `StaleLink` if the split and the leaks in the URL leave out a query."""
    if query_id not in board.collection.query_ids:
        chosen = board.conventions.selected.describe()
        raise StaleLink(
            f"query {query_id!r} is not among those chosen: {chosen}", ["split", "leaked"]
        )


def queries_of_version(store: Store, frozen: str | None) -> Sequence[Query]:
    """Return the queries of a frozen version, or of the live set, without a page."""
    if frozen is None:
        return store.queries.all()
    content, _ = _version(ui.database(), store.golden_set.data_revision(), frozen)
    return content.queries


@st.cache_resource(max_entries=2, show_spinner="Reading the frozen golden set …")
def _version(path: str, data_revision: int, asked: str) -> tuple[GoldenSnapshot, Collection]:
    with Store(path) as store:
        content = snapshots.frozen_content(store, asked)
        return content, snapshots.collection_with(store, content)


def live_board(store: Store, chosen: Conventions) -> Scoreboard:
    """Return a snapshot of the board after the newest judgment.

    All sessions share one board. It is updated from the log's tail, and rebuilt only if something
    other than a judgment was written. If the conventions name a frozen golden set, it is that set's
    board. Raises `Forbidden` for a visitor who is not a lead.
    """
    ui.check_lead(store)
    return _refreshed(store, chosen, _board)


def server_board(store: Store, selected: Selection = EVERYTHING) -> Scoreboard:
    """Return a snapshot of the board under the team's conventions, without a page."""
    return _refreshed(
        store, conventions(store.settings.read(), selected=selected), _open_without_page
    )


def _refreshed(
    store: Store, chosen: Conventions, opened: Callable[[str, int, Conventions], Scoreboard]
) -> Scoreboard:
    board = opened(ui.database(), store.golden_set.data_revision(), chosen)
    if chosen.frozen is not None:
        return board.snapshot()
    newest = store.judgments.revision()
    if newest != board.revision:
        try:
            board.refresh(*store.collection.news_since(board.revision, board.golden_state))
        except NotFound:
            # a query was loaded and judged between the two reads above
            board = opened(ui.database(), store.golden_set.data_revision(), chosen)
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
        return Scoreboard(store.collection.read(), chosen)


def open_board() -> None:
    """Open the board of the default conventions before anybody asks for it."""
    with Store(ui.database()) as store:
        settings = store.settings.read()
        board = _open_without_page(
            ui.database(), store.golden_set.data_revision(), conventions(settings)
        )
        best_first(board, settings)
    _open_without_page.clear()


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs={Conventions: repr})
def _open_without_page(path: str, data_revision: int, chosen: Conventions) -> Scoreboard:
    """Open a board without a page: inside a cached function no other spinner is shown."""
    board = _board(path, data_revision, chosen)
    board.notes()  # fills the board's own cache
    return board


def read_board(store: Store, settings: Settings, *, every: bool = False) -> Scoreboard:
    """Return the board of a page, and show a message in its place while it is read."""
    count = format_count(len(run_names()), "run", "runs")
    with ui.reading(f"Reading {count}…"):
        return live_board(store, shown_conventions(settings, every=every))


def best_first(board: Scoreboard, settings: Settings) -> list[str]:
    """Return the runs by the deciding measure, the best first, then those without a value.

    Pages that are opened without runs therefore show the same ones.
    """
    [measure, *_] = board.resolve(board.conventions.measures(settings.decide_by))
    values = {row.run: row.value for row in board.table([measure]) if not math.isnan(row.value)}
    ranked = sorted(board.run_names, key=lambda run: -values.get(run, -math.inf))
    _ranking(ui.database()).update({run: place for place, run in enumerate(ranked)})
    return ranked


def is_small_board(board: Scoreboard) -> bool:
    """Return whether a board is small enough to compute ranges in advance."""
    return len(board.run_names) * len(board.collection.query_ids) <= MOST_LISTS


def cache_key(board: Scoreboard, measures: Iterable[Measure] = ()) -> tuple[Hashable, ...]:
    """Return the part of a cache key that identifies a board and measures.

    It includes the names that users wrote for the measures, because files repeat them.
    """
    asked = ((repr(measure), measure.asked) for measure in measures)
    return ui.database(), board.data_revision, board.revision, repr(board.conventions), *asked


def say_nothing_graded(selected: Selection, lacks: str) -> None:
    """Say under `graded_line` that nobody has graded, what is missing (``lacks``), and what to do.

    If there are grades of another chunking, a link opens their transfer.
    """
    shown = selected.chunkings or (DEFAULT_CHUNKING,)
    name = shown[0] if len(shown) == 1 else DEFAULT_CHUNKING
    of = f" of {describe_chunking(name)}" if name else ""
    into = f" --chunking {shlex.quote(name)}" if name else ""
    how = f"{lacks} before chunks are graded or golden grades are loaded."
    way = ("Start grading", url_state.page_url("/"))
    command = f"labeler load golden FILE{into}"
    ui.say_empty(f"Nobody has graded a chunk{of} yet", how, command, way=way)
    with ui.open_store() as store:
        openings = [(old, new) for old, new in store.chunkings.openings() if new in shown]
    for old, new in openings[:1]:
        there = {"from": chunking_label(old), "to": chunking_label(new)}
        graded = f"Transfer grades of {describe_chunking(old)} to these chunks"
        links.link(graded, url_state.page_url("/data", section="Transfer", **there))


def graded_line(board: Scoreboard) -> str:
    """Say in one line how much of the golden set, or of the selection, is graded."""
    counts, selected = board.counts, board.conventions.selected
    where = "In the whole golden set" if selected == EVERYTHING else f"Of {selected.describe()}:"
    each = " in each of these chunkings" if len(selected.chunkings or ()) > 1 else ""
    return (
        f"{where} {counts.judged:,} of {format_count(counts.queries, 'query has', 'queries have')} "
        f"grades{each} · "
        f"{format_count(counts.grades, 'grade', 'grades')}"
    )


MOST_RANGES_KEPT = 4  # each holds the draws of all queries


@st.cache_resource(max_entries=50, show_spinner=False)  # data would need Streamlit to run already
def _cached_tests(
    at: tuple[Hashable, ...], a: str, b: str, _board: Scoreboard, rules: DecisionRules
) -> PairTests:
    return assess_pair(_board, a, b, rules)


def pair_tests(board: Scoreboard, a: str, b: str, settings: Settings) -> PairTests:
    """Test two runs by the golden set's rules, as on every page; cached until the next grade."""
    return _cached_tests(cache_key(board), a, b, board, DecisionRules.of(settings))


def mean_ranges(
    board: Scoreboard, runs: Sequence[str], measures: Iterable[Measure], facet: str | None = None
) -> MeanRanges:
    """Return the ranges over unjudged chunks of compared runs' means; none if weighted."""
    if board.weights is not None:
        return {}
    return _ranges_of(board, runs).means(board, measures, facet)


def bucket_ranges(
    board: Scoreboard, runs: Sequence[str], measures: Sequence[Measure], facet: str
) -> MeanRanges:
    """Return the ranges over unjudged chunks of means over all queries, and in each bucket."""
    bands = _ranges_of(board, runs)
    return {**bands.means(board, measures), **bands.means(board, measures, facet)}


def pair_ranges(
    board: Scoreboard, a: str, b: str, measures: Sequence[Measure], facet: str | None = None
) -> tuple[MeanRanges, DeltaRanges]:
    """Return the ranges over unjudged chunks of A, B and B - A; with a facet also for its buckets.

    None for weighted means.
    """
    if board.weights is not None:
        return {}, {}
    bands = _ranges_of(board, (a, b))
    means, deltas = dict(bands.means(board, measures)), dict(bands.deltas(board, measures))
    if facet is not None:
        means |= bands.means(board, measures, facet)
        deltas |= bands.deltas(board, measures, facet)
    return means, deltas


def open_ranges() -> Iterator[None]:
    """Compute in steps the ranges that Scores and Compare show by default.

    On small boards only: larger ones would fill the memory before anybody asks.
    """
    with ui.open_store() as store:
        board = server_board(store)
    measures = board.conventions.measures(measures_for_runs(board.collection, chunks=False))
    every = board.run_names
    for runs in dict.fromkeys([every, every[:2]]) if is_small_board(board) else ():
        bands = LiveRanges(board, runs)
        yield
        yield from bands.prepare(measures)
        _keep_without_page(ui.database(), board.data_revision, board, bands)
        _keep_without_page.clear()


@st.cache_resource(max_entries=1, show_spinner=False)
def _keep_without_page(
    path: str, data_revision: int, _board: Scoreboard, _bands: LiveRanges
) -> LiveRanges:
    """Cache ranges without a page: inside a cached function no other spinner is shown."""
    return _ranges_of(_board, _bands.runs, _bands)


def _ranges_of(
    board: Scoreboard, runs: Sequence[str], found: LiveRanges | None = None
) -> LiveRanges:
    asked = (board.data_revision, board.conventions, tuple(runs))
    return _cached_ranges(ui.database(), *asked, board, found)


@st.cache_resource(
    max_entries=MOST_RANGES_KEPT,
    show_spinner="Working out what unjudged chunks could change …",
    hash_funcs={Conventions: repr},
)
def _cached_ranges(
    path: str,
    data_revision: int,
    chosen: Conventions,
    runs: tuple[str, ...],
    _board: Scoreboard,
    _found: LiveRanges | None,
) -> LiveRanges:
    return _found or LiveRanges(_board, runs)
