"""Retrieval records: queries, chunks, runs and golden grades of one file, and their sources.

The source of a ranked list is the record in another tool, a span or a trace, that it was taken
from.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from labeler.errors import BadInput
from labeler.model import (
    DEFAULT_CHUNKING,
    Chunk,
    ListSource,
    Loaded,
    LoadedRetrievals,
    LoadReport,
    Ranking,
    full_chunk_id,
)
from labeler.store.audit import Audit
from labeler.store.chunkings import Chunkings
from labeler.store.chunks import Chunks, chunking_suffix
from labeler.store.columns import as_json, moment
from labeler.store.connection import Connection
from labeler.store.golden_loads import GoldenLoads, golden_report
from labeler.store.judgments import Judgments
from labeler.store.load_reports import load_report
from labeler.store.queries import Queries
from labeler.store.runs import Runs, qualified_rankings
from labeler.store.tamper_check import TamperCheck

INSERT_BATCH = """
INSERT INTO batches (
    source, file, hash, at, who, times, texts, kept, evenly, seed, first_asked, last_asked
)
VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?) RETURNING id
"""
_PUT = (
    "INSERT INTO list_sources (run, query_id, span, trace, places) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
_SELECT = """
SELECT s.query_id, s.span, s.trace, s.places FROM list_sources AS s JOIN runs AS r ON r.id = s.run
WHERE r.name = ?
"""
_RUNS = """
SELECT name, EXISTS (SELECT 1 FROM list_sources AS s WHERE s.run = runs.id AND s.span IS NOT NULL),
    EXISTS (SELECT 1 FROM list_sources AS s WHERE s.run = runs.id AND s.trace IS NOT NULL)
FROM runs ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class StoredSource:
    """The span and trace of a stored list.

    ``places`` are pairs: a place in the span and the rank in the list, both counted from 0; None
    where they are equal.
    """

    span: str | None
    trace: str | None
    places: tuple[tuple[int, int], ...] | None

    def ranks_by_place(self, length: int) -> Iterator[tuple[int, int]]:
        """Return the place and the rank of each document, for a list of some length."""
        return iter(self.places or ((at, at) for at in range(length)))


class Retrievals:
    """Stores what a file of retrieval records holds, all or nothing."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._queries = Queries(connection)
        self._chunkings = Chunkings(connection)
        self._chunks = Chunks(connection)
        self._judgments = Judgments(connection)
        self._tamper_check = TamperCheck(connection)
        self._golden_loads = GoldenLoads(connection)
        self._runs = Runs(connection)

    def load(
        self,
        loaded: LoadedRetrievals,
        *,
        names: Mapping[str, str],
        system: str | None = None,
        created_at: str | None = None,
        update: bool = False,
        chunking: str = DEFAULT_CHUNKING,
    ) -> list[LoadReport]:
        """Add queries, chunks, runs and golden grades in one transaction.

        ``names`` maps each system in the file to the name of its run. A query or chunk with the
        text that is stored is left alone; a different text is refused, unless ``update`` is set.
        """
        made = {name: self._runs.check_names(name, system, created_at) for name in names.values()}
        golden = loaded.golden.of_chunking(chunking) if chunking else loaded.golden
        with self._db.writing():
            before = self._judgments.revision()
            chunks = self._put_retrieved(loaded.chunks, chunking, update=update)
            queries = self._queries.put(loaded.queries, update=update)
            grades = self._golden_loads.put(golden, update=update, own=loaded.source)
            self._audit.put_load("chunks", loaded.source, chunks)
            self._audit.put_load("queries", loaded.source, queries)
            number = self._golden_loads.put_load(loaded.source, grades, before)
            stored = {}
            for of, run in loaded.runs.items():
                lists = qualified_rankings(run.records, chunking) if chunking else run.records
                name = names[of]
                row = [name, system or name, made[name], as_json({})]
                stored[of] = self._runs.put_new(run, lists, row, chunking)
                self._put_sources(name, run.records, loaded.items.get(of, {}))
            counted = self._count_asked(loaded)
        self._tamper_check.seal_if_possible()
        reports = [
            report
            for report in (
                load_report("queries", loaded.queries, queries),
                load_report(f"chunks{chunking_suffix(chunking)}", loaded.chunks, chunks),
            )
            if report.facts
        ]
        if loaded.golden.grades.facts or loaded.golden.by_graders.facts:
            reports.append(golden_report(loaded.golden, grades, (), number))
        for of, run in loaded.runs.items():
            reports.append(self._runs.report(run, names[of], stored[of], chunking))
        changed = any(report.changed for report in reports)
        facts = {**loaded.facts, **counted}
        first = LoadReport(
            f"retrieval records from {loaded.source}", facts, loaded.warnings, changed
        )
        return [first, *reports]

    def _put_retrieved(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add new chunks, fill in or replace texts, and skip unchanged ones."""
        if chunking != DEFAULT_CHUNKING:
            self._chunkings.make(chunking, loaded.source)
        counts: Counter[str] = Counter()
        for index, given in enumerate(loaded.records):
            chunk = replace(given, chunk_id=full_chunk_id(chunking, given.chunk_id))
            known = self._chunks.get(chunk.chunk_id)
            if known is not None and known.text and known.text == chunk.text:
                counts["already there"] += 1
                continue
            if known is not None and known.text and not update:
                raise BadInput(
                    f"{loaded.where(index)}: chunk {given.chunk_id!r} is already in the golden set "
                    "with another text; replace it with --update (its grades will be marked "
                    "stale) or, if documents were cut differently, name that chunking with "
                    "--chunking"
                )
            what = "new" if known is None else "updated" if known.text else "now with text"
            counts[what] += 1
            with self._db.translated(loaded.where(index)):
                self._chunks.put_one(chunk)
        return counts

    def _put_sources(
        self, run: str, rankings: Sequence[Ranking], sources: Mapping[str, ListSource]
    ) -> None:
        """Store the sources of a run's lists; a stored source is not replaced."""
        number = self._db.value("SELECT id FROM runs WHERE name = ?", [run])
        self._db.conn.executemany(
            _PUT,
            [
                (number, ranking.query_id, source.span, source.trace, _places(ranking, source))
                for ranking in rankings
                if (source := sources.get(ranking.query_id)) is not None
                and (source.span or source.trace)
            ],
        )

    def _count_asked(self, loaded: LoadedRetrievals) -> dict[str, str]:
        """Record how often each query was asked, once for a log; return the report's line."""
        if not loaded.asked:
            return {}
        times = sum(loaded.asked.values())
        content = as_json([sorted(loaded.asked.items()), loaded.newest])
        digest = blake2b(content.encode(), digest_size=16).hexdigest()
        said = {"counted as a log": f"{times:,} questions; --weighted FACET weights means by them"}
        if self._db.value("SELECT 1 FROM batches WHERE hash = ?", [digest]):
            return said
        day = (loaded.newest or "")[:10] or None
        about = ("log", loaded.source, digest, moment(), self._audit.who())
        counts = (times, len(loaded.asked), as_json([]), None, None, day)
        ((batch,),) = self._db.rows(INSERT_BATCH, (*about, *counts))
        self._db.conn.executemany(
            "INSERT INTO asked_queries (batch, query, times) "
            "SELECT ?, id, ? FROM queries WHERE query_id = ?",
            [(batch, count, query_id) for query_id, count in loaded.asked.items()],
        )
        return said

    def sources_of(self, run: str) -> dict[str, StoredSource]:
        """Return the sources of a run's lists by query, as far as any are known."""
        return {
            query_id: StoredSource(
                span, trace, None if places is None else tuple(map(tuple, json.loads(places)))
            )
            for query_id, span, trace, places in self._db.rows(_SELECT, [run])
        }

    def runs_with_sources(self) -> dict[str, tuple[bool, bool]]:
        """Return, for each run with sources, whether any list has a span, and any a trace."""
        return {
            name: (bool(spans), bool(traces))
            for name, spans, traces in self._db.rows(_RUNS)
            if spans or traces
        }


def _places(ranking: Ranking, source: ListSource) -> str | None:
    """Return where in its source each chunk of a list stands, as it is stored."""
    ranks = {chunk_id: rank for rank, chunk_id in enumerate(ranking.chunk_ids)}
    places = range(len(source.chunk_ids)) if source.places is None else source.places
    found = [
        (place, ranks[chunk_id])
        for place, chunk_id in zip(places, source.chunk_ids, strict=True)
        if chunk_id in ranks
    ]
    if all(place == rank for place, rank in found) and len(found) == len(ranks):
        return None
    return as_json(found)
