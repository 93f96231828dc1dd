"""The thresholds of a gate file on Scores: where they stand, and what is said to break them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import Judgment
from labeler.store import Store
from tests.support.page import add_collapsed_bucket, empty_golden_set, open_page, words

NEW = "new: RR 0.8625 is below 0.9 (gate.toml)"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gate file that a server of 40 queries was told of."""
    add_collapsed_bucket(empty_golden_set(tmp_path))
    path = tmp_path / "gate.toml"
    monkeypatch.setenv("LABELER_GATE", str(path))
    return path


def said(**parameters: str) -> str:
    return words(open_page("scores", measure=["RR", "P@1"], **parameters))


def test_a_mean_below_its_threshold_is_marked_and_told_until_the_file_says_otherwise(file: Path):
    file.write_text('[overall]\nRR = 0.9\n"P@1" = {at_least = 0.6, confidence = 0.95}\n')
    told = said()
    assert "|≥ 0.9|" in told
    assert "|≥ 0.6, 95% sure|" in told
    assert f"▽ {NEW}" in told
    assert "▽ new: P@1 0.7250 is not above 0.6 with 95% confidence (gate.toml)" in told
    assert "▽ |" in told
    file.write_text("[overall]\nRR = 0.8\n")
    told = said()
    assert NEW not in told
    assert "new: RR" not in told
    assert "≥ 0.8" in told
    assert "≥ 0.6" not in told


def test_a_bucket_is_held_to_its_own_threshold(file: Path):
    file.write_text(
        "[overall]\nRR = 0.9\n[each.intent]\nRR = 0.6\n[bucket.intent.refund]\nRR = 1\n"
    )
    told = said(facet="intent")
    assert "is for golden set" not in told
    assert "intent = setup, new: RR 0.5000 is below 0.6 (gate.toml)" in told
    assert "intent = refund, old: RR 0.5000 is below 1 (gate.toml)" in told
    assert "below 0.9" not in told


def test_a_mean_that_fell_too_far_below_the_baseline_is_marked_and_told(file: Path):
    file.write_text(
        'baseline = "old"\nconfidence = 0.95\n[overall]\nRR = {at_least = 0.5, drop = 0.02}\n'
        "[each.intent]\nRR = {drop = 0.1}\n[bucket.intent.refund]\nRR = 0.3\n"
    )
    told = said()
    assert "|≥ 0.5, 95% sure||drop ≤ 0.02, 95% sure" in told
    assert "▽" not in told, "the mean rose"
    told = said(facet="intent")
    assert "▽ intent = setup, new: RR 0.5000 is 0.5000 below old, 0.1 allowed (gate.toml)" in told
    assert told.count("drop ≤ 0.1, 95% sure") == 1, "refund has a rule of its own"
    assert "below 0.3" not in told
    assert ", old:" not in told, "the baseline does not fall behind itself"
    file.write_text('baseline = "gone"\n[overall]\nRR = {drop = 0.02}\n')
    told = said()
    assert "gate.toml: no run is called 'gone', its baseline, so no drop is shown" in told
    assert "drop ≤" not in told


def test_thresholds_by_other_conventions_are_not_shown_and_that_is_said(file: Path):
    file.write_text('preset = "trec_eval"\n[overall]\nRR = 0.9\n')
    told = said()
    assert "gate.toml asks for values by preset trec_eval, so its thresholds are not shown" in told
    assert "▽" not in told


def test_thresholds_of_other_queries_are_not_shown_and_that_is_said(file: Path):
    with Store(file.parent / "golden.db") as store:
        store.splits.assign({"q00": "test", "q01": "test"}, {})
    file.write_text('split = "test"\n[overall]\nRR = 0.9\n')
    told = said()
    assert "gate.toml asks for values of split test, so its thresholds are not shown" in told
    assert "▽" not in told
    assert "|≥ 0.9|" in said(split="test")
    file.write_text("[overall]\nRR = 0.9\n")
    assert "gate.toml asks for values of all queries, so" in said(split="test")


def test_a_file_that_judges_by_another_golden_set_says_so(file: Path):
    file.write_text('golden = "release"\n[overall]\nRR = 0.9\n')
    told = said()
    assert "gate.toml is for golden set 'release'; these numbers are from another one" in told
    assert f"▽ {NEW}" in told


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[overall]\nRR = 9\n", "gate.toml:2: 'at_least' is a number from 0 to 1, not 9"),
        (None, "gate.toml: there is no such file"),
    ],
    ids=["broken", "gone"],
)
def test_a_file_that_cannot_be_read_is_a_sentence_and_the_numbers_stay(
    file: Path, text: str | None, why: str
):
    if text is not None:
        file.write_text(text)
    told = said()
    assert "No thresholds: gate.toml" in told
    assert why in told
    assert "0.8625" in told
    assert str(file.parent) not in told


def test_a_mean_that_fell_below_the_last_passing_run_is_marked_and_told(file: Path):
    file.write_text(
        'run = "new"\nlast_passing = "passed.json"\n[overall]\nRR = {at_least = 0.5, drop = 0.02}\n'
    )
    told = said()
    assert "gate.toml: no run has passed yet, so no drop from one is shown" in told
    assert "drop ≤" not in told
    database = str(file.parent / "golden.db")
    judged = CliRunner().invoke(main, ["--db", database, "gate", str(file), "--begin"])
    assert judged.exit_code == 0, judged.output
    told = said()
    assert "≥ 0.5" in told
    assert "drop ≤ 0.02" in told
    fell = "0.2250 below the last passing run new, 0.02 allowed (gate.toml)"
    assert f"▽ old: RR 0.6375 is {fell}" in told
    assert "▽ new: " not in told, "the last passing run does not fall behind itself"
    by_command = CliRunner().invoke(main, ["--db", database, "gate", str(file), "--run", "old"])
    assert by_command.exit_code == 1
    assert "RR fell by 0.2250 from the last passing run new" in by_command.output


def test_a_last_passing_run_that_cannot_be_held_against_is_told(file: Path):
    file.write_text(
        'run = "new"\nlast_passing = "passed.json"\n[overall]\nRR = {at_least = 0.5, drop = 0.02}\n'
    )
    database = file.parent / "golden.db"
    CliRunner().invoke(main, ["--db", str(database), "gate", str(file), "--begin"])
    with Store(database) as store:
        store.runs.drop("new")
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q00", "c1", "Ann", grade=1))
    told = said()
    assert "▽" not in told.replace("▽ |", "")
    assert "not judged: new, which passed on" in told
    assert "was scored by another golden set and is not in the database" in told
    (file.parent / "passed.json").write_text("{}")
    told = said()
    assert "passed.json: is not a file of runs that passed a gate" in told
    assert "no drop from one is shown" in told
    assert str(file.parent) not in told
