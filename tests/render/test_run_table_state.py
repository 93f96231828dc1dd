"""Which runs a table shows, and in which order; and the links that change it."""

from __future__ import annotations

import math
import re

import pytest

from labeler.evaluation import Scoreboard
from labeler.render import tables
from labeler.render.short_names import short_names
from labeler.render.tables.run_table import RunGroup, RunTableState, drawn_runs
from tests.support.boards import board_of

SYSTEMS = {"a2": "dense", "b10": "sparse", "B9": "sparse", "c": "c"}
VALUES = {
    "a2": {"RR": 0.2, "AP": 0.9},
    "b10": {"RR": 0.8, "AP": math.nan},
    "B9": {"RR": 0.8, "AP": 0.1},
    "c": {"RR": math.nan, "AP": 0.5},
}


def order(**choices: object) -> list[str]:
    groups = RunTableState(**choices).on(["RR", "AP"]).order(VALUES, SYSTEMS)  # type: ignore[arg-type]
    return [run for group in groups for run in group.runs]


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("", ["b10", "B9", "a2", "c"]),
        ("-RR", ["b10", "B9", "a2", "c"]),
        ("RR", ["a2", "b10", "B9", "c"]),
        ("AP", ["B9", "c", "a2", "b10"]),
        ("run", ["a2", "B9", "b10", "c"]),
        ("-run", ["c", "b10", "B9", "a2"]),
        ("-gone", ["b10", "B9", "a2", "c"]),
    ],
)
def test_rows_stand_by_their_column_and_those_without_a_value_last(sort: str, wanted: list[str]):
    assert order(sort=sort) == wanted


def test_pinned_runs_stay_on_top_and_are_never_filtered_away():
    assert order(pinned=("a2",)) == ["a2", "b10", "B9", "c"]
    assert order(pinned=("a2",), only=("c",)) == ["a2", "c"]
    assert order(pinned=("a2",), hidden=("a2",)) == ["b10", "B9", "c"]


def test_a_text_finds_runs_by_name_and_by_system():
    assert order(holding="SPARSE") == ["b10", "B9"]
    assert order(holding=" b ") == ["b10", "B9"]
    assert order(holding="nothing like it") == []
    assert order(only=("a2", "c"), hidden=("c",)) == ["a2"]


def test_runs_stand_by_system_the_best_system_first():
    groups = RunTableState(by_system=True, pinned=("c",)).on(["RR"]).order(VALUES, SYSTEMS)
    assert groups == [
        RunGroup(None, ("c",)),
        RunGroup("sparse", ("b10", "B9")),
        RunGroup("dense", ("a2",)),
    ]


def test_a_heading_turns_the_order_round():
    chosen = RunTableState().on(["RR", "AP"])
    assert (chosen.turned("RR"), chosen.turned("AP"), chosen.turned("run")) == ("RR", "-AP", "run")
    assert RunTableState(sort="run").turned("run") == "-run"


def test_a_picture_of_many_runs_shows_the_pinned_or_the_first():
    table = [RunGroup(None, tuple("abcdefghij"))]
    assert drawn_runs(table, [], 8, 5) == list("abcde")
    assert drawn_runs(table, ["i", "b"], 8, 5) == ["b", "i"]
    assert drawn_runs(table, list("jihgfedcba"), 8, 5) == list("abcdefgh")


# --- the table ---------------------------------------------------------------------------------

HOSTILE = '"><img src=x onerror=alert(1)>' + "long " * 12
RUNS = {f"{HOSTILE}{letter}": {"q": ["c"]} for letter in "ab"}


def shown(board: Scoreboard, lineup: RunTableState) -> str:
    """Return the HTML of all means by RR and P@1."""
    table = tables.score_table(board.table(board.conventions.measures("RR P@1")), board.conventions)
    lined_up = lineup.on(table.names)
    names = tables.RunNames(
        short_names(board.run_names), {run.name: run.system for run in board.collection.runs}
    )
    groups = lined_up.order(table.values, names.systems)
    return str(tables.runs_table(table, groups, lined_up, names, "?sort={}".format))


def test_a_table_says_by_which_column_it_is_sorted():
    board = board_of({"q": {"c": 1}}, {"a": {"q": ["c"]}, "b": {"q": ["x", "c"]}})
    falling = shown(board, RunTableState())
    assert falling.count("aria-sort") == 1
    assert 'aria-sort="descending"' in falling
    assert falling.index('href="?sort=RR"') > falling.index('aria-sort="descending"')
    assert "▼" in falling
    rising = shown(board, RunTableState(sort="P@1"))
    assert 'aria-sort="ascending"' in rising
    assert rising.index(">b</bdi>") < rising.index(">a</bdi>")


def test_a_thousand_queries_are_written_as_everywhere_else():
    many = {f"q{number}": {"c": 1} for number in range(1_000)}
    html = shown(board_of(many, {"a": {query: ["c"] for query in many}}), RunTableState())
    assert "n 1,000" in html
    assert "1000" not in html


def test_no_name_of_a_run_becomes_html_and_no_link_is_broken_by_it():
    html = shown(board_of({"q": {"c": 1}}, RUNS), RunTableState(pinned=(f"{HOSTILE}a",)))
    assert "<img" not in html
    assert 'title="&#34;&gt;&lt;img' in html
    assert "…a</bdi>" in html


def test_a_system_is_named_where_the_name_of_its_run_does_not_say_it():
    names = tables.RunNames({}, {"bm25-1": "bm25", "run 7": "bm25"})
    assert (names.system("bm25-1"), names.system("run 7")) == ("", "bm25")


def test_what_all_runs_share_does_not_come_back_with_the_names_of_their_systems():
    """A run is its own system unless one is named."""
    runs = [f"nightly-run-of-the-production-index-{n}" for n in range(3)]
    unnamed = tables.RunNames(short_names(runs), {run: run for run in runs})
    assert [unnamed.system(run) for run in runs] == [""] * 3
    systems = {run: f"retrieval-for-the-support-portal-{run[-1]}" for run in runs}
    folded = tables.RunNames(short_names(runs), systems, short_names(systems.values()))
    assert folded.system(runs[2]) == "…portal-2"


def test_a_legend_names_every_run_and_tells_them_apart_without_colour():
    runs = [f"nightly-run-of-the-production-index-{n}" for n in range(8)]
    html = str(tables.run_legend(runs, short_names(runs)))
    assert html.count("<li>") == 8
    assert html.count("<i></i>") == 0
    marked = str(tables.run_legend(runs, short_names(runs), {runs[0]: "b", runs[1]: "a"}))
    assert re.findall(r'class="line (\w+)"[^>]*><i>', marked) == ["circle", "square"]
    assert all(f"…index-{n}</bdi>" in html for n in range(8))
