"""What numbers are of: the queries of one split, with or without leaked ones; one chunking's runs.

A run is measured by the grades of the chunks of its own chunking. So a collection is cut down to
one chunking before anybody measures: its runs, and the golden grades of its chunks. What measures
knows of no other, and where there is one chunking nothing is cut. Two runs of different chunkings
are compared on a collection of both: there each run has the grades of its side, and a query counts
where it counts on every side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput, NotFound
from labeler.model.chunkings import UNNAMED, chunking_in_words
from labeler.model.collected import Collection, Everywhere
from labeler.model.records import SPLITS

WITH, WITHOUT, ONLY = "with", "without", "only"
LEAKED = (WITH, WITHOUT, ONLY)


@dataclass(frozen=True, slots=True)
class Selection:
    """A ``split``, None for all, and what of queries marked as leaked: with, without, only them.

    ``chunkings`` are those whose runs and grades count, each run by its own; None stands for the
    first that has a run.

    >>> Selection("test", "without").describe()
    'split test · leaked queries left out'
    """

    split: str | None = None
    leaked: str = WITH
    chunkings: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in SPLITS:
            raise BadInput(f"no split is called {self.split!r}; there are {', '.join(SPLITS)}")
        if self.leaked not in LEAKED:
            raise BadInput(f"'leaked' can be {', '.join(LEAKED)}, not {self.leaked!r}")

    @property
    def is_of_all_queries(self) -> bool:
        """Whether no query is left out, of whichever chunkings."""
        return self.split is None and self.leaked == WITH

    def describe(self) -> str:
        """Say what is selected; nothing where all queries are."""
        leaked = {WITHOUT: "leaked queries left out", ONLY: "leaked queries alone"}
        chunkings = [chunking_in_words(name) for name in self.chunkings or ()]
        words = [*chunkings, self.split and f"split {self.split}", leaked.get(self.leaked)]
        return " · ".join(word for word in words if word)

    def of(self, collection: Collection) -> Collection:
        """Return a collection with the selected queries alone; `NotFound` where there is none."""
        collection = self._on_sides(collection)
        if self.is_of_all_queries:
            return collection
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

    def _on_sides(self, collection: Collection) -> Collection:
        """Return a collection of the selected chunkings; the same one where it is of no other."""
        sides = collection.sides
        if sides is None:
            if self.chunkings not in (None, (UNNAMED,)):
                raise NotFound(f"no chunking is called {self.chunkings[0]!r}; there is none yet")
            return collection
        with_runs = {run.chunking for run in collection.runs}
        first = next((name for name in sides.names if name in with_runs), sides.names[0])
        wanted = (first,) if self.chunkings is None else self.chunkings
        for name in wanted:
            if name not in sides.names and name not in with_runs:
                there = ", ".join(each or "''" for each in sides.names)
                raise NotFound(f"no chunking is called {name!r}; there are: {there}")
        return collection if wanted == sides.names else _cut_sides(collection, wanted)

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


def _cut_sides(collection: Collection, names: tuple[str, ...]) -> Collection:
    """Return a collection with the runs, the grades and the pool of some chunkings."""
    if collection.sides is None:
        return collection
    sides = collection.sides.only(names)
    golden = sides.of[collection.golden_chunk] >= 0
    pool = sides.of[collection.pool_chunk] >= 0
    others = tuple(run for run in collection.runs if run.chunking not in names)
    everywhere = collection.everywhere or Everywhere(
        collection.golden_query,
        collection.golden_chunk,
        collection.golden_grade,
        collection.carried,
    )
    return replace(
        collection,
        everywhere=everywhere,
        runs=tuple(run for run in collection.runs if run.chunking in names),
        runs_left_out=(*collection.runs_left_out, *others),
        sides=sides,
        golden_query=collection.golden_query[golden],
        golden_chunk=collection.golden_chunk[golden],
        golden_grade=collection.golden_grade[golden],
        stale=collection.stale[golden],
        carried=None if collection.carried is None else collection.carried[golden],
        pool_query=collection.pool_query[pool],
        pool_chunk=collection.pool_chunk[pool],
    )


def _cut(collection: Collection, kept: list[int]) -> Collection:
    """Return a collection with some of its queries, by their places; they are numbered anew."""
    place = np.full(len(collection.query_ids), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    query_ids = tuple(collection.query_ids[at] for at in kept)
    moved = place[collection.golden_query]
    golden = moved >= 0
    pool = place[collection.pool_query]
    every = collection.everywhere
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
        carried=None if collection.carried is None else collection.carried[golden],
        everywhere=None if every is None else _moved(every, place),
        places=np.array(kept) if collection.places is None else collection.places[kept],
        pool_query=pool[pool >= 0],
        pool_chunk=collection.pool_chunk[pool >= 0],
        left_out=collection.left_out | (set(collection.query_ids) - set(query_ids)),
    )


def _moved(every: Everywhere, place: npt.NDArray[np.int32]) -> Everywhere:
    moved = place[every.query]
    kept = moved >= 0
    carried = None if every.carried is None else every.carried[kept]
    return Everywhere(moved[kept], every.chunk[kept], every.grade[kept], carried)
