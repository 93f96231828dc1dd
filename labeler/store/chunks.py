"""Chunks: load and read them, and map their ids to internal numbers.

A load is stored whole or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from labeler.errors import BadInput
from labeler.model import (
    DEFAULT_CHUNKING,
    Chunk,
    Loaded,
    LoadReport,
    chunking_in_file,
    describe_chunking,
    full_chunk_id,
)
from labeler.store.audit import Audit
from labeler.store.chunkings import IDS_PER_LOOKUP, Chunkings
from labeler.store.columns import as_json, chunk_from_row, hash_text
from labeler.store.connection import Connection
from labeler.store.documents import Documents
from labeler.store.load_reports import load_report

NEW_IDS_AT_ONCE = 100_000
CHUNKING_KEY = "chunking"  # metadata key of a chunk's chunking, in a file of several chunkings
# Earlier versions stored offsets under these keys of the metadata.
OFFSET_FIELDS = frozenset({"start", "end", "start_char", "end_char", "start_offset", "end_offset"})
# One statement for many ids: a PostgreSQL server answers each statement.
INSERT_IDS = """
INSERT INTO chunks (chunk_id) SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING
"""
CHUNK_COLUMNS = (
    'c.chunk_id, c.text, c.title, c.document_id, c.position, c.metadata, c.start, c."end"'
)
IDS_OF_CHUNKS = """
SELECT c.id, c.chunk_id FROM chunks AS c
WHERE c.id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY c.id
"""


class Chunks:
    """Loads and reads the chunks of all chunkings."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._chunkings = Chunkings(connection)
        self._documents = Documents(connection)

    def get(self, chunk_id: str) -> Chunk | None:
        """Return a chunk, or None where it is not known."""
        rows = self._db.rows(
            f"SELECT {CHUNK_COLUMNS} FROM chunks AS c WHERE c.chunk_id = ?", [chunk_id]
        )
        return chunk_from_row(rows[0]) if rows else None

    def all(self) -> list[Chunk]:
        """Return every chunk that has text, in the order they were loaded."""
        return [
            chunk_from_row(row)
            for row in self._db.rows(
                f"SELECT {CHUNK_COLUMNS} FROM chunks AS c WHERE c.text IS NOT NULL ORDER BY c.id"
            )
        ]

    def number(self, chunk_id: str) -> int | None:
        """Return a chunk's internal number, or None where it is not known."""
        number: int | None = self._db.value("SELECT id FROM chunks WHERE chunk_id = ?", [chunk_id])
        return number

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of chunks by number."""
        if not numbers:
            return {}
        wanted = as_json(list(numbers))
        return dict(self._db.rows(IDS_OF_CHUNKS, [wanted]))

    def numbers_of(self, chunk_ids: Iterable[str]) -> tuple[dict[str, int], list[int]]:
        """Return the number of each id, and the numbers of chunks without text; add new ids."""
        wanted = sorted(set(chunk_ids))  # in the order of their index, which is faster
        numbers, bare = self._known_numbers(wanted)
        if len(numbers) < len(wanted):
            missing = [chunk_id for chunk_id in wanted if chunk_id not in numbers]
            self._put_new_ids(missing)
            new, without_text = self._known_numbers(missing)
            numbers, bare = numbers | new, bare + without_text
        return numbers, bare

    def _known_numbers(self, chunk_ids: Sequence[str]) -> tuple[dict[str, int], list[int]]:
        numbers: dict[str, int] = {}
        bare: list[int] = []
        for some in _id_batches(chunk_ids):
            rows = self._db.rows(
                "SELECT chunk_id, id, text IS NULL FROM chunks "
                "WHERE chunk_id IN (SELECT value FROM json_each(?))",
                [as_json(some)],
            )
            numbers |= {chunk_id: number for chunk_id, number, _ in rows}
            bare += [number for _, number, is_bare in rows if is_bare]
        return numbers, bare

    def _put_new_ids(self, chunk_ids: Sequence[str]) -> int:
        return sum(
            self._db.execute(INSERT_IDS, [as_json(some)]).rowcount
            for some in _id_batches(chunk_ids)
        )

    def with_text(self) -> frozenset[int]:
        """Return the numbers of all chunks that have text."""
        rows = self._db.rows("SELECT id FROM chunks WHERE text IS NOT NULL")
        return frozenset(number for (number,) in rows)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the id and text of every chunk with text; if it has a title, that comes first."""
        with self._db.reading():
            for chunk_id, title, text in self._db.execute(
                "SELECT chunk_id, title, text FROM chunks WHERE text IS NOT NULL ORDER BY id"
            ):
                if title:
                    yield chunk_id, title
                yield chunk_id, text

    def of_texts(
        self, made: Iterable[str], prefix: int, digits: int, chunking: str = DEFAULT_CHUNKING
    ) -> dict[str, str]:
        """Return, for ids made from the hash of a text, the chunk of ``chunking`` with that text.

        An id is ``prefix`` characters, then the first ``digits`` digits of the hash. Ids that are
        this chunk's own, or whose text is unknown, are left out. Of several chunks with the same
        text, the first is returned.
        """
        wanted = {chunk_id[prefix:]: chunk_id for chunk_id in made}
        rows = self._db.rows(
            "SELECT substr(text_hash, 1, ?), chunk_id FROM chunks WHERE substr(text_hash, 1, ?) "
            "IN (SELECT value FROM json_each(?)) "
            "AND coalesce(chunking, 0) = coalesce((SELECT id FROM chunkings WHERE name = ?), 0) "
            "ORDER BY id DESC",
            [digits, digits, as_json(sorted(wanted)), chunking],
        )
        found = {wanted[digest]: chunk_id for digest, chunk_id in rows}
        return {given: chunk_id for given, chunk_id in found.items() if given != chunk_id}

    def load(
        self, loaded: Loaded[Chunk], *, update: bool = False, chunking: str = DEFAULT_CHUNKING
    ) -> LoadReport:
        """Add chunks, fill in those known by id only, and skip unchanged ones.

        Different content for a known chunk is refused, or replaces it with ``update``: grades
        given for the old text keep counting and are marked stale. The first file creates its
        ``chunking``. A later file may add new chunks to it only with ``update``, since its chunks
        may be of a different chunking, given the same name by mistake.
        """
        with self._db.writing():
            counts = self.put_chunking(loaded, chunking, update=update)
            self._audit.put_load("chunks", loaded.source, counts)
        warnings = (*loaded.warnings, *self._of_unknown_documents(loaded))
        return load_report(
            f"chunks{chunking_suffix(chunking)}", replace(loaded, warnings=warnings), counts
        )

    def _of_unknown_documents(self, loaded: Loaded[Chunk]) -> list[str]:
        """Return a warning if chunks name documents that are not among those loaded."""
        there = {name for (name,) in self._db.rows("SELECT document_id FROM documents")}
        named = {chunk.document_id for chunk in loaded.records} - {None} if there else set()
        missing = sorted(str(name) for name in named - there)
        if not missing:
            return []
        return [
            f"{len(missing):,} of {len(named):,} documents that these chunks name are not loaded "
            f"(one is {missing[0]!r}, and a document that is, {min(there)!r}): what these chunks "
            "were cut from is known by chunks alone"
        ]

    def put_chunking(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add chunks to ``chunking``; if it is the default, each to the one its metadata names."""
        if chunking != DEFAULT_CHUNKING or not any(
            CHUNKING_KEY in chunk.metadata for chunk in loaded.records
        ):
            return self._put_into(loaded, chunking, update=update)
        counts: Counter[str] = Counter()
        for name, part in _by_chunking(loaded):
            counts += self._put_into(part, name, update=update)
        return counts

    def _put_into(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add chunks to a chunking; refuse new ones for a stored chunking without ``update``."""
        is_new = chunking == DEFAULT_CHUNKING or self._chunkings.make(chunking, loaded.source)
        counts = self.put(loaded, update=update, chunking=chunking)
        if not is_new and counts["new"] and not update:
            raise BadInput(
                f"{loaded.source}: there is a chunking {chunking!r} already, and "
                f"{counts['new']:,} chunks of this file are not in it; choose another name, "
                "or add them to it with --update"
            )
        return counts

    def put(
        self, loaded: Loaded[Chunk], *, update: bool, chunking: str = DEFAULT_CHUNKING
    ) -> Counter[str]:
        """Add chunks to a chunking in the caller's transaction; count them by outcome."""
        counts: Counter[str] = Counter()
        for index, given in enumerate(loaded.records):
            chunk = replace(given, chunk_id=full_chunk_id(chunking, given.chunk_id))
            known = self.get(chunk.chunk_id)
            if known is not None and known.title and not chunk.title:
                chunk = replace(chunk, title=known.title)  # none does not replace one
            if known is not None and known.text and not chunk.text:
                chunk = replace(chunk, text=known.text)
                counts["no text here, the text already there kept"] += 1
            self._documents.check_place(chunk, loaded.where(index))
            if known == chunk:
                counts["already there"] += 1
                continue
            bare = known is not None and known == Chunk(known.chunk_id)
            if known is not None and adds_only_offsets(known, chunk):
                counts["now with start and end"] += 1
                self.put_one(chunk)
                continue
            if known is not None and not bare and not update:
                raise BadInput(
                    f"{loaded.where(index)}: chunk {chunk.chunk_id!r} is in the golden set "
                    "with other content. If its text was edited: --update (its grades are then "
                    "marked stale). If the documents were cut in another way: --chunking NAME"
                )
            counts[_what_came(known, chunk)] += 1
            with self._db.translated(loaded.where(index)):
                self.put_one(chunk)
        return counts

    def put_one(self, chunk: Chunk) -> None:
        """Add a chunk, or replace all of its columns."""
        self._db.execute(
            "INSERT INTO chunks (chunk_id, document_id, position, title, text, metadata, "
            'text_hash, start, "end") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) '
            "ON CONFLICT (chunk_id) DO UPDATE SET "
            "document_id = excluded.document_id, position = excluded.position, "
            "title = excluded.title, text = excluded.text, metadata = excluded.metadata, "
            'text_hash = excluded.text_hash, start = excluded.start, "end" = excluded."end"',
            [
                chunk.chunk_id,
                chunk.document_id,
                chunk.position,
                chunk.title,
                chunk.text,
                as_json(chunk.metadata),
                hash_text(chunk.text),
                *(chunk.start, chunk.end),
            ],
        )

    def put_ids(self, chunk_ids: Iterator[str]) -> int:
        """Add unknown ids, in batches that fit into memory; return how many were new."""
        added = 0
        while some := {*islice(chunk_ids, NEW_IDS_AT_ONCE)}:
            added += self._put_new_ids(sorted(some))  # in the order of their index, which is faster
        return added


def _id_batches(chunk_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(chunk_ids), IDS_PER_LOOKUP):
        yield chunk_ids[start : start + IDS_PER_LOOKUP]


def _what_came(known: Chunk | None, chunk: Chunk) -> str:
    """Name the outcome for a chunk; ``known`` is the stored one, if any."""
    if known is None:
        return "new"
    if known != Chunk(known.chunk_id):
        return "updated"
    return "known by id, now with text" if chunk.text else "known by id, still without text"


def chunking_suffix(chunking: str) -> str:
    """Return words that name a chunking, none for the default one."""
    return f" of {describe_chunking(chunking)}" if chunking else ""


def adds_only_offsets(known: Chunk, chunk: Chunk) -> bool:
    """Say whether a chunk differs from the stored one only by its start and end."""
    if chunk.start is None:
        return False
    others = {key: value for key, value in known.metadata.items() if key not in OFFSET_FIELDS}
    return replace(known, metadata=others) == replace(chunk, start=None, end=None)


def _by_chunking(loaded: Loaded[Chunk]) -> Iterator[tuple[str, Loaded[Chunk]]]:
    """Yield the chunks of a file by chunking, with `CHUNKING_KEY` removed from their metadata."""
    parts: dict[str, list[int]] = {DEFAULT_CHUNKING: []}
    for at, chunk in enumerate(loaded.records):
        name = chunking_in_file(chunk.chunk_id, chunk.metadata.get(CHUNKING_KEY))
        parts.setdefault(name, []).append(at)
    for name, places in parts.items():
        chunks = [loaded.records[at] for at in places]
        lines = [loaded.lines[at] for at in places]
        bare = [_without_chunking(chunk) if name else chunk for chunk in chunks]
        yield name, replace(loaded, records=bare, lines=lines)


def _without_chunking(chunk: Chunk) -> Chunk:
    return replace(chunk, metadata={k: v for k, v in chunk.metadata.items() if k != CHUNKING_KEY})
