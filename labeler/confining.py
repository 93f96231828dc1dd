"""Which queries a grader keeps to: of a bucket, of a split, or of both; hands out nothing."""

from __future__ import annotations

from dataclasses import dataclass

from labeler.errors import BadInput, NotFound
from labeler.model import EVERYTHING, WITH, Selection
from labeler.store import Store


@dataclass(frozen=True, slots=True)
class Field:
    """The queries that are ``selected``, and of these one bucket's where a facet is named."""

    facet: str | None = None
    bucket: str | None = None
    selected: Selection = EVERYTHING

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
    facet: str | None, bucket: str | None, split: str | None = None, leaked: str | None = None
) -> Field | None:
    """Return the field a grader is confined to, None for all queries.

    Raises `BadInput` for half of a bucket, and for a split that cannot be.
    """
    selected = Selection(split or None, leaked or WITH)
    if facet is None and bucket is None:
        return None if selected == EVERYTHING else Field(selected=selected)
    if not facet or not bucket:
        raise BadInput("a field is a facet and one of its buckets: give both")
    return Field(facet, bucket, selected)
