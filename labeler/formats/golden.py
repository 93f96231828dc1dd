"""Files of golden grades in any format: a golden set, a log of judgments, qrels, tables.

The content decides which format a file has, not its name. Files of other tools go through
`labeler.formats.peers`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from statistics import median_low
from typing import TypeAlias

from labeler.errors import BadInput
from labeler.formats.chunks import parse_chunk
from labeler.formats.csv_tables import (
    CSV_COLUMNS,
    CSV_COLUMNS_WITH_CHUNKING,
    begins_table,
    is_header,
    read_table,
    restore_formulas,
)
from labeler.formats.event_log import events_from, golden_grades_of, is_log
from labeler.formats.field_aliases import (
    CHUNK_OF_PAIR,
    CHUNKING,
    COMPLETE,
    FROZEN,
    GRADE,
    GRADED,
    ONE_QUERY,
    QUERY_OF_PAIR,
    SCORE,
    TRANSFERRED_FROM,
    fold_name,
)
from labeler.formats.grades import UNGRADED, GradeCollector, GradeRule, empty_golden
from labeler.formats.id_resolution import query_id_from_text
from labeler.formats.json_records import (
    MOST_SHAPES,
    JsonDocument,
    Record,
    Records,
    as_id,
    format_keys,
    short,
    take,
    take_id,
    take_names,
    take_text,
    with_known_names,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    InputFile,
    Lines,
    Progress,
    StrPath,
    file_source,
    open_blocks,
    open_lines,
    peek_block,
    peek_line,
)
from labeler.formats.peers import quepid
from labeler.formats.peers.detection import (
    chunks_in,
    grades_in,
    identify_peer,
    queries_in,
    read_json,
)
from labeler.formats.peers.peer_rows import RELEVANT, PeerGrade, PeerGrades, QueryTexts
from labeler.formats.queries import loaded_queries, parse_query
from labeler.formats.retrieval.parts import (
    Sampled,
    have_grades,
    peer_grades,
    retrievals_in,
    sample,
)
from labeler.formats.spool import Spool, UniqueIds, estimate_size
from labeler.formats.trec import QRELS_COLUMNS, GradesByQuery, TrecFile, read_plain_qrels
from labeler.model import (
    DEFAULT_CHUNKING,
    Chunk,
    Evidence,
    GoldenGrade,
    Loaded,
    LoadedGolden,
    Query,
    TransferSource,
    UnjudgedPair,
    check_chunking,
    check_evidence,
    check_transfer_sources,
    format_count,
    full_chunk_id,
)

_GRADERS = ("graders", "grader", "judge", "annotator", "rater", "assessor")
_TEXT_OF_PAIR = ("query_text", "query", "question", "user_input")
_WORDING = re.compile("[0-9a-f]{32}")
_NOTE = ("note", "notes")
_JUDGMENT = {
    "chunk_id",
    "grade",
    "graders",
    "note",
    "evidence",
    "text_hash",
    CHUNKING,
    TRANSFERRED_FROM,
}
# Who loads a file as golden grades says that its scores are grades.
_GRADES = GRADE.then(SCORE[1:])
_WANTED = {"query id": QUERY_OF_PAIR, "chunk id": CHUNK_OF_PAIR, "grade": _GRADES}
_HAS_ID = ONE_QUERY | {"queryid", "query_text"}  # our own tables have a text beside an id
_PASSED_OVER = frozenset((*_TEXT_OF_PAIR, "iteration", "iter", "q0", "Q0"))


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
    """Read grades, plain or gzip; the content decides which format they have.

    The formats are a golden set as JSONL (its buckets are kept unchanged), the log as JSONL, TREC
    qrels, a BEIR ``qrels/test.tsv``, and JSONL, CSV or TSV with a query, a chunk and a grade per
    line (``query,docid,rating``), where a blank rating or chunk means not graded. Formats of other
    tools are a book or a case of Quepid, judgments of OpenSearch, samples of RAGAS, lists of
    ``{query, relevant_ids, relevance_map}`` and JSON by query. A query that is named by its text is
    read as well, under an id made of the text.

    Grades are 0, 1, 2 or 3; ``grade_map`` maps other numbers, and must name all of them where one
    is a fraction. Several judges' ratings in one row become their lower median; a pair in several
    rows, each by another grader, has each grader's own grade. Otherwise a repeated pair counts
    once, and with two different grades it is refused. Raises `BadInput` with file and line,
    `NotFound` for a missing file.
    """
    rule = GradeRule(negative_as_zero, grade_map or {}, negative_as_ungraded)
    return golden_from(file_source(path, name, limits), rule, progress)


def read_grades(
    path: StrPath, rule: GradeRule, limits: Limits = LIMITS, said: list[str] | None = None
) -> GradesByQuery:
    """Return only the grades that `read_golden` reads, as ``{query: {chunk: grade}}``.

    Of a log these are the golden grades, see `golden_grades_of`. Pairs that are in the pool but
    ungraded have -1 and come last. What there is to say of the file is added to ``said``.
    """
    source = file_source(path, None, limits)
    plain = _read_if_plain(source, rule) if source.size else None  # a pipe can be read once only
    if plain is not None:
        return plain
    read = golden_from(source, rule)
    found: GradesByQuery = {}
    for each in chain[GoldenGrade | UnjudgedPair](read.grades.records, read.ungraded.records):
        found.setdefault(each.query_id, {})[each.chunk_id] = each.grade
    events = chain(read.events.records, read.by_graders.records)
    for (query_id, chunk_id), grade in golden_grades_of(events).items():
        found.setdefault(query_id, {})[chunk_id] = grade
    if said is not None:
        said += _say_of(read)
    return found


def _say_of(read: LoadedGolden) -> Iterator[str]:
    """Yield what there is to say of a file of which only the grades are read."""
    yield from read.grades.warnings
    if read.by_graders.records:
        yield "several graders grade the same pair; the lower median counts"
    for part in (read.grades, read.by_graders):
        if left := part.facts.get("not read"):
            yield f"not read: {left}"


def _read_if_plain(source: InputFile, rule: GradeRule) -> GradesByQuery | None:
    """Return the grades of plain qrels; None for any other file, and for one with an error."""
    with suppress(BadInput), open_blocks(source) as blocks:
        number, first, blocks = peek_block(source, blocks)
        if number and not _is_table(first) and not _judges(first):
            return read_plain_qrels(blocks, rule, source.limits.id)
    return None


def golden_from(
    source: InputFile, rule: GradeRule, progress: Progress | None = None
) -> LoadedGolden:
    """Read grades from a source, as `read_golden` does."""
    pairs = GradeCollector(source, rule)
    try:
        with open_lines(source, progress) as lines:
            return _read(pairs, lines)
    except BadInput:
        pairs.check_scale()  # a number off the scale came before this error
        raise


def _read(pairs: GradeCollector, lines: Lines) -> LoadedGolden:
    number, first, lines = peek_line(pairs.source, lines, comments=True)
    if number == 0:
        raise pairs.source.fail(None, "there is no grade in it")
    found = read_json(pairs.source, number, first, lines)
    if isinstance(found, JsonDocument):
        return _read_document(pairs, found)
    if found is not None:
        return _read_records(pairs, sample(found))
    if judges := _judges(first):
        who = ", ".join(map(short, judges))
        pairs.warnings.append(f"read as a table of a Quepid book, with a column by each of: {who}")
        return read_peer_grades(pairs, quepid.grades_in_table(pairs.source, lines, judges))
    return _read_table(pairs, first, lines) if _is_table(first) else _read_qrels(pairs, lines)


def _read_records(pairs: GradeCollector, sampled: Sampled) -> LoadedGolden:
    if not sampled.first:
        raise pairs.source.fail(None, "there is no grade in it")
    number, keys = sampled.first[0]
    with pairs.source.at(number):
        reader = _reader_of(keys)
    if reader is not None:
        return reader(pairs, sampled.records)
    if have_grades(pairs.source, sampled):
        return read_peer_grades(pairs, peer_grades(retrievals_in(pairs.source, sampled) or ()))
    raise pairs.source.fail(
        number,
        "neither a golden set (key judgments), nor a log (keys event_id and grader), nor one "
        "grade per line (key grade), nor what is right for a query (keys relevant_ids or "
        f"reference_contexts); the keys found are {format_keys(keys)}",
    )


def _read_document(pairs: GradeCollector, document: JsonDocument) -> LoadedGolden:
    """Read the grades in a JSON document, and the queries and texts of a dataset."""
    peer_grades = grades_in(document)
    if identify_peer(document).shape != "a dataset":
        return read_peer_grades(pairs, peer_grades)
    chunks: dict[str, tuple[int, Chunk]] = {}
    for line, record in chunks_in(document):
        with pairs.source.at(line):
            chunk = parse_chunk(dict(record), pairs.source.limits)
            if chunks.setdefault(chunk.chunk_id, (line, chunk))[1] != chunk:
                raise BadInput(f"chunk {chunk.chunk_id!r} is twice in it, with other content")
    asked = (PeerGrade(line, query, "", ()) for line, query in queries_in(document))
    lines, texts = [line for line, _ in chunks.values()], [chunk for _, chunk in chunks.values()]
    readable = sum(chunk.text is not None for chunk in texts)
    facts: dict[str, int | str] = {"chunks with their text": readable} if texts else {}
    facts |= {"chunks without text": len(texts) - readable} if readable < len(texts) else {}
    loaded = read_peer_grades(pairs, chain(asked, peer_grades))
    return replace(loaded, chunks=Loaded(pairs.source.name, texts, lines, facts))


def _is_table(first: bytes) -> bool:
    return begins_table(first, QUERY_OF_PAIR, CHUNK_OF_PAIR)


def _judges(first: bytes) -> tuple[str, ...]:
    """Return the judges of a file that begins like the table of a Quepid book; else ()."""
    try:
        header = next(csv.reader([first.decode("utf-8-sig", errors="replace")]), [])
    except csv.Error:  # no table; the reader of tables explains why
        return ()
    return quepid.judges_in(header)


def _read_qrels(pairs: GradeCollector, lines: Lines) -> LoadedGolden:
    file = TrecFile(pairs.source, QRELS_COLUMNS)
    known: dict[bytes, int | None] = {}
    for number, (query, _, chunk, grade) in file.rows(lines):
        query_id = file.text(number, query)
        chunk_id = file.text(number, chunk)
        try:
            if grade not in known:
                known[grade] = pairs.grade_of(number, grade.decode(errors="replace"))
            _add_pair(pairs, number, query_id, chunk_id, known[grade])
        except BadInput as error:  # without `at`, which takes a tenth of the time
            raise pairs.source.fail(number, str(error)) from error
    if file.comments:
        pairs.skipped["comment lines"] = file.comments
    return pairs.golden()


def _read_table(pairs: GradeCollector, first: bytes, lines: Lines) -> LoadedGolden:
    columns = tuple(first.decode(errors="replace").split(","))
    has_chunkings = columns == CSV_COLUMNS_WITH_CHUNKING
    known = (*_GRADERS, *_NOTE, *_TEXT_OF_PAIR, *([CHUNKING] if has_chunkings else []))
    records = read_table(pairs.source, lines, _WANTED, known)
    if has_chunkings or columns == CSV_COLUMNS:
        records = ((number, restore_formulas(record)) for number, record in records)
    if columns == quepid.RATINGS_COLUMNS:
        records = ((number, quepid.restore_ids(record)) for number, record in records)
    grades = GRADED if is_header(first, GRADED) else _GRADES  # a score is none where one is blank
    return _read_flat(pairs, records, grades, with_chunkings=has_chunkings)


def _read_flat(
    pairs: GradeCollector,
    records: Records,
    grades: tuple[str, ...] = _GRADES,
    *,
    with_chunkings: bool = False,
) -> LoadedGolden:
    """Read one grade per record; without a chunk or a grade it means "not graded".

    A query's text beside its id is kept. Queries of a field that may hold ids or texts are named by
    their texts where one of these has several words. A field named chunking is read only with
    ``with_chunkings``: in the files of others it may mean something else.
    """
    texts, named = QueryTexts(), dict[str, int]()
    shapes: set[tuple[str, ...]] = set()
    for number, record in records:
        with pairs.source.at(number):
            limits, shape = pairs.source.limits, tuple(record)
            query_id = take_id(record, QUERY_OF_PAIR, "query", limits, ONE_QUERY)
            texts.add(number, query_id, _text_beside(record, query_id, limits))
            if _HAS_ID.isdisjoint(shape):
                named.setdefault(query_id, number)
            names = grades if record.keys().isdisjoint(GRADED) else GRADED
            chunk_id, grade = take(record, CHUNK_OF_PAIR), take(record, names)
            if _blank(chunk_id) or _blank(grade):
                pairs.skipped["not graded, skipped"] += 1
                continue
            people, note = take_names(record, _GRADERS, ";"), take_text(record, _NOTE)
            chunk_id = as_id(chunk_id, "chunk", limits)
            chunking = _chunking_of(record) if with_chunkings else DEFAULT_CHUNKING
            if shape not in shapes and len(shapes) < MOST_SHAPES:
                shapes.add(shape)
                pairs.left |= dict.fromkeys(name for name in record if name not in _PASSED_OVER)
            rest = (people, note, None, chunking)
            _add_pair(pairs, number, query_id, chunk_id, pairs.grade_of(number, grade), *rest)
    if any(len(name.split()) > 1 for name in named):
        for name, number in named.items():
            texts.add(number, query_id_from_text(name), name.strip())
    return replace(pairs.golden(), asked=texts.loaded(pairs.source))


def _text_beside(record: Record, query_id: str, limits: Limits) -> str | None:
    """Return the text of a query that a record names by its id, None where it has none."""
    text = next((record[name] for name in _TEXT_OF_PAIR if not _blank(record.get(name))), None)
    if not isinstance(text, str) or text == query_id:
        return None
    limits.check_text(text)
    return text.strip()


def _add_pair(
    pairs: GradeCollector,
    line: int,
    query_id: str,
    chunk_id: str,
    grade: int | None,
    graders: tuple[str, ...] = (),
    note: str | None = None,
    evidence: Evidence | None = None,
    chunking: str = DEFAULT_CHUNKING,
    carried_from: tuple[TransferSource, ...] = (),
) -> None:
    """Add the grade of a pair, unless it is None: a number off the scale, reported at the end."""
    if grade == UNGRADED:
        pairs.add_ungraded(line, query_id, chunk_id)
    elif grade is not None:
        called = full_chunk_id(chunking, chunk_id) if chunking else chunk_id
        known = (query_id, called, grade, graders, note, evidence, chunking, carried_from)
        pairs.add(line, GoldenGrade(*known))


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


_Reader: TypeAlias = Callable[[GradeCollector, Records], LoadedGolden]


def _reader_of(keys: Record) -> _Reader | None:
    """Return the reader of files whose first record has these keys, None for those of others."""
    if "judgments" in keys:
        return _read_set
    if COMPLETE in keys:
        raise BadInput("a complete golden set: 'labeler load complete FILE' takes it")
    if FROZEN in keys:
        raise BadInput("a frozen version of a golden set: 'labeler load version FILE' takes it")
    if is_log(keys):
        return _read_log
    if set(map(fold_name, keys)) & set(_GRADES):
        return _read_pairs
    return None


def _read_pairs(pairs: GradeCollector, records: Records) -> LoadedGolden:
    known = (*QUERY_OF_PAIR, *CHUNK_OF_PAIR, *_GRADES, *_GRADERS, *_NOTE)
    return _read_flat(pairs, with_known_names(records, known))


def read_peer_grades(pairs: GradeCollector, peer_grades: PeerGrades) -> LoadedGolden:
    """Read the grades in another tool's file, and the queries that it names by their text.

    An entry without a chunk is a query alone.
    """
    texts = QueryTexts()
    for each in peer_grades:
        with pairs.source.at(each.line):
            texts.add(each.line, *each.asked)
            if each.chunk_id:
                _add_peer_grade(pairs, each)
    if pairs.disputed:
        pairs.warnings.append(
            f"{pairs.disputed} pairs have different ratings by different judges; the lower median "
            "of each counts"
        )
    if pairs.contradicted:
        pairs.warnings.append(_describe_contradicted(pairs.contradicted))
    return replace(pairs.golden(), asked=texts.loaded(pairs.source))


def _describe_contradicted(found: Sequence[tuple[PeerGrade, int]]) -> str:
    peer, grade = found[0]
    of = format_count(len(found), "pair", "pairs")
    listed = "is" if peer.relevant else "is not"
    return (
        f"the list of relevant chunks and relevance_map differ on {of}, and the map counts: line "
        f"{peer.line} gives chunk {peer.chunk_id!r} the grade {grade}, and it {listed} in the list"
    )


def _add_peer_grade(pairs: GradeCollector, peer: PeerGrade) -> None:
    grades = [pairs.grade_of(peer.line, value) for value in peer.values]
    given = [grade for grade in grades if grade is not None and grade != UNGRADED]
    if not peer.values:
        pairs.skipped["not graded, skipped"] += 1
    elif UNGRADED in grades and not given:
        pairs.add_ungraded(peer.line, peer.asked.query_id, peer.chunk_id)
    elif given:
        pairs.disputed += len(set(given)) > 1
        if peer.relevant not in (None, median_low(given) >= RELEVANT):
            pairs.contradicted.append((peer, median_low(given)))
        pair = peer.asked.query_id, peer.chunk_id
        _add_pair(pairs, peer.line, *pair, median_low(given), peer.graders, peer.note)


def golden_from_records(source: InputFile, records: Records, rule: GradeRule) -> LoadedGolden:
    """Read a golden set from records of one query each."""
    return _read_set(GradeCollector(source, rule), records)


def _read_set(pairs: GradeCollector, records: Records) -> LoadedGolden:
    source = pairs.source
    queries: Spool[Query] = Spool()
    ids = UniqueIds("query")
    unknown: dict[str, None] = {}
    for number, record in records:
        with source.at(number):
            judgments, ungraded = _judgments(record), _ungraded(record)
            weight = estimate_size(record)
            query = parse_query(record, source.limits, exact=True)
            ids.add(query.query_id, number)
            for judgment in judgments:
                _put_judgment(pairs, number, query.query_id, judgment)
                unknown |= dict.fromkeys(judgment.keys() - _JUDGMENT)
            for chunk_id in ungraded:
                pairs.add_ungraded(number, query.query_id, as_id(chunk_id, "chunk", source.limits))
        queries.add(query, weight)
    if unknown:
        pairs.warnings.append(f"not kept from the judgments: {format_keys(sorted(unknown))}")
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


def _put_judgment(pairs: GradeCollector, line: int, query_id: str, judgment: Record) -> None:
    values = dict(judgment)
    note = values.get("note")
    if note is not None and not isinstance(note, str):
        raise BadInput(f"note must be text, not {short(note)}")
    chunk_id = take_id(values, CHUNK_OF_PAIR, "chunk", pairs.source.limits)
    grade, evidence = pairs.grade_of(line, take(values, GRADE)), _evidence_of(values)
    names = take_names(values, _GRADERS, ";")
    carried_from = check_transfer_sources(values.get(TRANSFERRED_FROM) or ())
    if carried_from and names:
        raise BadInput("a grade that was transferred is nobody's: graders must be []")
    rest = (note, evidence, _chunking_of(values), carried_from)
    _add_pair(pairs, line, query_id, chunk_id, grade, names, *rest)


def _chunking_of(judgment: Record) -> str:
    chunking = judgment.get(CHUNKING) or DEFAULT_CHUNKING
    if not isinstance(chunking, str):
        raise BadInput(f"chunking must be text, not {short(chunking)}")
    return check_chunking(chunking)


def _evidence_of(judgment: Record) -> Evidence | None:
    """Return the evidence of a grade, None where the file has none."""
    passages, wording = check_evidence(judgment.get("evidence") or ()), judgment.get("text_hash")
    if not passages:
        return None
    if not isinstance(wording, str) or not _WORDING.fullmatch(wording):
        raise BadInput(
            "evidence needs text_hash, which says in which text its places are: BLAKE2b of the "
            f"text in UTF-8, 16 bytes, as 32 hexadecimal digits, not {short(wording)}"
        )
    return Evidence(wording, passages)


def _read_log(pairs: GradeCollector, records: Records) -> LoadedGolden:
    source = pairs.source
    return replace(empty_golden(source.name), events=events_from(source, records))
