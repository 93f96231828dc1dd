"""Loads of files into the store: queries, runs, golden grades, BEIR sets; whole or not at all.

`labeler.formats` parses the files; a `Loaded` value keeps line numbers for error messages. Files
of other tools are also handled here: texts in place of ids, whole lists, ungraded pairs.
"""

from __future__ import annotations

import json
import shlex
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.model import (
    DEFAULT_CHUNKING,
    GoldenGrade,
    Judgment,
    Loaded,
    LoadedBeir,
    LoadedGolden,
    LoadReport,
    Query,
    Ranking,
    Remark,
    UnjudgedPair,
    fold_text,
    format_count,
    format_list,
)
from labeler.store.chunkings import QualifiedRankings
from labeler.store.chunks import Chunks, chunking_suffix, load_report
from labeler.store.columns import (
    APART,
    as_json,
    batch_rankings,
    order_in_64_bits,
    pack_ranking,
    run_fingerprint,
)
from labeler.store.contents import RETIRED_QUERIES, ContentsReader
from labeler.store.golden_loads import GoldenLoads
from labeler.store.queries import Queries
from labeler.store.remarks import Remarks
from labeler.store.runs import StoredLists, check_date, check_run_name

_UNGRADED = """
SELECT q.query_id, c.chunk_id FROM ungraded AS u
JOIN queries AS q ON q.id = u.query JOIN chunks AS c ON c.id = u.chunk
WHERE q.retired_at IS NULL
AND NOT EXISTS (SELECT 1 FROM golden AS g WHERE g.query = u.query AND g.chunk = u.chunk)
ORDER BY q.id, c.chunk_id
"""


class Exchange(ContentsReader):
    """Reads what goes to other tools, and finds what comes from them under other names."""

    def texts_of_queries(self) -> dict[str, str]:
        """Return the text of every query by its id, retired ones included."""
        return dict(self._rows("SELECT query_id, text FROM queries ORDER BY id"))

    def chunks_of_texts(
        self, made: Iterable[str], prefix: int, digits: int, chunking: str = DEFAULT_CHUNKING
    ) -> dict[str, str]:
        """Return, for ids that end with the first digits of a text's hash, a chunk with that text.

        The hash begins behind so many letters of a ``prefix``. Ids that are chunks themselves, or
        whose text nobody knows, are left out; of several chunks with one text the first counts.
        They are those of a ``chunking``.
        """
        wanted = {chunk_id[prefix:]: chunk_id for chunk_id in made}
        rows = self._rows(
            "SELECT substr(text_hash, 1, ?), chunk_id FROM chunks WHERE substr(text_hash, 1, ?) "
            "IN (SELECT value FROM json_each(?)) "
            "AND chunking IS (SELECT id FROM chunkings WHERE name = ?) ORDER BY id DESC",
            [digits, digits, as_json(sorted(wanted)), chunking],
        )
        found = {wanted[digest]: chunk_id for digest, chunk_id in rows}
        return {given: chunk_id for given, chunk_id in found.items() if given != chunk_id}

    def ungraded(self) -> list[UnjudgedPair]:
        """Return the pairs that a file put into the pool and that still nobody graded."""
        return [UnjudgedPair(*row) for row in self._rows(_UNGRADED)]

    def _put_ungraded(self, loaded: Loaded[UnjudgedPair]) -> int:
        """Note pairs that are in the pool without a grade; return how many are new."""
        before = self._db.conn.total_changes
        self._db.conn.executemany(
            "INSERT INTO ungraded (query, chunk) SELECT q.id, c.id FROM queries AS q, chunks AS c "
            "WHERE q.query_id = ? AND c.chunk_id = ? ON CONFLICT DO NOTHING",
            ((each.query_id, each.chunk_id) for each in loaded.records),
        )
        return int(self._db.conn.total_changes - before)

    def run_lists(self, name: str) -> list[Ranking]:
        """Return a run's lists as they were loaded, in the order of the queries.

        Those of queries that the golden set does not have come last. May raise `NotFound`.
        """
        with self._reading():
            rows = self._rows(
                "SELECT l.query_id, l.chunks, l.scores FROM ranked_lists AS l "
                "JOIN runs AS r ON r.id = l.run LEFT JOIN queries AS q ON q.query_id = l.query_id "
                "WHERE r.name = ? ORDER BY q.id IS NULL, q.id, l.query_id",
                [name],
            )
            names = ", ".join(self.run_names()) or "none"
            chunk_ids = dict(self._rows("SELECT id, chunk_id FROM chunks")) if rows else {}
        if not rows:
            raise NotFound(f"there is no run named {name!r}; there are: {names}")
        return [_ranking_from_row(row, chunk_ids) for row in rows]


KEPT = "kept as its grader gave it here"
_GRADES_OF_PEOPLE = """
SELECT q.query_id, c.chunk_id, g.name, j.grade FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query JOIN chunks AS c ON c.id = j.chunk
JOIN graders AS g ON g.id = j.grader WHERE j.kind IN ('grade', 'cannot_tell')
"""


def _changed_grades(
    loaded: Loaded[GoldenGrade], there: Mapping[tuple[str, str], GoldenGrade]
) -> list[tuple[int, GoldenGrade]]:
    """Return the numbers of the records with another grade than the stored one, and that one."""
    found = []
    for at, grade in enumerate(loaded.records):
        known = there.get((grade.query_id, grade.chunk_id))
        if known is not None and known.grade != grade.grade and not grade.carried_from:
            found.append((at, known))
    return found


def _bare(grade: GoldenGrade) -> GoldenGrade:
    """Return a grade without its graders, note and evidence, as most files have it."""
    return replace(grade, graders=(), note=None, evidence=None)


def golden_report(
    loaded: LoadedGolden, counts: Mapping[str, int], said: Sequence[str], number: int | None
) -> LoadReport:
    """Return what a load of golden grades did, with what else is to be ``said`` of it."""
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
    """Return sentences on grades that several graders gave the same pairs."""
    if not loaded.records:
        return []
    said = ["several graders graded the same pair: each keeps their own grade"]
    if not any(each.blind for each in loaded.records):
        said[0] += ", not counted as blind without --blind"
    if counts.get(KEPT):
        one, many = "grade differs from what its", "grades differ from what their"
        said.append(f"{format_count(counts[KEPT], one, many)} grader said here, which stays")
    return said


def _ranking_from_row(
    row: tuple[str, bytes, bytes | None], chunk_ids: Mapping[int, str]
) -> Ranking:
    query_id, chunks, scores = row
    ids = tuple(chunk_ids[number] for number in np.frombuffer(chunks, "<i4").tolist())
    if scores is None:
        return Ranking(query_id, ids)
    # the shortest digits that are this 32-bit number, and not those of its 64-bit twin
    return Ranking(query_id, ids, tuple(float(str(each)) for each in np.frombuffer(scores, "<f4")))


_MOST_NAMED = 3
_SELDOM = 10  # where queries and chunks are numbered, fewer than one list in ten has it by chance
RESULTS_AT_ONCE = 500_000
LIST_COLUMNS = ("run", "query_id", "chunks", "scores")


class Loads(GoldenLoads, Chunks, Exchange, Remarks, Queries):
    """The writing half of the store, except for single judgments."""

    def add_queries(self, loaded: Loaded[Query], *, update: bool = False) -> LoadReport:
        """Add queries; one that is there with the same content is left alone.

        Other content for a known id is refused, or replaces it with ``update``.
        """
        with self._writing():
            counts = self._put_queries(loaded, update=update)
            self._note_load("queries", loaded.source, counts)
            alike = self._look_alikes(loaded)
        return load_report("queries", replace(loaded, warnings=(*loaded.warnings, *alike)), counts)

    def _look_alikes(self, loaded: Loaded[Query]) -> list[str]:
        """Return a sentence on queries that differ from another only in blanks or Unicode form."""
        first: dict[str, tuple[str, str]] = {}
        for query_id, text in self.texts_of_queries().items():
            first.setdefault(fold_text(text), (query_id, text))
        found = []
        for query in loaded.records:
            other, text = first[fold_text(query.text)]
            if text != query.text and text.strip():
                found.append(f"{query.query_id!r} and {other!r}")
        if not found:
            return []
        return [
            f"{format_count(len(found), 'query looks', 'queries look')} like another: only "
            "blanks or the Unicode form differ (" + format_list(found, _MOST_NAMED) + ")"
        ]

    def add_run(
        self,
        loaded: Loaded[Ranking],
        *,
        name: str,
        system: str | None = None,
        created_at: str | None = None,
        params: Mapping[str, Any] | None = None,
        chunking: str | None = None,
    ) -> LoadReport:
        """Store a run under ``name``; ``system`` defaults to the name.

        ``created_at`` is when it was made, None where that is not known. A run is immutable: the
        same name again is refused unless the content is identical, and then nothing changes.
        Queries the golden set does not have are kept, counted and not scored; chunks it does not
        have become known by id. The ``chunking`` that it was made on is told by its ids where it is
        None; `BadInput` where they fit several.
        """
        created_at = self._check_run_names(name, system, created_at)
        chunking, rankings = self._called(loaded, chunking)
        row = [name, system or name, created_at, as_json(params or {})]
        with self._writing():
            stored = self._put_new_run(loaded, rankings, row, chunking)
        return self._report_of_run(loaded, name, stored, chunking)

    def _check_run_names(self, name: str, system: str | None, created_at: str | None) -> str | None:
        """Return when a run was made; raises `BadInput` where one of the three cannot be."""
        check_run_name(name, "run", "--name")
        if system is not None:
            check_run_name(system, "system", "--system")
        return check_date(created_at) if created_at else None

    def _put_new_run(
        self,
        loaded: Loaded[Ranking],
        rankings: Sequence[Ranking],
        row: list[str | None],
        chunking: str,
    ) -> tuple[StoredLists, list[str]] | None:
        """Store a run unless it is there; return its lists and the runs with the same content."""
        fingerprint, name = run_fingerprint(rankings), str(row[0])
        known = self._value("SELECT source_hash FROM runs WHERE name = ?", [name])
        if known == fingerprint:
            return None
        if known is not None:
            raise BadInput(
                f"{loaded.source}: there is already a run named {name!r} with other content; "
                f"choose another --name, or remove it first: labeler drop run {name}"
            )
        twins = self._runs_of(fingerprint)
        any_tied = bool(loaded.facts.get("queries with tied scores", True))
        stored = self._put_run(rankings, [*row, fingerprint, chunking], any_tied)
        self._note_load(f"run {name}", loaded.source, {"queries": len(loaded.records)})
        return stored, twins

    def _report_of_run(
        self,
        loaded: Loaded[Ranking],
        name: str,
        stored: tuple[StoredLists, list[str]] | None,
        chunking: str,
    ) -> LoadReport:
        if stored is None:
            title = f"run {name!r} is already there with the same content"
            return LoadReport(title, {}, changed=False)
        if len(self.chunking_names()) > 1:
            of = {"chunking": chunking or "the default one"}
            loaded = replace(loaded, facts={**loaded.facts, **of})
        return self._run_report(loaded, name, *stored)

    def _called(
        self, loaded: Loaded[Ranking], chunking: str | None
    ) -> tuple[str, Sequence[Ranking]]:
        """Return the chunking a run is of, and its lists with what its chunks are called here."""
        if chunking is None:
            chunking = self._chunking_of(loaded.records, loaded.source)
        elif chunking != DEFAULT_CHUNKING:
            with self._writing():
                self._check_there(chunking, loaded.source)
        if chunking == DEFAULT_CHUNKING:
            self._check_apart(loaded.records, loaded.source)
            return chunking, loaded.records
        return chunking, QualifiedRankings(loaded.records, chunking)

    def _runs_of(self, fingerprint: str) -> list[str]:
        rows = self._rows("SELECT name FROM runs WHERE source_hash = ? ORDER BY id", [fingerprint])
        return [repr(name) for (name,) in rows]

    def _put_run(
        self, rankings: Iterable[Ranking], row: list[str | None], any_tied: bool
    ) -> StoredLists:
        """Store a run, some of its lists at a time; ``any_tied`` says if 32-bit scores may tie."""
        apart: dict[str, list[int]] = {}
        ((run,),) = self._rows(
            "INSERT INTO runs (name, system, created_at, params, source_hash, depth, chunking) "
            "VALUES (?, ?, ?, ?, ?, 0, (SELECT id FROM chunkings WHERE name = ?)) RETURNING id",
            row,
        )
        stored = StoredLists()
        self._engine.expect_large_run(self._db)
        for some in batch_rankings(rankings, RESULTS_AT_ONCE):
            ids = chain.from_iterable(ranking.chunk_ids for ranking in some)
            numbers, bare = self._chunk_numbers(ids)
            stored.add(some, numbers.values(), bare)
            for ranking in some if any_tied else ():
                if (order := order_in_64_bits(ranking)) is not None:
                    apart[ranking.query_id] = order
            lists = ((run, *pack_ranking(ranking, numbers)) for ranking in some)
            self._engine.fill(self._db, "ranked_lists", LIST_COLUMNS, lists)
        self._db.execute("UPDATE runs SET depth = ? WHERE id = ?", [stored.depth, run])
        if apart:
            params = {**json.loads(row[3] or "{}"), APART: apart}
            self._db.execute("UPDATE runs SET params = ? WHERE id = ?", [as_json(params), run])
        return stored

    def _run_report(
        self, loaded: Loaded[Ranking], name: str, stored: StoredLists, twins: Sequence[str]
    ) -> LoadReport:
        bare = stored.bare()
        counts: dict[str, int | str] = {"chunks known by id only": bare}
        rows = self._rows("SELECT query_id, retired_at IS NOT NULL FROM queries")
        retired = {query_id for query_id, is_retired in rows if is_retired}
        wanted = {query_id for query_id, _ in rows} - retired
        given = stored.query_ids
        if given & retired:
            counts["queries that are retired"] = len(given & retired)
        given -= retired
        counts["golden queries not in this run"] = len(wanted - given)
        counts["run queries not in the golden set"] = len(given - wanted)
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
        lists = len(stored.query_ids)
        if stored.own * _SELDOM >= lists > 0:
            warnings.append(
                f"in {stored.own:,} of {lists:,} lists a chunk has the query's own id; if it is "
                "the query itself, 'labeler load run --leave-out-self' leaves it out"
            )
        if bare and not stored.readable:
            warnings.append(self._unreadable(stored))
        return LoadReport(
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
        self, loaded: LoadedGolden, *, update: bool = False, chunking: str = DEFAULT_CHUNKING
    ) -> LoadReport:
        """Add golden grades: one import per pair, or the events of a log as they are.

        A pair whose current import is the same stays as it is, so loading a file twice changes
        nothing; another grade for one is refused, or replaces it with ``update``. Grades by
        graders are added where their grader has not graded the pair. Unknown queries are refused
        (JSONL brings its own), unknown chunks are accepted by id and counted. Grades of retired
        queries are kept, and warned of. Ids are those of a ``chunking``, and in the default one
        what chunks are called in a golden set.
        """
        with self._writing():
            before = self.revision()
            if chunking != DEFAULT_CHUNKING:
                self._check_there(chunking, loaded.grades.source)
                loaded = loaded.of_chunking(chunking)
            texts = self._put_chunking(loaded.chunks, chunking, update=update)
            counts = self._put_golden(loaded, update=update)
            counts.update({f"chunks {what}": count for what, count in texts.items()})
            said = self._retired_among(loaded)
            number = self._note_golden_load(loaded.grades.source, counts, before)
        self.seal_if_possible()
        return golden_report(loaded, counts, said, number)

    def _note_golden_load(self, source: str, counts: Mapping[str, int], before: int) -> int | None:
        """Number and note a load, if it added judgments to a log that ended ``before``."""
        number = self._number_load(source, before)
        self._note_load("golden grades", source, {**counts, "load": number or 0})
        return number

    def _retired_among(self, loaded: LoadedGolden) -> list[str]:
        """Return a sentence on the retired queries that the file has grades for, if any."""
        given = {grade.query_id for grade in loaded.grades.records}
        given |= {event.query_id for event in loaded.events.records}
        given |= {event.query_id for event in loaded.by_graders.records}
        retired = [query_id for (query_id,) in self._rows(RETIRED_QUERIES) if query_id in given]
        if not retired:
            return []
        others = f" (and {len(retired) - 1:,} more)" if len(retired) > 1 else ""
        return [
            f"query {retired[0]!r}{others} is retired: its grades are kept but do not count; to "
            f"take it back: labeler queries restore {shlex.quote(retired[0])}"
        ]

    def _put_golden(self, loaded: LoadedGolden, *, update: bool, own: str = "") -> Counter[str]:
        """Add golden grades; ``own`` is the file of queries that came with them, or ""."""
        counts: Counter[str] = Counter()
        if loaded.queries.records:
            for what, count in self._put_queries(loaded.queries, update=update).items():
                counts[f"queries {what}"] = count
        for part in (loaded.grades, loaded.by_graders, loaded.events, loaded.ungraded):
            self._check_queries_are_known(part, own)
        graded = (grade.chunk_id for grade in loaded.grades.records)
        judged = (each.chunk_id for each in loaded.events.records if isinstance(each, Judgment))
        by_graders = (each.chunk_id for each in loaded.by_graders.records)
        pooled = (each.chunk_id for each in loaded.ungraded.records)
        for name in dict.fromkeys(grade.chunking for grade in loaded.grades.records):
            if name != DEFAULT_CHUNKING:
                self._make_chunking(name, loaded.grades.source)
        bare = self._put_chunk_ids(chain(graded, by_graders, judged, pooled))
        counts["new chunks, known by id only"] = bare
        if fresh := self._put_ungraded(loaded.ungraded):
            counts["newly in the pool, but ungraded"] = fresh
        counts.update(self._put_imports(loaded.grades, update=update))
        counts.update(self._put_by_graders(loaded.by_graders))
        counts.update(self._put_events(loaded.events))
        return counts

    def _check_queries_are_known(self, loaded: Loaded[Any], own: str) -> None:
        """Raise `BadInput` for a query that is neither stored nor in the file ``own``."""
        known = {query_id for (query_id,) in self._rows("SELECT query_id FROM queries")}
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

    def _put_by_graders(self, loaded: Loaded[Judgment]) -> Counter[str]:
        """Add grades as their graders' own; one who has graded a pair already keeps that grade."""
        counts: Counter[str] = Counter()
        if not loaded.records:
            return counts
        said = {
            (query_id, chunk_id, grader): grade
            for query_id, chunk_id, grader, grade in self._rows(_GRADES_OF_PEOPLE)
        }
        wordings = dict(self._rows("SELECT chunk_id, text_hash FROM chunks"))
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

    def _put_imports(self, loaded: Loaded[GoldenGrade], *, update: bool) -> Counter[str]:
        counts: Counter[str] = Counter()
        there = {kind: self._current_imports(kind) for kind in ("import", "carry")}
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
            with self._translated(loaded.where(index)):
                self._append(event)
            differs = kind == "import" and stored is not None and stored.grade != grade.grade
            counts["changed" if differs else done] += 1
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
        self, loaded: LoadedBeir, *, update: bool = False, chunking: str = DEFAULT_CHUNKING
    ) -> list[LoadReport]:
        """Add a BEIR folder's chunks, queries and golden grades in one transaction.

        Its corpus makes a ``chunking``, as in `add_chunks`, which its grades are of.
        """
        golden = loaded.golden.of_chunking(chunking) if chunking else loaded.golden
        with self._writing():
            before = self.revision()
            chunks = self._put_chunking(loaded.chunks, chunking, update=update)
            queries = self._put_queries(loaded.queries, update=update)
            grades = self._put_golden(golden, update=update, own=loaded.queries.source)
            retired = self._retired_among(golden)
            self._note_load("chunks", loaded.chunks.source, chunks)
            self._note_load("queries", loaded.queries.source, queries)
            number = self._note_golden_load(golden.grades.source, grades, before)
        self.seal_if_possible()
        reports = [
            load_report(f"chunks{chunking_suffix(chunking)}", loaded.chunks, chunks),
            load_report("queries", loaded.queries, queries),
        ]
        if golden.grades.facts or golden.grades.records:  # else there was no file of grades
            warned = replace(golden.grades, warnings=(*golden.grades.warnings, *retired))
            reports.append(replace(load_report("golden grades", warned, grades), load=number))
        return reports
