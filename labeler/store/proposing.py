"""Grades that were proposed for chunks; none of them is ever a golden grade."""

from __future__ import annotations

from collections.abc import Iterable

from labeler.model import Proposal
from labeler.store.connection import Connection

PROPOSED = """
SELECT q.query_id, c.chunk_id, p.source, p.grade, p.times, p.against, p.at
FROM proposed AS p JOIN queries AS q ON q.id = p.query JOIN chunks AS c ON c.id = p.chunk
WHERE {where} ORDER BY q.id, c.chunk_id, p.source
"""


VOTES = """
SELECT q.query_id, h.chunk_id, p.source, p.grade, sum(p.times), 0, min(p.at)
FROM proposals AS p LEFT JOIN candidates AS c ON c.id = p.candidate
JOIN queries AS q ON q.id = coalesce(p.query, c.query) JOIN chunks AS h ON h.id = p.chunk
GROUP BY q.id, 1, 2, 3, 4 ORDER BY q.id, h.chunk_id, p.source, p.grade
"""
VOTE = """
INSERT INTO proposals (query, chunk, source, grade, times, at)
SELECT q.id, c.id, ?, ?, ?, ? FROM queries AS q, chunks AS c WHERE q.query_id = ? AND c.chunk_id = ?
"""


class Proposing(Connection):
    """What sources propose, by query; who asks sees to it that nobody sees it too early."""

    def proposals_of(self, query_id: str) -> list[Proposal]:
        """Return the grades proposed for chunks of a query, by chunk and source."""
        rows = self._rows(PROPOSED.format(where="q.query_id = ?"), [query_id])
        return [Proposal(*row) for row in rows]

    def votes(self) -> list[Proposal]:
        """Return all that was proposed for queries, retired or not, also what others outvoted."""
        return [Proposal(*row) for row in self._rows(VOTES)]

    def _put_votes(self, votes: Iterable[Proposal]) -> None:
        rows = ((v.source, v.grade, v.times, v.at, v.query_id, v.chunk_id) for v in votes)
        self._db.conn.executemany(VOTE, rows)

    def proposals(self) -> list[Proposal]:
        """Return every proposed grade of queries in use, by query, chunk and source."""
        return [Proposal(*row) for row in self._rows(PROPOSED.format(where="q.retired_at IS NULL"))]
