"""The route of the grading API that writes: each event is saved or refused with its reason.

A grade is never lost because of the passages marked for it: passages that cannot be right are
refused and the response says so, while the grade is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from threading import Lock
from typing import Any

from starlette.requests import Request

from labeler.errors import BadInput, Busy, LabelerError
from labeler.model import REMARK_KINDS, Judgment, Remark, check_evidence, check_id, is_storable
from labeler.store import JudgmentConflict, StorageError, Store
from labeler.web.grading_api.guard import RateLimit
from labeler.web.grading_api.signatures import PairSigner
from labeler.web.redact import redact_path

MOST_EVENTS = 200
LONGEST_NOTE = 2_000
LONGEST_REASON = 200
LONGEST_EVENT_ID = 200  # the pad's have 36 characters


class WriteApi:
    """Answers the route that writes, one request after another.

    Threads that wait for each other here are served in turn; at SQLite's own lock they would sleep
    longer and longer and overtake each other.
    """

    def __init__(
        self, wait_seconds: float, bytes_per_minute: int, on_taken: Callable[[], None]
    ) -> None:
        self._turn = Lock()
        self._wait_seconds = wait_seconds
        self._allowance = RateLimit(bytes_per_minute)
        self._on_taken = on_taken

    def judgments(self, _: Request, body: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``POST /api/judgments``."""
        self._allowance.use(grader, len(body))
        golden_set, events = store.golden_set_uuid(), parse_events(body)
        hand = PairSigner(store, grader)
        if not self._turn.acquire(timeout=self._wait_seconds):
            raise Busy("too many grades are being written; they are kept and sent again")
        try:
            return {
                "results": [save_event(store, event, golden_set, grader, hand) for event in events]
            }
        finally:
            self._turn.release()
            self._on_taken()


def parse_events(body: bytes) -> list[dict[str, Any]]:
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


def save_event(
    store: Store, event: dict[str, Any], golden_set: str, grader: str, hand: PairSigner
) -> dict[str, Any]:
    """Put one event into the log; say that it is saved, or why it never will be."""
    answer: dict[str, Any] = {"event_id": None}
    try:
        answer["event_id"] = parse_event_id(event)
        if event.get("golden_set") != golden_set:
            raise BadInput("this grade was given for another golden set")
        hand.check_sender(event)
        unmarked = write_event(store, event, grader, hand)
        proposed = suggestions_after(store, event, grader)
    except (Busy, StorageError):
        raise
    except JudgmentConflict as error:
        return {**answer, "refused": str(error), "instead": current_judgment(store, event, grader)}
    except LabelerError as error:
        return {**answer, "refused": redact_path(error, str(store.path))}
    more = {"proposed": proposed or None, "unmarked": unmarked}
    return {**answer, "saved": True, **{name: each for name, each in more.items() if each}}


def suggestions_after(store: Store, event: dict[str, Any], grader: str) -> list[tuple[str, int]]:
    """Return what sources propose for the pair that was just graded, and remember it was told.

    Nothing for what is no grade of the grader's own: an undo, "can't tell", a remark on a query.
    """
    if event.get("undoes") is not None or event.get("kind", "grade") != "grade":
        return []
    proposed = store.proposed_for(event["query"], event["chunk"])
    if proposed:
        store.note_told(grader, [(event["query"], event["chunk"])])
    return proposed


def parse_event_id(event: dict[str, Any]) -> str:
    """Return the id an event was given where it happened; raises `BadInput` for none."""
    event_id = check_id(event.get("event_id"), "event")
    if len(event_id) > LONGEST_EVENT_ID:
        raise BadInput(f"an event id can have {LONGEST_EVENT_ID} characters, not {len(event_id):,}")
    return event_id


def write_event(store: Store, event: dict[str, Any], grader: str, hand: PairSigner) -> str | None:
    """Put an event into the log it belongs to; return why passages with it were not kept."""
    if event.get("undoes") is not None and event.get("chunk") is None:
        store.unsay(
            event_id=parse_event_id(event),
            undoes=check_id(event["undoes"], "event"),
            grader=grader,
        )
    elif event.get("undoes") is not None:
        write_undo(store, event, grader)
    elif event.get("kind") in REMARK_KINDS:
        store.remark(parse_remark(event, grader))
    else:
        replaces = event.get("replaces")
        known = None if replaces is None else check_id(replaces, "event")
        source, wording = hand.verify_pair(event)
        judgment = parse_judgment(event, grader, source=source, text_hash=wording)
        judgment, unmarked = with_evidence(store, event, judgment)
        store.judge_knowing(replace(judgment, blind=is_blind(store, event, judgment)), known)
        return unmarked
    return None


def current_judgment(store: Store, event: dict[str, Any], grader: str) -> dict[str, Any] | None:
    """Return the judgment that an outdated event would have replaced."""
    stands = store.judgment_of(grader, event["query"], event["chunk"])
    if stands is None:
        return None
    return {"event_id": stands.event_id, "kind": stands.kind, "grade": stands.grade}


def write_undo(store: Store, event: dict[str, Any], grader: str) -> None:
    """Take back the effect of an earlier event of this grader."""
    store.undo(
        event_id=parse_event_id(event),
        undoes=check_id(event["undoes"], "event"),
        grader=grader,
        source="pad",
        elapsed_ms=parse_milliseconds(event.get("elapsed_ms")),
    )


def parse_judgment(
    event: dict[str, Any], grader: str, *, source: str, text_hash: str | None
) -> Judgment:
    """Build a judgment from what the pad sent; raises `BadInput` where it is malformed."""
    kind = event.get("kind", "grade")
    if kind not in ("grade", "cannot_tell"):
        raise BadInput(f"a grade's kind can be grade or cannot_tell, not {kind!r}")
    return Judgment(
        event_id=parse_event_id(event),
        query_id=check_id(event.get("query"), "query"),
        chunk_id=check_id(event.get("chunk"), "chunk"),
        grader=grader,
        kind=kind,
        grade=event.get("grade"),
        reason=parse_text(event.get("reason"), "reason", LONGEST_REASON),
        note=parse_text(event.get("note"), "note", LONGEST_NOTE),
        blind=event.get("blind") is not False,
        source=source,
        elapsed_ms=parse_milliseconds(event.get("elapsed_ms")),
        text_hash=text_hash,
    )


def parse_remark(event: dict[str, Any], grader: str) -> Remark:
    """Build a remark on a query from what the pad sent; raises `BadInput` where malformed."""
    return Remark(
        event_id=parse_event_id(event),
        query_id=check_id(event.get("query"), "query"),
        grader=grader,
        kind=event["kind"],
        note=parse_text(event.get("note"), "note", LONGEST_NOTE),
    )


def parse_text(value: object, what: str, longest: int) -> str | None:
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


def parse_milliseconds(value: object) -> int | None:
    """Return a whole, sane number of milliseconds, or None."""
    if isinstance(value, int | float) and 0 <= value < 86_400_000:
        return int(value)
    return None


def is_blind(store: Store, event: Mapping[str, Any], judgment: Judgment) -> bool:
    """Say whether a judgment is blind.

    That somebody knew more is believed, that they did not is looked up. Marking the passages of a
    grade that stands leaves the grade as blind as it was given.
    """
    if "evidence" in event and (stands := unchanged_judgment(store, event, judgment)) is not None:
        return stands.blind
    return judgment.blind and store.is_blind(
        str(judgment.grader), judgment.query_id, judgment.chunk_id
    )


def with_evidence(
    store: Store, event: Mapping[str, Any], judgment: Judgment
) -> tuple[Judgment, str | None]:
    """Return a judgment with the passages that were marked for it, and why it has not got them.

    A chunk that comes back unmarked is graded without its passages: they still hold if it gets
    the grade that they were marked for. Where new ones are refused, so do the old ones.
    """
    given = event.get("evidence")
    if given is None and judgment.source != "repeat":
        return judgment, None
    refused = None
    if given is not None:
        try:
            marked = replace(judgment, evidence=check_evidence(given))
            store.check_evidence(marked)
            return marked, None
        except BadInput as error:
            refused = str(error)
    stands = unchanged_judgment(store, event, judgment)
    return replace(judgment, evidence=stands.evidence if stands else ()), refused


def unchanged_judgment(
    store: Store, event: Mapping[str, Any], judgment: Judgment
) -> Judgment | None:
    """Return the judgment that an event replaces, if it says the same of the same text."""
    replaces = event.get("replaces")
    if judgment.kind != "grade" or not isinstance(replaces, str):
        return None
    before = store.given_by(str(judgment.grader), replaces)
    said = attrgetter("query_id", "chunk_id", "grade", "text_hash")
    return before if before is not None and said(before) == said(judgment) else None
