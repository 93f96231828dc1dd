"""Retrieval beside the answer: the two-by-two, the class "generation", its words and its page."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from click.testing import CliRunner

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import MinimumValue
from labeler.analysis.failures.diagnosis import GENERATION, count_classes, diagnose
from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import parse
from labeler.model import (
    Answer,
    Chunk,
    GoldenGrade,
    Judgment,
    LoadedGolden,
    Query,
    Ranking,
    Settings,
)
from labeler.store import Store
from tests.support.page import empty_golden_set, listed_queries, loaded, open_page, words

HOSTILE = "<img src=x onerror=alert(1)> **bold** ![i](http://x.example/i.png)"
BECAME = {
    "both": "found and right",
    "spoiled": "found but wrong",
    "missed": "not found and wrong",
    "lucky": "not found but right",
    "unjudged chunk": "undecided",
    "silent": "no answer",
    "absent": "not found and wrong",
}
RIGHT = {"both": True, "spoiled": False, "missed": False, "lucky": True, "unjudged chunk": True}


def made(**more: int) -> Scoreboard:
    """Seven queries: the prompt holds a useful chunk of the first two, and an unjudged chunk of
    "unjudged chunk".
    """
    golden = {name: {"good": 3, "bad": 0, "weak": 1} for name in BECAME}
    lists = {
        "both": ["bad", "good"],
        "spoiled": ["good", "new"],
        "missed": ["bad", "weak", "good"],
        "lucky": ["bad", "weak", "new"],
        "unjudged chunk": ["bad", "new", "good"],
        "silent": ["good"],
    }
    return Scoreboard(collect(golden, {"A": lists}), Conventions.of(prompt_k=2, **more))


def test_each_cell_holds_what_its_name_says() -> None:
    right = {**RIGHT, "absent": False, "nobody asked": True}
    found = diagnosis.find_outcomes(made(), "A", right)
    assert {name: each.name for name, each in found.items()} == BECAME
    table = diagnosis.count_two_by_two(found.items(), right, found)
    assert (table.n, table.right, table.answered, table.elsewhere) == (5, 3, 6, 1)
    share, interval = table.share(diagnosis.MISSED_WRONG)
    assert share == 0.4
    assert interval.method == "Wilson"
    assert table.right_where(found=True)[:3] == (1, 2, 0.5)
    assert "not counted: 1 undecided" in table.sentences[1]
    assert "1 answer to queries that are not counted here" in table.sentences[1]


def test_found_goes_by_the_grade_of_the_failure_bar_and_the_prompt_budget() -> None:
    board = made()
    lenient = diagnosis.find_outcomes(
        board, "A", RIGHT, MinimumValue(parse("Success(rel=1)@9"), 1.0)
    )
    assert lenient["missed"].name == "found but wrong", "the weak chunk is in the prompt"
    deep = diagnosis.find_outcomes(board, "A", RIGHT, MinimumValue(parse("Success(rel=2)@9"), 1.0))
    assert deep["missed"].name == "not found and wrong", "the good one is below the prompt size"
    wider = made().snapshot()
    wider = Scoreboard(wider.collection, Conventions.of(prompt_k=3))
    assert diagnosis.find_outcomes(wider, "A", RIGHT)["missed"].name == "found but wrong"


def test_a_grade_decides_what_a_hole_left_open() -> None:
    board = made()
    golden = {name: {"good": 3, "bad": 0, "weak": 1, "new": 0} for name in BECAME}
    graded = Scoreboard(
        collect(golden, {"A": {"unjudged chunk": ["bad", "new", "good"]}}),
        Conventions.of(prompt_k=2),
    )
    assert diagnosis.find_outcomes(board, "A", RIGHT)["unjudged chunk"].name == "undecided"
    assert (
        diagnosis.find_outcomes(graded, "A", RIGHT)["unjudged chunk"].name == "not found but right"
    )


def test_where_nothing_is_answered_all_of_it_is_empty_and_undefined() -> None:
    found = diagnosis.find_outcomes(made(), "A", {})
    table = diagnosis.count_two_by_two(found.items(), {}, found)
    assert set(found.values()) == {diagnosis.NO_ANSWER}
    assert math.isnan(table.share(diagnosis.FOUND_RIGHT)[0])
    assert table.sentences[0] == "0 of 0 answers are right"


def test_generation_is_the_reason_only_where_retrieval_does_not_fail() -> None:
    board = made()
    became = diagnosis.find_outcomes(board, "A", RIGHT)
    before = diagnose(board, "A")
    after = diagnosis.with_generation(board, "A", before, became)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"spoiled"}
    assert after["spoiled"].failure is GENERATION
    assert "answers 1 (it is in the prompt" in diagnosis.describe_failures(after, "x")[1]
    assert count_classes(after)[GENERATION] == 1
    assert GENERATION not in count_classes(before)
    strict = diagnose(board, "A", bar := MinimumValue(parse("RR"), 1.0))
    assert strict["both"].failure is not None
    assert diagnosis.with_generation(board, "A", strict, became, bar)["both"] == strict["both"]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The same in a file, without answers, with a second run."""
    path = empty_golden_set(tmp_path)
    lists = made().collection
    with Store(path) as store:
        store.queries.load(
            loaded(
                [
                    Query(name, f"about {name}", "single", "the reference", buckets={"topic": "t"})
                    for name in BECAME
                ]
            )
        )
        names = lists.chunk_ids
        board = made()
        for run in ("A", "B"):
            rankings = [
                Ranking(name, tuple(names[chunk] for chunk in board.chunks("A", name)))
                for name in BECAME
                if name != "absent"
            ]
            store.runs.load(loaded(rankings), name=run)
        grades = [
            GoldenGrade(name, chunk, grade)
            for name in BECAME
            for chunk, grade in (("good", 3), ("bad", 0), ("weak", 1))
        ]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        store.settings.save(Settings(prompt_k=2))
    return path


def answer(path: Path, **more: bool) -> None:
    with Store(path) as store:
        given = {**RIGHT, "absent": False, **more}
        store.answers.load(loaded([Answer("A", q, HOSTILE, right) for q, right in given.items()]))


def run(path: Path, *arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["--db", str(path), "answers", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.output


def test_the_command_prints_the_cells_with_intervals(filled: Path) -> None:
    assert "no run has answers; 'labeler load answers FILE --run RUN'" in run(filled, exit_code=1)
    answer(filled)
    said = run(filled)
    assert "A    not found and wrong  retrieval" in said
    assert "0.4000  0.1176 to 0.7693" in said
    assert "A: 3 of 6 answers are right (50%; 95% interval 19% to 81%); where the prompt" in said
    rows = json.loads(run(filled, "--format", "json"))
    assert {row["outcome"]: row["queries"] for row in rows} == {
        name: list(BECAME.values()).count(name) for name in BECAME.values()
    }
    assert [row["share"] for row in rows if row["outcome"] == "undecided"] == [None]
    by_topic = list(csv.DictReader(io.StringIO(run(filled, "--by", "topic", "--format", "csv"))))
    assert {row["bucket"] for row in by_topic} == {"t"}
    per_query = json.loads(run(filled, "--per-query", "--format", "json"))
    assert {row["query_id"]: row["outcome"] for row in per_query} == BECAME
    assert "run 'B' has no answers; runs that have some: A" in run(filled, "B", exit_code=1)


def test_more_queries_without_an_answer_than_with_one_are_printed_without_a_share(filled: Path):
    """A share is of the four cells. Queries outside of them can be more than all cells hold."""
    with Store(filled) as store:
        store.answers.load(loaded([Answer("A", "both", "yes", True)]))
    for arguments in [(), ("--by", "topic")]:
        lines = run(filled, *arguments).splitlines()
        [line] = [line for line in lines if re.search("A +no answer", line)]
        assert line.split()[-3:] == ["6", "–", "–"]


def test_without_answers_nothing_on_the_page_changes(filled: Path) -> None:
    said = words(open_page("queries", run="A"))
    for of_chunks in ("no answer in the corpus", "that it has no answer"):
        said = said.replace(of_chunks, "")
    assert "answer" not in said
    assert "answer" not in listed_queries(open_page("queries", run="A", numbers="true"))
    assert "the answer is wrong" not in words(open_page("queries", run="A"))


def test_the_page_shows_the_two_by_two_and_leads_to_the_queries(filled: Path) -> None:
    answer(filled)
    said = words(open_page("queries", run="A", view="Retrieval and answer", facet="topic"))
    assert "3 of 6 answers are right (50%; 95% interval 19% to 81%)" in said
    assert "40% (12% to 77%)" in said
    assert "luck, or a gap in the golden set" in said
    app = open_page("queries", run="A", view="Retrieval and answer")
    links = [element.proto.body for element in app.get("html")]
    assert any("outcome=not+found+and+wrong" in each for each in links)
    of_buckets = open_page("queries", run="A", view="Retrieval and answer", facet="topic")
    said = html.unescape("".join(element.proto.body for element in of_buckets.get("html")))
    ways = re.findall(r'href="([^"]*outcome=[^"]*bucket=[^"]*)"[^>]*>(\d+)<', said)
    assert ways
    for way, count in ways:
        asked = dict(parse_qsl(way.partition("?")[2]))
        assert len(listed_queries(open_page("queries", **asked))) == int(count)
    listed = listed_queries(open_page("queries", run="A", outcome="not found and wrong"))
    assert set(listed["query"]) == {"missed", "absent"}
    assert "No answer of B is loaded. Runs with answers: A." in words(
        open_page("queries", run="B", view="Retrieval and answer")
    )


def test_a_count_leads_to_as_many_queries_whatever_else_was_filtered(filled: Path) -> None:
    answer(filled)
    given = {"class": "ranked too low", "outcome": "found but wrong", "page": "2"}
    for view, name, other in (
        ("Retrieval and answer", "outcome", "class"),
        ("Why they fail", "class", "outcome"),
    ):
        app = open_page("queries", run="A", view=view, **given)
        said = "".join(element.proto.body for element in app.get("html"))
        linked = re.findall(r'<a (?!id="fold)[^>]*href="([^"]*)"', said)
        ways = [way for way in linked if f"{name}=" in way]
        assert ways
        assert not [way for way in ways if f"{other}=" in way or "page=" in way]


def test_runs_with_answers_are_named_whatever_chunking_they_are_of(filled: Path) -> None:
    answer(filled)
    with Store(filled) as store:
        store.chunks.load(loaded([Chunk("good", "cut anew")]), chunking="v2")
        store.runs.load(loaded([Ranking("missed", ("good",))]), name="new", chunking="v2")
    said = words(open_page("queries", a="new", view="Retrieval and answer"))
    assert "No answer of new is loaded. Runs with answers: A." in said


def test_the_command_for_a_run_s_answers_is_of_that_run_whatever_its_name(filled: Path) -> None:
    answer(filled)
    with Store(filled) as store:
        store.runs.load(loaded([Ranking("missed", ("good",))]), name="my run; ls")
    said = words(open_page("queries", run="my run; ls", view="Retrieval and answer"))
    assert "labeler load answers FILE --run 'my run; ls'" in said


def test_generation_is_a_class_that_can_be_filtered_and_follows_the_grades(filled: Path) -> None:
    answer(filled)
    said = words(open_page("queries", run="A", view="Why they fail"))
    assert "answers 1 (it is in the prompt, and the answer is wrong" in said
    listed = listed_queries(
        open_page("queries", run="A", **{"class": "found, but the answer is wrong"})
    )
    assert list(listed["query"]) == ["spoiled"]
    with Store(filled) as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("e", "spoiled", "good", "Ann", grade=0))
    listed = open_page("queries", run="A", **{"class": "found, but the answer is wrong"})
    nothing = "No query matches these filters"
    assert nothing in words(listed), "what was found is of no use any more"


def test_it_is_said_which_wrong_answers_fail_where_a_bar_looks_deeper(filled: Path) -> None:
    answer(filled)
    app = open_page("queries", run="A", bar="Success(rel=2)@9", numbers="true")
    listed = listed_queries(app).set_index("query")
    assert listed["class"]["missed"] == "does not fail", "its chunk is in the top 9"
    assert listed["answer"]["missed"] == "not found and wrong", "and not in the prompt"
    assert "or the prompt holds what it needs, and its answer is wrong" in words(app)


def test_an_answer_stands_beside_the_reference_as_it_is(filled: Path) -> None:
    answer(filled)
    app = open_page("queries", run="A", query="spoiled")
    body = "".join(element.proto.body for element in app.get("html"))
    assert "&lt;img src=x onerror=alert(1)&gt; **bold** ![i](http://x.example/i.png)" in body
    assert "<img" not in body
    said = words(app)
    assert said.count("the reference") == 2
    assert "wrong · found but wrong: generation" in said
    assert "Look at the prompt and the model" in said
    assert HOSTILE not in "".join(each.value for each in (*app.markdown, *app.caption))
    other = words(open_page("queries", run="B", query="spoiled"))
    assert "wrong · found but wrong" in other, "folded, with the run whose answer it is"


def test_the_golden_set_stays_what_it_is(filled: Path, loaded: Callable) -> None:
    with Store(filled) as store:
        before = store.collection.golden_state().hash
        answer(filled)
        assert store.collection.golden_state().hash == before


def test_the_bar_of_the_page_is_the_one_of_the_two_by_two(filled: Path) -> None:
    answer(filled)
    listed = listed_queries(
        open_page("queries", run="A", bar="Success(rel=1)@5", outcome="found but wrong")
    )
    assert set(listed["query"]) == {"spoiled", "missed"}


def test_a_report_sets_answers_beside_retrieval_where_there_are_some(filled: Path) -> None:
    def report(*runs: str) -> str:
        asked = ("report", *runs, "-o", "-", "--date", "2026-11-22")
        result = CliRunner().invoke(main, ["--db", str(filled), *asked])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "Retrieval and answer" not in report("B", "A")
    answer(filled)
    made = report("B", "A")
    assert "<h2>Retrieval and answer</h2>" in made
    assert "No answer of A is loaded." in made, "A of the report is the run B"
    assert "3 of 6 answers are right (50%; 95% interval 19% to 81%)" in made
    for name in set(BECAME.values()):
        place = f"answers-B-{name.replace(' ', '-')}"
        assert made.count(f'href="#{place}"') == 1
        [inside] = made.split(f'<details id="{place}">')[1:]
        listed = inside.split("</details>")[0]
        assert {query for query in BECAME if f">{query}<" in listed} == {
            query for query, became in BECAME.items() if became == name
        }
    alone = report("A")
    assert 'href="#answers-Run-found-but-wrong"' in alone
    assert "<bdi>spoiled</bdi>: about spoiled" in alone
    assert "No answer of Run" not in alone
