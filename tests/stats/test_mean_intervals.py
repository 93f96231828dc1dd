"""The interval of each mean: over what counts, Wilson's for a yes or no, never made up."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path

import pytest

from labeler.evaluation import score_records
from labeler.measures import parse_all
from labeler.render import csv_exports
from labeler.stats import mean_intervals, wilson_interval, with_intervals
from labeler.stats.confidence_intervals import bootstrap_intervals
from labeler.store import Store
from tests.support.boards import board_of
from tests.support.page import add_collapsed_bucket, empty_golden_set, open_page, words

QUERIES = [f"q{n}" for n in range(1, 13)]
QRELS = {query: {"c": 3, "d": 1} for query in QUERIES} | {"none": {"c": 0}, "open": {}}
LISTS = [["c", "d"], ["d", "c"], ["x", "c"], ["x", "y"]]
A = {query: LISTS[n % 4] for n, query in enumerate(QUERIES)}
FACETS = {"intent": {query: "alone" if query == "q1" else "many" for query in QUERIES}}
BOARD = board_of(QRELS, {"A": A, "B": {}}, FACETS)


def test_only_queries_that_count_are_resampled() -> None:
    [measure] = parse_all("RR")
    values = BOARD.values(measure)[:, 0]
    sample = values[~(values != values)]
    assert len(sample) == 12, "not the query without a grade, nor the one with nothing relevant"
    found = mean_intervals(BOARD, [measure])["A", "RR(rel=1)", None]
    assert [found] == bootstrap_intervals([sample])
    assert found.lo < sample.mean() < found.hi


def test_a_yes_or_no_has_wilsons_interval_and_no_other_measure_has() -> None:
    found = mean_intervals(BOARD, parse_all("Success@1 P@1 P@2 R@1"), runs=["A"])
    methods = {name: each.method for (_, name, _), each in found.items()}
    assert methods == {
        "Success(rel=1)@1": "Wilson",
        "P(rel=1)@1": "Wilson",
        "P(rel=1)@2": "BCa",
        "R(rel=1)@1": "BCa",
    }
    assert found["A", "Success(rel=1)@1", None] == wilson_interval(6, 12)


def test_a_run_without_results_and_a_bucket_of_one_query_have_no_interval_and_say_why() -> None:
    found = mean_intervals(BOARD, parse_all("RR"), "intent")
    assert set(found) == {(run, "RR(rel=1)", b) for run in "AB" for b in ("alone", "many")}
    alone, silent = found["A", "RR(rel=1)", "alone"], found["B", "RR(rel=1)", "many"]
    assert (math.isnan(alone.lo), alone.reason) == (True, "one query: nothing to resample")
    assert (math.isnan(silent.lo), silent.reason) == (True, "no query counts")
    [row] = [
        row
        for row in with_intervals(score_records(BOARD.table(parse_all("RR"), "intent")), found)
        if (row["run"], row["bucket"]) == ("A", "alone")
    ]
    assert (row["interval"], row["caution"]) == (None, "one query: nothing to resample")


def test_the_file_has_the_ends_of_every_mean() -> None:
    measures = parse_all("RR Success@1")
    found = mean_intervals(BOARD, measures)
    text = csv_exports.score_csv(BOARD.table(measures), BOARD.conventions, intervals=found).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["interval"] for row in rows] == ["BCa", "Wilson", "", ""]
    place = ("A", "RR(rel=1)", None)
    assert (float(rows[0]["lo"]), float(rows[0]["hi"])) == found[place][:2]
    assert "lo" not in csv_exports.score_csv(BOARD.table(measures), BOARD.conventions).decode()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = empty_golden_set(tmp_path)
    add_collapsed_bucket(path)
    with Store(path) as store:
        assert store.revision()
    return path


def test_hovering_a_mean_says_down_to_where_its_holes_are_counted(filled: Path) -> None:
    """Without a cut-off that is the pool depth, and not the end of the lists."""
    bodies = "".join(
        each.proto.body for each in open_page("scores", measure=["RR", "R@1"]).get("html")
    )
    assert "40 unjudged in the top 10: chunks that nobody has graded" in bodies
    assert re.search(r"\d unjudged above the cut-off: chunks that nobody has graded", bodies)


def test_hovering_a_mean_says_its_interval_and_the_page_what_that_covers(filled: Path) -> None:
    app = open_page("scores", measure=["RR", "R@1"])
    bodies = "".join(each.proto.body for each in app.get("html"))
    assert re.search(r'title="95% interval 0\.\d{4} to 0\.\d{4} \(BCa\); 40 unjudged', bodies)
    assert "hovering a mean says its 95% interval" in words(app)
    by_bucket = open_page("scores", measure=["RR"], facet="intent")
    assert "(percentile, all queries alike" in "".join(
        each.proto.body for each in by_bucket.get("html")
    )
    sliced = open_page("slices", a="new", facet="intent", measure=["RR"], numbers="true")
    assert re.search(r"\|0\.\d{4}–0\.\d{4}\|", words(sliced))
    assert "95% interval, which covers the choice of queries" in words(sliced)
    assert "covers the choice of queries, not unjudged chunks or graders" in words(sliced)
