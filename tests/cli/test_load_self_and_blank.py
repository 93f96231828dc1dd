"""Loads of what nobody should grade: the query itself in its list, and chunks of blanks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import Chunk
from labeler.store import Store

Labeler = Callable[..., Result]
OWN = "in 2 of 2 lists a chunk has the query's own id"


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    return invoke


RUNS = {
    "own.trec": "s1 Q0 s1 1 0.9 r\ns1 Q0 b1 2 0.8 r\ns2 Q0 s2 1 0.9 r\ns2 Q0 b2 2 0.8 r\n",
    "own.csv": "query_id,chunk_id,score\ns1,s1,0.9\ns1,b1,0.8\ns2,s2,0.9\ns2,b2,0.8\n",
    "own.json": '{"s1": ["s1", "b1"], "s2": ["s2", "b2"]}',
}


@pytest.mark.parametrize("name", RUNS)
def test_a_query_that_is_its_own_hit_is_said_and_can_be_left_out(labeler: Labeler, name: str):
    Path("q.tsv").write_text("query_id\tquery\ns1\tcats sleep\ns2\tdogs run\n")
    Path("g.qrels").write_text("s1 0 b1 1\ns2 0 b2 1\n")
    Path(name).write_text(RUNS[name])
    assert labeler("load", "files", "q.tsv", "g.qrels").exit_code == 0
    done = labeler("load", "run", name)
    assert OWN in done.output
    assert "--leave-out-self" in done.output
    without = labeler("load", "run", name, "--name", "without", "--leave-out-self")
    assert without.exit_code == 0, without.output
    assert OWN not in without.output
    with Store("golden.db") as store:
        lists = {each.query_id: each.chunk_ids for each in store.runs.lists("without")}
    assert lists == {"s1": ("b1",), "s2": ("b2",)}
    rows = labeler("score", "--measures", "RR", "--format", "csv").output
    assert "own,RR,RR(rel=1),0.5" in rows
    assert "without,RR,RR(rel=1),1.0" in rows


def test_ids_that_are_the_same_by_chance_are_not_said(labeler: Labeler):
    lines = [f"{query} Q0 {query * 7 % 11 + 1} 1 2.0 r\n" for query in range(1, 30)]
    Path("numbered.trec").write_text("".join(lines))
    assert "own id" not in labeler("load", "run", "numbered.trec").output


BLANK = " \n\t\u00a0\u200b"
CHUNKS = {
    "c.jsonl": json.dumps({"chunk_id": "b", "text": BLANK}) + "\n"
    '{"chunk_id": "w", "text": "Dogs run."}\n',
    "c.csv": f'chunk_id,text\nb,"{BLANK}"\nw,Dogs run.\n',
    "c.json": json.dumps([{"id": "b", "contents": BLANK}, {"id": "w", "contents": "Dogs run."}]),
}


@pytest.mark.parametrize("name", CHUNKS)
def test_a_chunk_of_blanks_is_one_without_text(labeler: Labeler, name: str):
    Path(name).write_text(CHUNKS[name])
    done = labeler("load", "chunks", name)
    assert done.exit_code == 0, done.output
    assert ["without", "text", "1"] in [line.split() for line in done.output.splitlines()]
    with Store("golden.db") as store:
        assert store.chunks.get("b") == Chunk("b")
        assert store.chunks.get("w") == Chunk("w", text="Dogs run.")
