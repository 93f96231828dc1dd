"""Data > Load: the loads of golden grades are listed, and the last of them can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labeler.model import GoldenGrade, Loaded, LoadedGolden, Query
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

HOSTILE = "<b>*all*</b>.qrels"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded([Query("q1", "who?")]))
    return path


def load(path: Path, grade: int, file: str = "some.qrels", chunk: str = "c1") -> None:
    grades = Loaded(file, [GoldenGrade("q1", chunk, grade)], [1])
    with Store(path) as store:
        store.golden_loads.add(LoadedGolden(loaded([]), grades, loaded([])), update=True)


def grades_of(path: Path) -> list[int]:
    with Store(path) as store:
        return [each.grade for each in store.golden_set.read()[1]]


def folded(app: AppTest) -> list[str]:
    assert not app.exception
    return [each.label for each in app.expander if each.label == "Loads of golden grades"]


def undo_buttons(app: AppTest) -> list[str]:
    return [each.key for each in app.button if each.label == "Undo it"]


def test_without_a_load_of_grades_nothing_is_shown(database: Path):
    assert folded(open_page("data")) == []


def test_each_load_says_what_is_left_of_it_and_the_newest_comes_first(database: Path):
    load(database, 3, HOSTILE)
    load(database, 1)
    app = open_page("data")
    assert folded(app) == ["Loads of golden grades"]
    said = [each.value for each in app.text if ".qrels · 20" in each.value]
    assert [each.split(" · ")[:2] for each in said] == [["2", "some.qrels"], ["1", HOSTILE]]
    assert said[1].endswith("1 grade, 0 of them current")
    assert undo_buttons(app) == ["undo-it-2"], "nothing of the first is left to undo"


def test_a_load_is_taken_back_in_two_steps_and_the_grade_before_counts_again(database: Path):
    load(database, 3)
    load(database, 1)
    app = open_page("data")
    assert "Undo load 2, 1 grade of some.qrels?" in words(app)
    assert grades_of(database) == [1], "nothing is undone by looking"
    app = app.button(key="undo-it-2").click().run()
    assert [each.value for each in app.toast] == [
        "1 grade is undone. 1 grade that it had replaced counts again"
    ]
    assert grades_of(database) == [3]
    assert undo_buttons(app) == ["undo-it-1"]
    assert "0 of them current, undone 20" in words(app)


def test_the_last_five_are_listed_and_the_way_to_the_others_named(database: Path):
    for number in range(6):
        load(database, 2, f"{number}.qrels", f"c{number}")
    app = open_page("data")
    assert undo_buttons(app) == [f"undo-it-{number}" for number in (6, 5, 4, 3, 2)]
    assert "labeler undo-load" in words(app)


def test_other_sections_do_not_list_loads(database: Path):
    load(database, 3)
    assert folded(open_page("data", section="Versions")) == []
