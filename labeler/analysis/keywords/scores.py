"""Means over keywords: how early a ranking shows the words an answer should hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.analysis.keywords.corpus import Corpus
from labeler.errors import BadInput
from labeler.evaluation import Scoreboard
from labeler.measures import Floats, Measure


@dataclass(frozen=True, slots=True)
class KeywordScore:
    """What a ranking does for a query's keywords; means over the keywords.

    ``rr``: 1 / rank of the first chunk in the top k that holds the keyword, 0 if none does.
    ``ndcg``: gain 1 for each chunk that holds it, against an ideal of as many such chunks as the
    database has, at most k; NaN where it has none for any keyword. ``coverage``: the share of the
    keywords that the top k hold.
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
        rr=_mean(1 / ranks[0] if ranks else 0.0 for ranks in found),
        ndcg=_mean(gains),
        coverage=_mean(float(bool(ranks)) for ranks in found),
        keywords=len(keywords),
        unknown=known.count(0),
    )


def keyword_scores(
    corpus: Corpus,
    keywords: Mapping[str, Sequence[str]],
    chunks: Callable[[str], Iterable[int]],
    k: int,
) -> dict[str, KeywordScore]:
    """Score a run, whose list of a query ``chunks`` returns, for every query that has keywords.

    Keywords that cannot be looked for are left out, and so is a query without any other.
    """
    usable = {query_id: list(filter(corpus.can_find, each)) for query_id, each in keywords.items()}
    found = {
        query_id: keyword_score(corpus, words, list(chunks(query_id)), k)
        for query_id, words in usable.items()
    }
    return {query_id: score for query_id, score in found.items() if score is not None}


def say_unusable(corpus: Corpus, keywords: Mapping[str, Sequence[str]]) -> str | None:
    """Say in a sentence which keywords `keyword_scores` leaves out; None where it takes all.

    >>> say_unusable(Corpus({}), {"q1": ["cup", "++"]})
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
    said = (
        f"{len(pairs):,} {holds} no letter or digit and {are} left out, "
        f"such as {keyword!r} of query {query_id}"
    )
    bare = sum(0 < len(each) == len(keywords[query_id]) for query_id, each in unusable.items())
    if bare:
        have, are = ("query has", "is") if bare == 1 else ("queries have", "are")
        said += f"; {bare:,} {have} no other and {are} in no mean"
    return said


class KeywordRow(NamedTuple):
    """A run's keyword means over ``n`` queries, graded means over those judged, how they agree.

    A mean that nothing is in is NaN. ``keyword`` are RR, nDCG and coverage; ``agreement`` is
    `rank_agreement` of nDCG by keyword with the first graded measure.
    """

    run: str
    keyword: tuple[float, ...]
    n: int
    graded: tuple[float, ...]
    judged: int
    agreement: float


def keyword_columns(k: int, headings: Sequence[str]) -> list[str]:
    """Name a `KeywordRow`'s numbers in their order; ``headings`` are of the graded ones."""
    return ["RR by keyword", f"nDCG@{k} by keyword", f"coverage@{k}", *headings, "agreement"]


def beside_grades(
    board: Scoreboard, run: str, scores: Mapping[str, KeywordScore], measures: Sequence[Measure]
) -> KeywordRow:
    """Set a run's keyword scores beside graded measures of the same queries."""
    at = [board.number_of(query_id) for query_id in scores]
    column = board.column_of(run)
    graded = [board.values(measure)[at, column] for measure in measures]
    by_keyword = np.array([(each.rr, each.ndcg, each.coverage) for each in scores.values()])
    by_keyword = by_keyword.reshape(len(scores), 3)
    return KeywordRow(
        run,
        tuple(_mean(values[~np.isnan(values)].tolist()) for values in by_keyword.T),
        len(scores),
        tuple(_mean(values[~np.isnan(values)].tolist()) for values in graded),
        int(board.judged[at].sum()),
        rank_agreement(by_keyword[:, 1], graded[0]),
    )


def _dcg(ranks: Iterable[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return math.fsum(given) / len(given) if given else math.nan


def rank_agreement(one: Floats, other: Floats) -> float:
    """Say how far two measures order the same queries alike: Spearman's rank correlation.

    Both (queries,), in the same order; a query that either leaves undefined is left out. 1 is the
    same order, 0 none in common, -1 the reverse; NaN where fewer than two queries are left or one
    of them gives all the same value.

    >>> rank_agreement(np.array([0.1, 0.5, 0.9]), np.array([0.0, 0.2, 0.4]))
    1.0
    """
    both = ~(np.isnan(one) | np.isnan(other))
    if both.sum() < 2:
        return math.nan
    ranks = [_ranks(values[both]) for values in (one, other)]
    apart = [column - column.mean() for column in ranks]
    scale = math.sqrt(float((apart[0] ** 2).sum()) * float((apart[1] ** 2).sum()))
    return float((apart[0] * apart[1]).sum()) / scale if scale else math.nan


def _ranks(values: Floats) -> Floats:
    """Return ranks from 1, those of equal values averaged."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Floats = (ends - (counts - 1) / 2)[group]
    return ranks
