"""Parts of retrieval records: their queries, chunks, ranked lists or grades alone.

The readers of these kinds take them as the records of their own formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from labeler.errors import BadInput
from labeler.formats.id_resolution import chunk_id_from_text, query_id_from_text
from labeler.formats.json_records import Record, Records
from labeler.formats.lines import InputFile
from labeler.formats.peers.peer_rows import PeerGrade, PeerGrades, PeerQuery
from labeler.formats.retrieval.document_rows import DocumentRowReader
from labeler.formats.retrieval.openinference import SpanReader
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk
from labeler.formats.retrieval.tool_readers import find_reader

_SAMPLED = 100


class Sampled(NamedTuple):
    """All records of a file, and those at its beginning, with their lines."""

    first: Sequence[tuple[int, Record]]
    records: Records


def sample(records: Records) -> Sampled:
    """Read the first records of a file."""
    first = [*islice(records, _SAMPLED)]
    return Sampled(first, chain(first, records))


def retrievals_in(
    source: InputFile, sampled: Sampled, *, is_whole: bool = True
) -> Iterator[Retrieval] | None:
    """Return the retrievals in a file's records, None where these are records of another kind."""
    if not sampled.first:
        return None
    with source.at(sampled.first[0][0]):
        reader = find_reader([record for _, record in sampled.first], limits=source.limits)
    if reader is None:
        return None

    def read() -> Iterator[Retrieval]:
        for line, record in sampled.records:
            with source.at(line):
                yield from reader.read(line, record)
        if is_whole and isinstance(reader, SpanReader | DocumentRowReader):
            yield from _finished(source, reader)

    return read()


def _finished(source: InputFile, reader: SpanReader | DocumentRowReader) -> Iterator[Retrieval]:
    """Yield what a reader of traces still holds; raises `BadInput` where it found nothing."""
    try:
        yield from reader.finish()
    except BadInput as error:
        raise source.fail(None, str(error)) from error


def have_grades(source: InputFile, sampled: Sampled) -> bool:
    """Return whether there are grades in the first records of a file of retrievals."""
    beginning = Sampled(sampled.first, iter(sampled.first))
    found = retrievals_in(source, beginning, is_whole=False)
    return found is not None and any(each.graded for each in found)


def query_records(retrievals: Iterable[Retrieval]) -> Records:
    """Yield each query once, as a record of its own.

    >>> asked = Retrieval(1, "why?", reference="so", metadata={"topic": "a"})
    >>> [*query_records([asked, asked])][0][1]["reference"]
    'so'
    """
    texts: dict[str, str] = {}
    for found in retrievals:
        if found.query is None:
            continue
        query_id, text = _query_id(found), found.query.strip()
        if texts.get(query_id) == text:
            continue
        texts[query_id] = text
        record = {**found.metadata, "query_id": query_id, "query": text}
        if found.reference is not None:
            record["reference"] = found.reference
        yield found.line, record


def chunk_records(source: InputFile, retrievals: Iterable[Retrieval]) -> Records:
    """Yield each chunk that has a text once, as a record of its own."""
    texts: dict[str, int] = {}
    for found in retrievals:
        for each in (*(found.results or ()), *found.graded):
            if each.text is None:
                continue
            chunk_id = _chunk_id(each)
            if (known := texts.get(chunk_id)) is not None:
                if known != hash(each.text):
                    message = f"chunk {chunk_id!r} has another text on an earlier line"
                    raise source.fail(found.line, message)
                continue
            texts[chunk_id] = hash(each.text)
            record: Record = {
                "chunk_id": chunk_id,
                "text": each.text,
                "metadata": dict(each.metadata),
            }
            record |= {"title": each.title, "document_id": each.document_id}
            yield found.line, {key: value for key, value in record.items() if value is not None}


def list_records(retrievals: Iterable[Retrieval]) -> Records:
    """Yield the ranked lists as records of a run; a question asked again is one list too many."""
    for found in retrievals:
        head: Record = {"query_id": _query_id(found)}
        if found.system is not None:
            head["system"] = found.system
        results = [_result_record(each) for each in found.results or ()]
        if found.is_part:
            yield from ((found.line, {**head, **each}) for each in results)
        elif found.results is not None:
            yield found.line, {**head, "results": results}


def _result_record(result: RetrievedChunk) -> Record:
    given = {"chunk_id": _chunk_id(result), "score": result.score, "rank": result.rank}
    return {key: value for key, value in given.items() if value is not None}


def peer_grades(retrievals: Iterable[Retrieval]) -> PeerGrades:
    """Yield the graded chunks, and before them their query alone, with its text."""
    for found in retrievals:
        query_id = _query_id(found)
        text = None if found.query is None else found.query.strip()
        yield PeerGrade(found.line, PeerQuery(query_id, text), "", ())
        for each in found.graded:
            if each.grade is not None and each.grade != "":
                graders = () if each.grader is None else (each.grader,)
                given = (each.grade,), graders, each.note, each.listed
                yield PeerGrade(found.line, PeerQuery(query_id, None), _chunk_id(each), *given)


def _query_id(found: Retrieval) -> str:
    if found.query_id is None and found.query is None:
        raise BadInput("a query has neither an id nor a text")
    return found.query_id or query_id_from_text(found.query or "")


def _chunk_id(result: RetrievedChunk) -> str:
    return result.chunk_id or chunk_id_from_text(result.text or "")
