"""The documented pipelines: they are YAML, and a build that runs them is stopped or passes."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner

from labeler.analysis.gate.gate_file import read_gate
from labeler.cli import main
from tests.support.documentation import PAGES, ROOT

GUARDING = PAGES["how-to/gate.md"]
GATE = 'run = "candidate"\nbaseline = "production"\n[each.task]\n"nDCG@10" = {drop = 0.05}\n'


def pipelines() -> list[dict[str, Any]]:
    """Return the pipelines in YAML, read as their systems read them."""
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", GUARDING, re.DOTALL)]


def commands() -> tuple[list[str], list[str]]:
    """Return what each pipeline runs, line by line, up to the verdict."""
    on_github, on_gitlab = pipelines()
    steps = [step["run"] for step in on_github["jobs"]["gate"]["steps"] if "run" in step]
    lines = [line for step in steps for line in step.splitlines()]
    job = on_gitlab["retrieval"]
    return lines, [*job["before_script"], *job["script"]]


def commands_on_jenkins() -> list[str]:
    """Return what the Jenkinsfile runs, line by line."""
    [text] = re.findall(r"```groovy\n(.*?)```", GUARDING, re.DOTALL)
    return re.findall(r"^ *sh '(.*)'$", text, re.MULTILINE)


def test_all_pipelines_run_the_same_commands_and_one_shows_the_summary():
    on_github, on_gitlab = commands()
    assert on_github[:-1] == on_gitlab == commands_on_jenkins()
    assert on_github[-1] == 'cat gate.md >> "$GITHUB_STEP_SUMMARY"'
    assert on_gitlab[0] == "pip install retrieval-labeler"
    reports = pipelines()[1]["retrieval"]["artifacts"]["reports"]
    assert f"--junit {reports['junit']}" in on_gitlab[-1]


def test_the_gate_file_shown_is_one(tmp_path: Path):
    [text] = re.findall(r"```toml\n(.*?)```", GUARDING, re.DOTALL)
    gate = read_gate(text.encode(), "gate.toml")
    assert (gate.run, gate.last_passing, len(gate.rules)) == ("candidate", "passed.json", 5)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team's repository: a golden set, the run in use, a gate, and a kind of retriever."""
    sample = ROOT / "sample_data"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LABELER_DB", "made.db")
    assert run(f"labeler load queries {sample}/queries.jsonl") == 0
    assert run(f"labeler load golden {sample}/judgments.jsonl") == 0
    assert run("labeler export golden.jsonl") == 0
    shutil.copy(sample / "runs/bm25.trec", "production.trec")
    Path("retrieve.py").write_text("print(open('found.trec').read(), end='')\n")
    Path("gate.toml").write_text(GATE)
    return tmp_path


def run(line: str) -> int:
    """Run a line of a pipeline: labeler in this process, which is sooner there, else by a shell."""
    program, *arguments = shlex.split(line)
    if program == "labeler":
        return CliRunner().invoke(main, arguments, prog_name="labeler").exit_code
    folder = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": "summary.md",
    }
    return subprocess.run(["bash", "-ec", line], env=environment).returncode


@pytest.mark.parametrize(
    ("found", "ends", "said"), [("bm25", 0, "passed"), ("hybrid", 1, "failed")]
)
def test_a_build_is_stopped_where_a_task_collapses_and_says_so(
    repository: Path, monkeypatch: pytest.MonkeyPatch, found: str, ends: int, said: str
):
    [install, *lines, judge, show], _ = commands()
    assert install == "pip install retrieval-labeler"
    shutil.copy(ROOT / f"sample_data/runs/{found}.trec", "found.trec")
    monkeypatch.setenv("LABELER_DB", "golden.db")
    assert [run(line) for line in lines] == [0] * len(lines)
    assert run(judge) == ends
    assert run(show) == 0
    assert f"### gate.toml: candidate {said}" in Path("summary.md").read_text()
    assert ET.parse("gate.xml").getroot().get("failures") == str(ends)
