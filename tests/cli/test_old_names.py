"""Names of earlier versions are still understood, and never written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import labeler
from labeler.analysis.gate.gate_file import read_gate
from labeler.cli import main
from labeler.errors import BadInput
from labeler.measures import parse
from labeler.model import Settings, check_chunking, settings_from, settings_to_store
from labeler.store import Store

Run = Callable[..., str]


@pytest.fixture
def run(filled: Store) -> Run:
    """Run a command on the filled golden set; return what it printed."""

    def invoke(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["--db", str(filled.path), *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


def test_a_measure_at_the_budget_is_one_at_the_prompt() -> None:
    assert parse("R@budget") == parse("R@prompt")
    assert parse("Recall@ Budget").names == ("Recall@ prompt",)


def test_commands_and_options_have_their_earlier_names(run: Run) -> None:
    asked = ["score", "--measures", "R@budget", "--format", "json", "--budget", "2"]
    [first, *_] = json.loads(run(*asked))
    assert (first["measure"], first["full_name"]) == ("R@prompt", "R(rel=1)@2")
    assert "Usage: main transfer" in run("carry", "--help")


def test_the_chunking_without_a_name_is_called_default(run: Run, filled: Store) -> None:
    rows = {text: run("score", "--chunking", text) for text in ("", "default")}
    assert rows[""] == rows["default"]
    with pytest.raises(BadInput, match="is the chunking without a name"):
        check_chunking("default")


def test_settings_have_their_earlier_names(run: Run, filled: Store) -> None:
    assert run("change", "setting", "budget", "8").startswith("prompt-k is 8")
    assert run("settings", "budget").strip() == "8"
    assert filled.settings.read().prompt_k == 8
    assert "budget" not in run("settings")


def test_stored_settings_come_back_whatever_version_stored_them() -> None:
    chosen = Settings(prompt_k=7, prompt_k_by_task={"single": 3}, transferred="ignore")
    assert settings_from(settings_to_store(chosen)) == chosen
    old = {"budget": 7, "budget_by_task": {"single": 3}, "carried": "ignore"}
    assert settings_from(old) == chosen


def test_gate_files_have_their_earlier_keys() -> None:
    text = b'budget = 3\nmost_holes = 0.4\n[overall]\n"R@budget" = 0.5'
    gate = read_gate(text, "gate.toml")
    assert (gate.prompt_k, gate.rules[0].terms.most_unjudged) == (3, 0.4)


def test_python_functions_take_earlier_names(tmp_path: Path) -> None:
    grades, runs = {"q": {"a": 1, "b": 1}}, {"A": {"q": ["a", "b"]}}
    old = labeler.evaluate(grades, runs, "R@budget", budget=1)
    new = labeler.evaluate(grades, runs, "R@prompt", prompt_k=1)
    assert old.equals(new)
    assert old.value.tolist() == [0.5]
    assert labeler.carry is labeler.transfer
    assert "carry" not in dir(labeler)
