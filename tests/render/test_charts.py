"""What all charts share: text that is large enough, and colours that stand out on either ground."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

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
from labeler.render.tokens import DARK, LIGHT
from tests.support.boards import board_of
from tests.support.contrast import contrast

QRELS = {"q1": {"c": 3}, "q2": {"c": 1, "d": 2}}
HOSTILE = "<img src=x>{{datum}}"
NAMES = ["__proto__", "constructor", "toString", "a'b\\", 'q"x', "[0].length", HOSTILE]
RUNS = {HOSTILE: {"q1": ["c"], "q2": ["x", "c"]}, "b": {"q1": ["x", "c"], "q2": ["c"]}}


def every_chart() -> Mapping[str, Any]:
    """Return one chart of each kind."""
    board = board_of(QRELS, RUNS, {"intent": {"q1": "buy", "q2": "sell"}})
    read = board.conventions.measures
    [share] = [charts.BucketProgress("buy", "50%", 1, 1, 1, 1)]
    return {
        "curve": charts.curve_chart(board.table(read("R@1 R@5")), [5]),
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
    drawn += (palette.RUN_A_COLOUR, palette.RUN_B_COLOUR)
    assert len(set(drawn)) == len(drawn)
    for colour in drawn:
        assert contrast(colour, ground) >= 3, colour


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


def test_run_a_and_run_b_look_the_same_wherever_they_are_and_others_are_grey() -> None:
    names = ["x", "best", "y", "next", "z"]
    roles = {"next": "a", "best": "b"}
    looks = palette.line_looks(names, roles)
    assert looks["next"] == (palette.RUN_A_COLOUR, "square", [1, 0])
    assert looks["best"] == (palette.RUN_B_COLOUR, "circle", [1, 0])
    others = [looks[name] for name in "xyz"]
    assert {look.colour for look in others} == {palette.MUTED_COLOUR}
    assert len({tuple(look.dash) for look in others} | {(1, 0)}) == 4
    board = board_of({"q": {"c": 1}}, {name: {"q": ["c"]} for name in names})
    scores = board.table(board.conventions.measures("R@1 R@5"))
    [lines, *_] = charts.curve_chart(scores, [5], roles).to_dict()["layer"]
    drawn = [lines["encoding"][name]["scale"]["range"] for name in ("color", "shape", "strokeDash")]
    order = list(dict.fromkeys(score.run for score in scores))
    assert [tuple(look) for look in zip(*drawn, strict=True)] == [looks[name] for name in order]


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
    read = board.conventions.measures
    return {
        "curve": charts.curve_chart(board.table(read("R@1 R@5")), [5]),
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
