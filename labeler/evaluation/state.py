"""All that one revision of the golden set says: its grades, the hits, and the rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeler.evaluation.alignment import QueryGrades, realigned
from labeler.evaluation.sheet import Sheet
from labeler.measures import Bools, Hits


@dataclass(eq=False)
class State:
    """Never changed, only replaced, so that readers need no lock.

    ``aligned`` are the hits of all queries as they were when a board was made, with a row for each
    run, and ``moved`` those of the queries that changed since. Only ``sheet`` is put in anew, when
    a measure is asked for that it did not have; two threads that do so at once lose one of the
    new measures, which is then made again. ``judged`` (queries,) says which queries count.
    """

    revision: int
    golden: Sequence[QueryGrades]
    aligned: Hits
    moved: Mapping[int, Hits]
    sheet: Sheet
    judged: Bools

    @cached_property
    def hits(self) -> Hits:
        """The hits of all queries."""
        return realigned(self.aligned, self.moved)
