"""The collection: all that measures are computed from, read at one moment, with its hash.

It holds queries, golden grades, stored runs and marked passages. Texts of chunks are read when they
are first asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.model import (
    COUNT_TRANSFERRED,
    DEFAULT_CHUNKING,
    Chunk,
    ChunkingIndex,
    Collection,
    CollectionTexts,
    GoldenState,
    GradeChange,
    PackedLists,
    Passage,
    StoredList,
    StoredRun,
    merge_passages,
)
from labeler.model.snapshot import (
    canonical_conventions,
    canonical_grades,
    digest_of_canonical,
    golden_hash,
    query_digest,
)
from labeler.store.columns import APART, passages_from_column
from labeler.store.connection import Connection
from labeler.store.documents import Documents
from labeler.store.evidence import EvidenceReader
from labeler.store.golden_grades import (
    IMPORT,
    JUDGMENT_COLUMNS,
    TRANSFER,
    Attribution,
    GoldenArrays,
    GraderNames,
    ImportedGraders,
    Integers,
    JudgmentArrays,
    TransferArrays,
    pair_numbers,
)
from labeler.store.golden_set import NEWEST_JUDGMENT, GoldenSet
from labeler.store.judgments import Judgments
from labeler.store.queries import BUCKETS, RETIRED_QUERIES, Queries
from labeler.store.settings import StoredSettings

CHUNKS_WITH_TEXT = """
SELECT coalesce(k.name, ''), c.id, c.chunk_id, c.text, c.document_id, c.position, c.start, c."end"
FROM chunks AS c LEFT JOIN chunkings AS k ON k.id = c.chunking
WHERE c.text <> '' ORDER BY coalesce(c.chunking, 0), c.id
"""
# Offsets in an earlier text mean nothing now. Nobody gave the suggested grades, and the transferred
# ones rest on passages that are marked in other chunks already.
MARKED_PASSAGES = """
SELECT q.query_id, j.query, j.chunk, j.grade, j.evidence
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
WHERE j.evidence IS NOT NULL AND j.kind IN ('grade', 'adjudicate', 'import')
    AND j.text_hash = c.text_hash
"""
MARKED_IN_USE = f"{MARKED_PASSAGES} AND q.retired_at IS NULL"
UNGRADED_PAIRS = "SELECT q.query_id, u.chunk FROM ungraded AS u JOIN queries AS q ON q.id = u.query"
ALL_JUDGMENTS = f"SELECT {JUDGMENT_COLUMNS} FROM judgments AS j WHERE j.undoes IS NULL"
UNDONE_JUDGMENTS = "SELECT undoes FROM judgments WHERE undoes IS NOT NULL"
IMPORTED_JUDGMENTS = "SELECT j.id, j.graders FROM judgments AS j WHERE j.kind = 'import'"
TRANSFER_SOURCES = """
SELECT j.id, coalesce(base.id, 0), coalesce(base.query, 0), coalesce(base.chunk, 0),
    coalesce(base.text_hash <> of.text_hash, false),
    CAST(json_extract(said.value, '$.golden') AS INTEGER)
FROM judgments AS j JOIN chunks AS c ON c.id = j.chunk
CROSS JOIN json_each(j.carried_from) AS said
LEFT JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
LEFT JOIN chunks AS of ON of.id = base.chunk
WHERE j.carried_from IS NOT NULL AND coalesce(j.text_hash = c.text_hash, true)
"""
SOURCE_EVENTS = """
SELECT j.id, json_extract(said.value, '$.event_id')
FROM judgments AS j CROSS JOIN json_each(j.carried_from) AS said WHERE j.carried_from IS NOT NULL
"""
RANKED_LISTS = "SELECT query_id, chunks, scores FROM ranked_lists WHERE run = ?"
STALE_JUDGMENTS = """
SELECT j.id FROM judgments AS j JOIN chunks AS c ON c.id = j.chunk
WHERE coalesce(j.text_hash <> coalesce(c.text_hash, ''), false)
"""
JUDGED_SINCE = """
SELECT DISTINCT q.id, q.query_id FROM judgments AS j JOIN queries AS q ON q.id = +j.query
WHERE j.id > ? AND q.retired_at IS NULL
"""


class AttributedGrades(NamedTuple):
    """Golden grades, and the names of the people who gave each."""

    grades: GoldenArrays
    behind: Attribution

    def by_pair(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return each golden grade and the judgment that gives it, by query and chunk."""
        of = self.grades
        pairs = zip(of.query.tolist(), of.chunk.tolist(), strict=True)
        decided = zip(of.grade.tolist(), of.judgment.tolist(), strict=True)
        return dict(zip(pairs, decided, strict=True))

    def in_order(self, order: Integers) -> AttributedGrades:
        """Return the grades at these positions."""
        names, which = self.behind
        return AttributedGrades(self.grades[order], Attribution(names, which[order]))

    def names(self) -> Iterator[GraderNames]:
        """Return the names of the people who gave each grade."""
        return map(self.behind.names.__getitem__, self.behind.which.tolist())


class CollectionReader:
    """Reads all that measures are computed from, and the hash of the golden set."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._settings = StoredSettings(connection)
        self._queries = Queries(connection)
        self._documents = Documents(connection)
        self._judgments = Judgments(connection)
        self._evidence = EvidenceReader(connection)
        self._golden_set = GoldenSet(connection)

    def read(self) -> Collection:
        """Return all that measures are computed from, at one moment."""
        with self._db.reading():
            numbers = dict(
                sorted(self._db.rows("SELECT id, query_id FROM queries WHERE retired_at IS NULL"))
            )
            place = {query_id: at for at, query_id in enumerate(numbers.values())}
            golden, chunk_ids = self._golden(), self.chunk_ids()
            of = golden.grades
            positions = np.searchsorted(np.array([*numbers], dtype=np.int64), of.query)
            state = self._state(numbers, golden, chunk_ids)  # before there are runs in memory
            return self.assemble(
                place,
                chunk_ids,
                (positions, of.chunk, of.grade, of.kind == TRANSFER),
                facets=self.facets(place),
                marks=self._marks(golden.by_pair),
                revision=state.revision,
                state=state,
                stale=np.isin(of.judgment, self._numbers(STALE_JUDGMENTS)),
            )

    def assemble(
        self,
        place: Mapping[str, int],
        chunk_ids: Sequence[str],
        golden: Iterable[npt.NDArray[Any]],
        *,
        facets: Mapping[str, tuple[str | None, ...]],
        marks: Mapping[tuple[str, int], tuple[Passage, ...]],
        revision: int,
        state: GoldenState | None = None,
        stale: npt.NDArray[np.bool_] | None = None,
        runs: Container[str] | None = None,
    ) -> Collection:
        """Return the collection for these golden grades, in the caller's transaction.

        ``place`` is the position of each query. ``golden`` has a row for each golden grade, sorted
        by query and chunk: position of the query, chunk, grade, and whether it was transferred.
        With ``runs`` only the runs with these names are read.
        """
        query, chunk, grade, transferred = golden
        pool = self._pool(place)
        return Collection(
            query_ids=tuple(place),
            facets=facets,
            chunk_ids=chunk_ids,
            runs=tuple(self._stored_runs(place, runs)),
            golden_query=query.astype(np.int32),
            golden_chunk=chunk.astype(np.int32),
            golden_grade=grade.astype(np.int8),
            stale=np.zeros(len(grade), dtype=np.bool_) if stale is None else stale,
            transferred=transferred.astype(np.bool_) if transferred.any() else None,
            revision=revision,
            data_revision=self._golden_set.data_revision(),
            golden=state,
            pool_query=pool[0],
            pool_chunk=pool[1],
            leaked=self._leaked_ids(),
            sides=self._sides(chunk_ids),
            marks=marks,
            texts=self._texts_later(),
        )

    def _golden(self, query: int | None = None) -> AttributedGrades:
        """Return the golden grades of all queries in use, or of one query."""
        of_one, asked = ("", []) if query is None else (" AND j.query = ?", [query])
        log = JudgmentArrays.of(self._db.each(f"{ALL_JUDGMENTS}{of_one} ORDER BY j.id", asked))
        current, settings = log.current(self._numbers(UNDONE_JUDGMENTS)), self._settings.read()
        is_transferred = current.kind == TRANSFER
        transferred, given = (
            current[is_transferred],
            current[~is_transferred] if is_transferred.any() else current,
        )
        grades = GoldenArrays.of(given, settings.golden_rule)
        if len(transferred.pair) and settings.transferred == COUNT_TRANSFERRED:
            bases = TransferArrays.of(self._db.each(f"{TRANSFER_SOURCES}{of_one}", asked))
            grades = grades.with_transferred(given, transferred, bases)
        if query is None:
            retired = self._numbers("SELECT id FROM queries WHERE retired_at IS NOT NULL")
            grades = grades[~np.isin(grades.query, retired)]
        graders = dict(self._db.rows("SELECT id, name FROM graders"))
        is_any = (grades.kind == IMPORT).any()
        imports = ImportedGraders.of(
            self._db.each(f"{IMPORTED_JUDGMENTS}{of_one} ORDER BY j.id", asked) if is_any else ()
        )
        return AttributedGrades(grades, grades.behind(given, graders, imports))

    def _numbers(self, sql: str) -> Integers:
        return np.array(self._db.rows(sql), dtype=np.int64).reshape(-1)

    def _state(
        self, numbers: Mapping[int, str], golden: AttributedGrades, chunk_ids: Sequence[str]
    ) -> GoldenState:
        of = golden.grades
        order = np.argsort(
            pair_numbers(of.query, _sorted_positions(chunk_ids)[of.chunk]), kind="stable"
        )
        listed = canonical_grades(*self._graded(golden.in_order(order), chunk_ids))
        of_query = np.searchsorted(of.query, np.array([*numbers, np.inf])).tolist()
        digests = {
            query.query_id: digest_of_canonical(query, islice(listed, end - start))
            for query, (start, end) in zip(self._queries.each(), pairwise(of_query), strict=True)
        }
        conventions = canonical_conventions(self._settings.read())
        whole = golden_hash(conventions, digests)
        return GoldenState(whole, conventions, digests, int(self._db.value(NEWEST_JUDGMENT)))

    def _graded(
        self,
        golden: AttributedGrades,
        chunk_ids: Sequence[str] | Mapping[int, str],
        query: int | None = None,
    ) -> tuple[Iterable[Any], ...]:
        """Return the golden grades of all queries or of one, as the columns of `GradedBy`."""
        of, chunks = golden.grades, golden.grades.chunk.tolist()
        evidence = self._evidence.of_golden(golden.by_pair, query)
        pairs = zip(of.query.tolist(), chunks, strict=True) if evidence else ()
        rests_on = map(evidence.get, pairs) if evidence else repeat(None, len(chunks))
        ids, transferred = map(chunk_ids.__getitem__, chunks), self._named(of, query)
        return ids, of.grade.tolist(), golden.names(), rests_on, transferred

    def _named(self, of: GoldenArrays, query: int | None) -> Iterable[tuple[str, ...]]:
        """Return the ids of the events that each golden grade was transferred from."""
        if not (of.kind == TRANSFER).any():
            return repeat((), len(of.kind))
        of_one, asked = ("", []) if query is None else (" AND j.query = ?", [query])
        named: defaultdict[int, tuple[str, ...]] = defaultdict(tuple)
        for judgment, event_id in self._db.each(f"{SOURCE_EVENTS}{of_one} ORDER BY j.id", asked):
            named[judgment] += (event_id,)
        return [named.get(judgment, ()) for judgment in of.judgment.tolist()]

    def _marks(
        self, by_pair: Callable[[], Mapping[tuple[int, int], tuple[int, int]]]
    ) -> dict[tuple[str, int], tuple[Passage, ...]]:
        """Return the passages marked for golden grades.

        ``by_pair`` returns each golden grade and its judgment, by the numbers of query and chunk.
        """
        rows = self._db.rows(MARKED_IN_USE)
        golden = by_pair() if rows else {}
        return golden_marks(rows, {pair: grade for pair, (grade, _) in golden.items()})

    def news_since(
        self, revision: int, golden: GoldenState | None
    ) -> tuple[list[GradeChange], int, GoldenState | None]:
        """Return the changed grades, the newest revision, and ``golden`` brought up to date.

        All three are read at one moment. The time grows with the number of judgments since.
        ``golden`` must have the present data revision.
        """
        with self._db.reading():
            newest = int(self._db.value(NEWEST_JUDGMENT))
            changes = [self._marked(change) for change in self._judgments.changes_since(revision)]
            return changes, newest, golden and self._moved(golden, newest)

    def _marked(self, change: GradeChange) -> GradeChange:
        """Return a change with the passages marked for its grade."""
        if change.grade is None:
            return change
        rows = self._db.rows(
            f"{MARKED_IN_USE} AND q.query_id = ? AND j.chunk = ? AND j.grade = ?",
            [change.query_id, change.chunk, change.grade],
        )
        passages = [each for *_, evidence in rows for each in passages_from_column(evidence)]
        return replace(change, marks=merge_passages(passages)) if passages else change

    def _moved(self, golden: GoldenState, newest: int) -> GoldenState:
        digests = dict(golden.digests)
        for number, query_id in self._db.rows(JUDGED_SINCE, [golden.revision]):
            digests[query_id] = self._digest_of(number, query_id)
        whole = golden_hash(golden.conventions, digests)
        return replace(golden, hash=whole, digests=digests, revision=newest)

    def _digest_of(self, number: int, query_id: str) -> str:
        golden = self._golden(number)
        chunk_ids = dict(
            self._db.rows(
                "SELECT id, chunk_id FROM chunks "
                "WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))",
                [json.dumps(golden.grades.chunk.tolist())],
            )
        )
        query = self._queries.get(query_id)
        return query_digest(query, zip(*self._graded(golden, chunk_ids, number), strict=True))

    def golden_state(self) -> GoldenState:
        """Return the present state of the golden set."""
        with self._db.reading():
            return self.state()

    def state(self) -> GoldenState:
        """Return the present state of the golden set, in the caller's transaction."""
        numbers = dict(
            self._db.rows("SELECT id, query_id FROM queries WHERE retired_at IS NULL ORDER BY id")
        )
        return self._state(numbers, self._golden(), self.chunk_ids())

    def texts(self) -> CollectionTexts:
        """Return the texts of all chunkings and documents, read at one moment."""
        with self._db.reading():
            rows, documents = self._db.rows(CHUNKS_WITH_TEXT), self._documents.all()
        cuts: dict[str, dict[int, Chunk]] = {}
        digest = hashlib.blake2b(digest_size=16)
        for name, number, *rest in rows:
            chunk_id, text, document_id, position, start, end = rest
            chunk = Chunk(chunk_id, text, None, document_id, position, start=start, end=end)
            cuts.setdefault(name, {})[number] = chunk
            digest.update(repr((name, number, rest)).encode("utf-8", "surrogatepass"))
        for document in documents:
            said = repr((document.document_id, document.text))
            digest.update(said.encode("utf-8", "surrogatepass"))
        of = {document.document_id: document.text for document in documents}
        return CollectionTexts(digest.hexdigest(), cuts, of)

    def _texts_later(self) -> Callable[[], CollectionTexts]:
        """Return a function that reads the texts over a connection of its own."""
        path = self._db.path

        def read() -> CollectionTexts:
            with Connection(path) as connection:
                return CollectionReader(connection).texts()

        return read

    def _stored_runs(
        self, place: Mapping[str, int], only: Container[str] | None = None
    ) -> Iterator[StoredRun]:
        """Yield the runs, or those with these names, with their lists by query position."""
        retired = {query_id for (query_id,) in self._db.rows(RETIRED_QUERIES)}
        places: Mapping[int, int] = {}
        expected = sorted(place.items())  # the order of most runs, which saves a look-up
        for run, name, system, created_at, chunking, params in self._db.rows(
            "SELECT r.id, r.name, r.system, r.created_at, k.name, r.params FROM runs AS r "
            "LEFT JOIN chunkings AS k ON k.id = r.chunking ORDER BY r.id"
        ):
            if only is not None and name not in only:
                continue
            read, unknown, next_of = _ListBuffer(), 0, iter(expected)
            for query_id, chunks, scores in self._db.each(RANKED_LISTS, [run]):
                known, query = next(next_of, (None, None))
                if known != query_id:
                    query = place.get(query_id)
                if query is not None:
                    read.add(query, chunks, scores)
                elif query_id not in retired:
                    unknown += 1
            if read.queries != list(places):  # runs of the same queries share one mapping
                places = {query: at for at, query in enumerate(read.queries)}
            lists = read.by_query(places)
            apart = {
                place[query_id]: np.array(order, dtype=np.float64)
                for query_id, order in json.loads(params).get(APART, {}).items()
                if query_id in place
            }
            chunking = chunking or DEFAULT_CHUNKING
            yield StoredRun(name, system, created_at, lists, unknown, chunking, apart)

    def chunk_ids(self) -> list[str]:
        """Return the id of each chunk by its number; "" where no chunk has the number."""
        last = self._db.value("SELECT coalesce(max(id), 0) FROM chunks")
        names = [""] * (last + 1)
        for number, chunk_id in self._db.each("SELECT id, chunk_id FROM chunks"):
            names[number] = chunk_id
        return names

    def facets(self, place: Mapping[str, int]) -> dict[str, tuple[str | None, ...]]:
        """Return the bucket of every query for each facet, task and split included."""
        facets: defaultdict[str, list[str | None]] = defaultdict(lambda: [None] * len(place))
        for _, query_id, facet, bucket in self._db.each(f"{BUCKETS} ORDER BY facet"):
            if query_id in place:
                facets[facet][place[query_id]] = bucket
        return {facet: tuple(column) for facet, column in facets.items()}

    def _pool(self, place: Mapping[str, int]) -> npt.NDArray[np.int32]:
        """Return the pairs that a file pooled without a grade: query positions, chunks."""
        pairs = sorted(
            (place[query], chunk)
            for query, chunk in self._db.rows(UNGRADED_PAIRS)
            if query in place
        )
        return np.array(pairs, dtype=np.int32).reshape(-1, 2).T

    def _sides(self, chunk_ids: Sequence[str]) -> ChunkingIndex | None:
        """Return the chunking of each chunk, None if only the default one exists."""
        names = [name for (name,) in self._db.rows("SELECT name FROM chunkings ORDER BY id")]
        return ChunkingIndex.of_ids(names, chunk_ids) if names else None

    def _leaked_ids(self) -> frozenset[str]:
        """Return the queries that are marked as leaked, retired ones included."""
        rows = self._db.rows(
            "SELECT q.query_id FROM leaked_queries AS l JOIN queries AS q ON q.id = l.query"
        )
        return frozenset(query_id for (query_id,) in rows)


def golden_marks(
    rows: Iterable[Sequence[Any]], golden: Mapping[tuple[int, int], int]
) -> dict[tuple[str, int], tuple[Passage, ...]]:
    """Return the passages marked for golden grades, from rows of `MARKED_PASSAGES`."""
    found: dict[tuple[str, int], list[Passage]] = {}
    for query_id, query, number, grade, evidence in rows:
        if golden.get((query, number)) == grade:
            found.setdefault((query_id, number), []).extend(passages_from_column(evidence))
    return {pair: merge_passages(passages) for pair, passages in found.items()}


def _sorted_positions(chunk_ids: Sequence[str]) -> Integers:
    """Return the position of each number's id among all ids, sorted."""
    places = np.empty(len(chunk_ids), dtype=np.int64)
    places[sorted(range(len(chunk_ids)), key=chunk_ids.__getitem__)] = np.arange(len(chunk_ids))
    return places


class _ListBuffer:
    """The lists of one run, one after the other in one buffer while they are read."""

    def __init__(self) -> None:
        self.queries: list[int] = []
        self._lengths: list[int] = []
        self._scored: list[int] = []
        self._chunks, self._scores = bytearray(), bytearray()

    def add(self, query: int, chunks: bytes, scores: bytes | None) -> None:
        """Append a list."""
        if scores is not None:
            self._scored.append(len(self.queries))
            self._scores += scores
        self.queries.append(query)
        self._lengths.append(len(chunks) // 4)
        self._chunks += chunks

    def by_query(self, places: Mapping[int, int]) -> Mapping[int, StoredList]:
        """Return the lists by query; ``places`` has the position of each query's list."""
        chunks = np.frombuffer(memoryview(self._chunks).toreadonly(), "<i4")
        scores = np.frombuffer(memoryview(self._scores).toreadonly(), "<f4")
        if self._scored and len(self._scored) < len(places):  # only some have scores
            own = [self._lengths[at] for at in self._scored]
            scored = dict(zip(self._scored, np.split(scores, np.cumsum(own)[:-1]), strict=True))
            lists = np.split(chunks, np.cumsum(self._lengths)[:-1])
            return {query: StoredList(lists[at], scored.get(at)) for query, at in places.items()}
        return PackedLists(places, self._lengths, chunks, scores if self._scored else None)
