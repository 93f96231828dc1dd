"""Which texts of one set are nearly the same, each with each; looks into no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel

from labeler.leakage.words import THRESHOLD, Vocabulary, check_threshold, letters, words_of

_ROWS = 256


class Alike(NamedTuple):
    """Two texts by number, the earlier first; ``score`` is the share of words both have.

    They are in the same order, and counted twice by the words of both: 1 where all are the same.
    """

    first: int
    second: int
    score: float


def alike_texts(texts: Sequence[str], threshold: float = THRESHOLD) -> Iterator[Alike]:
    """Give the pairs of texts that are nearly the same, by the order of the first.

    Case, white space and punctuation do not count. A text without words is like nothing else.

    >>> list(alike_texts(["Reset my password", "reset  my password!", "Where is it?"]))
    [Alike(first=0, second=1, score=1.0)]
    """
    check_threshold(threshold)
    words = [words_of(text) for text in texts]
    vocabulary = Vocabulary(words)
    written = [letters(vocabulary.numbers(each)) for each in words]
    full = [number for number, each in enumerate(written) if each]
    kept = [written[number] for number in full]
    for start in range(0, len(kept), _ROWS):
        scores = process.cdist(
            kept[start : start + _ROWS],
            kept[start:],
            scorer=Indel.normalized_similarity,
            score_cutoff=threshold - 1e-9,
            dtype=np.float64,
        )
        for row, column in zip(*np.nonzero(np.triu(scores, 1)), strict=True):
            score = float(scores[row, column])
            yield Alike(full[start + row], full[start + column], score)
