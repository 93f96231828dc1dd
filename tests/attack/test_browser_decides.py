"""What a browser could make up about a grade, and what it may not: the server knows it, or asks."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.applications import Starlette

from labeler.model import Chunk, Judgment
from labeler.store import Store
from labeler.web.auth import tokens
from labeler.web.grading_api import grading_routes
from tests.support.grading_client import Pad, pad

__all__ = ["pad"]

NOT_HANDED = "did not hand you this passage"
SENT_BACK = ("query", "chunk", "text_hash", "source", "slip", "replaces")


def given(pad: Pad, item: dict[str, Any], event_id: str, grade: int = 2, **more: Any) -> Any:
    """Send a grade as the pad does for what lies before it; return what became of it."""
    event = {**pad.event(event_id, grade), **{name: item[name] for name in SENT_BACK}, **more}
    [answer] = pad.send(event)
    return answer


def item_of(pad: Pad, chunk: str = "c3") -> dict[str, Any]:
    return next(item for item in pad.next()["items"] if item["chunk"] == chunk)


def blind(store: Store) -> dict[str, bool]:
    return {event.event_id: event.blind for event in store.judgments.log()[3:]}


# Whether it was blind ---------------------------------------------------------------------------


def test_who_heard_what_others_gave_is_not_blind_whatever_the_browser_says(filled: Store, pad: Pad):
    item = item_of(pad)
    given(pad, item, "first", 0)
    assert pad.get("told", query="q1", chunk="c3")["others"] == []
    given(pad, item, "kept quiet", 3, replaces="first")
    given(pad, item, "lied", 2, replaces="kept quiet", blind=True)
    given(pad, item_of(pad, "c4"), "another chunk", 1)
    assert blind(filled) == {
        "first": True,
        "kept quiet": False,
        "lied": False,
        "another chunk": True,
    }


def test_it_is_known_in_another_browser_and_after_a_restart_and_of_nobody_else(
    filled: Store, pad: Pad
):
    given(pad, item_of(pad), "mine", 0)
    bob = pad.beside(filled, "Bob")
    bobs = bob.get("query", query="q1")["items"]
    pad.get("told", query="q1", chunk="c3")
    pad.restart(filled)
    other = pad.beside(filled, "Ann")
    [item] = [each for each in other.get("query", query="q1")["items"] if each["chunk"] == "c3"]
    given(other, item, "from the other", 3)
    given(bob, next(each for each in bobs if each["chunk"] == "c3"), "bobs")
    assert blind(filled) == {"mine": True, "from the other": False, "bobs": True}


def test_what_somebody_admits_is_believed_and_stays(filled: Store, pad: Pad):
    item = item_of(pad)
    given(pad, item, "admitted", 1, blind=False)
    given(pad, item, "later", 2, replaces="admitted")
    assert blind(filled) == {"admitted": False, "later": False}


def test_who_decided_a_pair_knew_what_was_given(filled: Store, pad: Pad):
    verdict = Judgment("verdict", "q1", "c3", "Ann", kind="adjudicate", grade=1, blind=False)
    filled.adjudication.adjudicate(verdict, None)
    items = {each["chunk"]: each for each in pad.get("query", query="q1")["items"]}
    given(pad, items["c3"], "after")
    assert blind(filled)["after"] is False


# Why, and with which text -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "made_up",
    [
        {"source": "repeat"},
        {"source": None},
        {"text_hash": "made up"},
        {"text_hash": None},
        {"text_hash": "0" * 32},
        {"slip": None},
        {"slip": ""},
        {"slip": 7},
        {"slip": "\ud800"},
        {"slip": "x" * 100_000},
        {"query": "q2"},
        {"chunk": "c4"},
        {"by": "0123456789abcdef"},
    ],
    ids=str,
)
def test_what_is_not_as_it_was_handed_out_is_refused(filled: Store, pad: Pad, made_up: dict):
    answer = given(pad, item_of(pad), "e1", **made_up)
    assert NOT_HANDED in answer["refused"]
    assert filled.golden_set.contents().judgments == 3
    assert given(pad, item_of(pad), "e2") == {"event_id": "e2", "saved": True}


def test_a_pair_that_nobody_handed_out_is_refused(filled: Store, pad: Pad):
    bob = pad.beside(filled, "Bob")
    for item in (
        item_of(bob),  # handed to somebody else
        {**item_of(pad), "slip": item_of(pad, "c4")["slip"]},  # the slip of another chunk
        {
            **item_of(pad),
            "slip": tokens.PairSignatures("a key", pad.golden_set).sign("", "q1", "c3"),
        },
    ):
        assert NOT_HANDED in given(pad, item, "e1")["refused"]
    other = tokens.PairSignatures(filled.golden_set.signing_key(), "another golden set")
    names = (item_of(pad)[name] for name in ("query", "chunk", "text_hash", "source"))
    forged = {**item_of(pad), "slip": other.sign(pad.key, *names)}
    assert NOT_HANDED in given(pad, forged, "e1")["refused"]
    assert filled.golden_set.contents().judgments == 3


def test_what_was_searched_for_listed_or_given_before_was_handed_out(filled: Store, pad: Pad):
    [found, *_] = pad.get("search", query="q2", words="title 4")["items"]
    assert given(pad, found, "found")["saved"]
    listed = {item["chunk"]: item for item in pad.get("query", query="q1")["items"]}
    assert given(pad, listed["c1"], "listed")["saved"]
    [done] = [each for each in pad.get("history")["done"] if each["event_id"] == "found"]
    assert given(pad, done["item"], "again", 3)["saved"]
    sources = {event.event_id: event.source for event in filled.judgments.log()[3:]}
    assert sources == {"found": "search", "listed": "list", "again": "search"}


# What waited ------------------------------------------------------------------------------------


def test_what_waits_over_a_restart_and_years_is_taken_as_it_was_seen(
    filled: Store, pad: Pad, loaded, monkeypatch: pytest.MonkeyPatch
):
    item, found = item_of(pad), pad.get("search", query="q1", words="title 4")["items"][0]
    filled.runs.drop("second")
    filled.chunks.load(loaded([Chunk("c3", "another wording")]), update=True)
    pad.restart(filled)
    late = datetime.now(UTC).timestamp() + 20 * 365 * 24 * 3600
    monkeypatch.setattr("time.time", lambda: late)
    pad.headers["x-labeler-token"] = tokens.issue_token(
        filled.golden_set.signing_key(), pad.golden_set, "Ann"
    )
    assert given(pad, item, "late")["saved"]
    assert given(pad, found, "late too")["saved"]
    event = next(each for each in filled.judgments.log() if each.event_id == "late")
    assert (event.text_hash, event.source) == (item["text_hash"], "pool")
    assert filled.golden_set.contents().stale == 2, "it was given for the earlier wording"


# Whose it is ------------------------------------------------------------------------------------


def test_a_rename_neither_strands_nor_gives_away_what_waits(filled: Store, pad: Pad):
    item = item_of(pad)
    waits = {**pad.event("e1"), **{name: item[name] for name in SENT_BACK}}
    filled.people.rename("Ann", "Anna")
    filled.people.add("Ann")
    anna, ann = pad.beside(filled, "Anna"), pad.beside(filled, "Ann")
    assert (anna.key, ann.key != pad.key) == (pad.key, True)
    assert ann.send(waits)[0]["refused"] == "this was given by 'Anna', not by 'Ann'"
    assert anna.send(waits) == [{"event_id": "e1", "saved": True}]
    assert [event.grader for event in filled.judgments.log()[3:]] == ["Anna"]


def test_the_same_number_in_another_file_is_not_the_same_person(filled: Store, tmp_path):
    copy = tmp_path / "copy.db"
    filled.connection.conn.execute("VACUUM INTO ?", [str(copy)])
    filled.people.add("Dee")
    with Store(copy) as restored:
        assert restored.people.giver("Ann") == filled.people.giver("Ann")
        restored.people.add("Eve")
        row = "SELECT id FROM graders WHERE name = ?"
        assert restored.connection.value(row, ["Eve"]) == filled.connection.value(row, ["Dee"])
        assert restored.people.giver("Eve").key != filled.people.giver("Dee").key


def test_who_was_added_anew_to_an_older_file_gets_what_waits_under_their_name(
    filled: Store, pad: Pad
):
    filled.people.add("Dee")
    dee = pad.beside(filled, "Dee")
    item = item_of(dee)
    waits = {**dee.event("e1"), **{name: item[name] for name in SENT_BACK}}
    filled.connection.conn.execute(
        "UPDATE graders SET seed = seed + 1 WHERE name = 'Dee'"
    )  # another row
    filled.connection.conn.commit()
    assert dee.get("whose", key=dee.key) == {"nobodys": True}
    assert dee.get("whose", key=pad.key) == {"nobodys": False}
    assert pad.send(waits)[0]["refused"] == "this was given by 'Dee', not by 'Ann'"
    assert dee.send(waits) == [{"event_id": "e1", "saved": True}]


# How much ---------------------------------------------------------------------------------------


def test_no_id_and_no_wording_is_a_place_to_store_a_megabyte(filled: Store, pad: Pad):
    [answer] = pad.send(pad.event("e" * 1_000_000))
    assert "can have 200 characters" in answer["refused"]
    [answer] = pad.send(pad.remark("r" * 201))
    assert "can have 200 characters" in answer["refused"]
    [answer] = pad.send({**pad.event("e1"), "text_hash": "x" * 1_000_000})
    assert NOT_HANDED in answer["refused"]
    assert pad.send(pad.event("e" * 200))[0]["saved"]
    assert filled.golden_set.contents().judgments == 4


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let the minutes pass as fast as the test likes: the first of the list is now."""
    now = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_who_sends_too_much_within_a_minute_is_asked_to_wait_and_loses_nothing(
    filled: Store, pad: Pad, clock: list[float]
):
    routes = grading_routes(str(filled.path), bytes_per_minute=2_000)
    pad.app = Starlette(routes=routes)
    events = [pad.event(f"e{n}", chunk=f"c{n}") for n in range(1, 5)]
    bodies = [json.dumps({"events": [event], "padding": "x" * 500}).encode() for event in events]
    assert [pad.post(body).status for body in bodies] == [200, 200, 429, 429]
    clock[0] += 20
    answer = pad.post(bodies[2])
    assert (answer.status, answer.headers["retry-after"]) == (429, "40")
    assert "labeler serve --bytes-per-minute" in answer.json()["error"]
    bob = pad.beside(filled, "Bob")
    assert bob.send(bob.event("bobs"))[0]["saved"], "others have minutes of their own"
    clock[0] += 41
    assert [pad.post(body).status for body in bodies[2:]] == [200, 200]
    assert {f"e{n}" for n in range(1, 5)} <= {event.event_id for event in filled.judgments.log()}


def test_one_message_larger_than_a_minutes_is_taken_after_a_quiet_minute(
    filled: Store, pad: Pad, clock: list[float]
):
    pad.app = Starlette(routes=grading_routes(str(filled.path), bytes_per_minute=100))
    assert pad.send(pad.event("e1"))[0]["saved"]
    clock[0] += 61
    assert pad.send(pad.event("e2", chunk="c4"))[0]["saved"]
