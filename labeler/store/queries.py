"""Queries and their buckets: load, add, edit, retire, find and read them.

A change of a query and its entry in the history are written in one transaction.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import (
    QUERY_CHANGES,
    Loaded,
    LoadReport,
    Query,
    QueryChange,
    QueryOrigin,
    fold_text,
    format_count,
    format_list,
    order_buckets,
)
from labeler.model.snapshot import query_digest
from labeler.store.audit import Audit
from labeler.store.columns import as_json, moment, query_from_row
from labeler.store.connection import Connection
from labeler.store.load_reports import load_report
from labeler.store.query_history import QueryHistory

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
QUERY_COLUMNS = (
    "q.query_id, q.text, q.task, q.reference, q.guideline, q.keywords, q.metadata, q.split"
)
RETIRED_QUERIES = "SELECT query_id FROM queries WHERE retired_at IS NOT NULL ORDER BY id"
IN_USE = "WHERE q.retired_at IS NULL"
BUCKETS = """
SELECT q.id AS id, q.query_id AS query_id, 'task' AS facet, q.task AS bucket
FROM queries AS q WHERE q.task IS NOT NULL AND q.retired_at IS NULL
UNION ALL
SELECT q.id, q.query_id, 'split', q.split
FROM queries AS q WHERE q.split IS NOT NULL AND q.retired_at IS NULL
UNION ALL
SELECT q.id, q.query_id, b.facet, b.bucket
FROM query_buckets AS b JOIN queries AS q ON q.id = b.query
WHERE q.retired_at IS NULL AND (b.facet <> 'split' OR q.split IS NULL)
"""
RETIRED_SINCE = "SELECT query_id, retired_at FROM queries WHERE retired_at IS NOT NULL ORDER BY id"
_MOST_NAMED = 3
QUERY_SUMMARIES = """
SELECT id, query_id, text, task, retired_at, split, id IN (SELECT query FROM leaked_queries)
FROM queries ORDER BY id
"""


class QueryConflict(BadInput):
    """Somebody else changed a query while it was being edited; nothing was stored."""


@dataclass(frozen=True, slots=True)
class QuerySummary:
    """A query in the list of queries; ``grades`` counts its golden grades, retired or not.

    ``leaked`` says whether it is marked as found in other texts.
    """

    query_id: str
    text: str
    task: str | None
    retired_at: str | None
    grades: int
    split: str | None
    leaked: bool


class Queries:
    """Reads and changes queries."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._history = QueryHistory(connection)

    def get(self, query_id: str) -> Query:
        """Return a query, retired or not; `NotFound` where there is none."""
        found = self._query(query_id)
        if found is None:
            raise NotFound(f"there is no query {query_id!r} in the golden set")
        return found

    def _query(self, query_id: str) -> Query | None:
        found = self._where("WHERE q.query_id = ?", [query_id])
        return found[0] if found else None

    def _where(self, where: str, parameters: Sequence[Any] = ()) -> list[Query]:
        return list(self._each_where(where, parameters))

    def _each_where(self, where: str, parameters: Sequence[Any] = ()) -> Iterator[Query]:
        given = self._db.each(
            "SELECT q.query_id, b.facet, b.bucket FROM query_buckets AS b "
            f"JOIN queries AS q ON q.id = b.query {where} ORDER BY q.id, b.facet",
            parameters,
        )
        buckets = groupby(given, itemgetter(0))
        query_id, found = next(buckets, (None, given))
        for row in self._db.each(
            f"SELECT {QUERY_COLUMNS} FROM queries AS q {where} ORDER BY q.id", parameters
        ):
            own: dict[str, str] = {}
            if row[0] == query_id:
                own = {facet: bucket for _, facet, bucket in found}
                query_id, found = next(buckets, (None, given))
            yield query_from_row(row, own)

    def has(self, query_id: str) -> bool:
        """Return whether there is a query with this id that is not retired."""
        asked = "SELECT 1 FROM queries WHERE query_id = ? AND retired_at IS NULL"
        return self._db.value(asked, [query_id]) is not None

    def all(self) -> list[Query]:
        """Return all queries but the retired ones, in the order they were loaded."""
        return list(self.each())

    def each(self) -> Iterator[Query]:
        """Yield what `all` returns, one by one, which takes less memory and time."""
        return self._each_where(IN_USE)

    def by_id(self, query_ids: Iterable[str]) -> dict[str, Query]:
        """Return queries by their ids, retired or not; unknown ids are left out."""
        ids = [as_json(list(query_ids))]
        found = self._each_where("WHERE q.query_id IN (SELECT value FROM json_each(?))", ids)
        return {query.query_id: query for query in found}

    def with_retired(self) -> tuple[list[Query], dict[str, str]]:
        """Return every query in the order loaded, and when each retired one was retired, by id."""
        with self._db.reading():
            return self._where(""), dict(self._db.rows(RETIRED_SINCE))

    def count(self) -> int:
        """Return how many queries there are, without the retired ones."""
        return int(self._db.value("SELECT count(*) FROM queries WHERE retired_at IS NULL"))

    def ids(self) -> set[str]:
        """Return the ids of all queries, retired ones included."""
        return {query_id for (query_id,) in self._db.rows("SELECT query_id FROM queries")}

    def texts(self) -> dict[str, str]:
        """Return the text of every query by its id, retired ones included."""
        return dict(self._db.rows("SELECT query_id, text FROM queries ORDER BY id"))

    def facets(self) -> dict[str, list[str]]:
        """Return the buckets of each facet, of queries that are not retired."""
        counts: dict[str, dict[str, int]] = {}
        for facet, bucket, queries in self._db.rows(
            f"SELECT facet, bucket, count(*) FROM ({BUCKETS}) GROUP BY 1, 2 ORDER BY 1, min(id)"
        ):
            counts.setdefault(facet, {})[bucket] = queries
        return {facet: list(order_buckets(queries_in)) for facet, queries_in in counts.items()}

    def in_bucket(self, facet: str, bucket: str) -> set[str]:
        """Return the queries of a bucket, without the retired ones."""
        rows = self._db.rows(
            f"SELECT query_id FROM ({BUCKETS}) WHERE facet = ? AND bucket = ?", [facet, bucket]
        )
        return {query_id for (query_id,) in rows}

    def find(
        self,
        words: str = "",
        *,
        retired: bool | None = None,
        split: str | None = None,
        leaked: bool | None = None,
        most: int = 50,
    ) -> tuple[list[QuerySummary], int]:
        """Return the first queries whose id or text contains ``words``, and how many there are.

        Case is ignored. ``retired`` filters by whether a query is retired, ``split`` by its split,
        and ``leaked`` by whether it is marked as leaked.
        """
        wanted = words.strip().casefold()
        with self._db.reading():
            found = [
                row
                for row in self._db.rows(QUERY_SUMMARIES)
                if (wanted in row[1].casefold() or wanted in row[2].casefold())
                and retired in (None, row[4] is not None)
                and split in (None, row[5])
                and leaked in (None, bool(row[6]))
            ]
            shown = [
                QuerySummary(
                    query_id, text, task, retired_at, self._grades_of(number), part, bool(leak)
                )
                for number, query_id, text, task, retired_at, part, leak in found[:most]
            ]
        return shown, len(found)

    def _grades_of(self, query: int) -> int:
        return int(self._db.value("SELECT count(*) FROM golden WHERE query = ?", [query]))

    def load(self, loaded: Loaded[Query], *, update: bool = False) -> LoadReport:
        """Add queries; those already there with the same content stay as they are.

        Raises `BadInput` for other content under a known id, unless ``update`` replaces it.
        """
        with self._db.writing():
            counts = self.put(loaded, update=update)
            self._audit.put_load("queries", loaded.source, counts)
            alike = self._look_alikes(loaded)
        return load_report("queries", replace(loaded, warnings=(*loaded.warnings, *alike)), counts)

    def _look_alikes(self, loaded: Loaded[Query]) -> list[str]:
        """Return a warning about queries that differ only in blanks or Unicode form, if any do."""
        first: dict[str, tuple[str, str]] = {}
        for query_id, text in self.texts().items():
            first.setdefault(fold_text(text), (query_id, text))
        found = []
        for query in loaded.records:
            other, text = first[fold_text(query.text)]
            if text != query.text and text.strip():
                found.append(f"{query.query_id!r} and {other!r}")
        if not found:
            return []
        return [
            f"{format_count(len(found), 'query looks', 'queries look')} like another: only "
            "blanks or the Unicode form differ (" + format_list(found, _MOST_NAMED) + ")"
        ]

    def put(self, loaded: Loaded[Query], *, update: bool) -> Counter[str]:
        """Add queries in the transaction of the caller; return the counts of the report."""
        counts: Counter[str] = Counter()
        came = QueryOrigin("file", loaded.source, moment(), self._audit.who())
        there = self.ids()
        for index, query in enumerate(loaded.records):
            known = self._query(query.query_id) if query.query_id in there else None
            there.add(query.query_id)
            if known is not None and query.split is None:
                query = replace(query, split=known.split)  # a file may leave it out
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
            with self._db.translated(loaded.where(index)):
                self._put_query(query, came)
                if known is not None:
                    self._history.note_change("load", known, query, loaded.source)
        return counts

    def _put_query(self, query: Query, came: QueryOrigin) -> None:
        """Add a query with its origin, or replace a known one's content and keep its origin."""
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

    def add(self, query: Query) -> None:
        """Add a query that somebody typed; raises `BadInput` where its id is taken."""
        with self._db.writing():
            self.put_new(query, "typed", None)

    def put_new(self, query: Query, source: str, file: str | None) -> None:
        """Add a query as `add` does, in the transaction of the caller."""
        if self._query(query.query_id) is not None:
            raise BadInput(
                f"query {query.query_id!r} is in the golden set already, or was retired from it; "
                "edit that one, or give this one another id"
            )
        with self._db.translated(f"query {query.query_id!r}"):
            self._put_query(query, QueryOrigin(source, file, moment(), self._audit.who()))
        self._history.note_change("add", None, query, file)
        self._audit.put("add", query.query_id, {"from": source})

    def edit(self, query: Query, mark: str) -> bool:
        """Replace the content of a query by an edited one; return whether anything changed.

        ``mark`` is the `query_fingerprint` of the query that the edit began with. Raises
        `QueryConflict` where the query has changed or been retired since. The metadata stay.
        """
        with self._db.writing():
            there = self.get(query.query_id)
            query = replace(query, metadata=there.metadata)
            if there == query:
                return False
            self._check_not_overtaken(there, mark)
            with self._db.translated(f"query {query.query_id!r}"):
                self._put_query(query, self._history.origin_of(query.query_id))
            self._history.note_change("edit", there, query)
            self._audit.put("edit", query.query_id)
        return True

    def _check_not_overtaken(self, there: Query, mark: str) -> None:
        if not self.has(there.query_id):
            raise QueryConflict(
                f"query {there.query_id!r} is retired; to edit it, take it back into use: "
                f"labeler queries restore {shlex.quote(there.query_id)}"
            )
        if query_fingerprint(there) != mark:
            raise QueryConflict(
                f"query {there.query_id!r} {describe_change(self._history.of(there.query_id))}; "
                "nothing of yours was stored: look at what it says now, then save again"
            )

    def retire(self, query_id: str) -> None:
        """Take a query out of grading, scores and exports; its judgments stay in the log."""
        self._set_retired(query_id, moment())

    def _set_retired(self, query_id: str, when: str | None) -> None:
        with self._db.writing():
            rows = self._db.rows("SELECT retired_at FROM queries WHERE query_id = ?", [query_id])
            if not rows:
                raise NotFound(f"there is no query {query_id!r} in the golden set")
            if (rows[0][0] is None) != (when is None):
                self._db.execute(
                    "UPDATE queries SET retired_at = ? WHERE query_id = ?", [when, query_id]
                )
                kind = "restore" if when is None else "retire"
                self._audit.put(kind, query_id)
                self._history.note_fields(
                    kind, query_id, {"retired_at": rows[0][0]}, {"retired_at": when}
                )

    def restore(self, query_id: str) -> None:
        """Take a retired query back into use, with all its judgments."""
        self._set_retired(query_id, None)


def _text_or(given: str | None, known: str | None) -> str | None:
    """Return the text of a file, or the known one where the file has none."""
    return known if known and not (given or "").strip() else given


def query_fingerprint(query: Query) -> str:
    """Return a hash of a query's content, which changes with any part of it."""
    return query_digest(query, ())[:16]


def describe_change(history: Iterable[QueryChange]) -> str:
    """Return a phrase on who last changed a query, when, and which fields."""
    newest = next(iter(history), None)
    if newest is None:
        return "was changed while you edited it"
    fields = ", ".join(newest.after)
    by = newest.who or "somebody"
    return f"was {QUERY_CHANGES[newest.kind]} by {by} at {newest.at[11:16]} UTC: {fields}"
