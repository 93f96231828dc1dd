"""``--explain`` says how the numbers on screen are computed, in a few plain sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main

Labeler = Callable[..., Result]


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command on a golden set of twelve queries and two runs, one with tied scores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    ids = [f"k{number}" for number in range(12)]
    Path("q.tsv").write_text("query_id\tquery\n" + "".join(f"{each}\twhere?\n" for each in ids))
    Path("g.qrels").write_text("".join(f"{each} 0 a 2\n{each} 0 b 0\n" for each in ids))
    for name, first in (("old", "b"), ("new", "a")):
        lists = [f"{each} Q0 {first} 1 1 r\n{each} Q0 c 2 1 r\n" for each in ids]
        Path(f"{name}.trec").write_text("".join(lists))
    Path("gate.toml").write_text('run = "new"\nconfidence = 0.9\n[overall]\nRR = 0.1\n')

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    loaded = invoke("load", "q.tsv", "g.qrels", "old.trec", "new.trec")
    assert loaded.exit_code == 0, loaded.output
    return invoke


EXPLAINED = {
    "score": "A run is clearly lower than the highest if the 95% confidence interval",
    "compare old new": "made from them in this way, 95 of 100 such intervals hold the true",
    "gate gate.toml": "It is a one-sided bound: Student's t",
    "evaluate g.qrels old.trec new.trec": "The 95% interval of a mean is over the choice",
    "evaluate g.qrels old.trec new.trec --compare old new": "p is how often chance alone gives",
}


@pytest.mark.parametrize(("typed", "says"), EXPLAINED.items())
def test_how_numbers_are_computed_is_said_on_demand(labeler: Labeler, typed: str, says: str):
    usual = labeler(*typed.split()).stdout
    assert "--explain says how this is computed" in usual
    assert not any(part in usual for part in (says, "gain 2^grade", "tied scores"))
    shown = labeler(*typed.split(), "--explain").stdout
    _, explained = shown.split("How this is computed\n")
    lines = [line for line in explained.splitlines() if line.startswith("- ")]
    assert 5 <= len(lines) <= 11
    assert says in explained
    assert "gain 2^grade−1 · relevant from grade 1" in explained
    assert "tied scores" in explained


def test_what_is_unusual_is_always_said(labeler: Labeler):
    shown = labeler("score", "--rel", "2", "--preset", "trec_eval").stdout
    assert "gain = grade · relevant from grade 2 · " in shown
    asked = labeler("score", "--rel", "2", "--preset", "trec_eval", "--explain").stdout
    assert "A chunk is relevant from grade 2. In nDCG grade g gains g," in asked
    assert "A query with nothing relevant counts as 0;" in asked
    assert "same 32-bit score are in descending order of their ids" in asked


def test_markdown_is_explained_too_and_json_always_has_all(labeler: Labeler):
    marked = labeler("compare", "old", "new", "--format", "md", "--explain").stdout
    assert "\nHow this is computed:\n\n- A value is a mean" in marked
    for more in ([], ["--explain"]):
        assert (
            "a difference is clear where"
            in labeler("compare", "old", "new", "--json", *more).stdout
        )
