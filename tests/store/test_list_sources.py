"""Sources of ranked lists, and how often queries were asked, in a file and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labeler.model import ListSource, Loaded, LoadedGolden, LoadedRetrievals, Query, Ranking
from labeler.store import Store, query_fingerprint
from labeler.store.retrievals import StoredSource

SOURCES = {
    "q1": ListSource("aa", "t1", ("c1", "c2")),
    "q2": ListSource("bb", "t1", ("c2", "c1", "c9"), (0, 3, 4)),
    "q3": ListSource(None, "t2", ("c3", "c3")),
}
LISTS = [
    Ranking("q1", ("c1", "c2"), (2.0, 1.0)),
    Ranking("q2", ("c1", "c2"), (2.0, 1.0)),
    Ranking("q3", ("c3",), (1.0,)),
    Ranking("q4", ("c3",), (1.0,)),
]
STORED = {
    "q1": StoredSource("aa", "t1", None),
    "q2": StoredSource("bb", "t1", ((0, 1), (3, 0))),
    "q3": StoredSource(None, "t2", ((0, 0), (1, 0))),
}


@pytest.fixture
def records(loaded: Callable[..., Loaded[Any]], golden: Callable[..., LoadedGolden]) -> Any:
    return LoadedRetrievals(
        "trace.jsonl",
        loaded([Query(f"q{n}", f"question {n}?") for n in range(1, 5)]),
        loaded([]),
        {"": loaded(LISTS)},
        golden(),
        items={"": SOURCES},
    )


def test_sources_say_where_the_chunks_of_a_list_stand(store: Store, records: LoadedRetrievals):
    store.retrievals.load(records, names={"": "trace"})
    assert store.retrievals.sources_of("trace") == STORED
    assert store.retrievals.runs_with_sources() == {"trace": (True, True)}
    assert [*STORED["q1"].ranks_by_place(2)] == [(0, 0), (1, 1)]
    assert [*STORED["q2"].ranks_by_place(2)] == [(0, 1), (3, 0)]


def test_a_run_that_is_loaded_again_keeps_its_sources(store: Store, records: LoadedRetrievals):
    store.retrievals.load(records, names={"": "trace"})
    before = store.golden_set.data_revision()
    store.retrievals.load(records, names={"": "trace"})
    assert (store.golden_set.data_revision(), store.retrievals.sources_of("trace")) == (
        before,
        STORED,
    )


def test_a_renamed_run_keeps_its_sources_and_a_dropped_one_takes_them(
    store: Store, records: LoadedRetrievals
):
    store.retrievals.load(records, names={"": "trace"})
    store.runs.rename("trace", "bm25")
    assert store.retrievals.sources_of("bm25") == STORED
    store.runs.drop("bm25")
    assert store.retrievals.runs_with_sources() == {}


def test_a_full_copy_has_the_sources(store: Store, records: LoadedRetrievals, tmp_path: Path):
    store.retrievals.load(records, names={"": "trace"})
    with Store(tmp_path / "copy.db", create=True) as copy:
        copy.full_copy.become(store.full_copy)
        assert copy.retrievals.sources_of("trace") == STORED


def test_how_often_queries_were_asked_counts_by_their_buckets(
    store: Store, records: LoadedRetrievals
):
    asked = {"q1": 9, "q2": 1}
    store.retrievals.load(replace(records, asked=asked), names={"": "trace"})
    store.queries.edit(
        Query("q1", "question 1?", task="single", buckets={"intent": "refund"}),
        query_fingerprint(store.queries.get("q1")),
    )
    [batch] = store.candidates.batches()
    assert (batch.source, batch.file, batch.times, batch.texts) == ("log", "trace.jsonl", 10, 2)
    assert batch.buckets == {"intent": {"refund": 9}, "task": {"single": 9}}
