"""Means weighted by traffic, as `labeler score` and `compare` print them and Scores shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.store import Store
from tests.support.page import add_collapsed_bucket, open_page, words
from tests.support.traffic import log


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
    assert "possible_low" in plain
    assert "possible_low" not in row
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
    assert "likely_low" not in row
    said = run(weighable, "compare", "old", "new", *weights()).splitlines()
    assert said[0] == "new is worse than old."
    assert said[1] == "−0.2953 nDCG@10, from 0.9631 to 0.6678, weighted by intent."
    assert not any("Unjudged chunks:" in line for line in said)


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
    computed = words(open_page("scores", weighted="intent", measure=["RR"], view="how computed"))
    assert "40 queries tell as much as" in computed
    assert "none is shown" in computed
    recall = words(open_page("scores", weighted="intent", view="trust in recall"))
    assert "This is not weighted: each query counts the same." in recall
    assert "not weighted" not in said


def test_queries_says_that_it_does_not_weigh(weighable: Path) -> None:
    told = "this page is not weighted: each query counts the same"
    assert told in words(open_page("queries", weighted="intent"))
    assert told not in words(open_page("queries"))


def test_a_gate_file_can_ask_for_weighted_means_and_is_held_against_them(weighable: Path) -> None:
    gate = weighable.parent / "gate.toml"
    asked = 'run = "new"\nbaseline = "old"\nconfidence = 0.95\n[overall]\n'
    limits = '"RR" = {at_least = 0.75, drop = 0.02}\n"Success@1" = 0.5\n'
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


OPENED = {"show": "How computed"}


def test_compare_weights_by_what_the_address_names(weighable: Path) -> None:
    asked = {"a": "old", "b": "new", "measure": ["RR"], "weighted": "intent"}
    plain = words(open_page("compare", **{**asked, "weighted": []}))
    said = words(open_page("compare", **asked))
    assert "new is worse than old." in said
    assert "from 0.9631 to 0.6678, weighted by intent|" in said
    assert "new is worse than old." not in plain
    computed = words(open_page("compare", **asked, **OPENED))
    assert "no ranges over unjudged chunks for weighted differences" in computed
    assert "weighted by intent as 1,000 logged questions are" in computed
    assert "40 queries tell as much as" in computed
    assert "none is shown" in computed
    assert "in the report each query counts the same" in said
    assert "logged questions" not in words(open_page("compare", a="old", b="new", **OPENED))
    app = open_page("compare", **asked)
    labels = [button.proto.label for button in app.get("download_button")]
    assert "Download a report, not weighted" in labels


def test_a_link_takes_weights_along_and_slices_says_that_it_has_none(weighable: Path) -> None:
    said = words(open_page("slices", a="old", b="new", facet="intent", weighted="intent"))
    assert "this page is not weighted: each query counts the same" in said


def dated(path: Path) -> None:
    with Store(path) as store:
        for run_name, day in (("old", "2026-01-01"), ("new", "2026-02-01")):
            store.runs.change(run_name, system="ours", created_at=day)


def test_a_trend_of_weighted_means_has_their_points_changes_and_alerts(weighable: Path) -> None:
    dated(weighable)
    asked = ("trend", "--measures", "RR", "--format", "json")
    [plain], [row] = (json.loads(run(weighable, *asked, *more)) for more in ((), weights()))
    assert plain["change"] == pytest.approx((29 - 11) * 0.5 / 40)
    assert plain["current"] == pytest.approx((29 * 1 + 11 * 0.5) / 40)
    assert row["current"] == pytest.approx(0.55)
    assert row["change"] == pytest.approx((0.1 - 0.9) * 0.5)
    assert row["conventions"]["weighted"]["facet"] == "intent"
    points = json.loads(run(weighable, *asked, "--points", *weights()))
    assert [each["value"] for each in points] == [pytest.approx(0.95), pytest.approx(0.55)]
    assert all(each["lo"] <= each["value"] <= each["hi"] for each in points)
    said = run(weighable, "trend", *weights())
    assert "weighted by intent as 1,000 logged questions are" in said
    assert "fell since the run before, from 0.9500 (2026-01-01) to 0.5500" in said
    assert "fell since" not in run(weighable, "trend", "--measures", "RR")
    refused = run(weighable, "trend", "--between", "old", "new", *weights(), exit_code=2)
    assert "--weighted is of means, and does not go with --between" in refused


def test_scores_draws_the_trend_of_weighted_means(weighable: Path) -> None:
    dated(weighable)
    asked = {"view": "trend", "measure": ["RR"], "parts": "true"}
    said = words(open_page("scores", weighted="intent", **asked))
    assert "weighted by intent as 1,000 logged questions are" in said
    assert "from 0.9500 (2026-01-01) to 0.5500 (2026-02-01)" in said
    assert "The parts are not weighted: each query counts the same in them." in said
    assert "0.8625" in said, "the newer run's mean, among the parts"
    assert "not weighted" not in words(open_page("scores", **asked))


def test_thresholds_of_a_gate_are_not_held_against_means_of_other_weights(
    weighable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = weighable.parent / "gate.toml"
    gate.write_text('run = "new"\n[overall]\n"RR" = 0.8\n')
    monkeypatch.setenv("LABELER_GATE", str(gate))
    assert "gate.toml asks for" not in words(open_page("scores", measure=["RR"]))
    said = words(open_page("scores", measure=["RR"], weighted="intent"))
    assert "gate.toml asks for values that count queries the same" in said
    gate.write_text('run = "new"\nweighted = "intent"\n[overall]\n"RR" = 0.8\n')
    said = words(open_page("scores", measure=["RR"]))
    assert "gate.toml asks for values weighted by intent" in said
    said = words(open_page("scores", measure=["RR"], weighted="intent"))
    assert "new: RR 0.5500 is below 0.8 (gate.toml)" in said
