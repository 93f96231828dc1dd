"""What a grader keeps to: a bucket, a split, what a carry-over left open; hands out nothing."""

from __future__ import annotations

from dataclasses import dataclass

from labeler.errors import BadInput, NotFound
from labeler.model import EVERYTHING, WITH, Selection
from labeler.store import Store


@dataclass(frozen=True, slots=True)
class Field:
    """The queries that are ``selected``, and of these one bucket's where a facet is named.

    With ``between`` only what a carry-over leaves open of them, from a chunking to another.
    """

    facet: str | None = None
    bucket: str | None = None
    selected: Selection = EVERYTHING
    between: tuple[str, str] | None = None

    @property
    def has_every_query(self) -> bool:
        """Whether it leaves no query out."""
        return self.facet is None and self.selected == EVERYTHING

    def queries(self, store: Store) -> frozenset[str]:
        """Return the queries in it, without the retired ones; raises `NotFound` for none."""
        found = store.selected_queries(self.selected, self.facet, self.bucket)
        if not found:
            within = self.selected.describe()
            raise NotFound(
                f"no query has {self.facet} {self.bucket!r}{f' ({within})' if within else ''}"
            )
        return frozenset(found)


def within(
    facet: str | None,
    bucket: str | None,
    split: str | None = None,
    leaked: str | None = None,
    old: str | None = None,
    new: str | None = None,
) -> Field | None:
    """Return the field a grader is confined to, None for all queries.

    Raises `BadInput` for half of a bucket, for one chunking where it takes two, and for a split
    that cannot be.
    """
    selected = Selection(split or None, leaked or WITH)
    if (facet is None) is not (bucket is None) or facet == "" or bucket == "":
        raise BadInput("a field is a facet and one of its buckets: give both")
    if (old is None) is not (new is None):
        raise BadInput("what is left open lies between two chunkings: give both, from and to")
    field = Field(facet, bucket, selected, None if old is None or new is None else (old, new))
    return None if field == Field() else field
