"""The board is opened after the start, before anybody looks, and never in anybody's way."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from labeler.analysis.active import decider
from labeler.app import prewarm
from labeler.app.prewarm import ActivityMiddleware, RequestActivity, warm_up
from labeler.evaluation import DEFAULT_MEASURES, Scoreboard
from labeler.model import Chunk, Query, Ranking
from labeler.stats import unjudged_ranges
from labeler.stats.unjudged_chunks import PartlyJudgedLists, find_partly_judged_lists
from labeler.store import Store
from labeler.store.collection import CollectionReader
from labeler.ui import assignment_cache, scoreboards
from labeler.ui import shared as ui
from labeler.web.app_files import compressed
from labeler.web.first_visit import streamlit_files
from tests.support.page import empty_golden_set, loaded


class Visits(RequestActivity):
    """Visitors who stay until they are told to go."""

    def __init__(self) -> None:
        super().__init__()
        self.are_gone = threading.Event()
        self.was_asked = threading.Event()

    def is_quiet(self) -> bool:
        self.was_asked.set()
        return self.are_gone.is_set()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded([Query("q1", "one")]))
        store.chunks.load(loaded([Chunk("c1", "text")]))
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="A")
    return path


def test_nobody_waits_for_the_board_that_was_opened_after_the_start(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits = Visits()
    visits.are_gone.set()
    with warm_up(visits) as thread:
        thread.join(timeout=60)

    def read_again(_: CollectionReader) -> None:
        pytest.fail("the runs are read again")

    monkeypatch.setattr(CollectionReader, "read", read_again)
    with Store(database) as store:
        assert scoreboards.live_board(
            store, scoreboards.conventions(store.settings.read())
        ).run_names == ("A",)


def test_nobody_waits_for_what_the_holes_could_make_of_the_means(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not waits_for_unjudged(database, monkeypatch)


def test_nobody_waits_for_how_sure_the_answer_of_the_first_two_runs_is(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(database) as store:
        store.runs.load(loaded([Ranking("q1", ("c2",))]), name="B")
    visits = Visits()
    visits.are_gone.set()
    with warm_up(visits) as thread:
        thread.join(timeout=60)

    def learn_again(*_: Any) -> None:
        pytest.fail("what unjudged chunks may be is learnt again")

    for name in ("fit_unjudged_model", "simulate"):
        monkeypatch.setattr(decider, name, learn_again)
    with Store(database) as store:
        settings = store.settings.read()
        board = scoreboards.live_board(store, scoreboards.conventions(settings))
    [measure] = board.conventions.measures("nDCG@10")
    assert assignment_cache.standing_of(board, "A", "B", measure, settings).graded == 0


def test_holes_of_very_many_runs_are_filled_when_somebody_asks(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoreboards, "MOST_LISTS", 0)
    assert waits_for_unjudged(database, monkeypatch)


def test_where_there_is_no_run_there_are_no_holes_to_fill(tmp_path: Path) -> None:
    empty_golden_set(tmp_path)
    assert list(scoreboards.open_ranges()) == [None]


def waits_for_unjudged(database: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Say whether the first look at Scores after the start has to find the unjudged chunks."""
    visits = Visits()
    visits.are_gone.set()
    with warm_up(visits) as thread:
        thread.join(timeout=60)
    looked: list[str] = []

    def find(board: Scoreboard, *more: Any) -> PartlyJudgedLists:
        looked.extend(board.run_names)
        return find_partly_judged_lists(board, *more)

    monkeypatch.setattr(unjudged_ranges, "find_partly_judged_lists", find)
    with Store(database) as store:
        board = scoreboards.live_board(store, scoreboards.conventions(store.settings.read()))
    assert scoreboards.mean_ranges(board, ["A"], board.conventions.measures(DEFAULT_MEASURES))
    return looked == ["A"]


def test_garbage_is_not_looked_for_in_what_pages_are_made_from(database: Path) -> None:
    gc.unfreeze()  # what the tests have set aside
    before = gc.get_freeze_count()
    visits = Visits()
    visits.are_gone.set()
    with warm_up(visits) as thread:
        thread.join(timeout=60)
    assert gc.get_freeze_count() > before
    assert not any(each is ui.__dict__ for each in gc.get_objects())


def test_nothing_is_opened_while_somebody_asks(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(prewarm, "STEPS", (lambda: iter([steps.append("taken")]),))
    visits = Visits()
    with warm_up(visits) as thread:
        assert visits.was_asked.wait(60)
        assert steps == []
        visits.are_gone.set()
        thread.join(timeout=60)
    assert steps == ["taken"]


def test_who_comes_in_the_midst_of_a_step_waits_for_a_part_of_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visits = Visits()
    visits.are_gone.set()
    parts: list[str] = []

    def step() -> Iterator[None]:
        parts.append("first")
        visits.are_gone.clear()  # somebody comes
        visits.was_asked.clear()
        yield
        parts.append("second")

    monkeypatch.setattr(prewarm, "STEPS", (step,))
    with warm_up(visits) as thread:
        assert visits.was_asked.wait(60)
        assert parts == ["first"]
        visits.are_gone.set()
        thread.join(timeout=60)
    assert parts == ["first", "second"]


def test_a_server_that_stops_does_not_wait_for_the_board(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(prewarm, "STEPS", (lambda: iter([steps.append("taken")]),))
    with warm_up(Visits()) as thread:
        assert thread.is_alive()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert steps == []


def test_a_missing_golden_set_is_left_for_whoever_opens_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELER_DB", str(tmp_path / "typo.db"))
    visits = Visits()
    visits.are_gone.set()
    with warm_up(visits) as thread:
        thread.join(timeout=60)
    assert not (tmp_path / "typo.db").exists()


@pytest.mark.anyio
async def test_each_message_of_a_request_counts_as_traffic() -> None:
    noted: list[str] = []

    class Counted(RequestActivity):
        def note(self) -> None:
            noted.append("note")

    async def receive() -> dict[str, str]:
        return {"type": "websocket.receive"}

    async def send(_: object) -> None:
        return None

    async def app(scope: object, receive, send) -> None:
        await receive()
        await send({"type": "websocket.send"})

    await ActivityMiddleware(app, Counted())({"type": "websocket"}, receive, send)
    assert len(noted) == 3


SERVE = """
import asyncio, gc, threading
from labeler.app import main as app
async def look():
    async with app.lifespan(app.app):
        print([thread.name for thread in threading.enumerate()])
        print(len(gc.get_objects()) < gc.get_freeze_count() / 10)
asyncio.run(look())
"""


@pytest.mark.parametrize(("graders_only", "opens"), [("1", False), ("", True)])
def test_a_server_for_graders_alone_opens_no_board(
    database: Path, graders_only: str, opens: bool
) -> None:
    environment = {**os.environ, "LABELER_DB": str(database), "LABELER_GRADERS_ONLY": graders_only}
    done = subprocess.run(
        [sys.executable, "-c", SERVE], env=environment, capture_output=True, text=True, check=True
    )
    threads, is_set_aside = done.stdout.splitlines()
    assert (prewarm.THREAD_NAME in threads) is opens
    assert is_set_aside == "True"  # or each run of a page would look through all that is imported


def test_what_a_first_visit_loads_is_compressed_before_it(database: Path) -> None:
    compressed.cache_clear()
    visits = Visits()
    visits.are_gone.set()
    with warm_up(visits) as thread:
        thread.join(timeout=60)
    files, before = [*chain(*streamlit_files())], compressed.cache_info().misses
    assert files
    assert all(compressed(path) for path in files)
    assert compressed.cache_info().misses == before
