"""What graders were shown that sways them, by which the server knows whether they grade blind."""

from __future__ import annotations

from collections.abc import Iterable

from labeler.store.columns import moment
from labeler.store.log import JudgmentLog

# Whoever once knew more of a pair still knows it: the log says so even where it came from a file.
IS_BLIND = """
WITH pair AS (
    SELECT
        (SELECT id FROM queries WHERE query_id = :query_id) AS query,
        (SELECT id FROM chunks WHERE chunk_id = :chunk_id) AS chunk,
        (SELECT id FROM graders WHERE name = :grader) AS grader
)
SELECT
    NOT EXISTS (
        SELECT 1 FROM lists_seen AS s WHERE s.query = pair.query AND s.grader = pair.grader
    )
    AND NOT EXISTS (
        SELECT 1 FROM told AS t
        WHERE t.query = pair.query AND t.chunk = pair.chunk AND t.grader = pair.grader
    )
    AND NOT EXISTS (
        SELECT 1 FROM judgments AS j
        WHERE j.query = pair.query AND j.chunk = pair.chunk AND +j.grader = pair.grader
            AND j.blind = 0
    )
FROM pair
"""


class Seen(JudgmentLog):
    """Whom the ranked lists of a query, or the grades others gave, were shown to."""

    def note_lists_seen(self, grader: str, query_id: str) -> None:
        """Remember that a query's ranked lists were shown to a grader, who is made known.

        Writes only where it is new: what somebody opens again and again costs a read.
        """
        if self._has_seen_lists(grader, query_id):
            return
        self.add_grader(grader)
        with self._translated():
            self._db.execute(
                "INSERT INTO lists_seen (query, grader, seen_at) SELECT q.id, g.id, ? "
                "FROM queries AS q, graders AS g WHERE q.query_id = ? AND g.name = ? "
                "ON CONFLICT DO NOTHING",
                [moment(), query_id, grader],
            )

    def _has_seen_lists(self, grader: str, query_id: str) -> bool:
        return bool(
            self._value(
                "SELECT EXISTS (SELECT 1 FROM lists_seen WHERE "
                "query = (SELECT id FROM queries WHERE query_id = ?) AND "
                "grader = (SELECT id FROM graders WHERE name = ?))",
                [query_id, grader],
            )
        )

    def note_told(self, grader: str, pairs: Iterable[tuple[str, str]]) -> None:
        """Remember that a grader was told what others gave these queries' chunks.

        Writes only where it is new, all at once.
        """
        new = [pair for pair in dict.fromkeys(pairs) if self.is_blind(grader, *pair)]
        if not new:
            return
        self.add_grader(grader)
        with self._transaction():
            for query_id, chunk_id in new:
                self._db.execute(
                    "INSERT INTO told (query, chunk, grader, told_at) SELECT q.id, c.id, g.id, ? "
                    "FROM queries AS q, chunks AS c, graders AS g "
                    "WHERE q.query_id = ? AND c.chunk_id = ? AND g.name = ? ON CONFLICT DO NOTHING",
                    [moment(), query_id, chunk_id, grader],
                )

    def is_blind(self, grader: str, query_id: str, chunk_id: str) -> bool:
        """Say whether a grader knows nothing of a pair but its query and its chunk.

        They do not where they were shown the query's ranked lists or told what others gave, or
        have judged the pair before knowing more.
        """
        names = {"grader": grader, "query_id": query_id, "chunk_id": chunk_id}
        return bool(self._value(IS_BLIND, names))
