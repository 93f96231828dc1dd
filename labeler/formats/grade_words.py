"""Words as grades: which values are words, a map that names their grades, and what is proposed."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress

_LONGEST = 60
_OFTEN = {
    0: "not relevant|irrelevant|nonrelevant|non relevant|unrelated|off topic|no|false|bad|none|"
    "wrong|negative|n|i",
    1: "partially relevant|partially|partial|partly relevant|partly|somewhat relevant|somewhat|"
    "marginally relevant|marginal|slightly relevant|slightly|weakly relevant|weak|related|fair|"
    "maybe|complement|c",
    2: "relevant|fairly relevant|mostly relevant|yes|true|good|correct|right|positive|substitute|"
    "y|s",
    3: "highly relevant|high|very relevant|very good|perfectly relevant|perfect|fully relevant|"
    "fully|excellent|exact|best|vital|e",
}
_USUAL = {word: grade for grade, words in _OFTEN.items() for word in words.split("|")}


class WordMap(dict[float, int]):
    """A grade map in which words have grades, too."""

    def __init__(self, numbers: Mapping[float, int], words: Mapping[str, int]) -> None:
        """Take the grades of numbers, and those of words, however these are written."""
        super().__init__(numbers)
        self.words = {fold_word(word): grade for word, grade in words.items()}

    def __bool__(self) -> bool:
        return bool(len(self) or self.words)


def fold_word(word: str) -> str:
    """Return a word without what does not matter: case, hyphens, repeated blanks.

    >>> fold_word(" Non-relevant "), fold_word("NOT_RELEVANT")
    ('non relevant', 'not relevant')
    """
    return " ".join(word.replace("-", " ").replace("_", " ").casefold().split())


def as_word(value: object) -> str | None:
    """Return a value that is a word as it is written, None for all others, such as numbers.

    >>> as_word("Partially relevant "), as_word(True), as_word("3e2"), as_word("nan"), as_word(2)
    ('Partially relevant', 'true', None, None, None)
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return None
    word = value.strip()
    if (
        not word[:1].isalpha()
        or len(word) > _LONGEST
        or not word.isprintable()
        or {*word} & {*",="}
    ):
        return None
    with suppress(ValueError):
        float(word)  # nan and inf
        return None
    return word


def propose_words(words: Collection[str]) -> dict[str, int] | None:
    """Return the grade that each word usually means; None where one of them is not known.

    >>> propose_words(["Relevant", "not relevant"])
    {'not relevant': 0, 'Relevant': 1}
    >>> propose_words(["E", "S", "C", "I"])
    {'I': 0, 'C': 1, 'S': 2, 'E': 3}
    """
    found = {word: _USUAL.get(fold_word(word)) for word in words}
    grades = {word: grade for word, grade in found.items() if grade is not None}
    if len(grades) < len(found):
        return None
    if {*grades.values()} <= {0, 2}:  # yes or no
        grades = {word: min(grade, 1) for word, grade in grades.items()}
    return dict(sorted(grades.items(), key=lambda each: each[1]))


def as_pairs(grades: Mapping[str, int] | Mapping[float, int]) -> str:
    """Return a map as ``--grade-map`` takes it from a shell.

    >>> as_pairs({0.5: 1, 1.0: 3}), as_pairs({"not relevant": 0, "relevant": 1})
    ('0.5=1,1=3', "'not relevant=0,relevant=1'")
    """
    pairs = ",".join(
        f"{old if isinstance(old, str) else exact(old)}={new}" for old, new in grades.items()
    )
    return shlex.quote(pairs) if any(isinstance(old, str) for old in grades) else pairs


def exact(number: float) -> str:
    """Return a number in as few digits as read back as the same number.

    >>> exact(0.3), exact(0.1 + 0.2), exact(4.0)
    ('0.3', '0.30000000000000004', '4')
    """
    short = f"{number:.15g}"
    return short if float(short) == number or math.isnan(number) else repr(number)
