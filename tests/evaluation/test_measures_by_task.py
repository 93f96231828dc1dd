"""The primary and the secondary measure of a task: a setting that pages start with."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.analysis.failures import MinimumByTask
from labeler.cli import main
from labeler.errors import BadInput
from labeler.evaluation import Conventions
from labeler.model import Settings
from labeler.store import Store
from tests.support.page import open_page, words


def change(path: Path, *values: str, exit_code: int = 0) -> str:
    given = ["--db", str(path), "change", "setting", "measures-by-task", *values]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == exit_code, result.output
    return result.output


def test_a_team_chooses_the_measures_of_a_task_and_no_hash_moves(filled: Store) -> None:
    before = filled.collection.golden_state().hash
    said = change(filled.path, "single=RR  P(rel=2)@5", "research=AP")
    assert "'single=RR P(rel=2)@5' research=AP" in said
    assert filled.settings.read().measures_by_task == {"single": "RR P(rel=2)@5", "research": "AP"}
    assert filled.collection.golden_state().hash == before
    change(filled.path, "")
    assert filled.settings.read().measures_by_task == {}
    audit = CliRunner().invoke(main, ["--db", str(filled.path), "audit"])
    assert "measures_by_task" in audit.output


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("sin\tgle=RR", "task name 'sin\\tgle' holds the control character"),
        ("single=RR AP P@5", "a primary and perhaps a secondary measure"),
        ("single=", "a primary and perhaps a secondary measure"),
        ("single=nDGC@10", "nDCG"),
    ],
)
def test_what_is_no_task_or_no_measure_is_refused(filled: Store, given: str, why: str) -> None:
    assert why in change(filled.path, given, exit_code=1)
    assert filled.settings.read().measures_by_task == {}


def test_the_measure_that_leads_a_task_is_the_bar_of_its_queries() -> None:
    conventions = Conventions.of()
    assert str(MinimumByTask.usual(conventions).bars["single"].measure) == "Success(rel=1)@3"
    chosen = MinimumByTask.usual(conventions, {"single": "P@5 RR"})
    assert str(chosen.bars["single"].measure) == "P(rel=1)@5"
    assert str(chosen.bars["longtail"].measure).startswith("nDCG")
    with pytest.raises(BadInput, match="must not be empty"):
        Settings(measures_by_task={"": "RR"})


def test_pages_start_with_the_measures_of_the_task_that_is_looked_at(filled: Store) -> None:
    change(filled.path, "single=P@1 AP")
    said = words(open_page("scores", facet="task", bucket="single"))
    assert "P@1, AP and" in said
    assert "first those of its task" in said
    assert "first those" not in words(open_page("scores"))
    assert "first those" not in words(
        open_page("scores", facet="task", bucket="single", measure=["RR"])
    )
    assert "P@1" in words(open_page("scores", view="by task"))
    assert "first those" not in words(open_page("slices", facet="task")), "one measure ranks all"
    assert "P@1, AP and" in words(open_page("compare", facet="task", bucket="single"))
