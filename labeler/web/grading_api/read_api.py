"""Routes of the grading API that read, as JSON.

Nothing in a response tells which system found a chunk, or at what rank. What others gave is
told only of a pair that the grader has judged themselves, and that they were told is
remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request

from labeler.analysis.agreement import describe_self_agreement, self_agreement
from labeler.errors import BadInput
from labeler.model import ACTIVE_SOURCE, MOST_PASSAGES, Chunk, CurrentJudgment, Judgment
from labeler.services.assignment.assigner import Assigner, parse_scope
from labeler.services.assignment.items import (
    LONGEST_HELP,
    LONGEST_NAME,
    LONGEST_TEXT,
    PIECE,
    GradingItem,
    QueryInfo,
    UndoableStep,
    count_fitting,
    group_near_duplicates,
    json_size,
    truncate,
)
from labeler.services.transfer import Hint
from labeler.store import Store, UndoableJudgment, UndoableRemark
from labeler.web.grading_api.signatures import PairSigner

SCOPE_PARAMETERS = ("facet", "bucket", "split", "leaked", "from", "to")
MOST_ITEMS = 400
USUAL_ITEMS = 60
MOST_WORDS = 200  # characters of a search
LONGEST_WHO = 200  # characters of those who gave a grade before
BASE_SIZE = 400  # bytes of what an answer says of a pair beside its text


class ReadApi:
    """Answers of the routes that only read."""

    def __init__(self, desk: Assigner) -> None:
        self._desk = desk

    def next(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/next``."""
        asked = request.query_params
        limit = asked.get("limit", "")
        wanted = int(limit) if re.fullmatch("[0-9]{1,4}", limit) else USUAL_ITEMS
        field = parse_scope(*map(asked.get, SCOPE_PARAMETERS))
        found, about = self._desk.next_for(store, grader, min(wanted, MOST_ITEMS), field)
        papers = fitting_items(found.papers, about)
        done = self._history(store, grader)
        repeated = self_agreement(store.self_repeats(grader))
        hand = PairSigner(store, grader)
        return {
            "items": [item_json(paper, hand) for paper in papers],
            "undoable": done["done"],
            "queries": {**done["queries"], **queries_by_id(queries_of_items(papers, about))},
            "saved": found.saved,
            "open": found.open,
            "queries_mine": found.queries_mine,
            "queries_done": found.queries_done,
            "queries_total": found.queries_total,
            "without_text": found.without_text,
            "looked": found.looked,
            "pace_ms": store.pace(grader),
            "self_agreement": None
            if repeated is None
            else describe_self_agreement(repeated, names=store.settings().passage),
        }

    def history(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/history``."""
        asked = request.query_params
        return self._history(store, grader, asked.get("before"), asked.get("unsaid"))

    def _history(
        self, store: Store, grader: str, before: str | None = None, unsaid: str | None = None
    ) -> dict[str, Any]:
        steps = self._desk.history(store, grader, before, unsaid)
        about = self._desk.about(store, grader, items_of_steps(steps))
        papers = [step[1] if isinstance(step, tuple) else None for step in steps]
        steps = steps[: count_fitting(response_sizes(papers, about))]
        hand = PairSigner(store, grader)
        return {
            "done": [
                undoable_json(*step, hand) if isinstance(step, tuple) else remark_json(step)
                for step in steps
            ],
            "queries": queries_by_id(queries_of_items(items_of_steps(steps), about)),
        }

    def query(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/query``: a part of the pool, and how much of it comes after."""
        start = whole_number(request, "from")
        found, judged = self._desk.whole(store, grader, required_parameter(request, "query"), start)
        about = self._desk.about(store, grader, found)
        part = fitting_items(found, about)
        papers, groups = group_near_duplicates(part)
        rest = judged[len(part) :]
        hand = PairSigner(store, grader)
        return {
            "items": [
                {**item_json(paper, hand), **own_judgment_json(paper), "group": group}
                for paper, group in zip(papers, groups, strict=True)
            ],
            "queries": queries_by_id(about),
            "rest": {"from": start + len(part), "count": len(rest), "graded": sum(rest)},
        }

    def text(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/text``: a text that was cut, from where it goes on."""
        start = whole_number(request, "from")
        text, more = store.text_from(required_parameter(request, "chunk"), start, PIECE)
        return {"text": text, "more": more}

    def search(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/search``."""
        words = request.query_params.get("words", "")[:MOST_WORDS]
        found = self._desk.search(store, grader, required_parameter(request, "query"), words)
        about = self._desk.about(store, grader, found)
        papers = fitting_items(found, about)
        hand = PairSigner(store, grader)
        return {
            "items": [
                {**item_json(paper, hand), **own_judgment_json(paper), "pooled": paper.pooled}
                for paper in papers
            ],
            "queries": queries_by_id(about),
        }

    def neighbours(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/neighbours``."""
        before, after = store.neighbours(required_parameter(request, "chunk"))
        return {"before": neighbour_json(before), "after": neighbour_json(after)}

    def whose(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/whose``: whether nobody has the key that grades wait under."""
        return {"nobodys": store.giver_with(required_parameter(request, "key")) is None}

    def told(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/told``: to a grader who has judged the pair, and to nobody else.

        It is remembered first: what they give the pair from then on is not blind.
        """
        query_id, chunk_id = (
            required_parameter(request, "query"),
            required_parameter(request, "chunk"),
        )
        if store.judgment_of(grader, query_id, chunk_id) is None:
            raise BadInput("grade this chunk first: what others gave must not sway you")
        store.note_told(grader, [(query_id, chunk_id)])
        chunk = store.chunk(chunk_id)
        return {
            "chunk": chunk_id,
            "document": None if chunk is None else chunk.document_id,
            "found_by": self._desk.found_by(store, grader, query_id, chunk_id),
            "others": [
                {"kind": kind, "grade": grade, "count": count}
                for kind, grade, count in store.others_said(grader, query_id, chunk_id)
            ],
        }


def required_parameter(request: Request, name: str) -> str:
    """Return a parameter of the address; raises `BadInput` where it is missing."""
    value = request.query_params.get(name)
    if not value:
        raise BadInput(f"the address must say which {name}: ?{name}=ID")
    return value


def whole_number(request: Request, name: str) -> int:
    """Return a parameter that counts from 0, which it is where it is missing or no such number."""
    text = request.query_params.get(name, "")
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else 0


def items_of_steps(steps: Iterable[UndoableStep]) -> list[GradingItem]:
    """Return the papers of the steps that are about one."""
    return [step[1] for step in steps if isinstance(step, tuple)]


def fitting_items(
    papers: Sequence[GradingItem], about: Mapping[str, QueryInfo]
) -> Sequence[GradingItem]:
    """Return the first papers that an answer has room for, with their queries."""
    return papers[: count_fitting(response_sizes(papers, about))]


def response_sizes(
    papers: Iterable[GradingItem | None], about: Mapping[str, QueryInfo]
) -> Iterator[int]:
    """Give what each takes in an answer: its chunk, and its query where that is the first one."""
    told: set[str] = set()
    for paper in papers:
        size = BASE_SIZE
        if paper is not None:
            query_id = paper.item.query.query_id
            size += json_size(pair_json(paper))
            if query_id in about and query_id not in told:
                size += json_size(query_json(about[query_id]))
            told.add(query_id)
        yield size


def queries_of_items(
    papers: Iterable[GradingItem], about: Mapping[str, QueryInfo]
) -> dict[str, QueryInfo]:
    """Return what there is to know of the queries of these papers."""
    ids = dict.fromkeys(paper.item.query.query_id for paper in papers)
    return {query_id: about[query_id] for query_id in ids if query_id in about}


def pair_json(paper: GradingItem) -> dict[str, Any]:
    """Return what the pad shows of a pair; ``more`` is where its text goes on, if it was cut."""
    chunk = paper.item.chunk
    return {
        "query": paper.item.query.query_id,
        "chunk": chunk.chunk_id,
        "text_hash": paper.item.text_hash,
        "title": truncate(chunk.title, LONGEST_NAME),
        "document": truncate(chunk.document_id, LONGEST_NAME),
        "text": chunk.text,
        "more": paper.item.more,
        "stale": paper.stale,
        "replaces": None if paper.judged is None else paper.judged.event_id,
        "source": visible_source(paper.source),
        **({"before": transfer_hint_json(paper.hint)} if paper.hint else {}),
    }


def transfer_hint_json(hint: Hint) -> dict[str, Any]:
    """Return what the pad shows of what was given before a document was cut anew."""
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
    """Return why a grader has a pair, as they may know it: not that it decides between runs."""
    return "pool" if source == ACTIVE_SOURCE else source


def item_json(paper: GradingItem, hand: PairSigner) -> dict[str, Any]:
    """Return what the pad shows of a pair, and the slip that it brings back with a grade."""
    return {**pair_json(paper), "slip": hand.slip(paper)}


def queries_by_id(about: Mapping[str, QueryInfo]) -> dict[str, dict[str, Any]]:
    """Return what the pad shows of queries, by id."""
    return {query_id: query_json(each) for query_id, each in about.items()}


def query_json(about: QueryInfo) -> dict[str, Any]:
    """Return what the pad shows of a query."""
    query, remark = about.query, about.remark
    return {
        "text": truncate(query.text, LONGEST_HELP),
        "task": query.task,
        "guideline": truncate(query.guideline, LONGEST_HELP),
        "reference": truncate(query.reference, LONGEST_HELP),
        "keywords": list(query.keywords),
        "total": about.total,
        "left": about.left,
        "remark": None if remark is None else remark.kind,
        "remark_note": None if remark is None else remark.note,
    }


def own_judgment_json(paper: GradingItem) -> dict[str, Any]:
    """Return what the grader said of a pair, for a list that shows it."""
    return {"judged": paper.judged and judgment_json(paper.judged)}


def judgment_json(judged: CurrentJudgment | Judgment) -> dict[str, Any]:
    """Return what the pad shows of the grader's own judgment; passages where there are any.

    Of those in a text that has changed since it is told how many they are, and not where.
    """
    said = {name: getattr(judged, name) for name in ("event_id", "kind", "grade", "reason", "note")}
    if not judged.evidence:
        return said
    if isinstance(judged, CurrentJudgment) and not judged.present:
        return {**said, "lost": len(judged.evidence)}
    return {**said, "evidence": judged.evidence}


def undoable_json(done: UndoableJudgment, paper: GradingItem, hand: PairSigner) -> dict[str, Any]:
    """Return an earlier judgment with its pair, and what stands once the pad has undone it."""
    return {
        **judgment_json(done.judgment),
        "item": item_json(paper, hand) | own_judgment_json(paper),
        "former": done.former and judgment_json(done.former),
    }


def remark_json(said: UndoableRemark) -> dict[str, Any]:
    """Return an earlier remark on a query, and what holds once the pad has taken it back."""
    remark, former = said.remark, said.former
    return {
        "event_id": remark.event_id,
        "query": remark.query_id,
        "remark": remark.kind,
        "note": remark.note,
        "former": former and {"remark": former.kind, "note": former.note},
    }


def neighbour_json(chunk: Chunk | None) -> dict[str, Any] | None:
    """Return what the pad shows of a neighbouring chunk."""
    if chunk is None:
        return None
    title, text = truncate(chunk.title, LONGEST_NAME), truncate(chunk.text, LONGEST_TEXT)
    return {"title": title, "text": text}
