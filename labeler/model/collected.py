"""What measures are computed from, by number: runs, golden grades, and of which chunking they are.

Knows no ids but those it gives back; not where any of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from labeler.model.chunkings import BETWEEN, UNNAMED
from labeler.model.evidence import Passage
from labeler.model.golden import GoldenState
from labeler.model.records import Chunk


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

    ``created_at`` is None where nobody said when the run was made. All chunks are of ``chunking``.
    """

    name: str
    system: str
    created_at: str | None
    lists: Mapping[int, StoredList]
    unknown_queries: int = 0
    chunking: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """The chunkings of a golden set by number: ``of[chunk]`` is the place of its one in ``names``.

    -1 stands there for a chunk that is of none of these.
    """

    names: tuple[str, ...]
    of: npt.NDArray[np.int32]

    @staticmethod
    def of_ids(named: Sequence[str], chunk_ids: Sequence[str]) -> Sides:
        """Tell it by what chunks are called; the unnamed chunking comes first.

        >>> sides = Sides.of_ids(["v2"], ["c7", "v2:c7"])
        >>> sides.names, sides.of.tolist()
        (('', 'v2'), [0, 1])
        """
        place = {name: at for at, name in enumerate(named, 1)}
        of = [place.get(called.partition(BETWEEN)[0], 0) for called in chunk_ids]
        return Sides((UNNAMED, *named), np.array(of, dtype=np.int32))

    def only(self, names: Sequence[str]) -> Sides:
        """Return the same for some of the chunkings."""
        place = np.array([*(names.index(n) if n in names else -1 for n in self.names), -1])
        return Sides(tuple(names), place[self.of].astype(np.int32))


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of all chunkings, by name and chunk number, and those of documents, by id.

    ``digest`` is of all that it says: two with the same one are equal.
    """

    digest: str
    cuts: Mapping[str, Mapping[int, Chunk]] = field(compare=False, repr=False)
    documents: Mapping[str, str] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Everywhere:
    """The golden grades of all chunkings, as `Collection` has those of the selected ones."""

    query: npt.NDArray[np.int32]
    chunk: npt.NDArray[np.int32]
    grade: npt.NDArray[np.int8]
    carried: npt.NDArray[np.bool_] | None = None


def _no_pairs() -> npt.NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """Everything measures are computed from, read in one transaction.

    Queries are numbered by their position in ``query_ids``, a fixed order; chunks carry the
    store's numbers and ``chunk_ids[number]`` is the id. ``facets[facet][query]`` is a bucket, or
    None where the query is in none. The golden grades are three arrays of equal length, sorted by
    query then chunk: int32, int32, int8. ``stale[i]`` says the chunk's text changed since, and
    ``carried[i]`` that the grade was carried over from other chunks; None stands for none of them.
    ``pool_query`` and ``pool_chunk``, sorted likewise, are pairs that a file put into the pool and
    that nobody had graded; some may have a golden grade by now.
    ``golden`` says which golden set they are, None where nobody keeps it. Queries that are
    ``leaked`` were found in other texts; those ``left_out`` are of the golden set, and not here.
    Then ``places`` are the numbers that the others have in the whole of it. ``sides`` say of which
    chunking a chunk is, None where there is one alone; ``runs_left_out`` are of other chunkings.
    ``everywhere`` are the golden grades with those of other chunkings, None where there are none.
    ``marks`` are the passages that golden grades rest on, by query id and chunk, of all chunkings;
    ``texts`` reads what they are marked in, None where nobody keeps it.
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
    sides: Sides | None = None
    runs_left_out: tuple[StoredRun, ...] = ()
    carried: npt.NDArray[np.bool_] | None = None
    everywhere: Everywhere | None = None
    marks: Mapping[tuple[str, int], tuple[Passage, ...]] = field(default_factory=dict)
    texts: Callable[[], Texts] | None = None

    @property
    def is_of_several(self) -> bool:
        """Say whether it has several chunkings, each run with the grades of its own."""
        return self.sides is not None and len(self.sides.names) > 1

    def takes(self, change: GradeChange) -> bool:
        """Say whether a change is of a query and of a chunking that is here."""
        if change.query_id in self.left_out:
            return False
        return self.sides is None or bool(self.sides.of[change.chunk] >= 0)


@dataclass(frozen=True, slots=True)
class GradeChange:
    """The golden grade of a pair is now ``grade``; None says it has none any more.

    ``kind`` says of which kind of judgment it is; ``marks`` are the passages it rests on.
    """

    query_id: str
    chunk: int
    grade: int | None
    stale: bool = False
    kind: str | None = None
    marks: tuple[Passage, ...] = ()
