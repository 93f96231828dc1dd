"""Under the trec_eval preset, every number is the number trec_eval gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import MEASURES, parse, parse_all

GOLDEN = Path(__file__).with_name("goldens") / "trec_eval.json"

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
NAMES = {
    "nDCG": "ndcg",
    **{f"nDCG@{k}": f"ndcg_cut_{k}" for k in CUTOFFS},
    **{f"P@{k}": f"P_{k}" for k in CUTOFFS},
    **{f"R@{k}": f"recall_{k}" for k in CUTOFFS},
    **{f"Success@{k}": f"success_{k}" for k in CUTOFFS},
    **{f"AP@{k}": f"map_cut_{k}" for k in CUTOFFS},
    "AP": "map",
    "RR": "recip_rank",
}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return content


def trec_eval(qrels: Qrels, run: Run, rel: int) -> dict[str, dict[str, float]]:
    """Ask the tool itself: {query: {its name: value}} for the queries both sides have."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values()), relevance_level=rel)
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


def test_the_stored_collection_holds_what_tools_disagree_on(golden: dict[str, Any]) -> None:
    board = Scoreboard(collect(golden["qrels"], golden["runs"]), Conventions.of("graded"))
    [row, *_] = board.table(parse_all("nDCG@10"))
    assert all(board.tied.values())
    assert row.undefined
    assert row.missing
    assert row.holes


@given(QRELS, RUN, st.integers(1, 3))
def test_every_value_and_mean_is_that_of_trec_eval(qrels: Qrels, run: Run, rel: int) -> None:
    conventions = Conventions.of("trec_eval", rel=rel)
    board = Scoreboard(collect(qrels, {"run": run}), conventions)
    reference = trec_eval(qrels, run, rel)
    for name, theirs in NAMES.items():
        measures = conventions.measures(name)
        expected = {q: reference[q][theirs] if q in reference else 0.0 for q in qrels}
        ours = {row.query_id: row.value for row in board.per_query("run", measures)}
        assert ours == pytest.approx(expected, abs=1e-9), name
        [mean] = board.table(measures)
        assert mean.value == pytest.approx(sum(expected.values()) / len(qrels), abs=1e-9), name
        assert (mean.n, mean.undefined) == (len(qrels), 0), "no query is left out of the mean"


@given(QRELS, RUN)
def test_a_run_is_reordered_by_32_bit_score_then_id(qrels: Qrels, run: Run) -> None:
    """The values above could agree by luck; the order itself must not depend on the file's."""
    upside_down = {query: dict(reversed(ranked.items())) for query, ranked in run.items()}
    both = collect(qrels, {"run": run, "upside down": upside_down})
    values = Scoreboard(both, Conventions.of("trec_eval")).values(parse("AP"))
    assert values[:, 0].tolist() == values[:, 1].tolist()


def test_ids_are_compared_byte_by_byte() -> None:
    """By alphabet é comes before z; by byte it comes after, and so do letters outside the BMP."""
    ranked = dict.fromkeys(["z", "é", "ａ", "😀"], 1.0)
    for place, best in enumerate(["😀", "ａ", "é", "z"], 1):
        collection = collect({"q": {best: 1}}, {"run": {"q": ranked}})
        value = Scoreboard(collection, Conventions.of("trec_eval")).values(parse("RR"))
        assert value.tolist() == [[1 / place]]
        assert trec_eval({"q": {best: 1}}, {"q": ranked}, 1)["q"]["recip_rank"] == 1 / place


@pytest.mark.parametrize("name", MEASURES)
def test_our_names_are_names_of_ir_measures(name: str) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    ours = parse(MEASURES[name].example)
    theirs = ir_measures.parse_measure(str(ours))
    assert name == theirs.NAME
    assert theirs.params.get("cutoff") == ours.cutoff
    assert not set(theirs.params) - {"cutoff", "rel", "dcg"}


@given(QRELS, RUN.filter(bool), st.sampled_from([1, 3, 10]))
def test_judged_is_that_of_ir_measures(qrels: Qrels, run: Run, k: int) -> None:
    """Both divide by min(k, length); only scores without ties have one order in both."""
    ir_measures = pytest.importorskip("ir_measures")
    untied = {
        query: {chunk: float(-rank) for rank, chunk in enumerate(ranked)}
        for query, ranked in run.items()
    }
    reference = {
        row.query_id: row.value
        for row in ir_measures.iter_calc([ir_measures.Judged @ k], qrels, untied)
        if row.query_id in untied
    }
    board = Scoreboard(collect(qrels, {"run": untied}), Conventions.of("trec_eval"))
    rows = board.per_query("run", parse_all(f"Judged@{k}"))
    ours = {row.query_id: row.value for row in rows if not row.missing}
    assert ours == pytest.approx({q: reference[q] for q in ours}, abs=1e-9)


@given(QRELS, RUN, st.integers(1, 10))
def test_exponential_gain_is_its_closed_form(qrels: Qrels, run: Run, k: int) -> None:
    """DCG of 2^grade - 1 over log2(rank + 1), written out; the tools have no such nDCG."""
    board = Scoreboard(collect(qrels, {"run": run}), Conventions.of("graded"))
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
        expected = dcg / ideal if ideal else np.nan
        assert row.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
