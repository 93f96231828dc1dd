"""``labeler load FILE`` of what other tools write: queries, chunks, runs and grades at once."""

from __future__ import annotations

import gzip
import json
import re
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store
from tests.support.retrieval_shapes import FOLDER, LISTS, PARCEL, REFUND, SHAPES, TEXTS


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)


def load(path: str | Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["load", str(path), *options], prog_name="labeler")


def test_every_file_has_its_expectation() -> None:
    assert {path.name for path in FOLDER.iterdir()} == SHAPES.keys()


def check(name: str) -> None:
    """Assert that the golden set has what the file of this name brings."""
    shape = SHAPES[name]
    called = shape.chunk_ids or {}
    with Store("golden.db") as store:
        queries, grades = store.queries.texts(), store.golden_set.read()[1]
        runs = {run.name: store.runs.lists(run.name) for run in store.runs.all()}
        ids = {each for lists in runs.values() for one in lists for each in one.chunk_ids}
        ids |= {each.chunk_id for each in grades}
        texts = {each: chunk.text if (chunk := store.chunks.get(each)) else None for each in ids}
    assert set(queries.values()) == (set(LISTS) if shape.asked else set())
    token = {value: key for key, value in called.items()}
    if shape.texts:
        tokens = {text: token for token, text in TEXTS.items()}
        by_text = {each: tokens[text or ""] for each, text in texts.items()}
        assert not called or token.items() >= by_text.items()
        token = by_text
    else:
        assert set(texts.values()) == {None}
    expected = {name.partition(".")[0]: LISTS} if shape.runs is None else shape.runs
    assert {
        run: {
            queries.get(one.query_id, one.query_id): [token[each] for each in one.chunk_ids]
            for one in lists
        }
        for run, lists in runs.items()
    } == expected
    given = {(queries[each.query_id], token[each.chunk_id]): each.grade for each in grades}
    assert given == shape.grades


@pytest.mark.parametrize("name", SHAPES)
def test_one_command_brings_all_that_a_tools_file_holds(name: str) -> None:
    result = load(FOLDER / name, *SHAPES[name].options)
    assert result.exit_code == 0, result.output
    check(name)


@pytest.mark.parametrize("name", SHAPES)
def test_a_byte_order_mark_and_gzip_change_nothing(name: str) -> None:
    content = gzip.compress(BOM_UTF8 + (FOLDER / name).read_bytes())
    Path(f"{name}.gz").write_bytes(content)
    result = load(f"{name}.gz", *SHAPES[name].options)
    assert result.exit_code == 0, result.output
    check(name)


@pytest.mark.parametrize("name", SHAPES)
def test_a_file_that_is_cut_off_is_refused_whole_and_says_where(name: str) -> None:
    content = (FOLDER / name).read_bytes()
    Path(name).write_bytes(content[: len(content) * 4 // 5])
    result = load(name, *SHAPES[name].options)
    assert result.exit_code == 1
    assert re.match(rf"Error: {name}:\d+: ", result.output)
    assert not Path("golden.db").exists()


WITH_IDS = [name for name, shape in SHAPES.items() if shape.chunk_ids is not None]


@pytest.mark.parametrize("name", WITH_IDS)
def test_numbers_are_ids_too(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    text = re.sub(
        r"(?<![\w\"])\"c(\d)\"(?!\s*:)|(?<!\")\"\"c(\d)\"\"(?!\")|'c(\d)'", r"\1\2\3", text
    )
    Path(name).write_text(text, encoding="utf-8")
    result = load(name, *SHAPES[name].options)
    assert result.exit_code == 0, result.output
    with Store("golden.db") as store:
        lists = [each for run in store.runs.all() for each in store.runs.lists(run.name)]
        found = {each for one in lists for each in one.chunk_ids}
        found |= {each.chunk_id for each in store.golden_set.read()[1]}
    as_written = {value for value in SHAPES[name].chunk_ids.values() if value in text}
    assert found <= {"1", "2", "3", *as_written}


TWICE = [name for name in WITH_IDS if SHAPES[name].runs != {} and SHAPES[name].texts]
LOGS = ("langfuse", "langsmith", "weave", "opik", "helicone", "openinference", "phoenix")


@pytest.mark.parametrize("name", TWICE)
def test_another_text_of_a_chunk_is_refused_or_in_a_log_counts_as_the_newer(name: str) -> None:
    before, found, after = (FOLDER / name).read_text(encoding="utf-8").rpartition(TEXTS["c2"])
    assert found
    Path(name).write_text(f"{before}Parcels take a week.{after}", encoding="utf-8")
    result = load(name, *SHAPES[name].options)
    if name.startswith(LOGS):
        assert result.exit_code == 0
        assert (
            "1 chunk has several texts in this log, such as 'c2'; the last counts" in result.output
        )
        return
    assert result.exit_code == 1
    assert re.search(rf"{name}:\d+: chunk '.*2' has another text on line \d+", result.output)
    assert not Path("golden.db").exists()


LINES = [name for name in SHAPES if name.endswith(".jsonl") and SHAPES[name].runs != {}]
NO_LIST = ("must be a list", "there is no list of results")


def without_lists(value: Any) -> Any:
    """Return a record without the lists in it, at any depth."""
    if not isinstance(value, dict):
        return value
    return {key: without_lists(each) for key, each in value.items() if not isinstance(each, list)}


@pytest.mark.parametrize("name", LINES)
def test_a_record_without_results_leaves_the_others_whole_and_is_said(name: str) -> None:
    *records, last = map(json.loads, (FOLDER / name).read_text(encoding="utf-8").splitlines())
    lines = map(json.dumps, [*records, without_lists(last)])
    Path(name).write_text("\n".join(lines), encoding="utf-8")
    result = load(name, *SHAPES[name].options)
    if result.exit_code:
        assert re.match(rf"Error: {name}:{len(records) + 1}: ", result.output)
        assert any(said in result.output for said in NO_LIST), result.output
        return
    with Store("golden.db") as store:
        queries = store.queries.texts()
        lists = [each for run in store.runs.all() for each in store.runs.lists(run.name)]
    assert {queries[each.query_id] for each in lists if each.chunk_ids} == {REFUND}
    assert re.search("questions without results +1|passed over +[12]", result.output) or any(
        not each.chunk_ids for each in lists
    )


def test_grades_of_several_people_stay_each_persons_own_and_may_be_blind() -> None:
    said = load(FOLDER / "argilla.json", "--blind").output
    assert re.search(r"graders +u-1, u-2\n", said)
    with Store("golden.db") as store:
        events = store.judgments.log()
    assert {(each.grader, each.grade, each.blind) for each in events if each.grade != 2} == {
        ("u-1", 3, True),
        ("u-1", 1, True),
    }


def of(name: str, *left_out: str) -> Any:
    """Return the records of a file, or its one object, without some of their keys."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    found = [*map(json.loads, text.splitlines())] if name.endswith("l") else json.loads(text)
    records = found if isinstance(found, list) else [found]
    bare = [{key: each[key] for key in each if key not in left_out} for each in records]
    return bare if isinstance(found, list) else bare[0]


WRITE_IT = '"query": "...", "response": {...}'
PREDICTED = {"q1": {"c1": 0.5}}
RATED = {
    "id": "q1",
    "request": {"query": {"match_all": {}}},
    "ratings": [{"_id": "c", "rating": 1}],
}
TASK = {"id": 1, "data": {"query": REFUND, "text": "so"}}


def annotated(*results: Any) -> Any:
    return [{**TASK, "annotations": [{"id": 1, "completed_by": 1, "result": [*results]}]}]


REFUSED: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "answers of a search engine alone": (of("elasticsearch_beside.jsonl", "query"), (), WRITE_IT),
    "answers of a vector store alone": (of("pinecone.jsonl", "query"), (), WRITE_IT),
    "answers by the name of their tool": (
        of("vectara.jsonl", "query"),
        ("--map", "vectara"),
        'their answers do not hold the question: write it beside them as "query"',
    ),
    "a multi search without its questions": (
        of("elasticsearch_msearch.json", "queries"),
        (),
        'write these beside them: {"queries": ["...", ...], "responses": [...]}',
    ),
    "a multi search with another number of questions": (
        {**of("elasticsearch_msearch.json"), "queries": ["a", "b", "c"]},
        (),
        "2 answers, but 3 questions beside them",
    ),
    "a rated request that looks for no text": (
        {"requests": [RATED]},
        (),
        "looks for no text, so its question is not known",
    ),
    "predictions of several splits": (
        {"mteb_model_meta": {}, "default": {"test": PREDICTED, "dev": PREDICTED}},
        (),
        "one subset and split are read, and here are default/test, default/dev; keep one",
    ),
    "spans of another kind alone": (
        of("langfuse.jsonl")[:1],
        (),
        "its record is passed over: read are those of Langfuse observations with type:RETRIEVER",
    ),
    "a reranked document that is not there": (
        [{"query": REFUND, "documents": ["a"], "results": [{"index": 1, "relevance_score": 1}]}],
        (),
        "index 1, but 1 documents stand beside the results, from 0 on",
    ),
    "several questions of an annotation tool": (
        annotated(
            {"from_name": "tone", "type": "rating", "value": {"rating": 1}},
            {"from_name": "length", "type": "rating", "value": {"rating": 2}},
        ),
        (),
        "people answered several questions (tone, length), and which one grades is not clear",
    ),
    "a relevant text that is none": (
        [
            {
                "user_input": REFUND,
                "reference_contexts": [{}, {"a": 1}],
                "reference_context_ids": [1, 2],
            }
        ],
        (),
        'a relevant chunk is given by its text, not by {"a": 1}',
    ),
    "annotations that are no list": (
        [{"data": {"query": REFUND, "text": "so"}, "annotations": []}, {**TASK, "annotations": 1}],
        (),
        "annotations must be a list [...], not 1",
    ),
    "an attribute of a span that has no name": (
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": 1}]}]}]}]},
        (),
        'attributes of OTLP are [{"key": ..., "value": {"stringValue": ...}}], not [{"key": 1}]',
    ),
    "a task without a passage": (
        [{"data": {"query": REFUND}, "annotations": []}],
        (),
        "there is no passage among the fields (query); name it text",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_remedy(case: str) -> None:
    content, options, said = REFUSED[case]
    lines = content if isinstance(content, list) else [content]
    Path("odd.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    result = load("odd.jsonl", *options)
    assert result.exit_code == 1
    assert said in result.output
    assert not Path("golden.db").exists()


def test_a_map_may_name_patterns_separators_and_each_system() -> None:
    records = [
        {"op": "my_retriever", "q": REFUND, "out": {"a": {"found": ["x"]}, "b": {"found": ["y"]}}},
        {"op": "chat", "q": REFUND},
    ]
    Path("trace.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    result = load("trace.jsonl", "--map", "query=q results=out.*.found where=op:*retrieve*")
    assert result.exit_code == 0, result.output
    Path("joined.csv").write_text(f"q,texts\n{PARCEL},x; y\n", encoding="utf-8")
    result = load("joined.csv", "--map", "query=q text=texts 'separator=;'")
    assert result.exit_code == 0, result.output
    with Store("golden.db") as store:
        lists = {run.name: store.runs.lists(run.name)[0].chunk_ids for run in store.runs.all()}
        texts = {name: [store.chunks.get(each).text for each in ids] for name, ids in lists.items()}
    assert texts == {"a": ["x"], "b": ["y"], "joined": ["x", "y"]}


NOT_RECORDS = ("llamaindex_finetune.json", "tutorial_test_queries.json")  # datasets: as grades
WHOLE = [
    name
    for name, shape in SHAPES.items()
    if shape.texts and shape.asked and not shape.options and ".json" in name
    if (shape.runs is None or not shape.runs) and name not in NOT_RECORDS
]


@pytest.mark.parametrize("name", WHOLE)
def test_each_command_takes_its_part_of_the_records(name: str) -> None:
    shape = SHAPES[name]
    parts = ["queries", "chunks", *(["golden"] if shape.grades else [])]
    parts = [part for part in parts if part != "chunks" or shape.runs is None or shape.grades]
    for part in [*parts, *(["run"] if shape.runs is None else [])]:
        result = load(part, str(FOLDER / name))
        assert result.exit_code == 0, result.output
    check(name)


OBJECTS = [name for name in SHAPES if name.endswith(".json") and isinstance(of(name), dict)]


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_on_one_line_is_read_as_one_on_many(name: str) -> None:
    Path(name).write_text(json.dumps(of(name)), encoding="utf-8")
    result = load(name)
    assert result.exit_code == 0, result.output
    check(name)


def test_pages_of_an_api_may_stand_in_a_list() -> None:
    Path("langfuse_page.json").write_text(json.dumps([of("langfuse_page.json")]), encoding="utf-8")
    result = load("langfuse_page.json")
    assert result.exit_code == 0, result.output
    check("langfuse_page.json")
