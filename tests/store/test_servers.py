"""Several servers over one database: what one of them knows, all of them do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from labeler.model import ACTIVE_OF_TWO, ACTIVE_SOURCE, Judgment, Settings
from labeler.services.assignment.assigner import Assigner
from labeler.store import Store
from tests.support.assignment import ask, judge, pairs_of, queries_of, shelf
from tests.support.databases import another_writer
from tests.support.grading_client import Pad, pad
from tests.support.store_reads import check_seals

__all__ = ["pad", "shelf"]

pytestmark = pytest.mark.parametrize("kept", ["postgres"], indirect=True)


# Who is at what ---------------------------------------------------------------------------------


def test_graders_at_two_servers_get_different_queries(shelf: Store):
    here, there = Assigner(), Assigner()
    ann, bob, cy = ask(here, shelf, "Ann"), ask(there, shelf, "Bob"), ask(here, shelf, "Cy")
    assert len(queries_of(ann) | queries_of(bob) | queries_of(cy)) == 3
    assert pairs_of(ask(Assigner(), shelf, "Ann")) == pairs_of(ann), (
        "at a server that is started anew"
    )


def test_a_grader_goes_on_at_another_server_where_they_are(shelf: Store):
    here, there = Assigner(), Assigner()
    ask(here, shelf, "Ann")
    bob = ask(there, shelf, "Bob")
    judge(shelf, bob.papers[0], "Bob")
    judge(shelf, ask(here, shelf, "Ann", 10).papers[0], "Ann")
    assert pairs_of(ask(here, shelf, "Bob", 4)) == pairs_of(bob)[1:]


def test_of_graders_who_ask_at_one_moment_no_two_get_the_same(shelf: Store):
    names = [f"grader {n}" for n in range(12)]
    for name in names:
        shelf.people.add(name)
    with shelf.connection.transaction():
        shelf.connection.execute("UPDATE graders SET seed = 7")
    at_once = threading.Barrier(len(names))

    def server(name: str) -> set[str]:
        with Store(shelf.path) as store:
            at_once.wait()
            return queries_of(ask(Assigner(), store, name))

    with ThreadPoolExecutor(len(names)) as pool:
        handed = list(pool.map(server, names))
    assert len(set.union(*handed)) == len(names)


def test_pairs_that_decide_are_with_one_grader_at_a_time(shelf: Store):
    shelf.settings.save(Settings(strategy=ACTIVE_OF_TWO, unjudged_of=("A", "B")))
    ahead = [(f"m{n}", chunk) for n in range(8) for chunk in list(numbers_of(shelf))[:5]]
    ann, bob = (ask(Assigner(lambda: ahead), shelf, name, 20) for name in ("Ann", "Bob"))
    assert {paper.source for paper in (*ann.papers, *bob.papers)} == {ACTIVE_SOURCE}
    assert not set(pairs_of(ann)) & set(pairs_of(bob))
    assert len(pairs_of(ann)) == len(pairs_of(bob)) == 20


def numbers_of(store: Store) -> list[int]:
    return [number for (number,) in store.connection.rows("SELECT id FROM chunks ORDER BY id")]


def test_whoever_writes_for_long_keeps_nobody_from_being_handed_something(shelf: Store):
    ann = ask(desk := Assigner(), shelf, "Ann")
    with another_writer(shelf), Store(shelf.path, busy_seconds=0.2) as store:
        assert not queries_of(ask(desk, store, "Bob")) & queries_of(ann)


# What was handed out ----------------------------------------------------------------------------


@pytest.fixture
def elsewhere(filled: Store, pad: Pad) -> Callable[..., Pad]:
    """Give a grader's browser at a server that the first one's knows nothing of."""

    def other(grader: str = "Ann") -> Pad:
        return Pad(filled, pad.ask, grader)

    return other


def test_what_one_server_handed_out_another_takes_and_a_third_takes_back(pad: Pad, elsewhere):
    item = pad.next()["items"][0]
    there = elsewhere()
    found = there.get("search", query="q2", words="text")["items"][0]
    given = there.grade(item)
    pad.grade(found)
    assert [done["event_id"] for done in pad.get("history")["done"]][-1] == given
    undone = {"undoes": given, "replaces": None}
    [said] = elsewhere().send(there.event("undone", **{**item, **undone}))
    assert said == {"event_id": "undone", "saved": True}
    assert (item["query"], item["chunk"]) in there.pairs()


def test_of_two_tabs_at_two_servers_the_slower_one_is_told_what_stands(pad: Pad, elsewhere):
    item = pad.next()["items"][0]
    shown = {name: item[name] for name in ("query", "chunk", "text_hash", "slip", "source")}
    pad.grade(item, 3)
    [said] = elsewhere().send(pad.event("late", 1, replaces=None, **shown))
    assert "in another tab or on another device" in said["refused"]
    assert said["instead"]["grade"] == 3


def test_who_was_told_at_one_server_is_not_blind_at_another(filled: Store, pad: Pad, elsewhere):
    item = elsewhere("Bob").next()["items"][0]
    elsewhere("Bob").grade(item, 1)
    asked = {"query": item["query"], "chunk": item["chunk"]}
    listed = pad.get("query", query=item["query"])["items"]
    mine = next(each for each in listed if each["chunk"] == item["chunk"])
    first = pad.grade(mine, 3)
    assert elsewhere().get("told", **asked)["others"]
    pad.grade({**mine, "replaces": first}, 2)
    assert [event.blind for event in filled.judgments.log() if event.grader == "Ann"] == [
        True,
        False,
    ]


# The books --------------------------------------------------------------------------------------


def test_servers_that_seal_at_one_moment_make_one_chain(filled: Store):
    for number in range(30):
        filled.judgments.add(Judgment(f"e{number}", "q1", "c3", "Ann", grade=number % 4))
    at_once = threading.Barrier(4)

    def server(_: int) -> int:
        with Store(filled.path) as store:
            at_once.wait()
            return store.tamper_check.seal()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(server, range(4)))
    report = check_seals(filled)
    assert (report.faults, report.unsealed, report.events) == ((), 0, filled.judgments.revision())
