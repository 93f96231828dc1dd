"""Golden sets as one JSON-lines file: a frozen version, or a complete set with its whole log.

A frozen version has queries and golden grades, and a SHA-256 of its lines: a changed file is
refused. A complete file also has settings, texts and every event, and restores a golden set
without its runs and people.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from types import NoneType
from typing import Any, TypeVar

from labeler.errors import BadInput
from labeler.formats.chunks import parse_chunk, parse_document
from labeler.formats.event_log import parse_event
from labeler.formats.field_aliases import COMPLETE, FROZEN
from labeler.formats.golden import golden_from_records
from labeler.formats.grades import GradeRule
from labeler.formats.json_records import Record, or_list, parse_object, read_jsonl, short, take_id
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    InputFile,
    Progress,
    StrPath,
    decode,
    file_source,
    memory_source,
    open_lines,
    peek_line,
)
from labeler.formats.queries import parse_query
from labeler.formats.writers import event_fields, query_fields, write_golden, write_jsonl
from labeler.model import (
    COUNT_TRANSFERRED,
    OLD_NAMES,
    Chunk,
    Document,
    GoldenGrade,
    GoldenLoad,
    GoldenVersion,
    Judgment,
    Loaded,
    Query,
    QueryChange,
    QueryOrigin,
    QueryProvenance,
    Remark,
    Settings,
    Suggestion,
    UnjudgedPair,
    check_chunking,
    is_storable,
    settings_from,
)

_HEADER_TEXTS = (FROZEN, "hash", "at", "lines")
_HEADER_OPTIONAL = ("by", "note")
_HEADER_KEYS = {*_HEADER_TEXTS, *_HEADER_OPTIONAL, "revision", "conventions"}
_HASH_LENGTH = 64


@dataclass(frozen=True)
class FrozenVersion:
    """A frozen version as its file describes it; the golden hash it names is not verified."""

    version: GoldenVersion
    conventions: Mapping[str, Any]
    queries: Sequence[Query]
    grades: Sequence[GoldenGrade]


def write_version(
    version: GoldenVersion,
    conventions: Mapping[str, Any],
    queries: Sequence[Query],
    grades: Sequence[GoldenGrade],
) -> bytes:
    """Return a frozen golden set as a file, the same bytes every time.

    Its first line has a SHA-256 of the others, which also covers fields that the golden hash does
    not.
    """
    lines = write_golden(queries, grades, "jsonl")
    header = {
        FROZEN: version.name,
        "hash": version.hash,
        "at": version.at,
        "by": version.by,
        "note": version.note,
        "revision": version.revision,
        "conventions": {**conventions, "budget_by_task": dict(conventions["budget_by_task"])},
        "lines": hashlib.sha256(lines).hexdigest(),
    }
    return json.dumps(header, ensure_ascii=False).encode() + b"\n" + lines


def read_version(
    path: StrPath, *, name: str | None = None, limits: Limits = LIMITS
) -> FrozenVersion:
    """Read the file of a frozen golden set, plain or gzip.

    Raises `BadInput` with file and line, also where its lines were changed.
    """
    return version_from_source(file_source(path, name, limits))


def parse_version(name: str, content: bytes) -> FrozenVersion:
    """Read a frozen golden set from memory, as `read_version` does."""
    return version_from_source(memory_source(name, content))


def version_from_source(source: InputFile) -> FrozenVersion:
    """Read a frozen golden set from a source, as `read_version` does."""
    with open_lines(source) as raw:
        number, first, lines = peek_line(source, raw)
        if number == 0:
            raise source.fail(None, "there is nothing in it")
        header = parse_object(source, number, decode(source, number, first))
        with source.at(number):
            _check_header(header)
        rest = ((at, line) for at, line in lines if at > number)
        golden = golden_from_records(source, read_jsonl(source, rest), GradeRule())
    queries, grades = list(golden.queries.records), list(golden.grades.records)
    written = hashlib.sha256(write_golden(queries, grades, "jsonl")).hexdigest()
    if written != header["lines"]:
        raise source.fail(
            None,
            f"its lines are not those that were written when {header[FROZEN]!r} was exported: "
            "something was changed or is missing; get the file again from its source",
        )
    texts = (header[FROZEN], header["hash"], header["at"], header["by"], header["note"])
    version = GoldenVersion(*texts, header["revision"], len(queries), len(grades))
    return FrozenVersion(version, header["conventions"], queries, grades)


def _check_header(header: Record) -> None:
    if header.keys() != _HEADER_KEYS:
        wrong = sorted(header.keys() ^ _HEADER_KEYS)
        raise BadInput(
            f"the first line of a frozen version has the keys {', '.join(sorted(_HEADER_KEYS))}; "
            f"missing or too many: {or_list(wrong)}; a golden set is loaded with "
            "'labeler load golden FILE'"
        )
    for key in (*_HEADER_TEXTS, *_HEADER_OPTIONAL):
        value = header[key]
        if not (isinstance(value, str) and is_storable(value)) and not (
            value is None and key in _HEADER_OPTIONAL
        ):
            raise BadInput(f"{key} must be text, not {short(value)}")
    for key in ("hash", "lines"):
        if len(header[key]) != _HASH_LENGTH or set(header[key]) - set("0123456789abcdef"):
            raise BadInput(
                f"{key} must be {_HASH_LENGTH} hexadecimal digits, not {short(header[key])}"
            )
    _check_rest(header)


def _check_rest(header: Record) -> None:
    try:
        datetime.fromisoformat(header["at"])
    except ValueError as error:
        raise BadInput(
            f"at must be a time such as 2026-01-31T09:30:00Z, not {short(header['at'])}"
        ) from error
    revision = header["revision"]
    if not isinstance(revision, int) or isinstance(revision, bool) or not 0 <= revision < 2**53:
        raise BadInput(f"revision must be a whole number, not {short(revision)}")
    if not isinstance(header["conventions"], dict):
        raise BadInput(f"conventions must be an object, not {short(header['conventions'])}")


COMPLETE_FORMAT = 1
LEAVES_OUT = ("runs", "answers", "signals", "candidates", "people", "seals", "the audit")
LINE_KINDS = (
    *("query", "chunk", "event", "ungraded", "change", "proposal", "version"),
    *("chunking", "document", "load"),
)
SPAN_FIELDS = ("start", "end")
LINE_KIND = "of"  # the key with a line's kind
_PROPOSAL_FIELDS = ("query_id", "chunk_id", "source", "grade", "times", "at")
OfQueryT = TypeVar("OfQueryT", QueryChange, Suggestion)
MadeT = TypeVar("MadeT", QueryOrigin, QueryChange, Suggestion, GoldenLoad)
_COMPLETE_KEYS = {COMPLETE, "golden", "settings", "leaves_out"}
_ANNOTATED: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "text"),
    "str | None": ((str, NoneType), "text"),
    "int": (int, "a whole number"),
    "Mapping[str, Any]": (dict, "an object"),
}


@dataclass(frozen=True)
class CompleteSet:
    """The content of a complete file: all of a golden set but its runs and people.

    ``retired`` maps retired queries to the time; ``versions`` are the files of frozen versions.
    ``golden`` is the hash of its golden grades.
    """

    golden: str
    settings: Settings
    queries: Sequence[Query]
    retired: Mapping[str, str]
    chunks: Sequence[Chunk]
    events: Sequence[Judgment | Remark]
    ungraded: Sequence[UnjudgedPair] = ()
    versions: Sequence[bytes] = ()
    tended: QueryProvenance = field(default_factory=QueryProvenance)
    chunkings: Sequence[str] = ()
    documents: Sequence[Document] = ()
    golden_loads: Sequence[GoldenLoad] = ()


def write_complete(whole: CompleteSet) -> bytes:
    """Return a complete golden set as one file, the same bytes every time."""
    header = {
        COMPLETE: COMPLETE_FORMAT,
        "golden": whole.golden,
        "settings": _settings_fields(whole.settings),
        "leaves_out": LEAVES_OUT,
    }
    return write_jsonl([header, *_complete_records(whole)])


def _settings_fields(settings: Settings) -> dict[str, Any]:
    """Return settings for a file; those added in later versions only where not the default."""
    fields = {**asdict(settings), "prompt_k_by_task": dict(settings.prompt_k_by_task)}
    if settings.evidence_from is None:
        del fields["evidence_from"]
    if settings.transferred == COUNT_TRANSFERRED:
        del fields["transferred"]
    if not settings.field_map:
        del fields["field_map"]
    if not settings.practice:
        del fields["practice"]
    return fields


def _complete_records(whole: CompleteSet) -> Iterable[Mapping[str, Any]]:
    for name in whole.chunkings:
        yield {LINE_KIND: "chunking", "name": name}
    for document in whole.documents:
        yield {LINE_KIND: "document", **asdict(document)}
    for query in whole.queries:
        since = whole.retired.get(query.query_id)
        retired = {} if since is None else {"retired_at": since}
        origin = whole.tended.origins.get(query.query_id)
        came = {} if origin in (None, QueryOrigin(None)) else {"origin": asdict(origin)}
        yield {LINE_KIND: "query", **query_fields(query), **retired, **came}
    for chunk in whole.chunks:
        yield {LINE_KIND: "chunk", **_without_empty_span(asdict(chunk))}
    for event in whole.events:
        yield {LINE_KIND: "event", **event_fields(event)}
    for pair in whole.ungraded:
        yield {LINE_KIND: "ungraded", "query_id": pair.query_id, "chunk_id": pair.chunk_id}
    for change in whole.tended.changes:
        yield {LINE_KIND: "change", **change.as_dict()}
    for vote in whole.tended.votes:
        yield {LINE_KIND: "proposal", **{name: getattr(vote, name) for name in _PROPOSAL_FIELDS}}
    for load in whole.golden_loads:
        yield {LINE_KIND: "load", **asdict(load)}
    for version in whole.versions:
        yield {LINE_KIND: "version", "file": version.decode()}


def _without_empty_span(chunk: dict[str, Any]) -> dict[str, Any]:
    """Drop start and end from a chunk's fields where they are None."""
    return {
        key: value for key, value in chunk.items() if key not in SPAN_FIELDS or value is not None
    }


@dataclass
class LoadedCompleteSet:
    """The parts of a complete file as they were read, with their lines."""

    golden: str
    settings: Settings
    queries: Loaded[Query]
    retired: Mapping[str, str]
    chunks: Loaded[Chunk]
    events: Loaded[Judgment | Remark]
    ungraded: Loaded[UnjudgedPair]
    versions: Sequence[FrozenVersion]
    tended: QueryProvenance
    chunkings: Sequence[str]
    documents: Loaded[Document]
    golden_loads: Sequence[GoldenLoad]


def read_complete(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> LoadedCompleteSet:
    """Read a file of `write_complete`, plain or gzip; raises `BadInput` with file and line."""
    source = file_source(path, name, limits)
    with open_lines(source, progress) as raw:
        number, first, lines = peek_line(source, raw)
        header = parse_object(source, number, decode(source, number, first)) if number else {}
        with source.at(number):
            settings = _settings_of(header)
        parts = _CompleteParts(source)
        for at, record in read_jsonl(source, ((n, line) for n, line in lines if n > number)):
            with source.at(at):
                parts.add(at, record)
    return LoadedCompleteSet(
        header["golden"],
        settings,
        Loaded(source.name, parts.queries, parts.lines["query"]),
        parts.retired,
        Loaded(source.name, parts.chunks, parts.lines["chunk"]),
        Loaded(source.name, parts.events, parts.lines["event"]),
        Loaded(source.name, parts.ungraded, parts.lines["ungraded"]),
        parts.versions,
        QueryProvenance(parts.origins, parts.changes, parts.votes),
        parts.chunkings,
        Loaded(source.name, parts.documents, parts.lines["document"]),
        parts.golden_loads,
    )


@dataclass
class _CompleteParts:
    """The parts of a complete file read so far."""

    source: InputFile
    queries: list[Query] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    events: list[Judgment | Remark] = field(default_factory=list)
    ungraded: list[UnjudgedPair] = field(default_factory=list)
    versions: list[FrozenVersion] = field(default_factory=list)
    retired: dict[str, str] = field(default_factory=dict)
    origins: dict[str, QueryOrigin] = field(default_factory=dict)
    changes: list[QueryChange] = field(default_factory=list)
    votes: list[Suggestion] = field(default_factory=list)
    chunkings: list[str] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    golden_loads: list[GoldenLoad] = field(default_factory=list)
    lines: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in LINE_KINDS})
    ids: set[tuple[str, str]] = field(default_factory=set)

    def add(self, line: int, record: Record) -> None:
        """Add the record of a line; raises `BadInput` where its id occurred before."""
        what, limits = record.pop(LINE_KIND, None), self.source.limits
        if what == "query":
            since, came = record.pop("retired_at", None), record.pop("origin", None)
            query = parse_query(record, limits, exact=True)
            self.queries.append(query)
            self._check_new(what, query.query_id)
            if since is not None:
                self.retired[query.query_id] = _check_time(since)
            if came is not None:
                self.origins[query.query_id] = _from_fields(QueryOrigin, came)
        elif what == "chunk":
            chunk = parse_chunk(record, limits)
            self.chunks.append(chunk)
            self._check_new(what, chunk.chunk_id)
        elif what == "chunking":
            self.chunkings.append(check_chunking(take_id(record, ["name"], "chunking", limits)))
            self._check_new(what, self.chunkings[-1])
        elif what == "document":
            self.documents.append(parse_document(record, limits))
            self._check_new(what, self.documents[-1].document_id)
        elif what == "event":
            event = parse_event(record, limits)
            self.events.append(event)
            self._check_new(what, event.event_id)
        elif what == "ungraded":
            query_id = take_id(record, ["query_id"], "query", limits)
            chunk_id = take_id(record, ["chunk_id"], "chunk", limits)
            self.ungraded.append(UnjudgedPair(query_id, chunk_id))
        elif what == "change":
            self.changes.append(self._known(_from_fields(QueryChange, {"number": 0, **record})))
        elif what == "load":
            self.golden_loads.append(_from_fields(GoldenLoad, record))
            self._check_new(what, str(self.golden_loads[-1].number))
        elif what == "proposal":
            self.votes.append(self._known(_from_fields(Suggestion, record)))
        elif what == "version" and isinstance(record.get("file"), str):
            self.versions.append(parse_version("the version on this line", record["file"].encode()))
        else:
            raise BadInput(
                f"a line says what it is {LINE_KIND}: {', '.join(LINE_KINDS)}; not {short(what)}"
            )
        self.lines[what].append(line)

    def _known(self, found: OfQueryT) -> OfQueryT:
        if ("query", found.query_id) not in self.ids:
            raise BadInput(f"query {found.query_id!r} does not come before it in this file")
        return found

    def _check_new(self, what: str, name: str) -> None:
        if (what, name) in self.ids:
            raise BadInput(f"{what} {name!r} appears twice in this file")
        self.ids.add((what, name))


def _from_fields(kind: type[MadeT], given: Any) -> MadeT:
    """Build a value from a line's fields, checking only their types; storing checks the rest."""
    if not isinstance(given, dict) or given.keys() - {each.name for each in fields(kind)}:
        raise BadInput(f"it has other fields than labeler writes: {short(given)}")
    for each in fields(kind):
        type_, word = _ANNOTATED[str(each.type)]
        if each.name in given and not isinstance(given[each.name], type_):
            raise BadInput(f"{each.name} must be {word}, not {short(given[each.name])}")
    try:
        return kind(**given)
    except TypeError as error:
        raise BadInput(f"it lacks fields that labeler writes: {short(given)}") from error


def _check_time(since: object) -> str:
    if not isinstance(since, str) or not is_storable(since):
        raise BadInput(f"retired_at must be a time, not {short(since)}")
    return since


def _settings_of(header: Record) -> Settings:
    if header.keys() != _COMPLETE_KEYS or not isinstance(header["settings"], dict):
        raise BadInput(
            "no complete golden set: its first line has the keys "
            f"{', '.join(sorted(_COMPLETE_KEYS))}; 'labeler export FILE --complete' writes it"
        )
    if header[COMPLETE] != COMPLETE_FORMAT:
        raise BadInput(
            f"of another labeler: complete is {short(header[COMPLETE])}, not {COMPLETE_FORMAT}"
        )
    if not isinstance(header["golden"], str):
        raise BadInput(f"golden must be a hash, not {short(header['golden'])}")
    given = header["settings"]
    if unknown := sorted(given.keys() - {each.name for each in fields(Settings)} - set(OLD_NAMES)):
        raise BadInput(f"no setting is called {or_list(unknown)}; of a newer labeler?")
    try:
        return settings_from(given)
    except (TypeError, AttributeError) as error:
        raise BadInput(f"settings that cannot be read: {json.dumps(given)[:200]}") from error
