"""A system over time: order, sums, directions, alerts, and whose doing a change was."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.trend import (
    DIRECTION_RULE,
    AlertScan,
    DatedRun,
    QueryValues,
    TrendSeries,
    Window,
    below_thresholds,
    build_series,
    build_timeline,
    cause_statements,
    describe_grades,
    describe_missing_grades,
    describe_window,
    newest_first,
    parse_window,
    points_table,
    scan_for_alerts,
    split_change,
    summaries_table,
    summarize_series,
)
from labeler.analysis.trend.series import SeriesKey
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.model import StoredRun
from tests.support.boards import board_of
from tests.support.examples import examples

START = datetime(2026, 1, 1, tzinfo=UTC)
QUERIES = [f"q{n}" for n in range(40)]
QRELS = {query: {"c": 1} for query in QUERIES}


def run(ranks: Mapping[str, int] | Sequence[int]) -> dict[str, list[str]]:
    """Return a run in which the one relevant chunk of each query stands at a rank; 0 is nowhere."""
    ranks = ranks if isinstance(ranks, Mapping) else dict(zip(QUERIES, ranks, strict=True))
    return {
        query: [f"x{n}" for n in range(1, rank or 5)] + (["c"] if rank else [])
        for query, rank in ranks.items()
    }


def days(names: Sequence[str]) -> list[DatedRun]:
    made = [(name, START + timedelta(days=at)) for at, name in enumerate(names)]
    return [DatedRun(name, when, f"{when:%Y-%m-%d}") for name, when in made]


def looked(
    runs: Mapping[str, Any],
    *,
    measures: str = "RR",
    facets: Mapping[str, Mapping[str, str]] | None = None,
    bar: float | None = None,
) -> AlertScan:
    board = board_of(QRELS, runs, facets)
    measure = board.conventions.measures(measures)
    dated = {"s": days(list(runs))}
    every = build_series(board, dated, measure)
    buckets = build_series(board, dated, measure[:1], "topic") if facets else []
    bars = {} if bar is None else {every[0].place: bar}
    return scan_for_alerts(QueryValues(board), every, buckets, bars)


def stored(name: str, system: str, date: str | None) -> StoredRun:
    return StoredRun(name, system, date, {})


def test_runs_stand_in_the_order_of_moments_whatever_their_zone() -> None:
    found = build_timeline(
        [
            stored("late", "s", "2026-01-31T23:30:00-02:00"),
            stored("next day", "s", "2026-02-01"),
            stored("early", "s", "2026-01-31T09:00:00+09:00"),
        ]
    )
    assert [each.run for each in found.of("s")] == ["early", "next day", "late"]


def test_two_runs_of_one_date_stay_as_they_were_loaded_and_both_are_shown() -> None:
    found = build_timeline([stored(name, "s", "2026-01-31") for name in ("b", "a")])
    assert [each.run for each in found.of("s")] == ["b", "a"]


def test_runs_without_date_or_system_are_counted() -> None:
    found = build_timeline(
        [stored("a", "s", None), stored("b", "b", "2026-01-31"), stored("c", "c", "")]
    )
    assert (found.undated, found.alone) == (("a", "c"), ("b",))
    no_date, alone = found.statements
    assert no_date.sentence.startswith("Runs without a date, which are in no trend: 2. ")
    assert alone.sentence.startswith("Systems with only one run, each a single point: 1. ")
    assert build_timeline([]).statements == ()
    with pytest.raises(NotFound, match="no system called 's' has a run with a date"):
        found.of("s")


def test_a_window_of_days_ends_with_the_newest_run_and_not_today() -> None:
    dated = days([f"r{n}" for n in range(10)])
    assert [each.run for each in parse_window("last 2 days").of(dated)] == ["r7", "r8", "r9"]
    assert [each.run for each in parse_window("2 runs").of(dated)] == ["r8", "r9"]
    assert parse_window("all").of(dated) == tuple(dated)
    assert Window(5).of([]) == ()
    assert parse_window(str(Window(7, "days"))) == Window(7, "days")


@pytest.mark.parametrize("text", ["", "0 runs", "3 weeks", "-1 days", "3runs", "1234567 runs"])
def test_a_window_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInput, match="write it like 'all runs', '30 runs' or '90 days'"):
        parse_window(text)


def test_a_series_says_where_it_stands_and_where_it_was() -> None:
    runs = {"a": run([2] * 40), "b": run([1] * 40), "c": run([4] * 40)}
    board = board_of(QRELS, runs)
    [found] = summarize_series(
        board, build_series(board, {"s": days("abc")}, board.conventions.measures("RR"))
    )
    assert (found.current.value, found.current.said) == (0.25, "2026-01-03")
    assert (found.median, found.lowest.run, found.highest.run) == (0.5, "c", "b")
    assert found.mean == pytest.approx(7 / 12)
    assert found.spread == pytest.approx(np.std([0.5, 1.0, 0.25], ddof=1))
    assert found.change == pytest.approx(-0.25)  # the line's: first to newest, the middle is moot
    assert (found.direction, found.word) == (-1, "falling")


def test_between_two_runs_the_line_rises_by_their_difference() -> None:
    board = board_of(QRELS, {"a": run([2] * 40), "b": run([1] * 20 + [2] * 20)})
    [found] = summarize_series(
        board, build_series(board, {"s": days("ab")}, board.conventions.measures("RR"))
    )
    assert found.change == pytest.approx(0.25)


def test_one_run_or_runs_of_one_moment_have_no_direction() -> None:
    board = board_of(QRELS, {"a": run([2] * 40), "b": run([1] * 40)})
    measures = board.conventions.measures("RR")
    same = [each._replace(when=START) for each in days("ab")]
    for dated in (days("a"), same):
        [found] = summarize_series(board, build_series(board, {"s": dated}, measures))
        assert math.isnan(found.change)
        assert (found.word, found.direction) == ("–", 0)


def test_a_run_without_results_is_a_point_without_value_and_an_alert_where_it_is_the_newest():
    runs = {"a": run([1] * 40), "b": {"elsewhere": ["c"]}, "c": run([1] * 40)}
    board = board_of(QRELS, runs)
    measures = board.conventions.measures("RR")
    middle, last = (build_series(board, {"s": days(names)}, measures) for names in ("abc", "acb"))
    assert [math.isnan(point.value) for point in middle[0].points] == [False, True, False]
    assert scan_for_alerts(QueryValues(board), middle).alerts == ()
    [alert] = scan_for_alerts(QueryValues(board), last).alerts
    assert alert.kind == "silent"
    assert alert.statement.sentence == (
        "s: the newest run (2026-01-03) has no result for any query that counts. "
        "What is shown as current is of 2026-01-02."
    )
    [found] = summarize_series(board, last)
    assert found.current.run == "c"


def test_a_drop_that_chance_does_not_make_is_an_alert() -> None:
    found = looked({"a": run([1] * 40), "b": run([2] * 30 + [1] * 10)})
    assert found.looks == 1
    [alert] = found.alerts
    assert found.statements == [alert.statement]
    assert alert.kind == "drop"
    assert alert.statement.sentence == (
        "s: RR fell since the run before, from 1.0000 (2026-01-01) to 0.6250 (2026-01-02), "
        "−0.3750, clearly (corrected p <0.0001)."
    )
    numbers = {"from": 1.0, "to": 0.625, "p": alert.p}
    assert (alert.statement.severity, alert.statement.numbers) == ("answer", numbers)


def test_a_rise_and_a_drop_within_noise_are_none() -> None:
    noise = [1, 2] * 20
    rise = looked({"a": run([2] * 40), "b": run([1] * 40)})
    assert rise.alerts == ()
    assert [each.sentence for each in rise.statements] == ["Nothing fell clearly."]
    assert looked({"a": run(noise), "b": run([*noise[2:], 2, 2])}).alerts == ()


def test_a_slow_slide_is_found_where_no_step_is_more_than_chance() -> None:
    steps = {f"r{n}": run([2] * n + [1] * (40 - n)) for n in range(12)}
    [alert] = looked(steps).alerts
    assert (alert.kind, alert.older.run) == ("slide", "r0")
    assert "s: RR has fallen since its highest, from 1.0000" in alert.statement.sentence


def test_falling_below_a_threshold_is_said_first() -> None:
    runs = {"a": run([1] * 40), "b": run([2] * 30 + [1] * 10)}
    assert looked(runs, bar=0.8).alerts[0].kind == "threshold"
    [said] = looked(runs, bar=0.8).statements
    assert "RR fell below the threshold 0.8, from 1.0000" in said.sentence
    assert looked(runs, bar=0.5).alerts[0].kind == "drop"
    below = {"a": run([2] * 40), "b": run([2] * 40)}
    assert looked(below, bar=0.8).alerts == ()  # it never was above


def test_a_bucket_that_fell_while_the_mean_rose_is_said() -> None:
    topics = {"topic": {query: "tax" if at < 12 else "rest" for at, query in enumerate(QUERIES)}}
    runs = {"a": run([1] * 12 + [4] * 28), "b": run([3] * 12 + [1] * 28)}
    [alert] = looked(runs, facets=topics).alerts
    assert (alert.kind, alert.place.bucket) == ("bucket", "tax")
    assert "s, topic = tax: RR fell from 1.0000" in alert.statement.sentence
    assert "while the mean over all queries rose by 0.3250" in alert.statement.sentence


def test_a_shared_date_is_told_apart_by_the_name_of_the_run() -> None:
    board = board_of(QRELS, {"a": run([1] * 40), "b": run([2] * 40)})
    same = [each._replace(said="2026-01-01") for each in days("ab")]
    [alert] = scan_for_alerts(
        QueryValues(board), build_series(board, {"s": same}, board.conventions.measures("RR"))
    ).alerts
    assert "from 1.0000 (2026-01-01, a) to 0.5000 (2026-01-01, b)" in alert.statement.sentence


def test_more_looks_need_more_to_show() -> None:
    first, last = [1] * 40, [2] * 7 + [1] * 33  # 7 of 7 fell: p = 2/128
    assert looked({"a": run(first), "b": run(last)}).alerts
    many = {f"r{n}": run(first) for n in range(5)}
    found = looked({**many, "z": run(last)})
    assert (found.alerts, found.looks) == ((), 5)


def test_after_a_year_of_runs_a_large_drop_is_still_more_than_chance() -> None:
    """Corrected for 400 looks and more, no p-value of 10,000 draws would be small enough."""
    queries = {f"q{n}": {"c": 1} for n in range(60)}
    good, bad = (dict.fromkeys(queries, rank) for rank in (1, 3))
    runs = {f"r{n}": run(good) for n in range(180)} | {"z": run(bad)}
    board = board_of(queries, runs)
    every = build_series(
        board, {"s": days(list(runs))}, board.conventions.measures("RR Success@1 P@1")
    )
    found = scan_for_alerts(QueryValues(board), every)
    assert found.looks == 3 * 180
    assert [alert.kind for alert in found.alerts] == ["drop"] * 3


def test_alerts_of_noise_alone_are_rare() -> None:
    draw, alarms = np.random.default_rng(7), 0
    for _ in range(40):
        runs = {f"r{n}": run(draw.integers(1, 6, 40).tolist()) for n in range(5)}
        alarms += bool(looked(runs, measures="RR P@3").alerts)
    assert alarms <= 5


def test_a_point_knows_the_change_since_the_last_value() -> None:
    runs = {"a": run([1] * 40), "b": {"elsewhere": ["c"]}, "c": run([2] * 40)}
    board = board_of(QRELS, runs)
    series = build_series(board, {"s": days("abc")}, board.conventions.measures("MRR"))
    rows = points_table(series).records()
    assert [row["measure"] for row in rows] == ["MRR"] * 3
    assert [row["change"] for row in rows[1:]] == [pytest.approx(math.nan, nan_ok=True), -0.5]
    assert rows[2]["moment"] == "2026-01-03T00:00:00Z"


def test_people_see_a_column_only_where_it_has_something_to_say() -> None:
    runs = {"a": run([1] * 40), "b": {"elsewhere": ["c"]}, "c": run([2] * 40)}
    board = board_of(QRELS, runs)
    whole, gap = (
        build_series(board, {"s": days(names)}, board.conventions.measures("RR"))
        for names in ("ac", "abc")
    )
    plain = summaries_table(summarize_series(board, whole))
    assert [column.title for column in plain.shown()] == [
        *("System", "Measure", "Current", "Date", "Change", "Direction", "p"),
        *("Mean", "Median", "Spread", "Lowest", "Highest", "Runs"),
    ]
    bars = {gap[0].place: 0.6}
    more = summaries_table(summarize_series(board, gap), (), bars)
    titles = {column.title for column in more.shown()}
    assert titles - {column.title for column in plain.shown()} == {"Threshold", "With a value"}
    [row] = more.records()
    assert (row["runs"], row["runs_with_value"], row["threshold"]) == (3, 2, 0.6)
    assert plain.names == more.names


def test_the_newest_run_can_come_first() -> None:
    board = board_of(QRELS, {"a": run([1] * 40), "b": run([2] * 40)})
    series = build_series(board, {"s": days("ab")}, board.conventions.measures("RR"))
    assert [row["run"] for row in newest_first(points_table(series)).rows] == ["b", "a"]


def test_a_value_below_its_threshold_is_said_once() -> None:
    board = board_of(QRELS, {"a": run([2] * 40), "b": run([2] * 40)})
    every = build_series(board, {"s": days("ab")}, board.conventions.measures("RR"))
    summaries, bars = summarize_series(board, every), {every[0].place: 0.8}
    [said] = below_thresholds(summaries, bars, board.conventions)
    assert said.sentence == "s: RR is 0.5000, below the threshold 0.8."
    assert below_thresholds(summaries, {every[0].place: 0.4}, board.conventions) == []
    fell = board_of(QRELS, {"a": run([1] * 40), "b": run([2] * 40)})
    every = build_series(fell, {"s": days("ab")}, fell.conventions.measures("RR"))
    alerts = scan_for_alerts(QueryValues(fell), every, (), bars).alerts
    assert below_thresholds(summarize_series(fell, every), bars, fell.conventions, alerts) == []


def test_the_rules_name_the_test_and_what_it_is_corrected_for() -> None:
    scan = looked({"a": run([1] * 40), "b": run([2] * 40)}, measures="RR P@1")
    assert scan.rule.sentence == (
        "An alert is a drop of the newest run that is clear: p ≤ 0.05 by a two-sided "
        "randomisation test over at least 10 queries, after Bonferroni's correction over all 2 "
        "comparisons with earlier runs, buckets included."
    )
    assert "after Holm's correction over the lines shown" in DIRECTION_RULE.sentence
    windows = (Window(), Window(1), Window(90, "days"))
    assert [describe_window(each).sentence for each in windows] == [
        "The trend is over all runs.",
        "The trend is over the last 1 run of each system.",
        "The trend is over the last 90 days of each system.",
    ]


def test_a_bucket_that_is_not_there_is_refused() -> None:
    board = board_of(QRELS, {"a": run([1] * 40)}, {"topic": {"q0": "tax"}})
    with pytest.raises(NotFound, match="law"):
        build_series(board, {"s": days("a")}, board.conventions.measures("RR"), "topic", ["law"])


def test_without_runs_there_is_nothing_to_say() -> None:
    empty = TrendSeries(SeriesKey("s", *Conventions.of().measures("RR")), ())
    board = board_of(QRELS, {"a": run([1] * 40)})
    scan = scan_for_alerts(QueryValues(board), [empty])
    assert (scan.looks, scan.statements) == (0, [])
    assert scan.rule.sentence == "There are alerts once a system has two runs with a value."
    [found] = summarize_series(board, [empty])
    assert found.current is None
    assert math.isnan(found.mean)


GRADES = st.dictionaries(
    st.sampled_from([f"q{n}" for n in range(6)]),
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), max_size=4),
    min_size=1,
)
LISTS = st.dictionaries(
    st.sampled_from([f"q{n}" for n in range(6)]), st.permutations("abcde"), min_size=1
)


@examples(80)
@given(GRADES, GRADES, LISTS, LISTS, st.sampled_from(["graded", "trec_eval"]))
def test_the_parts_add_up_to_the_change(then, now, older, newer, preset) -> None:
    chosen = Conventions.of(preset)
    before = Scoreboard(collect(then, {"old": older}), chosen)
    after = Scoreboard(collect(now, {"old": older, "new": newer}), chosen)
    for measure in chosen.measures("nDCG@3 R@2 RR"):
        found = split_change(before, after, "old", "new", measure)
        [was], [_, is_now] = before.table([measure]), after.table([measure])
        assert (found.before, found.now) == pytest.approx((was.value, is_now.value), nan_ok=True)
        parts = found.run + found.grades + found.queries
        if found.reason is None:
            assert abs(parts - (is_now.value - was.value)) <= 1e-12
        else:
            assert math.isnan(parts)


def test_each_part_is_the_doing_of_its_own() -> None:
    """A run that rose, a grade that was taken back, and a query that joined; each by itself."""
    old, new = {"q1": ["c", "x"], "q2": ["x", "c"]}, {"q1": ["c", "x"], "q2": ["c", "x"]}
    grades = {"q1": {"c": 1}, "q2": {"c": 1}}

    def parts(then: Any, now: Any, newer: Any) -> tuple[float, float, float]:
        chosen = Conventions.of()
        before = Scoreboard(collect(then, {"old": old}), chosen)
        after = Scoreboard(collect(now, {"old": old, "new": newer}), chosen)
        found = split_change(before, after, "old", "new", *chosen.measures("RR"))
        return found.run, found.grades, found.queries

    assert parts(grades, grades, new) == (0.25, 0.0, 0.0)
    assert parts({**grades, "q2": {"x": 1, "c": 1}}, grades, old) == (0.0, -0.25, 0.0)
    assert parts({"q1": {"c": 1}}, grades, old) == (0.0, 0.0, -0.25)
    assert all(map(math.isnan, parts({"q1": {}}, grades, old)))


def test_parts_of_one_bucket_are_of_its_queries_alone() -> None:
    topics = {"topic": {"q1": "tax", "q2": "law"}}
    grades = {"q1": {"c": 1}, "q2": {"c": 1}}
    old, new = {"q1": ["x", "c"], "q2": ["c"]}, {"q1": ["c"], "q2": ["x", "c"]}
    before = board_of(grades, {"old": old}, topics)
    after = board_of(grades, {"old": old, "new": new}, topics)
    [measure] = after.conventions.measures("RR")
    assert split_change(before, after, "old", "new", measure, ("topic", "tax")).run == 0.5
    earlier = board_of({"q2": {"c": 1}}, {"old": old}, {"topic": {"q2": "law"}})
    found = split_change(earlier, after, "old", "new", measure, ("topic", "tax"))
    assert (found.n_before, found.reason) == (0, "no query counted yet by the older grades")


def test_the_causes_of_a_change_come_with_the_grades_the_order_and_a_reason() -> None:
    old = {"q1": ["c"], "q2": ["c"]}
    before, after = board_of({"q1": {}}, {"old": old}), board_of({"q1": {"c": 1}}, {"old": old})
    [measure] = after.conventions.measures("RR")
    parts = [split_change(before, after, "old", "old", measure)]
    grades = describe_grades("of 2026-01-31 (UTC)", "of now")
    assert grades.sentence == (
        "The older run is scored by the grades of 2026-01-31 (UTC), the newer by those of now."
    )
    said = cause_statements(parts, grades, in_bucket=True, weighted=True)
    assert [each.kind for each in said] == ["reason", "grades", "order", "buckets", "not weighted"]
    assert said[0].sentence == "No query counted yet by the older grades."
    assert said[3].sentence == "Each query is in the bucket that it is in now."


def test_a_day_before_the_first_grade_is_said_to_be_one() -> None:
    said = describe_missing_grades("2026-01-31", "2026-02-18T10:00:00.000Z", "of now").sentence
    assert said == (
        "Nothing was graded yet by 2026-01-31 (the first grade is from 2026-02-18), so both runs "
        "are scored by the grades of now. Choose a later day to see what grading has changed since."
    )
    assert "(the first" not in describe_missing_grades("2026-01-31", None, "of now").sentence
