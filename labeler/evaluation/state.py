"""All that one revision of the golden set says: its grades, the hits, and the rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.evaluation.alignment import QueryGrades, realigned
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.sheet import Sheet
from labeler.measures import Bools, Hits
from labeler.model import GoldenState


@dataclass(eq=False)
class State:
    """Never changed, only replaced, so that readers need no lock.

    ``conventions`` name the golden set that this is, ``is_of`` says what it is by its content.
    ``aligned`` are the hits of all queries as they were when a board was made, with a row for each
    run, and ``moved`` those of the queries that changed since. Only ``sheet`` is put in anew, when
    a measure is asked for that it did not have; two threads that do so at once lose one of the
    new measures, which is then made again.
    """

    revision: int
    conventions: Conventions
    is_of: GoldenState | None
    golden: Sequence[QueryGrades]
    aligned: Hits
    moved: Mapping[int, Hits]
    sheet: Sheet

    @cached_property
    def hits(self) -> Hits:
        """The hits of all queries."""
        return realigned(self.aligned, self.moved)

    @cached_property
    def judged(self) -> Bools:
        """Say which queries have a golden grade, (queries,)."""
        return np.array([len(golden.chunks) > 0 for golden in self.golden], dtype=np.bool_)
