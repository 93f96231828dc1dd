"""Reads all that measures are computed from at one moment, and the hash of the golden set then."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.model import (
    UNNAMED,
    Collection,
    Evidence,
    GoldenState,
    GradeChange,
    JoinedLists,
    Sides,
    StoredList,
    StoredRun,
)
from labeler.store.log import JudgmentLog
from labeler.store.reading import BUCKETS, RETIRED, Reading
from labeler.versions import GradedBy, canonical_conventions, query_digest, whole_hash

GOLDEN = "SELECT query, chunk, grade, stale, judgment, kind FROM golden"
POOL = "SELECT q.query_id, u.chunk FROM ungraded AS u JOIN queries AS q ON q.id = u.query"
NEWEST = "SELECT coalesce(max(id), 0) FROM judgments"
PEOPLE = """
SELECT DISTINCT j.query, j.chunk, g.name FROM current_judgments AS j
JOIN graders AS g ON g.id = j.grader WHERE j.kind IN ('grade', 'adjudicate')
"""
IMPORTS = "SELECT id, graders FROM judgments WHERE kind = 'import'"
JUDGED_SINCE = """
SELECT DISTINCT q.id, q.query_id FROM judgments AS j NOT INDEXED JOIN queries AS q ON q.id = j.query
WHERE j.id > ? AND q.retired_at IS NULL
"""

GoldenRow: TypeAlias = tuple[int, int, int, int, int, str]
"""A golden grade: query and chunk by number, grade, stale, the judgment that decides, its kind."""


class Collecting(JudgmentLog, Reading):
    """The golden set whole, by number, for the engine; and what it is by its content."""

    def collection(self) -> Collection:
        """Return everything measures are computed from, as it is at one moment."""
        with self._reading():
            numbers = dict(
                sorted(self._rows("SELECT id, query_id FROM queries WHERE retired_at IS NULL"))
            )
            query_ids = tuple(numbers.values())
            place = {query_id: at for at, query_id in enumerate(query_ids)}
            rows = [row for row in self._rows(GOLDEN) if row[0] in numbers]
            golden, stale = _arrays({number: place[name] for number, name in numbers.items()}, rows)
            chunk_ids, pool = self._chunk_ids(), self._pool(place)
            return Collection(
                query_ids=query_ids,
                facets=self._facets(place),
                chunk_ids=chunk_ids,
                runs=tuple(self._stored_runs(place)),
                golden_query=golden[0],
                golden_chunk=golden[1],
                golden_grade=golden[2].astype(np.int8),
                stale=stale,
                revision=self._value(NEWEST),
                data_revision=self.data_revision(),
                golden=self._state(numbers, rows, chunk_ids),
                pool_query=pool[0],
                pool_chunk=pool[1],
                leaked=self._leaked_ids(),
                sides=self._sides(chunk_ids),
            )

    def golden_state(self) -> GoldenState:
        """Return what the golden set is now."""
        with self._reading():
            return self._golden_state()

    def _golden_state(self) -> GoldenState:
        numbers = dict(
            self._rows("SELECT id, query_id FROM queries WHERE retired_at IS NULL ORDER BY id")
        )
        rows = [row for row in self._rows(GOLDEN) if row[0] in numbers]
        return self._state(numbers, rows, self._chunk_ids())

    def news_since(
        self, revision: int, golden: GoldenState | None
    ) -> tuple[list[GradeChange], int, GoldenState | None]:
        """Return what `changes_since` does, the newest revision, and what ``golden`` is by then.

        All of one moment; it takes as long as what was judged since. ``golden`` must be of the
        same data revision.
        """
        with self._reading():
            newest = int(self._value(NEWEST))
            changes = self.changes_since(revision)
            return changes, newest, golden and self._moved(golden, newest)

    def _moved(self, golden: GoldenState, newest: int) -> GoldenState:
        digests = dict(golden.digests)
        for number, query_id in self._rows(JUDGED_SINCE, [golden.revision]):
            digests[query_id] = self._digest_of(number, query_id)
        whole = whole_hash(golden.conventions, digests)
        return replace(golden, hash=whole, digests=digests, revision=newest)

    def _digest_of(self, number: int, query_id: str) -> str:
        rows = self._rows(f"{GOLDEN} WHERE query = ?", [number])
        chunk_ids = dict(
            self._rows(
                "SELECT id, chunk_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
                [json.dumps([row[1] for row in rows])],
            )
        )
        people = self._rows(f"{PEOPLE} AND j.query = ?", [number])
        imports = self._rows(f"{IMPORTS} AND query = ?", [number])
        [query] = self._queries("WHERE q.query_id = ?", [query_id])
        graded = _graded(rows, chunk_ids, people, imports, self._rests_on(rows, number))
        return query_digest(query, graded[number])

    def _state(
        self,
        numbers: Mapping[int, str],
        rows: Sequence[GoldenRow],
        chunk_ids: Sequence[str],
    ) -> GoldenState:
        people, imports = self._rows(PEOPLE), self._rows(IMPORTS)
        graded = _graded(rows, chunk_ids, people, imports, self._rests_on(rows))
        queries = dict(zip(numbers, self.queries(), strict=True))
        digests = {
            query.query_id: query_digest(query, graded[number]) for number, query in queries.items()
        }
        conventions = canonical_conventions(self.settings())
        whole = whole_hash(conventions, digests)
        return GoldenState(whole, conventions, digests, int(self._value(NEWEST)))

    def _rests_on(
        self, rows: Iterable[GoldenRow], query: int | None = None
    ) -> dict[tuple[int, int], Evidence]:
        """Return the evidence of golden grades, of all queries or of one."""
        return self._golden_evidence({row[:2]: row[2] for row in rows}, query)

    def _leaked_ids(self) -> frozenset[str]:
        rows = self._rows(
            "SELECT q.query_id FROM leaked_queries AS l JOIN queries AS q ON q.id = l.query"
        )
        return frozenset(query_id for (query_id,) in rows)

    def _facets(self, place: Mapping[str, int]) -> dict[str, tuple[str | None, ...]]:
        """Return the bucket of every query, facet by facet; task and split are among them."""
        facets: dict[str, list[str | None]] = {}
        for _, query_id, facet, bucket in self._rows(f"{BUCKETS} ORDER BY facet"):
            if query_id in place:
                column = facets.setdefault(facet, [None] * len(place))
                column[place[query_id]] = bucket
        return {facet: tuple(column) for facet, column in facets.items()}

    def _pool(self, place: Mapping[str, int]) -> npt.NDArray[np.int32]:
        """Return the pairs that a file put into the pool without a grade: query position, chunk."""
        pairs = sorted((place[query], chunk) for query, chunk in self._rows(POOL) if query in place)
        return np.array(pairs, dtype=np.int32).reshape(-1, 2).T

    def _chunk_ids(self) -> list[str]:
        last = self._value("SELECT coalesce(max(id), 0) FROM chunks")
        names = [""] * (last + 1)
        for number, chunk_id in self._rows("SELECT id, chunk_id FROM chunks"):
            names[number] = chunk_id
        return names

    def _sides(self, chunk_ids: Sequence[str]) -> Sides | None:
        """Return of which chunking each chunk is, None where there is no other than the unnamed."""
        names = [name for (name,) in self._rows("SELECT name FROM chunkings ORDER BY id")]
        return Sides.of_ids(names, chunk_ids) if names else None

    def _stored_runs(
        self, place: Mapping[str, int], only: Names[str] | None = None
    ) -> Iterator[StoredRun]:
        retired = {query_id for (query_id,) in self._rows(RETIRED)}
        places: dict[int, int] = {}
        for run, name, system, created_at, chunking in self._rows(
            "SELECT r.id, r.name, r.system, r.created_at, k.name FROM runs AS r "
            "LEFT JOIN chunkings AS k ON k.id = r.chunking ORDER BY r.id"
        ):
            if only is not None and name not in only:
                continue
            rows = self._rows(
                "SELECT query_id, chunks, scores FROM ranked_lists WHERE run = ?", [run]
            )
            known = [row for row in rows if row[0] in place]
            unknown = sum(row[0] not in place and row[0] not in retired for row in rows)
            queries = [place[query_id] for query_id, *_ in known]
            if queries != list(places):  # runs of the same queries share what says where they are
                places = {query: at for at, query in enumerate(queries)}
            lists = _lists(places, [row[1] for row in known], [row[2] for row in known])
            yield StoredRun(name, system, created_at, lists, unknown, chunking or UNNAMED)


def _lists(
    places: Mapping[int, int], chunks: Sequence[bytes], scores: Sequence[bytes | None]
) -> Mapping[int, StoredList]:
    """Return the lists of a run by query, of which ``places`` says which is whose."""
    scored = [each for each in scores if each is not None]
    if scored and len(scored) < len(scores):  # some lists have scores and others have none
        return {
            query: StoredList(
                np.frombuffer(chunks[at], "<i4"),
                None if (given := scores[at]) is None else np.frombuffer(given, "<f4"),
            )
            for query, at in places.items()
        }
    joined = np.frombuffer(b"".join(scored), "<f4") if scored else None
    lengths = [len(each) // 4 for each in chunks]
    return JoinedLists(places, lengths, np.frombuffer(b"".join(chunks), "<i4"), joined)


def _arrays(
    place: Mapping[int, int], rows: Iterable[GoldenRow]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Return int32 (3, n): query position, chunk, grade, sorted; and bool (n,): stale."""
    found = sorted((place[query], chunk, grade, stale) for query, chunk, grade, stale, *_ in rows)
    table = np.array(found, dtype=np.int32).reshape(-1, 4).T
    return table[:3], table[3].astype(np.bool_)


def _graded(
    rows: Iterable[GoldenRow],
    chunk_ids: Sequence[str] | Mapping[int, str],
    people: Iterable[tuple[int, int, str]],
    imports: Iterable[tuple[int, str]],
    evidence: Mapping[tuple[int, int], Evidence],
) -> Mapping[int, list[GradedBy]]:
    """Return the golden grades of each query by number, with who stands behind them.

    Behind an import stand those whom its file named, and behind others whoever has graded.
    """
    behind: dict[tuple[int, int], list[str]] = defaultdict(list)
    for query, chunk, name in people:
        behind[query, chunk].append(name)
    named = dict(imports)
    read: dict[str, list[str]] = {graders: json.loads(graders) for graders in {*named.values()}}
    graded: dict[int, list[GradedBy]] = defaultdict(list)
    for query, chunk, grade, _, judgment, kind in rows:
        names = read[named[judgment]] if kind == "import" else behind[query, chunk]
        graded[query].append((chunk_ids[chunk], grade, names, evidence.get((query, chunk))))
    return graded
