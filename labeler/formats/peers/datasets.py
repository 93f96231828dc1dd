"""Datasets in one JSON object: queries, texts of chunks, and what is relevant.

LlamaIndex and sentence-transformers write ``queries``, ``corpus`` and ``relevant_docs`` by id;
tutorials have a list of questions, with ``relevant_ids`` or ``relevance_map``, beside a corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labeler.errors import BadInput
from labeler.formats.json_records import JsonDocument, JsonEntry, Record, as_id, short
from labeler.formats.limits import Limits
from labeler.formats.peers.peer_rows import (
    RELEVANT,
    PeerGrade,
    PeerGrades,
    PeerQuery,
    as_chunk_ids,
    check_mapping,
    query_by_text,
)
from labeler.formats.retrieval.field_map import parse_map
from labeler.formats.retrieval.parts import peer_grades
from labeler.formats.retrieval.record_mapper import RecordMapper

CORPUS = "corpus"
RELEVANT_BY_ID = ("relevant_docs", "qrels")
QUESTIONS = ("test_queries", "eval_set")
_QUERIES = "queries"
_QUESTION = (
    "query=query|question|user_input query_id=query_id|qid|q_id|id relevant=relevance_map "
    "relevant_id=relevant_ids|reference_context_ids|expected_ids relevant_text=reference_contexts"
)


def is_dataset(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object holds queries together with what is relevant to them.

    >>> is_dataset({"queries": {"q1": "why?"}, "relevant_docs": {"q1": ["c1"]}})
    True
    >>> is_dataset({"queries": {"c1": 3}, "qrels": {"c1": 2}})
    False
    """
    for key in QUESTIONS:
        questions = value.get(key)
        if isinstance(questions, list) and all(isinstance(each, dict) for each in questions):
            return True
    parts = [value.get(_QUERIES), *(value[key] for key in RELEVANT_BY_ID if key in value)]
    by_id = len(parts) == 2 and all(isinstance(part, dict) for part in parts)
    return by_id and all(isinstance(text, str) for text in parts[0].values())


def queries_in(document: JsonDocument) -> Iterator[tuple[int, PeerQuery]]:
    """Yield the queries of a dataset."""
    limits = document.source.limits
    for entry in _parts(document, (_QUERIES,), dict):
        with document.source.at(entry.line):
            text = query_by_text(entry.value, limits).text
            yield entry.line, PeerQuery(as_id(entry.key, "query", limits), text)
    for entry in _parts(document, QUESTIONS, list):
        with document.source.at(entry.line):
            yield from ((entry.line, each.asked) for each in _grades_of(entry, limits)[:1])


def grades_in(document: JsonDocument) -> PeerGrades:
    """Yield the grades of a dataset; a chunk that is only called relevant has `RELEVANT`."""
    source = document.source
    for entry in _parts(document, RELEVANT_BY_ID, dict):
        with source.at(entry.line):
            asked = PeerQuery(as_id(entry.key, "query", source.limits), None)
            for chunk_id, value in _relevant(entry.value, source.limits):
                yield PeerGrade(entry.line, asked, chunk_id, (value,))
    for entry in _parts(document, QUESTIONS, list):
        with source.at(entry.line):
            yield from _grades_of(entry, source.limits)[1:]


def _grades_of(entry: JsonEntry, limits: Limits) -> Sequence[PeerGrade]:
    """Return a question alone, and then its grades."""
    question = dict(check_mapping(entry.value, "each question"))
    mapper = RecordMapper(parse_map(_QUESTION), limits)
    return [*peer_grades(mapper.read(entry.line, question))]


def _relevant(given: object, limits: Limits) -> Iterator[tuple[str, Any]]:
    if isinstance(given, dict):
        for chunk_id, value in given.items():
            yield as_id(chunk_id, "chunk", limits), value
        return
    if not isinstance(given, list):
        raise BadInput(f"what is relevant to a query is a list of chunks, not {short(given)}")
    for chunk_id in as_chunk_ids(given, limits):
        yield chunk_id, RELEVANT


def chunks_in(document: JsonDocument) -> Iterator[tuple[int, Record]]:
    """Yield the chunks of a dataset's corpus as records."""
    for entry in _parts(document, (CORPUS,), dict, list):
        record = {"text": entry.value} if isinstance(entry.value, str) else entry.value
        with document.source.at(entry.line):
            own = dict(check_mapping(record, "each chunk of the corpus"))
            yield entry.line, {"chunk_id": entry.key, **own} if entry.key is not None else own


def _parts(
    document: JsonDocument, keys: tuple[str, ...], *kinds: type[object]
) -> Iterator[JsonEntry]:
    for key in keys:
        start = document.under(key)
        if start is not None and isinstance(document.value[key], kinds):
            yield from document.parts(start)
