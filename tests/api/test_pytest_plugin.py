"""The fixture ``labeler_gate`` in somebody's own test suite, and what it costs those without."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.pytest_plugin import LabelerGate
from tests.support.page import add_collapsed_bucket, empty_golden_set

pytest_plugins = ["pytester"]

SUITE = """
import sys

def test_nothing_else_of_labeler_is_loaded_before_it_is_asked_for():
    assert "labeler.pytest_plugin" in sys.modules
    dear = {"labeler.analysis.gate", "labeler.cli", "numpy", "pandas", "streamlit"}
    assert not dear & set(sys.modules)

def test_good(labeler_gate):
    found = labeler_gate("gate.toml", run="new")
    assert [each.verdict for each in found.findings] == ["passed"]
    assert found.findings[0].value > 0.8
    assert "streamlit" not in sys.modules

def test_bad(labeler_gate):
    labeler_gate("gate.toml", run="old")

def test_unjudged(labeler_gate):
    labeler_gate("gate.toml", run="odl")

def test_missing(labeler_gate):
    labeler_gate(run="new", db="missing.db")
"""


def test_a_suite_fails_where_the_gate_does_and_pays_nothing_without_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("LABELER_DB")
    pytester.makepyfile(SUITE)
    add_collapsed_bucket(empty_golden_set(pytester.path))
    (pytester.path / "gate.toml").write_text("[overall]\nRR = 0.8\n", encoding="utf-8")
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist")
    done.assert_outcomes(passed=2, failed=3)
    done.stdout.fnmatch_lines(
        [
            "gate.toml: old failed: 1 of 1 limit broken",
            "! all queries: RR is 0.6375, below 0.8 (n 40)",
            "gate.toml: could not be judged: gate.toml: the run 'odl' is not in the golden set*",
            "gate.toml: could not be judged: *missing.db*",
        ]
    )
    assert "Traceback" not in done.stdout.str()


def test_a_passing_run_is_kept_only_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("LABELER_DB")
    add_collapsed_bucket(empty_golden_set(tmp_path))
    (tmp_path / "gate.toml").write_text('last_passing = "p.json"\n[overall]\nRR = {drop = 0.1}\n')
    judge = LabelerGate(tmp_path)
    with pytest.raises(pytest.fail.Exception, match="no run has passed yet"):
        judge(run="new", keep=True)
    assert not (tmp_path / "p.json").exists()
    command = ["--db", str(tmp_path / "golden.db"), "gate", str(tmp_path / "gate.toml")]
    begun = CliRunner().invoke(main, [*command, "--run", "old", "--begin"])
    assert begun.exit_code == 0
    kept = (tmp_path / "p.json").read_bytes()
    judge(run="new")
    assert (tmp_path / "p.json").read_bytes() == kept
    judge(run="new", keep=True)
    assert (tmp_path / "p.json").read_bytes() != kept
