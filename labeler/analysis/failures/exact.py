"""Queries that name something letter by letter: codes, part numbers, names; knows no run.

Embeddings blur such words: what means nearly the same stands near them, and so does what looks
nearly the same. So where a query with one is a matter of recall, hybrid search is the lever.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from labeler.analysis.failures.classes import NEVER_RETRIEVED, OTHER_RUN_ONLY, TOO_FEW
from labeler.analysis.failures.failures import Failure
from labeler.model import listed

LEVER = "hybrid search, which matches letters beside meanings, finds such words"
BY_LETTERS = (NEVER_RETRIEVED, OTHER_RUN_ONLY, TOO_FEW)
TOLD = 3  # words and queries that a sentence names

_WORD = re.compile(r"[^\s,;()\[\]{}\"“”„«»]+")
_ENDS = ".?!:…"
_EDGES = f"{_ENDS}'’‘"
# little words of German, one of which nearly every question holds
_NOUNS_HAVE_CAPITALS = {
    *("der", "das", "ein", "eine", "einen", "ich", "wir", "ist", "für", "mit", "nicht"),
    *("wie", "mein", "meine", "und", "oder", "zum", "zur"),
}
_AMOUNT = re.compile(r"[+-]?[\d.,/]+[^\W\d_]{0,4}|\d+(?:st|nd|rd|th)|\d+[x×]\d+", re.IGNORECASE)
_NUMBER = re.compile(r"\d{5,}|\d+(?:-\d+){2,}")


def exact_words(text: str) -> list[str]:
    """Return the words of a query that stand for one thing and are written in one way.

    Codes and part numbers mix letters with digits or are long numbers; amounts such as 10kg are
    none. Names have capitals where the query's other words have not; where all nouns have one, as
    in German, or most words, as in a headline, only capitals inside a word tell.

    >>> exact_words("Osprey shows E07, 2nd time in 10kg"), exact_words("part AB-1200 or 4006381")
    (['E07'], ['AB-1200', '4006381'])
    >>> exact_words("does TravelGuard cover a trip to New York?"), exact_words("Wo ist mein Paket")
    (['TravelGuard', 'New York'], [])
    """
    written = _WORD.findall(text)
    words = [word.strip(_EDGES) for word in written]
    is_plain = sum(word[:1].islower() for word in words) * 2 > len(words)
    is_plain = is_plain and _NOUNS_HAVE_CAPITALS.isdisjoint(words)
    found: list[str] = []
    goes_on = False
    for at, word in enumerate(words):
        begins = not at or written[at - 1][-1] in _ENDS
        is_name = is_plain and not begins and _is_name(word)
        if is_name and goes_on:
            found[-1] += f" {word}"
        elif is_name or _is_code(word) or _is_camel(word):
            found.append(word)
        goes_on = is_name
    return list(dict.fromkeys(found))


def _is_code(word: str) -> bool:
    if _AMOUNT.fullmatch(word):
        return bool(_NUMBER.fullmatch(word))
    has_letter, has_digit = any(map(str.isalpha, word)), any(map(str.isdigit, word))
    is_joined = "_" in word.strip("_") or word.startswith("--")
    return (has_letter and (has_digit or is_joined)) or bool(_NUMBER.fullmatch(word))


def _is_camel(word: str) -> bool:
    return word[:1].isalpha() and bool(re.search(r"[a-z][A-Z]", word))


def _is_name(word: str) -> bool:
    return len(word) > 2 and word[0].isupper() and word.isalpha()


def exact_lever(failure: Failure, text: str) -> str:
    """Return what else to try for a query that fails; nothing where letters are not the matter.

    It is for one whose relevant chunks, or too many of them, are not in the list.
    """
    named = exact_words(text) if failure.failure in BY_LETTERS else []
    if not named:
        return ""
    return f"It names {listed(named, TOLD)} letter by letter: {LEVER}."


def exact_in_words(found: Mapping[str, Failure | None], texts: Mapping[str, str]) -> str:
    """Say how many of the failing queries name something letter by letter that was not retrieved.

    Nothing where none does.
    """
    missed = {name for name, each in found.items() if each and each.failure in BY_LETTERS}
    named = {name: exact_words(texts.get(name, "")) for name in missed}
    exact = {name: named[name] for name in sorted(missed) if named[name]}
    if not exact:
        return ""
    such = [f"{words[0]} in {name}" for name, words in exact.items()]
    some = f"{len(exact):,} of {len(missed):,} queries whose relevant chunks are not retrieved"
    if len(missed) == 1:
        some = "the one query whose relevant chunks are not retrieved"
    verb = "names" if len(exact) == 1 else "name"
    return f"{some} {verb} something letter by letter ({listed(such, TOLD)}): {LEVER}"
