"""Field maps: where in a record the question, its results and their ids, texts and scores stand.

A map is written as ``query=attributes.input.value results=output.documents id=metadata.id``. A
path is made of keys and numbers of list entries, joined by dots; ``a|b`` takes the first that has a
value. A key that has dots in it is found, too, and JSON in a text is read as what it holds. In the
path of ``results`` a ``*`` is any key: each has the list of one system.
"""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, TypeAlias

from labeler.errors import BadInput
from labeler.formats.json_records import Record, or_list, parse_json, short
from labeler.formats.limits import LIMITS, Limits

Path: TypeAlias = tuple[str, ...]
Strings: TypeAlias = Literal["text", "id"]

OF_RECORD = (
    *("query", "query_id", "results", "system", "time", "reference"),
    *("relevant", "relevant_id", "relevant_text", "span", "trace", "where", "separator"),
)
OF_RESULT = (
    *("id", "text", "title", "document", "score", "distance", "rank", "metadata"),
    *("grade", "grader", "note"),
)
FIELDS = (*OF_RECORD, *OF_RESULT)
_EXAMPLE = "'query=question results=documents id=metadata.id text=page_content score=score'"
_WRITTEN_AS_LIST = ("[", "{")
EACH = "*"  # in the path of the results, the keys of systems
# Keys of objects that hold nothing but a list of results.
_INNER = ("hits", "documents", "points", "matches", "docs", "results", "objects")


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
                found = [value_at(each, path[at:], limits) for each in value]
                return None if all(each is None for each in found) else found
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


def inner_list(value: Any) -> Any:
    """Return the list of results inside an object such as ``{"hits": {"hits": [...]}}``.

    >>> inner_list({"hits": {"total": 1, "hits": [5]}}), inner_list({"c1": 2.5})
    ([5], {'c1': 2.5})
    """
    while isinstance(value, dict):
        key = next((key for key in _INNER if isinstance(value.get(key), list | dict)), None)
        if key is None:
            return value
        value = value[key]
    return value


def without_json_quotes(record: Record) -> Record:
    """Return a record whose texts are not JSON: some tools write a table's cells so.

    >>> without_json_quotes({"input": '"why?"', "n": 1})
    {'input': 'why?', 'n': 1}
    """
    return {key: _unquoted(value) for key, value in record.items()}


def _unquoted(value: Any) -> Any:
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


class Condition(NamedTuple):
    """What a record must have: under one of the paths one of the values, or anything, or a list.

    Values are patterns as of file names. It is written ``path:value|value``, ``path|path`` or
    ``path[]``.
    """

    text: str
    paths: tuple[Path, ...]
    values: tuple[str, ...] = ()
    listed: frozenset[Path] = frozenset()

    def holds(self, record: Record) -> bool:
        """Return whether a record has it."""
        for path in self.paths:
            value = value_at(record, path)
            if value is None:
                continue
            if path in self.listed:
                if isinstance(unpack(value), list):
                    return True
            elif not self.values or any(fnmatchcase(str(value), each) for each in self.values):
                return True
        return False

    def __str__(self) -> str:
        return self.text


def parse_condition(text: str) -> Condition:
    """Parse what a record must have.

    >>> condition = parse_condition("op:*retrieve*|search")
    >>> condition.holds({"op": "my_retriever"}), condition.holds({"op": "chat"})
    (True, False)
    >>> parse_condition("out.found[]|found").holds({"out": {"found": "x"}})
    False
    """
    path, colon, values = text.partition(":")
    if colon:
        if not path or not values:
            raise BadInput(
                "--map: where is a path, : and a value, such as where=type:RETRIEVER, or a path "
                f"alone, not {short(text)}"
            )
        return Condition(text, (tuple(path.split(".")),), tuple(values.split("|")))
    written = [(each, tuple(each.removesuffix("[]").split("."))) for each in text.split("|")]
    listed = frozenset(parts for each, parts in written if each.endswith("[]"))
    return Condition(text, tuple(parts for _, parts in written), (), listed)


@dataclass(frozen=True, slots=True)
class FieldMap:
    """The paths of each field, the first with a value counts.

    Paths of `OF_RESULT` begin in a result where there is a path of ``results``, else in the record:
    there they lead to lists side by side, or the record is one result. Where a map with
    ``results`` names neither id nor text, these are found by the results' keys. ``strings`` says
    what a result is that is only a text. ``systems`` takes the keys of ``results`` as systems.
    ``separator`` parts the texts of a list in one cell. The order of ``unranked`` lists with grades
    means nothing. ``columns`` are those of a table without a header. ``name`` is the tool whose
    records these are, and ``hint`` what to do where it does not write questions.
    """

    paths: Mapping[str, tuple[Path, ...]]
    name: str = ""
    strings: Strings = "text"
    where: Condition | None = None
    systems: bool = False
    keeps_rest: bool = True
    separator: str = ""
    json_strings: bool = False
    unranked: bool = False
    columns: tuple[str, ...] = ()
    hint: str = ""

    def get(self, field: str, value: Any, limits: Limits = LIMITS) -> Any:
        """Return a field's value in a record or result, None where it has none."""
        found = self.find(field, value, limits)
        return None if found is None else found[1]

    def find(self, field: str, value: Any, limits: Limits = LIMITS) -> tuple[Path, Any] | None:
        """Return the path under which a field has a value, and the value; None without any."""
        for path in self.paths.get(field, ()):
            found = value_at(value, path, limits)
            if found is not None and found != "" and found != []:
                return path, found
        return None

    def takes(self, record: Record) -> bool:
        """Return whether a record is one of those that are read."""
        return self.where is None or self.where.holds(record)

    @property
    def names_query(self) -> bool:
        """Whether it says where the query stands; else only how its results differ from usual."""
        return not {"query", "query_id"}.isdisjoint(self.paths)

    @property
    def names_results(self) -> bool:
        """Whether it says where the id or the text of a result stands, if results are in a list."""
        return "results" not in self.paths or bool({"id", "text"} & self.paths.keys())

    def first_keys(self, fields: Sequence[str]) -> set[str]:
        """Return the keys under which paths of these fields begin, with and without dots."""
        paths = [path for field in fields for path in self.paths.get(field, ())]
        paths += self.where.paths if "where" in fields and self.where is not None else ()
        return {".".join(path[:end]) for path in paths for end in range(1, len(path) + 1)}

    def __str__(self) -> str:
        """Return the map as it is written."""
        parts = [
            f"{field}={'|'.join('.'.join(path) for path in paths)}"
            for field, paths in self.paths.items()
        ]
        if self.where is not None:
            parts.append(f"where={self.where}")
        if self.separator:
            parts.append(f"separator={self.separator}")
        return " ".join(shlex.quote(part) if " " in part else part for part in parts)


def parse_map(text: str, name: str = "") -> FieldMap:
    """Parse a map as ``--map`` takes it; one of result fields alone adds them to what is found.

    >>> print(parse_map("query=input.value results=output id=metadata.id|id"))
    query=input.value results=output id=metadata.id|id
    """
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"--map: {error} in {short(text)}; write it as {_EXAMPLE}") from error
    given: dict[str, str] = {}
    for part in parts:
        field, equals, value = part.partition("=")
        if field not in FIELDS or not equals or not value.strip("."):
            raise BadInput(
                f"--map: {short(part)} is not one of {or_list(FIELDS)}, = and a path; write it as "
                f"{_EXAMPLE}"
            )
        if field in given:
            raise BadInput(f"--map: {field} stands in it twice; join two paths with |: a|b")
        given[field] = value
    where, separator = given.pop("where", None), given.pop("separator", "")
    paths = {
        field: tuple(tuple(one.split(".")) for one in value.split("|"))
        for field, value in given.items()
    }
    if not {"query", "query_id"} & paths.keys() and not paths.keys() <= {*OF_RESULT}:
        raise BadInput(f"--map: it names no query; write it as {_EXAMPLE}")
    condition = None if where is None else parse_condition(where)
    return FieldMap(paths, name, where=condition, separator=separator)
