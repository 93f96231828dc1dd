"""Under the trec_eval preset, every number is the number trec_eval gives."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import Measure, parse, parse_all

GOLDEN = Path(__file__).parents[1] / "goldens" / "trec_eval.json"

QUERIES = [f"q{number}" for number in range(5)]
CHUNKS = ["a", "B", "b", "b1", "é", "ａ", "😀", "c10", "c9", "d"]
SCORES = st.sampled_from([0.5, 0.5 + 1e-10, 1.0, -2.0, 0.0, 1e-7]) | st.floats(-10, 10, width=32)
QRELS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3), min_size=1),
    min_size=1,
)
RUN = st.dictionaries(
    st.sampled_from(QUERIES), st.dictionaries(st.sampled_from(CHUNKS), SCORES, min_size=1)
)
CUTOFFS = (1, 2, 5, 100)
FAMILIES = {"nDCG": "ndcg_cut", "P": "P", "R": "recall", "Success": "success", "AP": "map_cut"}
NAMES = {
    **{f"{name}@{k}": f"{theirs}_{k}" for name, theirs in FAMILIES.items() for k in CUTOFFS},
    "nDCG": "ndcg",
    "AP": "map",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "infAP": "infAP",
    **{f"IPrec@{recall}": f"iprec_at_recall_{recall}0" for recall in ("0.0", "0.1", "0.7", "1.0")},
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
    "NumRet": "num_ret",
    "NumRet(rel={rel})": "num_rel_ret",
}
CONDENSED = {
    **{f"{name}(judged_only=True)@5": f"{theirs}_5" for name, theirs in FAMILIES.items()},
    "nDCG(judged_only=True)": "ndcg",
    "AP(judged_only=True)": "map",
    "RR(judged_only=True)": "recip_rank",
    "Rprec(judged_only=True)": "Rprec",
    "SetP(judged_only=True)": "set_P",
    "SetF(judged_only=True)": "set_F",
}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return content


def trec_eval(
    qrels: Qrels,
    run: Run,
    rel: int,
    names: Collection[str] = frozenset(NAMES.values()),
    *,
    judged_only: bool = False,
) -> dict[str, dict[str, float]]:
    """Ask the tool itself: {query: {its name: value}} for the queries both sides have."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(names), relevance_level=rel, judged_docs_only_flag=int(judged_only)
    )
    rows: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return rows


def test_stored_values_of_trec_eval_are_met(golden: dict[str, Any]) -> None:
    """The file names the tool, its version and the command that made it; none is needed here."""
    assert golden["header"]["tool"] == "pytrec_eval-terrier"
    board = Scoreboard(collect(golden["qrels"], golden["runs"]), Conventions.of("trec_eval"))
    for entry in golden["values"]:
        measure = parse(entry["measure"])
        rows = board.per_query(entry["run"], [measure])
        ours = {row.query_id: row.value for row in rows if not row.missing}
        assert ours == pytest.approx(entry["values"], abs=1e-9), entry["measure"]
        [mean] = [row for row in board.table([measure]) if row.run == entry["run"]]
        total = sum(entry["values"].values())
        assert mean.value == pytest.approx(total / len(golden["qrels"]), abs=1e-9)
        assert not any(row.value for row in rows if row.missing), "an absent query is 0"


def test_stored_values_of_trec_eval_with_a_pool_are_met() -> None:
    stored = json.loads(GOLDEN.with_name("trec_eval_pool.json").read_text(encoding="utf-8"))
    board = Scoreboard(collect(stored["qrels"], stored["runs"]), Conventions.of("trec_eval"))
    bare = {
        query: {chunk: grade for chunk, grade in grades.items() if grade >= 0}
        for query, grades in stored["qrels"].items()
    }
    without = Scoreboard(collect(bare, stored["runs"]), Conventions.of("trec_eval"))
    as_zero = {
        query: {chunk: max(grade, 0) for chunk, grade in grades.items()}
        for query, grades in stored["qrels"].items()
    }
    zeros = Scoreboard(collect(as_zero, stored["runs"]), Conventions.of("trec_eval"))
    for entry in stored["values"]:
        measure = parse(entry["measure"])

        def ours(board: Scoreboard, run: str, measure: Measure) -> dict[str, float]:
            rows = board.per_query(run, [measure])
            return {row.query_id: row.value for row in rows}

        met = ours(board, entry["run"], measure)
        assert met == pytest.approx(entry["values"], abs=1e-9), entry["measure"]
        if measure.name != "infAP":
            known = {query: value for query, value in met.items() if max(bare[query].values()) > 0}
            left = ours(without, entry["run"], measure)
            assert known == {query: left[query] for query in known}, (
                "an unjudged chunk to any other measure"
            )
        if measure.name in ("infAP", "Bpref"):
            assert met != ours(zeros, entry["run"], measure), "and not a chunk of grade 0"


def test_the_stored_collection_holds_what_tools_disagree_on(golden: dict[str, Any]) -> None:
    board = Scoreboard(collect(golden["qrels"], golden["runs"]), Conventions.of("graded"))
    [row, *_] = board.table(parse_all("nDCG@10"))
    assert all(board.tied.values())
    assert row.undefined
    assert row.missing
    assert row.unjudged


def check_values_and_means(board: Scoreboard, name: str, expected: Mapping[str, float]) -> None:
    """Compare one measure, whose values trec_eval gives for the queries that the run has."""
    measures = board.conventions.measures(name)
    complete = {query: expected.get(query, 0.0) for query in board.collection.query_ids}
    ours = {row.query_id: row.value for row in board.per_query("run", measures)}
    assert ours == pytest.approx(complete, abs=1e-9), name
    [mean] = board.table(measures)
    assert mean.value == pytest.approx(sum(complete.values()) / len(complete), abs=1e-9), name
    assert (mean.n, mean.undefined) == (len(complete), 0), "no query is left out of the mean"


@pytest.mark.parametrize("judged_only", [False, True])
@given(qrels=QRELS, run=RUN, rel=st.integers(1, 3))
def test_every_value_and_mean_is_that_of_trec_eval(
    judged_only: bool, qrels: Qrels, run: Run, rel: int
) -> None:
    assume(qrels.keys() & run.keys())  # a run without results has no values
    board = Scoreboard(collect(qrels, {"run": run}), Conventions.of("trec_eval", rel=rel))
    names = CONDENSED if judged_only else NAMES
    reference = trec_eval(qrels, run, rel, names.values(), judged_only=judged_only)
    for name, theirs in names.items():
        expected = {query: values[theirs] for query, values in reference.items()}
        check_values_and_means(board, name.format(rel=rel), expected)


POOLED = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(CHUNKS), st.integers(-1, 3), min_size=1),
    min_size=1,
)


def with_a_zero(grades: dict[str, int]) -> dict[str, int]:
    """Return the grades of a query, with one of 0 where all are below it."""
    return grades if max(grades.values()) >= 0 else {**grades, "in no run": 0}


@given(qrels=POOLED, run=RUN, rel=st.integers(1, 3))
def test_a_grade_below_0_is_in_the_pool_and_ungraded_as_trec_eval_has_it(
    qrels: Qrels, run: Run, rel: int
) -> None:
    """A query with such grades alone is in the mean of trec_eval, and counts 0.

    There its nDCG goes by memory that nobody wrote and may never end. So it is asked of the same
    query with a chunk of grade 0 that no run returns, which moves no value.
    """
    assume(qrels.keys() & run.keys())
    board = Scoreboard(collect(qrels, {"run": run}), Conventions.of("trec_eval", rel=rel))
    reference = trec_eval({query: with_a_zero(each) for query, each in qrels.items()}, run, rel)
    for name, theirs in NAMES.items():
        expected = {query: values[theirs] for query, values in reference.items()}
        check_values_and_means(board, name.format(rel=rel), expected)


@given(QRELS, RUN, st.integers(1, 3))
def test_known_relevant_chunks_are_counted_as_trec_eval_does(
    qrels: Qrels, run: Run, rel: int
) -> None:
    """But trec_eval says nothing of a query that the run lacks, which has them all the same."""
    assume(qrels.keys() & run.keys())  # a run without results has no values
    board = Scoreboard(collect(qrels, {"run": run}), Conventions.of("trec_eval", rel=rel))
    reference = trec_eval(qrels, run, rel, ["num_rel"])
    for row in board.per_query("run", board.conventions.measures("NumRel")):
        assert row.value == sum(grade >= rel for grade in qrels[row.query_id].values())
        assert row.missing or row.value == reference[row.query_id]["num_rel"]


@given(QRELS, RUN, st.integers(1, 3), st.sampled_from([0.25, 2.0, 7.5]))
def test_beta_weighs_as_in_trec_eval(qrels: Qrels, run: Run, rel: int, beta: float) -> None:
    assume(qrels.keys() & run.keys())  # a run without results has no values
    board = Scoreboard(collect(qrels, {"run": run}), Conventions.of("trec_eval", rel=rel))
    reference = trec_eval(qrels, run, rel, [f"set_F_{beta}"])
    expected = {query: values["set_F"] for query, values in reference.items()}
    check_values_and_means(board, f"SetF(beta={beta})", expected)


@given(QRELS, RUN, st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any))
def test_own_gains_are_grades_of_that_height_to_trec_eval(
    qrels: Qrels, run: Run, given_gains: list[int]
) -> None:
    gains = dict(enumerate([0, *sorted(given_gains)]))
    raised = {
        query: {chunk: gains[grade] for chunk, grade in grades.items()}
        for query, grades in qrels.items()
    }
    assume(qrels.keys() & run.keys())  # a run without results has no values
    board = Scoreboard(collect(qrels, {"run": run}), Conventions.of("trec_eval"))
    reference = trec_eval(raised, run, 1, ["ndcg", "ndcg_cut_2"])
    for cutoff, theirs in (("", "ndcg"), ("@2", "ndcg_cut_2")):
        expected = {query: values[theirs] for query, values in reference.items()}
        check_values_and_means(board, f"nDCG(gains={gains}){cutoff}", expected)


@given(QRELS, RUN)
def test_a_run_is_reordered_by_32_bit_score_then_id(qrels: Qrels, run: Run) -> None:
    """The values above could agree by luck; the order itself must not depend on the file's."""
    upside_down = {query: dict(reversed(ranked.items())) for query, ranked in run.items()}
    both = collect(qrels, {"run": run, "upside down": upside_down})
    values = Scoreboard(both, Conventions.of("trec_eval")).values(parse("AP"))
    assert np.array_equal(values[:, 0], values[:, 1], equal_nan=True)


def test_ids_are_compared_byte_by_byte() -> None:
    """By alphabet é comes before z; by byte it comes after, and so do letters outside the BMP."""
    ranked = dict.fromkeys(["z", "é", "ａ", "😀"], 1.0)
    for place, best in enumerate(["😀", "ａ", "é", "z"], 1):
        collection = collect({"q": {best: 1}}, {"run": {"q": ranked}})
        value = Scoreboard(collection, Conventions.of("trec_eval")).values(parse("RR"))
        assert value.tolist() == [[1 / place]]
        assert trec_eval({"q": {best: 1}}, {"q": ranked}, 1)["q"]["recip_rank"] == 1 / place


@given(QRELS, RUN, st.integers(1, 10))
def test_exponential_gain_is_its_closed_form(qrels: Qrels, run: Run, k: int) -> None:
    """DCG of 2^grade - 1 over log2(rank + 1), written out; the tools have no such nDCG."""
    board = Scoreboard(collect(qrels, {"run": run}), Conventions.of("graded"))
    answered = any(any(qrels.get(query, {}).values()) for query in run)
    for row in board.per_query("run", parse_all(f"nDCG(dcg='exp-log2')@{k}")):
        grades = qrels[row.query_id]
        ranked = sorted(run.get(row.query_id, {}).items(), key=lambda pair: -pair[1])
        dcg, ideal = (
            sum((2**grade - 1) / np.log2(rank + 1) for rank, grade in enumerate(given[:k], 1))
            for given in (
                [grades.get(chunk, 0) for chunk, _ in ranked],
                sorted(grades.values(), reverse=True),
            )
        )
        expected = dcg / ideal if ideal and answered else np.nan
        assert row.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
