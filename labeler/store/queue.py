"""Reads what decides the next chunk: the pool, what is settled in it, how far a grader is."""

from __future__ import annotations

import numpy as np

from labeler.store.log import JudgmentLog


class Queue(JudgmentLog):
    """What the choice of the next chunk is made from."""

    def pool(self, depth: int) -> tuple[dict[str, list[int]], int]:
        """Return the chunk numbers of every query's pool, and how many pairs have no text.

        The pool is the union of the runs' top ``depth``, in order of first appearance. Pairs
        whose chunk has no text cannot be graded by reading: they are left out and counted.
        """
        pool: dict[str, dict[int, None]] = {}
        for query_id, chunks in self._rows(
            "SELECT q.query_id, substr(l.chunks, 1, ? * 4) FROM ranked_lists AS l "
            "JOIN queries AS q ON q.query_id = l.query_id "
            "WHERE q.retired_at IS NULL ORDER BY q.id, l.run",
            [depth],
        ):
            pool.setdefault(query_id, {}).update(
                dict.fromkeys(np.frombuffer(chunks, "<i4").tolist())
            )
        textless = {chunk for (chunk,) in self._rows("SELECT id FROM chunks WHERE text IS NULL")}
        readable = {
            query_id: [chunk for chunk in chunks if chunk not in textless]
            for query_id, chunks in pool.items()
        }
        left_out = sum(map(len, pool.values())) - sum(map(len, readable.values()))
        return readable, left_out

    def settled_pairs(self) -> tuple[set[tuple[str, int]], int]:
        """Return the pairs with a golden grade for their present text, and as of which revision.

        `changes_since` that revision keeps the set up to date without reading it all again.
        """
        with self._reading():
            pairs = self._rows(
                "SELECT q.query_id, g.chunk FROM golden AS g "
                "JOIN queries AS q ON q.id = g.query WHERE NOT g.stale"
            )
            return {(query_id, chunk) for query_id, chunk in pairs}, self.revision()

    def judged_by(self, grader: str) -> dict[tuple[str, int], bool]:
        """Return the pairs this grader has judged, and whether it was the chunk's present text."""
        return {
            (query_id, chunk): bool(present)
            for query_id, chunk, present in self._rows(
                "SELECT q.query_id, j.chunk, max(j.text_hash IS c.text_hash) "
                "FROM current_judgments AS j JOIN queries AS q ON q.id = j.query "
                "JOIN chunks AS c ON c.id = j.chunk "
                "WHERE j.grader = (SELECT id FROM graders WHERE name = ?) "
                "GROUP BY j.query, j.chunk",
                [grader],
            )
        }

    def judged_since(self, revision: int) -> list[tuple[str, tuple[str, int], bool | None]]:
        """Return whose judgment of which pair moved after ``revision``, and to what.

        That is what `judged_by` says of the pair now, or None where nothing is left of it.
        """
        rows = self._rows(
            "SELECT g.name, q.query_id, moved.chunk, "
            "(SELECT max(j.text_hash IS c.text_hash) FROM current_judgments AS j "
            "WHERE j.query = moved.query AND j.chunk = moved.chunk AND +j.grader = moved.grader) "
            "FROM (SELECT DISTINCT query, chunk, grader FROM judgments NOT INDEXED WHERE id > ?) "
            "AS moved JOIN graders AS g ON g.id = moved.grader "
            "JOIN queries AS q ON q.id = moved.query JOIN chunks AS c ON c.id = moved.chunk",
            [revision],
        )
        return [
            (grader, (query_id, chunk), None if present is None else bool(present))
            for grader, query_id, chunk, present in rows
        ]

    def undoable(self, grader: str, limit: int) -> list[tuple[str, str, int]]:
        """Return the grader's newest grades that can still be undone: event, query, chunk.

        Adjudications are not among them: who grades must not take one back by accident.
        """
        rows = self._rows(
            "SELECT j.event_id, q.query_id, j.chunk FROM standing_judgments AS j "
            "JOIN queries AS q ON q.id = j.query "
            "WHERE j.grader = (SELECT id FROM graders WHERE name = ?) "
            "AND j.lane = 'grade' AND q.retired_at IS NULL "
            "ORDER BY j.id DESC LIMIT ?",
            [grader, limit],
        )
        return [(event_id, query_id, chunk) for event_id, query_id, chunk in rows]
