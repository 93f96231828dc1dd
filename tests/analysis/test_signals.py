"""Signals beside a trend: in order of date, with the run of their time, by query where asked."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.analysis import trend
from labeler.analysis.trend import DatedRun, Timeline, Window
from labeler.analysis.trend.series import parse_moment
from labeler.cli import main
from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking, Signal, SignalPoint
from labeler.render import charts
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

HOSTILE = "<b>ctr</b> **x** =1+1"


def point(date: str, value: float = 0.5, system: str = "s", name: str = "ctr") -> SignalPoint:
    return SignalPoint(system, name, date, value, None, 0)


def runs(*dates: str) -> list[DatedRun]:
    return [DatedRun(f"run {at}", parse_moment(date), date) for at, date in enumerate(dates)]


def test_a_value_stands_beside_the_newest_run_of_its_day_or_moment() -> None:
    made = runs("2026-01-10", "2026-01-20T12:00:00Z")
    heard = [
        point("2026-01-20T12:00:00Z"),
        point("2026-01-20T11:59:59Z"),
        point("2026-01-20"),
        point("2026-01-09"),
    ]
    [found] = trend.build_signal_series(heard, {"s": made})
    assert [(each.said, each.run) for each in found.points] == [
        ("2026-01-09", None),
        ("2026-01-20", "run 1"),
        ("2026-01-20T11:59:59Z", "run 0"),
        ("2026-01-20T12:00:00Z", "run 1"),
    ]


def test_a_window_takes_what_was_heard_since_its_first_run() -> None:
    made = runs("2026-01-10", "2026-01-20", "2026-01-30")
    heard = [point(f"2026-01-{day}") for day in (10, 19, 20, 29, 31)]
    [found] = trend.build_signal_series(heard, {"s": made}, Window(2, "runs"))
    assert [each.said[-2:] for each in found.points] == ["20", "29", "31"]
    [found] = trend.build_signal_series(heard, {"s": made}, Window(5, "days"))
    assert [each.said[-2:] for each in found.points] == ["31"]
    assert trend.build_signal_series(heard, {"t": made}) == []


def test_a_signal_says_where_it_stands() -> None:
    heard = [point("2026-01-01", 3.0), point("2026-01-02", 1.0), point("2026-01-03", 2.0)]
    [found] = trend.build_signal_series(heard, {"s": []})
    assert (found.current.value, found.change, found.mean, found.median) == (2.0, 1.0, 2.0, 2.0)
    assert (found.lowest.said, found.highest.said) == ("2026-01-02", "2026-01-01")
    [alone] = trend.build_signal_series(heard[:1], {"s": []})
    assert math.isnan(alone.change)
    records = trend.signal_values_table([found]).records()
    assert [row["change"] for row in records][1:] == [-2.0, 1.0]
    assert math.isnan(records[0]["change"])  # type: ignore[arg-type]  # a number or nothing


def test_systems_with_one_of_the_two_alone_are_told() -> None:
    line = Timeline({"both": (), "silent": ()}, (), ())
    points = [point("2026-01-01", system=s) for s in ("both", "alone")]
    alone, silent = trend.signal_statements(points, line, are_shown=False)
    assert "no run with a date, so in no chart: 'alone'." in alone.sentence
    assert silent.sentence == "Systems with runs that have no signal: 'silent'."
    shown = trend.signal_statements(points, line, are_shown=True)
    assert [each.kind for each in shown][:2] == ["signals", "no correlation"]
    assert trend.signal_statements([], line, are_shown=True) == []


def test_pictures_share_their_axis_of_time_and_names_are_no_keys() -> None:
    made = {HOSTILE: runs("2026-01-10")}
    [each] = trend.build_signal_series(
        [point("2026-01-05", 7.0, HOSTILE), point("2026-01-31", 9.0, HOSTILE)], made
    )
    span = trend.find_time_span(made, [each])
    assert span == (datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC))
    below = charts.signal_chart([HOSTILE], {HOSTILE: each.points}, span, made[HOSTILE]).to_dict()
    above = charts.trend_chart({HOSTILE: trend.points_table([])}, "RR", span=span).to_dict()
    scales = [
        layer["encoding"]["x"]["scale"]["domain"]
        for chart in (below, above)
        for layer in chart["layer"]
        if "x" in layer["encoding"] and "scale" in layer["encoding"]["x"]
    ]
    assert len({json.dumps(scale) for scale in scales}) == 1
    low, high = below["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert 6 < low < 7
    assert 9 < high < 10, "a scale of its own"


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Two systems with runs, of which one has signals, and a third that has signals alone."""
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        names = [f"q{n}" for n in range(4)]
        store.queries.load(
            loaded([Query(q, q, buckets={"topic": "a" if q < "q2" else "b"}) for q in names])
        )
        for run, system, date in (
            ("old", "search", "2026-01-10"),
            ("new", "search", "2026-01-20"),
            ("other", "quiet", "2026-01-15"),
        ):
            lists = [Ranking(q, ("c", run)) for q in names]
            store.runs.load(loaded(lists), name=run, system=system, created_at=date)
        store.golden_loads.add(
            LoadedGolden(loaded([]), loaded([GoldenGrade(q, "c", 3) for q in names]), loaded([]))
        )
    return path


def hear(path: Path) -> None:
    with Store(path) as store:
        given = [
            Signal(f"2026-01-{day}", "search", HOSTILE, day / 100, None, 9) for day in (12, 22)
        ]
        given += [
            Signal("2026-01-21", "search", "up", value, q)
            for q, value in (("q0", 1.0), ("q1", 0.0), ("q2", 0.0), ("q3", 0.0))
        ]
        store.signals.load(loaded([*given, Signal("2026-01-21", "ghost", "up", 1.0)]))


def run(path: Path, *arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["--db", str(path), "trend", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.output


def test_without_signals_nothing_is_said_of_them(filled: Path) -> None:
    assert "ignal" not in run(filled)
    assert "ignal" not in words(open_page("scores", view="trend", measure="RR"))
    assert "there are no signals yet" in run(filled, "--signals", exit_code=1)


def test_the_command_prints_them_under_the_runs_and_alone_for_programs(filled: Path) -> None:
    before = run(filled, "--format", "json")
    hear(filled)
    assert run(filled, "--format", "json") == before, "rows of runs stay rows of runs"
    said = run(filled)
    [line] = [line.split() for line in said.splitlines() if line.startswith("up ")]
    assert line == ["up", "search", "0.2500", "2026-01-21", "–", *["0.2500"] * 4, "1"]
    assert "! Systems with signals that have no run with a date, so in no chart: 'ghost'" in said
    assert "\nSystems with runs that have no signal: 'quiet'." in said
    rows = json.loads(run(filled, "search", "--signals", "--format", "json"))
    assert [
        (row["signal"], row["value"], row["n"], row["queries"], row["run"]) for row in rows
    ] == [
        (HOSTILE, 0.12, 9, None, "old"),
        (HOSTILE, 0.22, 9, None, "new"),
        ("up", 0.25, None, 4, "new"),
    ]
    table = csv.DictReader(io.StringIO(run(filled, "ghost", "--signals", "--format", "csv")))
    assert [row["run"] for row in table] == [""]
    assert "no system called 'quiet' has a signal" in run(filled, "quiet", "--signals", exit_code=1)
    assert "&lt;" in run(filled, "--format", "md") or "&#60;" in run(filled, "--format", "md")


def test_a_split_takes_the_signals_of_its_queries(filled: Path) -> None:
    hear(filled)
    with Store(filled) as store:
        store.splits.assign({"q0": "test", "q1": "test"}, {})
    rows = json.loads(run(filled, "--signals", "--split", "test", "--format", "json"))
    assert [(row["signal"], row["value"], row["queries"]) for row in rows] == [("up", 0.5, 2)]


def test_scores_draws_each_signal_below_the_line_with_a_table_behind(filled: Path) -> None:
    hear(filled)
    app = open_page("scores", view="trend", measure="RR", values="true")
    assert len(app.get("vega_lite_chart")) == 3
    said = words(app)
    assert f"{HOSTILE} (online)" in [each.value for each in app.text]
    assert "|up|search|2026-01-21|new|0.2500|–|–|4|" in re.sub(r"\|+", "|", said)
    assert "so in no chart: 'ghost'" in said
    assert "have no signal: 'quiet'" in said
    body = "".join(element.proto.body for element in app.get("html"))
    assert "<b>ctr" not in body
    one = open_page("scores", view="trend", measure="RR", signal="up")
    assert len(one.get("vega_lite_chart")) == 2
    assert "Not drawn: 1 signal." in words(one)


def test_a_bucket_has_the_signals_of_its_queries_alone(filled: Path) -> None:
    hear(filled)
    said = words(open_page("scores", view="trend", measure="RR", facet="topic", bucket="b"))
    assert "not those of all queries" in said
    assert HOSTILE not in said
    assert "|up|search|0.0000|2026-01-21|" in re.sub(r"\|+", "|", said)


def test_signals_stand_there_whichever_chunking_is_looked_at(filled: Path) -> None:
    hear(filled)
    with Store(filled) as store:
        store.chunks.load(loaded([Chunk("c", "text")]), chunking="v2")
        lists = [Ranking("q0", ("c",))]
        store.runs.load(
            loaded(lists), name="cut", system="search", created_at="2026-01-20", chunking="v2"
        )
    for chunking in ({}, {"chunking": ""}, {"chunking": "*"}):
        app = open_page("scores", view="trend", measure="RR", **chunking)
        assert f"{HOSTILE} (online)" in [each.value for each in app.text], chunking


def test_a_new_signal_is_drawn_on_the_next_look(filled: Path, loaded: Callable) -> None:
    hear(filled)
    assert "0.77" not in words(open_page("scores", view="trend", measure="RR"))
    with Store(filled) as store:
        store.signals.load(loaded([Signal("2026-01-25", "search", "up", 0.77)]))
    assert "0.77" in words(open_page("scores", view="trend", measure="RR"))


def test_without_a_date_of_any_run_the_signals_are_told_of(filled: Path) -> None:
    hear(filled)
    with Store(filled) as store:
        for name in store.runs.names():
            store.runs.change(name, created_at="")
    said = words(open_page("scores", view="trend", measure="RR"))
    assert "no run with a date, so in no chart: 'ghost', 'search'" in said
