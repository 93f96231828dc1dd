"""Rows shared by the readers of other tools' files: a query, and a graded chunk of it.

Many tools name a query only by its text; it then gets an id made from the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from labeler.errors import BadInput
from labeler.formats.id_resolution import query_id_from_text
from labeler.formats.json_records import Record, as_id, or_list, short, take
from labeler.formats.limits import Limits
from labeler.formats.lines import InputFile
from labeler.model import Loaded, Query

RELEVANT = 1
"""The grade of a chunk that a file only calls relevant; a grade map may change it."""


class PeerQuery(NamedTuple):
    """A query as a file names it; ``text`` is None where the file has only its id."""

    query_id: str
    text: str | None


class PeerGrade(NamedTuple):
    """A chunk of a query with the grades that it was given, possibly none."""

    line: int
    asked: PeerQuery
    chunk_id: str
    values: tuple[Any, ...]
    graders: tuple[str, ...] = ()
    note: str | None = None
    relevant: bool | None = None
    """Whether the file also lists the chunk as relevant; None where it has no such list."""


PeerGrades: TypeAlias = Iterator[PeerGrade]


class QueryTexts:
    """The queries whose texts a file of grades has, each once."""

    def __init__(self) -> None:
        self._queries: dict[str, tuple[int, str]] = {}

    def add(self, line: int, query_id: str, text: str | None) -> None:
        """Add a query; raises `BadInput` where its id has another text already."""
        if text is None:
            return
        first, known = self._queries.setdefault(query_id, (line, text))
        if known != text:
            raise BadInput(
                f"query {query_id!r} has the text {short(text)} here and {short(known)} on line "
                f"{first}; an id names one query"
            )

    def loaded(self, source: InputFile) -> Loaded[Query]:
        """Return the queries with their lines, and a fact that counts them."""
        lines = [line for line, _ in self._queries.values()]
        queries = [Query(query_id, text) for query_id, (_, text) in self._queries.items()]
        by_text = sum(each.query_id == query_id_from_text(each.text) for each in queries)
        facts: dict[str, int | str] = {
            "queries named by their text": by_text,
            "queries with their text": len(queries) - by_text,
        }
        found = {what: count for what, count in facts.items() if count}
        return Loaded(source.name, queries, lines, found)


def query_by_text(text: object, limits: Limits) -> PeerQuery:
    """Return a query that a file names by its text, stripped of white space."""
    if not isinstance(text, str) or not text.strip():
        raise BadInput(f"a query is named by its text, not by {short(text)}")
    limits.check_text(text)
    return PeerQuery(query_id_from_text(text), text.strip())


def take_required(record: Record, names: tuple[str, ...], what: str) -> Any:
    """Remove and return the value under one of the names; raises `BadInput` without any."""
    value = take(record, names)
    if value is None:
        raise BadInput(f"there is no {what} under the key {or_list(names)}")
    return value


def take_list(record: Record, names: tuple[str, ...], what: str) -> list[Any]:
    """Remove and return a list, which may be missing."""
    value = take(record, names)
    if value is not None and not isinstance(value, list):
        raise BadInput(f"{what} must be a list [...], not {short(value)}")
    return value or []


def as_chunk_ids(values: list[Any], limits: Limits) -> list[str]:
    """Return the entries of a list as chunk ids."""
    return [as_id(value, "chunk", limits) for value in values]


def check_mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return a JSON object, or raise `BadInput`."""
    if not isinstance(value, dict):
        raise BadInput(f"{what} must be an object {{...}}, not {short(value)}")
    return value
