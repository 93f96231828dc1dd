"""A board that looks judged chunks up says what one says that numbers every chunk."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.evaluation import (
    PRESETS,
    Conventions,
    Scoreboard,
    collect,
    plain_board,
    tied_ranges,
)
from labeler.model import GradeChange, Ranking
from tests.boards import ALL, everything, said

QUERIES = ("q1", "q2", "q3")
CHUNKS = st.sampled_from([f"c{number}" for number in range(12)])
SCORES = (
    st.integers(-3, 3) | st.sampled_from([0.5, 0.5 + 1e-10, 1e39, 1e40, -0.0]) | st.floats(0, 9)
)
SCORED = st.dictionaries(CHUNKS, SCORES)
NAMED = st.lists(CHUNKS, unique=True)
READ = SCORED.map(lambda scores: Ranking("", tuple(scores), tuple(map(float, scores.values()))))
BARE = NAMED.map(lambda chunks: Ranking("", tuple(chunks)))
RUN = st.dictionaries(st.sampled_from([*QUERIES, "unknown"]), SCORED | NAMED | READ | BARE)
QRELS = st.dictionaries(
    st.sampled_from(QUERIES), st.dictionaries(CHUNKS, st.integers(0, 3)), min_size=1
)


@settings(deadline=None, max_examples=150)
@given(QRELS, st.dictionaries(st.sampled_from("AB"), RUN), st.sampled_from(PRESETS))
def test_looking_up_finds_what_numbering_finds(qrels, runs, preset) -> None:
    conventions = Conventions.of(preset)
    found = plain_board(qrels, runs, conventions)
    wanted = Scoreboard(collect(qrels, runs), conventions)
    measures = conventions.measures(ALL)
    assert everything(found) == everything(wanted)
    assert said(found) == said(wanted)
    assert found.tied == wanted.tied
    assert repr(tied_ranges(found, measures)) == repr(tied_ranges(wanted, measures))
    for board in (found, wanted):
        query, chunks = next(iter(qrels)), board.collection.chunk_ids
        board.refresh([GradeChange(query, chunk, 2) for chunk in range(len(chunks))], 1)
    assert everything(found) == everything(wanted)
    for run in runs:
        for query in qrels:
            assert found.ranked(run, query) == wanted.ranked(run, query)


def test_a_long_dict_is_searched_to_its_end() -> None:
    for size in range(1, 70):
        run = {"A": {"q": {f"c{at}": -float(at) for at in range(size)}}}
        board = plain_board({"q": {f"c{at}": 1 for at in range(size)}}, run, Conventions.of())
        assert board.hits("A").rank.tolist() == list(range(1, size + 1))


WRONG = {
    "run 'A', query 'q9': the score of chunk 'c' is not a finite number: nan": {"c": math.nan},
    "run 'A', query 'q9': the score of chunk 'c' is not a finite number: '1'": {"c": "1"},
    "run 'A', query 'q9': a chunk id must not be empty": ["c", ""],
    "run 'A', query 'q9': chunk 'c' stands there twice": ["c", "c"],
    "run 'A', query 'q9': expected {chunk: score}": 7,
}


@pytest.mark.parametrize("words", WRONG)
def test_a_list_is_refused_also_where_its_query_has_no_grades(words) -> None:
    with pytest.raises(BadInput) as error:
        plain_board({"q1": {"c": 1}}, {"A": {"q1": ["c"], "q9": WRONG[words]}}, Conventions.of())
    assert str(error.value).startswith(words)


def test_scores_whose_sum_is_too_large_are_finite_all_the_same() -> None:
    run = {"A": {"q1": ["c"], "q9": {"c": 1e308, "d": 1.1e308}}}
    board = plain_board({"q1": {"c": 1}}, run, Conventions.of())
    assert board.collection.runs[0].unknown_queries == 1
