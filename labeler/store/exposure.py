"""Exposure: which ranked lists and grades of others a grader has seen.

A grade is blind if its grader had seen neither before.
"""

from __future__ import annotations

from collections.abc import Iterable

from labeler.store.chunks import Chunks
from labeler.store.columns import moment
from labeler.store.connection import Connection
from labeler.store.copies import ChunkCopies
from labeler.store.people import People

# A judgment that was not blind makes all later ones not blind, also if it came from a file.
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


class Exposure:
    """Stores what graders have seen of a query, and returns whether they grade blind."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._people = People(connection)
        self._chunks = Chunks(connection)
        self._copies = ChunkCopies(connection)

    def note_lists_seen(self, grader: str, query_id: str) -> None:
        """Store that a grader has seen a query's ranked lists; an unknown grader is added.

        Writes only what is new, so that opening a query again costs only a read.
        """
        if self._has_seen_lists(grader, query_id):
            return
        self._people.add(grader)
        with self._db.translated():
            self._db.execute(
                "INSERT INTO lists_seen (query, grader, seen_at) SELECT q.id, g.id, ? "
                "FROM queries AS q, graders AS g WHERE q.query_id = ? AND g.name = ? "
                "ON CONFLICT DO NOTHING",
                [moment(), query_id, grader],
            )

    def _has_seen_lists(self, grader: str, query_id: str) -> bool:
        return bool(
            self._db.value(
                "SELECT EXISTS (SELECT 1 FROM lists_seen WHERE "
                "query = (SELECT id FROM queries WHERE query_id = ?) AND "
                "grader = (SELECT id FROM graders WHERE name = ?))",
                [query_id, grader],
            )
        )

    def note_told(self, grader: str, pairs: Iterable[tuple[str, str]]) -> None:
        """Store that a grader has seen the grades that others gave these pairs.

        Writes only what is new, in one transaction.
        """
        new = [pair for pair in dict.fromkeys(pairs) if self.is_blind(grader, *pair)]
        if not new:
            return
        self._people.add(grader)
        with self._db.transaction():
            for query_id, chunk_id in new:
                self._db.execute(
                    "INSERT INTO told (query, chunk, grader, told_at) SELECT q.id, c.id, g.id, ? "
                    "FROM queries AS q, chunks AS c, graders AS g "
                    "WHERE q.query_id = ? AND c.chunk_id = ? AND g.name = ? ON CONFLICT DO NOTHING",
                    [moment(), query_id, chunk_id, grader],
                )

    def is_blind(self, grader: str, query_id: str, chunk_id: str) -> bool:
        """Return whether a grader has seen only the query and the chunk of a pair.

        False if they have seen the query's ranked lists or the grades of others, or if an earlier
        judgment of theirs on the pair was not blind.
        """
        names = {"grader": grader, "query_id": query_id, "chunk_id": chunk_id}
        return bool(self._db.value(IS_BLIND, names))

    def is_blind_to_copies(self, grader: str, query_id: str, chunk_id: str) -> bool:
        """Return `is_blind` for a pair and the copies of its chunk in the query's pool."""
        family = self._copies.family_of(query_id, chunk_id)
        ids = [chunk_id, *self._chunks.ids(family).values()]
        return all(self.is_blind(grader, query_id, each) for each in dict.fromkeys(ids))
