"""Open pages are told that the golden set has moved: who is told, when, and how often."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import count

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from labeler.model import Judgment, Remark
from labeler.store import Store
from labeler.store.golden_set import GoldenSet
from labeler.web import push
from labeler.web.auth.access import GRADERS_ONLY, SESSION_COOKIE
from labeler.web.auth.allowed_hosts import AllowedHosts
from labeler.web.push import START, LivePush, OpenPage, Pace
from tests.support.signed_in import let_in

Open = Callable[..., ClientConnection]


@pytest.fixture
def told(filled: Store) -> LivePush:
    return LivePush(str(filled.path))


@pytest.fixture
def url(told: LivePush) -> Iterator[str]:
    """Serve the sockets as the app does."""
    from labeler.web.auth.middleware import HostCheck

    @asynccontextmanager
    async def lifespan(_: Starlette):
        async with told.running():
            yield

    names = Middleware(HostCheck, names=AllowedHosts())
    app = Starlette(routes=[told.route()], lifespan=lifespan, middleware=[names])
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_level="critical", ws="websockets-sansio")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
    yield f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def open_page(url: str) -> Iterator[Open]:
    """Open the sockets of pages, as whoever a link's secret says."""
    opened = ExitStack()

    def page(secret: str = "", origin: str | None = None) -> ClientConnection:
        headers = {"cookie": f"{SESSION_COOKIE}={secret}"} if secret else {}
        socket = opened.enter_context(
            connect(f"ws://{url}/api/live", origin=origin, additional_headers=headers)
        )
        assert json.loads(socket.recv(timeout=20)) == {"start": START}
        return socket

    with opened:
        yield page


@pytest.fixture
def grade(filled: Store) -> Callable[[], list[int]]:
    """Give another grade; return what is newest then."""
    filled.people.add("Ann")
    numbers = count()

    def give() -> list[int]:
        number = next(numbers)
        filled.judgments.add(Judgment(f"told {number}", "q1", "c1", "Ann", grade=number % 4))
        return list(filled.golden_set.newest())

    return give


def shows(page: ClientConnection, newest: object) -> None:
    page.send(json.dumps({"shows": newest}))


def hears(page: ClientConnection) -> list[int]:
    return json.loads(page.recv(timeout=20))["newest"]


def hears_nothing(page: ClientConnection) -> bool:
    try:
        page.recv(timeout=0.4)
    except TimeoutError:
        return True
    return False


# What is told ------------------------------------------------------------------------------------


def test_a_page_is_told_of_what_another_process_writes(filled, open_page, grade):
    page = open_page()
    shows(page, filled.golden_set.newest())
    newest = grade()
    assert hears(page) == newest
    shows(page, newest)
    filled.remarks.add(Remark("remark", "q1", "Ann", "unclear"))
    assert hears(page) == list(filled.golden_set.newest()) != newest
    shows(page, filled.golden_set.newest())
    filled.settings.save(filled.settings.read())
    assert hears(page) == list(filled.golden_set.newest())


def test_a_grade_taken_by_this_server_is_told_without_waiting_for_the_next_look(
    filled, told, open_page, grade, monkeypatch
):
    monkeypatch.setattr(push, "LOOK_EVERY_SECONDS", 3_600)
    page = open_page()
    shows(page, [0, 0, 0])
    shows(page, hears(page))
    newest = grade()
    told.look_now()
    assert hears(page) == newest


@pytest.mark.parametrize(
    ("of", "work"), [(GoldenSet, "commits_of_others"), (OpenPage, "tell")], ids=["looks", "tells"]
)
def test_pages_are_told_on_after_an_error_that_nobody_foresaw(
    filled, open_page, grade, monkeypatch, caplog, of, work
):
    page, works, errors = open_page(), getattr(of, work), ["Too many open files"]
    shows(page, [0, 0, 0])
    newest = hears(page)

    def failing(*given: object) -> object:
        if errors:
            raise OSError(errors.pop())
        return works(*given)

    monkeypatch.setattr(of, work, failing)
    shows(page, newest)
    newest = grade()
    assert hears(page) == newest
    assert not errors
    assert "Too many open files" in caplog.text


def test_a_page_that_missed_something_is_told_when_it_comes_back(filled, open_page, grade):
    before, newest = list(filled.golden_set.newest()), grade()
    page = open_page()
    shows(page, before)
    assert hears(page) == newest


def test_a_page_that_shows_the_newest_is_told_nothing(filled, open_page, grade):
    newest = grade()
    page = open_page()
    shows(page, newest)
    assert hears_nothing(page)


# How often ---------------------------------------------------------------------------------------


def test_a_page_that_is_still_busy_is_told_of_the_last_grade_only(filled, open_page, grade):
    page = open_page()
    shows(page, filled.golden_set.newest())
    first = grade()
    assert hears(page) == first
    for _ in range(3):
        newest = grade()
    assert hears_nothing(page)
    shows(page, first)
    assert hears(page) == newest


def test_pages_run_one_after_another(filled, open_page, grade, monkeypatch):
    monkeypatch.setattr(push, "PATIENCE_SECONDS", 3_600)
    pages = [open_page() for _ in range(3)]
    before = filled.golden_set.newest()
    newest = grade()
    for page in pages:
        shows(page, before)
    for at, page in enumerate(pages):
        assert hears(page) == newest
        assert all(hears_nothing(later) for later in pages[at + 1 :])
        shows(page, newest)


def test_a_page_that_does_not_answer_keeps_no_other_waiting_for_good(filled, open_page, grade):
    dead, alive = open_page(), open_page()
    before, newest = filled.golden_set.newest(), grade()
    shows(dead, before)
    assert hears(dead) == newest
    shows(alive, before)
    assert hears(alive) == newest
    assert hears_nothing(dead)


def test_a_page_that_nobody_looks_at_is_told_when_somebody_does(filled, open_page, grade):
    hidden, seen = open_page(), open_page()
    before = filled.golden_set.newest()
    shows(hidden, None)
    newest = grade()
    shows(seen, before)
    assert hears(seen) == newest
    assert hears_nothing(hidden)
    shows(hidden, before)
    assert hears(hidden) == newest


def test_many_pages_show_one_grade_at_once_and_the_next_as_the_share_allows():
    pace = Pace(0.0)
    for _ in range(20):
        assert pace.wait(0.0) == 0
        pace.spend(0.0, 0.05)
    pace.spend(0.0, 0.1)
    assert pace.wait(0.0) == pytest.approx(0.1 / 0.5)
    assert pace.wait(10.0) == 0


def test_the_more_grades_come_the_less_pages_run():
    def runs_in_a_minute(grades_a_second: int) -> int:
        pace, runs = Pace(0.0), 0
        for tick in range(600):
            now = tick / 10
            if tick % 10 == 0:
                pace.note_grades(now, grades_a_second)
            if not pace.wait(now):
                pace.spend(now, 0.1)
                runs += 1
        return runs

    quiet, some, many = map(runs_in_a_minute, (0, 5, 50))
    assert quiet > some > many > 0
    assert many < quiet / 4


@pytest.mark.parametrize(("grades_a_second", "part"), [(20, 20), (60, 30), (200, 50)])
def test_where_many_grade_pages_fill_little_of_the_time_and_still_move(
    grades_a_second: int, part: int
):
    """From the first grade on, though much was saved before, and however long a run takes."""
    for seconds in (0.05, 0.15, 0.6):
        pace, runs, began = Pace(0.0), 0, 100.0
        for tick in range(900):  # every 100 ms, for a minute and a half
            now = began + tick / 10
            pace.note_grades(now, grades_a_second // 10)
            if not pace.wait(now):
                pace.spend(now, seconds)
                runs += 1
        assert runs > 0
        assert runs * seconds < 90 / part, f"{runs} runs of {seconds} s"


def test_one_who_grades_alone_is_shown_as_fast_as_ever():
    """A grade a second, as people grade, on five open pages whose runs take 50 ms each."""
    pace, waited = Pace(0.0), 0.0
    for second in range(60):
        pace.note_grades(float(second), 1)
        for page in range(5):
            waited += pace.wait(now := second + page * 0.05)
            pace.spend(now, 0.04)
    assert waited == 0


def test_one_page_that_takes_long_follows_one_who_grades_alone():
    """A grade every 1.3 s, and half a second for each run, as on a slow machine."""
    pace, waited = Pace(0.0), 0.0
    for at in range(60):
        now = at * 1.3
        pace.note_grades(now, 1)
        waited += pace.wait(now)
        pace.spend(now + 0.5, 0.5)
    assert waited == 0


def test_one_who_types_thirty_grades_in_three_seconds_is_shown_within_the_next():
    """On an open page whose runs take 100 ms."""
    pace, runs = Pace(0.0), 0
    for tick in range(30):
        pace.note_grades(tick / 10, 1)
        if not pace.wait(tick / 10):
            pace.spend(tick / 10, 0.1)
            runs += 1
    assert runs > 5
    assert pace.wait(3.0) < 1


def test_threads_take_short_turns_while_pages_are_told_and_no_longer(told):
    usual = sys.getswitchinterval()

    async def look() -> float:
        async with told.running():
            return sys.getswitchinterval()

    assert asyncio.run(look()) < usual / 10
    assert sys.getswitchinterval() == usual


def test_pages_run_as_before_once_the_grading_is_over():
    pace = Pace(0.0)
    pace.note_grades(0.0, 1_000_000)
    pace.spend(0.0, 2.0)
    assert pace.wait(0.0) > 60
    assert pace.wait(6.0) < 5


# Who ---------------------------------------------------------------------------------------------


def refusal(open_page: Open, **how: str) -> int:
    with pytest.raises(InvalidStatus) as refused:
        open_page(**how)
    return refused.value.response.status_code


def test_only_leads_are_told(filled, open_page):
    let_in(filled, "Lea", lead := "leas", "lead")
    let_in(filled, "Gil", grader := "gils", "grader")
    shows(page := open_page(secret=lead), [0, 0, 0])
    assert hears(page) == list(filled.golden_set.newest())
    assert refusal(open_page, secret=grader) == 403
    assert refusal(open_page, secret="guessed") == 403
    assert refusal(open_page) == 403


def test_where_only_grading_is_served_nobody_is_told(open_page, monkeypatch):
    monkeypatch.setenv(GRADERS_ONLY, "1")
    assert refusal(open_page) == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null"])
def test_another_sites_page_is_not_told(open_page, origin):
    assert refusal(open_page, origin=origin) == 403


@pytest.mark.parametrize("also_grades", [False, True])
def test_the_page_of_who_is_no_lead_any_more_runs_once_more_and_is_told_nothing_after(
    filled, open_page, grade, also_grades
):
    let_in(filled, "Lea", "leas", "lead")
    let_in(filled, "Max", secret := "maxs", "lead")
    page = open_page(secret=secret)
    shows(page, filled.golden_set.newest())
    assert hears_nothing(page)
    filled.people.revoke("Max")
    if also_grades:
        grade()
    hears(page)
    with pytest.raises(ConnectionClosed) as closed:
        page.recv(timeout=20)
    assert closed.value.rcvd.code == 1008


def test_who_is_no_lead_any_more_once_their_page_is_open_is_told_so_however_soon(filled, open_page):
    let_in(filled, "Lea", "leas", "lead")
    for number in range(8):
        let_in(filled, f"Max {number}", secret := f"maxs {number}", "lead")
        page = open_page(secret=secret)
        filled.people.revoke(f"Max {number}")
        with suppress(ConnectionClosed):  # what it hears may have come first
            shows(page, filled.golden_set.newest())
        hears(page)


def test_who_is_no_lead_any_more_before_their_page_has_said_anything_is_told_so(filled, open_page):
    let_in(filled, "Lea", "leas", "lead")
    let_in(filled, "Max", secret := "maxs", "lead")
    page = open_page(secret=secret)
    filled.people.revoke("Max")
    hears(page)
    with pytest.raises(ConnectionClosed) as closed:
        page.recv(timeout=20)
    assert closed.value.rcvd.code == 1008


@pytest.mark.parametrize(
    "nonsense",
    ["", "no json", "[]", "7", '{"shows": 7}', '{"shows": "abc"}', '{"shows": [1]}', b"\0"],
)
def test_what_no_page_says_ends_its_socket_and_no_other(filled, open_page, grade, nonsense):
    page, strange = open_page(), open_page()
    shows(page, filled.golden_set.newest())
    strange.send(nonsense)
    with pytest.raises(ConnectionClosed) as closed:
        strange.recv(timeout=20)
    assert closed.value.rcvd.code == 1007
    newest = grade()
    assert hears(page) == newest
