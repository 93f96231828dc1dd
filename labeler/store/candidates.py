"""Questions that may become queries: what was loaded of them, and what has become of each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from labeler.model import Batch
from labeler.store.audit import Audit

BATCHES = """
SELECT id, source, file, at, who, times, texts, kept, evenly, seed, first_asked, last_asked
FROM batches ORDER BY id
"""
BATCH_BUCKETS = "SELECT batch, facet, bucket, times FROM batch_buckets ORDER BY 1, 2, 4 DESC, 3"
ASKED = """
SELECT q.query_id, sum(c.times) FROM candidates AS c JOIN queries AS q ON q.id = c.query
WHERE c.source = 'log' AND q.retired_at IS NULL GROUP BY q.id ORDER BY q.id
"""


class Candidates(Audit):
    """What users asked, what was generated, what experts typed."""

    def batches(self) -> list[Batch]:
        """Return all that was loaded of candidates, in the order it was, with its buckets."""
        with self._reading():
            buckets: dict[int, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
            for batch, facet, bucket, times in self._rows(BATCH_BUCKETS):
                buckets[batch][facet][bucket] = times
            rows = self._rows(BATCHES)
        return [_batch(row, buckets[row[0]]) for row in rows]

    def times_asked(self) -> Mapping[str, int]:
        """Return how often logs have the very question of a query; without those never asked."""
        return dict(self._rows(ASKED))


def _batch(row: tuple[Any, ...], buckets: Mapping[str, Mapping[str, int]]) -> Batch:
    batch = Batch(*row)
    return replace(batch, evenly=tuple(json.loads(row[8])), buckets=dict(buckets))
