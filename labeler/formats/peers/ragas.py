"""RAGAS samples: a question with the contexts that were retrieved, or that are relevant.

Contexts may be ids, texts or both; one without an id gets an id made from its text. Many tutorials
use the same fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labeler.errors import BadInput
from labeler.formats.field_aliases import ONE_QUERY
from labeler.formats.id_resolution import chunk_id_from_text
from labeler.formats.json_records import Record, as_id, short, take, take_id
from labeler.formats.limits import Limits
from labeler.formats.peers.peer_rows import (
    RELEVANT,
    PeerGrade,
    PeerGrades,
    PeerQuery,
    as_chunk_ids,
    check_mapping,
    query_by_text,
    take_list,
)
from labeler.model import Chunk, GoldenGrade, Query

QUESTION = ("user_input",)
RETRIEVED, RETRIEVED_IDS = ("retrieved_contexts",), ("retrieved_context_ids",)
RIGHT, RIGHT_IDS = ("reference_contexts",), ("reference_context_ids", "relevant_ids")
GRADES = ("relevance_map",)
# Fields that describe a run, or grades, and not the query.
NOT_OF_QUERY = (
    *RETRIEVED,
    *RETRIEVED_IDS,
    *RIGHT,
    *RIGHT_IDS,
    *GRADES,
    "response",
    "multi_responses",
)
_ID = tuple(sorted(ONE_QUERY))


class Context(NamedTuple):
    """A chunk as a record names it; ``text`` is None where there is only an id."""

    chunk_id: str
    text: str | None


def is_sample(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a RAGAS sample."""
    return QUESTION[0] in record


def is_relevance(record: Mapping[str, Any]) -> bool:
    """Return whether a record names the relevant chunks of its query."""
    return not {*RIGHT, *RIGHT_IDS, *GRADES}.isdisjoint(record)


def is_result(record: Mapping[str, Any]) -> bool:
    """Return whether a record names the contexts retrieved for its query."""
    return not {*RETRIEVED, *RETRIEVED_IDS}.isdisjoint(record)


def take_query(record: Record, limits: Limits) -> PeerQuery:
    """Remove and return the query of a record: its text, and its id where it has one."""
    text = take(record, (*QUESTION, "query", "question"))
    if isinstance(text, list):
        raise BadInput("user_input is a conversation of several turns; single questions are read")
    if {*_ID} & {name for name, value in record.items() if value is not None}:
        query_id = take_id(record, _ID, "query", limits, ONE_QUERY)
        return PeerQuery(query_id, None if text is None else query_by_text(text, limits).text)
    return query_by_text(text, limits)


def query_record(record: Record, limits: Limits) -> Record:
    """Return a RAGAS record as a query's record, without its fields for runs and grades."""
    rest = {key: value for key, value in record.items() if key not in NOT_OF_QUERY}
    asked = take_query(rest, limits)
    return {"query_id": asked.query_id, "query": asked.text, **rest}


def grades_in(line: int, record: Record, limits: Limits) -> PeerGrades:
    """Yield the grades of a record: those in its map, and `RELEVANT` for other contexts.

    Where it has both a map and a list, each grade says whether its chunk is in the list.
    """
    given = dict(record)
    asked = take_query(given, limits)
    values = dict(check_mapping(take(given, GRADES) or {}, GRADES[0]))
    right = take_contexts(given, RIGHT, RIGHT_IDS, limits)
    listed = {context.chunk_id for context in right} if values and right else None
    for context in right:
        values.setdefault(context.chunk_id, RELEVANT)
    for chunk_id, value in values.items():
        relevant = None if listed is None else chunk_id in listed
        chunk_id = as_id(chunk_id, "chunk", limits)
        yield PeerGrade(line, asked, chunk_id, (value,), relevant=relevant)


def retrieved_in(record: Record, limits: Limits) -> tuple[PeerQuery, list[str]]:
    """Return the query of a record, and the chunks retrieved for it, best first."""
    given = dict(record)
    asked = take_query(given, limits)
    return asked, [each.chunk_id for each in take_contexts(given, RETRIEVED, RETRIEVED_IDS, limits)]


def chunks_in(record: Record, limits: Limits) -> Iterator[Context]:
    """Yield every context of a record that has a text."""
    for texts, ids in ((RETRIEVED, RETRIEVED_IDS), (RIGHT, RIGHT_IDS)):
        for context in take_contexts(dict(record), texts, ids, limits):
            if context.text is not None:
                yield context


def take_contexts(
    record: Record, texts: tuple[str, ...], ids: tuple[str, ...], limits: Limits
) -> list[Context]:
    """Remove and return contexts, given by ids, by texts, or by both in the same order."""
    given = take_list(record, texts, texts[0])
    for text in given:
        if not isinstance(text, str) or not text:
            raise BadInput(f"{texts[0]} must be a list of texts, not one with {short(text)}")
    named = as_chunk_ids(take_list(record, ids, ids[0]), limits)
    if not named:
        return [Context(chunk_id_from_text(text), text) for text in given]
    if given and len(given) != len(named):
        raise BadInput(
            f"{len(given)} {texts[0]}, but {len(named)} {ids[0]}; each text needs its id, in order"
        )
    return [Context(*each) for each in zip(named, given or [None] * len(named), strict=True)]


def golden_samples(
    queries: Sequence[Query], grades: Sequence[GoldenGrade], chunks: Mapping[str, Chunk]
) -> Iterator[str]:
    """Yield a golden set as lines of RAGAS samples, with extra fields that restore it on loading.

    Reference contexts are the chunks of grade 1 or better, with texts where all of them have one.
    The extra fields, which RAGAS ignores, are the query's id and a map of all grades.
    """
    by_query: dict[str, list[GoldenGrade]] = {query.query_id: [] for query in queries}
    for grade in grades:
        by_query[grade.query_id].append(grade)
    for query in queries:
        given = by_query[query.query_id]
        right = [each.chunk_id for each in given if each.grade >= RELEVANT]
        texts = [chunks[each].text if each in chunks else None for each in right]
        sample = {
            "user_input": query.text,
            "reference": query.reference,
            "reference_contexts": None if None in texts else texts,
            "reference_context_ids": right,
            "query_id": query.query_id,
            "relevance_map": {each.chunk_id: each.grade for each in given},
        }
        kept = {key: value for key, value in sample.items() if value is not None}
        yield json.dumps(kept, ensure_ascii=False)


def run_samples(
    queries: Mapping[str, str], ranked: Mapping[str, Sequence[str]], texts: Mapping[str, str | None]
) -> Iterator[str]:
    """Yield a run as lines of RAGAS samples, best first; ``queries`` are texts by id."""
    for query_id, chunk_ids in ranked.items():
        contexts = [texts.get(chunk_id) for chunk_id in chunk_ids]
        sample = {
            "user_input": queries.get(query_id, query_id),
            "retrieved_contexts": None if None in contexts else contexts,
            "retrieved_context_ids": list(chunk_ids),
            "query_id": query_id,
        }
        kept = {key: value for key, value in sample.items() if value is not None}
        yield json.dumps(kept, ensure_ascii=False)
