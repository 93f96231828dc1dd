"""Recording of what a running service retrieves: one line of JSON for each query.

`labeler load FILE` takes such a file. Imports nothing but the standard library, since it runs
inside of services.
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from time import sleep as pause
from typing import Any, Literal, TypeAlias

from labeler.errors import BadInput

OnError: TypeAlias = Literal["log", "raise"]

PATH = "retrieval.jsonl"
PATH_VARIABLE = "LABELER_RECORD"
_LOG = logging.getLogger("labeler.record")

# Parts of the table in labeler.formats.field_aliases, whose package needs numpy; a test compares.
IDS = (
    *("chunk_id", "_id", "id", "doc_id", "docid", "docno", "node_id", "passage_id", "pid"),
    *("doc", "id_", "uuid"),
)
TEXTS = ("text", "content", "page_content", "body", "contents", "passage", "chunk_text", "chunk")
SCORES = ("score", "_score", "similarity", "relevance_score", "rrf_score", "rerank_score")
DISTANCES = ("distance", "_distance")
_TITLES = ("title",)
_DOCUMENTS = ("document_id", "ref_doc_id", "document")
_METADATA = ("metadata", "meta", "_source", "payload", "properties")
_WRAPPED = ("node", "document", "doc")  # LlamaIndex and others put the chunk beside its score
_LISTS = ("results", "documents", "hits", "matches", "source_nodes", "nodes", "context")
_ATTRIBUTES = (
    *(*IDS, *TEXTS, *SCORES, *DISTANCES, *_TITLES, *_DOCUMENTS),
    *(*_METADATA, *_WRAPPED),
)
_ACCEPTED = (
    "texts, dicts with an id or a text, pairs of one of these and a score, documents of LangChain, "
    "LlamaIndex or Haystack, or a response of OpenSearch or Elasticsearch"
)
_LONGEST_VECTOR = 64  # numbers in a list; longer ones are embeddings
_DEEPEST = 20


def record(
    query: str,
    results: Any,
    *,
    system: str | None = None,
    path: str | os.PathLike[str] | None = None,
    query_id: str | int | None = None,
    reference: str | None = None,
    time: datetime | float | str | None = None,
    scores: Sequence[float | None] | None = None,
    metadata: Mapping[str, Any] | None = None,
    text_field: str | None = None,
    on_error: OnError = "log",
) -> bool:
    """Append what a system retrieved for a query to a JSONL file; return whether it was written.

    ``results`` is the list that was retrieved, best first: texts, dicts with an id or a text, pairs
    of one of these and a score, documents of LangChain, LlamaIndex or Haystack, or the response of
    OpenSearch or Elasticsearch. ``text_field`` names the field of the text where it is an unusual
    one. Without an id a chunk is known by its text. ``scores`` are for results that have none.

    The order that is given counts. Scores that rise are written as distances; scores that neither
    rise nor fall, or that one result lacks (NaN is none), only go to its metadata. Values that JSON
    lacks become texts; embeddings are left out.

    The file is ``path``, or the one that the environment names in LABELER_RECORD, or
    ``retrieval.jsonl``. A record is one write at its end, so threads and processes may share it.
    A service goes on where nothing can be written: a warning goes to the logger "labeler.record",
    or with ``on_error="raise"`` the `OSError` is raised. So with a blank query. Results of an
    unknown kind always raise `BadInput`.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "retrieval.jsonl")
    >>> found = [{"id": "c7", "text": "Hold the button.", "score": 8.1}, ("Call us.", 3)]
    >>> record("How do I reset it?", found, system="bm25", path=file, time="2026-11-27T18:00:00Z")
    True
    >>> print(file.read_text(), end="")  # doctest: +NORMALIZE_WHITESPACE
    {"query": "How do I reset it?", "system": "bm25", "time": "2026-11-27T18:00:00Z", "results":
    [{"chunk_id": "c7", "text": "Hold the button.", "score": 8.1}, {"text": "Call us.",
    "score": 3.0}]}
    """
    if on_error not in ("log", "raise"):
        raise BadInput(f"on_error is 'log' or 'raise', not {on_error!r}")
    if not isinstance(query, str):
        raise BadInput(f"query must be the question's text, not a {_kind(query)}")
    place = os.fspath(path or os.environ.get(PATH_VARIABLE) or PATH)
    entries = [_Entry(at, each, text_field) for at, each in enumerate(_as_list(results))]
    _add_scores(entries, scores)
    line = {
        "query": _clean(query),
        "query_id": None if query_id is None else _clean(str(query_id)),
        "system": None if system is None else _clean(str(system)),
        "time": _format_time(time),
        "reference": None if reference is None else _clean(str(reference)),
        "results": _written(entries),
        "metadata": _as_json(metadata or {}) or None,
    }
    try:
        if not query.strip():
            raise BadInput("a blank query cannot be recorded")
        _append(place, {key: value for key, value in line.items() if value is not None})
    except (OSError, BadInput) as error:
        if on_error == "raise":
            raise
        _LOG.warning("%s: a retrieval is not recorded: %s", place, error)
        return False
    return True


def _append(path: str, line: Mapping[str, Any]) -> None:
    """Append a line in one write; after a line that was cut off, on a line of its own."""
    data = json.dumps(line, ensure_ascii=False, allow_nan=False).encode(errors="replace") + b"\n"
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o666)
    try:
        if _is_cut_off(file):
            data = b"\n" + data
        written = os.write(file, data)
        if written < len(data):  # the disk is full; another write raises the error that says so
            os.write(file, data[written:])
    finally:
        os.close(file)


def _is_cut_off(file: int) -> bool:
    """Return whether a file ends within a line that nobody is writing any more."""
    size = os.fstat(file).st_size
    if not size:
        return False
    os.lseek(file, size - 1, os.SEEK_SET)
    if os.read(file, 1) == b"\n":
        return False
    pause(0.001)  # a line of another process may be half written
    return os.fstat(file).st_size == size


def _as_list(results: Any) -> list[Any]:
    """Return the results in a list, or in the answer of a search that holds it."""
    given = results
    if not isinstance(given, Mapping) and isinstance(getattr(given, "body", None), Mapping):
        given = given.body  # the client of Elasticsearch wraps the answer
    while isinstance(given, Mapping) and (keys := [key for key in _LISTS if key in given]):
        given = given[keys[0]]
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict("records")
    given = getattr(given, "source_nodes", given)
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise BadInput(f"results must be a list of {_ACCEPTED}, not a {_kind(results)}")
    return [*given]


class _Entry:
    """A result: what is read from it, and its score or distance."""

    def __init__(self, at: int, given: Any, text_field: str | None) -> None:
        self.place, self._kind = f"results[{at}]", _kind(given)
        self.score: float | None = None
        self.is_distance = False
        result = given
        if isinstance(given, tuple | list) and len(given) == 2 and not isinstance(given[1], str):
            result, score = given
            self.score = self.read_score(score)
        fields = {"text": result} if isinstance(result, str) else self._fields_of(result)
        self._take_score(fields)
        wrapped = [name for name in _WRAPPED if not isinstance(fields.get(name), str | None)]
        if wrapped:
            fields |= self._fields_of(fields.pop(wrapped[0]))
            self._take_score(fields)
        metadata = _pop(fields, _METADATA)
        self.metadata = dict(metadata) if isinstance(metadata, Mapping) else {}
        texts = (text_field, *TEXTS) if text_field else TEXTS
        self.text = self._pop_from_either(fields, texts)
        self.title = self._pop_from_either(fields, _TITLES)
        self.chunk_id, self.document_id = _pop(fields, IDS), _pop(fields, _DOCUMENTS)
        self._check()
        if isinstance(result, Mapping):
            self.metadata = {**fields, **self.metadata}

    def _fields_of(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Mapping):
            return dict(value)
        wraps = getattr(value, "node", None) is not None  # its own text may raise an error then
        names = ("node", *SCORES) if wraps else _ATTRIBUTES
        found = {name: getattr(value, name, None) for name in names}
        fields = {name: each for name, each in found.items() if each is not None}
        content = getattr(value, "get_content", None)
        if callable(content) and fields.keys().isdisjoint((*TEXTS, *_WRAPPED)):
            fields["text"] = content()
        if not fields:
            raise BadInput(f"{self.place}: a {self._kind} is no result; they are {_ACCEPTED}")
        return fields

    def _take_score(self, fields: dict[str, Any]) -> None:
        """Take the first score or distance out of the fields, unless there is one already."""
        for names, is_distance in ((SCORES, False), (DISTANCES, True)):
            if self.score is None and (value := _pop(fields, names)) is not None:
                self.score, self.is_distance = self.read_score(value), is_distance

    def read_score(self, value: Any) -> float | None:
        """Return a score as a number; None where there is none, as NaN says."""
        if value is None:
            return None
        try:
            if isinstance(value, bool | bytes):
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise BadInput(
                f"{self.place}: the score of a result must be a number, not {value!r:.60}"
            ) from error
        return number if math.isfinite(number) else None

    def _pop_from_either(self, fields: dict[str, Any], names: Sequence[str]) -> Any:
        found = _pop(fields, names)
        return _pop(self.metadata, names) if found is None else found

    def _check(self) -> None:
        """Raise `BadInput` without an id and a text; a document alone is one of the two."""
        if self.chunk_id is None and self.text is None:
            alone, self.document_id = self.document_id, None
            if isinstance(alone, str) and " " in alone.strip():
                self.text = alone
            else:
                self.chunk_id = alone
        if self.chunk_id is None and self.text is None:
            raise BadInput(
                f"{self.place}: a {self._kind} has neither an id nor a text here; results are "
                f"{_ACCEPTED}; text_field names the field of an unusual text"
            )


def _add_scores(entries: Sequence[_Entry], scores: Sequence[float | None] | None) -> None:
    if scores is None:
        return
    given = [*scores]
    if len(given) != len(entries):
        raise BadInput(f"{len(entries)} results, but {len(given)} scores; each needs one, in order")
    for entry, score in zip(entries, given, strict=True):
        entry.score, entry.is_distance = entry.read_score(score), False


def _written(entries: Sequence[_Entry]) -> list[dict[str, Any]]:
    """Return results as they are written, with scores under a name that keeps their order."""
    orders = _name_of_scores(entries)
    found = []
    for entry in entries:
        metadata = _as_json(entry.metadata)
        if orders is None and entry.score is not None:
            metadata = {"score": entry.score, **metadata}
        fields = {
            "chunk_id": None if entry.chunk_id is None else _clean(str(entry.chunk_id)),
            "text": None if entry.text is None else _clean(str(entry.text)),
            "title": None if entry.title is None else _clean(str(entry.title)),
            orders or "score": None if orders is None else entry.score,
            "document_id": None if entry.document_id is None else _clean(str(entry.document_id)),
            "metadata": metadata or None,
        }
        found.append({key: value for key, value in fields.items() if value is not None})
    return found


def _name_of_scores(entries: Sequence[_Entry]) -> str | None:
    """Return under which name the numbers order the results as they are; None: under neither."""
    numbers = [entry.score for entry in entries if entry.score is not None]
    if len(numbers) < len(entries):
        return None
    falls = all(first >= second for first, second in pairwise(numbers))
    rises = all(first <= second for first, second in pairwise(numbers))
    if rises and (not falls or any(entry.is_distance for entry in entries)):
        return "distance"
    return "score" if falls and not any(entry.is_distance for entry in entries) else None


def _pop(fields: dict[str, Any], names: Iterable[str]) -> Any:
    """Remove and return the value of the first of the names that has one, else None."""
    for name in names:
        if fields.get(name) is not None:
            return fields.pop(name)
    return None


def _format_time(time: datetime | float | str | None) -> str:
    """Return a time in UTC with milliseconds; a number is seconds since 1970, a text is kept."""
    if isinstance(time, str):
        return _clean(time)
    if time is None:
        time = datetime.now(UTC)
    elif not isinstance(time, datetime):
        time = datetime.fromtimestamp(time, UTC)
    moment = time.astimezone(UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def _clean(text: str) -> str:
    """Return a text without the character that no text in a database can hold."""
    return text.replace("\0", "�")


def _as_json(value: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
    """Return a mapping as JSON has it, without what is missing and without embeddings."""
    found = {_clean(str(key)): _plain(each, depth + 1) for key, each in value.items()}
    return {key: each for key, each in found.items() if each is not None}


def _plain(value: Any, depth: int) -> Any:
    """Return a value as JSON has it, None for one that is left out."""
    if isinstance(value, str):
        return _clean(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return _as_json(value, depth)
    if isinstance(value, list | tuple | set | frozenset) and depth < _DEEPEST:
        is_vector = len(value) > _LONGEST_VECTOR and all(isinstance(x, int | float) for x in value)
        return None if is_vector else [_plain(each, depth + 1) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return _plain(value.item(), depth)  # a number of numpy
    if hasattr(value, "shape"):
        return None
    return _clean(str(value))


def _kind(value: Any) -> str:
    """Return what a value is, for a message: its type, and of a dict the first keys."""
    if isinstance(value, Mapping):
        return f"dict with the keys {', '.join(map(str, [*value][:8])) or 'none'}"
    return type(value).__name__
