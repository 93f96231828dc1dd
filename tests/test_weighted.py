"""Means weighted by traffic, as `labeler score` and `compare` print them and Scores shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.store import Store
from tests.page import add_collapsed_bucket, open_page, words
from tests.traffic import log


@pytest.fixture
def weighable(tmp_path: Path) -> Path:
    """A set of 29 queries of refund, where new is better, and 11 of setup, where it is worse."""
    path = tmp_path / "golden.db"
    Store(path, create=True).close()
    add_collapsed_bucket(path)
    log(path, "intent", {"refund": 100, "setup": 900})
    return path


def run(path: Path, *arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["--db", str(path), *arguments])
    assert result.exit_code == exit_code, result.output
    return result.output


def test_score_weights_means_and_says_by_what(weighable: Path) -> None:
    asked = ("score", "new", "--measures", "RR", "--format", "json")
    [plain], [row] = (json.loads(run(weighable, *asked, *more)) for more in ((), weights()))
    assert plain["value"] == pytest.approx((29 * 1 + 11 * 0.5) / 40)
    assert row["value"] == pytest.approx(0.1 * 1 + 0.9 * 0.5)
    assert row["lo"] < row["value"] < row["hi"]
    assert row["conventions"]["weighted"] == {
        "facet": "intent",
        "counts": [["refund", 100], ["setup", 900]],
    }
    assert "holes_lowest" in plain
    assert "holes_lowest" not in row
    kinds = {note["kind"] for note in row["notes"]}
    assert {"weights", "not weighted"} <= kinds
    said = run(weighable, "score", *weights())
    assert "weighted by intent as 1,000 logged questions are" in said


def weights() -> tuple[str, str]:
    return ("--weighted", "intent")


def test_compare_tests_the_weighted_difference_and_not_the_plain_one(weighable: Path) -> None:
    asked = ("compare", "old", "new", "--measures", "RR", "--format", "json")
    [plain], [row] = (json.loads(run(weighable, *asked, *more)) for more in ((), weights()))
    assert plain["delta"] == pytest.approx((29 - 11) * 0.5 / 40)
    assert row["delta"] == pytest.approx((0.1 - 0.9) * 0.5)
    assert plain["p"] < 0.05  # new is better by more than chance, each query counting the same
    assert plain["lo"] > 0 > row["hi"]
    assert row["lo"] <= row["delta"] <= row["hi"]
    assert "sampled_low" not in row
    said = run(weighable, "compare", "old", "new", *weights())
    assert "sampled" not in said
    assert "new is better" not in said


def test_a_facet_no_log_knows_and_options_of_single_queries_are_refused(weighable: Path) -> None:
    said = run(weighable, "score", "--weighted", "topic", exit_code=1)
    assert "no log has a facet 'topic'; logs have: intent" in said
    for more in ("--per-query", "--keywords"):
        said = run(weighable, "score", *weights(), more, exit_code=2)
        assert f"--weighted is of means, and does not go with {more}" in said


def test_what_was_generated_or_typed_is_no_traffic(tmp_path: Path) -> None:
    path = tmp_path / "golden.db"
    Store(path, create=True).close()
    add_collapsed_bucket(path)
    log(path, "intent", {"refund": 100}, source="generated")
    said = run(path, "score", *weights(), exit_code=1)
    assert "no log that names buckets is loaded" in said


def test_scores_weights_by_what_the_address_names(weighable: Path) -> None:
    app = open_page("scores", weighted="intent", measure=["RR"])
    said = words(app)
    assert "weighted by intent as 1,000 logged questions are" in said
    assert "0.5500" in said
    assert "40 queries tell as much as" in said
    assert "none is shown" in said
    app = open_page("scores", weighted="intent", view="trust in recall")
    said = words(app)
    assert "this view is not weighted" in said
    assert "logged questions" not in said


def test_a_gate_file_can_ask_for_weighted_means_and_is_held_against_them(weighable: Path) -> None:
    gate = weighable.parent / "gate.toml"
    asked = 'run = "new"\nbaseline = "old"\nconfidence = 0.95\n[overall]\n'
    limits = '"RR" = {at_least = 0.8, drop = 0.02}\n"Success@1" = 0.5\n'
    gate.write_text(asked + limits)
    assert "passed" in run(weighable, "gate", str(gate))
    gate.write_text('weighted = "intent"\n' + asked + limits)
    found = json.loads(run(weighable, "gate", str(gate), "--format", "json", exit_code=1))
    verdicts = [(each["measure"], each["result"], each["value"]) for each in found["checks"]]
    assert verdicts == [
        ("RR", "failed", pytest.approx(0.55)),
        ("RR", "failed", pytest.approx(0.55)),
        ("Success@1", "failed", pytest.approx(0.1)),
    ]
    gate.write_text('weighted = "topic"\n' + asked + limits)
    said = run(weighable, "gate", str(gate), exit_code=2)
    assert "gate.toml: no log has a facet 'topic'" in said


def test_an_address_that_weights_by_what_no_log_names_is_told_so(weighable: Path) -> None:
    said = words(open_page("scores", weighted="topic"))
    assert "no facet that logs name is called 'topic'; there are: intent" in said
