"""Quepid files: a book as JSON or CSV, a case as JSON, ratings as CSV. Queries are named by text.

Quepid's other tables (case details, snapshots) are read like any table with a header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labeler.errors import BadInput
from labeler.formats.csv_tables import as_csv, read_table
from labeler.formats.field_aliases import CHUNK_TEXT, GRADE, RANK, TITLE
from labeler.formats.json_records import JsonDocument, JsonEntry, Record, as_id, short
from labeler.formats.limits import Limits
from labeler.formats.lines import InputFile, Lines
from labeler.formats.peers.peer_rows import (
    PeerGrade,
    PeerGrades,
    PeerQuery,
    check_mapping,
    query_by_text,
    take_list,
    take_required,
)
from labeler.model import Chunk, GoldenGrade, Query, check_name

PAIRS = "query_doc_pairs"
QUERIES = "queries"
_TEXT = ("query_text", "query")
_DOCUMENT = ("doc_id",)
_TABLE = ("query", "docid")
RATINGS_COLUMNS = (*_TABLE, "rating")
_OF_OTHERS = (*GRADE, *RANK, *TITLE, *CHUNK_TEXT, "grader", "graders", "note", "notes", "iteration")
# Search engines make ids such as -xYz1, and as a formula one can do nothing.
_HARMLESS = re.compile(r"[=+@-][A-Za-z0-9_.-]*", re.ASCII)
_BOOK = {"show_rank": False, "support_implicit_judgements": False}


def grades_in_book(document: JsonDocument, start: int) -> PeerGrades:
    """Yield each judge's ratings in a book, whose pairs of query and document begin at ``start``.

    Pairs that a judge left for later, or could not rate, have no grade.
    """
    for entry in document.parts(start):
        with document.source.at(entry.line):
            yield _parse_pair(entry, document.source.limits)


def _parse_pair(entry: JsonEntry, limits: Limits) -> PeerGrade:
    pair = dict(check_mapping(entry.value, f"each of {PAIRS}"))
    asked = query_by_text(take_required(pair, _TEXT, "query"), limits)
    chunk_id = as_id(take_required(pair, _DOCUMENT, "document id"), "chunk", limits)
    given = [
        judgement
        for judgement in take_list(pair, ("judgements",), "judgements")
        if _is_rated(check_mapping(judgement, "each of the judgements"))
    ]
    people = dict.fromkeys(
        check_name(each["user_email"], "grader") for each in given if each.get("user_email")
    )
    notes = dict.fromkeys(each["explanation"] for each in given if each.get("explanation"))
    if not all(isinstance(note, str) for note in notes):
        raise BadInput(f"an explanation must be text, not {short([*notes])}")
    values = tuple(each["rating"] for each in given)
    return PeerGrade(entry.line, asked, chunk_id, values, tuple(people), "; ".join(notes) or None)


def _is_rated(judgement: Mapping[str, Any]) -> bool:
    set_aside = judgement.get("unrateable") or judgement.get("judge_later")
    return judgement.get("rating") is not None and not set_aside


def judges_in(header: Sequence[str]) -> tuple[str, ...]:
    """Return the judges of a book's table, which has a column of ratings for each; () for others.

    A single further column counts as a judge's only if its name is an email address.

    >>> judges_in(["query", "docid", "Ann", "bob@example.org"])
    ('Ann', 'bob@example.org')
    >>> judges_in(["query", "docid", "stars"]), judges_in(["query", "docid", "rating", "Ann"])
    ((), ())
    """
    cells = [cell.strip() for cell in header]
    plain = {cell.lower() for cell in cells[2:]}
    is_book = tuple(cells[:2]) == _TABLE and not plain & {*_OF_OTHERS, ""}
    is_one = len(cells) == len(_TABLE) + 1 and "@" not in cells[-1]
    return tuple(cells[2:]) if is_book and not is_one else ()


def grades_in_table(source: InputFile, lines: Lines, judges: Sequence[str]) -> PeerGrades:
    """Yield each judge's ratings in the table of a book; an empty cell is no grade."""
    wanted = {"query": _TABLE[:1], "document id": _TABLE[1:]}
    for judge in judges:
        check_name(judge, "grader")
    for number, record in read_table(source, lines, wanted, judges):
        with source.at(number):
            asked = query_by_text(take_required(record, _TABLE[:1], "query"), source.limits)
            chunk_id = as_id(
                take_required(record, _TABLE[1:], "document id"), "chunk", source.limits
            )
            for judge in judges:
                _check_rating(judge, record.get(judge))
        given = {judge: record[judge] for judge in judges if str(record.get(judge, "")).strip()}
        yield PeerGrade(number, asked, chunk_id, tuple(given.values()), tuple(given))


def _check_rating(judge: str, value: object) -> None:
    try:
        float(str(value or 0))
    except ValueError:
        raise BadInput(
            f"the column {judge!r} holds {short(value)}; beside query and docid each column is a "
            "judge's ratings, unless one is named grade or rating"
        ) from None


def grades_in_case(document: JsonDocument, start: int) -> PeerGrades:
    """Yield the ratings of an exported case, whose queries begin at ``start``."""
    for entry in document.parts(start):
        with document.source.at(entry.line):
            query = dict(check_mapping(entry.value, f"each of {QUERIES}"))
            asked = query_by_text(take_required(query, _TEXT, "query"), document.source.limits)
            for chunk_id, rating in _ratings(query.get("ratings"), document.source.limits):
                yield PeerGrade(entry.line, asked, chunk_id, () if rating is None else (rating,))


def _ratings(given: object, limits: Limits) -> Iterator[tuple[str, Any]]:
    """Yield documents with their ratings, which Quepid writes as a list or as an object."""
    if isinstance(given, dict):
        for chunk_id, rating in given.items():
            yield as_id(chunk_id, "chunk", limits), rating
        return
    for each in take_list({"ratings": given}, ("ratings",), "ratings"):
        rating = dict(check_mapping(each, "each of the ratings"))
        yield (
            as_id(take_required(rating, _DOCUMENT, "document id"), "chunk", limits),
            rating.get("rating"),
        )


def queries_in(document: JsonDocument, start: int) -> Iterator[tuple[int, PeerQuery]]:
    """Yield the query of each part of a book or a case that begins at ``start``."""
    for entry in document.parts(start):
        with document.source.at(entry.line):
            part = dict(check_mapping(entry.value, "each entry"))
            yield (
                entry.line,
                query_by_text(take_required(part, _TEXT, "query"), document.source.limits),
            )


def ratings_csv(queries: Sequence[Query], grades: Sequence[GoldenGrade]) -> str:
    """Return ratings as Quepid imports them; a query without any has a row, too.

    A text that a spreadsheet would run starts with a blank, as in Quepid's exports, and so does an
    id that could do something there; `restore_id` takes it away again.
    """
    by_query = _by_query(queries, grades)
    rows: list[dict[str, object]] = []
    for query in queries:
        text, given = query.text, by_query[query.query_id]
        text = f" {text}" if text.startswith(("=", "+", "-", "@")) else text
        rows += [
            {"query": text, "docid": _guarded_id(each.chunk_id), "rating": each.grade}
            for each in given
        ]
        rows += [] if given else [{"query": text, "docid": None, "rating": None}]
    return as_csv(rows or [dict.fromkeys(RATINGS_COLUMNS)], raw=True)


def _guarded_id(chunk_id: str) -> str:
    guarded = chunk_id.lstrip(" ").startswith(("=", "+", "-", "@"))
    return f" {chunk_id}" if guarded and not _HARMLESS.fullmatch(chunk_id) else chunk_id


def restore_id(cell: str) -> str:
    """Return the id in a cell of ratings that we wrote; an id in Quepid's own is unchanged.

    >>> restore_id(" =HYPERLINK(1)"), restore_id("-xYz1"), restore_id(" -xYz1")
    ('=HYPERLINK(1)', '-xYz1', ' -xYz1')
    """
    chunk_id = cell.removeprefix(" ")
    return chunk_id if _guarded_id(chunk_id) == cell else cell


def restore_ids(record: Record) -> Record:
    """Return a row of ratings with the id that it had before it was written."""
    return {key: restore_id(cell) if key == "docid" else cell for key, cell in record.items()}


def book_json(
    queries: Sequence[Query], grades: Sequence[GoldenGrade], chunks: Mapping[str, Chunk], name: str
) -> str:
    """Return a book as Quepid imports it, with the graders named by email address as judges.

    Other graders are left anonymous: Quepid refuses a book with judges that it cannot know.
    """
    by_query = _by_query(queries, grades)
    pairs = [
        {
            "query_text": query.text,
            "doc_id": grade.chunk_id,
            "position": None,
            "document_fields": _fields(chunks.get(grade.chunk_id)),
            "judgements": [_judgement(grade, person) for person in _judges(grade)],
        }
        for query in queries
        for grade in by_query[query.query_id]
    ]
    book = {"name": name, **_BOOK, "scale": [0, 1, 2, 3], PAIRS: pairs}
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def _fields(chunk: Chunk | None) -> str:
    """Return the fields that a judge sees of a document, as JSON text for Quepid."""
    shown = {"title": chunk.title, "text": chunk.text} if chunk else {}
    return json.dumps({name: text for name, text in shown.items() if text}, ensure_ascii=False)


def _judges(grade: GoldenGrade) -> Sequence[str | None]:
    return [name for name in grade.graders if "@" in name] or [None]


def _judgement(grade: GoldenGrade, person: str | None) -> dict[str, object]:
    return {
        "rating": float(grade.grade),
        "unrateable": False,
        "judge_later": False,
        "user_email": person,
        "explanation": grade.note,
    }


def _by_query(
    queries: Sequence[Query], grades: Sequence[GoldenGrade]
) -> dict[str, list[GoldenGrade]]:
    found: dict[str, list[GoldenGrade]] = {query.query_id: [] for query in queries}
    for grade in grades:
        found[grade.query_id].append(grade)
    return found
