"""The pad's HTTP face, inwards: who may, what is saved, what is refused."""

from __future__ import annotations

import json
import threading
import time

import pytest
from starlette.applications import Starlette

from labeler.model import Judgment
from labeler.store import Store
from labeler.web.auth import tokens
from labeler.web.grading_api import grading_routes
from labeler.web.grading_api.guard import MOST_BYTES
from labeler.web.grading_api.write_api import LONGEST_NOTE, LONGEST_REASON, MOST_EVENTS
from tests.support.databases import another_writer
from tests.support.grading_client import Pad, pad

__all__ = ["pad"]


def others_token(filled: Store) -> dict[str, str]:
    return {
        "x-labeler-token": tokens.issue_token(
            filled.golden_set.signing_key(), "another golden set", "Ann"
        )
    }


def expired_token(filled: Store) -> dict[str, str]:
    real = time.time
    with pytest.MonkeyPatch.context() as clock:
        clock.setattr(time, "time", lambda: real() - tokens.LIFETIME_SECONDS - 2)
        return {
            "x-labeler-token": tokens.issue_token(
                filled.golden_set.signing_key(), filled.golden_set.uuid(), "Ann"
            )
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


ASKED = {
    "next": {},
    "history": {},
    "query": {"query": "q1"},
    "own": {"kind": "note"},
    "search": {"query": "q1", "words": "text"},
    "text": {"chunk": "c1"},
    "neighbours": {"chunk": "c1"},
    "told": {"query": "q1", "chunk": "c1"},
    "practice": {},
    "whose": {"key": "0123456789abcdef"},
    "disagreements": {},
}


@pytest.mark.parametrize("who", STRANGERS)
def test_strangers_get_nothing_and_write_nothing(filled: Store, pad: Pad, who: str):
    headers = STRANGERS[who](filled)
    body = json.dumps({"events": [pad.event()]}).encode()
    answers = [pad.answer(name, headers, **asked) for name, asked in ASKED.items()]
    for answer in [*answers, pad.post(body, **headers)]:
        assert answer.status == 403
        assert list(answer.json()) == ["error"]
    assert filled.golden_set.contents().judgments == 3


def test_every_route_is_asked(pad: Pad):
    paths = {route.path for route in pad.app.routes}
    assert paths == {f"/api/{name}" for name in (*ASKED, "judgments", "adjudications")}


def test_the_page_itself_is_no_stranger(pad: Pad):
    for origin in ("http://127.0.0.1", "https://127.0.0.1"):  # TLS may end in front of the server
        assert pad.answer("next", {"origin": origin}).status == 200
    del pad.headers["sec-fetch-site"]  # browsers leave it out on plain http
    assert pad.answer("next").status == 200
    assert pad.answer("next", {"origin": "http://other"}).status == 403


def test_a_token_survives_a_restart_of_the_server(filled: Store, pad: Pad):
    pad.restart(filled)
    assert pad.send(pad.event()) == [{"event_id": "e1", "saved": True}]
    assert pad.answer("next", others_token(filled)).status == 403


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
    assert filled.golden_set.contents().judgments == 3


def test_too_much_at_once_is_413(filled: Store, pad: Pad):
    event = pad.event(note="x" * MOST_BYTES)
    assert pad.post(json.dumps({"events": [event]}).encode()).status == 413
    assert filled.golden_set.contents().judgments == 3


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
    "instead of a list": {"replaces": ["e0"]},
    "instead of what never was": {"replaces": "e0"},
    "a reason that is no text": {"reason": 5},
    "a note that is no text": {"note": ["good"]},
    "a note nobody can store": {"note": "half \ud800"},
    "a note with NUL": {"note": "a\0b"},
    "too long a note": {"note": "x" * (LONGEST_NOTE + 1)},
    "too long a reason": {"reason": "x" * (LONGEST_REASON + 1)},
    "a remark on nothing": {"kind": "unclear", "query": "q7"},
    "a remark that says nothing": {"kind": "withdraw", "query": None},
    "too long a remark": {"kind": "unanswered", "note": "x" * (LONGEST_NOTE + 1)},
}


@pytest.mark.parametrize("what", REFUSED)
def test_one_bad_event_does_not_hold_up_the_others(filled: Store, pad: Pad, what: str):
    bad = {**pad.event("bad"), **REFUSED[what]}
    results = pad.send(pad.event("e1"), bad, pad.event("e2", chunk="c4"))
    assert [result["event_id"] for result in results] == ["e1", "bad", "e2"]
    assert [result.get("saved", False) for result in results] == [True, False, True]
    assert len(results[1]["refused"]) > 10
    assert [event.event_id for event in filled.judgments.log()[3:]] == ["e1", "e2"]


@pytest.mark.parametrize("event_id", [None, "", 7, "\ud800", "a\0b", ["e"], float("inf")])
def test_an_event_without_a_usable_id_is_refused_and_the_others_are_saved(
    filled: Store, pad: Pad, event_id: object
):
    results = pad.send({**pad.event(), "event_id": event_id}, pad.event("e2"))
    assert results[1] == {"event_id": "e2", "saved": True}
    assert results[0]["event_id"] is None
    assert "event id" in results[0]["refused"]
    assert filled.golden_set.contents().judgments == 4


def test_odd_extras_are_left_out_and_the_grade_is_saved(filled: Store, pad: Pad):
    known = None
    for number, elapsed in enumerate([-1, float("nan"), 1e300, "12", None, [], 2**80, 12.7]):
        event = pad.event(f"e{number}", elapsed_ms=elapsed, replaces=known)
        assert pad.send(event)[0].get("saved")
        known = f"e{number}"
    assert [event.elapsed_ms for event in filled.judgments.log()[3:]] == [None] * 7 + [12]
    odd = {"blind": "no", "surprise": {}, "text": ["x"]}
    assert pad.send(pad.event("e9", replaces=known, **odd))[0].get("saved")
    event = filled.judgments.log()[-1]
    assert (event.source, event.blind) == ("pool", True)


def test_what_came_with_a_grade_is_kept(filled: Store, pad: Pad):
    hostile = "<script>alert(1)</script> '); DROP TABLE judgments; -- \u202e {{7*7}} =1+1"
    pad.send(pad.event("e1", note=f"  {hostile}\n\n", blind=False, source="search"))
    pad.send(pad.event("e2", None, kind="cannot_tell", chunk="c4", reason=" outside my field "))
    pad.send(pad.event("e3", None, kind="cannot_tell", chunk="c1", reason=" ", note="\n"))
    one, two, three = filled.judgments.log()[3:]
    assert (one.note, one.blind, one.source) == (hostile, False, "search")
    assert (two.reason, two.note, two.blind, two.source) == ("outside my field", None, True, "pool")
    assert (three.reason, three.note) == (None, None)
    assert pad.get("history")["done"][2]["note"] == hostile


def test_what_was_on_screen_is_kept_with_the_grade(filled: Store, pad: Pad):
    pad.send(pad.event("e1", seen_whole=False, highlighted=True))
    wording = filled.judgments.log()[-1].text_hash
    pad.send(pad.event("e2", replaces="e1", note="added later", text_hash=wording))
    pad.send(pad.event("e3", 1, replaces="e2", seen_whole=True, highlighted=False))
    pad.send(pad.event("e4", 0, replaces="e3", seen_whole="yes"))
    screens = [(each.seen_whole, each.highlighted) for each in filled.judgments.log()[3:]]
    assert screens == [(False, True), (False, True), (True, False), (None, None)]
    undo = pad.event("u4", undoes="e4", kind=None, grade=None)
    assert pad.send(undo)[0].get("saved")
    assert filled.judgments.log()[-1].seen_whole is True, "what holds again"


def test_who_was_shown_the_lists_of_a_query_does_not_grade_it_blind(filled: Store, pad: Pad):
    assert pad.send(pad.event("e1", query="q1", chunk="c1"))[0].get("saved")
    filled.exposure.note_lists_seen("Ann", "q1")
    assert pad.send(pad.event("e1", query="q1", chunk="c1"))[0].get("saved"), "sent again"
    pad.send(pad.event("e2", query="q1", chunk="c1", replaces="e1", blind=True))
    pad.send(pad.event("e3", query="q2", chunk="c3", blind=True))
    bob = pad.beside(filled, "Bob")
    bob.send(bob.event("e4", query="q1", chunk="c1", blind=True))
    blind = {event.event_id: event.blind for event in filled.judgments.log()[3:]}
    assert blind == {"e1": True, "e2": False, "e3": True, "e4": True}


@pytest.mark.parametrize("source", ["pool", "repeat", "list", "search"])
def test_it_is_kept_why_a_grader_had_the_chunk(filled: Store, pad: Pad, source: str):
    pad.send(pad.event("e1", source=source))
    assert filled.judgments.log()[-1].source == source


def test_the_longest_note_and_reason_are_taken(filled: Store, pad: Pad):
    note, reason = "ä" * LONGEST_NOTE, "😀" * LONGEST_REASON
    event = pad.event("e1", None, kind="cannot_tell", note=note, reason=reason)
    assert pad.send(event) == [{"event_id": "e1", "saved": True}]
    assert (filled.judgments.log()[-1].note, filled.judgments.log()[-1].reason) == (note, reason)
    refused = pad.send(pad.event("e2", 1, note=f"{note}ä", replaces="e1"))[0]["refused"]
    assert refused == "a note can have 2,000 characters, this one has 2,001"


def test_an_event_sent_again_is_acknowledged_and_stored_once(filled: Store, pad: Pad):
    events = [pad.event("e1"), pad.event("e2", None, kind="cannot_tell", chunk="c4")]
    assert pad.send(*events) == pad.send(*events) == pad.send(*events, *events)[:2]
    assert [event.event_id for event in filled.judgments.log()[3:]] == ["e1", "e2"]
    assert "refused" in pad.send(pad.event("e1", 3))[0]


def test_an_undo_takes_the_grade_back_and_sent_again_changes_nothing(filled: Store, pad: Pad):
    undo = pad.event("u1", None, undoes="e1")
    assert pad.send(pad.event("e1"), undo)[1] == {"event_id": "u1", "saved": True}
    assert ("q1", "c3") in pad.pairs()
    pad.send(pad.event("e2", 3))
    assert pad.send(undo) == [{"event_id": "u1", "saved": True}]
    assert ("q1", "c3") not in pad.pairs(), "the late undo must not hit the new grade"


def test_nobody_undoes_anothers_grade(filled: Store, pad: Pad):
    pad.send(pad.event("e1"))
    bob = pad.beside(filled, "Bob")
    assert "no event 'e1'" in bob.send(bob.event("u1", None, undoes="e1"))[0]["refused"]
    assert filled.golden_set.contents().golden == 4


def test_while_another_process_writes_nothing_is_refused_for_good(filled: Store, pad: Pad):
    pad.app = Starlette(routes=grading_routes(str(filled.path), busy_seconds=0.05))
    body = json.dumps({"events": [pad.event()]}).encode()
    with another_writer(filled):
        answer = pad.post(body)
        assert answer.status == 503
        assert "results" not in answer.json(), "the pad drops what has a result"
        assert pad.answer("next").status == 200, "reading goes on"
    assert pad.post(body).json() == {"results": [{"event_id": "e1", "saved": True}]}


WITHOUT_ROOM = """
import asyncio, json, resource, sys
from labeler.web.grading_api import grading_routes
from labeler.store import Store

path, token, body = sys.argv[1:]
keep = Store(path)
[route] = [each for each in grading_routes(path) if each.path == "/api/judgments"]
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


@pytest.mark.in_a_file
def test_a_disk_without_room_keeps_grades_waiting_and_refuses_none(filled: Store, pad: Pad, python):
    filled.close()
    known = [None, *(f"e{n}" for n in range(100))]
    events = [pad.event(f"e{n}", note="x", replaces=known[n]) for n in range(100)]
    body = json.dumps({"events": events})
    said, errors = python(
        WITHOUT_ROOM, filled.path, pad.headers["x-labeler-token"], body
    ).communicate()
    assert errors == ""
    status, answer = said.splitlines()
    assert status == "503"
    assert "the disk does not" in json.loads(answer)["error"]
    assert "refused" not in answer


@pytest.mark.in_a_file
def test_a_golden_set_that_has_gone_is_said_and_not_made_anew(filled: Store, pad: Pad):
    filled.close()
    filled.path.unlink()
    assert "no golden set here" in pad.refused("next")
    assert not filled.path.exists()


def test_a_grader_whom_an_older_backup_does_not_know_loses_nothing(filled: Store, ask):
    dee = Pad(filled, ask, "Dee")
    assert dee.send(dee.event()) == [{"event_id": "e1", "saved": True}]
    assert filled.assignment.judged_by("Dee")
    assert filled.golden_set.contents().graders == 1


# Two tabs, two devices --------------------------------------------------------------------------


def test_a_second_tab_does_not_overwrite_the_first(filled: Store, pad: Pad):
    pad.send(pad.event("tab1", 3))
    [answer] = pad.send(pad.event("tab2", 0))
    assert "in another tab or on another device" in answer["refused"]
    assert answer["instead"] == {"event_id": "tab1", "kind": "grade", "grade": 3}
    assert "saved" not in answer
    assert filled.assignment.judgment_of("Ann", "q1", "c3").grade == 3
    [answer] = pad.send(pad.event("mine after all", 0, replaces="tab1"))
    assert answer == {"event_id": "mine after all", "saved": True}
    assert [event.event_id for event in filled.judgments.log()[3:]] == ["tab1", "mine after all"]


def test_what_was_taken_back_in_another_tab_is_not_changed(filled: Store, pad: Pad):
    pad.send(pad.event("e1"), pad.event("u1", None, undoes="e1"))
    [answer] = pad.send(pad.event("e2", 3, replaces="e1"))
    assert answer["instead"] is None
    assert pad.send(pad.event("e3", 3))[0]["saved"]
    assert [event.event_id for event in filled.judgments.log()[3:]] == ["e1", "u1", "e3"]


def test_after_an_undo_the_earlier_grade_is_what_is_replaced(filled: Store, pad: Pad):
    pad.send(pad.event("e1", 1), pad.event("e2", 3, replaces="e1"))
    pad.send(pad.event("u2", None, undoes="e2"))
    [answer] = pad.send(pad.event("e3", 0, replaces="u2"))
    assert answer["instead"] == {"event_id": "e1", "kind": "grade", "grade": 1}
    assert pad.send(pad.event("e4", 0, replaces="e1"))[0]["saved"]


def test_an_event_sent_again_is_acknowledged_even_when_outdated_since(filled: Store, pad: Pad):
    events = [pad.event("e1", 1), pad.event("e2", 3, replaces="e1")]
    assert pad.send(*events) == pad.send(*events)
    pad.send(pad.event("u2", None, undoes="e2"))
    assert all(answer["saved"] for answer in pad.send(*events))
    assert filled.assignment.judgment_of("Ann", "q1", "c3").event_id == "e1", (
        "sent again changes nothing"
    )


def test_others_grades_are_in_nobodys_way(filled: Store, pad: Pad):
    filled.judgments.add(Judgment("b1", "q1", "c3", "Bob", grade=0))
    filled.adjudication.adjudicate(
        Judgment("verdict", "q1", "c3", "Ann", kind="adjudicate", grade=1), None
    )
    assert pad.send(pad.event("e1", 3))[0]["saved"]


def test_of_two_tabs_at_the_same_moment_exactly_one_stands(filled: Store, pad: Pad):
    start = threading.Barrier(6)
    answers: list[dict[str, object]] = []

    def send(tab: int) -> None:
        for turn, chunk in enumerate(["c1", "c2", "c3", "c4"]):
            start.wait()
            answers.extend(pad.send(pad.event(f"{turn}/{tab}", tab % 4, chunk=chunk)))

    threads = [threading.Thread(target=send, args=[tab]) for tab in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    saved = [answer["event_id"] for answer in answers if "saved" in answer]
    assert sorted(event.event_id for event in filled.judgments.log()[3:]) == sorted(saved)
    assert sorted(event_id[0] for event_id in saved) == ["0", "1", "2", "3"]
    standing = {
        answer["event_id"]: answer["instead"]["event_id"]
        for answer in answers
        if "instead" in answer
    }
    assert len(standing) == 20
    assert set(standing.values()) == set(saved), "who lost is told what stands"


# Remarks on whole queries -----------------------------------------------------------------------


def test_a_remark_is_taken_once_and_can_be_withdrawn(filled: Store, pad: Pad):
    hostile = "<img src=x onerror=alert(1)> | =cmd()"
    remark = pad.remark("r1", "unanswered", note=f" {hostile} ")
    assert pad.send(remark) == pad.send(remark) == [{"event_id": "r1", "saved": True}]
    assert pad.send(pad.remark("r2", "withdraw"))[0]["saved"]
    said = [(each.event_id, each.kind, each.note) for each in filled.remarks.log()]
    assert said == [("r1", "unanswered", hostile), ("r2", "withdraw", None)]
    assert filled.remarks.current() == []
    assert "other content" in pad.send({**remark, "note": "another"})[0]["refused"]
    assert filled.golden_set.contents().judgments == 3, "a remark is no judgment"


def test_a_remark_on_a_retired_query_is_refused(filled: Store, pad: Pad):
    filled.queries.retire("q1")
    assert "has been retired" in pad.send(pad.remark())[0]["refused"]
    assert "another golden set" in pad.send(pad.remark(golden_set="x"))[0]["refused"]
    assert filled.remarks.log() == []
