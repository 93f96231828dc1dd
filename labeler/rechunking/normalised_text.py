"""Normalised text, without white space and in one Unicode form, and half-open spans of positions.

Chunkers change white space and Unicode form, so texts are compared without both. The functions
here turn positions in a text into positions in its normalised form, and back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Span = tuple[int, int]

_DOCUMENTS_KEPT = 16  # the chunks of a document are usually handled one after the other
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_WORD_CHARACTER = re.compile(r"[^\W_]")


def normalised(text: str) -> str:
    """Return a text in the form used for comparison: no white space, Unicode form NFKD.

    Invisible characters, such as soft hyphens, are removed. Case and punctuation are kept.

    >>> normalised("ﬁ rst\\n\\tＡＰＩ") == normalised("first API")
    True
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).translate(_INVISIBLE)
    return "".join(text.split())


@lru_cache(maxsize=_DOCUMENTS_KEPT)
def original_positions(text: str) -> Numbers:
    """Return for each character of the normalised text its position in ``text``.

    >>> original_positions("a b").tolist()
    [0, 2]
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds, kind = np.unique(codes, return_inverse=True)
    sizes = np.array([len(normalised(chr(code))) for code in kinds.tolist()], dtype=np.int64)
    return np.repeat(np.arange(len(codes)), sizes[kind] if len(codes) else 0)


def spans_in_normalised(text: str, spans: Sequence[Span]) -> list[Span]:
    """Convert half-open spans of a text to the normalised text; a span may become empty.

    >>> spans_in_normalised("to be or", [(3, 8)])
    [(2, 6)]
    """
    found = np.searchsorted(
        original_positions(text), np.array(spans, dtype=np.int64).reshape(-1, 2)
    )
    return [(start, end) for start, end in found.tolist()]


def spans_in_original(text: str, spans: Sequence[Span]) -> list[Span]:
    """Convert spans of the normalised text to ``text``, without white space at their ends.

    >>> spans_in_original("to be or", [(2, 6)])
    [(3, 8)]
    """
    positions = original_positions(text)
    return [
        (int(positions[start]), int(positions[end - 1]) + 1) for start, end in spans if end > start
    ]


def sizes_in_original(text: str, spans: Sequence[Span]) -> list[int]:
    """Return the number of characters of ``text`` in spans, with white space after each character.

    >>> sizes_in_original("to  be", [(0, 2), (2, 4)])
    [4, 2]
    """
    positions = np.append(original_positions(text), len(text))
    return [int(positions[end] - positions[start]) for start, end in spans]


def has_words(text: str) -> bool:
    """Say whether a text has a letter or a digit, not only punctuation.

    >>> has_words("| -- |"), has_words("№ 5")
    (False, True)
    """
    return _WORD_CHARACTER.search(text) is not None


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, joining those that overlap or touch.

    >>> merge_spans([(5, 9), (0, 5), (20, 30), (12, 12)])
    [(0, 9), (20, 30)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def intersect_spans(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return the overlap of two lists of spans; both must be merged, and so is the result.

    >>> intersect_spans([(0, 9), (20, 30)], [(5, 25)])
    [(5, 9), (20, 25)]
    """
    found = []
    at = 0
    for start, end in some:
        while at < len(others) and others[at][1] <= start:
            at += 1
        reached = at
        while reached < len(others) and others[reached][0] < end:
            found.append((max(start, others[reached][0]), min(end, others[reached][1])))
            reached += 1
    return found


def subtract_spans(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return the parts of the first spans that the others do not cover; both must be merged.

    >>> subtract_spans([(0, 9), (20, 30)], [(5, 25)])
    [(0, 5), (25, 30)]
    """
    found = []
    for start, end in some:
        for other in intersect_spans([(start, end)], others):
            found.append((start, other[0]))
            start = other[1]
        found.append((start, end))
    return [span for span in found if span[0] < span[1]]


def total_length(spans: Iterable[Span]) -> int:
    """Return the total length of spans that do not overlap.

    >>> total_length([(0, 9), (20, 30)])
    19
    """
    return sum(end - start for start, end in spans)
