"""What decides between two runs: how sure it is, which grades come next, and when to stop."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from labeler.analysis.active import Decider
from labeler.analysis.active.certainty import LEAST_GRADES, SETTLED_AT, assess_certainty
from labeler.analysis.active.simulation import simulate
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.model import GradeChange
from labeler.stats import LiveRanges, find_top_chunks, fit_unjudged_model

QUERIES, CHUNKS = 40, 30
Qrels = dict[str, dict[str, int]]


def truth() -> Qrels:
    """Grade every chunk of every query: the lower its number the better."""
    draw = np.random.default_rng(3)
    return {
        f"q{n}": {f"c{c}": int(draw.choice(4, p=[0.2, 0.2, 0.3, 0.3]) * (c < 8)) for c in range(30)}
        for n in range(QUERIES)
    }


def runs() -> dict[str, dict[str, list[str]]]:
    """Make a run that finds what is relevant, one that finds less of it, and its copy."""
    draw, lists = np.random.default_rng(5), {}
    for name, noise in (("good", 4.0), ("bad", 14.0)):
        lists[name] = {
            f"q{n}": [f"c{c}" for c in np.argsort(np.arange(CHUNKS) + draw.normal(0, noise, 30))]
            for n in range(QUERIES)
        }
    return {**lists, "copy": lists["bad"]}


def board_of(grades: Qrels | None = None, preset: str = "graded", **more: object) -> Scoreboard:
    """Make a board of the runs; ``grades`` are those known, none unless given."""
    known = {f"q{n}": {} for n in range(QUERIES)} | (grades or {})
    return Scoreboard(collect(known, {**runs(), **more}), Conventions.of(preset))  # type: ignore[arg-type]


def measure_of(board: Scoreboard, text: str = "nDCG@10"):
    """Read a measure as the board means it."""
    [measure] = board.resolve(board.conventions.measures(text))
    return measure


def grade(board: Scoreboard, pairs, revision: int) -> None:
    """Give chosen pairs the grades of the truth."""
    answers = truth()
    board.refresh(
        [
            GradeChange(each.query_id, each.chunk, answers[each.query_id][each.chunk_id])
            for each in pairs
        ],
        revision,
    )


def decided(a: str, b: str, text: str = "nDCG@10"):
    """Grade what is chosen until the verdict is settled; return how it stands then."""
    board, decider = board_of(), Decider()
    measure = measure_of(board, text)
    for revision in range(1, 1_000):
        standing = decider.standing(board, a, b, measure)
        if standing.settled:
            return standing
        grade(board, decider.choices(board, a, b, measure, 10), revision)
    raise AssertionError("it never ends")


def test_before_anything_is_graded_nothing_is_settled_and_it_is_said():
    board = board_of()
    standing = Decider().standing(board, "good", "bad", measure_of(board))
    assert not standing.settled
    assert standing.ahead == 0.5, "too few grades to say"
    assert standing.graded == 0 < standing.likely <= standing.pool == standing.open
    assert standing.sentence() == (
        f"Grade about {standing.likely} more chunks to know who is ahead by nDCG@10. Nothing is "
        "graded yet."
    )


@pytest.mark.parametrize("text", ["nDCG@10", "RR@10", "P@10"])
def test_few_grades_settle_which_run_is_better(text: str):
    standing = decided("bad", "good", text)
    assert standing.leader == "good"
    assert standing.certainty >= SETTLED_AT
    assert LEAST_GRADES <= standing.graded < standing.pool / 4
    assert standing.sentence() == (
        f"More grades are unlikely to change who is ahead by {text}: good, with over 90% certainty."
    )


def test_runs_with_the_same_lists_need_no_grade():
    board = board_of()
    standing = Decider().standing(board, "bad", "copy", measure_of(board))
    assert (standing.settled, standing.leader, standing.graded) == (True, None, 0)
    assert standing.sentence() == (
        "bad and copy differ by less than what matters (0.01) by nDCG@10, with over 90% certainty, "
        "however the unjudged chunks are graded."
    )


def test_where_all_is_graded_the_delta_is_that_of_the_board():
    board = board_of(truth())
    measure = measure_of(board)
    standing = Decider().standing(board, "good", "bad", measure)
    values = board.values(measure)
    assert standing.delta == pytest.approx(np.mean(values[:, 1] - values[:, 0]))
    assert (standing.spread, standing.certainty, standing.open) == (0, 1, 0)
    assert standing.sentence() == (
        f"good is ahead of bad by nDCG@10. All {standing.pool} chunks are graded."
    )


def test_a_run_without_results_leaves_nothing_to_decide():
    board = board_of(truth(), empty={})
    standing = Decider().standing(board, "good", "empty", measure_of(board))
    assert not standing.known
    assert standing.leader is None
    assert math.isnan(standing.delta)
    assert "nothing to decide" in standing.sentence()


def test_a_single_query_never_settles_before_all_of_it_is_graded():
    lists = {"A": {"q": ["a", "b"]}, "B": {"q": ["b", "a"]}}
    board = Scoreboard(collect({"q": {"a": 3}}, lists), Conventions.of())
    standing = Decider().standing(board, "A", "B", measure_of(board))
    assert not standing.settled
    board.refresh([GradeChange("q", 1, 0)], 1)
    number = board.collection.chunk_ids.index("b")
    board.refresh([GradeChange("q", number, 0)], 2)
    settled = Decider().standing(board, "A", "B", measure_of(board))
    assert settled.settled
    assert settled.leader == "A"


@pytest.mark.parametrize(("known", "better"), [(0, False), (20, True)])
def test_what_one_run_alone_has_on_top_and_nobody_graded_is_never_settled(
    known: int, better: bool
) -> None:
    """A has a chunk of its own on top of every list, and below it what B has."""
    names, both = [f"q{n}" for n in range(40)], [f"c{n}" for n in range(9)]
    lists = {
        "A": {name: ["own", *both] for name in names},
        "B": {name: [*both, "c9"] for name in names},
    }
    grades = {name: {f"c{n}": int(n == 0) for n in range(10)} for name in names}
    for name in names[:known]:
        grades[name]["own"] = 0
    board = Scoreboard(collect(grades, lists), Conventions.of())
    standing = Decider().standing(board, "A", "B", measure_of(board))
    assert standing.settled is better
    [band] = LiveRanges(board, ("A", "B")).deltas(board, [standing.measure]).values()
    assert (band.low > 0) is better


@pytest.mark.parametrize("text", ["Judged@10", "NumRet", "NumRel"])
def test_a_measure_by_which_no_run_is_better_is_refused(text: str):
    board = board_of()
    with pytest.raises(BadInput, match="does not say which run is better"):
        Decider().standing(board, "good", "bad", measure_of(board, text))


def test_two_different_runs_are_needed_that_are_there():
    board, decider = board_of(), Decider()
    with pytest.raises(BadInput, match="two different runs"):
        decider.standing(board, "good", "good", measure_of(board))
    with pytest.raises(NotFound, match="no run is called 'gone'"):
        decider.standing(board, "good", "gone", measure_of(board))


def test_what_both_have_at_the_same_rank_is_chosen_after_what_one_has_on_top():
    lists = {"A": {}, "B": {}}
    for n in range(20):
        lists["A"][f"q{n}"] = [f"a{n}", f"same{n}"]
        lists["B"][f"q{n}"] = [f"b{n}", f"same{n}"]
    board = Scoreboard(collect({f"q{n}": {} for n in range(20)}, lists), Conventions.of())
    chosen = Decider().choices(board, "A", "B", measure_of(board), 60)
    assert len(chosen) == 60
    assert not any(each.chunk_id.startswith("same") for each in chosen[:40])
    assert [each.move for each in chosen] == sorted((each.move for each in chosen), reverse=True)
    assert {(each.rank_a, each.rank_b) for each in chosen} == {(1, None), (None, 1), (2, 2)}


@pytest.mark.parametrize("text", ["nDCG@10", "AP", "RR", "R@prompt", "ERR@10"])
@pytest.mark.parametrize("preset", ["graded", "trec_eval"])
def test_a_grade_that_is_followed_leaves_what_a_new_look_would(text: str, preset: str):
    board = board_of({f"q{n}": {"c1": 2, "c20": 0} for n in range(9)}, preset)
    measure = measure_of(board, text)
    filling = fit_unjudged_model(board, find_top_chunks(board))
    trial = simulate(board, filling, measure, "good", "bad")
    number = board.collection.chunk_ids.index
    board.refresh([GradeChange("q3", number("c3"), 3), GradeChange("q30", number("c0"), 1)], 1)
    now = filling.after(board, [3, 30])
    followed = trial.after(board, now, np.array([3, 30]))
    anew = simulate(board, now, measure, "good", "bad")
    assert np.array_equal(followed.deltas, anew.deltas, equal_nan=True)
    assert np.array_equal(followed.grades, anew.grades)
    assert assess_certainty(board, followed) == assess_certainty(board, anew)
    assert assess_certainty(board, followed) != assess_certainty(board_of({}, preset), trial)


def test_a_grade_that_no_run_has_near_the_top_still_moves_the_ideal():
    board, decider = board_of({"q0": {"c0": 1}}), Decider()
    measure = measure_of(board)
    before = decider.trial(board, "good", "bad", measure).deltas.copy()
    hidden = board.collection.chunk_ids.index("c0")
    lists = {run: board.chunks(run, "q0")[:10].tolist() for run in ("good", "bad")}
    far = next(
        c for c in range(CHUNKS) if c != hidden and not any(c in of for of in lists.values())
    )
    board.refresh([GradeChange("q0", far, 3)], 1)
    after = decider.trial(board, "good", "bad", measure).deltas
    assert not np.array_equal(before[:, 0], after[:, 0])


def test_the_drawn_golden_sets_are_the_same_for_the_same_seed_and_others_for_another():
    board = board_of()
    measure = measure_of(board)
    first, again, other = (
        Decider(seed).standing(board, "good", "bad", measure) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


@pytest.mark.slow
def test_a_verdict_is_never_surer_on_paper_than_it_is():
    standing = decided("bad", "good")
    assert "100%" not in replace(standing, ahead=0.9999).sentence()
