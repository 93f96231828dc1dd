"""Scope of a grader's work: queries of a bucket or a split, and which of their pairs."""

from __future__ import annotations

from dataclasses import dataclass

from labeler.errors import BadInput, NotFound
from labeler.model import EVERYTHING, WITH_LEAKED, Selection
from labeler.store import Store

UNTIL_DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class Scope:
    """The queries a grader is confined to: those ``selected``, of one bucket if a facet is named.

    With ``between``, only the pairs that a transfer from one chunking to another leaves open; with
    ``until_decided``, only those that decide between two runs.
    """

    facet: str | None = None
    bucket: str | None = None
    selected: Selection = EVERYTHING
    between: tuple[str, str] | None = None
    until_decided: bool = False

    @property
    def has_every_query(self) -> bool:
        return self.facet is None and self.selected == EVERYTHING

    def queries(self, store: Store) -> frozenset[str]:
        """Return the queries in the scope, without retired ones; raise `NotFound` for none."""
        found = store.splits.selected(self.selected, self.facet, self.bucket)
        if not found:
            within = self.selected.describe()
            raise NotFound(
                f"no query has {self.facet} {self.bucket!r}{f' ({within})' if within else ''}"
            )
        return frozenset(found)


def parse_scope(
    facet: str | None,
    bucket: str | None,
    split: str | None = None,
    leaked: str | None = None,
    old: str | None = None,
    new: str | None = None,
    until: str | None = None,
) -> Scope | None:
    """Return the scope a grader is confined to, None for all queries.

    Raises `BadInput` for a facet without a bucket, for one chunking without the other, for an
    impossible split, and for another end than ``UNTIL_DECIDED``.
    """
    selected = Selection(split or None, leaked or WITH_LEAKED)
    if (facet is None) is not (bucket is None) or facet == "" or bucket == "":
        raise BadInput("a field is a facet and one of its buckets: give both")
    if (old is None) is not (new is None):
        raise BadInput("what is left open lies between two chunkings: give both, from and to")
    if until not in (None, UNTIL_DECIDED):
        raise BadInput(f"grading goes on until={UNTIL_DECIDED}, or without end")
    between = None if old is None or new is None else (old, new)
    scope = Scope(facet, bucket, selected, between, until is not None)
    return None if scope == Scope() else scope
