"""What other tools' files need: texts in place of ids, whole lists, pairs without a grade.

Knows no file format.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from labeler.errors import NotFound
from labeler.model import UNNAMED, Loaded, Ranking, Ungraded
from labeler.store.columns import as_json
from labeler.store.reading import Reading

_UNGRADED = """
SELECT q.query_id, c.chunk_id FROM ungraded AS u
JOIN queries AS q ON q.id = u.query JOIN chunks AS c ON c.id = u.chunk
WHERE q.retired_at IS NULL
AND NOT EXISTS (SELECT 1 FROM golden AS g WHERE g.query = u.query AND g.chunk = u.chunk)
ORDER BY q.id, c.chunk_id
"""


class Exchange(Reading):
    """Reads what goes to other tools, and finds what comes from them under other names."""

    def texts_of_queries(self) -> dict[str, str]:
        """Return the text of every query by its id, retired ones included."""
        return dict(self._rows("SELECT query_id, text FROM queries ORDER BY id"))

    def chunks_of_texts(
        self, made: Iterable[str], prefix: int, digits: int, chunking: str = UNNAMED
    ) -> dict[str, str]:
        """Return, for ids that end with the first digits of a text's hash, a chunk with that text.

        The hash begins behind so many letters of a ``prefix``. Ids that are chunks themselves, or
        whose text nobody knows, are left out; of several chunks with one text the first counts.
        They are those of a ``chunking``.
        """
        wanted = {chunk_id[prefix:]: chunk_id for chunk_id in made}
        rows = self._rows(
            "SELECT substr(text_hash, 1, ?), chunk_id FROM chunks WHERE substr(text_hash, 1, ?) "
            "IN (SELECT value FROM json_each(?)) "
            "AND chunking IS (SELECT id FROM chunkings WHERE name = ?) ORDER BY id DESC",
            [digits, digits, as_json(sorted(wanted)), chunking],
        )
        found = {wanted[digest]: chunk_id for digest, chunk_id in rows}
        return {given: chunk_id for given, chunk_id in found.items() if given != chunk_id}

    def ungraded(self) -> list[Ungraded]:
        """Return the pairs that a file put into the pool and that still nobody graded."""
        return [Ungraded(*row) for row in self._rows(_UNGRADED)]

    def _put_ungraded(self, loaded: Loaded[Ungraded]) -> int:
        """Note pairs that are in the pool without a grade; return how many are new."""
        before = self._db.conn.total_changes
        self._db.conn.executemany(
            "INSERT INTO ungraded (query, chunk) SELECT q.id, c.id FROM queries AS q, chunks AS c "
            "WHERE q.query_id = ? AND c.chunk_id = ? ON CONFLICT DO NOTHING",
            ((each.query_id, each.chunk_id) for each in loaded.records),
        )
        return int(self._db.conn.total_changes - before)

    def run_lists(self, name: str) -> list[Ranking]:
        """Return a run's lists as they were loaded, in the order of the queries.

        Those of queries that the golden set does not have come last. May raise `NotFound`.
        """
        with self._reading():
            rows = self._rows(
                "SELECT l.query_id, l.chunks, l.scores FROM ranked_lists AS l "
                "JOIN runs AS r ON r.id = l.run LEFT JOIN queries AS q ON q.query_id = l.query_id "
                "WHERE r.name = ? ORDER BY q.id IS NULL, q.id, l.query_id",
                [name],
            )
            names = ", ".join(self.run_names()) or "none"
            chunk_ids = dict(self._rows("SELECT id, chunk_id FROM chunks")) if rows else {}
        if not rows:
            raise NotFound(f"there is no run named {name!r}; there are: {names}")
        return [_ranking(row, chunk_ids) for row in rows]


def _ranking(row: tuple[str, bytes, bytes | None], chunk_ids: Mapping[int, str]) -> Ranking:
    query_id, chunks, scores = row
    ids = tuple(chunk_ids[number] for number in np.frombuffer(chunks, "<i4").tolist())
    if scores is None:
        return Ranking(query_id, ids)
    # the shortest digits that are this 32-bit number, and not those of its 64-bit twin
    return Ranking(query_id, ids, tuple(float(str(each)) for each in np.frombuffer(scores, "<f4")))
