"""The pad's HTTP face, outwards: what a grader gets to see, and what nobody may learn from it."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from typing import Any

import pytest

from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import parse
from labeler.model import Chunk, Judgment, Query, Ranking, Remark, Settings
from labeler.store import LeakedQuery, Store
from labeler.web.grading_api.read_api import MOST_ITEMS
from tests.support.grading_client import Pad, many, pad

__all__ = ["pad"]

ITEM = {
    *("query", "chunk", "text_hash", "title", "document", "text", "more"),
    *("stale", "replaces", "source", "slip"),
}
QUERY = {
    *("text", "task", "guideline", "reference", "keywords"),
    *("total", "left", "mine", "remark", "remark_note"),
}
NEXT = {
    *("items", "queries", "undoable", "saved", "open", "queries_done", "queries_total"),
    *("queries_mine", "pace_ms", "without_text", "looked", "self_agreement"),
}
SLIP = re.compile(rb'"slip":"[\w-]{24}"')  # random letters, which may make any name
DONE = {"event_id", "kind", "grade", "reason", "note", "item", "former"}


def said(event_id: str, grade: int, note: str) -> dict[str, Any]:
    return {"event_id": event_id, "kind": "grade", "grade": grade, "reason": None, "note": note}


# Next -------------------------------------------------------------------------------------------


def test_next_is_the_pool_without_what_is_settled_or_ones_own(filled: Store, pad: Pad):
    assert sorted(pad.pairs()) == [("q1", "c3"), ("q1", "c4")]
    pad.send(pad.event("e1", None, kind="cannot_tell"))
    answer = pad.next()
    assert [item["chunk"] for item in answer["items"]] == ["c4"]
    assert (answer["saved"], answer["open"], answer["without_text"]) == (1, 1, 2)
    assert ("q1", "c1") not in pad.pairs(), "settled by an import"


def test_next_is_of_a_split_where_one_is_asked_for(filled: Store, pad: Pad, loaded):
    filled.chunks.load(loaded([Chunk("c5", "text 5"), Chunk("c6", "text 6")]))
    filled.splits.assign({"q1": "test", "q2": "dev"}, {})
    filled.splits.mark_leaked([LeakedQuery("q2", "few.jsonl", 1, "query", 1.0, "words")])
    assert {item["query"] for item in pad.get("next")["items"]} == {"q1", "q2"}
    answer = pad.get("next", split="dev")
    assert {item["query"] for item in answer["items"]} == {"q2"}
    assert (answer["queries_total"], answer["open"]) == (1, 2)
    assert {item["query"] for item in pad.get("next", leaked="without")["items"]} == {"q1"}
    assert pad.get("next", split="test", facet="intent", bucket="refund")["queries_total"] == 1
    assert "no query is in the split held-out" in pad.refused("next", split="held-out")
    assert "no split is called 'Dev'" in pad.refused("next", split="Dev")


def test_next_tells_how_far_a_grader_is(filled: Store, pad: Pad):
    answer = pad.next()
    assert (answer["queries_done"], answer["queries_total"]) == (1, 2), "q2's text is not there"
    assert answer["pace_ms"] is answer["self_agreement"] is None
    assert answer["queries"]["q1"]["total"] == 4
    assert answer["queries"]["q1"]["left"] == 2
    pad.grade(answer["items"][0], elapsed_ms=1500)
    answer = pad.next()
    assert (answer["pace_ms"], answer["queries"]["q1"]["left"]) == (1500, 1)
    pad.send(pad.remark("r1", "unanswered", note="nothing here"))
    answer = pad.next()
    assert (answer["items"], answer["open"], answer["queries_done"]) == ([], 0, 2)
    shown = answer["queries"]["q1"]  # which is there for what can be undone
    assert (shown["remark"], shown["remark_note"]) == ("unanswered", "nothing here")


def test_self_agreement_comes_as_two_counts(filled: Store, pad: Pad):
    [item, _] = pad.next()["items"]
    first = pad.grade(item, 2)
    again = {**item, "replaces": first, "source": "repeat", "by": pad.key}
    pad.grade({**again, "slip": pad.slip(again)}, 2)
    assert pad.next()["self_agreement"] == {"again": 1, "same": 1}


def test_what_a_grader_could_not_tell_is_still_open_to_others(filled: Store, pad: Pad):
    bob = pad.beside(filled, "Bob")
    pad.send(pad.event("e1", None, kind="cannot_tell"))
    assert ("q1", "c3") in bob.pairs()
    assert ("q1", "c3") not in pad.pairs()


def test_a_grade_closes_the_pair_for_everybody_and_its_undo_opens_it(filled: Store, pad: Pad):
    filled.settings.save(Settings(overlap=0))
    bob = pad.beside(filled, "Bob")
    assert ("q1", "c3") in bob.pairs()
    pad.send(pad.event("e1"))
    assert ("q1", "c3") not in bob.pairs()
    assert bob.next()["open"] == 1
    pad.send(pad.event("u1", None, undoes="e1"))
    assert ("q1", "c3") in bob.pairs()
    assert (bob.next()["open"], pad.next()["saved"]) == (2, 0)


def test_a_chunk_whose_text_changed_comes_again(filled: Store, pad: Pad, loaded):
    pad.send(pad.event("e1"))
    assert ("q1", "c3") not in pad.pairs()
    changed = [replace(filled.chunks.get(name), text=f"new {name}") for name in ("c1", "c3")]
    filled.chunks.load(loaded(changed), update=True)
    items = {(item["query"], item["chunk"]): item for item in pad.next()["items"]}
    assert {("q1", "c1"), ("q1", "c3"), ("q2", "c3")} <= set(items)
    assert not items["q1", "c4"]["stale"]
    fresh = items["q1", "c3"]
    assert (fresh["stale"], fresh["replaces"], fresh["text"]) == (True, "e1", "new c3")
    assert (items["q1", "c1"]["stale"], items["q1", "c1"]["replaces"]) == (True, None)
    pad.grade(fresh, 1)
    assert ("q1", "c3") not in pad.pairs()


def test_a_grade_for_the_old_wording_that_was_on_the_way_does_not_settle_the_new(
    filled: Store, pad: Pad, loaded
):
    seen = next(item for item in pad.next()["items"] if item["chunk"] == "c3")
    filled.chunks.load(loaded([Chunk("c3", "another wording")]), update=True)
    pad.grade(seen)
    assert ("q1", "c3") in pad.pairs()
    assert filled.golden_set.contents().stale == 2


def test_a_new_run_a_retired_query_and_new_texts_show_at_once(filled: Store, pad: Pad, loaded):
    assert pad.next()["without_text"] == 2
    filled.chunks.load(loaded([Chunk("c5", "text 5"), Chunk("c6", "text 6")]))
    assert pad.next()["without_text"] == 0
    filled.runs.load(loaded([Ranking("q2", ("c4",))]), name="third")
    assert {("q2", "c4"), ("q2", "c5"), ("q2", "c6")} <= set(pad.pairs())
    filled.queries.retire("q2")
    assert {query_id for query_id, _ in pad.pairs()} == {"q1"}


def test_the_pool_is_as_deep_as_the_setting_says(filled: Store, pad: Pad):
    filled.settings.save(Settings(pool_depth=1))
    assert pad.pairs() == [("q1", "c4")]
    filled.settings.save(Settings(pool_depth=3))
    assert sorted(pad.pairs()) == [("q1", "c3"), ("q1", "c4")]


@pytest.mark.parametrize(
    "limit", ["", "x", "-1", "9" * 5000, "²", "٣", "1.5", "0", "1", "60", "9999"]
)
def test_the_limit_is_a_wish_within_bounds(pad: Pad, limit: str):
    wanted = {"0": 0, "1": 1}.get(limit, 2)
    answer = pad.next(limit=limit)
    assert len(answer["items"]) == wanted
    assert answer["open"] == 2, "a limit must not change what is left"


def test_a_field_confines_and_an_unknown_one_is_said(filled: Store, pad: Pad):
    assert len(pad.pairs(facet="intent", bucket="refund")) == 2
    answer = pad.next(facet="task", bucket="research")
    assert (answer["items"], answer["open"], answer["queries_total"]) == ([], 0, 1)
    assert pad.refused("next", facet="intent", bucket="x") == "no query has intent 'x'"
    assert "give both" in pad.refused("next", facet="intent")


def test_the_order_is_each_graders_own_and_stays(filled: Store, pad: Pad, ask, loaded):
    many(filled, loaded, queries=50)
    bob = Pad(filled, ask, "Bob")
    first = pad.pairs(limit=9999)
    assert first == pad.pairs(limit=9999)
    assert first != bob.pairs(limit=9999)
    pad.restart(filled)
    assert pad.pairs(limit=9999) == first
    assert [chunk for _, chunk in first[:10]] != [f"x{n}" for n in range(10)], "not the run's order"
    assert len(first) == MOST_ITEMS == 400


def test_a_dropped_run_is_said_where_the_pool_needs_it(filled: Store, pad: Pad):
    unjudged = Settings(strategy="only unjudged of A vs B", unjudged_of=("first", "second"))
    filled.settings.save(unjudged)
    assert len(pad.pairs()) == 2
    filled.runs.drop("second")
    assert "'second', which is not there any more" in pad.refused("next")
    assert pad.send(pad.event())[0]["saved"], "what was graded before is still taken"


# Undo, history ----------------------------------------------------------------------------------


def test_a_new_page_knows_what_can_be_undone(filled: Store, pad: Pad):
    for number, chunk in enumerate(["c3", "c4"]):
        pad.send(pad.event(f"e{number}", chunk=chunk, note=f"note {number}"))
    undoable = pad.next()["undoable"]
    assert [(done["event_id"], done["item"]["chunk"], done["note"]) for done in undoable] == [
        ("e1", "c4", "note 1"),
        ("e0", "c3", "note 0"),
    ]
    assert all(set(done) == DONE and set(done["item"]) == {*ITEM, "judged"} for done in undoable)
    filled.adjudication.adjudicate(
        Judgment("verdict", "q1", "c4", "Ann", kind="adjudicate", grade=1), None
    )
    assert pad.next()["undoable"] == undoable, "U must not take a verdict back"


def test_the_history_goes_back_page_by_page(filled: Store, pad: Pad, loaded):
    many(filled, loaded)
    for item in pad.next(limit=45)["items"]:
        pad.grade(item)
    pages, before = [], {}
    while done := pad.get("history", **before)["done"]:
        pages.append([each["event_id"] for each in done])
        before = {"before": pages[-1][-1]}
    assert [len(page) for page in pages] == [20, 20, 5]
    log = [event.event_id for event in filled.judgments.log()[3:]]
    assert [event_id for page in pages for event_id in page] == log[::-1]
    assert set(pad.get("history")["queries"]) == {each.split("/")[1] for each in pages[0]}


def test_the_history_says_what_an_undo_would_leave(filled: Store, pad: Pad):
    pad.send(pad.event("e1", 1, note="why"), pad.event("e2", 3, replaces="e1"))
    newest, oldest = pad.get("history")["done"]
    assert newest["former"] == said("e1", 1, "why")
    assert oldest["former"] is None
    assert newest["item"]["replaces"] == oldest["item"]["replaces"] == "e2"
    pad.send(pad.event("u2", None, undoes="e2"))
    [done] = pad.get("history", before="e2")["done"]
    assert (done["event_id"], done["item"]["replaces"]) == ("e1", "e1")


# The whole of a query, search, neighbours -------------------------------------------------------


def test_the_whole_query_shows_ones_own_judgments_and_what_is_alike(
    filled: Store, pad: Pad, loaded
):
    filled.chunks.load(loaded([Chunk("c4", "Text 3!")]), update=True)
    pad.send(pad.event("e1", 1, note="mine"))
    filled.judgments.add(Judgment("b1", "q1", "c4", "Bob", grade=3, note="a secret"))
    answer = pad.get("query", query="q1")
    assert [set(item) for item in answer["items"]] == [ITEM | {"group", "judged", "asked"}] * 4
    assert set(answer["queries"]) == {"q1"}
    items = {item["chunk"]: item for item in answer["items"]}
    assert items["c3"]["judged"] == said("e1", 1, "mine")
    assert (items["c3"]["replaces"], items["c3"]["source"]) == ("e1", "list")
    assert items["c4"]["judged"] is items["c4"]["replaces"] is items["c1"]["group"] is None
    places = [item["chunk"] for item in answer["items"]]
    first = min(places.index("c3"), places.index("c4"))
    assert items["c3"]["group"] == items["c4"]["group"] == first
    assert places[first + 1] in ("c3", "c4"), "they stand together"
    assert "no run has chunks for query 'q7'" in pad.refused("query", query="q7")
    assert "which query" in pad.refused("query")


def test_a_chunk_that_every_run_missed_is_found_graded_and_counted_in_recall(
    filled: Store, pad: Pad, loaded
):
    filled.chunks.load(loaded([Chunk("lost", "the archive of invoices", "Archive")]))

    def recall() -> float:
        board = Scoreboard(filled.collection.read(), Conventions.of())
        [score] = [each for each in board.table([parse("R@5")]) if each.run == "first"]
        return score.value

    before = recall()
    [item] = pad.get("search", query="q1", words="archi")["items"]
    assert set(item) == ITEM | {"judged", "pooled"}
    assert (item["chunk"], item["pooled"], item["source"]) == ("lost", False, "search")
    counts = {name: pad.next()[name] for name in ("open", "queries_done", "queries_total")}
    pad.grade(item, 3)
    assert recall() < before, "the runs are now known to have missed it"
    assert {name: pad.next()[name] for name in counts} == counts
    [item] = pad.get("search", query="q1", words="archive")["items"]
    assert item["judged"]["grade"] == 3
    assert pad.get("told", query="q1", chunk="lost")["found_by"] == 0


def test_a_search_finds_what_is_in_the_pool_too(filled: Store, pad: Pad):
    answer = pad.get("search", query="q1", words="title 3")
    assert answer["items"][0]["chunk"] == "c3"
    assert answer["items"][0]["pooled"]
    assert set(answer["queries"]) == {"q1"}
    for words in ("", "nowhere", '"OR* (', "x" * 100_000):
        assert pad.get("search", query="q1", words=words) == {"items": [], "queries": {}}
    assert "which query" in pad.refused("search", words="text")


def test_a_search_gives_no_more_than_thirty(filled: Store, pad: Pad, loaded):
    filled.chunks.load(loaded([Chunk(f"s{n}", f"spare part {n}") for n in range(40)]))
    assert len(pad.get("search", query="q1", words="spare")["items"]) == 30


def test_the_chunks_beside_a_chunk_are_those_of_its_document(filled: Store, pad: Pad, loaded):
    parts = [Chunk(f"d{n}", f"part {n}", f"head {n}", "doc", n) for n in (1, 2, 5)]
    filled.chunks.load(loaded([*parts, Chunk("other", "x", None, "other doc", 3)]))
    assert pad.get("neighbours", chunk="d2") == {
        "before": {"title": "head 1", "text": "part 1"},
        "after": {"title": "head 5", "text": "part 5"},
    }
    assert pad.get("neighbours", chunk="d1")["before"] is None
    for alone in ("c1", "other", "nowhere"):
        assert pad.get("neighbours", chunk=alone) == {"before": None, "after": None}


# What nobody may learn --------------------------------------------------------------------------


def test_what_others_gave_is_told_after_ones_own_judgment_and_counts_them_only(
    filled: Store, pad: Pad, loaded
):
    filled.chunks.load(
        loaded([replace(filled.chunks.get("c3"), document_id="manual")]), update=True
    )
    for name in ("Bob", "Cy"):
        filled.judgments.add(
            Judgment(name, "q1", "c3", name, grade=3, note="a secret", reason="secret")
        )
    for asked in ({"query": "q1", "chunk": "c3"}, {"query": "q1", "chunk": "c1"}):
        assert "grade this passage first" in pad.refused("told", **asked)
    pad.send(pad.event("e1", 1))
    answer = pad.answer("told", query="q1", chunk="c3")
    assert answer.json() == {
        "chunk": "c3",
        "document": "manual",
        "others": [{"kind": "grade", "grade": 3, "count": 2}],
        "found_by": 1,
    }
    assert b"secret" not in answer.body
    assert b"Bob" not in answer.body
    pad.send(pad.event("u1", None, undoes="e1"))
    pad.refused("told", query="q1", chunk="c3")
    for asked in ({"query": "q1"}, {"chunk": "c3"}, {"query": "q1", "chunk": "c9"}):
        pad.refused("told", **asked)


def keys_of(value: Any) -> set[str]:
    """Return every name in a JSON value."""
    if isinstance(value, dict):
        return {*value, *(key for each in value.values() for key in keys_of(each))}
    return {key for each in value for key in keys_of(each)} if isinstance(value, list) else set()


def test_passages_for_practice_come_with_golden_grades_and_are_no_longer_blind(
    filled: Store, pad: Pad
):
    assert pad.get("practice") == {"examples": []}
    for chunk, grade in (("c1", 3), ("c3", 0), ("c4", 1)):
        filled.judgments.add(Judgment(f"b-{chunk}", "q1", chunk, "Bob", grade=grade))
    ids = ("q1", "c3", "q1", "c1", "q1", "c4")
    filled.settings.save(replace(filled.settings.read(), practice=ids))
    assert filled.exposure.is_blind("Ann", "q1", "c3")
    examples = pad.get("practice")["examples"]
    assert [(each["chunk"], each["grade"]) for each in examples] == [
        ("c3", 0),
        ("c1", 3),
        ("c4", 1),
    ]
    assert examples[0]["question"] == filled.queries.get("q1").text
    assert not filled.exposure.is_blind("Ann", "q1", "c3")
    filled.judgments.undo(event_id="u", undoes="b-c4", grader="Bob", source="pad", elapsed_ms=None)
    assert pad.get("practice") == {"examples": []}, "one has lost its golden grade"


def test_no_answer_names_a_run_a_rank_a_score_or_another_grader(filled: Store, pad: Pad, loaded):
    many(filled, loaded)
    filled.judgments.add(
        Judgment("bobs first", "m1", "x1", "Bob", kind="cannot_tell", note="a secret note")
    )
    filled.judgments.add(Judgment("bobs next", "q1", "c4", "Bob", grade=3, note="a secret note"))
    filled.remarks.add(Remark("bobs word", "q1", "Bob", "unclear", "a secret note"))
    pad.send(pad.event("e1"))
    answers = [
        pad.answer("next"),
        pad.answer("history"),
        *(pad.answer("query", query=query_id) for query_id in ("q1", "q2", "m1")),
        pad.answer("search", query="q1", words="text"),
        pad.answer("neighbours", chunk="c1"),
        pad.answer("told", query="q1", chunk="c3"),
    ]
    assert {answer.status for answer in answers} == {200}
    bodies = [SLIP.sub(b"", answer.body) for answer in answers]
    for word in (b"best system", b"bm25", b"Bob", b"bobs", b"secret"):
        assert all(word not in body for body in bodies)
    for word in ("second", "rank", "score", "system", "run"):
        assert all(word not in body.decode() for body in bodies)
    known = ITEM | QUERY | NEXT | DONE | {"done", "group", "judged", "pooled", "before", "after"}
    known |= {"rest", "from", "count", "graded", "asked"}
    ids = {"q1", "q2", *(f"m{n}" for n in range(12))}
    assert keys_of([answer.json() for answer in answers[:-1]]) <= known | ids
    for item in answers[2].json()["items"]:
        assert item["judged"] is None or item["chunk"] == "c3", "no grade but one's own"


def test_a_repeat_looks_like_any_other_chunk(filled: Store, pad: Pad, loaded):
    """The pad must know it for its counts; the person in front of it cannot."""
    many(filled, loaded, queries=40)
    items: dict[str, set[str]] = {}
    for _ in range(60):
        answer = pad.next(limit=200)
        for item in answer["items"]:
            items.setdefault(item["source"], set()).update(item)
        if "repeat" in items:
            break
        for item in answer["items"][:10]:
            pad.grade(item)
    assert items == {"pool": ITEM, "repeat": ITEM}


def test_texts_are_given_as_they_are(filled: Store, pad: Pad, loaded):
    hostile = '<script>alert(1)</script> "quoted" \u202e {{7*7}} \U0001f600'
    filled.queries.load(loaded([Query("h", hostile, guideline=hostile, keywords=(hostile,))]))
    filled.chunks.load(loaded([Chunk("h", hostile, hostile, hostile)]))
    filled.runs.load(loaded([Ranking("h", ("h",))]), name=hostile.replace("\u202e", ""))
    answer = pad.answer("query", query="h")
    assert answer.headers["content-type"] == "application/json"
    [item], query = answer.json()["items"], answer.json()["queries"]["h"]
    assert {item["text"], item["title"], item["document"]} == {hostile}
    assert {query["text"], query["guideline"], *query["keywords"]} == {hostile}


# Several at once --------------------------------------------------------------------------------


def test_requests_at_the_same_time_agree_with_the_store(filled: Store, pad: Pad, loaded):
    many(filled, loaded)
    filled.people.add("Dee")
    pads = [pad.beside(filled, name) for name in ("Ann", "Bob", "Cy", "Dee")]
    troubles: list[BaseException] = []

    def grade(mine: Pad) -> None:
        try:
            for turn in range(12):
                for item in mine.next(limit=3)["items"][:2]:
                    event_id = mine.grade(item, turn % 4)
                    if turn % 3 == 2:
                        names = {"query": item["query"], "chunk": item["chunk"]}
                        undo = mine.event(f"undo {event_id}", None, undoes=event_id, **names)
                        assert mine.send(undo)[0]["saved"]
        except BaseException as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=grade, args=[each]) for each in pads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    for each in pads:
        kept = each.next(limit=400)
        each.restart(filled)
        new = each.next(limit=400)
        assert in_any_order(kept) == in_any_order(new), "what was kept up to date is what is there"


def in_any_order(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without its order, which depends on where the others are."""
    return {**answer, "items": sorted(json.dumps(item) for item in answer["items"])}


def test_a_grader_looks_through_what_they_graded(filled: Store, pad: Pad):
    pad.send(pad.event("e1", 3, chunk="c1", elapsed_ms=4000))
    pad.send(pad.event("e2", None, kind="cannot_tell", chunk="c2", note="which parcel?"))
    pad.send(pad.event("e3", 0, query="q2", chunk="c3", note="about fees"))
    pad.beside(filled, "Bob").send(pad.beside(filled, "Bob").event("e4", 1, chunk="c1"))
    own = pad.get("own")
    assert [item["judged"]["event_id"] for item in own["items"]] == ["e3", "e2", "e1"]
    assert own["counts"] == {
        "all": 3,
        "cannot_tell": 1,
        "note": 2,
        "0": 1,
        "1": 0,
        "2": 0,
        "3": 1,
    }
    assert (own["of_queries"], own["spent_ms"], own["rest"]["count"]) == (2, 5800, 0)
    for kind, found in (("note", ["e3", "e2"]), ("cannot_tell", ["e2"]), ("0", ["e3"]), ("1", [])):
        items = pad.get("own", kind=kind)["items"]
        assert [item["judged"]["event_id"] for item in items] == found
    assert "kind=odd" in pad.refused("own", kind="odd")
    pad.send(pad.event("u3", None, query="q2", chunk="c3", kind=None, undoes="e3"))
    assert [item["chunk"] for item in pad.get("own", kind="note")["items"]] == ["c2"]
