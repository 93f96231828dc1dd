"""How often each kind of question is really asked: counts by bucket, as logs of production have it.

Knows no log file; what a mean makes of the counts is for others to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labeler.errors import BadInput, NotFound
from labeler.model.tending import Batch

LOG = "log"


@dataclass(frozen=True, slots=True)
class Traffic:
    """For each bucket of ``facet`` the number of logged questions; make one with `Traffic.of`.

    >>> Traffic.of("intent", {"refund": 30, "delivery": 70}).describe()
    'weighted by intent as 100 logged questions are'
    """

    facet: str
    counts: tuple[tuple[str, int], ...]

    @staticmethod
    def of(facet: str, counts: Mapping[str, int]) -> Traffic:
        """Return the counts of a facet's buckets, in the order of their names.

        Raises `BadInput` for a count below 0, and where nothing was counted.
        """
        for bucket, count in counts.items():
            if count < 0:
                raise BadInput(f"bucket {bucket!r} of {facet!r} cannot be asked for {count} times")
        kept = {bucket: count for bucket, count in counts.items() if count}
        if not kept:
            raise BadInput(f"no logged question has a bucket of {facet!r}, so nothing to weight by")
        return Traffic(facet, tuple(sorted(kept.items())))

    @property
    def total(self) -> int:
        """How many questions were counted."""
        return sum(count for _, count in self.counts)

    def describe(self) -> str:
        """Say by what means are weighted."""
        return f"weighted by {self.facet} as {self.total:,} logged questions are"


def logged(batches: Iterable[Batch]) -> dict[str, Counter[str]]:
    """Count all that was loaded of logs by facet and bucket; what else was loaded is no traffic."""
    found: dict[str, Counter[str]] = {}
    for batch in batches:
        if batch.source == LOG:
            for facet, buckets in batch.buckets.items():
                found.setdefault(facet, Counter()).update(buckets)
    return found


def traffic_by(facet: str, batches: Iterable[Batch]) -> Traffic:
    """Return how often each bucket of a facet was asked for in all logs.

    Raises `NotFound` where no log is there, or none that knows the facet.
    """
    found = logged(batches)
    if not found:
        raise NotFound("no log that names buckets is loaded, so there is nothing to weight by")
    if facet not in found:
        raise NotFound(f"no log has a facet {facet!r}; logs have: {', '.join(sorted(found))}")
    return Traffic.of(facet, found[facet])
