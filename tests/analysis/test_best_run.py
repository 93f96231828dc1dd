"""Which run scores highest, and which others are clearly lower."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labeler.analysis.comparison import (
    DecisionRules,
    assess_pair,
    describe_best_run,
    find_best_run,
)
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.model import (
    Chunk,
    Document,
    Evidence,
    GoldenGrade,
    LoadedGolden,
    Query,
    Ranking,
    Selection,
)
from labeler.model.results import ANSWER
from labeler.store import Store
from labeler.store.columns import hash_text
from tests.support.page import empty_golden_set, loaded, open_page, words
from tests.support.two_chunkings import BOTH, TEXT

RANKED = {"good": ["c", "x", "y"], "fair": ["x", "c", "y"], "poor": ["x", "y", "c"]}


def board_of(n: int, **lists: list[str]) -> Scoreboard:
    """Return a board of runs that give the same list for each of ``n`` queries."""
    ids = [f"q{number}" for number in range(n)]
    grades = {name: {"c": 1, "x": 0, "y": 0} for name in ids}
    runs = {run: dict.fromkeys(ids, ranked) for run, ranked in lists.items()}
    return Scoreboard(collect(grades, runs), Conventions.of())


def said(board: Scoreboard, **names: str) -> list[str]:
    found = describe_best_run(board, DecisionRules(), names or None)
    assert [each.severity for each in found[:1]] in ([], [ANSWER])
    return [each.sentence for each in found]


def test_a_run_that_every_other_is_clearly_below_is_clearly_highest():
    board = board_of(40, poor=RANKED["poor"], good=RANKED["good"], fair=RANKED["fair"])
    assert said(board) == ["good scores clearly highest.", "nDCG@10: good 1.0000, fair 0.6309."]


def test_runs_that_are_not_clearly_lower_are_named_and_many_are_counted():
    again = {f"again{number}": RANKED["good"] for number in range(5)}
    some = board_of(40, good=RANKED["good"], again0=RANKED["good"], poor=RANKED["poor"])
    assert said(some)[0] == "good scores highest; again0 is not clearly lower."
    two = board_of(40, good=RANKED["good"], **dict(list(again.items())[:2]))
    assert said(two)[0] == "good scores highest; again0 and again1 are not clearly lower."
    many = board_of(40, good=RANKED["good"], **again)
    assert said(many)[0] == "good scores highest; 5 runs are not clearly lower."


def test_the_runs_have_the_names_that_are_asked_for():
    board = board_of(40, good=RANKED["good"], poor=RANKED["poor"])
    assert said(board, good="A", poor="B") == [
        "A scores clearly highest.",
        "nDCG@10: A 1.0000, B 0.5000.",
    ]


def test_of_few_queries_nothing_is_claimed():
    board = board_of(9, good=RANKED["good"], poor=RANKED["poor"])
    assert said(board)[0] == "Too few queries to say which run is best: 9."


@pytest.mark.parametrize("lists", [{}, {"good": RANKED["good"]}])
def test_of_fewer_than_two_runs_nothing_is_said(lists: dict[str, list[str]]):
    assert said(board_of(12, **lists)) == []


def test_runs_without_a_common_query_are_not_clearly_lower():
    ids = [f"q{number}" for number in range(24)]
    grades = {name: {"c": 1} for name in ids}
    runs = {"first": {q: ["c"] for q in ids[:12]}, "second": {q: ["x", "c"] for q in ids[12:]}}
    board = Scoreboard(collect(grades, runs), Conventions.of())
    assert said(board)[0].startswith("first scores ")


def doubts(board: Scoreboard) -> str:
    found = find_best_run(board, DecisionRules())
    assert found is not None
    return " ".join(each.sentence for each in found.doubts)


def test_the_next_run_has_the_interval_that_it_has_when_two_runs_are_compared():
    """Of 30 queries the best is better on 6 and worse on 3."""
    grades = {f"q{number}": {"c": 1} for number in range(30)}
    good, fair = ["c", "x"], ["x", "c"]
    best = {name: fair if at in (20, 21, 22) else good for at, name in enumerate(grades)}
    after = {name: fair if at < 6 else good for at, name in enumerate(grades)}
    runs = {"best": best, "next": after}
    board = Scoreboard(collect(grades, runs), Conventions.of())
    pair = assess_pair(board, "next", "best", DecisionRules())
    row = pair.total
    assert row is not None
    low, high = (f"{abs(end):.4f}" for end in pair.of(row).interval[:2])
    said = doubts(board)
    assert said.startswith(f"best is {row.delta:.4f} above next; the 95% confidence interval, ")
    assert low in said
    assert high in said
    assert said.endswith("includes 0.")


def test_runs_that_are_clearly_lower_are_counted_where_others_are_not():
    again = {"good": RANKED["good"], "again": RANKED["good"], "poor": RANKED["poor"]}
    assert doubts(board_of(40, **again)).endswith("The other run is clearly lower.")
    assert "other" not in doubts(board_of(40, good=RANKED["good"], poor=RANKED["poor"]))


def test_a_run_is_marked_by_what_its_test_says():
    found = find_best_run(board_of(40, poor=RANKED["poor"], good=RANKED["good"]), DecisionRules())
    assert found is not None
    assert found.marks == {"good": "clearly highest", "poor": "clearly lower"}
    runs = {"again": RANKED["good"], **RANKED}
    level = find_best_run(board_of(40, **runs), DecisionRules())
    assert level is not None
    assert level.marks["again"] == "highest", "another run is not clearly lower"
    few = find_best_run(board_of(9, poor=RANKED["poor"], good=RANKED["good"]), DecisionRules())
    assert few is not None
    assert few.marks == {}
    assert few.doubts == ()


def cut_for_each_query(path: Path) -> Path:
    """Load two cuts of a document for each of 12 questions, of which the first is graded.

    "first" and "last" are of the first cut, "new" is of the second.
    """
    ids = [f"q{n}" for n in range(12)]
    with Store(empty_golden_set(path)) as store:
        store.queries.load(loaded([Query(name, f"which letters, {name}?") for name in ids]))
        store.documents.load(loaded([Document(name, TEXT) for name in ids]))
        for size, chunking in ((10, ""), (25, "v2")):
            pieces = [
                Chunk(f"{name}-{at}", TEXT[at : at + size], None, name, None, {}, at, at + size)
                for name in ids
                for at in range(0, 50, size)
            ]
            store.chunks.load(loaded(pieces), chunking=chunking)
        passage = Evidence(hash_text(TEXT[10:20]) or "", ((2, 8),))
        grades = [GoldenGrade(name, f"{name}-10", 3, evidence=passage) for name in ids]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        for run, at, chunking in (("first", 10, ""), ("last", 40, ""), ("new", 0, "v2")):
            lists = [Ranking(name, (f"{name}-{at}",)) for name in ids]
            store.runs.load(loaded(lists), name=run, chunking=chunking)
    return path / "golden.db"


CANNOT = "can't be compared yet: no chunk of chunking v2 is graded."


def test_runs_of_two_chunkings_are_ranked_by_the_evidence_they_find(tmp_path: Path):
    path = cut_for_each_query(tmp_path)

    def said() -> list[str]:
        with Store(path) as store:
            conventions = Conventions.of(selected=Selection(chunkings=BOTH))
            board = Scoreboard(store.collection.read(), conventions)
        return [each.sentence for each in describe_best_run(board, DecisionRules())]

    assert said() == [
        "Of the runs with graded chunks, first scores clearly highest.",
        "EvidenceR@2000c: first 1.0000, last 0.0000.",
        f"new {CANNOT}",
    ]
    with Store(path) as store:
        graded = [GoldenGrade("q0", "q0-0", 3)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(graded), loaded([])), chunking="v2")
    assert said() == [
        "first scores highest; new is not clearly lower.",
        "EvidenceR@2000c: first 1.0000, new 1.0000.",
    ]


def test_scores_says_which_run_of_two_chunkings_is_best(tmp_path: Path):
    path = cut_for_each_query(tmp_path)
    told = words(open_page("scores", chunking="*"))
    assert "|Of the runs with graded chunks, first scores clearly highest.|" in told
    assert re.search(r"\|1\.0000\|+ \|+EvidenceR@2000c\|", told)
    assert f"new {CANNOT}" in told
    assert re.search(r"\|new\|+not compared\|", told)
    with Store(path) as store:
        store.runs.drop("last")
    assert f"|These runs {CANNOT}|" in words(open_page("scores", chunking="*"))
