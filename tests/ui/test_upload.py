"""Data > Load for files of questions with their results: one drop, a field map, and questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from labeler.store import Store
from tests.support.page import empty_golden_set, open_page, words
from tests.ui.test_data import drop, field, kinds, press, run_names, verdicts

REFUND, SHIPPING = "how long does a refund take?", "where is my parcel?"
THREE, FIVE = "A refund takes three days.", "A parcel takes five days."
DUMP = {
    "query": REFUND,
    "category": "money",
    "tokens": [1],
    "results": [{"id": "c1", "text": THREE, "score": 2.5}, {"id": "c2", "text": FIVE, "score": 1}],
}
ODD = {"in": {"q": REFUND}, "out": {"found": [{"key": "c1", "words": THREE}]}}
ODD_MAP = "query=in.q results=out.found id=key text=words"
SMALL_NUMBERS = "query_id,chunk_id,score\nq1,c1,3\nq1,c2,1\n"
MAP = "Field names"
SHAPES = Path(__file__).parents[1] / "formats" / "retrieval_shapes"
READ = (".json", ".jsonl", ".csv", ".parquet")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


def dropped(**files: Any) -> AppTest:
    """Open the page and drop files: texts as they are, other things as JSON."""
    contents = {
        name: given if isinstance(given, str) else json.dumps(given)
        for name, given in files.items()
    }
    return drop(open_page("data"), **contents)


def sample(app: AppTest) -> str:
    """Return what the page shows of the first record of files."""
    return "".join(each.proto.body for each in app.get("html") if "sample" in each.proto.body)


def labels(app: AppTest) -> set[str]:
    fields = [*app.checkbox, *app.text_input, *app.selectbox]
    return {each.label for each in fields}


def test_one_dropped_file_becomes_queries_chunks_a_run_and_grades(database: Path):
    graded = {"query": SHIPPING, "results": [{"id": "c2", "text": FIVE, "score": 1, "label": 3}]}
    app = dropped(dump__jsonl=f"{json.dumps(DUMP)}\n{json.dumps(graded)}\n")
    assert [box.value for box in kinds(app)] == ["records"]
    assert [box.value for box in run_names(app)] == ["dump"]
    assert field(app, MAP).value.startswith("query=query results=results id=id text=text")
    app = press(app, "Load 1 file")
    assert verdicts(app) == [("success", "Loaded")]
    said = words(app)
    assert "✓ loaded: 2 queries, 2 chunks, 1 golden grade, run 'dump'" in said
    assert "read: query=query results=results id=id text=text score=score grade=label" in said
    assert "kept with the queries: category" in said
    assert "not read: tokens" in said
    with Store(database) as store:
        assert [each.text for each in store.queries.all()] == [REFUND, SHIPPING]
        assert [run.name for run in store.runs.all()] == ["dump"]


def test_a_run_gets_the_name_its_user_gives_it_and_systems_name_their_own(database: Path):
    systems = {"query": SHIPPING, "results": {"bm25": [{"text": THREE}], "dense": [{"text": FIVE}]}}
    app = dropped(dump__json=[DUMP], both__json=[systems])
    assert [box.value for box in run_names(app)] == ["dump", ""]
    run_names(app)[0].set_value("of March")
    app = press(app, "Load 2 files")
    assert "✓ loaded: 1 query, 2 chunks, run 'bm25', run 'dense'" in words(app)
    with Store(database) as store:
        assert {run.name for run in store.runs.all()} == {"of March", "bm25", "dense"}


def test_a_table_of_two_systems_is_two_runs_under_its_usual_name(database: Path):
    rows = "query_id,chunk_id,score,system\nq1,c1,12.5,bm25\nq1,c1,0.9,dense\n"
    app = press(dropped(runs__csv=rows), "Load 1 file")
    said = words(app)
    assert "✓ loaded: run 'bm25', run 'dense'" in said
    assert "⚠ run 'bm25': no query of this run is in the golden set" in said


def test_a_file_of_no_known_kind_is_read_by_a_map_that_is_shown_before_loading(database: Path):
    app = dropped(odd__json=[ODD])
    said = words(app)
    assert "The file is not recognised. Nothing is loaded yet." in str(
        [each.value for each in app.header]
    )
    assert "('in', 'out') do not say what the file holds; if it holds questions" in said
    assert "in.q, out.found" in sample(app)
    assert "key, words" in sample(app)
    app = field(app, MAP).set_value("query=in.question").run()
    assert [box.value for box in kinds(app)] == ["records"], "who writes a map has said the kind"
    assert "⚠ there is no question under in.question; its keys are 'in', 'out'" in words(app)
    app = field(app, MAP).set_value(f"--map '{ODD_MAP}'").run()
    assert "read by the map below" in words(app)
    assert REFUND in sample(app)
    assert THREE in sample(app)
    app = press(app, "Load 1 file")
    assert "✓ loaded: 1 query, 1 chunk, run 'odd'" in words(app)
    with Store(database) as store:
        assert store.settings.read().field_map == ODD_MAP


def test_the_map_that_worked_is_tried_on_the_next_file_like_it(database: Path):
    with Store(database) as store:
        store.settings.save_field_map(ODD_MAP)
    app = dropped(more__json=[ODD], other__json=[{"in": {"q": "why?"}}])
    assert [box.value for box in kinds(app)] == ["records", None]
    assert [each.value for each in app.text_input if each.label == MAP] == [ODD_MAP, ""]
    press(app, "Load 1 file (1 not recognised)")
    with Store(database) as store:
        assert [run.name for run in store.runs.all()] == ["more"]


def test_a_map_of_a_tool_is_taken_by_its_name(database: Path):
    sampled = {"user_input": REFUND, "retrieved_contexts": [THREE]}
    app = dropped(a__json=[{**sampled, "x": {}}])
    field(app, MAP).set_value("ragas").run()
    app = field(app, MAP).set_value("mytool").run()
    assert "⚠ no tool is called 'mytool'; there are" in words(app)


def test_a_file_that_may_be_of_two_kinds_is_asked_about(database: Path):
    asked = '{"query_id": "q1", "query": "who?"}\n'
    app = dropped(numbers__csv=SMALL_NUMBERS, asked__jsonl=asked)
    assert [box.value for box in kinds(app)] == ["queries", None]
    assert kinds(app)[1].options[:2] == ["golden grades", "a run"]
    [said] = [each for each in words(app).splitlines() if each.startswith("⚠ golden grades or")]
    assert said.endswith("or a run? a query, a chunk and a score per row, all of them 0, 1, 2 or 3")
    app = press(app, "Load 1 file (1 not recognised)")
    assert verdicts(app)[0][1].startswith("1 of 2 files is loaded")
    kinds(app)[1].set_value("golden").run()
    app = press(app, "Load 2 files")
    assert "2 golden grades" in words(app)


def test_where_every_file_waits_there_is_nothing_to_press(database: Path):
    app = dropped(numbers__csv=SMALL_NUMBERS)
    [button] = [each for each in app.button if each.label == "1 file not recognised"]
    assert button.disabled


def test_options_are_shown_only_where_they_can_act(database: Path):
    grades = {"Grade map", "Grade cuts", "Negative grades"}
    shown = labels(dropped(dump__json=[DUMP]))
    assert {"Order of the list", "System", "Facets, separated by commas"} <= shown
    assert not shown & {*grades, "Grades of a BEIR set"}
    graded = {"query": REFUND, "results": [{"text": THREE, "label": 1}]}
    assert grades <= labels(dropped(graded__json=[graded]))


def test_grade_cuts_make_grades_and_go_with_no_map(database: Path):
    asked = '{"query_id": "q1", "query": "who?"}\n'
    app = dropped(asked__jsonl=asked, g__csv="query,docid,rating\nq1,c1,0.9\nq1,c2,0.1\n")
    field(app, "Grade cuts").set_value("0.25,0.5,0.75")
    field(app, "Grade map").set_value("0.9=3")
    assert 'give "Grade map" or "Grade cuts", not both' in words(press(app, "Load 2 files"))
    field(app, "Grade map").set_value("")
    press(app, "Load 2 files")
    with Store(database) as store:
        assert [(each.chunk_id, each.grade) for each in store.golden_set.read()[1]] == [
            *(("c1", 3), ("c2", 0))
        ]


def test_the_query_itself_is_left_out_where_asked(database: Path):
    app = dropped(run__trec="t1 Q0 t1 1 2 a\nt1 Q0 c1 2 1 a\n")
    field(app, "Leave out the query itself, if queries are from the corpus").check()
    press(app, "Load 1 file")
    with Store(database) as store:
        assert [each.chunk_ids for each in store.runs.lists("run")] == [("c1",)]


@pytest.mark.parametrize(
    ("files", "offered"),
    [
        (
            {"run__csv": "query_id,chunk_id,score\nq1,a,0.1\nq1,b,0.2\nq1,c,0.3\nq1,d,0.4\n"},
            {"The order of the file is right"},
        ),
        ({"run__trec": "t1 Q0 t1 1 2 a\nt1 Q0 c1 2 1 a\n"}, {"Leave the query itself out"}),
        ({"run__csv": "query_id,chunk_id\nq1,a\nq1,b\n"}, set()),
    ],
)
def test_what_a_load_asks_can_be_answered_in_its_row(database: Path, files, offered: set[str]):
    app = press(dropped(**files), "Load 1 file")
    answers = {
        "The order of the file is right",
        "The ranks are right",
        "Leave the query itself out",
    }
    assert {each.label for each in app.button} & answers >= offered


def test_a_record_is_never_markup(database: Path):
    evil = "<img src=x onerror=alert(1)> ![x](http://evil.example/a.png)"
    app = dropped(odd__json=[{"query": evil, "results": [{"id": evil, "text": evil}], evil: [1]}])
    assert "<img" not in sample(app)
    assert "&lt;img" in sample(app)
    shown = [*app.markdown, *app.caption, *app.header]
    assert not [each.value for each in shown if "evil" in each.value]


def test_every_shape_with_a_fixture_is_told_by_one_drop(database: Path):
    """Whether each then loads right is tested where they are: the page reads as the command."""
    files = [each for each in sorted(SHAPES.rglob("*")) if each.suffix in READ]
    app = open_page("data")
    app.file_uploader[0].set_value([(each.name, each.read_bytes(), "") for each in files])
    app.run()
    untold = [box.key for box in kinds(app) if box.value is None]
    assert len(kinds(app)) == len(files) > 20
    assert not untold, [each for each in words(app).splitlines() if each.startswith("⚠ not told")]
