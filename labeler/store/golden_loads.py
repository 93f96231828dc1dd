"""Golden grades from files: loading them, listing the loads, and undoing one.

A load is stored whole or not at all. `labeler.formats` parses the files; a `Loaded` value keeps
line numbers for error messages. Undoing a load adds one event for each of its grades.
"""

from __future__ import annotations

import shlex
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from labeler.errors import BadInput, NotFound
from labeler.model import (
    DEFAULT_CHUNKING,
    GoldenGrade,
    GoldenLoad,
    Judgment,
    Loaded,
    LoadedBeir,
    LoadedGolden,
    LoadReport,
    LoadState,
    LoadUndo,
    Remark,
    UnjudgedPair,
    format_count,
    undo_source,
)
from labeler.model.golden_loads import DECIDED, REGRADED, REPLACED, TAKEN_BACK, UNDONE_BY_LOG
from labeler.store.audit import Audit, shortened
from labeler.store.chunkings import Chunkings
from labeler.store.chunks import Chunks, chunking_suffix
from labeler.store.columns import moment
from labeler.store.connection import Connection
from labeler.store.judgments import Judgments
from labeler.store.load_reports import load_report
from labeler.store.people import People
from labeler.store.queries import RETIRED_QUERIES, Queries
from labeler.store.remarks import Remarks
from labeler.store.tamper_check import TamperCheck

INSERT_LOAD = """
INSERT INTO golden_loads (id, at, who, file, first_event, last_event) VALUES (?, ?, ?, ?, ?, ?)
"""
NEXT_NUMBER = "SELECT coalesce(max(id), 0) + 1 FROM golden_loads"
SELECT_LOADS = """
SELECT l.id, l.at, l.who, l.file, f.event_id, t.event_id, l.first_event, l.last_event
FROM golden_loads AS l
JOIN judgments AS f ON f.id = l.first_event JOIN judgments AS t ON t.id = l.last_event
ORDER BY l.id
"""
COUNT_BROUGHT = """
SELECT count(*) FROM judgments
WHERE id BETWEEN ? AND ? AND +undoes IS NULL
    AND kind IN ('grade', 'cannot_tell', 'import', 'carry')
"""
COUNT_CURRENT = """
SELECT count(*) FROM current_judgments
WHERE id BETWEEN ? AND ? AND kind IN ('grade', 'cannot_tell', 'import', 'carry')
"""
LAST_UNDO = """
SELECT max(undo.created_at) FROM judgments AS j JOIN judgments AS undo ON undo.undoes = j.id
WHERE j.id BETWEEN ? AND ? AND undo.source = ?
"""
# The newest events are undone first. Each undo repeats the newest older event of its lane, which
# the next undo may then take back.
EVENTS_OF_LOAD = """
SELECT e.id, e.query, e.chunk, coalesce(e.grader, 0), e.lane, e.kind, b.id, b.kind,
    EXISTS (
        SELECT 1 FROM standing_judgments AS later
        WHERE later.query = e.query AND later.chunk = e.chunk
            AND coalesce(later.grader, 0) = coalesce(e.grader, 0)
            AND later.lane = e.lane AND later.id > :last
    )
FROM standing_judgments AS e
LEFT JOIN judgments AS b ON b.id = (
    SELECT max(older.id) FROM standing_judgments AS older
    WHERE older.query = e.query AND older.chunk = e.chunk
        AND coalesce(older.grader, 0) = coalesce(e.grader, 0)
        AND older.lane = e.lane AND older.id < e.id
)
WHERE e.id BETWEEN :first AND :last AND e.lane <> 'propose'
ORDER BY e.id DESC
"""
COUNT_UNDONE = """
SELECT count(*) FROM judgments AS j JOIN judgments AS undo ON undo.undoes = j.id
WHERE j.id BETWEEN :first AND :last AND undo.id > :last
"""
COUNT_UNDOS = """
SELECT count(*) FROM judgments WHERE id BETWEEN :first AND :last AND undoes < :first
"""
# An imported or transferred grade has no grader; its withdrawal has an empty list instead.
UNDO_EVENT = """
INSERT INTO judgments (
    event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source, undoes,
    text_hash, created_at, evidence, carried_from
)
SELECT
    ?, e.query, e.chunk, e.grader, coalesce(b.kind, 'withdraw'), b.grade, b.graders, b.reason,
    b.note, e.blind, ?, e.id, b.text_hash, ?, b.evidence,
    CASE WHEN b.kind IS NULL AND e.grader IS NULL THEN '[]' ELSE b.carried_from END
FROM judgments AS e LEFT JOIN judgments AS b ON b.id = ? WHERE e.id = ?
"""
_UNGRADED = """
SELECT q.query_id, c.chunk_id FROM ungraded AS u
JOIN queries AS q ON q.id = u.query JOIN chunks AS c ON c.id = u.chunk
WHERE q.retired_at IS NULL
AND NOT EXISTS (SELECT 1 FROM golden AS g WHERE g.query = u.query AND g.chunk = u.chunk)
ORDER BY q.id, c.chunk_id
"""
KEPT = "kept as its grader gave it here"
_GRADES_OF_PEOPLE = """
SELECT q.query_id, c.chunk_id, g.name, j.grade FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query JOIN chunks AS c ON c.id = j.chunk
JOIN graders AS g ON g.id = j.grader WHERE j.kind IN ('grade', 'cannot_tell')
"""


class _EventOfLoad(NamedTuple):
    """A judgment of a load that is not undone, and the judgment it replaced, if any."""

    id: int
    query: int
    chunk: int
    grader: int
    lane: str
    kind: str
    before: int | None
    kind_before: str | None
    is_replaced: bool

    @property
    def place(self) -> tuple[int, int, int, str]:
        """The pair, grader and lane in which one judgment replaces another."""
        return self.query, self.chunk, self.grader, self.lane


class _Undo(NamedTuple):
    """The judgments to undo, the newest first, and a report of the effect."""

    events: Sequence[_EventOfLoad]
    report: LoadUndo


class GoldenLoads:
    """Loads golden grades, and lists and undoes these loads."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._people = People(connection)
        self._queries = Queries(connection)
        self._chunkings = Chunkings(connection)
        self._chunks = Chunks(connection)
        self._judgments = Judgments(connection)
        self._remarks = Remarks(connection)
        self._tamper_check = TamperCheck(connection)

    def add(
        self, loaded: LoadedGolden, *, update: bool = False, chunking: str = DEFAULT_CHUNKING
    ) -> LoadReport:
        """Add golden grades: one import for each pair, or the events of a log unchanged.

        A pair whose current import is the same is not changed, so loading a file twice changes
        nothing. A different grade is refused, or replaces the import with ``update``. Grades by
        graders are added unless that grader has graded the pair. Unknown queries are refused (JSONL
        contains its own). Unknown chunks are accepted by id and counted. Grades of retired queries
        are stored, with a warning. Ids are those of a ``chunking``; in the default one they are the
        golden set's own chunk ids.
        """
        with self._db.writing():
            before = self._judgments.revision()
            if chunking != DEFAULT_CHUNKING:
                self._chunkings.check_there(chunking, loaded.grades.source)
                loaded = loaded.of_chunking(chunking)
            texts = self._chunks.put_chunking(loaded.chunks, chunking, update=update)
            counts = self.put(loaded, update=update)
            counts.update({f"chunks {what}": count for what, count in texts.items()})
            said = self._retired_among(loaded)
            number = self.put_load(loaded.grades.source, counts, before)
        self._tamper_check.seal_if_possible()
        return golden_report(loaded, counts, said, number)

    def _retired_among(self, loaded: LoadedGolden) -> list[str]:
        """Return a sentence on the retired queries that the file grades, if any."""
        given = {grade.query_id for grade in loaded.grades.records}
        given |= {event.query_id for event in loaded.events.records}
        given |= {event.query_id for event in loaded.by_graders.records}
        retired = [query_id for (query_id,) in self._db.rows(RETIRED_QUERIES) if query_id in given]
        if not retired:
            return []
        others = f" (and {len(retired) - 1:,} more)" if len(retired) > 1 else ""
        return [
            f"query {retired[0]!r}{others} is retired: its grades are kept but do not count; to "
            f"take it back: labeler queries restore {shlex.quote(retired[0])}"
        ]

    def add_beir(
        self, loaded: LoadedBeir, *, update: bool = False, chunking: str = DEFAULT_CHUNKING
    ) -> list[LoadReport]:
        """Add a BEIR folder's chunks, queries and golden grades in one transaction.

        Its corpus becomes a ``chunking``, as in `Chunks.load`, and its grades belong to that.
        """
        golden = loaded.golden.of_chunking(chunking) if chunking else loaded.golden
        with self._db.writing():
            before = self._judgments.revision()
            chunks = self._chunks.put_chunking(loaded.chunks, chunking, update=update)
            queries = self._queries.put(loaded.queries, update=update)
            grades = self.put(golden, update=update, own=loaded.queries.source)
            retired = self._retired_among(golden)
            self._audit.put_load("chunks", loaded.chunks.source, chunks)
            self._audit.put_load("queries", loaded.queries.source, queries)
            number = self.put_load(golden.grades.source, grades, before)
        self._tamper_check.seal_if_possible()
        reports = [
            load_report(f"chunks{chunking_suffix(chunking)}", loaded.chunks, chunks),
            load_report("queries", loaded.queries, queries),
        ]
        if golden.grades.facts or golden.grades.records:  # otherwise there was no file of grades
            warned = replace(golden.grades, warnings=(*golden.grades.warnings, *retired))
            reports.append(replace(load_report("golden grades", warned, grades), load=number))
        return reports

    def put(self, loaded: LoadedGolden, *, update: bool, own: str = "") -> Counter[str]:
        """Add golden grades; ``own`` is the file of queries loaded with them, or ""."""
        counts: Counter[str] = Counter()
        if loaded.queries.records:
            for what, count in self._queries.put(loaded.queries, update=update).items():
                counts[f"queries {what}"] = count
        for part in (loaded.grades, loaded.by_graders, loaded.events, loaded.ungraded):
            self._check_queries_are_known(part, own)
        graded = (grade.chunk_id for grade in loaded.grades.records)
        judged = (each.chunk_id for each in loaded.events.records if isinstance(each, Judgment))
        by_graders = (each.chunk_id for each in loaded.by_graders.records)
        pooled = (each.chunk_id for each in loaded.ungraded.records)
        for name in dict.fromkeys(grade.chunking for grade in loaded.grades.records):
            if name != DEFAULT_CHUNKING:
                self._chunkings.make(name, loaded.grades.source)
        bare = self._chunks.put_ids(chain(graded, by_graders, judged, pooled))
        counts["new chunks, known by id only"] = bare
        if fresh := self._put_ungraded(loaded.ungraded):
            counts["newly in the pool, but ungraded"] = fresh
        counts.update(self._put_imports(loaded.grades, update=update))
        counts.update(self._put_by_graders(loaded.by_graders))
        counts.update(self._put_events(loaded.events))
        return counts

    def _check_queries_are_known(self, loaded: Loaded[Any], own: str) -> None:
        """Raise `BadInput` for a query that is neither stored nor in the file ``own``."""
        known = self._queries.ids()
        for index, record in enumerate(loaded.records):
            if record.query_id not in known:
                where = f"{loaded.where(index)}: query {record.query_id!r} is"
                if own:
                    raise BadInput(
                        f"{where} neither in {own} nor in the golden set; add it there, or leave "
                        "out its grades"
                    )
                raise BadInput(
                    f"{where} not in the golden set; load its queries first: labeler load queries "
                    "FILE"
                )

    def _put_ungraded(self, loaded: Loaded[UnjudgedPair]) -> int:
        """Add pairs to the pool without a grade, and return how many are new."""
        before = self._db.conn.total_changes
        self._db.conn.executemany(
            "INSERT INTO ungraded (query, chunk) SELECT q.id, c.id FROM queries AS q, chunks AS c "
            "WHERE q.query_id = ? AND c.chunk_id = ? ON CONFLICT DO NOTHING",
            ((each.query_id, each.chunk_id) for each in loaded.records),
        )
        return int(self._db.conn.total_changes - before)

    def _put_imports(self, loaded: Loaded[GoldenGrade], *, update: bool) -> Counter[str]:
        counts: Counter[str] = Counter()
        there = {kind: self._judgments.current_imports(kind) for kind in ("import", "carry")}
        changed = _changed_grades(loaded, there["import"])
        if changed and not update:
            index, known = changed[0]
            grade = loaded.records[index]
            raise BadInput(
                f"{loaded.where(index)}: {len(changed):,} of {len(loaded.records):,} grades differ "
                f"from those loaded before (chunk {grade.chunk_id!r} of query "
                f"{grade.query_id!r} has {known.grade}, and {grade.grade} here); nothing is loaded "
                "without --update"
            )
        for index, grade in enumerate(loaded.records):
            kind = "carry" if grade.carried_from else "import"
            done = "transferred" if grade.carried_from else "imported"
            stored = there[kind].get((grade.query_id, grade.chunk_id))
            if stored is not None and grade in (stored, _bare(stored)):
                counts[f"already {done}"] += 1
                continue
            event = Judgment(
                event_id=str(uuid.uuid4()),
                query_id=grade.query_id,
                chunk_id=grade.chunk_id,
                grader=None,
                kind=kind,
                grade=grade.grade,
                graders=grade.graders,
                note=grade.note,
                blind=False,
                source=loaded.source,
                text_hash=grade.evidence.text_hash if grade.evidence else None,
                evidence=grade.evidence.passages if grade.evidence else (),
                carried_from=grade.carried_from or None,
            )
            with self._db.translated(loaded.where(index)):
                self._judgments.append(event)
            differs = kind == "import" and stored is not None and stored.grade != grade.grade
            counts["changed" if differs else done] += 1
        return counts

    def _put_by_graders(self, loaded: Loaded[Judgment]) -> Counter[str]:
        """Add grades under their graders' names, except where they have graded the pair already."""
        counts: Counter[str] = Counter()
        if not loaded.records:
            return counts
        said = {
            (query_id, chunk_id, grader): grade
            for query_id, chunk_id, grader, grade in self._db.rows(_GRADES_OF_PEOPLE)
        }
        wordings = dict(self._db.rows("SELECT chunk_id, text_hash FROM chunks"))
        new: list[tuple[int, Judgment | Remark]] = []
        for at, each in enumerate(loaded.records):
            key = each.query_id, each.chunk_id, str(each.grader)
            if key not in said:
                new.append((at, replace(each, text_hash=wordings[each.chunk_id])))
            else:
                counts["already there" if said[key] == each.grade else KEPT] += 1
        lines = [loaded.lines[at] for at, _ in new]
        self._put_events(Loaded(loaded.source, [each for _, each in new], lines))
        counts["grades by graders"] = len(new)
        return counts

    def _put_events(self, loaded: Loaded[Judgment | Remark]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for name in dict.fromkeys(event.grader for event in loaded.records):
            if name is not None:
                self._people.put(name)
        for index, event in enumerate(loaded.records):
            with self._db.translated(loaded.where(index)):
                try:
                    added = self._put_event(event)
                except (BadInput, NotFound) as error:
                    raise BadInput(f"{loaded.where(index)}: {error}") from error
            counts["events added" if added else "events already in the log"] += 1
        return counts

    def _put_event(self, event: Judgment | Remark) -> bool:
        if isinstance(event, Remark):
            return self._remarks.put(event, as_is=True)
        return self._judgments.append(event, as_is=True)

    def put_load(self, source: str, counts: Mapping[str, int], before: int) -> int | None:
        """Audit a load, and number it if it added judgments after the judgment ``before``."""
        number = self._number_load(source, before)
        self._audit.put_load("golden grades", source, {**counts, "load": number or 0})
        return number

    def _number_load(self, file: str, before: int) -> int | None:
        """Number a load, if it added judgments after the judgment ``before``."""
        last = self._judgments.revision()
        if last == before:
            return None
        number = int(self._db.value(NEXT_NUMBER))
        row = [number, moment(), self._audit.who(), shortened(file), before + 1, last]
        self._db.execute(INSERT_LOAD, row)
        return number

    def put_loads(self, loads: Iterable[GoldenLoad], source: str) -> None:
        """Add loads with the numbers they had in the database they were copied from."""
        for load in loads:
            ends = []
            for event_id in (load.first, load.last):
                found = self._db.value("SELECT id FROM judgments WHERE event_id = ?", [event_id])
                if found is None:
                    raise BadInput(
                        f"{source}: load {load.number} of golden grades names the event "
                        f"{event_id!r}, which is not in the file; get the file again from its "
                        "source"
                    )
                ends.append(found)
            self._db.execute(INSERT_LOAD, [load.number, load.at, load.who, load.file, *ends])

    def all(self) -> list[GoldenLoad]:
        """Return all loads that added judgments, the oldest first."""
        return [load for load, _, _ in self._golden_loads()]

    def _golden_loads(self) -> list[tuple[GoldenLoad, int, int]]:
        """Return the loads with the numbers of their first and last judgments."""
        rows = self._db.rows(SELECT_LOADS)
        return [(GoldenLoad(*row), first, last) for *row, first, last in rows]

    def states(self, newest: int | None = None) -> list[LoadState]:
        """Return the state of all loads, or of the ``newest`` ones, the oldest first."""
        with self._db.reading():
            loads = self._golden_loads()
            return [self._state_of(*each) for each in loads[-newest if newest else 0 :]]

    def _state_of(self, load: GoldenLoad, first: int, last: int) -> LoadState:
        brought, current = (
            int(self._db.value(sql, [first, last])) for sql in (COUNT_BROUGHT, COUNT_CURRENT)
        )
        undone = self._db.value(LAST_UNDO, [first, last, undo_source(load.number)])
        return LoadState(load, brought, current, undone)

    def undo_of(self, number: int) -> LoadUndo:
        """Return what `undo` would do; raises `NotFound` for an unknown number."""
        with self._db.reading():
            return self._find_undo(number).report

    def _find_undo(self, number: int) -> _Undo:
        loads = self._golden_loads()
        found = next((each for each in loads if each[0].number == number), None)
        if found is None:
            raise NotFound(_describe_missing(number, len(loads)))
        load, first, last = found
        ends = {"first": first, "last": last}
        events, left = [], Counter[str]()
        for row in self._db.rows(EVENTS_OF_LOAD, ends):
            event = _EventOfLoad(*row)
            if event.lane == "adjudicate":
                left[DECIDED] += 1
            elif event.is_replaced:
                left[REGRADED if event.grader else REPLACED] += event.kind != "withdraw"
            else:
                events.append(event)
        left[UNDONE_BY_LOG] = int(self._db.value(COUNT_UNDOS, ends))
        left[TAKEN_BACK] = int(self._db.value(COUNT_UNDONE, ends))
        newest: dict[tuple[int, int, int, str], str] = {}
        before: dict[tuple[int, int, int, str], str | None] = {}
        for event in events:
            newest.setdefault(event.place, event.kind)
            before[event.place] = event.kind_before
        taken = [place for place, kind in newest.items() if kind != "withdraw"]
        restored = sum(before[place] not in (None, "withdraw") for place in newest)
        return _Undo(events, LoadUndo(load, len(taken), restored, left))

    def undo(self, number: int) -> LoadUndo:
        """Undo the grades of a load that are still current, by one new event for each.

        A grade that the load replaced counts again. Later loads, later grades and adjudications are
        not changed. Undoing a load twice does nothing more. Raises `NotFound` for an unknown
        number.
        """
        with self._db.writing():
            events, report = self._find_undo(number)
            if events:
                source, at = undo_source(number), moment()
                self._db.conn.executemany(
                    UNDO_EVENT,
                    ((str(uuid.uuid4()), source, at, each.before, each.id) for each in events),
                )
                detail = {"load": number, "undone": report.taken_back}
                if report.restored:
                    detail["as before"] = report.restored
                self._audit.put("undo_load", report.load.file, detail)
        self._tamper_check.seal_if_possible()
        return report

    def ungraded(self) -> list[UnjudgedPair]:
        """Return the pairs that a file pooled without a grade and that nobody has graded."""
        return [UnjudgedPair(*row) for row in self._db.rows(_UNGRADED)]


def _describe_missing(number: int, loads: int) -> str:
    if not loads:
        return "there is no load of golden grades to undo"
    there = "there is load 1 alone" if loads == 1 else f"there are loads 1 to {loads:,}"
    return (
        f"there is no load {number} of golden grades; {there}, and 'labeler undo-load' lists them; "
        "loads of runs and chunks have no number: 'labeler drop run NAME' takes a run away"
    )


def _changed_grades(
    loaded: Loaded[GoldenGrade], there: Mapping[tuple[str, str], GoldenGrade]
) -> list[tuple[int, GoldenGrade]]:
    """Return the numbers of the records whose stored grade differs, with the stored grade."""
    found = []
    for at, grade in enumerate(loaded.records):
        known = there.get((grade.query_id, grade.chunk_id))
        if known is not None and known.grade != grade.grade and not grade.carried_from:
            found.append((at, known))
    return found


def _bare(grade: GoldenGrade) -> GoldenGrade:
    """Return a grade without graders, note and evidence, as in most files."""
    return replace(grade, graders=(), note=None, evidence=None)


def golden_report(
    loaded: LoadedGolden, counts: Mapping[str, int], said: Sequence[str], number: int | None
) -> LoadReport:
    """Return the report on a load of golden grades, with the sentences ``said`` about it."""
    parts: list[Loaded[Any]] = [loaded.queries, loaded.chunks, loaded.grades]
    parts += [loaded.by_graders, loaded.events, loaded.ungraded]
    facts: dict[str, int | str] = {}
    for part in parts:
        facts |= part.facts
    warnings = [sentence for part in parts for sentence in part.warnings]
    said = [*dict.fromkeys([*warnings, *said, *_describe_by_graders(loaded.by_graders, counts)])]
    whole: Loaded[Any] = Loaded(loaded.grades.source, (), (), facts, tuple(said))
    return replace(load_report("golden grades", whole, counts), load=number)


def _describe_by_graders(loaded: Loaded[Judgment], counts: Mapping[str, int]) -> list[str]:
    """Return sentences on pairs that several graders graded."""
    if not loaded.records:
        return []
    said = ["several graders graded the same pair: each keeps their own grade"]
    if not any(each.blind for each in loaded.records):
        said[0] += ", not counted as blind without --blind"
    if counts.get(KEPT):
        one, many = "grade differs from what its", "grades differ from what their"
        said.append(f"{format_count(counts[KEPT], one, many)} grader said here, which stays")
    return said
