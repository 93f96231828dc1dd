"""Writes chunks and the documents they were cut from, each load whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from labeler.errors import BadInput
from labeler.model import (
    UNNAMED,
    Chunk,
    Document,
    IntakeReport,
    Loaded,
    called_in,
    chunking_in_words,
    named_in,
)
from labeler.store.chunkings import LOOKED_UP_AT_ONCE, Chunkings
from labeler.store.columns import as_json, text_hash

AT_ONCE = 100_000
KEY = "chunking"  # which one a file of several says that a chunk is of
# Before chunks had a place these were kept with whatever else a file said of them.
PLACES = frozenset({"start", "end", "start_char", "end_char", "start_offset", "end_offset"})
# In one statement for many: a database's server answers each of them.
NEW_IDS = """
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
        self, loaded: Loaded[Chunk], *, update: bool = False, chunking: str = UNNAMED
    ) -> IntakeReport:
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
        return report_of(
            f"chunks{of_chunking(chunking)}", replace(loaded, warnings=warnings), counts
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

    def add_documents(self, loaded: Loaded[Document], *, update: bool = False) -> IntakeReport:
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
        return report_of("documents", replace(loaded, warnings=tuple(warnings)), counts)

    def _put_chunking(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add chunks to a chunking, or else each to the one that the file says it is of."""
        if chunking != UNNAMED or not any(KEY in chunk.metadata for chunk in loaded.records):
            return self._put_into(loaded, chunking, update=update)
        counts: Counter[str] = Counter()
        for name, part in _by_chunking(loaded):
            counts += self._put_into(part, name, update=update)
        return counts

    def _put_into(self, loaded: Loaded[Chunk], chunking: str, *, update: bool) -> Counter[str]:
        """Add chunks to a chunking, which they make; refuse more of them to one that is there."""
        is_new = chunking == UNNAMED or self._make_chunking(chunking, loaded.source)
        counts = self._put_chunks(loaded, update=update, chunking=chunking)
        if not is_new and counts["new"] and not update:
            raise BadInput(
                f"{loaded.source}: there is a chunking {chunking!r} already, and "
                f"{counts['new']:,} chunks of this file are not in it; choose another name, "
                "or add them to it with --update"
            )
        return counts

    def _put_chunks(
        self, loaded: Loaded[Chunk], *, update: bool, chunking: str = UNNAMED
    ) -> Counter[str]:
        counts: Counter[str] = Counter()
        for index, given in enumerate(loaded.records):
            chunk = replace(given, chunk_id=called_in(chunking, given.chunk_id))
            known = self.chunk(chunk.chunk_id)
            self._check_place(chunk, loaded.where(index))
            if known == chunk:
                counts["already there"] += 1
                continue
            bare = known is not None and known == Chunk(known.chunk_id)
            if known is not None and is_only_placed(known, chunk):
                counts["now with start and end"] += 1
                self._put_chunk(chunk)
                continue
            if known is not None and not bare and not update:
                raise BadInput(
                    f"{loaded.where(index)}: chunk {chunk.chunk_id!r} is already in the golden "
                    "set with other content; replace it with --update (its grades will be "
                    "marked stale if the text changed), or name the chunking that it is of with "
                    "--chunking, if documents were cut in another way"
                )
            what = "new" if known is None else "known by id, now with text" if bare else "updated"
            counts[what] += 1
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
                text_hash(chunk.text),
                *(chunk.start, chunk.end),
            ],
        )

    def _put_chunk_ids(self, chunk_ids: Iterator[str]) -> int:
        """Add the ids not yet known, so many at a time that they fit; return how many they are."""
        added = 0
        while some := {*islice(chunk_ids, AT_ONCE)}:
            added += self._put_new_ids(sorted(some))  # as their index has them, which is faster
        return added

    def _put_new_ids(self, chunk_ids: Sequence[str]) -> int:
        return sum(
            self._db.execute(NEW_IDS, [as_json(some)]).rowcount for some in _parts(chunk_ids)
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
        for some in _parts(chunk_ids):
            rows = self._rows(
                "SELECT chunk_id, id, text IS NULL FROM chunks "
                "WHERE chunk_id IN (SELECT value FROM json_each(?))",
                [as_json(some)],
            )
            numbers |= {chunk_id: number for chunk_id, number, _ in rows}
            bare += [number for _, number, is_bare in rows if is_bare]
        return numbers, bare


def _parts(chunk_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(chunk_ids), LOOKED_UP_AT_ONCE):
        yield chunk_ids[start : start + LOOKED_UP_AT_ONCE]


def report_of(title: str, loaded: Loaded[Any], counts: Mapping[str, int]) -> IntakeReport:
    """Return what was in a file and what came of it."""
    return IntakeReport(
        f"{title} from {loaded.source}",
        {**loaded.facts, **counts},
        loaded.warnings,
        has_changed(counts),
    )


def has_changed(counts: Mapping[str, int]) -> bool:
    """Say whether a load brought anything that was not there already."""
    return any(count and "already" not in what for what, count in counts.items())


def of_chunking(chunking: str) -> str:
    """Return words that say of which chunking something is; none for the unnamed one."""
    return f" of {chunking_in_words(chunking)}" if chunking else ""


def is_only_placed(known: Chunk, chunk: Chunk) -> bool:
    """Say whether a chunk is what is known, with a start and an end now."""
    if chunk.start is None:
        return False
    others = {key: value for key, value in known.metadata.items() if key not in PLACES}
    return replace(known, metadata=others) == replace(chunk, start=None, end=None)


def _by_chunking(loaded: Loaded[Chunk]) -> Iterator[tuple[str, Loaded[Chunk]]]:
    """Give the chunks of a file by the chunking they name, which is no metadata of theirs then."""
    parts: dict[str, list[int]] = {UNNAMED: []}
    for at, chunk in enumerate(loaded.records):
        name = named_in(chunk.chunk_id, chunk.metadata.get(KEY))
        parts.setdefault(name, []).append(at)
    for name, places in parts.items():
        chunks = [loaded.records[at] for at in places]
        lines = [loaded.lines[at] for at in places]
        bare = [_without_name(chunk) if name else chunk for chunk in chunks]
        yield name, replace(loaded, records=bare, lines=lines)


def _without_name(chunk: Chunk) -> Chunk:
    return replace(chunk, metadata={k: v for k, v in chunk.metadata.items() if k != KEY})
