"""Files of candidate queries: query logs, generated questions, thumbs, questions typed by experts.

Each line gives one question, with the grades that the file suggests for its chunks. Questions that
ask the same are merged in `labeler.services.candidates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from labeler.errors import BadInput
from labeler.formats.csv_tables import read_table
from labeler.formats.json_records import (
    JsonDocument,
    Record,
    Records,
    as_id,
    as_whole_number,
    or_list,
    short,
    take,
    take_id,
    take_mapping,
    take_text,
    take_texts,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    InputFile,
    Lines,
    Progress,
    StrPath,
    decode,
    file_source,
    open_lines,
    peek_line,
)
from labeler.formats.peers.detection import read_json
from labeler.formats.queries import (
    GUIDELINE,
    KEYWORDS,
    QUERY_TEXT,
    REFERENCE,
    bucket_name,
    is_blank,
)
from labeler.model import (
    CANDIDATE_SOURCES,
    AskedQuestion,
    check_grade,
    check_name,
    find_control_character,
)

TIMES_NAMES = ("count", "times", "frequency", "n")
DAY_NAMES = ("date", "asked_at", "day", "timestamp", "time", "created_at")
CHUNK_NAMES = (
    "chunk_id",
    "source_chunk",
    "source_chunk_id",
    "docno",
    "doc_id",
    "docid",
    "corpus-id",
)
VOTE_NAMES = ("vote", "thumb", "thumbs", "feedback", "rating")
QUERY_ID_NAMES = ("query_id", "qid", "_id")
ANSWER_NAMES = (*REFERENCE, "answer", "ground_truth")
UP_WORDS = frozenset(
    {"up", "1", "+1", "true", "yes", "like", "positive", "good", "thumbs_up", "thumbs up", "👍"}
)
DOWN_WORDS = frozenset(
    {"down", "0", "-1", "false", "no", "dislike", "negative", "bad", "thumbs_down", "thumbs down"}
) | {"👎"}
MOST_BUCKETS = 50
TEXT_FILES = (".txt", ".txt.gz")
GENERATED_GRADE, UP_GRADE, DOWN_GRADE = 3, 2, 0
_OTHERS = {
    "log": (*TIMES_NAMES, *DAY_NAMES, "buckets", "task"),
    "typed": (*ANSWER_NAMES, *GUIDELINE, *KEYWORDS, "buckets", "task"),
    "generated": (*CHUNK_NAMES, *ANSWER_NAMES, *GUIDELINE, *KEYWORDS, "buckets", "task"),
    "thumbs": (
        *QUERY_ID_NAMES,
        *CHUNK_NAMES,
        *VOTE_NAMES,
        *TIMES_NAMES,
        *DAY_NAMES,
        "buckets",
        "task",
    ),
}


@dataclass(frozen=True, slots=True)
class SuggestionRule:
    """The grades to suggest: for a ``source`` chunk, for a chunk with a thumb up or down.

    None suggests nothing.
    """

    source: int = GENERATED_GRADE
    up: int | None = UP_GRADE
    down: int | None = DOWN_GRADE

    def __post_init__(self) -> None:
        for grade in (self.source, self.up, self.down):
            if grade is not None:
                check_grade(grade)


class BucketFields:
    """The choice of fields of a question that are buckets: those ``named``, or else all of text.

    A field that is not named is ignored from its 51st value on: so many values group nothing, and
    may be the ids of people.
    """

    def __init__(self, named: Sequence[str] | None = None) -> None:
        self._named = named
        self._seen: dict[str, set[str]] = {}

    def of(self, record: Record, limits: Limits) -> dict[str, str]:
        """Return the buckets in a record from which all other fields have been taken."""
        given = take_mapping(record, "buckets", limits) if "buckets" in record else {}
        there = {**given, **record} if given else record
        if self._named is not None:
            there = {name: there[name] for name in self._named if name in there}
        found = {}
        for facet, value in there.items():
            if is_blank(value):
                continue
            bucket = self._bucket(facet, value, self._named is not None or facet in given)
            if bucket is not None:
                found[facet] = bucket
        return found

    def _bucket(self, facet: str, value: object, is_meant: bool) -> str | None:
        seen = self._seen.setdefault(facet, set())
        if isinstance(value, str) and value in seen:
            return value
        if self._named is None and len(seen) > MOST_BUCKETS:
            return None
        if not is_meant and not _may_be_bucket(facet, value):
            return None
        bucket = bucket_name(check_name(facet, "facet"), value)
        if len(seen) <= MOST_BUCKETS:
            seen.add(bucket)
        return bucket


def _may_be_bucket(facet: str, value: object) -> bool:
    return (
        isinstance(value, str)
        and not find_control_character(value)
        and not find_control_character(facet)
    )


def stream_candidates(
    path: StrPath,
    source: str,
    *,
    facets: Sequence[str] | None = None,
    proposing: SuggestionRule | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Iterator[tuple[int, AskedQuestion]]:
    """Yield the questions of a file one after another, each with its line.

    The file is JSONL, CSV or TSV with a header, or a ``.txt`` with a question per line, plain or
    gzip. ``source`` is its origin, one of `CANDIDATE_SOURCES`. Fields of text are buckets, or
    exactly those in ``facets``. Raises `BadInput` with file and line.
    """
    if source not in CANDIDATE_SOURCES:
        raise BadInput(f"questions come from {', '.join(CANDIDATE_SOURCES)}, not from {source!r}")
    taken = file_source(path, name, limits)
    make = _CandidateParser(source, BucketFields(facets), proposing or SuggestionRule(), limits)
    count = 0
    with open_lines(taken, progress) as raw:
        for count, (line, record) in enumerate(_records(taken, raw, source), 1):  # noqa: B007
            with taken.at(line):
                question = make(record)
            yield line, question
    if not count:
        raise taken.fail(None, "there is no question in it")


def _records(source: InputFile, raw: Lines, kind: str) -> Records:
    number, first, lines = peek_line(source, raw)
    if number == 0:
        return
    if source.name.lower().endswith(TEXT_FILES):
        for line, text in lines:
            if text.strip():
                yield line, {"query": decode(source, line, text).strip()}
        return
    found = read_json(source, number, first, lines)
    if isinstance(found, JsonDocument):
        raise source.fail(number, "questions must be one JSON object per line")
    if found is not None:
        yield from found
    elif kind == "thumbs":
        yield from read_table(
            source, lines, {"thumb": VOTE_NAMES, "chunk": CHUNK_NAMES}, _others(kind)
        )
    else:
        yield from read_table(source, lines, {"question": QUERY_TEXT}, _others(kind))


def _others(kind: str) -> tuple[str, ...]:
    return (*_OTHERS[kind], *QUERY_TEXT)


@dataclass(frozen=True, slots=True)
class _CandidateParser:
    """A function that turns a record of a file of this kind into a question, emptying it."""

    source: str
    fields: BucketFields
    proposing: SuggestionRule
    limits: Limits

    def __call__(self, record: Record) -> AskedQuestion:
        takers: Mapping[str, Callable[[Record], dict[str, Any]]] = {
            "log": self._of_log,
            "typed": self._of_expert,
            "generated": self._of_chunk,
            "thumbs": self._of_thumb,
        }
        text = (take_text(record, QUERY_TEXT) or "").strip()
        if not text and not (self.source == "thumbs" and record.keys() & {*QUERY_ID_NAMES}):
            raise BadInput(f"there is no question on it; name it {or_list(QUERY_TEXT)}")
        self.limits.check_text(text)
        fields = takers[self.source](record)
        return AskedQuestion(text, **fields, buckets=self.fields.of(record, self.limits))

    def _of_log(self, record: Record) -> dict[str, Any]:
        return {"times": _times(record), "at": _day(record)}

    def _of_expert(self, record: Record) -> dict[str, Any]:
        return {
            "reference": take_text(record, ANSWER_NAMES),
            "guideline": take_text(record, GUIDELINE),
            "keywords": take_texts(record, KEYWORDS),
        }

    def _of_chunk(self, record: Record) -> dict[str, Any]:
        chunks = _chunks(record, self.limits)
        grades = {chunk_id: {self.proposing.source: 1} for chunk_id in chunks}
        return {**self._of_expert(record), "grades": grades}

    def _of_thumb(self, record: Record) -> dict[str, Any]:
        given = take(record, VOTE_NAMES)
        if given is None:
            raise BadInput(f"there is no thumb on it; name it {or_list(VOTE_NAMES)}, up or down")
        grade = self.proposing.up if _is_up(given) else self.proposing.down
        times = _times(record)
        chunks = _chunks(record, self.limits)
        named = record.keys() & {*QUERY_ID_NAMES}
        return {
            "times": times,
            "at": _day(record),
            "query_id": take_id(record, QUERY_ID_NAMES, "query", self.limits) if named else None,
            "grades": {} if grade is None else {chunk_id: {grade: times} for chunk_id in chunks},
        }


def _times(record: Record) -> int:
    value = take(record, TIMES_NAMES)
    return 1 if value is None else as_whole_number(value, TIMES_NAMES[0])


def _chunks(record: Record, limits: Limits) -> list[str]:
    value = take(record, (*CHUNK_NAMES, "chunk_ids"))
    if value is None:
        raise BadInput(f"there is no chunk on it; name its id {or_list(CHUNK_NAMES)}")
    several = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(as_id(each, "chunk", limits) for each in several))


def _is_up(value: object) -> bool:
    word = str(value).strip().lower()
    if word in UP_WORDS:
        return True
    if word in DOWN_WORDS:
        return False
    raise BadInput(f"a thumb is up or down (1 or 0, true or false, 👍 or 👎), not {short(value)}")


def _day(record: Record) -> str | None:
    value = take(record, DAY_NAMES)
    if value is None:
        return None
    try:
        return datetime.fromisoformat(str(value).strip()).date().isoformat()
    except ValueError as error:
        raise BadInput(f"date {short(value)} is not like 2026-01-31") from error
