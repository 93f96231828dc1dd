"""Summary of all failing queries: ranking or recall, what reranking did, and exact-match queries.

An exact-match query names something letter by letter, such as a code, a part number or a name.
Embeddings do not separate such words well: words of similar form or meaning get close vectors.
Where the relevant chunks of such a query are not retrieved, hybrid search is worth trying.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labeler.analysis.failures.diagnosis import (
    GENERATION,
    NEVER_RETRIEVED,
    OTHER_RUN_ONLY,
    TOO_FEW,
    Failure,
    FailureClass,
    FailureSide,
    classes_to_count,
)
from labeler.analysis.failures.relevant_positions import RelevantPositions, describe_positions
from labeler.evaluation import Scoreboard
from labeler.model import format_list

FailuresByQuery = Mapping[str, Failure | None]
SIDE_MEANINGS: Mapping[FailureSide, tuple[str, str]] = {
    "ranking": ("ranking", "relevant chunks are in the list, in a poor order: a reranker can help"),
    "recall": ("recall", "they are not in the list, or too few: no reranker can help"),
    "unknown": ("unknown", "no relevant chunk is known"),
    "generation": ("answers", "it is in the prompt, and the answer is wrong"),
}
"""The name of each side of a `FailureClass`, and what it means for queries."""
LEFT_OUT = "left out"
RERANKING_EFFECTS: Mapping[str, str] = {
    "recall": "what is needed is in neither list: reranking did not help, so it is recall",
    LEFT_OUT: "what is needed is in {a}'s list, and {b} left it out: keep more of what is reranked",
    "ranking": "what is needed is in the list, and reranking did not bring it up",
}
"""What reranking did for a query that fails in A and in B, of which it needs the names."""


def describe_failures(found: FailuresByQuery, where: str) -> list[str]:
    """Describe how many queries fail, and whether by ranking, recall or missing grades.

    ``where`` is the rule by which a query fails, as `describe_rule` words it.

    >>> describe_failures({"q1": None, "q2": None}, "RR is below 0.5")
    ['0 of 2 graded queries fail; one fails where RR is below 0.5']
    """
    sides = [each.failure.side for each in found.values() if each is not None]
    if not sides:
        return [f"0 of {len(found):,} graded queries fail; one fails where {where}"]
    missed = [each for each in found.values() if each and each.failure is not GENERATION]
    matters = [
        f"{name} {sides.count(side):,} ({meaning})"
        for side, (name, meaning) in SIDE_MEANINGS.items()
        if side in sides
    ]
    places = describe_positions(each.places for each in missed)
    if 0 < len(missed) < len(sides):
        places = f"without the wrong answers, {places}"
    return [
        f"{len(sides):,} of {len(found):,} graded queries fail: {where}",
        " · ".join(matters),
        places,
    ]


class ClassTally(NamedTuple):
    """The failing queries of one class: how many, and where their known relevant chunks are.

    Of these chunks ``top`` are in the top k of the lists, ``below`` further down, and ``missed``
    not in the run. ``mostly_unjudged`` counts the queries whose top k is more than half unjudged.
    """

    queries: int
    top: int
    below: int
    missed: int
    mostly_unjudged: int


def tally_classes(found: FailuresByQuery) -> dict[FailureClass, ClassTally]:
    """Return the tally of every class, with or without queries, the most frequent first."""
    failing = [each for each in found.values() if each is not None]
    made = {
        kind: _tally([each.places for each in failing if each.failure is kind])
        for kind in classes_to_count([each.failure for each in failing])
    }
    return dict(sorted(made.items(), key=lambda pair: -pair[1].queries))


def _tally(each: Sequence[RelevantPositions]) -> ClassTally:
    return ClassTally(
        len(each),
        sum(one.top for one in each),
        sum(one.below for one in each),
        sum(one.elsewhere + one.nowhere for one in each),
        sum(one.mostly_unjudged for one in each),
    )


def describe_reranking(
    board: Scoreboard,
    a: str,
    b: str,
    in_a: FailuresByQuery,
    in_b: FailuresByQuery,
    which: str = "fail in both",
    names: tuple[str, str] | None = None,
) -> str:
    """Describe what reranking did for the queries that fail in A and in B, by the same rule.

    Only queries whose chunks in B are all in A's list as well are counted; "" if there are none.
    ``which`` says in words which queries the rule found. ``names`` are what A and B are called.
    """
    first, second = names or (a, b)
    both = [(here, each) for name, each in in_b.items() if each and (here := in_a.get(name))]
    within = [
        _reranking_effect(*each) for each in both if _has_only_chunks_of(board, a, b, each[1])
    ]
    if not within:
        return ""
    of = "all" if len(both) == len(within) > 1 else f"{len(within):,} of"
    found = f"{of} {len(both):,} queries that {which}"
    parts = [f"{second} holds nothing that {first} did not find in {found}"]
    parts += [
        f"for {within.count(what):,} {effect.format(a=first, b=second)}"
        for what, effect in RERANKING_EFFECTS.items()
        if what in within
    ]
    if others := within.count(""):
        parts.append(f"for {others:,} that is unknown")
    return "; ".join(parts)


def describe_reranking_of_query(
    board: Scoreboard,
    a: str,
    b: str,
    in_a: Failure | None,
    in_b: Failure | None,
    names: tuple[str, str] | None = None,
) -> str:
    """Describe what reranking did for one query that fails in both, as `describe_reranking`."""
    if in_a is None or in_b is None or not _has_only_chunks_of(board, a, b, in_b):
        return ""
    if not (what := _reranking_effect(in_a, in_b)):
        return ""
    first, second = names or (a, b)
    effect = RERANKING_EFFECTS[what].format(a=first, b=second)
    return f"{second} holds nothing here that {first} did not find; {effect}"


def _reranking_effect(in_a: Failure, in_b: Failure) -> str:
    """Return a key of `RERANKING_EFFECTS`; "" if B fails neither by ranking nor by recall."""
    a, b = in_a.failure.side, in_b.failure.side
    if b == "recall" and a == "ranking":  # A's list has enough relevant chunks, in the wrong order
        return LEFT_OUT
    return b if b in RERANKING_EFFECTS else ""


def _has_only_chunks_of(board: Scoreboard, a: str, b: str, failure: Failure) -> bool:
    in_a, in_b = (board.chunks(run, failure.query_id) for run in (a, b))
    return len(in_b) > 0 and bool(np.isin(in_b, in_a).all())


HYBRID_ADVICE = "hybrid search, which matches letters beside meanings, finds such words"
NOT_RETRIEVED = (NEVER_RETRIEVED, OTHER_RUN_ONLY, TOO_FEW)
MOST_NAMED = 3  # words or queries in a sentence

_WORD = re.compile(r"[^\s,;()\[\]{}\"“”„«»]+")
_ENDS = ".?!:…"
_EDGES = f"{_ENDS}'’‘"
# Common German words: nearly every German question has one of them.
_NOUNS_HAVE_CAPITALS = {
    *("der", "das", "ein", "eine", "einen", "ich", "wir", "ist", "für", "mit", "nicht"),
    *("wie", "mein", "meine", "und", "oder", "zum", "zur"),
}
_AMOUNT = re.compile(r"[+-]?[\d.,/]+[^\W\d_]{0,4}|\d+(?:st|nd|rd|th)|\d+[x×]\d+", re.IGNORECASE)
_NUMBER = re.compile(r"\d{5,}|\d+(?:-\d+){2,}")


def exact_words(text: str) -> list[str]:
    """Return the words of a query that name one thing and have one spelling.

    Codes and part numbers mix letters with digits or are long numbers; amounts such as 10kg do not
    count. Names are capitalised words in a query whose other words are not; where all nouns are
    capitalised, as in German, or most words, as in a headline, only capitals inside a word count.

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


def exact_match_advice(failure: Failure, text: str) -> str:
    """Return what else to try for a failing exact-match query; empty for other queries.

    Also empty if enough of the relevant chunks are in the list.
    """
    named = exact_words(text) if failure.failure in NOT_RETRIEVED else []
    if not named:
        return ""
    return f"It names {format_list(named, MOST_NAMED)} letter by letter: {HYBRID_ADVICE}."


def describe_exact_queries(found: Mapping[str, Failure | None], texts: Mapping[str, str]) -> str:
    """Describe how many failing queries are exact-match queries whose chunks were not retrieved."""
    missed = {name for name, each in found.items() if each and each.failure in NOT_RETRIEVED}
    named = {name: exact_words(texts.get(name, "")) for name in missed}
    exact = {name: named[name] for name in sorted(missed) if named[name]}
    if not exact:
        return ""
    such = [f"{words[0]} in {name}" for name, words in exact.items()]
    some = f"{len(exact):,} of {len(missed):,} queries whose relevant chunks are not retrieved"
    if len(missed) == 1:
        some = "the one query whose relevant chunks are not retrieved"
    verb = "names" if len(exact) == 1 else "name"
    return (
        f"{some} {verb} something letter by letter ({format_list(such, MOST_NAMED)}): "
        f"{HYBRID_ADVICE}"
    )
