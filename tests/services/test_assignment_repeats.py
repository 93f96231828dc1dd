"""A few of a grader's own chunks come back unmarked, so that they can see how sure they are."""

from __future__ import annotations

from labeler.model import Query
from labeler.services.assignment.assigner import FIRST_REPEAT_AT, Assigner
from labeler.services.assignment.items import GradingItem
from labeler.services.assignment.pooling import (
    REPEATED_AFTER,
    REPEATED_SHARE,
    Pool,
    stable_fraction,
)
from labeler.services.assignment.scope import Scope
from labeler.store import Store
from tests.support.assignment import ask, judge, make_order_alike, pair_of, remark, shelf

__all__ = ["shelf"]


def seed_with_repeats(store: Store) -> int:
    """Return a seed by whose lots two of the first forty chunks come back."""
    pool = store.assignment.pool(10)[0]
    for seed in range(1000):
        early = list(Pool(pool).in_order(seed, {}))[:40]
        if sum(stable_fraction(seed, "again", *pair) < REPEATED_SHARE for pair in early) == 2:
            return seed
    raise LookupError


def test_a_few_chunks_come_back_once_after_thirty_others(shelf: Store):
    make_order_alike(shelf, seed_with_repeats(shelf))
    desk = Assigner()
    given: list[tuple[str, str]] = []
    repeats: list[tuple[str, str]] = []
    left = 120
    while (found := ask(desk, shelf, limit=8)).papers and len(given) < 112:
        assert found.open == left, "what comes back is not counted as open"
        papers = [paper for paper in found.papers if paper.source == "repeat"]
        assert found.papers[:FIRST_REPEAT_AT] == [
            paper for paper in found.papers[:FIRST_REPEAT_AT] if paper.source == "pool"
        ]
        for paper in papers:
            others = [*given, *repeats][given.index(pair_of(paper)) + 1 :]
            assert len(others) >= REPEATED_AFTER
            assert not paper.stale
            judge(shelf, paper, grade=3)
            repeats.append(pair_of(paper))
        judge(shelf, found.papers[0])
        given.append(pair_of(found.papers[0]))
        left -= 1
    assert len(repeats) >= 2
    assert len(repeats) == len(set(repeats)), "each once"
    assert shelf.activity.self_repeats("Ann") == [(2, 3)] * len(repeats)
    assert ask(desk, shelf).saved == 112


def repeats_of(desk: Assigner, store: Store, **more) -> list[GradingItem]:
    found = ask(desk, store, limit=20, **more)
    return [paper for paper in found.papers if paper.source == "repeat"]


def test_what_came_back_does_not_come_again_however_it_is_changed(shelf: Store):
    make_order_alike(shelf, seed_with_repeats(shelf))
    desk = Assigner()
    papers = ask(desk, shelf, limit=115).papers
    for paper in papers[:80]:
        judge(shelf, paper)
    repeats = repeats_of(desk, shelf)
    assert len(repeats) == 2
    for paper in repeats:
        judge(shelf, paper)
        listed = desk.whole(shelf, "Ann", pair_of(paper)[0])[0]
        judge(shelf, next(each for each in listed if pair_of(each) == pair_of(paper)), grade=0)
    for paper in papers[80:]:
        judge(shelf, paper)
    later = {pair_of(paper) for paper in repeats_of(desk, shelf)}
    assert not later & {pair_of(paper) for paper in repeats}


def test_a_repeat_that_was_taken_back_leaves_the_earlier_grade(shelf: Store):
    make_order_alike(shelf, seed_with_repeats(shelf))
    desk = Assigner()
    for paper in ask(desk, shelf, limit=80).papers:
        judge(shelf, paper, grade=1)
    paper = repeats_of(desk, shelf)[0]
    shelf.judgments.undo(event_id="u", undoes=judge(shelf, paper, grade=3), grader="Ann")
    assert shelf.activity.self_repeats("Ann") == []
    assert shelf.assignment.judgment_of("Ann", *pair_of(paper)).grade == 1


def test_repeats_keep_to_the_field_and_out_of_remarked_queries(shelf: Store, loaded):
    make_order_alike(shelf, seed_with_repeats(shelf))
    desk = Assigner()
    for paper in ask(desk, shelf, limit=80).papers:
        judge(shelf, paper)
    repeats = {pair_of(paper) for paper in repeats_of(desk, shelf)}
    [query_id, *_] = {query_id for query_id, _ in repeats}
    buckets = {f"m{n}": {"side": "here" if f"m{n}" == query_id else "there"} for n in range(12)}
    texts = {f"m{n}": f"question {n}" for n in range(12)}
    queries = [Query(name, texts[name], buckets=buckets[name]) for name in texts]
    shelf.queries.load(loaded(queries), update=True)
    there = {pair_of(paper) for paper in repeats_of(desk, shelf, within=Scope("side", "there"))}
    assert there == {pair for pair in repeats if pair[0] != query_id}
    remark(shelf, query_id)
    assert {pair_of(paper) for paper in repeats_of(desk, shelf)} == there


def test_nothing_comes_back_where_little_else_would_hide_it(shelf: Store):
    make_order_alike(shelf, seed_with_repeats(shelf))
    desk = Assigner()
    for paper in ask(desk, shelf, limit=116).papers:
        judge(shelf, paper)
    assert repeats_of(desk, shelf) != []
    judge(shelf, ask(desk, shelf).papers[0])
    assert repeats_of(desk, shelf) == []
    assert ask(desk, shelf).open == FIRST_REPEAT_AT
