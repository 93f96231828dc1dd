"""Keyword measures, which need no grades: how early a ranking shows the words of a good answer.

Tutorials start with them because they need no golden set. They cannot tell whether a chunk that
contains the word answers the question: show them beside graded measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.analysis.keyword_corpus import Corpus
from labeler.errors import BadInput
from labeler.evaluation import Record, Scoreboard
from labeler.measures import Floats, Measure
from labeler.model import format_list


@dataclass(frozen=True, slots=True)
class KeywordScore:
    """Scores of a ranking for a query's keywords, as means over the keywords.

    ``rr``: 1 / rank of the first chunk in the top k that contains the keyword, 0 if none does.
    ``ndcg``: gain 1 for each chunk that contains it; the ideal ranking starts with all such chunks
    of the database, cut at k; NaN where no keyword is in any chunk. ``coverage``: the share of the
    keywords that are in the top k.
    """

    rr: float
    ndcg: float
    coverage: float
    keywords: int
    unknown: int


def keyword_score(
    corpus: Corpus, keywords: Sequence[str], ranking: Sequence[int], k: int
) -> KeywordScore | None:
    """Score one ranking (chunk numbers, best first) for a query's keywords; None without any.

    >>> corpus = Corpus({1: "a cup", 2: "a kettle", 3: "the cups"})
    >>> score = keyword_score(corpus, ["cup", "kettle", "lid"], [2, 1], 2)
    >>> score.rr, round(score.ndcg, 4), round(score.coverage, 4), score.unknown
    (0.5, 0.8155, 0.6667, 1)
    """
    if k < 1:
        raise BadInput(f"the cut-off is a whole number from 1, not {k}")
    if not keywords:
        return None
    found = [
        [rank for rank, number in enumerate(ranking[:k], 1) if corpus.holds(number, keyword)]
        for keyword in keywords
    ]
    known = [corpus.count(keyword) for keyword in keywords]
    gains = [
        _dcg(ranks) / _dcg(range(1, min(k, count) + 1))
        for ranks, count in zip(found, known, strict=True)
        if count
    ]
    return KeywordScore(
        rr=_mean_value(1 / ranks[0] if ranks else 0.0 for ranks in found),
        ndcg=_mean_value(gains),
        coverage=_mean_value(float(bool(ranks)) for ranks in found),
        keywords=len(keywords),
        unknown=known.count(0),
    )


def keyword_scores(
    corpus: Corpus,
    keywords: Mapping[str, Sequence[str]],
    chunks: Callable[[str], Iterable[int]],
    k: int,
) -> dict[str, KeywordScore]:
    """Score a run for every query with keywords; ``chunks`` returns its list for a query.

    Keywords that cannot be searched for are left out, and so is a query that has no others.
    """
    usable = {query_id: list(filter(corpus.can_find, each)) for query_id, each in keywords.items()}
    found = {
        query_id: keyword_score(corpus, words, list(chunks(query_id)), k)
        for query_id, words in usable.items()
    }
    return {query_id: score for query_id, score in found.items() if score is not None}


def describe_unusable(corpus: Corpus, keywords: Mapping[str, Sequence[str]]) -> str | None:
    """Describe which keywords `keyword_scores` leaves out; None where it uses all.

    >>> describe_unusable(Corpus({}), {"q1": ["cup", "++"]})
    "1 keyword holds no letter or digit and is left out, such as '++' of query q1"
    """
    unusable = {
        query_id: [keyword for keyword in each if not corpus.can_find(keyword)]
        for query_id, each in keywords.items()
    }
    pairs = [(keyword, query_id) for query_id, each in unusable.items() for keyword in each]
    if not pairs:
        return None
    holds, are = ("keyword holds", "is") if len(pairs) == 1 else ("keywords hold", "are")
    keyword, query_id = pairs[0]
    text = (
        f"{len(pairs):,} {holds} no letter or digit and {are} left out, "
        f"such as {keyword!r} of query {query_id}"
    )
    bare = sum(0 < len(each) == len(keywords[query_id]) for query_id, each in unusable.items())
    if bare:
        have, are = ("query has", "is") if bare == 1 else ("queries have", "are")
        text += f"; {bare:,} {have} no other and {are} in no mean"
    return text


class KeywordRow(NamedTuple):
    """A run's keyword means over ``n`` queries, and graded means over those that are judged.

    Means over nothing are NaN. ``keyword`` are RR, nDCG and coverage; ``agreement`` is
    `rank_agreement` of nDCG by keyword with the first graded measure.
    """

    run: str
    keyword: tuple[float, ...]
    n: int
    graded: tuple[float, ...]
    judged: int
    agreement: float


def keyword_headings(k: int, headings: Sequence[str]) -> list[str]:
    """Return the headings of a `KeywordRow`; ``headings`` are those of the graded measures."""
    return ["RR by keyword", f"nDCG@{k} by keyword", f"coverage@{k}", *headings, "agreement"]


def compare_with_grades(
    board: Scoreboard, run: str, scores: Mapping[str, KeywordScore], measures: Sequence[Measure]
) -> KeywordRow:
    """Return the means of a run's keyword scores and of graded measures, for the same queries."""
    at = [board.number_of(query_id) for query_id in scores]
    column = board.column_of(run)
    graded = [board.values(measure)[at, column] for measure in measures]
    by_keyword = np.array([(each.rr, each.ndcg, each.coverage) for each in scores.values()])
    by_keyword = by_keyword.reshape(len(scores), 3)
    return KeywordRow(
        run,
        tuple(_mean_value(values[~np.isnan(values)].tolist()) for values in by_keyword.T),
        len(scores),
        tuple(_mean_value(values[~np.isnan(values)].tolist()) for values in graded),
        int(board.judged[at].sum()),
        rank_agreement(by_keyword[:, 1], graded[0]),
    )


def _dcg(ranks: Iterable[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)


def _mean_value(values: Iterable[float]) -> float:
    given = list(values)
    return math.fsum(given) / len(given) if given else math.nan


def rank_agreement(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation of two measures over the same queries.

    Both are (queries,) in the same order; queries where either is undefined are left out. NaN
    where fewer than two queries are left, or where a measure has the same value for all.

    >>> rank_agreement(np.array([0.1, 0.5, 0.9]), np.array([0.0, 0.2, 0.4]))
    1.0
    """
    both = ~(np.isnan(one) | np.isnan(other))
    if both.sum() < 2:
        return math.nan
    ranks = [_average_ranks(values[both]) for values in (one, other)]
    apart = [column - column.mean() for column in ranks]
    scale = math.sqrt(float((apart[0] ** 2).sum()) * float((apart[1] ** 2).sum()))
    return float((apart[0] * apart[1]).sum()) / scale if scale else math.nan


def _average_ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values get the average of their ranks."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Floats = (ends - (counts - 1) / 2)[group]
    return ranks


RankedListOf = Callable[[str], Iterable[int]]
"""Returns a run's list for a query: numbers of chunks, best first."""
MOST_NAMED = 3  # keywords named in one sentence


class KeywordRanks(NamedTuple):
    """The ranks of a query's keyword; ``chunks`` counts the chunks with it (None: not counted).

    ``ranks`` are those of the first chunk that contains it, by run, from 1; None where no chunk of
    the run's list does, at any depth.
    """

    query_id: str
    keyword: str
    chunks: int | None
    ranks: Mapping[str, int | None]

    @property
    def is_missed(self) -> bool:
        """Whether no run has a chunk that contains it."""
        return all(rank is None for rank in self.ranks.values())

    def within(self, run: str, k: int) -> bool:
        """Return whether one of the first ``k`` chunks of a run contains it."""
        rank = self.ranks[run]
        return rank is not None and rank <= k

    def in_words(self, short: Mapping[str, str] | None = None) -> str:
        """Describe where it is found; ``short`` maps names of runs to the names to show.

        >>> KeywordRanks("q1", "TravelGuard", 3, {"a": None, "b": None}).in_words()
        'TravelGuard: found by no run (3 chunks of the database hold it)'
        >>> KeywordRanks("q1", "TravelGuard", 3, {"a": 2, "b": None}).in_words({"a": "A"})
        'TravelGuard: first at rank 2 in A; not in b'
        """
        if self.is_missed:
            known = "" if self.chunks is None else f" ({_describe_holders(self.chunks)})"
            return f"{self.keyword}: found by no run{known}"
        return self.describe_where(short)

    def describe_where(self, short: Mapping[str, str] | None = None) -> str:
        """Describe where it is found, without a claim about runs that are not in ``ranks``.

        >>> KeywordRanks("q1", "TravelGuard", 3, {"a": None}).describe_where()
        'TravelGuard: not in a'
        """
        short = short or {}
        there = [f"{rank} in {short.get(run, run)}" for run, rank in self.ranks.items() if rank]
        missing = [short.get(run, run) for run, rank in self.ranks.items() if rank is None]
        parts = [f"first at rank {', '.join(there)}"] if there else []
        parts += [f"not in {', '.join(missing)}"] if missing else []
        return f"{self.keyword}: {'; '.join(parts)}"


def _describe_holders(chunks: int) -> str:
    if not chunks:
        return "no chunk of the database holds it"
    return (
        "1 chunk of the database holds it"
        if chunks == 1
        else (f"{chunks:,} chunks of the database hold it")
    )


class Corpora(NamedTuple):
    """The texts of all chunkings in use, and for each run the texts of its own chunking."""

    whole: Corpus
    of_run: Mapping[str, Corpus]

    def scores(
        self, keywords: Mapping[str, Sequence[str]], lists: Mapping[str, RankedListOf], k: int
    ) -> dict[str, dict[str, KeywordScore]]:
        """Return each run's `keyword_scores`, over the texts of its chunking."""
        return {
            run: keyword_scores(self.of_run[run], keywords, each, k) for run, each in lists.items()
        }


def build_corpora(
    board: Scoreboard, texts: Mapping[int, str], *, substring: bool = False
) -> Corpora:
    """Prepare texts, given by number, for keyword search: see `Corpus`.

    A run is scored over the chunks of its chunking only: it cannot return others.
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


def list_lookups(board: Scoreboard, runs: Iterable[str]) -> dict[str, RankedListOf]:
    """Return, for each run, a function that returns its list for a query."""

    def of(run: str) -> RankedListOf:
        return lambda query_id: board.chunks(run, query_id).tolist()

    return {run: of(run) for run in runs}


def find_keyword_ranks(
    corpus: Corpus, keywords: Mapping[str, Sequence[str]], lists: Mapping[str, RankedListOf]
) -> list[KeywordRanks]:
    """Search the lists of all runs, at any depth, for each keyword of each query.

    Keywords that cannot be searched for are left out, see `describe_unusable`.

    >>> corpus = Corpus({1: "a cup", 2: "a kettle"})
    >>> [each] = find_keyword_ranks(corpus, {"q1": ["cup"]}, {"a": lambda _: [2, 1]})
    >>> each.chunks, dict(each.ranks)
    (1, {'a': 2})
    """
    found = []
    for query_id, words in keywords.items():
        ranked = {run: list(list_of(query_id)) for run, list_of in lists.items()}
        seen = {number for numbers in ranked.values() for number in numbers}
        for keyword in filter(corpus.can_find, words):
            holding = {number for number in seen if corpus.holds(number, keyword)}
            ranks = {run: _first_rank(numbers, holding) for run, numbers in ranked.items()}
            found.append(KeywordRanks(query_id, keyword, corpus.count(keyword), ranks))
    return found


def _first_rank(numbers: Sequence[int], holding: set[int]) -> int | None:
    return next((rank for rank, number in enumerate(numbers, 1) if number in holding), None)


def describe_missed(places: Sequence[KeywordRanks], by: str = "no run") -> list[str]:
    """Describe how many keywords no run finds, and how many of them are in no chunk.

    ``by`` names the runs that were searched. Empty where each keyword is found.
    """
    missed = [each for each in places if each.is_missed]
    there = [each for each in missed if each.chunks]
    absent = [each for each in missed if not each.chunks]
    kinds = ((there, f"found by {by}, though chunks hold {{}}"), (absent, "in no chunk at all"))
    return [_describe_some(such, what) for such, what in kinds if such]


def _describe_some(such: Sequence[KeywordRanks], what: str) -> str:
    are, them = ("keyword is", "it") if len(such) == 1 else ("keywords are", "them")
    named = [f"{each.keyword!r} of query {each.query_id}" for each in such]
    return f"{len(such):,} {are} {what.format(them)}: {format_list(named, MOST_NAMED)}"


def found_by_one_run(
    places: Sequence[KeywordRanks], a: str, b: str, k: int
) -> tuple[list[KeywordRanks], list[KeywordRanks]]:
    """Return the keywords that only run ``a`` has in its top ``k``, and those only ``b`` has."""
    only_a = [each for each in places if each.within(a, k) and not each.within(b, k)]
    only_b = [each for each in places if each.within(b, k) and not each.within(a, k)]
    return only_a, only_b


class KeywordMean(NamedTuple):
    """A run's means of `KeywordScore` over ``n`` queries, of one bucket or (None) of all.

    Each mean is over the queries for which it is defined, NaN without any. ``keywords`` were
    searched for; ``unknown`` of them are in no chunk of the database.
    """

    run: str
    bucket: str | None
    rr: float
    ndcg: float
    coverage: float
    n: int
    keywords: int
    unknown: int


def keyword_means(
    found: Mapping[str, Mapping[str, KeywordScore]],
    buckets: Mapping[str, str | None] | None = None,
    order: Sequence[str] = (),
) -> list[KeywordMean]:
    """Return the means of each run's scores; with the ``buckets`` of queries, of each bucket.

    Buckets are in ``order``, run after run, without those in which no query has keywords.
    """
    if buckets is None:
        return [_keyword_mean(run, None, scores.values()) for run, scores in found.items()]
    return [
        _keyword_mean(run, bucket, part)
        for run, scores in found.items()
        for bucket in order
        if (part := [each for name, each in scores.items() if buckets.get(name) == bucket])
    ]


def _keyword_mean(run: str, bucket: str | None, scores: Iterable[KeywordScore]) -> KeywordMean:
    given = list(scores)
    return KeywordMean(
        run,
        bucket,
        rr=_mean_of_defined(each.rr for each in given),
        ndcg=_mean_of_defined(each.ndcg for each in given),
        coverage=_mean_of_defined(each.coverage for each in given),
        n=len(given),
        keywords=sum(each.keywords for each in given),
        unknown=sum(each.unknown for each in given),
    )


def _mean_of_defined(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def keyword_mean_records(
    means: Iterable[KeywordMean], k: int, facet: str | None = None, *, substring: bool = False
) -> list[Record]:
    """Return a row per run and bucket, for programs; None means undefined."""
    return [
        {"run": each.run}
        | ({} if facet is None else {"facet": facet, "bucket": each.bucket})
        | {"k": k, "rr": _none_if_nan(each.rr), "ndcg": _none_if_nan(each.ndcg)}
        | {"coverage": _none_if_nan(each.coverage), "n": each.n, "keywords": each.keywords}
        | {"in_no_chunk": each.unknown, "found_as": describe_match(substring=substring)}
        for each in means
    ]


def keyword_rank_records(
    places: Iterable[KeywordRanks], k: int, *, substring: bool = False
) -> list[Record]:
    """Return a row per keyword, query and run; a rank of None means not in the list."""
    return [
        {"run": run, "query_id": each.query_id, "keyword": each.keyword, "rank": rank}
        | {"k": k, "in_top": each.within(run, k), "chunks": each.chunks}
        | {"found_by_no_run": each.is_missed, "found_as": describe_match(substring=substring)}
        for each in places
        for run, rank in each.ranks.items()
    ]


def describe_match(*, substring: bool) -> str:
    """Describe what counts as finding a keyword."""
    return "parts of words, too" if substring else "whole words"


def describe_keyword_conventions(k: int, *, substring: bool) -> str:
    """Describe the conventions of keyword measures in one line."""
    return (
        f"by keyword, without grades: {describe_match(substring=substring)}, in any case · "
        f"top {k} · a chunk that holds the keyword gains 1 · ideal from all chunks of the run's "
        "chunking · every query that has keywords, graded or not"
    )


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
