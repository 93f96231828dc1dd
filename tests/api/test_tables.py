"""Frames and lists of records as qrels and runs: what is read of them, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

import labeler
from labeler.errors import BadInput

GRADES = {"k1": {"good": 2, "bad": 0}, "k2": {"fine": 1, "poor": 0}}
# In each list the relevant chunk is the second row, with the higher score.
ROWS = [("k1", "bad", 1.5), ("k1", "good", 7.5), ("k2", "poor", 0.5), ("k2", "fine", 9.5)]
QUERY, CHUNK = "query_id", "chunk_id"


def frame(value: str, query: str = QUERY, chunk: str = CHUNK) -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=[query, chunk, value])


def rr(qrels: Any, run: Any, **options: Any) -> tuple[float, list[str]]:
    found = labeler.evaluate(qrels, {"A": run}, "RR", **options)
    return found.value.item(), found.attrs["notes"]


@pytest.mark.parametrize("name", ["score", "_score", "Similarity", "rrf_score", "relevance-score"])
def test_a_score_has_any_of_its_names(name: str):
    assert rr(GRADES, frame(name)) == (1.0, [])


@pytest.mark.parametrize(
    ("query", "chunk"), [("q_id", "doc"), ("question", "docid"), ("qid", "pid")]
)
def test_ids_have_any_of_their_names(query: str, chunk: str):
    assert rr(GRADES, frame("score", query, chunk)) == (1.0, [])


@pytest.mark.parametrize("name", ["distance", "_distance", "l2_distance"])
def test_the_smallest_distance_is_best_and_it_is_said(name: str):
    value, notes = rr(GRADES, frame(name))
    assert value == 0.5
    assert notes == [f"run 'A': the smallest {name} is best; scores are minus the distances"]


@pytest.mark.parametrize("name", ["rank", "position", "pos", "ranking"])
def test_ranks_order_a_run_without_scores(name: str):
    assert rr(GRADES, frame(name)) == (0.5, [])
    assert rr(GRADES, frame(name).assign(score=[1.0, 2.0, 1.0, 2.0])) == (1.0, [])
    by_rank = frame(name).assign(score=[1.0, 2.0, 1.0, 2.0])
    assert rr(GRADES, by_rank, order="rank") == (0.5, [])


def test_equal_ranks_order_nothing():
    with pytest.raises(BadInput, match="run 'A': the ranks of query 'k1' must be numbers that dif"):
        rr(GRADES, frame("rank").assign(rank=1))


@pytest.mark.parametrize("name", ["weight", "cosine", None])
def test_a_table_that_nothing_orders_is_asked_about(name: str | None):
    table = frame(name or "x")
    table = table if name else table.drop(columns="x")
    with pytest.raises(
        BadInput, match=r"no column score.* order='file' the order of the rows coun"
    ):
        rr(GRADES, table)
    value, notes = rr(GRADES, table, order="file")
    assert value == 0.5
    assert notes == ([f"run 'A': columns that are not read: {name}"] if name else [])


@pytest.mark.parametrize("more", [["colour"], ["colour", "Page No"], ["source_node"]])
def test_columns_that_are_not_read_are_named(more: list[str]):
    named = ", ".join(more)
    value, notes = rr(GRADES, frame("score").assign(**dict.fromkeys([*more, "text", "title"], "x")))
    assert (value, notes) == (1.0, [f"run 'A': columns that are not read: {named}"])
    qrels = pd.DataFrame([("k1", "good", 2)], columns=[QUERY, CHUNK, "grade"])
    _, notes = rr(qrels.assign(**dict.fromkeys(more, "x")), frame("score"))
    assert f"qrels: columns that are not read: {named}" in notes


def test_scores_that_rise_in_every_list_are_asked_about():
    rows = [(query, f"c{at}", at / 10) for query in ("k1", "k2") for at in range(4)]
    table = pd.DataFrame(rows, columns=[QUERY, CHUNK, "score"])
    _, notes = rr({"k1": {"c0": 1}, "k2": {"c0": 1}}, table)
    assert notes == [
        "run 'A': the scores never fall from row to row in any list (6 times they rise): are they "
        "distances? The highest counts as best; order='file' takes the order of the rows"
    ]
    assert rr({"k1": {"c0": 1}, "k2": {"c0": 1}}, table, order="file") == (1.0, [])
    falls = pd.concat([table, pd.DataFrame([("k1", "last", 0.05)], columns=table.columns)])
    assert rr({"k1": {"c0": 1}, "k2": {"c0": 1}}, falls)[1] == []


@pytest.mark.parametrize("column", ["system", "run", "Run ID"])
def test_a_frame_of_several_systems_is_a_run_of_each_and_no_single_run(column: str):
    both = frame("score").assign(**{column: ["one", "one", "two", "two"]})
    found = labeler.evaluate(GRADES, both, "RR")
    assert dict(zip(found.run, found.value, strict=True)) == {"one": 0.5, "two": 0.5}
    with pytest.raises(BadInput, match=r"names 2 systems \(one, two\), and a run is of one"):
        rr(GRADES, both)
    same = pd.concat([frame("score").assign(**{column: name}) for name in ("one", "two")])
    assert labeler.compare(GRADES, same, measures="RR").delta.tolist() == [0.0]
    assert rr(GRADES, both.assign(**{column: "one"})) == (1.0, [])


@pytest.mark.parametrize("column", ["grader", "judge", "annotator"])
def test_of_several_graders_the_lower_median_counts_and_it_is_said(column: str):
    rows = [
        ("k1", "a", 3, "ann"),
        ("k1", "a", 1, "bo"),
        ("k1", "a", 2, "cy"),
        ("k1", "b", 3, "ann"),
    ]
    qrels = pd.DataFrame(rows, columns=[QUERY, CHUNK, "label", column])
    run = {"k1": ["a", "b"]}
    found = labeler.evaluate(qrels, {"A": run}, "nDCG@2")
    same = labeler.evaluate({"k1": {"a": 2, "b": 3}}, {"A": run}, "nDCG@2")
    assert found.value.tolist() == same.value.tolist()
    said = ["qrels: several graders grade the same pair; the lower median counts"]
    assert found.attrs["notes"] == said
    with pytest.raises(BadInput, match="stands twice"):
        labeler.evaluate(qrels.drop(columns=column), {"A": run}, "RR")


RECORDS: dict[str, tuple[Any, Any]] = {
    "named tuples": (
        [
            ir_measures.Qrel(query, chunk, grade)
            for query, of in GRADES.items()
            for chunk, grade in of.items()
        ],
        [ir_measures.ScoredDoc(*row) for row in ROWS],
    ),
    "dicts": (
        [
            {"q_id": query, "doc": chunk, "label": grade}
            for query, of in GRADES.items()
            for chunk, grade in of.items()
        ],
        [dict(zip(("qid", "docno", "_score"), row, strict=True)) for row in ROWS],
    ),
}


@pytest.mark.parametrize("form", RECORDS)
@pytest.mark.parametrize("make", [list, iter, tuple])
def test_records_are_qrels_and_runs(form: str, make: Any):
    qrels, run = RECORDS[form]
    assert rr(make(qrels), make(run)) == (1.0, [])
    assert labeler.compare(make(qrels), make(run), make(run), "RR").delta.tolist() == [0.0]


def test_a_list_of_anything_else_is_refused():
    with pytest.raises(BadInput, match="run 'A' must be a dict, a frame or a path, not list"):
        rr(GRADES, [("k1", "good", 1.5)])


def test_a_query_that_is_its_own_hit_is_said_and_can_be_left_out(tmp_path: Path):
    grades = {"s1": {"b1": 1}, "s2": {"b2": 1}}
    rows = [("s1", "s1", 2.0), ("s1", "b1", 1.0), ("s2", "s2", 2.0), ("s2", "b2", 1.0)]
    path = tmp_path / "run.trec"
    path.write_text("".join(f"{query} Q0 {chunk} 1 {score} r\n" for query, chunk, score in rows))
    for run in (
        pd.DataFrame(rows, columns=[QUERY, CHUNK, "score"]),
        {"s1": ["s1", "b1"], "s2": {"s2": 2.0, "b2": 1.0}},
        path,
    ):
        said = "run 'A': in 2 of 2 lists a chunk has the query's own id; leave_out_self=True leaves"
        value, notes = rr(grades, run)
        assert value == 0.5
        assert [note for note in notes if note.startswith(said)]
        assert rr(grades, run, leave_out_self=True)[0] == 1.0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.csv", "query_id,chunk_id\nk1,good\n", "neither a score nor a rank is named"),
        ("r.trec", "k1 Q0 good 1 2 a\nk1 Q0 bad 2 1 b\n", "the file holds 2 tags"),
        ("r.jsonl", '{"query_id": "k1", "chunk_id": "good", "distance": 1}\n', "the smallest dist"),
    ],
)
def test_what_the_reader_of_a_file_warns_of_is_in_the_notes(
    name: str, content: str, said: str, tmp_path: Path
):
    path = tmp_path / name
    path.write_text(content)
    _, notes = rr(GRADES, path)
    assert [note for note in notes if said in note]
    assert not [note for note in notes if "--order" in note]
