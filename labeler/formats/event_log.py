"""The judgment log as JSON lines: one event of a grader per line, and the grades that count.

An event is about a chunk of a query (a judgment) or about a whole query (a remark). A line that
holds only the tamper check of the log is skipped.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import fields
from datetime import datetime
from typing import TypeAlias

from labeler.errors import BadInput
from labeler.formats.field_aliases import SEAL, TRANSFERRED_FROM
from labeler.formats.json_records import (
    Record,
    Records,
    or_list,
    short,
    take_count,
    take_id,
    take_names,
)
from labeler.formats.limits import Limits
from labeler.formats.lines import InputFile
from labeler.formats.spool import Spool, UniqueIds, compact_lines, estimate_size
from labeler.model import (
    REMARK_KINDS,
    Judgment,
    Loaded,
    Remark,
    TransferSource,
    agreed_grade,
    check_evidence,
    check_name,
    check_transfer_sources,
)

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")
_JUDGMENT_KEYS = tuple(field.name for field in fields(Judgment))
_REMARK_KEYS = tuple(field.name for field in fields(Remark))

Pair: TypeAlias = tuple[str, str]
"""A query's id and a chunk's id."""


def is_log(keys: Record) -> bool:
    """Return whether a line with these keys is one of the log."""
    return {"event_id", "grader"} <= keys.keys() or keys.keys() == {SEAL}


def events_from(source: InputFile, records: Records) -> Loaded[Judgment | Remark]:
    """Read the events of a log; raises `BadInput` with file and line."""
    events: Spool[Judgment | Remark] = Spool()
    ids = UniqueIds("event")
    queries: set[str] = set()
    graders: set[str | None] = set()
    kinds: Counter[str] = Counter()
    for number, record in records:
        if record.keys() == {SEAL}:  # the tamper check of the exported log
            continue
        weight = estimate_size(record)
        with source.at(number):
            event = parse_event(record, source.limits)
            ids.add(event.event_id, number)
        events.add(event, weight)
        queries.add(event.query_id)
        graders.add(event.grader)
        kinds[f"kind {event.kind}"] += 1
    ids.check(source, lambda place: events[place].event_id)
    facts: dict[str, int | str] = {
        "events": len(events),
        "queries": len(queries),
        "graders": len(graders - {None}),
        **kinds,
    }
    return Loaded(source.name, events, compact_lines(ids.lines), facts)


def parse_event(record: Record, limits: Limits) -> Judgment | Remark:
    """Return the event in a line of the log."""
    if not _is_remark(record):
        return _parse_judgment(record, limits)
    if "grader" not in record:
        raise BadInput("a remark names its grader")
    return _parse_remark(record, limits)


def _is_remark(record: Record) -> bool:
    """Return whether a line of the log is about a whole query: it names no chunk."""
    return "chunk_id" not in record and record.get("kind") in REMARK_KINDS


def _parse_remark(record: Record, limits: Limits) -> Remark:
    if extra := sorted(record.keys() - set(_REMARK_KEYS)):
        raise BadInput(f"a remark has no {or_list(extra)}; its keys are {', '.join(_REMARK_KEYS)}")
    return Remark(
        event_id=take_id(record, ["event_id"], "event", limits),
        query_id=take_id(record, ["query_id"], "query", limits),
        grader=check_name(record["grader"], "grader"),
        kind=record["kind"],
        note=_event_text(record, "note"),
        undoes=_event_text(record, "undoes"),
        created_at=_parse_time(record),
    )


def _parse_judgment(record: Record, limits: Limits) -> Judgment:
    if extra := sorted(record.keys() - set(_JUDGMENT_KEYS)):
        raise BadInput(
            f"an event has no {or_list(extra)}; its keys are {', '.join(_JUDGMENT_KEYS)}"
        )
    blind = record.get("blind", True)
    if not isinstance(blind, bool):
        raise BadInput(f"blind must be true or false, not {short(blind)}")
    transferred = record.get(TRANSFERRED_FROM)
    return Judgment(
        event_id=take_id(record, ["event_id"], "event", limits),
        query_id=take_id(record, ["query_id"], "query", limits),
        chunk_id=take_id(record, ["chunk_id"], "chunk", limits),
        grader=_one_grader(record),
        kind=_event_text(record, "kind") or "grade",
        grade=record.get("grade"),
        graders=take_names(record, ["graders"], ","),
        reason=_event_text(record, "reason"),
        note=_event_text(record, "note"),
        blind=blind,
        source=_event_text(record, "source"),
        undoes=_event_text(record, "undoes"),
        elapsed_ms=take_count(record, ["elapsed_ms"]),
        text_hash=_event_text(record, "text_hash"),
        created_at=_parse_time(record),
        evidence=check_evidence(record.get("evidence") or ()),
        carried_from=None if transferred is None else check_transfer_sources(transferred),
        seen_whole=_event_truth(record, "seen_whole"),
        highlighted=_event_truth(record, "highlighted"),
    )


def _one_grader(record: Record) -> str | None:
    grader = record.get("grader")
    return None if grader is None else check_name(grader, "grader")


def _event_text(record: Record, key: str) -> str | None:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{key} must be text, not {short(value)}")
    return value


def _event_truth(record: Record, key: str) -> bool | None:
    value = record.get(key)
    if value is not None and not isinstance(value, bool):
        raise BadInput(f"{key} must be true or false, not {short(value)}")
    return value


def _parse_time(record: Record) -> str | None:
    value = _event_text(record, "created_at")
    if value is not None:
        try:
            offset = datetime.fromisoformat(value).utcoffset()
            if not _MOMENT.match(value):
                raise ValueError
        except ValueError as error:
            raise BadInput(
                f"created_at must be a time such as 2025-01-31T09:30:00Z, not {short(value)}"
            ) from error
        if offset is None:
            raise BadInput(
                f"created_at {short(value)} says of no time zone; a time in UTC ends with Z"
            )
    return value


def golden_grades_of(events: Iterable[Judgment | Remark]) -> dict[Pair, int]:
    """Return the golden grade of each pair in a whole log, oldest event first.

    As a golden set with the default settings has it: the newest adjudication, else the lower median
    of people's current grades, else the newest import, else the transferred grade while it follows.
    A log holds no texts, so a transferred grade also counts where a text has changed since.

    >>> log = [Judgment("e1", "q", "c", "Ann", grade=3), Judgment("e2", "q", "c", "Ann", grade=1)]
    >>> undo = Judgment("e3", "q", "c", "Ann", grade=3, undoes="e2")
    >>> golden_grades_of(log), golden_grades_of([*log, undo])
    ({('q', 'c'): 1}, {('q', 'c'): 3})
    """
    log = {event.event_id: event for event in events if isinstance(event, Judgment)}
    current = _current_judgments(log.values())
    said: defaultdict[Pair, list[Judgment]] = defaultdict(list)
    for event in current.values():
        said[_pair(event)].append(event)
    golden = {pair: _untransferred_grade(of_pair) for pair, of_pair in said.items()}

    def still_follows(source: TransferSource) -> bool:
        base = log.get(source.event_id)  # one of another log is taken at its word
        return base is None or (base.event_id in current and golden[_pair(base)] == source.golden)

    transferred = {
        _pair(event): event.grade
        for event in current.values()
        if event.kind == "carry" and golden[_pair(event)] is None
        if all(map(still_follows, event.carried_from or ()))
    }
    return {pair: grade for pair, grade in (golden | transferred).items() if grade is not None}


def _pair(event: Judgment) -> Pair:
    return event.query_id, event.chunk_id


def _current_judgments(log: Collection[Judgment]) -> dict[str, Judgment]:
    """Return each grader's newest judgment of each pair by its id, as undo left them, in order.

    Adjudications, imports, suggestions and transferred grades replace only those of their kind.
    """
    undone = {event.undoes for event in log}
    newest: dict[tuple[object, ...], Judgment] = {}
    for event in log:
        if event.undoes is None and event.event_id not in undone:
            lane = event.kind if event.kind in ("adjudicate", "import", "propose") else "grade"
            key = (*_pair(event), event.grader, "carry" if event.carried_from is not None else lane)
            newest.pop(key, None)  # so that the newest event comes last
            newest[key] = event
    return {event.event_id: event for event in newest.values()}


def _untransferred_grade(said: Iterable[Judgment]) -> int | None:
    """Return what people and files make of a pair, from its current judgments, oldest first."""
    grades: defaultdict[str, list[int]] = defaultdict(list)
    for event in said:
        if event.grade is not None:
            grades[event.kind].append(event.grade)
    decided, imported = grades["adjudicate"], grades["import"]
    return decided[-1] if decided else agreed_grade(grades["grade"] or imported[-1:])
