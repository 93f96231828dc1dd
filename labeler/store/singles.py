"""Reads single grades: who gave what, before several become one; decides nothing between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from labeler.model import DECIDING, SingleGrades
from labeler.store.connection import Connection

SINGLES = """
SELECT
    j.query, j.chunk, coalesce(j.grader, -1), j.kind, j.grade, j.blind,
    j.text_hash IS NOT NULL AND j.text_hash IS NOT c.text_hash
FROM current_judgments AS j JOIN chunks AS c ON c.id = j.chunk
WHERE j.kind IN ('grade', 'adjudicate', 'import') {among}
ORDER BY j.query, j.chunk, j.id
"""
JUDGED = "SELECT query, chunk FROM judgments NOT INDEXED WHERE id > ?"


class Singles(Connection):
    """What each person said of each chunk."""

    def single_grades(self, known: SingleGrades | None = None) -> SingleGrades:
        """Return every judgment that can decide a golden grade, without those of retired queries.

        What is ``known`` is only brought up to date, which takes as long as what was judged since;
        it must be of the same data revision.
        """
        with self._reading():
            live = "SELECT id FROM queries WHERE retired_at IS NULL ORDER BY id"
            queries = np.array([number for (number,) in self._rows(live)], dtype=np.int64)
            if known is None:
                return self._singles(queries, self._rows(SINGLES.format(among="")))
            among = f"AND (j.query, j.chunk) IN ({JUDGED})"
            rows = self._rows(SINGLES.format(among=among), [known.revision])
            judged = np.array(self._rows(JUDGED, [known.revision]), dtype=np.int64).reshape(-1, 2)
            pairs, _ = _pairs(queries, judged)
            return known.brought_up(self._singles(queries, rows), pairs)

    def _singles(
        self, queries: npt.NDArray[np.int64], rows: Sequence[tuple[Any, ...]]
    ) -> SingleGrades:
        kinds = {kind: place for place, kind in enumerate(DECIDING)}
        coded = [(*row[:3], kinds[row[3]], *row[4:]) for row in rows]
        table = np.array(coded, dtype=np.int64).reshape(-1, 7)
        pairs, there = _pairs(queries, table[:, :2])
        revision = int(self._value("SELECT coalesce(max(id), 0) FROM judgments"))
        names = dict(self._rows("SELECT id, name FROM graders"))
        table = np.column_stack([pairs, table[there, 2:]])
        return SingleGrades.of(revision, names, table)


def _pairs(
    queries: npt.NDArray[np.int64], table: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the pairs of (n, 2) queries and chunks, and which (n,) are of ``queries``."""
    there = np.isin(table[:, 0], queries)
    query, chunk = table[there].T
    return np.searchsorted(queries, query) << 32 | chunk, there
