"""Files of grades; knows how to tell a golden set, a log, qrels and a table of ratings apart."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from statistics import median_low
from typing import TypeAlias

from labeler.errors import BadInput
from labeler.formats import quepid, ragas
from labeler.formats.documents import Document
from labeler.formats.events import events_from, is_log
from labeler.formats.grades import UNGRADED, GradeRule
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import (
    CARRIED,
    CHUNK_OF_PAIR,
    CHUNKING,
    COMPLETE,
    FROZEN,
    GRADE,
    ONE_QUERY,
    QUERY_OF_PAIR,
)
from labeler.formats.pairs import Pairs, empty_golden
from labeler.formats.peers import graded_in, in_json
from labeler.formats.qrels import Grades, plain_qrels
from labeler.formats.queries import loaded_queries, query_of
from labeler.formats.reading import (
    Lines,
    Progress,
    Source,
    StrPath,
    file_source,
    open_blocks,
    open_lines,
    peek_block,
    peek_line,
)
from labeler.formats.records import (
    Record,
    Records,
    as_id,
    named,
    peek_record,
    short,
    take,
    take_id,
    take_names,
    take_text,
)
from labeler.formats.spool import Ids, Spool, weight_of
from labeler.formats.spreadsheet import CSV_COLUMNS, CSV_COLUMNS_OF_CHUNKINGS, revived
from labeler.formats.tables import is_header, read_table
from labeler.formats.told import Graded, Told
from labeler.formats.trec import QRELS, TrecFile
from labeler.model import (
    UNNAMED,
    CarriedFrom,
    Evidence,
    GoldenGrade,
    Loaded,
    LoadedGolden,
    Query,
    Ungraded,
    called_in,
    check_carried_from,
    check_chunking,
    check_evidence,
)

_GRADERS = ("graders", "grader")
_WORDING = re.compile("[0-9a-f]{32}")
_NOTE = ("note", "notes")
_JUDGMENT = {"chunk_id", "grade", "graders", "note", "evidence", "text_hash", CHUNKING, CARRIED}
_WANTED = {"query id": QUERY_OF_PAIR, "chunk id": CHUNK_OF_PAIR, "grade": GRADE}


def read_golden(
    path: StrPath,
    *,
    negative_as_zero: bool = False,
    grade_map: Mapping[float, int] | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
    negative_as_ungraded: bool = False,
) -> LoadedGolden:
    """Read grades, plain or gzip; the content says in which format they are.

    These are: a golden set as JSONL (its buckets are taken as they stand), the log as JSONL,
    TREC qrels, a BEIR ``qrels/test.tsv``, and JSONL, CSV or TSV with a query, a chunk and a
    grade per line (``query,docid,rating``), where a blank rating or chunk means not graded.
    Of other tools: a book or a case of Quepid, judgments of OpenSearch, samples of RAGAS, lists of
    ``{query, relevant_ids, relevance_map}`` and JSON by query. Those that name a query by its text
    bring it along, under an id made of the text.

    Grades are 0, 1, 2 or 3; ``grade_map`` says what other numbers stand for, and names all of them
    where one is a fraction. Several judges' ratings become their lower median. The same pair
    twice counts once, with two different grades it is refused. Raises `BadInput` with file and
    line, `NotFound` for a missing file.
    """
    rule = GradeRule(negative_as_zero, grade_map or {}, negative_as_ungraded)
    return golden_from(file_source(path, name, limits), rule, progress)


def read_grades(path: StrPath, rule: GradeRule, limits: Limits = LIMITS) -> Grades:
    """Return what `read_golden` reads as ``{query: {chunk: grade}}``, and nothing else of it.

    Pairs that are in the pool alone have -1, and follow the others.
    """
    source = file_source(path, None, limits)
    plain = _plain(source, rule) if source.size else None  # what comes through a pipe comes once
    if plain is not None:
        return plain
    read = golden_from(source, rule)
    found: Grades = {}
    for each in chain[GoldenGrade | Ungraded](read.grades.records, read.ungraded.records):
        found.setdefault(each.query_id, {})[each.chunk_id] = each.grade
    return found


def _plain(source: Source, rule: GradeRule) -> Grades | None:
    """Return the grades of plain qrels; None for any other file, and one with an error in it."""
    with suppress(BadInput), open_blocks(source) as blocks:
        number, first, blocks = peek_block(source, blocks)
        if number and not _is_table(first) and not _judges(first):
            return plain_qrels(blocks, rule, source.limits.id)
    return None


def golden_from(source: Source, rule: GradeRule, progress: Progress | None = None) -> LoadedGolden:
    """Read grades from a source, as `read_golden` does."""
    pairs = Pairs(source, rule)
    try:
        with open_lines(source, progress) as lines:
            return _read(pairs, lines)
    except BadInput:
        pairs.check_scale()  # what was wrong first is told first
        raise


def _read(pairs: Pairs, lines: Lines) -> LoadedGolden:
    number, first, lines = peek_line(pairs.source, lines, comments=True)
    if number == 0:
        raise pairs.source.fail(None, "there is no grade in it")
    found = in_json(pairs.source, number, first, lines)
    if isinstance(found, Document):
        return _read_told(pairs, graded_in(found))
    if found is not None:
        number, keys, records = peek_record(found)
        if number == 0:
            raise pairs.source.fail(None, "there is no grade in it")
        with pairs.source.at(number):
            reader = _reader_of(keys)
        return reader(pairs, records)
    if judges := _judges(first):
        said = ", ".join(map(short, judges))
        pairs.warnings.append(f"read as a table of a Quepid book, with a column by each of: {said}")
        return _read_told(pairs, quepid.graded_in_table(pairs.source, lines, judges))
    if _is_table(first):
        _read_table(pairs, first, lines)
    else:
        _read_qrels(pairs, lines)
    return pairs.golden()


def _is_table(first: bytes) -> bool:
    return is_header(first, QUERY_OF_PAIR, CHUNK_OF_PAIR)


def _judges(first: bytes) -> tuple[str, ...]:
    """Return who rated, where a file begins as the table of a Quepid book does."""
    try:
        header = next(csv.reader([first.decode("utf-8-sig", errors="replace")]), [])
    except csv.Error:  # no table at all, which its own reader says better
        return ()
    return quepid.judges_in(header)


def _read_qrels(pairs: Pairs, lines: Lines) -> None:
    file = TrecFile(pairs.source, QRELS)
    known: dict[bytes, int | None] = {}
    for number, (query, _, chunk, grade) in file.rows(lines):
        query_id = file.text(number, query)
        chunk_id = file.text(number, chunk)
        try:
            if grade not in known:
                known[grade] = pairs.grade_of(number, grade.decode(errors="replace"))
            _put(pairs, number, query_id, chunk_id, known[grade])
        except BadInput as error:  # without `at`, which takes a tenth of the time
            raise pairs.source.fail(number, str(error)) from error
    if file.comments:
        pairs.skipped["comment lines"] = file.comments


def _read_table(pairs: Pairs, first: bytes, lines: Lines) -> None:
    columns = tuple(first.decode(errors="replace").split(","))
    is_cut_again = columns == CSV_COLUMNS_OF_CHUNKINGS
    known = (*_GRADERS, *_NOTE, *([CHUNKING] if is_cut_again else []))
    records = read_table(pairs.source, lines, _WANTED, known)
    if is_cut_again or columns == CSV_COLUMNS:
        records = ((number, revived(record)) for number, record in records)
    _read_flat(pairs, records, of_chunkings=is_cut_again)


def _read_flat(pairs: Pairs, records: Records, *, of_chunkings: bool = False) -> None:
    """Read one grade per record; without a chunk or a grade it says "not graded".

    Of a column called chunking it takes which one a chunk is of only where it is ``of_chunkings``:
    others may mean another thing by it.
    """
    for number, record in records:
        with pairs.source.at(number):
            limits = pairs.source.limits
            query_id = take_id(record, QUERY_OF_PAIR, "query", limits, ONE_QUERY)
            chunk_id, grade = take(record, CHUNK_OF_PAIR), take(record, GRADE)
            if _blank(chunk_id) or _blank(grade):
                pairs.skipped["not graded, skipped"] += 1
                continue
            people, note = take_names(record, _GRADERS, ";"), take_text(record, _NOTE)
            chunk_id = as_id(chunk_id, "chunk", limits)
            chunking = _chunking_of(record) if of_chunkings else UNNAMED
            rest = (people, note, None, chunking)
            _put(pairs, number, query_id, chunk_id, pairs.grade_of(number, grade), *rest)


def _put(
    pairs: Pairs,
    line: int,
    query_id: str,
    chunk_id: str,
    grade: int | None,
    graders: tuple[str, ...] = (),
    note: str | None = None,
    evidence: Evidence | None = None,
    chunking: str = UNNAMED,
    carried_from: tuple[CarriedFrom, ...] = (),
) -> None:
    """Note what was said of a pair, unless it was off the scale, which is told in the end."""
    if grade == UNGRADED:
        pairs.add_ungraded(line, query_id, chunk_id)
    elif grade is not None:
        called = called_in(chunking, chunk_id) if chunking else chunk_id
        known = (query_id, called, grade, graders, note, evidence, chunking, carried_from)
        pairs.add(line, GoldenGrade(*known))


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


_Reader: TypeAlias = Callable[[Pairs, Records], LoadedGolden]


def _reader_of(keys: Record) -> _Reader:
    """Return what reads a file whose first record has these keys."""
    if "judgments" in keys:
        return _read_set
    if COMPLETE in keys:
        raise BadInput("a complete golden set: 'labeler load complete FILE' takes it")
    if FROZEN in keys:
        raise BadInput("a frozen version of a golden set: 'labeler load version FILE' takes it")
    if is_log(keys):
        return _read_log
    if set(keys) & set(GRADE):
        return _read_pairs
    if ragas.is_relevance(keys):
        return _read_relevance
    raise BadInput(
        "neither a golden set (key judgments), nor a log (keys event_id and grader), nor one "
        "grade per line (key grade), nor what is right for a query (keys relevant_ids or "
        f"reference_contexts); the keys found are {named(keys)}"
    )


def _read_pairs(pairs: Pairs, records: Records) -> LoadedGolden:
    _read_flat(pairs, records)
    return pairs.golden()


def _read_relevance(pairs: Pairs, records: Records) -> LoadedGolden:
    return _read_told(pairs, _relevance(pairs.source, records))


def _relevance(source: Source, records: Records) -> Told:
    for number, record in records:
        with source.at(number):
            yield from ragas.graded_in(number, record, source.limits)


def _read_told(pairs: Pairs, told: Told) -> LoadedGolden:
    """Read what another tool's file says, with the queries it names by their text."""
    queries: dict[str, tuple[int, Query]] = {}
    for each in told:
        with pairs.source.at(each.line):
            query_id, text = each.asked
            if text is not None and query_id not in queries:
                queries[query_id] = each.line, Query(query_id, text)
            _put_told(pairs, each)
    if pairs.disputed:
        pairs.warnings.append(
            f"{pairs.disputed} pairs have different ratings by different judges; the lower median "
            "of each counts"
        )
    lines, found = [line for line, _ in queries.values()], [query for _, query in queries.values()]
    facts: dict[str, int | str] = {"queries named by their text": len(found)} if found else {}
    return replace(pairs.golden(), asked=Loaded(pairs.source.name, found, lines, facts))


def _put_told(pairs: Pairs, told: Graded) -> None:
    grades = [pairs.grade_of(told.line, value) for value in told.values]
    given = [grade for grade in grades if grade is not None and grade != UNGRADED]
    if not told.values:
        pairs.skipped["not graded, skipped"] += 1
    elif UNGRADED in grades and not given:
        pairs.add_ungraded(told.line, told.asked.query_id, told.chunk_id)
    elif given:
        pairs.disputed += len(set(given)) > 1
        pair = told.asked.query_id, told.chunk_id
        _put(pairs, told.line, *pair, median_low(given), told.graders, told.note)


def read_set(source: Source, records: Records, rule: GradeRule) -> LoadedGolden:
    """Read a golden set from its lines, a query on each."""
    return _read_set(Pairs(source, rule), records)


def _read_set(pairs: Pairs, records: Records) -> LoadedGolden:
    source = pairs.source
    queries: Spool[Query] = Spool()
    ids = Ids("query")
    unknown: dict[str, None] = {}
    for number, record in records:
        with source.at(number):
            judgments, ungraded = _judgments(record), _ungraded(record)
            weight = weight_of(record)
            query = query_of(record, source.limits, exact=True)
            ids.add(query.query_id, number)
            for judgment in judgments:
                _put_judgment(pairs, number, query.query_id, judgment)
                unknown |= dict.fromkeys(judgment.keys() - _JUDGMENT)
            for chunk_id in ungraded:
                pairs.add_ungraded(number, query.query_id, as_id(chunk_id, "chunk", source.limits))
        queries.add(query, weight)
    if unknown:
        pairs.warnings.append(f"not kept from the judgments: {named(sorted(unknown))}")
    return pairs.golden(loaded_queries(source, queries, ids))


def _ungraded(record: Record) -> list[object]:
    given = record.pop("ungraded", None)
    if given is not None and not isinstance(given, list):
        raise BadInput(f"ungraded must be a list of chunk ids, not {short(given)}")
    return given or []


def _judgments(record: Record) -> list[Record]:
    judgments = record.pop("judgments", None)
    if not isinstance(judgments, list) or not all(isinstance(item, dict) for item in judgments):
        raise BadInput(
            'judgments must be a list of {"chunk_id", "grade", "graders", "note"}, '
            f"not {short(judgments)}"
        )
    return judgments


def _put_judgment(pairs: Pairs, line: int, query_id: str, judgment: Record) -> None:
    values = dict(judgment)
    note = values.get("note")
    if note is not None and not isinstance(note, str):
        raise BadInput(f"note must be text, not {short(note)}")
    chunk_id = take_id(values, CHUNK_OF_PAIR, "chunk", pairs.source.limits)
    grade, evidence = pairs.grade_of(line, take(values, GRADE)), _evidence_of(values)
    names = take_names(values, _GRADERS, ";")
    carried_from = check_carried_from(values.get(CARRIED) or ())
    if carried_from and names:
        raise BadInput("a grade that was carried over is nobody's: graders must be []")
    rest = (note, evidence, _chunking_of(values), carried_from)
    _put(pairs, line, query_id, chunk_id, grade, names, *rest)


def _chunking_of(judgment: Record) -> str:
    chunking = judgment.get(CHUNKING) or UNNAMED
    if not isinstance(chunking, str):
        raise BadInput(f"chunking must be text, not {short(chunking)}")
    return check_chunking(chunking)


def _evidence_of(judgment: Record) -> Evidence | None:
    """Return what a grade rests on, None where the file says nothing of it."""
    passages, wording = check_evidence(judgment.get("evidence") or ()), judgment.get("text_hash")
    if not passages:
        return None
    if not isinstance(wording, str) or not _WORDING.fullmatch(wording):
        raise BadInput(
            "evidence needs text_hash, which says in which text its places are: BLAKE2b of the "
            f"text in UTF-8, 16 bytes, as 32 hexadecimal digits, not {short(wording)}"
        )
    return Evidence(wording, passages)


def _read_log(pairs: Pairs, records: Records) -> LoadedGolden:
    source = pairs.source
    return replace(empty_golden(source.name), events=events_from(source, records))
