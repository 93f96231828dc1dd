"""Questions that may become queries: what was loaded of them, and what has become of each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import OPEN, TAKEN, Batch, Candidate
from labeler.store.audit import Audit
from labeler.store.columns import as_json

BATCHES = """
SELECT id, source, file, at, who, times, texts, kept, evenly, seed, first_asked, last_asked
FROM batches ORDER BY id
"""
BATCH_BUCKETS = "SELECT batch, facet, bucket, times FROM batch_buckets ORDER BY 1, 2, 4 DESC, 3"
CANDIDATES = """
SELECT c.id, c.source, c.text, c.normal, c.times, c.asked_at, c.reference, c.guideline, c.keywords,
    b.file, b.at, b.who, c.state, q.query_id
FROM candidates AS c JOIN batches AS b ON b.id = c.batch LEFT JOIN queries AS q ON q.id = c.query
"""
MATCHING = """
WHERE (:state IS NULL OR c.state = :state) AND (:source IS NULL OR c.source = :source)
    AND (:words = '' OR instr(folded(c.text), :words) > 0)
    AND (:facet IS NULL OR EXISTS (
        SELECT 1 FROM candidate_buckets AS i
        WHERE i.candidate = c.id AND i.facet = :facet AND i.bucket = :bucket
    ))
"""
CANDIDATE_BUCKETS = """
SELECT candidate, facet, bucket, times FROM candidate_buckets
WHERE candidate IN (SELECT value FROM json_each(?)) ORDER BY 1, 2, 4 DESC, 3
"""
MOST_FIRST = "ORDER BY c.times DESC, c.id LIMIT :most OFFSET :skip"


class Candidates(Audit):
    """What users asked, what was generated, what experts typed."""

    def candidates(
        self,
        words: str = "",
        *,
        state: str | None = OPEN,
        source: str | None = None,
        bucket: tuple[str, str] | None = None,
        most: int = -1,
        skip: int = 0,
    ) -> tuple[list[Candidate], int]:
        """Return candidates, those asked most often first, and how many there are in all.

        ``words`` keeps to those whose text holds them, whatever their case, ``bucket`` (facet and
        bucket) to those ever asked in it.
        """
        self._db.conn.create_function("folded", 1, str.casefold, deterministic=True)
        facet, name = bucket or (None, None)
        asked = {"state": state, "source": source, "words": words.strip().casefold()}
        asked |= {"facet": facet, "bucket": name}
        with self._reading():
            found = self._candidates(
                f"{MATCHING} {MOST_FIRST}", {**asked, "most": most, "skip": skip}
            )
            count = self._value(f"SELECT count(*) FROM candidates AS c {MATCHING}", asked)
        return found, count

    def candidate(self, number: int) -> Candidate:
        """Return one candidate, `NotFound` where there is none."""
        found = self._candidates("WHERE c.id = ?", [number])
        if not found:
            raise NotFound(f"there is no candidate {number}")
        return found[0]

    def _open_candidate(self, number: int) -> Candidate:
        found = self.candidate(number)
        if found.state == TAKEN:
            raise BadInput(
                f"question {found.text!r} was taken already: it is query {found.query_id!r}"
            )
        return found

    def _candidates(self, where: str, parameters: Any) -> list[Candidate]:
        rows = self._rows(f"{CANDIDATES} {where}", parameters)
        buckets: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
        numbers = as_json([row[0] for row in rows])
        for number, facet, bucket, times in self._rows(CANDIDATE_BUCKETS, [numbers]):
            buckets[number][facet][bucket] = times
        return [_candidate(row, buckets[row[0]]) for row in rows]

    def candidate_states(self, source: str) -> dict[str, str]:
        """Return what has become of each candidate of a source, by what its wordings share."""
        return dict(self._rows("SELECT normal, state FROM candidates WHERE source = ?", [source]))

    def candidate_counts(self) -> dict[tuple[str, str], int]:
        """Return how many candidates there are of each source and state."""
        rows = self._rows("SELECT source, state, count(*) FROM candidates GROUP BY 1, 2")
        return {(source, state): count for source, state, count in rows}

    def batches(self) -> list[Batch]:
        """Return all that was loaded of candidates, in the order it was, with its buckets."""
        with self._reading():
            buckets: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
            for batch, facet, bucket, times in self._rows(BATCH_BUCKETS):
                buckets[batch][facet][bucket] = times
            rows = self._rows(BATCHES)
        return [_batch(row, buckets[row[0]]) for row in rows]


def _batch(row: tuple[Any, ...], buckets: Mapping[str, Mapping[str, int]]) -> Batch:
    batch = Batch(*row)
    return replace(batch, evenly=tuple(json.loads(row[8])), buckets=dict(buckets))


def _candidate(row: tuple[Any, ...], buckets: Mapping[str, Mapping[str, int]]) -> Candidate:
    found = Candidate(*row)
    return replace(found, keywords=tuple(json.loads(row[8])), buckets=dict(buckets))
