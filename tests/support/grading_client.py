"""What a grader's browser asks of the routes, without the browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.applications import Starlette

from labeler.errors import NotFound
from labeler.model import Chunk, Query, Ranking
from labeler.store import Store
from labeler.web.auth import tokens
from labeler.web.grading_api import grading_routes

KEY_OF_BEFORE = "of an older row"


class Pad:
    """What a grader's browser does, for one golden set: it has been handed every pair."""

    def __init__(self, store: Store, ask: Callable[..., Any], grader: str = "Ann") -> None:
        self.ask, self.grader = ask, grader
        self.golden_set = store.golden_set.uuid()
        self.slips = tokens.PairSignatures(store.golden_set.signing_key(), self.golden_set)
        self.key = key_of(store, grader)
        self.headers = {
            "host": "127.0.0.1",
            "x-labeler-token": tokens.issue_token(
                store.golden_set.signing_key(), self.golden_set, grader
            ),
            "sec-fetch-site": "same-origin",
        }
        self.restart(store)

    def restart(self, store: Store) -> None:
        """Start the server anew."""
        self.path = store.path
        self.app = Starlette(routes=grading_routes(str(store.path)))

    def beside(self, store: Store, grader: str) -> Pad:
        """Return another grader's browser at the same server."""
        other = Pad(store, self.ask, grader)
        other.app = self.app
        return other

    def answer(self, name: str, headers: Mapping[str, str] | None = None, **asked: object) -> Any:
        """Return what a route answers, whatever that is."""
        path = f"/api/{name}?{urlencode(asked)}"
        return self.ask(self.app, "GET", path, headers={**self.headers, **(headers or {})})

    def get(self, name: str, **asked: object) -> Any:
        """Return the JSON a route answers with."""
        answer = self.answer(name, **asked)
        assert answer.status == 200, answer.body
        return answer.json()

    def refused(self, name: str, **asked: object) -> str:
        """Return the sentence a route refuses with."""
        answer = self.answer(name, **asked)
        assert answer.status == 400, answer.body
        assert list(answer.json()) == ["error"], "nothing else may leak"
        return answer.json()["error"]

    def next(self, **asked: object) -> Any:
        return self.get("next", **asked)

    def pairs(self, **asked: object) -> list[tuple[str, str]]:
        return [(item["query"], item["chunk"]) for item in self.next(**asked)["items"]]

    def post(self, body: bytes, **headers: str) -> Any:
        return self.ask(self.app, "POST", "/api/judgments", body, {**self.headers, **headers})

    def send(self, *events: dict[str, Any]) -> list[dict[str, Any]]:
        answer = self.post(json.dumps({"events": events}).encode())
        assert answer.status == 200, answer.body
        return answer.json()["results"]

    def event(self, event_id: str = "e1", grade: object = 2, **more: object) -> dict[str, Any]:
        event = {
            "event_id": event_id,
            "golden_set": self.golden_set,
            "grader": self.grader,
            "by": self.key,
            "query": "q1",
            "chunk": "c3",
            "kind": "grade",
            "grade": grade,
            "text_hash": None,
            "source": "pool",
            "elapsed_ms": 900,
            **more,
        }
        return {"slip": self.slip(event), **event}

    def slip(self, event: Mapping[str, Any]) -> str:
        """Sign what an event is about, as the server does when it hands that out."""
        named = (event[name] for name in ("by", "query", "chunk", "text_hash", "source"))
        return self.slips.sign(*named)

    def remark(self, event_id: str = "r1", kind: str = "unclear", **more: object) -> dict[str, Any]:
        names = {"event_id": event_id, "golden_set": self.golden_set, "grader": self.grader}
        names["by"] = self.key
        return {**names, "query": "q1", "kind": kind, "note": None, **more}

    def grade(self, item: Mapping[str, Any], grade: int = 2, **more: object) -> str:
        """Grade what is on screen; return the event's id."""
        names = (self.grader, item["query"], item["chunk"], item["replaces"], grade)
        event_id = "/".join(map(str, names))
        sent_back = ("query", "chunk", "text_hash", "replaces", "source", "slip")
        shown = {name: item[name] for name in sent_back}
        assert self.send(self.event(event_id, grade, **shown, **more)) == [
            {"event_id": event_id, "saved": True}
        ]
        return event_id


def key_of(store: Store, grader: str) -> str:
    """Return the key a grader's browser keeps their grades under."""
    try:
        return store.people.giver(grader).key
    except NotFound:
        return KEY_OF_BEFORE


@pytest.fixture
def pad(filled: Store, ask) -> Pad:
    return Pad(filled, ask)


def many(store: Store, loaded, queries: int = 12) -> None:
    """Add enough queries and chunks that an order can be told from chance."""
    store.queries.load(loaded([Query(f"m{n}", f"question {n}") for n in range(queries)]))
    names = tuple(f"x{n}" for n in range(10))
    store.chunks.load(loaded([Chunk(name, f"text of {name}") for name in names]))
    store.runs.load(loaded([Ranking(f"m{n}", names) for n in range(queries)]), name="best system")
