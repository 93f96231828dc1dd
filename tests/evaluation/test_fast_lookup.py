"""A board that looks judged chunks up says what one says that numbers every chunk."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.evaluation import (
    PRESETS,
    Conventions,
    Scoreboard,
    collect,
    find_tie_ranges,
    plain_board,
)
from labeler.formats import read_run, trec_arrow
from labeler.model import GradeChange, Ranking, RankingsByQuery
from tests.support.boards import ALL, everything, said
from tests.support.examples import examples

assert trec_arrow  # loaded, so that small files are read by the block as well
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
IN_FILE = st.dictionaries(
    st.sampled_from([*QUERIES, "unknown"]),
    st.dictionaries(
        CHUNKS | st.just("č"),
        SCORES.filter(lambda score: score < 1e38),  # a file with larger ones is refused
        min_size=1,
    ),
    min_size=1,
)
QRELS = st.dictionaries(
    st.sampled_from(QUERIES), st.dictionaries(CHUNKS, st.integers(0, 3)), min_size=1
)


def trec(run) -> str:
    return "".join(f"{query} Q0 {chunk} 0 {score!r} tag\n" for query, chunk, score in results(run))


def as_jsonl(run) -> str:
    return "".join(
        json.dumps({"query": query, "doc_id": chunk, "score": score}) + "\n"
        for query, chunk, score in results(run)
    )


def without_scores(run) -> str:
    return "query,docid\n" + "".join(f"{query},{chunk}\n" for query, chunk, _ in results(run))


def results(run):
    return [(query, *result) for query, scored in run.items() for result in scored.items()]


@examples(150)
@given(QRELS, st.dictionaries(st.sampled_from("AB"), RUN), st.sampled_from(PRESETS))
def test_looking_up_finds_what_numbering_finds(qrels, runs, preset) -> None:
    assert_found_alike(qrels, runs, runs, preset)


@examples(100)
@given(
    qrels=QRELS,
    runs=st.dictionaries(st.sampled_from("AB"), IN_FILE, min_size=1),
    preset=st.sampled_from(PRESETS),
    write=st.sampled_from([trec, as_jsonl, without_scores]),
)
def test_what_a_file_holds_by_column_is_found_as_well(
    qrels, runs, preset, write, tmp_path_factory
) -> None:
    folder, read = tmp_path_factory.getbasetemp(), {}
    for name, run in runs.items():
        (folder / name).write_text(write(run))
        read[name] = read_run(folder / name).records
    by_column = {name: RankingsByQuery(lists) for name, lists in read.items()}
    one_by_one = {name: {each.query_id: each for each in lists} for name, lists in read.items()}
    assert_found_alike(qrels, by_column, one_by_one, preset)


def assert_found_alike(qrels, looked_up, numbered, preset) -> None:
    """Hold a board that looks ids up against one that numbers them all."""
    runs = looked_up
    conventions = Conventions.of(preset)
    found = plain_board(qrels, looked_up, conventions)
    wanted = Scoreboard(collect(qrels, numbered), conventions)
    measures = conventions.measures(ALL)
    assert everything(found) == everything(wanted)
    assert said(found) == said(wanted)
    assert found.tied == wanted.tied
    assert repr(find_tie_ranges(found, measures)) == repr(find_tie_ranges(wanted, measures))
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


QRELS_OF_MANY = {f"q{at}": {"c": 1} for at in range(300)}
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


def among_many(query, ranked) -> dict:
    """Return a run of many plain lists, with one of them put in the middle."""
    plain = {f"q{at}": {"c": 0.5, f"other{at}": 0.25} for at in range(300)}
    return {**plain, query: ranked}


ODD = {
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: True": {"x": True},
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: False": {"x": False},
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: np.True_": {
        "x": np.True_
    },
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: None": {"x": None},
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: array([0., 0.])": {
        "x": np.zeros(2),
        "y": np.zeros(3),
    },
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: '1'": {"x": "1"},
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: Decimal('1')": {
        "x": Decimal(1)
    },
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: inf": {"x": math.inf},
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: nan": {"x": math.nan},
    "run 'A', query 'q150': the score of chunk 'x' is not a finite number: 1000": {"x": 10**400},
    "run 'A', query 'q150': a chunk id must be text, not 7": {7: 1.0},
    "run 'A', query 'q150': a chunk id must be text, not b'x'": {b"x": 1.0},
    "run 'A', query 'q150': a chunk id must not be empty": {"x": 2.0, "": 1.0},
    "run 'A', query 'q150': expected {chunk: score}": None,
}


@pytest.mark.parametrize("words", ODD)
def test_one_odd_list_among_many_is_found(words) -> None:
    with pytest.raises(BadInput) as error:
        plain_board(QRELS_OF_MANY, {"A": among_many("q150", ODD[words])}, Conventions.of())
    assert str(error.value).startswith(words)


def grown(ids) -> dict:
    """Return a dict made entry by entry, of which some were there and went."""
    made = {}
    for chunk_id in ids:
        made[chunk_id] = 0.5
        made["gone"] = 0.5
        del made["gone"]
    return made


IDS_MADE = {"at once": lambda ids: dict.fromkeys(ids, 0.5), "grown": grown}
IDS_MADE["copied"] = lambda ids: dict(grown(ids))


@examples(60)
@given(
    size=st.integers(1, 3_000),
    odd=st.lists(
        st.tuples(st.integers(0, 3_000), st.sampled_from([7, b"x", None, ()])), max_size=2
    ),
    made=st.sampled_from(sorted(IDS_MADE)),
)
def test_an_id_that_is_no_text_is_found_wherever_it_stands(size, odd, made) -> None:
    ids: list = [f"c{at}" for at in range(size)]
    for at, wrong in odd:
        ids.insert(at, wrong)
    qrels, run = {"q1": {"c0": 1}, "q2": {"c0": 1}}, IDS_MADE[made](ids)
    given = {"A": {"q1": {"c0": 1.0}, "q2": run}}
    if not odd:
        assert plain_board(qrels, given, Conventions.of()).hits("A").row.tolist() == [0, 1]
        return
    with pytest.raises(BadInput, match=r"^run 'A', query 'q2': a chunk id must be text, not "):
        plain_board(qrels, given, Conventions.of())


def test_an_empty_id_is_found_in_a_deep_list() -> None:
    run = {"A": {"q1": dict.fromkeys([*map(str, range(900)), ""], 0.5)}}
    with pytest.raises(BadInput, match=r"^run 'A', query 'q1': a chunk id must not be empty"):
        plain_board({"q1": {"c1": 1}}, run, Conventions.of())


@pytest.mark.parametrize("kind", [int, Fraction, np.float64, np.float32, np.int64])
@pytest.mark.parametrize("make", [dict, OrderedDict, MappingProxyType])
def test_other_kinds_of_numbers_and_dicts_count_as_plain_ones_do(kind, make) -> None:
    scores = {"x": 3.0, "y": 2.0, "c": 1.0}
    wanted = plain_board(QRELS_OF_MANY, {"A": among_many("q150", scores)}, Conventions.of())
    other = make({chunk: kind(int(score)) for chunk, score in scores.items()})
    found = plain_board(QRELS_OF_MANY, {"A": among_many("q150", other)}, Conventions.of())
    assert everything(found) == everything(wanted)
    assert said(found) == said(wanted)


def test_scores_whose_sum_is_too_large_are_finite_all_the_same() -> None:
    run = {"A": {"q1": ["c"], "q9": {"c": 1e308, "d": 1.1e308}}}
    board = plain_board({"q1": {"c": 1}}, run, Conventions.of())
    assert board.collection.runs[0].unknown_queries == 1
