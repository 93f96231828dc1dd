"""Golden grades of several chunkings side by side: what each run is measured by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from labeler.measures import Ints
from labeler.model import Sides

Chunks = npt.NDArray[np.int32]
Graded = tuple[Chunks, npt.NDArray[np.int8]]


def are_on_all(sides: Sides, chunks: Chunks) -> bool:
    """Say whether there is one of ``chunks`` on each side."""
    of = sides.of[chunks]
    return all((of == side).any() for side in range(len(sides.names)))


def known_on_sides(
    sides: Sides,
    graded: Iterable[Graded],
    lists: Sequence[Sequence[Chunks]],
    side_of: Sequence[int] | None,
) -> Ints:
    """Count the chunks of each grade that a query has on the side of each of its lists, (rows, 4).

    ``side_of`` says of which side a query's lists are; where it is None, their first chunks do.
    """
    rows = []
    for (chunks, grades), of in zip(graded, lists, strict=True):
        side = sides.of[chunks]
        found = side_of or [int(sides.of[each[0]]) if len(each) else 0 for each in of]
        rows += [np.bincount(grades[side == which], minlength=4) for which in found]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)
