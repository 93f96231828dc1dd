"""The collection measures are computed from, by number: runs, golden grades, facets, chunkings.

`Selection` restricts it to a split, to queries with or without leaks, or to chunkings. A run is
measured by the grades of its own chunking, so a collection with several chunkings is reduced to
one before anything is measured. Two runs of different chunkings are compared on a collection of
both: each run has the grades of its own chunking, and a query counts where it counts in both.

The lists of a run are stored one after the other in two arrays, and a list is a view into them:
an object for each list would take more memory than its content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput, NotFound
from labeler.model.chunkings import CHUNKING_SEPARATOR, DEFAULT_CHUNKING, describe_chunking
from labeler.model.grades import Passage
from labeler.model.records import SPLITS, Chunk


@dataclass(frozen=True, slots=True, eq=False)
class StoredList:
    """A ranking by chunk number, best first, as it was loaded.

    ``chunks`` int32 (depth,), ``scores`` float32 (depth,) or None where the file had none.
    """

    chunks: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32] | None


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun:
    """A run by number: ``lists`` maps a query's position in `Collection.query_ids` to its list.

    ``created_at`` is None where it is unknown. All chunks are of ``chunking``. Where more
    scores of a list differ as 64-bit numbers than as 32-bit ones, ``apart`` has numbers in their
    order by query.
    """

    name: str
    system: str
    created_at: str | None
    lists: Mapping[int, StoredList]
    unknown_queries: int = 0
    chunking: str = ""
    apart: Mapping[int, npt.NDArray[np.float64]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ChunkingIndex:
    """The chunking of every chunk by number: ``names[of[chunk]]``, or none where ``of`` is -1."""

    names: tuple[str, ...]
    of: npt.NDArray[np.int32]

    @staticmethod
    def of_ids(named: Sequence[str], chunk_ids: Sequence[str]) -> ChunkingIndex:
        """Return the index of chunks by the prefixes of their ids; the default chunking is first.

        >>> index = ChunkingIndex.of_ids(["v2"], ["c7", "v2:c7"])
        >>> index.names, index.of.tolist()
        (('', 'v2'), [0, 1])
        """
        index = {name: at for at, name in enumerate(named, 1)}
        of = [index.get(chunk_id.partition(CHUNKING_SEPARATOR)[0], 0) for chunk_id in chunk_ids]
        return ChunkingIndex((DEFAULT_CHUNKING, *named), np.array(of, dtype=np.int32))

    def only(self, names: Sequence[str]) -> ChunkingIndex:
        """Return the index restricted to some of the chunkings."""
        new = np.array([*(names.index(n) if n in names else -1 for n in self.names), -1])
        return ChunkingIndex(tuple(names), new[self.of].astype(np.int32))


@dataclass(frozen=True, slots=True)
class CollectionTexts:
    """The texts of chunks, by chunking and chunk number, and of documents, by id.

    ``digest`` is the hash of all of them: two with the same digest are equal.
    """

    digest: str
    cuts: Mapping[str, Mapping[int, Chunk]] = field(compare=False, repr=False)
    documents: Mapping[str, str] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class AllGoldenGrades:
    """The golden grades of all chunkings; `Collection` itself has those of the selected ones."""

    query: npt.NDArray[np.int32]
    chunk: npt.NDArray[np.int32]
    grade: npt.NDArray[np.int8]
    transferred: npt.NDArray[np.bool_] | None = None


def _no_pairs() -> npt.NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Everything measures are computed from, read in one transaction.

    Queries are numbered by their position in ``query_ids``, a fixed order; chunks have the store's
    numbers and ``chunk_ids[number]`` is the id. ``facets[facet][query]`` is a bucket, or None where
    the query is in none. The golden grades are three arrays of equal length, sorted by query then
    chunk: int32, int32, int8. ``stale[i]`` says that the chunk's text has changed since, and
    ``transferred[i]`` that the grade was transferred from other chunks; None means that none was.
    ``pool_query`` and ``pool_chunk``, sorted likewise, are pairs that a file put into the pool
    unjudged; some may have a golden grade by now. ``golden`` identifies the golden set, None where
    there is none stored. Queries that are ``leaked`` were found in other texts; ``left_out`` are
    queries of the golden set that are not in this collection, and ``places`` are then the numbers
    that the others have in the whole set. ``sides`` is the chunking of every chunk, None where
    there is only one; ``runs_left_out`` are of other chunkings. ``everywhere`` are the golden
    grades of all chunkings, None where no others exist. ``marks`` are the passages that golden
    grades rest on, by query id and chunk, for all chunkings; ``texts`` reads the texts they are
    marked in, None where none are stored.
    """

    query_ids: tuple[str, ...]
    facets: Mapping[str, tuple[str | None, ...]]
    chunk_ids: Sequence[str]
    runs: tuple[StoredRun, ...]
    golden_query: npt.NDArray[np.int32]
    golden_chunk: npt.NDArray[np.int32]
    golden_grade: npt.NDArray[np.int8]
    stale: npt.NDArray[np.bool_]
    revision: int
    data_revision: int
    golden: GoldenState | None = None
    pool_query: npt.NDArray[np.int32] = field(default_factory=_no_pairs)
    pool_chunk: npt.NDArray[np.int32] = field(default_factory=_no_pairs)
    leaked: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    places: npt.NDArray[np.int64] | None = None
    sides: ChunkingIndex | None = None
    runs_left_out: tuple[StoredRun, ...] = ()
    transferred: npt.NDArray[np.bool_] | None = None
    everywhere: AllGoldenGrades | None = None
    marks: Mapping[tuple[str, int], tuple[Passage, ...]] = field(default_factory=dict)
    texts: Callable[[], CollectionTexts] | None = None

    @property
    def has_several_chunkings(self) -> bool:
        """Whether there are several chunkings, each run with the grades of its own."""
        return self.sides is not None and len(self.sides.names) > 1

    def takes(self, change: GradeChange) -> bool:
        """Return whether a change is of a query and of a chunking of this collection."""
        if change.query_id in self.left_out:
            return False
        return self.sides is None or bool(self.sides.of[change.chunk] >= 0)


@dataclass(frozen=True, slots=True)
class GradeChange:
    """The new golden grade of a pair, None if it no longer has one.

    ``kind`` is the kind of judgment that decides it; ``marks`` are the passages it rests on.
    """

    query_id: str
    chunk: int
    grade: int | None
    stale: bool = False
    kind: str | None = None
    marks: tuple[Passage, ...] = ()


SHORT_HASH = 8  # digits of a hash as shown to people


@dataclass(frozen=True, eq=False)
class GoldenState:
    """The content of a golden set at a revision: its ``hash``, made from each query's digest.

    ``conventions`` are the bytes of the settings that are in the hash; ``name`` is that of the
    frozen version, None for the live golden set.
    """

    hash: str
    conventions: bytes
    digests: Mapping[str, str]
    revision: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class GoldenVersion:
    """A golden set that was frozen under a ``name`` and never changes.

    ``at`` is UTC, ISO 8601; ``by`` is None where it is unknown. ``revision`` is the number of the
    newest judgment in it, in the log of the file in which it was frozen.
    """

    name: str
    hash: str
    at: str
    by: str | None
    note: str | None
    revision: int
    queries: int
    grades: int


class PackedLists(Mapping[int, StoredList]):
    """The lists of a run by query: each is a view into arrays that all of them share.

    ``places`` maps a query to the index of its list; runs can share it. List i is
    ``chunks[bounds[i]:bounds[i + 1]]``, best first, and likewise its ``scores``; either all lists
    have scores, or ``scores`` is None.

    >>> both = np.array([5, 7, 9], dtype=np.int32)
    >>> lists = PackedLists({3: 0, 8: 1}, [2, 1], both, None)
    >>> {query: each.chunks.tolist() for query, each in lists.items()}, lists.get(4)
    ({3: [5, 7], 8: [9]}, None)
    """

    __slots__ = ("bounds", "chunks", "places", "scores")

    def __init__(
        self,
        places: Mapping[int, int],
        lengths: Sequence[int],
        chunks: npt.NDArray[np.int32],
        scores: npt.NDArray[np.float32] | None,
    ) -> None:
        self.places = places
        self.bounds: npt.NDArray[np.int64] = np.cumsum([0, *lengths])
        self.chunks = chunks
        self.scores = scores

    def __getitem__(self, query: int) -> StoredList:
        inside = self._inside(self.places[query])
        return StoredList(self.chunks[inside], None if self.scores is None else self.scores[inside])

    def __iter__(self) -> Iterator[int]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def chunks_of(self, query: int) -> npt.NDArray[np.int32] | None:
        """Return the chunks of a query's list, None if it has no list."""
        place = self.places.get(query)
        return None if place is None else self.chunks[self._inside(place)]

    def _inside(self, place: int) -> slice:
        return slice(self.bounds[place], self.bounds[place + 1])


WITH_LEAKED, WITHOUT_LEAKED, ONLY_LEAKED = "with", "without", "only"
LEAKED_CHOICES = (WITH_LEAKED, WITHOUT_LEAKED, ONLY_LEAKED)


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of queries and chunkings that count.

    ``split`` is None for all; queries marked as leaked are with the others, left out, or alone, as
    ``leaked`` says. Of the ``chunkings`` the runs and grades count; None is the first with a run.

    >>> Selection("test", "without").describe()
    'split test · leaked queries left out'
    """

    split: str | None = None
    leaked: str = WITH_LEAKED
    chunkings: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.split is not None and self.split not in SPLITS:
            raise BadInput(f"no split is called {self.split!r}; there are {', '.join(SPLITS)}")
        if self.leaked not in LEAKED_CHOICES:
            raise BadInput(f"'leaked' can be {', '.join(LEAKED_CHOICES)}, not {self.leaked!r}")

    @property
    def is_of_all_queries(self) -> bool:
        """Whether no query is left out; chunkings do not matter."""
        return self.split is None and self.leaked == WITH_LEAKED

    def describe(self) -> str:
        """Describe the selection in words; empty if everything is selected."""
        leaked = {WITHOUT_LEAKED: "leaked queries left out", ONLY_LEAKED: "leaked queries alone"}
        chunkings = [describe_chunking(name) for name in self.chunkings or ()]
        words = [*chunkings, self.split and f"split {self.split}", leaked.get(self.leaked)]
        return " · ".join(word for word in words if word)

    def of(self, collection: Collection) -> Collection:
        """Return a collection of the selected queries; raise `NotFound` if there are none."""
        collection = self._of_chunkings(collection)
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
        return _only_queries(collection, kept)

    def _of_chunkings(self, collection: Collection) -> Collection:
        """Return a collection of the selected chunkings; unchanged if it has no others."""
        index = collection.sides
        if index is None:
            if self.chunkings not in (None, (DEFAULT_CHUNKING,)):
                raise NotFound(f"no chunking is called {self.chunkings[0]!r}; there is none yet")
            return collection
        with_runs = {run.chunking for run in collection.runs}
        first = next((name for name in index.names if name in with_runs), index.names[0])
        wanted = (first,) if self.chunkings is None else self.chunkings
        for name in wanted:
            if name not in index.names and name not in with_runs:
                there = ", ".join(each or "''" for each in index.names)
                raise NotFound(f"no chunking is called {name!r}; there are: {there}")
        return collection if wanted == index.names else _only_chunkings(collection, wanted)

    def takes(self, split: str | None, *, is_leaked: bool) -> bool:
        """Return whether a query of this split, leaked or not, is selected."""
        of_split = self.split in (None, split)
        return of_split and (
            self.leaked == WITH_LEAKED or is_leaked == (self.leaked == ONLY_LEAKED)
        )

    def nothing(self) -> str:
        """Return a message that no query is selected, with the remedy."""
        if self.split is not None and self.leaked == WITH_LEAKED:
            return f"no query is in the split {self.split}; 'labeler split' assigns queries to it"
        there = "" if self.split is None else f" in the split {self.split}"
        if self.leaked == ONLY_LEAKED:
            return (
                f"no query{there} is marked as leaked; 'labeler leakage FILE --mark' marks those "
                "that it finds"
            )
        return f"every query{there} is marked as leaked, so none is left"


EVERYTHING = Selection()


def _only_chunkings(collection: Collection, names: tuple[str, ...]) -> Collection:
    """Return a collection with the runs, the grades and the pool of some chunkings."""
    if collection.sides is None:
        return collection
    index = collection.sides.only(names)
    golden = index.of[collection.golden_chunk] >= 0
    pool = index.of[collection.pool_chunk] >= 0
    others = tuple(run for run in collection.runs if run.chunking not in names)
    everywhere = collection.everywhere or AllGoldenGrades(
        collection.golden_query,
        collection.golden_chunk,
        collection.golden_grade,
        collection.transferred,
    )
    return replace(
        collection,
        everywhere=everywhere,
        runs=tuple(run for run in collection.runs if run.chunking in names),
        runs_left_out=(*collection.runs_left_out, *others),
        sides=index,
        golden_query=collection.golden_query[golden],
        golden_chunk=collection.golden_chunk[golden],
        golden_grade=collection.golden_grade[golden],
        stale=collection.stale[golden],
        transferred=None if collection.transferred is None else collection.transferred[golden],
        pool_query=collection.pool_query[pool],
        pool_chunk=collection.pool_chunk[pool],
    )


def _only_queries(collection: Collection, kept: list[int]) -> Collection:
    """Return a collection with some of its queries, by position; they are renumbered from 0."""
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
            apart={int(place[at]): each for at, each in run.apart.items() if place[at] >= 0},
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
        transferred=None if collection.transferred is None else collection.transferred[golden],
        everywhere=None if every is None else _renumbered(every, place),
        places=np.array(kept) if collection.places is None else collection.places[kept],
        pool_query=pool[pool >= 0],
        pool_chunk=collection.pool_chunk[pool >= 0],
        left_out=collection.left_out | (set(collection.query_ids) - set(query_ids)),
    )


def _renumbered(every: AllGoldenGrades, place: npt.NDArray[np.int32]) -> AllGoldenGrades:
    moved = place[every.query]
    kept = moved >= 0
    transferred = None if every.transferred is None else every.transferred[kept]
    return AllGoldenGrades(moved[kept], every.chunk[kept], every.grade[kept], transferred)
