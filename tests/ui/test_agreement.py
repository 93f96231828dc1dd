"""Review > Agreement: the answer first, what it rests on, and why where there is none."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from labeler.analysis.agreement import (
    GradeMatrix,
    agreement_conventions,
    agreement_records,
    agreement_statements,
    compute_agreement,
)
from labeler.model import Chunk, Judgment, Query
from labeler.render import charts, csv_exports, tables
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

HOSTILE = "<img src=x onerror=alert(1)> **Bob**"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def grade(database: Path) -> Callable[..., None]:
    """Let people grade chunk after chunk, one a query, one a week; None is no grade."""

    def give(ratings: dict[str, Sequence[int | None]], blind: bool = True) -> None:
        with Store(database) as store:
            most = max(map(len, ratings.values()))
            names = [f"q{at}" for at in range(most)]
            queries = [
                Query(name, f"query {name}", ("single", "research")[at % 2])
                for at, name in enumerate(names)
            ]
            store.queries.load(loaded(queries))
            store.chunks.load(loaded([Chunk(f"c{at}", f"text {at}") for at in range(most)]))
            for name, row in ratings.items():
                store.people.add(name)
                for at, value in enumerate(row):
                    if value is not None:
                        day = f"2026-03-{1 + at * 7 % 28:02}T10:00:00.000Z"
                        given = {"grade": value, "blind": blind, "created_at": day}
                        event = f"{name}/{at}/{blind}"
                        store.judgments.add(Judgment(event, f"q{at}", f"c{at}", name, **given))

    return give


def open_agreement(**parameters: str) -> AppTest:
    return open_page("review", review="Agreement", **parameters)


def bodies(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


THREE = {
    "Ann": [0, 1, 2, 3, 3, 0, 1, 2, 0, 0, 1, 3],
    HOSTILE: [0, 1, 2, 3, 2, 0, 1, 3, 0, 1, 1, 3],
    "Cy": [0, 1, None, None, 3, 0, 1, 2, 0, 0, 1, 3],
}


def test_the_answer_comes_first_with_what_it_rests_on(grade):
    grade(THREE)
    app = open_agreement()
    said = words(app)
    headline = said[said.index("The 3 graders agree closely.") :]
    on = "Krippendorff's alpha, ordinal, on 12 passages of 12 queries that two or more graded"
    assert re.search(rf"\|0\.9\d\d\|+ *\|*{on}", headline)
    assert "The 95% confidence interval is 0." in headline
    assert headline.index("The 95% confidence interval") < headline.index("|weighted kappa|")
    for part in ("current grades that were given blind", "Krippendorff (2004)", "the lower median"):
        assert part in said, "how the numbers are computed is on the page"


def test_pairs_that_share_no_passage_are_one_number(grade):
    alone = {name: [None] * at + [1] for at, name in enumerate("CDEFGH", 12)}
    grade({"Ann": THREE["Ann"], HOSTILE: THREE[HOSTILE]} | alone)
    said = words(open_agreement())
    assert f"2 of 8 graders can be compared: {HOSTILE} and Ann agree closely." in said
    assert "The other six share no passage with anybody." in said
    assert "27 pairs share no passage." in said
    [pairs] = re.findall(r'<table aria-label="Pairs">.*?</table>', bodies(open_agreement()))
    assert pairs.count("<tr>") == 2, "a heading, and the pair that can be compared"


def test_every_two_graders_each_against_the_others_and_drift_are_shown(grade):
    grade(THREE)
    app = open_agreement()
    said = words(app)
    for heading in ("Who gave what", "all graders"):
        assert heading in said
    assert "lower median: the middle one counts, of two in the middle the lower (a setting)" in said
    [chart] = app.get("vega_lite_chart")
    assert "Mean of grade minus agreed grade, by week and grader" in chart.proto.spec
    weeks = app.dataframe[0].value
    assert set(weeks["grader"]) == {"Ann", HOSTILE, "Cy"}
    assert "2026-02-23" in set(weeks["week from"]), "the Monday before the first of March"


def test_the_matrix_is_of_every_two_graders_or_of_two_in_the_address(grade):
    grade(THREE)
    assert "Each pair of grades is counted in both directions." in words(open_agreement())
    app = open_agreement(down=HOSTILE, across="Cy")
    assert f"Rows: |{HOSTILE}|. Columns: |Cy|." in words(app)
    assert "in both directions" not in words(app)
    assert '<td class="same"' in bodies(app)
    assert "<img" not in bodies(app)
    assert not [text for text in app.markdown if "Bob" in text.value]


def test_a_facet_gives_each_bucket_a_row_and_a_bucket_stands_alone(grade):
    grade(THREE)
    said = words(open_agreement(facet="task"))
    assert re.search(r"By bucket[^§]*\|task\|+alpha\|", said)
    assert "|single|" in said
    app = open_agreement(facet="task", bucket="single", b="b")
    said = words(app)
    assert "Of the queries of task = single alone." in said
    link = 'href="/review?b=b&amp;facet=task&amp;bucket=single&amp;review=Disagreements"'
    assert link in bodies(app)
    assert "on 6 passages of 6 queries" in said


def test_only_the_graders_who_are_chosen_count(grade):
    grade(THREE)
    app = open_page("review", review="Agreement", grader=["Ann", "Cy"])
    assert "Ann and Cy agree closely." in words(app)
    assert "|1.000|" in words(app)
    assert "|1.000|" not in words(open_agreement())


def test_where_grades_are_exchanged_the_page_leads_to_these_cases(grade):
    grade({"Ann": [2, 2, 2, 0, 0, 3, 3, 1], "Cy": [1, 1, 2, 0, 0, 3, 3, 1]})
    app = open_page("review", review="Agreement", grader=["Ann", "Cy"])
    assert "Where Ann gave 2, Cy gave 1 in 2 of 3 passages. Decide these cases" in words(app)
    assert 'href="/review?review=Disagreements&amp;grader=Ann&amp;grader=Cy"' in bodies(app)


def test_every_two_graders_have_a_way_to_where_they_differ(grade):
    grade({"Ann": [0, 1, 2, 3], HOSTILE: [3, 1, 2, 3], "Cy": [0, 1, 2, 3]})
    shown = bodies(open_agreement())
    assert f"{urlencode({'grader': HOSTILE})}&amp;grader=Ann" in shown
    assert "grader=Ann&amp;grader=Cy" not in shown, "they do not differ"


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ({}, "Nobody has graded blind yet"),
        ({"Ann": [1, None], "Bob": [None, 2]}, "Ann and Bob share no passage, so their agreement"),
        ({"Ann": [0, 1, 3], "Bob": [2, 2, 2]}, "Bob gave 2 to all 3 passages, so kappa is 0"),
    ],
    ids=["nobody", "no overlap", "a constant grader"],
)
def test_where_there_is_no_number_the_page_says_why(grade, ratings, said):
    if ratings:
        grade(ratings)
    page = words(open_agreement())
    assert said in page
    assert not re.search(r"\bnan\b", page)


def test_without_overlap_it_says_how_many_queries_go_to_everybody(grade):
    grade({"Ann": [1]})
    assert "10% of the queries go to every grader" in words(open_agreement())


def test_what_was_not_given_blind_is_counted_and_not_compared(grade):
    grade({"Ann": [1, 2, 3], "Bob": [1, 2, 3]})
    grade({"Bob": [0]}, blind=False)
    said = words(open_agreement())
    assert "1 grade was not given blind and left out: Bob 1." in said
    assert "on 2 passages of 2 queries" in said


def test_the_page_follows_the_next_grade(grade, database):
    grade({"Ann": [1, 2, 3], "Bob": [1, 2, None]})
    app = open_agreement()
    assert "on 2 passages" in words(app)
    with Store(database) as store:
        store.judgments.add(Judgment("new", "q2", "c2", "Bob", grade=3))
    assert "on 3 passages" in words(app.run())


def test_a_wrong_address_is_said_in_words(grade):
    grade(THREE)
    assert "no grader is called 'Nobody'" in words(open_agreement(down="Nobody"))


def test_files_have_every_digit_and_how_the_numbers_are_meant():
    found = compute_agreement(GradeMatrix.of_ratings([[2, 2], [2, 2]]))
    rows, meant = agreement_records(found), agreement_conventions("ordinal", "majority")
    statements = agreement_statements(found)
    alpha, *_ = json.loads(csv_exports.agreement_json(rows, meant, statements))
    assert (alpha["value"], alpha["conventions"]["golden_rule"]) == (None, "majority")
    assert "only one grade was given" in alpha["reason"]
    assert "Everybody gave 2" in alpha["notes"][0]["text"]
    first, *_ = csv.DictReader(
        io.StringIO(csv_exports.agreement_csv(rows, meant, statements).decode())
    )
    assert first["value"] == ""
    assert first["conventions"].endswith("the majority of the others' blind grades")
    assert first["notes"].startswith("Everybody gave 2")


def test_a_cell_says_its_share_of_the_row_and_nothing_where_it_is_empty():
    drawn = str(tables.confusion_matrix([[3, 1], [0, 0]], ["no", "yes"], "Ann", "Bob"))
    assert drawn.count("<small>") == 2
    assert "75%" in drawn
    assert "--share: 0.0" in drawn


def test_a_chart_draws_those_who_were_compared_most():
    rows = [charts.Drift(f"G{n}", "2026-03-02", 0.5, n) for n in range(1, 12)]
    spec = charts.drift_chart(rows, "drift").to_dict()
    [graders] = [each["value"] for each in spec["params"] if each["name"] == "graders"]
    assert graders == [f"G{n}" for n in range(4, 12)]
