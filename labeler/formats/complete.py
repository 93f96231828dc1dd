"""A golden set in one file that makes it anew without its runs: settings, texts, the whole log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from types import NoneType
from typing import Any, TypeVar

from labeler.errors import BadInput
from labeler.formats.chunks import chunk_of
from labeler.formats.events import event_of
from labeler.formats.full_texts import document_of
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import COMPLETE
from labeler.formats.queries import query_of
from labeler.formats.reading import Progress, Source, StrPath, decode, file_source, open_lines
from labeler.formats.reading import peek_line as peek
from labeler.formats.records import Record, parse_object, read_jsonl, short, spelled, take_id
from labeler.formats.versions import FrozenFile, version_in
from labeler.formats.writing import as_lines, event_fields, query_fields
from labeler.model import (
    COUNT,
    Chunk,
    Document,
    Judgment,
    Loaded,
    Origin,
    Proposal,
    Query,
    QueryChange,
    Remark,
    Settings,
    Tended,
    Ungraded,
    check_chunking,
    is_storable,
)

FORMAT = 1
LEAVES_OUT = ("runs", "answers", "signals", "candidates", "people", "seals", "the audit")
KINDS = (
    *("query", "chunk", "event", "ungraded", "change", "proposal", "version"),
    *("chunking", "document"),
)
PLACE = ("start", "end")
OF = "of"  # says of a line what it holds
_VOTE = ("query_id", "chunk_id", "source", "grade", "times", "at")
OfQueryT = TypeVar("OfQueryT", QueryChange, Proposal)
MadeT = TypeVar("MadeT", Origin, QueryChange, Proposal)
_HEADER = {COMPLETE, "golden", "settings", "leaves_out"}
_ANNOTATED: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "text"),
    "str | None": ((str, NoneType), "text"),
    "int": (int, "a whole number"),
    "Mapping[str, Any]": (dict, "an object"),
}


@dataclass(frozen=True)
class Whole:
    """All of a golden set but its runs and people: what a complete file holds.

    ``retired`` says of queries since when; ``versions`` are the files of frozen ones. ``golden`` is
    the hash that its golden grades have.
    """

    golden: str
    settings: Settings
    queries: Sequence[Query]
    retired: Mapping[str, str]
    chunks: Sequence[Chunk]
    events: Sequence[Judgment | Remark]
    ungraded: Sequence[Ungraded] = ()
    versions: Sequence[bytes] = ()
    tended: Tended = field(default_factory=Tended)
    chunkings: Sequence[str] = ()
    documents: Sequence[Document] = ()


def write_complete(whole: Whole) -> bytes:
    """Return a golden set as one file, the same bytes every time."""
    header = {
        COMPLETE: FORMAT,
        "golden": whole.golden,
        "settings": _settings_fields(whole.settings),
        "leaves_out": LEAVES_OUT,
    }
    return as_lines([header, *_lines(whole)])


def _settings_fields(settings: Settings) -> dict[str, Any]:
    """Return settings as a file has them; one that came later only where it was chosen."""
    fields = {**asdict(settings), "budget_by_task": dict(settings.budget_by_task)}
    if settings.evidence_from is None:
        del fields["evidence_from"]
    if settings.carried == COUNT:
        del fields["carried"]
    return fields


def _lines(whole: Whole) -> Iterable[Mapping[str, Any]]:
    for name in whole.chunkings:
        yield {OF: "chunking", "name": name}
    for document in whole.documents:
        yield {OF: "document", **asdict(document)}
    for query in whole.queries:
        since = whole.retired.get(query.query_id)
        retired = {} if since is None else {"retired_at": since}
        origin = whole.tended.origins.get(query.query_id)
        came = {} if origin in (None, Origin(None)) else {"origin": asdict(origin)}
        yield {OF: "query", **query_fields(query), **retired, **came}
    for chunk in whole.chunks:
        yield {OF: "chunk", **_placed(asdict(chunk))}
    for event in whole.events:
        yield {OF: "event", **event_fields(event)}
    for pair in whole.ungraded:
        yield {OF: "ungraded", "query_id": pair.query_id, "chunk_id": pair.chunk_id}
    for change in whole.tended.changes:
        yield {OF: "change", **change.as_dict()}
    for vote in whole.tended.votes:
        yield {OF: "proposal", **{name: getattr(vote, name) for name in _VOTE}}
    for version in whole.versions:
        yield {OF: "version", "file": version.decode()}


def _placed(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return a chunk's fields; start and end only where it has them."""
    return {key: value for key, value in chunk.items() if key not in PLACE or value is not None}


@dataclass
class LoadedWhole:
    """What a complete file gave, part by part, each with its lines."""

    golden: str
    settings: Settings
    queries: Loaded[Query]
    retired: Mapping[str, str]
    chunks: Loaded[Chunk]
    events: Loaded[Judgment | Remark]
    ungraded: Loaded[Ungraded]
    versions: Sequence[FrozenFile]
    tended: Tended
    chunkings: Sequence[str]
    documents: Loaded[Document]


def read_complete(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> LoadedWhole:
    """Read a file that `write_complete` made, plain or gzip; `BadInput` names file and line."""
    source = file_source(path, name, limits)
    with open_lines(source, progress) as raw:
        number, first, lines = peek(source, raw)
        header = parse_object(source, number, decode(source, number, first)) if number else {}
        with source.at(number):
            settings = _settings_of(header)
        parts = _Parts(source)
        for at, record in read_jsonl(source, ((n, line) for n, line in lines if n > number)):
            with source.at(at):
                parts.add(at, record)
    return LoadedWhole(
        header["golden"],
        settings,
        Loaded(source.name, parts.queries, parts.lines["query"]),
        parts.retired,
        Loaded(source.name, parts.chunks, parts.lines["chunk"]),
        Loaded(source.name, parts.events, parts.lines["event"]),
        Loaded(source.name, parts.ungraded, parts.lines["ungraded"]),
        parts.versions,
        Tended(parts.origins, parts.changes, parts.votes),
        parts.chunkings,
        Loaded(source.name, parts.documents, parts.lines["document"]),
    )


@dataclass
class _Parts:
    """The parts of a file so far."""

    source: Source
    queries: list[Query] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    events: list[Judgment | Remark] = field(default_factory=list)
    ungraded: list[Ungraded] = field(default_factory=list)
    versions: list[FrozenFile] = field(default_factory=list)
    retired: dict[str, str] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    changes: list[QueryChange] = field(default_factory=list)
    votes: list[Proposal] = field(default_factory=list)
    chunkings: list[str] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    lines: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in KINDS})
    ids: set[tuple[str, str]] = field(default_factory=set)

    def add(self, line: int, record: Record) -> None:
        """Take in a line, whose ids must be new."""
        what, limits = record.pop(OF, None), self.source.limits
        if what == "query":
            since, came = record.pop("retired_at", None), record.pop("origin", None)
            query = query_of(record, limits, exact=True)
            self.queries.append(query)
            self._once(what, query.query_id)
            if since is not None:
                self.retired[query.query_id] = _time_of(since)
            if came is not None:
                self.origins[query.query_id] = _made(Origin, came)
        elif what == "chunk":
            chunk = chunk_of(record, limits)
            self.chunks.append(chunk)
            self._once(what, chunk.chunk_id)
        elif what == "chunking":
            self.chunkings.append(check_chunking(take_id(record, ["name"], "chunking", limits)))
            self._once(what, self.chunkings[-1])
        elif what == "document":
            self.documents.append(document_of(record, limits))
            self._once(what, self.documents[-1].document_id)
        elif what == "event":
            event = event_of(record, limits)
            self.events.append(event)
            self._once(what, event.event_id)
        elif what == "ungraded":
            query_id = take_id(record, ["query_id"], "query", limits)
            chunk_id = take_id(record, ["chunk_id"], "chunk", limits)
            self.ungraded.append(Ungraded(query_id, chunk_id))
        elif what == "change":
            self.changes.append(self._known(_made(QueryChange, {"number": 0, **record})))
        elif what == "proposal":
            self.votes.append(self._known(_made(Proposal, record)))
        elif what == "version" and isinstance(record.get("file"), str):
            self.versions.append(version_in("the version on this line", record["file"].encode()))
        else:
            raise BadInput(f"a line says what it is {OF}: {', '.join(KINDS)}; not {short(what)}")
        self.lines[what].append(line)

    def _known(self, found: OfQueryT) -> OfQueryT:
        if ("query", found.query_id) not in self.ids:
            raise BadInput(f"query {found.query_id!r} does not stand before it in this file")
        return found

    def _once(self, what: str, name: str) -> None:
        if (what, name) in self.ids:
            raise BadInput(f"{what} {name!r} stands twice in this file")
        self.ids.add((what, name))


def _made(kind: type[MadeT], given: Any) -> MadeT:
    """Return a value of what a line has for its fields; what they say is checked where stored."""
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


def _time_of(since: object) -> str:
    if not isinstance(since, str) or not is_storable(since):
        raise BadInput(f"retired_at must be a time, not {short(since)}")
    return since


def _settings_of(header: Record) -> Settings:
    if header.keys() != _HEADER or not isinstance(header["settings"], dict):
        raise BadInput(
            "no complete golden set: its first line has the keys "
            f"{', '.join(sorted(_HEADER))}; 'labeler export FILE --complete' writes it"
        )
    if header[COMPLETE] != FORMAT:
        raise BadInput(f"of another labeler: complete is {short(header[COMPLETE])}, not {FORMAT}")
    if not isinstance(header["golden"], str):
        raise BadInput(f"golden must be a hash, not {short(header['golden'])}")
    given = header["settings"]
    if unknown := sorted(given.keys() - {each.name for each in fields(Settings)}):
        raise BadInput(f"no setting is called {spelled(unknown)}; of a newer labeler?")
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    try:
        return Settings(**{**given, **lists})
    except (TypeError, AttributeError) as error:
        raise BadInput(f"settings that cannot be read: {json.dumps(given)[:200]}") from error
