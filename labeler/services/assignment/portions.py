"""How much is handed out at once: texts are cut, lists are given in parts, an answer stays small.

Knows no request and no query; what is left out is asked for alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

LONGEST_TEXT = 20_000  # characters of a chunk that is read alone, before one reads on
LONGEST_IN_LIST = 8_000  # of one among others
LONGEST_HELP = 50_000  # of a query's text, its guideline or its reference
LONGEST_NAME = 2_000  # of a title or a document's id
MOST_LISTED = 200  # chunks of a list
PIECE = 300_000  # characters of a text at a time, for who reads on: six bytes each at worst
MOST_BYTES = 900_000  # of a list of chunks with their queries; an answer has two at most
ELLIPSIS = "…"


def beginning(text: str | None, most: int) -> str | None:
    """Return a text, or its beginning and an ellipsis where it is longer.

    >>> beginning("abcdef", 3), beginning("abc", 3), beginning(None, 3)
    ('abc…', 'abc', None)
    """
    return text if text is None or len(text) <= most else text[:most] + ELLIPSIS


def fitting(sizes: Iterable[int], most: int = MOST_BYTES) -> int:
    """Return how many of the first things fit; the first always does.

    >>> fitting([5, 5, 5], 11), fitting([50, 1], 11), fitting([])
    (2, 1, 0)
    """
    count = total = 0
    for size in sizes:
        total += size
        if total > most and count:
            break
        count += 1
    return count


def size_of(answer: object) -> int:
    """Return how many bytes a part of an answer takes."""
    return len(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
