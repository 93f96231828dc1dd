"""How often each kind of question is really asked: counts by bucket, as logs of production have it.

Knows no log file; what a mean makes of the counts is for others to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labeler.errors import BadInput


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
