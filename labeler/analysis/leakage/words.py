"""Texts as words that can be compared, and as letters that stand for words; finds nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput

Numbers = npt.NDArray[np.int32]

THRESHOLD = 0.8
LEAST_THRESHOLD = 0.5
FEWEST_WORDS = 5  # a shorter text stands everywhere by chance: it counts where it stands alone
END = "\0"  # ends a passage: no text holds it
UNKNOWN, ENDED = -1, -2

_WORDS = re.compile(r"[^\W_]+|\0")
# Scripts without blanks between words: each of their letters is taken for one.
_UNSPACED = re.compile("([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff])")
_SURROGATES, _AFTER = 0xD800, 0xE000
_LETTERS = 0x110000 - (_AFTER - _SURROGATES) - 1


def words_of(text: str) -> list[str]:
    r"""Return a text's words, so that case, white space, punctuation and width do not count.

    Letters are taken as Unicode's NFKC has them. A letter of a script that sets no blanks between
    words is a word. ``\0``, which ends a passage, is one, too.

    >>> words_of("  What's the ﬁrst\tAPI?")
    ['what', 's', 'the', 'first', 'api']
    """
    folded = text.casefold()
    if not folded.isascii():
        folded = _UNSPACED.sub(r" \1 ", unicodedata.normalize("NFKC", folded))
    return _WORDS.findall(folded)


def check_threshold(threshold: float) -> float:
    """Return a share of words from which two texts are nearly the same, or raise `BadInput`."""
    if not LEAST_THRESHOLD <= threshold <= 1:
        raise BadInput(f"the threshold is a share from {LEAST_THRESHOLD} to 1, not {threshold}")
    return threshold


class Vocabulary:
    """Words by number, and by a letter of their own: texts of words become texts of letters."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._numbers: dict[str, int] = {}
        for words in texts:
            for word in words:
                self._numbers.setdefault(word, len(self._numbers))
        self._numbers[END] = ENDED

    def __len__(self) -> int:
        return len(self._numbers) - 1

    def numbers(self, words: Sequence[str]) -> Numbers:
        """Return each word's number, `UNKNOWN` for others and `ENDED` where a passage ends."""
        found = map(self._numbers.get, words, repeat(UNKNOWN))
        return np.fromiter(found, np.int32, len(words))


def letters(numbers: Numbers) -> str:
    r"""Return a letter for each number, so that what compares letters compares words.

    Unknown words are ``\0``. There are letters for a million words; beyond, two may share one.
    """
    code = np.where(numbers < 0, 0, numbers % _LETTERS + 1).astype("<u4")
    code[code >= _SURROGATES] += _AFTER - _SURROGATES
    return code.tobytes().decode("utf-32-le")
