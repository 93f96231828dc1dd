"""Data > Download: grades for other tools are offered where a run came from one."""

from __future__ import annotations

import json
from pathlib import Path

from streamlit.testing.v1 import AppTest

from labeler.model import (
    EVERYTHING,
    Judgment,
    ListSource,
    LoadedGolden,
    LoadedRetrievals,
    Query,
    Ranking,
)
from labeler.store import Store
from labeler.ui.data.downloads import part_bytes
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
        store.retrievals.load(records, names={"": "trace"})
    names = offered(open_page("data", section="Download"))
    assert "grades-phoenix" in names
    assert "scores-langfuse" not in names, "no list has the id of a trace"


def test_the_first_two_files_are_those_that_most_people_want(tmp_path: Path) -> None:
    with Store(empty_golden_set(tmp_path)) as store:
        store.queries.load(loaded([Query("q1", "who?")]))
    app = open_page("data", section="Download")
    first, second, *_ = [button.proto for button in app.get("download_button")]
    assert [first.label, second.label] == ["Download golden.jsonl", "Download golden.csv"]
    assert (first.type, second.type) == ("primary", "secondary")
    said = words(app)
    assert "The golden set as it is now, in one file." in said
    assert "0 golden grades, 1 query, golden set " in said


def test_what_a_golden_set_consists_of_is_offered_as_jsonl_and_csv(tmp_path: Path) -> None:
    with Store(empty_golden_set(tmp_path)) as store:
        store.queries.load(loaded([Query("q1", "who?", reference="Ann")]))
        store.runs.load(loaded([Ranking("q1", ("c1", "c2"), (2.0, 1.0))]), name="bm25")
    app = open_page("data", section="Download")
    labels = [button.proto.label for button in app.get("download_button")][2:8]
    assert labels == [
        f"{part}.{kind}" for part in ("queries", "chunks", "runs") for kind in ("jsonl", "csv")
    ]
    said = words(app)
    assert "1 query, with reference answers" in said
    assert "1 run, up to 2 results a query" in said
    assert "Every judgment" not in said, "nobody has graded"


def test_values_are_each_query_of_each_run_with_the_conventions(tmp_path: Path) -> None:
    with Store(empty_golden_set(tmp_path)) as store:
        store.queries.load(loaded([Query("q1", "who?"), Query("q2", "when?")]))
        lists = [Ranking(query, ("c1", "c2")) for query in ("q1", "q2")]
        store.runs.load(loaded(lists), name="bm25")
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q1", "c2", "Ann", grade=3))
    rows = [json.loads(line) for line in part_bytes("values", "jsonl", EVERYTHING).splitlines()]
    found = {row["query_id"]: row["value"] for row in rows if row["measure"] == "RR"}
    assert found == {"q1": 0.5, "q2": None}
    assert {row["conventions"].split(":")[0] for row in rows} == {"graded"}
    table = part_bytes("values", "csv", EVERYTHING).decode().splitlines()
    assert len(table) == len(rows) + 1
