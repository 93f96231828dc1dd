"""What all charts share: text that is large enough, and colours that stand out on either ground."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from labeler.analysis.failures.diagnosis import FAILURE_CLASSES
from labeler.analysis.trend import (
    DatedRun,
    build_series,
    build_signal_series,
    find_time_span,
    parse_moment,
    points_table,
)
from labeler.evaluation import Scoreboard
from labeler.model import SignalPoint
from labeler.model.results import Table
from labeler.render import charts, palette
from labeler.render.charts.queries import HEAT_COLOURS, HeatCell, heat_chart
from labeler.render.tokens import DARK, LIGHT
from tests.support.boards import board_of
from tests.support.contrast import contrast, mixed

QRELS = {"q1": {"c": 3}, "q2": {"c": 1, "d": 2}}
HOSTILE = "<img src=x>{{datum}}"
NAMES = ["__proto__", "constructor", "toString", "a'b\\", 'q"x', "[0].length", HOSTILE]
RUNS = {HOSTILE: {"q1": ["c"], "q2": ["x", "c"]}, "b": {"q1": ["x", "c"], "q2": ["c"]}}


def every_chart() -> Mapping[str, Any]:
    """Return one chart of each kind."""
    board = board_of(QRELS, RUNS, {"intent": {"q1": "buy", "q2": "sell"}})
    read = board.conventions.measures
    [share] = [charts.BucketProgress("buy", "50%", 1, 1, 1, 1)]
    counts = dict.fromkeys(FAILURE_CLASSES, 1)
    return {
        "curve": charts.curve_chart(board.table(read("R@1 R@5")), [5]),
        "failing": charts.failure_chart(counts, "a"),
        "failing by bucket": charts.failure_heat({"buy": counts}, "a"),
        "days": charts.day_chart([("2026-01-02", "Ann", 3), ("2026-01-02", "Bo", 1)], "a"),
        "progress": charts.progress_chart([share], "a"),
        "trend": charts.trend_chart({HOSTILE: points_of(board)}, "RR", [0.75]),
        "signals": signal_chart(),
    }


def test_budgets_of_tasks_are_named_once_where_the_first_stands():
    board = board_of(QRELS, RUNS, {})
    for prompt_ks, said in (([5], "prompt size 5"), ([9, 3, 5, 3], "prompt sizes 3, 5, 9")):
        chart = charts.curve_chart(board.table(board.conventions.measures("R@1 R@5")), prompt_ks)
        [*_, words] = chart.layer
        assert words.data.to_dict("records") == [{"k": min(prompt_ks), "label": said}]


def test_the_longest_bar_leaves_room_for_its_number_however_narrow_the_page_is() -> None:
    chart = charts.failure_chart(dict.fromkeys(FAILURE_CLASSES, 1_234), "a").to_dict()
    scales = [layer["encoding"]["x"]["scale"] for layer in chart["layer"]]
    assert [scale["domain"] for scale in scales] == [[0, 1_234]] * 2
    ends = [scale["range"][1]["expr"] for scale in scales]
    assert {int(end.removeprefix("width - ")) for end in ends} == {80}, "pixels for 1234  (100%)"


def test_one_of_many_is_not_said_to_be_none():
    often, once, *_ = FAILURE_CLASSES
    [rows] = charts.failure_chart({often: 299, once: 1}, "a").to_dict()["datasets"].values()
    assert [row["shown"] for row in rows] == ["299  (>99%)", "1  (<1%)"]


def signal_chart() -> Any:
    """Return a signal of two days, on either side of a run."""
    runs = {HOSTILE: [DatedRun(HOSTILE, parse_moment("2026-01-02"), "2026-01-02")]}
    heard = [SignalPoint(HOSTILE, HOSTILE, f"2026-01-0{day}", day, None, 0) for day in (1, 3)]
    every = build_signal_series(heard, runs)
    lines = {each.system: each.points for each in every}
    return charts.signal_chart([HOSTILE], lines, find_time_span(runs, every), runs[HOSTILE])


def points_of(board: Scoreboard) -> Table:
    """Return the points of a line of two runs, a month apart."""
    runs = [
        DatedRun(run, datetime(2026, 1 + at, 1, tzinfo=UTC), f"2026-{1 + at:02}-01")
        for at, run in enumerate(board.run_names)
    ]
    return points_table(build_series(board, {"s": runs}, board.conventions.measures("RR")))


def values_of(spec: Any, names: re.Pattern[str]) -> Iterator[tuple[str, Any]]:
    """Give what a specification says under these names, wherever in it."""
    if isinstance(spec, dict):
        for name, value in spec.items():
            if names.fullmatch(name) and not isinstance(value, dict):
                yield name, value
            yield from values_of(value, names)
    elif isinstance(spec, list):
        for each in spec:
            yield from values_of(each, names)


def test_runs_in_a_picture_are_told_apart_without_colour() -> None:
    for each in (palette.MARKS, palette.DASHES):
        assert len(palette.RUN_COLOURS) == len({*map(str, each)})


@pytest.mark.parametrize("ground", [LIGHT["bg"], DARK["bg"]])
def test_what_is_drawn_stands_out_from_the_ground(ground: str) -> None:
    drawn = (*palette.RUN_COLOURS, palette.MUTED_COLOUR)
    assert len(set(drawn)) == len(drawn)
    for colour in drawn:
        assert contrast(colour, ground) >= 3, colour


def test_every_number_on_the_heat_map_stands_out_from_its_box() -> None:
    cells = [HeatCell(str(n), "a", n, "of 200") for n in range(201)]
    drawn = heat_chart(cells, rows="class", columns="bucket", description="").to_dict()
    [rows] = drawn["datasets"].values()
    low, high = HEAT_COLOURS
    for row in rows:
        assert contrast(mixed(high, low, row["number"] / 200), row["ink"]) >= 4.5, row["number"]


@pytest.mark.parametrize("name", every_chart())
def test_text_is_large_enough_and_in_the_colour_of_the_page(name: str) -> None:
    spec = every_chart()[name].to_dict()
    sizes = dict(values_of(spec, re.compile(r"fontSize|labelFontSize|titleFontSize")))
    assert min(sizes.values()) >= 12
    axis = spec["config"]["axis"]
    assert (axis["labelColor"], axis["titleColor"]) == ("currentColor", "currentColor")


@pytest.mark.parametrize("name", ["curve", "days"])
def test_points_and_lines_are_drawn_in_colours_that_stand_out(name: str) -> None:
    spec = every_chart()[name].to_dict()
    colours = [
        each
        for _, values in values_of(spec.get("encoding", spec), RANGE)
        for each in values
        if str(each).startswith("#")
    ]
    assert len(colours) >= 2
    assert set(colours) <= set(palette.RUN_COLOURS)


RANGE = re.compile("range")


def test_eight_runs_differ_in_dash_and_colour_together() -> None:
    names = [f"run {n}" for n in range(8)]
    board = board_of({"q": {"c": 1}}, {name: {"q": ["c"]} for name in names})
    scores = board.table(board.conventions.measures("R@1 R@5"))
    [lines, *_] = charts.curve_chart(scores, [5]).to_dict()["layer"]
    colour, dash = (lines["encoding"][name]["scale"] for name in ("color", "strokeDash"))
    looks = {(each, *dashes) for each, dashes in zip(colour["range"], dash["range"], strict=True)}
    assert colour["domain"] == list(range(8)), "by number, see `labeler.render.charts.theme`"
    assert len(looks) == 8


def charts_of(name: str) -> Mapping[str, Any]:
    """Return one chart of each kind in which a run, a bucket, a query and a grader have a name."""
    rows = {query: {name: 1, "d": 0} for query in (name, "q2")}
    runs = {name: {name: [name]}, "b": {name: ["d", name]}}
    board = board_of(rows, runs)
    read, counts = board.conventions.measures, dict.fromkeys(FAILURE_CLASSES, 1)
    return {
        "curve": charts.curve_chart(board.table(read("R@1 R@5")), [5]),
        "failing by bucket": charts.failure_heat({name: counts, "other": counts}, name),
        "days": charts.day_chart([("2026-01-02", name, 3), ("2026-01-02", "Bo", 1)], name),
        "progress": charts.progress_chart([charts.BucketProgress(name, "50%", 1, 1, 1, 1)], name),
    }


def without_data(spec: Any) -> Any:
    """Return a specification without the rows it draws, descriptions and values of parameters."""
    if isinstance(spec, list):
        return [without_data(each) for each in spec]
    if not isinstance(spec, dict):
        return spec
    kept = {name: value for name, value in spec.items() if name not in ("datasets", "description")}
    if "expr" not in kept and "name" in kept:
        kept.pop("value", None)
    return {name: without_data(value) for name, value in kept.items()}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", charts_of("a"))
def test_a_name_is_data_and_never_a_key_a_title_or_an_expression(kind: str, name: str) -> None:
    spec = charts_of(name)[kind].to_dict()
    assert repr(name) in repr(spec), "it is drawn"
    assert repr(name) not in repr(without_data(spec))
    assert not NAMED & set(keys_of(spec)), "these columns hold names"


NAMED = {"run", "bucket", "grader", "row", "column", "query", "query_id"}


def keys_of(spec: Any) -> Iterator[str]:
    """Give the columns that a chart places, colours or selects by: all but what hovering says."""
    if isinstance(spec, dict):
        yield from (each for name in ("field", "fields") for each in listed(spec.get(name)))
        for name, value in spec.items():
            if name != "tooltip":
                yield from keys_of(value)
    elif isinstance(spec, list):
        for each in spec:
            yield from keys_of(each)


def listed(value: Any) -> list[Any]:
    """Return one or several as a list."""
    return [] if value is None else value if isinstance(value, list) else [value]
