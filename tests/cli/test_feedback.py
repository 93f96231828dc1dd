"""``labeler export --format phoenix`` and ``langfuse``: grades go back to where lists came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store

Json = dict[str, Any]
REFUND, SHIPPING = "how long does a refund take?", "where is my parcel?"
TEXTS = {"c1": "A refund takes three days.", "c2": "A parcel takes five.", "c3": "Ask us."}
TRACE = "5b8efff798038103d269b633813fc60c"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)


def labeler(*words: str) -> Result:
    result = CliRunner().invoke(main, [*words], prog_name="labeler")
    assert result.exit_code == 0, result.output
    return result


def write(name: str, *records: Json) -> str:
    Path(name).write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return name


def span(number: str, question: str, *ids: str, kind: str = "RETRIEVER", **more: Any) -> Json:
    """Return a span with documents in this order, the last with the highest score."""
    key = "reranker.output_documents" if kind == "RERANKER" else "retrieval.documents"
    return {
        "name": "search",
        "context": {"span_id": number, "trace_id": TRACE},
        "attributes": {
            "openinference.span.kind": kind,
            "input.value": question,
            key: [
                {"document.id": each, "document.content": TEXTS[each], "document.score": at / 8}
                for at, each in enumerate(ids)
            ],
            **more,
        },
    }


def grade(*rows: tuple[str, str, int, str]) -> None:
    """Load golden grades with their notes."""
    with Store("golden.db") as store:
        ids = {query.text: query.query_id for query in store.queries.all()}
    lines = [f"{ids[text]},{chunk},{value},{note}" for text, chunk, value, note in rows]
    Path("golden.csv").write_text("\n".join(["query_id,chunk_id,grade,note", *lines, ""]))
    labeler("load", "golden", "golden.csv")


def exported(kind: str) -> list[Json]:
    labeler("export", f"{kind}.jsonl", "--format", kind, "--force")
    return [json.loads(line) for line in Path(f"{kind}.jsonl").read_text().splitlines()]


def test_annotations_for_phoenix_are_at_the_places_that_documents_have_in_their_span():
    labeler(
        "load", write("trace.jsonl", span("aa", REFUND, "c2", "c1"), span("bb", SHIPPING, "c3"))
    )
    with Store("golden.db") as store:
        [first, _] = store.runs.lists("trace")
        assert first.chunk_ids == ("c1", "c2")  # by score, and not as in the span
    grade((REFUND, "c1", 3, "says it"), (REFUND, "c2", 0, ""))
    found = exported("phoenix")
    assert [(row["span_id"], row["document_position"], row["score"]) for row in found] == [
        ("aa", 0, 0),
        ("aa", 1, 3),
    ]
    assert found[0]["explanation"] == ""
    assert found[1] == {
        "name": "relevance",
        "annotator_kind": "HUMAN",
        "span_id": "aa",
        "document_position": 1,
        "label": "highly relevant",
        "score": 3,
        "explanation": "says it",
        "metadata": {
            "query_id": found[1]["metadata"]["query_id"],
            "chunk_id": "c1",
            "graders": found[1]["metadata"]["graders"],
        },
    }


def test_a_document_that_was_left_out_keeps_its_place():
    bare = span("aa", REFUND, "c1", "c2")
    bare["attributes"]["retrieval.documents"].insert(0, {"document.score": 0.5})
    labeler("load", write("trace.jsonl", bare))
    grade((REFUND, "c1", 2, ""), (REFUND, "c2", 1, ""))
    assert [(row["document_position"], row["score"]) for row in exported("phoenix")] == [
        (1, 2),
        (2, 1),
    ]


def test_scores_for_langfuse_are_the_measures_of_each_list():
    labeler(
        "load", write("trace.jsonl", span("aa", REFUND, "c2", "c1"), span("bb", SHIPPING, "c3"))
    )
    grade((REFUND, "c1", 0, ""), (REFUND, "c2", 3, ""))
    found = exported("langfuse")
    assert [(row["observationId"], row["name"]) for row in found] == [
        ("aa", "nDCG@10"),
        ("aa", "R@5"),
    ]
    assert found[0]["value"] == pytest.approx(0.6309297535714575)  # the chunk of grade 3 is second
    assert found[1]["value"] == 1
    assert (found[0]["traceId"], found[0]["dataType"]) == (TRACE, "NUMERIC")
    assert found[0]["id"] == "labeler-aa-nDCG@10"
    assert found[0]["comment"] == "golden grades in ranked order: 0, 3"
    assert found[0]["metadata"]["grades"] == {"c1": 0, "c2": 3}


def test_values_are_those_that_score_prints():
    labeler("load", write("trace.jsonl", span("aa", REFUND, "c3", "c2", "c1")))
    grade((REFUND, "c1", 1, ""), (REFUND, "c2", 3, ""))
    said = labeler("score", "--measures", "nDCG@10 R@5", "--format", "json").output
    values = {row["measure"]: row["value"] for row in json.loads(said)}
    assert {row["name"]: row["value"] for row in exported("langfuse")} == values


def test_a_rerankers_grades_go_to_what_it_returned():
    both = span(
        *("aa", REFUND, "c1", "c2"),
        kind="RERANKER",
        **{"reranker.input_documents": [{"document.id": "c3", "document.content": TEXTS["c3"]}]},
    )
    labeler("load", write("trace.jsonl", both))
    grade((REFUND, "c1", 1, ""), (REFUND, "c3", 3, ""))
    assert [row["metadata"]["chunk_id"] for row in exported("phoenix")] == ["c1"]


def test_ids_that_a_map_names_go_back_too():
    record = {"id": "obs", "traceId": "t1", "q": REFUND, "found": [{"key": "c1", "words": "a"}]}
    told = "query=q results=found id=key text=words span=id trace=traceId"
    labeler("load", write("mine.jsonl", record), "--map", told)
    grade((REFUND, "c1", 2, ""))
    assert [row["span_id"] for row in exported("phoenix")] == ["obs"]
    assert {(row["traceId"], row["observationId"]) for row in exported("langfuse")} == {
        ("t1", "obs")
    }


@pytest.mark.parametrize(("kind", "name"), [("phoenix", "span"), ("langfuse", "trace")])
def test_a_golden_set_without_ids_of_a_tool_says_what_is_missing(kind: str, name: str):
    record = {"query": REFUND, "results": [{"id": "c1", "text": "a", "score": 1}]}
    labeler("load", write("dump.jsonl", record))
    result = CliRunner().invoke(main, ["export", "x.jsonl", "--format", kind], prog_name="labeler")
    assert result.exit_code == 1
    assert f"{kind}: no run came with the ids of {name}s" in result.output
    assert not Path("x.jsonl").exists()


def test_queries_of_another_split_stay():
    labeler("load", write("trace.jsonl", span("aa", REFUND, "c1"), span("bb", SHIPPING, "c2")))
    grade((REFUND, "c1", 2, ""), (SHIPPING, "c2", 1, ""))
    with Store("golden.db") as store:
        ids = {query.text: query.query_id for query in store.queries.all()}
        store.splits.assign({ids[REFUND]: "dev"}, {})
    labeler("export", "dev.jsonl", "--format", "phoenix", "--split", "dev")
    rows = [json.loads(line) for line in Path("dev.jsonl").read_text().splitlines()]
    assert [row["span_id"] for row in rows] == ["aa"]


def test_a_second_load_of_the_same_trace_changes_nothing():
    name = write("trace.jsonl", span("aa", REFUND, "c1"))
    labeler("load", name)
    with Store("golden.db") as store:
        before = store.golden_set.data_revision(), store.retrievals.sources_of("trace")
    labeler("load", name)
    with Store("golden.db") as store:
        assert (store.golden_set.data_revision(), store.retrievals.sources_of("trace")) == before


def test_a_dropped_run_takes_its_sources_with_it():
    labeler("load", write("trace.jsonl", span("aa", REFUND, "c1")))
    labeler("drop", "run", "trace")
    with Store("golden.db") as store:
        assert store.retrievals.runs_with_sources() == {}


def test_samples_of_ragas_come_back_with_the_same_ids():
    sample = {
        "user_input": REFUND,
        "retrieved_contexts": [TEXTS["c1"], TEXTS["c2"]],
        "reference_contexts": [TEXTS["c1"]],
        "reference": "Three days.",
    }
    labeler("load", write("samples.jsonl", sample))
    with Store("golden.db") as store:
        before = store.golden_set.read(), store.runs.lists("samples")
    labeler("export", "golden.jsonl", "--format", "ragas")
    labeler("export", "run.jsonl", "--format", "ragas", "--run", "samples")
    for name in ("golden.jsonl", "run.jsonl"):
        labeler("--db", "again.db", "load", name)
    with Store("again.db") as store:
        queries, grades = store.golden_set.read()
        assert [query.query_id for query in queries] == [each.query_id for each in before[0][0]]
        assert [(each.chunk_id, each.grade) for each in grades] == [
            (each.chunk_id, each.grade) for each in before[0][1]
        ]
        assert [each.chunk_ids for each in store.runs.lists("run")] == [
            each.chunk_ids for each in before[1]
        ]


def test_grades_of_one_chunking_go_to_the_spans_of_its_runs():
    labeler("load", write("one.jsonl", span("aa", REFUND, "c1")))
    grade((REFUND, "c1", 2, ""))
    labeler("load", write("two.jsonl", span("bb", REFUND, "c1", "c2")), "--chunking", "v2")
    with Store("golden.db") as store:
        [query] = store.queries.all()
    Path("v2.csv").write_text(f"query_id,chunk_id,grade\n{query.query_id},c2,3\n")
    labeler("load", "golden", "v2.csv", "--chunking", "v2")
    rows = {row["span_id"]: row["metadata"]["chunk_id"] for row in exported("phoenix")}
    assert rows == {"aa": "c1", "bb": "v2:c2"}
    labeler("export", "v2.jsonl", "--format", "phoenix", "--chunking", "v2")
    [row] = [json.loads(line) for line in Path("v2.jsonl").read_text().splitlines()]
    assert (row["span_id"], row["document_position"], row["metadata"]["chunk_id"]) == (
        "bb",
        1,
        "c2",
    )
