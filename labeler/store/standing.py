"""How the golden set stands, pair by pair: who graded it, when, and what had been proposed."""

from __future__ import annotations

from labeler.model import GradedPair, Met
from labeler.store.connection import Connection

GRADED = """
SELECT q.query_id,
    count(*) FILTER (WHERE c.kind = 'grade'),
    g.kind = 'adjudicate',
    j.created_at
FROM golden AS g
JOIN queries AS q ON q.id = g.query
JOIN judgments AS j ON j.id = g.judgment
JOIN current_judgments AS c ON c.query = g.query AND c.chunk = g.chunk
WHERE q.retired_at IS NULL
GROUP BY g.query, g.chunk
"""
# What a grader gave first: a proposal is shown only after it, and may move a later one.
MET = """
SELECT q.query_id, p.source, p.grade, j.grade
FROM proposed AS p
JOIN queries AS q ON q.id = p.query
JOIN judgments AS j ON j.id IN (
    SELECT min(id) FROM judgments
    WHERE query = p.query AND chunk = p.chunk AND kind = 'grade' GROUP BY grader
)
WHERE q.retired_at IS NULL
ORDER BY p.source, q.id, p.chunk, j.id
"""
ONLY_PROPOSED = """
SELECT count(*) FROM (
    SELECT DISTINCT p.query, p.chunk FROM proposed AS p JOIN queries AS q ON q.id = p.query
    WHERE q.retired_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM golden AS g WHERE g.query = p.query AND g.chunk = p.chunk)
)
"""

VOTES = """
SELECT source, grade, sum(times) FROM (
    SELECT p.source, p.grade, p.times FROM queries AS q
    JOIN chunks AS k ON k.chunk_id = :chunk
    JOIN proposals AS p ON p.query = q.id AND p.chunk = k.id
    WHERE q.query_id = :query
    UNION ALL
    SELECT p.source, p.grade, p.times FROM queries AS q
    JOIN chunks AS k ON k.chunk_id = :chunk
    JOIN candidates AS c ON c.query = q.id
    JOIN proposals AS p ON p.candidate = c.id AND p.chunk = k.id
    WHERE q.query_id = :query
)
GROUP BY source, grade
"""


class Standings(Connection):
    """What the golden set's pairs rest on; nothing of it is shown to somebody who grades."""

    def graded_pairs(self) -> list[GradedPair]:
        """Return every golden grade of queries in use: by how many people, and since when."""
        rows = self._rows(GRADED)
        return [GradedPair(query, people, bool(led), at) for query, people, led, at in rows]

    def proposals_met(self) -> list[Met]:
        """Return what each grader first gave to pairs that a source proposed a grade for."""
        return [Met(*row) for row in self._rows(MET)]

    def only_proposed(self) -> int:
        """Count the pairs with a proposed grade and no golden one."""
        return int(self._value(ONLY_PROPOSED))

    def proposed_for(self, query_id: str, chunk_id: str) -> list[tuple[str, int]]:
        """Return what each source proposes for one pair, as `proposed` weighs it, by its keys.

        Whoever asks sees to it that the grader has given a grade of their own.
        """
        votes: dict[str, dict[int, int]] = {}
        for source, grade, times in self._rows(VOTES, {"query": query_id, "chunk": chunk_id}):
            votes.setdefault(source, {})[grade] = times
        found = []
        for source, of in sorted(votes.items()):
            most = [grade for grade, times in of.items() if times == max(of.values())]
            found += [(source, most[0])] if len(most) == 1 else []
        return found
