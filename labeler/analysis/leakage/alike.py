"""Which texts of one set are nearly the same, each with each; looks into no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel

from labeler.analysis.leakage.words import THRESHOLD, Vocabulary, check_threshold, letters, words_of

_ROWS = 256
MOST_COMPARED = 3_000  # texts each with each: beyond, it takes longer than a glance


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


def count_alike(texts: Sequence[str]) -> int | None:
    """Count the pairs of texts that are nearly the same; None where that takes too long."""
    return sum(1 for _ in alike_texts(texts)) if len(texts) <= MOST_COMPARED else None


def nearest_texts(
    texts: Sequence[str], others: Sequence[str], threshold: float = THRESHOLD
) -> list[tuple[int, float] | None]:
    """Return for each text which of the ``others`` is nearest to it, and its score.

    None where none reaches the threshold; of equally near ones the first.

    >>> nearest_texts(["reset password?", "Why?"], ["Where is it?", "Reset password"])
    [(1, 1.0), None]
    """
    check_threshold(threshold)
    words = [words_of(text) for text in (*others, *texts)]
    vocabulary = Vocabulary(words)
    written = [letters(vocabulary.numbers(each)) for each in words]
    against, asked = written[: len(others)], written[len(others) :]
    found: list[tuple[int, float] | None] = []
    for start in range(0, len(asked) if against else 0, _ROWS):
        scores = process.cdist(
            asked[start : start + _ROWS],
            against,
            scorer=Indel.normalized_similarity,
            score_cutoff=threshold - 1e-9,
            dtype=np.float64,
        )
        scores[:, [not each for each in against]] = 0
        best = scores.argmax(axis=1)
        for row, column in enumerate(best):
            score = float(scores[row, column])
            is_near = bool(asked[start + row]) and score > 0
            found.append((int(column), score) if is_near else None)
    return found or [None] * len(texts)
