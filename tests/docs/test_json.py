"""JSON for programs: each output and export is as its schema says."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from docs.json_page import read_schema
from docs.json_samples import EXPORTS, OUTPUTS, samples
from docs.json_schemas import GATE_FILE, SCHEMAS, Fields, files
from labeler.analysis.gate.gate_file import read_gate
from labeler.cli import main
from labeler.errors import BadInput
from tests.docs.test_docs import COMMANDS
from tests.support.documentation import ROOT

NAMES = [*OUTPUTS, *EXPORTS, "passed-runs"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return samples(tmp_path_factory.mktemp("written"))


def problems(name: str, document: Any) -> list[str]:
    found = Draft202012Validator(read_schema(name)).iter_errors(document)
    return [f"{name} {each.json_path}: {each.message[:200]}" for each in found][:5]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_as_its_schema_says(name: str, written: dict[str, list[Any]]) -> None:
    Draft202012Validator.check_schema(read_schema(name))
    assert written[name]
    assert [each for document in written[name] for each in problems(name, document)] == []


def test_the_schemas_are_up_to_date(written: dict[str, list[Any]]) -> None:
    there = {path.name: path.read_text("utf-8") for path in SCHEMAS.glob("*.json")}
    del there[GATE_FILE]
    assert there == files(written), "run 'make fix'"


def test_a_golden_set_without_grades_prints_what_the_schemas_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sample = ROOT / "sample_data"
    files = [sample / name for name in ("queries.jsonl", "chunks.jsonl")]
    runs = [sample / "runs" / f"{name}.trec" for name in ("bm25", "lsa", "hybrid")]
    loaded = CliRunner().invoke(main, ["--db", "new.db", "load", *map(str, [*files, *runs])])
    assert loaded.exit_code == 0, loaded.output
    asked = ("score", "compare", "recall", "queries", "runs", "versions", "health", "people")
    for name in (*asked, "next", "check", "audit", "settings", "candidates", "disagreements"):
        words = shlex.split(f"--db new.db {OUTPUTS[name][0]} --json")
        said = CliRunner().invoke(main, words)
        assert said.exit_code == 0, said.output
        assert problems(name, json.loads(said.stdout)) == []


def test_every_command_with_json_has_a_schema() -> None:
    shown = {" ".join(words.split()[:2]) for each in OUTPUTS.values() for words in each}
    shown |= {words.split()[0] for words in shown}
    have = [
        name.removeprefix("labeler ")
        for name, command in COMMANDS.items()
        for option in command.params
        if "--format" in option.opts and "json" in getattr(option.type, "choices", ())
    ]
    assert "score" in have
    assert [name for name in have if name not in shown] == []


def fields_of(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    for form in (schema, *schema.get("anyOf", ())):
        for name, inner in form.get("properties", {}).items():
            yield f"{path}{name}"
            yield from fields_of(inner, f"{path}{name}.")
            yield from fields_of(inner.get("items", {}), f"{path}{name}.")


@pytest.mark.parametrize("name", NAMES)
def test_no_description_is_of_a_field_that_is_gone(name: str) -> None:
    schema = read_schema(name)
    paths = set(fields_of(schema.get("items", schema)))
    names = {path.rpartition(".")[2] for path in paths}
    assert [each for each in Fields(name).own if each not in paths | names] == []


GATES = {
    'run = "a"\n[overall]\n"RR" = 0.5\n': True,
    '[bucket.intent.refund]\nconfidence = 0.9\n"nDCG@10" = {drop = 0.1}\n': True,
    '[each.intent]\n"nDCG@10" = {at_least = 0.1, most_unjudged = 0.2}\n': True,
    'run = "a"\n': False,
    'run = 3\n[overall]\n"RR" = 0.5\n': False,
    'unknown = "a"\n[overall]\n"RR" = 0.5\n': False,
    '[overall]\n"RR" = {confidence = 0.9}\n': False,
    '[overall]\nconfidence = 0.4\n"RR" = 0.5\n': False,
    '[overall]\nfewest_queries = 0\n"RR" = 0.5\n': False,
    'split = "train"\n[overall]\n"RR" = 0.5\n': False,
}


@pytest.mark.parametrize("text", GATES)
def test_the_schema_of_a_gate_file_takes_what_the_gate_takes(text: str) -> None:
    assert (problems("gate-file", tomllib.loads(text)) == []) == GATES[text]
    if GATES[text]:
        read_gate(text.encode(), "gate.toml")
    else:
        with pytest.raises(BadInput):
            read_gate(text.encode(), "gate.toml")


def test_the_gate_files_that_labeler_has_are_as_the_schema_says() -> None:
    example = CliRunner().invoke(main, ["gate", "--example"]).stdout
    sample = (ROOT / "sample_data" / "gate.toml").read_text(encoding="utf-8")
    for text in (example, sample):
        assert problems("gate-file", tomllib.loads(text)) == []
