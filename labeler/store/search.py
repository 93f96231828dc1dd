"""Finds chunks by their words, whether or not a run has found them."""

from __future__ import annotations

import re

from labeler.store.connection import Connection

# a word in the title weighs more than one in the text
MATCHES = """
SELECT rowid FROM chunk_words WHERE chunk_words MATCH ?
ORDER BY bm25(chunk_words, 3.0, 1.0), rowid LIMIT ?
"""


class Search(Connection):
    """Full-text search over the chunks that have text."""

    def search_chunks(self, words: str, limit: int) -> list[int]:
        """Return the numbers of the chunks that match best, those with all words first.

        The last word may be the beginning of one. Case and accents do not count.
        """
        terms = terms_of(words)
        if not terms:
            return []
        found = dict.fromkeys(self._matches(" AND ".join(terms), limit))
        if len(found) < limit and len(terms) > 1:
            found |= dict.fromkeys(self._matches(" OR ".join(terms), limit))
        return list(found)[:limit]

    def _matches(self, expression: str, limit: int) -> list[int]:
        return [number for (number,) in self._rows(MATCHES, [expression, limit])]


def terms_of(words: str) -> list[str]:
    """Return the words as terms of FTS5's language, quoted so that none is an operator.

    >>> terms_of('refund OR "late')
    ['"refund"', '"OR"', '"late"*']
    """
    found = re.findall(r"[^\W_]+", words)
    terms = [f'"{word}"' for word in found]
    return [*terms[:-1], f"{terms[-1]}*"] if terms else []
