"""Scores that differ in 64 bits only: no ties where these decide, ties where 32 bits do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import labeler
from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.model import Ranking
from labeler.services import import_export
from labeler.services.import_export import LoadOptions
from labeler.store import Store

QRELS = {"k1": {"good": 1, "bad": 0}}
HIGH, LOW = 2000000.02, 2000000.01
FILES = {
    "r.trec": f"k1 Q0 bad 2 {LOW} r\nk1 Q0 good 1 {HIGH} r\n",
    "r.csv": f"query_id,chunk_id,score\nk1,bad,{LOW}\nk1,good,{HIGH}\n",
    "r.json": json.dumps({"k1": {"bad": LOW, "good": HIGH}}),
}


@pytest.mark.parametrize("name", FILES)
def test_a_stored_run_has_no_ties_where_64_bits_decide(name: str, tmp_path: Path):
    (tmp_path / "q.tsv").write_text("query_id\tquery\nk1\twhen?\n")
    (tmp_path / "g.qrels").write_text("k1 0 good 1\nk1 0 bad 0\n")
    (tmp_path / name).write_text(FILES[name])
    with Store(tmp_path / "g.db", create=True) as store:
        for kind, file in (("queries", "q.tsv"), ("golden", "g.qrels"), ("run", name)):
            import_export.read(kind, tmp_path / file, LoadOptions())(store)
    asked = ["score", "--measures", "RR", "--explain", "--db", str(tmp_path / "g.db")]
    said = [
        CliRunner().invoke(main, [*asked, "--preset", preset]).output
        for preset in ("graded", "trec_eval")
    ]
    assert "1.0000" in said[0]
    assert "with tied scores" not in said[0]
    assert "other orders of its ties" not in said[0]
    assert "with tied scores" in said[1]


RUNS = {
    "dict": {"bad": LOW, "good": HIGH},
    "ranking": Ranking("k1", ("good", "bad"), (HIGH, LOW)),
    "as given": {"good": HIGH, "bad": LOW},
}


@pytest.mark.parametrize("ranked", RUNS.values(), ids=RUNS.keys())
def test_a_run_in_memory_has_none_either(ranked):
    for preset, tied in (("graded", 0), ("trec_eval", 1)):
        conventions = Conventions.of(preset)
        board = Scoreboard(collect(QRELS, {"A": {"k1": ranked}}), conventions)
        assert board.tied == {"A": tied}
        found = labeler.evaluate(QRELS, {"A": {"k1": ranked}}, measures="RR", preset=preset)
        assert any("tied" in note for note in found.attrs["notes"]) == bool(tied)


def test_scores_that_are_the_same_are_ties_under_both():
    run = {"A": {"k1": {"bad": HIGH, "good": HIGH}}}
    for preset in ("graded", "trec_eval"):
        assert Scoreboard(collect(QRELS, run), Conventions.of(preset)).tied == {"A": 1}


def test_one_tie_beside_scores_that_differ_is_a_tie():
    run = {"A": {"k1": {"bad": HIGH, "good": LOW, "third": 1.0, "fourth": 1.0}}}
    assert Scoreboard(collect(QRELS, run), Conventions.of()).tied == {"A": 1}
