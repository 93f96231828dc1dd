"""Splits of the queries, and the queries that leaked.

A leaked query was found in other texts, with which systems may have been built. The view
`leaked_queries` has the queries whose last event in the table `leaks` is a mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labeler.errors import NotFound
from labeler.model import EVERYTHING, Selection
from labeler.store.audit import Audit
from labeler.store.columns import moment
from labeler.store.connection import Connection
from labeler.store.queries import Queries
from labeler.store.query_history import QueryHistory

MARK_LEAKED = """
INSERT INTO leaks (query, kind, file, line, part, score, words, who, at)
SELECT id, 'mark', :file, :line, :part, :score, :words, :who, :at
FROM queries WHERE query_id = :query_id
"""
UNMARK_LEAKED = """
INSERT INTO leaks (query, kind, who, at)
SELECT query, 'take back', ?, ? FROM leaked_queries
WHERE query = (SELECT id FROM queries WHERE query_id = ?)
"""
SPLITS_OF_QUERIES = """
SELECT query_id, split, id IN (SELECT query FROM leaked_queries)
FROM queries WHERE retired_at IS NULL
"""
LEAKED_QUERIES = """
SELECT q.query_id, l.file, l.line, l.part, l.score, l.words, l.who, l.at
FROM leaked_queries AS l JOIN queries AS q ON q.id = l.query
WHERE q.retired_at IS NULL ORDER BY q.id
"""


@dataclass(frozen=True, slots=True)
class LeakedQuery:
    """A query marked as leaked: where it was found, who marked it, and when (UTC)."""

    query_id: str
    file: str | None
    line: int | None
    part: str | None
    score: float | None
    words: str | None
    who: str | None = None
    at: str | None = None

    @property
    def place(self) -> str:
        """The file, with the line where there is one."""
        return f"{self.file}:{self.line}" if self.line else self.file or ""

    @property
    def sentence(self) -> str:
        """Describe where it was found, with which score, and who marked it when.

        >>> LeakedQuery("q", "few.jsonl", 2, "query", 0.9, None, "Ann", "2026-01-31T10:00").sentence
        'Leaked: the query stands in few.jsonl:2 (score 0.90); marked by Ann on 2026-01-31'
        """
        score = "" if self.score is None else f" (score {self.score:.2f})"
        by = f" by {self.who}" if self.who else ""
        on = f" on {self.at[:10]}" if self.at else ""
        return f"Leaked: the {self.part or 'query'} stands in {self.place}{score}; marked{by}{on}"


class QuerySplits:
    """Reads and changes the split of each query, and which queries leaked."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._history = QueryHistory(connection)
        self._queries = Queries(connection)

    def selected(
        self, selected: Selection, facet: str | None = None, bucket: str | None = None
    ) -> set[str] | None:
        """Return the selected queries in use, None for all; with a facet and bucket, those in it.

        Raises `NotFound` where the selection is empty.
        """
        found: set[str] | None = None
        if selected != EVERYTHING:
            found = {
                query_id
                for query_id, split, is_leaked in self._db.rows(SPLITS_OF_QUERIES)
                if selected.takes(split, is_leaked=bool(is_leaked))
            }
            if not found:
                raise NotFound(selected.nothing())
        if facet is None or bucket is None:
            return found
        inside = self._queries.in_bucket(facet, bucket)
        return inside if found is None else inside & found

    def sizes(self) -> dict[str, int]:
        """Return how many queries are in each split, without the retired ones and empty splits."""
        return dict(
            self._db.rows(
                "SELECT split, count(*) FROM queries WHERE split IS NOT NULL "
                "AND retired_at IS NULL GROUP BY split"
            )
        )

    def assign(self, splits: Mapping[str, str], how: Mapping[str, object]) -> None:
        """Put queries into splits by id; the audit log stores ``how``."""
        with self._db.writing():
            before = dict(self._db.rows("SELECT query_id, split FROM queries"))
            for query_id, split in splits.items():
                if before.get(query_id, split) != split:
                    self._history.note_fields(
                        "split", query_id, {"split": before[query_id]}, {"split": split}
                    )
            self._db.conn.executemany(
                "UPDATE queries SET split = ? WHERE query_id = ? "
                "AND coalesce(split, '') <> coalesce(?, '')",
                ((split, query_id, split) for query_id, split in splits.items()),
            )
            if splits:
                self._audit.put("split", None, {"queries": len(splits), **how})

    def leaked(self) -> list[LeakedQuery]:
        """Return the queries that are marked as leaked, without the retired ones."""
        return [LeakedQuery(*row) for row in self._db.rows(LEAKED_QUERIES)]

    def mark_leaked(self, found: Iterable[LeakedQuery]) -> int:
        """Mark queries as leaked; return how many are newly marked.

        A query that is marked already keeps its first mark.
        """
        with self._db.writing():
            known = {each.query_id for each in self.leaked()}
            new = [each for each in found if each.query_id not in known]
            by, at = self._audit.who(), moment()
            for each in new:
                found_at = {"file": each.file, "line": each.line, "part": each.part}
                more = {"score": each.score, "words": each.words, "who": by, "at": at}
                self._db.execute(MARK_LEAKED, {"query_id": each.query_id, **found_at, **more})
                said = {"found at": each.place, "score": each.score}
                self._audit.put("leak", each.query_id, said, at=at)
        return len(new)

    def take_leaks_back(self, query_ids: Iterable[str]) -> None:
        """Unmark leaked queries, all or none; raises `NotFound` for one that is not marked."""
        with self._db.writing():
            for query_id in query_ids:
                if not self._db.execute(
                    UNMARK_LEAKED, [self._audit.who(), moment(), query_id]
                ).rowcount:
                    raise NotFound(
                        f"query {query_id!r} is not marked as leaked; "
                        "'labeler leakage --marked' lists those that are"
                    )
                self._audit.put("unleak", query_id)
