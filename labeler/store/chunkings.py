"""Chunkings: their names, their chunks and runs, and which chunking a run was made with.

Chunk ids contain the chunking's name: see `labeler.model.chunkings`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from labeler.errors import BadInput, NotFound
from labeler.model import (
    DEFAULT_CHUNKING,
    Ranking,
    check_chunking,
    chunk_id_prefix,
    describe_chunking,
    full_chunk_id,
)
from labeler.store.columns import as_json, moment
from labeler.store.connection import Connection

IDS_PER_LOOKUP = 10_000
CHUNKING_SUMMARIES = """
SELECT coalesce(k.name, ''), count(*), sum(c.text IS NULL), sum(c.start IS NOT NULL),
    (SELECT count(*) FROM runs AS r WHERE coalesce(r.chunking, 0) = coalesce(c.chunking, 0)),
    (SELECT count(*) FROM golden AS g JOIN chunks AS of ON of.id = g.chunk
        WHERE coalesce(of.chunking, 0) = coalesce(c.chunking, 0))
FROM chunks AS c LEFT JOIN chunkings AS k ON k.id = c.chunking
GROUP BY c.chunking, k.name ORDER BY c.chunking NULLS FIRST
"""
# Chunks with neither text nor judgment are not counted: a run that was loaded into the wrong
# chunking leaves such chunks behind.
COUNT_KNOWN_IDS = """
SELECT count(*) FROM chunks AS c WHERE c.chunk_id IN (SELECT value FROM json_each(?))
AND coalesce(c.chunking, 0) = coalesce((SELECT id FROM chunkings WHERE name = ?), 0)
AND (c.text IS NOT NULL OR c.id IN (SELECT chunk FROM judgments))
"""
HAS_GRADES = """
SELECT EXISTS (
    SELECT 1 FROM judgments AS j JOIN chunks AS c ON c.id = j.chunk
    WHERE j.kind IN ('grade', 'adjudicate', 'import')
        AND coalesce(c.chunking, 0) = coalesce((SELECT id FROM chunkings WHERE name = ?), 0)
)
"""


@dataclass(frozen=True, slots=True)
class ChunkingSummary:
    """The counts of a chunking; ``placed`` chunks have a start and an end."""

    name: str
    chunks: int
    without_text: int
    placed: int
    runs: int
    golden: int


class Chunkings:
    """Lists and adds chunkings, and finds the chunking of a run."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def all(self) -> list[ChunkingSummary]:
        """List the chunkings that have a chunk: the default one, then the others as added."""
        return [ChunkingSummary(*row) for row in self._db.rows(CHUNKING_SUMMARIES)]

    def names(self) -> list[str]:
        """Return the names of the chunkings, the default one first; it is always there."""
        rows = self._db.rows("SELECT name FROM chunkings ORDER BY id")
        return [DEFAULT_CHUNKING, *(name for (name,) in rows)]

    def of_runs(self) -> dict[str, str]:
        """Return the chunking of each run."""
        return dict(
            self._db.rows(
                "SELECT r.name, coalesce(k.name, '') FROM runs AS r "
                "LEFT JOIN chunkings AS k ON k.id = r.chunking ORDER BY r.id"
            )
        )

    def with_runs(self) -> list[str]:
        """Return the chunkings that have runs, the default one first."""
        rows = self._db.rows(
            "SELECT coalesce(k.name, '') FROM runs AS r "
            "LEFT JOIN chunkings AS k ON k.id = r.chunking "
            "GROUP BY r.chunking, k.name ORDER BY r.chunking NULLS FIRST"
        )
        return [name for (name,) in rows]

    def openings(self) -> list[tuple[str, str]]:
        """Return pairs of chunkings to transfer grades between: a graded one, one with runs.

        A chunking counts as graded even if its grades were undone or their queries are retired.
        """
        asked = self.with_runs()
        names = self.names()
        if len(names) < 2:
            return []
        graded = [name for name in names if self._db.value(HAS_GRADES, [name])]
        return [(old, new) for new in asked for old in graded if old != new]

    def check_there(self, chunking: str, where: str) -> None:
        """Raise `NotFound` for an unknown chunking; add one that chunk ids already name."""
        check_chunking(chunking)
        if chunking in self.names():
            return
        if self._begin_with(chunking, "1"):
            self.make(chunking, where)  # a golden set was loaded before the texts of its chunks
            return
        there = ", ".join(repr(name) for name in self.names())
        raise NotFound(
            f"{where}: there is no chunking {chunking!r}; there are: {there}; its chunks make it: "
            f"labeler load chunks FILE --chunking {chunking}"
        )

    def _begin_with(self, chunking: str, condition: str) -> list[str]:
        before = chunk_id_prefix(chunking)
        rows = self._db.rows(
            f"SELECT chunk_id FROM chunks WHERE substr(chunk_id, 1, ?) = ? AND {condition} LIMIT 1",
            [len(before), before],
        )
        return [chunk_id for (chunk_id,) in rows]

    def make(self, chunking: str, where: str) -> bool:
        """Add a chunking unless it exists; return whether it is new.

        Chunks without text whose ids begin with its name become part of it: grades may be loaded
        before texts. Raises `BadInput` where a chunk with text has such an id by chance.
        """
        check_chunking(chunking)
        if chunking in self.names():
            return False
        if taken := self._begin_with(chunking, "text IS NOT NULL"):
            raise BadInput(
                f"{where}: chunk {taken[0]!r} of the default chunking begins with "
                f"{chunk_id_prefix(chunking)!r}, as the chunks of a chunking "
                f"{chunking!r} would; choose "
                "another name"
            )
        self._db.execute(
            "INSERT INTO chunkings (name, added_at) VALUES (?, ?)", [chunking, moment()]
        )
        self._db.execute(
            "UPDATE chunks SET chunking = (SELECT id FROM chunkings WHERE name = ?) "
            "WHERE substr(chunk_id, 1, ?) = ?",
            [chunking, len(chunk_id_prefix(chunking)), chunk_id_prefix(chunking)],
        )
        return True

    def of_rankings(self, rankings: Iterable[Ranking], where: str) -> str:
        """Return the chunking that the chunk ids of a run belong to.

        It is the one that contains all of the ids, else the only one that contains any, else the
        default one. Raises `BadInput` where several fit.
        """
        names = self.names()
        if len(names) == 1:
            return DEFAULT_CHUNKING
        ids = {chunk_id for ranking in rankings for chunk_id in ranking.chunk_ids}
        known = {name: self._count_known(name, ids) for name in names}
        fitting = [name for name, count in known.items() if count and count == len(ids)]
        fitting = fitting or [name for name, count in known.items() if count]
        if len(fitting) > 1:
            said = "; ".join(
                f"{describe_chunking(name)} knows {known[name]:,}: --chunking {name or repr('')}"
                for name in fitting
            )
            raise BadInput(
                f"{where}: its {len(ids):,} chunk ids fit several chunkings, so it must be said "
                f"which it was made on; {said}"
            )
        return fitting[0] if fitting else DEFAULT_CHUNKING

    def _count_known(self, chunking: str, ids: Iterable[str]) -> int:
        called = sorted({full_chunk_id(chunking, chunk_id) for chunk_id in ids})
        parts = range(0, len(called), IDS_PER_LOOKUP)
        some = (as_json(called[start : start + IDS_PER_LOOKUP]) for start in parts)
        return sum(int(self._db.value(COUNT_KNOWN_IDS, [each, chunking])) for each in some)

    def check_apart(self, rankings: Iterable[Ranking], where: str) -> None:
        """Raise `BadInput` where a run of the default chunking has a chunk of another one."""
        before = tuple(chunk_id_prefix(name) for name in self.names() if name)
        if not before:
            return
        for ranking in rankings:
            for chunk_id in ranking.chunk_ids:
                if chunk_id.startswith(before):
                    raise BadInput(
                        f"{where}: chunk {chunk_id!r} is not of the default chunking; a run is of "
                        "one chunking, which --chunking names"
                    )
