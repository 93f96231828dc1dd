"""What an ungraded chunk may be: chances that follow from the grades there are."""

from __future__ import annotations

import numpy as np
import pytest

from labeler.errors import NotFound
from labeler.evaluation import Scoreboard
from labeler.stats import UnjudgedModel, find_top_chunks, fit_unjudged_model
from tests.support.boards import board_of, change

DEPTH = 8


def graded_by_rank(
    queries: int = 60, *, known: float = 0.5, tilt: float = 0.0, seed: int = 3
) -> Scoreboard:
    """Two runs with chunks in common; early ones are better, in some queries more than in others.

    ``tilt`` is how far the queries of one of two buckets are better than those of the other.
    """
    draw = np.random.default_rng(seed)
    names = [f"q{number}" for number in range(queries)]
    level = {name: draw.normal() + tilt * (at % 2) for at, name in enumerate(names)}
    runs = {
        "A": {name: [f"c{n}" for n in range(DEPTH)] for name in names},
        "B": {name: [f"c{n}" for n in range(1, DEPTH + 1)] for name in names},
    }
    qrels = {
        name: {
            f"c{n}": int(np.clip(np.round(2.2 - 0.5 * n + level[name] + draw.normal()), 0, 3))
            for n in range(DEPTH + 1)
            if draw.random() < known
        }
        for name in names
    }
    buckets = {"kind": {name: "odd" if at % 2 else "even" for at, name in enumerate(names)}}
    return board_of(qrels, runs, buckets)


@pytest.fixture(scope="module")
def board() -> Scoreboard:
    return graded_by_rank()


@pytest.fixture(scope="module")
def filling(board: Scoreboard) -> UnjudgedModel:
    return fit_unjudged_model(board)


def test_the_chances_of_a_chunk_add_up_to_one(filling: UnjudgedModel) -> None:
    chances = filling.chances(filling.unjudged)
    assert chances.shape == (len(filling.unjudged), 4)
    assert chances.min() >= 0
    assert np.allclose(chances.sum(axis=1), 1)


def test_a_chunk_is_the_likelier_to_be_relevant_the_earlier_it_stands(
    filling: UnjudgedModel,
) -> None:
    rank = filling.tops.ranks[filling.unjudged, 0]
    relevant = 1 - filling.chances(filling.unjudged)[:, 0]
    means = [relevant[rank == each].mean() for each in (1, 3, 5, 8)]
    assert means == sorted(means, reverse=True)
    assert means[0] > means[-1] + 0.3


def test_drawn_grades_come_as_often_as_their_chances_say(filling: UnjudgedModel) -> None:
    unjudged = filling.unjudged
    drawn = filling.draw(unjudged, 1000)
    often = np.stack([(drawn == grade).mean() for grade in range(4)])
    assert drawn.shape == (1000, len(unjudged))
    assert np.allclose(often, filling.chances(unjudged).mean(axis=0), atol=0.03)


def test_the_mean_over_draws_is_the_chance_near_the_top_too() -> None:
    """Doubt about the weights does not pull high chances down and low ones up."""
    filling = fit_unjudged_model(graded_by_rank(30, known=0.12))
    unjudged, best = filling.unjudged, filling.tops.ranks[filling.unjudged].max(axis=1)
    gain = np.array([0.0, 1.0, 3.0, 7.0])
    expected = filling.chances(unjudged) @ gain
    drawn = gain[filling.draw(unjudged, 4000)].mean(axis=0)
    seen = ~filling.barren[filling.tops.query[unjudged]] & (filling.tops.alone[unjudged] < 0)
    for chosen in (seen & (best <= 2), seen & (best >= 7)):
        assert drawn[chosen].mean() == pytest.approx(expected[chosen].mean(), rel=0.03)


def test_chunks_near_the_top_get_the_same_grades_whether_deeper_ones_are_drawn_or_not(
    filling: UnjudgedModel,
) -> None:
    board = graded_by_rank(20)
    shallow, deep = (fit_unjudged_model(board, find_top_chunks(board, n)) for n in (20, 40))
    some = shallow.draw(shallow.unjudged, 9)
    there = deep.tops.is_near_top[deep.unjudged]
    assert np.array_equal(deep.draw(deep.unjudged, 9)[:, there], some)


def test_chunks_of_one_query_are_good_or_bad_together(filling: UnjudgedModel) -> None:
    """A query's chunks are drawn with one level, so that their sum varies more than apart."""
    unjudged = filling.unjudged
    apart, together = 0.0, 0.0
    drawn = filling.draw(unjudged, 400) > 0
    for query in np.unique(filling.tops.query[unjudged]):
        own = drawn[:, filling.tops.query[unjudged] == query]
        together += own.sum(axis=1).var()
        apart += own.var(axis=0).sum()
    assert together > 1.1 * apart


def test_the_same_seed_draws_the_same_and_another_draws_others(filling: UnjudgedModel) -> None:
    first, again, other = (filling.draw(filling.unjudged, 5, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_query_with_many_relevant_chunks_is_expected_to_have_more(
    board: Scoreboard, filling: UnjudgedModel
) -> None:
    unjudged = filling.unjudged
    relevant = 1 - filling.chances(unjudged)[:, 0]
    share = {
        query: np.mean([grade > 0 for grade in board.golden(name).values()])
        for query, name in enumerate(board.collection.query_ids)
        if len(board.golden(name)) > 3
    }
    rich, poor = max(share, key=share.__getitem__), min(share, key=share.__getitem__)
    of = {query: relevant[filling.tops.query[unjudged] == query].mean() for query in (rich, poor)}
    assert of[rich] > of[poor]


def test_a_bucket_of_good_queries_lends_its_level_to_an_ungraded_query() -> None:
    board = graded_by_rank(tilt=2.5)
    names = board.collection.query_ids
    gone = [
        change(board, name, board.collection.chunk_ids[chunk], None)
        for name in names[:2]
        for chunk in board.golden(name)
    ]
    board.refresh(gone, 1)
    filling = fit_unjudged_model(board)
    relevant = 1 - filling.chances(filling.unjudged)[:, 0]
    even, odd = (relevant[filling.tops.query[filling.unjudged] == query].mean() for query in (0, 1))
    assert odd > even + 0.1


def test_with_nothing_graded_a_first_guess_stands_and_varies_widely() -> None:
    board = board_of({"q": {}}, {"A": {"q": ["c", "d"]}})
    filling = fit_unjudged_model(board)
    assert np.allclose(filling.chances(filling.unjudged).sum(axis=1), 1)
    assert set(np.unique(filling.draw(filling.unjudged, 200))) == {0, 1, 2, 3}


def test_a_grade_moves_what_is_believed_of_its_query_and_of_no_other(
    board: Scoreboard, filling: UnjudgedModel
) -> None:
    board = Scoreboard(board.collection, board.conventions)
    before = filling.chances(filling.unjudged)
    unjudged_number = int(filling.unjudged[0])
    query = int(filling.tops.query[unjudged_number])
    name = board.collection.query_ids[query]
    chunk_id = board.collection.chunk_ids[int(filling.tops.chunk[unjudged_number])]
    board.refresh([change(board, name, chunk_id, 3)], 1)
    after = filling.after(board, [query])
    same = filling.tops.query[filling.unjudged] != query
    now = after.chances(filling.unjudged)
    assert unjudged_number not in after.unjudged
    assert np.array_equal(now[same], before[same])
    rest = ~same & (filling.unjudged != unjudged_number)
    assert (now[rest, 0] < before[rest, 0]).all()


@pytest.mark.slow
def test_a_drawn_mean_is_as_unsure_as_it_should_be() -> None:
    """Hide grades of which all are known: the share of relevant ones is in 90% of the intervals."""
    inside = []
    for seed in range(30):
        board = graded_by_rank(25, known=1.0, seed=seed)
        tops = find_top_chunks(board)
        hide = np.random.default_rng(seed).random(len(tops.query)) < 0.6
        ids = board.collection
        truth, changes = [], []
        for query, chunk in zip(tops.query[hide].tolist(), tops.chunk[hide].tolist(), strict=True):
            truth.append(board.golden(ids.query_ids[query])[chunk])
            changes.append(change(board, ids.query_ids[query], ids.chunk_ids[chunk], None))
        board.refresh(changes, 1)
        filling = fit_unjudged_model(board)
        sums = np.sort((filling.draw(np.flatnonzero(hide), 199) > 0).sum(axis=1))
        inside.append(sums[9] <= np.sum(np.array(truth) > 0) <= sums[189])
    assert 0.8 <= np.mean(inside) <= 0.99


def test_graded_queries_without_a_relevant_chunk_are_hard_or_hopeless_together() -> None:
    """Of 20 queries with a bad first chunk: in some draws nearly all get a good one, in some none.

    Queries in which a good one is known vary apart, as do those in which nothing is graded.
    """
    graded = {f"good{n}": {"c0": 1} for n in range(60)} | {f"bad{n}": {"c0": 0} for n in range(20)}
    runs = {"A": {query: [f"c{n}" for n in range(DEPTH)] for query in graded}}
    board = board_of(graded, runs)
    filling = fit_unjudged_model(board)
    query = filling.tops.query[filling.unjudged]
    drawn = filling.draw(filling.unjudged, 400) > 0
    bad = np.array([name.startswith("bad") for name in board.collection.query_ids])
    comes = np.stack([drawn[:, query == each].any(axis=1) for each in np.flatnonzero(bad)])
    share = np.sort(comes.mean(axis=0))
    assert share[20] <= 0.2
    assert share[-20] >= 0.9


def test_what_one_run_alone_finds_may_be_of_another_kind() -> None:
    """Of B's own chunks 50 are graded, all bad, of A's as many, all good: so are the unjudged
    chunks left.
    """
    own = {"A": "a", "B": "b"}
    names = [f"q{n}" for n in range(50)]
    runs = {
        run: {name: [*(f"c{n}" for n in range(4)), f"{of}0", f"{of}1"] for name in names}
        for run, of in own.items()
    }
    seen = {f"c{n}": int(n < 2) for n in range(4)} | {"a0": 1, "b0": 0}
    board = board_of(dict.fromkeys(names, seen), runs)
    filling = fit_unjudged_model(board)
    relevant = 1 - filling.chances(filling.unjudged)[:, 0]
    of_a = filling.tops.ranks[filling.unjudged, board.column_of("A")] > 0
    assert relevant[of_a].mean() > 0.8
    assert relevant[~of_a].mean() < 0.2


def test_where_none_of_a_kind_is_graded_all_may_be_relevant_or_none() -> None:
    """A has a chunk of its own on top of every list; what both found is graded, and mostly bad."""
    names = [f"q{n}" for n in range(40)]
    both = [f"c{n}" for n in range(9)]
    runs = {
        "A": {name: ["own", *both] for name in names},
        "B": {name: [*both, "c9"] for name in names},
    }
    known = {name: {f"c{n}": int(n == 0) for n in range(10)} for name in names}
    shares = []
    for graded in (0, 20):
        some = {name: {**of, "own": 0} for name, of in list(known.items())[:graded]}
        filling = fit_unjudged_model(board_of({**known, **some}, runs))
        shares.append(np.sort((filling.draw(filling.unjudged, 200) > 0).mean(axis=1)))
    unknown, learnt = shares
    assert unknown[20] < 0.2
    assert unknown[-20] > 0.8
    assert learnt[-20] < 0.2


def test_without_a_run_there_is_nothing_to_draw() -> None:
    filling = fit_unjudged_model(board_of({"q": {"c": 1}}, {}))
    assert filling.draw(filling.unjudged, 3).shape == (3, 0)


def test_ranks_deeper_than_any_grade_are_the_less_sure_the_deeper_they_are() -> None:
    draw = np.random.default_rng(3)
    names = [f"q{n}" for n in range(80)]
    runs = {"A": {name: [f"c{n}" for n in range(20)] for name in names}}
    known = {name: {f"c{n}": int(draw.random() < 0.5) for n in range(4)} for name in names}
    filling = fit_unjudged_model(board_of(known, runs))
    rank = filling.tops.ranks[filling.unjudged, 0]
    drawn = filling.draw(filling.unjudged, 300) > 0
    shares = [drawn[:, rank == each].mean(axis=1) for each in (5, 10, 20)]
    off = [np.std(np.log((share + 0.01) / (1.01 - share))) for share in shares]
    assert off == sorted(off)
    assert off[-1] > 2 * off[0]


def test_a_pair_that_no_run_has_near_its_top_is_refused(filling: UnjudgedModel) -> None:
    with pytest.raises(NotFound, match="no run"):
        filling.tops.places([0], [999])
