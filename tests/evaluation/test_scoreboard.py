"""A board that follows the grades: its numbers are those of a new board, for whoever reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import NotFound
from labeler.evaluation import PRESETS, Conventions, Scoreboard, collect
from labeler.measures import parse_all
from labeler.model import Collection, GradeChange
from tests.support.boards import (
    ALL,
    board_of,
    change,
    everything,
    means_of,
    one,
    regraded,
    rows,
    said,
)

Golden = dict[tuple[str, str], int]

CHUNKS = [f"c{number}" for number in range(8)]
QUERIES = [f"q{number}" for number in range(4)]
FACETS = {
    "task": {"q0": "single", "q1": "research", "q2": "single"},
    "intent": {"q0": "refund", "q3": "refund"},
}


# One change after another ------------------------------------------------------------------------


def test_a_grade_moves_the_mean_and_a_withdrawal_moves_it_back() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["x", "c"]}})
    assert one(board, "P@2").value == 0.5
    board.refresh([change(board, "q", "x", 3)], 1)
    assert (one(board, "P@2").value, one(board, "P@2").unjudged) == (1.0, 0)
    board.refresh([change(board, "q", "x", 0)], 2)
    assert (one(board, "P@2").value, one(board, "P@2").unjudged) == (0.5, 0)
    board.refresh([change(board, "q", "x", None)], 3)
    assert (one(board, "P@2").value, one(board, "P@2").unjudged) == (0.5, 1)
    board.refresh([change(board, "q", "c", None)], 4)
    assert (one(board, "P@2").n, board.counts.judged) == (0, 0), "not even undefined"
    assert board.revision == 4


def test_a_later_call_with_an_older_revision_changes_nothing() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["x", "c"]}})
    board.refresh([change(board, "q", "x", 3)], 7)
    board.refresh([change(board, "q", "x", 0)], 5)
    assert one(board, "P@2").value == 1.0
    assert board.revision == 7


def test_a_change_to_an_unknown_query_is_refused_whole() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c"]}})
    with pytest.raises(NotFound, match="'later' is not on this board"):
        board.refresh([change(board, "q", "c", 0), GradeChange("later", 0, 1)], 1)
    assert (one(board, "P@1").value, board.revision) == (1.0, 0)


def test_values_read_before_a_change_stay_as_they_were() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["x", "c"]}})
    before, snapshot = board.values(*parse_all("P@2")), board.snapshot()
    board.refresh([change(board, "q", "x", 3)], 1)
    assert before.tolist() == [[0.5]]
    assert board.values(*parse_all("P@2")).tolist() == [[1.0]]
    assert one(snapshot, "P@2").value == 0.5
    assert one(snapshot, "R@1").value == 0.0, "nor what is first asked for afterwards"


def test_stale_grades_count_and_are_counted() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c"]}})
    board.refresh([replace(change(board, "q", "c", 1), stale=True)], 1)
    assert (one(board, "P@1").value, board.counts.stale) == (1.0, 1)
    assert "1 golden grade is of an earlier wording of the chunk" in said(board)
    board.refresh([change(board, "q", "c", 1)], 2)
    assert not board.counts.stale


def test_a_grade_for_a_chunk_that_is_newer_than_the_board_counts_as_known() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c"]}})
    board.refresh([GradeChange("q", 10**6, 2)], 1)
    assert one(board, "R@1").value == 0.5
    assert one(board, "P@1").value == 1.0


def test_chunks_with_the_same_last_bits_are_not_taken_for_each_other() -> None:
    """Judged chunks are looked for by the last bits of their numbers first."""
    others = [f"x{number}" for number in range(9_000)]
    board = board_of({"q": {"c": 1, "d": 2}}, {"A": {"q": [*others, "d"]}})
    assert board.hits("A").rank.tolist() == [9_001]
    assert one(board, "Judged").value == 1 / 9_001
    board.refresh([change(board, "q", "x8191", 3)], 1)
    assert board.hits("A").rank.tolist() == [8_192, 9_001]
    assert board.hits("A", "q").grade.tolist() == [3, 2]


def test_means_are_what_the_rows_say() -> None:
    board = board_of({"q0": {"c": 1}, "q1": {"c": 0}}, {"A": {"q0": ["x", "c"]}, "B": {}}, FACETS)
    measures = board.conventions.measures("RR Judged@5")
    for facet in (None, "task"):
        means = board.means(measures, facet)
        of_b = [row for row in board.table(measures, facet) if row.run == "B"]
        assert [row.n for row in of_b] == means.n.ravel().tolist()
        assert [row.unjudged for row in of_b] == means.unjudged[:, 1].ravel().tolist()
        assert [row.missing for row in of_b] == means.missing[1].tolist() * 2
        assert not np.array_equal(means.value[:, 0], means.value[:, 1], equal_nan=True)


# Live equals batch -------------------------------------------------------------------------------


class History:
    """A golden set and a board that has followed it, with all that happens to both."""

    def __init__(self, seed: int, preset: str) -> None:
        self.draw = np.random.default_rng(seed)
        self.conventions = Conventions.of(preset, prompt_k=2, prompt_k_by_task={"research": 4})
        self.queries = list(QUERIES)
        self.runs = {name: self.new_run() for name in ("A", "B")}
        self.golden: Golden = {}
        self.revision = 0
        self.open()

    def new_run(self) -> dict[str, Any]:
        found = {}
        for query in self.queries:
            ranking = self.draw.permutation(CHUNKS)[: self.draw.integers(9)].tolist()
            scores = self.draw.choice([0.5, 1.0, 2.0], len(ranking)).tolist()
            shape = self.draw.integers(3)
            if shape:
                found[query] = dict(zip(ranking, scores, strict=True)) if shape == 1 else ranking
        return found

    def collection(self) -> Collection:
        """Return everything as a store would read it now; all chunks have numbers."""
        qrels: dict[str, dict[str, int]] = {query: {} for query in self.queries}
        numbered = collect({"": dict.fromkeys(CHUNKS, 0), **qrels}, {"": {}})
        made = collect(qrels, self.runs, FACETS)
        missing = [chunk for chunk in numbered.chunk_ids if chunk not in made.chunk_ids]
        return regraded(replace(made, chunk_ids=(*made.chunk_ids, *missing)), self.golden)

    def open(self) -> None:
        self.board = Scoreboard(self.collection(), self.conventions)

    def ask(self) -> None:
        names = self.draw.permutation(ALL.split())[: self.draw.integers(8)].tolist()
        means_of(self.board, " ".join(names))

    def grade(self) -> None:
        """Grade, grade again or withdraw, up to three pairs at once."""
        changes = []
        for _ in range(self.draw.integers(1, 4)):
            pair = str(self.draw.choice(self.queries)), str(self.draw.choice(CHUNKS))
            grade = [None, 0, 1, 2, 3][self.draw.integers(5)]
            changes.append(change(self.board, *pair, grade))
            self.golden.pop(pair, None)
            if grade is not None:
                self.golden[pair] = grade
        self.revision += 1
        self.board.refresh(changes, self.revision)

    def load_query(self) -> None:
        self.queries.append(f"q{len(self.queries)}")
        self.open()

    def load_run(self) -> None:
        self.runs[f"run{self.revision}"] = self.new_run()
        self.open()

    def drop_run(self) -> None:
        self.runs.pop(next(iter(self.runs), ""), None)
        self.open()

    def go_on(self) -> None:
        steps = [self.grade, self.ask, self.load_query, self.load_run, self.drop_run]
        for step in self.draw.choice(len(steps), 8, p=[0.6, 0.25, 0.05, 0.05, 0.05]):
            steps[step]()


@pytest.mark.parametrize("preset", PRESETS)
def test_live_equals_batch_bit_for_bit_over_hundreds_of_histories(preset: str) -> None:
    """For every measure, run, query and bucket, whatever was asked before."""
    for seed in range(250):
        history = History(seed, preset)
        history.go_on()
        fresh = Scoreboard(history.collection(), history.conventions)
        assert everything(history.board) == everything(fresh), f"seed {seed}"


RANKED = st.lists(st.sampled_from(CHUNKS), unique=True) | st.dictionaries(
    st.sampled_from(CHUNKS), st.sampled_from([0.5, 1.0, 2.0])
)
RUNS = st.fixed_dictionaries(
    {name: st.dictionaries(st.sampled_from(QUERIES), RANKED) for name in ("A", "B")}
)
GRADE = st.none() | st.integers(0, 3)
CHANGES = st.tuples(st.sampled_from(QUERIES), st.sampled_from(CHUNKS), GRADE)


@given(RUNS, st.lists(st.lists(CHANGES, max_size=3), max_size=8), st.sampled_from(PRESETS))
def test_live_equals_batch_for_histories_made_to_break_it(
    runs: dict[str, Any], history: list[list[tuple[str, str, int | None]]], preset: str
) -> None:
    numbers = {query: dict.fromkeys(CHUNKS, 1) for query in QUERIES}
    start = regraded(collect(numbers, runs, FACETS), {})
    conventions = Conventions.of(preset, prompt_k=2, prompt_k_by_task={"research": 4})
    board = Scoreboard(start, conventions)
    golden: Golden = {}
    for revision, changes in enumerate(history, 1):
        means_of(board)
        board.refresh([change(board, *each) for each in changes], revision)
        for query, chunk, grade in changes:
            golden.pop((query, chunk), None)
            if grade is not None:
                golden[query, chunk] = grade
    assert everything(board) == everything(Scoreboard(regraded(start, golden), conventions))


def large(queries: int, draw: np.random.Generator) -> tuple[Golden, Scoreboard]:
    """Make a board on which sums are long, where orders of adding would show."""
    chunks = [f"c{number}" for number in range(300)]
    golden = {
        (f"q{q}", chunks[c]): int(draw.integers(4))
        for q in range(queries)
        for c in draw.choice(300, 30, replace=False)
    }
    qrels: dict[str, dict[str, int]] = {f"q{q}": {} for q in range(queries)}
    for (query, chunk), grade in golden.items():
        qrels[query][chunk] = grade
    runs = {
        name: {query: [chunks[c] for c in draw.permutation(300)[:100]] for query in qrels}
        for name in ("A", "B", "C")
    }
    facets = {"intent": {query: f"b{int(query[1:]) % 3}" for query in qrels}, "task": {}}
    return golden, board_of(qrels, runs, facets)


def test_live_equals_batch_on_a_collection_of_some_size() -> None:
    draw = np.random.default_rng(7)
    golden, board = large(200, draw)
    means_of(board, "RR nDCG@10")
    for revision in range(1, 60):
        pair = f"q{draw.integers(200)}", f"c{draw.integers(300)}"
        golden[pair] = int(draw.integers(4))
        board.refresh([change(board, *pair, golden[pair])], revision)
    fresh = Scoreboard(regraded(board.collection, golden), board.conventions)
    assert everything(board) == everything(fresh)


def test_a_value_does_not_depend_on_what_else_is_asked() -> None:
    _, board = large(70, np.random.default_rng(3))
    fresh = Scoreboard(board.collection, board.conventions)
    everything(board)
    for name in ALL.split():
        assert means_of(fresh, name) == means_of(board, name), name


# Many readers ------------------------------------------------------------------------------------


def test_threads_that_read_while_one_grades_see_no_torn_numbers() -> None:
    """Each change turns all queries over at once: a mean that is neither 0 nor 1 was torn."""
    qrels = {f"q{number}": {"c": 0, "other": 1} for number in range(50)}
    board = board_of(
        qrels, {"A": {query: ["c"] for query in qrels}}, {"all": dict.fromkeys(qrels, "x")}
    )
    measures = board.conventions.measures("P@1 Success@1 RR nDCG@1 R@1 AP")
    done = False

    def read() -> tuple[set[float], list[int]]:
        seen: set[float] = set()
        revisions = []
        while not done:
            revisions.append(board.revision)
            values = {row.value for row in board.table(measures[:3], "all")}
            seen.add(values.pop() if len(values) == 1 else math.nan)
            seen |= {row.value for row in board.per_query("A", measures[:1])[:1]}
        return seen, revisions

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        try:
            for revision in range(1, 80):
                grade = revision % 2
                board.refresh([change(board, query, "c", grade) for query in qrels], revision)
        finally:
            done = True
        results = [reader.result() for reader in readers]
    for seen, revisions in results:
        assert seen <= {0.0, 1.0}
        assert all(earlier <= later for earlier, later in pairwise(revisions))


def test_whatever_threads_ask_is_of_one_revision() -> None:
    """Measures that nobody asked for before are among it, and facets, values and single hits."""
    draw = np.random.default_rng(11)
    golden, board = large(40, draw)
    start, conventions = board.collection, board.conventions
    names = "nDCG@10 RR AP Judged@5"
    expected = {0: everything(Scoreboard(start, conventions), names)}
    changes: list[Mapping[tuple[str, str], int]] = []
    for revision in range(1, 25):
        pairs = [(f"q{draw.integers(40)}", f"c{draw.integers(300)}") for _ in range(3)]
        changes.append({pair: int(draw.integers(4)) for pair in pairs})
        golden |= changes[-1]
        fresh = Scoreboard(regraded(start, golden), conventions)
        expected[revision] = everything(fresh, names)
    done = False

    def read(asks: list[str]) -> int:
        wrong = 0
        while not done:
            snapshot = board.snapshot()
            means_of(board, asks.pop()) if asks else None
            wrong += everything(snapshot, names) != expected[snapshot.revision]
        return wrong

    with ThreadPoolExecutor(4) as pool:
        asked = [draw.permutation(ALL.split()).tolist() for _ in range(4)]
        readers = [pool.submit(read, asks) for asks in asked]
        try:
            for revision, each in enumerate(changes, 1):
                board.refresh([change(board, *pair, g) for pair, g in each.items()], revision)
        finally:
            done = True
        assert [reader.result() for reader in readers] == [0, 0, 0, 0]
    assert rows(board, names) != rows(Scoreboard(start, conventions), names)
