"""Queries and candidates on the Data page: typed, edited, taken; what two leads do at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labeler.model import AskedQuestion, Query
from labeler.services.candidates import group_questions
from labeler.store import Store, query_fingerprint
from tests.support.page import empty_golden_set, loaded, open_page, words


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = empty_golden_set(tmp_path)
    with Store(found) as store:
        queries = [
            Query(
                "q1", "how long does a refund take", "single", buckets={"*topic*": "[r](http://x)"}
            ),
            Query(
                "q2", "where are my invoices", "research", keywords=("invoice", "where, exactly")
            ),
        ]
        store.queries.load(loaded(queries))
    return found


def ask(path: Path, *questions: str, source: str = "log") -> None:
    """Put questions among the candidates."""
    with Store(path) as store:
        asked = [(line, AskedQuestion(text)) for line, text in enumerate(questions, 1)]
        found = group_questions(asked, source, "asked.csv")
        store.candidates.add(found, found.questions)


def at(app: AppTest, label: str):
    """Return the field or button with a label."""
    fields = [*app.text_input, *app.text_area, *app.selectbox, *app.button]
    [found] = [each for each in fields if each.label == label]
    return found


def press(app: AppTest, label: str) -> AppTest:
    return at(app, label).click().run()


def test_an_edit_is_saved_and_its_history_shown(path: Path):
    app = open_page("data", section="Queries", edit="q1")
    assert at(app, "Question").value == "how long does a refund take"
    at(app, "Question").set_value("How long do refunds take?")
    at(app, "Task").set_value("research")
    at(app, "Another facet").set_value("level")
    at(app, "Its bucket").set_value("easy")
    app = press(app, "Save")
    assert not app.exception
    assert "edit" not in app.query_params, "the list is shown again"
    with Store(path) as store:
        query = store.queries.get("q1")
    assert (query.text, query.task) == ("How long do refunds take?", "research")
    assert query.buckets == {"*topic*": "[r](http://x)", "level": "easy"}
    again = open_page("data", section="Queries", edit="q1")
    rows = again.dataframe[0].value
    assert list(rows["field"]) == ["text", "task", "bucket level"]
    assert list(rows["before"]) == ["how long does a refund take", "single", ""]
    assert "Source: a file of queries, test" in words(again)


def test_saving_untouched_fields_changes_nothing(path: Path):
    with Store(path) as store:
        before = store.queries.all(), store.golden_set.data_revision()
    press(open_page("data", section="Queries", edit="q2"), "Save")
    with Store(path) as store:
        assert (store.queries.all(), store.golden_set.data_revision()) == before


def test_a_second_lead_is_told_keeps_what_was_typed_and_overwrites_only_knowingly(path: Path):
    app = open_page("data", section="Queries", edit="q1")
    with Store(path) as store:
        first = store.queries.get("q1")
        store.queries.edit(replace(first, guideline="faster"), query_fingerprint(first))
    at(app, "Question").set_value("mine")
    app = press(app, "Save")
    assert "has changed this query since you opened it: guideline" in words(app)
    assert at(app, "Question").value == "mine", "what was typed is still there"
    with Store(path) as store:
        assert store.queries.get("q1").text == first.text
    app = press(app, "Overwrite with mine")
    with Store(path) as store:
        assert store.queries.get("q1").text == "mine"
        assert [change.kind for change in store.history.of("q1")] == ["edit", "edit"]


def test_a_second_lead_can_begin_anew(path: Path):
    app = open_page("data", section="Queries", edit="q1")
    with Store(path) as store:
        first = store.queries.get("q1")
        store.queries.edit(replace(first, text="faster"), query_fingerprint(first))
    app = press(press(app, "Save"), "Reload the current version")
    assert at(app, "Question").value == "faster"
    at(app, "Guideline for graders").set_value("look twice")
    press(app, "Save")
    with Store(path) as store:
        assert (store.queries.get("q1").text, store.queries.get("q1").guideline) == (
            "faster",
            "look twice",
        )


def test_a_typed_query_is_checked_as_a_files_line_is(path: Path):
    app = press(open_page("data", section="Queries"), "Add a query")
    app = press(app, "Add")
    assert "has no text" in words(app)
    at(app, "Question").set_value("Where is my parcel?")
    at(app, "Id").set_value("q1")
    app = press(app, "Add")
    assert "'q1' is in the golden set already" in words(app)
    at(app, "Id").set_value("parcel")
    at(app, "Keywords").set_value("parcel\n\n track, trace \n")
    press(app, "Add")
    with Store(path) as store:
        query = store.queries.get("parcel")
    assert query == Query("parcel", "Where is my parcel?", keywords=("parcel", "track, trace"))


def test_what_is_nearly_there_already_is_said_before_it_is_added(path: Path):
    app = press(open_page("data", section="Queries"), "Add a query")
    at(app, "Question").set_value("How long does a refund take?")
    app = press(app, "Add")
    assert "nearly the same as q1" in words(app)
    press(app, "Add it anyway")
    with Store(path) as store:
        assert len(store.queries.all()) == 3


def test_a_query_that_is_not_there_is_said_not_to_be(path: Path):
    assert "no query 'q9'" in words(open_page("data", section="Queries", edit="q9"))


def test_a_file_of_questions_is_loaded_and_each_is_taken_or_not(path: Path):
    app = open_page("data", section="Candidates")
    log = b"query,count\nwhere are the invoices,4\nWhere are my invoices?,2\n<b>,1\n"
    app.file_uploader[0].set_value([("log.csv", log, "text/csv")])
    app = press(app, "Load the questions")
    said = words(app)
    assert "of a query in the set  1" in said
    assert "2 open · 0 set aside · 1 taken" in said
    assert "where are the invoices" in said
    assert "75% the words of" not in said, "what is not near is not shown as such"
    app = open_page("data", section="Candidates")
    boxes = [each for each in app.button if each.label == "Take"]
    assert len(boxes) == 2
    boxes[0].click().run()
    with Store(path) as store:
        assert store.queries.all()[-1].text == "where are the invoices"
    app = press(open_page("data", section="Candidates"), "Set aside")
    assert "No match" in words(app)
    app = press(open_page("data", section="Candidates", state="set aside"), "Look at it again")
    with Store(path) as store:
        assert [each.text for each in store.candidates.find()[0]] == ["<b>"]


@pytest.mark.parametrize("page", ["3", "0", "x", "9" * 5_000])
def test_a_page_of_candidates_that_is_not_there_is_the_first(path: Path, page: str):
    ask(path, *(f"is part number {number} still made" for number in range(25)))
    first, asked = (
        words(open_page("data", section="Candidates", page=each)) for each in ("1", page)
    )
    assert "is part number" in first
    assert asked == first


def test_a_candidate_whose_number_is_none_is_said_not_to_be_there(path: Path):
    ask(path, "something new")
    for number in ("x", "9" * 5_000):
        said = words(open_page("data", section="Candidates", take=number))
        assert "no candidate has the number" in said


def test_a_bad_file_of_questions_is_refused_in_the_words_of_the_page(path: Path):
    app = open_page("data", section="Candidates")
    log = b"query,count\nok,1\nworse,none\n"
    app.file_uploader[0].set_value([("log.csv", log, "text/csv")])
    app = press(app, "Load the questions")
    assert "log.csv:3: count must be a whole number" in words(app)
    with Store(path) as store:
        assert store.candidates.batches() == []


def test_an_expert_types_questions_a_line_each(path: Path):
    app = open_page("data", section="Candidates", from_where="typed")
    at(app, "Or type them here, one per line").set_value("What is covered?\nWhat is not?\n")
    press(app, "Load the questions")
    with Store(path) as store:
        found, _ = store.candidates.find(source="typed")
    assert [each.text for each in found] == ["What is covered?", "What is not?"]


def test_a_candidate_is_completed_before_it_is_a_query(path: Path):
    ask(path, "how long does the refund take")
    app = open_page("data", section="Candidates")
    assert "83% the words of q1: how long does a refund take" in words(app)
    app = press(app, "Edit first")
    at(app, "Id").set_value("refund-2")
    at(app, "Reference answer").set_value("Three days")
    press(app, "Take it")
    with Store(path) as store:
        query = store.queries.get("refund-2")
        [taken] = store.candidates.find(state="taken")[0]
    assert (taken.query_id, taken.times) == ("refund-2", 1)
    assert (query.text, query.reference) == ("how long does the refund take", "Three days")


def test_two_leads_who_take_one_candidate_make_one_query(path: Path):
    ask(path, "something new")
    app = open_page("data", section="Candidates", take="1")
    with Store(path) as store:
        store.candidates.take(1, Query("theirs", "something new"))
    app = press(app, "Take it")
    assert "was taken already: it is query 'theirs'" in words(app)
    with Store(path) as store:
        assert len(store.queries.all()) == 3


def test_near_ones_can_be_counted_to_their_query(path: Path):
    ask(path, "how long does the refund take")
    app = press(open_page("data", section="Candidates"), "It is that query")
    assert not app.exception
    with Store(path) as store:
        [taken] = store.candidates.find(state="taken")[0]
        assert (taken.query_id, taken.times) == ("q1", 1)
        assert len(store.queries.all()) == 2
