"""Chunks of megabytes and lists without end: answers stay small, and nothing of a text is lost."""

from __future__ import annotations

from typing import Any

import pytest

from labeler.model import Chunk, Query, Ranking, Settings
from labeler.store import Store
from tests.support.grading_client import Pad, pad
from tests.support.page import open_page

__all__ = ["pad"]

MOST = 2_000_000
LONG = "äöü <b>word</b> \n\t" * 40_000  # every piece of it ends in another place
ESCAPED = "\x01" * 1_200_000  # six bytes each as JSON


@pytest.fixture
def huge(filled: Store, loaded) -> Store:
    """Thirty chunks of a megabyte in the pool of one query, and help that is as long."""
    texts = [LONG, ESCAPED, "x" * 1_000_000]
    filled.chunks.load(
        loaded([Chunk(f"h{n}", texts[n % 3] + str(n), "t" * 9_000, "d" * 9_000) for n in range(30)])
    )
    filled.queries.load(loaded([Query("long", "why? " * 200_000, reference=LONG, guideline=LONG)]))
    filled.runs.load(loaded([Ranking("long", tuple(f"h{n}" for n in range(30)))]), name="huge")
    filled.settings.save(Settings(pool_depth=1000))
    return filled


def sized(pad: Pad, name: str, **asked: object) -> Any:
    """Ask a route, and see that its answer is small."""
    answer = pad.answer(name, **asked)
    assert answer.status == 200, answer.body
    assert len(answer.body) <= MOST, (name, asked, len(answer.body))
    return answer.json()


def read_on(pad: Pad, item: dict[str, Any]) -> str:
    """Return the whole of a text that came cut, as the pad puts it together."""
    text, more = item["text"], item["more"]
    while more is not None:
        piece = sized(pad, "text", chunk=item["chunk"], **{"from": more})
        text, more = text + piece["text"], piece["more"]
    return text


def test_no_answer_is_large_and_a_text_is_read_on_to_its_end(huge: Store, pad: Pad):
    answer = sized(pad, "next", limit=400)
    assert answer["open"] == 32
    assert 1 <= len(answer["items"]) < 32, "as many as there is room for"
    item = next(item for item in answer["items"] if item["chunk"].startswith("h"))
    whole = {chunk.chunk_id: chunk.text for chunk in huge.chunks.all()}
    assert read_on(pad, item) == whole[item["chunk"]]
    for name, asked in {
        "search": {"query": "long", "words": "word"},
        "neighbours": {"chunk": "h0"},
        "history": {},
    }.items():
        sized(pad, name, **asked)


def test_a_list_comes_in_parts_that_are_all_of_it(huge: Store, pad: Pad):
    first = sized(pad, "query", query="long")
    pad.grade(first["items"][0])
    seen, start = [], 0
    while True:
        part = sized(pad, "query", query="long", **{"from": start})
        seen += [item["chunk"] for item in part["items"]]
        rest = part["rest"]
        assert rest["from"] == len(seen)
        assert rest["graded"] == 0, "the one that is graded is in the first part"
        if not rest["count"]:
            break
        start = rest["from"]
    assert sorted(seen) == sorted(f"h{n}" for n in range(30))
    assert len(seen) == len(set(seen))
    for item in part["items"]:
        whole = huge.chunks.get(item["chunk"]).text
        assert whole.startswith(item["text"])
        assert (item["more"] is None) == (whole == item["text"])


@pytest.mark.slow
def test_every_chunk_is_handed_out_in_the_end_however_long_it_is(huge: Store, pad: Pad):
    graded = set()
    while items := sized(pad, "next", limit=60)["items"]:
        for item in items:
            pad.grade(item)
            graded.add(item["chunk"])
    assert {f"h{n}" for n in range(30)} <= graded
    done = sized(pad, "history")["done"]
    assert done


def test_a_short_text_comes_whole_and_asks_for_nothing(filled: Store, pad: Pad):
    assert {item["more"] for item in pad.next()["items"]} == {None}
    answer = pad.get("query", query="q1")
    assert answer["rest"] == {"from": 4, "count": 0, "graded": 0}
    assert pad.get("text", chunk="c1", **{"from": 5}) == {"text": "1", "more": None}
    assert pad.get("text", chunk="c1", **{"from": 999}) == {"text": "", "more": None}
    assert pad.get("text", chunk="c1", **{"from": "-1"}) == {"text": "text 1", "more": None}
    assert "no chunk 'c5' with a text" in pad.refused("text", chunk="c5")


def test_a_long_list_is_grouped_and_counted_as_a_short_one(filled: Store, loaded, pad: Pad):
    names = tuple(f"n{n}" for n in range(1_000))
    filled.chunks.load(loaded([Chunk(name, f"all alike but for {name}") for name in names]))
    filled.runs.load(loaded([Ranking("q2", names)]), name="deep")
    filled.settings.save(Settings(pool_depth=1000))
    first = sized(pad, "query", query="q2")
    assert len(first["items"]) == 200
    assert first["rest"] == {"from": 200, "count": 801, "graded": 0}
    last = sized(pad, "query", query="q2", **{"from": 1_000})
    assert len(last["items"]) == 1
    assert sized(pad, "query", query="q2", **{"from": 5_000})["items"] == []


def test_the_rankings_view_shows_lists_longer_than_a_piece(store: Store, loaded):
    names = tuple(f"c{n}" for n in range(1_300))
    scores = tuple(1_300.5 - n for n in range(1_300))
    store.runs.load(loaded([Ranking("q", names, scores), Ranking("r", names[:512])]), name="long")
    rows = store.connection.rows("SELECT * FROM rankings WHERE query_id = 'q' ORDER BY rank")
    assert rows == [("long", "q", n + 1, f"c{n}", 1_300.5 - n) for n in range(1_300)]
    assert store.connection.rows(
        "SELECT count(*), max(rank) FROM rankings WHERE query_id = 'r'"
    ) == [(512, 512)]
    plan = store.connection.rows(
        "EXPLAIN QUERY PLAN SELECT * FROM rankings WHERE run = 'long' AND query_id = 'q'"
    )
    assert any("run=? AND query_id=?" in row[-1] for row in plan), "one list reads one list"


@pytest.mark.slow
def test_no_page_carries_a_text_of_megabytes(huge: Store):
    for page, asked in (
        ("queries", {"a": "huge", "query": "long"}),
        ("queries", {"a": "huge", "query": "long", "part": "Pool"}),
        ("compare", {"a": "huge", "b": "first", "query": "long", "chunk": "h0"}),
        ("compare", {"a": "huge", "b": "first", "show": "What moved most"}),
    ):
        app = open_page(page, **asked)
        assert not app.exception
        sizes = [len(element.proto.body) for element in app.get("html")]
        assert sum(sizes) < 2 * MOST, (page, asked, sizes)
