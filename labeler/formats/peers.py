"""Which tool a JSON document comes from, and what it says of queries and grades."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from labeler.errors import BadInput
from labeler.formats import by_query, opensearch, quepid
from labeler.formats.documents import Document, document_in, document_of
from labeler.formats.reading import Lines, Source, decode
from labeler.formats.records import (
    Record,
    Records,
    named,
    parse_object,
    read_jsonl,
    short,
    starts_json,
)
from labeler.formats.told import Asked, Told

Shape: TypeAlias = Literal["OpenSearch judgments", "a Quepid book", "a Quepid case", "by query"]


class Peer(NamedTuple):
    """What kind of document it is, and where in it the part of interest begins."""

    shape: Shape
    start: int


def peer_of(document: Document) -> Peer | None:
    """Tell which tool a document that is an object comes from."""
    for place in opensearch.PLACES:
        if (start := document.under(*place)) is not None:
            opensearch.check_one_list(document)
            return Peer("OpenSearch judgments", start)
    for key, shape in ((quepid.PAIRS, "a Quepid book"), (quepid.QUERIES, "a Quepid case")):
        value = document.value.get(key)
        if isinstance(value, list) and all(isinstance(each, dict) for each in value):
            return Peer(shape, document.under(key) or 0)  # type: ignore[arg-type] # two of them
    return Peer("by query", 0) if by_query.is_by_query(document.value) else None


def told_peer(document: Document) -> Peer:
    """Tell which tool a document comes from, or raise `BadInput`."""
    found = peer_of(document)
    if found is None:
        keys = named(document.value)
        raise document.source.fail(
            None,
            f"one JSON object, neither judgments of OpenSearch (key {opensearch.RATINGS}) nor a "
            f"book or case of Quepid (key {quepid.PAIRS} or {quepid.QUERIES}) nor "
            f"{by_query.SHAPES}; records stand one JSON object a line; its keys are {keys}",
        )
    return found


def graded_in(document: Document) -> Told:
    """Give what a document says of grades."""
    peer = told_peer(document)
    readers: dict[Shape, Callable[[], Told]] = {
        "OpenSearch judgments": lambda: opensearch.graded_in(document, peer.start),
        "a Quepid book": lambda: quepid.graded_in_book(document, peer.start),
        "a Quepid case": lambda: quepid.graded_in_case(document, peer.start),
        "by query": lambda: by_query.graded_in(document),
    }
    return readers[peer.shape]()


def queries_in(document: Document) -> Iterator[tuple[int, Asked]]:
    """Give the queries that a document names by their texts, each once."""
    peer = told_peer(document)
    if peer.shape == "by query":
        raise document.source.fail(None, "holds ids of queries and no text of any")
    if peer.shape == "OpenSearch judgments":
        found = opensearch.queries_in(document, peer.start)
    else:
        found = quepid.queries_in(document, peer.start)
    seen: set[str] = set()
    for line, asked in found:
        if asked.query_id not in seen:
            seen.add(asked.query_id)
            yield line, asked


def in_json(source: Source, number: int, first: bytes, lines: Lines) -> Document | Records | None:
    """Return a JSON file as a document or as its records with their lines; None for another file.

    A document that is a list is given as its records. ``first`` is the first line that says
    something, with its ``number``.
    """
    document = document_in(source, first, lines)
    if document is None:
        if number == 0 or not starts_json(source, number, first):
            return None
        value: Record = parse_object(source, number, decode(source, number, first))
        if not is_document(value):
            return read_jsonl(source, lines)
        document = document_of(source, lines)
    value_of: Any = document.value
    if isinstance(value_of, list):
        return document.records()
    if not isinstance(value_of, dict):
        raise source.fail(number, f"expected JSON objects {{...}}, not {short(value_of)}")
    return document


def is_document(value: Record) -> bool:
    """Say whether one line that is a whole object is all there is: no record looks like that."""
    keys = {opensearch.RATINGS, quepid.PAIRS, "hits", "_source"}
    case = isinstance(value.get(quepid.QUERIES), list)
    return case or not keys.isdisjoint(value) or by_query.is_by_query(value)


def refused_run(document: Document) -> BadInput:
    """Return the error for a document whose grades somebody wants to load as a run."""
    peer = told_peer(document)
    return document.source.fail(
        None, f"it is {peer.shape}, with grades and no ranked lists; load it as golden grades"
    )
