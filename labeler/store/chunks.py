"""Chunks: load them and their documents, search their words, and read their texts for graders.

A load is stored whole or not at all. Of a long text only the part asked for is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import (
    DEFAULT_CHUNKING,
    Chunk,
    Document,
    Loaded,
    LoadReport,
    Query,
    chunking_in_file,
    describe_chunking,
    full_chunk_id,
)
from labeler.store.chunkings import IDS_PER_LOOKUP, Chunkings
from labeler.store.columns import as_json, chunk_from_row, hash_text
from labeler.store.connection import Connection
from labeler.store.contents import ContentsReader

NEW_IDS_AT_ONCE = 100_000
CHUNKING_KEY = "chunking"  # which one a file of several says that a chunk is of
# Before chunks had a place these were kept with whatever else a file said of them.
OFFSET_FIELDS = frozenset({"start", "end", "start_char", "end_char", "start_offset", "end_offset"})
# In one statement for many: a database's server answers each of them.
INSERT_IDS = """
INSERT INTO chunks (chunk_id) SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING
"""


class Chunks(Chunkings):
    """The chunks of all chunkings, and their documents."""

    def _note_load(self, what: str, source: str, counts: Mapping[str, int]) -> None:
        """Add to the audit what a file has brought, if it has brought anything."""
        if has_changed(counts):
            brought = {name: count for name, count in counts.items() if count}
            self._note("load", source, {"what": what, **brought})

    def add_chunks(
        self, loaded: Loaded[Chunk], *, update: bool = False, chunking: str = DEFAULT_CHUNKING
    ) -> LoadReport:
        """Add chunks; one known by id only is filled in, one with the same content left alone.

        Other content for a known chunk is refused, or replaces it with ``update``: grades given
        for the old text keep counting and are marked stale. A ``chunking`` is made by its first
        file; what another file adds to it is refused without ``update``, since a name that exists
        may be meant for another one.
        """
        with self._writing():
            counts = self._put_chunking(loaded, chunking, update=update)
            self._note_load("chunks", loaded.source, counts)
        warnings = (*loaded.warnings, *self._of_unknown_documents(loaded))
        return load_report(
            f"chunks{chunking_suffix(chunking)}", replace(loaded, warnings=warnings), counts
        )

    def _of_unknown_documents(self, loaded: Loaded[Chunk]) -> list[str]:
        """Return a sentence on documents that chunks name and that are not among those loaded."""
        there = {name for (name,) in self._rows("SELECT document_id FROM documents")}
        named = {chunk.document_id for chunk in loaded.records} - {None} if there else set()
        missing = sorted(str(name) for name in named - there)
        if not missing:
            return []
        return [
            f"{len(missing):,} of {len(named):,} documents that these chunks name are not loaded "
            f"(one is {missing[0]!r}, and a document that is, {min(there)!r}): what these chunks "
            "were cut from is known by chunks alone"
        ]

    def add_documents(self, loaded: Loaded[Document], *, update: bool = False) -> LoadReport:
        """Add the whole texts that chunks were cut from.

        Another text for a known document is refused, or replaces it with ``update``; so is one in
        which a chunk does not stand where its start and end say.
        """
        with self._writing():
            counts = self._put_documents(loaded, update=update)
            self._note_load("documents", loaded.source, counts)
            cut = self.documents_cut()
        given = {document.document_id for document in loaded.records}
        counts["documents of chunks that are not among them"] = len(cut - given)
        warnings = list(loaded.warnings)
        if cut and not cut & given:
            warnings.append(
                f"no chunk was cut from any of these documents (one is {min(given)!r}, and a "
                f"chunk's is {min(cut)!r}); are the document ids the same?"
            )
        return load_report("documents", replace(loaded, warnings=tuple(warnings)), counts)

    def _put_chunking(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add chunks to a chunking, or else each to the one that the file says it is of."""
        if chunking != DEFAULT_CHUNKING or not any(
            CHUNKING_KEY in chunk.metadata for chunk in loaded.records
        ):
            return self._put_into(loaded, chunking, update=update)
        counts: Counter[str] = Counter()
        for name, part in _by_chunking(loaded):
            counts += self._put_into(part, name, update=update)
        return counts

    def _put_into(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add chunks to a chunking, which they make; refuse more of them to one that is there."""
        is_new = chunking == DEFAULT_CHUNKING or self._make_chunking(chunking, loaded.source)
        counts = self._put_chunks(loaded, update=update, chunking=chunking)
        if not is_new and counts["new"] and not update:
            raise BadInput(
                f"{loaded.source}: there is a chunking {chunking!r} already, and "
                f"{counts['new']:,} chunks of this file are not in it; choose another name, "
                "or add them to it with --update"
            )
        return counts

    def _put_chunks(
        self, loaded: Loaded[Chunk], *, update: bool, chunking: str = DEFAULT_CHUNKING
    ) -> Counter[str]:
        counts: Counter[str] = Counter()
        for index, given in enumerate(loaded.records):
            chunk = replace(given, chunk_id=full_chunk_id(chunking, given.chunk_id))
            known = self.chunk(chunk.chunk_id)
            if known is not None and known.title and not chunk.title:
                chunk = replace(chunk, title=known.title)  # never replaced by nothing
            if known is not None and known.text and not chunk.text:
                chunk = replace(chunk, text=known.text)
                counts["no text here, the text already there kept"] += 1
            self._check_place(chunk, loaded.where(index))
            if known == chunk:
                counts["already there"] += 1
                continue
            bare = known is not None and known == Chunk(known.chunk_id)
            if known is not None and adds_only_offsets(known, chunk):
                counts["now with start and end"] += 1
                self._put_chunk(chunk)
                continue
            if known is not None and not bare and not update:
                raise BadInput(
                    f"{loaded.where(index)}: chunk {chunk.chunk_id!r} is in the golden set "
                    "with other content. If its text was edited: --update (its grades are then "
                    "marked stale). If the documents were cut in another way: --chunking NAME"
                )
            counts[_what_came(known, chunk)] += 1
            with self._translated(loaded.where(index)):
                self._put_chunk(chunk)
        return counts

    def _put_chunk(self, chunk: Chunk) -> None:
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

    def _put_chunk_ids(self, chunk_ids: Iterator[str]) -> int:
        """Add the ids not yet known, so many at a time that they fit; return how many they are."""
        added = 0
        while some := {*islice(chunk_ids, NEW_IDS_AT_ONCE)}:
            added += self._put_new_ids(sorted(some))  # as their index has them, which is faster
        return added

    def _put_new_ids(self, chunk_ids: Sequence[str]) -> int:
        return sum(
            self._db.execute(INSERT_IDS, [as_json(some)]).rowcount
            for some in _id_batches(chunk_ids)
        )

    def _chunk_numbers(self, chunk_ids: Iterable[str]) -> tuple[dict[str, int], list[int]]:
        """Return the internal number of each id, and those without text; new ids are added."""
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
            rows = self._rows(
                "SELECT chunk_id, id, text IS NULL FROM chunks "
                "WHERE chunk_id IN (SELECT value FROM json_each(?))",
                [as_json(some)],
            )
            numbers |= {chunk_id: number for chunk_id, number, _ in rows}
            bare += [number for _, number, is_bare in rows if is_bare]
        return numbers, bare


def _id_batches(chunk_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(chunk_ids), IDS_PER_LOOKUP):
        yield chunk_ids[start : start + IDS_PER_LOOKUP]


def _what_came(known: Chunk | None, chunk: Chunk) -> str:
    """Say what a chunk is to the golden set that has it as ``known``."""
    if known is None:
        return "new"
    if known != Chunk(known.chunk_id):
        return "updated"
    return "known by id, now with text" if chunk.text else "known by id, still without text"


def load_report(title: str, loaded: Loaded[Any], counts: Mapping[str, int]) -> LoadReport:
    """Return what was in a file and what came of it."""
    return LoadReport(
        f"{title} from {loaded.source}",
        {**loaded.facts, **counts},
        loaded.warnings,
        has_changed(counts),
    )


def has_changed(counts: Mapping[str, int]) -> bool:
    """Say whether a load brought anything that was not there already."""
    return any(count and "already" not in what for what, count in counts.items())


def chunking_suffix(chunking: str) -> str:
    """Return words that say of which chunking something is; none for the default one."""
    return f" of {describe_chunking(chunking)}" if chunking else ""


def adds_only_offsets(known: Chunk, chunk: Chunk) -> bool:
    """Say whether a chunk is what is known, with a start and an end now."""
    if chunk.start is None:
        return False
    others = {key: value for key, value in known.metadata.items() if key not in OFFSET_FIELDS}
    return replace(known, metadata=others) == replace(chunk, start=None, end=None)


def _by_chunking(loaded: Loaded[Chunk]) -> Iterator[tuple[str, Loaded[Chunk]]]:
    """Give the chunks of a file by the chunking they name, which is no metadata of theirs then."""
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


MOST_BYTES = 4  # bytes of a character


@dataclass(frozen=True, slots=True)
class PairContent:
    """One pair as a grader sees it: the query with its help, the chunk with its text.

    ``more`` is where in the text one reads on, in bytes, None where all of it is here.
    """

    query: Query
    chunk: Chunk
    text_hash: str
    more: int | None = None


class ChunkTexts(ContentsReader):
    """Reads what stands before a grader, as much of it as is wanted."""

    def items(
        self, pairs: Sequence[tuple[str, int]], longest: int | None = None
    ) -> dict[tuple[str, int], PairContent]:
        """Return what a grader sees of pairs, without those whose chunk has no text.

        A text of more than ``longest`` characters is cut there.
        """
        queries = {
            query.query_id: query
            for query in self._queries(
                "WHERE q.query_id IN (SELECT value FROM json_each(?))",
                [as_json([query_id for query_id, _ in pairs])],
            )
        }
        chunks = self._chunks_of([chunk for _, chunk in pairs], longest)
        return {
            (query_id, chunk): PairContent(queries[query_id], *chunks[chunk])
            for query_id, chunk in pairs
            if query_id in queries and chunk in chunks
        }

    def chunks_numbered(
        self, numbers: Iterable[int], longest: int | None = None
    ) -> dict[int, Chunk]:
        """Return the chunks of a list by number, without those that have no text.

        A text of more than ``longest`` characters ends there, in an ellipsis.
        """
        found = self._chunks_of(sorted(set(numbers)), longest)
        return {
            number: chunk if more is None else replace(chunk, text=f"{chunk.text}…")
            for number, (chunk, _, more) in found.items()
        }

    def _chunks_of(
        self, numbers: Sequence[int], longest: int | None
    ) -> dict[int, tuple[Chunk, str, int | None]]:
        text = "c.text" if longest is None else "NULL"
        rows = self._rows(
            f"SELECT c.id, c.text_hash, c.chunk_id, {text}, c.title, c.document_id, c.position, "
            'c.metadata, c.start, c."end" FROM chunks AS c '
            "WHERE c.id IN (SELECT value FROM json_each(?)) AND c.text_hash IS NOT NULL",
            [as_json(numbers)],
        )
        found: dict[int, tuple[Chunk, str, int | None]] = {}
        for number, text_hash, *columns in rows:
            chunk, more = chunk_from_row(columns), None
            if longest is not None:
                text, more = self._part(number, 0, longest)
                chunk = replace(chunk, text=text)
            found[number] = chunk, text_hash, more
        return found

    def text_from(self, chunk_id: str, start: int, longest: int) -> tuple[str, int | None]:
        """Return a chunk's text from byte ``start`` on, and where it goes on after ``longest``.

        Raises `NotFound` for a chunk without text.
        """
        asked = "SELECT id FROM chunks WHERE chunk_id = ? AND text IS NOT NULL"
        number = self._value(asked, [chunk_id])
        if number is None:
            raise NotFound(f"there is no chunk {chunk_id!r} with a text")
        return self._part(number, start, longest)

    def _part(self, number: int, start: int, longest: int) -> tuple[str, int | None]:
        """Return at most so many characters of a text, and the byte it goes on at, if any.

        A text that goes on is cut at the end of a line, if one ends in the second half of the part.
        """
        with self._translated():
            found = self._engine.read_text_part(self._db, number, start, longest * MOST_BYTES)
        read, length = found
        part = read.decode("utf-8", "ignore")[:longest]
        ends = min(start, length) + len(part.encode())
        line_end = part.rfind("\n") + 1
        if ends < length and line_end > longest // 2:
            part = part[:line_end]
            ends = start + len(part.encode())
        return part, ends if ends < length and part else None


# By number, as runs and chunks have them; the default one is 0.
CHUNKINGS_OF_QUERY = """
SELECT DISTINCT coalesce(r.chunking, 0) FROM runs AS r
WHERE EXISTS (SELECT 1 FROM ranked_lists AS l WHERE l.run = r.id AND l.query_id = ?)
"""


class ChunkSearch(Connection):
    """Full-text search over the chunks that have text."""

    def search_chunks(self, words: str, limit: int, query_id: str | None = None) -> list[int]:
        """Return the numbers of the chunks that match best, those with all words first.

        The last word may be the beginning of one. Case and accents do not count. For a query only
        the chunkings are searched whose runs have a list for it, all of them where none has one.
        """
        sought = search_words(words)
        if not sought:
            return []
        among = self._asked_for(query_id)
        found = dict.fromkeys(self._matches(sought, limit, among, all_of=True))
        if len(found) < limit and len(sought) > 1:
            found |= dict.fromkeys(self._matches(sought, limit, among, all_of=False))
        return list(found)[:limit]

    def _asked_for(self, query_id: str | None) -> list[int] | None:
        """Return the chunkings that are asked for by a query's runs, None for all there are."""
        if query_id is None or self._value("SELECT 1 FROM chunkings LIMIT 1") is None:
            return None
        return [number for (number,) in self._rows(CHUNKINGS_OF_QUERY, [query_id])] or None

    def _matches(
        self, sought: Sequence[str], limit: int, among: Sequence[int] | None, *, all_of: bool
    ) -> list[int]:
        with self._translated():
            return self._engine.search(self._db, sought, all_of=all_of, most=limit, among=among)


def search_words(text: str) -> list[str]:
    """Return the words of a text, in which nothing is left that a database could take for more.

    >>> search_words('refund OR "late')
    ['refund', 'OR', 'late']
    """
    return re.findall(r"[^\W_]+", text)
