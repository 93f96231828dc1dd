"""A golden set whole, without its runs: read at one moment, and put into an empty file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labeler.errors import BadInput
from labeler.model import (
    Chunk,
    Document,
    Judgment,
    Loaded,
    LoadedGolden,
    Origin,
    Query,
    Remark,
    Settings,
    Tended,
    Ungraded,
    Version,
)
from labeler.store.freezing import Freezing
from labeler.store.intake import Intake
from labeler.store.proposing import Proposing

ORIGINS = "SELECT query_id, source, source_file, added_at, added_by FROM queries ORDER BY id"
RETIRED = "SELECT query_id, retired_at FROM queries WHERE retired_at IS NOT NULL ORDER BY id"


class WholeSet(Freezing, Intake, Proposing):
    """All that was said, and what it was said of."""

    def all_queries(self) -> tuple[list[Query], dict[str, str]]:
        """Return every query in the order loaded, and since when some are retired."""
        with self._reading():
            return self._queries(""), dict(self._rows(RETIRED))

    def tended(self) -> Tended:
        """Return how the queries came to be, also the retired ones."""
        with self._reading():
            origins = {query_id: Origin(*rest) for query_id, *rest in self._rows(ORIGINS)}
            return Tended(origins, self.history(), self.votes())

    def _put_tended(self, tended: Tended, queries: Iterable[Query]) -> None:
        for query in queries:
            self._put_origin(query.query_id, tended.origins.get(query.query_id, Origin(None)))
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
        ungraded: Loaded[Ungraded],
        versions: Sequence[tuple[Version, bytes]],
        tended: Tended,
        chunkings: Sequence[str] = (),
        documents: Loaded[Document] | None = None,
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
                    f"it is {there[:16]}: something in it was changed; take the file anew from "
                    "where it came; nothing was changed"
                )
            self._note_load("a complete golden set", events.source, counts)
        self.seal_if_possible()
        return counts
