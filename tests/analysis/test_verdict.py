"""Which of two runs is better: one answer, whatever is shown, and each doubt in its own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.comparison import (
    DecisionRules,
    PairTests,
    assess_pair,
    facet_to_open,
    find_best_run,
)
from labeler.analysis.run_verdict import judge_pair
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import parse
from tests.support.situations import (
    DOWN,
    FEW_UP,
    SAME,
    SITUATIONS,
    SURE_UP,
    UP,
    Places,
    Situation,
    some,
)

SENTENCES = Path(__file__).parents[1] / "goldens" / "verdicts.txt"


def sentences_of(name: str) -> str:
    """What is said in a situation, a line for each statement."""
    said = SITUATIONS[name].judged().statements
    return "\n".join(f"{each.severity}: {each.line}" for each in said)


def expected() -> dict[str, str]:
    """What should be said, by situation."""
    parts = SENTENCES.read_text(encoding="utf-8").split("## ")[1:]
    return {name: "\n".join(said).strip() for name, *said in map(str.splitlines, parts)}


@pytest.mark.parametrize("name", SITUATIONS)
def test_each_situation_has_its_sentences(name: str) -> None:
    assert sentences_of(name) == expected()[name]


def test_no_sentence_is_kept_of_a_situation_that_is_gone() -> None:
    assert list(expected()) == list(SITUATIONS)


def assessed(queries: Sequence[Places], rules: DecisionRules | None = None) -> PairTests:
    board = Situation(queries).board()
    return assess_pair(board, "old", "new", rules or DecisionRules())


def test_the_deciding_measure_is_tested_alone_and_others_are_corrected_for_their_number() -> None:
    found = assessed(FEW_UP)
    assert found.total is not None
    alone = found.of(found.total)
    assert (alone.tests, alone.p_corrected, alone.level) == (1, alone.p, 0.95)
    others = {row.measure.label: found.of(row) for row in found.others}
    assert {name: test.tests for name, test in others.items()} == {"R@5": 3, "RR": 3}
    assert others["RR"].p_corrected == min(1.0, 3 * others["RR"].p)


def test_coverage_is_never_tested_and_does_not_count() -> None:
    with_it = assessed(SURE_UP, DecisionRules(measures="nDCG@10 R@5 RR Judged@10"))
    assert [with_it.of(row).tests for row in with_it.others] == [3, 3]
    assert "Judged" not in {row.measure.name for row in with_it.others}


def test_a_measure_that_is_only_shown_is_not_tested_and_says_so() -> None:
    found = assessed(SURE_UP)
    assert found.total is not None
    shown = found.total._replace(measure=parse("P@5"))
    test = found.of(shown)
    assert np.isnan(test.p)
    assert np.isnan(test.p_corrected)
    assert not test.is_clear
    assert test.reason == "not tested: not in the golden set's measures (nDCG@10 R@5 RR)"


places = st.tuples(*[st.lists(st.integers(1, 10), min_size=0, max_size=2, unique=True)] * 2)


@given(st.lists(places, min_size=10, max_size=30))
def test_a_difference_is_clear_exactly_where_its_interval_excludes_0_and_p_is_small(
    queries: list[Places],
) -> None:
    found = assessed(queries)
    for row in filter(None, [found.total, *found.others]):
        test = found.of(row)
        if np.isnan(test.interval.lo):
            continue
        assert test.is_clear == (test.interval.lo > 0 or test.interval.hi < 0)
        assert test.is_clear == (test.p_corrected <= 0.05)
        assert test.interval.lo < test.interval.hi


@given(st.lists(places, min_size=1, max_size=30))
def test_the_other_way_round_the_other_run_is_better(queries: list[Places]) -> None:
    there = Situation(queries).judged().verdict
    back = Situation([(new, old) for old, new in queries]).judged().verdict
    mirrored = {"better": "worse", "worse": "better"}
    assert back.outcome == mirrored.get(there.outcome, there.outcome)
    if there.row is not None and back.row is not None:
        assert back.row.delta == pytest.approx(-there.row.delta)


def test_buckets_are_corrected_for_all_that_are_large_enough_in_every_facet() -> None:
    lengths = ["short"] * 35 + ["long"] * 25
    facets = {"topic": ["a"] * 30 + ["b"] * 21 + ["c"] * 9, "length": lengths}
    board = Situation(SURE_UP, facets=facets).board()
    found = assess_pair(board, "old", "new")
    assert {row.bucket: found.of(row).tests for row in found.tested_buckets} == dict.fromkeys(
        ["a", "b", "short", "long"], 4
    )
    assert [row.bucket for row in found.small_buckets] == ["c"]


def test_a_bucket_that_holds_every_query_is_no_test_of_its_own() -> None:
    board = Situation(SURE_UP, facets={"topic": ["all"] * 60}).board()
    found = assess_pair(board, "old", "new")
    assert found.tested_buckets == []


def test_slices_opens_where_the_new_run_loses_most() -> None:
    facets = {
        "length": ["short"] * 30 + ["long"] * 30,
        "topic": ["common"] * 45 + ["contracts"] * 15,
    }
    queries = [*some(UP, 45), *some(DOWN, 15)]
    found = assess_pair(Situation(queries, facets=facets).board(), "old", "new")
    assert facet_to_open(found) == "topic"
    without = assess_pair(Situation(some(UP, 60), facets=facets).board(), "old", "new")
    assert facet_to_open(without) is None


def test_random_buckets_are_said_to_lose_no_more_often_than_chance_allows() -> None:
    """Two runs that are alike, in six random buckets: one is clear in at most 5% of the cases."""
    source = np.random.default_rng(7)
    false = 0
    for _ in range(60):
        queries = [UP[at] if up else DOWN[at] for at, up in source.integers(0, [5, 2], (90, 2))]
        facets = {"topic": [f"t{at}" for at in source.integers(0, 6, 90)]}
        found = assess_pair(Situation(queries, facets=facets).board(), "old", "new")
        false += any(found.of(row).is_clear for row in found.tested_buckets)
    assert false <= 8  # the binomial's 99th percentile at 5% of 60


def test_a_difference_below_what_matters_is_never_called_better_and_no_difference() -> None:
    situation = SITUATIONS["clear, but little"]
    said = [each.sentence for each in situation.judged().statements]
    assert said[0] == "new is better than old, by less than what matters here (0.01)."
    assert not any("no difference" in each for each in said)
    strict = replace(situation, rules=DecisionRules(matters=0.0))
    assert strict.judged().verdict.outcome == "better"


def test_a_small_bucket_is_not_named_where_chance_would_do_as_much() -> None:
    """Of ten small buckets of three queries, one falls altogether by chance now and then."""
    facets = {"topic": [f"t{at // 3}" for at in range(30)] + ["large"] * 30}
    queries = [*some(DOWN, 3), *some(SAME, 57)]
    said = Situation(queries, facets=facets).judged().statements
    assert not [each for each in said if each.kind == "small bucket"]


def board_of(worse: dict[str, int]) -> Scoreboard:
    """Return runs of 30 queries, each with the one relevant chunk second in so many of them."""
    ids = [f"q{number}" for number in range(30)]
    runs = {
        run: {name: ["x", "c"] if at < many else ["c", "x"] for at, name in enumerate(ids)}
        for run, many in worse.items()
    }
    return Scoreboard(collect({name: {"c": 1, "x": 0} for name in ids}, runs), Conventions.of())


def test_what_is_not_clear_for_the_best_of_several_runs_says_so_where_two_are_compared() -> None:
    """Six queries differ, all one way: p is 2 in 2 to the 6th, and twice that of two tests."""
    board, note = board_of({"best": 0, "next": 6, "last": 9}), "the choice of the best of 3 runs"
    best = find_best_run(board, DecisionRules())
    assert best is not None
    assert best.answer.sentence == "best scores highest; next is not clearly lower."
    again = find_best_run(board_of({"best": 0, "same": 0, "next": 6}), DecisionRules())
    assert again is not None
    alone = "Compared with it alone, next would be clearly lower."
    assert [each.sentence for each in again.doubts][1:] == [alone], "as Compare says"
    found = judge_pair(board, "next", "best", DecisionRules())
    assert found.verdict.sentence == "best is better than next."
    [said] = [each.sentence for each in found.statements if each.kind == "other questions"]
    assert "excludes 0" in said
    assert said.endswith(f"Corrected for {note} it is not clear (p 0.0625), as Scores says.")
    for pair in (("last", "best"), ("last", "next")):
        statements = judge_pair(board, *pair, DecisionRules()).statements
        assert not any(note in each.sentence for each in statements), "neither is in doubt there"
    two = judge_pair(board_of({"best": 0, "next": 6}), "next", "best", DecisionRules())
    assert not any("as Scores says" in each.sentence for each in two.statements)
