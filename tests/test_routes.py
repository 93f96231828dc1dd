"""The pad's HTTP face: who may, what is saved, what is refused, and what a grader gets to see."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette

from labeler import routes, tokens
from labeler.model import Chunk, Judgment, Query, Ranking, Settings
from labeler.routes import MOST_BYTES, MOST_EVENTS, grading_routes
from labeler.store import Store


class Pad:
    """What a grader's browser does, for one golden set."""

    def __init__(self, store: Store, ask: Callable[..., Any], grader: str = "Ann") -> None:
        self.ask, self.grader = ask, grader
        self.golden_set = store.golden_set_uuid()
        self.headers = {
            "host": "127.0.0.1",
            "x-labeler-token": tokens.issue(store.signing_key(), self.golden_set, grader),
            "sec-fetch-site": "same-origin",
        }
        self.restart(store)

    def restart(self, store: Store) -> None:
        """Start the server anew."""
        self.app = Starlette(routes=grading_routes(str(store.path)))

    def get(self, limit: object = "", **headers: str) -> Any:
        path = f"/api/next?limit={quote(str(limit))}"
        return self.ask(self.app, "GET", path, headers={**self.headers, **headers})

    def next(self, limit: object = "") -> Any:
        answer = self.get(limit)
        assert answer.status == 200, answer.body
        return answer.json()

    def pairs(self) -> list[tuple[str, str]]:
        return [(item["query"], item["chunk"]) for item in self.next()["items"]]

    def post(self, body: bytes, **headers: str) -> Any:
        return self.ask(self.app, "POST", "/api/judgments", body, {**self.headers, **headers})

    def send(self, *events: dict[str, Any]) -> list[dict[str, Any]]:
        answer = self.post(json.dumps({"events": events}).encode())
        assert answer.status == 200, answer.body
        return answer.json()["results"]

    def event(self, event_id: str = "e1", grade: object = 2, **more: object) -> dict[str, Any]:
        return {
            "event_id": event_id,
            "golden_set": self.golden_set,
            "grader": self.grader,
            "query": "q1",
            "chunk": "c3",
            "kind": "grade",
            "grade": grade,
            "elapsed_ms": 900,
            **more,
        }


@pytest.fixture
def pad(filled: Store, ask) -> Pad:
    return Pad(filled, ask)


def others_token(filled: Store) -> dict[str, str]:
    return {"x-labeler-token": tokens.issue(filled.signing_key(), "another golden set", "Ann")}


def expired_token(filled: Store) -> dict[str, str]:
    real = time.time
    with pytest.MonkeyPatch.context() as clock:
        clock.setattr(time, "time", lambda: real() - tokens.LIFETIME_SECONDS - 2)
        return {
            "x-labeler-token": tokens.issue(filled.signing_key(), filled.golden_set_uuid(), "Ann")
        }


STRANGERS = {
    "no token": lambda _: {"x-labeler-token": ""},
    "bad token": lambda _: {"x-labeler-token": "IkFubiI.aaaa.bbbb"},
    "expired": expired_token,
    "another golden set": others_token,
    "another site": lambda _: {"sec-fetch-site": "cross-site"},
    "another subdomain": lambda _: {"sec-fetch-site": "same-site"},
    "an address typed in": lambda _: {"sec-fetch-site": "none"},
    "another origin": lambda _: {"origin": "http://evil.example"},
    "another port": lambda _: {"origin": "http://127.0.0.1:8000"},
    "no origin of its own": lambda _: {"origin": "null"},
    "nonsense as origin": lambda _: {"origin": "http://[127.0.0.1"},
}


@pytest.mark.parametrize("who", STRANGERS)
def test_strangers_get_nothing_and_write_nothing(filled: Store, pad: Pad, who: str):
    headers = STRANGERS[who](filled)
    body = json.dumps({"events": [pad.event()]}).encode()
    for answer in (pad.get(**headers), pad.post(body, **headers)):
        assert answer.status == 403
        assert list(answer.json()) == ["error"]
    assert filled.contents().judgments == 3


def test_the_page_itself_is_no_stranger(pad: Pad):
    assert pad.get(origin="http://127.0.0.1").status == 200
    assert pad.get(origin="https://127.0.0.1").status == 200, "TLS may end in front of the server"
    del pad.headers["sec-fetch-site"]  # browsers leave it out on plain http
    assert pad.get().status == 200
    assert pad.get(origin="http://other").status == 403


def test_a_token_survives_a_restart_of_the_server(filled: Store, pad: Pad):
    pad.restart(filled)
    assert pad.send(pad.event()) == [{"event_id": "e1", "saved": True}]
    assert pad.get(**others_token(filled)).status == 403


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"events"',
        b"{}",
        b'{"events": {}}',
        b'{"events": [1]}',
        b'{"events": [null]}',
        b'{"events": ' + b"[" * 100_000,
        b'{"events": [{"grade": ' + b"9" * 5000 + b"}]}",
        json.dumps({"events": [{}] * (MOST_EVENTS + 1)}).encode(),
    ],
)
def test_a_malformed_body_is_400_and_writes_nothing(filled: Store, pad: Pad, body: bytes):
    answer = pad.post(body)
    assert answer.status == 400
    assert answer.json()["error"]
    assert filled.contents().judgments == 3


def test_too_much_at_once_is_413(filled: Store, pad: Pad):
    event = pad.event(note="x" * MOST_BYTES)
    assert pad.post(json.dumps({"events": [event]}).encode()).status == 413
    assert filled.contents().judgments == 3


REFUSED = {
    "grade 5": {"grade": 5},
    "grade 1.5": {"grade": 1.5},
    "grade true": {"grade": True},
    "grade as text": {"grade": "2"},
    "no grade": {"grade": None},
    "not a number": {"grade": float("nan")},
    "a list": {"grade": [2]},
    "can't tell with a grade": {"kind": "cannot_tell"},
    "a verdict": {"kind": "adjudicate"},
    "an import": {"kind": "import"},
    "a kind that is none": {"kind": ["grade"]},
    "unknown query": {"query": "q7"},
    "unknown chunk": {"chunk": "c7"},
    "no query": {"query": None},
    "number as chunk": {"chunk": 3},
    "NUL": {"chunk": "c\0"},
    "another golden set": {"golden_set": "another"},
    "no golden set": {"golden_set": None},
    "another grader": {"grader": "Bob"},
    "half a surrogate pair as grader": {"grader": "\ud800"},
    "half a surrogate pair as wording": {"text_hash": "\ud800"},
    "undo of nothing": {"undoes": "nothing"},
    "undo of a list": {"undoes": ["e0"]},
}


@pytest.mark.parametrize("what", REFUSED)
def test_one_bad_event_does_not_hold_up_the_others(filled: Store, pad: Pad, what: str):
    bad = {**pad.event("bad"), **REFUSED[what]}
    results = pad.send(pad.event("e1"), bad, pad.event("e2", chunk="c4"))
    assert [result["event_id"] for result in results] == ["e1", "bad", "e2"]
    assert [result.get("saved", False) for result in results] == [True, False, True]
    assert len(results[1]["refused"]) > 10
    assert [event.event_id for event in filled.events()[3:]] == ["e1", "e2"]


@pytest.mark.parametrize("event_id", [None, "", 7, "\ud800", "a\0b", ["e"], float("inf")])
def test_an_event_without_a_usable_id_is_refused_and_the_others_are_saved(
    filled: Store, pad: Pad, event_id: object
):
    results = pad.send({**pad.event(), "event_id": event_id}, pad.event("e2"))
    assert results[1] == {"event_id": "e2", "saved": True}
    assert results[0]["event_id"] is None
    assert "event id" in results[0]["refused"]
    assert filled.contents().judgments == 4


def test_odd_extras_are_left_out_and_the_grade_is_saved(filled: Store, pad: Pad):
    for number, elapsed in enumerate([-1, float("nan"), 1e300, "12", None, [], 2**80, 12.7]):
        assert pad.send(pad.event(f"e{number}", elapsed_ms=elapsed))[0].get("saved")
    assert [event.elapsed_ms for event in filled.events()[3:]] == [None] * 7 + [12]
    assert pad.send(pad.event("e9", text_hash=5, surprise={}))[0].get("saved")
    assert filled.events()[-1].source == "pad"


def test_an_event_sent_again_is_acknowledged_and_stored_once(filled: Store, pad: Pad):
    events = [pad.event("e1"), pad.event("e2", None, kind="cannot_tell", chunk="c4")]
    assert pad.send(*events) == pad.send(*events) == pad.send(*events, *events)[:2]
    assert [event.event_id for event in filled.events()[3:]] == ["e1", "e2"]
    assert "refused" in pad.send(pad.event("e1", 3))[0]


def test_an_undo_takes_the_grade_back_and_sent_again_changes_nothing(filled: Store, pad: Pad):
    undo = pad.event("u1", None, undoes="e1")
    assert pad.send(pad.event("e1"), undo)[1] == {"event_id": "u1", "saved": True}
    assert ("q1", "c3") in pad.pairs()
    pad.send(pad.event("e2", 3))
    assert pad.send(undo) == [{"event_id": "u1", "saved": True}]
    assert ("q1", "c3") not in pad.pairs(), "the late undo must not hit the new grade"


def test_nobody_undoes_anothers_grade(filled: Store, pad: Pad, ask):
    pad.send(pad.event("e1"))
    bob = Pad(filled, ask, "Bob")
    assert "no event 'e1'" in bob.send(bob.event("u1", None, undoes="e1"))[0]["refused"]
    assert filled.contents().golden == 4


def test_while_another_process_writes_nothing_is_refused_for_good(filled: Store, pad: Pad):
    pad.app = Starlette(routes=grading_routes(str(filled.path), busy_seconds=0.05))
    body = json.dumps({"events": [pad.event()]}).encode()
    other = sqlite3.connect(filled.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = pad.post(body)
    assert answer.status == 503
    assert "results" not in answer.json(), "the pad drops what has a result"
    assert pad.get().status == 200, "reading goes on"
    other.execute("ROLLBACK")
    other.close()
    assert pad.post(body).json() == {"results": [{"event_id": "e1", "saved": True}]}


WITHOUT_ROOM = """
import asyncio, json, resource, sys
from labeler.routes import grading_routes
from labeler.store import Store

path, token, body = sys.argv[1:]
keep = Store(path)
route = grading_routes(path)[1]
size = 0
resource.setrlimit(resource.RLIMIT_FSIZE, (32768, 32768))

async def ask():
    async def receive():
        return {"type": "http.request", "body": body.encode()}
    async def send(message):
        print(message.get("status") or message["body"].decode())
    headers = [(b"host", b"h"), (b"x-labeler-token", token.encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/judgments", "headers": headers,
             "query_string": b"", "path_params": {}}
    await route.handle(scope, receive, send)

asyncio.run(ask())
"""


def test_a_disk_without_room_keeps_grades_waiting_and_refuses_none(filled: Store, pad: Pad, python):
    filled.close()
    body = json.dumps({"events": [pad.event(f"e{n}", note="x") for n in range(100)]})
    said, errors = python(
        WITHOUT_ROOM, filled.path, pad.headers["x-labeler-token"], body
    ).communicate()
    assert errors == ""
    status, answer = said.splitlines()
    assert status == "503"
    assert "the disk does not" in json.loads(answer)["error"]
    assert "refused" not in answer


def test_a_golden_set_that_has_gone_is_said_and_not_made_anew(filled: Store, pad: Pad):
    filled.close()
    filled.path.unlink()
    assert pad.get().status == 400
    assert "no golden set here" in pad.get().json()["error"]
    assert not filled.path.exists()


def test_a_grader_whom_an_older_backup_does_not_know_loses_nothing(filled: Store, ask):
    dee = Pad(filled, ask, "Dee")
    assert dee.send(dee.event()) == [{"event_id": "e1", "saved": True}]
    assert filled.judged_by("Dee")
    assert filled.contents().graders == 1


def test_next_is_the_pool_without_what_is_settled_or_ones_own(filled: Store, pad: Pad):
    assert sorted(pad.pairs()) == [("q1", "c3"), ("q1", "c4")]
    pad.send(pad.event("e1", None, kind="cannot_tell"))
    answer = pad.next()
    assert [item["chunk"] for item in answer["items"]] == ["c4"]
    assert (answer["saved"], answer["open"], answer["without_text"]) == (1, 1, 2)
    assert ("q1", "c1") not in pad.pairs(), "settled by an import"


def test_what_a_grader_could_not_tell_is_still_open_to_others(filled: Store, pad: Pad, ask):
    bob = Pad(filled, ask, "Bob")
    bob.app = pad.app
    pad.send(pad.event("e1", None, kind="cannot_tell"))
    assert ("q1", "c3") in bob.pairs()
    assert ("q1", "c3") not in pad.pairs()


def test_a_grade_closes_the_pair_for_everybody_and_its_undo_opens_it(filled: Store, pad: Pad, ask):
    bob = Pad(filled, ask, "Bob")
    bob.app = pad.app
    assert ("q1", "c3") in bob.pairs()
    pad.send(pad.event("e1"))
    assert ("q1", "c3") not in bob.pairs()
    assert bob.next()["open"] == 1
    pad.send(pad.event("u1", None, undoes="e1"))
    assert ("q1", "c3") in bob.pairs()
    assert (bob.next()["open"], pad.next()["saved"]) == (2, 0)


def test_a_chunk_whose_text_changed_comes_again(filled: Store, pad: Pad, loaded):
    pad.send(pad.event("e1"))
    assert ("q1", "c3") not in pad.pairs()
    changed = [replace(filled.chunk(name), text=f"new {name}") for name in ("c1", "c3")]
    filled.add_chunks(loaded(changed), update=True)
    assert {("q1", "c1"), ("q1", "c3"), ("q2", "c3")} <= set(pad.pairs())
    fresh = next(item for item in pad.next()["items"] if item["chunk"] == "c3")
    pad.send(pad.event("e2", 1, query=fresh["query"], text_hash=fresh["text_hash"]))
    assert (fresh["query"], "c3") not in pad.pairs()


def test_a_grade_for_the_old_wording_that_was_on_the_way_does_not_settle_the_new(
    filled: Store, pad: Pad, loaded
):
    seen = next(item for item in pad.next()["items"] if item["chunk"] == "c3")
    filled.add_chunks(loaded([Chunk("c3", "another wording")]), update=True)
    assert pad.send(pad.event("e1", text_hash=seen["text_hash"]))[0]["saved"]
    assert ("q1", "c3") in pad.pairs()
    assert filled.contents().stale == 2


def test_a_new_run_a_retired_query_and_new_texts_show_at_once(filled: Store, pad: Pad, loaded):
    assert pad.next()["without_text"] == 2
    filled.add_chunks(loaded([Chunk("c5", "text 5"), Chunk("c6", "text 6")]))
    assert pad.next()["without_text"] == 0
    filled.add_run(loaded([Ranking("q2", ("c4",))]), name="third")
    assert {("q2", "c4"), ("q2", "c5"), ("q2", "c6")} <= set(pad.pairs())
    filled.retire_query("q2")
    assert {query_id for query_id, _ in pad.pairs()} == {"q1"}


def test_the_pool_is_as_deep_as_the_setting_says(filled: Store, pad: Pad):
    filled.save_settings(Settings(pool_depth=1))
    assert pad.pairs() == [("q1", "c4")]
    filled.save_settings(Settings(pool_depth=3))
    assert sorted(pad.pairs()) == [("q1", "c3"), ("q1", "c4")]


@pytest.mark.parametrize(
    "limit", ["", "x", "-1", "9" * 5000, "²", "٣", "1.5", "0", "1", "60", "9999"]
)
def test_the_limit_is_a_wish_within_bounds(pad: Pad, limit: str):
    wanted = {"0": 0, "1": 1}.get(limit, 2)
    answer = pad.next(limit)
    assert len(answer["items"]) == wanted
    assert answer["open"] == 2, "a limit must not change what is left"


def many(store: Store, loaded) -> None:
    """Enough queries and chunks that an order can be told from chance."""
    store.add_queries(loaded([Query(f"m{n}", f"question {n}") for n in range(12)]))
    names = tuple(f"x{n}" for n in range(10))
    store.add_chunks(loaded([Chunk(name, f"text of {name}") for name in names]))
    store.add_run(loaded([Ranking(f"m{n}", names) for n in range(12)]), name="best system")


def test_the_order_is_each_graders_own_and_stays(filled: Store, pad: Pad, ask, loaded):
    many(filled, loaded)
    bob = Pad(filled, ask, "Bob")
    first = pad.pairs()
    assert first == pad.pairs()
    assert first != bob.pairs()
    pad.restart(filled)
    assert pad.pairs() == first
    assert [chunk for _, chunk in first[:10]] != [f"x{n}" for n in range(10)], "not the run's order"
    assert len(first) == routes.MOST_ITEMS


def test_a_grader_sees_no_system_no_rank_no_score_and_nobodys_grade(
    filled: Store, pad: Pad, loaded
):
    many(filled, loaded)
    filled.judge(Judgment("b1", "m1", "x1", "Bob", kind="cannot_tell", note="a secret note"))
    pad.send(pad.event("e1"))
    answer = pad.get()
    shown = {key for item in answer.json()["items"] for key in item}
    assert shown == {
        *("query", "chunk", "text_hash", "query_text", "task", "guideline", "reference"),
        *("title", "text"),
    }
    assert set(answer.json()) == {"items", "undoable", "saved", "open", "without_text"}
    for word in (b"best system", b"bm25", b"first", b"Bob", b"secret", b"rank", b"score", b"grade"):
        assert word not in answer.body


def test_a_new_page_knows_what_can_be_undone(filled: Store, pad: Pad):
    for number, chunk in enumerate(["c3", "c4"]):
        pad.send(pad.event(f"e{number}", chunk=chunk))
    undoable = pad.next()["undoable"]
    assert [(done["event_id"], done["item"]["chunk"]) for done in undoable] == [
        ("e1", "c4"),
        ("e0", "c3"),
    ]
    filled.judge(Judgment("verdict", "q1", "c4", "Ann", kind="adjudicate", grade=1))
    assert pad.next()["undoable"] == undoable, "U must not take a verdict back"


def test_requests_at_the_same_time_agree_with_the_store(filled: Store, pad: Pad, ask, loaded):
    many(filled, loaded)
    pads = [Pad(filled, ask, name) for name in ("Ann", "Bob", "Cy", "Dee")]
    troubles: list[BaseException] = []

    def grade(mine: Pad) -> None:
        mine.app = pad.app
        try:
            for turn in range(12):
                for item in mine.next(3)["items"][:2]:
                    event_id = f"{mine.grader}/{turn}/{item['chunk']}/{item['query']}"
                    names = {"query": item["query"], "chunk": item["chunk"]}
                    assert mine.send(mine.event(event_id, turn % 4, **names))[0]["saved"]
                    if turn % 3 == 2:
                        mine.send(mine.event(f"undo {event_id}", None, undoes=event_id, **names))
        except BaseException as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=grade, args=[each]) for each in pads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    for each in pads:
        kept = each.next()
        each.restart(filled)
        assert each.next() == kept, "what the desk kept up to date is what a new one reads"
