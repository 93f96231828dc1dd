"""A file that may be of two kinds is asked about in a terminal, or refused."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from labeler.store import Store

VOTES = "query_id,chunk_id,score\nq1,c1,3\nq1,c2,1\n"
QUERIES = '{"query_id": "q1", "query": "how do I get my money back"}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    Path("votes.csv").write_text(VOTES)
    Path("q.jsonl").write_text(QUERIES)


def in_terminal(*command: str, answer: str) -> tuple[int, str]:
    """Run a command of ours in a terminal of its own, and answer what it asks."""
    ours, its = pty.openpty()
    command = (sys.executable, "-m", "labeler", *command)
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        os.write(ours, f"{answer}\n".encode())
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
    os.close(ours)
    return process.returncode, said.decode()


@pytest.mark.parametrize(
    ("answer", "runs", "grades"), [("run", 1, 0), ("golden", 0, 2), ("leave it out", 0, 0)]
)
def test_what_may_be_grades_or_a_run_is_asked(answer: str, runs: int, grades: int):
    code, said = in_terminal("load", "q.jsonl", "votes.csv", answer=answer)
    assert code == 0, said
    assert "votes.csv: a query, a chunk and a score per row, all of them 0, 1, 2 or 3" in said
    assert "What is it?" in said
    with Store("golden.db") as store:
        assert (len(store.runs.all()), len(store.golden_set.read()[1])) == (runs, grades)


def test_where_nobody_can_answer_both_remedies_are_named():
    command = [sys.executable, "-m", "labeler", "load", "q.jsonl", "votes.csv"]
    refused = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert refused.returncode == 1
    assert "if they are grades, take 'labeler load golden'" in refused.stderr
    assert "if they order a run, 'labeler load run'" in refused.stderr
    with Store("golden.db") as store:
        assert (len(store.queries.all()), len(store.runs.all())) == (1, 0)
