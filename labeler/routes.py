"""The pad's HTTP face: next chunks out, grades in; who may, and nothing else.

A grade takes this way and not a script rerun: it costs a tenth of the processor time, and a
dropped connection loses nothing because the pad sends what was not acknowledged again.

==========================  ===========================================================
``GET /api/next``           the chunks this grader grades next, what is saved, what is left
``POST /api/judgments``     events; each is acknowledged or refused with a reason by its id
==========================  ===========================================================

Both answer only same-origin requests with a token the Label page handed out, and 403 otherwise;
503 says that the database takes no writes just now and the same request will work later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from labeler import tokens
from labeler.errors import BadInput, Busy, LabelerError
from labeler.model import Judgment, check_id
from labeler.pooling import Pair, Pool
from labeler.store import BUSY_SECONDS, Item, Store, Unusable
from labeler.tokens import Forbidden

TOKEN_HEADER = "x-labeler-token"
MOST_ITEMS = 60
MOST_EVENTS = 200
MOST_BYTES = 1_000_000
UNDO_DEPTH = 5


class Desk:
    """Hands out what is graded next; keeps pool and graders up to date between requests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._key: tuple[str, int, int] | None = None
        self._pool = Pool({})
        self._own: dict[str, dict[Pair, bool]] = {}
        self._revision = 0

    def next_for(self, store: Store, grader: str, limit: int) -> dict[str, Any]:
        """Return the answer to ``GET /api/next``."""
        seed = store.grader_seed(grader)
        with self._lock:
            self._catch_up(store)
            if grader not in self._own:
                self._own[grader] = store.judged_by(grader)
            own = self._own[grader]
            pairs = list(islice(self._pool.in_order(seed, own), limit))
            left, without_text = self._pool.count_open(own), self._pool.without_text
            saved = len(own)
        undoable = store.undoable(grader, UNDO_DEPTH)
        items = store.items([*pairs, *((query_id, chunk) for _, query_id, chunk in undoable)])
        return {
            "items": [as_json(items[pair]) for pair in pairs if pair in items],
            "undoable": [
                {"event_id": event_id, "item": as_json(items.get((query_id, chunk)))}
                for event_id, query_id, chunk in undoable
            ],
            "saved": saved,
            "open": left,
            "without_text": without_text,
        }

    def _catch_up(self, store: Store) -> None:
        # What is read first is at most too old, and then the next request reads it again.
        depth = store.settings().pool_depth
        key = (store.golden_set_uuid(), store.data_revision(), depth)
        newest = store.revision()
        if key != self._key or newest < self._revision:
            chunks, without_text = store.pool(depth)
            settled, self._revision = store.settled_pairs()
            self._pool, self._own = Pool(chunks, settled, without_text), {}
            self._key = key
            return
        if newest == self._revision:
            return
        for change in store.changes_since(self._revision):
            pair = (change.query_id, change.chunk)
            if change.grade is None or change.stale:
                self._pool.reopen(pair)
            else:
                self._pool.settle(pair)
        for grader, pair, present in store.judged_since(self._revision):
            own = self._own.get(grader, {})
            if present is None:
                own.pop(pair, None)
            else:
                own[pair] = present
        self._revision = newest


def as_json(item: Item | None) -> dict[str, Any] | None:
    """Return what the pad shows of a pair; nothing that tells which system found the chunk."""
    if item is None:
        return None
    query, chunk = item.query, item.chunk
    return {
        "query": query.query_id,
        "chunk": chunk.chunk_id,
        "text_hash": item.text_hash,
        "query_text": query.text,
        "task": query.task,
        "guideline": query.guideline,
        "reference": query.reference,
        "title": chunk.title,
        "text": chunk.text,
    }


def grading_routes(path: str, *, busy_seconds: float = BUSY_SECONDS) -> list[Route]:
    """Return the routes for grading in the golden set at ``path``.

    ``busy_seconds`` is how long a grade waits for another writer; the pad waits a little longer.
    """
    desk = Desk()
    open_store = partial(Store, path, busy_seconds=busy_seconds)

    def next_chunks(request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        limit = request.query_params.get("limit", "")
        asked = int(limit) if re.fullmatch("[0-9]{1,4}", limit) else MOST_ITEMS
        return desk.next_for(store, grader, min(asked, MOST_ITEMS))

    def take_judgments(_: Request, body: bytes, store: Store, grader: str) -> dict[str, Any]:
        golden_set = store.golden_set_uuid()
        return {"results": [take(store, event, golden_set, grader) for event in events_of(body)]}

    return [
        Route("/api/next", guarded(open_store, next_chunks), methods=["GET"]),
        Route("/api/judgments", guarded(open_store, take_judgments), methods=["POST"]),
    ]


Answer = Callable[[Request, bytes, Store, str], dict[str, Any]]


def guarded(
    open_store: Callable[[], Store], answer: Answer
) -> Callable[[Request], Awaitable[Response]]:
    """Wrap ``answer`` with the checks of who is asking and the words for what goes wrong."""

    def respond(request: Request, body: bytes) -> Response:
        try:
            check_same_origin(request)
            with open_store() as store:
                token = request.headers.get(TOKEN_HEADER, "")
                grader = tokens.grader_of(token, store.signing_key(), store.golden_set_uuid())
                store.add_grader(grader)  # the file may have come from a backup made before them
                return JSONResponse(answer(request, body, store, grader))
        except LabelerError as error:
            status = {Forbidden: 403, Busy: 503, Unusable: 503}
            code = next((code for kind, code in status.items() if isinstance(error, kind)), 400)
            return JSONResponse({"error": str(error)}, status_code=code)

    async def handle(request: Request) -> Response:
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    return JSONResponse({"error": "too much at once"}, status_code=413)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        return await run_in_threadpool(respond, request, bytes(body))

    return handle


def check_same_origin(request: Request) -> None:
    """Raise `Forbidden` for a request that another site's page made.

    A browser says where a request comes from by ``Sec-Fetch-Site`` (on https and localhost) or
    ``Origin``; one that says neither cannot carry the token's header across origins.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or is_foreign(request.headers):
        raise Forbidden("grades are taken from labeler's own page only")


def is_foreign(headers: Headers) -> bool:
    """Say whether the page that asks is of another origin than what it asks for."""
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def events_of(body: bytes) -> list[dict[str, Any]]:
    """Return the events of a request's body; raises `BadInput` if it is anything else."""
    try:
        events = json.loads(body)["events"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput('expected {"events": [...]}') from None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise BadInput("events must be a list of objects")
    if len(events) > MOST_EVENTS:
        raise BadInput(f"at most {MOST_EVENTS} events at once")
    return events


def take(store: Store, event: dict[str, Any], golden_set: str, grader: str) -> dict[str, Any]:
    """Put one event into the log; say that it is saved, or why it never will be."""
    answer: dict[str, Any] = {"event_id": None}
    try:
        answer["event_id"] = check_id(event.get("event_id"), "event")
        if event.get("golden_set") != golden_set:
            raise BadInput("this grade was given for another golden set")
        if event.get("grader") != grader:
            raise BadInput(f"this grade was given by {event.get('grader')!r}, not by {grader!r}")
        if event.get("undoes") is not None:
            put_undo(store, event, grader)
        else:
            store.judge(judgment_of(event, grader))
    except (Busy, Unusable):
        raise
    except LabelerError as error:
        return {**answer, "refused": str(error)}
    return {**answer, "saved": True}


def put_undo(store: Store, event: dict[str, Any], grader: str) -> None:
    """Take back the effect of an earlier event of this grader."""
    store.undo(
        event_id=check_id(event.get("event_id"), "event"),
        undoes=check_id(event["undoes"], "event"),
        grader=grader,
        source="pad",
        elapsed_ms=milliseconds(event.get("elapsed_ms")),
    )


def judgment_of(event: dict[str, Any], grader: str) -> Judgment:
    """Build a judgment from what the pad sent; raises `BadInput` where it is malformed."""
    text_hash = event.get("text_hash")
    kind = event.get("kind", "grade")
    if kind not in ("grade", "cannot_tell"):
        raise BadInput(f"a grade's kind can be grade or cannot_tell, not {kind!r}")
    return Judgment(
        event_id=check_id(event.get("event_id"), "event"),
        query_id=check_id(event.get("query"), "query"),
        chunk_id=check_id(event.get("chunk"), "chunk"),
        grader=grader,
        kind=kind,
        grade=event.get("grade"),
        source="pad",
        elapsed_ms=milliseconds(event.get("elapsed_ms")),
        text_hash=text_hash if isinstance(text_hash, str) else None,
    )


def milliseconds(value: object) -> int | None:
    """Return a whole, sane number of milliseconds, or None."""
    if isinstance(value, int | float) and 0 <= value < 86_400_000:
        return int(value)
    return None
