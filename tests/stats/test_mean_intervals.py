"""The interval of each mean: over what counts, by which method, and never without a width."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labeler.evaluation import score_records
from labeler.measures import parse, parse_all
from labeler.render import csv_exports
from labeler.stats import mean_intervals, wilson_interval, with_intervals
from labeler.stats.confidence_intervals import mean_interval
from labeler.store import Store
from tests.support.boards import board_of
from tests.support.examples import examples
from tests.support.page import add_collapsed_bucket, empty_golden_set, open_page, words

QUERIES = [f"q{n}" for n in range(1, 13)]
QRELS = {query: {"c": 3, "d": 1} for query in QUERIES} | {"none": {"c": 0}, "open": {}}
LISTS = [["c", "d"], ["d", "c"], ["x", "c"], ["x", "y"]]
A = {query: LISTS[n % 4] for n, query in enumerate(QUERIES)}
FACETS = {"intent": {query: "alone" if query == "q1" else "many" for query in QUERIES}}
BOARD = board_of(QRELS, {"A": A, "B": {}}, FACETS)


def test_only_queries_that_count_are_in_an_interval() -> None:
    [measure] = parse_all("RR")
    values = BOARD.values(measure)[:, 0]
    sample = values[~(values != values)]
    assert len(sample) == 12, "not the query without a grade, nor the one with nothing relevant"
    found = mean_intervals(BOARD, [measure])["A", "RR(rel=1)", None]
    assert found == mean_interval(sample, np.ones(12), measure)
    assert found.lo < sample.mean() < found.hi


def test_a_yes_or_no_has_wilsons_interval_and_other_measures_have_t() -> None:
    found = mean_intervals(BOARD, parse_all("Success@1 P@1 P@2 R@1"), runs=["A"])
    methods = {name: each.method for (_, name, _), each in found.items()}
    assert methods == {
        "Success(rel=1)@1": "Wilson",
        "P(rel=1)@1": "Wilson",
        "P(rel=1)@2": "logit t",
        "R(rel=1)@1": "logit t",
    }
    assert found["A", "Success(rel=1)@1", None] == wilson_interval(6, 12)


def test_a_run_without_results_and_a_bucket_of_one_query_have_no_interval_and_say_why() -> None:
    found = mean_intervals(BOARD, parse_all("RR"), "intent")
    assert set(found) == {(run, "RR(rel=1)", b) for run in "AB" for b in ("alone", "many")}
    alone, silent = found["A", "RR(rel=1)", "alone"], found["B", "RR(rel=1)", "many"]
    assert (math.isnan(alone.lo), alone.reason) == (True, "one query: too few for an interval")
    assert (math.isnan(silent.lo), silent.reason) == (True, "no query counts")
    [row] = [
        row
        for row in with_intervals(score_records(BOARD.table(parse_all("RR"), "intent")), found)
        if (row["run"], row["bucket"]) == ("A", "alone")
    ]
    assert (row["interval"], row["caution"]) == (None, "one query: too few for an interval")


def test_the_file_has_the_ends_of_every_mean() -> None:
    measures = parse_all("RR Success@1")
    found = mean_intervals(BOARD, measures)
    text = csv_exports.score_csv(BOARD.table(measures), BOARD.conventions, intervals=found).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["interval"] for row in rows] == ["logit t", "Wilson", "", ""]
    place = ("A", "RR(rel=1)", None)
    assert (float(rows[0]["lo"]), float(rows[0]["hi"])) == found[place][:2]
    assert "lo" not in csv_exports.score_csv(BOARD.table(measures), BOARD.conventions).decode()


def interval_of(sample, measure="nDCG@10", weights=None, level=0.95):
    """Return the interval of the mean of values, with equal weights unless they are given."""
    sample = np.array(sample, dtype=np.float64)
    return mean_interval(
        sample, np.ones(len(sample)) if weights is None else weights, parse(measure), level=level
    )


def test_a_t_interval_on_the_logit_scale_is_by_the_delta_method() -> None:
    sample = np.array([0.0, 0.0, 0.1, 0.2, 0.9, 0.4, 0.35, 0.5, 0.77, 0.31])
    found, mean = interval_of(sample), sample.mean()
    spread = stats.sem(sample) / (mean * (1 - mean))
    ends = stats.t.interval(0.95, 9, np.log(mean / (1 - mean)), spread)
    assert found[:2] == pytest.approx(1 / (1 + np.exp(-np.array(ends))), abs=1e-12)


def test_ten_perfect_queries_are_not_sure_to_be_followed_by_perfect_ones() -> None:
    for measure in ("nDCG@10", "RR", "R@5", "Success@3"):
        found = interval_of(np.ones(10), measure)
        assert (found.method, found.hi) == ("Wilson", 1.0)
        assert found.lo == pytest.approx(0.7225, abs=1e-4)


def test_few_queries_with_another_value_than_the_commonest_have_wilsons_interval() -> None:
    five = interval_of([1.0] * 15 + [0.9, 0.5, 0.25, 0.1, 0.0])
    six = interval_of([1.0] * 14 + [0.9, 0.7, 0.5, 0.25, 0.1, 0.0])
    assert (five.method, six.method) == ("Wilson", "logit t")
    assert interval_of([0.2, 0.4]).method == "Wilson"


def test_a_count_has_a_t_interval_and_none_without_spread() -> None:
    found = interval_of([30.0, 10.0, 20.0, 40.0], "NumRet")
    theirs = stats.ttest_1samp([30.0, 10.0, 20.0, 40.0], 0).confidence_interval(0.95)
    assert (found.lo, found.hi) == pytest.approx((theirs.low, theirs.high))
    alike = interval_of([10.0] * 12, "NumRet")
    assert (alike.method, alike.reason) == ("", "all queries alike: no spread to tell from")


@examples(100)
@given(st.lists(st.sampled_from([0.0, 1.0, 0.5, 1 / 3]) | st.floats(0, 1), max_size=30))
def test_an_interval_has_a_width_holds_its_mean_and_stays_from_0_to_1(values) -> None:
    found = interval_of(values)
    if len(values) < 2:
        assert math.isnan(found.lo)
        assert found.reason
        return
    assert 0 <= found.lo < found.hi <= 1
    assert found.lo - 1e-12 <= np.mean(values) <= found.hi + 1e-12
    mirrored = interval_of(1 - np.array(values))
    assert (mirrored.lo, mirrored.hi) == pytest.approx((1 - found.hi, 1 - found.lo), abs=1e-9)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = empty_golden_set(tmp_path)
    add_collapsed_bucket(path)
    with Store(path) as store:
        assert store.judgments.revision()
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
    assert re.search(r'title="95% interval 0\.\d{4} to 0\.\d{4} \(logit t\); 40 unjudged', bodies)
    assert "RR: mean and 95% confidence interval." in words(app)
    computed = words(open_page("scores", measure=["RR", "R@1"], view="how computed"))
    assert "an interval covers the choice of queries, not unjudged chunks or graders" in computed
    by_bucket = open_page("scores", measure=["RR"], facet="intent")
    assert re.search(
        r'title="95% interval 0\.\d{4} to 0\.\d{4} \(Wilson\)',
        "".join(each.proto.body for each in by_bucket.get("html")),
    ), "all queries alike have an interval with a width"
    sliced = open_page("slices", a="new", facet="intent", measure=["RR"], numbers="true")
    assert re.search(r"\|0\.\d{4}\|+0\.\d{4} to [01]\.\d{4}\|", words(sliced))
    assert "mean and 95% interval of each bucket alone" in words(sliced)
