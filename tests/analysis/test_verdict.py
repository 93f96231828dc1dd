"""Which run is better: said where it is more than chance, and no louder than that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.comparison import (
    FEW,
    Comparison,
    Delta,
    Verdict,
    assess_buckets,
    assess_power,
    assess_significance,
    compare,
    decide_verdict,
    describe_caution,
    find_contradictions,
)
from labeler.analysis.comparison.buckets import find_worst_bucket
from labeler.analysis.comparison.verdict import describe_loss
from labeler.evaluation import DEFAULT_MEASURES, Scoreboard
from labeler.measures import parse_all
from tests.support.boards import board_of

RANKS = 6

Pair = tuple[Sequence[int], Sequence[int]]
"""Where A and where B has good chunks."""


def ranked(*places: int) -> list[str]:
    """A list that has good chunks at these ranks, and others that nobody graded elsewhere."""
    good = iter(("c", "d", "e"))
    return [next(good) if rank in places else f"x{rank}" for rank in range(1, RANKS + 1)]


def pair_of(
    pairs: Sequence[Pair],
    buckets: Mapping[str, str] | None = None,
) -> Scoreboard:
    """A board of a query for each pair: where A and where B has good chunks, of three known."""
    names = [f"q{number}" for number in range(len(pairs))]
    qrels = {name: {"c": 3, "d": 3, "e": 3} for name in names}
    runs = {
        run: {name: ranked(*pair[at]) for name, pair in zip(names, pairs, strict=True)}
        for at, run in enumerate(("A", "B"))
    }
    return board_of(qrels, runs, {"intent": buckets} if buckets else None)


def judge(board: Scoreboard, measures: str = "RR AP") -> Verdict:
    said = decide_verdict(board, compare(board, "A", "B", parse_all(measures)))
    if said is None:
        raise LookupError("there is a value")
    return said


UP, DOWN, SAME = ((2,), (1,)), ((1,), (2,)), ((1,), (1,))


def test_a_run_that_wins_nearly_everywhere_is_better() -> None:
    said = judge(pair_of([UP] * 11 + [SAME]), "RR")
    assert said.kind == "more than chance"
    assert said.sentence.startswith("B is better than A by more than chance: RR (+0.4583), ")
    assert said.falls == ()
    assert judge(pair_of([DOWN] * 11 + [SAME]), "RR").sentence.startswith("B is worse than A by ")


def test_as_many_wins_as_losses_tell_nothing() -> None:
    said = judge(pair_of([UP] * 7 + [DOWN] * 6))
    assert (said.kind, said.rises, said.falls) == ("may be chance", (), ())
    assert (
        said.sentence
        == "No measure tells B from A: RR (+0.0385) and 2 other measures may be chance"
    )
    assert judge(pair_of([SAME] * 12)).sentence == "No measure moves from A to B"


def test_fewer_than_ten_queries_are_never_enough() -> None:
    said = judge(pair_of([UP] * (FEW - 1)))
    assert (said.kind, said.rises) == ("few", ())
    assert said.sentence == "Fewer than 10 queries (n 9): any difference of B from A may be chance"
    assert judge(pair_of([UP] * FEW)).kind == "more than chance"


# The first good chunk moves up in a few queries and down in a few; the others are lost everywhere.
ONE_UP = [((2, 3, 4), (1, 6)), ((3, 4, 5), (2,)), ((1, 2, 3), (1,)), ((1, 2, 4), (1,))]
ONE_DOWN = [((1, 2, 3), (2,))]
LOSES_AP = ONE_UP * 5 + ONE_DOWN * 2


def test_a_measure_that_falls_for_sure_is_named_though_it_is_not_shown() -> None:
    board = pair_of(LOSES_AP)
    shown = compare(board, "A", "B", parse_all("RR"))
    assert shown.deltas[0].delta > 0, "by what is shown, B is better"
    said = judge(board, "RR")
    assert "AP" in [row.measure.name for row in said.falls]
    assert "AP (−" in said.sentence


def test_measures_that_move_apart_for_sure_are_said_to_be_at_odds() -> None:
    board = pair_of([((2, 3, 4), (1,))] * 12)
    said = judge(board)
    assert said.kind == "no one number"
    assert said.sentence.startswith("No one number tells: from A to B, RR (+0.5000) rises while AP")
    assert said.sentence.endswith(" fall, each by more than chance")
    assert judge(board, "RR") != judge(board, "AP"), "the order of those asked for is kept"
    assert judge(board, "RR").kind == "no one number", "also where AP is not asked for"


def test_a_fall_that_may_be_chance_is_not_at_odds_with_a_rise() -> None:
    board = pair_of([((2, 3), (1, 3))] * 11 + [((1, 2, 3), (1, 6))])
    said = judge(board, "RR P@3")
    assert said.sentence == (
        "B is better than A by more than chance: RR (+0.4583); 5 other measures may be chance"
    )
    assert said.kind == "more than chance"


def test_better_graded_is_not_better() -> None:
    board = pair_of([((1,), (1, 2))] * 12)
    said = judge(board, "Judged@2")
    assert "Judged" not in said.sentence


def test_a_bucket_has_a_verdict_of_its_own() -> None:
    buckets = {f"q{n}": "many" if n < 11 else "few" for n in range(14)}
    board = pair_of([DOWN] * 11 + [UP] * 3, buckets)
    found = compare(board, "A", "B", parse_all("RR"), "intent")
    many, few = (decide_verdict(board, found, bucket) for bucket in ("many", "few"))
    assert many is not None
    assert many.sentence.startswith("B is worse than A by more than chance: RR (−0.5000)")
    assert few is not None
    assert few.sentence.startswith("Fewer than 10 queries (n 3)")


def test_a_run_without_values_has_no_verdict() -> None:
    board = board_of({"q": {}}, {"A": {"q": ["c"]}, "B": {"q": ["d"]}})
    assert decide_verdict(board, compare(board, "A", "B", parse_all("RR"))) is None


# Buckets -----------------------------------------------------------------------------------------

LOST = {f"q{n}": "lost" if n < 11 else "won" for n in range(40)}


def test_a_bucket_that_falls_for_sure_is_called_out() -> None:
    board = pair_of([DOWN] * 10 + [SAME] + [UP] * 29, LOST)
    found = compare(board, "A", "B", parse_all("RR"), "intent")
    [said] = find_contradictions(found)
    assert said.sentence == (
        "intent = lost moves against the total: RR falls by 0.4545 (n 11) from A to B, "
        "but over all queries it rises by 0.2375 (n 40)"
    )


def test_a_bucket_that_falls_is_called_out_where_the_total_stays() -> None:
    board = pair_of([DOWN] * 11 + [UP] * 11 + [SAME] * 18, LOST)
    said = find_contradictions(compare(board, "A", "B", parse_all("RR"), "intent"))
    assert [each.sentence.split(", but ")[1] for each in said] == [
        "over all queries it stays (n 40)"
    ] * 2


@pytest.mark.parametrize(
    "pairs",
    [
        [DOWN] * 6 + [UP] * 5 + [UP] * 29,  # may be chance
        [DOWN] * 11 + [DOWN] * 29,  # with the total
    ],
)
def test_a_bucket_is_not_called_out_for_less(pairs: list[Pair]):
    board = pair_of(pairs, LOST)
    assert find_contradictions(compare(board, "A", "B", parse_all("RR"), "intent")) == ()


def test_a_bucket_of_nine_queries_is_not_called_out() -> None:
    buckets = {f"q{n}": "lost" if n < 9 else "won" for n in range(40)}
    board = pair_of([DOWN] * 9 + [UP] * 31, buckets)
    found = compare(board, "A", "B", parse_all("RR"), "intent")
    tested = assess_buckets(found)
    [lost] = [tested.of(row) for row in found.buckets if row.bucket == "lost"]
    assert (lost.p, lost.exact, lost.is_sure) == (2 / 2**9, True, False), "by the test alone"
    assert find_contradictions(found) == ()
    assert find_worst_bucket(found, found.measures[0], tested) is None


def test_where_b_loses_most_is_said_of_what_is_more_than_chance() -> None:
    def worst(board: Scoreboard) -> tuple[Comparison, Delta | None]:
        found = compare(board, "A", "B", parse_all("RR"), "intent")
        return found, find_worst_bucket(found, found.measures[0], assess_buckets(found))

    assert worst(pair_of([DOWN] * 7 + [UP] * 4 + [UP] * 29, LOST))[1] is None
    found, row = worst(pair_of([DOWN] * 11 + [UP] * 29, LOST))
    assert row is not None
    sentence = "B loses most in intent = lost: RR −0.5000 (n 11), by more than chance"
    assert describe_loss(found, row, "B") == sentence


def test_a_bucket_that_holds_every_query_is_not_where_b_loses_most() -> None:
    board = pair_of([DOWN] * 12 + [UP], dict.fromkeys((f"q{n}" for n in range(13)), "all"))
    found = compare(board, "A", "B", parse_all("RR"), "intent")
    [row] = found.buckets
    assert assess_buckets(found).of(row).is_sure
    assert find_worst_bucket(found, row.measure, assess_buckets(found)) is None, "it is the total"


@pytest.mark.slow
def test_random_buckets_are_called_out_no_more_often_than_chance_allows() -> None:
    """400 queries without any difference, in 20 drawn buckets, 200 times: at most 1 in 20."""
    draw = np.random.default_rng(7)
    measure = parse_all("RR")
    alarms = 0
    for _ in range(200):
        pairs = [(UP, DOWN)[way] for way in draw.integers(0, 2, 400).tolist()]
        buckets = {f"q{n}": f"b{at}" for n, at in enumerate(draw.integers(0, 20, 400).tolist())}
        found = compare(pair_of(pairs, buckets), "A", "B", measure, "intent")
        alarms += bool(find_contradictions(found))
    assert alarms <= 10


# Laws --------------------------------------------------------------------------------------------


PAIRS = st.lists(
    st.sampled_from([UP, DOWN, SAME, ((2, 3, 4), (1,)), ((1, 3), (2, 3, 4))]),
    min_size=1,
    max_size=30,
)


@given(PAIRS)
def test_the_other_way_round_everything_is_mirrored(pairs: list[Pair]) -> None:
    board = pair_of(pairs, {f"q{n}": "ab"[n % 2] for n in range(len(pairs))})
    there, back = (
        compare(board, *runs, parse_all(DEFAULT_MEASURES), "intent") for runs in ("AB", "BA")
    )
    for one, other in ((there.deltas, back.deltas), (there.buckets, back.buckets)):
        tests = [assess_significance(by, rows) for by, rows in ((there, one), (back, other))]
        surest = [
            np.array([by.of(row) for row in rows], dtype=np.float64)
            for by, rows in zip(tests, (one, other), strict=True)
        ]
        np.testing.assert_array_equal(*surest)
        assert [row.direction for row in one] == [-row.direction for row in other]
    said, opposite = (decide_verdict(board, found) for found in (there, back))
    if said is None or opposite is None:
        raise LookupError("there is a value")
    assert said.kind == opposite.kind
    assert [row.measure for row in said.rises] == [row.measure for row in opposite.falls]
    called = [
        [each.bucket.bucket for each in find_contradictions(found)] for found in (there, back)
    ]
    assert sorted(map(str, called[0])) == sorted(map(str, called[1]))


def test_of_few_queries_more_are_needed_however_large_the_difference() -> None:
    board = pair_of([UP, ((3,), (1,)), ((4,), (1,))])
    found = compare(board, "A", "B", parse_all(["RR"]))
    [reach] = assess_power(found, found.deltas)
    assert reach.more_queries == 7, "under 10 nothing is called more than chance"


def test_a_run_against_its_copy_moves_nothing() -> None:
    board = pair_of([SAME] * 20, {f"q{n}": "ab"[n % 2] for n in range(20)})
    found = compare(board, "A", "B", parse_all(DEFAULT_MEASURES), "intent")
    tested = assess_buckets(found)
    rows = [*found.deltas, *found.buckets]
    assert [tested.of(row)[:4] for row in rows] == [(1.0, 1.0, True, 21)] * 21
    [reach, *_] = assess_power(found, rows)
    assert (reach.interval.lo, reach.interval.hi, reach.more_queries) == (0.0, 0.0, None)
    assert describe_caution(rows[0], reach) == "all queries alike: no spread to resample"
    assert find_contradictions(found) == ()
    said = decide_verdict(board, found)
    assert said is not None
    assert said.sentence == "No measure moves from A to B"
