"""What becomes of runs and queries that are there, as people ask for it by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import Query, Ranking
from labeler.store import Store


def test_a_renamed_run_keeps_its_lists_its_date_and_its_place(filled: Store):
    lists = [(run.queries, run.depth, run.created_at) for run in filled.runs.all()]
    collected = filled.collection.read().runs[0].lists
    revision = filled.golden_set.data_revision()
    assert not filled.runs.rename("first", "bm25 tuned")
    assert [run.name for run in filled.runs.all()] == ["bm25 tuned", "second"]
    assert [(run.queries, run.depth, run.created_at) for run in filled.runs.all()] == lists
    assert filled.collection.read().runs[0].lists.keys() == collected.keys()
    assert filled.runs.all()[0].system == "bm25", "a system that was given stays"
    assert filled.golden_set.data_revision() > revision


def test_a_system_that_is_only_the_name_of_its_run_follows_it(filled: Store, loaded):
    assert filled.runs.rename("second", "lsa")
    assert filled.runs.all()[1].system == "lsa"
    filled.runs.load(loaded([Ranking("q1", ("c1",))]), name="newer", system="lsa")
    assert not filled.runs.rename("lsa", "lsa of May")
    assert [run.system for run in filled.runs.all()] == ["bm25", "lsa", "lsa"], "it is of two runs"


def test_the_setting_that_names_a_run_follows_its_new_name(filled: Store):
    named = replace(
        filled.settings.read(), strategy="only unjudged of A vs B", unjudged_of=("first", "second")
    )
    filled.settings.save(named)
    filled.runs.rename("second", "b")
    assert filled.settings.read() == replace(named, unjudged_of=("first", "b"))


def test_a_run_takes_no_name_that_is_taken_or_cannot_be_read(filled: Store):
    with pytest.raises(BadInput, match="there is a run named 'second' already; choose another"):
        filled.runs.rename("first", "second")
    with pytest.raises(NotFound, match="no run named 'third'; there are: first, second"):
        filled.runs.rename("third", "fourth")
    with pytest.raises(BadInput, match="new name ' ': a run needs a name"):
        filled.runs.rename("first", " ")
    assert [run.name for run in filled.runs.all()] == ["first", "second"]


def test_system_and_date_of_a_run_can_be_set_and_date_be_unknown_again(filled: Store):
    filled.runs.change("second", system="lsa", created_at="2026-03-01")
    assert [(run.system, run.created_at) for run in filled.runs.all()] == [
        ("bm25", "2026-01-31"),
        ("lsa", "2026-03-01"),
    ]
    filled.runs.change("first", system="tuned")
    assert (filled.runs.all()[0].system, filled.runs.all()[0].created_at) == ("tuned", "2026-01-31")
    filled.runs.change("second", created_at="")
    assert (filled.runs.all()[1].system, filled.runs.all()[1].created_at) == ("lsa", None)
    for wrong in ({"system": ""}, {"system": "x", "created_at": "2026-02-30"}):
        with pytest.raises(BadInput):
            filled.runs.change("second", **wrong)
    with pytest.raises(NotFound):
        filled.runs.change("third", system="x")
    assert filled.runs.all()[1].system == "lsa"


def test_runs_that_share_no_query_with_the_golden_set_are_known(filled: Store, loaded):
    assert filled.runs.matching_nothing() == []
    filled.runs.load(loaded([Ranking("Q1", ("c1",))]), name="other ids")
    assert filled.runs.matching_nothing() == ["other ids"]
    filled.queries.retire("q1")
    filled.queries.retire("q2")
    assert filled.runs.matching_nothing() == ["first", "second", "other ids"]


def test_queries_are_found_by_id_and_by_text_in_either_case(filled: Store, loaded):
    filled.queries.load(loaded([Query("q3", "Ärger mit 100% Rückgabe_")]))
    for words, found in [
        ("", ["q1", "q2", "q3"]),
        (" Q2 ", ["q2"]),
        ("REFUND", ["q1"]),
        ("ärger", ["q3"]),
        ("RÜCKGABE_", ["q3"]),
        ("0%", ["q3"]),
        ("_", ["q3"]),
        ("q9", []),
    ]:
        shown, count = filled.queries.find(words)
        assert ([query.query_id for query in shown], count) == (found, len(found)), words
    shown, count = filled.queries.find(most=1)
    assert ([query.query_id for query in shown], count) == (["q1"], 3)


def test_a_found_query_says_how_many_grades_it_has_retired_or_not(filled: Store):
    assert [query.grades for query in filled.queries.find()[0]] == [2, 1]
    filled.queries.retire("q1")
    first, second = filled.queries.find()[0]
    assert (first.grades, first.retired_at is not None, second.retired_at) == (2, True, None)
    assert [query.query_id for query in filled.queries.find(retired=True)[0]] == ["q1"]
    assert [query.query_id for query in filled.queries.find(retired=False)[0]] == ["q2"]
    filled.queries.restore("q1")
    assert filled.queries.find(retired=True) == ([], 0)


def test_retiring_what_is_retired_changes_nothing(filled: Store):
    filled.queries.retire("q1")
    revision, since = filled.golden_set.data_revision(), filled.queries.find()[0][0].retired_at
    filled.queries.retire("q1")
    assert (filled.golden_set.data_revision(), filled.queries.find()[0][0].retired_at) == (
        revision,
        since,
    )
    with pytest.raises(NotFound, match="no query 'q9'"):
        filled.queries.restore("q9")
