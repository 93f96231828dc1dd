"""Finds chunks by their words, whether or not a run has found them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from labeler.store.connection import Connection

# By number, as runs and chunks have them; the unnamed one is 0.
ASKED = """
SELECT DISTINCT coalesce(r.chunking, 0) FROM runs AS r
WHERE EXISTS (SELECT 1 FROM ranked_lists AS l WHERE l.run = r.id AND l.query_id = ?)
"""


class Search(Connection):
    """Full-text search over the chunks that have text."""

    def search_chunks(self, words: str, limit: int, query_id: str | None = None) -> list[int]:
        """Return the numbers of the chunks that match best, those with all words first.

        The last word may be the beginning of one. Case and accents do not count. For a query only
        the chunkings are searched whose runs have a list for it, all of them where none has one.
        """
        sought = words_in(words)
        if not sought:
            return []
        among = self._asked_for(query_id)
        found = dict.fromkeys(self._matches(sought, limit, among, all_of=True))
        if len(found) < limit and len(sought) > 1:
            found |= dict.fromkeys(self._matches(sought, limit, among, all_of=False))
        return list(found)[:limit]

    def _asked_for(self, query_id: str | None) -> list[int] | None:
        """Return the chunkings that are asked for by a query's runs, None for all there are."""
        if query_id is None or self._value("SELECT 1 FROM chunkings LIMIT 1") is None:
            return None
        return [number for (number,) in self._rows(ASKED, [query_id])] or None

    def _matches(
        self, sought: Sequence[str], limit: int, among: Sequence[int] | None, *, all_of: bool
    ) -> list[int]:
        with self._translated():
            return self._engine.search(self._db, sought, all_of=all_of, most=limit, among=among)


def words_in(text: str) -> list[str]:
    """Return the words of a text, in which nothing is left that a database could take for more.

    >>> words_in('refund OR "late')
    ['refund', 'OR', 'late']
    """
    return re.findall(r"[^\W_]+", text)
