"""Field maps of tools, found by the keys of their records or by name (``--map trulens``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from labeler.errors import BadInput
from labeler.formats.json_records import Record
from labeler.formats.retrieval.field_map import (
    FieldMap,
    parse_condition,
    parse_map,
    without_json_quotes,
)
from labeler.formats.retrieval.inference import complete_map


class ToolMap(NamedTuple):
    """A tool's map, and the marks by which its records are known; none where only its name tells.

    All ``marks`` hold for such a record; each is written as a map's ``where`` is. Without
    ``keeps`` nothing else of a record is kept with its query. ``quoted`` tools may write the texts
    in a table as JSON; the order of ``unranked`` lists with grades means nothing. ``columns`` name
    those of a table without a header, for ``--map`` alone.
    """

    name: str
    title: str
    marks: tuple[str, ...]
    map: str
    keeps: bool = True
    quoted: bool = False
    hint: str = ""
    unranked: bool = False
    columns: tuple[str, ...] = ()

    def field_map(self) -> FieldMap:
        """Return its field map."""
        return replace(
            parse_map(self.map, self.title),
            keeps_rest=self.keeps,
            json_strings=self.quoted,
            hint=self.hint,
            unranked=self.unranked,
            columns=self.columns,
        )

    def wrote_any(self, records: Sequence[Record]) -> bool:
        """Return whether one of the records has the tool's marks."""
        if not self.marks:
            return False
        conditions = [*map(parse_condition, self.marks)]
        if self.quoted:
            records = [*map(without_json_quotes, records)]
        return any(all(each.holds(record) for each in conditions) for record in records)


_WITH_QUERY = 'their answers do not hold the question: write it beside them as "query"'
_ASKED = "inputs.query|inputs.question|inputs.input|inputs.user_input|inputs.text"
_OUTPUT = "output.documents|output.context|output.contexts|output.output|output"
_LISTED = "output.documents[]|output.context[]|output.contexts[]|output.output[]|output[]"
_QUERY = "query=query|question|query_text query_id=query_id|qid"

# Tools that have readers of their own.
LABEL_STUDIO, ARGILLA = "Label Studio tasks", "Argilla records"
RERANKED = "answers of Cohere's reranker"

TOOL_MAPS = (
    ToolMap(
        "langfuse",
        "Langfuse observations",
        (
            "type:RETRIEVER|SPAN|GENERATION|EVENT|AGENT|TOOL|CHAIN|EMBEDDING|EVALUATOR|GUARDRAIL",
            "traceId|trace_id",
            "startTime|start_time",
        ),
        "query=input.query|input.question|input.input|input.kwargs.query|"
        f"input.kwargs.question|input.args.0|input results={_OUTPUT} span=id "
        "trace=traceId|trace_id time=startTime|start_time where=type:RETRIEVER",
        keeps=False,
        quoted=True,
    ),
    ToolMap(
        "langsmith",
        "LangSmith runs",
        ("run_type", "inputs"),
        f"query={_ASKED} results=outputs.documents|outputs.output|outputs.context span=id|run_id "
        "trace=trace_id time=start_time where=run_type:retriever",
        keeps=False,
    ),
    ToolMap(
        "langsmith-examples",
        "examples of a LangSmith dataset",
        (_ASKED, "outputs"),
        f"query={_ASKED} reference=outputs.answer|outputs.output|outputs.expected|"
        "outputs.reference|outputs.expected_output|outputs.ground_truth "
        "relevant_id=outputs.relevant_ids|outputs.document_ids|outputs.doc_ids|"
        "outputs.expected_ids "
        "relevant_text=outputs.contexts|outputs.context|outputs.reference_contexts span=id "
        "trace=dataset_id",
    ),
    ToolMap(
        "ragas",
        "RAGAS samples",
        (
            "user_input|query_id",
            "retrieved_contexts[]|retrieved_context_ids[]|reference_contexts[]|"
            "reference_context_ids[]",
        ),
        "query=user_input query_id=query_id|qid text=retrieved_contexts id=retrieved_context_ids "
        "reference=reference relevant_id=reference_context_ids|relevant_ids "
        "relevant_text=reference_contexts relevant=relevance_map",
    ),
    ToolMap(
        "ragas-testset",
        "a RAGAS test set of version 0.1",
        ("question", "contexts[]", "evolution_type"),
        "query=question relevant_text=contexts reference=ground_truth",
    ),
    ToolMap(
        "ragas-0.1",
        "RAGAS samples of version 0.1",
        ("question", "contexts[]", "ground_truth|ground_truths|answer"),
        "query=question query_id=query_id|qid text=contexts reference=ground_truth|ground_truths",
    ),
    ToolMap(
        "deepeval",
        "DeepEval goldens",
        (
            "input",
            "retrieval_context|retrievalContext|context",
            "expected_output|actual_output|expectedOutput|actualOutput",
        ),
        "query=input text=retrieval_context|retrievalContext relevant_text=context "
        "reference=expected_output|expectedOutput separator=|",
    ),
    ToolMap(
        "chroma",
        "answers of Chroma",
        ("query|question|query_text", "ids[]", "documents[]"),
        f"{_QUERY} id=ids text=documents distance=distances metadata=metadatas",
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "llamaindex-evaluator",
        "results of LlamaIndex' RetrieverEvaluator",
        ("query", "retrieved_ids[]", "expected_ids[]"),
        "query=query id=retrieved_ids text=retrieved_texts relevant_id=expected_ids "
        "relevant_text=expected_texts",
    ),
    ToolMap(
        "trulens",
        "TruLens events",
        ("record_attributes.ai.observability.span_type",),
        "query=record_attributes.ai.observability.retrieval.query_text "
        "results=record_attributes.ai.observability.retrieval.retrieved_contexts "
        "span=event_id|trace.span_id trace=record_attributes.ai.observability.record_id "
        "time=start_timestamp|timestamp "
        "where=record_attributes.ai.observability.span_type:retrieval",
        keeps=False,
    ),
    ToolMap(
        "trulens-ground-truth",
        "a ground truth of TruLens",
        ("query", "expected_chunks[]"),
        "query=query query_id=query_id reference=expected_response "
        "relevant_text=expected_chunks.text",
    ),
    ToolMap(
        "weave",
        "Weave calls",
        ("op_name", "inputs", "started_at|trace_id"),
        f"query={_ASKED}|inputs.user_query|inputs.example.question|inputs.example.query "
        f"results={_OUTPUT} span=id trace=trace_id time=started_at where={_LISTED}",
        keeps=False,
    ),
    ToolMap(
        "opik",
        "Opik spans",
        ("type:general|tool|llm|guardrail", "trace_id", "input", "start_time"),
        "query=input.query|input.question|input.input|input.text|input "
        f"results={_OUTPUT} span=id trace=trace_id time=start_time where={_LISTED}",
        keeps=False,
    ),
    ToolMap(
        "helicone",
        "Helicone requests",
        ("request_body._type|providerRequest.json._type",),
        "query=request_body.text|request_body.query|providerRequest.json.text|"
        "providerRequest.json.query results=response_body.results|response_body.matches|"
        "response_body.documents|providerResponse.json.results|providerResponse.json.matches "
        "span=request_id time=request_created_at "
        "where=response_body.results[]|response_body.matches[]|response_body.documents[]|"
        "providerResponse.json.results[]|providerResponse.json.matches[]",
        keeps=False,
    ),
    ToolMap(
        "vectara",
        "answers of Vectara",
        ("query|question", "search_results[]|response.search_results[]"),
        f"{_QUERY} results=search_results|response.search_results text=text score=score "
        "document=document_id metadata=part_metadata",
        keeps=False,
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "vespa",
        "answers of Vespa",
        ("query|question", "root.children[]|response.root.children[]|result.root.children[]"),
        f"{_QUERY} results=root.children|response.root.children|result.root.children id=id "
        "text=fields.text|fields.chunk|fields.body|fields.content|fields.passage "
        "title=fields.title "
        "score=relevance document=fields.doc_id|fields.document_id",
        keeps=False,
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "weaviate",
        "answers of Weaviate",
        ("query|question", "data.Get|response.data.Get|result.data.Get|objects.0.uuid"),
        f"{_QUERY} results=data.Get.*|response.data.Get.*|result.data.Get.*|objects "
        "id=_additional.id|uuid text=text|chunk|content|body|properties.text|properties.chunk|"
        "properties.content|properties.body title=title|properties.title "
        "score=_additional.score|metadata.score|_additional.certainty|metadata.certainty "
        "distance=_additional.distance|metadata.distance",
        keeps=False,
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "qdrant",
        "answers of Qdrant",
        ("query|question", "result.points[]|result[]|points[]", "time|result.points|points"),
        f"{_QUERY} results=result|points",
        keeps=False,
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "pinecone",
        "answers of Pinecone",
        ("query|question", "matches[]|response.matches[]|result.hits[]", "namespace|usage|matches"),
        f"{_QUERY} results=matches|response.matches|result.hits|response.result.hits",
        keeps=False,
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "elasticsearch",
        "answers of Elasticsearch or OpenSearch",
        ("query|question", "hits.hits[]|response.hits.hits[]|result.hits.hits[]"),
        "query=query|question|query_text query_id=query_id|qid|id system=system "
        "results=hits|response|result",
        keeps=False,
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "solr",
        "answers of Solr",
        ("responseHeader", "response.docs[]"),
        "query=responseHeader.params.q|query results=response.docs",
        keeps=False,
        hint='ask for echoParams=all, or write it beside them as "query"',
    ),
    ToolMap(
        "cohere",
        RERANKED,
        (
            "query|request.query",
            "results.0.index|response.results.0.index|data.0.index|response.data.0.index",
        ),
        "query=query|request.query query_id=query_id|qid",
        keeps=False,
        hint=_WITH_QUERY,
    ),
    ToolMap(
        "label-studio",
        LABEL_STUDIO,
        ("data", "annotations[]"),
        "query=data.query|data.question",
    ),
    ToolMap(
        "argilla",
        ARGILLA,
        ("fields", "responses"),
        "query=fields.query|fields.question",
    ),
    ToolMap(
        "mteb",
        "predictions of MTEB",
        ("query_id", "predictions"),
        "query_id=query_id results=predictions id=id score=score system=mteb_model",
    ),
    ToolMap(
        "sentence-transformers",
        "predictions of sentence-transformers",
        ("query", "results.0.corpus_id"),
        "query=query query_id=query_id results=results id=corpus_id score=score",
    ),
    ToolMap(
        "ms-marco",
        "questions of MS MARCO",
        ("query", "passages.passage_text[]"),
        "query=query query_id=query_id text=passages.passage_text document=passages.url "
        "grade=passages.is_selected reference=answers",
        unranked=True,
    ),
    ToolMap(
        "ms-marco-top1000",
        "candidates of MS MARCO",
        (),
        "query=query query_id=qid id=pid text=passage",
        columns=("qid", "pid", "query", "passage"),
    ),
)


def find_tool(records: Sequence[Record]) -> FieldMap | None:
    """Return the map of the tool that wrote these records, None where no tool is known by them."""
    for tool in TOOL_MAPS:
        if tool.wrote_any(records):
            return complete_map(tool.field_map(), records)
    return None


# Tools whose files are no retrieval records, and are known by what is in them.
_BY_CONTENT = frozenset({"rre", "quepid", "opensearch", "ranx", "beir"})


def map_named(text: str) -> FieldMap:
    """Return the map of a tool by its name, or one that is written out."""
    tools = {tool.name: tool for tool in TOOL_MAPS}
    if text.strip() in tools:
        return tools[text.strip()].field_map()
    if text.strip().lower() in _BY_CONTENT:
        raise BadInput(f"--map: files of {text.strip()} are known by their content; leave it out")
    if "=" not in text:
        raise BadInput(
            f"--map: no tool is called {text!r}; there are {', '.join(sorted(tools))}; or write "
            "the paths: 'query=question results=documents id=metadata.id text=page_content'"
        )
    return parse_map(text)


def map_text(field_map: FieldMap) -> str:
    """Return a map as `map_named` takes it: the name of its tool, or the paths."""
    names = {tool.title: tool.name for tool in TOOL_MAPS}
    return names.get(field_map.name) or str(field_map)
