"""How labeler travels: the GitHub Action's steps are run, the container's files are read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from labeler.cli import main
from labeler.cli.server import serve
from tests.support.documentation import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTALL, *LATER = ACTION["runs"]["steps"]
GATE = """baseline = "baseline"
[each.task]
"nDCG@10" = {drop = 0.05}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A team's repository: a golden set, a gate, the run in use and a file name with a space."""
    sample = ROOT / "sample_data"
    db = str(tmp_path / "made.db")
    for command in (
        ["load", f"{sample}/queries.jsonl", f"{sample}/judgments.jsonl"],
        ["export", str(tmp_path / "golden set.jsonl")],
    ):
        assert CliRunner().invoke(main, ["--db", db, *command]).exit_code == 0
    shutil.copy(sample / "runs/bm25.trec", tmp_path / "in use.trec")
    (tmp_path / "gate.toml").write_text(GATE, encoding="utf-8")
    (tmp_path / "runner").mkdir()
    return tmp_path


def run_step(step: dict[str, Any], repository: Path, inputs: dict[str, str]) -> int:
    """Run a step as GitHub does: its environment filled in, in bash, until something fails."""

    def fill(value: str) -> str:
        value = value.replace("${{ runner.temp }}", str(repository / "runner"))
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)

    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(repository / "runner"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_PATH": str(repository / "path"),
        "GITHUB_STEP_SUMMARY": str(repository / "summary.md"),
        **{name: fill(value) for name, value in step.get("env", {}).items()},
    }
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(bash, cwd=repository, env=environment, check=False).returncode


@pytest.mark.parametrize(
    ("found", "ends", "said"), [("bm25", 0, "passed"), ("hybrid", 1, "failed")]
)
def test_the_action_stops_a_build_and_says_why_in_its_summary(
    repository: Path, found: str, ends: int, said: str
) -> None:
    given = {
        "golden": "golden set.jsonl",
        "run": str(ROOT / f"sample_data/runs/{found}.trec"),
        "baseline": "in use.trec",
    }
    inputs = {name: each.get("default") for name, each in ACTION["inputs"].items()} | given
    *before, judge = LATER
    assert [run_step(step, repository, inputs) for step in before] == [0]
    assert run_step(judge, repository, inputs) == ends
    assert said in (repository / "summary.md").read_text(encoding="utf-8")
    assert json.loads((repository / "gate-report/gate.json").read_text(encoding="utf-8"))
    assert (repository / "gate-report/gate.xml").is_file()


def test_no_input_becomes_part_of_a_script() -> None:
    assert [step["name"] for step in [INSTALL, *LATER] if "${{" in step["run"]] == []


def test_what_the_container_runs_is_an_option_of_serve() -> None:
    [command] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    name, *words = json.loads(command)
    known = {option for each in serve.params for option in each.opts}
    assert name == "serve"
    assert {word for word in words if word.startswith("--")} <= known


def test_the_container_is_nobody_s_root_and_keeps_its_data_in_a_volume() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    lines = last.splitlines()
    user = lines.index("USER 1000")
    assert "VOLUME /data" in lines[user:]
    assert not [line for line in lines[user:] if line.startswith("RUN")]
    assert "ENV LABELER_DB=/data/golden.db" in lines
    assert any(line.startswith("HEALTHCHECK") and "/_stcore/health" in line for line in lines)


def test_the_container_is_built_of_everything_the_wheel_needs() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert [name for name in kept if not (ROOT / name).exists()] == []
    assert {"labeler", "pages", "sample_data", "docs", "hatch_build.py", "pyproject.toml"} <= kept


def test_backups_are_made_beside_the_server_from_the_same_volume(tmp_path: Path) -> None:
    services = COMPOSE["services"]
    golden = next(each for each in services["labeler"]["volumes"] if each.endswith(":/data"))
    assert golden in services["backup"]["volumes"]
    assert all(each.startswith("127.0.0.1:") for each in services["labeler"]["ports"])
    [script] = services["backup"]["command"]
    once = script.replace("/backups", str(tmp_path)).replace("sleep 3600", "break")
    db = tmp_path / "golden.db"
    sample = ROOT / "sample_data"
    loaded = CliRunner().invoke(main, ["--db", str(db), "load", f"{sample}/queries.jsonl"])
    assert loaded.exit_code == 0
    old = tmp_path / "old.db"
    old.write_bytes(b"")
    os.utime(old, (0, 0))
    environment = {
        **os.environ,
        "LABELER_DB": str(db),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    subprocess.run(["sh", "-c", once], env=environment, check=True)
    made = [path for path in tmp_path.glob("*.db") if path != db]
    assert len(made) == 1
    assert made[0].read_bytes().startswith(b"SQLite format 3")
