"""A system over time in Python: what `labeler trend` says, of plain data."""

from __future__ import annotations

import math
from datetime import date

import pytest

import labeler
from labeler.errors import BadInput

QUERIES = [f"q{at:02}" for at in range(30)]
QRELS = {name: {"c": 3} for name in QUERIES}
RANKS = {"autumn": 3, "spring": 1, "summer": 1}
RUNS = {
    run: {name: [*(f"x{at}" for at in range(1, rank)), "c"] for name in QUERIES}
    for run, rank in RANKS.items()
}
DATES = {"autumn": date(2026, 9, 1), "spring": "2026-03-01", "summer": "2026-06-01T09:30:00Z"}


def test_a_drop_is_said_as_the_command_says_it() -> None:
    frame = labeler.trend_of(QRELS, RUNS, DATES, "RR")
    [row] = frame.to_dict("records")
    assert (row["system"], row["measure"], row["runs"]) == ("system", "RR", 3)
    assert (row["current_run"], row["current_date"]) == ("autumn", "2026-09-01")
    assert row["highest"] == 1.0
    assert row["direction"] == "falling"
    assert "RR fell since the run before, from 1.0000 (2026-06-01T09:30:00Z)" in row["alert"]
    assert "threshold" not in row
    assert "conventions" in frame.attrs
    assert any("Bonferroni" in note for note in frame.attrs["notes"])


def test_runs_stand_in_order_of_date_with_intervals_and_changes() -> None:
    frame = labeler.trend_of(QRELS, RUNS, DATES, "RR P@1", per_run=True, window="2 runs")
    assert frame["run"].tolist() == ["summer", "autumn"] * 2
    rr = frame[frame["measure"] == "RR"]
    assert rr["change"].round(4).tolist()[1:] == [-0.6667]
    assert rr["lo"].notna().all()


def test_runs_belong_to_systems_and_one_without_a_date_is_in_none() -> None:
    systems = {"spring": "a", "autumn": "b", "summer": "a"}
    dates = {name: said for name, said in DATES.items() if name != "summer"}
    frame = labeler.trend_of(QRELS, RUNS, dates, "RR", systems=systems)
    assert sorted(frame["system"]) == ["a", "b"]
    assert all(math.isnan(spread) for spread in frame["spread"])
    assert any(note.startswith("Runs without a date") for note in frame.attrs["notes"])


@pytest.mark.parametrize(
    ("dates", "systems", "said"),
    [
        ({"winter": "2026-01-01"}, None, "no run is called 'winter'; there are: autumn, spring"),
        (DATES, {"winter": "a"}, "no run is called 'winter'"),
        ({}, None, "no run has a date"),
        ({"spring": "1.3.2026"}, None, "date '1.3.2026' is not like 2026-01-31"),
    ],
)
def test_what_cannot_be_put_in_order_is_named(dates, systems, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        labeler.trend_of(QRELS, RUNS, dates, "RR", systems=systems)
