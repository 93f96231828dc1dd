"""``labeler next``: who is better, how surely, and which grades would settle it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from tests.browser.server import small_golden_set


@pytest.fixture
def run(tmp_path: Path):
    """Run the command on a golden set of four queries and two runs that turn each other around."""
    path = small_golden_set(tmp_path / "golden.db")

    def ran(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, ["--db", str(path), *arguments])
        assert result.exit_code == code, result.output
        return result.output

    return ran


def test_the_table_says_what_comes_next_and_that_no_third_run_is_served(run):
    said = run("next", "forward", "backward", "--count", "3")
    shared, top, first, _, heading, *rows = said.splitlines()
    assert shared == "forward and backward share 0.0 of their top 10 on average."
    assert top == "The first results are different in all 4 queries."
    assert first == (
        "Grade about 30 more chunks to know who is ahead by nDCG@10. Nothing is graded yet."
    )
    assert heading.split("  ")[0] == "query"
    assert "rank in forward" in heading
    assert "favour no third one" in said
    assert "--explain says how this is computed" in said
    assert "gain 2^grade−1" not in said
    assert len([row for row in rows if row.startswith("q")]) == 3


def test_how_surely_a_run_is_ahead_is_explained_on_demand(run):
    said = run("next", "forward", "backward", "--matters", "0.02", "--explain")
    _, explained = said.split("How this is computed\n")
    assert "It is decided at 90%, after at least 30 grades" in explained
    assert "A difference below 0.02 does not matter." in explained
    assert "gain 2^grade−1" in explained
    assert "favour no third one" in explained


def test_json_has_every_number_and_the_pairs(run):
    said = json.loads(run("next", "forward", "backward", "--format", "json", "--measure", "RR@5"))
    assert (said["a"], said["b"], said["measure"]) == ("forward", "backward", "RR@5")
    assert (said["graded"], said["pool"], said["settled"]) == (0, 40, False)
    assert said["pairs"][0].keys() == {"query_id", "chunk_id", "rank_a", "rank_b", "move"}
    assert 0 < len(said["pairs"]) <= 20
    assert said["matters"] == 0.01
    assert said["conventions"]["preset"] == "graded"


def test_what_a_team_has_set_counts_unless_something_else_is_asked_for(run):
    run("change", "setting", "decide-by", "P@5")
    run("change", "setting", "matters", "0.05")
    said = json.loads(run("next", "forward", "backward", "--format", "json"))
    assert (said["measure"], said["matters"]) == ("P@5", 0.05)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("forward", "forward"), "name two different runs"),
        (("forward", "gone"), "no run is called 'gone'; there are: forward, backward"),
        (("forward", "backward", "--measure", "Judged@10"), "does not say which run is better"),
        (("forward", "backward", "--measure", "RR AP"), "one measure decides"),
        (("forward", "backward", "--measure", "Speed"), "Speed"),
    ],
)
def test_what_cannot_be_decided_is_said_in_a_sentence(run, arguments, said):
    assert said in run("next", *arguments, code=1)


def test_a_setting_that_could_not_decide_is_refused(run):
    assert "does not say which run is better" in run(
        "change", "setting", "decide-by", "NumRet", code=1
    )
    assert "from 0 to 1" in run("change", "setting", "matters", "3", code=1)
