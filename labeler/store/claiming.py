"""Who is at what just now, where several servers hand out of one golden set: they read it here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from labeler.model import Pair
from labeler.store.columns import as_json
from labeler.store.connection import Connection
from labeler.store.transactions import CHOOSING

NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"  # of the database: servers' clocks differ
CLAIMED = f"""
SELECT g.name, c.queries, c.pairs, c.seen_at, {NOW}
FROM claims AS c JOIN graders AS g ON g.id = c.grader
"""
CLAIM = f"""
INSERT INTO claims (grader, queries, pairs, seen_at)
SELECT id, ?, ?, {NOW} FROM graders WHERE name = ?
ON CONFLICT (grader) DO UPDATE
SET queries = excluded.queries, pairs = excluded.pairs, seen_at = excluded.seen_at
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a grader was handed last: queries, in order; pairs, where these decide between runs."""

    queries: tuple[str, ...] = ()
    pairs: frozenset[Pair] = frozenset()


class Claiming(Connection):
    """What the servers of one golden set tell each other of whom they handed what."""

    @property
    def is_shared(self) -> bool:
        """Whether several servers may hand out of this golden set: one that is in a database."""
        return self._engine.is_shared

    @contextmanager
    def choosing(self) -> Iterator[tuple[Mapping[str, tuple[Claim, float]], float]]:
        """Give what each grader was handed and when, and what time it is now, both in seconds.

        Nobody else chooses until the block ends.
        """
        with self._transaction(CHOOSING):
            rows = self._rows(CLAIMED)
            claims = {name: (_claim(*held), _seconds(at)) for name, *held, at, _ in rows}
            yield claims, max((_seconds(now) for *_, now in rows), default=0.0)

    def claim(self, grader: str, claim: Claim) -> None:
        """Remember what a grader was handed now, in the place of what they were handed before."""
        queries, pairs = as_json(list(claim.queries)), as_json(sorted(claim.pairs))
        with self._translated():
            self._db.execute(CLAIM, [queries, pairs, grader])


def _claim(queries: str, pairs: str) -> Claim:
    held = frozenset((query_id, chunk) for query_id, chunk in json.loads(pairs))
    return Claim(tuple(json.loads(queries)), held)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
