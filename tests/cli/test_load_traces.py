"""``labeler load`` of traces: spans of retrievers and rerankers become a whole golden set."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.formats.sniff import guess
from labeler.store import Store

Load = Callable[..., Result]
Json = dict[str, Any]
REFUND, SHIPPING = "how long does a refund take?", "where is my parcel?"
THREE, FIVE = "A refund takes three days.", "A parcel takes five days."
ABOUT = '{"source": "a.md", "title": "Money"}'
DOCUMENTS: list[Json] = [
    {
        "id": "c1",
        "content": THREE,
        "score": 0.9,
        "metadata": '{"source": "a.md", "title": "Money"}',
    },
    {"id": "c2", "content": FIVE, "score": 0.5},
]
NINE = "1769853900000000000"  # 2026-01-31T10:05Z in nanoseconds


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load a file of this content, into a golden set that is made by the first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)

    def invoke(name: str, content: str | bytes, *options: str) -> Result:
        data = content.encode() if isinstance(content, str) else content
        Path(name).write_bytes(data)
        return CliRunner().invoke(main, ["load", name, *options], prog_name="labeler")

    return invoke


def value_of(value: Any) -> Json:
    """Return a value as OTLP has it; whole numbers are texts there."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [value_of(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes_of(value)}}
    kinds = {str: "stringValue", float: "doubleValue", bool: "boolValue", int: "intValue"}
    return {kinds[type(value)]: str(value) if type(value) is int else value}


def attributes_of(attributes: Mapping[str, Any]) -> list[Json]:
    return [{"key": key, "value": value_of(value)} for key, value in attributes.items()]


def numbered(key: str, documents: Sequence[Json]) -> Json:
    """Return documents as attributes with a number in each name."""
    return {
        f"{key}.{at}.document.{name}": value
        for at, document in enumerate(documents)
        for name, value in document.items()
    }


def span(
    kind: str, attributes: Json, *, number: str = "1", name: str = "", time: Any = NINE
) -> Json:
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": f"eee19b7ec3c1b17{number}",
        "name": name or f"{kind.lower()} step",
        "startTimeUnixNano": time,
        "attributes": attributes_of({"openinference.span.kind": kind, **attributes}),
    }


def retriever(
    question: str = REFUND, documents: Sequence[Json] = DOCUMENTS, **options: Any
) -> Json:
    found = numbered("retrieval.documents", documents)
    return span("RETRIEVER", {"input.value": question, **found}, **options)


def reranker(given: Sequence[Json], kept: Sequence[Json], **options: Any) -> Json:
    both = numbered("reranker.input_documents", given) | numbered("reranker.output_documents", kept)
    return span("RERANKER", {"reranker.query": REFUND, **both}, **options)


def batch(*spans: Json, service: str = "shop") -> Json:
    about = {"attributes": attributes_of({"service.name": service})}
    return {"resourceSpans": [{"resource": about, "scopeSpans": [{"spans": [*spans]}]}]}


def lines(*records: Json) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in records)


def runs() -> dict[str, list[list[str]]]:
    """Return by run the chunk ids of each list."""
    with Store("golden.db") as store:
        return {
            run.name: [[*one.chunk_ids] for one in store.runs.lists(run.name)]
            for run in store.runs.all()
        }


def texts() -> dict[str, str | None]:
    with Store("golden.db") as store:
        return {chunk.chunk_id: chunk.text for chunk in store.chunks.all()}


def questions() -> list[str]:
    with Store("golden.db") as store:
        return [query.text for query in store.queries.all()]


def fact(result: Result, name: str) -> str:
    found = re.search(rf"^  {re.escape(name)}  +(.+)$", result.output, re.MULTILINE)
    assert found is not None, f"{name} is not in\n{result.output}"
    return found[1]


CHAIN = span("CHAIN", {"input.value": REFUND}, number="9")
PHOENIX: Json = {
    "name": "retrieve",
    "span_kind": "RETRIEVER",
    "start_time": 1769853900000,
    "context.span_id": "eee19b7ec3c1b174",
    "context.trace_id": "5b8efff798038103d269b633813fc60c",
    "attributes.input.value": REFUND,
    "attributes.retrieval.documents": [
        {"document.id": "c1", "document.content": THREE, "document.score": 0.9},
        {"document.id": "c2", "document.content": FIVE, "document.score": 0.5},
    ],
}
OTHER_ROW: Json = {
    "name": "answer",
    "span_kind": "LLM",
    "start_time": 1769853900000,
    "context.span_id": "0",
    "context.trace_id": "1",
    "attributes.input.value": "prompt",
}
NESTED: Json = {
    "name": "retrieve",
    "context": {"span_id": "0xeee19b7ec3c1b174", "trace_id": "0x5b8efff798038103d269b633813fc60c"},
    "start_time": "2026-01-31T10:05:00.000000Z",
    "attributes": {
        "openinference.span.kind": "RETRIEVER",
        "input.value": json.dumps({"query": REFUND, "k": 2}),
        **numbered("retrieval.documents", DOCUMENTS),
    },
}
GENAI = span("", {}, number="3", name="retrieval shop") | {
    "attributes": attributes_of(
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": REFUND,
            "gen_ai.retrieval.documents": json.dumps(
                [{"id": "c1", "score": 0.9}, {"id": "c2", "score": 0.5}]
            ),
        }
    )
}
AS_LIST = span(
    "RETRIEVER",
    {
        "input.value": REFUND,
        "retrieval.documents": [
            {"document.id": "c1", "document.content": THREE, "document.score": 0.9},
            {"document": {"id": "c2", "content": FIVE, "score": 0.5}},
        ],
    },
)
SHAPES = {
    "OTLP lines": lines(batch(CHAIN), batch(retriever())),
    "one OTLP document": json.dumps(batch(CHAIN, retriever()), indent=2),
    "OTLP with a list of documents": lines(batch(AS_LIST)),
    "an object per span": lines(NESTED),
    "Phoenix' frame as lines": lines(OTHER_ROW, PHOENIX),
    "Phoenix' frame as a list": json.dumps([OTHER_ROW, PHOENIX]),
    "OpenTelemetry's own names": lines(batch(GENAI)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_trace_brings_its_question_its_chunks_and_one_run(load: Load, shape: str):
    assert guess("trace.json", SHAPES[shape].encode()).kind == "records"
    result = load("trace.json", SHAPES[shape])
    assert result.exit_code == 0, result.output
    assert questions() == [REFUND]
    assert runs() == {"trace": [["c1", "c2"]]}
    assert texts() == ({} if "own names" in shape else {"c1": THREE, "c2": FIVE})
    with Store("golden.db") as store:
        assert [run.created_at for run in store.runs.all()] == ["2026-01-31"]


@pytest.mark.parametrize("python", [True, False])
def test_phoenix_frame_as_csv_has_lists_as_python_or_json_writes_them(load: Load, python: bool):
    table = io.StringIO()
    header = ["context.span_id", *OTHER_ROW, "attributes.retrieval.documents"]  # the index first
    writer = csv.writer(table)
    writer.writerow(header)
    for row in (OTHER_ROW, PHOENIX):
        documents = row.get("attributes.retrieval.documents", "")
        written = str(documents) if python else documents and json.dumps(documents)
        plain = [row[name] for name in OTHER_ROW]
        writer.writerow([row["context.span_id"], *plain, written])
    result = load("spans.csv", table.getvalue())
    assert result.exit_code == 0, result.output
    assert (questions(), runs()) == ([REFUND], {"spans": [["c1", "c2"]]})
    assert fact(result, "other spans, passed over") == "1"


def test_phoenix_frame_as_parquet_is_read(load: Load):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    written = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([PHOENIX, OTHER_ROW]), written)
    result = load("spans.parquet", written.getvalue())
    assert result.exit_code == 0, result.output
    assert (questions(), [*runs().values()]) == ([REFUND], [[["c1", "c2"]]])
    assert texts() == {"c1": THREE, "c2": FIVE}


ROWS = [
    {"context.span_id": "a", "document_position": 1, "input": REFUND, "reference": FIVE},
    {"context.span_id": "a", "document_position": 0, "input": REFUND, "reference": THREE},
    {"context.span_id": "b", "document_position": 0, "input": SHIPPING, "reference": FIVE},
]


def test_a_row_per_document_is_in_the_order_of_its_span(load: Load):
    result = load("documents.jsonl", lines(*ROWS))
    assert result.exit_code == 0, result.output
    known = texts()
    assert [[known[each] for each in one] for one in runs()["documents"]] == [[THREE, FIVE], [FIVE]]
    assert questions() == [REFUND, SHIPPING]


def test_rows_of_a_span_that_do_not_stand_together_are_refused(load: Load):
    result = load("documents.jsonl", lines(ROWS[0], ROWS[2], ROWS[1]))
    assert result.exit_code == 1
    assert "the rows of span a do not stand together; sort the frame by" in result.output


def test_each_command_takes_its_part_of_rows_and_spans(load: Load):
    others = [batch(CHAIN) for _ in range(150)]  # more than are looked at first
    for name, content in {
        "documents.jsonl": lines(*ROWS),
        "trace.jsonl": lines(*others, batch(retriever(), retriever(SHIPPING, number="2"))),
    }.items():
        Path(name).write_text(content)
        for part in ("queries", "chunks", "run"):
            words = ["--db", f"{name}.db", "load", part, name]
            result = CliRunner().invoke(main, words, prog_name="labeler")
            assert result.exit_code == 0, result.output
        with Store(f"{name}.db") as store:
            assert [query.text for query in store.queries.all()] == [REFUND, SHIPPING]
            assert len(store.runs.lists(store.runs.names()[0])) == 2


def test_scores_of_rows_order_them(load: Load):
    scored = [{**row, "document_score": 0.5 + row["document_position"]} for row in ROWS[:2]]
    assert load("documents.jsonl", lines(*scored)).exit_code == 0
    known = texts()
    assert [[known[each] for each in one] for one in runs()["documents"]] == [[FIVE, THREE]]


TURNED = [{"content": FIVE, "score": 0.99}, {"content": THREE, "score": 0.2}]


def test_a_reranker_is_two_runs_and_its_input_is_not_kept_twice(load: Load):
    bare = [{"content": each["content"], "score": each["score"]} for each in DOCUMENTS]
    result = load("trace.jsonl", lines(batch(retriever(), reranker(bare, TURNED, number="2"))))
    assert result.exit_code == 0, result.output
    assert runs() == {"trace": [["c1", "c2"]], "reranker step output": [["c2", "c1"]]}
    assert texts() == {"c1": THREE, "c2": FIVE}  # texts without an id are those with one
    assert fact(result, "runs left out") == "reranker step input (the lists of retriever step)"


def test_a_rerankers_input_that_no_retriever_found_is_a_run(load: Load):
    merged = [*DOCUMENTS, {"id": "c3", "content": "Ask us.", "score": 0.1}]
    result = load("trace.jsonl", lines(batch(retriever(), reranker(merged, TURNED, number="2"))))
    assert result.exit_code == 0, result.output
    assert runs()["reranker step input"] == [["c1", "c2", "c3"]]
    assert load("alone.jsonl", lines(batch(reranker(merged, TURNED, name="x")))).exit_code == 0
    assert {"x input", "x output"} <= runs().keys()


def test_several_retrievers_are_runs_by_the_names_of_their_spans(load: Load):
    both = [retriever(name="bm25"), retriever(documents=DOCUMENTS[:1], number="2", name="dense")]
    assert load("trace.jsonl", lines(batch(*both))).exit_code == 0
    assert runs() == {"bm25": [["c1", "c2"]], "dense": [["c1"]]}


def test_a_step_of_a_retriever_that_finds_the_same_is_no_second_run(load: Load):
    inner = retriever(name="_retrieve", number="2") | {"parentSpanId": "eee19b7ec3c1b173"}
    outer = retriever(name="retrieve", number="3")
    result = load("trace.jsonl", lines(batch(inner, outer)))
    assert result.exit_code == 0, result.output
    assert runs() == {"trace": [["c1", "c2"]]}
    assert fact(result, "runs left out") == "_retrieve (the lists of retrieve)"


def test_a_step_of_a_retriever_that_finds_more_is_a_run(load: Load):
    inner = retriever(name="_retrieve", number="2") | {"parentSpanId": "eee19b7ec3c1b173"}
    outer = retriever(documents=DOCUMENTS[:1], name="retrieve", number="3")
    assert load("trace.jsonl", lines(batch(inner, outer))).exit_code == 0
    assert runs() == {"_retrieve": [["c1", "c2"]], "retrieve": [["c1"]]}


def test_two_retrievers_that_find_the_same_are_two_runs(load: Load):
    both = [retriever(name="bm25"), retriever(number="2", name="dense")]
    assert load("trace.jsonl", lines(batch(*both))).exit_code == 0
    assert runs() == {"bm25": [["c1", "c2"]], "dense": [["c1", "c2"]]}


def test_what_is_not_read_is_counted_and_named(load: Load):
    hidden = retriever("__REDACTED__", number="4")
    empty = span("RETRIEVER", {"input.value": SHIPPING, "session.id": "s"}, number="5")
    bare = retriever(SHIPPING, [{"score": 0.5}, *DOCUMENTS], number="6")
    result = load("trace.jsonl", lines(batch(CHAIN, hidden, empty), batch(bare, service="help")))
    assert result.exit_code == 0, result.output
    assert fact(result, "spans") == "4"
    assert fact(result, "other spans, passed over") == "1"
    assert fact(result, "spans without a question, left out") == "1"
    assert fact(result, "spans without documents, left out") == "1"
    assert fact(result, "documents without id and text, left out") == "1"
    assert fact(result, "projects, not told apart") == "shop, help"
    assert fact(result, "fields left") == "session.id"
    assert fact(result, "fields taken") == (
        "query=input.value id=document.id text=document.content score=document.score "
        "metadata=document.metadata"
    )
    assert questions() == [SHIPPING]


def test_metadata_that_cannot_be_read_are_counted(load: Load):
    odd = [{"id": "c1", "content": THREE, "metadata": '{"page": NaN}'}]
    result = load("trace.jsonl", lines(batch(retriever(documents=odd))))
    assert result.exit_code == 0, result.output
    assert fact(result, "metadata that are no object, left out") == "1"


def test_metadata_of_a_document_tells_its_source_and_title(load: Load):
    load("trace.jsonl", lines(batch(retriever())))
    with Store("golden.db") as store:
        chunk = store.chunks.get("c1")
    assert chunk is not None
    assert (chunk.document_id, chunk.title) == ("a.md", "Money")


def test_the_same_span_in_two_batches_counts_once(load: Load):
    result = load("trace.jsonl", lines(batch(retriever()), batch(retriever())))
    assert result.exit_code == 0, result.output
    assert fact(result, "the same span again, left out") == "1"
    assert "asked again" not in result.output


@pytest.mark.parametrize(
    "newer", ["1769940300000000000", 1769940300000, "2026-02-01T11:05:00+01:00"]
)
def test_the_newest_list_counts_however_its_time_is_written(load: Load, newer: Any):
    asked = [
        retriever(documents=DOCUMENTS[1:], number="1", time=newer),
        retriever(documents=DOCUMENTS[:1], number="2", time=NINE),
    ]
    result = load("trace.jsonl", lines(batch(*asked)))
    assert result.exit_code == 0, result.output
    assert runs() == {"trace": [["c2"]]}
    assert fact(result, "lists of questions asked again; the newest counts") == "1"
    with Store("golden.db") as store:
        assert [run.created_at for run in store.runs.all()] == ["2026-02-01"]


def test_many_spans_of_few_questions_are_few_lists(load: Load):
    one = json.dumps(retriever("question 00?", DOCUMENTS[:1]))
    around = json.dumps(batch()).split("[]")
    spans = (
        one.replace("eee19b7ec3c1b171", f"{number:016x}").replace("00?", f"{number % 50:02}?")
        for number in range(100_000)
    )
    content = "".join(
        f"{around[0]}[{', '.join(islice(spans, 500))}]{around[1]}\n" for _ in range(200)
    )
    result = load("log.jsonl", content)
    assert result.exit_code == 0, result.output
    assert len(runs()["log"]) == 50
    assert fact(result, "spans of retrievers") == "100000"
    assert fact(result, "lists of questions asked again; the newest counts") == "99950"


def test_ids_that_are_numbers_stay_as_they_are(load: Load):
    large = [{"id": 12345678901234567890123, "content": THREE}, {"id": "007", "content": FIVE}]
    assert load("trace.jsonl", lines(batch(retriever(documents=large)))).exit_code == 0
    assert runs() == {"trace": [["12345678901234567890123", "007"]]}


def test_documents_without_ids_are_named_by_their_texts(load: Load):
    bare = [{"content": each["content"]} for each in DOCUMENTS]
    assert load("trace.jsonl", lines(batch(retriever(documents=bare)))).exit_code == 0
    known = texts()
    assert [known[each] for each in runs()["trace"][0]] == [THREE, FIVE]


def test_a_text_of_ten_megabytes_is_read_and_a_larger_one_names_its_limit(load: Load):
    large = "many words " * 1_000_000
    one = lines(batch(retriever(documents=[{"id": "c1", "content": large}])))
    assert load("trace.jsonl", one).exit_code == 0
    assert texts() == {"c1": large}
    refused = load("again.jsonl", one, "--limit", "text=1MB")
    assert refused.exit_code == 1
    assert "again.jsonl:1: the text 'many words many word'… has 11,000,000 bytes" in refused.output


def nested(depth: int) -> Json:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return span("RETRIEVER", {"input.value": REFUND, "deep": value})


REFUSED = {
    "attributes deeper than anybody writes": (
        lines(batch(nested(150))),
        "trace.jsonl:1: the attributes are nested deeper than 100 levels",
    ),
    "a score that JSON has no number for": (
        lines(batch(retriever(documents=[{"id": "c1", "score": float("nan")}]))),
        "trace.jsonl:1: NaN is not a number that JSON knows",
    ),
    "a last line that is cut off": (
        lines(batch(retriever())) + lines(batch(retriever()))[:900],
        "trace.jsonl:2: not JSON at column",
    ),
    "damage in the middle": (
        lines(batch(retriever())).replace('"key"', '"key', 1),
        "trace.jsonl:1: not JSON at column",
    ),
    "a lone surrogate": (
        lines(batch(retriever("why \ud800?"))),
        "trace.jsonl:1: the text holds the character \\ud800, which cannot be stored",
    ),
    "spans that are no list": (
        lines({"resourceSpans": [{"scopeSpans": {"spans": []}}]}),
        "trace.jsonl:1: scopeSpans of OTLP is a list of objects",
    ),
    "attributes that are no list of keys": (
        lines({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [1]}]}]}]}),
        "trace.jsonl:1: attributes of OTLP are",
    ),
    "a score that is no number": (
        lines(batch(retriever(documents=[{"id": "c1", "score": "high"}]))),
        "trace.jsonl:1: document 0 of span eee19b7ec3c1b171: score must be a finite number",
    ),
    "one id for two texts": (
        lines(batch(retriever(documents=[{**each, "id": "a.md"} for each in DOCUMENTS]))),
        "have the id 'a.md' and different texts, so their ids name no chunks",
    ),
    "only other spans": (
        lines(batch(CHAIN)),
        "trace.jsonl: there is no question with documents in 1 span (other spans, passed over: 1)",
    ),
    "a frame column by column": (
        json.dumps({key: {"a": value} for key, value in PHOENIX.items()}),
        "a table column by column (name, span_kind, start_time",
    ),
    "documents column by column": (
        json.dumps({key: {"0": value} for key, value in {**ROWS[0], "document_score": 1}.items()}),
        "a table column by column (context.span_id, document_position, input",
    ),
    "documents as a frame writes an array": (
        lines({**PHOENIX, "attributes.retrieval.documents": "[{'document.id': 'a'} {'b': 1}]"}),
        "retrieval.documents is a list of documents, not",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_trace_that_cannot_be_read_says_where_and_why(load: Load, why: str):
    content, said = REFUSED[why]
    result = load("trace.jsonl", content)
    assert result.exit_code == 1
    assert said in result.output
    assert not Path("golden.db").exists()


def test_a_map_reads_spans_of_instrumentations_with_names_of_their_own(load: Load):
    own = span("", {}) | {
        "attributes": attributes_of(
            {"db.query": REFUND, "db.hits.0.key": "c1", "db.hits.0.words": THREE}
        )
    }
    told = "query=attributes.db.query results=attributes.db.hits id=key text=words"
    result = load("trace.jsonl", lines(batch(own)), "--map", told)
    assert result.exit_code == 0, result.output
    assert (runs(), texts()) == ({"trace": [["c1"]]}, {"c1": THREE})


def test_the_map_that_leaves_ids_out_reads_spans_whose_ids_name_documents(load: Load):
    content = lines(batch(retriever(documents=[{**each, "id": "a.md"} for each in DOCUMENTS])))
    proposed = re.search(r"--map '([^']+)'", load("t.jsonl", content).output)
    assert proposed is not None
    result = load("t.jsonl", content, "--map", proposed[1])
    assert result.exit_code == 0, result.output
    assert len(texts()) == 2
