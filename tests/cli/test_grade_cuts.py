"""``--grade-cuts``: grades of numbers on a continuous scale, proposed by the refusal of a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import labeler
from labeler.cli import main
from labeler.errors import BadInput
from labeler.formats import read_golden
from labeler.store import Store

FILES = {
    "g.csv": "query_id,doc_id,relevance\n" + "".join(f"k1,d{at},{at / 20}\n" for at in range(21)),
    "g.qrels": "".join(f"k1 0 d{at} {at / 20}\n" for at in range(21)),
    "g.jsonl": "".join(
        f'{{"query_id": "k1", "chunk_id": "d{at}", "label": {at / 20}}}\n' for at in range(21)
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_many_different_numbers_are_refused_with_cuts_that_work(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    Path("q.tsv").write_text("query_id\tquery\nk1\twhen?\n")
    Path(name).write_text(FILES[name])
    run = CliRunner().invoke
    assert run(main, ["load", "queries", "q.tsv"]).exit_code == 0
    refused = run(main, ["load", "golden", name])
    assert refused.exit_code != 0
    found = re.search(r"(--grade-cuts) (\S+) ", refused.output)
    assert found is not None, refused.output
    done = run(main, ["load", "golden", name, found[1], found[2]])
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        grades = [
            each.grade for each in sorted(store.golden_set.read()[1], key=lambda g: g.chunk_id)
        ]
    assert sorted(grades) == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 6


def test_cuts_work_in_python_and_its_refusal_says_how(tmp_path: Path):
    path = tmp_path / "g.csv"
    path.write_text(FILES["g.csv"])
    run = {"A": {"k1": ["d20", "d4"]}}
    with pytest.raises(BadInput, match=re.escape("grade_map=labeler.GradeCuts(0.25, 0.5, 0.75)")):
        labeler.evaluate(path, run, measures="RR")
    cuts = labeler.GradeCuts(0.25, 0.5, 0.75)
    found = labeler.evaluate(path, run, measures="RR", grade_map=cuts)
    assert found["value"].tolist() == [1.0]
    assert read_golden(path, grade_map=cuts).grades.facts["grade 3"] == 6


@pytest.mark.parametrize("cuts", ["0.5,0.2", "a", "", "1,2,3,4", "nan", "0.5,0.5"])
def test_cuts_that_do_not_rise_are_refused(cuts: str, tmp_path: Path):
    path = tmp_path / "g.csv"
    path.write_text(FILES["g.csv"])
    done = CliRunner().invoke(main, ["load", "golden", str(path), "--grade-cuts", cuts])
    assert done.exit_code != 0
    assert "must be one to three numbers that rise, such as 0.25,0.5,0.75" in str(
        done.output or done.exception
    )


def test_a_map_and_cuts_at_once_are_refused(tmp_path: Path):
    path = tmp_path / "g.csv"
    path.write_text(FILES["g.csv"])
    both = ["--grade-map", "0.5=1", "--grade-cuts", "0.5"]
    for options in (both, [*both[2:], *both[:2]]):
        done = CliRunner().invoke(main, ["load", "golden", str(path), *options])
        assert done.exit_code != 0
        assert "not both" in str(done.output or done.exception)
