"""Texts of a golden set prepared for keyword search, and the folding of texts and keywords."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import groupby

from labeler.errors import BadInput


class Corpus:
    """The texts of a database, prepared for keyword search."""

    def __init__(self, texts: Mapping[int, str], *, substring: bool = False) -> None:
        """Prepare texts, given by number; with ``substring`` keywords match inside longer words.

        Otherwise a keyword matches whole words in their order, whatever separates them. Texts and
        keywords are folded, see `fold_text`.
        """
        self._folded = fold_text if substring else spaced_words
        self._texts = {number: self._folded(text) for number, text in texts.items()}
        self._counts: dict[str, int] = {}

    def only(self, numbers: Iterable[int]) -> Corpus:
        """Return a corpus of some of the texts."""
        part = Corpus({})
        part._folded = self._folded
        part._texts = {number: self._texts[number] for number in numbers if number in self._texts}
        return part

    def can_find(self, keyword: str) -> bool:
        """Return whether a keyword can be searched for; if not, other methods raise `BadInput`."""
        return bool(self._folded(keyword).strip())

    def holds(self, number: int, keyword: str) -> bool:
        """Return whether a chunk contains a keyword; False for a chunk without text."""
        return self._wanted(keyword) in self._texts.get(number, "")

    def count(self, keyword: str) -> int:
        """Return how many chunks of the database contain a keyword."""
        wanted = self._wanted(keyword)
        if wanted not in self._counts:
            self._counts[wanted] = sum(wanted in text for text in self._texts.values())
        return self._counts[wanted]

    def _wanted(self, keyword: str) -> str:
        wanted = self._folded(keyword)
        if not wanted.strip():
            raise BadInput(f"keyword {keyword!r} holds no letter or digit to look for")
        return wanted


def spaced_words(text: str) -> str:
    """Return a text's words, folded, each between spaces.

    A word is letters and digits with their combining marks, such as vowel signs; an underscore
    ends it, as any other character does.

    >>> spaced_words("Error E-104: reset")
    ' error e 104 reset '
    """
    return f" {' '.join(_word_pattern().findall(fold_text(text)))} "


def fold_text(text: str) -> str:
    """Return a text without the differences that do not count when searching for keywords.

    Those are case, the dot that case folding leaves on the i of İ (ı stays a different letter),
    whether an accent and its letter are one code point (NFC is returned), and invisible characters
    (zero-width joiners and variation selectors of emoji).

    >>> fold_text("İstanbul, Straße"), fold_text("cafe\u0301") == fold_text("CAF\u00c9")
    ('istanbul, strasse', True)
    """
    if text.isascii():
        return text.casefold()
    for unseen in _INVISIBLE:
        text = text.replace(unseen, "")
    plain = unicodedata.normalize("NFC", text).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFC", plain)


_INVISIBLE = "\u200c\u200d\ufe0e\ufe0f"


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word; `re` has no class for combining marks, so it lists them."""
    codes = (
        code for code in range(0x300, 0x1F000) if unicodedata.category(chr(code)) in ("Mn", "Mc")
    )
    runs = [list(run) for _, run in groupby(enumerate(codes), lambda each: each[1] - each[0])]
    marks = "".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in runs)
    # Most words end before a character below U+0300: the lookahead saves trying 300 ranges.
    return re.compile(rf"[^\W_]+(?:(?![\0-\u02ff])[{marks}][^\W_]*)*")
