"""What the pad asks for, as JSON: nothing in it tells which system found a chunk, or at what rank.

What others gave is told of a pair only to who has judged it themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request

from labeler.analysis.agreement import in_words, self_agreement
from labeler.errors import BadInput
from labeler.model import ASKED_TO_DECIDE, MOST_PASSAGES, Chunk, Judged, Judgment
from labeler.services.assignment.confining import within
from labeler.services.assignment.desk import Desk
from labeler.services.assignment.papers import About, Paper, Step, together
from labeler.services.assignment.portions import (
    LONGEST_HELP,
    LONGEST_NAME,
    LONGEST_TEXT,
    PIECE,
    beginning,
    fitting,
    size_of,
)
from labeler.services.carryover import Hint
from labeler.store import Store, Undoable, Unsayable
from labeler.web.grading_api.handing import Hand

FIELD = ("facet", "bucket", "split", "leaked", "from", "to")
MOST_ITEMS = 400
USUAL_ITEMS = 60
MOST_WORDS = 200  # characters of a search
LONGEST_WHO = 200  # characters of those who gave a grade before
ROOM_OF_ANY = 400  # bytes of what an answer says of a pair beside its text


class Giving:
    """Answers of the routes that only read."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def next(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/next``."""
        asked = request.query_params
        limit = asked.get("limit", "")
        wanted = int(limit) if re.fullmatch("[0-9]{1,4}", limit) else USUAL_ITEMS
        field = within(*map(asked.get, FIELD))
        found, about = self._desk.next_for(store, grader, min(wanted, MOST_ITEMS), field)
        papers = fitting_papers(found.papers, about)
        done = self._history(store, grader)
        repeated = self_agreement(store.self_repeats(grader))
        hand = Hand(store, grader)
        return {
            "items": [item_of(paper, hand) for paper in papers],
            "undoable": done["done"],
            "queries": {**done["queries"], **queries_of(about_those(papers, about))},
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
            else in_words(repeated, names=store.settings().passage),
        }

    def history(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/history``."""
        asked = request.query_params
        return self._history(store, grader, asked.get("before"), asked.get("unsaid"))

    def _history(
        self, store: Store, grader: str, before: str | None = None, unsaid: str | None = None
    ) -> dict[str, Any]:
        steps = self._desk.history(store, grader, before, unsaid)
        about = self._desk.about(store, grader, papers_of(steps))
        papers = [step[1] if isinstance(step, tuple) else None for step in steps]
        steps = steps[: fitting(sizes_of(papers, about))]
        hand = Hand(store, grader)
        return {
            "done": [
                done_of(*step, hand) if isinstance(step, tuple) else said_of(step) for step in steps
            ],
            "queries": queries_of(about_those(papers_of(steps), about)),
        }

    def query(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/query``: a part of the pool, and how much of it comes after."""
        start = whole_number(request, "from")
        found, judged = self._desk.whole(store, grader, wanted(request, "query"), start)
        about = self._desk.about(store, grader, found)
        part = fitting_papers(found, about)
        papers, groups = together(part)
        rest = judged[len(part) :]
        hand = Hand(store, grader)
        return {
            "items": [
                {**item_of(paper, hand), **own_of(paper), "group": group}
                for paper, group in zip(papers, groups, strict=True)
            ],
            "queries": queries_of(about),
            "rest": {"from": start + len(part), "count": len(rest), "graded": sum(rest)},
        }

    def text(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/text``: a text that was cut, from where it goes on."""
        start = whole_number(request, "from")
        text, more = store.text_from(wanted(request, "chunk"), start, PIECE)
        return {"text": text, "more": more}

    def search(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/search``."""
        words = request.query_params.get("words", "")[:MOST_WORDS]
        found = self._desk.search(store, grader, wanted(request, "query"), words)
        about = self._desk.about(store, grader, found)
        papers = fitting_papers(found, about)
        hand = Hand(store, grader)
        return {
            "items": [
                {**item_of(paper, hand), **own_of(paper), "pooled": paper.pooled}
                for paper in papers
            ],
            "queries": queries_of(about),
        }

    def neighbours(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/neighbours``."""
        before, after = store.neighbours(wanted(request, "chunk"))
        return {"before": beside_of(before), "after": beside_of(after)}

    def whose(self, request: Request, _: bytes, store: Store, __: str) -> dict[str, Any]:
        """Answer ``/api/whose``: whether nobody has the key that grades wait under."""
        return {"nobodys": store.giver_with(wanted(request, "key")) is None}

    def told(self, request: Request, _: bytes, store: Store, grader: str) -> dict[str, Any]:
        """Answer ``/api/told``: to a grader who has judged the pair, and to nobody else.

        It is remembered first: what they give the pair from then on is not blind.
        """
        query_id, chunk_id = wanted(request, "query"), wanted(request, "chunk")
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


def wanted(request: Request, name: str) -> str:
    """Return a parameter of the address; raises `BadInput` where it is missing."""
    value = request.query_params.get(name)
    if not value:
        raise BadInput(f"the address must say which {name}: ?{name}=ID")
    return value


def whole_number(request: Request, name: str) -> int:
    """Return a parameter that counts from 0, which it is where it is missing or no such number."""
    text = request.query_params.get(name, "")
    return int(text) if re.fullmatch("[0-9]{1,12}", text) else 0


def papers_of(steps: Iterable[Step]) -> list[Paper]:
    """Return the papers of the steps that are about one."""
    return [step[1] for step in steps if isinstance(step, tuple)]


def fitting_papers(papers: Sequence[Paper], about: Mapping[str, About]) -> Sequence[Paper]:
    """Return the first papers that an answer has room for, with their queries."""
    return papers[: fitting(sizes_of(papers, about))]


def sizes_of(papers: Iterable[Paper | None], about: Mapping[str, About]) -> Iterator[int]:
    """Give what each takes in an answer: its chunk, and its query where that is the first one."""
    told: set[str] = set()
    for paper in papers:
        size = ROOM_OF_ANY
        if paper is not None:
            query_id = paper.item.query.query_id
            size += size_of(shown_of(paper))
            if query_id in about and query_id not in told:
                size += size_of(query_of(about[query_id]))
            told.add(query_id)
        yield size


def about_those(papers: Iterable[Paper], about: Mapping[str, About]) -> dict[str, About]:
    """Return what there is to know of the queries of these papers."""
    ids = dict.fromkeys(paper.item.query.query_id for paper in papers)
    return {query_id: about[query_id] for query_id in ids if query_id in about}


def shown_of(paper: Paper) -> dict[str, Any]:
    """Return what the pad shows of a pair; ``more`` is where its text goes on, if it was cut."""
    chunk = paper.item.chunk
    return {
        "query": paper.item.query.query_id,
        "chunk": chunk.chunk_id,
        "text_hash": paper.item.text_hash,
        "title": beginning(chunk.title, LONGEST_NAME),
        "document": beginning(chunk.document_id, LONGEST_NAME),
        "text": chunk.text,
        "more": paper.item.more,
        "stale": paper.stale,
        "replaces": None if paper.judged is None else paper.judged.event_id,
        "source": reason_told(paper.source),
        **({"before": before_of(paper.hint)} if paper.hint else {}),
    }


def before_of(hint: Hint) -> dict[str, Any]:
    """Return what the pad shows of what was given before a document was cut anew."""
    return {
        "likely": hint.likely,
        "why": hint.why,
        "more": hint.more,
        "told": [
            {
                "who": beginning(", ".join(each.who), LONGEST_WHO),
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


def reason_told(source: str) -> str:
    """Return why a grader has a pair, as they may know it: not that it decides between runs."""
    return "pool" if source == ASKED_TO_DECIDE else source


def item_of(paper: Paper, hand: Hand) -> dict[str, Any]:
    """Return what the pad shows of a pair, and the slip that it brings back with a grade."""
    return {**shown_of(paper), "slip": hand.slip(paper)}


def queries_of(about: Mapping[str, About]) -> dict[str, dict[str, Any]]:
    """Return what the pad shows of queries, by id."""
    return {query_id: query_of(each) for query_id, each in about.items()}


def query_of(about: About) -> dict[str, Any]:
    """Return what the pad shows of a query."""
    query, remark = about.query, about.remark
    return {
        "text": beginning(query.text, LONGEST_HELP),
        "task": query.task,
        "guideline": beginning(query.guideline, LONGEST_HELP),
        "reference": beginning(query.reference, LONGEST_HELP),
        "keywords": list(query.keywords),
        "total": about.total,
        "left": about.left,
        "remark": None if remark is None else remark.kind,
        "remark_note": None if remark is None else remark.note,
    }


def own_of(paper: Paper) -> dict[str, Any]:
    """Return what the grader said of a pair, for a list that shows it."""
    return {"judged": paper.judged and judged_of(paper.judged)}


def judged_of(judged: Judged | Judgment) -> dict[str, Any]:
    """Return what the pad shows of the grader's own judgment; passages where there are any.

    Of those in a text that has changed since it is told how many they are, and not where.
    """
    said = {name: getattr(judged, name) for name in ("event_id", "kind", "grade", "reason", "note")}
    if not judged.evidence:
        return said
    if isinstance(judged, Judged) and not judged.present:
        return {**said, "lost": len(judged.evidence)}
    return {**said, "evidence": judged.evidence}


def done_of(done: Undoable, paper: Paper, hand: Hand) -> dict[str, Any]:
    """Return an earlier judgment with its pair, and what stands once the pad has undone it."""
    return {
        **judged_of(done.judgment),
        "item": item_of(paper, hand) | own_of(paper),
        "former": done.former and judged_of(done.former),
    }


def said_of(said: Unsayable) -> dict[str, Any]:
    """Return an earlier remark on a query, and what holds once the pad has taken it back."""
    remark, former = said.remark, said.former
    return {
        "event_id": remark.event_id,
        "query": remark.query_id,
        "remark": remark.kind,
        "note": remark.note,
        "former": former and {"remark": former.kind, "note": former.note},
    }


def beside_of(chunk: Chunk | None) -> dict[str, Any] | None:
    """Return what the pad shows of a neighbouring chunk."""
    if chunk is None:
        return None
    title, text = beginning(chunk.title, LONGEST_NAME), beginning(chunk.text, LONGEST_TEXT)
    return {"title": title, "text": text}
