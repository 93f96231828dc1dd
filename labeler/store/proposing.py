"""Grades that were proposed for chunks; none of them is ever a golden grade."""

from __future__ import annotations

from labeler.model import Proposal
from labeler.store.connection import Connection

PROPOSED = """
SELECT q.query_id, c.chunk_id, p.source, p.grade, p.times, p.against, p.at
FROM proposed AS p JOIN queries AS q ON q.id = p.query JOIN chunks AS c ON c.id = p.chunk
WHERE {where} ORDER BY q.id, c.chunk_id, p.source
"""


class Proposing(Connection):
    """What sources propose, by query; who asks sees to it that nobody sees it too early."""

    def proposals_of(self, query_id: str) -> list[Proposal]:
        """Return the grades proposed for chunks of a query, by chunk and source."""
        rows = self._rows(PROPOSED.format(where="q.query_id = ?"), [query_id])
        return [Proposal(*row) for row in rows]

    def proposals(self) -> list[Proposal]:
        """Return every proposed grade of queries in use, by query, chunk and source."""
        return [Proposal(*row) for row in self._rows(PROPOSED.format(where="q.retired_at IS NULL"))]
