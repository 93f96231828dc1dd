"""Field maps: where in a record the question, its results and their ids, texts and scores stand.

A map is written as ``query=attributes.input.value results=output.documents id=metadata.id``. A
path is made of keys and numbers of list entries, joined by dots; ``a|b`` takes the first that has a
value. A key that has dots in it is found, too, and JSON in a text is read as what it holds.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from labeler.errors import BadInput
from labeler.formats.json_records import (
    MOST_SHAPES,
    Record,
    as_id,
    as_whole_number,
    format_keys,
    or_list,
    parse_json,
    short,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.peers.peer_rows import RELEVANT
from labeler.formats.result_fields import read_score
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk, parse_time

Path: TypeAlias = tuple[str, ...]
Strings: TypeAlias = Literal["text", "id"]

OF_RECORD = (
    *("query", "query_id", "results", "system", "time", "reference"),
    *("relevant", "relevant_id", "relevant_text", "span", "trace", "where"),
)
OF_RESULT = ("id", "text", "title", "document", "score", "distance", "rank", "grade", "metadata")
FIELDS = (*OF_RECORD, *OF_RESULT)
_EXAMPLE = "'query=question results=documents id=metadata.id text=page_content score=score'"
_WRITTEN_AS_LIST = ("[", "{")
_ANSWERS = frozenset({"answer", "response", "actual_output", "output", "prediction"})
_OF_QUERY = frozenset({"metadata", "buckets", "keywords"})  # no plain values, and yet a query's


def value_at(value: Any, path: Path, limits: Limits = LIMITS) -> Any:
    """Return what stands under a path, None where there is nothing.

    In a list a number is an entry; any other key is looked up in each entry.

    >>> value_at({"a.b": [{"c": 1}, {"c": 2}]}, ("a", "b", "c"))
    [1, 2]
    >>> value_at({"a": '{"b": [5, 6]}'}, ("a", "b", "1"))
    6
    """
    for at, step in enumerate(path):
        if isinstance(value, str):
            value = unpack(value, limits)
        if isinstance(value, dict):
            if step in value:
                value = value[step]
                continue
            for end in range(len(path), at + 1, -1):
                joined = ".".join(path[at:end])
                if joined in value:
                    return value_at(value[joined], path[end:], limits)
            return None
        if isinstance(value, list | tuple):
            if not step.isdecimal():
                return [value_at(each, path[at:], limits) for each in value] or None
            if int(step) >= len(value):
                return None
            value = value[int(step)]
        else:
            return None
    return value


def unpack(value: Any, limits: Limits = LIMITS) -> Any:
    """Return the list or object that a text holds as JSON, or as Python writes it; else the text.

    >>> unpack("['a', 'b']"), unpack("[1] see below")
    (['a', 'b'], '[1] see below')
    """
    if not isinstance(value, str) or not value.lstrip().startswith(_WRITTEN_AS_LIST):
        return value
    if not value.rstrip().endswith(("]", "}")):
        return value
    try:
        return parse_json(value, limits)
    except BadInput:
        pass
    try:
        found = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    return found if isinstance(found, list | dict) else value


@dataclass(frozen=True, slots=True)
class FieldMap:
    """The paths of each field, the first with a value counts.

    Paths of `OF_RESULT` begin in a result where there is a path of ``results``, else in the record:
    there they lead to lists side by side, or the record is one result. ``strings`` says what a
    result is that is only a text. ``systems`` takes the keys of ``results`` as systems. ``name`` is
    the tool whose records these are.
    """

    paths: Mapping[str, tuple[Path, ...]]
    name: str = ""
    strings: Strings = "text"
    where: tuple[Path, frozenset[str]] | None = None
    systems: bool = False
    keeps_rest: bool = True

    def get(self, field: str, value: Any, limits: Limits = LIMITS) -> Any:
        """Return a field's value in a record or result, None where it has none."""
        for path in self.paths.get(field, ()):
            found = value_at(value, path, limits)
            if found is not None and found != "" and found != []:
                return found
        return None

    def takes(self, record: Record) -> bool:
        """Return whether a record is one of those that are read."""
        return self.where is None or str(value_at(record, self.where[0])) in self.where[1]

    def first_keys(self, fields: Sequence[str]) -> set[str]:
        """Return the keys under which paths of these fields begin, with and without dots."""
        paths = [path for field in fields for path in self.paths.get(field, ())]
        return {".".join(path[:end]) for path in paths for end in range(1, len(path) + 1)}

    def __str__(self) -> str:
        """Return the map as it is written."""
        parts = [
            f"{field}={'|'.join('.'.join(path) for path in paths)}"
            for field, paths in self.paths.items()
        ]
        if self.where is not None:
            parts.append(f"where={'.'.join(self.where[0])}:{'|'.join(sorted(self.where[1]))}")
        return " ".join(shlex.quote(part) if " " in part else part for part in parts)


def parse_map(text: str, name: str = "") -> FieldMap:
    """Parse a map as ``--map`` takes it.

    >>> print(parse_map("query=input.value results=output id=metadata.id|id"))
    query=input.value results=output id=metadata.id|id
    """
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"--map: {error} in {short(text)}; write it as {_EXAMPLE}") from error
    paths: dict[str, tuple[Path, ...]] = {}
    where = None
    for part in parts:
        field, equals, value = part.partition("=")
        if field not in FIELDS or not equals or not value.strip("."):
            raise BadInput(
                f"--map: {short(part)} is not one of {or_list(FIELDS)}, = and a path; write it as "
                f"{_EXAMPLE}"
            )
        if field in paths or (field == "where" and where):
            raise BadInput(f"--map: {field} stands in it twice; join two paths with |: a|b")
        if field == "where":
            where = _parse_where(value)
        else:
            paths[field] = tuple(tuple(one.split(".")) for one in value.split("|"))
    if not {"query", "query_id"} & paths.keys():
        raise BadInput(f"--map: it names no query; write it as {_EXAMPLE}")
    return FieldMap(paths, name, where=where)


def _parse_where(value: str) -> tuple[Path, frozenset[str]]:
    path, colon, values = value.partition(":")
    if not colon:
        raise BadInput(
            f"--map: where is a path, : and a value, such as where=type:RETRIEVER, not "
            f"{short(value)}"
        )
    return tuple(path.split(".")), frozenset(values.split("|"))


class RecordMapper:
    """Reads records by a field map, and remembers the keys that nothing was read from."""

    def __init__(self, field_map: FieldMap, limits: Limits) -> None:
        self.map, self.limits = field_map, limits
        self.found: dict[str, None] = {}  # fields that had a value
        self.left: dict[str, None] = {}
        self.left_of_results: dict[str, None] = {}
        self.kept: dict[str, None] = {}
        self.passed_over = 0  # records that the map's condition does not take
        self._used = {*field_map.first_keys(OF_RECORD)}
        self._used_of_result = {*field_map.first_keys(OF_RESULT)}
        self._by_result = "results" in field_map.paths
        if not self._by_result:
            self._used |= self._used_of_result
        orders = {"score", "distance", "rank"} & field_map.paths.keys()
        self._only_grades = not self._by_result and "grade" in field_map.paths and not orders
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}

    def describe(self) -> str:
        """Return what one record is."""
        if self.map.name:
            return f"{self.map.name}: a question"
        return "a question with its results" if self._by_result else "a question and a result"

    def facts(self) -> dict[str, int | str]:
        """Return field by field what was taken, and what was left."""
        taken = FieldMap({key: self.map.paths.get(key, ((key,),)) for key in self.found})
        facts: dict[str, int | str] = {"read as": self.map.name or "retrieval records"}
        facts["fields taken"] = str(taken)
        if self.kept:
            facts["kept with the queries"] = format_keys(self.kept)
        left = [*self.left, *(f"{key} of results" for key in self.left_of_results)]
        if left:
            facts["fields left"] = format_keys(left)
        if self.passed_over:
            facts["other records, passed over"] = self.passed_over
        return facts

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield what a record says: nothing, one retrieval, or one for each system in it."""
        if not self.map.takes(record):
            self.passed_over += 1
            return
        query, query_id = self._text("query", record), self._get("query_id", record)
        if query is None and query_id is None:
            paths = " or ".join(".".join(path) for path in self.map.paths.get("query", ()))
            raise BadInput(
                f"there is no question under {paths or 'query'}; its keys are "
                f"{', '.join(map(short, record)) or 'none'}"
            )
        system, item = self._get("system", record), {}
        for field in ("span", "trace"):
            value = self._get(field, record)
            if value is not None:
                item[field] = str(value)
        asked = Retrieval(
            line,
            query,
            None if query_id is None else as_id(query_id, "query", self.limits),
            system=None if system is None else str(system),
            time=parse_time(self._get("time", record)),
            reference=self._reference(record),
            metadata=self._rest(record),
            item=item,
        )
        yield from self._with_results(asked, record)

    def _get(self, field: str, value: Any) -> Any:
        found = self.map.get(field, value, self.limits)
        if found is not None:
            self.found[field] = None
        return found

    def _text(self, field: str, value: Any) -> str | None:
        found = self._get(field, value)
        if found is None:
            return None
        if not isinstance(found, str):
            if isinstance(found, int | float) and not isinstance(found, bool):
                return str(found)
            if field == "query" and isinstance(found, list):
                raise BadInput("a conversation of several turns; single questions are read")
            if field == "query":
                raise BadInput(f"a query is named by its text, not by {short(found)}")
            raise BadInput(f"{field} must be text, not {short(found)}")
        self.limits.check_text(found)
        return found if found.strip() else None

    def _reference(self, record: Record) -> str | None:
        found = unpack(self._get("reference", record), self.limits)
        if isinstance(found, list):
            found = next((each for each in found if isinstance(each, str) and each.strip()), None)
        return found if isinstance(found, str) and found.strip() else None

    def _rest(self, record: Record) -> dict[str, Any]:
        """Return what is kept with the query: values under keys of no known meaning."""
        keys = tuple(record)
        rest = self._shapes.get(keys)
        if rest is None:
            rest = tuple(key for key in keys if key not in self._used)
            if len(self._shapes) < MOST_SHAPES:
                self._shapes[keys] = rest
        kept = {}
        for key in rest:
            value = record[key]
            if value is None or value == "":
                continue
            plain = isinstance(value, str | int | float | bool) and key not in _ANSWERS
            if self.map.keeps_rest and (
                plain or (key in _OF_QUERY and isinstance(value, dict | list))
            ):
                kept[key] = value
                self.kept[key] = None
            else:
                self.left[key] = None
        return kept

    def _with_results(self, asked: Retrieval, record: Record) -> Iterator[Retrieval]:
        asked.graded = self._relevant(record)
        if not self._by_result:
            asked.results, asked.is_part = self._side_by_side(record)
            self._note_grades(asked)
            if self._only_grades:
                asked.graded, asked.results = asked.graded or asked.results or (), None
            yield asked
            return
        entries = unpack(self._get("results", record), self.limits)
        if self.map.systems and isinstance(entries, dict):
            for system, mine in entries.items():
                yield self._listed(asked, mine, str(system))
            return
        yield self._listed(asked, entries, asked.system)

    def _listed(self, asked: Retrieval, entries: Any, system: str | None) -> Retrieval:
        results = None if entries is None else [*self._results(entries)]
        found = Retrieval(
            asked.line,
            asked.query,
            asked.query_id,
            results,
            False,
            system,
            asked.time,
            asked.reference,
            asked.graded,
            asked.metadata,
            asked.item,
        )
        self._note_grades(found)
        return found

    def _note_grades(self, found: Retrieval) -> None:
        """Count results that have a grade among the graded chunks."""
        graded = [each for each in found.results or () if each.grade is not None]
        if graded:
            found.graded = (*found.graded, *graded)

    def _results(self, entries: Any) -> Iterator[RetrievedChunk]:
        if isinstance(entries, dict):
            inner = entries.get("hits", entries)
            entries = inner.get("hits", inner) if isinstance(inner, dict) else inner
            if isinstance(entries, dict):  # a score for each chunk
                entries = [{"id": key, "score": value} for key, value in entries.items()]
                yield from (self._plain(each) for each in entries)
                return
        if not isinstance(entries, list | tuple):
            raise BadInput(f"results must be a list [...], not {short(entries)}")
        for entry in entries:
            yield self._result(unpack(entry, self.limits))

    def _plain(self, entry: Record) -> RetrievedChunk:
        self.found |= {"id": None, "score": None}
        return RetrievedChunk(
            as_id(entry["id"], "chunk", self.limits), score=read_score(entry["score"])
        )

    def _result(self, entry: Any) -> RetrievedChunk:
        if isinstance(entry, str):
            self.found[self.map.strings] = None
            if self.map.strings == "id":
                return RetrievedChunk(as_id(entry, "chunk", self.limits))
            self.limits.check_text(entry)
            return RetrievedChunk(None, entry)
        if isinstance(entry, int) and not isinstance(entry, bool):
            return RetrievedChunk(as_id(entry, "chunk", self.limits))
        if not isinstance(entry, dict | list):
            raise BadInput(f"a result must be an object {{...}} or a text, not {short(entry)}")
        return self._fields(entry)

    def _fields(self, entry: Any) -> RetrievedChunk:
        chunk_id = self._get("id", entry)
        text = self._text("text", entry)
        if chunk_id is None and text is None:
            keys = ", ".join(map(short, entry)) if isinstance(entry, dict) else short(entry)
            raise BadInput(
                f"a result has neither an id nor a text; its keys are {keys or 'none'}; --map "
                "'id=... text=...' says where they stand"
            )
        score = self._get("score", entry)
        distance = None if score is not None else self._get("distance", entry)
        rank, document = self._get("rank", entry), self._get("document", entry)
        title = self._get("title", entry)
        return RetrievedChunk(
            None if chunk_id is None else as_id(chunk_id, "chunk", self.limits),
            text,
            -(read_score(distance) or 0.0) if distance is not None else read_score(score),
            None if rank is None else as_whole_number(rank, "rank"),
            title if isinstance(title, str) else None,
            str(document) if isinstance(document, str | int) else None,
            self._metadata(entry),
            self._get("grade", entry),
        )

    def _metadata(self, entry: Any) -> Mapping[str, Any]:
        given = unpack(self._get("metadata", entry), self.limits)
        found = dict(given) if isinstance(given, dict) else {}
        if not self._by_result or not isinstance(entry, dict):
            return found  # the record itself is the result: its keys are noted already
        for key, value in entry.items():
            if key in self._used_of_result or value is None:
                continue
            if isinstance(value, str | int | float | bool):
                found.setdefault(key, value)
            else:
                self.left_of_results[key] = None
        return found

    def _side_by_side(self, record: Record) -> tuple[list[RetrievedChunk] | None, bool]:
        """Return results given as lists of ids, texts and scores; or the record as one result."""
        columns = {
            field: _one_list(unpack(self._get(field, record), self.limits))
            for field in OF_RESULT
            if field in self.map.paths
        }
        lists = {field: value for field, value in columns.items() if isinstance(value, list)}
        if not {"id", "text"} & lists.keys():
            if columns.get("id") is None and columns.get("text") is None:
                return None, False
            return [self._fields(record)], True
        length = len(lists.get("id", lists.get("text", [])))
        for field, values in lists.items():
            if len(values) != length:
                raise BadInput(
                    f"{length} results, but {len(values)} of {field}; each needs one, in order"
                )
        rows = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
        return [self._from_row(row) for row in rows], False

    def _from_row(self, row: Record) -> RetrievedChunk:
        chunk_id, text = row.get("id"), row.get("text")
        if text is not None and not isinstance(text, str):
            raise BadInput(f"a chunk's text must be text, not {short(text)}")
        if text is not None:
            self.limits.check_text(text)
        if chunk_id is None and not text:
            raise BadInput("a result has neither an id nor a text")
        distance, rank, given = row.get("distance"), row.get("rank"), row.get("metadata")
        return RetrievedChunk(
            None if chunk_id is None else as_id(chunk_id, "chunk", self.limits),
            text,
            -(read_score(distance) or 0.0)
            if distance is not None
            else read_score(row.get("score")),
            None if rank is None else as_whole_number(rank, "rank"),
            metadata=given if isinstance(given, dict) else {},
            grade=row.get("grade"),
        )

    def _relevant(self, record: Record) -> Sequence[RetrievedChunk]:
        """Return the graded chunks of a record: those in its map, and `RELEVANT` for others."""
        values = unpack(self._get("relevant", record), self.limits)
        ids = _as_list(unpack(self._get("relevant_id", record), self.limits), "relevant ids")
        texts = _as_list(unpack(self._get("relevant_text", record), self.limits), "relevant texts")
        if isinstance(values, list):
            ids, values = [*ids, *values], None
        if values is not None and not isinstance(values, dict):
            raise BadInput(f"what is relevant is a list or {{chunk: grade}}, not {short(values)}")
        if ids and texts and len(ids) != len(texts):
            raise BadInput(f"{len(texts)} relevant texts, but {len(ids)} ids; each needs its id")
        known = {as_id(each, "chunk", self.limits) for each in ids}
        named = dict(zip(map(str, ids), texts, strict=True)) if ids and texts else {}
        grades = {as_id(key, "chunk", self.limits): value for key, value in (values or {}).items()}
        found = [
            RetrievedChunk(key, named.get(key), grade=value, listed=key in known if known else None)
            for key, value in grades.items()
        ]
        for key in sorted(known - grades.keys(), key=[*map(str, ids)].index):
            listed = True if grades else None
            found.append(RetrievedChunk(key, named.get(key), grade=RELEVANT, listed=listed))
        if not ids:
            found += [RetrievedChunk(None, self._a_text(text), grade=RELEVANT) for text in texts]
        return found

    def _a_text(self, text: Any) -> str:
        if not isinstance(text, str) or not text:
            raise BadInput(f"a relevant chunk is given by its text, not by {short(text)}")
        self.limits.check_text(text)
        return text


def _as_list(value: Any, what: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadInput(f"{what} must be a list [...], not {short(value)}")
    return value


def _one_list(value: Any) -> Any:
    """Return a list that stands alone in another list, as vector stores answer one query."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        return value[0]
    return value
