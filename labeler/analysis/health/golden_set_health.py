"""Health of a golden set, computed from what the store holds.

It covers what the number of queries is enough for, whether the shares of the buckets match the
logged traffic, how often people's first grades equal the suggested ones, who confirmed the golden
grades, and how old the grades are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.analysis.agreement import SHARE_BOUNDS, QuerySums
from labeler.analysis.health.task_grades import (
    SingleAnswers,
    answering_pairs,
    count_single_answers,
)
from labeler.errors import BadInput
from labeler.model import (
    CandidateBatch,
    Chunk,
    CopyGrades,
    GradedPair,
    Query,
    QueryOrigin,
    SuggestionCheck,
    count_logged,
)
from labeler.stats import detectable_with_spread, holm

USUAL_SPREAD = 0.25
"""The standard deviation of two runs' differences by query, assumed if runs give no estimate."""
SEEN_LEVEL = 0.95
BUCKETS_AT_LARGEST = 5  # buckets assumed for the largest mark


class SizeMark(NamedTuple):
    """A size of golden sets, and what such a set is good for.

    A kind of failure that affects the share ``rarest`` of all questions occurs in such a set at
    least once with 95% probability. ``reach`` is the smallest true difference between two runs that
    is detected with 80% power at the 5% level.
    """

    queries: int
    rarest: float
    reach: float
    good_for: str


def rarest_failure_seen(queries: int) -> float:
    """Return the share of the rarest kind of failure that is seen with 95% probability.

    It solves 1 − (1 − share)ⁿ = 0.95, and is about 3 / n (the rule of three).

    >>> [round(rarest_failure_seen(n), 3) for n in (50, 200, 1000)]
    [0.058, 0.015, 0.003]
    """
    return 1 - (1 - SEEN_LEVEL) ** (1 / queries) if queries else math.nan


def size_marks(spread: float) -> tuple[SizeMark, ...]:
    """Return the marks for 50, 200 and 1,000 queries; ``spread`` is as in `spread_of_deltas`.

    >>> [round(mark.reach, 2) for mark in size_marks(USUAL_SPREAD)]
    [0.1, 0.05, 0.02]
    """
    words = (
        (50, "look at failures one by one"),
        (200, "compare two runs"),
        (1000, f"compare two runs in each of {BUCKETS_AT_LARGEST} equal buckets"),
    )
    return tuple(size_mark(queries, spread, good_for) for queries, good_for in words)


def size_mark(queries: int, spread: float, good_for: str = "") -> SizeMark:
    """Return what a golden set of this size is good for."""
    return SizeMark(
        queries, rarest_failure_seen(queries), detectable_with_spread(spread, queries), good_for
    )


def spread_of_deltas(values: npt.NDArray[np.float64]) -> tuple[float, int] | None:
    """Return the standard deviation of two runs' differences, and the number of pairs of runs.

    The standard deviation is the median over the pairs. ``values`` (queries, runs) are NaN where
    undefined. Returns None for fewer than two queries or if no two runs differ.

    >>> spread_of_deltas(np.array([[0.0, 0.1], [0.0, 0.3], [0.5, 0.5]]))[1]
    1
    """
    known = values[:, ~np.isnan(values).all(axis=0)]
    known = known[~np.isnan(known).any(axis=1)]
    if len(known) < 2:
        return None
    covered = np.atleast_2d(np.cov(known, rowvar=False))
    own = np.diag(covered)
    squares = (own[:, np.newaxis] + own - 2 * covered)[np.triu_indices(len(own), 1)]
    moved = squares[squares > 1e-12]
    return (float(np.median(np.sqrt(moved))), len(moved)) if len(moved) else None


TRAFFIC_DRAWS, TRAFFIC_SEED = 9_999, 20_260_101
TRAFFIC_LEVEL = 0.01
MOST_DRAWN = 100_000  # questions; with more, their shares are taken as exact

Numbers = npt.NDArray[Any]


class TrafficShares(NamedTuple):
    """One facet's buckets in the golden set and in the logs: numbers of queries and questions.

    ``distance`` is half the sum of the differences of their shares (total variation), from 0 where
    they are the same to 1 where no bucket is in both. The test draws both from the same shares:
    ``by_chance`` is the 99th percentile of the drawn distances, and ``p`` the share of draws at
    least as far apart, after Holm's correction over the facets. ``differs`` is True if the distance
    is more than chance.
    """

    facet: str
    buckets: tuple[tuple[str, int, int], ...]
    distance: float
    by_chance: float
    p: float
    differs: bool


def compare_with_traffic(
    in_set: Mapping[str, Mapping[str, int]], in_logs: Mapping[str, Mapping[str, int]]
) -> tuple[TrafficShares, ...]:
    """Compare the shares of the facets that both have; p-values are corrected over the facets.

    >>> [same] = compare_with_traffic({"topic": {"a": 5, "b": 5}}, {"topic": {"a": 50, "b": 52}})
    >>> round(same.distance, 3), same.differs
    (0.01, False)
    """
    facets = sorted(facet for facet in in_logs if sum(in_set.get(facet, {}).values()))
    tested = [_test_facet(in_set[facet], in_logs[facet]) for facet in facets]
    corrected = holm([p for *_, p in tested]).tolist() if facets else []
    return tuple(
        TrafficShares(facet, buckets, distance, by_chance, after, after <= TRAFFIC_LEVEL)
        for facet, (buckets, distance, by_chance, _), after in zip(
            facets, tested, corrected, strict=True
        )
    )


def _test_facet(
    in_set: Mapping[str, int], in_logs: Mapping[str, int]
) -> tuple[tuple[tuple[str, int, int], ...], float, float, float]:
    names = sorted({*in_set, *in_logs}, key=lambda name: (-in_logs.get(name, 0), name))
    queries = np.array([in_set.get(name, 0) for name in names])
    questions = np.array([in_logs.get(name, 0) for name in names])
    found = float(_distances(queries[None], questions[None])[0])
    drawn = _drawn_distances(queries, questions)
    p = (int(np.sum(drawn >= found - 1e-12)) + 1) / (TRAFFIC_DRAWS + 1)
    buckets = tuple(zip(names, queries.tolist(), questions.tolist(), strict=True))
    return buckets, found, float(np.quantile(drawn, 1 - TRAFFIC_LEVEL)), p


def _drawn_distances(queries: Numbers, questions: Numbers) -> Numbers:
    """Return the distances of draws in which queries and questions have the same shares."""
    source = np.random.default_rng(TRAFFIC_SEED)
    pooled = (queries + questions) / (queries.sum() + questions.sum())
    own = source.multinomial(int(queries.sum()), pooled, size=TRAFFIC_DRAWS)
    if questions.sum() > MOST_DRAWN:
        theirs = np.broadcast_to(pooled, own.shape)
    else:
        theirs = source.multinomial(int(questions.sum()), pooled, size=TRAFFIC_DRAWS)
    return _distances(own, theirs)


def _distances(one: Numbers, other: Numbers) -> Numbers:
    shares = [each / each.sum(axis=1, keepdims=True) for each in (one, other)]
    apart: Numbers = np.abs(shares[0] - shares[1]).sum(axis=1) / 2
    return apart


class ShareEstimate(NamedTuple):
    """An estimate with its 95% confidence interval; NaN ends, and a ``reason``, if it has none."""

    value: float
    low: float
    high: float
    reason: str | None = None


class SourceAgreement(NamedTuple):
    """Agreement of a source's suggestions with the ``n`` grades that people gave.

    ``exact`` is the share of equal grades, ``within_one`` the share at most one grade apart,
    ``difference`` the mean of suggested minus given. Intervals are over the choice of ``queries``.
    """

    source: str
    n: int
    queries: int
    exact: ShareEstimate
    within_one: ShareEstimate
    difference: ShareEstimate


def suggestion_agreement(met: Iterable[SuggestionCheck]) -> tuple[SourceAgreement, ...]:
    """Return the agreement of each source of suggestions, by name.

    >>> found = suggestion_agreement([SuggestionCheck("q1", "clicks", 3,
    ...     3), SuggestionCheck("q2", "clicks", 3, 1)])
    >>> [(each.source, each.n, each.exact.value, each.difference.value) for each in found]
    [('clicks', 2, 0.5, 1.0)]
    """
    by_source: dict[str, list[SuggestionCheck]] = {}
    for each in met:
        by_source.setdefault(each.source, []).append(each)
    return tuple(_agreement_of_source(source, by_source[source]) for source in sorted(by_source))


def _agreement_of_source(source: str, met: list[SuggestionCheck]) -> SourceAgreement:
    places = {query: at for at, query in enumerate(dict.fromkeys(each.query_id for each in met))}
    by_query = np.zeros((len(places), 4))
    for each in met:
        apart = each.proposed - each.given
        by_query[places[each.query_id]] += (1, apart == 0, abs(apart) <= 1, apart)
    sums = QuerySums.of(by_query)
    exact, within_one = (_estimate_mean(sums, column, SHARE_BOUNDS) for column in (1, 2))
    difference = _estimate_mean(sums, 3, None)
    return SourceAgreement(source, len(met), len(places), exact, within_one, difference)


def _estimate_mean(
    sums: QuerySums, column: int, bounds: tuple[float, float] | None
) -> ShareEstimate:
    """Return the mean of one column: its sum divided by the number of grades."""

    def mean(of: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        shares: npt.NDArray[np.float64] = of[..., column] / of[..., 0]
        return shares

    return ShareEstimate(float(mean(sums.whole)), *sums.interval(mean, bounds))


FEW_QUERIES = 10
"""A bucket with fewer graded queries is too small: no difference in it is ever more than chance."""
OLD_AFTER = 180  # days, by default
FACETS_ASIDE = ("split",)


@dataclass(frozen=True, slots=True)
class HealthInput:
    """Data from a store: queries in use with their origins, grades, suggestions, logs.

    ``spread`` is what `spread_of_deltas` returns for this set's runs, by the measure ``by``;
    ``alike`` is the number of pairs of near-duplicate queries. Both are None where not
    computed. A chunk is relevant from grade ``rel`` on; ``answers`` are chunks, by number, that
    answer single-answer queries. ``copies`` are graded texts that several chunks of a query have.
    """

    queries: Sequence[Query]
    origins: Mapping[str, QueryOrigin]
    graded: Sequence[GradedPair]
    only_proposed: int
    met: Sequence[SuggestionCheck]
    batches: Sequence[CandidateBatch]
    spread: tuple[float, int] | None = None
    by: str = ""
    alike: int | None = None
    rel: int = 1
    answers: Mapping[int, Chunk] = field(default_factory=dict)
    copies: Sequence[CopyGrades] = ()


@dataclass(frozen=True, slots=True)
class ConfirmedGrades:
    """Counts of golden grades given ``by_people``, not only by a file; ``twice``: by two or more.

    ``adjudicated`` ones are among those by people. ``only_proposed`` pairs have a suggested grade
    and no golden one, and are not among the ``pairs``.
    """

    pairs: int
    by_people: int
    twice: int
    adjudicated: int
    only_proposed: int


@dataclass(frozen=True, slots=True)
class GradeAges:
    """Ages of golden grades in days since they were given or loaded; ``old`` counts those over
    ``after`` days."""

    median: float
    oldest: float
    old: int
    after: int


@dataclass(frozen=True, slots=True)
class ThinBuckets:
    """The ``few`` of a facet's ``buckets`` with fewer than `FEW_QUERIES` graded queries."""

    facet: str
    buckets: int
    few: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class GoldenSetHealth:
    """The health of a golden set; ``now`` says what its graded queries are good for.

    ``unlike_copies`` are texts to which a query's chunks give different golden grades, and
    ``ungraded_copies`` counts chunks without one whose text has one.
    """

    queries: int
    judged: int
    now: SizeMark
    marks: tuple[SizeMark, ...]
    spread: float
    pairs_of_runs: int
    by: str
    sources: tuple[tuple[str | None, int], ...]
    confirmed: ConfirmedGrades
    ages: GradeAges | None
    thin: tuple[ThinBuckets, ...]
    shares: tuple[TrafficShares, ...]
    met: tuple[SourceAgreement, ...]
    alike: int | None
    logs: int
    single: SingleAnswers
    unlike_copies: tuple[CopyGrades, ...] = ()
    ungraded_copies: int = 0


def assess_health(data: HealthInput, now: datetime, after: int = OLD_AFTER) -> GoldenSetHealth:
    """Compute the health of a golden set at ``now``; grades of more than ``after`` days are old."""
    if after < 0:
        raise BadInput(f"grades are old after 0 days or more, not {after}")
    judged = {pair.query_id for pair in data.graded}
    spread, pairs = data.spread or (USUAL_SPREAD, 0)
    sources = Counter(_source_of(data.origins.get(query.query_id)) for query in data.queries)
    given = buckets_by_facet(data.queries)
    logs = count_logged(data.batches)
    return GoldenSetHealth(
        queries=len(data.queries),
        judged=len(judged),
        now=size_mark(len(judged), spread),
        marks=size_marks(spread),
        spread=spread,
        pairs_of_runs=pairs,
        by=data.by,
        sources=tuple(sorted(sources.items(), key=lambda each: (-each[1], str(each[0])))),
        confirmed=_count_confirmed(data.graded, data.only_proposed),
        ages=_grade_ages(data.graded, now, after),
        thin=tuple(_thin_buckets(given, judged)),
        shares=compare_with_traffic(
            {facet: Counter(of.values()) for facet, of in given.items()}, logs
        ),
        met=suggestion_agreement(data.met),
        alike=data.alike,
        logs=sum(batch.times for batch in data.batches if batch.source == "log"),
        single=count_single_answers(
            answering_pairs(data.queries, data.graded, data.rel), data.answers
        ),
        unlike_copies=tuple(each for each in data.copies if each.differ),
        ungraded_copies=sum(each.ungraded for each in data.copies),
    )


def buckets_by_facet(queries: Iterable[Query]) -> dict[str, dict[str, str]]:
    """Return each query's bucket by facet; the task counts as a facet, the split does not."""
    found: dict[str, dict[str, str]] = {}
    for query in queries:
        own = {**query.buckets, **({} if query.task is None else {"task": query.task})}
        for facet, bucket in own.items():
            if facet not in FACETS_ASIDE:
                found.setdefault(facet, {})[query.query_id] = bucket
    return {facet: found[facet] for facet in sorted(found)}


def _source_of(origin: QueryOrigin | None) -> str | None:
    return None if origin is None else origin.source


def _count_confirmed(graded: Sequence[GradedPair], only_proposed: int) -> ConfirmedGrades:
    return ConfirmedGrades(
        pairs=len(graded),
        by_people=sum(pair.people > 0 or pair.adjudicated for pair in graded),
        twice=sum(pair.people > 1 for pair in graded),
        adjudicated=sum(pair.adjudicated for pair in graded),
        only_proposed=only_proposed,
    )


def _grade_ages(graded: Sequence[GradedPair], now: datetime, after: int) -> GradeAges | None:
    """Return the ages of grades; a time in the future (another clock) counts as age 0."""
    if not graded:
        return None
    moments = [datetime.fromisoformat(pair.at).astimezone(UTC) for pair in graded]
    days = [max(now - moment, timedelta()) / timedelta(days=1) for moment in moments]
    return GradeAges(median(days), max(days), sum(day > after for day in days), after)


def _thin_buckets(
    given: Mapping[str, Mapping[str, str]], judged: set[str]
) -> Iterable[ThinBuckets]:
    for facet, bucket_of in given.items():
        counts = Counter(bucket_of.values())
        graded = Counter(bucket for query, bucket in bucket_of.items() if query in judged)
        few = [(name, graded[name]) for name in counts if graded[name] < FEW_QUERIES]
        yield ThinBuckets(
            facet, len(counts), tuple(sorted(few, key=lambda each: (each[1], each[0])))
        )
