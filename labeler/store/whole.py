"""A golden set whole, without its runs: read at one moment, and put into an empty file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from labeler.errors import BadInput
from labeler.model import (
    Chunk,
    Judgment,
    Loaded,
    LoadedGolden,
    Query,
    Remark,
    Settings,
    Ungraded,
    Version,
)
from labeler.store.freezing import Freezing
from labeler.store.intake import Intake

RETIRED = "SELECT query_id, retired_at FROM queries WHERE retired_at IS NOT NULL ORDER BY id"


class WholeSet(Freezing, Intake):
    """All that was said, and what it was said of."""

    def all_queries(self) -> tuple[list[Query], dict[str, str]]:
        """Return every query in the order loaded, and since when some are retired."""
        with self._reading():
            return self._queries(""), dict(self._rows(RETIRED))

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
            counts = self._put_chunks(chunks, update=False)
            counts.update(self._put_queries(queries, update=False))
            counts.update(
                self._put_golden(LoadedGolden(nothing, nothing, events, ungraded), update=False)
            )
            self._db.conn.executemany(
                "UPDATE queries SET retired_at = ? WHERE query_id = ?",
                [(since, query_id) for query_id, since in retired.items()],
            )
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
