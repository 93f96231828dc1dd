"""Writes what a file gave: queries, chunks, runs and golden grades, each load whole or not at all.

Knows no file format; a message names the line because the `Loaded` value remembers it.
"""

from __future__ import annotations

import shlex
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import (
    UNNAMED,
    GoldenGrade,
    IntakeReport,
    Judgment,
    Loaded,
    LoadedBeir,
    LoadedGolden,
    Query,
    Ranking,
    Remark,
)
from labeler.store.chunkings import Called
from labeler.store.chunks import Chunks, of_chunking, report_of
from labeler.store.columns import as_json, fingerprint_of, packed, some_at_once
from labeler.store.editing import Editing
from labeler.store.exchange import Exchange
from labeler.store.keeping import check_date, check_run_name
from labeler.store.log import JudgmentLog
from labeler.store.reading import RETIRED
from labeler.store.remarks import Remarks
from labeler.store.seals import Seals
from labeler.store.stored_lists import StoredLists

RESULTS_AT_ONCE = 500_000
LIST = ("run", "query_id", "chunks", "scores")


class Intake(JudgmentLog, Chunks, Exchange, Remarks, Seals, Editing):
    """The writing half of the store, except for single judgments."""

    def add_queries(self, loaded: Loaded[Query], *, update: bool = False) -> IntakeReport:
        """Add queries; one that is there with the same content is left alone.

        Other content for a known id is refused, or replaces it with ``update``.
        """
        with self._writing():
            counts = self._put_queries(loaded, update=update)
            self._note_load("queries", loaded.source, counts)
        return report_of("queries", loaded, counts)

    def add_run(
        self,
        loaded: Loaded[Ranking],
        *,
        name: str,
        system: str | None = None,
        created_at: str | None = None,
        params: Mapping[str, Any] | None = None,
        chunking: str | None = None,
    ) -> IntakeReport:
        """Store a run under ``name``; ``system`` defaults to the name.

        ``created_at`` is when it was made, None where that is not known. A run is immutable: the
        same name again is refused unless the content is identical, and then nothing changes.
        Queries the golden set does not have are kept, counted and not scored; chunks it does not
        have become known by id. The ``chunking`` that it was made on is told by its ids where it is
        None; `BadInput` where they fit several.
        """
        check_run_name(name, "run", "--name")
        if system is not None:
            check_run_name(system, "system", "--system")
        created_at = check_date(created_at) if created_at else None
        chunking, rankings = self._called(loaded, chunking)
        fingerprint = fingerprint_of(rankings)
        with self._writing():
            known = self._value("SELECT source_hash FROM runs WHERE name = ?", [name])
            if known is not None and known != fingerprint:
                raise BadInput(
                    f"{loaded.source}: there is already a run named {name!r} with other content; "
                    f"choose another --name, or remove it first: labeler drop run {name}"
                )
            stored = StoredLists()
            twins = self._runs_of(fingerprint)
            if known is None:
                row = [name, system or name, created_at, as_json(params or {}), fingerprint]
                stored = self._put_run(rankings, [*row, chunking])
                self._note_load(f"run {name}", loaded.source, {"queries": len(loaded.records)})
        if known is not None:
            title = f"run {name!r} is already there with the same content"
            return IntakeReport(title, {}, changed=False)
        if len(self.chunking_names()) > 1:
            of = {"chunking": chunking or "the unnamed one"}
            loaded = replace(loaded, facts={**loaded.facts, **of})
        return self._run_report(loaded, name, stored, twins)

    def _called(
        self, loaded: Loaded[Ranking], chunking: str | None
    ) -> tuple[str, Sequence[Ranking]]:
        """Return the chunking a run is of, and its lists with what its chunks are called here."""
        if chunking is None:
            chunking = self._chunking_of(loaded.records, loaded.source)
        elif chunking != UNNAMED:
            with self._writing():
                self._check_there(chunking, loaded.source)
        if chunking == UNNAMED:
            self._check_apart(loaded.records, loaded.source)
            return chunking, loaded.records
        return chunking, Called(loaded.records, chunking)

    def _runs_of(self, fingerprint: str) -> list[str]:
        rows = self._rows("SELECT name FROM runs WHERE source_hash = ? ORDER BY id", [fingerprint])
        return [repr(name) for (name,) in rows]

    def _put_run(self, rankings: Iterable[Ranking], row: list[str | None]) -> StoredLists:
        """Store a run, some of its lists at a time."""
        ((run,),) = self._rows(
            "INSERT INTO runs (name, system, created_at, params, source_hash, depth, chunking) "
            "VALUES (?, ?, ?, ?, ?, 0, (SELECT id FROM chunkings WHERE name = ?)) RETURNING id",
            row,
        )
        stored = StoredLists()
        self._engine.expect_much(self._db)
        for some in some_at_once(rankings, RESULTS_AT_ONCE):
            ids = chain.from_iterable(ranking.chunk_ids for ranking in some)
            numbers, bare = self._chunk_numbers(ids)
            stored.add(some, numbers.values(), bare)
            lists = ((run, *packed(ranking, numbers)) for ranking in some)
            self._engine.fill(self._db, "ranked_lists", LIST, lists)
        self._db.execute("UPDATE runs SET depth = ? WHERE id = ?", [stored.depth, run])
        return stored

    def _run_report(
        self, loaded: Loaded[Ranking], name: str, stored: StoredLists, twins: Sequence[str]
    ) -> IntakeReport:
        bare = stored.bare()
        counts: dict[str, int | str] = {"chunks known by id only": bare}
        rows = self._rows("SELECT query_id, retired_at IS NOT NULL FROM queries")
        retired = {query_id for query_id, is_retired in rows if is_retired}
        wanted = {query_id for query_id, _ in rows} - retired
        given = stored.query_ids
        if given & retired:
            counts["queries that are retired"] = len(given & retired)
        given -= retired
        counts["queries of the golden set without a list"] = len(wanted - given)
        counts["queries unknown to the golden set"] = len(given - wanted)
        warnings = list(loaded.warnings)
        if twins:
            of = "run" if len(twins) == 1 else "runs"
            warnings.append(f"its content is the same as that of {of} {', '.join(twins)}")
        if given and not given & wanted:
            warnings.append(
                f"no query of this run is in the golden set (the first is {min(given)!r}); "
                "load its queries, or check that the ids are the same"
            )
        if given and not stored.depth:
            warnings.append(
                "all lists of this run are empty: nothing compares with it; is this the whole file?"
            )
        if bare and not stored.readable:
            warnings.append(self._unreadable(stored))
        return IntakeReport(
            f"run {name!r} from {loaded.source}", {**loaded.facts, **counts}, tuple(warnings)
        )

    def _unreadable(self, stored: StoredLists) -> str:
        """Say what is wrong with a run of whose chunks no text is known."""
        known = "no text is known of any chunk of this run"
        if graded := self._graded_unless_met(stored):
            others = "one other is" if graded == 1 else f"{graded:,} others are"
            return (
                f"{known} and none is graded, while {others}, so its measures are 0; was it made "
                "on another chunking, or with other chunk ids?"
            )
        return (
            f"{known}, so nobody can grade them; load the chunks, or check that the ids are the "
            "same"
        )

    def _graded_unless_met(self, stored: StoredLists) -> int:
        """Count the chunks that have a golden grade, unless a run has one of them: then 0."""
        judged = self._rows("SELECT DISTINCT chunk FROM judgments")
        if stored.has_any_of(chunk for (chunk,) in judged):
            return 0
        return int(self._value("SELECT count(DISTINCT chunk) FROM golden"))

    def add_golden(
        self, loaded: LoadedGolden, *, update: bool = False, chunking: str = UNNAMED
    ) -> IntakeReport:
        """Add golden grades: one import per pair, or the events of a log as they are.

        A pair whose current import is the same stays as it is, so loading a file twice changes
        nothing. Unknown queries are refused (JSONL brings its own), unknown chunks are accepted
        by id and counted. Grades of retired queries are kept, and warned of. Ids are those of a
        ``chunking``, and in the unnamed one what chunks are called in a golden set.
        """
        with self._writing():
            if chunking != UNNAMED:
                self._check_there(chunking, loaded.grades.source)
                loaded = loaded.of_chunking(chunking)
            counts = self._put_golden(loaded, update=update)
            retired = self._retired_among(loaded)
            self._note_load("golden grades", loaded.grades.source, counts)
        self.seal_if_possible()
        parts: list[Loaded[Any]] = [loaded.queries, loaded.grades, loaded.events, loaded.ungraded]
        facts: dict[str, int | str] = {}
        for part in parts:
            facts |= part.facts
        warnings = [sentence for part in parts for sentence in part.warnings]
        said = tuple(dict.fromkeys([*warnings, *retired]))
        whole: Loaded[Any] = Loaded(loaded.grades.source, (), (), facts, said)
        return report_of("golden grades", whole, counts)

    def _retired_among(self, loaded: LoadedGolden) -> list[str]:
        """Return a sentence on the retired queries that the file has grades for, if any."""
        given = {grade.query_id for grade in loaded.grades.records}
        given |= {event.query_id for event in loaded.events.records}
        retired = [query_id for (query_id,) in self._rows(RETIRED) if query_id in given]
        if not retired:
            return []
        others = f" (and {len(retired) - 1:,} more)" if len(retired) > 1 else ""
        return [
            f"query {retired[0]!r}{others} is retired: its grades are kept but do not count; to "
            f"take it back: labeler restore query {shlex.quote(retired[0])}"
        ]

    def _put_golden(self, loaded: LoadedGolden, *, update: bool) -> Counter[str]:
        counts: Counter[str] = Counter()
        if loaded.queries.records:
            for what, count in self._put_queries(loaded.queries, update=update).items():
                counts[f"queries {what}"] = count
        for part in (loaded.grades, loaded.events, loaded.ungraded):
            self._check_queries_are_known(part)
        graded = (grade.chunk_id for grade in loaded.grades.records)
        judged = (each.chunk_id for each in loaded.events.records if isinstance(each, Judgment))
        pooled = (each.chunk_id for each in loaded.ungraded.records)
        for name in dict.fromkeys(grade.chunking for grade in loaded.grades.records):
            if name != UNNAMED:
                self._make_chunking(name, loaded.grades.source)
        bare = self._put_chunk_ids(chain(graded, judged, pooled))
        counts["new chunks, known by id only"] = bare
        if fresh := self._put_ungraded(loaded.ungraded):
            counts["newly in the pool, but ungraded"] = fresh
        counts.update(self._put_imports(loaded.grades))
        counts.update(self._put_events(loaded.events))
        return counts

    def _check_queries_are_known(self, loaded: Loaded[Any]) -> None:
        known = {query_id for (query_id,) in self._rows("SELECT query_id FROM queries")}
        for index, record in enumerate(loaded.records):
            if record.query_id not in known:
                raise BadInput(
                    f"{loaded.where(index)}: query {record.query_id!r} is not in the golden set; "
                    "load its queries first: labeler load queries FILE"
                )

    def _put_imports(self, loaded: Loaded[GoldenGrade]) -> Counter[str]:
        counts: Counter[str] = Counter()
        there = {kind: self._current_imports(kind) for kind in ("import", "carry")}
        for index, grade in enumerate(loaded.records):
            kind = "carry" if grade.carried_from else "import"
            done = "carried over" if grade.carried_from else "imported"
            if there[kind].get((grade.query_id, grade.chunk_id)) == grade:
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
            with self._translated(loaded.where(index)):
                self._append(event)
            counts[done] += 1
        return counts

    def _put_events(self, loaded: Loaded[Judgment | Remark]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for name in dict.fromkeys(event.grader for event in loaded.records):
            if name is not None:
                self._add_grader(name)
        for index, event in enumerate(loaded.records):
            with self._translated(loaded.where(index)):
                try:
                    added = self._put_event(event)
                except (BadInput, NotFound) as error:
                    raise BadInput(f"{loaded.where(index)}: {error}") from error
            counts["events added" if added else "events already in the log"] += 1
        return counts

    def _put_event(self, event: Judgment | Remark) -> bool:
        if isinstance(event, Remark):
            return self._add_remark(event, as_is=True)
        return self._append(event, as_is=True)

    def add_beir(
        self, loaded: LoadedBeir, *, update: bool = False, chunking: str = UNNAMED
    ) -> list[IntakeReport]:
        """Add a BEIR folder's chunks, queries and golden grades in one transaction.

        Its corpus makes a ``chunking``, as in `add_chunks`, which its grades are of.
        """
        golden = loaded.golden.of_chunking(chunking) if chunking else loaded.golden
        with self._writing():
            chunks = self._put_chunking(loaded.chunks, chunking, update=update)
            queries = self._put_queries(loaded.queries, update=update)
            grades = self._put_golden(golden, update=update)
            retired = self._retired_among(golden)
            self._note_load("chunks", loaded.chunks.source, chunks)
            self._note_load("queries", loaded.queries.source, queries)
            self._note_load("golden grades", golden.grades.source, grades)
        self.seal_if_possible()
        reports = [
            report_of(f"chunks{of_chunking(chunking)}", loaded.chunks, chunks),
            report_of("queries", loaded.queries, queries),
        ]
        if golden.grades.facts or golden.grades.records:  # else there was no file of grades
            warned = replace(golden.grades, warnings=(*golden.grades.warnings, *retired))
            reports.append(report_of("golden grades", warned, grades))
        return reports
