"""Field maps of tools, found by the keys of their records or by name (``--map trulens``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from labeler.errors import BadInput
from labeler.formats.json_records import Record
from labeler.formats.retrieval.field_map import FieldMap, parse_map, unpack, value_at


class ToolMap(NamedTuple):
    """A tool's map, and the paths that tell its records from others; none where only its name does.

    Of each of the ``marks``, which are paths joined by |, one must have a value, and a list where
    it ends with [].
    """

    name: str
    title: str
    marks: tuple[str, ...]
    map: str


TOOL_MAPS = (
    ToolMap(
        "ragas",
        "RAGAS samples",
        (
            "user_input",
            "retrieved_contexts[]|retrieved_context_ids[]|reference_contexts[]|"
            "reference_context_ids[]",
        ),
        "query=user_input query_id=query_id|qid text=retrieved_contexts id=retrieved_context_ids "
        "reference=reference relevant_id=reference_context_ids relevant_text=reference_contexts "
        "relevant=relevance_map",
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
        ("input", "retrieval_context[]|context[]", "expected_output|actual_output"),
        "query=input text=retrieval_context relevant_text=context reference=expected_output",
    ),
    ToolMap(
        "chroma",
        "answers of Chroma",
        ("query|question|query_text", "ids[]", "documents[]"),
        "query=query|question|query_text query_id=query_id id=ids text=documents "
        "distance=distances metadata=metadatas",
    ),
    ToolMap(
        "llamaindex-evaluator",
        "results of LlamaIndex' RetrieverEvaluator",
        ("query", "retrieved_ids[]", "expected_ids[]"),
        "query=query id=retrieved_ids text=retrieved_texts relevant_id=expected_ids",
    ),
)


def find_tool(records: Sequence[Record]) -> FieldMap | None:
    """Return the map of the tool that wrote these records, None where no tool is known by them."""
    for tool in TOOL_MAPS:
        if tool.marks and any(_has_marks(record, tool.marks) for record in records):
            return parse_map(tool.map, tool.title)
    return None


def _has_marks(record: Record, marks: Sequence[str]) -> bool:
    return all(any(_has_mark(record, path) for path in mark.split("|")) for mark in marks)


def _has_mark(record: Record, mark: str) -> bool:
    value = value_at(record, tuple(mark.removesuffix("[]").split(".")))
    return isinstance(unpack(value), list) if mark.endswith("[]") else value is not None


def map_named(text: str) -> FieldMap:
    """Return the map of a tool by its name, or one that is written out."""
    tools = {tool.name: tool for tool in TOOL_MAPS}
    if text.strip() in tools:
        tool = tools[text.strip()]
        return parse_map(tool.map, tool.title)
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
