"""``labeler leakage`` as it is typed: what stands where, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from labeler.cli import leaks, main
from labeler.model import Chunk, Judgment, Loaded, Query
from labeler.store import Store


def leakage(filled: Store, *arguments: object, exit_code: int = 0) -> str:
    given = ["--db", str(filled.path), "leakage", *map(str, arguments)]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == exit_code, result.output
    return result.output


@pytest.fixture
def training(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    lines = [
        {"text": "nothing to see here, really nothing at all"},
        {"prompt": "Q: How long does a REFUND take? A:"},
        {"prompt": "how long does a chargeback take", "by": "=1+1"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_people_read_where_a_query_stands_and_how_surely(filled: Store, training: Path) -> None:
    said = leakage(filled, training)
    assert "2 queries looked for in 1 file: 2 finds, 1 of them exact, of 1 query." in said
    rows = [line.split() for line in said.splitlines() if line.startswith("q1")]
    assert [(row[2], row[3], row[-1]) for row in rows] == [
        (f"{training}:2", "prompt", "exact"),
        (f"{training}:3", "prompt", "0.833"),
    ]
    assert "No chunk contains a query word for word." in said
    assert "! 1 query has fewer than 5 words: found only as a whole line or sentence" in said
    assert "1 find, 1 of them exact" in leakage(filled, training, "--threshold", "0.9")


def test_without_files_chunks_and_twins_are_listed(
    filled: Store, loaded: Callable[..., Loaded[Any]]
) -> None:
    filled.queries.load(loaded([Query("q3", "How long does the refund take?", reference="5 days")]))
    filled.chunks.load(loaded([Chunk("c9", "FAQ. How long does a refund take? Five days.", "t")]))
    said = leakage(filled)
    assert "looked for" not in said
    assert "1 chunk contains a query word for word: to find it is too easy.\n\nquery  chunk" in said
    assert "1 pair of queries is nearly the same: such a question counts twice." in said
    rows = json.loads(leakage(filled, "--format", "json"))
    assert [(row["query_id"], row["found_in"], row["place"], row["exact"]) for row in rows] == [
        ("q1", "chunk", "c9", True),
        ("q1", "query", "q3", False),
    ]


def test_programs_get_every_find_with_all_digits(filled: Store, training: Path) -> None:
    first, second = csv.DictReader(io.StringIO(leakage(filled, training, "--format", "csv")))
    assert (first["query_id"], first["part"], first["line"]) == ("q1", "query", "2")
    assert (second["score"], second["text"]) == (
        *("0.8333333333333334",),
        *("how long does a chargeback take",),
    )


def test_a_reference_answer_is_looked_for_too(
    filled: Store, loaded: Callable[..., Loaded[Any]], training: Path
) -> None:
    there = "nothing to see here, really nothing"
    filled.queries.load(loaded([Query("q3", "is there anything to see", reference=there)]))
    said = leakage(filled, training)
    assert "3 queries and 1 reference answer looked for in 1 file: 3 finds" in said
    assert [line.split()[1] for line in said.splitlines() if line.startswith("q3")] == ["reference"]


def test_of_very_many_finds_the_first_are_listed_and_all_counted(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaks, "MOST_KEPT", 50)
    (tmp_path / "a.txt").write_text("how long does a refund take?\n\n" * 60)
    said = leakage(filled, tmp_path / "a.txt")
    assert "60 finds" in said
    assert "... and 10 more, which --format csv and json have" in said
    assert "! 10 finds beyond the first 50 of a file are not listed" in said


def test_a_file_that_cannot_be_read_is_said_and_nothing_is_listed(
    filled: Store, training: Path, tmp_path: Path
) -> None:
    said = leakage(filled, training, tmp_path / "none.txt", exit_code=1)
    assert "none.txt: there is no such file" in said
    assert "refund" not in said
    assert "--raw goes with --format csv" in leakage(filled, training, "--raw", exit_code=2)


def run(filled: Store, *arguments: object, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["--db", str(filled.path), *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    return result.output


def values(filled: Store, *arguments: str) -> list[tuple[str, float, int]]:
    shown = run(filled, "score", "first", "--measures", "RR", "--format", "json", *arguments)
    return [(row["run"], row["value"], row["n"]) for row in json.loads(shown)]


def test_a_marked_query_is_left_out_of_scores_until_that_is_taken_back(
    filled: Store, training: Path
) -> None:
    assert values(filled, "--leaked", "without") == values(filled) == [("first", 1, 2)]
    assert "1 of 1 queries found are newly marked as leaked" in leakage(filled, training, "--mark")
    assert "0 of 1 queries found are newly marked" in leakage(filled, training, "--mark")
    [row] = json.loads(leakage(filled, "--marked", "--format", "json"))
    assert (row["query_id"], row["file"], row["line"], row["score"]) == ("q1", str(training), 2, 1)
    assert f"{training}:2" in leakage(filled, "--marked")
    assert values(filled) == [("first", 1, 2)]
    assert values(filled, "--leaked", "without") == values(filled, "--leaked", "only")
    said = run(filled, "score", "--leaked", "without")
    assert "· leaked queries left out · --explain" in said
    assert "\n1 query of the golden set not in these numbers: leaked queries left out" in said
    assert "q1" not in run(filled, "score", "--per-query", "--leaked", "without")
    assert "q2" not in run(filled, "compare", "first", "second", "--per-query", "--leaked", "only")
    assert leakage(filled, "--unmark", "q1") == "No query is marked as leaked.\n"
    assert "query 'q1' is not marked as leaked" in leakage(filled, "--unmark", "q1", exit_code=1)
    assert "no query is marked as leaked" in run(filled, "score", "--leaked", "only", exit_code=1)
    kinds = [entry.kind for entry in filled.audit.log()]
    assert kinds[-2:] == ["leak", "unleak"]


def test_marks_are_made_of_files_alone(filled: Store, training: Path) -> None:
    assert "name one" in leakage(filled, "--mark", exit_code=2)
    assert "--marked take no FILES" in leakage(filled, training, "--marked", exit_code=2)
    assert leakage(filled, "--marked", "--format", "csv") == "\n"


def test_a_split_is_drawn_alike_everywhere_and_later_queries_move_no_other(
    filled: Store, loaded: Callable[..., Loaded[Any]]
) -> None:
    many = [Query(f"n{n}", f"what about number {n} of {n * n}") for n in range(200)]
    filled.queries.load(loaded(many))
    said = run(filled, "split", "--dev", "50", "--test", "30", "--seed", "a")
    assert [line.split()[:2] for line in said.splitlines()] == [
        ["dev", "95"],
        ["test", "64"],
        ["held-out", "43"],
    ]
    before = {query.query_id: query.split for query in filled.queries.all()}
    filled.queries.load(loaded([Query("new", "what about number 7 of 49?"), Query("z", "hm")]))
    run(filled, "split", "--dev", "50", "--test", "30", "--seed", "a")
    after = {query.query_id: query.split for query in filled.queries.all()}
    assert before.items() <= after.items()
    assert after["new"] == after["n7"]
    run(filled, "split", "--dev", "50", "--test", "30", "--seed", "a", "--anew")
    assert {query.query_id: query.split for query in filled.queries.all()} == after
    assert "must be 100% in all" in run(filled, "split", "--dev", "50", exit_code=1)


def test_a_split_is_asked_for_by_name_and_is_a_facet(
    filled: Store, loaded: Callable[..., Loaded[Any]]
) -> None:
    assert "no query is in the split test" in run(filled, "score", "--split", "test", exit_code=1)
    filled.splits.assign({"q1": "dev", "q2": "test"}, {})
    assert [n for _, _, n in values(filled, "--split", "test")] == [1]
    assert values(filled, "--by", "split") == [("first", 1, 1), ("first", 1, 1)]
    assert "q1" not in run(filled, "queries", "--split", "test")
    run(filled, "freeze", "spring")
    filled.splits.assign({"q1": "test"}, {})
    assert [n for *_, n in values(filled, "--golden", "spring", "--split", "test")] == [1]
    filled.splits.assign({"q1": "dev"}, {})
    said = run(filled, "score", "--split", "dev")
    assert "· split dev · --explain" in said
    filled.judgments.add(Judgment("late", "q2", "c5", "Ann", grade=3))
    assert run(filled, "score", "--split", "dev").splitlines()[:3] == said.splitlines()[:3]


def test_each_graders_own_grades_are_of_the_split_too(filled: Store) -> None:
    filled.splits.assign({"q1": "dev", "q2": "test"}, {})
    for at, (query, chunk, grade) in enumerate([("q1", "c1", 0), ("q2", "c3", 3), ("q2", "c6", 0)]):
        filled.judgments.add(Judgment(f"e{at}", query, chunk, "Ann", grade=grade))
    filled.judgments.add(Judgment("late", "q2", "c3", "Bob", grade=0))
    asked = ("compare", "first", "second", "--graders", "--measures", "RR", "--format", "json")
    whole = {row["reading"]: row["pairs_changed"] for row in json.loads(run(filled, *asked))}
    tests = {
        row["reading"]: row["pairs_changed"]
        for row in json.loads(run(filled, *asked, "--split", "test"))
    }
    assert max(whole.values()) > 0
    assert set(tests) <= set(whole)
    assert all(tests[reading] <= whole[reading] for reading in tests)


def test_the_next_pairs_are_of_the_split(filled: Store) -> None:
    filled.splits.assign({"q1": "dev", "q2": "test"}, {})
    asked = ("next", "first", "second", "--format", "json", "--split")
    assert '"query_id": "q2"' not in run(filled, *asked, "dev")
    assert '"query_id": "q2"' in run(filled, *asked, "test")


def test_a_gate_judges_the_split_it_names_without_leaked_queries(
    filled: Store, training: Path, tmp_path: Path
) -> None:
    leakage(filled, training, "--mark")
    filled.splits.assign({"q1": "test", "q2": "test"}, {})
    file = tmp_path / "gate.toml"
    asks = 'run = "first"\nfewest_queries = 1\n[overall]\nRR = 0.5\n'
    asked = ("gate", file, "--format", "json")

    file.write_text(f'split = "test"\nleaked = "without"\n{asks}', encoding="utf-8")
    judged = json.loads(run(filled, *asked))
    assert judged["conventions"]["selected"] == {"split": "test", "leaked": "without"}
    assert judged["checks"][0]["n"] == 1
    assert "split test · leaked queries left out" in run(filled, "gate", file)
    file.write_text(asks, encoding="utf-8")
    assert json.loads(run(filled, *asked))["checks"][0]["n"] == 2

    file.write_text(f'split = "dev"\n{asks}', encoding="utf-8")
    said = run(filled, "gate", file, exit_code=2)
    assert "gate.toml: no query is in the split dev" in said
    filled.splits.assign({"q2": "dev"}, {})
    file.write_text(f'split = "test"\nleaked = "without"\n{asks}', encoding="utf-8")
    assert "every query in the split test is marked" in run(filled, "gate", file, exit_code=2)
