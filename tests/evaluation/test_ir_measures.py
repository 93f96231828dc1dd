"""The numbers are those of ir_measures, whichever tool it asks; else those of the formula."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import MEASURES, Measure, parse
from tests.support.examples import examples
from tests.support.rankings import ANY_CUTOFF, MISSED, OF_CHUNKS, RANKINGS, measures, value

GOLDEN = Path(__file__).parents[1] / "goldens" / "ir_measures.json"
GDEVAL_DIGITS = 5.001e-6  # it prints five decimals

QUERIES = [str(number) for number in range(1, 6)]  # gdeval reads numbers only
CHUNKS = ["a", "B", "b", "b1", "c10", "c9", "d", "e"]
QRELS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3), min_size=1),
    min_size=1,
)
SCORES = st.sampled_from([0.5, 1.0, -2.0, 0.0]) | st.floats(-10, 10, width=32)
RUN = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(CHUNKS), SCORES, min_size=1),
    min_size=1,
)
BY_PYTREC_EVAL = (
    *("nDCG(dcg='log2')", "nDCG(dcg='log2', judged_only=True)", "nDCG(dcg='log2')@3"),
    *("nDCG(gains={1: 1, 2: 10, 3: 100})", "nDCG(gains={1: 0, 2: 1, 3: 1})@3"),
    *("P@3", "P(judged_only=True)@3", "R@3", "R(judged_only=True)@3", "Success@2"),
    *("Success(judged_only=True)@2", "AP", "AP(judged_only=True)", "AP@3", "RR"),
    *("RR(judged_only=True)", "Rprec", "Rprec(judged_only=True)", "Bpref", "SetP"),
    *("infAP", "IPrec@0.0", "IPrec@0.1", "IPrec@0.75"),
    *("SetP(judged_only=True)", "SetR", "SetF", "SetF(beta=2.5)", "SetF(judged_only=True)"),
    *("NumRet", "NumRet(rel={rel})"),
)
BY_ITSELF = ("Judged", "Judged@3", "RR@3", "RR@10")
BY_GDEVAL = ("nDCG(dcg='exp-log2')@3", "nDCG(dcg='exp-log2')@100", "ERR(max=4)@3", "ERR(max=4)@9")

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def theirs(measure: Measure) -> Any:
    """Return the same measure as an object of ir_measures, whose ERR knows no ``max`` but 4."""
    ir_measures = pytest.importorskip("ir_measures")
    given = {k: v for k, v in measure.parameters.items() if k not in ("max", "documents")}
    if measure.gains is not None:
        given["gains"] = dict(enumerate(measure.gains))
    if measure.cutoff is not None:
        given["cutoff"] = measure.cutoff
    found = ir_measures.measures.registry[measure.name](**given)
    found.validate_params()
    return found


def check(qrels: Qrels, run: Run, rel: int, texts: Sequence[str], tolerance: float) -> None:
    """Compare every value; ir_measures gives 0 for a query that the run lacks.

    One measure at a time: asked together, ir_measures 0.4.3 may work out NumRet under the
    judged_only, and nDCG with the gains, that were given for another measure.
    """
    ir_measures = pytest.importorskip("ir_measures")
    assume(qrels.keys() & run.keys())  # a run without results has no values
    conventions = Conventions.of("trec_eval", rel=rel)
    ours = conventions.measures([text.replace("{rel}", str(rel)) for text in texts])
    reference = {
        (row.query_id, measure): row.value
        for measure in ours
        for row in ir_measures.iter_calc([theirs(measure)], qrels, run)
    }
    board = Scoreboard(collect(qrels, {"run": run}), conventions)
    for row in board.per_query("run", ours):
        expected = reference[row.query_id, row.measure]
        assert row.value == pytest.approx(expected, abs=tolerance), (row.query_id, str(row.measure))


@given(QRELS, RUN, st.integers(1, 3))
def test_what_it_asks_of_pytrec_eval(qrels: Qrels, run: Run, rel: int) -> None:
    check(qrels, run, rel, BY_PYTREC_EVAL, 1e-9)


@given(QRELS, RUN, st.integers(1, 3))
def test_what_it_works_out_itself(qrels: Qrels, run: Run, rel: int) -> None:
    """It sorts ties by id upwards there, so only scores without ties have one order."""
    untied = {
        query: {chunk: float(-rank) for rank, chunk in enumerate(ranked)}
        for query, ranked in run.items()
    }
    check(qrels, untied, rel, BY_ITSELF, 1e-9)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
@examples(25)  # each starts Perl four times
@given(QRELS, RUN)
def test_what_it_asks_of_gdeval(qrels: Qrels, run: Run) -> None:
    check(qrels, run, 1, BY_GDEVAL, GDEVAL_DIGITS)


# What its other providers said, stored ------------------------------------------------------------


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return content


def test_stored_values_of_ir_measures_are_met(golden: dict[str, Any]) -> None:
    """Its names are read as they are, where only ERR must be told that its scale goes up to 4.

    RBP is among them, made by cwl_eval, which spreads its weights over 1,000 ranks: to 1e-9.
    """
    assert golden["header"]["tool"] == "ir_measures"
    board = Scoreboard(collect(golden["qrels"], golden["runs"]), Conventions.of("trec_eval"))
    for entry in golden["values"]:
        measure = parse(entry["measure"], dcg="log2")
        measure = replace(measure, max=4) if measure.name == "ERR" else measure
        rows = board.per_query(entry["run"], [measure])
        ours = {row.query_id: row.value for row in rows if not row.missing}
        tolerance = GDEVAL_DIGITS if entry["by"] == "gdeval" else 1e-9
        assert ours == pytest.approx(entry["values"], abs=tolerance), entry["measure"]


def test_the_stored_values_cover_every_measure_but_our_own(golden: dict[str, Any]) -> None:
    covered = {parse(entry["measure"]).name for entry in golden["values"]}
    in_another_file = {"IPrec", "infAP"}  # with a pool: trec_eval_pool.json
    of_chunks = {each.name for each in OF_CHUNKS}
    assert covered == of_chunks - {"F1"} - in_another_file
    assert {entry["by"] for entry in golden["values"]} == {
        *("pytrec_eval", "cwl_eval", "gdeval", "judged", "msmarco")
    }


@given(measures(ANY_CUTOFF))
def test_our_measures_are_measures_of_ir_measures(measure: Measure) -> None:
    """All but F1, with the same parameters and the same text; ERR has no ``max`` there.

    None of them is of documents or of evidence.
    """
    ir_measures = pytest.importorskip("ir_measures")
    if measure.name == "F1":
        assert measure.name not in ir_measures.measures.registry
        return
    if measure.cutoff == "prompt" or (measure.name == "R" and measure.cutoff is None):
        measure = replace(measure, cutoff=5)
    measure = replace(measure, documents=False)
    same = parse(str(theirs(measure)), dcg="log2")
    assert same == (replace(measure, max=3) if measure.name == "ERR" else measure)


@pytest.mark.parametrize("name", [each.name for each in OF_CHUNKS])
def test_parameters_stand_exactly_where_ir_measures_has_them(name: str) -> None:
    """``relative`` of SetP is not taken up; ``max`` of ERR, and R without cut-off, are ours."""
    ir_measures = pytest.importorskip("ir_measures")
    if name == "F1":
        return
    definition = MEASURES[name]
    supported = ir_measures.measures.registry[name].SUPPORTED_PARAMS
    ours = {*definition.parameters, *(["cutoff"] if definition.cutoff != "never" else [])}
    assert ours - {"max", "documents"} == set(supported) - {"relative"}
    required = "cutoff" in supported and supported["cutoff"].required
    assert (definition.cutoff == "must") == (required and name != "R")


# Formulas -----------------------------------------------------------------------------------------


@given(RANKINGS, MISSED, measures(among=[MEASURES["RBP"]]))
def test_rbp_is_its_published_formula(
    ranking: list[int | None], missed: list[int], measure: Measure
) -> None:
    """Moffat and Zobel 2008; ir_measures needs an extra package for it, stored values above."""
    rel, p = measure.rel or 1, measure.p or 0.0
    cut = ranking[: None if measure.cutoff is None else int(measure.cutoff)]
    expected = (1 - p) * sum(p**i for i, grade in enumerate(cut) if (grade or 0) >= rel)
    known = [grade for grade in [*ranking, *missed] if grade is not None and grade >= rel]
    found = value(measure, ranking, missed)
    assert found == pytest.approx(expected if known else np.nan, abs=1e-12, nan_ok=True)


@given(RANKINGS, MISSED, measures(among=[MEASURES["ERR"]]))
def test_err_is_its_published_formula(
    ranking: list[int | None], missed: list[int], measure: Measure
) -> None:
    """Chapelle et al. 2009, one chunk after the other, for every ``max`` and not only gdeval's."""
    expected, reading = 0.0, 1.0
    cut = ranking[: None if measure.cutoff is None else int(measure.cutoff)]
    for rank, grade in enumerate(cut, 1):
        satisfied = (2 ** (grade or 0) - 1) / 2 ** (measure.max or 0)
        expected += reading * satisfied / rank
        reading *= 1 - satisfied
    known = any([*ranking, *missed])
    found = value(measure, ranking, missed)
    assert found == pytest.approx(expected if known else np.nan, abs=1e-12, nan_ok=True)


@given(RANKINGS, MISSED, measures(st.integers(1, 30), [MEASURES["F1"]]))
def test_f1_is_the_harmonic_mean_of_p_and_r(
    ranking: list[int | None], missed: list[int], measure: Measure
) -> None:
    parts = {name: replace(measure, name=name) for name in ("P", "R")}
    p, r = (value(part, ranking, missed) for part in parts.values())
    expected = 0.0 if p + r == 0 else 2 * p * r / (p + r)
    assert value(measure, ranking, missed) == pytest.approx(expected, abs=1e-12, nan_ok=True)
