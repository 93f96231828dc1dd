"""Format detection: the kind of a file, and the reason, from its beginning.

It never fails: a file that is not recognised gives a `Guess` without a kind that says what is
missing. Field names decide first; where several kinds have the same ones the values decide, then
the file's name. A wrong guess does no harm: the reader of that kind reports what is missing.
"""

from __future__ import annotations

import csv
import json
import os
import re
import stat
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Literal, TypeAlias

from labeler.errors import BadInput, LabelerError
from labeler.formats.beir import folder_parts, list_members
from labeler.formats.beir_parts import missing_parts, named_parts, parts_among
from labeler.formats.csv_tables import header_names
from labeler.formats.field_aliases import (
    CHUNK_ID,
    CHUNK_ID_OR_DOCUMENT,
    CHUNK_OF_PAIR,
    CHUNK_OF_RESULT,
    CHUNK_TEXT,
    COMPLETE,
    CORRECT,
    DATE,
    DISTANCE,
    DOCUMENT_ID,
    FROZEN,
    GRADE,
    GRADED,
    LISTS,
    ONE_QUERY,
    POSITION,
    QUERY_ID,
    QUERY_OF_PAIR,
    QUERY_TEXT,
    RANK,
    RANK_OR_PLACE,
    RUN_NAME,
    SCORE,
    SIGNAL,
    SYSTEM,
    TITLE,
    VALUE,
)
from labeler.formats.json_records import (
    Record,
    begins_document,
    format_keys,
    or_list,
    parse_beginning,
    parse_object,
    short,
    starts_json,
    with_known_names,
)
from labeler.formats.lines import (
    InputFile,
    StrPath,
    file_source,
    is_parquet,
    memory_source,
    read_head,
    stat_path,
)
from labeler.formats.peers import quepid
from labeler.formats.peers.column_wise import find_columns, refusal
from labeler.formats.peers.datasets import QUESTIONS
from labeler.formats.peers.detection import is_peer_document
from labeler.formats.peers.opensearch import QUERY_SET, RATINGS
from labeler.formats.peers.quepid import PAIRS
from labeler.formats.peers.ranx import are_grades, is_by_query
from labeler.formats.retrieval.spans import begins_otlp
from labeler.formats.retrieval.tool_readers import find_reader
from labeler.formats.retrieval.wrapped import MTEB, beginning_of_list, unwrap, unwrapped
from labeler.formats.trec import QRELS_COLUMNS, RUN_COLUMNS
from labeler.model import GRADES, format_count

Kind: TypeAlias = Literal[
    "queries",
    "chunks",
    "records",
    "golden",
    "run",
    "beir",
    "version",
    "complete",
    "answers",
    "signals",
]

_DATASET = "queries, texts of chunks and what is relevant, in one"
_DOCUMENTS: dict[str, tuple[Kind, str]] = {
    RATINGS: ("golden", "judgments of OpenSearch"),
    QUERY_SET: ("queries", "a query set of OpenSearch"),
    PAIRS: ("golden", "a book of Quepid"),
    "ratings": ("golden", "a case of Quepid"),
    "relevant_documents": ("golden", "ratings of the Rated Ranking Evaluator"),
    **dict.fromkeys(("relevant_docs", *QUESTIONS), ("golden", _DATASET)),
}
# A large one is cut off before what is relevant.
_BEGINS_DATASET = re.compile(r'\s*\{\s*"(queries|corpus)"\s*:\s*\{\s*"[^"\\]*"\s*:\s*["{]')
_ZIP = b"PK\x03\x04"
_PAGE = re.compile(r"\s*<(!doctype|html|\?xml)\b", re.IGNORECASE)
_MOST_RECORDS = 100
_MOST_ALIKE = 5  # lines with the same number of columns that make a table
_LONGEST_QUERY = 200  # characters; texts with a longer median are no questions
_ANY_ID = tuple(name for name in QUERY_ID if name in CHUNK_ID)
_QUERIES_OWN = tuple(name for name in (*QUERY_ID, *QUERY_TEXT) if name not in (*_ANY_ID, "text"))
_CHUNKS_OWN = tuple(name for name in (*CHUNK_ID, *CHUNK_TEXT) if name not in (*_ANY_ID, "text"))
_ORDERED = (*SCORE, *DISTANCE, *RANK)
_VALUES = frozenset((*GRADED, *_ORDERED))
# These are a chunk's id only beside the id of a query and a score, rank or grade.
_WEAK_IDS = frozenset(("_id", "id"))
_WEAK_PAIR = frozenset(("doc", "document_id", *QUERY_OF_PAIR[len(QUERY_OF_PAIR.shown) :]))
_CHUNKS_HELP = (*TITLE, *DOCUMENT_ID, *POSITION)
_OF_PAIRS_AND_TEXTS = (
    *(*QUERY_OF_PAIR, *CHUNK_OF_RESULT, *GRADE, *SCORE, *DISTANCE, *RANK, *RANK_OR_PLACE),
    *(*QUERY_ID, *QUERY_TEXT, *RUN_NAME, *CHUNK_ID_OR_DOCUMENT),
    *(*CHUNK_ID, *CHUNK_TEXT, *_CHUNKS_HELP),
)
_KNOWN = (
    *_OF_PAIRS_AND_TEXTS,
    *(*DATE, *SYSTEM, *SIGNAL, *VALUE, *CORRECT),
)
_BESIDE_PAIRS = frozenset(
    (
        *(*_OF_PAIRS_AND_TEXTS, "metadata", "iteration", "iter", "q0", "Q0"),
        *("grader", "graders", "note", "notes"),
    )
)
_NEEDED = (
    "queries need query_id and query, chunks chunk_id and text, runs query_id, chunk_id and score, "
    "golden grades query_id, chunk_id and grade, answers query and correct, signals date, system, "
    "name and value"
)
_ONE_BY_ONE = "give its files one by one"
_OR_WHOLE_TEXTS = (
    f"{_ONE_BY_ONE}, or, where they are whole texts, the folder to 'labeler load documents'"
)


@dataclass(frozen=True, slots=True)
class Guess:
    """The probable kind of a file, and the reason; without a ``kind``, what the file lacks."""

    kind: Kind | None
    why: str
    could_be: tuple[Kind, ...] = ()  # kinds between which only a person can decide


def guess(path: StrPath, content: bytes | None = None) -> Guess:
    """Guess the kind of the file or folder at ``path``, or of a file of that name with ``content``.

    >>> guess("x.txt", b"q1 Q0 c7 1 2.5 bm25")
    Guess(kind='run', why='six columns per line, with rank and score, as a TREC run', could_be=())
    >>> guess("x.csv", b"q1,c7,3").kind
    """
    shown = os.fspath(path)
    try:
        if content is not None:
            return _guess_file(memory_source(shown, content))
        found = stat_path(Path(path), shown)
        if found is not None and stat.S_ISDIR(found.st_mode):
            return _guess_beir(folder_parts(Path(path), shown), "a folder", shown, _OR_WHOLE_TEXTS)
        return _guess_file(file_source(path))
    except LabelerError as error:
        message = str(error).removeprefix(shown)
        return Guess(None, re.sub(r"^:(?=\d+:)", "line ", message).removeprefix(": "))


def _guess_file(source: InputFile) -> Guess:
    with source.open() as stream:
        if stream.read(len(_ZIP)) == _ZIP:
            return _guess_zip(source)
    lines = read_head(source)
    if is_parquet(source):
        return _guess_records(source, [*_json_records(lines)], "row")
    if any("\0" in line for line in lines):
        raise source.fail(None, "it is binary, no text; save it as CSV or JSONL in UTF-8")
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    number, first = next((n_line for n_line in numbered if n_line[1][0] != "#"), (0, ""))
    if not number:
        raise source.fail(None, "nothing is in it but blank lines and comments")
    if _PAGE.match(first):
        raise source.fail(None, "it is a web page or XML; save the data in it as CSV or JSONL")
    rest = [first, *(line for _, line in numbered)]
    begins = first.strip().encode(errors="replace")
    if begins_otlp("\n".join(rest[:3]).lstrip().encode(errors="replace")):
        return Guess("records", "spans of a trace, as OpenTelemetry writes them")
    if begins_document(begins) or (begins.startswith(b"{") and _is_one_line_document(begins)):
        return _guess_document(source, "\n".join(rest))
    if starts_json(source, number, begins):
        records = [parse_object(source, number, first), *_json_records(rest[1:])]
        return _guess_records(source, _without_wrapping(source, records), "line")
    table = _table_records(rest)
    return _guess_records(source, table, "row") if table else _guess_columns(source, rest)


def _is_one_line_document(line: bytes) -> bool:
    try:
        value = json.loads(line)
        return is_peer_document(value) or bool(find_columns(value))
    except (ValueError, RecursionError):
        return False


def _guess_document(source: InputFile, text: str) -> Guess:
    """Guess the kind of JSON that is one object or one list from its beginning."""
    parts = parse_beginning(text)
    if text.lstrip().startswith("["):
        records = [part for part in parts[:_MOST_RECORDS] if isinstance(part, dict)]
        if not records:
            raise source.fail(None, f"a JSON list without objects in it; {_NEEDED}")
        return _guess_records(source, _without_wrapping(source, records), "record")
    inside = _guess_wrapped(text, dict(parts))
    if inside is not None and inside.kind is not None:
        return inside
    for key, (kind, what) in _DOCUMENTS.items():
        if f'"{key}"' in text:
            return Guess(kind, what)
    if _BEGINS_DATASET.match(text):
        return Guess("golden", _DATASET)
    if inside is not None:
        return inside
    found = dict(parts)
    if columns := find_columns(found):
        raise source.fail(None, refusal(columns))
    if not is_by_query(found):
        raise source.fail(None, f"one JSON object of no known kind; {_NEEDED}")
    if are_grades(found):
        return _guess_small_numbers(source.name, found)
    if any(isinstance(value, dict) for value in found.values()):
        return Guess("run", "a score for each chunk, by query")
    if re.search("qrel|golden|relevan|judg|truth", source.name, re.IGNORECASE):
        return Guess("golden", "a list of chunks by query, and its name says that they are right")
    return Guess("run", "a list of chunks by query")


def _without_wrapping(source: InputFile, records: Sequence[Record]) -> Sequence[Record]:
    """Return records, and those inside them where they are objects with records in them."""
    inner = (record for _, record in unwrapped(source, iter(enumerate(records, 1))))
    return [*islice(inner, _MOST_RECORDS)] or records


def _guess_wrapped(text: str, found: Record) -> Guess | None:
    """Recognise an object that is a record, or holds a list of records, of retrievals."""
    if f'"{MTEB}"' in text:
        return Guess("records", "predictions of MTEB: ranked lists by the ids of queries")
    try:
        inside = unwrap(found)
    except BadInput as error:
        return Guess(None, str(error))
    if inside is None:
        key, entries = beginning_of_list(text)
        if key == "responses":
            return Guess("records", "answers of a search engine to many searches")
        inside = unwrap({key: entries}) if entries and key not in found else None
    records = [found] if inside is None else [each for each in inside.records if each is not None]
    records = records[:_MOST_RECORDS]
    return _guess_retrievals(records, "record") if records else None


def _guess_small_numbers(name: str, by_query: Record) -> Guess:
    """Tell grades by query from scores: ranx writes grades as whole numbers, scores never so."""
    by_name = _guess_by_name(name, "a number for each chunk, by query")
    numbers = [each for of in by_query.values() if isinstance(of, dict) for each in of.values()]
    if by_name.kind is None and all(isinstance(each, int) for each in numbers):
        return Guess("golden", "a grade for each chunk, by query")
    return by_name


def _guess_zip(source: InputFile) -> Guess:
    try:
        with source.open() as stream:
            members = list_members(stream, source.name)
    except zipfile.BadZipFile as error:
        raise source.fail(None, "the zip archive is cut off or damaged; copy it again") from error
    names = [member.filename for member in members]
    if "[Content_Types].xml" in names:
        raise source.fail(None, "it is a spreadsheet or a document; save it as CSV in UTF-8")
    return _guess_beir(names, "a zip archive", source.name, _ONE_BY_ONE)


def _guess_beir(paths: Iterable[str], what: str, shown: str, otherwise: str) -> Guess:
    parts = parts_among(paths, shown)
    if missing := missing_parts(parts):
        return Guess(None, f"{what} without {' and '.join(missing)} is no BEIR set; {otherwise}")
    return Guess("beir", f"{what} with {named_parts(parts)}, as BEIR has them")


def _json_records(lines: Iterable[str]) -> Iterator[Record]:
    """Yield the records after the first, without invalid ones, which the reader will report."""
    for line in islice(lines, _MOST_RECORDS):
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def _table_records(lines: Sequence[str]) -> list[Record]:
    """Return the first records of a table, or none where the first line is no header."""
    for separator in "\t,;":
        rows = _rows(lines, separator)
        header = header_names(next(rows, []), _KNOWN)
        if len(header) > 1 and {*header} & {*_KNOWN}:
            body = [dict(zip(header, row, strict=False)) for row in islice(rows, _MOST_RECORDS)]
            return body or [dict.fromkeys(header)]
    return []


def _rows(lines: Sequence[str], separator: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader((f"{line}\n" for line in lines), delimiter=separator)
    except csv.Error:
        return


def _guess_columns(source: InputFile, lines: Sequence[str]) -> Guess:
    """Guess the kind of lines without a header, as in TREC files."""
    cells = lines[0].split()
    numbers = [_is_number(cell) for cell in cells]
    columns = len(RUN_COLUMNS[0].split())
    tagged = len(cells) > columns and not numbers[columns - 1]
    if (len(cells) == columns or tagged) and numbers[3] and numbers[4]:
        return Guess("run", "six columns per line, with rank and score, as a TREC run")
    if len(cells) == len(QRELS_COLUMNS[0].split()) and numbers[3]:
        return Guess("golden", "four columns per line, the last a grade, as in TREC qrels")
    first = lines[:_MOST_ALIKE]
    for separator, is_table in ((",", True), ("\t", True), (";", True), (None, any(numbers))):
        fewest, *others = sorted({len(line.split(separator)) for line in first})
        if is_table and fewest > 1 and not others:
            found = format_count(fewest, "column", "columns")
            raise source.fail(None, f"{found} without a header that names them; {_NEEDED}")
    raise source.fail(None, f"neither a table nor JSON lines; {_NEEDED}")


def _guess_records(source: InputFile, records: Sequence[Record], place: str) -> Guess:
    numbered = with_known_names(iter(enumerate(records)), _KNOWN)
    records = [record for _, record in numbered]
    keys = {key for record in records for key in record}
    if COMPLETE in records[0] and "golden" in records[0]:
        return Guess("complete", "its first line says so: a golden set with all that was said")
    if FROZEN in records[0] and "hash" in records[0]:
        return Guess("version", "its first line names a golden set that was frozen, and its hash")
    if "judgments" in keys:
        return Guess("golden", f"a query per {place} with its judgments: a golden set")
    if {"event_id", "grader"} <= keys:
        return Guess("golden", f"an event per {place}, with its grader: a log of judgments")
    special = _guess_online(keys, place) or _guess_retrievals(records, place)
    if special is not None:
        return special
    if keys & {*QUERY_OF_PAIR}:
        if any(isinstance(record.get(name), list) for record in records for name in LISTS):
            return Guess("run", f"a query per {place} with the list of its results")
        if _are_pairs(keys):
            return _guess_pairs(source.name, records, keys, place)
    found = _guess_texts(source.name, records, keys, place)
    if found is None:
        names = ", ".join(map(short, records[0])) or "none"
        what = "columns" if place == "row" else "keys"
        raise source.fail(None, f"its {what} ({names}) do not say what the file holds; {_NEEDED}")
    return found


def _guess_online(keys: set[str], place: str) -> Guess | None:
    """Recognise signals from users, and answers that are marked right or wrong."""
    if all(keys & {*names} for names in (DATE, SYSTEM, SIGNAL, VALUE)):
        return Guess("signals", f"a date, a system and a value per {place}: what users did")
    if keys & {*CORRECT} and keys & {*QUERY_OF_PAIR} and not keys & {*CHUNK_OF_PAIR}:
        return Guess("answers", f"a query per {place}, and whether its answer is correct")
    return None


def _guess_retrievals(records: Sequence[Record], place: str) -> Guess | None:
    """Recognise records of what was retrieved for a question, with the texts."""
    try:
        reader = find_reader(records)
    except BadInput as error:
        return Guess(None, str(error))
    return None if reader is None else Guess("records", f"{reader.describe()} per {place}")


def _are_pairs(keys: set[str]) -> bool:
    """Return whether each record is of a query and a chunk."""
    if not keys & _VALUES:
        placed = keys & {*RANK_OR_PLACE} and not keys & {*CHUNK_TEXT}
        strong = keys - (_WEAK_IDS if placed else _WEAK_PAIR)
        return bool(strong & {*QUERY_OF_PAIR} and strong & {*CHUNK_OF_PAIR})
    weak = frozenset() if keys & ONE_QUERY else _WEAK_IDS
    return bool(keys & {*QUERY_OF_PAIR} and (keys - weak) & {*CHUNK_OF_RESULT})


def _guess_pairs(name: str, records: Sequence[Record], keys: set[str], place: str) -> Guess:
    """Guess whether pairs of query and chunk are graded or retrieved."""
    grade = next((name for name in GRADED if name in keys), None)
    ordered = [name for name in _ORDERED if name in keys]
    if grade is not None:
        also = f"; it can be loaded as a run, too, by its {ordered[0]}" if ordered else ""
        return Guess("golden", f"a query, a chunk and a grade ({grade}) per {place}{also}")
    judges = quepid.judges_in([*records[0]])
    if judges and all(_is_grade_or_none(each.get(name)) for each in records for name in judges):
        return Guess(
            "golden", f"a query, a chunk and each judge's rating per {place}: Quepid's book"
        )
    if not ordered:
        return _guess_without_order(keys, place)
    if keys & {*RANK, *DISTANCE}:
        return Guess("run", f"a query and a chunk per {place}, with {' and '.join(ordered)}")
    if "corpus-id" in keys:
        return Guess("golden", f"a query, a chunk and a score per {place}, named as in BEIR qrels")
    if all(_is_grade(record.get(ordered[0])) for record in records):
        return _guess_by_name(name, f"a query, a chunk and a {ordered[0]} per {place}")
    return Guess("run", f"a query and a chunk per {place}, with a {ordered[0]} that is no grade")


def _guess_without_order(keys: set[str], place: str) -> Guess:
    """Guess the kind of pairs that have neither grade nor score nor rank under a known name."""
    if places := [name for name in RANK_OR_PLACE if name in keys]:
        return Guess("run", f"a query and a chunk per {place}, with {places[0]}")
    unknown = sorted(keys - _BESIDE_PAIRS - {""})
    if not unknown:
        return Guess("run", f"a query and a chunk per {place}, best first")
    one = short(unknown[0])
    return Guess(
        None,
        f"a query and a chunk per {place}, but no score, rank or grade of a known name (left are "
        f"{format_keys(unknown)}); if {one} is a grade, name it grade and 'labeler load golden' "
        "takes it; if it orders a run, name it score or rank and 'labeler load run' takes it",
    )


def _guess_by_name(name: str, what: str) -> Guess:
    """Tell numbers that are all 0, 1, 2 or 3 by the file's name: golden grades or scores."""
    name = os.path.basename(name)
    if re.search("qrel|golden|relevan|judg|truth|grade|rating|label", name, re.IGNORECASE):
        return Guess("golden", f"{what}, all of them 0, 1, 2 or 3, and its name says grades")
    if re.search(r"(^|[^a-z])(run|results?|retriev\w*)([^a-z]|$)", name, re.IGNORECASE):
        return Guess("run", f"{what}, and its name says run")
    return Guess(
        None,
        f"{what}, all of them 0, 1, 2 or 3: grades as well as scores of a run; if they are grades, "
        "take 'labeler load golden', if they order a run, 'labeler load run'",
        ("golden", "run"),
    )


def _guess_texts(name: str, records: Sequence[Record], keys: set[str], place: str) -> Guess | None:
    if (
        keys & {*_QUERIES_OWN} <= {*QUERY_TEXT}
        and keys & _WEAK_IDS
        and _are_more_than_queries(records, keys)
    ):
        one = next(name for name in ("id", "_id") if name in keys)
        return Guess(
            None,
            f"a query and an {one} per {place}; if the {one} is a chunk's, 'labeler load run' "
            "takes it; if it is the query's, 'labeler load queries' takes it",
            ("queries", "run"),
        )
    if "chunk_id" not in keys and keys & {*_QUERIES_OWN} and keys & {*QUERY_TEXT}:
        return _guess_with_id("queries", keys, QUERY_ID, place)
    if keys & ONE_QUERY and keys & _VALUES and not keys & {*QUERY_TEXT}:
        value = next(iter(sorted(keys & _VALUES)))
        return Guess(
            None,
            f"a query and a {value} per {place}, but no id of a chunk; name it "
            f"{or_list(CHUNK_OF_PAIR)} (found: {format_keys(records[0])})",
        )
    if keys & {*_CHUNKS_OWN} or ("text" in keys and keys & {*_CHUNKS_HELP}):
        return _guess_with_id("chunks", keys, CHUNK_ID.then(CHUNK_ID_OR_DOCUMENT), place)
    if "text" in keys and keys & {*_ANY_ID}:
        kind, why = _queries_or_chunks(name, [str(record.get("text") or "") for record in records])
        return Guess(kind, f"an id and a text per {place}, and {why}")
    return _guess_with_id("queries", keys, QUERY_ID, place) if "text" in keys else None


def _are_more_than_queries(records: Sequence[Record], keys: set[str]) -> bool:
    """Return whether records of queries have values for them, or one of them more than once."""
    asked = next((name for name in QUERY_TEXT if name != "text" and name in keys), None)
    if asked is None:
        return False
    texts = [str(record.get(asked)) for record in records]
    return bool(keys & _VALUES) or len(set(texts)) < len(texts)


def _guess_with_id(kind: Kind, keys: set[str], ids: Sequence[str], place: str) -> Guess:
    one = {"queries": "query", "chunks": "chunk"}[kind]
    if not keys & {*ids}:
        texts = [name for name in QUERY_TEXT if name in keys and name != "text"]
        lists = sorted(key for key in keys if key.endswith("_ids"))
        if lists and texts:
            return Guess(
                None,
                f"a {texts[0]} per {place}, with {format_keys(lists)} of no known meaning; a run "
                f"has a chunk per {place}, or in JSON a list under results, golden grades a list "
                "under relevant_ids",
            )
        if kind == "queries" and texts:
            return Guess(kind, f"a {texts[0]} per {place}, with an id made of its text")
        return Guess(None, f"each {place} has a text, but no id; name it {or_list(ids)}")
    found = [key for key in (*ids, *QUERY_TEXT, *CHUNK_TEXT) if key in keys]
    return Guess(kind, f"a {one} per {place} ({', '.join(dict.fromkeys(found))})")


def _queries_or_chunks(name: str, texts: Sequence[str]) -> tuple[Kind, str]:
    """Tell queries from chunks where only their texts differ."""
    asking = sum(text.rstrip().endswith(("?", "？", "؟")) for text in texts)
    if asking * 3 >= len(texts):
        return "queries", "the texts are questions"
    if re.search("quer|question|topic", name, re.IGNORECASE):
        return "queries", "its name says queries"
    if re.search("chunk|corpus|passage|document", name, re.IGNORECASE):
        return "chunks", "its name says chunks"
    if median(map(len, texts)) <= _LONGEST_QUERY:
        return "queries", "the texts are short"
    return "chunks", "the texts are long"


def _is_grade_or_none(value: object) -> bool:
    return not str(value or "").strip() or _is_number(str(value))


def _is_grade(value: object) -> bool:
    return _is_number(str(value)) and float(str(value)) in GRADES


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
