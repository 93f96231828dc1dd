"""Routes of the grading API that return JSON and save no grades.

No response reveals which system found a chunk, or at what rank. Others' grades are returned only
for a pair that the grader has judged, or that a lead chose for practice, and that they were shown
is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request

from labeler.analysis.agreement import self_agreement
from labeler.errors import BadInput, NotFound
from labeler.model import ACTIVE_SOURCE, GRADES, MOST_PASSAGES, Chunk, CurrentJudgment, Judgment
from labeler.services.assignment.assigner import Assigner
from labeler.services.assignment.items import (
    LONGEST_HELP,
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_OWN,
    PIECE,
    DecisionWork,
    GradingItem,
    QueryInfo,
    UndoableStep,
    count_fitting,
    group_near_duplicates,
    json_size,
    truncate,
)
from labeler.services.assignment.practice import practice_examples
from labeler.services.assignment.scope import parse_scope
from labeler.services.transfer import Hint
from labeler.store import Store, UndoableJudgment, UndoableRemark
from labeler.web.grading_api.signatures import PairSigner

SCOPE_PARAMETERS = ("facet", "bucket", "split", "leaked", "from", "to", "until")
MOST_ITEMS = 400
USUAL_ITEMS = 60
MOST_WORDS = 200  # characters of a search
LONGEST_WHO = 200  # characters of the names of earlier graders
BASE_SIZE = 400  # bytes per pair in a response beside its text


class ReadApi:
    """The handlers of the ``GET`` routes for graders."""

    def __init__(self, assigner: Assigner) -> None:
        self._assigner = assigner

    def next(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/next``."""
        parameters = request.query_params
        limit = parameters.get("limit", "")
        wanted = int(limit) if re.fullmatch("[0-9]{1,4}", limit) else USUAL_ITEMS
        scope = parse_scope(*map(parameters.get, SCOPE_PARAMETERS))
        found, about = self._assigner.next_for(store, grader, min(wanted, MOST_ITEMS), scope)
        entries = fitting_items(found.papers, about)
        done = self._history(store, grader)
        repeated = self_agreement(store.activity.self_repeats(grader))
        signer = PairSigner(store, grader)
        return {
            "items": [item_json(entry, signer) for entry in entries],
            "undoable": done["done"],
            "queries": {**done["queries"], **queries_by_id(queries_of_items(entries, about))},
            "saved": found.saved,
            "open": found.open,
            "queries_mine": found.queries_mine,
            "queries_done": found.queries_done,
            "queries_total": found.queries_total,
            "without_text": found.without_text,
            "looked": found.looked,
            **({"decision": decision_json(found.decision)} if found.decision else {}),
            "pace_ms": store.assignment.pace(grader),
            "self_agreement": None
            if repeated is None
            else {"again": repeated.again, "same": repeated.same},
        }

    def history(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/history``."""
        parameters = request.query_params
        return self._history(store, grader, parameters.get("before"), parameters.get("unsaid"))

    def _history(
        self, store: Store, grader: str, before: str | None = None, unsaid: str | None = None
    ) -> dict[str, Any]:
        steps = self._assigner.history(store, grader, before, unsaid)
        about = self._assigner.about(store, grader, items_of_steps(steps))
        entries = [step[1] if isinstance(step, tuple) else None for step in steps]
        steps = steps[: count_fitting(response_sizes(entries, about))]
        signer = PairSigner(store, grader)
        return {
            "done": [
                undoable_json(*step, signer) if isinstance(step, tuple) else remark_json(step)
                for step in steps
            ],
            "queries": queries_by_id(queries_of_items(items_of_steps(steps), about)),
        }

    def query(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/query``: a part of the pool, and how much follows."""
        start = whole_number(request, "from")
        found, judged = self._assigner.whole(
            store, grader, required_parameter(request, "query"), start
        )
        about = self._assigner.about(store, grader, found)
        part = fitting_items(found, about)
        entries, groups = group_near_duplicates(part)
        rest = judged[len(part) :]
        signer = PairSigner(store, grader)
        return {
            "items": [
                {
                    **item_json(entry, signer),
                    **own_judgment_json(entry),
                    "group": group,
                    "asked": entry.asked,
                }
                for entry, group in zip(entries, groups, strict=True)
            ],
            "queries": queries_by_id(about),
            "rest": {"from": start + len(part), "count": len(rest), "graded": sum(rest)},
        }

    def own(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/own``: a part of what this grader has graded, and counts."""
        start = whole_number(request, "from")
        kind = request.query_params.get("kind") or "all"
        work = self._assigner.own_work(store, grader, kind, start)
        about = self._assigner.about(store, grader, work.items)
        entries = fitting_items(work.items, about)
        signer = PairSigner(store, grader)
        end = start + (len(entries) if len(entries) < len(work.items) else MOST_OWN)
        return {
            "items": [
                {**item_json(entry, signer), **own_judgment_json(entry)} for entry in entries
            ],
            "queries": queries_by_id(queries_of_items(entries, about)),
            "rest": {"from": end, "count": max(0, work.found - end)},
            "counts": {
                "all": sum(work.by_grade.values()) + work.cannot_tell,
                "cannot_tell": work.cannot_tell,
                "note": work.with_note,
                **{str(grade): work.by_grade.get(grade, 0) for grade in GRADES},
            },
            "of_queries": work.queries,
            "spent_ms": store.assignment.time_spent(grader),
        }

    def text(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/text``: the next part of a text that was cut."""
        start = whole_number(request, "from")
        text, more = store.texts.read_from(required_parameter(request, "chunk"), start, PIECE)
        return {"text": text, "more": more}

    def search(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/search``."""
        words = request.query_params.get("words", "")[:MOST_WORDS]
        found = self._assigner.search(store, grader, required_parameter(request, "query"), words)
        about = self._assigner.about(store, grader, found)
        entries = fitting_items(found, about)
        signer = PairSigner(store, grader)
        return {
            "items": [
                {**item_json(entry, signer), **own_judgment_json(entry), "pooled": entry.pooled}
                for entry in entries
            ],
            "queries": queries_by_id(about),
        }

    def neighbours(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/neighbours``."""
        before, after = store.texts.neighbours(required_parameter(request, "chunk"))
        return {"before": neighbour_json(before), "after": neighbour_json(after)}

    def whose(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/whose``: whether no grader has the key of grades kept in a browser."""
        return {"nobodys": store.people.giver_with(required_parameter(request, "key")) is None}

    def told(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/told``, only for a grader who has judged the pair.

        The exposure is stored first: later judgments of the pair are not blind.
        """
        query_id = required_parameter(request, "query")
        chunk_id = required_parameter(request, "chunk")
        if store.assignment.judgment_of(grader, query_id, chunk_id) is None:
            raise BadInput("grade this passage first; then you can see what others gave")
        store.exposure.note_told(grader, [(query_id, chunk_id)])
        chunk = store.chunks.get(chunk_id)
        return {
            "chunk": chunk_id,
            "document": None if chunk is None else chunk.document_id,
            "found_by": self._assigner.found_by(store, grader, query_id, chunk_id),
            "others": [
                {"kind": kind, "grade": grade, "count": count}
                for kind, grade, count in store.assignment.others_said(grader, query_id, chunk_id)
            ],
        }

    def practice(self, _: Request, __: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/practice``; with nothing where a chosen pair has lost its golden grade.

        The exposure is stored first: later judgments of these pairs are not blind.
        """
        settings = store.settings.read()
        try:
            examples = practice_examples(store, settings.practice)
        except NotFound:
            examples = []
        pairs = [(each.query.query_id, each.chunk.chunk_id) for each in examples]
        store.exposure.note_told(grader, pairs)
        return {
            "examples": [
                {
                    "query": each.query.query_id,
                    "chunk": each.chunk.chunk_id,
                    "question": each.query.text,
                    "reference": each.query.reference if settings.show_reference else None,
                    "title": each.chunk.title,
                    "text": (each.chunk.text or "")[:LONGEST_TEXT],
                    "grade": each.grade,
                }
                for each in examples
            ]
        }


def decision_json(work: DecisionWork) -> dict[str, Any]:
    """Return the progress of a decision between two runs, without revealing the runs."""
    return {"graded": work.graded, "likely": work.likely, "settled": work.settled}


def required_parameter(request: Request, name: str) -> str:
    """Return a query parameter; raise `BadInput` if it is missing."""
    value = request.query_params.get(name)
    if not value:
        raise BadInput(f"the address must say which {name}: ?{name}=ID")
    return value


def whole_number(request: Request, name: str) -> int:
    """Return a query parameter as a whole number from 0; 0 if it is missing or invalid."""
    text = request.query_params.get(name, "")
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else 0


def items_of_steps(steps: Iterable[UndoableStep]) -> list[GradingItem]:
    """Return the items of those steps that have one."""
    return [step[1] for step in steps if isinstance(step, tuple)]


def fitting_items(
    entries: Sequence[GradingItem], about: Mapping[str, QueryInfo]
) -> Sequence[GradingItem]:
    """Return the first items that fit into a response together with their queries."""
    return entries[: count_fitting(response_sizes(entries, about))]


def response_sizes(
    entries: Iterable[GradingItem | None], about: Mapping[str, QueryInfo]
) -> Iterator[int]:
    """Yield the size in bytes of each item in a response, counting each query once."""
    included: set[str] = set()
    for entry in entries:
        size = BASE_SIZE
        if entry is not None:
            query_id = entry.item.query.query_id
            size += json_size(pair_json(entry))
            if query_id in about and query_id not in included:
                size += json_size(query_json(about[query_id]))
            included.add(query_id)
        yield size


def queries_of_items(
    entries: Iterable[GradingItem], about: Mapping[str, QueryInfo]
) -> dict[str, QueryInfo]:
    """Return the information on the queries of these items."""
    ids = dict.fromkeys(entry.item.query.query_id for entry in entries)
    return {query_id: about[query_id] for query_id in ids if query_id in about}


def pair_json(entry: GradingItem) -> dict[str, Any]:
    """Return a pair as the pad shows it; ``more`` is where a cut text continues."""
    chunk = entry.item.chunk
    return {
        "query": entry.item.query.query_id,
        "chunk": chunk.chunk_id,
        "text_hash": entry.item.text_hash,
        "title": truncate(chunk.title, LONGEST_NAME),
        "document": truncate(chunk.document_id, LONGEST_NAME),
        "text": chunk.text,
        "more": entry.item.more,
        "stale": entry.stale,
        "replaces": None if entry.judged is None else entry.judged.event_id,
        "source": visible_source(entry.source),
        **({"before": transfer_hint_json(entry.hint)} if entry.hint else {}),
        **({"copies": entry.copies} if entry.copies > 1 else {}),
    }


def transfer_hint_json(hint: Hint) -> dict[str, Any]:
    """Return the pad's hint on grades given before a document was cut into new chunks."""
    return {
        "likely": hint.likely,
        "why": hint.why,
        "more": hint.more,
        "told": [
            {
                "who": truncate(", ".join(each.who), LONGEST_WHO),
                "at": each.at[:10],
                "grade": each.grade,
                "passages": each.marked.passages[:MOST_PASSAGES],
                "is_cut": each.marked.is_cut,
                "elsewhere": each.marked.elsewhere,
                "lost": each.marked.lost,
            }
            for each in hint.told
        ],
    }


def visible_source(source: str) -> str:
    """Return why a grader has a pair, without revealing that it decides between runs."""
    return "pool" if source == ACTIVE_SOURCE else source


def item_json(entry: GradingItem, signer: PairSigner) -> dict[str, Any]:
    """Return a pair as the pad shows it, with the slip to send back with a grade."""
    return {**pair_json(entry), "slip": signer.slip(entry)}


def queries_by_id(about: Mapping[str, QueryInfo]) -> dict[str, dict[str, Any]]:
    return {query_id: query_json(each) for query_id, each in about.items()}


def query_json(about: QueryInfo) -> dict[str, Any]:
    query, remark = about.query, about.remark
    return {
        "text": truncate(query.text, LONGEST_HELP),
        "task": query.task,
        "guideline": truncate(query.guideline, LONGEST_HELP),
        "reference": truncate(query.reference, LONGEST_HELP),
        "keywords": list(query.keywords),
        "total": about.total,
        "left": about.left,
        "mine": about.mine,
        "remark": None if remark is None else remark.kind,
        "remark_note": None if remark is None else remark.note,
    }


def own_judgment_json(entry: GradingItem) -> dict[str, Any]:
    return {"judged": entry.judged and judgment_json(entry.judged)}


def judgment_json(judged: CurrentJudgment | Judgment) -> dict[str, Any]:
    """Return the grader's own judgment as the pad shows it, with its passages if any.

    For passages in a text that has changed since, only their number is returned.
    """
    fields = {
        name: getattr(judged, name) for name in ("event_id", "kind", "grade", "reason", "note")
    }
    if not judged.evidence:
        return fields
    if isinstance(judged, CurrentJudgment) and not judged.present:
        return {**fields, "lost": len(judged.evidence)}
    return {**fields, "evidence": judged.evidence}


def undoable_json(done: UndoableJudgment, entry: GradingItem, signer: PairSigner) -> dict[str, Any]:
    """Return an earlier judgment with its pair, and the judgment that counts after its undo."""
    return {
        **judgment_json(done.judgment),
        "item": item_json(entry, signer) | own_judgment_json(entry),
        "former": done.former and judgment_json(done.former),
    }


def remark_json(undoable: UndoableRemark) -> dict[str, Any]:
    """Return an earlier remark on a query, and the remark that counts after its undo."""
    remark, former = undoable.remark, undoable.former
    return {
        "event_id": remark.event_id,
        "query": remark.query_id,
        "remark": remark.kind,
        "note": remark.note,
        "former": former and {"remark": former.kind, "note": former.note},
    }


def neighbour_json(chunk: Chunk | None) -> dict[str, Any] | None:
    if chunk is None:
        return None
    title, text = truncate(chunk.title, LONGEST_NAME), truncate(chunk.text, LONGEST_TEXT)
    return {"title": title, "text": text}
