"""Chunks in the pool that nobody graded, what a query without anything relevant counts, orders."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import labeler
from labeler.cli import main
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import parse_all
from labeler.model import Judgment, Loaded, Query, UnjudgedPair
from labeler.services import import_export
from labeler.services.import_export import LoadOptions
from labeler.store import Store

QRELS = {"q1": {"b": -1, "a": 1, "c": 0, "e": 2}, "q2": {"x": 0, "y": -1}, "q3": {"a": -1}}
RUN = {"q1": ["x", "b", "a", "c", "e"], "q2": ["x", "y"], "q3": ["a"]}
MEASURES = "infAP Bpref AP IPrec@0.5 P@3"


def lines_of(qrels: dict[str, dict[str, int]]) -> str:
    return "".join(f"{q} 0 {c} {g}\n" for q, grades in qrels.items() for c, g in grades.items())


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.qrels").write_text(lines_of(QRELS))
    return tmp_path


def test_grades_below_0_are_ungraded_under_the_preset_of_trec_eval_and_refused_otherwise(files):
    file = files / "q.qrels"
    for qrels in (QRELS, file):
        found = labeler.evaluate(qrels, {"A": RUN}, MEASURES, preset="trec_eval")
        assert set(found["n"]) == {3}, "a query with a pool alone is in trec_eval's mean"
        as_zero = labeler.evaluate(
            qrels, {"A": RUN}, MEASURES, preset="trec_eval", negative_as_zero=True
        )
        assert found["value"][0] > as_zero["value"][0]
        with pytest.raises(BadInput, match="negative_as_ungraded=True as in the pool"):
            labeler.evaluate(qrels, {"A": RUN}, MEASURES)
    asked = labeler.evaluate(QRELS, {"A": RUN}, MEASURES, negative_as_ungraded=True)
    assert set(asked["n"]) == {1}
    bare = {"q1": {"a": 1, "c": 0, "e": 2}, "q2": {"x": 0}}
    without = labeler.evaluate(bare, {"A": RUN}, MEASURES)
    assert asked["value"].tolist()[1:] == without["value"].tolist()[1:], (
        "an unjudged chunk to the others"
    )
    assert asked["unjudged"].tolist() == without["unjudged"].tolist()
    with pytest.raises(BadInput, match="cannot be both 0 and none"):
        labeler.evaluate(QRELS, {"A": RUN}, "AP", negative_as_zero=True, negative_as_ungraded=True)


@pytest.mark.parametrize("preset", ["graded", "trec_eval"])
def test_live_equals_batch_bit_for_bit_as_chunks_of_the_pool_are_graded(preset, files):
    conventions = Conventions.of(preset)
    measures = parse_all(MEASURES)
    with Store(files / "g.db", create=True) as store:
        (files / "queries.csv").write_text("query_id,query\nq1,a\nq2,b\nq3,c\n")
        import_export.read("queries", files / "queries.csv", LoadOptions())(store)
        options = LoadOptions(negative_as_ungraded=True)
        [report] = import_export.read("golden", files / "q.qrels", options)(store)
        assert report.facts["in the pool, but ungraded"] == 3
        (files / "r.json").write_text(str(RUN).replace("'", '"'))
        import_export.read("run", files / "r.json", LoadOptions())(store)
        store.people.add("Ann")
        board = Scoreboard(store.collection.read(), conventions)
        board.table(measures)
        for number, (query, chunk, grade) in enumerate(
            [("q1", "b", 3), ("q3", "a", 1), ("q1", "x", 0)]
        ):
            store.judgments.add(Judgment(f"e{number}", query, chunk, "Ann", "grade", grade))
            board.refresh(store.judgments.changes_since(board.revision), store.judgments.revision())
            fresh = Scoreboard(store.collection.read(), conventions)
            for measure in measures:
                live, batch = board.values(measure), fresh.values(measure)
                assert np.array_equal(live, batch, equal_nan=True), str(measure)
        assert store.golden_loads.ungraded() == [UnjudgedPair("q2", "y")]


def test_a_pool_stays_in_the_golden_set_and_leaves_with_it(files):
    with Store(files / "g.db", create=True) as store:
        (files / "queries.csv").write_text("query_id,query\nq1,a\nq2,b\nq3,c\n")
        import_export.read("queries", files / "queries.csv", LoadOptions())(store)
        options = LoadOptions(negative_as_ungraded=True)
        load = import_export.read("golden", files / "q.qrels", options)
        load(store)
        assert not load(store)[0].changed
        qrels, jsonl = import_export.export(store, "qrels"), import_export.export(store, "jsonl")
        assert sorted(qrels.decode().splitlines()) == sorted(lines_of(QRELS).splitlines())
    (files / "again.jsonl").write_bytes(jsonl)
    with Store(files / "h.db", create=True) as other:
        import_export.read("golden", files / "again.jsonl", LoadOptions())(other)
        assert import_export.export(other, "jsonl") == jsonl
    with pytest.raises(BadInput, match="--negative-as-ungraded as in the pool"):
        import_export.read("golden", files / "q.qrels", LoadOptions())


def test_a_pair_that_is_graded_and_ungraded_in_one_file_is_refused(files):
    (files / "two").write_text("q1 0 a 2\nq1 0 a -1\n")
    with pytest.raises(BadInput, match=r"two:2: chunk 'a' has grade -1 for query 'q1', but 2 on l"):
        import_export.read("golden", files / "two", LoadOptions(negative_as_ungraded=True))


EMPTY = {"q1": {"a": 1}, "q2": {"x": 0}}
LISTS = {"q1": ["x", "a"], "q2": ["x"]}


@pytest.mark.parametrize(
    ("preset", "undefined", "mean", "n", "words"),
    [
        ("graded", None, 0.5, 1, "nothing relevant: undefined, left out"),
        ("graded", 0, 0.25, 2, "nothing relevant: 0, in the mean"),
        ("graded", 1, 0.75, 2, "nothing relevant: 1, in the mean"),
        ("trec_eval", None, 0.25, 2, "nothing relevant: 0, in the mean"),
        ("trec_eval", "nan", 0.5, 1, "nothing relevant: undefined, left out"),
    ],
)
def test_what_a_query_without_anything_relevant_counts_is_chosen_and_said(
    preset, undefined, mean, n, words
):
    options = {"preset": preset, "undefined": undefined}
    found = labeler.evaluate(EMPTY, {"A": LISTS}, "RR", **options)
    assert (found["value"].tolist(), found["n"].tolist()) == ([mean], [n])
    assert words in found.attrs["conventions"]
    each = labeler.evaluate(EMPTY, {"A": LISTS}, "RR", per_query=True, **options)
    assert each["value"].tolist() == pytest.approx(
        [0.5, np.nan if n == 1 else 2 * mean - 0.5], nan_ok=True
    )
    compared = labeler.compare(EMPTY, LISTS, LISTS, "RR", **options)
    assert (compared["a"][0], compared["delta"][0], compared["n"][0]) == (mean, 0, n)


@pytest.mark.parametrize(
    ("options", "n", "value", "words"),
    [
        ([], 2, 1.0, "nothing relevant: undefined"),
        (["--undefined", "0"], 3, 0.6667, "nothing relevant: 0"),
        (["--preset", "trec_eval", "--undefined", "nan"], 2, 1.0, "nothing relevant: undefined"),
    ],
)
def test_a_terminal_chooses_it_by_an_option_and_says_it(filled: Store, options, n, value, words):
    filled.queries.load(Loaded("test", [Query("q3", "in vain")], [1]))
    filled.judgments.add(Judgment("e", "q3", "c1", "Ann", grade=0))

    def rows(*asked: str):
        command = ["--db", str(filled.path), *asked, "--measures", "RR", "--format", "json"]
        result = CliRunner().invoke(main, [*command, *options])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    [row] = rows("score", "first")
    assert (row["n"], round(row["value"], 4)) == (n, value)
    assert words in row["conventions"]["description"]
    [row] = rows("compare", "second", "first")
    assert (row["n"], round(row["b"], 4)) == (n, value)


def test_a_word_that_is_no_choice_is_refused():
    for undefined in (2, "zero", True):
        with pytest.raises(BadInput, match="undefined is 'nan', 0 or 1, not"):
            labeler.evaluate(EMPTY, {"A": LISTS}, "RR", undefined=undefined)
    with pytest.raises(BadInput, match=r"order is .*, not 'best'"):
        labeler.evaluate(EMPTY, {"A": LISTS}, "RR", order="best")


def test_the_rank_column_orders_a_file_or_a_frame_on_request(tmp_path):
    run = tmp_path / "r.trec"
    run.write_text("q1 Q0 a 1 0.5 t\nq1 Q0 x 2 0.9 t\n")
    frame = pd.DataFrame(
        {"qid": ["q1", "q1"], "docno": ["a", "x"], "rank": [0, 1], "score": [0.5, 0.9]}
    )
    for given in (run, frame):
        for order, value in (("score", 0.5), ("rank", 1.0)):
            found = labeler.evaluate({"q1": {"a": 1}}, {"A": given}, "RR", order=order)
            assert found["value"].tolist() == [value]
    with pytest.raises(BadInput, match="must be numbers that differ"):
        labeler.evaluate({"q1": {"a": 1}}, {"A": frame.assign(rank=1)}, "RR", order="rank")


def test_a_set_of_what_is_right_is_qrels():
    for right in ({"a"}, ["a"], ("a",), frozenset("a")):
        found = labeler.evaluate({"q1": right}, {"A": {"q1": ["x", "a"]}}, "RR")
        assert found["value"].tolist() == [0.5]
    with pytest.raises(BadInput, match="or a set of the chunks that are right, not 'a'"):
        labeler.evaluate({"q1": "a"}, {"A": {"q1": ["a"]}}, "RR")


def test_interpolated_precision_is_named_by_its_recall():
    [measure] = parse_all("IPrec(rel=2)@0.25")
    assert (str(measure), measure.label) == ("IPrec(rel=2)@0.25", "IPrec@0.25")
    for wrong in ("IPrec", "IPrec@2", "IPrec@nan", "IPrec@x"):
        with pytest.raises(BadInput, match=r"takes a recall from 0 to 1 after @, as in IPrec@0.1"):
            parse_all(wrong)


def test_a_board_of_plain_qrels_with_a_pool_has_the_values_of_a_collection():
    conventions = Conventions.of("trec_eval")
    board = Scoreboard(collect(QRELS, {"A": RUN}), conventions)
    found = labeler.evaluate(QRELS, {"A": RUN}, "infAP", preset="trec_eval")
    assert found["value"].tolist() == [board.table(parse_all("infAP"))[0].value]
