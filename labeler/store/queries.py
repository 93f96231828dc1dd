"""Queries: add, load and edit them, their history, their splits and which of them leaked.

A change of a query and its entry in the history are written in one transaction. A leaked query
is one that was found in other texts, which systems may have been built with.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import (
    EVERYTHING,
    QUERY_CHANGES,
    Loaded,
    Query,
    QueryChange,
    QueryOrigin,
    Selection,
    query_differences,
)
from labeler.model.snapshot import query_digest
from labeler.store.audit import Audit
from labeler.store.columns import as_json, moment
from labeler.store.contents import ContentsReader

INSERT_CHANGE = """
INSERT INTO query_history (query, kind, at, who, file, before, after)
SELECT id, ?, ?, ?, ?, ?, ? FROM queries WHERE query_id = ?
"""
SELECT_CHANGES = """
SELECT h.id, q.query_id, h.kind, h.at, h.who, h.file, h.before, h.after
FROM query_history AS h JOIN queries AS q ON q.id = h.query
"""
ORIGIN_OF_QUERY = "SELECT source, source_file, added_at, added_by FROM queries WHERE query_id = ?"
ORIGINS_IN_USE = """
SELECT query_id, source, source_file, added_at, added_by
FROM queries WHERE retired_at IS NULL ORDER BY id
"""
SET_ORIGIN = """
UPDATE queries SET source = ?, source_file = ?, added_at = ?, added_by = ? WHERE query_id = ?
"""


class QueryHistory(Audit):
    """The log of changes of queries, and where each query came from."""

    def _note_change(
        self, kind: str, before: Query | None, after: Query, file: str | None = None
    ) -> None:
        """Add what a change was of, if it was of anything."""
        was, now = query_differences(before, after)
        if was != now:
            said = [kind, moment(), self.whoever(), file, as_json(was), as_json(now)]
            self._db.execute(INSERT_CHANGE, [*said, after.query_id])

    def _note_fields(self, kind: str, query_id: str, was: Any, now: Any) -> None:
        said = [kind, moment(), self.whoever(), None, as_json(was), as_json(now)]
        self._db.execute(INSERT_CHANGE, [*said, query_id])

    def _note_origin(self, query_ids: Iterable[str], source: str, file: str | None) -> None:
        row = (source, file, moment(), self.whoever())
        self._db.conn.executemany(SET_ORIGIN, ((*row, query_id) for query_id in query_ids))

    def _put_origin(self, query_id: str, origin: QueryOrigin) -> None:
        row = (origin.source, origin.file, origin.added_at, origin.added_by, query_id)
        self._db.execute(SET_ORIGIN, row)

    def _put_change(self, change: QueryChange) -> None:
        """Add a change as another file has it."""
        said = [change.kind, change.at, change.who, change.file]
        self._db.execute(
            INSERT_CHANGE, [*said, as_json(change.before), as_json(change.after), change.query_id]
        )

    def history_of(self, query_id: str) -> list[QueryChange]:
        """Return what was changed of a query, the newest first."""
        rows = self._rows(f"{SELECT_CHANGES} WHERE q.query_id = ? ORDER BY h.id DESC", [query_id])
        return [_change_from_row(row) for row in rows]

    def history(self) -> list[QueryChange]:
        """Return every change of every query, oldest first."""
        return [_change_from_row(row) for row in self._rows(f"{SELECT_CHANGES} ORDER BY h.id")]

    def origin_of(self, query_id: str) -> QueryOrigin:
        """Return where a query came from; `NotFound` where there is none."""
        rows = self._rows(ORIGIN_OF_QUERY, [query_id])
        if not rows:
            raise NotFound(f"there is no query {query_id!r} in the golden set")
        return QueryOrigin(*rows[0])

    def origins(self) -> dict[str, QueryOrigin]:
        """Return where each query in use came from, in the order they were loaded."""
        return {query_id: QueryOrigin(*rest) for query_id, *rest in self._rows(ORIGINS_IN_USE)}


def _change_from_row(row: tuple[Any, ...]) -> QueryChange:
    change = QueryChange(*row)
    return replace(change, before=json.loads(row[6]), after=json.loads(row[7]))


PUT_QUERY = """
INSERT INTO queries (
    query_id, text, task, reference, guideline, keywords, metadata, split,
    source, source_file, added_at, added_by
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (query_id) DO UPDATE SET
    text = excluded.text, task = excluded.task, reference = excluded.reference,
    guideline = excluded.guideline, keywords = excluded.keywords,
    metadata = excluded.metadata, split = excluded.split
RETURNING id
"""


class QueryConflict(BadInput):
    """Somebody else changed a query while it was being edited; nothing was stored."""


def _text_or(given: str | None, known: str | None) -> str | None:
    """Return a text of a file, or the one already there where that has none."""
    return known if known and not (given or "").strip() else given


def query_fingerprint(query: Query) -> str:
    """Return a mark of what a query says, another one as soon as anything of it changes."""
    return query_digest(query, ())[:16]


class Queries(ContentsReader, QueryHistory):
    """Queries as they come in and are changed."""

    def _put_queries(self, loaded: Loaded[Query], *, update: bool) -> Counter[str]:
        counts: Counter[str] = Counter()
        came = QueryOrigin("file", loaded.source, moment(), self.whoever())
        there = {query_id for (query_id,) in self._rows("SELECT query_id FROM queries")}
        for index, query in enumerate(loaded.records):
            known = self._query(query.query_id) if query.query_id in there else None
            there.add(query.query_id)
            if known is not None and query.split is None:
                query = replace(query, split=known.split)  # a file need not say it
            given = query
            if known is not None:
                query = replace(
                    query,
                    reference=_text_or(query.reference, known.reference),
                    guideline=_text_or(query.guideline, known.guideline),
                )
            if query != given:
                counts["no reference or guideline here, the one already there kept"] += 1
            if known == query:
                counts["already there"] += 1
                continue
            if known is not None and not update:
                raise BadInput(
                    f"{loaded.where(index)}: query {query.query_id!r} is already in the golden "
                    "set with other content; replace it with --update"
                )
            counts["new" if known is None else "updated"] += 1
            with self._translated(loaded.where(index)):
                self._put_query(query, came)
                if known is not None:
                    self._note_change("load", known, query, loaded.source)
        return counts

    def _put_query(self, query: Query, came: QueryOrigin) -> None:
        """Add a query that ``came`` from there, or replace what it says and nothing else."""
        row = [
            query.query_id,
            query.text,
            query.task,
            query.reference,
            query.guideline,
            as_json(list(query.keywords)),
            as_json(query.metadata),
            query.split,
            *(came.source, came.file, came.added_at, came.added_by),
        ]
        ((number,),) = self._db.execute(PUT_QUERY, row).fetchall()
        self._db.execute("DELETE FROM query_buckets WHERE query = ?", [number])
        self._db.conn.executemany(
            "INSERT INTO query_buckets (query, facet, bucket) VALUES (?, ?, ?)",
            [(number, facet, bucket) for facet, bucket in query.buckets.items()],
        )

    def query(self, query_id: str) -> Query:
        """Return a query, retired or not; `NotFound` where there is none."""
        found = self._query(query_id)
        if found is None:
            raise NotFound(f"there is no query {query_id!r} in the golden set")
        return found

    def add_query(self, query: Query) -> None:
        """Add a query that somebody typed; `BadInput` where there is one with its id."""
        with self._writing():
            self._add_query(query, "typed", None)

    def _add_query(self, query: Query, source: str, file: str | None) -> None:
        if self._query(query.query_id) is not None:
            raise BadInput(
                f"query {query.query_id!r} is in the golden set already, or was retired from it; "
                "edit that one, or give this one another id"
            )
        with self._translated(f"query {query.query_id!r}"):
            self._put_query(query, QueryOrigin(source, file, moment(), self.whoever()))
        self._note_change("add", None, query, file)
        self._note("add", query.query_id, {"from": source})

    def edit_query(self, query: Query, mark: str) -> bool:
        """Replace what a query says by what somebody made of it; return whether that is new.

        ``mark`` is that of the query they began with, see `query_fingerprint`: where it says
        something else by now, or is retired, that is `QueryConflict` and nothing changes. Metadata
        stay as they are.
        """
        with self._writing():
            there = self.query(query.query_id)
            query = replace(query, metadata=there.metadata)
            if there == query:
                return False
            self._check_not_overtaken(there, mark)
            with self._translated(f"query {query.query_id!r}"):
                self._put_query(query, self.origin_of(query.query_id))
            self._note_change("edit", there, query)
            self._note("edit", query.query_id)
        return True

    def _check_not_overtaken(self, there: Query, mark: str) -> None:
        if not self.has_query(there.query_id):
            raise QueryConflict(
                f"query {there.query_id!r} is retired; to edit it, take it back into use: "
                f"labeler queries restore {shlex.quote(there.query_id)}"
            )
        if query_fingerprint(there) != mark:
            raise QueryConflict(
                f"query {there.query_id!r} {describe_change(self.history_of(there.query_id))}; "
                "nothing of yours was stored: look at what it says now, then save again"
            )


def describe_change(history: Iterable[QueryChange]) -> str:
    """Say who changed a query last, when, and which of its fields."""
    newest = next(iter(history), None)
    if newest is None:
        return "was changed while you edited it"
    fields = ", ".join(newest.after)
    by = newest.who or "somebody"
    return f"was {QUERY_CHANGES[newest.kind]} by {by} at {newest.at[11:16]} UTC: {fields}"


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
    """A query that is marked as leaked: where it was found, and who marked it when, in UTC."""

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
        """Say where it was found, how nearly word for word, and who marked it.

        >>> LeakedQuery("q", "few.jsonl", 2, "query", 0.9, None, "Ann", "2026-01-31T10:00").sentence
        'Leaked: the query stands in few.jsonl:2 (score 0.90); marked by Ann on 2026-01-31'
        """
        score = "" if self.score is None else f" (score {self.score:.2f})"
        by = f" by {self.who}" if self.who else ""
        on = f" on {self.at[:10]}" if self.at else ""
        return f"Leaked: the {self.part or 'query'} stands in {self.place}{score}; marked{by}{on}"


class QuerySplits(ContentsReader, QueryHistory):
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

    def leaked(self) -> list[LeakedQuery]:
        """Return the queries that are marked as leaked, without the retired ones."""
        return [LeakedQuery(*row) for row in self._rows(LEAKED_QUERIES)]

    def mark_leaked(self, found: Iterable[LeakedQuery]) -> int:
        """Mark queries as leaked; return how many were not before.

        One that is marked already stays as it was found first.
        """
        with self._writing():
            known = {each.query_id for each in self.leaked()}
            new = [each for each in found if each.query_id not in known]
            by, at = self.whoever(), moment()
            for each in new:
                found_at = {"file": each.file, "line": each.line, "part": each.part}
                more = {"score": each.score, "words": each.words, "who": by, "at": at}
                self._db.execute(MARK_LEAKED, {"query_id": each.query_id, **found_at, **more})
                said = {"found at": each.place, "score": each.score}
                self._note("leak", each.query_id, said, at=at)
        return len(new)

    def take_leaks_back(self, query_ids: Iterable[str]) -> None:
        """Take back that queries are leaked, all or none; `NotFound` for one that is not."""
        with self._writing():
            for query_id in query_ids:
                if not self._db.execute(
                    UNMARK_LEAKED, [self.whoever(), moment(), query_id]
                ).rowcount:
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

    def selected_queries(
        self, selected: Selection, facet: str | None = None, bucket: str | None = None
    ) -> set[str] | None:
        """Return the selected queries, of one bucket where both are given; None for all there are.

        Without the retired ones. Raises `NotFound` where none is selected.
        """
        found: set[str] | None = None
        if selected != EVERYTHING:
            found = {
                query_id
                for query_id, split, is_leaked in self._rows(SPLITS_OF_QUERIES)
                if selected.takes(split, is_leaked=bool(is_leaked))
            }
            if not found:
                raise NotFound(selected.nothing())
        if facet is None or bucket is None:
            return found
        inside = self.queries_in(facet, bucket)
        return inside if found is None else inside & found

    def split_sizes(self) -> dict[str, int]:
        """Return how many queries are in each split, without the retired ones and empty splits."""
        return dict(
            self._rows(
                "SELECT split, count(*) FROM queries WHERE split IS NOT NULL "
                "AND retired_at IS NULL GROUP BY split"
            )
        )
