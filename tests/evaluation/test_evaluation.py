"""The scoreboard: what is counted, what is left out, and in which order it is told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from labeler.errors import BadInput, NotFound
from labeler.evaluation import (
    PRESETS,
    Conventions,
    Scoreboard,
    collect,
    find_tie_ranges,
)
from labeler.measures import parse_all
from labeler.model import Ranking
from tests.support.boards import ALL, board_of, change, one, rows, said

# What counts ------------------------------------------------------------------------------------


def test_a_hole_is_counted_and_never_a_zero_grade() -> None:
    run = {"A": {"q": ["unjudged chunk", "zero", "good", "hole2"]}}
    row = one(board_of({"q": {"zero": 0, "good": 3}}, run), "nDCG@3")
    assert row.unjudged == 1
    assert one(board_of({"q": {"zero": 0, "good": 3}}, run), "nDCG").unjudged == 2
    assert one(board_of({"q": {"zero": 0, "good": 3}}, run), "Judged@3").value != 1.0


def test_holes_of_a_whole_list_are_counted_down_to_the_pool_depth() -> None:
    """Of a list of a thousand most are ungraded, and nobody is ever asked to grade them."""
    run = {"A": {"q": ["good", *(f"x{n}" for n in range(999))]}}
    unjudged = {
        name: one(board_of({"q": {"good": 3}}, run), name).unjudged for name in ("RR", "AP", "R")
    }
    assert unjudged == {"RR": 9, "AP": 9, "R": 9}
    deeper = board_of({"q": {"good": 3}}, run, pool_depth=50)
    assert [one(deeper, name).unjudged for name in ("RR", "P@100", "P@5")] == [49, 99, 4]
    assert "unjudged chunks of whole lists: top 50" in deeper.conventions.describe()
    short = board_of({"q": {"good": 3}}, {"A": {"q": ["good", "x"]}}, pool_depth=50)
    assert one(short, "RR").unjudged == 1


def test_a_query_absent_from_a_run_counts_zero_and_is_counted() -> None:
    """Left out of the mean, a run that answers the easy queries alone would win."""
    qrels = {"easy": {"c": 1}, "hard": {"c": 1}}
    runs = {"A": {"easy": ["c"], "hard": ["x", "c"]}, "B": {"easy": ["c"]}}
    for preset in PRESETS:
        a, b = rows(board_of(qrels, runs, preset=preset), "RR")
        assert (a.value, a.n, a.missing) == (0.75, 2, 0)
        assert (b.value, b.n, b.missing) == (0.5, 2, 1)
        assert b.value != 1.0


def test_a_query_with_nothing_relevant_is_undefined_or_zero_as_the_preset_says() -> None:
    qrels = {"q1": {"c": 1}, "q2": {"c": 0}}
    runs = {"A": {"q1": ["c"], "q2": ["c", "unjudged chunk"]}}
    graded = one(board_of(qrels, runs), "nDCG@5")
    assert (graded.value, graded.n, graded.undefined, graded.unjudged) == (1.0, 1, 1, 1)
    classic = one(board_of(qrels, runs, preset="trec_eval"), "nDCG@5")
    assert (classic.value, classic.n, classic.undefined, classic.unjudged) == (0.5, 2, 0, 1)
    judged = one(board_of(qrels, runs), "Judged@5")
    assert (judged.value, judged.n) == (0.75, 2)
    assert judged.undefined == 0


def test_what_is_relevant_moves_with_the_threshold_and_gain_does_not() -> None:
    qrels = {"q1": {"c": 1}, "q2": {"c": 3}}
    runs = {"A": {"q1": ["c"], "q2": ["c"]}}
    board = board_of(qrels, runs, rel=2)
    assert [(row.n, row.undefined) for row in rows(board, "P@1 nDCG@1")] == [(1, 1), (2, 0)]
    assert [(row.n, row.undefined) for row in rows(board, "P(rel=1)@1")] == [(2, 0)]


def test_a_query_without_grades_is_left_out_and_counted() -> None:
    board = board_of({"q1": {"c": 1}, "q2": {}}, {"A": {"q1": ["c"], "q2": ["c"]}})
    for name in ("RR", "Judged@5"):
        row = one(board, name)
        assert (row.value, row.n, row.undefined, row.unjudged) == (1.0, 1, 0, 0)
    assert (board.counts.queries, board.counts.judged, board.counts.unjudged) == (2, 1, 1)
    assert "1 query without any golden grade: left out" in said(board)
    [_, last] = board.per_query("A", parse_all("Judged@5"))
    assert (last.judged, last.unjudged) == (False, 1)
    assert math.isnan(last.value)


def test_a_query_of_a_run_that_the_golden_set_does_not_know_is_said() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c"], "stranger": ["c"]}})
    assert one(board, "P@1").n == 1
    assert said(board) == ("A: 1 query not in the golden set, left out",)


def test_a_golden_chunk_that_no_run_holds_counts_in_the_ideal() -> None:
    board = board_of({"q": {"seen": 1, "unseen": 1}}, {"A": {"q": ["seen"]}})
    assert one(board, "R@5").value == 0.5
    assert one(board, "nDCG@5").value != 1.0


def test_nothing_is_rounded_before_the_mean() -> None:
    qrels = {f"q{i}": {"c": 1} for i in range(3)}
    runs = {"A": {"q0": ["x", "x2", "c"], "q1": ["x", "x2", "c"], "q2": ["c"]}}
    value = one(board_of(qrels, runs), "RR").value
    assert value == (1 / 3 + 1 / 3 + 1) / 3
    assert value != (0.3333 + 0.3333 + 1) / 3


def test_an_empty_golden_set_gives_nan_and_no_error() -> None:
    row = one(board_of({"q": {}}, {"A": {"q": ["c"]}}), "nDCG@5")
    assert math.isnan(row.value)
    assert row.n == 0
    assert rows(board_of({}, {}), ALL) == []
    assert rows(board_of({"q": {"c": 1}}, {}), ALL) == []
    assert one(board_of({}, {"A": {}}), "AP").n == 0
    assert not one(board_of({"q": {"c": 1}}, {"A": {"q": []}}), "AP").missing, "empty, not absent"


# Order and ties ---------------------------------------------------------------------------------


def test_ties_are_reordered_by_id_under_trec_eval_only() -> None:
    collection = collect({"q": {"a": 1}}, {"A": {"q": {"a": 2.0, "b": 2.0, "c": 1.0}}})
    graded = Scoreboard(collection, Conventions.of("graded"))
    classic = Scoreboard(collection, Conventions.of("trec_eval"))
    assert one(graded, "RR").value == 1.0
    assert one(classic, "RR").value == 0.5
    assert graded.tied == classic.tied == {"A": 1}
    assert said(graded) == ("A: 1 query with tied scores, ties in file order",)
    assert said(classic) == ("A: 1 query with tied scores, ties by chunk id, descending",)


def test_the_end_of_a_list_and_the_start_of_the_next_are_no_tie() -> None:
    lists = {"q1": {"b": 2.0, "a": 1.0}, "none": {}, "q2": {"a": 1.0, "b": 0.5}, "q3": {"b": 9.0}}
    collection = collect({query: {"a": 1} for query in lists}, {"A": lists})
    classic = Scoreboard(collection, Conventions.of("trec_eval"))
    assert classic.tied == {"A": 0}
    assert classic.values(*classic.conventions.measures("RR")).ravel().tolist() == [0.5, 0, 1, 0]


def test_a_list_read_from_a_file_stays_in_its_order_whatever_its_scores() -> None:
    by_rank = {"q": Ranking("q", ("b", "a"), (1.0, 2.0))}
    bare = {"q": Ranking("q", ("a", "b"))}
    collection = collect({"q": {"a": 1}}, {"by rank": by_rank, "bare": bare})
    graded = Scoreboard(collection, Conventions.of("graded"))
    assert [row.value for row in rows(graded, "RR")] == [0.5, 1.0]
    classic = Scoreboard(collection, Conventions.of("trec_eval"))
    assert [row.value for row in rows(classic, "RR")] == [1.0, 1.0]


def test_scores_that_differ_in_64_bits_alone_are_tied() -> None:
    collection = collect({"q": {"a": 1}}, {"A": {"q": {"a": 0.5 + 1e-10, "b": 0.5}}})
    classic = Scoreboard(collection, Conventions.of("trec_eval"))
    assert classic.tied == {"A": 1}
    assert one(classic, "RR").value == 0.5
    assert one(Scoreboard(collection, Conventions.of("graded")), "RR").value != 0.5


def test_a_run_without_scores_keeps_its_order_and_trec_eval_says_so() -> None:
    board = board_of({"q": {"a": 1}}, {"A": {"q": ["a", "b"]}}, preset="trec_eval")
    assert one(board, "RR").value == 1.0
    assert said(board) == ("A: no scores, so a chunk's score is taken to be -rank",)
    assert not board.tied["A"]


# Buckets and budgets ----------------------------------------------------------------------------


def test_rows_come_by_run_then_measure_then_bucket() -> None:
    qrels = {f"q{i}": {"c": 1} for i in range(3)}
    facets = {"intent": {"q0": "refund", "q1": "billing"}}
    board = board_of(qrels, {"B": {"q0": ["c"]}, "A": {"q1": ["x", "c"]}}, facets)
    table = rows(board, "RR P@1", "intent")
    assert [(row.run, row.measure.label, row.bucket) for row in table] == [
        (run, measure, bucket)
        for run in ("B", "A")
        for measure in ("RR", "P@1")
        for bucket in ("refund", "billing")
    ]
    assert [row.value for row in table] == [1.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0.0]
    assert {(row.facet, row.n) for row in table} == {("intent", 1)}
    assert board.unbucketed("intent") == 1
    assert sum(row.n for row in table[:2]) != one(board_of(qrels, {"B": {}}), "RR").n


def test_the_budget_is_a_plain_number_where_it_is_one() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["x", "x2", "c"]}}, prompt_k=2)
    assert [str(row.measure) for row in rows(board, "R@prompt R@2")] == ["R(rel=1)@2"]
    assert one(board, "R@prompt").value == 0.0
    assert one(board, "R@3").value == 1.0


def test_each_query_has_the_budget_of_its_task() -> None:
    qrels = {"q1": {"c": 1}, "q2": {"c": 1}, "q3": {"c": 1}}
    board = board_of(
        qrels,
        {"A": {query: ["x", "x2", "c"] for query in qrels}},
        {"task": {"q1": "single", "q2": "research"}},
        prompt_k=2,
        prompt_k_by_task={"research": 3},
    )
    row = one(board, "R@prompt")
    assert (str(row.measure), row.value, row.unjudged) == ("R(rel=1)@prompt", 1 / 3, 6)
    by_query = board.per_query("A", board.conventions.measures("P@prompt"))
    assert [row.value for row in by_query] == [0.0, 1 / 3, 0.0]
    assert "prompt size 2, research 3" in board.conventions.describe()


def test_an_override_that_concerns_no_query_leaves_the_budget_plain() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c"]}}, prompt_k_by_task={"longtail": 9})
    assert one(board, "R@prompt").measure.cutoff == 5


def test_a_measure_is_told_by_the_name_it_is_asked_for_by_each_time() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c"]}})
    told = [board.means(parse_all(name)).measures[0].names for name in ("RR", "MRR", "RR")]
    assert told == [("RR",), ("MRR",), ("RR",)]


def test_unknown_names_are_answered_with_those_there_are() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {}, "B": {}}, {"intent": {}})
    with pytest.raises(NotFound, match="no run is called 'C'; there are: A, B"):
        board.per_query("C", parse_all("RR"))
    for ask in (lambda: rows(board, "RR", "topic"), lambda: board.unbucketed("topic")):
        with pytest.raises(NotFound, match="no facet is called 'topic'; there are: intent"):
            ask()


# Conventions ------------------------------------------------------------------------------------


def test_conventions_say_everything_in_one_line() -> None:
    assert Conventions.of().describe() == (
        "gain 2^grade−1 · relevant from grade 1 · ideal from all golden grades · unjudged gains "
        "nothing · unjudged chunks of whole lists: top 10 · nothing relevant: "
        "undefined, left out · "
        "absent query: 0 · ties in file order"
    )
    classic = Conventions.of("trec_eval", rel=2).describe()
    assert "gain = grade · relevant from grade 2" in classic
    assert "nothing relevant: 0, in the mean" in classic
    assert "file order" not in classic
    ruled = Conventions.of(golden_rule="majority").describe()
    assert "from grade 1 · several graders: majority, a tie is as ungraded · ideal" in ruled


def test_conventions_are_a_key() -> None:
    one, same = (Conventions.of(prompt_k_by_task={"single": 3}) for _ in range(2))
    assert {one: "kept"}[same] == "kept"
    assert one != Conventions.of(prompt_k_by_task={"single": 4})
    assert one.as_dict()["prompt_k_by_task"] == {"single": 3}


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"preset": "trec"}, "there are graded, trec_eval"),
        ({"rel": 0}, "must be grade 1, 2 or 3"),
        ({"prompt_k": 0}, "a whole number from 1, not 0"),
        ({"prompt_k_by_task": {"single": 0}}, "a whole number from 1, not 0"),
        ({"golden_rule": "mode"}, "several grades become one by lower median, .* not by 'mode'"),
        ({"pool_depth": 0}, "the pool depth is a whole number from 1, not 0"),
    ],
)
def test_conventions_that_cannot_be_are_refused(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        Conventions.of(**given)


# One bucket alone -------------------------------------------------------------------------------

QRELS = {"q1": {"c": 1, "d": 0}, "q2": {"c": 3}, "q3": {"d": 2}, "q4": {"d": 0}}
RUNS = {"A": {q: {"d": 1.0, "c": 1.0} for q in QRELS}, "B": {"q1": ["c"], "q4": ["c"]}}
FACETS = {
    "level": {"q1": "easy", "q2": "easy", "q3": "hard", "q4": "easy"},
    "task": {"q1": "single", "q2": "research", "q3": "research"},
}


def test_within_a_bucket_the_means_are_those_of_its_row_bit_for_bit() -> None:
    board = board_of(QRELS, RUNS, FACETS)
    for bucket in ("easy", "hard"):
        alone = board.within("level", bucket)
        wanted = [row for row in rows(board, ALL, "level") if row.bucket == bucket]
        found = [row._replace(facet="level", bucket=bucket) for row in rows(alone, ALL)]
        assert repr(found) == repr(wanted)


def test_within_a_bucket_another_facet_has_its_queries_alone() -> None:
    alone = board_of(QRELS, RUNS, FACETS).within("level", "easy")
    found = {(row.run, row.bucket): (row.value, row.n) for row in rows(alone, "RR", "task")}
    assert found["A", "single"] == (0.5, 1)
    assert found["A", "research"] == (0.5, 1), "q3 is hard"
    assert found["B", "research"] == (0.0, 1), "it has results for others, so its 0 counts"


def test_within_a_bucket_ties_and_values_know_no_other_query() -> None:
    board = board_of(QRELS, RUNS, FACETS)
    alone = board.within("level", "hard")
    measures = board.conventions.measures("RR")
    [found] = find_tie_ranges(alone, measures)["A"]
    assert (found.lowest, found.value, found.highest) == (0.5, 1.0, 1.0)
    assert np.isnan(alone.values(*measures)).tolist() == [[True] * 2] * 2 + [
        [False] * 2,
        [True] * 2,
    ]
    assert alone.counted(*measures).tolist() == [False, False, True, False]
    assert not np.isnan(board.values(*measures)[0]).any(), "the board itself counts all"


def test_within_follows_the_grades_of_the_board_it_came_from() -> None:
    board = board_of(QRELS, RUNS, FACETS)
    before = rows(board.within("level", "easy"), "RR")
    board.refresh([change(board, "q2", "d", 3)], board.revision + 1)
    after = rows(board.within("level", "easy"), "RR")
    assert (before[0].value, after[0].value) == (0.5, 0.75)


def test_an_unknown_bucket_is_answered_with_those_there_are() -> None:
    with pytest.raises(NotFound, match="no bucket is called 'none'; there are: easy, hard"):
        board_of(QRELS, RUNS, FACETS).within("level", "none")
