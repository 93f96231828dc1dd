"""Graders are given what decides between two runs, and cannot tell that they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from starlette.applications import Starlette

from labeler.model import ACTIVE_OF_TWO, ACTIVE_SOURCE, Judgment, Ranking, Settings
from labeler.services.assignment.assigner import Assigner
from labeler.services.assignment.pooling import DECIDING_AT_ONCE, Pool
from labeler.store import Store
from labeler.ui.assignment_cache import GRADES_UNTIL_REFRESH, DecisionQueue
from labeler.web.grading_api import grading_routes
from tests.browser.server import loaded, small_golden_set
from tests.support.grading_client import Pad

TWO = Settings(strategy=ACTIVE_OF_TWO, unjudged_of=("forward", "backward"), pool_depth=30)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Open a golden set of four queries whose team asks which of two runs is better."""
    path = small_golden_set(tmp_path / "golden.db")
    monkeypatch.setenv("LABELER_DB", str(path))
    with Store(path) as store:
        store.people.add("Ann")
        store.people.add("Bob")
        store.settings.save(TWO)
        yield store
    st.cache_resource.clear()


def pairs_of(desk: Assigner, store: Store, grader: str = "Ann", limit: int = 60):
    """Return what a grader is handed: pairs and why."""
    papers = desk.next_for(store, grader, limit)[0].papers
    return [(each.item.query.query_id, each.item.chunk.chunk_id, each.source) for each in papers]


def test_only_what_decides_is_handed_out_a_few_at_once(asked: Store):
    asking = DecisionQueue()
    given = pairs_of(Assigner(asking.telling), asked)
    assert len(given) == DECIDING_AT_ONCE
    assert {source for _, _, source in given} == {ACTIVE_SOURCE}
    best = [(query, asked.chunks.number(chunk)) for query, chunk, _ in given]
    assert set(best) == set(asking.telling()[:DECIDING_AT_ONCE])
    near = {f"c{n}" for n in (*range(10), *range(20, 30))}
    assert {chunk for _, chunk, _ in given} <= near, "the top 10 of either run, and no other"


def test_the_order_handed_out_does_not_tell_what_is_most_telling(asked: Store):
    desk = Assigner(DecisionQueue().telling)
    ann, bob = pairs_of(desk, asked, "Ann"), pairs_of(desk, asked, "Bob")
    queries = [query for query, _, _ in ann]
    assert sorted(queries, key=queries.index) == queries, "query by query"
    alone = pairs_of(Assigner(DecisionQueue().telling), asked, "Bob")
    assert set(alone) == set(ann)
    assert alone != ann, "each grader in an order of their own"
    assert not set(ann) & set(bob), "who grades at the same time is given other pairs"


def test_once_it_is_settled_graders_go_on_query_by_query(asked: Store):
    desk = Assigner(DecisionQueue().telling)
    lists = [Ranking(f"q{n}", tuple(f"c{c}" for c in range(30))) for n in range(4)]
    asked.runs.load(loaded(lists), name="same as forward")
    asked.settings.save(replace(TWO, unjudged_of=("forward", "same as forward")))
    given = pairs_of(desk, asked)
    assert len(given) == 60
    assert {source for _, _, source in given} == {"pool"}


def test_a_run_that_has_gone_or_a_measure_that_cannot_decide_stops_no_grader(asked: Store):
    desk = Assigner(DecisionQueue().telling)
    for settings in (
        replace(TWO, unjudged_of=("forward", "gone")),
        replace(TWO, decide_by="NumRet"),
    ):
        asked.settings.save(settings)
        assert {source for _, _, source in pairs_of(desk, asked)} == {"pool"}


def test_other_strategies_ask_for_nothing_more(asked: Store):
    asked.settings.save(Settings())
    assert DecisionQueue().telling() == ()

    def never():
        raise AssertionError("nobody asked what decides")

    assert pairs_of(Assigner(never), asked)


def test_after_a_few_grades_it_is_looked_at_anew(asked: Store):
    asking = DecisionQueue()
    before = asking.telling()
    for number, (query_id, chunk) in enumerate(before[:GRADES_UNTIL_REFRESH], 1):
        [item] = asked.texts.items([(query_id, chunk)], 100).values()
        asked.judgments.add(Judgment(f"e{number}", query_id, item.chunk.chunk_id, "Ann", grade=3))
        assert (asking.telling() is before) == (number < GRADES_UNTIL_REFRESH)
    assert not set(before[:GRADES_UNTIL_REFRESH]) & set(asking.telling())


def test_what_a_grader_may_not_be_given_is_left_out_of_what_decides():
    pool = Pool({"q1": [1, 2], "q2": [3]}, strategy=ACTIVE_OF_TWO)
    ahead = [("q2", 3), ("q1", 2), ("gone", 9), ("q1", 77)]
    assert set(pool.telling(7, {}, ahead)) == {("q2", 3), ("q1", 2)}
    assert pool.telling(7, {}, ahead, without={"q2"}) == [("q1", 2)]
    assert pool.telling(7, {}, ahead, among={"q2"}) == [("q2", 3)]
    pool.settle(("q2", 3), by_grader=True)
    assert pool.telling(7, {}, ahead) == [("q1", 2)]


@pytest.fixture
def browser(asked: Store, ask) -> Pad:
    """Open Ann's browser at a server that asks for what decides."""
    pad = Pad(asked, ask)
    assigner = Assigner(DecisionQueue().telling)
    pad.app = Starlette(routes=grading_routes(str(asked.path), assigner=assigner))
    return pad


def test_the_grade_keeps_why_it_was_asked_for_and_the_browser_never_learns_it(
    asked: Store, browser: Pad
):
    pad = browser
    items = pad.next()["items"]
    assert {item["source"] for item in items} == {"pool"}
    assert "deciding" not in str(pad.next())
    first, second, *_ = items
    back = {name: first[name] for name in ("query", "chunk", "text_hash", "source", "slip")}
    assert pad.send({**pad.event("told"), **back})[0]["saved"]
    claimed = {name: second[name] for name in ("query", "chunk", "text_hash", "slip")}
    refused = pad.send({**pad.event("claim"), **claimed, "source": "search"})[0]["refused"]
    assert "did not hand you this passage" in refused
    [event] = asked.judgments.log()
    assert (event.source, event.blind) == (ACTIVE_SOURCE, True)
    assert asked.assignment.asked_to_decide() == 1
    [done] = pad.get("history")["done"]
    assert done["item"]["source"] == "pool"


def test_a_browser_that_claims_to_have_been_asked_is_not_believed(asked: Store, browser: Pad):
    asked.settings.save(Settings(pool_depth=30))
    pad = browser
    item = pad.next()["items"][0]
    back = {name: item[name] for name in ("query", "chunk", "text_hash", "slip")}
    answer = pad.send({**pad.event("made up"), **back, "source": ACTIVE_SOURCE})[0]
    assert "did not hand you this passage" in answer["refused"]
    assert asked.assignment.asked_to_decide() == 0
