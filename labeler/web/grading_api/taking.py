"""Takes the pad's events: each is put into the log, or refused for good with its reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Any

from starlette.requests import Request

from labeler.errors import BadInput, Busy, LabelerError
from labeler.model import REMARKS as REMARK_KINDS
from labeler.model import Judgment, Remark, check_id, is_storable
from labeler.store import Outdated, Store, Unusable
from labeler.web.discretion import without_path
from labeler.web.grading_api.allowance import Allowance
from labeler.web.grading_api.handing import Hand
from labeler.web.grading_api.marking import is_blind, with_evidence

MOST_EVENTS = 200
LONGEST_NOTE = 2_000
LONGEST_REASON = 200
LONGEST_EVENT_ID = 200  # the pad's have 36 characters


class Taking:
    """Answers the route that writes, one request after another.

    Threads that wait for each other here are served in turn; at SQLite's own lock they would sleep
    longer and longer and overtake each other.
    """

    def __init__(
        self, wait_seconds: float, bytes_per_minute: int, on_taken: Callable[[], None]
    ) -> None:
        self._turn = Lock()
        self._wait_seconds = wait_seconds
        self._allowance = Allowance(bytes_per_minute)
        self._on_taken = on_taken

    def judgments(self, _: Request, body: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``POST /api/judgments``."""
        self._allowance.use(grader, len(body))
        golden_set, events = store.golden_set_uuid(), events_of(body)
        hand = Hand(store, grader)
        if not self._turn.acquire(timeout=self._wait_seconds):
            raise Busy("too many grades are being written; they are kept and sent again")
        try:
            return {"results": [take(store, event, golden_set, grader, hand) for event in events]}
        finally:
            self._turn.release()
            self._on_taken()


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


def take(
    store: Store, event: dict[str, Any], golden_set: str, grader: str, hand: Hand
) -> dict[str, Any]:
    """Put one event into the log; say that it is saved, or why it never will be."""
    answer: dict[str, Any] = {"event_id": None}
    try:
        answer["event_id"] = event_id_of(event)
        if event.get("golden_set") != golden_set:
            raise BadInput("this grade was given for another golden set")
        hand.check_sender(event)
        unmarked = put(store, event, grader, hand)
        proposed = told_after(store, event, grader)
    except (Busy, Unusable):
        raise
    except Outdated as error:
        return {**answer, "refused": str(error), "instead": what_stands(store, event, grader)}
    except LabelerError as error:
        return {**answer, "refused": without_path(error, str(store.path))}
    more = {"proposed": proposed or None, "unmarked": unmarked}
    return {**answer, "saved": True, **{name: each for name, each in more.items() if each}}


def told_after(store: Store, event: dict[str, Any], grader: str) -> list[tuple[str, int]]:
    """Return what sources propose for the pair that was just graded, and remember it was told.

    Nothing for what is no grade of the grader's own: an undo, "can't tell", a remark on a query.
    """
    if event.get("undoes") is not None or event.get("kind", "grade") != "grade":
        return []
    proposed = store.proposed_for(event["query"], event["chunk"])
    if proposed:
        store.note_told(grader, [(event["query"], event["chunk"])])
    return proposed


def event_id_of(event: dict[str, Any]) -> str:
    """Return the id an event was given where it happened; raises `BadInput` for none."""
    event_id = check_id(event.get("event_id"), "event")
    if len(event_id) > LONGEST_EVENT_ID:
        raise BadInput(f"an event id can have {LONGEST_EVENT_ID} characters, not {len(event_id):,}")
    return event_id


def put(store: Store, event: dict[str, Any], grader: str, hand: Hand) -> str | None:
    """Put an event into the log it belongs to; return why passages with it were not kept."""
    if event.get("undoes") is not None and event.get("chunk") is None:
        store.unsay(
            event_id=event_id_of(event),
            undoes=check_id(event["undoes"], "event"),
            grader=grader,
        )
    elif event.get("undoes") is not None:
        put_undo(store, event, grader)
    elif event.get("kind") in REMARK_KINDS:
        store.remark(remark_of(event, grader))
    else:
        replaces = event.get("replaces")
        known = None if replaces is None else check_id(replaces, "event")
        source, wording = hand.taken_back(event)
        judgment = judgment_of(event, grader, source=source, text_hash=wording)
        judgment, unmarked = with_evidence(store, event, judgment)
        store.judge_knowing(replace(judgment, blind=is_blind(store, event, judgment)), known)
        return unmarked
    return None


def what_stands(store: Store, event: dict[str, Any], grader: str) -> dict[str, Any] | None:
    """Return the judgment that an outdated event would have replaced."""
    stands = store.judgment_of(grader, event["query"], event["chunk"])
    if stands is None:
        return None
    return {"event_id": stands.event_id, "kind": stands.kind, "grade": stands.grade}


def put_undo(store: Store, event: dict[str, Any], grader: str) -> None:
    """Take back the effect of an earlier event of this grader."""
    store.undo(
        event_id=event_id_of(event),
        undoes=check_id(event["undoes"], "event"),
        grader=grader,
        source="pad",
        elapsed_ms=milliseconds(event.get("elapsed_ms")),
    )


def judgment_of(
    event: dict[str, Any], grader: str, *, source: str, text_hash: str | None
) -> Judgment:
    """Build a judgment from what the pad sent; raises `BadInput` where it is malformed."""
    kind = event.get("kind", "grade")
    if kind not in ("grade", "cannot_tell"):
        raise BadInput(f"a grade's kind can be grade or cannot_tell, not {kind!r}")
    return Judgment(
        event_id=event_id_of(event),
        query_id=check_id(event.get("query"), "query"),
        chunk_id=check_id(event.get("chunk"), "chunk"),
        grader=grader,
        kind=kind,
        grade=event.get("grade"),
        reason=words(event.get("reason"), "reason", LONGEST_REASON),
        note=words(event.get("note"), "note", LONGEST_NOTE),
        blind=event.get("blind") is not False,
        source=source,
        elapsed_ms=milliseconds(event.get("elapsed_ms")),
        text_hash=text_hash,
    )


def remark_of(event: dict[str, Any], grader: str) -> Remark:
    """Build a remark on a query from what the pad sent; raises `BadInput` where malformed."""
    return Remark(
        event_id=event_id_of(event),
        query_id=check_id(event.get("query"), "query"),
        grader=grader,
        kind=event["kind"],
        note=words(event.get("note"), "note", LONGEST_NOTE),
    )


def words(value: object, what: str, longest: int) -> str | None:
    """Return a text that a grader wrote, None where it says nothing."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadInput(f"a {what} must be text, not {value!r}")
    if not is_storable(value):
        raise BadInput(f"the {what} holds a character that cannot be stored")
    if len(value) > longest:
        raise BadInput(f"a {what} can have {longest:,} characters, this one has {len(value):,}")
    return value.strip() or None


def milliseconds(value: object) -> int | None:
    """Return a whole, sane number of milliseconds, or None."""
    if isinstance(value, int | float) and 0 <= value < 86_400_000:
        return int(value)
    return None
