"""Word-level text similarity: pairs of near-duplicates, and the nearest text of another list.

Each word becomes one letter, so that RapidFuzz compares texts word by word. Case, white space,
punctuation and full-width forms are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Indel

from labeler.errors import BadInput

WordNumbers = npt.NDArray[np.int32]

SIMILARITY_THRESHOLD = 0.8
LEAST_THRESHOLD = 0.5
FEWEST_WORDS = 5  # a shorter text may occur by chance: it must be a whole line or sentence
PASSAGE_END = "\0"  # ends a passage; occurs in no text
UNKNOWN_NUMBER, END_NUMBER = -1, -2

_WORD = re.compile(r"[^\W_]+|\0")
# Scripts without spaces between words: each letter counts as a word.
_UNSPACED = re.compile("([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff])")
_SURROGATES, _AFTER_SURROGATES = 0xD800, 0xE000
_LETTER_COUNT = 0x110000 - (_AFTER_SURROGATES - _SURROGATES) - 1


def comparable_words(text: str) -> list[str]:
    r"""Return a text's words; case, white space, punctuation and full-width forms are ignored.

    Letters are normalised to NFKC. In scripts without spaces between words each letter is a word.
    ``\0``, which ends a passage, is a word, too.

    >>> comparable_words("  What's the ﬁrst\tAPI?")
    ['what', 's', 'the', 'first', 'api']
    """
    folded = text.casefold()
    if not folded.isascii():
        folded = _UNSPACED.sub(r" \1 ", unicodedata.normalize("NFKC", folded))
    return _WORD.findall(folded)


def check_threshold(threshold: float) -> float:
    """Return a similarity threshold unchanged; raise `BadInput` if it is out of range."""
    if not LEAST_THRESHOLD <= threshold <= 1:
        raise BadInput(f"the threshold is a share from {LEAST_THRESHOLD} to 1, not {threshold}")
    return threshold


class Vocabulary:
    """Numbers for the distinct words of texts, so that texts can be compared as numbers."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._numbers: dict[str, int] = {}
        for words in texts:
            for word in words:
                self._numbers.setdefault(word, len(self._numbers))
        self._numbers[PASSAGE_END] = END_NUMBER

    def __len__(self) -> int:
        return len(self._numbers) - 1

    def numbers(self, words: Sequence[str]) -> WordNumbers:
        """Return each word's number, or `UNKNOWN_NUMBER`; a passage end is `END_NUMBER`."""
        found = map(self._numbers.get, words, repeat(UNKNOWN_NUMBER))
        return np.fromiter(found, np.int32, len(words))


def words_as_letters(numbers: WordNumbers) -> str:
    r"""Return a letter for each number, so that comparing letters compares words.

    Unknown words are ``\0``. There are letters for a million words; with more, two may share one.
    """
    code = np.where(numbers < 0, 0, numbers % _LETTER_COUNT + 1).astype("<u4")
    code[code >= _SURROGATES] += _AFTER_SURROGATES - _SURROGATES
    return code.tobytes().decode("utf-32-le")


_ROWS_AT_ONCE = 256
MOST_COMPARED = 3_000  # texts compared pairwise; more would take too long for a page


class SimilarPair(NamedTuple):
    """Two texts by number, the earlier first; ``score`` is the share of words in common.

    It is 2 L / (n + m), where L is the length of the longest common subsequence of words and n
    and m are the numbers of words: 1 if all words are the same.
    """

    first: int
    second: int
    score: float


def similar_pairs(
    texts: Sequence[str], threshold: float = SIMILARITY_THRESHOLD
) -> Iterator[SimilarPair]:
    """Yield the pairs of texts that are near-duplicates, in the order of their first text.

    Case, white space and punctuation do not count. A text without words matches none.

    >>> list(similar_pairs(["Reset my password", "reset  my password!", "Where is it?"]))
    [SimilarPair(first=0, second=1, score=1.0)]
    """
    check_threshold(threshold)
    words = [comparable_words(text) for text in texts]
    vocabulary = Vocabulary(words)
    written = [words_as_letters(vocabulary.numbers(each)) for each in words]
    full = [number for number, each in enumerate(written) if each]
    kept = [written[number] for number in full]
    for start in range(0, len(kept), _ROWS_AT_ONCE):
        scores = process.cdist(
            kept[start : start + _ROWS_AT_ONCE],
            kept[start:],
            scorer=Indel.normalized_similarity,
            score_cutoff=threshold - 1e-9,
            dtype=np.float64,
        )
        for row, column in zip(*np.nonzero(np.triu(scores, 1)), strict=True):
            score = float(scores[row, column])
            yield SimilarPair(full[start + row], full[start + column], score)


def count_similar_pairs(texts: Sequence[str]) -> int | None:
    """Count the pairs of texts that are nearly the same; None where it would take too long."""
    return sum(1 for _ in similar_pairs(texts)) if len(texts) <= MOST_COMPARED else None


def nearest_texts(
    texts: Sequence[str], others: Sequence[str], threshold: float = SIMILARITY_THRESHOLD
) -> list[tuple[int, float] | None]:
    """Return for each text the index of the nearest of ``others``, and its score.

    None if no other text reaches the threshold. Of equally near texts, the first is returned.

    >>> nearest_texts(["reset password?", "Why?"], ["Where is it?", "Reset password"])
    [(1, 1.0), None]
    """
    check_threshold(threshold)
    words = [comparable_words(text) for text in (*others, *texts)]
    vocabulary = Vocabulary(words)
    written = [words_as_letters(vocabulary.numbers(each)) for each in words]
    against, asked = written[: len(others)], written[len(others) :]
    found: list[tuple[int, float] | None] = []
    for start in range(0, len(asked) if against else 0, _ROWS_AT_ONCE):
        scores = process.cdist(
            asked[start : start + _ROWS_AT_ONCE],
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
