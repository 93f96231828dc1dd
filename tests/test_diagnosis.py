"""Why a query fails: one class, the first that matches, and where a number lies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from labeler.cli import main
from labeler.diagnosis import (
    BELOW_BUDGET,
    CLASSES,
    CROWDED_OUT,
    MOSTLY_HOLES,
    NEVER_RETRIEVED,
    NO_RESULTS,
    NOT_IN_CORPUS,
    NOTHING_RELEVANT,
    OTHER_RUN_ONLY,
    OUTRANKED,
    UNANSWERED,
    UNCLEAR,
    Bar,
    FailureClass,
    count_by_bucket,
    count_classes,
    diagnose,
    in_words,
)
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Scoreboard, cautions, collect, primary
from labeler.measures import parse, parse_all
from labeler.store import Store

SAMPLE = Path(__file__).resolve().parent.parent / "sample_data"

# What sample_data/README.md promises; the first has only 0 for grades.
NO_ANSWER = {"q-058", "q-083", "q-085", "q-101"}
NOWHERE = {"q-041", "q-044", "q-069", "q-077", "q-080", "q-086", "q-094"}
TOO_LOW = {
    "q-046": 8,
    "q-049": 18,
    "q-054": 6,
    "q-059": 13,
    "q-060": 11,
    "q-067": 11,
    "q-074": 31,
    "q-100": 11,
}
LOOKALIKE = {"q-001": 8, "q-015": 29, "q-016": 2, "q-037": 9, "q-052": 3}


def board_of(
    grades: Mapping[str, int],
    runs: Mapping[str, list[str] | None],
    **conventions: Any,
) -> Scoreboard:
    """A board of one query, q, with these lists; None for a run that has no list for it."""
    lists = {
        run: {"other": ["c"], **({} if ranked is None else {"q": ranked})}
        for run, ranked in runs.items()
    }
    return Scoreboard(
        collect({"q": grades, "other": {}}, lists), Conventions.of(**{"budget": 2, **conventions})
    )


def class_of(board: Scoreboard, **given: Any) -> FailureClass | None:
    found = diagnose(board, "A", **given)
    assert "other" not in found, "nobody knows whether an ungraded query fails"
    return found["q"].failure if found["q"] else None


def numbers(board: Scoreboard, texts: Mapping[str, str]) -> dict[int, str]:
    return {board.collection.chunk_ids.index(chunk): text for chunk, text in texts.items()}


# Classes ----------------------------------------------------------------------------------------


def test_a_query_with_a_relevant_chunk_in_the_prompt_does_not_fail() -> None:
    assert class_of(board_of({"c": 1, "x": 0}, {"A": ["x", "c"]})) is None


def test_no_results_comes_first() -> None:
    for ranked in ([], None):
        assert class_of(board_of({"c": 0}, {"A": ranked})) == NO_RESULTS


def test_a_query_that_graders_call_unclear_says_so_before_anything_else_they_said() -> None:
    board = board_of({"c": 1, "x": 0}, {"A": ["x", "y", "c"]})
    assert class_of(board) == BELOW_BUDGET
    for said in ({"unclear"}, ["unanswered", "unclear"]):
        assert class_of(board, said={"q": said}) == UNCLEAR
    assert class_of(board, said={"other": {"unclear"}, "gone": {"unclear"}}) == BELOW_BUDGET
    assert class_of(board_of({"c": 0}, {"A": []}), said={"q": {"unclear"}}) == NO_RESULTS


def test_nothing_answers_a_query_until_a_relevant_chunk_is_known() -> None:
    said = {"q": ["unanswered"]}
    assert class_of(board_of({"c": 0}, {"A": ["c"]}), said=said) == UNANSWERED
    below = board_of({"c": 1, "x": 0}, {"A": ["x", "y", "c"]})
    assert class_of(below, said=said) == BELOW_BUDGET, "somebody has found an answer"
    low = board_of({"c": 1}, {"A": ["x", "y", "c"]}, rel=2)
    assert class_of(low, said=said) == UNANSWERED


def test_remarks_say_nothing_of_a_query_that_does_not_fail() -> None:
    board = board_of({"c": 1}, {"A": ["c"]})
    assert class_of(board, said={"q": ["unclear", "unanswered"]}) is None


def test_nothing_relevant_known() -> None:
    assert class_of(board_of({"c": 0}, {"A": ["c", "x"]})) == NOTHING_RELEVANT
    assert class_of(board_of({"c": 1}, {"A": ["c"]}, rel=2)) == NOTHING_RELEVANT
    classic = board_of({"c": 0}, {"A": ["c"]}, preset="trec_eval")
    assert class_of(classic) == NOTHING_RELEVANT, "0 there, which is below the bar as well"


def test_a_relevant_chunk_that_has_no_text_cannot_be_found() -> None:
    board = board_of({"gone": 3, "x": 0, "y": 0}, {"A": ["x", "y"]})
    with_text = numbers(board, {"x": "some", "y": "other"})
    assert class_of(board, corpus=set(with_text)) == NOT_IN_CORPUS
    assert class_of(board, corpus={*with_text, *numbers(board, {"gone": ""})}) == NEVER_RETRIEVED
    assert class_of(board, corpus=()) == NEVER_RETRIEVED, "no chunk has text: nothing is known"


def test_one_relevant_chunk_in_the_corpus_is_enough_to_look_further() -> None:
    board = board_of({"gone": 3, "c": 1, "x": 0, "y": 0}, {"A": ["x", "y", "c"]})
    assert class_of(board, corpus=set(numbers(board, {"c": "", "x": ""}))) == BELOW_BUDGET


def test_mostly_holes_is_more_than_half_of_what_reaches_the_prompt() -> None:
    board = board_of({"c": 1, "x": 0}, {"A": ["h1", "h2", "c"]})
    assert class_of(board) == MOSTLY_HOLES
    assert class_of(board_of({"c": 1, "x": 0}, {"A": ["h1", "x", "c"]})) == BELOW_BUDGET


def test_what_no_run_finds_is_told_from_what_another_run_finds() -> None:
    known = {"c": 1, "x": 0, "y": 0}
    assert class_of(board_of(known, {"A": ["x", "y"], "B": ["y"]})) == NEVER_RETRIEVED
    assert class_of(board_of(known, {"A": ["x", "y"], "B": ["y", "z", "c"]})) == OTHER_RUN_ONLY


SAME = "refunds are paid within three working days to the card you used"


def test_near_duplicates_crowd_out_only_what_would_rise_without_them() -> None:
    grades = {"c": 1, "x": 0, "y": 0, "z": 0}
    near = board_of(grades, {"A": ["x", "y", "c"]})
    texts = {"x": SAME, "y": f"{SAME}!".upper(), "c": "something else entirely"}
    assert class_of(near, text_of=numbers(near, texts)) == CROWDED_OUT
    assert class_of(near, text_of=numbers(near, texts).get) == CROWDED_OUT
    assert class_of(near) == BELOW_BUDGET, "without texts nothing is a near-duplicate"
    far = board_of(grades, {"A": ["x", "y", "z", "c"]})
    assert class_of(far, text_of=numbers(far, texts)) == BELOW_BUDGET
    apart = {**texts, "y": "a parcel is lost after ten days without news"}
    assert class_of(near, text_of=numbers(near, apart)) == BELOW_BUDGET


def test_outranked_needs_a_bar_that_a_hit_alone_does_not_clear() -> None:
    board = board_of({"c": 1, "x": 0}, {"A": ["x", "c"]})
    bar = Bar(parse("RR"), 1.0)
    found = diagnose(board, "A", bar=bar)["q"]
    assert found is not None
    assert (found.failure, found.value, found.rank, found.bar) == (OUTRANKED, 0.5, 2, bar)


def test_each_task_may_have_its_own_bar_and_each_query_its_own_budget() -> None:
    qrels = {"q1": {"c": 1, "x": 0}, "q2": {"c": 1, "x": 0}}
    facets = {"task": {"q1": "single", "q2": "research"}}
    collection = collect(qrels, {"A": {q: ["x", "c"] for q in qrels}}, facets)
    board = Scoreboard(collection, Conventions.of(budget=1, budget_by_task={"research": 2}))
    plain = diagnose(board, "A")
    assert plain["q1"] is not None
    assert plain["q2"] is None
    strict = diagnose(board, "A", bars={"research": Bar(parse("RR"), 0.6)})
    assert strict["q2"] is not None
    assert (strict["q1"], strict["q2"].failure) == (plain["q1"], OUTRANKED)


def test_a_bar_that_nothing_or_everything_is_below_is_refused() -> None:
    for least in (0.0, 1.5, math.nan):
        with pytest.raises(BadInput, match="a bar is above 0 and at most 1"):
            Bar(parse("RR"), least)


def test_unknown_names_are_answered_in_words() -> None:
    board = board_of({"c": 1}, {"A": ["c"]})
    with pytest.raises(NotFound, match="no run is called 'Z'; there are: A"):
        diagnose(board, "Z")
    with pytest.raises(NotFound, match="no facet is called 'topic'"):
        count_by_bucket(board, diagnose(board, "A"), "topic")


def test_every_class_says_what_it_means_and_which_lever_fits() -> None:
    assert len({each.name for each in CLASSES}) == 11
    for each in CLASSES:
        assert each.meaning.endswith(".")
        assert each.lever.endswith(".")


CHUNKS = [f"c{number}" for number in range(6)]


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3), min_size=1),
    st.lists(st.sampled_from(CHUNKS), unique=True),
    st.lists(st.sampled_from(CHUNKS), unique=True),
    st.sampled_from(["Success@budget", "RR", "nDCG@3", "R@budget"]),
)
def test_every_query_below_the_bar_has_one_class_and_no_other(
    grades: dict[str, int], ranked: list[str], other: list[str], name: str
) -> None:
    board = board_of(grades, {"A": ranked, "B": other})
    [measure] = board.conventions.measures(name)
    [found] = diagnose(board, "A", bar=Bar(measure, 0.5)).values()
    value = float(board.values(measure)[0, 0])
    assert (found is None) == (value >= 0.5)
    if found is not None:
        assert found.failure in CLASSES
        assert math.isnan(found.value) or found.value < 0.5
        assert (found.rank is None) or ranked[found.rank - 1] in grades


# Sample data ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scoreboard, dict[int, str]]:
    """The sample data as a board, and the text of every chunk by number."""
    path = tmp_path_factory.mktemp("sample") / "golden.db"
    for arguments in (
        ["queries", "queries.jsonl"],
        ["chunks", "chunks.jsonl"],
        *(["run", f"runs/{name}.trec"] for name in ("bm25", "lsa", "hybrid")),
        ["golden", "judgments.jsonl"],
    ):
        what, file = arguments
        result = CliRunner().invoke(main, ["--db", str(path), "load", what, str(SAMPLE / file)])
        assert result.exit_code == 0, result.output
    with Store(path) as store:
        collection, chunks = store.collection(), store.chunks()
    ids = {chunk_id: number for number, chunk_id in enumerate(collection.chunk_ids)}
    texts = {ids[chunk.chunk_id]: chunk.text or "" for chunk in chunks}
    return Scoreboard(collection, Conventions.of()), texts


def classes_in(
    sample: tuple[Scoreboard, dict[int, str]], run: str, bar: Bar | None = None
) -> dict[str, tuple[FailureClass, int | None]]:
    board, texts = sample
    found = diagnose(board, run, bar=bar, corpus=set(texts), text_of=texts)
    return {query: (each.failure, each.rank) for query, each in found.items() if each}


ANSWER_FIRST = Bar(parse("RR(rel=3)"), 1.0)
"""The sample's README speaks of the chunk graded 3, and of what stands above it."""


def test_sample_queries_without_an_answer_are_found(sample: Any) -> None:
    for run in ("bm25", "lsa", "hybrid"):
        found = classes_in(sample, run)
        assert {q for q, (each, _) in found.items() if each == NOTHING_RELEVANT} == NO_ANSWER


def test_sample_answers_in_other_words_are_never_retrieved(sample: Any) -> None:
    for run in ("bm25", "lsa", "hybrid"):
        found = classes_in(sample, run, ANSWER_FIRST)
        assert {q for q, (each, _) in found.items() if each == NEVER_RETRIEVED} == NOWHERE
    plain = {q for q, (each, _) in classes_in(sample, "hybrid").items() if each == NEVER_RETRIEVED}
    assert plain < NOWHERE, "for the others something of grade 1 or 2 is retrieved"


def test_sample_answers_too_low_are_below_the_budget_at_the_rank_promised(sample: Any) -> None:
    found = classes_in(sample, "hybrid")
    assert {query: found[query][0] for query in TOO_LOW} == dict.fromkeys(TOO_LOW, BELOW_BUDGET)
    found = classes_in(sample, "hybrid", ANSWER_FIRST)
    assert {query: found[query] for query in TOO_LOW} == {
        query: (BELOW_BUDGET, rank) for query, rank in TOO_LOW.items()
    }


def test_sample_lookalikes_outrank_the_right_chunk(sample: Any) -> None:
    found = classes_in(sample, "hybrid", ANSWER_FIRST)
    for query, rank in LOOKALIKE.items():
        assert found[query] == (OUTRANKED if rank <= 5 else BELOW_BUDGET, rank)


def test_other_classes_have_a_query_in_the_sample_too(sample: Any) -> None:
    found = {each for run in ("bm25", "lsa") for each, _ in classes_in(sample, run).values()}
    assert {OTHER_RUN_ONLY, MOSTLY_HOLES} < found
    board, texts = sample
    runs = (replace(run, lists={}) for run in board.collection.runs)
    empty = Scoreboard(replace(board.collection, runs=tuple(runs)), board.conventions)
    assert {each.failure for each in diagnose(empty, "lsa").values() if each} == {NO_RESULTS}
    small = {number: text for number, text in texts.items() if number % 7 == 0}
    lost = diagnose(board, "hybrid", corpus=set(small), text_of=small)
    assert NOT_IN_CORPUS in {each.failure for each in lost.values() if each}
    alike = dict.fromkeys(texts, SAME)
    crowded = diagnose(board, "hybrid", corpus=set(alike), text_of=alike)
    assert crowded["q-046"] is not None
    assert crowded["q-046"].failure == CROWDED_OUT, "rank 8, and four of the top five repeat"


def test_counts_add_up_and_say_whether_it_is_ranking(sample: Any) -> None:
    board, _ = sample
    found = diagnose(board, "hybrid")
    counts = count_classes(found)
    assert tuple(counts) == CLASSES
    assert sum(counts.values()) == sum(each is not None for each in found.values()) == 22
    assert in_words(found) == (
        "50% of failing queries are ranking, not recall (11 of 22); 32% cannot be told, because "
        "too little is known"
    )
    by_task = count_by_bucket(board, found, "task")
    assert tuple(by_task) == board.facets["task"]
    assert {each: sum(by_task[bucket][each] for bucket in by_task) for each in CLASSES} == counts, (
        "every sample query has a task"
    )
    unknown = {query: each for query, each in found.items() if query in NO_ANSWER}
    assert in_words(unknown) == (
        "too little is known of any failing query to tell ranking from recall (4)"
    )
    assert in_words({"q": None}) == in_words({}) == "no query fails"


# Reading ----------------------------------------------------------------------------------------


def kinds(board: Scoreboard, names: str, *bucket: str) -> list[str]:
    return [each.kind for each in cautions(board, board.conventions.measures(names), *bucket)]


def test_each_task_has_its_measures() -> None:
    labels = {
        task: [m.label for m in primary(Conventions.of(), task)]
        for task in ("single", "research", "compliance", "longtail", "other", None)
    }
    assert labels == {
        "single": ["Success@3", "RR"],
        "research": ["nDCG@10", "R@10"],
        "compliance": ["R@budget", "P@budget"],
        "longtail": ["nDCG@10"],
        "other": [],
        None: [],
    }


def many(size: int, task: str, grade: int = 1, holes: int = 0) -> Scoreboard:
    qrels = {f"q{number}": {"c": grade} for number in range(size)}
    ranked = ["c", *(f"h{number}" for number in range(holes))]
    facets = {"task": dict.fromkeys(qrels, task)}
    return Scoreboard(collect(qrels, {"A": dict.fromkeys(qrels, ranked)}, facets), Conventions())


def test_a_number_that_does_not_lie_has_no_caution() -> None:
    assert kinds(many(50, "research"), "nDCG@5 R@budget") == []


def test_few_queries_are_counted_in_the_bucket_that_is_shown() -> None:
    assert kinds(many(49, "research"), "nDCG@5") == ["few"]
    board = many(50, "research")
    assert kinds(board, "nDCG@5", "task", "research") == []
    with pytest.raises(NotFound, match="has no bucket 'single'; there are: research"):
        kinds(board, "nDCG@5", "task", "single")
    with pytest.raises(NotFound, match="no facet is called 'topic'"):
        kinds(board, "nDCG@5", "topic", "x")


def test_a_ranking_measure_leads_only_where_it_is_first() -> None:
    assert kinds(many(50, "single"), "nDCG@5 Success@3") == ["ranking leads"]
    assert kinds(many(50, "single"), "Success@3 nDCG@5") == []


def test_reciprocal_rank_is_not_for_research() -> None:
    assert kinds(many(50, "research"), "nDCG@5 RR") == ["RR for research"]
    assert kinds(many(50, "single"), "RR") == []


def test_what_lies_below_the_budget_never_reaches_the_prompt() -> None:
    assert kinds(many(50, "research"), "nDCG@5 R@6 Judged@10") == ["beyond the budget"]


def test_a_yes_or_no_measure_over_several_grades_is_said() -> None:
    board = many(60, "research")
    grades = board.collection.golden_grade.copy()
    grades[0] = 3
    graded = Scoreboard(replace(board.collection, golden_grade=grades), Conventions.of())
    [said] = cautions(graded, parse_all("R@5 P@5 R(rel=3)@5"))
    assert said.sentence == "R@5, P@5 count grades 1 and 3 alike; nDCG tells them apart"
    assert kinds(board, "R@5") == []


def test_holes_are_many_from_a_fifth_of_the_top_k() -> None:
    assert kinds(many(50, "research", holes=4), "nDCG@5") == ["holes"]
    [said] = cautions(many(50, "research", holes=4), parse_all("nDCG@5"))
    assert said.sentence == (
        "A: nobody has graded 80% of the top 5; what these are can move its values either way"
    )
    assert kinds(many(50, "research", holes=4), "nDCG@1") == []


def test_an_empty_golden_set_has_one_caution_and_no_error() -> None:
    board = Scoreboard(collect({"q": {}}, {"A": {"q": ["c"]}}), Conventions.of())
    assert kinds(board, "nDCG@10 RR") == ["few"]
    assert diagnose(board, "A") == {}
