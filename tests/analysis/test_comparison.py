"""A against B: what a delta is, what it is made of, and that its parts are the whole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.comparison import (
    ABSENT_CELL,
    UNJUDGED_CELL,
    Delta,
    compare,
    compare_candidates,
    cross_facets,
    dcg_table,
    describe_dependence,
    find_rank_changes,
    format_strip,
    grade_strips,
    split_delta,
    why_undefined,
)
from labeler.analysis.comparison.what_if import what_if_values
from labeler.errors import BadInput, NotFound
from labeler.evaluation import PRESETS, Conventions, Scoreboard, collect
from labeler.measures import Measure, parse, parse_all, terms
from labeler.model import GradeChange
from tests.support.boards import board_of
from tests.support.rankings import OF_CHUNKS

ALL = (
    "nDCG nDCG@1 nDCG@5 nDCG(dcg='log2')@5 P@1 P(rel=2)@5 R R@5 R@prompt P@prompt Success@3 "
    "RR RR(rel=3)@5 AP AP@5 Judged Judged@5 Judged@prompt Rprec Rprec(rel=2) Bpref Bpref(rel=2) "
    "RBP RBP(p=0.5, rel=2)@5 ERR ERR(max=4)@5 SetP SetP(judged_only=True) SetR SetF "
    "SetF(beta=2.0) F1@5 F1@prompt NumRel NumRel(rel=2) NumRet(rel=1) NumRet(rel=2) "
    "nDCG(gains={1: 0, 2: 10, 3: 100})@5 nDCG(judged_only=True)@3 P(judged_only=True)@2 "
    "AP(judged_only=True) R(judged_only=True)@prompt IPrec@0.1 IPrec(rel=2)@0.6 infAP infAP(rel=2)"
)


def measure_of(board: Scoreboard, name: str) -> Measure:
    [measure] = board.conventions.measures(name)
    return measure


def delta_of(board: Scoreboard, name: str) -> Delta:
    [row] = compare(board, "A", "B", [measure_of(board, name)]).deltas
    return row


# Deltas -----------------------------------------------------------------------------------------


def test_a_delta_is_b_minus_a_over_the_same_queries() -> None:
    qrels = {"q1": {"c": 1}, "q2": {"c": 1}, "none": {"c": 0}, "ungraded": {}}
    runs = {
        "A": {"q1": ["x", "c"], "q2": ["c"], "none": ["x"]},
        "B": {"q1": ["c", "y"], "none": ["x"]},
    }
    row = delta_of(board_of(qrels, runs), "RR")
    assert (row.a, row.b, row.delta) == (0.75, 0.5, -0.25)
    assert (row.wins, row.ties, row.losses, row.n, row.undefined) == (1, 0, 1, 2, 1)
    assert (row.unjudged_a, row.unjudged_b, row.missing_a, row.missing_b) == (2, 2, 0, 1)
    assert row.b != 1.0, "the query that B has no list for counts, as 0"


def test_values_that_differ_by_rounding_alone_are_a_tie() -> None:
    """Six sixths add up to a little less than one."""
    relevant = {f"r{number}": 1 for number in range(1, 7)}
    spread = [f"r{rank // 6}" if rank % 6 == 0 else f"x{rank}" for rank in range(1, 37)]
    qrels = {"q": {"first": 1, "unfound": 1, **relevant}}
    board = board_of(qrels, {"A": {"q": ["first"]}, "B": {"q": spread}})
    row = delta_of(board, "AP")
    assert row.delta != 0.0
    [back] = compare(board, "B", "A", [row.measure]).deltas
    assert [(each.wins, each.ties, each.losses) for each in (row, back)] == [(0, 1, 0)] * 2


def test_a_bucket_has_its_own_wins_and_a_query_in_none_counts_in_no_bucket() -> None:
    qrels = {f"q{number}": {"c": 1} for number in range(4)}
    runs = {
        "A": {query: ["x", "c"] for query in qrels},
        "B": {"q0": ["c"], "q1": ["c"], "q2": ["x", "y", "c"], "q3": ["c"]},
    }
    facets = {"intent": {"q0": "refund", "q1": "refund", "q2": "billing"}}
    found = compare(board_of(qrels, runs, facets), "A", "B", parse_all("RR"), "intent")
    assert [(row.bucket, row.wins, row.ties, row.losses, row.n) for row in found.buckets] == [
        ("refund", 2, 0, 0, 2),
        ("billing", 0, 0, 1, 1),
    ]
    assert found.deltas[0].wins == 3


def test_a_move_that_four_digits_do_not_show_has_no_direction() -> None:
    qrels = {f"q{number}": {"c": 1} for number in range(4000)}
    lists = {query: ["c"] for query in qrels}
    runs = {"A": lists, "B": {**lists, "q0": ["x", "c"]}}
    row = delta_of(board_of(qrels, runs), "RR")
    assert (round(row.delta, 6), row.direction) == (-0.000125, -1)
    more = {**qrels, **{f"p{number}": {"c": 1} for number in range(8000)}}
    runs = {run: {**lists, **{f"p{n}": ["c"] for n in range(8000)}} for run, lists in runs.items()}
    row = delta_of(board_of(more, runs), "RR")
    assert row.delta != 0.0
    assert row.direction == 0


def test_the_rows_of_queries_say_which_nobody_graded() -> None:
    board = board_of({"q1": {"c": 1}, "q2": {}}, {"A": {"q1": ["c"]}, "B": {"q1": [], "q2": ["c"]}})
    with pytest.raises(BadInput, match="share no query"):
        compare(board, "A", "B", parse_all("RR"))
    board = board_of({"q1": {"c": 1}, "q2": {}}, {"A": {"q1": ["c"]}, "B": {"q1": ["x"]}})
    first, second = compare(board, "A", "B", parse_all("RR@1")).queries()
    assert (first.query_id, first.delta, first.judged, first.unjudged_b) == ("q1", -1.0, True, 1)
    assert (second.judged, second.missing_a) == (False, True)
    assert math.isnan(second.delta)


def test_a_comparison_is_of_one_revision() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["x", "c"]}, "B": {"q": ["c"]}})
    still = board.snapshot()
    board.refresh([GradeChange("q", board.collection.chunk_ids.index("x"), 3)], 5)
    assert (compare(board, "A", "B", parse_all("RR")).revision, still.revision) == (5, 0)
    assert compare(still, "A", "B", parse_all("RR")).deltas[0].a == 0.5
    assert compare(board, "A", "B", parse_all("RR")).deltas[0].a == 1.0


def test_a_board_says_what_stands_where_in_the_order_that_counts() -> None:
    collection = collect({"q": {"b": 2, "gone": 1}}, {"A": {"q": {"a": 2.0, "b": 2.0}, "p": ["b"]}})
    graded, classic = (Scoreboard(collection, Conventions.of(preset)) for preset in PRESETS)
    a, b = graded.ranked("A", "q")
    assert (a.rank, a.chunk_id, a.score, a.grade) == (1, "a", 2.0, None)
    assert (b.rank, b.chunk_id, b.score, b.grade) == (2, "b", 2.0, 2)
    assert [each.chunk_id for each in classic.ranked("A", "q")] == ["b", "a"]
    assert graded.counts_of("q") == (0, 1, 1, 0)
    assert graded.golden("q")[b.chunk] == 2
    plain = Scoreboard(collect({"q": {}, "p": {}}, {"A": {"q": ["a"]}}), Conventions.of())
    assert [each.score for each in plain.ranked("A", "q")] == [None]
    assert plain.ranked("A", "p") == []
    for ask in (lambda: plain.ranked("Z", "q"), lambda: plain.ranked("A", "z")):
        with pytest.raises(NotFound):
            ask()


# Two facets -------------------------------------------------------------------------------------


def test_two_facets_cross_in_every_combination() -> None:
    qrels = {"q0": {"c": 1}, "q1": {"c": 1}, "q2": {"c": 0}, "q3": {"c": 1}, "q4": {}}
    runs = {
        "A": {query: ["x", "c"] for query in qrels},
        "B": {query: ["c"] for query in qrels},
    }
    facets = {
        "intent": {"q0": "refund", "q1": "billing", "q2": "refund", "q4": "refund"},
        "task": {"q0": "single", "q1": "single", "q2": "single", "q3": "single", "q4": "research"},
    }
    cells = cross_facets(board_of(qrels, runs, facets), ["A", "B"], parse("RR"), "intent", "task")
    assert [(cell.bucket, cell.other, cell.n, cell.undefined, cell.unjudged) for cell in cells] == [
        ("refund", "single", 1, 1, (2, 0)),
        ("refund", "research", 0, 0, (0, 0)),
        ("billing", "single", 1, 0, (1, 0)),
        ("billing", "research", 0, 0, (0, 0)),
    ]
    assert cells[0].values == (0.5, 1.0)
    assert cells[0].delta == 0.5
    assert math.isnan(cells[1].delta)


# Reranking --------------------------------------------------------------------------------------


def test_a_rerank_is_said_and_all_its_delta_is_order() -> None:
    qrels = {"q": {"c": 3, "d": 1}}
    runs = {"A": {"q": ["x", "c", "d"]}, "B": {"q": ["c", "x", "d"]}}
    board = board_of(qrels, runs)
    found = compare_candidates(board, "A", "B")
    assert found.sentence == "B only reorders what A found: any difference there is one of order"
    parts = split_delta(board, "A", "B", measure_of(board, "nDCG@2"))
    assert parts.candidates == 0.0
    assert parts.order == parts.delta > 0
    assert parts.recall_a == parts.recall_b == 1.0


def test_two_identical_runs_are_called_identical_and_not_a_rerank() -> None:
    lists = {"q": {"x": 2.0, "c": 1.0}, "p": {"c": 3.0}}
    rescored = {"q": {"x": 9.0, "c": 1.0}, "p": {"c": 3.0}}
    plain = {query: list(scores) for query, scores in lists.items()}
    runs = {"A": lists, "B": lists, "R": rescored, "P": plain, "Q": plain}
    board = board_of({"q": {"c": 1}, "p": {"c": 1}, "r": {"c": 1}}, runs)
    same = "the same chunks in the same order for each of 2 queries"
    found = compare_candidates(board, "A", "B")
    assert found.sentence == f"B is identical to A: {same}, with the same scores"
    assert (found.same, found.ordered, found.identical) == (2, 2, True)
    assert compare_candidates(board, "P", "Q").sentence == f"Q is identical to P: {same}"
    for other in "RP":
        assert compare_candidates(board, "A", other).sentence == (
            f"{other} gives every value that A gives: {same}, only their scores differ"
        )
        assert compare_candidates(board, "A", other).identical


def test_runs_that_agree_where_both_answer_are_not_called_identical() -> None:
    runs = {"A": {"q": ["x", "c"], "p": ["c"]}, "B": {"q": ["x", "c"]}, "C": {"q": ["c", "x"]}}
    board = board_of({"q": {"c": 1}, "p": {"c": 1}}, runs)
    found = compare_candidates(board, "A", "B")
    assert found.sentence == (
        "B and A have the same chunks in the same order for their one query in common; A alone "
        "has results for 1 query more"
    )
    assert (found.ordered, found.identical) == (1, False)
    assert compare_candidates(board, "B", "C").sentence.startswith("C only reorders what B found")


def test_runs_alike_but_for_ties_are_identical_by_the_order_that_counts() -> None:
    """In the file's order they differ; by chunk id, as trec_eval breaks ties, they do not."""
    runs = {"A": {"q": {"x": 1.0, "c": 1.0}}, "B": {"q": {"c": 1.0, "x": 1.0}}}
    assert not compare_candidates(board_of({"q": {"c": 1}}, runs), "A", "B").identical
    classic = compare_candidates(board_of({"q": {"c": 1}}, runs, preset="trec_eval"), "A", "B")
    assert classic.sentence == (
        "B is identical to A: the same chunks in the same order for their one query in common, "
        "with the same scores"
    )


def test_a_query_that_only_one_of_them_answers_does_not_make_it_a_rerank_or_not() -> None:
    runs = {"A": {"q": ["x", "c"], "only": ["c"]}, "B": {"q": ["c", "x"]}}
    found = compare_candidates(board_of({"q": {"c": 1}, "only": {"c": 1}}, runs), "A", "B")
    assert (found.queries, found.alone, found.same) == (1, (1, 0), 1)
    assert found.sentence == (
        "B only reorders what A found, where both have results: any difference there is one of "
        "order; A alone has results for 1 query more"
    )
    runs["B"]["late"] = runs["B"]["later"] = ["c"]
    found = compare_candidates(
        board_of({name: {"c": 1} for name in runs["A"] | runs["B"]}, runs), "A", "B"
    )
    assert found.alone == (1, 2)
    assert found.sentence.endswith(
        "; A alone has results for 1 query more; B alone has results for 2 queries more"
    )


def test_a_list_that_is_not_there_found_nothing_and_is_in_no_order() -> None:
    runs = {"A": {"q": ["x", "c"], "only": ["x", "c"]}, "B": {"q": ["c", "x"]}}
    board = board_of({"q": {"c": 1}, "only": {"c": 1}}, runs)
    parts = split_delta(board, "A", "B", measure_of(board, "RR"))
    assert (parts.delta, parts.candidates, parts.order) == (0.0, -0.25, 0.25)
    back = split_delta(board, "B", "A", measure_of(board, "RR"))
    assert (back.candidates, back.order) == (0.25, -0.25)


def test_leaving_out_is_told_from_reordering() -> None:
    runs = {"A": {"q": ["x", "c", "d"]}, "B": {"q": ["c", "x"]}}
    found = compare_candidates(board_of({"q": {"c": 1}}, runs), "A", "B")
    assert (found.within, found.same) == (1, 0)
    assert found.sentence == "B holds nothing that A did not find: it reorders and leaves out"
    back = compare_candidates(board_of({"q": {"c": 1}}, runs), "B", "A")
    assert back.sentence == "A finds other chunks than B for their one query in common"


def test_better_candidates_in_a_worse_order_are_told_apart() -> None:
    qrels = {"q": {"c": 3, "d": 3}}
    board = board_of(qrels, {"A": {"q": ["c", "x"]}, "B": {"q": ["x", "y", "d", "c"]}})
    parts = split_delta(board, "A", "B", measure_of(board, "R@3"))
    assert (parts.delta, parts.candidates, parts.order) == (0.0, 0.5, -0.5)
    assert (parts.recall_a, parts.recall_b, parts.n) == (0.5, 1.0, 1)


# Strips -----------------------------------------------------------------------------------------


def test_a_strip_tells_a_zero_from_a_hole_and_from_the_end_of_the_list() -> None:
    runs = {"A": {"q": ["c", "x", "z"], "later": []}, "B": {"q": ["z"]}}
    board = board_of({"q": {"c": 3, "z": 0}, "later": {}}, runs)
    found = grade_strips(board, "A", 5)
    assert found.dtype == np.int8
    assert found.tolist() == [[3, UNJUDGED_CELL, 0, ABSENT_CELL, ABSENT_CELL], [ABSENT_CELL] * 5]
    assert grade_strips(board, "B", 1).tolist() == [[0], [ABSENT_CELL]]
    assert [format_strip(row) for row in found] == ["3 · 0", ""]
    with pytest.raises(NotFound, match="no run is called 'C'"):
        grade_strips(board, "C", 5)


def test_two_systems_with_the_same_recall_look_as_different_as_they_feel() -> None:
    relevant = {f"r{number}": 1 for number in range(4)}
    found = iter(relevant)
    good = [next(found) if rank in (1, 4, 8, 10) else f"x{rank}" for rank in range(1, 11)]
    late = [*(f"x{rank}" for rank in range(1, 7)), *relevant]
    board = board_of(
        {"q": {**relevant, **{f"x{r}": 0 for r in range(1, 11)}}},
        {
            "A": {"q": good},
            "B": {"q": late},
        },
    )
    assert format_strip(grade_strips(board, "A", 10)[0]) == "1 0 0 1 0 0 0 1 0 1"
    assert format_strip(grade_strips(board, "B", 10)[0]) == "0 0 0 0 0 0 1 1 1 1"
    assert delta_of(board, "R@10").delta == 0.0
    ap = delta_of(board, "AP")
    assert (round(ap.a, 4), round(ap.b, 4), ap.losses) == (0.5687, 0.2815, 1)


# One query --------------------------------------------------------------------------------------


def test_a_chunk_that_only_one_side_has_contributes_its_whole_term() -> None:
    board = board_of({"q": {"c": 3, "d": 3}}, {"A": {"q": ["c", "x"]}, "B": {"q": ["d", "c"]}})
    found = {move.chunk_id: move for move in find_rank_changes(board, "A", "B", "q", parse("RR"))}
    assert (found["c"].rank_a, found["c"].rank_b, found["c"].contribution) == (1, 2, -1.0)
    assert (found["d"].rank_a, found["d"].rank_b, found["d"].contribution) == (None, 1, 1.0)
    assert (found["x"].grade, found["x"].rank_b, found["x"].contribution) == (None, None, 0.0)
    depend = describe_dependence(parse("RR"))
    assert depend is not None
    assert depend.startswith("Terms depend on each other")
    assert describe_dependence(parse("nDCG@10")) is None


def test_an_undefined_query_has_no_contributions_and_a_sentence() -> None:
    runs = {"A": {"q": ["c"], "p": ["c"]}, "B": {"q": ["x", "c"], "p": ["c"]}}
    board = board_of({"q": {"c": 1}, "p": {}}, runs, rel=2)
    measure = measure_of(board, "RR")
    assert {move.contribution for move in find_rank_changes(board, "A", "B", "q", measure)} == {
        None
    }
    assert why_undefined(board, "q", measure) == (
        "no chunk of q is known to have grade 2 or more: its RR is undefined and left out of the "
        "mean"
    )
    assert why_undefined(board, "p", measure) == "nobody has graded a chunk of p: it has no RR yet"
    assert why_undefined(board, "q", parse("nDCG@5")) is None
    classic = board_of({"q": {"c": 0}}, {run: {"q": ["c"]} for run in "AB"}, preset="trec_eval")
    assert why_undefined(classic, "q", parse("RR")) is None, "0 there, and in the mean"
    assert why_undefined(board, "q", parse("Judged@5")) is None


def test_a_chunk_can_be_tried_at_another_rank_without_a_trace() -> None:
    board = board_of({"q": {"c": 3, "new": 2}}, {"A": {"q": ["x", "y", "c"]}, "B": {"q": ["new"]}})
    before = board.table(parse_all("RR R@3"))
    rr, recall = what_if_values(board, "A", "q", "c", 1, parse_all("RR R@3"))
    assert (rr.present, rr.value, round(rr.delta, 4)) == (1 / 3, 1.0, 0.6667)
    assert recall.delta == 0.0
    [put_in] = what_if_values(board, "A", "q", "new", 3, parse_all("R@3"))
    assert (put_in.present, put_in.value) == (0.5, 0.5), "it pushed the other one out"
    assert board.table(parse_all("RR R@3")) == before


@pytest.mark.parametrize(("chunk", "rank", "last"), [("c", 0, 2), ("c", 3, 2), ("new", 4, 3)])
def test_a_rank_that_the_list_cannot_have_is_refused(chunk: str, rank: int, last: int) -> None:
    board = board_of({"q": {"c": 3, "new": 2}}, {"A": {"q": ["x", "c"]}})
    with pytest.raises(
        BadInput, match=f"{chunk} cannot stand at rank {rank} .* end at rank {last}"
    ):
        what_if_values(board, "A", "q", chunk, rank, parse_all("RR"))


def test_a_dcg_table_is_the_one_tutorials_print() -> None:
    grades = {"D1": 3, "D2": 2, "D5": 1, "D9": 3}
    ranking = ["D7", "D1", "D3", "D5", "D4", "D2", "D8", "D6", "D9", "D10"]
    board = board_of({"q": grades}, {"A": {"q": ranking}})
    table = dcg_table(board, "A", "q", measure_of(board, "nDCG@10"))
    assert [round(x, 4) for x in (table.dcg, table.idcg, table.ndcg)] == [8.0230, 13.3472, 0.6011]
    assert [(row.chunk_id, row.grade) for row in table.ideal] == [
        ("D1", 3),
        ("D9", 3),
        ("D2", 2),
        ("D5", 1),
    ]
    second = table.rows[1]
    assert (second.rank, second.chunk_id, second.grade, second.gain) == (2, "D1", 3, 7.0)
    assert (second.discount, second.term) == (math.log2(3), 7 / math.log2(3))
    assert (table.rows[0].grade, table.rows[0].term) == (None, 0.0)
    assert len(dcg_table(board, "A", "q", parse("nDCG@3")).rows) == 3
    assert table.ndcg != table.dcg / table.rows[0].discount, "divided by the ideal, not by itself"


def test_a_dcg_table_of_judged_chunks_alone_leaves_holes_out_before_ranks_are_counted() -> None:
    """Without the unjudged chunks x, y and z the list is 0 2 1 3, of which three ranks are looked
    at.
    """
    grades = {"zero": 0, "two": 2, "one": 1, "three": 3}
    runs = {"A": {"q": ["x", "zero", "two", "y", "one", "z", "three"]}}
    board = board_of({"q": grades}, runs)
    measure = measure_of(board, "nDCG(dcg='log2', judged_only=True)@3")
    table = dcg_table(board, "A", "q", measure)
    assert [(row.rank, row.chunk_id, row.grade, row.gain) for row in table.rows] == [
        (1, "zero", 0, 0.0),
        (2, "two", 2, 2.0),
        (3, "one", 1, 1.0),
    ]
    assert [row.running for row in table.rows] == [0.0, 2 / math.log2(3), 2 / math.log2(3) + 1 / 2]
    assert [row.chunk_id for row in table.ideal] == ["three", "two", "one"]
    assert (table.dcg, table.idcg) == (2 / math.log2(3) + 0.5, 3 + 2 / math.log2(3) + 0.5)
    assert table.ndcg == pytest.approx(table.dcg / table.idcg, abs=1e-12)
    with_unjudged_chunks = dcg_table(board, "A", "q", measure_of(board, "nDCG(dcg='log2')@3"))
    assert [row.grade for row in with_unjudged_chunks.rows] == [None, 0, 2]
    assert with_unjudged_chunks.ndcg < table.ndcg


def test_a_dcg_table_of_judged_chunks_alone_may_have_no_row() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["x", "y"]}, "B": {}})
    for run in board.run_names:
        table = dcg_table(board, run, "q", measure_of(board, "nDCG(judged_only=True)@5"))
        assert (table.rows, table.dcg, table.ndcg) == ((), 0.0, 0.0)
        assert table.idcg == 1.0


# Bad input --------------------------------------------------------------------------------------


def test_what_cannot_be_compared_is_said_in_words() -> None:
    qrels = {"q1": {"c": 1}, "q2": {"c": 1}}
    runs = {"A": {"q1": ["c"]}, "B": {"q2": ["c"]}, "E": {}, "F": {"q1": []}}
    board = board_of(qrels, runs, {"intent": {"q1": "x"}})
    for a, b, words in [
        ("A", "A", "A and B are both 'A'; choose two different runs"),
        ("A", "B", "runs 'A' and 'B' share no query; nothing can be compared"),
        ("A", "E", "run 'E' has no result for any query of the golden set"),
        ("F", "A", "run 'F' has no result for any query of the golden set"),
    ]:
        for ask in (
            lambda a=a, b=b: compare(board, a, b, parse_all("RR")),
            lambda a=a, b=b: compare_candidates(board, a, b),
            lambda a=a, b=b: split_delta(board, a, b, parse("RR")),
        ):
            with pytest.raises(BadInput, match=words):
                ask()
    with pytest.raises(NotFound, match="no run is called 'Z'; there are: A, B, E, F"):
        compare(board, "A", "Z", parse_all("RR"))


def test_unknown_names_are_answered_in_words() -> None:
    board = board_of(
        {"q": {"c": 1}}, {"A": {"q": ["c"]}, "B": {"q": ["x", "c"]}}, {"intent": {"q": "x"}}
    )
    with pytest.raises(NotFound, match="no facet is called 'topic'; there are: intent"):
        compare(board, "A", "B", parse_all("RR"), "topic")
    with pytest.raises(NotFound, match="no facet is called 'topic'; there are: intent"):
        cross_facets(board, ["A"], parse("RR"), "intent", "topic")
    with pytest.raises(BadInput, match="cannot be crossed with itself"):
        cross_facets(board, ["A"], parse("RR"), "intent", "intent")
    with pytest.raises(BadInput, match="no measure is named"):
        compare(board, "A", "B", [])
    with pytest.raises(BadInput, match=r"AP\(rel=1\) was not compared; there are: RR\(rel=1\)"):
        compare(board, "A", "B", parse_all("RR")).queries(parse("AP"))
    with pytest.raises(BadInput, match="a DCG table is for nDCG"):
        dcg_table(board, "A", "q", parse("RR"))
    for ask in (
        lambda: find_rank_changes(board, "A", "B", "q9", parse("RR")),
        lambda: what_if_values(board, "A", "q9", "c", 1, parse_all("RR")),
        lambda: dcg_table(board, "A", "q9", parse("nDCG")),
        lambda: why_undefined(board, "q9", parse("RR")),
    ):
        with pytest.raises(NotFound, match="query 'q9' is not on this board"):
            ask()
    for chunk_id in ("c9", ""):
        with pytest.raises(NotFound, match=f"no chunk is called {chunk_id!r}"):
            what_if_values(board, "A", "q", chunk_id, 1, parse_all("RR"))


# Laws -------------------------------------------------------------------------------------------

CHUNKS = [f"c{number}" for number in range(8)]
QUERIES = [f"q{number}" for number in range(4)]
RANKED = st.lists(st.sampled_from(CHUNKS), unique=True, min_size=1) | st.dictionaries(
    st.sampled_from(CHUNKS), st.sampled_from([0.5, 1.0, 2.0]), min_size=1
)
LISTS = st.builds(
    lambda first, rest: {**rest, "q0": first},
    RANKED,
    st.dictionaries(st.sampled_from(QUERIES), RANKED | st.just([])),
)
QRELS = st.fixed_dictionaries(
    {query: st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3)) for query in QUERIES}
)
FACETS = {
    "task": {"q0": "single", "q1": "research", "q2": "single"},
    "intent": {"q0": "refund", "q3": "refund"},
}


@st.composite
def boards(draw: st.DrawFn) -> Scoreboard:
    """A board with runs A and B that share at least q0, under either preset."""
    collection = collect(draw(QRELS), {"A": draw(LISTS), "B": draw(LISTS)}, FACETS)
    conventions = Conventions.of(
        draw(st.sampled_from(PRESETS)), prompt_k=2, prompt_k_by_task={"research": 4}
    )
    return Scoreboard(collection, conventions)


def all_measures(board: Scoreboard) -> tuple[Measure, ...]:
    """Return every measure, worked out together: one after the other takes three times as long."""
    measures = board.conventions.measures(ALL)
    board.means(measures)
    return measures


def same(one: float, other: float) -> bool:
    """Say whether two values are equal, NaN being equal to itself."""
    return one == other or (math.isnan(one) and math.isnan(other))


def near(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-12 or (math.isnan(one) and math.isnan(other))


def has_values(board: Scoreboard, run: str, measure: Measure) -> bool:
    """Say whether a run has results for any query that counts; without, it has no value at all."""
    return bool(np.any(board.counted(measure) & (board.hits(run).length > 0)))


def test_every_measure_is_under_these_laws() -> None:
    assert {measure.name for measure in parse_all(ALL)} == {each.name for each in OF_CHUNKS}


@given(QRELS, LISTS, st.sampled_from(PRESETS))
def test_a_run_against_its_copy_is_all_zero(qrels: Any, lists: Any, preset: str) -> None:
    board = board_of(qrels, {"A": lists, "B": lists}, FACETS, preset=preset)
    found = compare(board, "A", "B", board.conventions.measures(ALL), "task")
    for row in (*found.deltas, *found.buckets):
        known = has_values(board, "A", row.measure)
        assert row.delta == 0.0 if row.n and known else math.isnan(row.delta)
        assert (row.wins, row.ties, row.losses) == (0, row.n if known else 0, 0)
    related = compare_candidates(board, "A", "B")
    assert related.same == related.queries > 0


@given(boards())
def test_the_other_way_round_is_the_opposite(board: Scoreboard) -> None:
    measures = board.conventions.measures(ALL)
    there = compare(board, "A", "B", measures, "intent")
    back = compare(board, "B", "A", measures, "intent")
    for one, other in zip(
        (*there.deltas, *there.buckets), (*back.deltas, *back.buckets), strict=True
    ):
        assert same(one.delta, -other.delta)
        assert same(one.a, other.b)
        assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
        outcomes = one.wins + one.ties + one.losses
        assert outcomes == (0 if math.isnan(one.delta) else one.n)
        assert (one.unjudged_a, one.missing_b) == (other.unjudged_b, other.missing_a)


@given(boards())
def test_the_rows_of_queries_make_up_the_means(board: Scoreboard) -> None:
    found = compare(board, "A", "B", board.conventions.measures(ALL))
    for row in found.deltas:
        known = [q.delta for q in found.queries(row.measure) if not math.isnan(q.delta)]
        assert len(known) == (0 if math.isnan(row.delta) else row.n)
        assert not known or near(sum(known) / row.n, row.delta)


@given(boards())
def test_contributions_sum_to_the_delta(board: Scoreboard) -> None:
    """For every measure and query, and none of them where the measure is undefined."""
    measures = board.conventions.measures(ALL)
    found = compare(board, "A", "B", measures)
    for measure in found.measures:
        both = all(has_values(board, run, measure) for run in "AB")
        for row in found.queries(measure):
            given_by = [
                m.contribution for m in find_rank_changes(board, "A", "B", row.query_id, measure)
            ]
            undefined = not both or why_undefined(board, row.query_id, measure) is not None
            assert undefined == math.isnan(row.delta)
            if undefined:
                assert set(given_by) <= {None}
            else:
                assert near(sum(part for part in given_by if part is not None), row.delta)
                assert None not in given_by


@given(boards())
def test_the_terms_of_a_list_sum_to_its_value(board: Scoreboard) -> None:
    """Not to the difference alone: the same error on both sides would not show there."""
    for at, run in enumerate(board.run_names):
        hits = board.hits(run)
        for measure in all_measures(board):
            parts = terms(hits, measure, board.cutoffs(measure))
            assert np.all(parts >= 0)
            if measure.name == "NumRel":
                assert not np.any(parts), "no list adds to what is known of its query"
                continue
            for value, total in zip(board.values(measure)[:, at], hits.sums(parts), strict=True):
                assert near(float(value), float(total)) or (math.isnan(value) and total == 0)


@given(boards())
def test_a_ranking_nobody_holds_is_measured_as_a_run_is(board: Scoreboard) -> None:
    for at, run in enumerate(board.run_names):
        queries = board.collection.query_ids
        alone = [board.aligned([query], [board.chunks(run, query)]) for query in queries]
        for measure in all_measures(board):
            values = board.values(measure)[:, at]
            if not has_values(board, run, measure):
                assert np.isnan(values).all()
                continue
            assert np.array_equal(board.measured(measure, board.hits(run)), values, equal_nan=True)
            for query, hits, value in zip(queries, alone, values.tolist(), strict=True):
                assert same(float(board.measured(measure, hits, [query])[0]), value)


@given(boards())
def test_candidates_and_order_sum_to_the_delta(board: Scoreboard) -> None:
    found = compare(board, "A", "B", board.conventions.measures(ALL))
    related = compare_candidates(board, "A", "B")
    for row in found.deltas:
        parts = split_delta(board, "A", "B", row.measure)
        assert near(parts.delta, row.delta)
        assert near(parts.candidates + parts.order, parts.delta)
        assert parts.n == (0 if math.isnan(row.delta) else row.n)
        if related.same == related.queries and not any(related.alone):
            assert math.isnan(parts.candidates) or near(parts.candidates, 0)
            if not math.isnan(parts.candidates):
                best = [board.measured(row.measure, board.hits(run).best_order) for run in "AB"]
                apart = (best[1] - best[0]).tolist()  # query by query
                assert all(math.isnan(each) or near(each, 0) for each in apart)


@given(boards(), st.sampled_from(["A", "B"]))
def test_no_order_of_the_same_chunks_is_better_than_the_best(board: Scoreboard, run: str) -> None:
    at = board.run_names.index(run)
    for measure in all_measures(board):
        best = board.measured(measure, board.hits(run).best_order)
        value = board.values(measure)[:, at]
        assert np.all(np.isnan(value) | (value <= best + 1e-12))
        if has_values(board, run, measure):
            assert np.array_equal(np.isnan(value), np.isnan(best))


@given(boards(), st.sampled_from(QUERIES))
def test_a_chunk_where_it_stands_changes_nothing(board: Scoreboard, query: str) -> None:
    measures = board.conventions.measures(ALL)
    for each in board.ranked("A", query):
        for found in what_if_values(board, "A", query, each.chunk_id, each.rank, measures):
            assert same(found.present, found.value)
    held = {
        score.measure: score.value
        for score in board.per_query("A", measures)
        if score.query_id == query
    }
    if board.ranked("A", query):
        first = board.ranked("A", query)[0].chunk_id
        for found in what_if_values(board, "A", query, first, 1, measures):
            assert same(found.present, held[found.measure])


@given(QRELS, LISTS, st.sampled_from(CHUNKS), st.integers(1, 9), st.sampled_from(PRESETS))
def test_what_would_be_is_what_a_board_of_the_changed_run_says(
    qrels: Any, lists: Any, chunk: str, rank: int, preset: str
) -> None:
    everything = {"all": {"q0": CHUNKS}}
    plain = {query: list(ranked) for query, ranked in lists.items()}
    board = board_of(qrels, {"A": plain, **everything}, FACETS, preset=preset)
    others = [each for each in plain["q0"] if each != chunk]
    rank = min(rank, len(others) + 1)
    changed = {**plain, "q0": [*others[: rank - 1], chunk, *others[rank - 1 :]]}
    other = board_of(qrels, {"A": changed, **everything}, FACETS, preset=preset)
    measures = board.conventions.measures(ALL)
    held = {s.measure: s.value for s in other.per_query("A", measures) if s.query_id == "q0"}
    for found in what_if_values(board, "A", "q0", chunk, rank, measures):
        assert same(found.value, held[found.measure])


@given(boards(), st.integers(1, 9))
def test_a_strip_is_the_list_cut_at_k(board: Scoreboard, k: int) -> None:
    for run in board.run_names:
        for query, row in zip(board.collection.query_ids, grade_strips(board, run, k), strict=True):
            listed = [each.grade for each in board.ranked(run, query)][:k]
            expected = [UNJUDGED_CELL if grade is None else grade for grade in listed]
            assert row.tolist() == expected + [ABSENT_CELL] * (k - len(listed))


@given(boards(), st.sampled_from(QUERIES))
def test_a_dcg_table_ends_in_the_measure_s_value(board: Scoreboard, query: str) -> None:
    names = "nDCG nDCG@3 nDCG(dcg='log2')@prompt nDCG(judged_only=True)@2 nDCG(judged_only=True)"
    for measure in board.conventions.measures(names):
        table = dcg_table(board, "A", query, measure)
        at = board.number_of(query)
        value = board.values(measure)[at, 0]
        if has_values(board, "A", measure):
            assert same(table.ndcg, float(value))
        if table.idcg:
            assert near(table.dcg / table.idcg, table.ndcg)


@given(boards())
def test_crossed_facets_hold_the_means_of_both(board: Scoreboard) -> None:
    for measure in board.conventions.measures("nDCG@5 RR Judged@5"):
        cells = cross_facets(board, ["B"], measure, "task", "intent")
        refund = {"q0": "single", "q3": None}
        scores = {s.query_id: s for s in board.per_query("B", [measure])}
        for cell in cells:
            inside = [scores[q] for q, task in refund.items() if task == cell.bucket]
            known = [score.value for score in inside if score.counted]
            assert cell.n == len(known)
            assert same(cell.values[0], sum(known) / len(known) if known else math.nan)
