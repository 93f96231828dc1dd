"""Full copies of a golden set: everything but runs as values, or every row of another database.

Both fill an empty golden set and compare hashes at the end. If these differ, nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from labeler.errors import BadInput
from labeler.model import (
    Chunk,
    Document,
    GoldenLoad,
    GoldenVersion,
    Judgment,
    Loaded,
    LoadedGolden,
    Query,
    QueryOrigin,
    QueryProvenance,
    Remark,
    Settings,
    UnjudgedPair,
)
from labeler.store.audit import Audit
from labeler.store.chunkings import Chunkings
from labeler.store.chunks import Chunks
from labeler.store.collection import CollectionReader
from labeler.store.columns import quoted
from labeler.store.connection import Connection
from labeler.store.documents import Documents
from labeler.store.golden_loads import GoldenLoads
from labeler.store.queries import Queries
from labeler.store.query_history import QueryHistory
from labeler.store.schema import table_columns
from labeler.store.settings import StoredSettings
from labeler.store.suggestions import Suggestions
from labeler.store.tamper_check import HashChain, TamperCheck
from labeler.store.versions import Versions

ALL_ORIGINS = "SELECT query_id, source, source_file, added_at, added_by FROM queries ORDER BY id"


class FullCopy:
    """Fills an empty golden set from another one."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._settings = StoredSettings(connection)
        self._history = QueryHistory(connection)
        self._queries = Queries(connection)
        self._chunkings = Chunkings(connection)
        self._documents = Documents(connection)
        self._chunks = Chunks(connection)
        self._tamper_check = TamperCheck(connection)
        self._golden_loads = GoldenLoads(connection)
        self._suggestions = Suggestions(connection)
        self._collection = CollectionReader(connection)
        self._versions = Versions(connection)

    def tended(self) -> QueryProvenance:
        """Return how the queries came to be, also the retired ones."""
        with self._db.reading():
            origins = {
                query_id: QueryOrigin(*rest) for query_id, *rest in self._db.rows(ALL_ORIGINS)
            }
            return QueryProvenance(origins, self._history.all(), self._suggestions.votes())

    def add_whole(
        self,
        golden: str,
        settings: Settings,
        queries: Loaded[Query],
        retired: Mapping[str, str],
        chunks: Loaded[Chunk],
        events: Loaded[Judgment | Remark],
        ungraded: Loaded[UnjudgedPair],
        versions: Sequence[tuple[GoldenVersion, bytes]],
        tended: QueryProvenance,
        chunkings: Sequence[str] = (),
        documents: Loaded[Document] | None = None,
        golden_loads: Sequence[GoldenLoad] = (),
    ) -> Counter[str]:
        """Add everything to an empty golden set, in one transaction.

        Raises `BadInput` if it has queries or judgments already, or if its hash afterwards is not
        ``golden``.
        """
        nothing: Loaded[Any] = Loaded(events.source, (), ())
        with self._db.writing():
            if self._db.value("SELECT 1 FROM queries") or self._db.value("SELECT 1 FROM judgments"):
                raise BadInput(
                    f"{events.source}: a complete golden set goes into an empty file, and there "
                    "are queries in this one; name a new one with --db"
                )
            for name in chunkings:
                self._chunkings.make(name, events.source)
            if documents is not None:
                self._documents.put(documents, update=False)
            counts = self._chunks.put(chunks, update=False)
            counts.update(self._queries.put(queries, update=False))
            counts.update(
                self._golden_loads.put(
                    LoadedGolden(nothing, nothing, events, ungraded), update=False
                )
            )
            self._golden_loads.put_loads(golden_loads, events.source)
            self._db.conn.executemany(
                "UPDATE queries SET retired_at = ? WHERE query_id = ?",
                [(since, query_id) for query_id, since in retired.items()],
            )
            with self._db.translated(queries.source):
                self._put_tended(tended, queries.records)
            for version, content in versions:
                self._versions.put(version, content)
            self._settings.put(settings)
            if (there := self._collection.state().hash) != golden:
                raise BadInput(
                    f"{events.source}: it says its hash is {golden[:16]}, and that of what is in "
                    f"it is {there[:16]}: something in it was changed; get the file again from "
                    "its source; nothing was loaded"
                )
            self._audit.put_load("a complete golden set", events.source, counts)
        self._tamper_check.seal_if_possible()
        return counts

    def _put_tended(self, tended: QueryProvenance, queries: Iterable[Query]) -> None:
        for query in queries:
            self._history.put_origin(
                query.query_id, tended.origins.get(query.query_id, QueryOrigin(None))
            )
        for change in tended.changes:
            self._history.put_change(change)
        self._chunks.put_ids(vote.chunk_id for vote in tended.votes)
        self._suggestions.put_votes(tended.votes)

    def become(self, other: FullCopy) -> str:
        """Copy everything from another golden set, and return the hash that both have.

        The other one is read at one moment, while others may write to it. Raises `BadInput`, and
        stores nothing, if the copy differs.
        """
        source = other._db
        with source.reading(), self._db.transaction():
            fill_tables(
                self._db,
                lambda table, columns: source.each(select_rows(table, columns)),
                source.engine.last_ids(source.handle),
            )
            hashes = {CollectionReader(each).state().hash for each in (self._db, source)}
            seals = {HashChain(each.conn).present_seal() for each in (self._db, source)}
            if len(hashes) > 1 or len(seals) > 1:
                raise BadInput(
                    f"{source.path}: what came of it is not the same golden set; 'labeler check' "
                    "says what is wrong there. Nothing was changed"
                )
            return hashes.pop()


def fill_tables(
    target: Connection,
    rows_of: Callable[[str, tuple[str, ...]], Generator[tuple[Any, ...]]],
    last_ids: Mapping[str, int],
) -> None:
    """Fill an empty golden set with the rows of each table, in the caller's transaction.

    ``rows_of`` takes a table and its columns. ``last_ids`` are the numbers already given out.
    """
    target.execute("DELETE FROM settings")
    for table, columns in table_columns().items():
        with closing(rows_of(table, columns)) as rows:
            target.engine.fill(target.handle, table, columns, rows)
    target.engine.set_last_ids(target.handle, last_ids)
    target.engine.update_statistics(target.handle)


def select_rows(table: str, columns: tuple[str, ...]) -> str:
    """Return the statement that reads a whole table in a fixed order."""
    first = "id" if "id" in columns else ", ".join(map(quoted, columns[:3]))
    return f"SELECT {', '.join(map(quoted, columns))} FROM {table} ORDER BY {first}"
