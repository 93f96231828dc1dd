"""A board as it would be with other golden grades; knows not whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from labeler.evaluation.alignment import pairs_of
from labeler.evaluation.graded import Chunks
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Ints
from labeler.model import Everywhere

HOLE = -1


@dataclass(frozen=True, eq=False)
class Golden:
    """The golden grades of a board: numbers of pairs, rising, and the grade of each.

    A pair's number is its query's place on the board << 32 | its chunk's number.
    """

    pairs: Ints
    grades: Ints

    @staticmethod
    def of(board: Scoreboard) -> Golden:
        """Read them from a board, as they are now."""
        return Golden(*board.graded())

    def grades_of(self, pairs: Ints) -> Ints:
        """Return the grade of each of ``pairs``, `HOLE` where it has none."""
        place = np.searchsorted(self.pairs, pairs)
        known = np.append(self.pairs, -1)[place] == pairs
        return np.where(known, np.append(self.grades, HOLE)[place], HOLE)

    def changed(self, pairs: Ints, grades: Ints) -> Golden:
        """Return them with other grades of these distinct ``pairs``; `HOLE` takes one away."""
        kept = ~np.isin(self.pairs, pairs)
        numbers = np.concatenate([self.pairs[kept], pairs[grades != HOLE]])
        values = np.concatenate([self.grades[kept], grades[grades != HOLE]])
        order = np.argsort(numbers)
        return Golden(numbers[order], values[order])


def regraded(board: Scoreboard, runs: Sequence[str], golden: Golden) -> Scoreboard:
    """Return a board of some of a board's runs, with these golden grades and none of them stale.

    Grades of other chunkings, on which documents and evidence rest too, are as they were.
    """
    query, chunk, grade = _columns(golden)
    collection = replace(
        board.collection,
        runs=tuple(board.collection.runs[board.column_of(run)] for run in runs),
        golden_query=query,
        golden_chunk=chunk,
        golden_grade=grade,
        stale=np.zeros(len(grade), dtype=np.bool_),
        carried=None,
        everywhere=_everywhere(board, golden),
        revision=board.revision,
        golden=None,
    )
    return Scoreboard(collection, board.conventions)


def _columns(golden: Golden) -> tuple[Chunks, Chunks, npt.NDArray[np.int8]]:
    query, chunk = golden.pairs >> 32, golden.pairs & 2**32 - 1
    return query.astype(np.int32), chunk.astype(np.int32), golden.grades.astype(np.int8)


def _everywhere(board: Scoreboard, golden: Golden) -> Everywhere | None:
    """Return the grades of all chunkings with the board's own exchanged for these."""
    every = board.collection.everywhere
    if every is None:
        return None
    pairs = pairs_of(every.query.astype(np.int64), every.chunk)
    known = Golden(pairs, every.grade.astype(np.int64))
    gone = np.setdiff1d(Golden.of(board).pairs, golden.pairs)
    others = known.changed(gone, np.full(len(gone), HOLE))
    return Everywhere(*_columns(others.changed(golden.pairs, golden.grades)))
