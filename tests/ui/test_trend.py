"""Scores over time on the page: systems over time, what fell, and the causes of a change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labeler.analysis.gate import GATE_VARIABLE
from labeler.model import GoldenGrade, Judgment, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

QUERIES = [f"q{n:02}" for n in range(30)]
RANKS = {"spring": 1, "summer": 1, "autumn": 3}
DATES = {"spring": "2026-03-01", "summer": "2026-06-01", "autumn": "2026-09-01"}


@pytest.fixture
def seasons(tmp_path: Path) -> Path:
    """Three runs of one system, whose last has fallen; 12 of 30 queries are of tax."""
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(
            loaded(
                [
                    Query(name, f"query {name}", buckets={"topic": "tax" if at < 12 else "rest"})
                    for at, name in enumerate(QUERIES)
                ]
            )
        )
        for run, rank in RANKS.items():
            chunks = [*(f"x{n}" for n in range(1, rank)), "c"]
            lists = [Ranking(name, tuple(chunks)) for name in QUERIES]
            store.runs.load(loaded(lists), name=run, system="search", created_at=DATES[run])
        grades = [GoldenGrade(name, "c", 3) for name in QUERIES]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


def trend(**parameters: str) -> str:
    return words(open_page("scores", view="trend", measure="RR", **parameters))


def test_a_system_is_shown_by_date_with_what_fell(seasons: Path) -> None:
    said = trend()
    assert "search: RR fell since the run before, from 1.0000 (2026-06-01) to 0.3333" in said
    assert "0.3333|2026-09-01" in said.replace("|||", "|").replace("||", "|")
    assert "The trend is over all runs." in said
    assert "summer" not in said.split("|Over time|")[1]
    assert "summer" in trend(runs="true").split("|Over time|")[1]
    assert "Bonferroni's correction over all 6 comparisons" in said


def test_the_system_of_a_marked_run_has_the_look_of_that_run(seasons: Path) -> None:
    with Store(seasons) as store:
        lists = [Ranking(name, ("c",)) for name in QUERIES]
        store.runs.load(loaded(lists), name="new", system="other", created_at="2026-09-01")

    def legend(**marked: str) -> list[str]:
        app = open_page("scores", view="trend", measure="RR", **marked)
        bodies = [each.proto.body for each in app.get("html")]
        [body] = [each for each in bodies if "Runs in the chart" in each]
        return re.findall(r'class="line ([\w-]+)"[^>]*>(?:<i></i>)?</span>.*?>(\w+)</bdi>', body)

    assert sorted(legend(a="autumn", b="new")) == [("circle", "other"), ("square", "search")]
    assert ("triangle-up", "search") in legend(a="autumn", b="summer")


def test_the_window_is_in_the_address(seasons: Path) -> None:
    assert "RR fell" in trend(window="last 2 runs")
    assert "RR fell" not in trend(window="30 days")
    assert "no window; write it like 'all runs', '30 runs'" in trend(window="3 weeks")


def test_one_bucket_or_every_one_of_a_system(seasons: Path) -> None:
    assert "of topic = tax" in trend(facet="topic", bucket="tax")
    every = trend(facet="topic")
    assert "search, topic = tax: RR fell" in every
    assert "|rest|" in every
    assert "||12||" in trend(facet="topic", bucket="tax", runs="true")


def test_a_threshold_of_the_gate_file_is_shown_beside_the_value(
    seasons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text('[overall]\n"RR" = 0.6\n', encoding="utf-8")
    monkeypatch.setenv(GATE_VARIABLE, str(gate))
    said = trend()
    assert "|Threshold|" in said
    assert "|0.6000|" in said
    assert "! search: RR is 0.3333, below the threshold 0.6." in trend(window="1 runs")
    assert "search: RR fell below the threshold 0.6, from 1.0000 (2026-06-01)" in said


def test_every_system_has_a_line_by_one_measure(seasons: Path) -> None:
    with Store(seasons) as store:
        store.runs.change("spring", system="old")
        store.runs.change("summer", created_at="")
    said = words(open_page("scores", view="trend", measure=["RR", "R@1"]))
    assert "|old|" in said
    assert "|R@1|" not in said.split("|Over time|")[1]
    assert "Runs without a date, which are in no trend: 1. " in said
    assert "each a single point: 2. " in said
    one = words(open_page("scores", view="trend", measure=["RR", "R@1"], system="old"))
    assert "|R@1|" in one.split("|Over time|")[1]
    assert "no system is called 'new'" in trend(system="new")


def test_a_change_is_split_as_the_command_does(seasons: Path) -> None:
    assert "Nothing was graded yet by 2026-06-01" in trend(parts="true")
    with Store(seasons) as store:
        store.people.add("Ann")
        at = "2026-05-01T10:00:00.000Z"
        store.judgments.add(Judgment("e", "q00", "x1", "Ann", grade=3, created_at=at))
    said = trend(parts="true").replace("||", "|")
    assert "The older run is scored by the grades of 2026-06-01 (UTC), the newer by those" in said
    assert "From grades and rule" in said
    assert "is not like 2026-01-31" in trend(parts="true", grades="spring")
    assert "no run is called 'winter'" in trend(parts="true", **{"from": "winter"})


def test_points_and_parts_are_of_the_split_that_is_chosen(seasons: Path) -> None:
    with Store(seasons) as store:
        store.splits.assign(dict.fromkeys(QUERIES[:20], "test"), {})
        store.people.add("Ann")
        at = "2026-05-01T10:00:00.000Z"
        for query in ("q00", "q29"):
            store.judgments.add(Judgment(query, query, "x1", "Ann", grade=3, created_at=at))
    said = trend(split="test", parts="true", runs="true")
    assert "||20||" in said
    assert "The older run is scored by the grades of 2026-06-01" in said
    assert "|30|" not in said


def test_without_dates_the_page_says_how_there_will_be_some(seasons: Path) -> None:
    with Store(seasons) as store:
        for run in DATES:
            store.runs.change(run, created_at="")
    said = trend()
    assert "has a date, so there is no order in time" in said
    assert "labeler change run NAME --system SYSTEM --date 2026-01-31" in said


def test_a_system_without_any_result_is_gaps_and_no_error(seasons: Path) -> None:
    with Store(seasons) as store:
        store.runs.load(
            loaded([Ranking("other", ("c",))]), name="odd", system="odd", created_at="2026-01-01"
        )
    assert "no result" in trend(system="odd", runs="true", parts="true")
