"""Suggested grades: the votes of each source, and how they compare with the grades people gave.

A suggestion is never a golden grade, and must not be shown before a grader has given a grade.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from labeler.model import GradedPair, Suggestion, SuggestionCheck
from labeler.store.connection import Connection
from labeler.store.copies import COPY_MARK

SELECT_SUGGESTIONS = """
SELECT q.query_id, c.chunk_id, p.source, p.grade, p.times, p.against, p.at
FROM proposed AS p JOIN queries AS q ON q.id = p.query JOIN chunks AS c ON c.id = p.chunk
WHERE {where} ORDER BY q.id, c.chunk_id, p.source
"""
ALL_VOTES = """
SELECT q.query_id, h.chunk_id, p.source, p.grade, sum(p.times), 0, min(p.at)
FROM proposals AS p LEFT JOIN candidates AS c ON c.id = p.candidate
JOIN queries AS q ON q.id = coalesce(p.query, c.query) JOIN chunks AS h ON h.id = p.chunk
GROUP BY q.id, 1, 2, 3, 4 ORDER BY q.id, h.chunk_id, p.source, p.grade
"""
INSERT_VOTE = """
INSERT INTO proposals (query, chunk, source, grade, times, at)
SELECT q.id, c.id, ?, ?, ?, ? FROM queries AS q, chunks AS c WHERE q.query_id = ? AND c.chunk_id = ?
"""
SELECT_GRADED_PAIRS = """
SELECT min(q.query_id),
    count(*) FILTER (WHERE c.kind = 'grade'),
    min(g.kind) = 'adjudicate',
    min(j.created_at),
    g.chunk,
    min(g.grade)
FROM golden AS g
JOIN queries AS q ON q.id = g.query
JOIN judgments AS j ON j.id = g.judgment
JOIN current_judgments AS c ON c.query = g.query AND c.chunk = g.chunk
WHERE q.retired_at IS NULL
GROUP BY g.query, g.chunk
"""
# The first grade of each grader: they see a suggestion only after it, and may then change it.
FIRST_GRADES = """
SELECT j.query, j.chunk, j.grade, j.event_id FROM judgments AS j JOIN (
    SELECT min(id) AS id FROM judgments WHERE kind = 'grade' GROUP BY query, chunk, grader
) AS first ON first.id = j.id
ORDER BY j.query, j.chunk, j.id
"""
# All votes in one query, weighed in Python: SQLite would weigh them again for each pair.
VOTES_BY_PAIR = """
SELECT coalesce(p.query, c.query), p.chunk, p.source, p.grade, sum(p.times)
FROM proposals AS p LEFT JOIN candidates AS c ON c.id = p.candidate
WHERE p.query IS NOT NULL OR c.query IS NOT NULL
GROUP BY 1, 2, 3, 4
"""
QUERIES_IN_USE = "SELECT id, query_id FROM queries WHERE retired_at IS NULL"
VOTES_OF_PAIR = """
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
VotesBySource = dict[str, dict[int, int]]
"""By source and grade, the number of votes."""


class Suggestions:
    """Reads suggested grades by source, and the grades that people gave the same pairs."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def proposals_of(self, query_id: str) -> list[Suggestion]:
        """Return the suggested grades for the chunks of a query, by chunk and source."""
        rows = self._db.rows(SELECT_SUGGESTIONS.format(where="q.query_id = ?"), [query_id])
        return [Suggestion(*row) for row in rows]

    def votes(self) -> list[Suggestion]:
        """Return all votes for queries, retired or not, including the outvoted ones."""
        return [Suggestion(*row) for row in self._db.rows(ALL_VOTES)]

    def put_votes(self, votes: Iterable[Suggestion]) -> None:
        """Add votes, in the transaction of the caller."""
        rows = ((v.source, v.grade, v.times, v.at, v.query_id, v.chunk_id) for v in votes)
        self._db.conn.executemany(INSERT_VOTE, rows)

    def graded_pairs(self) -> list[GradedPair]:
        """Return every golden grade of queries in use, with how many people gave it and when."""
        rows = self._db.rows(SELECT_GRADED_PAIRS)
        return [GradedPair(query, people, bool(led), *rest) for query, people, led, *rest in rows]

    def met(self, among: Collection[str] | None = None) -> tuple[list[SuggestionCheck], int]:
        """Return each grader's first grades of pairs with a suggestion, to compare the two.

        Also returns how many pairs have a suggestion and no golden grade. ``among`` filters by
        query. A grade that was also written for copies counts once.
        """
        with self._db.reading():
            proposed, names = self._proposed(), dict(self._db.rows(QUERIES_IN_USE))
            names = {at: name for at, name in names.items() if among is None or name in among}
            first = self._db.rows(FIRST_GRADES) if proposed else []
            golden = set(self._db.rows("SELECT query, chunk FROM golden")) if proposed else set()
        met = {
            (event_id.partition(COPY_MARK)[0], source, grade): SuggestionCheck(
                names[query], source, grade, given
            )
            for query, chunk, given, event_id in first
            if query in names
            for source, grade in proposed.get((query, chunk), ())
        }
        return list(met.values()), sum(pair[0] in names and pair not in golden for pair in proposed)

    def _proposed(self) -> dict[tuple[int, int], list[tuple[str, int]]]:
        """Return the grade that each source suggests for each pair, by internal keys."""
        votes: dict[tuple[int, int], VotesBySource] = {}
        for query, chunk, source, grade, times in self._db.rows(VOTES_BY_PAIR):
            votes.setdefault((query, chunk), {}).setdefault(source, {})[grade] = times
        return {pair: found for pair, of in votes.items() if (found := weigh_votes(of))}

    def proposed_for(self, query_id: str, chunk_id: str) -> list[tuple[str, int]]:
        """Return the grade that each source suggests for one pair, as the view `proposed` does.

        The caller must check that the grader has given a grade of their own.
        """
        votes: VotesBySource = {}
        for source, grade, times in self._db.rows(
            VOTES_OF_PAIR, {"query": query_id, "chunk": chunk_id}
        ):
            votes.setdefault(source, {})[grade] = times
        return weigh_votes(votes)


def weigh_votes(votes: VotesBySource) -> list[tuple[str, int]]:
    """Return the grade that each source suggests: the one with most votes, none in a tie.

    >>> weigh_votes({"thumbs": {2: 5, 0: 1}, "clicks": {1: 2, 3: 2}})
    [('thumbs', 2)]
    """
    found = []
    for source, of in sorted(votes.items()):
        most = [grade for grade, times in of.items() if times == max(of.values())]
        found += [(source, most[0])] if len(most) == 1 else []
    return found
