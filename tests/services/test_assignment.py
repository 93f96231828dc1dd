"""What graders are handed next, and how far they are: kept up to date between requests."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import (
    LOWER_MEDIAN,
    MAJORITY,
    STRATEGIES,
    Chunk,
    Judgment,
    Query,
    Ranking,
    Settings,
)
from labeler.services.assignment import assigner
from labeler.services.assignment.assigner import LEASE_SECONDS, Assigner
from labeler.services.assignment.items import group_near_duplicates
from labeler.services.assignment.scope import Scope, parse_scope
from labeler.store import LeakedQuery, Store, moment
from tests.support.assignment import (
    ask,
    judge,
    numbers,
    pair_of,
    pairs_of,
    queries_of,
    remark,
    shelf,
)

__all__ = ["shelf"]


# Claims -----------------------------------------------------------------------------------------


def test_two_graders_at_once_get_different_queries(shelf: Store, kept: str):
    desk = Assigner()
    ann, bob, cy = (ask(desk, shelf, name) for name in ("Ann", "Bob", "Cy"))
    assert len(queries_of(ann) | queries_of(bob) | queries_of(cy)) == 3
    assert ask(desk, shelf, "Ann") == ann, "asking again leads nobody elsewhere"
    if kept == "file":  # where nobody else hands out, each start knows of nobody
        assert pairs_of(ask(Assigner(), shelf, "Bob")) == pairs_of(ann), (
            "it is the others who lead away"
        )


def test_a_query_is_free_once_its_grader_has_gone_on(shelf: Store):
    desk = Assigner()
    ann = ask(desk, shelf, "Ann", 10)
    [query_id] = queries_of(ann)
    for paper in ann.papers[:9]:
        judge(shelf, paper, kind="cannot_tell", grade=None)
    assert query_id in queries_of(ask(desk, shelf, "Ann"))
    assert query_id not in queries_of(ask(desk, shelf, "Bob", 100))
    judge(shelf, ask(desk, shelf, "Ann").papers[0], kind="cannot_tell", grade=None)
    assert query_id not in queries_of(ask(desk, shelf, "Ann"))
    assert query_id in queries_of(ask(desk, shelf, "Cy", 5)), "first in the order that all have"


@pytest.fixture
def pass_by(shelf: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let time pass since whatever was handed out, by the server's clock and by the database's."""
    now = 1000.0
    monkeypatch.setattr(assigner.time, "monotonic", lambda: now)

    def let(seconds: float) -> None:
        nonlocal now
        now += seconds
        for grader, seen_at in shelf.connection.rows("SELECT grader, seen_at FROM claims"):
            earlier = moment(datetime.fromisoformat(seen_at) - timedelta(seconds=seconds))
            shelf.connection.execute(
                "UPDATE claims SET seen_at = ? WHERE grader = ?", [earlier, grader]
            )

    return let


def test_a_claim_ends_when_its_grader_asks_for_nothing_more(shelf: Store, pass_by):
    desk = Assigner()
    ann = ask(desk, shelf, "Ann")
    pass_by(LEASE_SECONDS - 60)
    bob = ask(desk, shelf, "Bob")
    assert queries_of(bob) != queries_of(ann)
    pass_by(60)
    assert queries_of(ask(desk, shelf, "Cy")) == queries_of(ann)


def test_a_grader_stays_with_a_query_when_one_before_it_is_free(shelf: Store, pass_by):
    desk = Assigner()
    ann, bob = ask(desk, shelf, "Ann"), ask(desk, shelf, "Bob")
    judge(shelf, bob.papers[0], "Bob")
    pass_by(LEASE_SECONDS + 1)
    assert queries_of(ask(desk, shelf, "Bob")) == queries_of(bob)
    assert pairs_of(ask(desk, shelf, "Bob", 200))[9] == pairs_of(ann)[0]


def test_where_the_least_judged_come_first_a_grader_still_finishes_a_query(shelf: Store):
    shelf.settings.save(Settings(overlap=0, strategy=STRATEGIES[2]))
    desk = Assigner()
    seen = []
    for _ in range(20):
        paper = ask(desk, shelf).papers[0]
        seen.append(pair_of(paper)[0])
        judge(shelf, paper)
    assert Counter(seen).most_common() == [(seen[0], 10), (seen[10], 10)]


def test_when_all_is_claimed_there_is_still_work(shelf: Store):
    desk = Assigner()
    ann = ask(desk, shelf, "Ann", 400)
    assert len(queries_of(ann)) == 12
    assert len(ask(desk, shelf, "Bob", 400).papers) == len(ann.papers) == 120


def test_queries_for_everyone_are_not_claimed(shelf: Store):
    shelf.settings.save(Settings(overlap=1))
    desk = Assigner()
    ann = ask(desk, shelf, "Ann")
    judge(shelf, ann.papers[0])
    assert pairs_of(ask(desk, shelf, "Bob")) == pairs_of(ann), "still open after Ann's grade"
    assert pair_of(ann.papers[0]) not in pairs_of(ask(desk, shelf, "Ann"))


def test_a_verdict_and_an_import_close_a_shared_query_too(filled: Store):
    filled.settings.save(Settings(overlap=1))
    desk = Assigner()
    assert set(pairs_of(ask(desk, filled))) == {("q1", "c3"), ("q1", "c4")}
    filled.judgments.add(Judgment("verdict", "q1", "c3", "Bob", kind="adjudicate", grade=1))
    assert pairs_of(ask(desk, filled)) == [("q1", "c4")]


# Remarks, fields, counts ------------------------------------------------------------------------


def test_a_remark_takes_a_query_out_of_that_graders_way_only(shelf: Store):
    desk = Assigner()
    before = ask(desk, shelf, "Ann")
    [query_id] = queries_of(before)
    remark(shelf, query_id)
    found, about = desk.next_for(shelf, "Ann", 400)
    assert query_id not in queries_of(found)
    assert numbers(found) == (0, 110, 1, 12)
    assert query_id not in about
    assert query_id in queries_of(ask(desk, shelf, "Bob", 400))
    remark(shelf, query_id, kind="withdraw")
    assert pairs_of(ask(desk, shelf, "Ann", 400))[:5] != []
    assert ask(desk, shelf, "Ann", 400).open == 120


def test_what_a_grader_said_of_a_query_is_told_with_it(shelf: Store):
    remark(shelf, "m3", kind="unanswered")
    desk = Assigner()
    papers, _ = desk.whole(shelf, "Ann", "m3")
    assert desk.about(shelf, "Ann", papers)["m3"].remark.kind == "unanswered"
    assert desk.about(shelf, "Bob", papers)["m3"].remark is None


def test_a_field_confines_what_comes_and_what_is_counted(filled: Store, loaded):
    filled.chunks.load(loaded([Chunk("c5", "text 5"), Chunk("c6", "text 6")]))
    desk = Assigner()
    field = parse_scope("intent", "billing")
    found = ask(desk, filled, limit=60, within=field)
    assert set(pairs_of(found)) == {("q2", "c5"), ("q2", "c6")}
    assert numbers(found) == (0, 2, 0, 1)
    assert queries_of(ask(desk, filled, limit=60)) == {"q1", "q2"}
    assert queries_of(ask(desk, filled, within=parse_scope("task", "single"))) == {"q1"}
    filled.queries.retire("q2")
    with pytest.raises(NotFound, match="no query has intent 'billing'"):
        ask(desk, filled, within=field)


@pytest.mark.parametrize("half", [("intent", None), (None, "refund"), ("", "refund")])
def test_half_a_field_is_refused(half: tuple[str | None, str | None]):
    assert parse_scope(None, None) is None
    assert parse_scope(None, None, None, "with") is None
    with pytest.raises(BadInput, match="give both"):
        parse_scope(*half)


def test_an_unknown_field_is_said(filled: Store):
    for field in [Scope("intent", "Refund"), Scope("colour", "red")]:
        with pytest.raises(NotFound, match=rf"no query has {field.facet} '{field.bucket}'"):
            ask(Assigner(), filled, within=field)


def test_a_split_confines_too_and_a_bucket_of_it(shelf: Store):
    shelf.splits.assign({"m0": "dev", "m1": "dev", "m2": "test"}, {})
    shelf.splits.mark_leaked([LeakedQuery("m1", "few.jsonl", 1, "query", 1.0, "words")])
    desk = Assigner()
    dev = ask(desk, shelf, limit=60, within=parse_scope(None, None, "dev"))
    assert queries_of(dev) == {"m0", "m1"}
    assert numbers(dev) == (0, 20, 0, 2)
    unseen = parse_scope(None, None, "dev", "without")
    assert queries_of(ask(desk, shelf, limit=60, within=unseen)) == {"m0"}
    assert queries_of(ask(desk, shelf, limit=400)) > {"m0", "m1", "m2", "m3"}
    shelf.splits.assign({"m3": "dev"}, {})
    dev = ask(desk, shelf, limit=60, within=parse_scope(None, None, "dev"))
    assert queries_of(dev) == {"m0", "m1", "m3"}, "as splits are assigned"
    with pytest.raises(NotFound, match="no query is in the split held-out"):
        ask(desk, shelf, within=parse_scope(None, None, "held-out"))
    with pytest.raises(BadInput, match="no split is called 'Dev'"):
        parse_scope(None, None, "Dev")


def test_a_split_and_a_bucket_confine_together(filled: Store, loaded):
    filled.chunks.load(loaded([Chunk("c5", "text 5"), Chunk("c6", "text 6")]))
    filled.splits.assign({"q1": "test", "q2": "dev"}, {})
    desk = Assigner()
    both = parse_scope("intent", "billing", "dev")
    assert queries_of(ask(desk, filled, limit=60, within=both)) == {"q2"}
    with pytest.raises(NotFound, match=r"no query has intent 'billing' \(split test\)"):
        ask(desk, filled, within=parse_scope("intent", "billing", "test"))


def test_the_counts_follow_a_grade_an_undo_and_a_cannot_tell(shelf: Store):
    desk = Assigner()
    papers = ask(desk, shelf, limit=10).papers
    assert numbers(ask(desk, shelf)) == (0, 120, 0, 12)
    event_ids = [judge(shelf, paper) for paper in papers[:9]]
    assert numbers(ask(desk, shelf)) == (9, 111, 0, 12)
    judge(shelf, papers[9], kind="cannot_tell", grade=None)
    assert numbers(ask(desk, shelf)) == (10, 110, 1, 12)
    assert numbers(ask(desk, shelf, "Bob")) == (0, 111, 0, 12), "who cannot tell asks others"
    shelf.judgments.undo(event_id="u1", undoes=event_ids[0], grader="Ann")
    assert numbers(ask(desk, shelf)) == (9, 111, 0, 12)
    _, about = desk.next_for(shelf, "Ann", 400)
    query_id, _ = pair_of(papers[0])
    assert (about[query_id].total, about[query_id].left) == (10, 1)
    assert numbers(ask(Assigner(), shelf)) == (9, 111, 0, 12), "a new desk counts alike"


def test_the_reference_is_hidden_where_the_team_says_so(store: Store, loaded):
    store.queries.load(loaded([Query("q", "a question", reference="the answer")]))
    store.chunks.load(loaded([Chunk("c", "text")]))
    store.runs.load(loaded([Ranking("q", ("c",))]), name="run")
    store.people.add("Ann")
    desk = Assigner()
    assert desk.next_for(store, "Ann", 5)[1]["q"].query.reference == "the answer"
    store.settings.save(Settings(show_reference=False))
    shown = desk.next_for(store, "Ann", 5)[1]["q"].query
    assert shown == replace(Query("q", "a question"), reference=None)


def test_only_holes_of_two_runs_are_asked_for(filled: Store, loaded):
    filled.chunks.load(loaded([Chunk("c7", "text 7")]))
    filled.runs.load(loaded([Ranking("q1", ("c7", "c4", "c2"))]), name="third")
    unjudged = Settings(
        strategy=STRATEGIES[3], unjudged_of=("first", "third"), pool_depth=2, overlap=1
    )
    filled.settings.save(unjudged)
    desk = Assigner()
    assert set(pairs_of(ask(desk, filled))) == {("q1", "c7"), ("q1", "c4")}
    judge(filled, ask(desk, filled).papers[0], "Bob")
    assert len(pairs_of(ask(desk, filled))) == 1, "it is no unjudged chunk any more"
    filled.runs.drop("third")
    with pytest.raises(NotFound, match="run 'third', which is not there any more; choose another"):
        ask(desk, filled)
    filled.settings.save(Settings())
    assert ("q1", "c3") in pairs_of(ask(desk, filled)), "and back without a restart"


def test_a_tie_by_majority_is_asked_of_those_who_have_not_graded_it(filled: Store):
    for grader, grade in (("Ann", 0), ("Bob", 3)):
        filled.people.add(grader)
        filled.judgments.add(Judgment(f"tie-{grader}", "q1", "c3", grader, grade=grade))
    asked, desk = {}, Assigner()
    for rule in (LOWER_MEDIAN, MAJORITY):
        filled.settings.save(Settings(golden_rule=rule, overlap=0))
        for grader in ("Ann", "Bob", "Cy"):
            filled.people.add(grader)
            asked[rule, grader] = ("q1", "c3") in pairs_of(ask(desk, filled, grader))
    assert [who for who, is_asked in asked.items() if is_asked] == [(MAJORITY, "Cy")]
    filled.judgments.add(Judgment("verdict", "q1", "c3", "Ann", "adjudicate", 3, blind=False))
    assert ("q1", "c3") not in pairs_of(ask(desk, filled, "Cy"))


def test_what_changed_is_marked_and_comes_again(shelf: Store, loaded):
    desk = Assigner()
    paper = ask(desk, shelf).papers[0]
    query_id, chunk_id = pair_of(paper)
    event_id = judge(shelf, paper)
    shelf.chunks.load(loaded([Chunk(chunk_id, "another text")]), update=True)
    [again] = [
        each for each in ask(desk, shelf, limit=400).papers if pair_of(each) == pair_of(paper)
    ]
    assert again.stale
    assert again.judged.event_id == event_id
    assert again.item.chunk.text == "another text"
    mine, others = (
        next(
            each for each in desk.whole(shelf, name, query_id)[0] if pair_of(each) == pair_of(paper)
        )
        for name in ("Ann", "Bob")
    )
    assert (mine.stale, mine.judged.event_id) == (True, event_id)
    assert (others.stale, others.judged) == (True, None), "nobody learns who graded it"
    judge(shelf, again)
    assert pair_of(paper) not in pairs_of(ask(desk, shelf, limit=400))


# The whole of a query, search, history ----------------------------------------------------------


def test_the_whole_query_stands_in_the_graders_own_order_likes_together(store: Store, loaded):
    words = " ".join(f"w{number}" for number in range(20))
    texts = {f"c{n}": f"{words} new{n}" if n % 4 == 0 else f"text {n}" for n in range(20)}
    store.queries.load(loaded([Query("q", "a question"), Query("alone", "no run knows it")]))
    store.chunks.load(loaded([Chunk(name, text) for name, text in texts.items()]))
    store.runs.load(loaded([Ranking("q", tuple(texts))]), name="run")
    store.settings.save(Settings(pool_depth=20))
    for name in ("Ann", "Bob"):
        store.people.add(name)
    desk = Assigner()
    (ann, groups), (bob, _) = (
        group_near_duplicates(desk.whole(store, name, "q")[0]) for name in ("Ann", "Bob")
    )
    ids = [paper.item.chunk.chunk_id for paper in ann]
    assert sorted(ids) == sorted(texts)
    assert ids != list(texts), "not the run's order"
    assert [pair_of(paper) for paper in bob] != [pair_of(paper) for paper in ann]
    assert group_near_duplicates(desk.whole(store, "Ann", "q")[0]) == (ann, groups)
    first = next(place for place, name in enumerate(ids) if int(name[1:]) % 4 == 0)
    alike = [place for place, name in enumerate(ids) if int(name[1:]) % 4 == 0]
    assert alike == list(range(first, first + 5)), "what is nearly the same stands together"
    assert groups == [first if place in alike else None for place in range(20)]
    with pytest.raises(NotFound, match="no run has chunks for query 'alone'"):
        desk.whole(store, "Ann", "alone")


def test_what_a_grader_is_not_asked_for_comes_last_in_the_list_likes_together(store: Store, loaded):
    words = " ".join(f"w{number}" for number in range(20))
    texts = {f"c{n}": f"{words} new{n}" if n % 4 == 0 else f"text {n}" for n in range(20)}
    store.queries.load(loaded([Query("q", "a question")]))
    store.chunks.load(loaded([Chunk(name, text) for name, text in texts.items()]))
    store.runs.load(loaded([Ranking("q", tuple(texts))]), name="run")
    store.settings.save(Settings(pool_depth=20, overlap=0))
    for name in ("Ann", "Bob"):
        store.people.add(name)
    desk = Assigner()
    for paper in ask(desk, store, "Bob", 400).papers:
        if int(pair_of(paper)[1][1:]) < 10:
            judge(store, paper, "Bob")
    ann, groups = group_near_duplicates(desk.whole(store, "Ann", "q")[0])
    numbers = [int(pair_of(paper)[1][1:]) for paper in ann]
    assert [paper.asked for paper in ann] == [True] * 10 + [False] * 10
    assert sorted(numbers[:10]) == list(range(10, 20))
    for alike in ((12, 16), (0, 4, 8)):
        first = min(map(numbers.index, alike))
        assert sorted(numbers[first : first + len(alike)]) == list(alike)
        assert groups[first : first + len(alike)] == [first] * len(alike)
    bob, _ = group_near_duplicates(desk.whole(store, "Bob", "q")[0])
    assert all(paper.asked for paper in bob), "what they have graded they were asked for"


def test_a_chunk_that_no_run_has_is_graded_and_counts_in_recall_only(filled: Store, loaded):
    filled.chunks.load(loaded([Chunk("lost", "the invoices are in the archive")]))
    desk = Assigner()
    before = numbers(ask(desk, filled))
    papers = desk.search(filled, "Ann", "q2", "invoices archive")
    assert [(pair_of(paper), paper.source, paper.pooled) for paper in papers] == [
        (("q2", "lost"), "search", False)
    ]
    judge(filled, papers[0], grade=3)
    after = ask(desk, filled)
    assert numbers(after) == (before[0] + 1, *before[1:]), "the pool is what it was"
    assert ("q2", "lost") not in [pair_of(paper) for paper in desk.whole(filled, "Ann", "q2")[0]]
    assert ("q2", "lost") in {
        (each.query_id, each.chunk_id) for each in filled.golden_set.read()[1]
    }
    assert filled.assignment.found_by_hand("q2") == {filled.chunks.number("lost")}
    [again] = desk.search(filled, "Ann", "q2", "archive")
    assert again.judged.grade == 3
    assert desk.search(filled, "Bob", "q2", "archive")[0].judged is None
    assert desk.found_by(filled, "Ann", "q2", "lost") == 0


def test_what_is_corrected_from_the_history_keeps_why_it_was_there(shelf: Store):
    desk = Assigner()
    paper = ask(desk, shelf).papers[0]
    judge(shelf, replace(paper, source="search"))
    [(done, shown)] = desk.history(shelf, "Ann")
    assert (shown.source, shown.judged.event_id) == ("search", done.judgment.event_id)
    judge(shelf, shown, grade=1)
    newest, oldest = desk.history(shelf, "Ann")
    assert newest[0].former == oldest[0].judgment
    assert newest[1].judged.event_id == oldest[1].judged.event_id, "one pair, one current grade"
    assert desk.history(shelf, "Ann", oldest[0].judgment.event_id) == []
    assert desk.history(shelf, "Bob") == []


def test_found_by_is_the_number_of_runs_that_have_it_in_the_pool(filled: Store):
    desk = Assigner()
    assert [desk.found_by(filled, "Ann", "q1", name) for name in ("c1", "c4", "c5", "c9")] == [
        *(2, 1, 0, 0)
    ]
    filled.settings.save(Settings(pool_depth=1))
    assert desk.found_by(filled, "Ann", "q1", "c1") == 1


def test_a_list_without_a_chunk_adds_nothing_to_the_pool(filled: Store, loaded):
    before = filled.assignment.pool(10)
    filled.runs.load(loaded([Ranking("q1", ())]), name="found nothing")
    assert filled.assignment.pool(10) == before
    assert ask(Assigner(), filled, "Ann")


# Several at once --------------------------------------------------------------------------------


def test_threads_that_ask_one_desk_while_others_judge_agree_with_the_store(shelf: Store, loaded):
    shelf.settings.save(Settings(overlap=0.3))
    desk, troubles = Assigner(), []

    def grade(name: str) -> None:
        try:
            with Store(shelf.path) as mine:
                for turn in range(15):
                    found = ask(desk, mine, name)
                    assert len(set(pairs_of(found))) == len(found.papers)
                    for paper in found.papers[:2]:
                        event_id = judge(mine, paper, name)
                        if turn % 5 == 4:
                            mine.judgments.undo(
                                event_id=f"u {event_id}", undoes=event_id, grader=name
                            )
                    desk.history(mine, name)
        except BaseException as trouble:
            troubles.append(trouble)

    def load() -> None:
        try:
            with Store(shelf.path) as mine:
                for number in range(8):
                    mine.runs.load(loaded([Ranking("m1", (f"x{number}",))]), name=f"run{number}")
                    desk.whole(mine, "Ann", "m1")
                    desk.search(mine, "Bob", "m1", "text")
        except BaseException as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=grade, args=[name]) for name in ("Ann", "Bob", "Cy")]
    threads.append(threading.Thread(target=load))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    for name in ("Ann", "Bob", "Cy"):
        kept, new = ask(desk, shelf, name, 400), ask(Assigner(), shelf, name, 400)
        assert set(pairs_of(kept)) == set(pairs_of(new))
        assert numbers(kept) == numbers(new)
        assert len(shelf.assignment.judged_by(name)) == kept.saved == 24
