"""The route of the grading API that writes: each event is saved or refused with its reason.

A grade is never lost because of the passages marked for it: the response refuses invalid passages,
and the grade is kept.
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
from labeler.web.language import reason_for, words_for

MOST_EVENTS = 200
LONGEST_NOTE = 2_000
LONGEST_REASON = 200
LONGEST_EVENT_ID = 200  # the pad's have 36 characters


class WriteApi:
    """The handler of the route that writes, one request at a time.

    Threads that wait here are served in turn; at SQLite's own lock they would sleep longer and
    longer and overtake each other.
    """

    def __init__(
        self, wait_seconds: float, bytes_per_minute: int, on_taken: Callable[[], None]
    ) -> None:
        self._turn = Lock()
        self._wait_seconds = wait_seconds
        self._allowance = RateLimit(bytes_per_minute)
        self._on_taken = on_taken

    def judgments(self, request: Request, body: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``POST /api/judgments``."""
        self._allowance.use(grader, len(body))
        golden_set, events = store.golden_set.uuid(), parse_events(body)
        signer = PairSigner(store, grader)
        if not self._turn.acquire(timeout=self._wait_seconds):
            raise Busy("too many grades are being written; they are kept and sent again")

        def why(error: LabelerError) -> str:
            return reason_for(error, str(store.path), words_for(request, store))

        try:
            return {
                "results": [
                    save_event(store, event, golden_set, grader, signer, why) for event in events
                ]
            }
        finally:
            self._turn.release()
            self._on_taken()


def parse_events(body: bytes) -> list[dict[str, Any]]:
    """Return the events in a request's body; raise `BadInput` if it is malformed."""
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
    store: Store,
    event: dict[str, Any],
    golden_set: str,
    grader: str,
    signer: PairSigner,
    why: Callable[[LabelerError], str],
) -> dict[str, Any]:
    """Save one event; return that it is saved, or ``why`` it is permanently refused."""
    result: dict[str, Any] = {"event_id": None}
    try:
        result["event_id"] = parse_event_id(event)
        if event.get("golden_set") != golden_set:
            raise BadInput("this grade was given for another golden set")
        signer.check_sender(event)
        unmarked = write_event(store, event, grader, signer)
        proposed = suggestions_after(store, event, grader)
    except (Busy, StorageError):
        raise
    except JudgmentConflict as error:
        return {**result, "refused": why(error), "instead": current_judgment(store, event, grader)}
    except LabelerError as error:
        return {**result, "refused": why(error)}
    more = {"proposed": proposed or None, "unmarked": unmarked and why(unmarked)}
    return {**result, "saved": True, **{name: each for name, each in more.items() if each}}


def suggestions_after(store: Store, event: dict[str, Any], grader: str) -> list[tuple[str, int]]:
    """Return the suggestions for the pair that was just graded, and store that they were shown.

    Empty for anything but a grade: an undo, "can't tell", a remark on a query.
    """
    if event.get("undoes") is not None or event.get("kind", "grade") != "grade":
        return []
    proposed = store.suggestions.proposed_for(event["query"], event["chunk"])
    if proposed:
        store.exposure.note_told(grader, [(event["query"], event["chunk"])])
    return proposed


def parse_event_id(event: dict[str, Any]) -> str:
    """Return the browser's id of an event; raise `BadInput` if it is missing or too long."""
    event_id = check_id(event.get("event_id"), "event")
    if len(event_id) > LONGEST_EVENT_ID:
        raise BadInput(f"an event id can have {LONGEST_EVENT_ID} characters, not {len(event_id):,}")
    return event_id


def write_event(
    store: Store, event: dict[str, Any], grader: str, signer: PairSigner
) -> BadInput | None:
    """Log an event; return why its passages were refused, if they were."""
    if event.get("undoes") is not None and event.get("chunk") is None:
        store.remarks.take_back(
            event_id=parse_event_id(event),
            undoes=check_id(event["undoes"], "event"),
            grader=grader,
        )
    elif event.get("undoes") is not None:
        write_undo(store, event, grader)
    elif event.get("kind") in REMARK_KINDS:
        store.remarks.add(parse_remark(event, grader))
    else:
        replaces = event.get("replaces")
        known = None if replaces is None else check_id(replaces, "event")
        source, wording = signer.verify_pair(event)
        judgment = parse_judgment(event, grader, source=source, text_hash=wording)
        judgment, unmarked = with_evidence(store, event, with_screen(store, event, judgment))
        store.judgments.add_knowing(
            replace(judgment, blind=is_blind(store, event, judgment)), known
        )
        return unmarked
    return None


def current_judgment(store: Store, event: dict[str, Any], grader: str) -> dict[str, Any] | None:
    """Return the judgment that an outdated event would have replaced."""
    current = store.assignment.judgment_of(grader, event["query"], event["chunk"])
    if current is None:
        return None
    return {"event_id": current.event_id, "kind": current.kind, "grade": current.grade}


def write_undo(store: Store, event: dict[str, Any], grader: str) -> None:
    """Log the undo of an earlier event of this grader."""
    store.judgments.undo(
        event_id=parse_event_id(event),
        undoes=check_id(event["undoes"], "event"),
        grader=grader,
        source="pad",
        elapsed_ms=parse_milliseconds(event.get("elapsed_ms")),
    )


def parse_judgment(
    event: dict[str, Any], grader: str, *, source: str, text_hash: str | None
) -> Judgment:
    """Return the judgment that the pad sent; raise `BadInput` if it is malformed."""
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
        seen_whole=parse_truth(event.get("seen_whole")),
        highlighted=parse_truth(event.get("highlighted")),
    )


def parse_remark(event: dict[str, Any], grader: str) -> Remark:
    """Return the remark on a query that the pad sent; raise `BadInput` if it is malformed."""
    return Remark(
        event_id=parse_event_id(event),
        query_id=check_id(event.get("query"), "query"),
        grader=grader,
        kind=event["kind"],
        note=parse_text(event.get("note"), "note", LONGEST_NOTE),
    )


def parse_text(value: object, what: str, longest: int) -> str | None:
    """Return a grader's text without surrounding white space, None if it is empty."""
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
    """Return whole milliseconds below a day, None for anything else."""
    if isinstance(value, int | float) and 0 <= value < 86_400_000:
        return int(value)
    return None


def parse_truth(value: object) -> bool | None:
    """Return a browser's true or false, None for anything else."""
    return value if isinstance(value, bool) else None


def is_blind(store: Store, event: Mapping[str, Any], judgment: Judgment) -> bool:
    """Return whether a judgment is blind.

    The pad is believed if it says no, and checked if it says yes. Marking the passages of an
    unchanged grade leaves the grade as blind as it was.
    """
    if "evidence" in event and (earlier := unchanged_judgment(store, event, judgment)) is not None:
        return earlier.blind
    return judgment.blind and store.exposure.is_blind_to_copies(
        str(judgment.grader), judgment.query_id, judgment.chunk_id
    )


def with_screen(store: Store, event: Mapping[str, Any], judgment: Judgment) -> Judgment:
    """Return a judgment with what was on screen; if not given, from the same grade before.

    An event that adds a note or evidence later does not know what was read before the grade.
    """
    if judgment.seen_whole is not None or judgment.highlighted is not None:
        return judgment
    earlier = unchanged_judgment(store, event, judgment)
    if earlier is None:
        return judgment
    return replace(judgment, seen_whole=earlier.seen_whole, highlighted=earlier.highlighted)


def with_evidence(
    store: Store, event: Mapping[str, Any], judgment: Judgment
) -> tuple[Judgment, BadInput | None]:
    """Return a judgment with its marked passages, and why new ones were refused, if they were.

    A repeated chunk is graded without its passages: they are kept if it gets the grade they were
    marked for. They are also kept if new ones are refused.
    """
    given = event.get("evidence")
    if given is None and judgment.source != "repeat":
        return judgment, None
    refused = None
    if given is not None:
        try:
            marked = replace(judgment, evidence=check_evidence(given))
            store.judgments.check_evidence(marked)
            return marked, None
        except BadInput as error:
            refused = error
    earlier = unchanged_judgment(store, event, judgment)
    return replace(judgment, evidence=earlier.evidence if earlier else ()), refused


def unchanged_judgment(
    store: Store, event: Mapping[str, Any], judgment: Judgment
) -> Judgment | None:
    """Return the judgment that an event replaces, if it gives the same grade to the same text."""
    replaces = event.get("replaces")
    if judgment.kind != "grade" or not isinstance(replaces, str):
        return None
    before = store.assignment.given_by(str(judgment.grader), replaces)
    fields = attrgetter("query_id", "chunk_id", "grade", "text_hash")
    return before if before is not None and fields(before) == fields(judgment) else None
