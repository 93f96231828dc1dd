"""What a transfer leaves open: who is handed it, in which order, and what they are told of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.applications import Starlette

from labeler.cli import main
from labeler.errors import BadInput, NotFound
from labeler.model import Chunk, Document, Judgment, Query, Ranking, Settings
from labeler.services.assignment import pooling
from labeler.services.assignment.assigner import Assigner
from labeler.services.assignment.items import GradingItem
from labeler.services.assignment.pooling import TRANSFER_AT_FIRST
from labeler.services.assignment.scope import Scope, parse_scope
from labeler.services.transfer import (
    OpenPairsCache,
    compute_transfer,
    locate_basis,
    record_transfer,
)
from labeler.services.transfer import open_pairs as opening_module
from labeler.services.transfer.open_pairs import reason_for_graders
from labeler.store import Store
from labeler.web.grading_api import grading_routes
from tests.support.grading_client import Pad
from tests.support.page import open_page, words

FEES = "Annual fees are due in May 👩‍🏫, and are taken from the account at the end of it."
LATE = "A late transfer costs twelve euros, which the branch may waive once in any year."
CARDS = "Картки надсилають листом протягом десяти робочих днів, а не раніше."
LOST = "A lost card is blocked at any hour by telephone, and a new one is free of charge."
OTHER = "Nobody has ever said this in any branch of the bank, and nobody was asked for it."
OLD = [Chunk("1", f"{FEES} {LATE}", None, "d"), Chunk("2", f"{CARDS} {LOST}", None, "d")]
NEW = [
    Chunk("1", FEES, None, "d"),
    Chunk("2", f"{LATE} {CARDS}", None, "d"),
    Chunk("3", f"{LOST} {OTHER}", None, "d"),
    Chunk("4", OTHER, None, "d"),
    Chunk("5", f"{LATE[7:]} {CARDS}", None, "d"),
]
BETWEEN = Scope(between=("", "v2"))
DAY = "2026-03-04T10:00:00.000Z"
AT = (FEES.index("due in May 👩‍🏫"), FEES.index(",")), (len(FEES) + 1, len(FEES) + 36)


def fill(store: Store, loaded: Callable[..., Any]) -> Store:
    """Fill it with two chunks that Ana graded for q1, with passages, and five cut anew."""
    store.queries.load(loaded([Query("q1", "when are fees due"), Query("q2", "a lost card")]))
    documents = [Document("d", " ".join((FEES, LATE, CARDS, LOST))), Document("e", OTHER)]
    store.documents.load(loaded(documents))
    store.chunks.load(loaded(OLD))
    store.runs.load(loaded([Ranking("q1", ("1", "2")), Ranking("q2", ("2", "1"))]), name="old")
    store.chunks.load(loaded(NEW), chunking="v2")
    lists = [Ranking("q1", ("4", "3", "5", "2", "1")), Ranking("q2", ("3", "1"))]
    store.runs.load(loaded(lists), name="new", chunking="v2")
    for name in ("Ana", "Ben", "Cy"):
        store.people.add(name)
    said = {"grader": "Ana", "created_at": DAY}
    store.judgments.add(Judgment("e1", "q1", "1", grade=3, evidence=AT, **said))
    store.judgments.add(Judgment("e2", "q1", "2", grade=0, **said))
    store.settings.save(Settings(overlap=0))
    return store


@pytest.fixture
def both(store: Store, loaded) -> Store:
    return fill(store, loaded)


@pytest.fixture
def desk() -> Assigner:
    return Assigner(opening=OpenPairsCache(rest=0, patience=60))


def papers(
    desk: Assigner, store: Store, grader: str = "Ben", **more: Any
) -> dict[str, GradingItem]:
    """Return what a grader is handed of q1, in order, by the chunks' own ids."""
    found, _ = desk.next_for(store, grader, 40, more.pop("within", BETWEEN))
    return {
        paper.item.chunk.chunk_id: paper
        for paper in found.papers
        if paper.item.query.query_id == "q1"
    }


def transferred(store: Store) -> None:
    basis = store.transfers.basis("", "v2")
    record_transfer(store, compute_transfer(basis, locate_basis(basis)))


def grade(store: Store, chunk_id: str, event_id: str, grader: str = "Ben", **more: Any) -> None:
    store.judgments.add(
        Judgment(event_id, "q1", chunk_id, grader, grade=more.pop("grade", 1), **more)
    )


# Which and in which order -----------------------------------------------------------------------


def test_what_does_not_follow_is_handed_out_before_a_carry_over_and_after_it(both: Store, loaded):
    more = loaded([Chunk("6", OLD[1].text, None, "d")])
    both.chunks.load(more, chunking="v2", update=True)
    both.runs.load(loaded([Ranking("q1", ("6",))]), name="whole", chunking="v2")
    before = set(papers(Assigner(opening=OpenPairsCache(0, 60)), both))
    assert before == {"v2:1", "v2:2", "v2:3", "v2:4", "v2:5"}, "the grade of v2:6 follows"
    transferred(both)
    assert set(papers(Assigner(opening=OpenPairsCache(0, 60)), both)) == before
    assert {"1", "2"} <= {each.chunk_id for each in both.transfers.basis("", "v2").old}


def test_the_most_useful_come_first(both: Store, desk: Assigner):
    desk.next_for(both, "Ben", 40, BETWEEN)
    order = [chunk for query, chunk in desk._rest.pairs if query == "q1"]
    named = {number: name for name, number in both.transfers.chunk_numbers("v2").items()}
    # likely 2 with marks, by rank; likely 1 with marks; without any, by rank
    assert [named[chunk] for chunk in order] == ["v2:2", "v2:1", "v2:5", "v2:4", "v2:3"]


def test_what_is_worth_the_same_is_handed_out_shuffled(both: Store, desk: Assigner, monkeypatch):
    names = ("Ana", "Ben", "Cy", "Di", "Ed", "Flo")
    for name in names:
        both.people.add(name)
    with both.connection.transaction():
        both.connection.execute("UPDATE graders SET seed = id")
    orders = {tuple(papers(desk, both, name)) for name in names}
    assert {frozenset(order[:2]) for order in orders} == {frozenset({"v2:1", "v2:2"})}
    assert {order[2] for order in orders} == {"v2:5"}
    assert len({order[:2] for order in orders}) == len({order[3:] for order in orders}) == 2
    monkeypatch.setattr(pooling, "TRANSFER_AT_ONCE", 2)
    assert set(papers(desk, both)) == {"v2:1", "v2:2"}
    for chunk in ("v2:1", "v2:2"):
        grade(both, chunk, chunk)
    assert set(papers(desk, both)) == {"v2:5", "v2:4"}


def test_two_graders_at_once_get_different_chunks(both: Store, desk: Assigner, monkeypatch):
    monkeypatch.setattr(pooling, "TRANSFER_AT_ONCE", 2)
    assert not set(papers(desk, both, "Ben")) & set(papers(desk, both, "Cy"))


@pytest.mark.parametrize("kept", ["file", "postgres"], indirect=True)
def test_what_anybody_graded_is_not_handed_out_and_comes_back_when_it_is_taken_back(
    both: Store, desk: Assigner
):
    grade(both, "v2:2", "b1")
    assert "v2:2" not in papers(desk, both, "Cy")
    assert "v2:1" in papers(desk, both, "Cy")
    both.judgments.undo(event_id="b2", undoes="b1", grader="Ben", source="pad")
    assert papers(desk, both, "Cy")["v2:2"].hint.likely == 2


def test_the_field_counts_what_is_left_open_alone(both: Store, desk: Assigner):
    found, about = desk.next_for(both, "Ben", 40, BETWEEN)
    assert (found.open, found.queries_total, found.looked) == (7, 2, 1.0)
    assert {name: each.left for name, each in about.items()} == {"q1": 5, "q2": 2}
    grade(both, "v2:2", "b1")
    assert desk.next_for(both, "Ben", 40, BETWEEN)[0].open == 6
    everything, _ = desk.next_for(both, "Ben", 40)
    assert everything.open == 8, "the old chunks that nobody graded for q2, too"


def test_a_bucket_or_a_split_keeps_it_to_their_queries(both: Store, desk: Assigner, loaded):
    both.queries.load(loaded([Query("q2", "a lost card", buckets={"kind": "card"})]), update=True)
    field = parse_scope("kind", "card", None, None, "", "v2")
    found, _ = desk.next_for(both, "Ben", 40, field)
    assert {paper.item.query.query_id for paper in found.papers} == {"q2"}


# What is told of it -----------------------------------------------------------------------------


def test_it_is_told_whose_mark_of_which_day_and_grade_stands_where_in_the_text(
    both: Store, desk: Assigner
):
    told = papers(desk, both)
    for chunk, marked, is_cut, elsewhere in [
        ("v2:1", ["due in May 👩‍🏫"], False, 1),
        ("v2:2", ["A late transfer costs twelve euros,"], False, 1),
        ("v2:5", ["transfer costs twelve euros,"], True, 1),
    ]:
        paper, [ana, *_] = told[chunk], told[chunk].hint.told
        assert (ana.who, ana.at[:10], ana.grade) == (("Ana",), "2026-03-04", 3)
        text = paper.item.chunk.text
        assert [text[start:end] for start, end in ana.marked.passages] == marked
        assert (ana.marked.is_cut, ana.marked.elsewhere, ana.marked.lost) == (is_cut, elsewhere, 0)
    assert [each.grade for each in told["v2:2"].hint.told] == [3, 0]
    assert told["v2:1"].hint.why == (
        "it holds some of what is marked in a text graded before, grade 3"
    )


def test_a_passage_that_cannot_be_placed_is_counted_and_not_marked(
    both: Store, desk: Assigner, loaded
):
    # the document was changed since the old chunks were cut from it
    text = " ".join((FEES.replace("due in May", "never taken"), LATE, CARDS, LOST))
    both.documents.load(loaded([Document("d", text)]), update=True)
    [ana, *_] = papers(desk, both)["v2:2"].hint.told
    assert (len(ana.marked.passages), ana.marked.lost) == (1, 1)


def test_nothing_is_told_of_a_text_that_has_changed_since(both: Store, desk: Assigner, monkeypatch):
    assert papers(desk, both)["v2:2"].hint
    kept = desk._opening
    monkeypatch.setattr(kept, "_is_due", lambda *_: False)
    with both.connection.writing():
        both.connection.execute("UPDATE chunks SET text_hash = 'other' WHERE chunk_id = 'v2:2'")
    assert papers(desk, both)["v2:2"].hint is None


def test_an_old_grade_that_changes_changes_what_is_told(both: Store, desk: Assigner):
    assert papers(desk, both)["v2:2"].hint.likely == 2
    both.judgments.add(Judgment("e3", "q1", "1", "Ana", grade=0))
    assert "v2:2" not in papers(desk, both), "now its grade follows: 0"


def test_reasons_are_told_without_the_words_that_the_team_has_others_for(
    both: Store, desk: Assigner
):
    said = {
        "it holds every passage of chunk 7, grade 3",
        "graded chunks differ: the same text as chunk 7, yet its text is in chunks graded 0",
        "its text is in graded chunks, outside of what made their grades",
        "a part of chunk 7, in which no passage is marked",
        "a graded chunk's text fits several places equally well",
        "it holds 12% of what is marked for the query, as chunks of that grade do",
        "what it may answer with is in chunk 7, grade 1",
    }
    for each in said:
        told = reason_for_graders(each.replace("chunk 7", "a text graded before"))
        assert not {"chunk", "chunks", "passage"} & set(told.replace(",", "").split())


# Blind or not -----------------------------------------------------------------------------------


def blind(store: Store) -> dict[str, bool]:
    return {each.event_id: each.blind for each in store.judgments.log() if each.grader == "Ben"}


@pytest.fixture
def ben(both: Store, ask) -> Pad:
    pad = Pad(both, ask, "Ben")
    opening = OpenPairsCache(rest=0, patience=60)
    pad.app = Starlette(routes=grading_routes(str(both.path), assigner=Assigner(opening=opening)))
    return pad


def items(pad: Pad, **more: Any) -> dict[str, dict[str, Any]]:
    found = pad.next(**{"from": "", "to": "v2"}, **more)["items"]
    return {item["chunk"]: item for item in found if item["query"] == "q1"}


def test_who_was_told_what_was_given_before_does_not_grade_blind(both: Store, ben: Pad):
    found = items(ben)
    told, untold = ben.grade(found["v2:2"], blind=True), ben.grade(found["v2:4"])
    assert "before" not in found["v2:4"], "nobody has said anything of its text"
    later = ben.get("query", query="q1")["items"]
    [listed] = [item for item in later if item["chunk"] == "v2:1"]
    assert "before" not in listed
    seen = ben.grade(listed)
    assert blind(both) == {told: False, untold: True, seen: False}


def test_a_team_can_keep_it_from_graders_who_are_blind_then(both: Store, ben: Pad):
    both.settings.save(Settings(overlap=0, show_before=False))
    found = items(ben)
    assert set(found) == {"v2:1", "v2:2", "v2:3", "v2:4", "v2:5"}
    assert "Ana" not in json.dumps(found)
    assert blind(both) == {}
    ben.grade(found["v2:2"])
    assert set(blind(both).values()) == {True}


def test_the_queue_tells_nothing_of_it_to_whoever_did_not_ask_for_what_is_open(
    both: Store, ben: Pad
):
    found = ben.next(limit=400)
    assert {"v2:1", "v2:2"} <= {item["chunk"] for item in found["items"]}
    assert "Ana" not in json.dumps(found)
    assert all("before" not in item for item in found["items"])
    ben.grade(next(item for item in found["items"] if item["chunk"] == "v2:2"))
    assert set(blind(both).values()) == {True}


def test_a_grade_that_is_taken_over_keeps_its_passages(both: Store, ben: Pad):
    item = items(ben)["v2:1"]
    before = item["before"]
    [told] = before["told"]
    assert (before["likely"], told["who"], told["at"]) == (2, "Ana", "2026-03-04")
    ben.grade(item, 2, evidence=told["passages"])
    event = list(both.judgments.log())[-1]
    assert [FEES[start:end] for start, end in event.evidence] == ["due in May 👩‍🏫"]


def test_an_answer_stays_small_whatever_was_marked(both: Store, ben: Pad, loaded):
    texts = [" ".join(f"слово-{n}-{at}" for at in range(1200)) for n in range(30)]
    both.chunks.load(loaded([Chunk(f"o{n}", text) for n, text in enumerate(texts)]))
    cut = [Chunk(f"n{n}", f"{text} and more") for n, text in enumerate(texts)]
    both.chunks.load(loaded(cut), chunking="v2", update=True)
    both.runs.load(
        loaded([Ranking("q2", tuple(each.chunk_id for each in cut))]), name="l", chunking="v2"
    )
    both.settings.save(Settings(overlap=0, pool_depth=100))
    marks = tuple((at * 50, at * 50 + 20) for at in range(100))
    for number in range(30):
        for name in ("Ana", "Cy"):
            said = Judgment(f"{name}{number}", "q2", f"o{number}", name, grade=3, evidence=marks)
            both.judgments.add(said)
    answer = ben.answer("next", **{"from": "", "to": "v2", "limit": 400})
    assert b'"who":"Ana"' in answer.body.replace(b": ", b":")
    assert len(answer.body) < 2_000_000


# When it is not there, or not yet ---------------------------------------------------------------


def test_half_of_the_way_and_what_is_not_there_are_refused(both: Store, ben: Pad):
    assert "give both" in ben.refused("next", to="v2")
    assert "no chunking 'v9'" in ben.refused("next", **{"from": "", "to": "v9"})
    assert "no chunk of chunking v2 has a golden grade" in ben.refused(
        "next", **{"from": "v2", "to": ""}
    )
    with pytest.raises(BadInput, match="give both"):
        parse_scope(None, None, None, None, "", None)
    assert parse_scope(None, None, None, None, "", "v2") == BETWEEN


def test_a_team_that_grades_the_holes_of_two_other_runs_is_told_why_nothing_comes(
    both: Store, desk: Assigner, loaded
):
    both.runs.load(loaded([Ranking("q1", ("2", "1"))]), name="other", chunking="")
    both.settings.save(Settings(strategy="only unjudged of A vs B", unjudged_of=("old", "other")))
    with pytest.raises(NotFound, match="no run of this chunking is A or B"):
        desk.next_for(both, "Ben", 40, BETWEEN)


def test_while_much_is_looked_at_a_few_come_by_their_ranks_and_blind(
    both: Store, ben: Pad, monkeypatch
):
    held, begun = threading.Event(), threading.Event()

    def slow(basis, progress=None):
        begun.set()
        progress(0.5)
        assert held.wait(30)
        return locate_basis(basis, progress)

    monkeypatch.setattr(opening_module, "SMALL_TRANSFER", 0)
    monkeypatch.setattr(opening_module, "locate_basis", slow)
    ben.next(**{"from": "", "to": "v2"})
    assert begun.wait(30)
    found = ben.next(**{"from": "", "to": "v2"})
    assert len(found["items"]) == TRANSFER_AT_FIRST
    assert 0 < found["looked"] < 1
    assert all("before" not in item for item in found["items"])
    held.set()
    until = time.monotonic() + 30
    while (found := ben.next(**{"from": "", "to": "v2"}))["looked"] < 1:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert any("before" in item for item in found["items"])


def test_what_a_page_has_looked_at_is_not_looked_at_again(both: Store, monkeypatch):
    opening = OpenPairsCache()
    stand = both.golden_set.data_revision(), both.judgments.revision()
    basis = both.transfers.basis("", "v2")
    opening.keep(both, compute_transfer(basis, locate_basis(basis)), *stand)
    monkeypatch.setattr(opening_module, "locate_basis", None)
    found = papers(Assigner(opening=opening), both)
    assert found["v2:2"].hint.likely == 2
    grade(both, "v2:3", "b1")
    assert set(papers(Assigner(opening=opening), both)) == set(found) - {"v2:3"}


# Where one comes from ---------------------------------------------------------------------------


def test_scores_of_a_chunking_that_nobody_graded_lead_to_the_carry_over(
    both: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LABELER_DB", str(both.path))
    said = words(open_page("scores", chunking="v2"))
    assert "Transfer grades of the default chunking to these chunks" in said
    grade(both, "v2:1", "b1")
    assert "Nobody has graded a chunk of" not in words(open_page("scores", chunking="v2"))


def test_a_label_page_that_is_told_half_of_the_way_says_what_is_missing(
    both: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LABELER_DB", str(both.path))
    wrong = {"from": "default", "to": "v9"}
    assert "no chunking is called 'v9'" in words(open_page("label", **wrong))
    assert "two chunkings" in words(open_page("label", to="v2"))
    assert both.chunkings.openings() == [("", "v2")]
    grade(both, "v2:1", "b1")
    assert both.chunkings.openings() == [("v2", ""), ("", "v2")]


def test_the_command_says_where_what_is_left_open_is_graded(both: Store):
    result = CliRunner().invoke(main, ["--db", str(both.path), "carry", "--from", "", "--to", "v2"])
    assert "7 pairs are left to graders" in result.output
    assert "/?from=default&to=v2 on the Label page" in result.output
