"""Which queries of a golden set numbers are of: one split, with or without those that leaked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.model.records import SPLITS, Collection

WITH, WITHOUT, ONLY = "with", "without", "only"
LEAKED = (WITH, WITHOUT, ONLY)


@dataclass(frozen=True, slots=True)
class Selection:
    """A ``split``, None for all, and what of queries marked as leaked: with, without, only them.

    >>> Selection("test", "without").describe()
    'split test · leaked queries left out'
    """

    split: str | None = None
    leaked: str = WITH

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in SPLITS:
            raise BadInput(f"no split is called {self.split!r}; there are {', '.join(SPLITS)}")
        if self.leaked not in LEAKED:
            raise BadInput(f"'leaked' can be {', '.join(LEAKED)}, not {self.leaked!r}")

    def describe(self) -> str:
        """Say what is selected; nothing where all queries are."""
        leaked = {WITHOUT: "leaked queries left out", ONLY: "leaked queries alone"}
        words = [self.split and f"split {self.split}", leaked.get(self.leaked)]
        return " · ".join(word for word in words if word)

    def of(self, collection: Collection) -> Collection:
        """Return a collection with the selected queries alone; `NotFound` where there is none."""
        splits = collection.facets.get("split", (None,) * len(collection.query_ids))
        kept = [
            at
            for at, (query_id, split) in enumerate(zip(collection.query_ids, splits, strict=True))
            if self.takes(split, is_leaked=query_id in collection.leaked)
        ]
        if len(kept) == len(collection.query_ids):
            return collection
        if not kept:
            raise NotFound(self.nothing())
        return _cut(collection, kept)

    def takes(self, split: str | None, *, is_leaked: bool) -> bool:
        """Say whether a query of this split, leaked or not, is selected."""
        of_split = self.split in (None, split)
        return of_split and (self.leaked == WITH or is_leaked == (self.leaked == ONLY))

    def nothing(self) -> str:
        """Say that no query is selected, and how some would be."""
        if self.split is not None and self.leaked == WITH:
            return f"no query is in the split {self.split}; 'labeler split' assigns queries to it"
        there = "" if self.split is None else f" in the split {self.split}"
        if self.leaked == ONLY:
            return (
                f"no query{there} is marked as leaked; 'labeler leakage FILE --mark' marks those "
                "that it finds"
            )
        return f"every query{there} is marked as leaked, so none is left"


EVERYTHING = Selection()


def _cut(collection: Collection, kept: list[int]) -> Collection:
    """Return a collection with some of its queries, by their places; they are numbered anew."""
    place = np.full(len(collection.query_ids), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    query_ids = tuple(collection.query_ids[at] for at in kept)
    moved = place[collection.golden_query]
    golden = moved >= 0
    pool = place[collection.pool_query]
    runs = tuple(
        replace(
            run,
            lists={int(place[at]): each for at, each in run.lists.items() if place[at] >= 0},
        )
        for run in collection.runs
    )
    return replace(
        collection,
        query_ids=query_ids,
        facets={
            facet: tuple(column[at] for at in kept) for facet, column in collection.facets.items()
        },
        runs=runs,
        golden_query=moved[golden],
        golden_chunk=collection.golden_chunk[golden],
        golden_grade=collection.golden_grade[golden],
        stale=collection.stale[golden],
        places=np.array(kept) if collection.places is None else collection.places[kept],
        pool_query=pool[pool >= 0],
        pool_chunk=collection.pool_chunk[pool >= 0],
        left_out=collection.left_out | (set(collection.query_ids) - set(query_ids)),
    )
