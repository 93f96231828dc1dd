"""A frozen golden set as JSONL: one line about it, then a query a line as exports have them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from labeler.errors import BadInput
from labeler.formats.golden import read_set
from labeler.formats.grades import GradeRule
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import FROZEN
from labeler.formats.reading import (
    Source,
    StrPath,
    decode,
    file_source,
    memory_source,
    open_lines,
    peek_line,
)
from labeler.formats.records import Record, parse_object, read_jsonl, short, spelled
from labeler.formats.writing import write_golden
from labeler.model import GoldenGrade, Query, Version, is_storable

_TEXTS = (FROZEN, "hash", "at", "lines")
_OPTIONAL = ("by", "note")
_KEYS = {*_TEXTS, *_OPTIONAL, "revision", "conventions"}
_DIGITS = 64


@dataclass(frozen=True)
class FrozenFile:
    """What a file says was frozen; whether its content has the hash it names is not looked at."""

    version: Version
    conventions: Mapping[str, Any]
    queries: Sequence[Query]
    grades: Sequence[GoldenGrade]


def write_version(
    version: Version,
    conventions: Mapping[str, Any],
    queries: Sequence[Query],
    grades: Sequence[GoldenGrade],
) -> bytes:
    """Return a frozen golden set as a file, the same bytes every time.

    Its first line has a SHA-256 of the others, which guards what no number depends on, too.
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


def read_version(path: StrPath, *, name: str | None = None, limits: Limits = LIMITS) -> FrozenFile:
    """Read the file of a frozen golden set, plain or gzip.

    Raises `BadInput` with file and line, also where its lines are not those that were written.
    """
    return version_from(file_source(path, name, limits))


def version_in(name: str, content: bytes) -> FrozenFile:
    """Read a frozen golden set from memory, as `read_version` does."""
    return version_from(memory_source(name, content))


def version_from(source: Source) -> FrozenFile:
    """Read a frozen golden set from a source, as `read_version` does."""
    with open_lines(source) as raw:
        number, first, lines = peek_line(source, raw)
        if number == 0:
            raise source.fail(None, "there is nothing in it")
        header = parse_object(source, number, decode(source, number, first))
        with source.at(number):
            _check_header(header)
        rest = ((at, line) for at, line in lines if at > number)
        golden = read_set(source, read_jsonl(source, rest), GradeRule())
    queries, grades = list(golden.queries.records), list(golden.grades.records)
    written = hashlib.sha256(write_golden(queries, grades, "jsonl")).hexdigest()
    if written != header["lines"]:
        raise source.fail(
            None,
            f"its lines are not those that were written when {header[FROZEN]!r} was exported: "
            "something was changed or is missing; take the file anew from where it came",
        )
    texts = (header[FROZEN], header["hash"], header["at"], header["by"], header["note"])
    version = Version(*texts, header["revision"], len(queries), len(grades))
    return FrozenFile(version, header["conventions"], queries, grades)


def _check_header(header: Record) -> None:
    if header.keys() != _KEYS:
        wrong = sorted(header.keys() ^ _KEYS)
        raise BadInput(
            f"the first line of a frozen version has the keys {', '.join(sorted(_KEYS))}; "
            f"missing or too many: {spelled(wrong)}; a golden set is loaded with "
            "'labeler load golden FILE'"
        )
    for key in (*_TEXTS, *_OPTIONAL):
        value = header[key]
        if not (isinstance(value, str) and is_storable(value)) and not (
            value is None and key in _OPTIONAL
        ):
            raise BadInput(f"{key} must be text, not {short(value)}")
    for key in ("hash", "lines"):
        if len(header[key]) != _DIGITS or set(header[key]) - set("0123456789abcdef"):
            raise BadInput(f"{key} must be {_DIGITS} hexadecimal digits, not {short(header[key])}")
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
