"""Reads the golden set as it was: what the log, the queries and the rule said before a moment.

The log is append-only, so leaving out what came later gives what held then; which grade counts is
decided by the file's own views, over the shorter log.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput
from labeler.model import Collection, Passage
from labeler.store.columns import moment
from labeler.store.freezing import Freezing
from labeler.store.laying import MARKED, marks_in

Rows: TypeAlias = Sequence[tuple[int, int, int, int]]
Marks: TypeAlias = dict[tuple[str, int], tuple[Passage, ...]]

VIEWS = ("standing_judgments", "current_judgments", "golden")
_HEAD = re.compile(r"CREATE VIEW \w+ AS\s")

# Who came later is not in the log yet; the rule is the one that held.
LOG = "SELECT * FROM main.judgments WHERE created_at < :until"
SETTINGS = """
SELECT 'settings' AS key, json_object('golden_rule', :rule, 'carried', :carried) AS value
"""

# The newest turn before the moment says whether a query was there; without one, whether it is
# retired since.
QUERIES = """
SELECT q.id, q.query_id
FROM queries AS q
LEFT JOIN (
    SELECT subject, kind FROM audit WHERE id IN (
        SELECT max(id) FROM audit
        WHERE kind IN ('retire', 'restore') AND at < :until GROUP BY subject
    )
) AS turn ON turn.subject = q.query_id
WHERE coalesce(turn.kind = 'restore', q.retired_at IS NULL OR q.retired_at >= :until)
ORDER BY q.id
"""
# The first change after the moment names the rule it put away.
BEFORE = """
SELECT json_extract(detail, '$.{name}[0]') FROM audit
WHERE kind = 'settings' AND at >= :until AND json_extract(detail, '$.{name}[0]') IS NOT NULL
ORDER BY id LIMIT 1
"""
GOLDEN = "SELECT query, chunk, grade, kind = 'carry' FROM golden"


class Past(Freezing):
    """What held at another moment."""

    def rule_at(self, when: datetime) -> str:
        """Return how several people's grades became one just before ``when``, which has a zone."""
        return self._setting_at("golden_rule", moment(when))

    def _setting_at(self, name: str, until: str) -> str:
        before = self._value(BEFORE.format(name=name), {"until": until})
        return str(before or getattr(self.settings(), name))

    def first_judgment_at(self) -> str | None:
        """Return when the oldest event of the log was given, None before the first."""
        found: str | None = self._value("SELECT min(created_at) FROM judgments")
        return found

    def revision_at(self, when: datetime) -> int:
        """Return the newest judgment there was just before ``when``, 0 before the first."""
        newest = "SELECT coalesce(max(id), 0) FROM judgments WHERE created_at < ?"
        return int(self._value(newest, [moment(when)]))

    def collection_at(self, when: datetime, runs: Names[str]) -> Collection:
        """Return what measures of some runs would have been computed from just before ``when``.

        Golden grades are by the rule of that time, queries those that were not retired then. Which
        bucket a query is in is not logged: that is as it is now, and so are pools, runs and texts.
        Passages that were marked in an earlier wording are nowhere, and no grade is marked stale.
        A time without a zone is refused.
        """
        if when.tzinfo is None:
            raise BadInput(f"{when.isoformat()}: a moment of the past needs a time zone")
        until = moment(when)
        with self._reading():
            numbers = self._rows(QUERIES, {"until": until})
            query_ids = tuple(query_id for _, query_id in numbers)
            place = {query_id: at for at, query_id in enumerate(query_ids)}
            chunk_ids = self._chunk_ids()
            golden, marks = self._golden_at(until, self.rule_at(when))
            positions = {number: place[query_id] for number, query_id in numbers}
            table = _by_position(golden, positions)
            pool = self._pool(place)
            return Collection(
                query_ids=query_ids,
                facets=self._facets(place),
                chunk_ids=chunk_ids,
                runs=tuple(self._stored_runs(place, runs)),
                golden_query=table[0],
                golden_chunk=table[1],
                golden_grade=table[2].astype(np.int8),
                stale=np.zeros(len(table[0]), dtype=np.bool_),
                carried=table[3].astype(np.bool_) if table[3].any() else None,
                revision=self.revision_at(when),
                data_revision=self.data_revision(),
                pool_query=pool[0],
                pool_chunk=pool[1],
                leaked=self._leaked_ids(),
                sides=self._sides(chunk_ids),
                marks={pair: each for pair, each in marks.items() if pair[0] in place},
                texts=self._texts_later(),
            )

    def _golden_at(self, until: str, rule: str) -> tuple[Rows, Marks]:
        """Return query, chunk, grade and whether it was carried over, and the passages marked."""
        asked = {"until": until, "rule": rule, "carried": self._setting_at("carried", until)}
        over = self._over(LOG, SETTINGS)
        golden = self._rows(over + GOLDEN, asked)
        grades = {(query, chunk): grade for query, chunk, grade, _ in golden}
        return golden, marks_in(self._rows(over + MARKED, asked), grades)

    def _over(self, log: str, settings: str) -> str:
        """Return the views of the golden grade as parts of a statement, over another log."""
        names = ", ".join(f"'{name}'" for name in VIEWS)
        made = dict(
            self._rows(
                f"SELECT name, sql FROM sqlite_master WHERE type = 'view' AND name IN ({names})"
            )
        )
        parts = {
            "judgments": log,
            "settings": settings,
            **{name: _HEAD.sub("", made[name], count=1) for name in VIEWS},
        }
        inlined = (f"{name} AS NOT MATERIALIZED ({sql})" for name, sql in parts.items())
        return f"WITH {', '.join(inlined)}\n"


def _by_position(golden: Rows, place: dict[int, int]) -> npt.NDArray[np.int32]:
    """Return int32 (4, n): query position, chunk, grade, whether it was carried over, sorted."""
    rows = [(place[query], *rest) for query, *rest in golden if query in place]
    return np.array(sorted(rows), dtype=np.int32).reshape(-1, 4).T
