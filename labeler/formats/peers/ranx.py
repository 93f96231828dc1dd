"""JSON by query, as ranx and notebooks write it: a number per chunk, or a plain list of chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labeler.errors import BadInput
from labeler.formats.json_records import JsonDocument, Record, as_id, short
from labeler.formats.peers.peer_rows import RELEVANT, PeerGrade, PeerGrades, PeerQuery, as_chunk_ids
from labeler.model import GoldenGrade

RANX_SHAPES = '{"query": {"chunk": number}} or {"query": ["chunk", ...]}'


def is_by_query(value: object) -> bool:
    """Return whether every key of a JSON object has numbers by chunk, or a list of chunks.

    >>> is_by_query({"q1": {"c1": 3}}), is_by_query({"query_id": "q1", "results": ["c1"]})
    (True, False)
    """
    return isinstance(value, dict) and bool(value) and all(map(_is_list, value.values()))


def _is_list(value: object) -> bool:
    if isinstance(value, dict):
        return all(
            isinstance(each, int | float) and not isinstance(each, bool) for each in value.values()
        )
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def are_grades(value: Mapping[str, Any]) -> bool:
    """Return whether all numbers are 0, 1, 2 or 3; lists of chunks have none."""
    lists = [each for each in value.values() if isinstance(each, dict)]
    return bool(lists) and all(number in (0, 1, 2, 3) for each in lists for number in each.values())


def grades_in(document: JsonDocument) -> PeerGrades:
    """Yield the grades by query; a chunk in a plain list has the grade `RELEVANT`."""
    limits = document.source.limits
    for entry in document.top():
        with document.source.at(entry.line):
            asked = PeerQuery(as_id(entry.key, "query", limits), None)
            if isinstance(entry.value, dict):
                for chunk_id, value in entry.value.items():
                    yield PeerGrade(entry.line, asked, as_id(chunk_id, "chunk", limits), (value,))
            elif isinstance(entry.value, list):
                for chunk_id in as_chunk_ids(entry.value, limits):
                    yield PeerGrade(entry.line, asked, chunk_id, (RELEVANT,))
            else:
                raise BadInput(f"expected {RANX_SHAPES}, not {short(entry.value)}")


def lists_in(document: JsonDocument) -> Iterator[tuple[int, Record]]:
    """Yield a run's lists as records of results, with their scores or best first."""
    for entry in document.top():
        value, results = entry.value, []
        if isinstance(value, dict):
            results = [{"chunk_id": chunk_id, "score": value[chunk_id]} for chunk_id in value]
        elif isinstance(value, list):
            results = value
        else:
            raise document.source.fail(entry.line, f"expected {RANX_SHAPES}, not {short(value)}")
        yield entry.line, {"query_id": entry.key, "results": results}


def qrels_json(grades: Sequence[GoldenGrade]) -> str:
    """Return grades as ranx reads them: ``{query: {chunk: grade}}``."""
    by_query: dict[str, dict[str, float]] = {}
    for grade in grades:
        by_query.setdefault(grade.query_id, {})[grade.chunk_id] = grade.grade
    return ranx_json(by_query)


def ranx_json(by_query: Mapping[str, Mapping[str, float]]) -> str:
    """Return numbers by query and chunk as JSON, with a line per query."""
    lines = (
        f"{json.dumps(query, ensure_ascii=False)}: {json.dumps(dict(of), ensure_ascii=False)}"
        for query, of in by_query.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"
