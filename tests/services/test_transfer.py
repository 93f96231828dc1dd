"""Grades transferred to another chunking: what is said, what is written, what it becomes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import (
    Chunk,
    Document,
    GoldenGrade,
    Judgment,
    Query,
    Ranking,
    Selection,
    Settings,
)
from labeler.store import Store

FEES = "Annual fees are due in May, and are taken from the account at the end of that month."
LATE = "A late transfer costs twelve euros, which the branch may waive once in any year it likes."
CARDS = "Cards are sent by letter to the registered address within ten working days of a request."
LOST = "A lost card is blocked at any hour by telephone, and a new one is free of any charge."
OLD = [
    Chunk("1", f"{FEES} {LATE}", document_id="d", position=1),
    Chunk("2", f"{CARDS} {LOST}", document_id="d", position=2),
]
NEW = [
    Chunk("1", FEES, document_id="d", position=1),
    Chunk("2", f"{LATE} {CARDS}", document_id="d", position=2),
    Chunk("3", LOST, document_id="d", position=3),
    Chunk("4", "Nobody has ever said this in any branch of the bank.", document_id="d"),
]
WHOLE = ("carry", "--from", "", "--to", "v2")


@pytest.fixture
def both(store: Store, loaded) -> Store:
    """An old chunking that Ana graded with passages, and a new one that a run asks for."""
    store.queries.load(loaded([Query("q1", "when are fees due"), Query("q2", "a lost card")]))
    store.chunks.load(loaded(OLD))
    store.runs.load(loaded([Ranking("q1", ("1", "2")), Ranking("q2", ("2", "1"))]), name="old")
    store.chunks.load(loaded(NEW), chunking="v2")
    lists = [Ranking("q1", ("4", "3", "1", "2")), Ranking("q2", ("3", "1"))]
    store.runs.load(loaded(lists), name="new", chunking="v2")
    store.people.add("Ana")
    said = {"grader": "Ana", "created_at": "2026-03-04T10:00:00.000Z"}
    store.judgments.add(Judgment("e1", "q1", "1", grade=3, evidence=((0, 26),), **said))
    store.judgments.add(Judgment("e2", "q1", "2", grade=0, **said))
    return store


@pytest.fixture
def run(both: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a labeler command beside that golden set."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments))

    return invoke


def facts(run: Callable[..., Result], *more: str) -> dict:
    result = run(*WHOLE, "--dry-run", "--format", "json", "--list", *more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def states(run: Callable[..., Result]) -> dict[tuple[str, str], tuple[str, int | None]]:
    pairs = facts(run)["pairs"]
    return {(p["query_id"], p["chunk_id"]): (p["state"], p["grade"]) for p in pairs}


def take_in(run: Callable[..., Result], name: str = "carried.jsonl") -> Result:
    assert run(*WHOLE, "-o", name, "--force").exit_code == 0
    result = run("load", "golden", name)
    assert result.exit_code == 0, result.output
    return result


# What is said ----------------------------------------------------------------------------------


def test_each_pair_that_the_new_run_asks_for_is_decided_or_open_with_a_reason(run):
    assert states(run) == {
        ("q1", "v2:1"): ("decided", 3),
        ("q1", "v2:2"): ("decided", 0),
        ("q1", "v2:3"): ("decided", 0),
        ("q1", "v2:4"): ("open", None),
        ("q2", "v2:1"): ("open", None),
        ("q2", "v2:3"): ("open", None),
    }


def test_the_table_counts_like_reasons_together_and_writes_nothing(run, both: Store):
    before = both.collection.golden_state().hash, both.golden_set.newest()
    result = run(*WHOLE, "--dry-run")
    assert result.exit_code == 0
    said = result.stdout
    assert (
        "From the default chunking to chunking v2: 6 pairs are asked for by the top 10 of 1 run"
        in said
    )
    assert "it holds every passage of a graded chunk, grade 3" in said
    assert "decided 3, proposed 0, open 3" in said
    assert "! 1 of 4 new chunks not found in the old text" in said
    assert "v2:4" in said
    assert "3 grades would be transferred; nothing was written" in said
    assert (both.collection.golden_state().hash, both.golden_set.newest()) == before


def test_a_list_names_each_pair_and_what_it_rests_on(run):
    said = run(*WHOLE, "--dry-run", "--list").stdout
    assert "it holds every passage of chunk 1, grade 3" in said
    [pair] = [each for each in facts(run)["pairs"] if each["grade"] == 3]
    assert pair["rests_on"] == [
        {
            "event_id": "e1",
            "chunk_id": "1",
            "grade": 3,
            "who": ["Ana"],
            "at": pair["rests_on"][0]["at"],
            "passages": [[0, 26]],
        }
    ]
    assert pair["passages"] == [[0, 26]]
    assert pair["covered"] == 1.0


def test_the_pool_s_depth_says_how_much_is_asked_for(run, both: Store):
    both.settings.save(Settings(pool_depth=2))
    assert set(states(run)) == {
        ("q1", "v2:4"),
        ("q1", "v2:3"),
        ("q2", "v2:3"),
        ("q2", "v2:1"),
    }


def test_a_pair_that_somebody_graded_is_left_alone(run, both: Store, golden):
    both.judgments.add(Judgment("e3", "q1", "v2:1", "Ana", grade=2))
    both.golden_loads.add(golden([GoldenGrade("q1", "v2:3", 1)]))
    found = facts(run)
    assert found["graded_already"] == 2
    assert {each["chunk_id"] for each in found["pairs"] if each["query_id"] == "q1"} == {
        "v2:2",
        "v2:4",
    }


def test_a_grade_of_an_earlier_text_is_not_carried_over(run, both: Store, loaded):
    both.chunks.load(loaded([Chunk("1", f"{FEES} {LATE} Or so.")]), update=True)
    found = facts(run)
    assert found["outdated_grades"] == 1
    assert {p["chunk_id"] for p in found["pairs"] if p["state"] == "decided"} == {"v2:3"}
    said = run(*WHOLE, "--dry-run").stdout
    assert "1 golden grade is not transferred: of an earlier text" in said


def test_what_stands_in_several_places_is_never_decided(run, both: Store, loaded):
    both.chunks.load(loaded([Chunk("9", LOST, document_id="e", position=1)]))
    both.chunks.load(loaded([Chunk("5", LOST)]), chunking="v2", update=True)
    both.runs.load(loaded([Ranking("q1", ("5",))]), name="other", chunking="v2")
    both.judgments.add(Judgment("e4", "q1", "9", "Ana", grade=0))
    assert states(run)["q1", "v2:5"] == ("proposed", 0)
    assert "found in several places equally well" in run(*WHOLE).stdout


def test_a_likely_grade_says_how_much_of_which_chunk_it_rests_on(run, both: Store, loaded):
    both.chunks.load(loaded([Chunk("7", f"{LOST} {FEES}", document_id="f", position=1)]))
    both.judgments.add(Judgment("e9", "q2", "7", "Ana", grade=3))
    both.judgments.add(Judgment("e10", "q2", "1", "Ana", grade=0))
    new = Chunk("7", f"{LOST} {FEES[:-12]}", document_id="f")
    both.chunks.load(loaded([new]), chunking="v2", update=True)
    both.runs.load(loaded([Ranking("q2", ("7",))]), name="other", chunking="v2")
    found = facts(run)
    [pair] = [each for each in found["pairs"] if each["chunk_id"] == "v2:7"]
    assert (pair["state"], pair["grade"]) == ("proposed", 3)
    assert pair["reason"] == "it holds 93% of chunk 7, grade 3"
    assert all(each["reason"] for each in found["pairs"])
    assert "it holds a part of a graded chunk, grade 3" in run(*WHOLE).stdout


def test_chunks_without_a_text_are_counted_and_not_looked_at(run, both: Store, loaded, golden):
    both.golden_loads.add(golden([GoldenGrade("q1", "nowhere", 1)]))
    lists = [Ranking("q1", ("bare", "6", "1"))]
    both.chunks.load(loaded([Chunk("6", " \u200b\n ")]), chunking="v2", update=True)
    both.runs.load(loaded(lists), name="other", chunking="v2")
    found = facts(run)
    assert (found["without_text"], found["outdated_grades"], found["decided"]) == (1, 1, 3)
    assert {p["state"] for p in found["pairs"] if p["chunk_id"] == "v2:6"} <= {"open"}
    said = run(*WHOLE).stdout
    assert "! 1 pair is asked for and not looked at: no text is known of the chunk" in said


def test_a_document_says_where_chunks_stand_that_the_old_chunks_leave_out(run, both: Store, loaded):
    text = f"{FEES} {LATE} {CARDS} {LOST} An appendix."
    both.documents.load(loaded([Document("d", text)]))
    start = text.index("An appendix")
    chunk = Chunk("8", text[start:], document_id="d", start=start, end=len(text))
    both.chunks.load(loaded([chunk]), chunking="v2", update=True)
    both.runs.load(loaded([Ranking("q1", ("8",))]), name="other", chunking="v2")
    found = facts(run)
    assert found["not_found"] == ["v2:4"]
    [pair] = [each for each in found["pairs"] if each["chunk_id"] == "v2:8"]
    assert (pair["state"], pair["reason"]) == ("open", "0% of its text is in graded chunks")


def test_a_mean_that_nobody_gave_is_carried_over_whole_alone(run, both: Store):
    both.settings.save(Settings(golden_rule="mean rounded half down"))
    both.people.add("Ben")
    both.judgments.add(Judgment("e12", "q1", "1", "Ben", grade=0))
    found = {each["chunk_id"]: each for each in facts(run)["pairs"]}
    assert (found["v2:1"]["state"], found["v2:1"]["low"]) == ("open", 0)


# What is written -------------------------------------------------------------------------------


def test_a_carried_grade_can_be_followed_back_to_the_person_the_day_and_the_passage(
    run, both: Store
):
    assert run(*WHOLE, "-o", "carried.jsonl").exit_code == 0
    rows = [json.loads(line) for line in Path("carried.jsonl").read_text().splitlines()]
    assert [row["query_id"] for row in rows] == ["q1"], "a query with nothing decided stays out"
    by_chunk = {each["chunk_id"]: each for each in rows[0]["judgments"]}
    best = by_chunk["v2:1"]
    assert best["note"] == "it holds every passage of chunk 1, grade 3"
    assert best["carried_from"] == [
        {
            "event_id": "e1",
            "golden": 3,
            "chunk_id": "1",
            "grade": 3,
            "who": ["Ana"],
            "at": "2026-03-04T10:00:00.000Z",
        }
    ]
    assert (best["graders"], best["chunking"], best["evidence"]) == ([], "v2", [[0, 26]])
    assert "evidence" not in by_chunk["v2:3"]


def test_the_file_loads_as_carried_grades_that_count_and_belong_to_nobody(run, both: Store):
    scores = run("score", "--format", "json", "--chunking", "").stdout
    assert "transferred                   3" in take_in(run).output
    grades = {(g.chunk_id, g.grade) for g in both.golden_set.read()[1] if g.chunking == "v2"}
    assert grades == {("v2:1", 3), ("v2:2", 0), ("v2:3", 0)}
    assert {(each.grader, each.chunk_id) for each in both.activity.given_grades()} == {
        ("Ana", "1"),
        ("Ana", "2"),
    }
    assert both.evidence.golden()["q1", "v2:1"].passages == ((0, 26),)
    old, new = (json.loads(each) for each in (scores, run_scores(run)))
    assert [row["value"] for row in new] == [row["value"] for row in old], "v1 is as it was"
    board = Scoreboard(
        both.collection.read(), Conventions.of(selected=Selection(chunkings=("v2",)))
    )
    [row] = [r for r in board.table(board.conventions.measures("RR")) if r.run == "new"]
    assert row.value == pytest.approx(1 / 3)


def run_scores(run: Callable[..., Result]) -> str:
    return run("score", "--format", "json", "--chunking", "").stdout


def test_how_many_grades_were_carried_over_is_said_beside_every_score(run, both: Store):
    said = "2 of 3 golden grades transferred from other chunks"
    assert "transferred" not in run("score").stdout
    take_in(run)
    both.judgments.add(Judgment("e13", "q1", "v2:1", "Ana", grade=3))
    assert run("score").stdout.count(f"\n{said}") == 1
    rows = json.loads(run("score", "--format", "json").stdout)
    kinds = {(row["run"], "transferred" in [n["kind"] for n in row["notes"]]) for row in rows}
    assert kinds == {("old", False), ("new", True)}
    assert said in run("score", "--format", "md", "--chunking", "v2").stdout


def test_a_comparison_says_how_many_grades_of_a_side_were_carried_over(run, both: Store, loaded):
    take_in(run)
    both.runs.load(loaded([Ranking("q1", ("3", "1"))]), name="newer", chunking="v2")
    for pair, of in ((("old", "new"), "3 of 5"), (("new", "newer"), "3 of 3")):
        result = run("compare", *pair, "--measures", "RR@2")
        assert result.exit_code == 0, result.output
        assert f"\n{of} golden grades transferred" in result.stdout
        rows = json.loads(run("compare", *pair, "--measures", "RR@2", "--format", "json").stdout)
        assert [row["transferred_b"] for row in rows] == [2 if "newer" in pair else 1]


def test_a_person_s_grade_stands_above_a_carried_one(run, both: Store):
    take_in(run)
    both.judgments.add(Judgment("e5", "q1", "v2:1", "Ana", grade=1))
    take_in(run)
    assert {g.grade for g in both.golden_set.read()[1] if g.chunk_id == "v2:1"} == {1}


def test_carrying_over_twice_doubles_nothing(run, both: Store):
    take_in(run)
    state, events = both.collection.golden_state().hash, len(both.judgments.log())
    first = Path("carried.jsonl").read_bytes()
    assert "already transferred           3" in take_in(run).output
    assert Path("carried.jsonl").read_bytes() == first
    assert "3 of these were transferred before" in run(*WHOLE).stdout
    assert "nothing new to transfer" in run(*WHOLE).stdout
    assert (both.collection.golden_state().hash, len(both.judgments.log())) == (state, events)


def test_a_changed_grade_is_carried_over_anew(run, both: Store):
    take_in(run)
    both.judgments.add(Judgment("e6", "q1", "1", "Ana", grade=2, evidence=((0, 26),)))
    take_in(run)
    assert {g.grade for g in both.golden_set.read()[1] if g.chunk_id == "v2:1"} == {2}


def test_what_does_not_follow_any_more_is_named(run, both: Store):
    take_in(run)
    both.judgments.add(Judgment("e7", "q1", "1", "Ana", kind="withdraw"))
    found = facts(run)
    assert found["follow_no_more"] == [["q1", "v2:1"], ["q1", "v2:2"]]
    said = run(*WHOLE).stdout
    assert "2 grades transferred before, which do not follow any more" in said
    assert "their pairs are open again; q1 v2:1, q1 v2:2" in said


def test_a_file_that_is_there_is_replaced_only_by_force(run):
    assert run(*WHOLE, "-o", "carried.jsonl.gz").exit_code == 0
    assert json.loads(gzip.decompress(Path("carried.jsonl.gz").read_bytes()))["query_id"] == "q1"
    again = run(*WHOLE, "-o", "carried.jsonl.gz")
    assert again.exit_code == 1
    assert "is there already; replace it with --force" in again.stderr


def test_the_standard_output_has_the_file_alone(run, both: Store):
    result = run(*WHOLE, "-o", "-")
    assert json.loads(result.stdout)["query_id"] == "q1"
    assert "decided 3" in result.stderr
    [entry] = [each for each in both.audit.search()[0] if each.kind == "export"]
    assert entry.detail == {"format": "jsonl", "from": "", "to": "v2", "transferred": 3}


# What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--from", "v9", "--to", "v2"), 1, "there is no chunking 'v9'; there are: '', 'v2'"),
        (("--from", "", "--to", ""), 2, "--from and --to name the same chunking"),
        (("--from", "v2", "--to", ""), 1, "no chunk of chunking v2 has a golden grade"),
        (("--from", "", "--to", "v3"), 1, "no run is of chunking v3, so nobody asks"),
        (("--from", "", "--to", "v2", "--force"), 2, "--force goes with -o FILE"),
        (("--from", "", "--to", "v2", "--undo", "--dry-run"), 2, "name one of them"),
        (("--from", "", "--to", "v2", "--undo"), 1, "nothing was transferred from the default"),
    ],
)
def test_what_cannot_be_carried_over_is_refused(run, both: Store, loaded, words, code, said):
    both.chunks.load(loaded([Chunk("1", FEES)]), chunking="v3")
    result = run("carry", *words)
    assert result.exit_code == code
    assert said in " ".join(result.stderr.split())


def test_where_nothing_is_decided_no_file_is_written(run, both: Store):
    for event in ("e1", "e2"):
        chunk = event.replace("e", "")
        both.judgments.add(Judgment(f"w{event}", "q1", chunk, "Ana", kind="withdraw"))
    both.judgments.add(Judgment("e8", "q2", "2", "Ana", grade=2))
    result = run(*WHOLE, "-o", "carried.jsonl")
    assert result.exit_code == 1
    assert "no grade is decided, so nothing was written" in result.stderr
    assert not Path("carried.jsonl").exists()
