"""Means weighted by traffic: what a weight is, that equal ones are none, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Scoreboard, collect, effective_sample_size
from labeler.measures import parse
from labeler.model import GradeChange, Traffic
from labeler.stats import (
    as_equal_weights,
    mean_intervals,
    wilson_interval,
)
from labeler.stats.confidence_intervals import (
    mean_interval,
    weighted_mean,
    weighted_wilson_interval,
)
from tests.support.examples import examples

MEASURES = "nDCG@10 R@5 P@5 RR AP Success@3"
BUCKETS = ("bill", "parcel", "refund")
grades = st.lists(st.integers(0, 3), min_size=1, max_size=6)
queries = st.lists(st.tuples(grades, st.sampled_from(BUCKETS)), min_size=1, max_size=12)


def board_of(rows, conventions=None):
    """Return a board of one run that retrieves each query's chunks in the order of its grades."""
    qrels = {f"q{at}": {f"c{k}": g for k, g in enumerate(row)} for at, (row, _) in enumerate(rows)}
    run = {query: list(found) or ["c0"] for query, found in qrels.items()}
    collection = collect(qrels, {"A": run})
    facets = {"topic": tuple(bucket for _, bucket in rows)}
    return Scoreboard(replace(collection, facets=facets), conventions or Conventions.of())


def means_of(board, facet=None):
    return board.table(board.conventions.measures(MEASURES), facet)


def sizes(rows):
    return {name: sum(bucket == name for _, bucket in rows) for name in BUCKETS}


@examples(15)
@given(queries, st.integers(1, 10**6))
def test_a_set_that_is_like_its_traffic_has_the_same_means_bit_for_bit(rows, times) -> None:
    board = board_of(rows)
    alike = board.weighted_by(Traffic.of("topic", {k: n * times for k, n in sizes(rows).items()}))
    assert set(alike.weights.tolist()) == {1.0}
    for facet in (None, "topic"):
        plain, weighed = means_of(board, facet), means_of(alike, facet)
        assert repr([*plain]) == repr([*weighed])
    measures = board.conventions.measures(MEASURES)
    assert repr(mean_intervals(alike, measures)) == repr(mean_intervals(board, measures))


@examples(50)
@given(queries, st.tuples(*[st.integers(1, 4)] * 3))
def test_whole_weights_are_queries_that_stand_there_as_often(rows, often) -> None:
    times = dict(zip(BUCKETS, often, strict=True))
    board = board_of(rows)
    traffic = {bucket: n * times[bucket] for bucket, n in sizes(rows).items()}
    weighed = means_of(board.weighted_by(Traffic.of("topic", traffic)))
    repeated = means_of(board_of([row for row in rows for _ in range(times[row[1]])]))
    for one, other in zip(weighed, repeated, strict=True):
        assert one.n <= other.n
        assert one.value == pytest.approx(other.value, abs=1e-12, nan_ok=True)


def test_a_query_counts_as_often_as_its_bucket_is_asked_for() -> None:
    rows = [([3], "bill"), ([0, 3], "parcel"), ([0, 3], "parcel"), ([0, 3], "parcel")]
    board = board_of(rows)
    [plain] = board.table(board.conventions.measures("RR"))
    weighed = board.weighted_by(Traffic.of("topic", {"bill": 90, "parcel": 10}))
    [row] = weighed.table(board.conventions.measures("RR"))
    assert plain.value == 0.625
    assert row.value == pytest.approx(0.9 * 1 + 0.1 * 0.5)
    assert (row.n, row.undefined) == (4, 0)
    assert "weighted by topic as 100 logged questions are" in weighed.conventions.describe()
    assert weighed.conventions != board.conventions


def test_an_undefined_query_stays_undefined_and_counted() -> None:
    board = board_of([([3], "bill"), ([0], "bill"), ([0, 3], "parcel")])
    weighed = board.weighted_by(Traffic.of("topic", {"bill": 1, "parcel": 1}))
    [row] = weighed.table(board.conventions.measures("RR"))
    assert (row.n, row.undefined) == (2, 1)
    assert row.value == pytest.approx((0.75 * 1 + 1.5 * 0.5) / (0.75 + 1.5))


def test_what_no_log_asks_for_weighs_nothing_and_what_no_query_asks_is_said() -> None:
    board = board_of([([3], "bill"), ([0, 3], "parcel"), ([3], "refund")])
    traffic = Traffic.of("topic", {"bill": 10, "parcel": 30, "opening hours": 60})
    weighed = board.weighted_by(traffic)
    [row] = weighed.table(board.conventions.measures("RR"))
    assert row.value == pytest.approx(0.25 * 1 + 0.75 * 0.5)
    assert row.n == 2
    assert math.isnan(weighed.values(row.measure)[2, 0])
    said = {note.kind: note.sentence for note in weighed.notes()}
    assert said["weighs nothing"].startswith("1 graded query weighs nothing")
    assert said["traffic not in set"].startswith("60.0% of the logged questions")
    assert said["traffic not in set"].endswith("opening hours")
    assert "tell as much as 2 of" in said["weights"]  # 4 / (0.25 + 2.25) of equal weight


def test_weights_move_with_the_first_grade_of_a_query() -> None:
    board = board_of([([3], "bill"), ([0, 3], "parcel"), ([], "parcel")])
    traffic = Traffic.of("topic", {"bill": 50, "parcel": 50})
    assert board.weighted_by(traffic).weights.tolist() == [1.0, 1.0, 1.0]
    board.refresh([GradeChange("q2", board.collection.chunk_ids.index("c0"), 3)], 1)
    assert board.weighted_by(traffic).weights.tolist() == [1.5, 0.75, 0.75]


def test_a_weight_is_the_same_whatever_part_of_the_set_is_looked_at() -> None:
    board = board_of([([3], "bill"), ([0, 3], "parcel"), ([3], "parcel")])
    traffic = Traffic.of("topic", {"bill": 50, "parcel": 50})
    for narrow in (
        board.weighted_by(traffic).within("topic", "bill"),
        board.within("topic", "bill").weighted_by(traffic),
    ):
        assert narrow.weights[0] == 1.5
        [row] = narrow.table(board.conventions.measures("RR"))
        assert (row.value, row.n) == (1.0, 1)


def test_a_facet_that_is_not_there_or_was_never_logged_is_refused() -> None:
    board = board_of([([3], "bill")])
    with pytest.raises(NotFound, match="no facet is called 'intent'; there are: topic"):
        board.weighted_by(Traffic.of("intent", {"a": 1}))
    with pytest.raises(BadInput, match="no logged question has a bucket of 'topic'"):
        Traffic.of("topic", {"bill": 0})


def test_an_interval_of_a_weighted_mean_holds_the_true_one_about_as_often_as_it_says() -> None:
    source, held, times = np.random.default_rng(7), 0, 200
    shares, means = np.array([0.7, 0.2, 0.1]), np.array([0.3, 0.6, 0.9])
    bucket = np.repeat([0, 1, 2], 40)
    weights = shares[bucket] / (1 / 3)
    for _ in range(times):
        sample = source.beta(4 * means[bucket], 4 * (1 - means[bucket]))
        found = mean_interval(sample, weights, parse("nDCG@10"))
        held += found.lo <= shares @ means <= found.hi
    assert 0.92 <= held / times <= 1.0  # it has the spread between buckets too, so rather more


def test_equal_weights_give_the_interval_and_the_share_that_none_give() -> None:
    sample = np.array([0.0, 1.0, 1.0, 0.5, 0.25] * 3)
    found = mean_interval(sample, np.full(15, 0.3), parse("nDCG@10"))
    assert found == mean_interval(sample, np.ones(15), parse("nDCG@10"))
    ones = np.array([0.0, 1.0, 1.0])
    assert weighted_wilson_interval(ones, np.full(3, 2.0)) == wilson_interval(2, 3)
    assert np.allclose(as_equal_weights(sample, np.ones(15)), sample)


def test_unequal_weights_widen_a_share_as_fewer_queries_would() -> None:
    ones, weights = np.array([1.0, 0.0] * 20), np.array([4.0, 4.0, *[1.0] * 38])
    wide, narrow = weighted_wilson_interval(ones, weights), wilson_interval(20, 40)
    assert effective_sample_size(weights) < 40
    assert wide.hi - wide.lo > narrow.hi - narrow.lo
    assert weighted_wilson_interval(np.ones(4), np.array([1.0, 2.0, 3.0, 4.0])).hi == 1.0
    assert weighted_mean(ones, weights) == 0.5
