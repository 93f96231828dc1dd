"""Detection of the tool that a JSON file comes from, and its grades and queries.

`read_json` also decides for every reader whether a file is JSON lines, a JSON list or one JSON
document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from labeler.errors import BadInput
from labeler.formats.field_aliases import QUERY_TEXT
from labeler.formats.json_records import (
    JsonDocument,
    Record,
    Records,
    format_keys,
    parse_object,
    read_if_json_document,
    read_json_document,
    read_jsonl,
    short,
    starts_json,
)
from labeler.formats.lines import InputFile, Lines, RecordLines, decode
from labeler.formats.peers import datasets, opensearch, quepid, ranx, rre
from labeler.formats.peers.column_wise import find_columns, refusal
from labeler.formats.peers.peer_rows import PeerGrades, PeerQuery
from labeler.formats.retrieval.spans import is_otlp
from labeler.formats.retrieval.wrapped import records_of_document, unwrap, unwrapped

_FOUND = "hits"
Shape: TypeAlias = Literal[
    "OpenSearch judgments",
    "an OpenSearch query set",
    "a Quepid book",
    "a Quepid case",
    "ratings of the Rated Ranking Evaluator",
    "a dataset",
    "by query",
]


class Peer(NamedTuple):
    """The kind of a document, and the offset of its grades or queries."""

    shape: Shape
    start: int


def find_peer(document: JsonDocument) -> Peer | None:
    """Return which tool a document that is an object comes from, or None."""
    lists: dict[Shape, tuple[tuple[str | int, ...], ...]] = {
        "OpenSearch judgments": opensearch.RATING_PATHS,
        "an OpenSearch query set": opensearch.QUERY_SET_PATHS,
    }
    for shape, places in lists.items():
        for place in places:
            if (start := document.under(*place)) is not None:
                opensearch.check_one_list(document)
                return Peer(shape, start)
    if rre.is_rre(document.value):
        return Peer("ratings of the Rated Ranking Evaluator", 0)
    if datasets.is_dataset(document.value):
        return Peer("a dataset", 0)
    quepids: dict[str, Shape] = {quepid.PAIRS: "a Quepid book", quepid.QUERIES: "a Quepid case"}
    for key, shape in quepids.items():
        value = document.value.get(key)
        if isinstance(value, list) and all(isinstance(each, dict) for each in value):
            return Peer(shape, document.under(key) or 0)
    return Peer("by query", 0) if ranx.is_by_query(document.value) else None


def identify_peer(document: JsonDocument) -> Peer:
    """Return which tool a document comes from, or raise `BadInput`."""
    found = find_peer(document)
    if found is None:
        keys = format_keys(document.value)
        raise document.source.fail(
            None,
            f"one JSON object, neither judgments of OpenSearch (key {opensearch.RATINGS}) nor a "
            f"book or case of Quepid (key {quepid.PAIRS} or {quepid.QUERIES}) nor "
            f"{ranx.RANX_SHAPES}; records must be one JSON object per line; its keys are {keys}",
        )
    return found


def grades_in(document: JsonDocument) -> PeerGrades:
    """Yield the grades in a document."""
    peer = identify_peer(document)
    if peer.shape == "an OpenSearch query set":
        raise document.source.fail(None, f"it is {peer.shape}, without grades; load it as queries")
    readers: dict[Shape, Callable[[], PeerGrades]] = {
        "OpenSearch judgments": lambda: opensearch.grades_in(document, peer.start),
        "a Quepid book": lambda: quepid.grades_in_book(document, peer.start),
        "a Quepid case": lambda: quepid.grades_in_case(document, peer.start),
        "ratings of the Rated Ranking Evaluator": lambda: rre.grades_in(document),
        "a dataset": lambda: datasets.grades_in(document),
        "by query": lambda: ranx.grades_in(document),
    }
    return readers[peer.shape]()


def queries_in(document: JsonDocument) -> Iterator[tuple[int, PeerQuery]]:
    """Yield the queries that a document names by their texts, each once."""
    peer = identify_peer(document)
    if peer.shape == "by query":
        raise document.source.fail(None, "holds ids of queries and no text of any")
    readers: dict[Shape, Callable[[], Iterator[tuple[int, PeerQuery]]]] = {
        "OpenSearch judgments": lambda: opensearch.queries_in(document, peer.start),
        "an OpenSearch query set": lambda: opensearch.queries_in_set(document, peer.start),
        "ratings of the Rated Ranking Evaluator": lambda: rre.queries_in(document),
        "a dataset": lambda: datasets.queries_in(document),
    }
    found = readers.get(peer.shape, lambda: quepid.queries_in(document, peer.start))()
    seen: set[str] = set()
    for line, asked in found:
        if asked.query_id not in seen:
            seen.add(asked.query_id)
            yield line, asked


def chunks_in(document: JsonDocument) -> Records:
    """Yield the chunks whose texts a document of grades has, as records."""
    return (
        datasets.chunks_in(document) if identify_peer(document).shape == "a dataset" else iter(())
    )


def read_json(
    source: InputFile, number: int, first: bytes, lines: Lines
) -> JsonDocument | Records | None:
    """Return a JSON file as a document or as its records with their lines; None for another file.

    A document that is a list, or that has one of records in it, is returned as its records.
    ``first`` is the first line with content, and ``number`` its number.
    """
    if isinstance(lines, RecordLines):
        _check_records(source, number, lines.first()[1])
        return lines.records
    document = read_if_json_document(source, first, lines)
    if document is None:
        if number == 0 or not starts_json(source, number, first):
            return None
        value: Record = parse_object(source, number, decode(source, number, first))
        _check_records(source, number, value)
        if not is_peer_document(value):
            return _unwrapped(source, number, value, read_jsonl(source, lines))
        document = read_json_document(source, lines)
    value_of: Any = document.value
    if isinstance(value_of, list):
        first_of_list = value_of[0] if value_of else None
        return _unwrapped(source, number, first_of_list, document.records())
    if not isinstance(value_of, dict):
        raise source.fail(number, f"expected JSON objects {{...}}, not {short(value_of)}")
    _check_records(source, number, value_of)
    with source.at(number):
        holds_records = is_otlp(value_of) or unwrap(value_of) is not None
        is_wrapped = find_peer(document) is None and holds_records
    return records_of_document(number, document) if is_wrapped else document


def _unwrapped(source: InputFile, number: int, first: object, records: Records) -> Records:
    """Return records, those inside them where the ``first`` is an object with records in it."""
    with source.at(number):
        is_wrapped = isinstance(first, dict) and unwrap(first) is not None
    return unwrapped(source, records) if is_wrapped else records


def _check_records(source: InputFile, number: int, value: Record) -> None:
    """Raise `BadInput` for a table column by column."""
    if columns := find_columns(value):
        raise source.fail(number, refusal(columns))


def is_peer_document(value: Record) -> bool:
    """Return whether a JSON object on one line is a whole file of another tool, not a record."""
    keys = {opensearch.RATINGS, opensearch.QUERY_SET, quepid.PAIRS, _FOUND, "_source"}
    if "responses" in value or (_FOUND in value and {*QUERY_TEXT} & value.keys()):
        return False  # what was found for questions, which stand beside it
    case = isinstance(value.get(quepid.QUERIES), list)
    known = case or not keys.isdisjoint(value) or ranx.is_by_query(value)
    return known or rre.is_rre(value) or datasets.is_dataset(value)


def not_a_run(document: JsonDocument) -> BadInput:
    """Return the error for a document of grades that is loaded as a run."""
    peer = identify_peer(document)
    return document.source.fail(
        None, f"it is {peer.shape}, with grades and no ranked lists; load it as golden grades"
    )
