"""``labeler load FILE``: one file of questions with their results becomes a whole golden set."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import Chunk, Ranking
from labeler.store import Store

Load = Callable[..., Result]
REFUND, SHIPPING = "how long does a refund take?", "where is my parcel?"
THREE, FIVE = "A refund takes three days.", "A parcel takes five days."


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load a file that holds these records, into a golden set that is made by the first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)

    def invoke(name: str, content: Any, *options: str) -> Result:
        text = content if isinstance(content, str) else json.dumps(content)
        Path(name).write_text(text, encoding="utf-8")
        return CliRunner().invoke(main, ["load", name, *options], prog_name="labeler")

    return invoke


def stored() -> tuple[dict[str, str], dict[str, str | None], dict[str, list[list[str | None]]]]:
    """Return the texts of queries and chunks by id, and by run the texts of each list's chunks."""
    with Store("golden.db") as store:
        queries = {query.query_id: query.text for query in store.queries.all()}
        runs = {run.name: store.runs.lists(run.name) for run in store.runs.all()}
        ids = {each for lists in runs.values() for one in lists for each in one.chunk_ids}
        chunks = {each: text_of(store.chunks.get(each)) for each in sorted(ids)}
        return (
            queries,
            chunks,
            {
                name: [[chunks[each] for each in one.chunk_ids] for one in runs[name]]
                for name in runs
            },
        )


def text_of(chunk: Chunk | None) -> str | None:
    return None if chunk is None else chunk.text


NESTED = {
    "a retriever's dump": {
        "query_id": "q1",
        "query": REFUND,
        "results": [
            {"id": "c1", "text": THREE, "score": 2.5},
            {"id": "c2", "text": FIVE, "score": 1},
        ],
    },
    "LangChain's documents": {
        "question": REFUND,
        "documents": [
            {"page_content": THREE, "metadata": {"id": "c1", "source": "a.md"}, "type": "Document"},
            {"page_content": FIVE, "metadata": {"id": "c2", "source": "a.md"}, "type": "Document"},
        ],
    },
    "LangChain's documents with scores": {
        "query": REFUND,
        "docs": [
            [{"page_content": THREE, "id": "c1"}, 0.9],
            [{"page_content": FIVE, "id": "c2"}, 0.8],
        ],
    },
    "LlamaIndex' nodes": {
        "query": REFUND,
        "source_nodes": [
            {"node": {"id_": "c1", "text": THREE, "metadata": {}}, "score": 0.9},
            {"node": {"id_": "c2", "text": FIVE, "metadata": {}}, "score": 0.8},
        ],
    },
    "Haystack's documents": {
        "query": REFUND,
        "documents": [
            {"id": "c1", "content": THREE, "meta": {}, "score": 0.9},
            {"id": "c2", "content": FIVE, "meta": {}, "score": 0.8},
        ],
    },
    "answers of a search engine": {
        "query": REFUND,
        "response": {
            "hits": {
                "total": {"value": 2},
                "hits": [
                    {"_id": "c1", "_score": 9.5, "_source": {"text": THREE}},
                    {"_id": "c2", "_score": 9.1, "_source": {"text": FIVE}},
                ],
            }
        },
    },
    "answers of a vector store": {
        "query": REFUND,
        "ids": [["c1", "c2"]],
        "documents": [[THREE, FIVE]],
        "distances": [[0.1, 0.2]],
    },
    "points with a payload": {
        "query": REFUND,
        "results": [
            {"id": "c1", "score": 0.9, "payload": {"text": THREE}},
            {"id": "c2", "score": 0.8, "payload": {"text": FIVE}},
        ],
    },
    "texts in their order": {"question": REFUND, "contexts": [THREE, FIVE]},
}


@pytest.mark.parametrize("shape", NESTED)
@pytest.mark.parametrize("form", ["a line", "a list"])
def test_one_file_brings_its_queries_chunks_and_run(load: Load, shape: str, form: str):
    record = NESTED[shape]
    result = load("dump.json", [record] if form == "a list" else json.dumps(record))
    assert result.exit_code == 0, result.output
    queries, chunks, runs = stored()
    assert [*queries.values()] == [REFUND]
    assert [*chunks.values()] == [THREE, FIVE] or set(chunks.values()) == {THREE, FIVE}
    assert "c1" in chunks or shape == "texts in their order"
    assert runs == {"dump": [[THREE, FIVE]]}


FLAT = {
    "a table with ids": (
        "query_id,query,chunk_id,score,text\n"
        f"q1,{REFUND},c1,2.5,{THREE}\nq1,{REFUND},c2,0.5,{FIVE}\nq2,{SHIPPING},c2,1,{FIVE}\n"
    ),
    "a table by rank": (
        "question,doc_id,rank,content\n"
        f"{REFUND},c2,2,{FIVE}\n{REFUND},c1,1,{THREE}\n{SHIPPING},c2,1,{FIVE}\n"
    ),
    "a table of texts": (
        f"query\tpage_content\tsimilarity\n{REFUND}\t{THREE}\t0.9\n{REFUND}\t{FIVE}\t0.7\n"
        f"{SHIPPING}\t{FIVE}\t0.8\n"
    ),
}


@pytest.mark.parametrize("shape", FLAT)
def test_a_table_with_a_row_per_result_is_a_whole_golden_set(load: Load, shape: str):
    result = load("table.txt", FLAT[shape])
    assert result.exit_code == 0, result.output
    queries, chunks, runs = stored()
    assert [*queries.values()] == [REFUND, SHIPPING]
    assert set(chunks.values()) == {THREE, FIVE}
    assert runs == {"table": [[THREE, FIVE], [FIVE]]}


def test_the_report_names_each_field_that_was_taken_and_left(load: Load):
    record = {
        **NESTED["a retriever's dump"],
        "category": "money",
        "tokens": [1, 2],
        "answer": "Three days.",
    }
    said = load("dump.json", json.dumps(record)).output
    assert "query=query query_id=query_id results=results id=id text=text score=score" in said
    assert "kept with the queries  category" in said
    assert "fields left            tokens, answer" in said


def test_the_same_file_again_changes_nothing(load: Load):
    record = json.dumps(NESTED["a retriever's dump"])
    load("dump.json", record)
    with Store("golden.db") as store:
        before = store.golden_set.data_revision()
    again = load("dump.json", record)
    assert again.exit_code == 0
    assert "run 'dump' is already there with the same content" in again.output
    with Store("golden.db") as store:
        assert store.golden_set.data_revision() == before


def test_a_second_system_meets_the_queries_and_chunks_of_the_first(load: Load):
    load("a.json", [NESTED["LlamaIndex' nodes"]])
    other = {"question": f"{REFUND} ", "contexts": [FIVE, THREE]}
    assert load("b.json", [other]).exit_code == 0
    queries, chunks, runs = stored()
    assert ([*queries.values()], [*chunks]) == ([REFUND], ["c1", "c2"])
    assert runs == {"a": [[THREE, FIVE]], "b": [[FIVE, THREE]]}


def test_systems_of_one_file_are_a_run_each(load: Load):
    by_name = {"query": REFUND, "results": {"bm25": [{"text": THREE}], "dense": [{"text": FIVE}]}}
    assert load("both.json", [by_name]).exit_code == 0
    assert stored()[2] == {"bm25": [[THREE]], "dense": [[FIVE]]}
    by_field = [{"question": SHIPPING, "system": each, "contexts": [FIVE]} for each in "xy"]
    assert load("more.json", by_field).exit_code == 0
    assert stored()[2]["y"] == [[FIVE]]


def test_a_question_asked_again_has_its_newest_list_and_is_counted(load: Load):
    asked = [
        {"query": REFUND, "time": 1769853900, "results": [{"text": FIVE}]},
        {"query": REFUND, "time": "2026-02-01T10:05:00Z", "results": [{"text": THREE}]},
        {"query": REFUND, "time": "1769850000000", "results": [{"text": FIVE}]},
    ]
    result = load("log.json", asked)
    assert result.exit_code == 0, result.output
    assert "asked again; the newest counts  2" in result.output
    assert stored()[2] == {"log": [[THREE]]}
    with Store("golden.db") as store:
        assert [run.created_at for run in store.runs.all()] == ["2026-02-01"]


def test_grades_of_a_record_are_golden_grades(load: Load):
    record = {
        "query": REFUND,
        "results": [
            {"id": "c1", "text": THREE, "score": 2, "label": 3},
            {"id": "c2", "text": FIVE, "score": 1, "label": 0},
        ],
    }
    assert load("dump.json", [record]).exit_code == 0
    with Store("golden.db") as store:
        assert [(each.chunk_id, each.grade) for each in store.golden_set.read()[1]] == [
            ("c1", 3),
            ("c2", 0),
        ]


def test_a_map_says_where_fields_of_no_known_name_stand(load: Load):
    record = {
        "kind": "search",
        "in": {"q": REFUND},
        "out": {"found": [{"m": {"key": "c1"}, "words": THREE, "weight": 2.0}]},
    }
    told = "query=in.q results=out.found id=m.key text=words score=weight where=kind:search"
    result = load("odd.json", [record, {"kind": "other"}], "--map", told)
    assert result.exit_code == 0, result.output
    assert stored() == ({next(iter(stored()[0])): REFUND}, {"c1": THREE}, {"odd": [[THREE]]})
    assert "other records, passed over  1" in result.output


WRONG = {
    "a map that finds nothing": (
        [{"a": 1}],
        ["--map", "query=in.q results=out"],
        "odd.json:1: there is no question under in.q; its keys are 'a'",
    ),
    "a map without a query": (
        [{"a": 1}],
        ["--map", "results=out"],
        "--map: it names no query; write it as",
    ),
    "a tool that nobody knows": ([{"a": 1}], ["--map", "mytool"], "no tool is called 'mytool'"),
    "one id with two texts": (
        [{"query": REFUND, "results": [{"id": "c", "text": "a"}, {"id": "c", "text": "b"}]}],
        [],
        "odd.json:1: chunk 'c' has another text on line 1; an id names one text",
    ),
    "an id with two questions": (
        [
            {"query_id": "q", "query": REFUND, "contexts": [THREE]},
            {"query_id": "q", "query": SHIPPING, "contexts": [THREE]},
        ],
        [],
        "an id names one query",
    ),
    "two scores": (
        [{"query": REFUND, "results": [{"id": "c", "text": "a", "score": 1, "rrf_score": 2}]}],
        [],
        "both be the score of a result; say which one is: --map score=score\n",
    ),
    "results without id and text": (
        [{"query": REFUND, "documents": [{"page_content": "a"}, {"score": 1}]}],
        [],
        "a result has neither an id nor a text; its keys are 'score'",
    ),
    "lists of different lengths": (
        [{"query": REFUND, "ids": ["a"], "documents": ["x", "y"]}],
        [],
        "1 results, but 2 of text; each needs one, in order",
    ),
    "a time of no kind": (
        [{"query": REFUND, "time": "yesterday", "contexts": [THREE]}],
        [],
        "a time is written as 2026-01-31T10:05:00Z or in seconds since 1970, not 'yesterday'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_records_are_refused_with_their_place_and_leave_nothing(load: Load, case: str):
    content, options, said = WRONG[case]
    result = load("odd.json", content, *options)
    assert result.exit_code == 1
    assert said in result.output
    assert not Path("golden.db").exists()


def test_lists_that_do_not_follow_their_scores_are_said(load: Load):
    reranked = [
        {"query": REFUND, "results": [{"text": "a", "score": 1}, {"text": "b", "score": 2}]},
        {"query": SHIPPING, "results": [{"text": "a", "score": 2}, {"text": "b", "score": 1}]},
    ]
    said = "the order of 1 of 2 lists is not that of their scores"
    assert said in load("dump.json", reranked).output
    assert said not in load("asis.json", reranked, "--order", "file").output
    with Store("golden.db") as store:
        first, second = (store.runs.lists(name) for name in ("dump", "asis"))
    assert isinstance(first[0], Ranking)
    assert first[0].chunk_ids == second[0].chunk_ids[::-1]


ODD = {"in": {"q": REFUND}, "out": {"found": [{"key": "c1", "words": THREE}]}}
ODD_MAP = "query=in.q results=out.found id=key text=words"


def test_the_map_that_read_a_file_is_kept_and_reads_the_next_one_like_it(load: Load):
    said = load("odd.json", [ODD], "--map", ODD_MAP).output
    assert "map           kept in the setting field-map" in said
    other = {**ODD, "in": {"q": SHIPPING}}
    again = load("more.json", [other])
    assert again.exit_code == 0, again.output
    assert "map           that of the setting field-map" in again.output
    assert stored()[2]["more"] == [[THREE]]
    with Store("golden.db") as store:
        assert store.settings.read().field_map == ODD_MAP


def test_a_kept_map_reads_no_file_that_is_known_or_lacks_its_fields(load: Load):
    load("odd.json", [ODD], "--map", ODD_MAP)
    assert "queries from q.jsonl" in load("q.jsonl", {"query_id": "q2", "query": "why?"}).output
    refused = load("other.json", [{"in": {"q": "why?"}}])
    assert refused.exit_code == 1
    assert "do not say what the file holds" in refused.output


def test_a_map_that_read_nothing_is_not_kept(load: Load):
    load("known.json", [NESTED["a retriever's dump"]])
    assert load("odd.json", [ODD], "--map", "query=in.question").exit_code == 1
    assert load("bare.json", [{"q": {"is": "why?"}}], "--map", "query=q.is").exit_code == 0
    with Store("golden.db") as store:
        assert store.settings.read().field_map == "", "it found questions alone"
    assert load("rag.json", [RAGAS], "--map", "ragas").exit_code == 0
    with Store("golden.db") as store:
        assert store.settings.read().field_map == "ragas"


RAGAS = {"user_input": SHIPPING, "retrieved_contexts": [FIVE]}


def test_the_map_that_a_refusal_proposes_works_as_it_stands(load: Load):
    results = [
        {"id": "c1", "text": THREE, "score": 1, "rrf_score": 2},
        {"id": "c2", "text": FIVE, "score": 3, "rrf_score": 1},
    ]
    dump = [{"query": REFUND, "results": results}]
    assert load("dump.json", dump, "--map", "score=score").exit_code == 0
    assert load("fused.json", dump, "--map", "score=rrf_score").exit_code == 0
    assert stored()[2] == {"dump": [[FIVE, THREE]], "fused": [[THREE, FIVE]]}
    with Store("golden.db") as store:
        assert store.settings.read().field_map == "", "it is of these files alone"
