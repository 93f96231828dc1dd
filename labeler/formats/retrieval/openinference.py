"""Retrievals in traces: spans of retrievers and rerankers by OpenInference and OpenTelemetry.

A span of a retriever is a question with its list; one of a reranker holds two lists, what came in
and what went out. A row per document, as Phoenix' `get_retrieved_documents` has it, is read, too.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from labeler.errors import BadInput
from labeler.formats.field_aliases import CHUNK_ID, DOCUMENT_ID, TITLE
from labeler.formats.json_records import (
    MOST_SHAPES,
    Record,
    as_id,
    format_keys,
    parse_json,
    refuse_constant,
    short,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.peers.column_wise import refusal
from labeler.formats.result_fields import read_score
from labeler.formats.retrieval.field_map import unpack
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk, parse_time
from labeler.formats.retrieval.spans import (
    KIND,
    OPERATION,
    Span,
    flatten,
    is_otlp,
    kind_of,
    otlp_span,
    plain_span,
    spans_of_batch,
)
from labeler.model import LoadedRetrievals, format_count

RETRIEVER, RERANKER, RETRIEVAL = "RETRIEVER", "RERANKER", "RETRIEVAL"
_QUESTION = "input.value"
_MIME = "input.mime_type"
_QUICK = json.JSONDecoder(parse_constant=refuse_constant)
_HIDDEN = "__REDACTED__"  # what instrumentations write where contents are hidden
_DOCUMENTS = {RETRIEVER: "retrieval.documents", RETRIEVAL: "gen_ai.retrieval.documents"}
_RERANKED = (("input", "reranker.input_documents"), ("output", "reranker.output_documents"))
_LISTS = (*_DOCUMENTS.values(), *(key for _, key in _RERANKED))
_QUESTIONS = {
    RETRIEVER: (_QUESTION,),
    RETRIEVAL: ("gen_ai.retrieval.query.text", _QUESTION),
    RERANKER: ("reranker.query", _QUESTION),
}
_READ = frozenset({KIND, OPERATION, _MIME, *(key for keys in _QUESTIONS.values() for key in keys)})
_KEYS_OF_QUESTION = (
    *("query", "question", "input", "query_str", "str_or_query_bundle", "query_bundle", "text"),
    "prompt",
)
_SOURCES = (*DOCUMENT_ID, "source", "file_name", "filename", "url")
_MAP = (
    "--map 'query=attributes.input.value results=attributes.retrieval.documents "
    "text=document.content score=document.score where=span_kind:RETRIEVER'"
)


class _Documents(NamedTuple):
    """The documents of a list in their order, and each one's place in the span."""

    chunks: list[RetrievedChunk]
    places: list[int]


class SpanReader:
    """Reads the retrievals in spans, and counts the spans in which there are none."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self._counts: Counter[str] = Counter()
        self._systems: dict[str, dict[str, None]] = {RETRIEVER: {}, RERANKER: {}}
        self._projects: dict[str, None] = {}
        self._left: dict[str, None] = {}
        self._shapes: set[tuple[str, ...]] = set()
        self._found: dict[str, None] = {}
        self._places: dict[str, dict[str, tuple[int, str]]] = {key: {} for key in _LISTS}
        self._names: dict[str, str] = {}  # of retrievers' spans by their ids
        self._parents: dict[str, set[str]] = {}  # ids, by the name of a retriever's span
        self._merged: list[str] = []

    def describe(self) -> str:
        """Return what one record holds."""
        return "spans of a trace"

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield the retrievals in a batch of spans or in one span."""
        if not is_otlp(record):
            self._counts["spans"] += 1
            if isinstance(record.get("span_kind"), dict | list):
                raise BadInput(refusal(record))
            span = plain_span(record, self.limits)
            if not self._passes_over(span.kind):
                yield from self._retrievals(line, span)
            return
        for given, attributes in spans_of_batch(record, self._projects):
            self._counts["spans"] += 1
            kind = kind_of(attributes)
            if not self._passes_over(kind):
                yield from self._retrievals(line, otlp_span(given, attributes, kind))

    def _passes_over(self, kind: str) -> bool:
        if kind in _QUESTIONS:
            return False
        self._counts["other spans, passed over"] += 1
        return True

    def _retrievals(self, line: int, span: Span) -> Iterator[Retrieval]:
        question = self._question(span)
        if span.kind == RERANKER:
            lists = [(f" {side}", key) for side, key in _RERANKED]
        else:
            lists = [("", _DOCUMENTS[span.kind])]
        found = [
            (side, documents)
            for side, key in lists
            if (documents := self._documents(span, key)) is not None
        ]
        self._note_left(span)
        if not found:
            self._counts["spans without documents, left out"] += 1
            return
        if question is None:
            self._counts["spans without a question, left out"] += 1
            return
        name = self._note_system(span)
        ids = {"span": span.span_id, "trace": span.trace_id}
        item = {key: value for key, value in ids.items() if value is not None}
        time = parse_time(span.time)
        for side, documents in found:
            yield Retrieval(
                line,
                question,
                results=documents.chunks,
                system=f"{name}{side}",
                time=time,
                item=item,
                places=documents.places,
            )

    def _note_system(self, span: Span) -> str:
        """Return the name of a span's system, which is remembered with its place in the trace."""
        kind = RERANKER if span.kind == RERANKER else RETRIEVER
        name = span.name or kind.lower()
        self._systems[kind][name] = None
        self._counts["spans of rerankers" if kind == RERANKER else "spans of retrievers"] += 1
        if kind == RETRIEVER and span.span_id is not None:
            self._names[span.span_id] = name
            if span.parent is not None:
                self._parents.setdefault(name, set()).add(span.parent)
        return name

    def _question(self, span: Span) -> str | None:
        for key in _QUESTIONS[span.kind]:
            value = span.attributes.get(key)
            if key == _QUESTION:
                value = _question_in(value, span.attributes.get(_MIME), self.limits)
            if isinstance(value, str) and value.strip() and value != _HIDDEN:
                self._found[f"query={key}"] = None
                self.limits.check_text(value)
                return value
        return None

    def _documents(self, span: Span, key: str) -> _Documents | None:
        """Return the documents under a key; None where there are none."""
        entries = self._entries(span.attributes, key)
        found = _Documents([], [])
        for place, entry in entries:
            chunk = self._chunk(entry, span, place)
            if chunk is None:
                self._counts["documents without id and text, left out"] += 1
                continue
            found.chunks.append(chunk)
            found.places.append(place)
        if not found.chunks:
            return None
        _check_ids(found, span)
        return found

    def _entries(self, attributes: Mapping[str, Any], key: str) -> list[tuple[int, Record]]:
        """Return the documents under a key with their places: a list, or a number in each name."""
        given = unpack(attributes.get(key), self.limits)
        if given is not None:
            if not isinstance(given, list):
                raise BadInput(
                    f"{key} is a list of documents, not {short(given)}; save the frame as JSON "
                    "lines or Parquet, which keep lists"
                )
            return [(at, _entry(each, self.limits)) for at, each in enumerate(given)]
        places = self._places[key]
        found: dict[int, Record] = {}
        for name, value in attributes.items():
            place = places.get(name)
            if place is None:
                place = _place_in(name, key)
                if len(places) < MOST_SHAPES:
                    places[name] = place
            number, field = place
            if number >= 0:
                found.setdefault(number, {})[field] = value
        return sorted(found.items())

    def _chunk(self, entry: Record, span: Span, place: int) -> RetrievedChunk | None:
        get = entry.get
        text = self._text(_first(get("document.content"), get("content"), get("text")))
        given = _first(get("document.id"), get("id"))
        about = _first(get("document.metadata"), get("metadata"))
        metadata = _metadata(about, self.limits)
        if about and not metadata and about not in ("{}", "null"):
            self._counts["metadata that are no object, left out"] += 1
        if given in (None, ""):
            given = metadata.get(CHUNK_ID[0])
        if given in (None, "") and text is None:
            return None
        try:
            score = score_of(_first(get("document.score"), get("score")))
            chunk_id = None if given in (None, "") else as_id(given, "chunk", self.limits)
        except BadInput as error:
            raise BadInput(f"document {place} of span {span.span_id}: {error}") from error
        self._note_found(chunk_id, text, score, metadata)
        title = source = None
        if metadata:
            title = metadata.get(TITLE[0])
            source = next((metadata[name] for name in _SOURCES if metadata.get(name)), None)
        return RetrievedChunk(
            chunk_id,
            text,
            score,
            title=title if isinstance(title, str) else None,
            document_id=str(source) if isinstance(source, str | int) else None,
            metadata=metadata,
        )

    def _text(self, content: Any) -> str | None:
        if isinstance(content, int | float) and not isinstance(content, bool):
            content = str(content)
        if not isinstance(content, str) or content == _HIDDEN or not content.strip():
            return None
        self.limits.check_text(content)
        return content

    def _note_found(
        self, chunk_id: str | None, text: str | None, score: float | None, metadata: Record
    ) -> None:
        found = self._found
        if chunk_id is not None:
            found["id=document.id"] = None
        if text is not None:
            found["text=document.content"] = None
        if score is not None:
            found["score=document.score"] = None
        if metadata:
            found["metadata=document.metadata"] = None

    def _note_left(self, span: Span) -> None:
        """Remember the attributes that nothing was read from, once for each set of them."""
        keys = tuple(span.attributes)
        if keys in self._shapes:
            return
        if len(self._shapes) < MOST_SHAPES:
            self._shapes.add(keys)
        self._left |= dict.fromkeys(
            key for key in keys if key not in _READ and not key.startswith(_LISTS)
        )

    def finish(self) -> Iterator[Retrieval]:
        """Yield nothing more; raises `BadInput` where no span had a question with documents."""
        if not any(self._systems.values()):
            spans = format_count(self._counts.pop("spans", 0), "span", "spans")
            why = "; ".join(f"{name}: {count:,}" for name, count in sorted(self._counts.items()))
            raise BadInput(
                f"there is no question with documents in {spans}{f' ({why})' if why else ''}. A "
                f"span is read where its {KIND} is {RETRIEVER} or {RERANKER}, or its {OPERATION} "
                f"is {RETRIEVAL.lower()}, and has {_QUESTION} and {_DOCUMENTS[RETRIEVER]}; others "
                "by a map: --map 'query=attributes.… results=attributes.…'"
            )
        yield from ()

    def facts(self) -> dict[str, int | str]:
        """Return what was taken, what was left, and the spans of each kind."""
        facts: dict[str, int | str] = {"read as": "spans of OpenInference or OpenTelemetry"}
        if self._found:
            facts["fields taken"] = " ".join(
                sorted(self._found, key=lambda field: _FIELDS.index(field.partition("=")[0]))
            )
        if self._left:
            facts["fields left"] = format_keys(self._left)
        facts |= {name: count for name, count in sorted(self._counts.items()) if count}
        if self._projects:
            facts["projects, not told apart"] = format_keys(self._projects)
        if self._merged:
            facts["runs left out"] = "; ".join(self._merged)
        return facts

    def settle(self, loaded: LoadedRetrievals) -> LoadedRetrievals:
        """Return the runs of a whole file: the only retriever's has no name of its own.

        Lists that stand in it twice are one run: what came into a reranker and a retriever found,
        and what a step of a retriever and the retriever itself found.
        """
        retrievers, rerankers = ([*self._systems[kind]] for kind in (RETRIEVER, RERANKER))
        runs, items = dict(loaded.runs), dict(loaded.items)
        for name in [*retrievers]:
            whole = {self._names.get(each) for each in self._parents.get(name, ())} - {name}
            if self._leave_out(name, [each for each in retrievers if each in whole], runs):
                retrievers.remove(name)
                items.pop(name, None)
        for name in rerankers:
            items.pop(f"{name} input", None)  # a grade goes to what the span returned
            self._leave_out(f"{name} input", retrievers, runs)
        if len(retrievers) == 1 and (only := retrievers[0]) in runs:
            runs[""] = runs.pop(only)
            items[""] = items.pop(only)
        facts = {**loaded.facts, **self.facts()}
        return replace(loaded, runs=runs, items=items, facts=facts)

    def _leave_out(self, name: str, others: Sequence[str], runs: dict[str, Any]) -> bool:
        """Leave a run out if one of the others has its lists; return whether one has."""
        same = next((each for each in others if _has_lists(runs, each, name)), None)
        if same is None:
            return False
        del runs[name]
        self._merged.append(f"{name} (the lists of {same})")
        return True


_FIELDS = ("query", "id", "text", "score", "metadata")


def _has_lists(runs: Mapping[str, Any], retriever: str, other: str) -> bool:
    """Return whether a retriever's run has each list of another, in the same order."""
    if other not in runs or retriever not in runs:
        return False
    wanted = {each.query_id: each.chunk_ids for each in runs[other].records}
    for each in runs[retriever].records:
        if wanted.get(each.query_id) == each.chunk_ids:
            del wanted[each.query_id]
    return not wanted


def _question_in(value: Any, mime: Any, limits: Limits) -> Any:
    """Return the question in a span's input, which may be JSON with the question under a key.

    >>> _question_in('{"query": "why?", "k": 3}', None, LIMITS), _question_in("{a}?", None, LIMITS)
    ('why?', '{a}?')
    """
    found = unpack(value, limits)
    if mime == "application/json" and isinstance(found, str) and found.startswith('"'):
        found = parse_json(found, limits)
    for _ in range(3):
        if not isinstance(found, dict):
            break
        keys = [key for key in _KEYS_OF_QUESTION if found.get(key)]
        if not keys:
            texts = [each for each in found.values() if isinstance(each, str)]
            return texts[0] if len(texts) == 1 else None
        found = found[keys[0]]
    return found


def _place_in(name: str, key: str) -> tuple[int, str]:
    """Return the place of a document in the name of an attribute, and the rest of it; -1 for none.

    >>> _place_in("retrieval.documents.3.document.id", "retrieval.documents")
    (3, 'document.id')
    """
    start, _, rest = name.partition(f"{key}.")
    number, _, field = rest.partition(".")
    is_place = not start and number.isdecimal() and len(number) < 10
    return (int(number), field) if is_place else (-1, "")


def _entry(value: Any, limits: Limits) -> Record:
    value = unpack(value, limits)
    if isinstance(value, str):
        return {"document.content": value}
    return flatten(value) if isinstance(value, dict) else {}


def _first(*values: Any) -> Any:
    for value in values:
        if value is not None:
            return value
    return None


def _openings(text: str) -> int:
    return text.count("{") + text.count("[")


def _metadata(value: Any, limits: Limits) -> Record:
    """Return the metadata of a document, which are JSON as a rule, without what has no value."""
    if value is None:
        return {}
    found = None
    if isinstance(value, str) and "\\u" not in value and _openings(value) < limits.depth:
        with suppress(ValueError, RecursionError, BadInput):  # then it is looked at closely below
            found = _QUICK.decode(value)
    if not isinstance(found, dict):
        found = unpack(value, limits)
    if not isinstance(found, dict):
        return {}
    return {key: each for key, each in found.items() if not _is_nan(each)}


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def score_of(value: Any) -> float | None:
    """Return a score, None where a frame has NaN for it."""
    if value in (None, "", "NaN") or _is_nan(value):
        return None
    return read_score(value)


def _check_ids(found: _Documents, span: Span) -> None:
    """Raise `BadInput` where ids name documents of which several chunks were found."""
    if len({chunk.chunk_id for chunk in found.chunks}) == len(found.chunks):
        return
    first: dict[str, RetrievedChunk] = {}
    for chunk in found.chunks:
        if chunk.chunk_id is None:
            continue
        known = first.setdefault(chunk.chunk_id, chunk)
        if known.text != chunk.text and known.text is not None and chunk.text is not None:
            raise BadInput(
                f"two documents of span {span.span_id} have the id {short(chunk.chunk_id)} and "
                "different texts, so their ids name no chunks; leave the ids out, and chunks are "
                f"named by their texts: {_MAP}"
            )
