"""Measures where nobody chose any: one set, and on pages of means those of the settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import labeler
from labeler.cli import main
from labeler.evaluation import DEFAULT_MEASURES
from labeler.model import GoldenGrade, LoadedGolden, Query, Ranking, Settings
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded([Query("q1", "one", "single")]))
        for name, chunks in (("a", ("c1", "c2")), ("b", ("c2", "c1"))):
            store.runs.load(loaded([Ranking("q1", chunks)]), name=name)
        grades = loaded([GoldenGrade("q1", "c1", 3)])
        store.golden_loads.add(LoadedGolden(loaded([]), grades, loaded([])))
    return path


@pytest.mark.parametrize("page", ["scores", "slices", "compare"])
def test_pages_of_means_begin_with_the_measures_that_are_set(database: Path, page: str) -> None:
    assert list(open_page(page).multiselect(key="measure").value) == ["nDCG@10", "R@5", "RR"]
    with Store(database) as store:
        store.settings.save(Settings(measures="P@5 AP"))
    assert list(open_page(page).multiselect(key="measure").value) == ["nDCG@10", "P@5", "AP"]


@pytest.mark.parametrize("command", [["score"], ["compare", "a", "b"]])
def test_every_command_begins_with_the_same_measures(database: Path, command: list[str]) -> None:
    arguments = ["--db", str(database), *command, "--format", "json"]
    printed = json.loads(CliRunner().invoke(main, arguments, catch_exceptions=False).output)
    assert list(dict.fromkeys(row["measure"] for row in printed)) == list(DEFAULT_MEASURES)


def test_python_begins_with_the_same_measures() -> None:
    run = {"q1": ["c1"]}
    frame = labeler.evaluate({"q1": {"c1": 1}}, {"a": run})
    delta = labeler.compare({"q1": {"c1": 1}}, run, run)
    assert frame.measure.tolist() == delta.measure.tolist() == list(DEFAULT_MEASURES)
