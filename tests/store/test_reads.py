"""Reading a golden set back: the arrays measures are made from, the views for other tools."""

from __future__ import annotations

import math
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from labeler.errors import BadInput
from labeler.model import Chunk, Judgment, Query, Ranking, Settings
from labeler.store import Store
from tests.support.databases import another_tool

SCORES = (
    *(float("inf"), 3.4028234e38, 1e39, 12345.678, 1.0, 0.1, 1.1754944e-38, 1e-40, 1.4e-45),
    *(1e-60, 0.0, -0.0, -1e-45, -0.1, -1.0, -3.4e38, -1e39, float("-inf")),
)


def test_the_rankings_view_shows_the_lists_as_stored(store: Store, loaded):
    names = tuple(f"c{number}" for number in range(len(SCORES)))
    store.queries.load(loaded([Query("q", "?")]))
    store.runs.load(loaded([Ranking("q", names, SCORES), Ranking("other", names[:2])]), name="run")
    stored = store.collection.read().runs[0].lists[0].scores
    with another_tool(store) as run:
        rows = run(
            "SELECT run, query_id, rank, chunk_id, score FROM rankings ORDER BY query_id DESC, rank"
        ).fetchall()
    assert rows == [
        *(
            ("run", "q", rank, name, score)
            for rank, (name, score) in enumerate(zip(names, stored.tolist(), strict=True), 1)
        ),
        ("run", "other", 1, "c0", None),
        ("run", "other", 2, "c1", None),
    ]
    assert stored[1] != stored[2], "only what float32 cannot hold becomes infinite"
    assert math.isinf(stored[2])


def test_the_rankings_view_of_an_empty_golden_set_is_empty(store: Store):
    assert store.connection.rows("SELECT * FROM rankings") == []


def test_a_collection_is_sorted_whatever_the_order_of_grading(filled: Store):
    for number, pair in enumerate([("q2", "c6"), ("q1", "c4"), ("q2", "c1"), ("q1", "c3")]):
        filled.judgments.add(Judgment(f"e{number}", *pair, "Ann", grade=number))
    collection = filled.collection.read()
    keys = list(zip(collection.golden_query, collection.golden_chunk, strict=True))
    assert keys == sorted(keys)
    assert len(set(keys)) == 7
    named = [(collection.query_ids[q], collection.chunk_ids[c]) for q, c in keys]
    assert dict(zip(named, collection.golden_grade.tolist(), strict=True)) == {
        ("q1", "c1"): 3,
        ("q1", "c2"): 0,
        ("q2", "c3"): 1,
        ("q2", "c6"): 0,
        ("q1", "c4"): 1,
        ("q2", "c1"): 2,
        ("q1", "c3"): 3,
    }


def test_a_collection_has_the_shapes_it_promises(filled: Store, loaded):
    filled.chunks.load(loaded([Chunk("c1", "other words")]), update=True)
    collection = filled.collection.read()
    arrays = (collection.golden_query, collection.golden_chunk, collection.golden_grade)
    assert [array.dtype for array in arrays] == [np.int32, np.int32, np.int8]
    assert collection.stale.tolist() == [True, False, False]
    assert collection.revision == filled.judgments.revision()
    assert collection.data_revision == filled.golden_set.data_revision()
    first, second = collection.runs
    assert (first.name, first.system, second.system) == ("first", "bm25", "second")
    assert [collection.chunk_ids[c] for c in first.lists[0].chunks] == ["c1", "c2", "c3"]
    assert first.lists[0].scores.tolist() == [3.5, 2.0, -1.0]
    assert second.lists[0].scores is None
    assert (first.unknown_queries, second.unknown_queries) == (0, 1)


def test_an_empty_golden_set_is_a_collection_too(store: Store):
    collection = store.collection.read()
    assert collection.query_ids == collection.runs == ()
    assert collection.golden_grade.shape == collection.stale.shape == (0,)
    assert collection.revision == 0


def test_facets_have_a_bucket_or_none_for_every_query(filled: Store, loaded):
    filled.queries.load(loaded([Query("q3", "third", buckets={"region": "north"})]))
    assert filled.collection.read().facets == {
        "intent": ("refund", "billing", None),
        "region": (None, None, "north"),
        "task": ("single", "research", None),
    }


def test_a_retired_query_is_in_no_array_and_no_facet(filled: Store):
    filled.queries.retire("q1")
    collection = filled.collection.read()
    assert collection.query_ids == ("q2",)
    assert collection.facets == {"intent": ("billing",), "task": ("research",)}
    assert collection.golden_query.tolist() == [0]
    assert [run.unknown_queries for run in collection.runs] == [0, 1]
    assert all(set(run.lists) == {0} for run in collection.runs)


def test_a_collection_is_of_one_moment(filled: Store):
    with Store(filled.path) as reader, reader.connection.reading():
        before = reader.judgments.revision()
        filled.judgments.add(Judgment("e", "q1", "c3", "Ann", grade=1))
        assert reader.judgments.revision() == before
    assert filled.judgments.revision() == before + 1


def test_contents_counts_everything_once(filled: Store):
    filled.judgments.add(Judgment("e1", "q1", "c1", "Ann", grade=1))
    contents = filled.golden_set.contents()
    assert (contents.queries, contents.retired, contents.runs) == (2, 0, 2)
    assert (contents.chunks, contents.chunks_without_text) == (6, 2)
    assert (contents.golden, contents.stale) == (3, 0)
    assert (contents.judgments, contents.graders) == (4, 1), (
        "Bea is named by a file only; the others have not graded yet"
    )


def test_items_are_what_a_grader_sees_and_leave_out_what_nobody_can_read(filled: Store):
    numbers = {name: number for number, name in enumerate(filled.collection.read().chunk_ids)}
    pairs = [("q1", numbers["c1"]), ("q2", numbers["c5"]), ("q7", numbers["c1"]), ("q2", 99)]
    items = filled.texts.items(pairs)
    assert set(items) == {("q1", numbers["c1"])}
    item = items["q1", numbers["c1"]]
    assert (item.query, item.chunk) == (filled.queries.all()[0], filled.chunks.get("c1"))
    assert item.text_hash


def test_the_pool_is_the_union_of_the_runs_tops(filled: Store):
    names = filled.collection.read().chunk_ids
    for depth, q1, q2 in [(1, ["c1", "c4"], ["c3"]), (2, ["c1", "c2", "c4"], ["c3"])]:
        pool, left_out = filled.assignment.pool(depth)
        assert {query: [names[c] for c in chunks] for query, chunks in pool.items()} == {
            "q1": q1,
            "q2": q2,
        }
        assert left_out == depth, "c6, then c5 as well, are known by id only"


def test_settings_come_back_as_they_were_saved(filled: Store):
    assert filled.settings.read() == Settings()
    chosen = Settings(("no", "so so", "yes", "ja ☺"), 2, 7, {"single": 1}, 20)
    filled.settings.save(chosen)
    with Store(filled.path) as again:
        assert again.settings.read() == chosen
    with pytest.raises(BadInput, match="pool depth"):
        filled.settings.save(Settings(pool_depth=0))
    assert filled.settings.read() == chosen


def test_a_word_of_the_scale_is_no_longer_than_a_button(filled: Store):
    longest = Settings(("no", "so so", "yes", "x" * 40))
    filled.settings.save(longest)
    with pytest.raises(BadInput, match="at most 40 characters, not 41"):
        Settings(("no", "so so", "yes", "x" * 41))
    with another_tool(filled) as older_version:
        older_version("UPDATE settings SET value = replace(value, 'xxx', 'xxxx')")
    assert filled.settings.read() == longest, "a golden set must stay open to its team"


def test_a_list_is_its_query_s_whatever_other_queries_a_run_has(filled: Store, loaded):
    filled.queries.load(loaded([Query("q0", "the first by its id"), Query("q3", "third")]))
    for name, answered in {"odd": "q3 q0 q9", "last": "q3", "all": "q0 q1 q2 q3"}.items():
        lists = [Ranking(query_id, (f"of {query_id}",)) for query_id in answered.split()]
        filled.runs.load(loaded(lists), name=name)
    collection = filled.collection.read()
    found = {
        run.name: {
            collection.query_ids[query]: collection.chunk_ids[each.chunks[0]]
            for query, each in run.lists.items()
        }
        for run in collection.runs[2:]
    }
    assert found == {
        "odd": {"q0": "of q0", "q3": "of q3"},
        "last": {"q3": "of q3"},
        "all": {query_id: f"of {query_id}" for query_id in ("q0", "q1", "q2", "q3")},
    }


def test_lists_with_and_without_scores_may_stand_in_one_run(filled: Store, loaded):
    both = [Ranking("q1", ("c1", "c2"), (2.0, 2.0)), Ranking("q2", ("c3",))]
    filled.runs.load(loaded(both), name="mixed")
    [*_, run] = filled.collection.read().runs
    assert [run.lists[at].scores is None for at in (0, 1)] == [False, True]
    assert [len(run.lists[at].chunks) for at in (0, 1)] == [2, 1]
    plain = filled.collection.read().runs[0].lists
    assert (list(plain), len(plain), plain.get(7)) == ([0, 1], 2, None)
    assert plain[1].scores.tolist() == [0.5, 0.25]


def test_a_golden_set_is_called_as_its_setting_says_else_as_its_file(store: Store):
    assert store.golden_set.name() == Path(urlsplit(str(store.path)).path).stem
    store.settings.save(Settings(name="Pellamy help centre"))
    assert store.golden_set.name() == "Pellamy help centre"


@pytest.mark.parametrize("name", [" ", "x" * 61, "two\nlines"])
def test_a_golden_set_has_a_name_of_one_line(name: str):
    with pytest.raises(BadInput, match="golden set"):
        Settings(name=name)
