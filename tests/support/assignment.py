"""A desk's golden set where all graders have one order, and what they are handed from it."""

from __future__ import annotations

from itertools import count

import pytest

from labeler.model import Judgment, Remark, Settings
from labeler.services.assignment.assigner import Assigner
from labeler.services.assignment.items import GradingItem, NextItems
from labeler.store import Store
from tests.support.grading_client import many

NUMBERS = count()


def make_order_alike(store: Store, seed: int = 7) -> None:
    """Let all graders have one order: who is led elsewhere is so because of the others."""
    with store.connection.transaction():
        store.connection.execute("UPDATE graders SET seed = ?", [seed])


@pytest.fixture
def shelf(store: Store, loaded) -> Store:
    """Twelve queries with the same ten chunks, three graders who meet them in one order."""
    many(store, loaded)
    for name in ("Ann", "Bob", "Cy"):
        store.people.add(name)
    make_order_alike(store)
    store.settings.save(Settings(overlap=0))
    return store


def ask(desk: Assigner, store: Store, grader: str = "Ann", limit: int = 5, **more) -> NextItems:
    return desk.next_for(store, grader, limit, **more)[0]


def pair_of(paper: GradingItem) -> tuple[str, str]:
    return paper.item.query.query_id, paper.item.chunk.chunk_id


def pairs_of(found: NextItems) -> list[tuple[str, str]]:
    return [pair_of(paper) for paper in found.papers]


def queries_of(found: NextItems) -> set[str]:
    return {query_id for query_id, _ in pairs_of(found)}


def judge(store: Store, paper: GradingItem, grader: str = "Ann", **more) -> str:
    """Put what a grader says of a paper into the log, as the routes do."""
    event_id = f"e{next(NUMBERS)}"
    said = {"grade": 2, "source": paper.source, "text_hash": paper.item.text_hash, **more}
    known = None if paper.judged is None else paper.judged.event_id
    assert store.judgments.add_knowing(Judgment(event_id, *pair_of(paper), grader, **said), known)
    return event_id


def remark(store: Store, query_id: str, grader: str = "Ann", kind: str = "unclear") -> None:
    store.remarks.add(Remark(f"r{next(NUMBERS)}", query_id, grader, kind))


def numbers(found: NextItems) -> tuple[int, int, int, int]:
    return found.saved, found.open, found.queries_done, found.queries_total
