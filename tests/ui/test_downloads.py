"""Data > Download: grades for other tools are offered where a run came from one."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from labeler.model import ListSource, LoadedGolden, LoadedRetrievals, Query, Ranking
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words


def offered(app: AppTest) -> set[str]:
    """Return what the names of the downloads begin with."""
    names = [button.proto.label for button in app.get("download_button")]
    return {name.rpartition("-r")[0][: -len("-2026-01-31")] for name in names if "-r" in name}


def test_grades_for_a_tool_are_offered_once_a_run_has_its_ids(tmp_path: Path) -> None:
    database = empty_golden_set(tmp_path)
    assert not offered(open_page("data", section="Download")) & {"grades-phoenix"}
    records = LoadedRetrievals(
        "trace.jsonl",
        loaded([Query("q1", "who?")]),
        loaded([]),
        {"": loaded([Ranking("q1", ("c1",), (1.0,))])},
        LoadedGolden(loaded([]), loaded([]), loaded([])),
        items={"": {"q1": ListSource("aa", None, ("c1",))}},
    )
    with Store(database) as store:
        store.add_retrievals(records, names={"": "trace"})
    names = offered(open_page("data", section="Download"))
    assert "grades-phoenix" in names
    assert "scores-langfuse" not in names, "no list has the id of a trace"


def test_the_first_two_files_are_those_that_most_people_want(tmp_path: Path) -> None:
    with Store(empty_golden_set(tmp_path)) as store:
        store.add_queries(loaded([Query("q1", "who?")]))
    app = open_page("data", section="Download")
    first, second, *_ = [button.proto for button in app.get("download_button")]
    assert [first.label, second.label] == ["Download golden.jsonl", "Download golden.csv"]
    assert (first.type, second.type) == ("primary", "secondary")
    said = words(app)
    assert "The golden set as it is now, in one file." in said
    assert "0 golden grades, 1 query, golden set " in said
