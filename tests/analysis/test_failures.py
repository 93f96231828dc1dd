"""Why a query fails: one class, the first that matches, and where a number lies."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from labeler.analysis.failures import (
    Failure,
    FailureClass,
    FailureRule,
    LossAgainstRun,
    MinimumByTask,
    MinimumValue,
    UsefulInPrompt,
    count_by_bucket,
    describe_failures,
    describe_reranking,
    describe_reranking_of_query,
    describe_rule,
    tally_classes,
)
from labeler.analysis.failures.diagnosis import (
    BELOW_PARTLY,
    CROWDED_OUT,
    FAILURE_CLASSES,
    GENERATION,
    LOW_IN_TOP,
    NEVER_RETRIEVED,
    NO_RESULTS,
    NOT_IN_CORPUS,
    NOTHING_RELEVANT,
    OTHER_RUN_ONLY,
    SOME_TOO_LOW,
    TOO_FEW,
    TOO_LOW,
    UNANSWERED,
    UNCLEAR,
    count_classes,
    diagnose,
)
from labeler.cli import main
from labeler.errors import BadInput, NotFound
from labeler.evaluation import (
    Conventions,
    Scoreboard,
    collect,
    measures_for_task,
)
from labeler.measures import parse
from labeler.store import Store

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"

# What sample_data/README.md promises; the first has only 0 for grades.
NO_ANSWER = {"q-058", "q-083", "q-085", "q-101"}
NOWHERE = {"q-041", "q-044", "q-069", "q-077", "q-080", "q-086", "q-094"}
TOO_LOW_AT = {
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
        collect({"q": grades, "other": {}}, lists), Conventions.of(**{"prompt_k": 2, **conventions})
    )


def failure_of(board: Scoreboard, rule: FailureRule | None = None, **given: Any) -> Failure | None:
    found = diagnose(board, "A", rule, **given)
    assert "other" not in found, "nobody knows whether an ungraded query fails"
    return found["q"]


def class_of(
    board: Scoreboard, rule: FailureRule | None = None, **given: Any
) -> FailureClass | None:
    failure = failure_of(board, rule, **given)
    return failure.failure if failure else None


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
    assert class_of(board) == TOO_LOW
    for said in ({"unclear"}, ["unanswered", "unclear"]):
        assert class_of(board, said={"q": said}) == UNCLEAR
    assert class_of(board, said={"other": {"unclear"}, "gone": {"unclear"}}) == TOO_LOW
    assert class_of(board_of({"c": 0}, {"A": []}), said={"q": {"unclear"}}) == NO_RESULTS


def test_nothing_answers_a_query_until_a_relevant_chunk_is_known() -> None:
    said = {"q": ["unanswered"]}
    assert class_of(board_of({"c": 0}, {"A": ["c"]}), said=said) == UNANSWERED
    below = board_of({"c": 1, "x": 0}, {"A": ["x", "y", "c"]})
    assert class_of(below, said=said) == TOO_LOW, "somebody has found an answer"
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
    board = board_of({"gone": 3, "c": 2, "x": 0, "y": 0}, {"A": ["x", "y", "c"]})
    assert class_of(board, corpus=set(numbers(board, {"c": "", "x": ""}))) == TOO_LOW


def test_holes_are_no_reason_and_stand_beside_the_one_there_is() -> None:
    ranked = ["h1", "h2", "x", "c", "d", "y"]
    found = failure_of(board_of({"c": 1, "d": 1, "e": 1, "x": 0}, {"A": ranked}, prompt_k=3))
    assert found is not None
    assert found.failure == TOO_LOW, (
        "where the relevant chunks are is known, whatever the unjudged chunks"
    )
    assert found.places.mostly_unjudged
    assert found.places.sentence == (
        "3 known relevant: 0 in the top 3, 2 at 4–6, 1 never retrieved; 2 of the top 3 are unjudged"
    )
    half = failure_of(board_of({"c": 1, "x": 0}, {"A": ["h1", "x", "c"]}))
    assert half is not None
    assert not half.places.mostly_unjudged, "half is not most"
    assert half.places.sentence.endswith("1 at 3; 1 of the top 2 is unjudged")


def test_what_this_run_lacks_is_told_from_what_no_run_has() -> None:
    board = board_of({"c": 3, "d": 2, "e": 2, "x": 0}, {"A": ["x", "y", "c"], "B": ["d"]})
    found = failure_of(board)
    assert found is not None
    assert (found.places.below, found.places.elsewhere, found.places.nowhere) == (1, 1, 1)
    assert describe_failures({"q": found, "fine": None}, "it does")[-1] == (
        "3 known of grade 2 or better: 0 in the top 2, 1 further down, 2 never retrieved by "
        "this run (1 of them by another); 1 of the 2 chunks in their top 2 is unjudged"
    )


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
    assert class_of(near) == TOO_LOW, "without texts nothing is a near-duplicate"
    far = board_of(grades, {"A": ["x", "y", "z", "c"]})
    assert class_of(far, text_of=numbers(far, texts)) == TOO_LOW
    apart = {**texts, "y": "a parcel is lost after ten days without news"}
    assert class_of(near, text_of=numbers(near, apart)) == TOO_LOW


def test_what_stands_above_what_is_needed_tells_ranked_too_low_apart() -> None:
    about_it = {"old version": 1, "answer": 3, "x": 0}
    assert class_of(board_of(about_it, {"A": ["x", "old version", "answer"]})) == BELOW_PARTLY
    assert class_of(board_of(about_it, {"A": ["x", "y", "answer", "old version"]})) == TOO_LOW
    first = MinimumValue(parse("RR(rel=2)"), 1.0)
    found = failure_of(board_of(about_it, {"A": ["x", "answer"]}), first)
    assert found is not None
    assert (found.failure, found.asked.value, found.places.first) == (LOW_IN_TOP, 0.5, 2)
    both = board_of({"c": 1, "d": 1, "x": 0}, {"A": ["c", "x", "y", "d"]})
    assert class_of(both, MinimumValue(parse("R@3"), 0.9)) == SOME_TOO_LOW


def test_too_few_are_retrieved_where_even_the_best_order_would_fail() -> None:
    grades = {**dict.fromkeys("abcd", 1), "x": 0}
    bar = MinimumValue(parse("R@4"), 0.5)
    assert class_of(board_of(grades, {"A": ["x", "a", "y", "z"]}), bar) == TOO_FEW
    assert class_of(board_of(grades, {"A": ["x", "y", "z", "a", "b"]}), bar) == LOW_IN_TOP
    assert class_of(board_of(grades, {"A": ["x", "b", "y", "a"]}), bar) is None
    assert TOO_FEW.side == "recall"


# When a query fails -----------------------------------------------------------------------------


def test_a_chunk_that_is_no_use_alone_does_not_rescue_a_query() -> None:
    board = board_of({"about it": 1, "answer": 2}, {"A": ["about it", "x", "answer"]})
    assert class_of(board) == BELOW_PARTLY
    assert describe_rule(board, UsefulInPrompt()) == (
        "the top 2 hold no chunk of grade 2 or better (of grade 1 where none is better)"
    )
    assert class_of(board, MinimumValue(parse("Success@2"), 1.0)) is None, (
        "who asks for less gets it"
    )


def test_where_nothing_is_better_than_grade_1_that_is_enough() -> None:
    board = board_of({"c": 1, "x": 0}, {"A": ["c", "x"]})
    assert class_of(board) is None
    assert describe_rule(board, UsefulInPrompt()) == (
        "the top 2 hold no chunk of grade 1 or better"
    )
    qrels = {"q": {"c": 1}, "better": {"d": 3}}
    both = Scoreboard(
        collect(qrels, {"A": {"q": ["c"], "better": ["e", "f"]}}), Conventions.of(prompt_k=1)
    )
    assert [each and each.failure for each in diagnose(both, "A").values()] == [
        None,
        NEVER_RETRIEVED,
    ]


def test_the_teams_own_threshold_counts_where_it_is_higher() -> None:
    ranked = {"A": ["two", "x", "three"]}
    board = board_of({"two": 2, "three": 3, "x": 0}, ranked, rel=3)
    assert class_of(board) == BELOW_PARTLY
    assert "hold no chunk of grade 3" in describe_rule(board, UsefulInPrompt())
    assert class_of(board_of({"c": 1}, {"A": ["c"]}, rel=2)) == NOTHING_RELEVANT


@pytest.mark.parametrize(
    ("name", "least"),
    [
        *(("Success@3", 1.0), ("hit@5", 1.0), ("NumRet", 1.0), ("nDCG@10", 0.5), ("ERR", 0.5)),
        *(("RBP", 0.5), ("AP", 0.5), ("RR", 0.5), ("R@5", 0.5), ("P@5", 0.5)),
    ],
)
def test_a_measure_brings_a_bar_of_its_own(name: str, least: float) -> None:
    assert MinimumValue.usual(parse(name)).least == least


def test_a_query_with_a_poor_value_fails_by_the_usual_bar_and_a_perfect_one_never() -> None:
    poor = board_of({"c": 3, "d": 3, "e": 3, "x": 0}, {"A": ["x", "y", "z", "c"]}, prompt_k=5)
    perfect = board_of({"c": 1, "x": 0}, {"A": ["c", "x"]}, prompt_k=5)
    for name in ("nDCG@10", "ERR@10", "RBP", "AP", "RR", "R@3", "P@5"):
        assert class_of(poor, MinimumValue.usual(parse(name))) is not None
        assert class_of(perfect, MinimumValue.usual(parse(name))) is None, (
            "a perfect list cannot fail"
        )
    assert describe_rule(perfect, MinimumValue.usual(parse("P@5"))) == (
        "P@5 is below 0.5, or below the best its grades allow where that is less"
    )
    assert (
        describe_rule(poor, MinimumValue.usual(parse("nDCG@10", dcg="exp-log2")))
        == "nDCG@10 is below 0.5"
    )


def test_the_top_of_a_list_is_as_deep_as_the_measure_that_is_asked_for() -> None:
    board = board_of({"c": 1, "x": 0}, {"A": ["x", "y", "z", "c"]})
    found = failure_of(board, MinimumValue(parse("nDCG@10"), 0.9))
    assert found is not None
    assert (found.failure, found.places.k, found.places.top) == (LOW_IN_TOP, 10, 1)


def test_against_a_run_a_query_fails_where_it_loses() -> None:
    board = board_of({"c": 1, "x": 0}, {"A": ["x", "c"], "B": ["c"], "C": ["y"]})
    loss = LossAgainstRun("B", parse("RR"))
    assert class_of(board, loss) == LOW_IN_TOP
    assert class_of(board, LossAgainstRun("B", parse("RR"), 0.6)) is None, "it loses 0.5 alone"
    assert class_of(board, LossAgainstRun("C", parse("RR"))) is None, "it wins"
    assert class_of(board, LossAgainstRun("A", parse("RR"))) is None, "it is the same"
    assert describe_rule(board, loss) == "the run loses 0.05 or more against A, B, by RR"
    dark = board_of({"c": 0}, {"A": ["c"], "B": ["c"]})
    assert class_of(dark, LossAgainstRun("B", parse("RR"))) is None, (
        "nobody can lose what nobody has"
    )
    with pytest.raises(NotFound, match="no run is called 'Z'"):
        diagnose(board, "A", LossAgainstRun("Z", parse("RR")))
    with pytest.raises(BadInput, match="a loss is above 0 and at most 1"):
        LossAgainstRun("B", parse("RR"), 0.0)


def test_a_loss_of_exactly_as_much_is_a_loss() -> None:
    grades = dict.fromkeys("abcdefghijklmnopqrst", 1)
    board = board_of(grades, {"A": ["a"], "B": ["a", "b"]})
    assert class_of(board, LossAgainstRun("B", parse("R"))) is not None, (
        "0.10 - 0.05, and not quite in bits"
    )


def test_each_task_may_have_its_own_bar_and_each_query_its_own_budget() -> None:
    qrels = {"q1": {"c": 1, "x": 0}, "q2": {"c": 1, "x": 0}}
    facets = {"task": {"q1": "single", "q2": "research"}}
    collection = collect(qrels, {"A": {q: ["x", "c"] for q in qrels}}, facets)
    board = Scoreboard(collection, Conventions.of(prompt_k=1, prompt_k_by_task={"research": 2}))
    plain = diagnose(board, "A")
    assert plain["q1"] is not None
    assert plain["q2"] is None
    strict = diagnose(board, "A", MinimumByTask({"research": MinimumValue(parse("RR"), 0.6)}))
    assert strict["q2"] is not None
    assert (strict["q1"], strict["q2"].failure) == (plain["q1"], LOW_IN_TOP)


def test_no_task_asks_for_a_perfect_ranking() -> None:
    bars = MinimumByTask.usual(Conventions.of()).bars
    assert {task: (bar.measure.label, bar.least) for task, bar in bars.items()} == {
        "single": ("Success@3", 1.0),
        "research": ("nDCG@10", 0.5),
        "compliance": ("R@prompt", 0.5),
        "longtail": ("nDCG@10", 0.5),
    }


def test_a_bar_that_nothing_or_everything_is_below_is_refused() -> None:
    for least in (0.0, 1.5, math.nan):
        with pytest.raises(BadInput, match="a bar is above 0 and at most 1"):
            MinimumValue(parse("RR"), least)


def test_unknown_names_are_answered_in_words() -> None:
    board = board_of({"c": 1}, {"A": ["c"]})
    with pytest.raises(NotFound, match="no run is called 'Z'; there are: A"):
        diagnose(board, "Z")
    with pytest.raises(NotFound, match="no facet is called 'topic'"):
        count_by_bucket(board, diagnose(board, "A"), "topic")


def test_every_class_says_what_it_means_and_which_lever_fits() -> None:
    assert len({each.name for each in FAILURE_CLASSES}) == len(FAILURE_CLASSES) == 13
    for each in FAILURE_CLASSES:
        assert each.meaning.endswith(".")
        assert each.lever.endswith(".")


CHUNKS = [f"c{number}" for number in range(6)]


@given(
    st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3), min_size=1),
    st.lists(st.sampled_from(CHUNKS), unique=True),
    st.lists(st.sampled_from(CHUNKS), unique=True),
    st.sampled_from(["Success@prompt", "RR", "nDCG@3", "R@prompt"]),
)
def test_every_query_below_the_bar_has_one_class_and_no_other(
    grades: dict[str, int], ranked: list[str], other: list[str], name: str
) -> None:
    board = board_of(grades, {"A": ranked, "B": other})
    [measure] = board.conventions.measures(name)
    [found] = diagnose(board, "A", MinimumValue(measure, 0.5)).values()
    value = float(board.values(measure)[0, 0])
    best = float(board.measured(measure, board.hits("A", "q").ideal, ["q"])[0])
    assert (found is None) == (value >= min(0.5, best) - 1e-12)
    if found is not None:
        places = found.places
        assert found.failure in FAILURE_CLASSES
        assert places.known == sum(grade >= places.rel for grade in grades.values())
        assert places.top + places.below == sum(
            grades.get(chunk, 0) >= places.rel for chunk in ranked
        )
        assert (places.first is None) or grades[ranked[places.first - 1]] >= places.rel


@given(
    st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3), min_size=1),
    st.lists(st.sampled_from(CHUNKS), unique=True, min_size=1),
    st.sampled_from(["Success@prompt", "RR", "nDCG@3", "R@prompt", "P@4", "RBP", "ERR@3"]),
)
@example({"c0": 0, "c1": 1, "c2": 1, "c3": 1, "c4": 2}, ["c0", "c1", "c2", "c3"], "nDCG@3")
def test_ranking_is_what_the_best_order_of_the_list_would_mend_and_recall_what_none_would(
    grades: dict[str, int], ranked: list[str], name: str
) -> None:
    best = sorted(ranked, key=lambda chunk: -grades.get(chunk, 0))
    now, then = (board_of(grades, {"A": order}) for order in (ranked, best))
    rule = MinimumValue.usual(now.conventions.measures(name)[0])
    found = class_of(now, rule)
    if found is not None and found.side == "ranking":
        assert class_of(then, rule) is None
    if found is not None and found.side == "recall":
        assert class_of(then, rule) is not None


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
        collection, chunks = store.collection.read(), store.chunks.all()
    ids = {chunk_id: number for number, chunk_id in enumerate(collection.chunk_ids)}
    texts = {ids[chunk.chunk_id]: chunk.text or "" for chunk in chunks}
    return Scoreboard(collection, Conventions.of()), texts


def classes_in(
    sample: tuple[Scoreboard, dict[int, str]], run: str, rule: FailureRule | None = None
) -> dict[str, tuple[FailureClass, int | None]]:
    board, texts = sample
    found = diagnose(board, run, rule, corpus=set(texts), text_of=texts)
    return {query: (each.failure, each.places.first) for query, each in found.items() if each}


ANSWER_FIRST = MinimumValue(parse("RR(rel=3)"), 1.0)
"""For the look-alikes the sample's README speaks of what stands above the chunk graded 3."""


README = (SAMPLE / "README.md").read_text(encoding="utf-8")


def planted(heading: str) -> dict[str, str]:
    """What the sample's README says of each query in the part that begins so, by query."""
    part = README.split(f"**{heading}", 1)[1].split("\n**", 1)[0].split("\n## ", 1)[0]
    found = re.findall(r"(?<=\| )q-.*|q-[0-9]{3}[^|,.\n]*", part)
    return {said[:5]: said for said in reversed(found)}


def test_the_samples_readme_names_the_queries_that_these_tests_speak_of() -> None:
    assert set(planted("The answer is in no document")) == NO_ANSWER
    assert set(planted("Never retrieved")) == NOWHERE
    assert set(planted("Retrieved too low")) == set(TOO_LOW_AT)
    assert set(planted("Outranked")) - {"q-011"} == set(LOOKALIKE)


def test_sample_queries_without_an_answer_are_found(sample: Any) -> None:
    for run in ("bm25", "lsa", "hybrid"):
        found = classes_in(sample, run)
        assert {q for q, (each, _) in found.items() if each == NOTHING_RELEVANT} == NO_ANSWER


def test_sample_answers_in_other_words_are_never_retrieved(sample: Any) -> None:
    for run in ("bm25", "lsa", "hybrid"):
        found = classes_in(sample, run)
        assert {q for q, (each, _) in found.items() if each == NEVER_RETRIEVED} == NOWHERE


@pytest.mark.parametrize("query", TOO_LOW_AT)
def test_a_sample_answer_too_low_is_found_at_the_rank_promised(sample: Any, query: str) -> None:
    assert classes_in(sample, "hybrid")[query] == (TOO_LOW, TOO_LOW_AT[query])
    said = planted("Retrieved too low")[query]
    assert re.search(r"\(\D*([0-9]+)\)", said).group(1) == str(TOO_LOW_AT[query])


@pytest.mark.parametrize("query", LOOKALIKE)
def test_a_sample_lookalike_is_what_the_readme_says_of_it(sample: Any, query: str) -> None:
    """By default where a look-alike of grade 1 is in the prompt and the answer is not."""
    rank = LOOKALIKE[query]
    by_default, by_rank = classes_in(sample, "hybrid"), classes_in(sample, "hybrid", ANSWER_FIRST)
    cells = [cell.strip() for cell in planted("Outranked")[query].split("|")]
    assert cells[2] == str(rank)
    found = by_default.get(query)
    assert cells[-2] == (found[0].name if found else "does not fail")
    expected = TOO_LOW if query == "q-001" else LOW_IN_TOP if rank <= 5 else BELOW_PARTLY
    assert by_rank[query] == (expected, rank)


def test_other_classes_have_a_query_in_the_sample_too(sample: Any) -> None:
    found = {each for run in ("bm25", "lsa") for each, _ in classes_in(sample, run).values()}
    assert {OTHER_RUN_ONLY, BELOW_PARTLY, TOO_LOW} < found
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
    assert tuple(counts) == FAILURE_CLASSES
    assert sum(counts.values()) == sum(each is not None for each in found.values()) == 30
    assert describe_failures(found, describe_rule(board, UsefulInPrompt())) == [
        "30 of 97 graded queries fail: the top 5 hold no chunk of grade 2 or better (of grade 1 "
        "where none is better)",
        "ranking 19 (relevant chunks are in the list, in a poor order: a reranker can help) · "
        "recall 7 (they are not in the list, or too few: no reranker can help) · "
        "unknown 4 (no relevant chunk is known)",
        "29 known of grade 2 or better: 0 in the top 5, 21 further down, 8 never retrieved; 13 of "
        "the 150 chunks in their top 5 are unjudged, more than half in 3 queries",
    ]
    by_task = count_by_bucket(board, found, "task")
    assert tuple(by_task) == board.facets["task"]
    assert {
        each: sum(by_task[bucket][each] for bucket in by_task) for each in FAILURE_CLASSES
    } == counts, "every sample query has a task"
    [name, failure] = next((name, each) for name, each in found.items() if each)
    [*_, places] = describe_failures({name: failure}, "it rains")
    answered = replace(failure, failure=GENERATION)
    assert describe_failures({name: failure, "answered": answered}, "it rains")[-1] == (
        f"without the wrong answers, {places}"
    )
    fine = ["0 of 1 graded queries fail; one fails where it rains"]
    assert describe_failures({"q": None}, "it rains") == fine


def test_classes_are_tallied_with_where_their_chunks_are_the_most_frequent_first(
    sample: Any,
) -> None:
    board, _ = sample
    found = tally_classes(diagnose(board, "hybrid"))
    assert [(kind, each.queries) for kind, each in found.items() if each.queries] == [
        *((TOO_LOW, 13), (NEVER_RETRIEVED, 7), (BELOW_PARTLY, 6), (NOTHING_RELEVANT, 4)),
    ]
    assert found[TOO_LOW] == (13, 0, 14, 0, 3)
    assert found[NEVER_RETRIEVED] == (7, 0, 0, 8, 0)
    assert set(found) == set(FAILURE_CLASSES)


def test_where_reranking_did_not_help_it_is_said_whether_that_is_recall() -> None:
    qrels = {f"q{n}": {"c": 3, "x": 0} for n in range(5)} | {"q5": {"x": 0}}
    first = {"q0": ["x", "y"], "q1": ["x", "y", "c"], "q2": ["x", "c"], "q3": ["x", "z"]}
    again = {"q0": ["y", "x"], "q1": ["y", "x", "c"], "q2": ["c", "x"], "q3": ["w", "v"]}
    first |= {"q4": ["x", "y", "c"], "q5": ["x"]}
    again |= {"q4": ["y", "x"], "q5": ["x"]}
    board = Scoreboard(collect(qrels, {"A": first, "B": again}), Conventions.of(prompt_k=1))
    in_a, in_b = diagnose(board, "A"), diagnose(board, "B")
    assert describe_reranking(board, "A", "B", in_a, in_b) == (
        "B holds nothing that A did not find in 4 of 5 queries that fail in both; for 1 what is "
        "needed is in neither list: reranking did not help, so it is recall; for 1 what is needed "
        "is in A's list, and B left it out: keep more of what is reranked; for 1 what is needed is "
        "in the list, and reranking did not bring it up; for 1 that is unknown"
    )
    assert [
        describe_reranking_of_query(board, "A", "B", in_a[name], in_b[name])
        for name in ("q0", "q4", "q2", "q3", "q5")
    ] == [
        "B holds nothing here that A did not find; what is needed is in neither list: reranking "
        "did not help, so it is recall",
        "B holds nothing here that A did not find; what is needed is in A's list, and B left it "
        "out: keep more of what is reranked",
        "",
        "",
        "",
    ], "q2 is fine in B, for q3 B found other chunks, and of q5 nobody knows what it needs"
    assert describe_reranking(board, "B", "A", {}, in_a) == "", "nothing fails in both"


def test_one_query_is_diagnosed_as_it_is_among_all(sample: Any) -> None:
    board, texts = sample
    whole = diagnose(board, "hybrid", corpus=set(texts), text_of=texts)
    assert diagnose(board, "hybrid", corpus=set(texts), text_of=texts, only=["q-041"]) == {
        "q-041": whole["q-041"]
    }


@pytest.mark.parametrize("grade", [0, 1, 3])
def test_a_set_of_one_grade_is_diagnosed_as_any_other(grade: int) -> None:
    board = board_of({"c": grade, "d": grade}, {"A": ["x", "y", "c"], "B": None})
    expected = TOO_LOW if grade else NOTHING_RELEVANT
    assert class_of(board) == expected
    lacking = diagnose(board, "B")["q"]
    assert lacking is not None
    assert lacking.failure == NO_RESULTS


# Reading ----------------------------------------------------------------------------------------


def test_each_task_has_its_measures() -> None:
    labels = {
        task: [m.label for m in measures_for_task(Conventions.of(), task)]
        for task in ("single", "research", "compliance", "longtail", "other", None)
    }
    assert labels == {
        "single": ["Success@3", "RR"],
        "research": ["nDCG@10", "R@10"],
        "compliance": ["R@prompt", "P@prompt"],
        "longtail": ["nDCG@10"],
        "other": [],
        None: [],
    }
