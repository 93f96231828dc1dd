"""Keyword scores of a run as means: over all queries that have keywords, or bucket by bucket."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from labeler.analysis.keywords.places import KeywordPlace
from labeler.analysis.keywords.scores import KeywordScore
from labeler.evaluation import Record


class KeywordMean(NamedTuple):
    """What a run does for the keywords of ``n`` queries, of one bucket or (None) of all.

    Means of `KeywordScore` over the queries for which they are defined, NaN where there is none.
    ``keywords`` were looked for, ``unknown`` of them no chunk of the database holds.
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
    """Return the means of each run's scores by query; with the ``buckets`` of queries of each.

    Buckets stand in ``order``, without those in which no query has keywords, run after run.
    """
    if buckets is None:
        return [_mean_of(run, None, scores.values()) for run, scores in found.items()]
    return [
        _mean_of(run, bucket, part)
        for run, scores in found.items()
        for bucket in order
        if (part := [each for name, each in scores.items() if buckets.get(name) == bucket])
    ]


def _mean_of(run: str, bucket: str | None, scores: Iterable[KeywordScore]) -> KeywordMean:
    given = list(scores)
    return KeywordMean(
        run,
        bucket,
        rr=_mean(each.rr for each in given),
        ndcg=_mean(each.ndcg for each in given),
        coverage=_mean(each.coverage for each in given),
        n=len(given),
        keywords=sum(each.keywords for each in given),
        unknown=sum(each.unknown for each in given),
    )


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def mean_records(
    means: Iterable[KeywordMean], k: int, facet: str | None = None, *, substring: bool = False
) -> list[Record]:
    """Return the means for programs: a row for each run and bucket; None is undefined."""
    return [
        {"run": each.run}
        | ({} if facet is None else {"facet": facet, "bucket": each.bucket})
        | {"k": k, "rr": _known(each.rr), "ndcg": _known(each.ndcg)}
        | {"coverage": _known(each.coverage), "n": each.n, "keywords": each.keywords}
        | {"in_no_chunk": each.unknown, "found_as": found_as(substring=substring)}
        for each in means
    ]


def place_records(
    places: Iterable[KeywordPlace], k: int, *, substring: bool = False
) -> list[Record]:
    """Return a row for each keyword of each query in each run; None is a rank nowhere in it."""
    return [
        {"run": run, "query_id": each.query_id, "keyword": each.keyword, "rank": rank}
        | {"k": k, "in_top": each.within(run, k), "chunks": each.chunks}
        | {"found_by_no_run": each.is_missed, "found_as": found_as(substring=substring)}
        for each in places
        for run, rank in each.ranks.items()
    ]


def found_as(*, substring: bool) -> str:
    """Say what counts as finding a keyword."""
    return "parts of words, too" if substring else "whole words"


def described(k: int, *, substring: bool) -> str:
    """Say by which conventions keyword measures are computed, in one line."""
    return (
        f"by keyword, without grades: {found_as(substring=substring)}, in any case · "
        f"top {k} · a chunk that holds the keyword gains 1 · ideal from all chunks of the run's "
        "chunking · every query that has keywords, graded or not"
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
