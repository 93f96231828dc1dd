"""Routes for leads: disagreements of graders, and their adjudications.

Before others' grades are sent to a lead, the server stores that they were shown. An adjudication
counts as blind only if no such record exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import Any

from starlette.requests import Request

from labeler.errors import BadInput, Busy, LabelerError
from labeler.model import WITH_LEAKED, Actor, Judgment, Selection, check_grade, check_id
from labeler.services.assignment.items import (
    LONGEST_HELP,
    LONGEST_IN_LIST,
    LONGEST_NAME,
    count_fitting,
    json_size,
    truncate,
)
from labeler.store import (
    ADJUDICATION,
    Adjudication,
    Case,
    Disagreement,
    JudgmentConflict,
    Opinion,
    StorageError,
    Store,
)
from labeler.web.auth.middleware import identify_visitor
from labeler.web.grading_api.read_api import whole_number
from labeler.web.grading_api.signatures import PairSigner
from labeler.web.grading_api.write_api import (
    LONGEST_NOTE,
    parse_event_id,
    parse_events,
    parse_milliseconds,
    parse_text,
    with_evidence,
)
from labeler.web.redact import redact_path

ON_A_PAGE = 20
UNDO_DEPTH = 20


class AdjudicationApi:
    """The handlers of the two routes of Review > Disagreements, for leads."""

    def __init__(self, wait_seconds: float, on_taken: Callable[[], None]) -> None:
        self._turn = Lock()
        self._wait_seconds = wait_seconds
        self._on_taken = on_taken

    def disagreements(self, request: Request, _: bytes, store: Store, name: str) -> dict[str, Any]:
        """Answer ``GET /api/disagreements``: a page of disagreements, and how many there are.

        The page starts at ``from``, or contains the pair ``query`` and ``chunk``, or else the first
        disagreement without an adjudication.
        """
        found = requested_disagreements(request, store)
        start, signer = page_start(request, found), PairSigner(store, name)
        cases, items = disagreement_page(store, found[start:], signer)
        asked = index_of_pair(request, found)
        if "from" not in request.query_params and asked is not None and asked >= start + len(items):
            start = asked  # the pairs before it are too long for one page
            cases, items = disagreement_page(store, found[start:], signer)
        store.exposure.note_told(name, pairs_told(cases, name))
        return {
            "items": items,
            "from": start,
            "total": len(found),
            "open": sum(each.is_open for each in found),
            "next_open": next_open(found, start + len(items)),
            "undoable": [
                dict(zip(("event_id", "query", "chunk", "grade"), each, strict=True))
                for each in store.adjudication.by(name, UNDO_DEPTH)
            ],
        }

    def adjudications(
        self, request: Request, body: bytes, store: Store, name: str
    ) -> dict[str, Any]:
        """Answer ``POST /api/adjudications``: each event is saved, or refused with its reason."""
        golden_set, events = store.golden_set.uuid(), parse_events(body)
        store.connection.actor = actor_of(request, store, name)
        signer = PairSigner(store, name)
        if not self._turn.acquire(timeout=self._wait_seconds):
            raise Busy("too much is being written; what was decided is kept and sent again")
        try:
            return {
                "results": [
                    save_adjudication(store, event, golden_set, name, signer) for event in events
                ]
            }
        finally:
            self._turn.release()
            self._on_taken()


def actor_of(request: Request, store: Store, name: str) -> Actor:
    """Return the audit log's actor for a lead: who decides, and how they were identified."""
    person = identify_visitor(store, request)
    # with open access a request does not contain the typed name
    is_same = person is not None and person.name in (None, name)
    known_by = person.known_by if person is not None and is_same else "unknown"
    return Actor(name, known_by, request.client.host if request.client else None)


def requested_disagreements(request: Request, store: Store) -> list[Disagreement]:
    """Return the disagreements that the parameters select, in order."""
    asked = request.query_params
    selected = Selection(asked.get("split"), asked.get("leaked", WITH_LEAKED))
    among = store.splits.selected(selected, asked.get("facet"), asked.get("bucket"))
    return store.adjudication.disagreements(asked.getlist("grader"), among)


def page_start(request: Request, found: Sequence[Disagreement]) -> int:
    """Return the index at which the requested page begins."""
    if "from" in request.query_params:
        at = min(whole_number(request, "from"), max(len(found) - 1, 0))
    else:
        asked = index_of_pair(request, found)
        at = (next_open(found, 0) or 0) if asked is None else asked
    return at - at % ON_A_PAGE


def index_of_pair(request: Request, found: Sequence[Disagreement]) -> int | None:
    """Return the index of the pair ``query`` and ``chunk``, None if it is not among them."""
    pair = request.query_params.get("query"), request.query_params.get("chunk")
    places = (
        at
        for at, each in enumerate(found)
        if each.query_id == pair[0] and pair[1] in chunk_ids(each)
    )
    return next(places, None)


def chunk_ids(found: Disagreement) -> list[str]:
    """Return the ids of a disagreement's chunks, its own first."""
    return [found.chunk_id, *(each.chunk_id for each in found.copies[1:])]


def disagreement_page(
    store: Store, found: Sequence[Disagreement], signer: PairSigner
) -> tuple[list[Case], list[dict[str, Any]]]:
    """Return the first disagreements that fit on a page, and their JSON."""
    cases = store.adjudication.cases(found[:ON_A_PAGE], LONGEST_IN_LIST)
    items = [case_json(case, signer) for case in cases]
    fit = count_fitting(map(json_size, items))
    return cases[:fit], items[:fit]


def next_open(found: Sequence[Disagreement], start: int) -> int | None:
    """Return the index of the next open disagreement from ``start``, then from the beginning."""
    places = chain(range(start, len(found)), range(min(start, len(found))))
    return next((at for at in places if found[at].is_open), None)


def pairs_told(cases: Sequence[Case], name: str) -> list[tuple[str, str]]:
    """Return the pairs for which these cases show ``name`` somebody else's grade."""
    return [
        (case.disagreement.query_id, chunk_id)
        for case in cases
        if any(opinion.grader != name for opinion in case.opinions)
        for chunk_id in chunk_ids(case.disagreement)
    ]


def case_json(case: Case, signer: PairSigner) -> dict[str, Any]:
    """Return a case as the page shows it, with the slip to send back with an adjudication."""
    pair, query, chunk = case.disagreement, case.query, case.chunk
    return {
        "query": pair.query_id,
        "chunk": pair.chunk_id,
        "text_hash": case.text_hash,
        "slip": signer.sign_for_adjudication(pair.query_id, pair.chunk_id, case.text_hash),
        "asked": truncate(query.text, LONGEST_HELP),
        "task": query.task,
        "guideline": truncate(query.guideline, LONGEST_HELP),
        "reference": truncate(query.reference, LONGEST_HELP),
        "title": truncate(chunk.title, LONGEST_NAME),
        "document": truncate(chunk.document_id, LONGEST_NAME),
        "text": chunk.text,
        "more": case.more,
        "spread": pair.spread,
        "agreed": pair.agreed,
        "opinions": [opinion_json(each) for each in opinions_of_text(case.opinions)],
        "adjudication": adjudication_json(pair.adjudication),
        **({"copies": copies_json(case, signer)} if pair.copies else {}),
    }


def copies_json(case: Case, signer: PairSigner) -> list[dict[str, Any]]:
    """Return the chunks with the same text, each with its golden grade and its own slip."""
    query_id = case.disagreement.query_id
    return [
        {
            "chunk": each.chunk_id,
            "document": truncate(each.document_id, LONGEST_NAME),
            "grade": each.grade,
            "kind": each.kind,
            "replaces": None if each.adjudication is None else each.adjudication.event_id,
            "slip": signer.sign_for_adjudication(query_id, each.chunk_id, case.text_hash),
        }
        for each in case.disagreement.copies
    ]


def opinions_of_text(opinions: Sequence[Opinion]) -> list[Opinion]:
    """Return people's opinions of a text, without repeats of an opinion on several copies."""
    said: dict[tuple[object, ...], Opinion] = {}
    for each in opinions:
        said.setdefault((each.grader, each.kind, each.grade, each.note, each.evidence), each)
    return sorted(said.values(), key=lambda each: each.grader)


def opinion_json(opinion: Opinion) -> dict[str, Any]:
    return {
        "chunk": opinion.chunk_id,
        "grader": opinion.grader,
        "kind": opinion.kind,
        "grade": opinion.grade,
        "reason": opinion.reason,
        "note": opinion.note,
        "blind": bool(opinion.blind),
        "stale": bool(opinion.stale),
        "day": opinion.created_at[:10],
        **({"evidence": opinion.evidence} if opinion.evidence else {}),
    }


def adjudication_json(found: Adjudication | None) -> dict[str, Any] | None:
    if found is None:
        return None
    names = ("event_id", "grade", "grader", "note")
    marked = {"evidence": found.evidence} if found.evidence else {}
    return {name: getattr(found, name) for name in names} | {"day": found.created_at[:10], **marked}


def save_adjudication(
    store: Store, event: Mapping[str, Any], golden_set: str, name: str, signer: PairSigner
) -> dict[str, Any]:
    """Save one event; return that it is saved, or why it is permanently refused."""
    result: dict[str, Any] = {"event_id": None}
    try:
        result["event_id"] = parse_event_id(dict(event))
        if event.get("golden_set") != golden_set:
            raise BadInput("this was decided for another golden set")
        signer.check_sender(event)
        unmarked = write_adjudication(store, event, name, signer)
    except (Busy, StorageError):
        raise
    except JudgmentConflict as error:
        current = store.adjudication.of_pair(str(event.get("query")), str(event.get("chunk")))
        return {**result, "refused": str(error), "instead": adjudication_json(current)}
    except LabelerError as error:
        return {**result, "refused": redact_path(error, str(store.path))}
    return {**result, "saved": True, **({"unmarked": str(unmarked)} if unmarked else {})}


def write_adjudication(
    store: Store, event: Mapping[str, Any], name: str, signer: PairSigner
) -> BadInput | None:
    """Log an adjudication or its undo; return why its passages were refused, if they were."""
    event_id, undoes = parse_event_id(dict(event)), event.get("undoes")
    if undoes is not None:
        store.adjudication.take_back(
            event_id=event_id, undoes=check_id(undoes, "event"), grader=name
        )
        return None
    replaces = event.get("replaces")
    query_id = check_id(event.get("query"), "query")
    chunk_id = check_id(event.get("chunk"), "chunk")
    judgment = Judgment(
        event_id=event_id,
        query_id=query_id,
        chunk_id=chunk_id,
        grader=name,
        kind="adjudicate",
        grade=check_grade(event.get("grade")),
        note=parse_text(event.get("note"), "note", LONGEST_NOTE),
        blind=store.exposure.is_blind(name, query_id, chunk_id),
        source=ADJUDICATION,
        elapsed_ms=parse_milliseconds(event.get("elapsed_ms")),
        text_hash=signer.verify_adjudicated_pair(event),
    )
    judgment, unmarked = with_evidence(store, event, judgment)
    known = None if replaces is None else check_id(replaces, "event")
    store.adjudication.adjudicate(judgment, known, parse_copies(event))
    return unmarked


def parse_copies(event: Mapping[str, Any]) -> list[str]:
    """Return the other chunks with the same text that a decision also applies to."""
    copies = event.get("copies") or []
    if not isinstance(copies, list):
        raise BadInput("copies must be a list of chunk ids")
    return [check_id(each, "chunk") for each in copies]
