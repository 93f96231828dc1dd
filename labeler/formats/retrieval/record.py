"""Retrieval records: a question with its ranked results, whatever tool wrote them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from labeler.errors import BadInput
from labeler.formats.json_records import short


class RetrievedChunk(NamedTuple):
    """A chunk in a list, or one that is graded; without ``chunk_id`` its text names it.

    ``listed`` says whether a list of relevant chunks beside the grades names it, None without one.
    """

    chunk_id: str | None
    text: str | None = None
    score: float | None = None
    rank: int | None = None
    title: str | None = None
    document_id: str | None = None
    metadata: Mapping[str, Any] = {}
    grade: Any = None
    listed: bool | None = None
    grader: str | None = None
    note: str | None = None


@dataclass(slots=True)
class Retrieval:
    """What one system returned for one question, as one record of a file has it.

    ``results`` is None where the record has no list, as in a set of questions with their relevant
    chunks. With ``is_part`` they are some of the list, as in a table with a row per result.
    ``system`` is None where the file names none. ``graded`` are chunks with their grades, in the
    list or not. ``item`` holds the ids of the record in the tool that wrote it, and ``places`` the
    place of each result there, from 0; None for one after the other.
    """

    line: int
    query: str | None
    query_id: str | None = None
    results: Sequence[RetrievedChunk] | None = None
    is_part: bool = False
    system: str | None = None
    time: str | None = None
    reference: str | None = None
    graded: Sequence[RetrievedChunk] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    item: Mapping[str, str] = field(default_factory=dict)
    places: Sequence[int] | None = None


Retrievals: TypeAlias = Iterator[Retrieval]

_UNITS = (1e17, 1e9), (1e14, 1e6), (1e11, 1e3)  # from this size on nano-, micro-, milliseconds
_NUMBER = re.compile(r"\d{9,20}(\.\d+)?")


def parse_time(value: object) -> str | None:
    """Return a time as UTC in ISO 8601; None where there is none.

    Read are ISO 8601, with a time zone or in UTC, and seconds, milli-, micro- and nanoseconds since
    1970.

    >>> parse_time("2026-01-31T11:05:00+01:00"), parse_time(1769853900), parse_time("1769853900000")
    ('2026-01-31T10:05:00.000Z', '2026-01-31T10:05:00.000Z', '2026-01-31T10:05:00.000Z')
    """
    if value in (None, ""):
        return None
    try:
        if isinstance(value, str) and not _NUMBER.fullmatch(value):
            when = datetime.fromisoformat(value.strip().removesuffix(" UTC"))
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        else:
            when = _from_number(value)
    except (ValueError, OverflowError, OSError) as error:
        raise BadInput(
            "a time is written as 2026-01-31T10:05:00Z or in seconds since 1970, not "
            f"{short(value)}"
        ) from error
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03}Z"


def _from_number(value: object) -> datetime:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    scale = next((unit for least, unit in _UNITS if number >= least), 1.0)
    return datetime.fromtimestamp(number / scale, UTC)
