"""labeler.evaluate and labeler.compare: what a notebook gets from dicts, frames and files."""

from __future__ import annotations

import inspect
import json
import re
import rlcompleter
import subprocess
import sys
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest

import labeler
from labeler.analysis.comparison import DecisionRules, ShownPair, compare, comparison_table
from labeler.analysis.run_verdict import judge_pair
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard, collect

QRELS = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 1, "c4": 2}, "q3": {"c5": 0}}
RUN = {"q1": {"c2": 2.0, "c1": 1.0, "c9": 0.5}, "q2": {"c4": 9.0}}
OTHER = {"q1": ["c1", "c2"], "q2": ["c3", "c4"], "q7": ["c1"]}
MEASURES = "nDCG@10 RR R@1 Judged@10"


def frame_of(nested, value: str, query="query_id", chunk="doc_id") -> pd.DataFrame:
    rows = [(q, c, v) for q, chunks in nested.items() for c, v in chunks.items()]
    return pd.DataFrame(rows, columns=[query, chunk, value])


def test_dicts_frames_and_files_give_the_same_numbers(tmp_path: Path) -> None:
    wanted = labeler.evaluate(QRELS, {"A": RUN}, MEASURES)
    qrels = tmp_path / "a.qrels"
    qrels.write_text("".join(f"{q} 0 {c} {g}\n" for q in QRELS for c, g in QRELS[q].items()))
    run = tmp_path / "a.trec"
    run.write_text("".join(f"{q} Q0 {c} 1 {s} x\n" for q in RUN for c, s in RUN[q].items()))
    given = {
        "ir_measures": (frame_of(QRELS, "relevance"), frame_of(RUN, "score")),
        "PyTerrier": (
            frame_of(QRELS, "label", "qid", "docno"),
            frame_of(RUN, "score", "qid", "docno"),
        ),
        "files": (qrels, str(run)),
    }
    for grades, ranked in given.values():
        pd.testing.assert_frame_equal(labeler.evaluate(grades, {"A": ranked}, MEASURES), wanted)
    assert list(wanted) == [
        *("run", "measure", "value", "full_name", "reason", "n", "undefined", "unjudged", "missing")
    ]
    assert wanted.attrs["conventions"].startswith("gain 2^grade−1")


def test_a_log_of_judgments_gives_the_numbers_of_its_golden_set(tmp_path: Path) -> None:
    log = [
        {"kind": "import", "chunk_id": "c1", "grader": None, "graders": [], "grade": 0},
        {"kind": "grade", "chunk_id": "c1", "grader": "Ann", "grade": 2},
        {"kind": "grade", "chunk_id": "c1", "grader": "Ann", "grade": 3},
        {"kind": "propose", "chunk_id": "c2", "grader": "LLM", "grade": 3},
        {"kind": "grade", "chunk_id": "c2", "grader": "Ann", "grade": 0},
        {"kind": "grade", "chunk_id": "c2", "grader": "Bob", "grade": 3},
        {"kind": "withdraw", "chunk_id": "c2", "grader": "Bob"},
        {"kind": "adjudicate", "chunk_id": "c3", "grader": "Lea", "grade": 1},
        {"kind": "grade", "chunk_id": "c3", "grader": "Bob", "grade": 2},
        {"kind": "grade", "chunk_id": "c4", "grader": "Bob", "grade": 2},
        {"kind": "grade", "chunk_id": "c4", "grader": "Bob", "grade": 0},
        {"kind": "grade", "chunk_id": "c4", "grader": "Bob", "grade": 2, "undoes": "e10"},
        {"kind": "cannot_tell", "chunk_id": "c5", "grader": "Bob"},
        {"kind": "grade", "chunk_id": "c5", "grader": "Cy", "grade": 0},
    ]
    of = {chunk: query for query, chunks in QRELS.items() for chunk in chunks}
    lines = [
        {"event_id": f"e{at}", "query_id": of[str(each["chunk_id"])]} | each
        for at, each in enumerate(log)
    ]
    path = tmp_path / "judgments.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = labeler.evaluate(path, {"A": RUN}, MEASURES)
    pd.testing.assert_frame_equal(found, labeler.evaluate(QRELS, {"A": RUN}, MEASURES))


def test_undefined_is_nan_and_counted_and_the_presets_differ() -> None:
    graded = labeler.evaluate(QRELS, {"A": RUN}, "RR").iloc[0]
    assert (graded["value"], graded["n"], graded["undefined"]) == (0.75, 2, 1)
    classic = labeler.evaluate(QRELS, {"A": RUN}, "RR", preset="trec_eval").iloc[0]
    assert (classic["value"], classic["n"]) == (0.5, 3)
    rows = labeler.evaluate(QRELS, {"A": RUN}, "RR", per_query=True)
    assert rows["query_id"].tolist() == ["q1", "q2", "q3"]
    assert np.isnan(rows["value"].iloc[2])
    assert rows["undefined"].tolist() == [0, 0, 1]
    assert labeler.evaluate(QRELS, {"A": RUN}, "R@1", rel=3)["n"].iloc[0] == 1


@pytest.mark.parametrize("preset", ["graded", "trec_eval"])
def test_rows_by_query_are_those_of_the_board(preset: str) -> None:
    qrels, runs = QRELS | {"q4": {}}, {"A": RUN, "B": OTHER}
    asked = f"{MEASURES} MRR Recall@1"
    found = labeler.evaluate(qrels, runs, asked, preset=preset, per_query=True)
    board = Scoreboard(collect(qrels, runs), Conventions.of(preset))
    wanted = [
        {
            "run": row.run,
            "query_id": row.query_id,
            "measure": name,
            "value": row.value,
            "full_name": str(row.measure),
            "reason": row.reason,
            "n": int(not np.isnan(row.value)),
            "undefined": int(np.isnan(row.value)),
            "unjudged": row.unjudged,
            "missing": int(row.missing),
        }
        for run in runs
        for row in board.per_query(run, board.conventions.measures(asked))
        if row.judged
        for name in row.measure.names
    ]
    pd.testing.assert_frame_equal(found, pd.DataFrame(wanted), check_dtype=False)
    nobody = labeler.evaluate({"q1": {}}, {"A": RUN}, "RR RBP", per_query=True)
    assert (len(nobody), list(nobody)[:3]) == (0, ["run", "query_id", "measure"])


def test_two_runs_are_compared() -> None:
    found = labeler.compare(QRELS, RUN, OTHER, "RR nDCG@10")
    assert found["measure"].tolist() == ["RR", "nDCG@10"]
    assert found["full_name"].tolist() == ["RR(rel=1)", "nDCG(dcg='exp-log2')@10"]
    assert found[["missing_a", "missing_b"]].iloc[0].tolist() == [1, 1]
    assert found[["a", "b", "delta"]].iloc[0].tolist() == [0.75, 1.0, 0.25]
    assert found[["wins", "ties", "losses", "n"]].iloc[0].tolist() == [1, 1, 0, 2]
    rows = labeler.compare(QRELS, RUN, OTHER, "RR", per_query=True)
    assert rows["query_id"].tolist() == ["q1", "q2", "q3"]


@pytest.mark.parametrize("per_query", [False, True])
def test_a_value_is_found_under_the_name_that_was_asked_for(per_query: bool) -> None:
    """Also where one measure has two names, or @prompt turns out to be a number asked for too."""
    asked = ["nDCG@10", "MRR", "Recall@5", "R@prompt", "RR", "P( rel=2 )@5", "hit_rate@3"]
    found = labeler.evaluate(QRELS, {"A": RUN, "B": OTHER}, asked, per_query=per_query)
    compared = labeler.compare(QRELS, RUN, OTHER, asked, per_query=per_query)
    for name in asked:
        assert len(found[found["measure"] == name]) == (6 if per_query else 2), name
        assert len(compared[compared["measure"] == name]) == (3 if per_query else 1), name
    full_names = dict(zip(found["measure"], found["full_name"], strict=True))
    assert full_names["nDCG@10"] == "nDCG(dcg='exp-log2')@10"
    assert full_names["MRR"] == full_names["RR"] == "RR(rel=1)"
    assert full_names["R@prompt"] == full_names["Recall@5"] == "R(rel=1)@5"
    values = found.set_index("measure")["value"]
    assert values["MRR"].equals(values["RR"].rename({"RR": "MRR"}))
    theirs = labeler.evaluate(QRELS, {"A": RUN}, [ir_measures.nDCG @ 10, ir_measures.RR])
    assert theirs["measure"].tolist() == ["nDCG@10", "RR"]


def test_rbp_comes_with_what_ungraded_chunks_could_add() -> None:
    measures = "RR RBP(p=0.5)"
    means = labeler.evaluate(QRELS, {"A": RUN, "B": OTHER}, measures)
    assert means["full_name"].tolist() == ["RR(rel=1)", "RBP(rel=1, p=0.5)"] * 2
    rows = labeler.evaluate(QRELS, {"A": RUN, "B": OTHER}, measures, per_query=True)
    of_rbp = rows[rows["measure"].str.startswith("RBP") & (rows["query_id"] != "q3")]
    # A: q1 all but ranks 1 and 2, q2 all but rank 1; B: both all but ranks 1 and 2
    assert of_rbp["residual"].tolist() == [0.25, 0.5, 0.25, 0.25]
    assert means["residual"].tolist()[1::2] == [0.375, 0.25]
    assert rows[~rows.index.isin(of_rbp.index)]["residual"].isna().all(), "RR, and undefined RBP"
    assert "residual" not in labeler.evaluate(QRELS, {"A": RUN}, "RR")


def test_other_scales_and_negative_grades_are_read_on_request(tmp_path: Path) -> None:
    web = {"q1": {"c1": 4, "c2": -2, "c3": 1}, "q2": {"c4": 2, "c5": -1}}
    plain = {"q1": {"c1": 3, "c2": 0, "c3": 1}, "q2": {"c4": 2, "c5": 0}}
    runs = {"A": {"q1": ["c2", "c1", "c3"], "q2": ["c5", "c4"]}}
    wanted = labeler.evaluate(plain, runs, "nDCG@10 ERR@5 Judged@2")
    file = tmp_path / "web.qrels"
    file.write_text("".join(f"{q} 0 {c} {g}\n" for q in web for c, g in web[q].items()))
    options = {"grade_map": {4: 3}, "negative_as_zero": True}
    for qrels in (web, frame_of(web, "relevance").astype({"relevance": float}), file):
        found = labeler.evaluate(qrels, runs, "nDCG@10 ERR@5 Judged@2", **options)
        pd.testing.assert_frame_equal(found, wanted)
        compared = labeler.compare(qrels, runs["A"], runs["A"], "nDCG@10", **options)
        assert compared["a"].tolist() == wanted["value"].tolist()[:1]
        with pytest.raises(BadInput, match=r"-2 is negative; negative_as_zero=True reads it as 0"):
            labeler.evaluate(qrels, runs, grade_map={4: 3})
        with pytest.raises(BadInput, match=r"not 4; grade_map=\{4: 3\} reads it as 3"):
            labeler.evaluate(qrels, runs, negative_as_zero=True)
    with pytest.raises(BadInput, match=r"grade_map must be \{number: grade\}"):
        labeler.evaluate(web, runs, grade_map="4=3")
    with pytest.raises(BadInput, match="must be 0, 1, 2 or 3, not 7"):
        labeler.evaluate(web, runs, grade_map={4: 7})


def test_the_better_placed_of_two_equal_chunks_counts_on_request(tmp_path: Path) -> None:
    run = tmp_path / "a.trec"
    run.write_text("q1 Q0 c2 1 9 x\nq1 Q0 c1 2 8 x\nq1 Q0 c2 3 7 x\n")
    with pytest.raises(BadInput, match=r"a\.trec:3: .* placed with on_duplicate='first'$"):
        labeler.evaluate(QRELS, {"A": run}, "RR")
    found = labeler.evaluate(QRELS, {"A": run}, "RR", on_duplicate="first")
    assert found["value"].tolist() == [0.25], "q1 at rank 2, q2 not there"


def test_what_could_surprise_is_said_beside_the_numbers() -> None:
    tied = {"q1": {"c1": 2.0, "c2": 2.0}}
    notes = [
        "A: 1 query with tied scores, ties in file order",
        "A: no list for 2 queries of 3 with golden grades, where its values are 0",
        "B: 1 query not in the golden set, left out",
        "B: no list for 1 query of 3 with golden grades, where its values are 0",
        "A: other orders of its ties could give RR 0.2500 to 0.5000",
    ]
    assert labeler.evaluate(QRELS, {"A": tied, "B": OTHER}, "RR").attrs["notes"] == notes
    assert labeler.compare(QRELS, tied, OTHER, "RR").attrs["notes"] == notes


WRONG = {
    "no measure is called": {"measures": "nDGC@10"},
    "no measure is named": {"measures": ""},
    "must be {name: run}": {"runs": RUN and []},
    "share no query": {"runs": {"A": {"q9": ["c1"]}}},
    "chunk 'c1' is not a finite number: nan": {"runs": {"A": {"q1": {"c1": float("nan")}}}},
    "'c2' is not a finite number: inf": {"runs": {"A": {"q1": {"c1": 1, "c2": float("inf")}}}},
    "is not a finite number: '7'": {"runs": {"A": {"q1": {"c1": "7"}}}},
    "is not a finite number: 'seven'": {"runs": {"A": frame_of({"q1": {"c1": "seven"}}, "score")}},
    "is not a finite number: True": {"runs": {"A": {"q1": {"c1": True}}}},
    "is not a finite number: 1000": {"runs": {"A": {"q1": {"c1": 10**400}}}},
    "there is no query in the qrels": {"qrels": {}},
    "stands there twice": {"runs": {"A": {"q1": ["c1", "c1"]}}},
    "must be 0, 1, 2 or 3, not 4": {"qrels": {"q1": {"c1": 4}}},
    "chunk 'c1' for query 'q1': grade must be 0, 1, 2 or 3, not '2'": {
        "qrels": {"q1": {"c1": "2"}}
    },
    "must be 0, 1, 2 or 3, not NaN": {"qrels": {"q1": {"c1": float("nan")}}},
    "must be 0, 1, 2 or 3, not 'true'": {"qrels": {"q1": {"c1": True}}},
    "no column grade or rating or relevance": {"qrels": frame_of(QRELS, "usefulness")},
    "stands twice for query 'q1'": {
        "qrels": pd.concat([frame_of(QRELS, "relevance"), frame_of({"q1": {"c1": 1}}, "relevance")])
    },
    "a row without a value": {"runs": {"A": frame_of({"q1": {"c1": None}}, "score")}},
    "ids are text, not 7": {"qrels": frame_of({7: {"c1": 1}}, "relevance")},
    "expected {chunk: score}": {"runs": {"A": {"q1": "c1"}}},
    "must be a dict, a frame or a path": {"qrels": [1]},
    "expected {chunk: score} or a list of chunks, best first": {
        "runs": {"A": {"q1": [("c1", 0.9)]}}
    },
    "must be text, not ['c1', 1.0]": {"runs": {"A": {"q1": [["c1", 1.0]]}}},
    "run 'A', query 'q1': a chunk id must be text, not 1": {"runs": {"A": {"q1": [1, 2]}}},
    "a chunk id must be text, not 7": {"runs": {"A": {"q1": {7: 1.0}}}},
    "a chunk id must be text, not None": {"runs": {"A": {"q1": ["c1", None]}}},
    "a chunk id must not be empty": {"runs": {"A": {"q1": ["c1", ""]}}},
    "a query id must be text, not 7": {"runs": {"A": {"q1": ["c1"], 7: ["c1"]}}},
    "qrels, query 'q1': a chunk id must be text, not 8": {"qrels": {"q1": {8: 1}}},
    "best first": {"runs": {"A": {"q1": b"c1"}}},
    "is not a finite number: [1.0]": {"runs": {"A": {"q1": {"c1": [1.0]}}}},
    "grade must be 0, 1, 2 or 3, not 1000": {"qrels": {"q1": {"c1": 10**400}}},
    "there are 2 columns 'query_id'; leave one": {
        "qrels": pd.concat([frame_of(QRELS, "grade"), frame_of(QRELS, "grade")], axis=1)
    },
    "no file can be called so": {"runs": {"A": "a\0b"}},
    "'5' is not a measure": {"measures": 5},
    "no measure is called 'None'": {"measures": [None]},
    "a whole number from 1, not 2.5": {"prompt_k": 2.5},
    "a whole number from 1, not '5'": {"prompt_k": "5"},
    "a whole number from 1, not True": {"prompt_k": True},
    "must be grade 1, 2 or 3, not 1.5": {"rel": 1.5},
    "grade_map must be {number: grade}, such as": {"grade_map": {"1": 0}},
    "a grade must be 0, 1, 2 or 3, not 2.5": {"grade_map": {1: 2.5}},
    "on_duplicate is 'refuse' or 'first', not 'last'": {"on_duplicate": "last"},
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_used_is_said_in_a_sentence(words: str) -> None:
    given = {"qrels": QRELS, "runs": {"A": RUN}, "measures": "RR"} | WRONG[words]
    with pytest.raises(BadInput, match=re.escape(words)):
        labeler.evaluate(**given)


def test_metrics_is_another_name_of_measures() -> None:
    expected = labeler.evaluate(QRELS, {"A": RUN}, "RR nDCG@10")
    pd.testing.assert_frame_equal(
        labeler.evaluate(QRELS, {"A": RUN}, metrics="RR nDCG@10"), expected
    )
    assert labeler.compare(QRELS, RUN, OTHER, metrics=["RR"])["measure"].tolist() == ["RR"]
    assert (
        labeler.plan(["A"], metrics="RR").shape.measures == labeler.plan(["A"], "RR").shape.measures
    )
    both = "metrics is another name of measures; give one of the two"
    for given in ({"measures": "RR"}, {"measures": None}):
        with pytest.raises(BadInput, match=both):
            labeler.evaluate(QRELS, {"A": RUN}, metrics="AP", **given)
    with pytest.raises(BadInput, match=both):
        labeler.evaluate(QRELS, {"A": RUN}, "RR", metrics="AP")
    with pytest.raises(BadInput, match=both):
        labeler.compare(QRELS, RUN, OTHER, "RR", metrics="AP")


@pytest.mark.parametrize("run", [RUN, OTHER, frame_of(RUN, "score"), "a.trec", [RUN]])
def test_one_run_without_a_name_is_refused_with_what_to_give(run) -> None:
    with pytest.raises(BadInput, match=re.escape('give {name: run}, such as {"bm25": run}')):
        labeler.evaluate(QRELS, run, "RR")


@pytest.mark.parametrize(
    "name", ["evaluate rels", "compare workers", "trend_of bands", "plan per_query", "gate budget"]
)
def test_an_argument_that_a_function_has_not_is_refused_by_its_name(name: str) -> None:
    function, argument = name.split()
    said = rf"^{function}\(\) got an unexpected keyword argument '{argument}'$"
    with pytest.raises(TypeError, match=said):
        getattr(labeler, function)(QRELS, {}, {}, **{argument: 1})


def test_help_shows_each_option_with_its_default() -> None:
    shown = inspect.signature(labeler.evaluate).parameters
    assert shown["rel"].default == 1
    assert shown["order"].default == "score"
    assert {*shown} > {*inspect.signature(labeler.plan).parameters} - {"options"}
    assert "options" not in shown
    assert {"preset", "leave_out_self"} - {*inspect.signature(labeler.gate).parameters} == {
        "preset"
    }


def test_one_run_of_two_queries_is_no_pair_of_runs() -> None:
    with pytest.raises(BadInput, match=re.escape("this is one run, {query: list}; give {name:")):
        labeler.compare(QRELS, OTHER)
    with pytest.raises(BadInput, match="run 'B' must be a dict, a frame or a path, not list"):
        labeler.compare(QRELS, {"A": RUN, "B": ["c1", "c2"]})


def test_without_b_all_pairs_of_named_runs_are_corrected_together() -> None:
    qrels = {f"q{n}": {"c": 1, "x": 0} for n in range(20)}
    up, down = ({query: list(ids) for query in qrels} for ids in ("cx", "xc"))
    runs = {"one": up, "two": down, "three": {**down, "q0": ["c"]}}
    found = labeler.compare(qrels, runs, measures="nDCG@10 RR")
    pairs = [("one", "two"), ("one", "three"), ("two", "three")]
    assert list(zip(found["run_a"], found["run_b"], strict=True)) == [
        p for p in pairs for _ in "12"
    ]
    assert found["tests"].tolist() == [3, 9] * 3, "three pairs, by one measure and by three"
    first = found.iloc[1]
    assert (first["p"], first["test"]) == (1 / 10_001, "drawn")
    assert first["p_corrected"] == pytest.approx(9 / 10_001)
    last = found.iloc[-1]
    assert (last["p"], last["test"]) == (1.0, "exact"), "one query differs: both ways are as large"
    alone = labeler.compare(qrels, up, down, "nDCG@10")
    assert "run_a" not in alone
    assert (alone["tests"].tolist(), alone["level"].tolist()) == ([1], [0.95])
    for wrong in ({"one": up}, [up, down]):
        with pytest.raises(BadInput, match="at least two runs"):
            labeler.compare(qrels, wrong)


def test_the_verdict_of_a_comparison_is_that_of_every_surface_whatever_is_shown() -> None:
    qrels = {f"q{n}": {"c": 3, "x": 0, "y": 1} for n in range(20)}
    a = {query: ["x", "c", "y"] for query in qrels}
    b = {query: ["c", "y", "x"] if at % 4 else ["x", "y", "c"] for at, query in enumerate(qrels)}
    board = Scoreboard(collect(qrels, {"A": a, "B": b}), Conventions.of())
    said = judge_pair(board, "A", "B", DecisionRules())
    shown = labeler.compare(qrels, a, b, "nDCG@10 R@5 P@1")
    assert shown.attrs["verdict"] == [each.line for each in said.statements]
    found = compare(board, "A", "B", board.conventions.measures("nDCG@10 R@5 P@1"))
    wanted = pd.DataFrame(comparison_table([ShownPair(found, found.deltas, said.tests)]).records())
    pd.testing.assert_frame_equal(shown, wanted[list(shown)], check_dtype=False)
    assert set(wanted) - set(shown) == {"run_a", "run_b"}
    assert labeler.compare(qrels, a, b, "P@1").attrs["verdict"] == shown.attrs["verdict"]
    by_rr = labeler.compare(qrels, a, b, "nDCG@10", decide_by="RR", tested="RR", matters=0.9)
    rules = DecisionRules("RR", "RR", 0.9)
    other = judge_pair(board, "A", "B", rules)
    assert by_rr.attrs["verdict"] == [each.line for each in other.statements]
    assert by_rr.attrs["verdict"] != shown.attrs["verdict"]


def test_what_holes_could_make_of_a_mean_is_a_column_where_it_is_asked_for() -> None:
    runs = {"A": RUN, "B": OTHER, "C": {"q1": ["new", "c1"], "q2": ["c4"]}}
    plain = labeler.evaluate(QRELS, runs, MEASURES)
    assert "possible_low" not in plain.columns, "it takes its time"
    frame = labeler.evaluate(QRELS, runs, MEASURES, bands=True)
    pd.testing.assert_frame_equal(frame[plain.columns], plain)
    of = frame.set_index(["run", "measure"])
    assert of.loc[("C", "RR"), ["value", "possible_low", "possible_high"]].tolist() == [
        0.75,
        0.75,
        1,
    ]
    ranked = frame[frame.measure != "Judged@10"]
    assert (ranked.possible_low <= ranked.likely_low).all()
    assert (ranked.likely_high <= ranked.possible_high).all()
    assert frame[frame.measure == "Judged@10"].possible_high.isna().all()
    pair = labeler.compare(QRELS, RUN, runs["C"], "RR", bands=True)
    [row] = pair.to_dict("records")
    assert "run_a" not in row
    assert row["possible_low"] <= row["delta"] <= row["possible_high"]
    assert row["possible_high_b"] == 1.0
    three = labeler.compare(QRELS, runs, measures="RR", bands=True)
    assert three[["run_a", "run_b"]].values.tolist() == [["A", "B"], ["A", "C"], ["B", "C"]]
    assert (three.possible_low <= three.delta).all()
    for ask in (labeler.evaluate, labeler.compare):
        with pytest.raises(BadInput, match="bands are of means"):
            ask(QRELS, runs, measures="RR", bands=True, per_query=True)


def test_numbers_of_numpy_and_measures_of_ir_measures_are_understood() -> None:
    qrels = {q: {c: np.int8(grade) for c, grade in chunks.items()} for q, chunks in QRELS.items()}
    run = {q: {c: np.float32(score) for c, score in ranked.items()} for q, ranked in RUN.items()}
    wanted = labeler.evaluate(QRELS, {"A": RUN}, "RR nDCG@10 P@prompt", rel=2, prompt_k=3)
    measures = [ir_measures.RR, ir_measures.nDCG @ 10, "P@prompt"]
    found = labeler.evaluate(qrels, {"A": run}, measures, rel=np.int64(2), prompt_k=np.int64(3))
    pd.testing.assert_frame_equal(found, wanted)
    one = labeler.evaluate(QRELS, {"A": RUN}, ir_measures.nDCG @ 10, rel=2)
    assert one["value"].tolist() == wanted["value"].tolist()[1:2]
    mapped = labeler.evaluate(QRELS, {"A": RUN}, "AP", grade_map={np.int64(3): np.int64(0)})
    assert (
        mapped["value"].tolist()
        == labeler.evaluate(QRELS, {"A": RUN}, "AP", grade_map={3: 0})["value"].tolist()
    )


def test_scores_no_32_bit_number_holds_are_ties_and_say_nothing() -> None:
    found = labeler.evaluate({"q": {"a": 1}}, {"A": {"q": {"a": 1e39, "b": 1e40}}}, "RR")
    assert found["value"].tolist() == [0.5]


def test_importing_labeler_costs_nothing_and_a_notebook_needs_no_streamlit() -> None:
    script = (
        "import sys, labeler; assert not {'numpy', 'pandas'} & set(sys.modules);"
        "labeler.evaluate({'q': {'c': 1}}, {'A': {'q': ['c']}}, 'RR');"
        "assert not {'streamlit', 'altair', 'sqlite_utils'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        labeler.evalute  # noqa: B018  # the access is what is tested


def test_dir_and_tab_completion_list_the_public_names_and_nothing_else() -> None:
    assert dir(labeler) == sorted(labeler.__all__)
    assert all(hasattr(labeler, name) for name in dir(labeler))
    offered = rlcompleter.Completer({"labeler": labeler}).attr_matches("labeler.")
    shown = [re.match(r"labeler\.(\w+)", each)[1] for each in offered]
    assert shown == [name for name in sorted(labeler.__all__) if name != "__version__"]


def test_a_frame_of_means_says_how_they_mislead() -> None:
    qrels = {f"q{n}": {"c": 3} for n in range(60)}
    late = {query: [*"uvwxyz", "c"] for query in qrels}
    found = labeler.evaluate(qrels, {"A": late}, "R@10", bands=True).attrs["cautions"]
    assert found[0] == (
        "R@10 of A is 1.00, but none of the relevant chunks are in the prompt (5 chunks)."
    )
    first = {query: ["c"] for query in qrels}
    assert labeler.evaluate(qrels, {"A": first}).attrs["cautions"] == []
    assert "cautions" not in labeler.evaluate(qrels, {"A": first}, per_query=True).attrs


@pytest.mark.parametrize(
    "names",
    [
        ("Query ID", "doc", "_score", "judgment"),
        ("question", "passage_id", "Relevance Score", "Rating"),
        ("qid", "docno", "similarity", "gain"),
    ],
)
def test_columns_of_frames_have_the_names_that_columns_of_files_have(names, tmp_path) -> None:
    query, chunk, score, grade = names
    run = pd.DataFrame({query: ["q1", "q1"], chunk: ["c1", "c2"], score: [0.5, 0.9]})
    qrels = pd.DataFrame({query: ["q1", "q1"], chunk: ["c1", "c2"], grade: [0, 3]})
    assert labeler.evaluate(qrels, {"A": run}, measures="RR")["value"].tolist() == [1.0]
    run.to_csv(tmp_path / "run.csv", index=False)
    qrels.to_csv(tmp_path / "qrels.csv", index=False)
    files = labeler.evaluate(tmp_path / "qrels.csv", {"A": tmp_path / "run.csv"}, measures="RR")
    assert files["value"].tolist() == [1.0]


def test_the_order_of_a_frame_or_file_may_be_the_one_it_has(tmp_path) -> None:
    run = pd.DataFrame({"qid": ["q1", "q1"], "docno": ["c1", "c2"], "score": [0.5, 0.9]})
    run.to_csv(tmp_path / "run.csv", index=False)
    for given in (run, run.drop(columns="score"), tmp_path / "run.csv"):
        found = labeler.evaluate({"q1": {"c1": 3}}, {"A": given}, measures="RR", order="file")
        assert found["value"].tolist() == [1.0]
    with pytest.raises(BadInput, match="where runs are read in parts, not 'file'"):
        labeler.plan(["A"], measures="RR", order="file")


def test_two_columns_of_a_frame_that_could_be_the_score_are_refused() -> None:
    run = pd.DataFrame({"qid": ["q1"], "docno": ["c1"], "score": [0.5], "rerank_score": [0.9]})
    with pytest.raises(BadInput, match="'score' and 'rerank_score' could both be the score"):
        labeler.evaluate({"q1": {"c1": 3}}, {"A": run}, measures="RR")
