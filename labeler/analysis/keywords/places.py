"""Keyword by keyword: where in each run the first chunk stands that holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labeler.analysis.keywords.corpus import Corpus
from labeler.analysis.keywords.scores import KeywordScore, keyword_scores
from labeler.evaluation import Scoreboard
from labeler.model import listed

ListOf = Callable[[str], Iterable[int]]
"""Gives a run's list of a query: numbers of chunks, best first."""
TOLD = 3  # keywords that a sentence names


class KeywordPlace(NamedTuple):
    """A keyword of a query: ``chunks`` of the database hold it (None: nobody has counted).

    ``ranks`` are those of the first chunk that does, by run, from 1; None where no chunk of the
    run's list holds it, at any depth.
    """

    query_id: str
    keyword: str
    chunks: int | None
    ranks: Mapping[str, int | None]

    @property
    def is_missed(self) -> bool:
        """Say whether no run has a chunk that holds it."""
        return all(rank is None for rank in self.ranks.values())

    def within(self, run: str, k: int) -> bool:
        """Say whether one of the first ``k`` chunks of a run holds it."""
        rank = self.ranks[run]
        return rank is not None and rank <= k

    def in_words(self, short: Mapping[str, str] | None = None) -> str:
        """Say where it is found. ``short`` are other names for runs, as they are shown.

        >>> KeywordPlace("q1", "TravelGuard", 3, {"a": None, "b": None}).in_words()
        'TravelGuard: found by no run (3 chunks of the database hold it)'
        >>> KeywordPlace("q1", "TravelGuard", 3, {"a": 2, "b": None}).in_words({"a": "A"})
        'TravelGuard: first at rank 2 in A; not in b'
        """
        if self.is_missed:
            known = "" if self.chunks is None else f" ({_holding(self.chunks)})"
            return f"{self.keyword}: found by no run{known}"
        return self.in_some(short)

    def in_some(self, short: Mapping[str, str] | None = None) -> str:
        """Say the same where there are other runs, which may find it.

        >>> KeywordPlace("q1", "TravelGuard", 3, {"a": None}).in_some()
        'TravelGuard: not in a'
        """
        short = short or {}
        there = [f"{rank} in {short.get(run, run)}" for run, rank in self.ranks.items() if rank]
        missing = [short.get(run, run) for run, rank in self.ranks.items() if rank is None]
        parts = [f"first at rank {', '.join(there)}"] if there else []
        parts += [f"not in {', '.join(missing)}"] if missing else []
        return f"{self.keyword}: {'; '.join(parts)}"


def _holding(chunks: int) -> str:
    if not chunks:
        return "no chunk of the database holds it"
    return (
        "1 chunk of the database holds it"
        if chunks == 1
        else (f"{chunks:,} chunks of the database hold it")
    )


class Corpora(NamedTuple):
    """The texts of all chunkings that are looked at, and those that each run could return."""

    whole: Corpus
    of_run: Mapping[str, Corpus]

    def scores(
        self, keywords: Mapping[str, Sequence[str]], lists: Mapping[str, ListOf], k: int
    ) -> dict[str, dict[str, KeywordScore]]:
        """Return each run's `keyword_scores` among what it could return."""
        return {
            run: keyword_scores(self.of_run[run], keywords, each, k) for run, each in lists.items()
        }


def corpora_of(board: Scoreboard, texts: Mapping[int, str], *, substring: bool = False) -> Corpora:
    """Return the texts, by number, as keywords are looked up in them: see `Corpus`.

    A chunk of another chunking than a run's own is nothing that it missed.
    """
    runs, sides = board.collection.runs, board.collection.sides
    if sides is not None:
        texts = {number: text for number, text in texts.items() if sides.of[number] >= 0}
    whole = Corpus(texts, substring=substring)
    if sides is None or len(sides.names) == 1:
        return Corpora(whole, {run.name: whole for run in runs})
    parts = {
        name: whole.only(np.flatnonzero(sides.of == at).tolist())
        for at, name in enumerate(sides.names)
    }
    return Corpora(whole, {run.name: parts[run.chunking] for run in runs})


def lists_of(board: Scoreboard, runs: Iterable[str]) -> dict[str, ListOf]:
    """Return what gives each run's list of a query."""

    def of(run: str) -> ListOf:
        return lambda query_id: board.chunks(run, query_id).tolist()

    return {run: of(run) for run in runs}


def keyword_places(
    corpus: Corpus, keywords: Mapping[str, Sequence[str]], lists: Mapping[str, ListOf]
) -> list[KeywordPlace]:
    """Look for each keyword of each query in the lists of all runs, whatever the rank.

    Keywords that cannot be looked for are left out, see `say_unusable`.

    >>> corpus = Corpus({1: "a cup", 2: "a kettle"})
    >>> [each] = keyword_places(corpus, {"q1": ["cup"]}, {"a": lambda _: [2, 1]})
    >>> each.chunks, dict(each.ranks)
    (1, {'a': 2})
    """
    found = []
    for query_id, words in keywords.items():
        ranked = {run: list(list_of(query_id)) for run, list_of in lists.items()}
        seen = {number for numbers in ranked.values() for number in numbers}
        for keyword in filter(corpus.can_find, words):
            holding = {number for number in seen if corpus.holds(number, keyword)}
            ranks = {run: _first(numbers, holding) for run, numbers in ranked.items()}
            found.append(KeywordPlace(query_id, keyword, corpus.count(keyword), ranks))
    return found


def _first(numbers: Sequence[int], holding: set[int]) -> int | None:
    return next((rank for rank, number in enumerate(numbers, 1) if number in holding), None)


def missed_in_words(places: Sequence[KeywordPlace], by: str = "no run") -> list[str]:
    """Say how many keywords no run finds, and how many of them no chunk holds; nothing if none.

    ``by`` is what the runs are called that were looked at.
    """
    missed = [each for each in places if each.is_missed]
    there = [each for each in missed if each.chunks]
    absent = [each for each in missed if not each.chunks]
    kinds = ((there, f"found by {by}, though chunks hold {{}}"), (absent, "in no chunk at all"))
    return [_told(such, what) for such, what in kinds if such]


def _told(such: Sequence[KeywordPlace], what: str) -> str:
    are, them = ("keyword is", "it") if len(such) == 1 else ("keywords are", "them")
    named = [f"{each.keyword!r} of query {each.query_id}" for each in such]
    return f"{len(such):,} {are} {what.format(them)}: {listed(named, TOLD)}"


def found_alone(
    places: Sequence[KeywordPlace], a: str, b: str, k: int
) -> tuple[list[KeywordPlace], list[KeywordPlace]]:
    """Return the keywords that run ``a`` alone has in its top ``k``, and those ``b`` alone has."""
    only_a = [each for each in places if each.within(a, k) and not each.within(b, k)]
    only_b = [each for each in places if each.within(b, k) and not each.within(a, k)]
    return only_a, only_b
