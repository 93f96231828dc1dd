"""Splits and leaked queries where people look: marks in the lists, and Review without them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import NotFound
from labeler.model import Chunk, Judgment, Query, Ranking, Remark, Selection
from labeler.store import LeakedQuery, Store
from tests.support.page import empty_golden_set, listed_queries, loaded, open_page, words

HOSTILE = "train **x** :red[y].jsonl"
MARK = f"Leaked: the query stands in {HOSTILE}:7 (score 0.90); marked"


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[Store]:
    """Four graded queries: two of the split test, one of them leaked, one of dev, one of none."""
    with Store(empty_golden_set(tmp_path)) as store:
        names = [f"q{at}" for at in range(4)]
        store.queries.load(loaded([Query(name, f"about {name}") for name in names]))
        store.chunks.load(loaded([Chunk(f"c{at}", f"text {at}") for at in range(3)]))
        store.runs.load(loaded([Ranking(name, ("c0", "c1", "c2")) for name in names]), name="run")
        store.splits.assign({"q0": "test", "q1": "test", "q2": "dev"}, {})
        store.splits.mark_leaked([LeakedQuery("q0", HOSTILE, 7, "query", 0.9, "words")])
        for grader, off in (("Ann", 0), ("Bob", 1)):
            store.people.add(grader)
            for at, name in enumerate(names):
                for chunk, grade in (("c0", 3 - off), ("c1", 0)):
                    event = f"{grader}/{name}/{chunk}"
                    note = f"note of {name}" if (grader, chunk) == ("Ann", "c0") else None
                    given = Judgment(event, name, chunk, grader, grade=grade, note=note)
                    store.judgments.add(given)
                store.judgments.add(
                    Judgment(f"{grader}/{name}/?", name, "c2", grader, kind="cannot_tell")
                )
                store.remarks.add(Remark(f"r{at}{grader}", name, grader, "unclear"))
        yield store


def test_queries_lists_the_split_and_the_mark_of_a_query(marked: Store):
    app = open_page("queries", numbers="true")
    frame = listed_queries(app).set_index("query")
    assert frame["leaked"].to_dict() == {"q0": "leaked", "q1": "", "q2": "", "q3": ""}
    assert frame["split"].to_dict() == {"q0": "test", "q1": "test", "q2": "dev", "q3": "–"}
    listed = listed_queries(open_page("queries", leaked="without", numbers="true"))
    assert "leaked" not in listed
    assert set(listed["query"]) == {"q1", "q2", "q3"}
    texts = listed_queries(open_page("queries")).set_index("query")["text"].to_dict()
    assert texts["q0"] == "leaked · about q0", "without all columns, too"
    assert texts["q1"] == "about q1"


def test_an_opened_query_says_where_it_was_found_and_its_split(marked: Store):
    said = words(open_page("queries", query="q0"))
    assert f"⚠ {MARK}" in said
    assert "q0 · split: test" in said
    assert "Leaked" not in words(open_page("queries", query="q1"))


def test_the_data_page_marks_queries_and_finds_those_that_leaked(marked: Store):
    said = words(open_page("data", section="Queries"))
    assert f"⚠ {MARK}" in said
    assert said.count("Leaked:") == 1
    assert "3 grades" not in said
    assert "2 grades · split dev" in said
    said = words(open_page("data", section="Queries", which="leaked"))
    assert "1 of 4 queries" in said
    assert "about q0" in said


@pytest.mark.parametrize(
    ("section", "whole", "part"),
    [
        ("Progress", "|12|", "|3|"),
        ("Can't tell", "\n8, newest first", "\n2, newest first"),
        ("Remarks on queries", "\n8, newest first", "\n2, newest first"),
        ("Notes", "\n4, newest first", "\n1, newest first"),
    ],
)
def test_review_keeps_to_the_split_and_leaves_out_what_leaked(
    marked: Store, section: str, whole: str, part: str
):
    every = words(open_page("review", review=section))
    some = words(open_page("review", review=section, split="test", leaked="without"))
    assert "about q2" not in some
    assert "q0" not in some
    assert (whole in every, part in some) == (True, True)


def test_the_work_of_graders_is_counted_in_the_queries_that_are_chosen(marked: Store):
    of_test = marked.splits.selected(Selection("test", "without"))
    assert of_test == {"q1"}
    assert [(row.grades, row.cannot_tell, row.remarks) for row in marked.activity.work()] == [
        (8, 4, 4)
    ] * 2
    some = marked.activity.work(of_test)
    assert [(row.grades, row.cannot_tell, row.remarks) for row in some] == [(2, 1, 1)] * 2
    assert [row.grades for row in marked.activity.work_by_day(of_test)] == [2, 2]
    assert marked.activity.work([])[0].grades == 0
    with pytest.raises(NotFound, match="no query is in the split held-out"):
        marked.splits.selected(Selection("held-out"))


def test_agreement_is_of_the_split_on_the_page_and_in_a_terminal(marked: Store):
    def agreement(*options: str) -> list[dict]:
        command = ["--db", str(marked.path), "agreement", "--format", "json", *options]
        return json.loads(CliRunner().invoke(main, command).stdout)

    every, some = agreement(), agreement("--split", "test", "--leaked", "without")
    assert (every[0]["queries"], some[0]["queries"]) == (4, 1)
    assert every[0]["conventions"]["split"] is None
    said = some[0]["conventions"]
    assert (said["split"], said["leaked"]) == ("test", "without")
    assert said["description"].startswith("split test · leaked queries left out · alpha ordinal")
    shown = words(open_page("review", review="Agreement", split="test", leaked="without"))
    assert "split test · leaked queries left out · alpha ordinal" in shown


def test_disagreements_are_of_the_split_in_a_terminal(marked: Store):
    def queries(*options: str) -> list[str]:
        command = ["--db", str(marked.path), "disagreements", "--format", "csv", *options]
        rows = csv.DictReader(io.StringIO(CliRunner().invoke(main, command).stdout))
        return sorted({row["query_id"] for row in rows})

    assert queries() == ["q0", "q1", "q2", "q3"]
    assert queries("--split", "test") == ["q0", "q1"]
    assert queries("--split", "test", "--leaked", "without") == ["q1"]
    assert queries("--in", "split", "dev", "--leaked", "without") == ["q2"]


def printed(store: Store, *words: str) -> str:
    result = CliRunner().invoke(main, ["--db", str(store.path), *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_health_is_of_the_split_on_the_page_and_in_a_terminal(marked: Store):
    every = json.loads(printed(marked, "health", "--format", "json"))
    some = json.loads(printed(marked, "health", "--format", "json", "--split", "test"))
    assert (every["queries"], every["judged"], every["confirmed"]["pairs"]) == (4, 4, 8)
    assert (some["queries"], some["judged"], some["confirmed"]["pairs"]) == (2, 2, 4)
    assert (some["split"], some["leaked"], every["split"]) == ("test", "with", None)
    few = ("--split", "test", "--leaked", "without")
    assert printed(marked, "health", *few).startswith(
        "1 point needs attention: the lines with '!'.\n\n"
        "Of the queries of: split test · leaked queries left out\n\nSize\n"
        "  With 1 of 1 query graded, you will"
    )
    shown = words(open_page("review", review="Health", split="test", leaked="without"))
    assert "Of the queries of: split test · leaked queries left out." in shown
    assert "With 1 of 1 query graded" in shown
    shown = words(open_page("review", review="Health"))
    assert "With 4 of 4 queries graded" in shown
    assert "Of the queries of" not in shown


def test_leakage_looks_for_the_queries_of_the_split(marked: Store, tmp_path: Path):
    file = tmp_path / "train.txt"
    file.write_text("".join(f"about q{at}\n" for at in range(4)))

    def found(*options: str) -> set[str]:
        told = printed(marked, "leakage", str(file), "--format", "csv", *options)
        rows = csv.DictReader(io.StringIO(told))
        return {row["query_id"] for row in rows if row["found_in"] == "file"}

    assert found() == {"q0", "q1", "q2", "q3"}
    assert found("--split", "test") == {"q0", "q1"}
    assert found("--split", "test", "--leaked", "without") == {"q1"}
    assert "q0" in printed(marked, "leakage", "--marked", "--split", "test")
    assert "No query is marked" in printed(marked, "leakage", "--marked", "--split", "dev")


def test_a_query_that_changed_its_split_is_gone_from_the_one_and_added_to_the_other(
    marked: Store,
):
    printed(marked, "freeze", "v1")
    marked.splits.assign({"q1": "dev"}, {})

    def changes(*options: str) -> list[list[str]]:
        told = json.loads(printed(marked, "diff", "v1", "--format", "json", *options))
        return [
            [each["change"], each["of"], each["query_id"]]
            for each in told["changes"]
            if each["of"] == "query"
        ]

    assert changes() == [["changed", "query", "q1"]]
    assert changes("--split", "test") == [["gone", "query", "q1"]]
    assert changes("--split", "dev") == [["added", "query", "q1"]]
    assert "Of the queries of: split dev" in printed(marked, "diff", "v1", "--split", "dev")


def test_data_offers_the_files_of_a_split_and_says_why_some_have_no_part(marked: Store):
    app = open_page("data", section="Download", split="dev")
    said = words(app)
    assert "This is a part: split dev." in said
    labels = {button.proto.label: button.proto.disabled for button in app.get("download_button")}
    dev = {name.split("-20")[0]: disabled for name, disabled in labels.items()}
    assert dev["golden-dev"] is False
    assert dev["golden-beir-dev"] is False
    assert dev["events-dev"] is True
    assert dev["golden-complete-dev"] is True
    assert "events has no part of a golden set (split dev): the log is one chain" in said
    assert "complete has no part" in said


def test_data_lists_the_queries_of_a_split(marked: Store):
    said = words(open_page("data", section="Queries", split="test"))
    assert "2 of 4 queries" in said
    assert "about q2" not in said
