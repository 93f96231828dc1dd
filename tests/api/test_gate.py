"""``labeler.gate``: the limits of a gate, judged on runs in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import labeler
from labeler.errors import BadInput, LabelerError

QRELS = {f"k{at}": {"a": 1, "b": 0} for at in range(12)}
RUNS: dict[str, Any] = {
    "old": {query: ["b", "a"] for query in QRELS},
    "new": {query: ["a", "b"] if query != "k0" else ["b", "a"] for query in QRELS},
}


@pytest.mark.parametrize(
    ("rules", "result"),
    [
        ({"RR": 0.9}, "passed"),
        ({"RR": 0.99}, "failed"),
        ({"RR": {"at_least": 0.9, "drop": 0.0}, "P@1": 0.5}, "passed"),
        ({"RR": 0.9, "fewest_queries": 20}, "not judged"),
        ({"RR": 0.9, "confidence": 0.95}, "failed"),
    ],
)
def test_a_run_is_judged_by_each_limit(rules: dict[str, Any], result: str):
    found = labeler.gate(QRELS, RUNS, rules, run="new", baseline="old")
    assert found.attrs["result"] == result
    assert found["measure"].unique().tolist() == [name for name in rules if name in ("RR", "P@1")]


def test_the_rows_say_what_was_asked_and_what_came_of_it():
    found = labeler.gate(
        QRELS, RUNS, {"RR": {"at_least": 0.6, "drop": 0.1}}, run="old", baseline="new"
    )
    columns = ["result", "asked", "limit", "other", "n"]
    assert found[columns].values.tolist()[1] == ["failed", "drop", 0.1, "new", 12]
    assert found["value"].tolist() == [0.5, 0.5]
    assert "RR" in found["sentence"][0]


def test_a_gate_file_is_read_as_the_command_reads_it(tmp_path: Path):
    path = tmp_path / "gate.toml"
    path.write_text('run = "new"\nbaseline = "old"\n[overall]\n"RR" = {drop = 0.0}\n')
    assert labeler.gate(QRELS, RUNS, path).attrs["result"] == "passed"
    path.write_text('run = "new"\nsplit = "test"\n[overall]\n"RR" = 0.5\n')
    with pytest.raises(BadInput, match="'labeler gate' judges by"):
        labeler.gate(QRELS, RUNS, path)


def test_one_run_needs_no_name():
    assert labeler.gate(QRELS, {"A": RUNS["new"]}, {"RR": 0.9}).attrs["result"] == "passed"


@pytest.mark.parametrize(
    ("rules", "options", "said"),
    [
        ({"RR": 0.9}, {}, "give run='NAME'"),
        ({"RR": 0.9}, {"run": "newer"}, "no run is called 'newer'; did you mean 'new'?"),
        ({}, {"run": "new"}, "rules are"),
        ({"nCDG": 0.5}, {"run": "new"}, "did you mean nDCG"),
        ({"RR": {"drop": 0.1}}, {"run": "new"}, "allows a drop, but from what"),
    ],
)
def test_what_cannot_be_judged_is_one_sentence(rules: Any, options: dict[str, str], said: str):
    with pytest.raises(LabelerError) as error:
        labeler.gate(QRELS, RUNS, rules, **options)
    assert said in str(error.value)


def test_trend_is_a_name_of_trend_of():
    assert labeler.trend is labeler.trend_of
