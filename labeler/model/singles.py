"""Who gave which grade: every judgment that can decide a golden grade, by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

DECIDING = ("grade", "adjudicate", "import")
GRADE, ADJUDICATE, IMPORT = range(len(DECIDING))

Column = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SingleGrades:
    """The judgments that stand up to ``revision``, (n,): a pair's together, its oldest first.

    ``pair`` is a query's place in `Collection.query_ids` << 32 | its chunk's number. ``grader`` is
    a key of ``names``, -1 for what came with a file; ``kind`` a place in `DECIDING`. ``blind`` says
    that the grader knew neither the systems nor what others gave, ``stale`` that the chunk's text
    has changed since.
    """

    revision: int
    names: Mapping[int, str]
    pair: Column
    grader: Column
    kind: Column
    grade: Column
    blind: Flags
    stale: Flags

    @staticmethod
    def of(revision: int, names: Mapping[int, str], table: Column) -> SingleGrades:
        """Make them of a table, (n, 6), with the columns in this order."""
        pair, grader, kind, grade, blind, stale = table.T
        flags = (blind.astype(np.bool_), stale.astype(np.bool_))
        return SingleGrades(revision, names, pair, grader, kind, grade, *flags)

    @property
    def table(self) -> Column:
        """All columns, (n, 6)."""
        columns = (self.pair, self.grader, self.kind, self.grade, self.blind, self.stale)
        return np.stack(columns, axis=1).astype(np.int64)

    def only(self, chosen: Flags) -> SingleGrades:
        """Return those that are ``chosen``, (n,)."""
        return SingleGrades.of(self.revision, self.names, self.table[chosen])

    def among(self, places: Column) -> SingleGrades:
        """Return those of some queries, (m,) rising, which are numbered anew in this order."""
        query = self.pair >> 32
        at = np.searchsorted(places, query)
        kept = np.append(places, -1)[at] == query
        found = self.only(kept)
        return replace(found, pair=at[kept] << 32 | found.pair & 2**32 - 1)

    def brought_up(self, newer: SingleGrades, judged: Column) -> SingleGrades:
        """Return this with what ``newer`` has of the pairs ``judged`` in place of its own."""
        table = np.concatenate([self.table[~np.isin(self.pair, judged)], newer.table])
        order = np.argsort(table[:, 0], kind="stable")
        return SingleGrades.of(newer.revision, newer.names, table[order])
