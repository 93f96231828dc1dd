"""Loading of retrieval records: queries, chunks, runs and golden grades of one file at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b

from labeler.errors import BadInput
from labeler.model import (
    DEFAULT_CHUNKING,
    Chunk,
    Loaded,
    LoadedRetrievals,
    LoadReport,
    full_chunk_id,
)
from labeler.store.candidates import INSERT_BATCH
from labeler.store.chunkings import QualifiedRankings
from labeler.store.chunks import chunking_suffix, load_report
from labeler.store.columns import as_json, moment
from labeler.store.list_sources import ListSources
from labeler.store.load import Loads, golden_report


class RetrievalLoads(ListSources, Loads):
    """Stores what a file of retrieval records holds, all or nothing."""

    def add_retrievals(
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

        ``names`` are the names of the runs by the systems of the file. A query or a chunk that is
        there with the same text stays as it is; another text for one is refused, or replaces it
        with ``update``.
        """
        made = {name: self._check_run_names(name, system, created_at) for name in names.values()}
        golden = loaded.golden.of_chunking(chunking) if chunking else loaded.golden
        with self._writing():
            before = self.revision()
            chunks = self._put_retrieved(loaded.chunks, chunking, update=update)
            queries = self._put_queries(loaded.queries, update=update)
            grades = self._put_golden(golden, update=update, own=loaded.source)
            self._note_load("chunks", loaded.source, chunks)
            self._note_load("queries", loaded.source, queries)
            number = self._note_golden_load(loaded.source, grades, before)
            stored = {}
            for of, run in loaded.runs.items():
                lists = QualifiedRankings(run.records, chunking) if chunking else run.records
                name = names[of]
                row = [name, system or name, made[name], as_json({})]
                stored[of] = self._put_new_run(run, lists, row, chunking)
                self._put_sources(name, run.records, loaded.items.get(of, {}))
            counted = self._count_asked(loaded)
        self.seal_if_possible()
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
            reports.append(self._report_of_run(run, names[of], stored[of], chunking))
        changed = any(report.changed for report in reports)
        facts = {**loaded.facts, **counted}
        first = LoadReport(
            f"retrieval records from {loaded.source}", facts, loaded.warnings, changed
        )
        return [first, *reports]

    def _count_asked(self, loaded: LoadedRetrievals) -> dict[str, str]:
        """Count the questions of a log by query, once for the same counts; return what to say."""
        if not loaded.asked:
            return {}
        times = sum(loaded.asked.values())
        content = as_json([sorted(loaded.asked.items()), loaded.newest])
        digest = blake2b(content.encode(), digest_size=16).hexdigest()
        said = {"counted as a log": f"{times:,} questions; --weighted FACET weights means by them"}
        if self._value("SELECT 1 FROM batches WHERE hash = ?", [digest]):
            return said
        day = (loaded.newest or "")[:10] or None
        about = ("log", loaded.source, digest, moment(), self.whoever())
        counts = (times, len(loaded.asked), as_json([]), None, None, day)
        ((batch,),) = self._rows(INSERT_BATCH, (*about, *counts))
        self._db.conn.executemany(
            "INSERT INTO asked_queries (batch, query, times) "
            "SELECT ?, id, ? FROM queries WHERE query_id = ?",
            [(batch, count, query_id) for query_id, count in loaded.asked.items()],
        )
        return said

    def _put_retrieved(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add the chunks that are new or were known by id only, and leave the others."""
        if chunking != DEFAULT_CHUNKING:
            self._make_chunking(chunking, loaded.source)
        counts: Counter[str] = Counter()
        for index, given in enumerate(loaded.records):
            chunk = replace(given, chunk_id=full_chunk_id(chunking, given.chunk_id))
            known = self.chunk(chunk.chunk_id)
            if known is not None and known.text and known.text == chunk.text:
                counts["already there"] += 1
                continue
            if known is not None and known.text and not update:
                raise BadInput(
                    f"{loaded.where(index)}: chunk {given.chunk_id!r} is already in the golden set "
                    "with another text; replace it with --update (its grades will be marked "
                    "stale), or name the chunking that it is of with --chunking, if documents were "
                    "cut in another way"
                )
            what = "new" if known is None else "updated" if known.text else "now with text"
            counts[what] += 1
            with self._translated(loaded.where(index)):
                self._put_chunk(chunk)
        return counts
