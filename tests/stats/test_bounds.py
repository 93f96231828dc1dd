"""The lowest and highest values over all ways to grade the unjudged chunks, against trying them
all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler import compare, evaluate
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import Measure
from labeler.model import GradeChange
from labeler.stats import DEPTH, LiveRanges, unjudged_ranges
from labeler.stats.unjudged_stretch import OF_MEANS
from tests.support.boards import board_of, change
from tests.support.examples import examples

MEASURES = [
    "nDCG@3",
    "nDCG",
    "nDCG(dcg='log2')@2",
    "nDCG(gains={1:0,2:1,3:5})@3",
    "nDCG(judged_only=True)@2",
    "P@2",
    "P(rel=2)@3",
    "P(judged_only=True)@2",
    "R@2",
    "R",
    "R(rel=2)",
    "F1@2",
    "F1@prompt",
    "R@prompt",
    "Success@2",
    "RR",
    "RR@2",
    "RR(judged_only=True)",
    "AP",
    "AP@3",
    "AP(judged_only=True)",
    "AP(rel=2)",
    "RBP(p=0.5)",
    "RBP(p=0.8)@3",
    "ERR",
    "ERR@2",
    "SetP",
    "SetR",
    "SetF",
    "SetF(beta=3)",
    "SetF(judged_only=True)",
    "Rprec",
    "Bpref",
]
TOLERANCE = 1e-12
ALSO = {"A": (), "B": (), "C": ("x",)}
CHUNKS = [f"c{n}" for n in range(5)]

lists = st.lists(st.sampled_from(CHUNKS), min_size=1, max_size=4, unique=True)
grades = st.dictionaries(st.sampled_from([*CHUNKS, "missed"]), st.integers(0, 3), max_size=6)


@st.composite
def boards(draw: st.DrawFn) -> Scoreboard:
    """Two or three runs over one or two queries, some of whose chunks are graded."""
    names = ["q0", "q1"][: draw(st.integers(1, 2))]
    qrels = {name: draw(grades) for name in names}
    runs = {
        run: {name: draw(lists) for name in names if draw(st.integers(0, 5))}
        for run in draw(st.sampled_from(["AB", "ABC"]))
    }
    tasks = {"task": {name: draw(st.sampled_from(["single", "research"])) for name in names}}
    preset = draw(st.sampled_from(["graded", "graded", "trec_eval"]))
    rules = Conventions.of(preset, prompt_k=2, prompt_k_by_task={"research": 3})
    return Scoreboard(collect(qrels, runs, tasks), rules)


def unjudged_of(board: Scoreboard, measure: Measure) -> list[tuple[str, int]]:
    """The ungraded chunks that any run has above the cut-off, in the top 20 without a cut-off."""
    found: dict[tuple[str, int], None] = {}
    for query, name in enumerate(board.collection.query_ids):
        depth = int(board.cutoffs(measure)[query]) if measure.cutoff else DEPTH
        for run in board.run_names:
            for each in board.ranked(run, name)[:depth]:
                if each.grade is None:
                    found[name, each.chunk] = None
    return list(found)


def outcomes(
    board: Scoreboard, measure: Measure, among: tuple[int, ...]
) -> Iterator[tuple[float, float]]:
    """The means of A and B under every way of grading the unjudged chunks."""
    unjudged = unjudged_of(board, measure)
    for said in product(among, repeat=len(unjudged)):
        other = Scoreboard(board.collection, board.conventions)
        other.refresh(
            [
                GradeChange(*unjudged_number, grade)
                for unjudged_number, grade in zip(unjudged, said, strict=True)
            ],
            1,
        )
        a, b, *_ = (row.value for row in other.table([measure]))
        yield a, b


@examples(60)
@given(boards(), st.sampled_from(MEASURES))
def test_no_way_of_grading_the_holes_goes_beyond_and_some_way_gets_there(
    board: Scoreboard, name: str
) -> None:
    [measure] = board.resolve(board.conventions.measures(name))
    count = len(unjudged_of(board, measure))
    if count > 6:
        return
    every = count <= 3 or (count <= 4 and measure.name == "nDCG")
    among = (0, 1, 2, 3) if every else (0, 3)
    found = np.array(list(outcomes(board, measure, among))).reshape(-1, 2)
    bands = LiveRanges(board, ("A", "B"), draws=19)
    means = list(bands.means(board, [measure]).values())
    [delta] = bands.deltas(board, [measure]).values()
    columns = [*found.T, found[:, 1] - found[:, 0]]
    now = {row.run: row.value for row in board.table([measure])}
    values = [now["A"], now["B"], now["B"] - now["A"]]
    for band, column, value in zip([*means, delta], columns, values, strict=True):
        reached = column[~np.isnan(column)]
        if math.isnan(band.lowest) or not len(reached):
            continue  # a run without a result that counts has neither value nor band
        assert band.lowest <= reached.min() + TOLERANCE
        assert band.highest >= reached.max() - TOLERANCE
        if band.exact and (every or measure.name not in ("nDCG", "ERR")):
            assert band.lowest == pytest.approx(reached.min(), abs=TOLERANCE)
            assert band.highest == pytest.approx(reached.max(), abs=TOLERANCE)
        if math.isnan(value) and math.isnan(band.low):
            continue  # there is no value yet, and no grading that was drawn gives one
        if measure.name in OF_MEANS:
            assert band.lowest - TOLERANCE <= band.low <= band.high <= band.highest + TOLERANCE
        elif band.highest > band.lowest:
            assert math.isnan(band.low), "nobody has measured whether its 90% range holds"


def test_a_chunk_that_both_hold_has_one_grade_in_the_delta() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c", "x"]}, "B": {"q": ["x", "c"]}})
    [p_at_2] = board.conventions.measures("P@2")
    bands = LiveRanges(board)
    means = list(bands.means(board, [p_at_2]).values())
    [delta] = bands.deltas(board, [p_at_2]).values()
    assert [(band.lowest, band.highest) for band in means] == [(0.5, 1.0), (0.5, 1.0)]
    assert (delta.lowest, delta.highest) == (0.0, 0.0)


def test_a_query_that_nobody_graded_may_enter_the_mean() -> None:
    runs = {"A": {"q": ["c"], "new": ["x", "y"]}}
    board = board_of({"q": {"c": 1}, "new": {}}, runs)
    [rr] = board.conventions.measures("RR")
    [band] = LiveRanges(board).means(board, [rr]).values()
    assert (band.lowest, band.highest) == (0.75, 1.0)


def test_measures_of_what_is_graded_have_no_band() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c", "x"]}})
    asked = board.conventions.measures("Judged@2 NumRet NumRel P@2")
    assert [measure.name for _, measure, _ in LiveRanges(board).means(board, asked)] == ["P"]


def test_bands_follow_a_grade_as_if_they_were_new() -> None:
    runs = {"A": {"q": ["c", "x", "y"], "r": ["c", "z"]}, "B": {"q": ["z", "c"], "r": ["x", "c"]}}
    board = board_of({"q": {"c": 3}, "r": {}}, runs)
    asked = board.conventions.measures("nDCG@2 AP R@2")
    bands = LiveRanges(board)
    bands.means(board, asked)
    grades = [("q", "x", 2), ("r", "c", 0), ("q", "x", None), ("r", "z", 3)]
    for revision, (query, chunk, grade) in enumerate(grades, 1):
        board.refresh([change(board, query, chunk, grade)], revision)
        for way in ("means", "deltas"):
            followed = getattr(bands, way)(board, asked)
            fresh = getattr(LiveRanges(board), way)(board, asked)
            ends = [
                [(b.lowest, b.highest, b.unjudged) for b in f.values()] for f in (followed, fresh)
            ]
            assert ends[0] == ends[1]


@examples(40)
@given(boards(), st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3, unique=True))
def test_found_query_by_query_they_are_those_found_at_once(
    board: Scoreboard, measures: list[str]
) -> None:
    asked = board.conventions.measures(measures)
    pair = ("A", "B")
    at_once = LiveRanges(board, pair).deltas(board, asked)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(unjudged_ranges, "LISTS_AT_ONCE", 1)
        by_query = LiveRanges(board, pair)
        parts = list(by_query.prepare(asked))
    assert len(parts) == 2 * len(board.collection.query_ids)
    found = by_query.deltas(board, asked)
    assert list(found) == list(at_once)
    for place, band in found.items():
        np.testing.assert_allclose(band, at_once[place], rtol=0, atol=TOLERANCE)


def test_a_bound_that_only_rounding_keeps_from_zero_is_zero() -> None:
    """Graded 3, what A has makes it equal to B, but for the order in which the gains are added."""
    names = [f"q{n}" for n in range(3)]
    runs = {
        "A": {name: ["c", "d", "x", "y"] for name in names},
        "B": {name: ["d", "c", "y", "x"] for name in names},
    }
    board = board_of({name: {"c": 1, "d": 2} for name in names}, runs)
    for text in ("nDCG@10", "AP", "RR", "P@3", "R@3"):
        asked = board.conventions.measures(text)
        for band in LiveRanges(board).deltas(board, asked).values():
            for end in (band.lowest, band.low, band.high, band.highest):
                assert end == 0.0 or abs(end) > 1e-9, text


def test_unjudged_chunks_that_cannot_change_a_number_leave_it_as_it_is() -> None:
    """Only C has an unjudged chunk, which changes A's recall and not A's precision."""
    names = [f"q{n}" for n in range(7)]
    seen = {"c": 1, "d": 2, "e": 0}
    runs = {run: {name: ["c", "d", "e", *own] for name in names} for run, own in ALSO.items()}
    board = board_of(dict.fromkeys(names, seen), runs)
    asked = board.conventions.measures("P@10 RBP(p=0.7) R@10")
    bands = LiveRanges(board, ("A",)).means(board, asked)
    is_open = {measure.name: band.highest > band.lowest for (_, measure, _), band in bands.items()}
    assert is_open == {"P": False, "RBP": False, "R": True}


def test_a_run_has_the_same_ranges_alone_in_a_pair_and_among_all() -> None:
    draw = np.random.default_rng(2)
    names = [f"q{n}" for n in range(20)]
    runs = {
        run: {name: [f"c{n}" for n in draw.permutation(15)[:12]] for name in names}
        for run in "ABCD"
    }
    known = {
        name: {f"c{n}": int(draw.integers(4)) for n in range(15) if draw.random() < 0.4}
        for name in names
    }
    board = board_of(known, runs)
    few, many = (board.conventions.measures(text) for text in ("nDCG@3", "nDCG@3 AP R@30"))
    every = LiveRanges(board).means(board, many)
    for asked in (("B",), ("B", "D"), ("A", "B", "D")):
        for measures in (few, many):
            found = LiveRanges(board, asked).means(board, measures)
            for place, band in found.items():
                assert band == pytest.approx(every[place], abs=TOLERANCE)


def test_a_measure_whose_90_percent_range_nobody_has_checked_has_a_possible_one_alone() -> None:
    board = board_of({"q": {"c": 1}}, {"A": {"q": ["c", "x"]}, "B": {"q": ["x", "y"]}})
    asked = board.conventions.measures("Bpref P@2")
    bands = LiveRanges(board)
    for of in (bands.means(board, asked), bands.deltas(board, asked)):
        likely = {place[-2].name: band.low for place, band in of.items()}
        assert math.isnan(likely["Bpref"])
        assert not math.isnan(likely["P"])
        assert all(band.highest > band.lowest for band in of.values())


def test_where_there_is_no_query_no_measure_has_a_band() -> None:
    board = Scoreboard(collect({}, {"A": {}, "B": {}}), Conventions.of())
    for measure in MEASURES:
        asked = board.conventions.measures([measure])
        for band in LiveRanges(board).deltas(board, asked).values():
            assert math.isnan(band.lowest), measure
            assert not band.highest > band.lowest, measure


def test_without_a_hole_a_band_is_the_value_alone() -> None:
    board = board_of({"q": {"c": 1, "x": 0}}, {"A": {"q": ["c", "x"]}})
    asked = board.conventions.measures("nDCG@10 AP")
    for (_, measure, _), band in LiveRanges(board).means(board, asked).items():
        value = board.table([measure])[0].value
        assert (band.lowest, band.low, band.high, band.highest) == (value,) * 4
        assert not band.highest > band.lowest


def test_a_lowest_mean_of_nothing_is_zero_and_never_minus_zero():
    run = {"q": ["x", "y", "c"]}
    frame = evaluate({"q": {"c": 1}}, {"A": run}, "RR nDCG@2 P@2 AP@2", bands=True)
    assert frame["possible_low"].map(str).tolist()[1:] == ["0.0", "0.0", "0.0"]
    assert not np.signbit(frame["possible_low"]).any()
    pair = compare({"q": {"c": 1}}, {"q": ["x", "c"]}, {"q": ["x", "c"]}, "P@1", bands=True)
    ends = [name for name in pair.columns if "lowest" in name or "highest" in name]
    assert not np.signbit(pair[ends].to_numpy(dtype=float)).any()
