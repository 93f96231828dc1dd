"""Files of grades; knows how to tell a golden set, a log, qrels and a table of ratings apart."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from labeler.errors import BadInput
from labeler.formats.events import events_from, is_log
from labeler.formats.grades import GradeRule
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import CHUNK_OF_PAIR, COMPLETE, FROZEN, GRADE, ONE_QUERY, QUERY_OF_PAIR
from labeler.formats.queries import loaded_queries, query_of
from labeler.formats.reading import (
    Lines,
    Progress,
    Source,
    StrPath,
    decode,
    file_source,
    open_lines,
    peek_line,
)
from labeler.formats.records import (
    Record,
    Records,
    as_id,
    outer_spaces,
    parse_object,
    read_jsonl,
    short,
    starts_json,
    take,
    take_id,
    take_names,
    take_text,
)
from labeler.formats.spool import Firsts, Ids, Spool, lines_of_records, weight_of
from labeler.formats.spreadsheet import CSV_COLUMNS, revived
from labeler.formats.tables import is_header, read_table
from labeler.formats.trec import QRELS, TrecFile
from labeler.model import (
    GRADES,
    GoldenGrade,
    Loaded,
    LoadedGolden,
    Query,
)

_GRADERS = ("graders", "grader")
_NOTE = ("note", "notes")
_JUDGMENT = {"chunk_id", "grade", "graders", "note"}
_WANTED = {"query id": QUERY_OF_PAIR, "chunk id": CHUNK_OF_PAIR, "grade": GRADE}


def read_golden(
    path: StrPath,
    *,
    negative_as_zero: bool = False,
    grade_map: Mapping[float, int] | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> LoadedGolden:
    """Read grades, plain or gzip; the content says in which format they are.

    These are: a golden set as JSONL (its buckets are taken as they stand), the log as JSONL,
    TREC qrels, a BEIR ``qrels/test.tsv``, and JSONL, CSV or TSV with a query, a chunk and a
    grade per line (``query,docid,rating``), where a blank rating or chunk means not graded.
    Grades are 0, 1, 2 or 3; ``grade_map`` says what other numbers stand for. The same pair
    twice counts once, with two different grades it is refused. Raises `BadInput` with file and
    line, `NotFound` for a missing file.
    """
    rule = GradeRule(negative_as_zero, grade_map or {})
    return golden_from(file_source(path, name, limits), rule, progress)


def golden_from(source: Source, rule: GradeRule, progress: Progress | None = None) -> LoadedGolden:
    """Read grades from a source, as `read_golden` does."""
    with open_lines(source, progress) as lines:
        number, first, lines = peek_line(source, lines, comments=True)
        if number == 0:
            raise source.fail(None, "there is no grade in it")
        if starts_json(source, number, first):
            keys = parse_object(source, number, decode(source, number, first))
            with source.at(number):
                reader = _jsonl_reader(keys)
            return reader(source, read_jsonl(source, lines), rule)
        pairs = _Pairs(source, rule)
        if is_header(first, QUERY_OF_PAIR, CHUNK_OF_PAIR):
            _read_table(pairs, first, lines)
        else:
            _read_qrels(pairs, lines)
        return pairs.golden()


def empty_golden(source: str) -> LoadedGolden:
    """Return what a source without any grade gives."""
    return LoadedGolden(Loaded(source, (), ()), Loaded(source, (), ()), Loaded(source, (), ()))


class _Pairs:
    """The grades of a file so far, each pair once."""

    def __init__(self, source: Source, rule: GradeRule) -> None:
        self.source = source
        self.rule = rule
        self.skipped: Counter[str] = Counter()
        self.warnings: list[str] = []
        self._grades: Spool[GoldenGrade] = Spool()
        self._values = bytearray()
        self._lines = array("q")
        self._firsts = Firsts()

    def add(self, line: int, grade: GoldenGrade) -> None:
        """Note a grade; refuse it where the pair is known to have another one."""
        place = self._firsts.add((grade.query_id, grade.chunk_id))
        if place is None:
            self._grades.add(grade, len(grade.note or ""))
            self._values.append(grade.grade)
            self._lines.append(line)
        elif self._values[place] == grade.grade:
            self.skipped["duplicates"] += 1
        else:
            raise BadInput(self._other_grade(grade, place))

    def _other_grade(self, grade: GoldenGrade, place: int) -> str:
        return (
            f"chunk {grade.chunk_id!r} has grade {grade.grade} for query {grade.query_id!r}, "
            f"but {self._values[place]} on line {self._lines[place]}; keep one of them"
        )

    def _drop_repeats(self) -> None:
        """Leave each pair once, those too that were too many to be known while reading."""
        repeats: set[int] = set()
        for place, later in self._firsts.suspects():
            grade, first = self._grades[later], self._grades[place]
            if (first.query_id, first.chunk_id) != (grade.query_id, grade.chunk_id):
                continue
            if first.grade != grade.grade:
                raise self.source.fail(self._lines[later], self._other_grade(grade, place))
            repeats.add(later)
        if repeats:
            self.skipped["duplicates"] += len(repeats)
            kept: Spool[GoldenGrade] = Spool()
            for place, grade in enumerate(self._grades):
                if place not in repeats:
                    kept.add(grade, len(grade.note or ""))
            lines = (line for place, line in enumerate(self._lines) if place not in repeats)
            self._grades, self._lines = kept, array("q", lines)

    def loaded(self) -> Loaded[GoldenGrade]:
        """Return the grades with their facts; raises `BadInput` where a pair has two grades."""
        self._drop_repeats()
        queries: dict[str, None] = {}
        spaced: dict[str, None] = {}
        counts: Counter[int] = Counter()
        for grade in self._grades:
            queries[grade.query_id] = None
            counts[grade.grade] += 1
            if grade.chunk_id != grade.chunk_id.strip():
                spaced[grade.chunk_id] = None
        facts: dict[str, int | str] = {
            "judgments": len(self._grades),
            "queries with grades": len(queries),
        }
        facts |= {f"grade {grade}": counts[grade] for grade in GRADES}
        facts |= self.skipped
        warnings = (*self.warnings, *outer_spaces(queries, "query"), *outer_spaces(spaced, "chunk"))
        if not self._grades:
            warnings = ("there is no grade in it", *warnings)
        return Loaded(
            self.source.name, self._grades, lines_of_records(self._lines), facts, warnings
        )

    def golden(self, queries: Loaded[Query] | None = None) -> LoadedGolden:
        """Return the grades as a golden set, with its queries if the file has any."""
        empty = empty_golden(self.source.name)
        return LoadedGolden(queries or empty.queries, self.loaded(), empty.events)


def _read_qrels(pairs: _Pairs, lines: Lines) -> None:
    file = TrecFile(pairs.source, QRELS)
    known: dict[bytes, int] = {}
    for number, (query, _, chunk, grade) in file.rows(lines):
        query_id = file.text(number, query)
        chunk_id = file.text(number, chunk)
        with pairs.source.at(number):
            if grade not in known:
                known[grade] = pairs.rule.read(grade.decode(errors="replace"))
            pairs.add(number, GoldenGrade(query_id, chunk_id, known[grade]))
    if file.comments:
        pairs.skipped["comment lines"] = file.comments


def _read_table(pairs: _Pairs, first: bytes, lines: Lines) -> None:
    records = read_table(pairs.source, lines, _WANTED, (*_GRADERS, *_NOTE))
    if first.decode(errors="replace").split(",") == list(CSV_COLUMNS):
        records = ((number, revived(record)) for number, record in records)
    _read_flat(pairs, records)


def _read_flat(pairs: _Pairs, records: Records) -> None:
    """Read one grade per record; without a chunk or a grade it says "not graded"."""
    for number, record in records:
        with pairs.source.at(number):
            limits = pairs.source.limits
            query_id = take_id(record, QUERY_OF_PAIR, "query", limits, ONE_QUERY)
            chunk_id, grade = take(record, CHUNK_OF_PAIR), take(record, GRADE)
            if _blank(chunk_id) or _blank(grade):
                pairs.skipped["not graded, skipped"] += 1
                continue
            pairs.add(
                number,
                GoldenGrade(
                    query_id,
                    as_id(chunk_id, "chunk", limits),
                    pairs.rule.read(grade),
                    take_names(record, _GRADERS, ";"),
                    take_text(record, _NOTE),
                ),
            )


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


_Reader: TypeAlias = Callable[[Source, Records, GradeRule], LoadedGolden]


def _jsonl_reader(keys: Record) -> _Reader:
    """Return what reads a JSONL file whose first record has these keys."""
    if "judgments" in keys:
        return read_set
    if COMPLETE in keys:
        raise BadInput("a complete golden set: 'labeler load complete FILE' takes it")
    if FROZEN in keys:
        raise BadInput("a frozen version of a golden set: 'labeler load version FILE' takes it")
    if is_log(keys):
        return _read_log
    if set(keys) & set(GRADE):
        return _read_pairs
    raise BadInput(
        "neither a golden set (key judgments), nor a log (keys event_id and grader), nor one "
        f"grade per line (key grade); the keys found are {', '.join(keys) or 'none'}"
    )


def _read_pairs(source: Source, records: Records, rule: GradeRule) -> LoadedGolden:
    pairs = _Pairs(source, rule)
    _read_flat(pairs, records)
    return pairs.golden()


def read_set(source: Source, records: Records, rule: GradeRule) -> LoadedGolden:
    """Read a golden set from its lines, a query on each."""
    pairs = _Pairs(source, rule)
    queries: Spool[Query] = Spool()
    ids = Ids("query")
    unknown: dict[str, None] = {}
    for number, record in records:
        with source.at(number):
            judgments = _judgments(record)
            weight = weight_of(record)
            query = query_of(record, source.limits, exact=True)
            ids.add(query.query_id, number)
            for judgment in judgments:
                pairs.add(number, _golden_grade(query.query_id, judgment, rule, source.limits))
                unknown |= dict.fromkeys(judgment.keys() - _JUDGMENT)
        queries.add(query, weight)
    if unknown:
        pairs.warnings.append(f"not kept from the judgments: {', '.join(sorted(unknown))}")
    return pairs.golden(loaded_queries(source, queries, ids))


def _judgments(record: Record) -> list[Record]:
    judgments = record.pop("judgments", None)
    if not isinstance(judgments, list) or not all(isinstance(item, dict) for item in judgments):
        raise BadInput(
            'judgments must be a list of {"chunk_id", "grade", "graders", "note"}, '
            f"not {short(judgments)}"
        )
    return judgments


def _golden_grade(query_id: str, judgment: Record, rule: GradeRule, limits: Limits) -> GoldenGrade:
    values = dict(judgment)
    note = values.get("note")
    if note is not None and not isinstance(note, str):
        raise BadInput(f"note must be text, not {short(note)}")
    return GoldenGrade(
        query_id,
        take_id(values, CHUNK_OF_PAIR, "chunk", limits),
        rule.read(take(values, GRADE)),
        take_names(values, _GRADERS, ";"),
        note,
    )


def _read_log(source: Source, records: Records, _: GradeRule) -> LoadedGolden:
    return replace(empty_golden(source.name), events=events_from(source, records))
