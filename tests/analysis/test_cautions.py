"""Cautions beside means: each trap is named by its symptom, and nothing is said where none is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labeler.analysis.cautions import caution_notes, find_cautions
from labeler.errors import NotFound
from labeler.evaluation import DEFAULT_MEASURES, Conventions, Scoreboard, collect
from labeler.model import Selection, Settings, Traffic
from labeler.model.results import CAUTION, Statement

DEFAULTS = " ".join(DEFAULT_MEASURES)
Ranked = Sequence[str]


def cautions(board: Scoreboard, names: str = DEFAULTS, **how: Any) -> list[Statement]:
    return find_cautions(board, board.conventions.measures(names), most=None, **how)


def kinds(board: Scoreboard, names: str = DEFAULTS, **how: Any) -> list[str]:
    return [each.kind for each in cautions(board, names, **how)]


def sentence(board: Scoreboard, names: str = DEFAULTS, **how: Any) -> str:
    [found] = cautions(board, names, **how)
    return found.sentence


def alike(
    size: int,
    task: str,
    grades: Mapping[str, int],
    runs: Mapping[str, Sequence[Ranked]],
    **facets: Mapping[str, str],
) -> Scoreboard:
    """Make a board of queries with the same grades; lists of a run are taken in turn."""
    names = [f"q{n}" for n in range(size)]
    lists = {
        run: {name: given[n % len(given)] for n, name in enumerate(names)}
        for run, given in runs.items()
    }
    given = {"task": dict.fromkeys(names, task), **facets}
    return Scoreboard(collect(dict.fromkeys(names, grades), lists, given), Conventions.of())


def clean(seed: int, size: int = 80) -> Scoreboard:
    """Make a set without a trap: two runs, one a little better, each chunk of a top 10 graded."""
    source = np.random.default_rng(seed)
    names = [f"q{n}" for n in range(size)]
    tasks = ("single", "research", "compliance", "longtail")
    facets: dict[str, dict[str, str]] = {"task": {}, "topic": {}}
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, list[str]]] = {"A": {}, "B": {}}
    for name in names:
        facets["task"][name] = tasks[source.integers(4)]
        facets["topic"][name] = f"t{source.integers(5)}"
        many = 1 if facets["task"][name] == "single" else int(source.integers(2, 5))
        grades = {f"r{n}": int(source.integers(1, 4)) for n in range(many)}
        qrels[name] = {**dict.fromkeys((f"x{n}" for n in range(20)), 0), **grades}
        for run, noise in (("A", 1.0), ("B", 0.9)):
            worth = {chunk: grade > 0 for chunk, grade in qrels[name].items()}
            score = {c: 2.2 * w + noise * source.normal() for c, w in worth.items()}
            runs[run][name] = sorted(score, key=score.__getitem__, reverse=True)
    return Scoreboard(collect(qrels, runs, facets), Conventions.of())


@pytest.mark.parametrize("names", [DEFAULTS, "Success@3 RR", "R@5", "P@5 nDCG@10", "R@10", "AP"])
def test_a_clean_set_has_no_caution(names: str) -> None:
    said = [found.sentence for seed in range(30) for found in cautions(clean(seed), names)]
    assert said == []


def test_a_clean_set_of_forty_is_told_at_most_that_it_is_small() -> None:
    assert {kind for seed in range(30) for kind in kinds(clean(seed, 40))} <= {"wide interval"}


# The size of the set, and which queries are in it


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (1, "Only 1 query is in the mean: any difference may be chance."),
        (9, "Only 9 queries are in the mean: any difference may be chance."),
        (11, "11 queries say little: "),
    ],
)
def test_fewer_than_ten_queries_are_too_few_for_any_difference(size: int, said: str) -> None:
    board = alike(size, "research", {"a": 3}, {"A": [["a"]]})
    assert sentence(board).startswith(said)


def test_few_queries_are_counted_in_the_bucket_that_is_shown() -> None:
    names = [f"q{n}" for n in range(100)]
    topic = {name: "rare" if n < 4 else "common" for n, name in enumerate(names)}
    board = alike(100, "research", {"a": 3}, {"A": [["a"]]}, topic=topic)
    assert kinds(board) == []
    assert kinds(board, facet="topic") == []
    assert sentence(board, facet="topic", bucket="rare") == (
        "Only 4 queries are in the mean in topic = rare: any difference may be chance."
    )
    with pytest.raises(NotFound, match="has no bucket 'none'; there are: "):
        kinds(board, facet="topic", bucket="none")
    with pytest.raises(NotFound, match="no facet is called 'x'"):
        kinds(board, facet="x")
    with pytest.raises(NotFound, match="no run is called 'C'"):
        kinds(board, runs=["C"])


def test_the_interval_says_whether_queries_are_few_and_not_their_number() -> None:
    found, lost = ["a"], ["x"]
    grades = {"a": 3, "x": 0}
    assert kinds(alike(40, "research", grades, {"A": [found]})) == []
    assert kinds(alike(200, "research", grades, {"A": [found, lost]})) == []
    said = sentence(alike(40, "research", grades, {"A": [found, lost], "B": [found]}))
    assert said.startswith(
        "40 queries say little: nDCG@10 of A is 0.50, with a 95% confidence interval from "
    )


def test_a_set_without_a_judged_query_has_one_caution_and_no_error() -> None:
    board = Scoreboard(collect({"q": {}}, {"A": {"q": ["c"]}}), Conventions.of())
    assert sentence(board, "nDCG@10 RR") == "No query is judged: there is no mean yet."
    assert kinds(board, "Judged@10") == []


def with_leaks(size: int, leaked: int, how: Selection | None = None) -> Scoreboard:
    """Make a set in which the first queries leaked, which the run answers well."""
    names = [f"q{n}" for n in range(size)]
    lists = {name: ["a", "x"] if n < leaked else ["x", "a"] for n, name in enumerate(names)}
    found = collect({name: {"a": 1, "x": 0} for name in names}, {"A": lists})
    conventions = Conventions.of() if how is None else Conventions.of(selected=how)
    return Scoreboard(replace(found, leaked=frozenset(names[:leaked])), conventions)


def test_leaked_queries_in_the_mean_are_counted_with_the_mean_without_them() -> None:
    assert sentence(with_leaks(200, 2), "RR") == (
        "2 of the 200 queries in the mean are marked as leaked: without them RR of A is 0.50 "
        "instead of 0.51."
    )
    assert sentence(with_leaks(200, 30), "RR") == (
        "30 of the 200 queries in the mean are marked as leaked: without them RR of A is 0.50 "
        "instead of 0.57."
    )
    assert "1 of the 200 queries in the mean is marked as leaked: without it RR" in sentence(
        with_leaks(200, 1), "RR"
    )
    assert "no other query is left." in cautions(with_leaks(12, 12), "RR")[0].sentence
    assert "without them Success@3 of A stays 1.00." in sentence(with_leaks(200, 2), "Success@3")


def test_leaked_queries_that_do_not_count_are_not_warned_of() -> None:
    for how in (Selection(leaked="without"), Selection(leaked="only")):
        assert "leaked" not in kinds(with_leaks(200, 15, how), "RR")
    assert kinds(with_leaks(200, 0), "RR") == []
    board = with_leaks(200, 2)
    not_judged = board.collection.golden_query > 1
    arrays = ("golden_query", "golden_chunk", "golden_grade", "stale")
    without = {name: getattr(board.collection, name)[not_judged] for name in arrays}
    assert kinds(Scoreboard(replace(board.collection, **without), board.conventions), "RR") == []


# A measure that does not fit the task

SEVERAL = {**dict.fromkeys("abcdef", 2), **dict.fromkeys("uvwxyz", 0)}


def test_a_ranking_measure_for_single_answers_is_named_where_rr_prefers_the_other_run() -> None:
    first_only, all_later = [*"auvwxy"], [*"ubcdef"]
    board = alike(100, "single", SEVERAL, {"A": [first_only], "B": [all_later]})
    assert sentence(board, "nDCG@10 RR", runs=["A", "B"]) == (
        "100 of 100 queries want a single answer: for them nDCG@10 puts B ahead of A (+0.39), but "
        "RR puts A ahead (+0.50). RR fits a single answer."
    )
    assert "ranking leads" in kinds(board, "P@5")
    for fits in ("RR nDCG@10", "Success@3 nDCG@10"):
        assert kinds(board, fits, runs=["A", "B"]) == []


def test_a_ranking_measure_for_single_answers_is_named_where_one_run_only_looks_good() -> None:
    board = alike(100, "single", SEVERAL, {"A": [[*"ubcdefa"]]})
    assert sentence(board, "nDCG@10") == (
        "100 of 100 queries want a single answer: nDCG@10 of A is 0.80 for them by chunks after "
        "the first relevant one, and RR is only 0.50. RR fits a single answer."
    )
    assert kinds(alike(100, "research", SEVERAL, {"A": [[*"ubcdefa"]]}), "nDCG@10") == []


def test_a_ranking_measure_for_single_answers_is_fine_where_rr_says_the_same() -> None:
    one = {"a": 3, **dict.fromkeys("uvwxyz", 0)}
    for at in range(1, 7):
        ranked = [*"uvwxyz"]
        ranked.insert(at - 1, "a")
        board = alike(100, "single", one, {"A": [ranked], "B": [[*"auv"]]})
        assert "ranking leads" not in kinds(board, "nDCG@10 RR")


def test_rr_for_several_chunks_is_named_where_most_of_them_are_missing() -> None:
    board = alike(100, "research", SEVERAL, {"A": [[*"auvwxyz"]]})
    assert sentence(board, "RR") == (
        "100 of 100 queries want several chunks: RR of A is 1.00 for them by the first relevant "
        "chunk alone, but its top 10 hold only 0.17 of the relevant chunks. R@10 and nDCG@10 fit "
        "them."
    )
    assert kinds(board, "nDCG@10 RR") == [], "RR does not lead"
    assert kinds(alike(100, "research", SEVERAL, {"A": [[*"abcdefu"]]}), "RR") == []
    assert kinds(alike(100, "single", SEVERAL, {"A": [[*"auvwxyz"]]}), "RR") == []
    assert kinds(alike(100, "research", {"a": 2, "u": 0}, {"A": [[*"au"]]}), "RR") == []


def test_rr_for_several_chunks_is_named_where_it_prefers_the_run_that_finds_fewer() -> None:
    board = alike(100, "compliance", SEVERAL, {"A": [[*"auvwx"]], "B": [[*"uabcdef"]]})
    assert sentence(board, "RR", runs=["B", "A"]) == (
        "100 of 100 queries want several chunks: for them RR puts A ahead of B (+0.50), but R@10 "
        "puts B ahead (+0.83). R@10 and nDCG@10 fit them."
    )


def test_runs_that_two_measures_order_differently_by_chance_are_not_named() -> None:
    first_only, all_later, same = [*"auvwxy"], [*"ubcdef"], [*"abcdef"]
    few = [same] * 98
    runs = {"A": [*few, first_only, first_only], "B": [*few, all_later, all_later]}
    assert kinds(alike(100, "single", SEVERAL, runs), "nDCG@10 RR") == []


# Ranks below the prompt


def test_a_measure_that_counts_what_is_below_the_prompt_is_named_with_its_share() -> None:
    good, late = [*"auvwx"], [*"uvwxyza"]
    grades = {"a": 3, **dict.fromkeys("uvwxyz", 0)}
    board = alike(100, "research", grades, {"A": [late, late, late, late, good]})
    assert sentence(board, "R@10") == (
        "R@10 of A is 1.00, but only 0.20 of the relevant chunks are in the prompt (5 chunks)."
    )
    assert kinds(board, "R@5") == kinds(board, "R@prompt Judged@10")
    all_late = alike(100, "research", grades, {"A": [late]})
    assert sentence(all_late, "nDCG@10 R@prompt") == (
        "nDCG@10 of A is 0.33, but only 0.00 if no more than the prompt counts (5 chunks)."
    )
    mostly_good = alike(100, "research", grades, {"A": [good, good, good, good, late]})
    assert kinds(mostly_good, "R@10") == []


def test_ranks_below_the_prompt_are_named_for_a_handful_of_queries_too() -> None:
    grades = {"a": 3, **dict.fromkeys("uvwxyz", 0)}
    board = alike(3, "research", grades, {"A": [[*"uvwxyza"]]})
    assert [each.sentence for each in cautions(board, "R@10")] == [
        "Only 3 queries are in the mean: any difference may be chance.",
        "R@10 of A is 1.00, but none of the relevant chunks are in the prompt (5 chunks).",
    ]


def test_the_prompt_is_that_of_each_task() -> None:
    grades = {"a": 3, **dict.fromkeys("uvwxyz", 0)}
    late = alike(100, "research", grades, {"A": [[*"uvwxyza"]]})
    larger = Conventions.of(prompt_k_by_task={"research": 10})
    assert kinds(late, "R@10") == ["beyond the prompt"]
    assert kinds(Scoreboard(late.collection, larger), "R@10") == []


# Grades taken as yes or no

GRADED = {"a": 3, "b": 3, "c": 1, "d": 1, "x": 0}


def test_a_yes_or_no_measure_is_named_where_grades_tell_two_runs_apart() -> None:
    board = alike(100, "longtail", GRADED, {"A": [[*"abx"]], "B": [[*"cdx"]]})
    assert sentence(board, "P@2", runs=["A", "B"]) == (
        "P@2 counts grades 1 and 3 alike and sees no difference between A and B, but nDCG@2 puts "
        "A ahead of B (+0.86)."
    )
    more = alike(100, "longtail", GRADED, {"A": [[*"abx"]], "B": [[*"cdb"]]})
    assert "P@3 counts grades 1 and 3 alike: P@3 puts B ahead of A (+0.33), but nDCG@3" in sentence(
        more, "P@3", runs=["A", "B"]
    )
    assert kinds(board, "nDCG@10 P@2", runs=["A", "B"]) == [], "P@2 does not lead"


def test_a_yes_or_no_measure_is_named_where_one_run_has_low_grades_on_top() -> None:
    board = alike(100, "longtail", GRADED, {"A": [[*"cd"]]})
    assert sentence(board, "P@2") == (
        "P@2 counts grades 1 and 3 alike: nDCG@2 of A is 0.14, and would be 1.00 if all relevant "
        "chunks had the same grade."
    )


def test_a_yes_or_no_measure_is_fine_where_grades_change_nothing() -> None:
    assert kinds(alike(100, "longtail", GRADED, {"A": [[*"abcdx"]]}), "P@5") == []
    same = dict.fromkeys("abcd", 2) | {"x": 0}
    assert kinds(alike(100, "longtail", same, {"A": [[*"xab"]], "B": [[*"abx"]]}), "P@5") == []
    by_rank = {"A": [[*"abcdx"]], "B": [[*"xabcd"]]}
    assert kinds(alike(100, "longtail", GRADED, by_rank), "P@5", runs=["A", "B"]) == []


# What a mean hides


def test_a_bucket_far_below_the_mean_is_named() -> None:
    names = [f"q{n}" for n in range(60)]
    topic = {name: "legal" if n % 5 == 0 else "other" for n, name in enumerate(names)}
    runs = {"A": [["x", "y"], ["a"], ["a"], ["a"], ["a"]]}
    board = alike(60, "research", {"a": 3, "x": 0, "y": 0}, runs, topic=topic)
    [found] = [each for each in cautions(board) if each.kind == "low bucket"]
    assert found.sentence == (
        "The mean hides a low bucket: nDCG@10 of A is 0.80 over all queries, but 0.00 in topic = "
        "legal (12 queries)."
    )
    assert (found.numbers["facet"], found.numbers["bucket"]) == ("topic", "legal")
    assert "low bucket" not in kinds(board, facet="topic"), "the table has the buckets"
    assert "low bucket" not in kinds(board, facet="topic", bucket="other")


def test_a_bucket_of_fewer_than_ten_or_low_by_chance_is_not_named() -> None:
    names = [f"q{n}" for n in range(60)]
    few = {name: "legal" if n < 45 and n % 5 == 0 else "other" for n, name in enumerate(names)}
    runs = {"A": [["x", "y"], ["a"], ["a"], ["a"], ["a"]]}
    board = alike(60, "research", {"a": 3, "x": 0, "y": 0}, runs, topic=few)
    assert "low bucket" not in kinds(board)
    source, named = np.random.default_rng(4), 0
    for _ in range(40):
        drawn = dict(zip(names, source.choice(["s", "t", "u", "v"], 60).tolist(), strict=True))
        by_chance = alike(60, "research", {"a": 3, "x": 0, "y": 0}, runs, topic=drawn)
        named += "low bucket" in kinds(by_chance)
    assert named <= 2


def test_two_compared_runs_are_not_told_of_a_bucket_that_is_low_in_one() -> None:
    names = [f"q{n}" for n in range(60)]
    topic = {name: "legal" if n % 5 == 0 else "other" for n, name in enumerate(names)}
    both = {run: [["x", "y"], ["a"], ["a"], ["a"], ["a"]] for run in "AB"}
    board = alike(60, "research", {"a": 3, "x": 0, "y": 0}, both, topic=topic)
    assert "low bucket" in kinds(board)
    assert "low bucket" not in kinds(board, runs=["A", "B"])


def test_unjudged_chunks_are_many_from_a_fifth_of_the_top() -> None:
    ranked = ["a", "h1", "h2", "h3", "h4"]
    board = alike(100, "research", {"a": 3}, {"A": [ranked], "B": [["a"]]})
    assert sentence(board, "nDCG@5") == (
        "80% of the top 5 of A is unjudged: grading these chunks can change the scores either way."
    )
    assert kinds(board, "nDCG@1") == []
    assert kinds(board, "nDCG@5", runs=["B"]) == []


# What is returned


def test_the_three_gravest_come_first_and_all_can_be_had() -> None:
    grades = {"a": 3, **dict.fromkeys("uvwxyz", 0)}
    board = alike(5, "research", grades, {"A": [[*"uvwxyzahijklmnop"]]})
    leaky = Scoreboard(replace(board.collection, leaked=frozenset(["q0"])), board.conventions)
    measures = leaky.conventions.measures("R@20")
    every = find_cautions(leaky, measures, most=None)
    assert [each.kind for each in every] == ["few", "leaked", "beyond the prompt", "unjudged"]
    assert find_cautions(leaky, measures) == every[:3]
    assert {each.severity for each in every} == {CAUTION}
    assert all(each.numbers["n"] == 5 for each in every)


def test_cautions_are_notes_beside_the_numbers_of_their_runs() -> None:
    board = alike(100, "research", {"a": 3}, {"A": [["a", *"uvwxy"]], "B": [["a"]]})
    [note] = caution_notes(cautions(board, "nDCG@5"))
    assert (note.kind, note.runs) == ("unjudged", ("A",))
    assert note.sentence.startswith("80% of the top 5 of A is unjudged")
    assert not note.sentence.endswith(".")


def test_weighted_means_and_runs_without_results_are_looked_at_too() -> None:
    names = [f"q{n}" for n in range(100)]
    topic = {name: "rare" if n < 10 else "common" for n, name in enumerate(names)}
    grades = {"a": 3, **dict.fromkeys("uvwxyz", 0)}
    runs = {"A": [[*"uvwxyza"]], "B": [[]]}
    board = alike(100, "research", grades, runs, topic=topic)
    weighted = board.weighted_by(Traffic.of("topic", {"rare": 10, "common": 90}))
    assert kinds(weighted, "R@10", settings=Settings()) == ["beyond the prompt"]
