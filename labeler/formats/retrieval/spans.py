"""Spans of traces, in the three forms in which they are written, each as one `Span`.

- OTLP JSON: ``resourceSpans[].scopeSpans[].spans[]``, each of the attributes a key and a value;
- an object per span with ``attributes`` as an object, and ``context`` beside it;
- a table with a column per attribute (``attributes.input.value``, ``context.span_id``), as Phoenix'
  frames are saved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from labeler.errors import BadInput
from labeler.formats.json_records import (
    Record,
    Records,
    check_strings,
    refuse_constant,
    short,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import InputFile, Lines, decode
from labeler.formats.retrieval.field_map import unpack

KIND = "openinference.span.kind"
OPERATION = "gen_ai.operation.name"
_RESOURCES = ("resourceSpans", "resource_spans")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_PROJECTS = ("openinference.project.name", "service.name")
_BEGINS = re.compile(rb'\{\s*"resource_?[sS]pans"\s*:')
_UNSTORABLE_ESCAPE = re.compile(rb"\\u(0000|[dD][89a-fA-F])")
_COLUMN = "attributes."
_DEEPEST = 100  # objects inside objects


class Span(NamedTuple):
    """A step of a trace; ``kind`` is what OpenInference or OpenTelemetry call it, in capitals.

    ``parent`` is the id of the step that it is a part of. ``attributes`` are by dotted name; lists
    and objects in them are as the file has them.
    """

    name: str
    kind: str
    span_id: str | None
    trace_id: str | None
    parent: str | None
    time: Any
    attributes: Mapping[str, Any]


def begins_otlp(beginning: bytes) -> bool:
    """Return whether a file that begins like this is OTLP JSON."""
    return bool(_BEGINS.match(beginning))


def is_batch(line: bytes) -> bool:
    """Return whether a line is a whole batch of OTLP JSON, and not the beginning of a document."""
    return begins_otlp(line) and line.rstrip().endswith(b"}")


def is_otlp(record: Record) -> bool:
    """Return whether a record is a batch of OTLP JSON."""
    return any(isinstance(record.get(key), list) for key in _RESOURCES)


def is_span(record: Record) -> bool:
    """Return whether a record is one span, with its attributes inside or as columns."""
    if not ("context.span_id" in record or "span_id" in record or "context" in record):
        return False
    if isinstance(record.get("attributes"), dict) and _ids_of(record)[0] is not None:
        return True
    return "span_kind" in record or any(key.startswith(_COLUMN) for key in record)


def read_otlp(source: InputFile, lines: Lines) -> Records:
    """Yield the batches of OTLP JSON lines; whole numbers are exact.

    The standard scanner is several times as fast here as the strict one: every value of OTLP is in
    objects of its own.
    """
    decoder = json.JSONDecoder(parse_constant=refuse_constant)
    for number, raw in lines:
        if not raw.strip():
            continue
        with source.at(number):
            record = _parse(decoder, decode(source, number, raw.rstrip()))
            if _UNSTORABLE_ESCAPE.search(raw):
                check_strings(record, source.limits)
        yield number, record


def _parse(decoder: json.JSONDecoder, text: str) -> Record:
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"not JSON at column {error.colno} ({error.msg}); each line must be one whole JSON "
            "object; is the file cut off?"
        ) from error
    except RecursionError as error:
        raise BadInput("the JSON is nested too deeply") from error
    except BadInput:
        raise
    except ValueError as error:  # int() refuses thousands of digits with a plain ValueError
        raise BadInput("the JSON holds a number with too many digits") from error
    if not isinstance(value, dict):
        raise BadInput("each line must be one JSON object {...}")
    return value


def spans_of_batch(record: Record, projects: dict[str, None]) -> Iterator[tuple[Record, Record]]:
    """Yield the spans of an OTLP batch with their attributes by name, whose values are as in OTLP.

    The names of the projects and services that they are of are added to ``projects``.
    """
    for resource in _list_under(record, _RESOURCES):
        about = resource.get("resource") or {}
        for name in _projects_of(about.get("attributes") if isinstance(about, dict) else None):
            projects[name] = None
        for scope in _list_under(resource, _SCOPES):
            for span in _list_under(scope, ("spans",)):
                yield span, _by_key(span.get("attributes"))


def _list_under(record: Record, keys: tuple[str, ...]) -> list[Any]:
    for key in keys:
        found = record.get(key)
        if found is not None:
            if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
                raise BadInput(f"{key} of OTLP is a list of objects, not {short(found)}")
            return found
    return []


def _by_key(attributes: Any) -> Record:
    if not attributes:
        return {}
    try:
        found = {each["key"]: each.get("value") for each in attributes}
        if not all(isinstance(key, str) for key in found):
            raise TypeError
        return found
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            'attributes of OTLP are [{"key": ..., "value": {"stringValue": ...}}], not '
            f"{short(attributes)}"
        ) from error


def _projects_of(attributes: Any) -> Iterator[str]:
    """Yield the project, or else the service, that the spans of a resource are of."""
    known = _by_key(attributes)
    for key in _PROJECTS:
        if isinstance(name := plain_value(known.get(key)), str) and name:
            yield name
            return


def plain_value(value: Any, depth: int = 0) -> Any:
    """Return a value of OTLP as JSON has it, None where there is none; ``depth`` are those around.

    >>> plain_value({"arrayValue": {"values": [{"intValue": "7"}, {"stringValue": "a"}]}})
    [7, 'a']
    """
    if not isinstance(value, dict):
        return value
    text = value.get("stringValue")
    if text is not None:
        return text
    for kind, inner in value.items():
        if kind in ("intValue", "int_value"):
            return int(inner) if _is_whole(inner) else inner
        if kind in ("arrayValue", "array_value"):
            return [plain_value(each, _deeper(depth)) for each in _values(inner)]
        if kind in ("kvlistValue", "kvlist_value"):
            pairs = _by_key(_values(inner)).items()
            return {key: plain_value(each, _deeper(depth)) for key, each in pairs}
        return inner
    return None


def _deeper(depth: int) -> int:
    if depth >= _DEEPEST:
        raise BadInput(f"the attributes are nested deeper than {_DEEPEST} levels")
    return depth + 1


def _is_whole(value: Any) -> bool:
    return isinstance(value, str) and len(value) < 40 and value.lstrip("-").isdecimal()


def _values(inner: Any) -> list[Any]:
    values = inner.get("values", []) if isinstance(inner, dict) else None
    if not isinstance(values, list):
        raise BadInput(f'a list of OTLP is {{"values": [...]}}, not {short(inner)}')
    return values


def kind_of(attributes: Mapping[str, Any]) -> str:
    """Return the kind of a span by its attributes, as they are or as in OTLP."""
    kind = plain_value(attributes.get(KIND)) or plain_value(attributes.get(OPERATION))
    return kind.upper() if isinstance(kind, str) else ""


def otlp_span(span: Record, attributes: Record, kind: str) -> Span:
    """Return a span of OTLP."""
    return Span(
        _name_of(span),
        kind,
        _text_of(span.get("spanId", span.get("span_id"))),
        _text_of(span.get("traceId", span.get("trace_id"))),
        _text_of(span.get("parentSpanId", span.get("parent_span_id"))),
        span.get("startTimeUnixNano", span.get("start_time_unix_nano")),
        {key: plain_value(value) for key, value in attributes.items()},
    )


def plain_span(record: Record, limits: Limits = LIMITS) -> Span:
    """Return a span that is one object, or one row of a table."""
    inside = unpack(record.get("attributes"), limits)
    attributes = flatten(inside) if isinstance(inside, dict) else {}
    for key, value in record.items():
        if key.startswith(_COLUMN) and value is not None:
            attributes |= flatten({key.removeprefix(_COLUMN): value})
    span_id, trace_id = _ids_of(record)
    kind = kind_of(attributes) or str(record.get("span_kind") or "").upper()
    parent = _id_of(record.get("parent_id"))
    time = record.get("start_time", record.get("startTime"))
    return Span(_name_of(record), kind, span_id, trace_id, parent, time, attributes)


def as_record(span: Span) -> Record:
    """Return a span as a record for a map: documents with a number each are a list of objects.

    >>> of = {"docs.0.id": "a", "docs.1.id": "b", "input.value": "why?"}
    >>> as_record(Span("search", "RETRIEVER", "7", "1", None, None, of))["attributes"]
    {'input.value': 'why?', 'docs': [{'id': 'a'}, {'id': 'b'}]}
    """
    attributes: dict[str, Any] = {}
    lists: dict[str, dict[int, Record]] = {}
    for key, value in span.attributes.items():
        name, number, rest = _numbered(key)
        if number is None:
            attributes[key] = value
        else:
            lists.setdefault(name, {}).setdefault(number, {})[rest] = value
    for name, entries in lists.items():
        attributes.setdefault(name, [entry for _, entry in sorted(entries.items())])
    about = {"context.span_id": span.span_id, "context.trace_id": span.trace_id}
    return {
        "name": span.name,
        "span_kind": span.kind,
        "start_time": span.time,
        **{key: value for key, value in about.items() if value is not None},
        "attributes": attributes,
    }


_IN_LIST = re.compile(r"(.+?)\.([0-9]{1,9})\.(.+)")


def _numbered(key: str) -> tuple[str, int | None, str]:
    found = _IN_LIST.fullmatch(key)
    return (key, None, "") if found is None else (found[1], int(found[2]), found[3])


def flatten(value: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return what is in nested objects by dotted names.

    >>> flatten({"document": {"id": "a", "score": 0.5}, "tags": ["b"]})
    {'document.id': 'a', 'document.score': 0.5, 'tags': ['b']}
    """
    found: dict[str, Any] = {}
    for key, each in value.items():
        if isinstance(each, dict) and not key.endswith("metadata"):
            inner = flatten(each, _deeper(depth))
            found |= {f"{key}.{name}": one for name, one in inner.items()}
        elif each is not None:
            found[key] = each
    return found


def _ids_of(record: Record) -> tuple[str | None, str | None]:
    context = record.get("context")
    inside = context if isinstance(context, dict) else {}
    span, trace = (
        record.get(f"context.{name}", inside.get(name, record.get(name)))
        for name in ("span_id", "trace_id")
    )
    return _id_of(span), _id_of(trace)


def _id_of(value: Any) -> str | None:
    """Return the id of a span or a trace, which OpenTelemetry's consoles write as a number."""
    found = _text_of(value)
    return None if found is None else found.removeprefix("0x")


def _text_of(value: Any) -> str | None:
    if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        return str(value)
    return None


def _name_of(record: Record) -> str:
    """Return a span's name on one line; many have none."""
    name = record.get("name")
    return " ".join(name.split()) if isinstance(name, str) else ""
