"""The Review page: who did what, how far it is, and what graders wrote; every text stays text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labeler.evaluation import format_share
from labeler.model import (
    MAJORITY,
    Chunk,
    GoldenGrade,
    Judgment,
    LoadedGolden,
    Query,
    Ranking,
    Remark,
)
from labeler.render import charts, csv_exports
from labeler.render.charts.review import shown_days
from labeler.store import Store
from labeler.ui.review.disagreements import disagreements_file, small_print
from tests.support.page import empty_golden_set, loaded, open_page, words

HOSTILE = "<img src=x onerror=alert(1)> **bold** :red[x] $y$"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def pooled(database: Path) -> Iterator[Store]:
    """Three queries, two of them in a bucket, with ten chunks each in the pool."""
    with Store(database) as store:
        ids = tuple(f"c{n}" for n in range(10))
        store.chunks.load(loaded([Chunk(name, f"text of {name}", HOSTILE) for name in ids]))
        store.queries.load(
            loaded(
                [
                    Query("q0", HOSTILE, buckets={"pool": "<b>refund</b>"}),
                    Query("q1", "one", buckets={"pool": "setup"}),
                    Query("q2", "two"),
                ]
            )
        )
        store.runs.load(loaded([Ranking(f"q{n}", ids) for n in range(3)]), name="run")
        store.people.add("Ann", role="grader")
        store.people.add("<i>Bob</i>")
        yield store


@pytest.fixture
def say(pooled: Store):
    """Let somebody judge."""
    numbers = count(1)

    def judge(grader: str, chunk: str, grade: int | None, query: str = "q0", **more) -> None:
        kind = "cannot_tell" if grade is None else "grade"
        given = {"kind": kind, "grade": grade, **more}
        pooled.judgments.add(Judgment(f"e{next(numbers)}", query, chunk, grader, **given))

    return judge


def open_review(section: str = "Work", **parameters: str) -> AppTest:
    return open_page("review", review=section, **parameters)


def bodies(app: AppTest) -> str:
    assert not app.exception
    return "".join(element.proto.body for element in app.get("html"))


def row(said: str, name: str) -> list[str]:
    """The cells of the table row that opens with ``name``."""
    rest = re.split(rf"\|{re.escape(name)}\|", said, maxsplit=1)[1]
    return [cell for cell in rest.split("|") if cell.strip()]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("Work", "There is nothing to grade yet"),
        ("Progress", "labeler load run FILE"),
        ("Can't tell", "`X` on the Label page"),
        ("Remarks on queries", "on the Label page (`Q`)"),
        ("Notes", "`N` on the Label page"),
    ],
)
def test_where_there_is_nothing_it_says_what_to_do(database: Path, section: str, said: str):
    app = open_review(section)
    assert said in words(app)
    assert not app.get("vega_lite_chart")


def test_work_leads_to_graders_where_nobody_has_graded(pooled: Store):
    said = words(open_review())
    assert "Nobody has graded yet" in said
    assert "Invite graders" in said


def test_each_grader_has_a_row_and_the_days_a_chart(pooled: Store, say):
    say("Ann", "c0", 3, elapsed_ms=4_000, created_at="2026-03-01T10:00:00.000Z")
    say("Ann", "c1", None, created_at="2026-03-02T10:00:00.000Z")
    say("Ann", "c0", 2, source="repeat", created_at="2026-03-02T11:00:00.000Z")
    pooled.remarks.add(Remark("r1", "q1", "Ann", "unclear"))
    app = open_review()
    cells = ["grader", "1", "1", "1", "0", "4.0", "2026-03-01", "2026-03-02"]
    assert row(words(app), "Ann")[:9] == [
        *cells,
        "The one chunk that Ann saw again got another grade, one apart.",
    ]
    assert "1 person has not graded yet" in [each.label for each in app.expander]
    assert "<i>Bob</i>" in [each.value for each in app.text]
    assert "<i>Bob" not in bodies(app)
    [by_day, _] = app.get("vega_lite_chart")
    assert "Grades given on each day, by grader" in by_day.proto.spec
    assert app.dataframe[0].value.values.tolist() == [
        ["2026-03-02", "Ann", 1],
        ["2026-03-01", "Ann", 1],
    ]


def test_progress_is_of_all_queries_or_by_the_facet_in_the_address(pooled: Store, say):
    say("Ann", "c0", 0)
    say("Ann", "c1", None)
    said = words(open_review("Progress"))
    assert row(said, "all queries")[:8] == ["3", "0", "30", "1", "3%", "1", "0", "28"]
    app = open_review("Progress", facet="pool")
    assert row(words(app), "<b>refund</b>")[:8] == ["1", "0", "10", "1", "10%", "1", "0", "8"]
    assert row(words(app), "no pool")[:8] == ["1", "0", "10", "0", "0%", "0", "0", "10"]
    assert row(words(app), "all queries")[:8] == ["3", "0", "30", "1", "3%", "1", "0", "28"]
    assert "<b>refund" not in bodies(app)
    assert "The pool is the top 10 of every run" in words(app)


def test_grades_that_came_with_a_file_are_progress_and_nobodys_work(pooled: Store):
    grades = [GoldenGrade("q1", "c0", 3, ("Dee",), "as before")]
    pooled.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    app = open_review()
    assert "Nobody has graded yet" in words(app)
    assert "Imported grades aren't counted here." in words(app)
    assert any('href="/data?section=People"' in each.proto.body for each in app.get("html"))
    assert row(words(open_review("Progress", facet="pool")), "setup")[3] == "1"
    assert row(words(open_review("Notes")), "as before")[-3:-1] == ["Dee", "from a file"]


def test_cannot_tell_is_counted_by_reason_and_listed(pooled: Store, say):
    say("Ann", "c0", None, reason=HOSTILE, note=HOSTILE)
    say("Ann", "c1", None, query="q1")
    say("<i>Bob</i>", "c1", None, query="q1")
    app = open_review("Can't tell")
    said = words(app)
    assert re.search(r"\|no reason given\|+2\|", said)
    assert row(said, HOSTILE)[0] == "1"
    assert "3, newest first" in said
    assert "<img" not in bodies(app)
    assert 'href="/queries?a=run&amp;query=q1"' in bodies(app)


def test_remarks_lead_to_the_query(pooled: Store):
    pooled.remarks.add(Remark("r1", "q0", "Ann", "unanswered", HOSTILE))
    pooled.remarks.add(Remark("r2", "q1", "Ann", "unclear"))
    app = open_review("Remarks on queries")
    assert "no passage answers it: 1" in words(app)
    assert row(words(app), "one")[:3] == ["q1", "the query is unclear", "Ann"]
    assert row(words(app), HOSTILE)[:3] == ["q0", "no passage answers it", "Ann"]
    assert "<img" not in bodies(app)
    assert 'href="/queries?a=run&amp;query=q0"' in bodies(app)


def test_notes_say_beside_which_grade_they_stand(pooled: Store, say):
    say("Ann", "c0", 2, note=f"see\n{HOSTILE}")
    say("Ann", "c1", None, note="hm")
    app = open_review("Notes")
    assert "2 partly relevant" in row(words(app), f"see\n{HOSTILE}")
    assert "can't tell" in row(words(app), "hm")
    assert "<img" not in bodies(app)
    assert not [text for text in app.markdown if "bold" in text.value]


def test_a_long_list_has_pages_and_the_address_says_which(pooled: Store):
    for number in range(101):
        pooled.people.add(f"G{number:03}")
        pooled.judgments.add(
            Judgment(f"e{number}", "q0", "c0", f"G{number:03}", grade=1, note=f"note {number:03}")
        )
    first = words(open_review("Notes"))
    assert "101, newest first" in first
    assert "note 000" not in first
    app = open_review("Notes", **{"notes-page": "2"})
    assert "note 000" in words(app)
    assert "note 100" not in words(app)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"review": "nope"}, "no section is called 'nope'; there are: Work, Health"),
        ({"review": "Progress", "facet": "nope"}, "no facet is called 'nope'"),
    ],
)
def test_a_wrong_address_is_said_in_words(pooled: Store, given: dict, said: str):
    app = open_page("review", **given)
    assert said in words(app)
    assert not app.get("vega_lite_chart")


def sections(app: AppTest) -> list[str]:
    return list(app.button_group[0].options)


def test_a_section_without_anything_to_act_on_is_not_shown(pooled: Store, say):
    assert sections(open_page("review")) == ["Work", "Health"]
    assert sections(open_review("Agreement")) == ["Work", "Agreement", "Health"]
    say("Ann", "c0", 0)
    say("<i>Bob</i>", "c0", 1, note="hm")
    shown = ["Work", "Agreement", "Disagreements", "Comments", "Health"]
    assert sections(open_page("review")) == shown


def test_an_earlier_section_of_comments_is_found_under_comments(pooled: Store, say):
    say("Ann", "c0", 0, note="hm")
    say("Ann", "c1", None)
    app = open_page("review", review="Notes")
    assert [group.value for group in app.button_group] == ["Comments", "Notes"]
    assert list(app.button_group[1].options) == ["Can't tell", "Notes"], "no remark is there"
    assert open_page("review", review="Progress").button_group[0].value == "Work"


def test_a_file_has_every_row_and_no_cell_that_a_spreadsheet_would_run():
    given = [
        {"note": "=1+1", "grade": 3, "title": None},
        {"note": 'a "b",\nc', "grade": None, "title": "@x"},
    ]
    first, second = csv.DictReader(io.StringIO(csv_exports.rows_csv(given).decode()))
    assert first == {"note": "'=1+1", "grade": "3", "title": ""}
    assert second == {"note": 'a "b",\nc', "grade": "", "title": "'@x"}


def test_a_chart_of_many_graders_names_the_busiest_and_adds_up_to_all():
    given = [("2026-03-01", f"G{n:03}", n) for n in range(1, 151)]
    chart = charts.day_chart(given, "days").to_dict()
    [rows] = chart["datasets"].values()
    assert {each["grader"] for each in rows} == {f"G{n}" for n in range(145, 151)} | {
        "everyone else"
    }
    assert sum(each["grades"] for each in rows) == sum(range(1, 151))


def test_days_without_a_grade_are_in_the_chart_and_old_ones_are_not():
    days = shown_days(["2025-01-01", "2026-02-27", "2026-03-02"])
    assert len(days) == charts.MOST_DAYS
    assert days[-3:] == ["2026-02-28", "2026-03-01", "2026-03-02"]
    chart = charts.day_chart([("2026-03-02", "Ann", 1), ("2025-01-01", "Ann", 5)], "days")
    [rows] = chart.to_dict()["datasets"].values()
    assert [each["day"] for each in rows] == ["2026-03-02"]


def test_a_share_is_whole_only_where_nothing_is_missing():
    assert format_share(1999, 2000) == ">99%"
    assert format_share(2000, 2000) == "100%"
    assert format_share(1, 2000) == "<1%"
    assert format_share(0, 2000) == "0%"


def test_whoever_decides_gives_a_name_in_place(pooled: Store, say):
    say("Ann", "c0", 0)
    say("<i>Bob</i>", "c0", 3)
    app = open_page("review", review="Disagreements")
    said = words(app)
    assert "1 disagreement, 1 to decide" in said
    assert "Each decision is saved under a name. What's yours?" in said
    app.text_input[0].input(" ann ")
    next(each for each in app.button if each.label == "Start deciding").click()
    app.run()
    assert "Ann has graded 1 here. Is that you?" in words(app)
    assert {"Yes, that's me", "No, someone else"} <= {each.label for each in app.button}


def test_nobody_is_asked_for_a_name_where_graders_agree(pooled: Store, say):
    say("Ann", "c0", 3)
    say("<i>Bob</i>", "c0", 3)
    app = open_page("review", review="Disagreements")
    assert "No disagreements" in words(app)
    assert not app.text_input


def test_disagreements_come_query_by_query_the_query_with_the_widest_first(pooled: Store, say):
    for query, chunk, grade in (("q1", "c0", 2), ("q0", "c1", 1), ("q1", "c1", 1), ("q0", "c0", 3)):
        say("Ann", chunk, 0, query=query)
        say("<i>Bob</i>", chunk, grade, query=query)
    found = [(each.query_id, each.chunk_id) for each in pooled.adjudication.disagreements()]
    assert found == [("q0", "c0"), ("q0", "c1"), ("q1", "c0"), ("q1", "c1")]


def test_disagreements_say_the_rule_and_what_a_tie_is(pooled: Store, say):
    usual = small_print(pooled.settings.read())
    assert usual.startswith("When graders differ: lower median, the middle one")
    assert "your decisions and your later grades of these chunks are not blind" in usual
    ruled = small_print(replace(pooled.settings.read(), golden_rule=MAJORITY))
    assert "A tie is unjudged in every measure until you decide it" in ruled
    assert "A tie" not in usual


def test_progress_says_that_ties_are_open(pooled: Store, say):
    say("Ann", "c0", 0)
    say("<i>Bob</i>", "c0", 3)
    assert "tied" not in words(open_page("review", review="Progress"))
    pooled.settings.save(replace(pooled.settings.read(), golden_rule=MAJORITY))
    said = words(open_page("review", review="Progress"))
    assert "Open: nobody has graded it, or the most frequent grades are tied." in said


def test_disagreements_leave_as_a_file_that_no_spreadsheet_runs(pooled: Store, say):
    say("Ann", "c0", 0, note="=1+1")
    say("<i>Bob</i>", "c0", 3)
    say("Ann", "c1", 1, "q1")
    say("<i>Bob</i>", "c1", 2, "q1")
    file = disagreements_file({"facet": ["pool"], "bucket": ["setup"]}).decode()
    rows = list(csv.DictReader(io.StringIO(file)))
    assert [(row["query_id"], row["grader"]) for row in rows] == [
        ("q1", "<i>Bob</i>"),
        ("q1", "Ann"),
    ]
    everything = disagreements_file({}).decode()
    assert "'=1+1" in everything
    assert disagreements_file({"grader": ["nobody"]}).strip() == b""
