"""Finds chunks by their words, whether or not a run has found them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from labeler.store.connection import Connection


class Search(Connection):
    """Full-text search over the chunks that have text."""

    def search_chunks(self, words: str, limit: int) -> list[int]:
        """Return the numbers of the chunks that match best, those with all words first.

        The last word may be the beginning of one. Case and accents do not count.
        """
        sought = words_in(words)
        if not sought:
            return []
        found = dict.fromkeys(self._matches(sought, limit, all_of=True))
        if len(found) < limit and len(sought) > 1:
            found |= dict.fromkeys(self._matches(sought, limit, all_of=False))
        return list(found)[:limit]

    def _matches(self, sought: Sequence[str], limit: int, *, all_of: bool) -> list[int]:
        with self._translated():
            return self._engine.search(self._db, sought, all_of=all_of, most=limit)


def words_in(text: str) -> list[str]:
    """Return the words of a text, in which nothing is left that a database could take for more.

    >>> words_in('refund OR "late')
    ['refund', 'OR', 'late']
    """
    return re.findall(r"[^\W_]+", text)
