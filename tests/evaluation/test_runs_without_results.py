"""A run that answers no query that counts has no value anywhere; an absent query is still a 0."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import labeler
from labeler.analysis import comparison
from labeler.analysis.failures.diagnosis import diagnose
from labeler.analysis.keywords import KeywordScore, compare_with_grades
from labeler.analysis.run_verdict import judge_pair
from labeler.cli import main
from labeler.evaluation import PRESETS, Scoreboard, query_records, residual_means, score_records
from labeler.evaluation.ties_and_residuals import tie_ranges_of_run
from labeler.measures import parse_all
from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.render import csv_exports, tables
from labeler.store import Store
from tests.support.boards import ALL, board_of, change, everything, one, rows
from tests.support.page import empty_golden_set, listed_queries, loaded, open_page, words

QRELS = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 1}, "q3": {"c4": 0}, "q4": {}}
ANSWERS = {"q1": {"c1": 2.0, "c2": 1.0}, "q3": {"c4": 1.0}}
EMPTY = {"no list at all": {}, "empty lists": {"q1": [], "q2": []}, "only ungraded": {"q4": ["c1"]}}
FACETS = {"intent": {"q1": "a", "q2": "b", "q3": "b"}, "other": {"q1": "x", "q2": "x"}}
REASON = "no result for any query that counts"


def board_with(name: str, preset: str = "graded") -> Scoreboard:
    return board_of(QRELS, {"A": ANSWERS, "E": EMPTY[name]}, FACETS, preset=preset)


@pytest.fixture(params=PRESETS)
def preset(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("name", EMPTY)
def test_a_run_without_results_has_no_mean_in_no_bucket_and_no_query(name: str, preset: str):
    board = board_with(name, preset)
    for facet in (None, "intent"):
        for score in rows(board, ALL, facet):
            if score.run == "E":
                assert math.isnan(score.value), score
                assert (score.n > 0) == (score.reason == REASON)
            elif score.n:
                assert not math.isnan(score.value)
                assert score.reason is None
    for score in board.per_query("E", board.conventions.measures(ALL)):
        assert math.isnan(score.value)
        assert score.reason == (REASON if score.counted else score.reason)
        assert score.reason
    for measure in board.conventions.measures(ALL):
        assert np.isnan(board.values(measure)[:, 1]).all()


def test_a_single_absent_query_is_still_0_and_counted(preset: str):
    board = board_with("no list at all", preset)
    [absent] = [row for row in board.per_query("A", parse_all("RR")) if row.query_id == "q2"]
    assert (absent.value, absent.missing, absent.reason) == (0.0, True, None)
    score = one(board_of(QRELS, {"A": ANSWERS}, preset=preset), "RR")
    assert (score.n, score.missing, score.value) == (
        (2, 1, 0.5) if preset == "graded" else (3, 1, 1 / 3)
    )


def test_a_bucket_that_a_run_answers_nowhere_is_0_and_counted():
    """The run answers others: what collapsed here is its ranking, and must not be hidden."""
    board = board_of(QRELS, {"A": {"q1": ["c1"]}}, FACETS)
    _, b = rows(board, "RR", "intent")
    assert (b.bucket, b.value, b.n, b.missing, b.reason) == ("b", 0.0, 1, 2, None)


def test_what_counts_depends_on_the_measure():
    """q3 is graded, yet nothing relevant is known for it: only Judged counts it."""
    board = board_of(QRELS, {"A": {"q3": ["c4"]}})
    rr, judged = rows(board, "RR Judged@1")
    assert (math.isnan(rr.value), rr.n, rr.reason) == (True, 2, REASON)
    assert (judged.value, judged.n, judged.reason) == (1 / 3, 3, None)
    classic = board_of(QRELS, {"A": {"q3": ["c4"]}}, preset="trec_eval")
    assert one(classic, "RR").value == 0.0, "there every graded query counts"


def test_why_a_mean_is_undefined_is_told_apart():
    board = board_of(QRELS | {"q3": {"c4": 0}}, {"A": ANSWERS}, {"f": {"q3": "x", "q4": "y"}})
    x, y = rows(board, "RR", "f")
    assert x.reason == "nothing relevant is known for any of these queries"
    assert y.reason == "no query here has a golden grade"
    by_query = {row.query_id: row.reason for row in board.per_query("A", parse_all("RR"))}
    assert by_query == {
        "q1": None,
        "q2": None,
        "q3": "nothing relevant is known for this query",
        "q4": "nobody has graded a chunk of this query",
    }


def test_the_first_grade_for_what_a_run_answers_gives_it_values_at_once(preset: str):
    board = board_with("only ungraded", preset)
    names = "RR nDCG@10 Judged@1 NumRel"
    assert math.isnan(rows(board, names)[4].value)
    board.refresh([change(board, "q4", "c1", 3)], 1)
    graded = {**QRELS, "q4": {"c1": 3}}
    fresh = board_of(graded, {"A": ANSWERS, "E": EMPTY["only ungraded"]}, FACETS, preset=preset)
    assert everything(board) == everything(fresh)
    assert rows(board, names)[4].value > 0
    board.refresh([change(board, "q4", "c1", None)], 2)
    assert everything(board) == everything(board_with("only ungraded", preset))


def test_residuals_ties_and_agreement_of_such_a_run_are_undefined(preset: str):
    board = board_with("only ungraded", preset)
    of_a, of_e = residual_means(board, board.conventions.measures("RBP"))
    assert (math.isnan(of_a.residual), math.isnan(of_e.residual)) == (False, True)
    board = board_of(QRELS, {"A": ANSWERS, "E": {"q4": {"c1": 1.0, "c2": 1.0}}}, preset=preset)
    [ties] = tie_ranges_of_run(board, "E", board.conventions.measures("RR"))
    assert all(map(math.isnan, (ties.lowest, ties.value, ties.highest)))
    scores = {query: KeywordScore(1.0, 1.0, 1.0, 1, 0) for query in ("q1", "q2")}
    row = compare_with_grades(board, "E", scores, board.conventions.measures("RR"))
    assert math.isnan(row.graded[0])
    assert {each.failure.name for each in diagnose(board, "E").values() if each} == {"no results"}


def test_no_side_wins_against_a_run_without_results(preset: str):
    qrels = {**QRELS, "q4": {}}
    runs = {"A": {**ANSWERS, "q4": {"c1": 1.0}}, "E": {"q4": ["c1"]}}
    board = board_of(qrels, runs, FACETS, preset=preset)
    measures = board.conventions.measures("RR nDCG@10")
    found = comparison.compare(board, "A", "E", measures, "intent")
    for row in (*found.deltas, *found.buckets):
        assert (math.isnan(row.b), math.isnan(row.delta)) == (True, True)
        assert (row.wins, row.ties, row.losses) == (0, 0, 0)
    assert not math.isnan(found.deltas[0].a)
    tests = comparison.assess_pair(board, "A", "E")
    shown = comparison.ShownPair(found, found.deltas, tests)
    for record in comparison.comparison_table([shown]).records():
        assert record["reason"] == f"E: {REASON}"
        assert record["caution"] == f"not tested: {REASON}"
        assert math.isnan(record["lo"])
        assert math.isnan(record["p"])
    q1, *_, q4 = comparison.query_delta_records(found)
    assert (q1["a"], q1["reason"], q1["n"], q1["undefined"]) == (1.0, f"E: {REASON}", 1, 0)
    assert (q4["reason"], q4["n"]) == ("nobody has graded a chunk of this query", 0)
    [said] = judge_pair(board, "A", "E", comparison.DecisionRules()).statements
    assert said.sentence == "A and E can't be compared: E has no result for any query that counts."
    parts = comparison.split_delta(board, "A", "E", measures[0])
    assert (parts.n, math.isnan(parts.delta), math.isnan(parts.recall_b)) == (0, True, True)
    assert math.isnan(parts.candidates)
    terms = comparison.find_rank_changes(board, "A", "E", "q1", measures[0])
    assert {move.contribution for move in terms} == {None}, "they would sum to a delta"


def test_where_facets_cross_such_a_run_is_undefined_and_the_other_is_not(preset: str):
    facets = {"intent": {"q1": "a", "q2": "a"}, "other": {"q1": "x", "q2": "x"}}
    board = board_of(QRELS, {"E": {"q4": ["c1"]}, "A": ANSWERS}, facets, preset=preset)
    [cell] = comparison.cross_facets(board, ["E", "A"], *parse_all("RR"), "intent", "other")
    assert (math.isnan(cell.values[0]), cell.values[1], cell.n) == (True, 0.5, 2)
    rows = csv_exports.crossed_facets_csv(
        [cell], ["E", "A"], *parse_all("RR"), ("intent", "other"), board.conventions
    )
    assert f",{REASON}," in rows.decode().splitlines()[1]


def test_a_picture_of_buckets_says_so_in_the_cell():
    said = ">–<small>no result</small></td>"
    rules = {"least": 1, "link": lambda *_: "queries"}
    board = board_of(QRELS, {"A": {**ANSWERS, "q4": {"c1": 1.0}}, "E": {"q4": ["c1"]}}, FACETS)
    [measure] = board.conventions.measures("RR")
    of_e = [score for score in board.table([measure], "intent") if score.run == "E"]
    totals = [score for score in board.table([measure]) if score.run == "E"]
    buckets = board.facets["intent"]
    drawn = tables.mean_plot(of_e, totals, buckets, board.conventions, facet="intent", **rules)
    assert said in str(drawn)
    found = comparison.compare(board, "A", "E", [measure], "intent")
    tests = comparison.assess_pair(board, "A", "E")
    assert said in str(tables.delta_plot(found, buckets, tests, **rules))
    crossed = comparison.cross_facets(board, ["A", "E"], measure, "intent", "other")
    places = (buckets, board.facets["other"])
    drawn = tables.crossed_plot(crossed, *places, facet="intent", **rules)
    assert ">–</a><small>no result</small></td>" in str(drawn)
    assert said in str(tables.crossed_table(crossed, ["A", "E"], {}, ("intent", "other"), **rules))


def test_records_say_the_reason_in_a_column_of_its_own():
    board = board_with("empty lists")
    of_a, of_e = score_records(board.table(parse_all("RR")))
    assert (of_a["value"], of_a["reason"]) == (0.5, None)
    assert (of_e["reason"], of_e["n"], of_e["undefined"]) == (REASON, 2, 1)
    assert math.isnan(of_e["value"])
    found = {row["query_id"]: row for row in query_records(board.per_query("E", parse_all("RR")))}
    assert (found["q1"]["reason"], found["q1"]["n"], found["q1"]["undefined"]) == (REASON, 1, 0)
    assert (found["q3"]["n"], found["q3"]["undefined"]) == (0, 1)


# In Python, on the command line, on the pages ---------------------------------------------------


def test_evaluate_gives_nan_and_says_why(preset: str):
    qrels = {query: grades for query, grades in QRELS.items() if grades}
    runs = {"A": ANSWERS, "E": {"q1": [], "q2": []}, "elsewhere": {"z": ["c1"]}}
    means = labeler.evaluate(qrels, runs, "RR nDCG@10", preset=preset)
    assert means["reason"].fillna("").tolist() == ["", "", *[REASON] * 4]
    assert means["value"].isna().tolist() == [False, False, *[True] * 4]
    by_query = labeler.evaluate(qrels, runs, "RR", preset=preset, per_query=True)
    of_e = by_query[by_query["run"] == "E"]
    assert of_e["value"].isna().all()
    assert set(of_e[of_e["n"] == 1]["reason"]) == {REASON}
    records = [
        record
        for run in runs
        for record in query_records(_board_of(qrels, runs, preset).per_query(run, parse_all("RR")))
    ]
    assert by_query["reason"].fillna("").tolist() == [record["reason"] or "" for record in records]
    assert by_query["n"].tolist() == [record["n"] for record in records]
    assert by_query["undefined"].tolist() == [record["undefined"] for record in records]


def _board_of(qrels, runs, preset: str) -> Scoreboard:
    return board_of(qrels, runs, preset=preset)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Two graded queries and one that nobody graded, which "empty" alone answers."""
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded([Query(f"q{n}", f"query {n}", task="single") for n in (1, 2, 3)]))
        store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in (1, 2)]))
        store.runs.load(loaded([Ranking(f"q{n}", ("c1", "c2")) for n in (1, 2, 3)]), name="full")
        store.runs.load(loaded([Ranking("q3", ("c1", "c2"))]), name="empty")
        store.runs.load(loaded([Ranking("q1", ()), Ranking("q2", ())]), name="blank")
        grades = [GoldenGrade("q1", "c1", 3), GoldenGrade("q2", "c2", 3)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


def said_by(database: Path, *arguments: str) -> str:
    result = CliRunner().invoke(main, ["--db", str(database), *arguments], prog_name="labeler")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


@pytest.mark.parametrize("run", ["empty", "blank"])
def test_score_gives_programs_null_and_a_reason_and_people_a_dash(
    database: Path, run: str, preset: str
):
    asked = ["--measures", "RR P@5 NumRet", "--preset", preset]
    for more in ([], ["--by", "task"], ["--per-query"]):
        said = said_by(database, "score", run, *asked, *more, "--format", "json")
        found = [row for row in json.loads(said) if row.get("query_id") != "q3"]
        assert {(row["value"], row["reason"]) for row in found} == {(None, REASON)}
        csv = said_by(database, "score", run, *asked, *more, "--format", "csv").splitlines()
        assert f",,{REASON}," in csv[1]
        table = said_by(database, "score", run, *asked, *more)
        assert "0.0000" not in table
    lines = said_by(database, "score", *asked).splitlines()
    (line,) = (line for line in lines if line.startswith(f"{run} "))
    assert line.split()[1:4] == ["–", "–", "–"]


def test_compare_gives_programs_null_and_a_reason_and_people_a_dash(database: Path, preset: str):
    asked = ["compare", "full", "empty", "--measures", "RR", "--preset", preset]
    [row] = json.loads(said_by(database, *asked, "--format", "json"))
    assert (row["a"], row["b"], row["delta"]) == (0.75, None, None)
    assert (row["reason"], row["n"]) == (f"empty: {REASON}", 2)
    shown = said_by(database, *asked)
    assert "\nRR       0.7500      –           –" in shown
    by_query = json.loads(said_by(database, *asked, "--per-query", "--format", "json"))
    assert [(row["a"], row["b"]) for row in by_query] == [(1.0, None), (0.5, None), (None, None)]


@pytest.mark.usefixtures("database")
def test_pages_show_a_dash_where_a_run_has_no_result(preset: str):
    given = {"measure": ["RR", "P@5"], "preset": preset}
    for more in ({}, {"facet": "task"}):
        scores = words(open_page("scores", **given, **more))
        for run in (r"empty\|+2 absent", "blank"):
            assert re.search(rf"\|{run}\|+–\|no result\|", scores)
        assert scores.count("no result|") == (2 if more else 4)
        best = r"\|full\|+(◌ 50%\| unjudged chunks, of the top 5\|+)?0\.7500\|"
        assert re.search(best, scores), "a run with results has its value"
    one_run = words(open_page("slices", a="empty", **given))
    assert "0.0000" not in one_run
    assert "no result" in one_run
    pair = words(open_page("slices", a="full", b="empty", facet="task", numbers="true", **given))
    assert re.search(r"\|0\.7500\|+–\|+–\|", pair)
    assert re.search(r"\|–\|no result\|", pair)
    assert "empty: no result for any query with golden grades, so no value" in pair
    pair = {"a": "full", "b": "empty", "show": "All numbers"}
    compared = words(open_page("compare", **pair, **given))
    assert "full and empty can't be compared: empty has no result for any query" in compared
    assert re.search(r"\|RR\|+0\.7500\|+–\|+–\|", compared)
    opened = words(open_page("compare", a="full", b="empty", query="q1", **given))
    assert "no list: 0" not in opened
    listed = open_page("queries", run="empty", **given)
    words(listed)
    assert listed_queries(listed)["RR"].tolist()[:2] == ["no result", "no result"]
    one_query = words(open_page("queries", run="empty", query="q1", **given))
    assert re.search(r"\|empty\|+no results\|.*?\|no result\|+no result\|", one_query, flags=re.S)
