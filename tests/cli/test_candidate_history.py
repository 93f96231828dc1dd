"""Queries that are typed and edited: what is stored, what is told, what stays of the old ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import BadInput, NotFound
from labeler.model import Actor, Query
from labeler.store import Store, query_fingerprint
from labeler.store.queries import QueryConflict

ANN, BO = Actor("Ann", "link"), Actor("Bo", "link")


def changes(store: Store, query_id: str) -> list[tuple]:
    return [
        (each.kind, each.who, dict(each.before), dict(each.after))
        for each in store.history.of(query_id)
    ]


def test_an_edit_is_kept_with_who_when_and_from_what_to_what(filled: Store):
    filled.connection.actor = ANN
    old = filled.queries.get("q1")
    edited = replace(old, text="Where is it?", task="research", buckets={"intent": "place"})
    before = filled.collection.golden_state().hash
    assert filled.queries.edit(edited, query_fingerprint(old))
    assert filled.queries.get("q1") == edited
    [change] = filled.history.of("q1")
    assert (change.kind, change.who, change.file) == ("edit", "Ann", None)
    assert (change.before["text"], change.after["text"]) == (old.text, "Where is it?")
    assert change.after["task"] == "research"
    assert change.at.endswith("Z")
    assert "keywords" not in change.before, "what did not change is not in it"
    assert filled.collection.golden_state().hash != before
    assert filled.audit.search(kind="edit")[0][0].subject == "q1"


def test_saving_what_is_there_already_is_no_change(filled: Store):
    query, revision = filled.queries.get("q1"), filled.golden_set.data_revision()
    assert not filled.queries.edit(query, "whatever")
    assert filled.history.of("q1") == []
    assert filled.golden_set.data_revision() == revision


def test_the_second_of_two_leads_is_told_and_overwrites_nothing(filled: Store):
    began = filled.queries.get("q1")
    filled.connection.actor = ANN
    filled.queries.edit(replace(began, text="Ann's wording"), query_fingerprint(began))
    filled.connection.actor = BO
    with pytest.raises(
        QueryConflict, match=r"'q1' was edited by Ann at \d\d:\d\d UTC: text; nothing"
    ):
        filled.queries.edit(replace(began, guideline="Bo's guideline"), query_fingerprint(began))
    assert filled.queries.get("q1").text == "Ann's wording"
    assert filled.queries.get("q1").guideline == began.guideline
    assert len(filled.history.of("q1")) == 1


def test_a_query_that_was_retired_meanwhile_is_not_edited(filled: Store):
    began = filled.queries.get("q1")
    filled.queries.retire("q1")
    with pytest.raises(QueryConflict, match="labeler queries restore q1"):
        filled.queries.edit(replace(began, text="x"), query_fingerprint(began))
    assert filled.queries.get("q1") == began


def test_metadata_stay_what_they_are_when_a_query_is_edited(store: Store, loaded):
    store.queries.load(loaded([Query("q", "Where?", metadata={"from": "Jira"})]))
    began = store.queries.get("q")
    store.queries.edit(Query("q", "Where is it?"), query_fingerprint(began))
    assert store.queries.get("q").metadata == {"from": "Jira"}


def test_a_typed_query_says_who_typed_it(filled: Store):
    filled.connection.actor = ANN
    filled.queries.add(Query("new", "What now?", keywords=("now",)))
    origin = filled.history.origin_of("new")
    assert (origin.source, origin.file, origin.added_by) == ("typed", None, "Ann")
    assert changes(filled, "new") == [
        (
            "add",
            "Ann",
            {"text": None, "keywords": None},
            {"text": "What now?", "keywords": ["now"]},
        )
    ]


def test_an_id_that_is_taken_is_not_typed_over(filled: Store):
    there = filled.queries.get("q1")
    with pytest.raises(BadInput, match="'q1' is in the golden set already"):
        filled.queries.add(Query("q1", "Another question"))
    assert filled.queries.get("q1") == there
    with pytest.raises(NotFound, match="no query 'q99'"):
        filled.queries.edit(Query("q99", "x"), "")


def test_a_file_that_changes_texts_is_in_the_history_and_one_that_adds_is_an_origin(
    filled: Store, tmp_path: Path
):
    old = filled.queries.get("q1").text
    file = tmp_path / "more.csv"
    file.write_text(
        f"query_id,query\nq1,Another wording\nq2,{filled.queries.get('q2').text}\nq7,New\n"
    )
    with_all = filled.queries.all()
    load = ["--db", str(filled.path), "load", "queries", str(file), "--update"]
    assert CliRunner().invoke(main, load).exit_code == 0
    [change] = filled.history.of("q1")
    assert (change.kind, change.file) == ("load", str(file))
    assert (change.before["text"], change.after["text"]) == (old, "Another wording")
    assert filled.history.of("q7") == []
    assert filled.history.origin_of("q7").file == str(file)
    assert filled.history.origin_of("q7").source == "file"
    assert filled.history.origin_of("q1").file == "file.jsonl", (
        "an update does not change where it came from"
    )
    rows = len(filled.history.all())
    CliRunner().invoke(main, load)
    assert len(filled.history.all()) == rows, "the same file again changes nothing"
    assert len(filled.queries.all()) == len(with_all) + 1


def test_splits_and_retiring_are_in_the_history(filled: Store):
    filled.connection.actor = ANN
    filled.splits.assign({"q1": "dev", "q2": "test"}, {})
    filled.splits.assign({"q1": "dev", "q2": "dev"}, {})
    filled.queries.retire("q1")
    filled.queries.restore("q1")
    kinds = [kind for kind, *_ in changes(filled, "q1")]
    assert kinds == ["restore", "retire", "split"]
    assert changes(filled, "q2")[0] == ("split", "Ann", {"split": "test"}, {"split": "dev"})
