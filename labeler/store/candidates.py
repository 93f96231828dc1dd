"""Candidate queries: questions from logs, generators or experts, and the state of each.

Which questions are duplicates is decided by the caller.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import (
    DROPPED_STATE,
    OPEN_STATE,
    TAKEN_STATE,
    Candidate,
    CandidateBatch,
    DistinctQuestion,
    LoadReport,
    Query,
    QuestionFile,
    format_count,
)
from labeler.store.audit import Audit
from labeler.store.chunks import Chunks
from labeler.store.columns import ALL_ROWS, as_json, moment
from labeler.store.connection import Connection
from labeler.store.queries import Queries
from labeler.store.retrievals import INSERT_BATCH

SELECT_BATCHES = """
SELECT id, source, file, at, who, times, texts, kept, evenly, seed, first_asked, last_asked
FROM batches ORDER BY id
"""
BATCH_BUCKETS = """
SELECT batch, facet, bucket, CAST(sum(times) AS INTEGER) FROM (
    SELECT batch, facet, bucket, times FROM batch_buckets
    UNION ALL
    SELECT a.batch, b.facet, b.bucket, a.times
    FROM asked_queries AS a JOIN query_buckets AS b ON b.query = a.query
    UNION ALL
    SELECT a.batch, 'task', q.task, a.times
    FROM asked_queries AS a JOIN queries AS q ON q.id = a.query WHERE q.task IS NOT NULL
) AS counted
GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3
"""
SELECT_CANDIDATES = """
SELECT c.id, c.source, c.text, c.normal, c.times, c.asked_at, c.reference, c.guideline, c.keywords,
    b.file, b.at, b.who, c.state, q.query_id
FROM candidates AS c JOIN batches AS b ON b.id = c.batch LEFT JOIN queries AS q ON q.id = c.query
"""
MATCHING_CANDIDATES = """
WHERE (:state IS NULL OR c.state = :state) AND (:source IS NULL OR c.source = :source)
    AND (:words = '' OR instr(folded(c.text), :words) > 0)
    AND (:facet IS NULL OR EXISTS (
        SELECT 1 FROM candidate_buckets AS i
        WHERE i.candidate = c.id AND i.facet = :facet AND i.bucket = :bucket
    ))
"""
CANDIDATE_BUCKETS = """
SELECT candidate, facet, bucket, times FROM candidate_buckets
WHERE candidate IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY 1, 2, 4 DESC, 3
"""
MOST_ASKED_FIRST = "ORDER BY c.times DESC, c.id LIMIT :most OFFSET :skip"
PUT_CANDIDATE = """
INSERT INTO candidates (
    source, text, normal, times, asked_at, reference, guideline, keywords, batch, state, query
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (source, normal) DO UPDATE SET times = candidates.times + excluded.times,
    asked_at = max(
        coalesce(candidates.asked_at, excluded.asked_at),
        coalesce(excluded.asked_at, candidates.asked_at)
    ),
    reference = coalesce(candidates.reference, excluded.reference),
    guideline = coalesce(candidates.guideline, excluded.guideline),
    state = CASE WHEN excluded.query IS NULL THEN candidates.state ELSE 'taken' END,
    query = coalesce(candidates.query, excluded.query)
RETURNING id
"""
PUT_CANDIDATE_BUCKET = """
INSERT INTO candidate_buckets (candidate, facet, bucket, times) VALUES (?, ?, ?, ?)
ON CONFLICT (candidate, facet, bucket) DO UPDATE
SET times = candidate_buckets.times + excluded.times
"""
PUT_SUGGESTION = """
INSERT INTO proposals (query, candidate, chunk, source, grade, times, at, who)
SELECT (SELECT id FROM queries WHERE query_id = ?), ?, id, ?, ?, ?, ?, ?
FROM chunks WHERE chunk_id = ?
ON CONFLICT ({whose}, chunk, source, grade) WHERE {whose} IS NOT NULL
DO UPDATE SET times = proposals.times + excluded.times
"""
SETTLE_CANDIDATE = """
UPDATE candidates SET state = ?, query = (SELECT id FROM queries WHERE query_id = ?),
    settled_at = ?, settled_by = ?
WHERE id = ? AND state <> 'taken'
"""


class Candidates:
    """Stores candidates, turns them into queries, or sets them aside."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._queries = Queries(connection)
        self._chunks = Chunks(connection)

    def find(
        self,
        words: str = "",
        *,
        state: str | None = OPEN_STATE,
        source: str | None = None,
        bucket: tuple[str, str] | None = None,
        most: int = ALL_ROWS,
        skip: int = 0,
    ) -> tuple[list[Candidate], int]:
        """Return candidates, those asked most often first, and how many there are in all.

        ``words`` filters by text, whatever the case, ``bucket`` by a facet and a bucket in which
        the question was asked.
        """
        self._db.conn.create_function("folded", 1, str.casefold, deterministic=True)
        facet, name = bucket or (None, None)
        asked = {"state": state, "source": source, "words": words.strip().casefold()}
        asked |= {"facet": facet, "bucket": name}
        with self._db.reading():
            found = self._candidates(
                f"{MATCHING_CANDIDATES} {MOST_ASKED_FIRST}", {**asked, "most": most, "skip": skip}
            )
            count = self._db.value(
                f"SELECT count(*) FROM candidates AS c {MATCHING_CANDIDATES}", asked
            )
        return found, count

    def _candidates(self, where: str, parameters: Any) -> list[Candidate]:
        rows = self._db.rows(f"{SELECT_CANDIDATES} {where}", parameters)
        buckets: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
        numbers = as_json([row[0] for row in rows])
        for number, facet, bucket, times in self._db.rows(CANDIDATE_BUCKETS, [numbers]):
            buckets[number][facet][bucket] = times
        return [_candidate_from_row(row, buckets[row[0]]) for row in rows]

    def get(self, number: int) -> Candidate:
        """Return one candidate, `NotFound` where there is none."""
        found = self._candidates("WHERE c.id = ?", [number])
        if not found:
            raise NotFound(f"there is no candidate {number}")
        return found[0]

    def states(self, source: str) -> dict[str, str]:
        """Return the state of each candidate of a source, by its normalised text."""
        return dict(
            self._db.rows("SELECT normal, state FROM candidates WHERE source = ?", [source])
        )

    def counts(self) -> dict[tuple[str, str], int]:
        """Return how many candidates there are of each source and state."""
        rows = self._db.rows("SELECT source, state, count(*) FROM candidates GROUP BY 1, 2")
        return {(source, state): count for source, state, count in rows}

    def batches(self) -> list[CandidateBatch]:
        """Return all batches with their buckets, in the order they were loaded."""
        with self._db.reading():
            buckets: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
            for batch, facet, bucket, times in self._db.rows(BATCH_BUCKETS):
                buckets[batch][facet][bucket] = times
            rows = self._db.rows(SELECT_BATCHES)
        return [_batch_from_row(row, buckets[row[0]]) for row in rows]

    def add(
        self,
        gathered: QuestionFile,
        drawn: Sequence[DistinctQuestion],
        *,
        evenly: Sequence[str] | None = None,
        seed: int | None = None,
    ) -> LoadReport:
        """Store the ``drawn`` questions of a file, with their counts and suggested grades.

        Those with a ``query_id`` are counted for that query, all others are open. Of the rest of
        the file only the counts by bucket are stored. Loading the same content again counts
        nothing twice: it adds only questions that were not drawn before.
        """
        counts: Counter[str] = Counter()
        with self._db.writing():
            batch = self._db.value("SELECT id FROM batches WHERE hash = ?", [gathered.digest])
            is_new = batch is None
            if batch is None:
                batch = self._put_batch(gathered, evenly, seed)
            there = self.states(gathered.source)
            before = self._chunk_count()
            for question in drawn:
                if not is_new and (question.normal in there or question.query_id is not None):
                    counts["already there"] += 1
                    continue
                counts[_outcome_of_question(question, there)] += 1
                with self._db.translated(f"{gathered.file}:{question.line}"):
                    self._put_question(gathered, question, batch)
            kept = counts["new"] + counts["of a query in the set"]
            self._db.execute("UPDATE batches SET kept = kept + ? WHERE id = ?", [kept, batch])
            if bare := self._chunk_count() - before:
                counts["new chunks, known by id only"] = bare
            if is_new or kept:
                self._audit.put("load", gathered.file, {"what": "candidates", **counts})
            elif counts:
                counts = Counter({"already there": counts["already there"]})
        facts: dict[str, int | str] = {
            "questions": gathered.times,
            "that differ": len(gathered.questions),
            **{name: count for name, count in counts.items() if count},
        }
        for facet, buckets in gathered.buckets.items():
            facts[f"facet {facet}"] = format_count(len(buckets), "bucket", "buckets")
        title = f"candidates ({gathered.source}) from {gathered.file}"
        return LoadReport(title, facts, _field_warnings(gathered), is_new or bool(kept))

    def _put_batch(
        self, gathered: QuestionFile, evenly: Sequence[str] | None, seed: int | None
    ) -> int:
        facets = sorted(gathered.buckets) if evenly is None else list(evenly)
        row = (
            *(gathered.source, gathered.file, gathered.digest, moment(), self._audit.who()),
            *(gathered.times, len(gathered.questions), as_json(facets), seed),
            *(gathered.first_asked, gathered.last_asked),
        )
        ((batch,),) = self._db.rows(INSERT_BATCH, row)
        self._db.conn.executemany(
            "INSERT INTO batch_buckets (batch, facet, bucket, times, texts) VALUES (?, ?, ?, ?, ?)",
            (
                (batch, facet, bucket, times, texts)
                for facet, buckets in gathered.buckets.items()
                for bucket, (times, texts) in buckets.items()
            ),
        )
        return int(batch)

    def _chunk_count(self) -> int:
        return int(self._db.value("SELECT count(*) FROM chunks"))

    def _put_question(self, gathered: QuestionFile, question: DistinctQuestion, batch: int) -> None:
        if question.text:
            number = self._put_candidate(gathered.source, question, batch)
            self._put_proposals(None, number, question, gathered.source)
        else:
            self._put_proposals(question.query_id, None, question, gathered.source)

    def _put_candidate(self, source: str, question: DistinctQuestion, batch: int) -> int:
        query = self._db.value("SELECT id FROM queries WHERE query_id = ?", [question.query_id])
        row = [
            *(source, question.text, question.normal, question.times, question.at),
            *(question.reference, question.guideline, as_json(list(question.keywords))),
            *(batch, OPEN_STATE if query is None else TAKEN_STATE, query),
        ]
        ((number,),) = self._db.execute(PUT_CANDIDATE, row).fetchall()
        self._db.conn.executemany(
            PUT_CANDIDATE_BUCKET,
            (
                (number, facet, bucket, times)
                for facet, buckets in question.buckets.items()
                for bucket, times in buckets.items()
            ),
        )
        return int(number)

    def _put_proposals(
        self, query_id: str | None, candidate: int | None, question: DistinctQuestion, source: str
    ) -> None:
        if not question.grades:
            return
        self._chunks.put_ids(iter(question.grades))
        at, by = moment(), self._audit.who()
        self._db.conn.executemany(
            PUT_SUGGESTION.format(whose="query" if candidate is None else "candidate"),
            (
                (query_id, candidate, source, grade, times, at, by, chunk_id)
                for chunk_id, votes in question.grades.items()
                for grade, times in votes.items()
            ),
        )

    def take(self, number: int, query: Query) -> None:
        """Turn a candidate into a query, and link the candidates that ask the same.

        Its suggested grades are the query's from then on. Raises `NotFound` for an unknown
        candidate, `BadInput` where it was taken already or a query has the id.
        """
        with self._db.writing():
            candidate = self._open_candidate(number)
            self._queries.put_new(query, candidate.source, candidate.file)
            self._settle_alike(candidate.normal, query.query_id)

    def _open_candidate(self, number: int) -> Candidate:
        found = self.get(number)
        if found.state == TAKEN_STATE:
            raise BadInput(
                f"question {found.text!r} was taken already: it is query {found.query_id!r}"
            )
        return found

    def _settle_alike(self, normal: str, query_id: str) -> None:
        alike = self._db.rows("SELECT id FROM candidates WHERE normal = ?", [normal])
        for (number,) in alike:
            self._db.execute(
                SETTLE_CANDIDATE, [TAKEN_STATE, query_id, moment(), self._audit.who(), number]
            )

    def link(self, number: int, query_id: str) -> None:
        """Say that a candidate asks what a query in use asks; raises as `take` does."""
        with self._db.writing():
            candidate = self._open_candidate(number)
            if not self._queries.has(query_id):
                raise NotFound(f"there is no query {query_id!r} in use in the golden set")
            self._settle_alike(candidate.normal, query_id)
            self._audit.put("candidate", None, {"question": number, "asks the same as": query_id})

    def drop(self, numbers: Iterable[int]) -> int:
        """Set candidates aside, so that no later file brings them back; return how many."""
        return self._set_state(numbers, OPEN_STATE, DROPPED_STATE)

    def _set_state(self, numbers: Iterable[int], old: str, new: str) -> int:
        moved = 0
        with self._db.transaction():
            for number in numbers:
                moved += self._db.execute(
                    "UPDATE candidates SET state = ?, settled_at = ?, settled_by = ? "
                    "WHERE id = ? AND state = ?",
                    [new, moment(), self._audit.who(), number, old],
                ).rowcount
            if moved:
                self._audit.put("candidate", None, {"questions": moved, "now": new})
        return moved

    def reopen(self, numbers: Iterable[int]) -> int:
        """Reopen candidates that were set aside; return how many."""
        return self._set_state(numbers, DROPPED_STATE, OPEN_STATE)

    def forget_dropped(self) -> int:
        """Delete the candidates that were set aside, texts and all; return how many."""
        with self._db.transaction():
            gone = self._db.execute("DELETE FROM candidates WHERE state = 'dropped'").rowcount
            if gone:
                self._audit.put("candidate", None, {"questions": gone, "now": "deleted"})
        return int(gone)


def _batch_from_row(
    row: tuple[Any, ...], buckets: Mapping[str, Mapping[str, int]]
) -> CandidateBatch:
    batch = CandidateBatch(*row)
    return replace(batch, evenly=tuple(json.loads(row[8])), buckets=dict(buckets))


def _candidate_from_row(
    row: tuple[Any, ...], buckets: Mapping[str, Mapping[str, int]]
) -> Candidate:
    found = Candidate(*row)
    return replace(found, keywords=tuple(json.loads(row[8])), buckets=dict(buckets))


def _outcome_of_question(question: DistinctQuestion, there: Mapping[str, str]) -> str:
    if question.query_id is not None:
        return "of a query in the set"
    return "new" if question.normal not in there else f"known already, {there[question.normal]}"


def _field_warnings(gathered: QuestionFile) -> tuple[str, ...]:
    if not gathered.left_out:
        return ()
    fields = ", ".join(gathered.left_out[:5])
    return (f"no facet: {fields}: too many different values, unless named with --facet",)
