"""All that is said of how a golden set stands, worked out from what a store tells of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Protocol

from labeler.analysis.health.proposed import SourceAgreement, agreement_by_source
from labeler.analysis.health.size import USUAL_SPREAD, Mark, mark_of, marks
from labeler.analysis.health.traffic import Shares, shares_of
from labeler.errors import BadInput
from labeler.model import Batch, GradedPair, Met, Origin, Query, logged

FEW = 10
"""A bucket with fewer graded queries is too small: no difference in it is ever more than chance."""
OLD_AFTER = 180  # days, unless somebody says otherwise
FACETS_ASIDE = ("split",)


class Teller(Protocol):
    """What tells of a golden set, as a store does."""

    def queries(self) -> list[Query]:
        """Return the queries in use."""
        ...

    def origins(self) -> dict[str, Origin]:
        """Return where each query in use came from."""
        ...

    def graded_pairs(self) -> list[GradedPair]:
        """Return every golden grade of queries in use."""
        ...

    def proposals_met(self, among: Collection[str] | None = None) -> tuple[list[Met], int]:
        """Return what people first gave where a grade was proposed, and where there is none."""
        ...

    def batches(self) -> list[Batch]:
        """Return all that was loaded of candidates."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """What a store tells: queries in use with where they came from, grades, proposals, logs.

    ``spread`` is how far differences of this set's runs spread and of how many pairs, by the
    measure ``by``; ``alike`` how many pairs of queries are nearly the same. Both are None where
    nobody looked.
    """

    queries: Sequence[Query]
    origins: Mapping[str, Origin]
    graded: Sequence[GradedPair]
    only_proposed: int
    met: Sequence[Met]
    batches: Sequence[Batch]
    spread: tuple[float, int] | None = None
    by: str = ""
    alike: int | None = None

    @staticmethod
    def of(
        teller: Teller,
        spread: tuple[float, int] | None,
        by: str,
        alike: int | None = None,
        among: Collection[str] | None = None,
    ) -> Told:
        """Ask for all of it, or for what is of the queries ``among``; logs are of all."""
        met, only_proposed = teller.proposals_met(among)
        queries, graded = teller.queries(), teller.graded_pairs()
        return Told(
            queries=[each for each in queries if among is None or each.query_id in among],
            origins=teller.origins(),
            graded=[each for each in graded if among is None or each.query_id in among],
            only_proposed=only_proposed,
            met=met,
            batches=teller.batches(),
            spread=spread,
            by=by,
            alike=alike,
        )


@dataclass(frozen=True, slots=True)
class Confirmed:
    """By whom golden grades are: ``by_people`` and not from a file alone; ``twice`` and more.

    ``adjudicated`` ones are among those by people. ``only_proposed`` pairs have a proposed grade
    and no golden one, and are not among the ``pairs``.
    """

    pairs: int
    by_people: int
    twice: int
    adjudicated: int
    only_proposed: int


@dataclass(frozen=True, slots=True)
class Ages:
    """How many days ago golden grades were given or loaded; ``old`` ones over ``after`` days."""

    median: float
    oldest: float
    old: int
    after: int


@dataclass(frozen=True, slots=True)
class Thin:
    """A facet's buckets with fewer than `FEW` graded queries, of so many ``buckets``."""

    facet: str
    buckets: int
    few: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Fitness:
    """How a golden set stands. ``now`` is what its graded queries are good for, see `Mark`."""

    queries: int
    judged: int
    now: Mark
    marks: tuple[Mark, ...]
    spread: float
    pairs_of_runs: int
    by: str
    sources: tuple[tuple[str | None, int], ...]
    confirmed: Confirmed
    ages: Ages | None
    thin: tuple[Thin, ...]
    shares: tuple[Shares, ...]
    met: tuple[SourceAgreement, ...]
    alike: int | None
    logs: int


def fitness_of(told: Told, now: datetime, after: int = OLD_AFTER) -> Fitness:
    """Work it out as of ``now``; grades are old ``after`` so many days."""
    if after < 0:
        raise BadInput(f"grades are old after 0 days or more, not {after}")
    judged = {pair.query_id for pair in told.graded}
    spread, pairs = told.spread or (USUAL_SPREAD, 0)
    sources = Counter(_source(told.origins.get(query.query_id)) for query in told.queries)
    given = buckets_of(told.queries)
    logs = logged(told.batches)
    return Fitness(
        queries=len(told.queries),
        judged=len(judged),
        now=mark_of(len(judged), spread),
        marks=marks(spread),
        spread=spread,
        pairs_of_runs=pairs,
        by=told.by,
        sources=tuple(sorted(sources.items(), key=lambda each: (-each[1], str(each[0])))),
        confirmed=_confirmed(told.graded, told.only_proposed),
        ages=_ages(told.graded, now, after),
        thin=tuple(_thin(given, judged)),
        shares=shares_of({facet: Counter(of.values()) for facet, of in given.items()}, logs),
        met=agreement_by_source(told.met),
        alike=told.alike,
        logs=sum(batch.times for batch in told.batches if batch.source == "log"),
    )


def buckets_of(queries: Iterable[Query]) -> dict[str, dict[str, str]]:
    """Return the bucket of each query that has one, by facet; task is a facet, split is none."""
    found: dict[str, dict[str, str]] = {}
    for query in queries:
        own = {**query.buckets, **({} if query.task is None else {"task": query.task})}
        for facet, bucket in own.items():
            if facet not in FACETS_ASIDE:
                found.setdefault(facet, {})[query.query_id] = bucket
    return {facet: found[facet] for facet in sorted(found)}


def _source(origin: Origin | None) -> str | None:
    return None if origin is None else origin.source


def _confirmed(graded: Sequence[GradedPair], only_proposed: int) -> Confirmed:
    return Confirmed(
        pairs=len(graded),
        by_people=sum(pair.people > 0 or pair.adjudicated for pair in graded),
        twice=sum(pair.people > 1 for pair in graded),
        adjudicated=sum(pair.adjudicated for pair in graded),
        only_proposed=only_proposed,
    )


def _ages(graded: Sequence[GradedPair], now: datetime, after: int) -> Ages | None:
    """Return how old grades are; a grade from the future, by another clock, is of today."""
    if not graded:
        return None
    moments = [datetime.fromisoformat(pair.at).astimezone(UTC) for pair in graded]
    days = [max(now - moment, timedelta()) / timedelta(days=1) for moment in moments]
    return Ages(median(days), max(days), sum(day > after for day in days), after)


def _thin(given: Mapping[str, Mapping[str, str]], judged: set[str]) -> Iterable[Thin]:
    for facet, bucket_of in given.items():
        counts = Counter(bucket_of.values())
        graded = Counter(bucket for query, bucket in bucket_of.items() if query in judged)
        few = [(name, graded[name]) for name in counts if graded[name] < FEW]
        yield Thin(facet, len(counts), tuple(sorted(few, key=lambda each: (each[1], each[0]))))
