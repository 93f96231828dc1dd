"""Writers of golden sets, judgment logs, BEIR folders and runs, as bytes.

The same content gives the same bytes every time. An id or a text that a format cannot hold raises
`BadInput`; JSON lines can hold everything and load back byte for byte.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

from labeler.errors import BadInput
from labeler.formats.csv_tables import (
    CSV_COLUMNS,
    CSV_COLUMNS_WITH_CHUNKING,
    neutralise,
    quote_cell,
)
from labeler.formats.field_aliases import CHUNKING, SEAL, TRANSFERRED_FROM
from labeler.formats.json_records import looks_like_json
from labeler.formats.peers import opensearch, quepid, ragas, ranx
from labeler.formats.peers.ranx import ranx_json
from labeler.model import (
    Chunk,
    Evidence,
    GoldenGrade,
    Judgment,
    Query,
    Ranking,
    Remark,
    UnjudgedPair,
    chunking_of,
    transfer_source_dicts,
)

GoldenKind: TypeAlias = Literal[
    "jsonl", "qrels", "csv", "quepid", "quepid-book", "opensearch", "ragas", "ranx"
]
TextOnlyKind: TypeAlias = Literal["quepid", "quepid-book", "opensearch"]
TEXT_ONLY_KINDS: tuple[str, ...] = get_args(TextOnlyKind)
"""Formats that name a query only by its text."""

GOLDEN_SET_NAME = "golden set from labeler"

_EARLIEST = (1980, 1, 1, 0, 0, 0)


def write_golden(
    queries: Sequence[Query],
    grades: Sequence[GoldenGrade],
    kind: GoldenKind,
    *,
    ungraded: Sequence[UnjudgedPair] = (),
    chunks: Callable[[], Mapping[str, Chunk]] = dict,
    description: str = "",
) -> bytes:
    """Return a golden set as a file: ``jsonl`` keeps everything and loads back byte for byte.

    Queries and their grades keep the given order. ``qrels`` refuses ids with blanks, and has pairs
    that are in the pool but ``ungraded`` with -1. ``csv`` is for people: cells that a spreadsheet
    would run start with an apostrophe. The others are formats of Quepid, OpenSearch, RAGAS and
    ranx; some include the texts of ``chunks``, and OpenSearch's has a ``description``.
    """
    writers: dict[str, Callable[[_Grouped], Iterable[str]]] = {
        "jsonl": _json_lines,
        "qrels": _qrels_lines,
        "csv": _csv_lines,
    }
    if kind in writers:
        return encode_lines(writers[kind](_grouped(queries, grades, ungraded)))
    known = [query for query, _, _ in _grouped(queries, grades, ungraded)]
    peers: dict[str, Callable[[], Iterable[str]]] = {
        "quepid": lambda: [quepid.ratings_csv(known, grades)[:-1]],
        "quepid-book": lambda: [quepid.book_json(known, grades, chunks(), GOLDEN_SET_NAME)[:-1]],
        "opensearch": lambda: [
            opensearch.judgments_json(known, grades, GOLDEN_SET_NAME, description)[:-1]
        ],
        "ragas": lambda: ragas.golden_samples(known, grades, chunks()),
        "ranx": lambda: [ranx.qrels_json(grades)[:-1]],
    }
    if kind not in peers:
        raise BadInput(
            f"a golden set is written as {', '.join(get_args(GoldenKind))}, not {kind!r}"
        )
    if kind in TEXT_ONLY_KINDS:
        check_query_texts(known, grades, kind)
    return encode_lines(peers[kind]())


def check_query_texts(queries: Sequence[Query], grades: Sequence[GoldenGrade], kind: str) -> None:
    """Raise `BadInput` where a graded query has no text, or the same as another one.

    In Quepid's table an id of blanks would be a cell that is empty.
    """
    for grade in grades if kind == "quepid" else ():
        _not_blank(kind, grade.chunk_id, "chunk")
    graded = {grade.query_id for grade in grades}
    seen: dict[str, str] = {}
    for query in queries:
        if query.query_id not in graded:
            continue
        text = query.text.strip()
        if not text:
            raise _not_representable(kind, "query", query.query_id, "the query has no text")
        if (other := seen.setdefault(text, query.query_id)) != query.query_id:
            why = f"query {other!r} has the same text"
            raise _not_representable(kind, "query", query.query_id, why)


_Grouped: TypeAlias = list[tuple[Query, list[GoldenGrade], list[str]]]


def _grouped(
    queries: Sequence[Query], grades: Sequence[GoldenGrade], ungraded: Sequence[UnjudgedPair] = ()
) -> _Grouped:
    """Return each query with its grades, and with the ungraded chunks of its pool."""
    by_query: dict[str, list[GoldenGrade]] = {query.query_id: [] for query in queries}
    for grade in grades:
        if grade.query_id not in by_query:
            raise BadInput(
                f"chunk {grade.chunk_id!r} is graded for an unknown query {grade.query_id!r}"
            )
        by_query[grade.query_id].append(grade)
    pooled: dict[str, list[str]] = {}
    for pair in ungraded:
        pooled.setdefault(pair.query_id, []).append(pair.chunk_id)
    return [(query, by_query[query.query_id], pooled.get(query.query_id, [])) for query in queries]


def encode_lines(lines: Iterable[str]) -> bytes:
    """Return lines as the bytes of a file; raises `BadInput` for a text that UTF-8 cannot hold."""
    try:
        return "".join(f"{line}\n" for line in lines).encode()
    except UnicodeEncodeError as error:
        raise BadInput(
            f"a text holds {error.object[error.start]!a}, which UTF-8 cannot carry"
        ) from error


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _json_lines(groups: _Grouped) -> Iterable[str]:
    for query, grades, pooled in groups:
        judgments = [grade_fields(grade) for grade in grades]
        more = {"ungraded": pooled} if pooled else {}
        yield _json({**query_fields(query), "judgments": judgments, **more})


def write_jsonl(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return records as JSONL."""
    return encode_lines(map(_json, records))


def query_fields(query: Query) -> dict[str, Any]:
    """Return the fields of a query in our files; a split only where it has one."""
    return {
        "query_id": query.query_id,
        "query": query.text,
        "task": query.task,
        "reference": query.reference,
        "guideline": query.guideline,
        "keywords": list(query.keywords),
        "buckets": dict(query.buckets),
        "metadata": dict(query.metadata),
        **({} if query.split is None else {"split": query.split}),
    }


def grade_fields(grade: GoldenGrade) -> dict[str, Any]:
    """Return the fields of a golden grade in our files; the query's id is not among them."""
    return {
        "chunk_id": grade.chunk_id,
        "grade": grade.grade,
        "graders": list(grade.graders),
        "note": grade.note,
        **({CHUNKING: grade.chunking} if grade.chunking else {}),
        **({} if grade.evidence is None else evidence_fields(grade.evidence)),
        **(
            {TRANSFERRED_FROM: transfer_source_dicts(grade.carried_from)}
            if grade.carried_from
            else {}
        ),
    }


def evidence_fields(evidence: Evidence) -> dict[str, Any]:
    """Return the evidence of a grade as fields of our files: passages, and the hash of the text."""
    return {"evidence": evidence.passages, "text_hash": evidence.text_hash}


def event_fields(event: Judgment | Remark) -> dict[str, Any]:
    """Return the fields of an event in our files; those of later versions only if they are set."""
    fields = asdict(event)
    if not fields.get("evidence"):
        fields.pop("evidence", None)
    for name in (TRANSFERRED_FROM, "seen_whole", "highlighted"):
        if fields.get(name) is None:
            fields.pop(name, None)
    return fields


def _qrels_lines(groups: _Grouped) -> Iterable[str]:
    for query, grades, pooled in groups:
        query_id = trec_id(query.query_id, "query") if grades or pooled else ""
        for grade in grades:
            yield f"{query_id} 0 {trec_id(grade.chunk_id, 'chunk')} {grade.grade}"
        for chunk_id in pooled:
            yield f"{query_id} 0 {trec_id(chunk_id, 'chunk')} -1"


def trec_id(identifier: str, what: str, kind: str = "qrels") -> str:
    """Return an id that fits into one column of a TREC file, or raise `BadInput`."""
    if any(letter.isspace() for letter in identifier):
        raise _not_representable(kind, what, identifier, "it holds a blank")
    if what == "query" and identifier.startswith(("#", "\ufeff")):
        raise _not_representable(kind, what, identifier, "its line would be a comment")
    if what == "query" and looks_like_json(identifier):
        raise _not_representable(kind, what, identifier, "its line would look like JSON")
    return identifier


def _not_representable(kind: str, what: str, identifier: str, why: str) -> BadInput:
    return BadInput(f"{kind} cannot carry the {what} id {identifier!r}: {why}; JSONL can")


def _csv_lines(groups: _Grouped) -> Iterable[str]:
    has_chunkings = any(grade.chunking for _, grades, _ in groups for grade in grades)
    yield ",".join(CSV_COLUMNS_WITH_CHUNKING if has_chunkings else CSV_COLUMNS)
    for query, grades, _ in groups:
        for grade in grades:
            chunking = [grade.chunking] if has_chunkings else []
            texts = (query.text, "; ".join(grade.graders), grade.note or "", *chunking)
            ids = (
                _not_blank("CSV", query.query_id, "query"),
                _not_blank("CSV", grade.chunk_id, "chunk"),
            )
            row = (*ids, str(grade.grade), *texts)
            yield ",".join(quote_cell(neutralise(text)) for text in row)


def _not_blank(kind: str, identifier: str, what: str) -> str:
    """Return an id that does not look like an empty cell, or raise `BadInput`."""
    if not identifier.strip():
        raise _not_representable(kind, what, identifier, "it is blank")
    return identifier


def beir_files(
    queries: Sequence[Query],
    chunks: Iterable[Chunk],
    grades: Sequence[GoldenGrade],
    split: str = "test",
    *,
    seal: str | None = None,
    chunkings: Collection[str] = (),
) -> dict[str, bytes]:
    """Return a BEIR folder as relative paths and their contents.

    Fields that BEIR does not define are added where they are set, among them which of
    ``chunkings`` a chunk belongs to. The ``seal`` (tamper check) of the log is written to a
    separate file, which other tools ignore.
    """
    if not re.fullmatch(r"\w[\w.-]*", split):
        raise BadInput(f"a split is named by letters and digits, such as test, not {split!r}")
    return {
        "corpus.jsonl": encode_lines(_json(_beir_chunk(chunk, chunkings)) for chunk in chunks),
        "queries.jsonl": encode_lines(_json(_beir_query(query)) for query in queries),
        f"qrels/{split}.tsv": encode_lines(_beir_qrels(_grouped(queries, grades))),
        **({} if seal is None else {f"{SEAL}.txt": encode_lines([seal])}),
    }


def _beir_chunk(chunk: Chunk, chunkings: Collection[str]) -> dict[str, Any]:
    more = {
        CHUNKING: chunking_of(chunk.chunk_id, chunkings) or None,
        "document_id": chunk.document_id,
        "position": chunk.position,
        "metadata": dict(chunk.metadata) or None,
        "start": chunk.start,
        "end": chunk.end,
    }
    given = {key: value for key, value in more.items() if value is not None}
    return {"_id": chunk.chunk_id, "title": chunk.title or "", "text": chunk.text or "", **given}


def _beir_query(query: Query) -> dict[str, Any]:
    fields = query_fields(query)
    identifier, text = fields.pop("query_id"), fields.pop("query")
    return {
        "_id": identifier,
        "text": text,
        **{key: value for key, value in fields.items() if value},
    }


def _beir_qrels(groups: _Grouped) -> Iterable[str]:
    yield "query-id\tcorpus-id\tscore"
    for query, grades, _ in groups:
        query_id = _one_line(query.query_id, "query") if grades else ""
        for grade in grades:
            yield f"{query_id}\t{_one_line(grade.chunk_id, 'chunk')}\t{grade.grade}"


def _one_line(identifier: str, what: str) -> str:
    if any(letter in identifier for letter in "\t\r\n"):
        raise _not_representable("BEIR", what, identifier, "it holds a tab or a line end")
    return quote_cell(_not_blank("BEIR", identifier, what), "\t")


def why_not_writable(
    kind: str, queries: Sequence[Query], grades: Sequence[GoldenGrade]
) -> str | None:
    """Return why a golden set cannot be written as ``kind`` (or ``beir``); None where it can."""
    writers = {"qrels": _qrels_lines, "csv": _csv_lines, "beir": _beir_qrels}
    try:
        if kind in TEXT_ONLY_KINDS:
            check_query_texts(queries, grades, kind)
        deque(writers[kind](_grouped(queries, grades)) if kind in writers else (), maxlen=0)
    except BadInput as error:
        return str(error)
    return None


def zip_files(files: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of relative paths and contents, the same bytes every time."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # otherwise the bytes depend on the system
            entry.external_attr = 0o644 << 16
            opened.writestr(entry, files[path])
    return archive.getvalue()


def write_events(events: Sequence[Judgment | Remark], seal: str | None = None) -> bytes:
    """Return the log as JSONL, one judgment or remark per line, in the given order.

    The last line is the ``seal`` (tamper check) of the log, where there is one.
    """
    last = [] if seal is None else [_json({SEAL: seal})]
    return encode_lines([*(_json(event_fields(event)) for event in events), *last])


RunKind: TypeAlias = Literal["trec", "ranx", "ragas"]
RUN_KINDS: tuple[str, ...] = get_args(RunKind)


def write_run(
    rankings: Sequence[Ranking],
    name: str,
    kind: RunKind,
    queries: Mapping[str, str] | None = None,
    texts: Mapping[str, str | None] | None = None,
) -> bytes:
    """Return a run as a file, its lists in the given order.

    ``trec`` has ``name`` as its tag, with hyphens for white space, and refuses ids with blanks. A
    list without scores, or with rising scores, gets its negative ranks as scores, because readers
    sort by score. ``ragas`` includes the texts of queries, and those of a list's chunks where all
    of them have one.
    """
    if kind == "trec":
        return encode_lines(_trec_lines(rankings, name))
    if kind == "ranx":
        return ranx_json({each.query_id: dict(_with_scores(each)) for each in rankings}).encode()
    if kind == "ragas":
        ranked = {each.query_id: each.chunk_ids for each in rankings}
        return encode_lines(ragas.run_samples(queries or {}, ranked, texts or {}))
    raise BadInput(f"a run is written as {', '.join(RUN_KINDS)}, not {kind!r}")


def _with_scores(ranking: Ranking) -> Iterable[tuple[str, float]]:
    scores = ranking.scores
    if scores is None or any(later > first for first, later in pairwise(scores)):
        scores = tuple(-float(rank) for rank in range(1, len(ranking.chunk_ids) + 1))
    return zip(ranking.chunk_ids, scores, strict=True)


def _trec_lines(rankings: Sequence[Ranking], name: str) -> Iterator[str]:
    tag = "-".join(name.split())
    for ranking in rankings:
        query_id = trec_id(ranking.query_id, "query", "TREC")
        for rank, (chunk_id, score) in enumerate(_with_scores(ranking), 1):
            yield f"{query_id} Q0 {trec_id(chunk_id, 'chunk', 'TREC')} {rank} {score!r} {tag}"
