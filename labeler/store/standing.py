"""How the golden set stands, pair by pair: who graded it, when, and what had been proposed."""

from __future__ import annotations

from collections.abc import Collection

from labeler.model import GradedPair, Met
from labeler.store.connection import Connection

GRADED = """
SELECT min(q.query_id),
    count(*) FILTER (WHERE c.kind = 'grade'),
    min(g.kind) = 'adjudicate',
    min(j.created_at)
FROM golden AS g
JOIN queries AS q ON q.id = g.query
JOIN judgments AS j ON j.id = g.judgment
JOIN current_judgments AS c ON c.query = g.query AND c.chunk = g.chunk
WHERE q.retired_at IS NULL
GROUP BY g.query, g.chunk
"""
# What a grader gave first: a proposal is shown only after it, and may move a later one.
FIRST = """
SELECT j.query, j.chunk, j.grade FROM judgments AS j JOIN (
    SELECT min(id) AS id FROM judgments WHERE kind = 'grade' GROUP BY query, chunk, grader
) AS first ON first.id = j.id
ORDER BY j.query, j.chunk, j.id
"""
# All at once and weighed here: SQLite would weigh them anew for each pair it looks at.
EVERY_VOTE = """
SELECT coalesce(p.query, c.query), p.chunk, p.source, p.grade, sum(p.times)
FROM proposals AS p LEFT JOIN candidates AS c ON c.id = p.candidate
WHERE p.query IS NOT NULL OR c.query IS NOT NULL
GROUP BY 1, 2, 3, 4
"""
IN_USE = "SELECT id, query_id FROM queries WHERE retired_at IS NULL"
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

Votes = dict[str, dict[int, int]]
"""By source, how often it said which grade."""


class Standings(Connection):
    """What the golden set's pairs rest on; nothing of it is shown to somebody who grades."""

    def graded_pairs(self) -> list[GradedPair]:
        """Return every golden grade of queries in use: by how many people, and since when."""
        rows = self._rows(GRADED)
        return [GradedPair(query, people, bool(led), at) for query, people, led, at in rows]

    def proposals_met(self, among: Collection[str] | None = None) -> tuple[list[Met], int]:
        """Return what each grader first gave to pairs that a source proposed a grade for.

        And how many pairs have a proposed grade and no golden one; of the queries ``among``.
        """
        with self._reading():
            proposed, names = self._proposed(), dict(self._rows(IN_USE))
            names = {at: name for at, name in names.items() if among is None or name in among}
            first = self._rows(FIRST) if proposed else []
            golden = set(self._rows("SELECT query, chunk FROM golden")) if proposed else set()
        met = [
            Met(names[query], source, grade, given)
            for query, chunk, given in first
            if query in names
            for source, grade in proposed.get((query, chunk), ())
        ]
        return met, sum(pair[0] in names and pair not in golden for pair in proposed)

    def _proposed(self) -> dict[tuple[int, int], list[tuple[str, int]]]:
        """Return what each source proposes for each pair, by internal keys."""
        votes: dict[tuple[int, int], Votes] = {}
        for query, chunk, source, grade, times in self._rows(EVERY_VOTE):
            votes.setdefault((query, chunk), {}).setdefault(source, {})[grade] = times
        return {pair: found for pair, of in votes.items() if (found := weighed(of))}

    def proposed_for(self, query_id: str, chunk_id: str) -> list[tuple[str, int]]:
        """Return what each source proposes for one pair, as `proposed` weighs it, by its keys.

        Whoever asks sees to it that the grader has given a grade of their own.
        """
        votes: Votes = {}
        for source, grade, times in self._rows(VOTES, {"query": query_id, "chunk": chunk_id}):
            votes.setdefault(source, {})[grade] = times
        return weighed(votes)


def weighed(votes: Votes) -> list[tuple[str, int]]:
    """Return the grade that each source proposes: the one with most votes, none where two have.

    >>> weighed({"thumbs": {2: 5, 0: 1}, "clicks": {1: 2, 3: 2}})
    [('thumbs', 2)]
    """
    found = []
    for source, of in sorted(votes.items()):
        most = [grade for grade, times in of.items() if times == max(of.values())]
        found += [(source, most[0])] if len(most) == 1 else []
    return found
