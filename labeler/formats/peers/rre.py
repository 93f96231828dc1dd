"""Ratings of the Rated Ranking Evaluator: query groups with their relevant documents.

Queries are named by their text, which is a placeholder of a template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from labeler.errors import BadInput
from labeler.formats.json_records import JsonDocument, as_id, short
from labeler.formats.limits import Limits
from labeler.formats.peers.peer_rows import (
    PeerGrade,
    PeerGrades,
    PeerQuery,
    as_chunk_ids,
    check_mapping,
    query_by_text,
    take_list,
)

_PARTS = ("topics", "query_groups", "queries")
_PLACEHOLDERS = "placeholders"
_RELEVANT = "relevant_documents"
_TEXT = "$query"


def is_rre(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object holds ratings of the Rated Ranking Evaluator."""
    parts = [part for key in _PARTS if isinstance(value.get(key), list) for part in value[key]]
    return any(isinstance(part, dict) and (_PLACEHOLDERS in part or is_rre(part)) for part in parts)


def queries_in(document: JsonDocument) -> Iterator[tuple[int, PeerQuery]]:
    """Yield the query of each template's placeholders."""
    for line, asked, _ in _rated(document):
        yield line, asked


def grades_in(document: JsonDocument) -> PeerGrades:
    """Yield the gain of each relevant document."""
    for line, asked, relevant in _rated(document):
        with document.source.at(line):
            for chunk_id, gain in _gains(relevant, document.source.limits):
                yield PeerGrade(line, asked, chunk_id, (gain,))


def _rated(document: JsonDocument) -> Iterator[tuple[int, PeerQuery, object]]:
    """Yield each query with its line and its relevant documents, those of its group without own."""
    key = next(key for key in _PARTS if isinstance(document.value.get(key), list))
    above = document.value.get(_RELEVANT)
    for entry in document.parts(document.under(key) or 0):
        with document.source.at(entry.line):
            for asked, relevant in _queries_of(entry.value, above, document.source.limits):
                yield entry.line, asked, relevant


def _queries_of(given: object, above: object, limits: Limits) -> Iterator[tuple[PeerQuery, object]]:
    part = dict(check_mapping(given, "each topic, query group or query"))
    relevant = part.get(_RELEVANT, above)
    inner = [each for key in _PARTS for each in take_list(part, (key,), key)]
    for each in inner:
        yield from _queries_of(each, relevant, limits)
    if _PLACEHOLDERS in part:
        values = check_mapping(part[_PLACEHOLDERS], _PLACEHOLDERS)
        text = values.get(_TEXT) if len(values) != 1 else next(iter(values.values()))
        if text is None:
            raise BadInput(f"{_PLACEHOLDERS} has several keys; the query's text is under {_TEXT!r}")
        yield query_by_text(text, limits), relevant


def _gains(relevant: object, limits: Limits) -> Iterator[tuple[str, Any]]:
    """Yield documents with their gains: lists by gain, or gains by document."""
    for key, value in check_mapping(relevant or {}, _RELEVANT).items():
        if isinstance(value, list):
            for chunk_id in as_chunk_ids(value, limits):
                yield chunk_id, key
        elif isinstance(value, dict) and "gain" in value:
            yield as_id(key, "chunk", limits), value["gain"]
        else:
            raise BadInput(
                f'{_RELEVANT} is {{"GAIN": ["document", ...]}} or {{"document": {{"gain": GAIN}}}}'
                f", not {short(value)}"
            )
