"""What of the golden set was found in other texts, which split a query is in; looks for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from labeler.errors import NotFound
from labeler.store.columns import moment
from labeler.store.history import History
from labeler.store.reading import Reading

MARK = """
INSERT INTO leaks (query, kind, file, line, part, score, words, who, at)
SELECT id, 'mark', :file, :line, :part, :score, :words, :who, :at
FROM queries WHERE query_id = :query_id
"""
TAKE_BACK = """
INSERT INTO leaks (query, kind, who, at)
SELECT query, 'take back', ?, ? FROM leaked_queries
WHERE query = (SELECT id FROM queries WHERE query_id = ?)
"""
LEAKED = """
SELECT q.query_id, l.file, l.line, l.part, l.score, l.words, l.who, l.at
FROM leaked_queries AS l JOIN queries AS q ON q.id = l.query
WHERE q.retired_at IS NULL ORDER BY q.id
"""


@dataclass(frozen=True, slots=True)
class Leaked:
    """A query that is marked as leaked: where it was found, and who marked it when, in UTC."""

    query_id: str
    file: str | None
    line: int | None
    part: str | None
    score: float | None
    words: str | None
    who: str | None = None
    at: str | None = None


class Leaks(Reading, History):
    """Queries that systems may have seen, and those kept apart from what is looked at."""

    def chunk_texts(self) -> Iterator[tuple[str, str]]:
        """Give the id and the text of every chunk that has one, title first, one after another."""
        with self._reading():
            for chunk_id, title, text in self._db.execute(
                "SELECT chunk_id, title, text FROM chunks WHERE text IS NOT NULL ORDER BY id"
            ):
                if title:
                    yield chunk_id, title
                yield chunk_id, text

    def leaked(self) -> list[Leaked]:
        """Return the queries that are marked as leaked, without the retired ones."""
        return [Leaked(*row) for row in self._rows(LEAKED)]

    def mark_leaked(self, found: Iterable[Leaked]) -> int:
        """Mark queries as leaked; return how many were not before.

        One that is marked already stays as it was found first.
        """
        with self._writing():
            known = {each.query_id for each in self.leaked()}
            new = [each for each in found if each.query_id not in known]
            by, at = self.whoever(), moment()
            for each in new:
                place = {"file": each.file, "line": each.line, "part": each.part}
                said = {"score": each.score, "words": each.words, "who": by, "at": at}
                self._db.execute(MARK, {"query_id": each.query_id, **place, **said})
                where = f"{each.file}:{each.line}" if each.line else each.file or ""
                self._note("leak", each.query_id, {"found at": where, "score": each.score}, at=at)
        return len(new)

    def take_leaks_back(self, query_ids: Iterable[str]) -> None:
        """Take back that queries are leaked, all or none; `NotFound` for one that is not."""
        with self._writing():
            for query_id in query_ids:
                if not self._db.execute(TAKE_BACK, [self.whoever(), moment(), query_id]).rowcount:
                    raise NotFound(
                        f"query {query_id!r} is not marked as leaked; "
                        "'labeler leakage --marked' lists those that are"
                    )
                self._note("unleak", query_id)

    def set_splits(self, splits: Mapping[str, str], how: Mapping[str, object]) -> None:
        """Put queries into splits by id; ``how`` is kept in the audit."""
        with self._writing():
            before = dict(self._rows("SELECT query_id, split FROM queries"))
            for query_id, split in splits.items():
                if before.get(query_id, split) != split:
                    self._note_fields(
                        "split", query_id, {"split": before[query_id]}, {"split": split}
                    )
            self._db.conn.executemany(
                "UPDATE queries SET split = ? WHERE query_id = ? AND split IS NOT ?",
                ((split, query_id, split) for query_id, split in splits.items()),
            )
            if splits:
                self._note("split", None, {"queries": len(splits), **how})

    def split_sizes(self) -> dict[str, int]:
        """Return how many queries are in each split, without the retired ones and empty splits."""
        return dict(
            self._rows(
                "SELECT split, count(*) FROM queries WHERE split IS NOT NULL "
                "AND retired_at IS NULL GROUP BY split"
            )
        )
