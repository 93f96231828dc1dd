"""Reading of records by a field map, and what of each record was taken and left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from labeler.errors import BadInput
from labeler.formats.json_records import (
    MOST_SHAPES,
    Record,
    as_id,
    as_whole_number,
    format_keys,
    short,
)
from labeler.formats.limits import Limits
from labeler.formats.peers.peer_rows import RELEVANT
from labeler.formats.result_fields import read_score
from labeler.formats.retrieval.field_map import (
    OF_RECORD,
    OF_RESULT,
    FieldMap,
    inner_list,
    unpack,
    without_json_quotes,
)
from labeler.formats.retrieval.inference import complete_map, lists_by_key
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk, parse_time
from labeler.formats.retrieval.search_bodies import searched_text

_ANSWERS = frozenset(
    (
        *("answer", "response", "actual_output", "actualOutput", "output", "prediction", "result"),
        *("generated_answer", "success"),
    )
)
# Fields of a query that are no plain values.
_OF_QUERY: Mapping[str, type | tuple[type, ...]] = MappingProxyType(
    {"metadata": dict, "buckets": dict, "keywords": (str, list)}
)
_MOST_LEFT = 1_000  # keys that are remembered


class RecordMapper:
    """Reads records by a field map, and remembers the keys that nothing was read from."""

    def __init__(self, field_map: FieldMap, limits: Limits) -> None:
        self.limits = limits
        self.found: dict[str, dict[tuple[str, ...], None]] = {}  # paths that had a value, by field
        self.left: dict[str, None] = {}
        self.left_of_results: dict[str, None] = {}
        self.kept: dict[str, None] = {}
        self.passed_over = 0  # records that the map's condition does not take
        self._read = self._listless = 0  # records, and those without a list of results
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._use(field_map)

    def _use(self, field_map: FieldMap) -> None:
        self.map = field_map
        self._used = {*field_map.first_keys(OF_RECORD)}
        self._used_of_result = {*field_map.first_keys(OF_RESULT)}
        self._by_result = "results" in field_map.paths
        if not self._by_result:
            self._used |= self._used_of_result
        orders = {"score", "distance", "rank"} & field_map.paths.keys()
        self._has_order = bool(orders) or "grade" not in field_map.paths

    def describe(self) -> str:
        """Return what one record is."""
        if self.map.name:
            return f"{self.map.name}: a question"
        return "a question with its results" if self._by_result else "a question and a result"

    def facts(self) -> dict[str, int | str]:
        """Return field by field what was taken, and what was left."""
        taken = FieldMap({field: tuple(paths) for field, paths in self.found.items()})
        facts: dict[str, int | str] = {"read as": self.map.name or "retrieval records"}
        facts["fields taken"] = str(taken)
        if self.kept:
            facts["kept with the queries"] = format_keys(self.kept)
        left = [*self.left, *(f"{key} of results" for key in self.left_of_results)]
        if left:
            facts["fields left"] = format_keys(left)
        if self._listless and (self._by_result or self._listless < self._read):
            facts["questions without results"] = self._listless
        if self.passed_over:
            facts["other records, passed over"] = self.passed_over
        return facts

    def missing(self) -> str | None:
        """Return why nothing was read, where the map's condition took none of the records."""
        if self._read or not self.passed_over:
            return None
        many = "record is" if self.passed_over == 1 else f"{self.passed_over:,} records are"
        tool = f" of {self.map.name}" if self.map.name else ""
        return (
            f"its {many} passed over: read are those{tool} with {self.map.where}; a map takes "
            "others: --map 'query=... results=... where=...'"
        )

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield what a record says: nothing, one retrieval, or one for each system in it."""
        if self.map.json_strings:
            record = without_json_quotes(record)
        if not self.map.takes(record):
            self.passed_over += 1
            return
        self._read += 1
        if not self.map.names_results:
            self._use(complete_map(self.map, [record]))
        query, query_id = self._text("query", record), self._get("query_id", record)
        if query is None and query_id is None:
            raise BadInput(self._no_question(record))
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

    def _no_question(self, record: Record) -> str:
        paths = " or ".join(".".join(path) for path in self.map.paths.get("query", ()))
        hint = f"; {self.map.hint}" if self.map.hint else ""
        keys = ", ".join(map(short, record)) or "none"
        return f"there is no question under {paths or 'query'}; its keys are {keys}{hint}"

    def _get(self, field: str, value: Any) -> Any:
        if field not in self.map.paths:
            return None
        found = self.map.find(field, value, self.limits)
        if found is None:
            return None
        self._note(field, found[0])
        return found[1]

    def _note(self, field: str, path: tuple[str, ...]) -> None:
        self.found.setdefault(field, {})[path] = None

    def _key_of(self, field: str) -> str:
        """Return the path under which a field was found, or its name."""
        return ".".join(next(iter(self.found.get(field, {})), (field,)))

    def _text(self, field: str, value: Any) -> str | None:
        return self._as_text(field, self._get(field, value))

    def _as_text(self, field: str, found: Any) -> str | None:
        if field == "query" and isinstance(found, dict):
            found = searched_text(found) or found
        if found is None:
            return None
        if not isinstance(found, str):
            if _is_number(found):
                return str(found)
            if field == "query" and isinstance(found, list):
                raise BadInput("a conversation of several turns; single questions are read")
            if field == "query":
                raise BadInput(
                    f"a query is named by its text, not by {short(found)}; --map 'query=...' says "
                    "where that stands"
                )
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
            if key in _OF_QUERY:
                value = unpack(value, self.limits)
                kept_so = isinstance(value, _OF_QUERY[key])
            else:
                kept_so = isinstance(value, str | int | float | bool) and key not in _ANSWERS
            if self.map.keeps_rest and kept_so:
                kept[key] = value
                self.kept[key] = None
            elif len(self.left) < _MOST_LEFT:
                self.left[key] = None
        return kept

    def _with_results(self, asked: Retrieval, record: Record) -> Iterator[Retrieval]:
        asked.graded = self._relevant(record)
        if not self._by_result:
            asked.results, asked.is_part = self._side_by_side(record)
            self._listless += asked.results is None
            self._note_grades(asked)
            if (asked.is_part and not self._has_order) or (self.map.unranked and asked.graded):
                asked.graded, asked.results = asked.graded or asked.results or (), None
            yield asked
            return
        lists = lists_by_key(self.map.paths["results"], record, self.limits)
        entries = lists or inner_list(unpack(self._get("results", record), self.limits))
        if (lists or self.map.systems) and isinstance(entries, dict):
            self._note("results", self.map.paths["results"][0])
            for system, mine in entries.items():
                yield self._listed(asked, mine, str(system))
            return
        yield self._listed(asked, entries, asked.system)

    def _listed(self, asked: Retrieval, entries: Any, system: str | None) -> Retrieval:
        self._listless += entries is None
        results = None if entries is None else [*self._results(entries)]
        found = replace(asked, results=results, system=system)
        self._note_grades(found)
        return found

    def _note_grades(self, found: Retrieval) -> None:
        """Count results that have a grade among the graded chunks."""
        graded = [each for each in found.results or () if each.grade is not None]
        if graded:
            found.graded = (*found.graded, *graded)

    def _results(self, entries: Any) -> Iterator[RetrievedChunk]:
        entries = inner_list(unpack(entries, self.limits))
        if isinstance(entries, dict) and all(map(_is_number, entries.values())):
            plain = [self._plain(key, score) for key, score in entries.items()]
            yield from sorted(plain, key=lambda each: -(each.score or 0.0))
            return
        if not isinstance(entries, list | tuple):
            raise BadInput(
                f"results must be a list [...] or {{chunk: score}}, not {short(entries)}"
            )
        for entry in entries:
            yield self._result(unpack(entry, self.limits))

    def _plain(self, chunk_id: str, score: Any) -> RetrievedChunk:
        self._note("id", ("id",))
        self._note("score", ("score",))
        return RetrievedChunk(as_id(chunk_id, "chunk", self.limits), score=read_score(score))

    def _result(self, entry: Any) -> RetrievedChunk:
        if isinstance(entry, str):
            self._note(self.map.strings, (self.map.strings,))
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
        """Return a result that is an object, or a document with its score."""
        return self._chunk(lambda field: self._get(field, entry), entry, self._metadata(entry))

    def _chunk(
        self, get: Callable[[str], Any], entry: Any, metadata: Mapping[str, Any]
    ) -> RetrievedChunk:
        chunk_id, given = get("id"), get("text")
        text = self._as_text("text", given)
        if chunk_id is None and text is None and isinstance(given, str):
            text = given  # blanks alone keep their place in the list
        if chunk_id is None and text is None:
            keys = ", ".join(map(short, entry)) if isinstance(entry, dict) else short(entry)
            raise BadInput(
                f"a result has neither an id nor a text; its keys are {keys or 'none'}; --map "
                "'id=... text=...' says where they stand"
            )
        score = get("score")
        distance = get("distance") if score is None else None
        rank, document, title = get("rank"), get("document"), get("title")
        grader, note = get("grader"), get("note")
        return RetrievedChunk(
            None if chunk_id is None else as_id(chunk_id, "chunk", self.limits),
            text,
            read_score(score) if distance is None else -(read_score(distance) or 0.0),
            None if rank is None else as_whole_number(rank, "rank"),
            title if isinstance(title, str) else None,
            str(document) if isinstance(document, str | int) else None,
            metadata,
            get("grade"),
            grader=None if grader is None else str(grader),
            note=note if isinstance(note, str) else None,
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
            elif len(self.left_of_results) < _MOST_LEFT:
                self.left_of_results[key] = None
        return found

    def _side_by_side(self, record: Record) -> tuple[list[RetrievedChunk] | None, bool]:
        """Return results given as lists of ids, texts and scores; or the record as one result."""
        columns = {
            field: _one_list(self._parts(self._get(field, record)))
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
        return [self._chunk(row.get, row, _own_metadata(row)) for row in rows], False

    def _parts(self, value: Any) -> Any:
        """Return the list that a cell holds, written as JSON or as the map separates it."""
        found = unpack(value, self.limits)
        if self.map.separator and isinstance(found, str):
            return [part.strip() for part in found.split(self.map.separator) if part.strip()]
        return found

    def _relevant(self, record: Record) -> Sequence[RetrievedChunk]:
        """Return the graded chunks of a record: those in its map, and `RELEVANT` for others."""
        values = unpack(self._get("relevant", record), self.limits)
        ids = _as_list(self._parts(self._get("relevant_id", record)), "relevant ids")
        texts = _as_list(self._parts(self._get("relevant_text", record)), "relevant texts")
        if isinstance(values, list):
            ids, values = [*ids, *values], None
        if values is not None and not isinstance(values, dict):
            raise BadInput(f"what is relevant is a list or {{chunk: grade}}, not {short(values)}")
        if ids and texts and len(ids) != len(texts):
            key, other = (self._key_of(field) for field in ("relevant_text", "relevant_id"))
            raise BadInput(f"{len(texts)} {key}, but {len(ids)} {other}; each text needs its id")
        known = dict.fromkeys(as_id(each, "chunk", self.limits) for each in ids)
        named: dict[str, str | None] = {}
        for each, text in zip(ids, texts, strict=False):
            named[str(each)] = self._a_text(text) if text else None
        grades = {as_id(key, "chunk", self.limits): value for key, value in (values or {}).items()}
        found = [
            RetrievedChunk(key, named.get(key), grade=value, listed=key in known if known else None)
            for key, value in grades.items()
        ]
        listed = True if grades else None
        found += [
            RetrievedChunk(key, named.get(key), grade=RELEVANT, listed=listed)
            for key in known
            if key not in grades
        ]
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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_list(value: Any) -> Any:
    """Return a list that stands alone in another list, as vector stores answer one query."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        return value[0]
    return value


def _own_metadata(row: Record) -> Mapping[str, Any]:
    given = row.get("metadata")
    return given if isinstance(given, dict) else {}
