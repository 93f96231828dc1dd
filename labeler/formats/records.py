"""JSON lines to records, and values out of records; knows no kind of record by name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from labeler.errors import BadInput
from labeler.formats.reading import Lines, Source, decode
from labeler.model import check_id

Record: TypeAlias = dict[str, Any]
Records: TypeAlias = Iterator[tuple[int, Record]]

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_LARGEST = 2**63 - 1
_JSON_WORDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "a boolean"}


_OBJECT = re.compile(rb'\{\s*(["}]|$)')
_LIST = re.compile(rb'\[\s*(["{\[\]]|$)')


def starts_json(source: Source, number: int, first: bytes) -> bool:
    """Say whether a file's first line begins a JSON object; refuse one that begins a list.

    A bracket alone says nothing: ids may start with one.
    """
    if _LIST.match(first):
        raise source.fail(number, "a JSON list; write one JSON object per line instead")
    return bool(_OBJECT.match(first))


def looks_like_json(text: str) -> bool:
    """Say whether a line starting with this text would be taken for JSON."""
    start = text[:9].encode(errors="replace")
    return bool(_OBJECT.match(start) or _LIST.match(start))


def read_jsonl(source: Source, lines: Lines) -> Records:
    """Give every line's JSON object with its line number; blank lines are skipped."""
    for number, raw in lines:
        if raw.strip():
            yield number, parse_object(source, number, decode(source, number, raw.rstrip()))


def parse_object(source: Source, number: int, text: str) -> Record:
    """Return the JSON object a line holds, or raise `BadInput` with line and column."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise source.fail(number, _not_json(error)) from error
    except RecursionError as error:
        raise source.fail(number, "the JSON is nested too deeply") from error
    except BadInput as error:
        raise source.fail(number, str(error)) from error
    except ValueError as error:  # int() refuses thousands of digits with a plain ValueError
        raise source.fail(number, "the JSON holds a number with too many digits") from error
    if not isinstance(value, dict):
        word = _JSON_WORDS.get(type(value), "null")
        raise source.fail(number, f"each line must be one JSON object {{...}}, not {word}")
    if "\\u" in text:
        with source.at(number):
            _check_strings(value)
    return value


def _not_json(error: json.JSONDecodeError) -> str:
    return (
        f"not JSON at column {error.colno} ({error.msg}); each line must be one whole JSON object"
    )


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadInput(f"the number {text} is too large")
    return value


def _no_constant(text: str) -> NoReturn:
    raise BadInput(f"{text} is not a number that JSON knows; leave the value out")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


def _check_strings(value: object) -> None:
    """Refuse what only an escape can bring in: NUL and half of a surrogate pair."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if found := _UNSTORABLE.search(item):
                raise BadInput(
                    f"the text holds the character \\u{ord(found[0]):04x}, which cannot be stored"
                )
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item


def take(record: Record, names: Sequence[str]) -> Any:
    """Remove and return the value of the first of ``names`` that has one, else None.

    Names without a value (null) are removed as well; a later name that has one stays.
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


def take_id(record: Record, names: Sequence[str], what: str) -> str:
    """Remove and return the id of a ``what``; a whole number counts as its digits."""
    value = take(record, names)
    if value is None:
        raise BadInput(f"there is no {what} id; name it {spelled(names)}")
    return as_id(value, what)


def as_id(value: object, what: str) -> str:
    """Return a value as the id of a ``what``; a whole number counts as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
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
    return None if value is None else whole(value, names[0])


def whole(value: object, what: str) -> int:
    """Return a whole number given as a number or as digits, else raise `BadInput`."""
    number = value
    try:
        if isinstance(number, str):
            number = int(number) if number.strip().lstrip("+-").isdecimal() else float(number)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError
        if int(number) != number or abs(number) > _LARGEST or "_" in str(value):
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise BadInput(f"{what} must be a whole number, not {short(value)}") from error
    return int(number)


def take_mapping(record: Record, name: str) -> dict[str, Any]:
    """Remove and return the object under ``name``; in a table's cell it is JSON text."""
    value = take(record, [name])
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = _DECODER.decode(value)
            _check_strings(value)
        except (RecursionError, ValueError) as error:
            raise BadInput(f"{name} is not JSON: {error}") from error
    if value is not None and not isinstance(value, dict):
        raise BadInput(f"{name} must be an object {{...}}, not {short(value)}")
    return value or {}


def take_texts(record: Record, names: Sequence[str], separator: str = ",") -> tuple[str, ...]:
    """Remove and return a list of texts, given as a list or as one text with separators."""
    value = take(record, names)
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(separator) if part.strip())
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise BadInput(f"{names[0]} must be a list of texts, not {short(value)}")
    return tuple(value)


def spelled(names: Sequence[str]) -> str:
    """Return names as people list them: ``a, b or c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 column``, ``2 columns``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def short(value: object, most: int = 60) -> str:
    """Return a value as messages show it, cut where it is long."""
    text = repr(value) if isinstance(value, str | bytes) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[: most - 1] + "…"


def outer_spaces(ids: Iterable[str], what: str) -> tuple[str, ...]:
    """Return a warning where ids start or end with a space, which is easily overlooked."""
    found = [identifier for identifier in ids if identifier != identifier.strip()]
    if not found:
        return ()
    some = counted(len(found), f"{what} id")
    return (f"{some} with a space at one end, such as {found[0]!r}; ids are kept exactly",)


def merged(metadata: Mapping[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata and the keys found beside it as one; refuse two values for one key."""
    for key in rest.keys() & metadata.keys():
        if rest[key] != metadata[key]:
            raise BadInput(f"{key!r} has one value beside metadata and another inside it")
    return {**metadata, **rest}
