"""JSON as records: JSON lines, one JSON document, typed values out of records, rows as JSON.

Every record has its line number. JSON is parsed strictly: repeated keys and NaN are refused, and
numbers that a float would round are marked. The ``take_*`` functions remove what they return, so
that only unknown fields are left in a record at the end.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn, TypeAlias

from labeler.errors import BadInput
from labeler.formats.field_aliases import Aliases, respell
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import InputFile, Lines, decode
from labeler.model import check_id, check_name, format_count

Record: TypeAlias = dict[str, Any]
Records: TypeAlias = Iterator[tuple[int, Record]]

_MOST_NAMED = 12
MOST_SHAPES = 10_000  # sets of keys that a reader remembers
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_UNSTORABLE_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_LARGEST = 2**63 - 1
TOO_LARGE = 2.0**128 - 2.0**103  # from here on a 32-bit float is infinite
_JSON_WORDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "a boolean"}


_OBJECT = re.compile(rb'\{\s*(["}]|$)')
_LIST = re.compile(rb'\[\s*(["{\[\]]|$)')


def starts_json(source: InputFile, number: int, first: bytes) -> bool:
    """Return whether a file's first line begins a JSON object; raises `BadInput` for a list."""
    if starts_list(first):
        raise source.fail(number, "a JSON list; write one JSON object per line instead")
    return bool(_OBJECT.match(first))


def starts_list(first: bytes) -> bool:
    """Return whether a line begins a JSON list; not for a bracket alone: ids may start with it."""
    return bool(_LIST.match(first))


def looks_like_json(text: str) -> bool:
    """Return whether a line that starts with this text would be read as JSON."""
    start = text[:9].encode(errors="replace")
    return bool(_OBJECT.match(start) or _LIST.match(start))


def read_jsonl(source: InputFile, lines: Lines) -> Records:
    """Yield every line's JSON object with its line number; blank lines are skipped."""
    for number, raw in lines:
        if raw.strip():
            yield number, parse_object(source, number, decode(source, number, raw.rstrip()))


def parse_object(source: InputFile, number: int, text: str) -> Record:
    """Parse a line as a JSON object; raises `BadInput` with line and column."""
    with source.at(number):
        value = parse_json(text, source.limits, "; each line must be one whole JSON object")
        if not isinstance(value, dict):
            word = _JSON_WORDS.get(type(value), "null")
            raise BadInput(f"each line must be one JSON object {{...}}, not {word}")
        return value


def parse_json(text: str, limits: Limits, remedy: str = "") -> Any:
    """Parse JSON within the limits; any error in it becomes `BadInput`."""
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON at column {error.colno} ({error.msg}){remedy}") from error
    except RecursionError as error:
        raise BadInput(
            f"the JSON is nested too deeply; {limits.depth} levels are the most that is taken"
        ) from error
    except BadInput:
        raise
    except ValueError as error:  # int() refuses thousands of digits with a plain ValueError
        raise BadInput("the JSON holds a number with too many digits") from error
    if text.count("{") + text.count("[") > limits.depth:
        _check_depth(value, limits)
    if _UNSTORABLE_ESCAPE.search(text) or len(text) * 4 > limits.text:
        check_strings(value, limits)
    return value


class RoundedFloat(float):
    """A whole number that is only the rounded value of a number in a file, which 64 bits lack."""

    __slots__ = ()


def _parse_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadInput(f"the number {text[:40]} is too large")
    return RoundedFloat(value) if value.is_integer() and is_rounded(text, value) else value


def is_rounded(text: str, value: float) -> bool:
    """Return whether the float that a text was read as is not exactly the number in it."""
    try:
        return value != Decimal(text)
    except ArithmeticError:  # an exponent too large for Decimal
        return True


def _unique_keys(pairs: list[tuple[str, Any]]) -> Record:
    """Return an object's keys and values; raises `BadInput` for a key that occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise BadInput(f"the key {short(twice)} appears twice in one object; keep one of them")
    return found


def refuse_constant(text: str) -> NoReturn:
    """Raise `BadInput` for NaN and infinity."""
    raise BadInput(f"{text} is not a number that JSON knows; leave the value out")


DECODER = json.JSONDecoder(
    parse_float=_parse_float, parse_constant=refuse_constant, object_pairs_hook=_unique_keys
)


def _check_depth(value: dict[str, Any] | list[Any], limits: Limits) -> None:
    depth, level = 0, [value]
    while level:
        depth += 1
        within = (each.values() if isinstance(each, dict) else each for each in level)
        level = [item for items in within for item in items if isinstance(item, dict | list)]
    if depth > limits.depth:
        raise BadInput(limits.over("depth", depth, "the JSON's nesting"))


def check_strings(value: object, limits: Limits) -> None:
    """Refuse texts that are too long, and NUL and lone surrogates, which only escapes can give."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if found := _UNSTORABLE.search(item):
                raise BadInput(
                    f"the text holds the character \\u{ord(found[0]):04x}, which cannot be stored"
                )
            limits.check_text(item)
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item


def with_known_names(records: Records, known: Collection[str]) -> Records:
    """Yield records with ``known`` keys in their known spelling, as columns of tables have it."""
    shapes: dict[tuple[str, ...], dict[str, str]] = {}
    for number, record in records:
        keys = tuple(record)
        names = shapes.get(keys)
        if names is None:
            names = respell(keys, known)
            if len(shapes) < MOST_SHAPES:
                shapes[keys] = names
        yield number, {names.get(key, key): record[key] for key in keys} if names else record


def take(record: Record, names: Sequence[str]) -> Any:
    """Remove and return the value of the first of ``names`` that has one, else None.

    Names with a null are removed, too; later names with a value stay.
    """
    found = None
    for name in names:
        if name not in record:
            continue
        if record[name] is None:
            del record[name]
        elif found is None:
            found = record.pop(name)
    return found


def take_id(
    record: Record,
    names: Sequence[str],
    what: str,
    limits: Limits = LIMITS,
    alike: Collection[str] = (),
) -> str:
    """Remove and return the id of a ``what``; a whole number counts as its digits.

    Names in ``alike`` may not have different values: one of them would be lost.
    """
    given = {name: record[name] for name in names if name in alike and name in record}
    value = take(record, names)
    if value is None:
        raise BadInput(f"there is no {what} id; name it {or_list(names)}")
    found = as_id(value, what, limits)
    for name, other in given.items():
        if other not in (None, "") and str(other) != found:
            raise BadInput(f"{what} id {short(found)}, but {name} {short(other)}; keep one of them")
    return found


def as_id(value: object, what: str, limits: Limits = LIMITS) -> str:
    """Return a value as the id of a ``what``; a whole number counts as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        limits.check_id(value, what)
    return check_id(value, what)


def take_text(record: Record, names: Sequence[str]) -> str | None:
    """Remove and return a text, or None where there is none."""
    value: str | None = take(record, names)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{names[0]} must be text, not {short(value)}")
    return value


def take_count(record: Record, names: Sequence[str]) -> int | None:
    """Remove and return a whole number that SQLite can hold, or None where there is none."""
    value = take(record, names)
    return None if value is None else as_whole_number(value, names[0])


def as_whole_number(value: object, what: str) -> int:
    """Return a whole number given as a number or as digits from 0 to 9, else raise `BadInput`."""
    number = value
    try:
        if isinstance(number, str) and not number.isascii():
            raise ValueError
        if isinstance(number, str):
            number = int(number) if number.strip().lstrip("+-").isdecimal() else float(number)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError
        if int(number) != number or abs(number) > _LARGEST or "_" in str(value):
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise BadInput(f"{what} must be a whole number, not {short(value)}") from error
    return int(number)


def take_mapping(record: Record, name: str, limits: Limits = LIMITS) -> dict[str, Any]:
    """Remove and return the object under ``name``, which may be JSON text in a table's cell."""
    value = take(record, [name])
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse_json(value, limits)
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from error
    if value is not None and not isinstance(value, dict):
        raise BadInput(f"{name} must be an object {{...}}, not {short(value)}")
    return value or {}


def take_texts(record: Record, names: Sequence[str], separator: str = ",") -> tuple[str, ...]:
    """Remove and return texts, given as a list or as one text with separators."""
    value = take(record, names)
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(separator) if part.strip())
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise BadInput(f"{names[0]} must be a list of texts, not {short(value)}")
    return tuple(value)


def take_names(record: Record, names: Sequence[str], separator: str) -> tuple[str, ...]:
    """Remove and return names of graders, given as a list or as one text with separators."""
    return tuple(check_name(each, "grader") for each in take_texts(record, names, separator))


def format_keys(keys: Iterable[str]) -> str:
    """Join keys or columns for a message, the first of them where there are many."""
    found = list(keys)
    more = f" and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(short(key).strip("'\"") for key in found[:_MOST_NAMED]) + more or "none"


def or_list(names: Sequence[str]) -> str:
    """Join names as alternatives: ``a, b or c``; of `Aliases` those that are shown."""
    names = names.shown if isinstance(names, Aliases) else names
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def short(value: object, most: int = 60) -> str:
    """Return a value for a message, shortened where it is long."""
    text = repr(value) if isinstance(value, str | bytes) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[: most - 1] + "…"


def space_warnings(ids: Iterable[str], what: str) -> tuple[str, ...]:
    """Return a warning where ids start or end with a space, which is easy to overlook."""
    found = [identifier for identifier in ids if identifier != identifier.strip()]
    if not found:
        return ()
    some = format_count(len(found), f"{what} id", f"{what} ids")
    return (f"{some} with a space at one end, such as {found[0]!r}; ids are kept exactly",)


def merge_metadata(metadata: Mapping[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    """Merge metadata with the keys beside it; raises `BadInput` for two values of one key."""
    for key in rest.keys() & metadata.keys():
        if rest[key] != metadata[key]:
            raise BadInput(f"{key!r} has one value beside metadata and another inside it")
    return {**metadata, **rest}


_BLANK = re.compile(r"[ \t\r\n]*")
_UNFINISHED_ENDS = (b"{", b"[", b",", b":")  # how the first line of multi-line JSON may end
_ENTRY = re.compile(r'[ \t\r\n]*,?[ \t\r\n]*(?:("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*)?')


class JsonEntry(NamedTuple):
    """A part of an object or a list: its key (None in a list), line, value and offset."""

    key: str | None
    line: int
    value: Any
    start: int


class JsonDocument:
    """One JSON value, ``value``, with access to its parts by their offset in the text."""

    def __init__(self, source: InputFile, text: str) -> None:
        self.source = source
        self._text = text
        self._ends = [match.start() for match in re.finditer("\n", text)]
        try:
            self.value = parse_json(text, source.limits)
        except BadInput as error:
            cause = error.__cause__
            line = cause.lineno if isinstance(cause, json.JSONDecodeError) else None
            raise source.fail(line, str(error)) from error

    def top(self) -> Iterator[JsonEntry]:
        """Yield the parts of the document's object or list."""
        return self.parts(_after_blanks(self._text))

    def parts(self, start: int) -> Iterator[JsonEntry]:
        """Yield the parts of the object or list that begins at ``start``."""
        closing = "}" if self._text[start] == "{" else "]"
        at = start + 1
        while True:
            found = _ENTRY.match(self._text, at)
            begins = at if found is None else found.end()
            if self._text[begins] == closing:
                return
            key = None if found is None or found[1] is None else json.loads(found[1])
            value, at = DECODER.raw_decode(self._text, begins)
            yield JsonEntry(key, self._line(begins), value, begins)

    def under(self, *keys: str | int) -> int | None:
        """Return the offset of the part under a path of keys and indices, None if there is none.

        >>> from labeler.formats.lines import memory_source
        >>> JsonDocument(memory_source("a", b""), '{"a": [1, {"b": 2}]}').under("a", 1, "b")
        16
        """
        start = _after_blanks(self._text)
        for key in keys:
            if self._text[start] not in "{[":
                return None
            parts = enumerate(self.parts(start))
            found = next((part for at, part in parts if key in (part.key, at)), None)
            if found is None:
                return None
            start = found.start
        return start

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield the objects of a document that is a list of them, with their lines."""
        for entry in self.top():
            if not isinstance(entry.value, dict):
                raise self.source.fail(
                    entry.line,
                    f"each entry of the list must be an object, not {short(entry.value)}",
                )
            yield entry.line, entry.value

    def _line(self, at: int) -> int:
        return bisect_right(self._ends, at - 1) + 1


def _after_blanks(text: str) -> int:
    found = _BLANK.match(text)
    return 0 if found is None else found.end()


def parse_beginning(text: str) -> list[Any]:
    """Return the readable parts of a truncated document: list entries, or (key, value) pairs.

    >>> parse_beginning('[{"a": 1}, {"a": 2}, {"a"'), parse_beginning('{"q1": {"c": 3}, "q2": {"c"')
    ([{'a': 1}, {'a': 2}], [('q1', {'c': 3})])
    """
    at, found = _after_blanks(text), []
    is_list = text[at : at + 1] == "["
    at += 1
    with suppress(ValueError, RecursionError):
        while (match := _ENTRY.match(text, at)) is not None:
            value, at = DECODER.raw_decode(text, match.end())
            found.append(value if is_list else (json.loads(match[1] or '""'), value))
    return found


def begins_document(first: bytes) -> bool:
    """Return whether a line begins JSON that spans several lines or is a list."""
    return starts_list(first) or (first.startswith(b"{") and first.endswith(_UNFINISHED_ENDS))


def read_if_json_document(source: InputFile, first: bytes, lines: Lines) -> JsonDocument | None:
    """Return a file's JSON document; None, without reading a line, where it has a record per line.

    ``first`` is the first line with content, stripped of white space.
    """
    if not begins_document(first):
        return None
    return read_json_document(source, lines)


def read_json_document(source: InputFile, lines: Lines) -> JsonDocument:
    """Parse all lines as one JSON document; the limit of a line applies to it."""
    texts, size = [], 0
    for number, raw in lines:
        size += len(raw)
        if size > source.limits.line:
            raise source.fail(None, source.limits.over("line", None, "the JSON document in it"))
        texts.append(decode(source, number, raw))
    return JsonDocument(source, "".join(texts))


def as_json(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as a JSON list; NaN is null.

    >>> print(as_json([{"value": 0.1 + 0.2}, {"value": math.nan}]), end="")
    [
    {"value": 0.30000000000000004},
    {"value": null}
    ]
    """
    lines = [json.dumps(without_nan(row), allow_nan=False) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def without_nan(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row with None for NaN, which JSON cannot hold."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in row.items()
    }
