"""Files of signals, what users did online; knows what a signal's fields may be called."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import UTC, datetime

from labeler.errors import BadInput
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import COUNT, DATE, QUERY_BY_ID, SIGNAL, SYSTEM, VALUE
from labeler.formats.once import Once, listed, needed
from labeler.formats.reading import Progress, StrPath, file_source
from labeler.formats.records import Record, as_id, short, take, take_count
from labeler.model import Loaded, Signal

_DAY = len("2026-01-31")
_WANTED = {"date": DATE, "system": SYSTEM, "name of the signal": SIGNAL, "value": VALUE}


def read_signals(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Signal]:
    """Read signals from JSONL, CSV or TSV, plain or gzip: date, system, name and value.

    ``query`` is the id of one query, and ``n`` how often something was counted; both may be
    missing. A date is a day, or a moment, which is kept in UTC; without a zone it is one of UTC.
    Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    source = file_source(path, name, limits)
    found = Once[Signal](source, "signal", _key, _content, _words)
    for number, record in found.records(progress, _WANTED, (*QUERY_BY_ID, *COUNT)):
        with source.at(number):
            found.add(number, signal_of(record, limits), len(str(record)))
        found.rest(record)
    return found.loaded(_facts(found.kept))


def signal_of(record: Record, limits: Limits = LIMITS) -> Signal:
    """Return the signal a record describes; what it has no meaning for stays in the record."""
    query = take(record, QUERY_BY_ID)
    return Signal(
        date=moment_of(needed(record, DATE, "date")),
        system=_text(record, SYSTEM, "system", limits),
        name=_text(record, SIGNAL, "name", limits),
        value=number_of(needed(record, VALUE, "value")),
        query_id=None if query in (None, "") else as_id(query, "query", limits),
        n=take_count(record, COUNT),
    )


def number_of(value: object) -> float:
    """Return a signal's value: one finite number, in digits.

    >>> number_of("0.034"), number_of(2)
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


def moment_of(value: object) -> str:
    """Return a date as it is kept: a day as it is, a moment in UTC, to the second.

    >>> moment_of("2026-01-31"), moment_of("2026-01-31T23:30:00-02:00")
    ('2026-01-31', '2026-02-01T01:30:00Z')
    """
    text = value.strip() if isinstance(value, str) else ""
    try:
        when = datetime.fromisoformat(text)
        if len(text) < _DAY or text[4] != "-" or text[7] != "-":
            raise ValueError
        if len(text) == _DAY:
            return text
        utc = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"date {short(value)} is not like 2026-01-31 or 2026-01-31T09:30:00Z"
        ) from error
    return f"{utc:%Y-%m-%dT%H:%M:%S}Z"


def _text(record: Record, names: Sequence[str], what: str, limits: Limits) -> str:
    return as_id(needed(record, names, what), what, limits)


def _key(signal: Signal) -> Hashable:
    return signal.system, signal.name, signal.date, signal.query_id


def _content(signal: Signal) -> object:
    return signal.value, signal.n


def _words(signal: Signal) -> str:
    of = "all queries" if signal.query_id is None else f"query {signal.query_id!r}"
    return f"{signal.name!r} of {signal.system!r} on {signal.date} for {of}"


def _facts(signals: Sequence[Signal]) -> dict[str, int | str]:
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
        "systems": listed(systems),
        "names": listed(names),
        "dates": f"{len(dates):,}, {min(dates)} to {max(dates)}",
    }
