"""Chunkings: their names, the chunking that a file belongs to, and the documents that were cut.

Other modules use chunk ids, which contain the chunking's name: see `labeler.model.chunkings`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import overload

from labeler.errors import BadInput, NotFound
from labeler.model import (
    DEFAULT_CHUNKING,
    Chunk,
    Document,
    Loaded,
    Ranking,
    check_chunking,
    chunk_id_prefix,
    describe_chunking,
    full_chunk_id,
)
from labeler.store.columns import as_json, hash_text, moment
from labeler.store.contents import ContentsReader

IDS_PER_LOOKUP = 10_000
CHUNKING_SUMMARIES = """
SELECT coalesce(k.name, ''), count(*), sum(c.text IS NULL), sum(c.start IS NOT NULL),
    (SELECT count(*) FROM runs AS r WHERE r.chunking IS c.chunking),
    (SELECT count(*) FROM golden AS g JOIN chunks AS of ON of.id = g.chunk
        WHERE of.chunking IS c.chunking)
FROM chunks AS c LEFT JOIN chunkings AS k ON k.id = c.chunking
GROUP BY c.chunking, k.name ORDER BY c.chunking NULLS FIRST
"""
# A chunk that is known by its id alone, and that nobody graded, is no sign of anything: a run that
# was loaded into the wrong chunking leaves such chunks behind.
COUNT_KNOWN_IDS = """
SELECT count(*) FROM chunks AS c WHERE c.chunk_id IN (SELECT value FROM json_each(?))
AND c.chunking IS (SELECT id FROM chunkings WHERE name = ?)
AND (c.text IS NOT NULL OR c.id IN (SELECT chunk FROM judgments))
"""
HAS_GRADES = """
SELECT EXISTS (
    SELECT 1 FROM judgments AS j JOIN chunks AS c ON c.id = j.chunk
    WHERE j.kind IN ('grade', 'adjudicate', 'import')
        AND c.chunking IS (SELECT id FROM chunkings WHERE name = ?)
)
"""
PLACED_CHUNKS = """
SELECT c.chunk_id, c.start, c."end", c.text FROM chunks AS c
WHERE c.document_id = ? AND c.start IS NOT NULL ORDER BY c.id
"""


@dataclass(frozen=True, slots=True)
class ChunkingSummary:
    """A chunking as the list of them shows it; ``placed`` chunks have a start and an end."""

    name: str
    chunks: int
    without_text: int
    placed: int
    runs: int
    golden: int


class Chunkings(ContentsReader):
    """Several chunkings side by side, and the texts they were cut from."""

    def chunkings(self) -> list[ChunkingSummary]:
        """List the chunkings that have a chunk: the default one, then the others as they came."""
        return [ChunkingSummary(*row) for row in self._rows(CHUNKING_SUMMARIES)]

    def chunking_names(self) -> list[str]:
        """Return the names of the chunkings, the default one first; it is always there."""
        rows = self._rows("SELECT name FROM chunkings ORDER BY id")
        return [DEFAULT_CHUNKING, *(name for (name,) in rows)]

    def chunkings_of_runs(self) -> dict[str, str]:
        """Return of each run which chunking its chunks are of."""
        return dict(
            self._rows(
                "SELECT r.name, coalesce(k.name, '') FROM runs AS r "
                "LEFT JOIN chunkings AS k ON k.id = r.chunking ORDER BY r.id"
            )
        )

    def chunkings_with_runs(self) -> list[str]:
        """Return the chunkings that runs are of, the default one first."""
        rows = self._rows(
            "SELECT coalesce(k.name, '') FROM runs AS r "
            "LEFT JOIN chunkings AS k ON k.id = r.chunking "
            "GROUP BY r.chunking, k.name ORDER BY r.chunking NULLS FIRST"
        )
        return [name for (name,) in rows]

    def openings(self) -> list[tuple[str, str]]:
        """Return between which chunkings grades may be transferred: from a graded one to a run's.

        Retired queries and what was taken back are not looked at.
        """
        asked = self.chunkings_with_runs()
        names = self.chunking_names()
        if len(names) < 2:
            return []
        graded = [name for name in names if self._value(HAS_GRADES, [name])]
        return [(old, new) for new in asked for old in graded if old != new]

    def _check_there(self, chunking: str, where: str) -> None:
        """Raise `NotFound` for a chunking that no chunk is of."""
        check_chunking(chunking)
        if chunking in self.chunking_names():
            return
        if self._begin_with(chunking, "1"):
            self._make_chunking(chunking, where)  # a golden set named its chunks before their texts
            return
        there = ", ".join(repr(name) for name in self.chunking_names())
        raise NotFound(
            f"{where}: there is no chunking {chunking!r}; there are: {there}; its chunks make it: "
            f"labeler load chunks FILE --chunking {chunking}"
        )

    def _make_chunking(self, chunking: str, where: str) -> bool:
        """Add a chunking unless it is there; return whether it is new.

        Chunks that are known by id alone and bear its name become part of it: grades may come
        before texts. Raises `BadInput` where a chunk with a text has such an id by chance.
        """
        check_chunking(chunking)
        if chunking in self.chunking_names():
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

    def _begin_with(self, chunking: str, condition: str) -> list[str]:
        before = chunk_id_prefix(chunking)
        rows = self._rows(
            f"SELECT chunk_id FROM chunks WHERE substr(chunk_id, 1, ?) = ? AND {condition} LIMIT 1",
            [len(before), before],
        )
        return [chunk_id for (chunk_id,) in rows]

    def _chunking_of(self, rankings: Iterable[Ranking], where: str) -> str:
        """Return which chunking a run is of by its ids, where nobody said it.

        It is the one that knows all of its ids, or the only one that knows any; the default one
        where none does. Raises `BadInput` where its ids fit several.
        """
        names = self.chunking_names()
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
        return sum(int(self._value(COUNT_KNOWN_IDS, [each, chunking])) for each in some)

    def _check_apart(self, rankings: Iterable[Ranking], where: str) -> None:
        """Raise `BadInput` where a run of the default chunking has a chunk of another one."""
        before = tuple(chunk_id_prefix(name) for name in self.chunking_names() if name)
        if not before:
            return
        for ranking in rankings:
            for chunk_id in ranking.chunk_ids:
                if chunk_id.startswith(before):
                    raise BadInput(
                        f"{where}: chunk {chunk_id!r} is not of the default chunking; a run is of "
                        "one chunking, which --chunking names"
                    )

    # --- documents ---------------------------------------------------------------------------

    def document(self, document_id: str) -> str | None:
        """Return the text of a document, None where it was not loaded."""
        text: str | None = self._value(
            "SELECT text FROM documents WHERE document_id = ?", [document_id]
        )
        return text

    def documents(self) -> list[Document]:
        """Return every document that was loaded, in the order they came."""
        rows = self._rows("SELECT document_id, text, title, metadata FROM documents ORDER BY id")
        return [Document(name, text, title, json.loads(data)) for name, text, title, data in rows]

    def documents_cut(self) -> set[str]:
        """Return the documents that chunks say they were cut from."""
        rows = self._rows("SELECT DISTINCT document_id FROM chunks WHERE document_id IS NOT NULL")
        return {document_id for (document_id,) in rows}

    def _put_documents(self, loaded: Loaded[Document], *, update: bool) -> Counter[str]:
        counts: Counter[str] = Counter()
        there = dict(self._rows("SELECT document_id, text_hash FROM documents"))
        for index, document in enumerate(loaded.records):
            where, digest = loaded.where(index), hash_text(document.text)
            known = there.get(document.document_id)
            if known is not None and known != digest and not update:
                raise BadInput(
                    f"{where}: document {document.document_id!r} is already in the golden set "
                    "with another text; replace it with --update"
                )
            counts[
                "new" if known is None else "already there" if known == digest else "updated"
            ] += 1
            self._check_places(document, where)
            with self._translated(where):
                self._db.execute(
                    "INSERT INTO documents (document_id, title, text, text_hash, metadata) "
                    "VALUES (?, ?, ?, ?, ?) ON CONFLICT (document_id) DO UPDATE SET "
                    "title = excluded.title, text = excluded.text, "
                    "text_hash = excluded.text_hash, metadata = excluded.metadata",
                    [
                        *(document.document_id, document.title, document.text, digest),
                        as_json(document.metadata),
                    ],
                )
        return counts

    def _check_places(self, document: Document, where: str) -> None:
        """Raise `BadInput` where a chunk is not what stands at its place in its document."""
        for chunk_id, start, end, text in self._rows(PLACED_CHUNKS, [document.document_id]):
            check_chunk_position(Chunk(chunk_id, text, start=start, end=end), document.text, where)

    def _check_place(self, chunk: Chunk, where: str) -> None:
        if chunk.start is not None and chunk.document_id is not None:
            text = self.document(chunk.document_id)
            if text is not None:
                check_chunk_position(chunk, text, where)


def check_chunk_position(chunk: Chunk, document: str, where: str) -> None:
    """Raise `BadInput` unless a chunk with a start and an end stands there in its document."""
    if chunk.start is None or chunk.end is None:
        return
    place = f"{where}: chunk {chunk.chunk_id!r} has start {chunk.start} and end {chunk.end}"
    if chunk.end > len(document):
        raise BadInput(f"{place}, and its document has {len(document):,} characters")
    if chunk.text is not None and chunk.text != document[chunk.start : chunk.end]:
        raise BadInput(
            f"{place}, where its document has another text, beginning "
            f"{document[chunk.start : chunk.start + 40]!r}; offsets count characters from 0, the "
            "end not included"
        )


class QualifiedRankings(Sequence[Ranking]):
    """A run's lists with what its chunks are called in the golden set; made as they are read."""

    def __init__(self, rankings: Sequence[Ranking], chunking: str) -> None:
        self._rankings = rankings
        self._called = lru_cache(100_000)(lambda chunk_id: full_chunk_id(chunking, chunk_id))

    def __len__(self) -> int:
        return len(self._rankings)

    def __iter__(self) -> Iterator[Ranking]:
        return map(self._of, self._rankings)

    @overload
    def __getitem__(self, at: int) -> Ranking: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Ranking]: ...
    def __getitem__(self, at: int | slice) -> Ranking | Sequence[Ranking]:
        found = self._rankings[at]
        return self._of(found) if isinstance(found, Ranking) else list(map(self._of, found))

    def _of(self, ranking: Ranking) -> Ranking:
        return replace(ranking, chunk_ids=tuple(map(self._called, ranking.chunk_ids)))
