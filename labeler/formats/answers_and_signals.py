"""Files of answers (right or wrong) and of online signals, with one record per key.

A line that repeats an earlier record is counted and left out; one that contradicts it is refused
with both line numbers.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Generic

from labeler.errors import BadInput
from labeler.formats.csv_tables import read_table
from labeler.formats.field_aliases import (
    ANSWER,
    CORRECT,
    COUNT,
    DATE,
    QUERY_BY_ID,
    RUN,
    SIGNAL,
    SYSTEM,
    VALUE,
)
from labeler.formats.json_records import (
    JsonDocument,
    Record,
    Records,
    as_id,
    or_list,
    short,
    take,
    take_count,
    take_id,
    take_text,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    InputFile,
    Lines,
    Progress,
    StrPath,
    file_source,
    open_lines,
    peek_line,
)
from labeler.formats.peers.detection import read_json
from labeler.formats.spool import FirstSeen, Spool, compact_lines
from labeler.model import Answer, Loaded, RecordT, Signal

_MOST_NAMED = 5


class UniqueRecords(Generic[RecordT]):
    """The records of a file, one per key; repeats are counted, contradictions refused."""

    def __init__(
        self,
        source: InputFile,
        what: str,
        key: Callable[[RecordT], Hashable],
        content: Callable[[RecordT], object],
        words: Callable[[RecordT], str],
    ) -> None:
        self.source, self.what = source, what
        self.kept: Spool[RecordT] = Spool()
        self._key, self._content, self._words = key, content, words
        self._lines = array("q")
        self._firsts = FirstSeen()
        self._repeats = 0
        self._unread: Counter[str] = Counter()

    def records(
        self, progress: Progress | None, wanted: Mapping[str, Sequence[str]], others: Sequence[str]
    ) -> Records:
        """Yield the file's records with their lines, from JSON or a table."""
        with open_lines(self.source, progress) as raw:
            yield from self._records(raw, wanted, others)

    def _records(
        self, raw: Lines, wanted: Mapping[str, Sequence[str]], others: Sequence[str]
    ) -> Records:
        number, first, lines = peek_line(self.source, raw)
        if number == 0:
            return
        found = read_json(self.source, number, first, lines)
        if isinstance(found, JsonDocument):
            raise self.source.fail(
                number, f"one JSON object; {self.what}s are a JSON object a line, or a list"
            )
        yield from read_table(self.source, lines, wanted, others) if found is None else found

    def add(self, line: int, record: RecordT, weight: int) -> None:
        """Add a record; refuse it where an earlier line says something else for the same key."""
        place = self._firsts.add(self._key(record))
        if place is None:
            self.kept.add(record, weight)
            self._lines.append(line)
        elif self._content(self.kept[place]) == self._content(record):
            self._repeats += 1
        else:
            raise BadInput(self._twice(record, place))

    def _twice(self, record: RecordT, place: int) -> str:
        where = f"is another one on line {self._lines[place]}"
        return f"{self._words(record)} {where}; keep one of them"

    def rest(self, record: Record) -> None:
        """Count the fields that remain in a record, because they have no meaning."""
        self._unread.update(name for name, value in record.items() if value not in (None, ""))

    def loaded(self, facts: Mapping[str, int | str]) -> Loaded[RecordT]:
        """Return the records with facts; raises `BadInput` without any."""
        if not self.kept:
            raise self.source.fail(None, f"there is no {self.what} in it")
        for place, later in self._firsts.suspected_repeats():
            first, second = self.kept[place], self.kept[later]
            same = self._key(first) == self._key(second)
            if same and self._content(first) != self._content(second):
                raise self.source.fail(self._lines[later], self._twice(second, place))
        all_facts: dict[str, int | str] = {f"{self.what}s": len(self.kept), **facts}
        if self._repeats:
            all_facts["lines that say the same again"] = self._repeats
        if self._unread:
            all_facts["not read"] = format_names(self._unread)
        lines = compact_lines(self._lines)
        return Loaded(self.source.name, self.kept, lines, all_facts)


def take_needed(record: Record, names: Sequence[str], what: str) -> object:
    """Remove and return a required value; raises `BadInput` where it is missing or empty."""
    value = take(record, names)
    if value is None or value == "":
        raise BadInput(f"there is no {what}; name it {or_list(names)}")
    return value


def format_names(names: Iterable[str]) -> str:
    """Join names for a report, the first of them where there are many."""
    every = list(names)
    more = len(every) - _MOST_NAMED
    first = ", ".join(short(name, 40).strip("'") for name in every[:_MOST_NAMED])
    return first + (f" and {more} more" if more > 0 else "")


_ANSWER_REQUIRED = {"query id": QUERY_BY_ID, "verdict": CORRECT}
_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


def read_answers(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Answer]:
    """Read answers from JSONL, CSV or TSV, plain or gzip: run, query, answer and correct.

    The run may be missing, and so may the text of an answer. ``correct`` is yes or no, true or
    false, 1 or 0, in any case. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    source = file_source(path, name, limits)
    found = UniqueRecords[Answer](
        *(source, "answer", attrgetter("run", "query_id"), attrgetter("answer", "correct")),
        lambda answer: f"the answer to query {answer.query_id!r}",
    )
    for number, record in found.records(progress, _ANSWER_REQUIRED, (*RUN, *ANSWER)):
        with source.at(number):
            answer = parse_answer(record, limits)
            found.add(number, answer, len(answer.answer or ""))
        found.rest(record)
    return found.loaded(_answer_facts(found.kept))


def parse_answer(record: Record, limits: Limits = LIMITS) -> Answer:
    """Return the answer in a record; fields without a meaning stay in the record."""
    run = take_text(record, RUN)
    return Answer(
        run=run or None,
        query_id=take_id(record, QUERY_BY_ID, "query", limits),
        answer=take_text(record, ANSWER) or None,
        correct=parse_verdict(take(record, CORRECT)),
    )


def parse_verdict(value: object) -> bool:
    """Return whether an answer is right, from yes or no, true or false, 1 or 0 only.

    >>> parse_verdict("Yes"), parse_verdict(0), parse_verdict(True)
    (True, False, True)
    """
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in _YES or word in _NO:
        return word in _YES
    given = "it is missing" if value in (None, "") else f"not {short(value)}"
    raise BadInput(
        f"correct must be yes or no, true or false, 1 or 0; {given}; leave out the lines of "
        "answers that nobody has judged"
    )


def _answer_facts(answers: Sequence[Answer]) -> dict[str, int | str]:
    right = textless = 0
    for each in answers:
        right += each.correct
        textless += each.answer is None
    facts: dict[str, int | str] = {"right": right, "wrong": len(answers) - right}
    return {**facts, "without text": textless} if textless else facts


_DATE_LENGTH = len("2026-01-31")
_SIGNAL_REQUIRED = {"date": DATE, "system": SYSTEM, "name of the signal": SIGNAL, "value": VALUE}


def read_signals(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Signal]:
    """Read signals from JSONL, CSV or TSV, plain or gzip: date, system, name and value.

    ``query`` is the id of one query, ``n`` the number of observations; both may be missing. A date
    is a day or a time, which is stored in UTC; without a zone it is taken as UTC. Raises `BadInput`
    with file and line, `NotFound` for a missing file.
    """
    source = file_source(path, name, limits)
    key, content = attrgetter("system", "name", "date", "query_id"), attrgetter("value", "n")
    found = UniqueRecords[Signal](source, "signal", key, content, _describe_signal)
    for number, record in found.records(progress, _SIGNAL_REQUIRED, (*QUERY_BY_ID, *COUNT)):
        with source.at(number):
            found.add(number, parse_signal(record, limits), len(str(record)))
        found.rest(record)
    return found.loaded(_signal_facts(found.kept))


def parse_signal(record: Record, limits: Limits = LIMITS) -> Signal:
    """Return the signal in a record; fields without a meaning stay in the record."""
    query = take(record, QUERY_BY_ID)
    return Signal(
        date=parse_date(take_needed(record, DATE, "date")),
        system=_take_name(record, SYSTEM, "system", limits),
        name=_take_name(record, SIGNAL, "name", limits),
        value=parse_signal_value(take_needed(record, VALUE, "value")),
        query_id=None if query in (None, "") else as_id(query, "query", limits),
        n=take_count(record, COUNT),
    )


def parse_signal_value(value: object) -> float:
    """Return a signal's value, one number in ASCII digits.

    >>> parse_signal_value("0.034"), parse_signal_value(2)
    (0.034, 2.0)
    """
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            raise ValueError
        number = float(value)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"value must be a number such as 0.034, not {short(value)}; 12% is 0.12, yes is 1"
        ) from error
    return number


def parse_date(value: object) -> str:
    """Return a date as it is stored: a day unchanged, a time in UTC, to the second.

    >>> parse_date("2026-01-31"), parse_date("2026-01-31T23:30:00-02:00")
    ('2026-01-31', '2026-02-01T01:30:00Z')
    """
    text = value.strip() if isinstance(value, str) else ""
    try:
        when = datetime.fromisoformat(text)
        if len(text) < _DATE_LENGTH or text[4] != "-" or text[7] != "-":
            raise ValueError
        if len(text) == _DATE_LENGTH:
            return text
        utc = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"date {short(value)} is not like 2026-01-31 or 2026-01-31T09:30:00Z"
        ) from error
    return f"{utc:%Y-%m-%dT%H:%M:%S}Z"


def _take_name(record: Record, names: Sequence[str], what: str, limits: Limits) -> str:
    return as_id(take_needed(record, names, what), what, limits)


def _describe_signal(signal: Signal) -> str:
    of = "all queries" if signal.query_id is None else f"query {signal.query_id!r}"
    return f"{signal.name!r} of {signal.system!r} on {signal.date} for {of}"


def _signal_facts(signals: Sequence[Signal]) -> dict[str, int | str]:
    systems: dict[str, None] = {}
    names: dict[str, None] = {}
    dates: set[str] = set()
    for each in signals:
        systems[each.system] = None
        names[each.name] = None
        dates.add(each.date)
    if not dates:
        return {}
    return {
        "systems": format_names(systems),
        "names": format_names(names),
        "dates": f"{len(dates):,}, {min(dates)} to {max(dates)}",
    }
