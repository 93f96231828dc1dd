"""Writes queries: those a file gave, and those that somebody types or edits; knows no file format.

Whatever changes a query adds to its history, in the same transaction.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from labeler.errors import BadInput, NotFound
from labeler.model import CHANGES, Loaded, Origin, Query, QueryChange
from labeler.model.versions import query_digest
from labeler.store.columns import as_json, moment
from labeler.store.history import History
from labeler.store.reading import Reading

PUT = """
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


class Overtaken(BadInput):
    """Somebody else changed a query while it was being edited; nothing was stored."""


def mark_of(query: Query) -> str:
    """Return a mark of what a query says, another one as soon as anything of it changes."""
    return query_digest(query, ())[:16]


class Editing(Reading, History):
    """Queries as they come in and are changed."""

    def _put_queries(self, loaded: Loaded[Query], *, update: bool) -> Counter[str]:
        counts: Counter[str] = Counter()
        came = Origin("file", loaded.source, moment(), self.whoever())
        there = {query_id for (query_id,) in self._rows("SELECT query_id FROM queries")}
        for index, query in enumerate(loaded.records):
            known = self._query(query.query_id) if query.query_id in there else None
            there.add(query.query_id)
            if known is not None and query.split is None:
                query = replace(query, split=known.split)  # a file need not say it
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

    def _put_query(self, query: Query, came: Origin) -> None:
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
        ((number,),) = self._db.execute(PUT, row).fetchall()
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
            self._put_query(query, Origin(source, file, moment(), self.whoever()))
        self._note_change("add", None, query, file)
        self._note("add", query.query_id, {"from": source})

    def edit_query(self, query: Query, mark: str) -> bool:
        """Replace what a query says by what somebody made of it; return whether that is new.

        ``mark`` is that of the query they began with, see `mark_of`: where it says something else
        by now, or is retired, that is `Overtaken` and nothing changes. Metadata stay as they are.
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
            raise Overtaken(
                f"query {there.query_id!r} is retired; to edit it, take it back into use: "
                f"labeler restore query {shlex.quote(there.query_id)}"
            )
        if mark_of(there) != mark:
            raise Overtaken(
                f"query {there.query_id!r} {in_the_meantime(self.history_of(there.query_id))}; "
                "nothing of yours was stored: look at what it says now, then save again"
            )


def in_the_meantime(history: Iterable[QueryChange]) -> str:
    """Say who changed a query last, when, and which of its fields."""
    newest = next(iter(history), None)
    if newest is None:
        return "was changed while you edited it"
    fields = ", ".join(newest.after)
    by = newest.who or "somebody"
    return f"was {CHANGES[newest.kind]} by {by} at {newest.at[11:16]} UTC: {fields}"
