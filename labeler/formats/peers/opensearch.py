"""OpenSearch judgment lists and query sets as JSON.

Queries are named by text; ratings are numbers in quotes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from labeler.errors import BadInput
from labeler.formats.json_records import JsonDocument, as_id
from labeler.formats.peers.peer_rows import (
    PeerGrade,
    PeerGrades,
    PeerQuery,
    check_mapping,
    query_by_text,
    take_list,
    take_required,
)
from labeler.model import GoldenGrade, Query

RATINGS = "judgmentRatings"
# In an import, in a document of the index, and in the response to a search for it.
RATING_PATHS: tuple[tuple[str | int, ...], ...] = (
    (RATINGS,),
    ("_source", RATINGS),
    ("hits", "hits", 0, "_source", RATINGS),
)
QUERY_SET = "querySetQueries"
# In a query set itself, in a document of the index, and in the response to a search for it.
QUERY_SET_PATHS: tuple[tuple[str | int, ...], ...] = (
    (QUERY_SET,),
    ("_source", QUERY_SET),
    ("hits", "hits", 0, "_source", QUERY_SET),
)
_QUERY_OF_SET = ("queryText", "query")
_QUERY, _DOCUMENT, _RATING = ("query",), ("docId",), ("rating",)


def check_one_list(document: JsonDocument) -> None:
    """Raise `BadInput` where a search response has several judgment lists, not just one."""
    hits = document.value.get("hits")
    found = hits.get("hits") if isinstance(hits, dict) else None
    if isinstance(found, list) and len(found) > 1:
        raise BadInput(
            f"{document.source.name}: holds {len(found)} lists of judgments; keep one, such as "
            "what GET _plugins/_search_relevance/judgments/ID answers"
        )


def grades_in(document: JsonDocument, start: int) -> PeerGrades:
    """Yield the ratings of the judgment list that begins at ``start``."""
    limits = document.source.limits
    for entry in document.parts(start):
        with document.source.at(entry.line):
            judged = dict(check_mapping(entry.value, f"each of {RATINGS}"))
            asked = query_by_text(take_required(judged, _QUERY, "query"), limits)
            for each in take_list(judged, ("ratings",), "ratings"):
                rating = dict(check_mapping(each, "each of the ratings"))
                chunk_id = as_id(take_required(rating, _DOCUMENT, "docId"), "chunk", limits)
                value = take_required(rating, _RATING, "rating")
                yield PeerGrade(entry.line, asked, chunk_id, (value,))


def queries_in(document: JsonDocument, start: int) -> Iterator[tuple[int, PeerQuery]]:
    """Yield the queries of the judgment list that begins at ``start``."""
    for entry in document.parts(start):
        with document.source.at(entry.line):
            judged = dict(check_mapping(entry.value, f"each of {RATINGS}"))
            query = take_required(judged, _QUERY, "query")
            yield entry.line, query_by_text(query, document.source.limits)


def queries_in_set(document: JsonDocument, start: int) -> Iterator[tuple[int, PeerQuery]]:
    """Yield the queries of the query set that begins at ``start``, objects or plain texts."""
    for entry in document.parts(start):
        with document.source.at(entry.line):
            text = entry.value
            if not isinstance(text, str):
                asked = dict(check_mapping(text, f"each of {QUERY_SET}"))
                text = take_required(asked, _QUERY_OF_SET, "query")
            yield entry.line, query_by_text(text, document.source.limits)


def judgments_json(
    queries: Sequence[Query], grades: Sequence[GoldenGrade], name: str, description: str
) -> str:
    """Return the body of ``PUT _plugins/_search_relevance/judgments``; its ratings are texts."""
    by_query: dict[str, list[dict[str, str]]] = {query.query_id: [] for query in queries}
    for grade in grades:
        rating = {"docId": grade.chunk_id, "rating": f"{grade.grade:.3f}"}
        by_query[grade.query_id].append(rating)
    ratings = [
        {"query": query.text, "ratings": by_query[query.query_id]}
        for query in queries
        if by_query[query.query_id]
    ]
    body = {"name": name, "description": description, "type": "IMPORT_JUDGMENT", RATINGS: ratings}
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"
