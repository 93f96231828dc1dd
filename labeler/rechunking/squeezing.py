"""Texts without white space and in one Unicode form, and where their characters stood before."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Span = tuple[int, int]

_KEPT = 16  # documents whose chunks are looked at one after the other
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_SAID = re.compile(r"[^\W_]")


def squeezed(text: str) -> str:
    """Return a text as it is compared: without white space, decomposed as Unicode's NFKD has it.

    Characters nobody sees, such as soft hyphens, are left out, too. Case and punctuation stay.

    >>> squeezed("ﬁ rst\\n\\tＡＰＩ") == squeezed("first API")
    True
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).translate(_UNSEEN)
    return "".join(text.split())


@lru_cache(maxsize=_KEPT)
def origins(text: str) -> Numbers:
    """Return for each character of the squeezed text where in ``text`` it comes from.

    >>> origins("a b").tolist()
    [0, 2]
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds, kind = np.unique(codes, return_inverse=True)
    sizes = np.array([len(squeezed(chr(code))) for code in kinds.tolist()], dtype=np.int64)
    return np.repeat(np.arange(len(codes)), sizes[kind] if len(codes) else 0)


def spans_squeezed(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return half-open spans of a text as spans of the squeezed text; one may hold nothing there.

    >>> spans_squeezed("to be or", [(3, 8)])
    [(2, 6)]
    """
    found = np.searchsorted(origins(text), np.array(spans, dtype=np.int64).reshape(-1, 2))
    return [(start, end) for start, end in found.tolist()]


def spans_in(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans of the squeezed text as spans of ``text``, without white space at their ends.

    >>> spans_in("to be or", [(2, 6)])
    [(3, 8)]
    """
    stood = origins(text)
    return [(int(stood[start]), int(stood[end - 1]) + 1) for start, end in spans if end > start]


def sizes_in(text: str, spans: Sequence[Span]) -> list[int]:
    """Return how many characters of ``text`` spans of the squeezed text take, up to the next one.

    >>> sizes_in("to  be", [(0, 2), (2, 4)])
    [4, 2]
    """
    stood = np.append(origins(text), len(text))
    return [int(stood[end] - stood[start]) for start, end in spans]


def says_something(text: str) -> bool:
    """Say whether there is a letter or a digit in it, and not only punctuation.

    >>> says_something("| -- |"), says_something("№ 5")
    (False, True)
    """
    return _SAID.search(text) is not None
