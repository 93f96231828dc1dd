"""Full copies of a golden set: all but its runs as values, or every row into another database.

Both go into an empty golden set and compare hashes at the end; if these differ, nothing is
changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from labeler.store.collection import CollectionReader
from labeler.store.columns import quoted
from labeler.store.load import Loads
from labeler.store.schema import table_columns
from labeler.store.suggestions import Suggestions
from labeler.store.tamper_check import HashChain
from labeler.store.versions import Versions

ALL_ORIGINS = "SELECT query_id, source, source_file, added_at, added_by FROM queries ORDER BY id"
RETIRED_SINCE = "SELECT query_id, retired_at FROM queries WHERE retired_at IS NOT NULL ORDER BY id"


class FullDump(Versions, Loads, Suggestions):
    """All that was said, and what it was said of."""

    def all_queries(self) -> tuple[list[Query], dict[str, str]]:
        """Return every query in the order loaded, and since when some are retired."""
        with self._reading():
            return self._queries(""), dict(self._rows(RETIRED_SINCE))

    def tended(self) -> QueryProvenance:
        """Return how the queries came to be, also the retired ones."""
        with self._reading():
            origins = {query_id: QueryOrigin(*rest) for query_id, *rest in self._rows(ALL_ORIGINS)}
            return QueryProvenance(origins, self.history(), self.votes())

    def _put_tended(self, tended: QueryProvenance, queries: Iterable[Query]) -> None:
        for query in queries:
            self._put_origin(query.query_id, tended.origins.get(query.query_id, QueryOrigin(None)))
        for change in tended.changes:
            self._put_change(change)
        self._put_chunk_ids(vote.chunk_id for vote in tended.votes)
        self._put_votes(tended.votes)

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
        """Put all of it into a golden set that is empty, or nothing of it.

        Raises `BadInput` where there are queries or judgments already, and where what it makes has
        not the hash ``golden``.
        """
        nothing: Loaded[Any] = Loaded(events.source, (), ())
        with self._writing():
            if self._value("SELECT 1 FROM queries") or self._value("SELECT 1 FROM judgments"):
                raise BadInput(
                    f"{events.source}: a complete golden set goes into an empty file, and there "
                    "are queries in this one; name a new one with --db"
                )
            for name in chunkings:
                self._make_chunking(name, events.source)
            if documents is not None:
                self._put_documents(documents, update=False)
            counts = self._put_chunks(chunks, update=False)
            counts.update(self._put_queries(queries, update=False))
            counts.update(
                self._put_golden(LoadedGolden(nothing, nothing, events, ungraded), update=False)
            )
            self._put_golden_loads(golden_loads, events.source)
            self._db.conn.executemany(
                "UPDATE queries SET retired_at = ? WHERE query_id = ?",
                [(since, query_id) for query_id, since in retired.items()],
            )
            with self._translated(queries.source):
                self._put_tended(tended, queries.records)
            for version, content in versions:
                self._put_version(version, content)
            self._put_settings(settings)
            if (there := self._golden_state().hash) != golden:
                raise BadInput(
                    f"{events.source}: it says its hash is {golden[:16]}, and that of what is in "
                    f"it is {there[:16]}: something in it was changed; get the file again from "
                    "its source; nothing was loaded"
                )
            self._note_load("a complete golden set", events.source, counts)
        self.seal_if_possible()
        return counts


class FullCopy(CollectionReader):
    """A golden set that can become another one, as long as there is nothing in it."""

    def become(self, other: FullCopy) -> str:
        """Take over everything of another golden set, and return the hash that both have.

        As it is at one moment, while others write to that one. Raises `BadInput` where what came
        is not what was there; nothing is changed then.
        """
        with other._reading(), self._transaction():
            self._db.execute("DELETE FROM settings")
            for table, columns in table_columns().items():
                with closing(other._each(_select_rows(table, columns))) as rows:
                    self._engine.fill(self._db, table, columns, rows)
            self._engine.set_last_ids(self._db, other._engine.last_ids(other._db))
            self._engine.settle(self._db)
            hashes = {each._golden_state().hash for each in (self, other)}
            seals = {HashChain(each._db.conn).present_seal() for each in (self, other)}
            if len(hashes) > 1 or len(seals) > 1:
                raise BadInput(
                    f"{other.path}: what came of it is not the same golden set; 'labeler check' "
                    "says what is wrong there. Nothing was changed"
                )
            return hashes.pop()


def _select_rows(table: str, columns: tuple[str, ...]) -> str:
    first = "id" if "id" in columns else ", ".join(map(quoted, columns[:3]))
    return f"SELECT {', '.join(map(quoted, columns))} FROM {table} ORDER BY {first}"
