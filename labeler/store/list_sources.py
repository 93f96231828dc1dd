"""Sources of ranked lists: the records of other tools that they come from, stored and read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labeler.model import ListSource, Ranking
from labeler.store.columns import as_json
from labeler.store.connection import Connection

_PUT = (
    "INSERT INTO list_sources (run, query_id, span, trace, places) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
_SELECT = """
SELECT s.query_id, s.span, s.trace, s.places FROM list_sources AS s JOIN runs AS r ON r.id = s.run
WHERE r.name = ?
"""
_RUNS = """
SELECT name, EXISTS (SELECT 1 FROM list_sources AS s WHERE s.run = runs.id AND s.span IS NOT NULL),
    EXISTS (SELECT 1 FROM list_sources AS s WHERE s.run = runs.id AND s.trace IS NOT NULL)
FROM runs ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class StoredSource:
    """The span and trace of a stored list.

    ``places`` are pairs of the place of a document in the span and the rank of its chunk in the
    list, both from 0; None where they are the same.
    """

    span: str | None
    trace: str | None
    places: tuple[tuple[int, int], ...] | None

    def ranks_by_place(self, length: int) -> Iterator[tuple[int, int]]:
        """Return the place and the rank of each document, for a list of some length."""
        return iter(self.places or ((at, at) for at in range(length)))


class ListSources(Connection):
    """Where the ranked lists of runs come from."""

    def _put_sources(
        self, run: str, rankings: Sequence[Ranking], sources: Mapping[str, ListSource]
    ) -> None:
        """Store the sources of a run's lists; a list that has one keeps it."""
        number = self._value("SELECT id FROM runs WHERE name = ?", [run])
        self._db.conn.executemany(
            _PUT,
            [
                (number, ranking.query_id, source.span, source.trace, _places(ranking, source))
                for ranking in rankings
                if (source := sources.get(ranking.query_id)) is not None
                and (source.span or source.trace)
            ],
        )

    def sources_of_lists(self, run: str) -> dict[str, StoredSource]:
        """Return the sources of a run's lists by query, as far as any are known."""
        return {
            query_id: StoredSource(
                span, trace, None if places is None else tuple(map(tuple, json.loads(places)))
            )
            for query_id, span, trace, places in self._rows(_SELECT, [run])
        }

    def runs_with_sources(self) -> dict[str, tuple[bool, bool]]:
        """Return whether any list of each run has a span, and a trace; only of runs with one."""
        return {
            name: (bool(spans), bool(traces))
            for name, spans, traces in self._rows(_RUNS)
            if spans or traces
        }


def _places(ranking: Ranking, source: ListSource) -> str | None:
    """Return where in its source each chunk of a list stands, as it is stored."""
    ranks = {chunk_id: rank for rank, chunk_id in enumerate(ranking.chunk_ids)}
    places = range(len(source.chunk_ids)) if source.places is None else source.places
    found = [
        (place, ranks[chunk_id])
        for place, chunk_id in zip(places, source.chunk_ids, strict=True)
        if chunk_id in ranks
    ]
    if all(place == rank for place, rank in found) and len(found) == len(ranks):
        return None
    return as_json(found)
