"""Measures across chunkings: the documents and the evidence that ranked lists contain.

Both use the grades of all chunkings and the positions of chunks in their documents. Chunks are
located when a measure first needs their positions; 100,000 chunks take some seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from labeler.evaluation.alignment import OrderedLists
from labeler.evaluation.query_grades import NO_CHUNKS, ChunkNumbers, QueryGrades
from labeler.measures import WHOLE_LIST, Bools, FoundEvidence, Hits, Ints, Measure, RetrievedTexts
from labeler.model import AllGoldenGrades, Collection, CollectionTexts, GradeChange, Passage
from labeler.rechunking import (
    ChunkLocation,
    Cut,
    LocatedChunk,
    Span,
    cut_from_chunk,
    intersect_spans,
    locate_chunkings,
    merge_spans,
    subtract_spans,
    total_length,
)

Marks = Mapping[int, tuple[Passage, ...]]
NO_MARKS: Marks = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class QueryEvidence:
    """A query's golden grades in all chunkings, and the passages marked as their reasons."""

    grades: QueryGrades
    marks: Marks
    _spans: dict[int, list[Span] | None] = field(default_factory=dict, init=False, repr=False)

    def passage_spans(self, positions: ChunkPositions) -> Mapping[int, list[Span] | None]:
        """Return the index spans of each chunk's passages, found once; None if not found."""
        if not self._spans:
            found = {at: positions.marked(at, passages) for at, passages in self.marks.items()}
            self._spans.update(found)
        return self._spans

    def changed(
        self, changes: Sequence[GradeChange], grades: QueryGrades | None = None
    ) -> QueryEvidence:
        """Return the evidence after changes, applied in order: the last one of a pair counts.

        ``grades`` are the changed grades, if they are known already.
        """
        marks = {**self.marks, **{change.chunk: change.marks for change in changes}}
        kept = {chunk: passages for chunk, passages in marks.items() if passages}
        return QueryEvidence(self.grades.changed(changes) if grades is None else grades, kept)


def evidence_by_query(
    collection: Collection, golden: Sequence[QueryGrades]
) -> tuple[QueryEvidence, ...]:
    """Return the evidence of each query; ``golden`` has the grades of the selected chunkings."""
    grades = (
        golden
        if collection.everywhere is None
        else _all_grades_by_query(collection.everywhere, golden)
    )
    marks: dict[str, dict[int, tuple[Passage, ...]]] = {}
    for (query_id, chunk), passages in collection.marks.items():
        marks.setdefault(query_id, {})[chunk] = passages
    return tuple(
        QueryEvidence(each, marks.get(query_id, NO_MARKS))
        for query_id, each in zip(collection.query_ids, grades, strict=True)
    )


def _all_grades_by_query(
    every: AllGoldenGrades, golden: Sequence[QueryGrades]
) -> list[QueryGrades]:
    """Return the golden grades of all chunkings of each query."""
    bounds = np.searchsorted(every.query, np.arange(len(golden) + 1)).tolist()
    none = np.zeros(len(every.query), np.bool_)
    transferred = none if every.transferred is None else every.transferred
    return [
        QueryGrades(
            every.chunk[start:stop],
            every.grade[start:stop],
            none[start:stop],
            transferred=transferred[start:stop] if transferred[start:stop].any() else None,
        )
        for start, stop in pairwise(bounds)
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class DocumentHits(Hits):
    """Hits that are documents: each at the rank of its first chunk, with its best chunk's grade.

    ``open_row`` and ``open_rank`` are the rows and ranks of documents without a graded chunk.
    ``length`` still counts chunks.
    """

    open_row: Ints
    open_rank: Ints

    def unjudged(self, k: int | Ints) -> Ints:
        """Return how many documents in the top ``k`` of each row have no graded chunk."""
        limits = k[self.open_row] if isinstance(k, np.ndarray) else k
        inside = self.open_row[self.open_rank <= limits]
        return np.bincount(inside, minlength=len(self.length))


@dataclass(eq=False)
class CrossChunking:
    """The located texts of a golden set, and the ranked lists of all runs.

    Texts are located on first access, which is slow if there are many.
    """

    collection: Collection
    lists: OrderedLists

    @property
    def runs(self) -> int:
        return len(self.collection.runs)

    def ordered(self, query: int, run: int | None = None) -> list[ChunkNumbers]:
        """Return the lists of all runs for a query, or of one; empty if there are no texts."""
        runs = range(self.runs) if run is None else [run]
        if self.collection.texts is None:
            return [NO_CHUNKS for _ in runs]
        return [self.lists.ordered(each, query) for each in runs]

    @cached_property
    def positions(self) -> ChunkPositions:
        read = self.collection.texts
        return NO_POSITIONS if read is None else find_chunk_positions(read())

    def documents(
        self, known: Sequence[QueryEvidence], lists: Sequence[Sequence[ChunkNumbers]]
    ) -> DocumentHits:
        """Return the documents of lists as hits, a row each; ``lists[i]`` are of ``known[i]``."""
        positions, (chunks, row, rank, lengths) = self.positions, _flatten_lists(lists)
        document = positions.document[positions.indices(chunks)]
        there = np.flatnonzero(document != NO_DOCUMENT)
        pairs = row[there] << 32 | document[there]
        _, first = np.unique(pairs, return_index=True)
        at = there[np.sort(first)]
        query = np.repeat(np.arange(len(lists)), list(map(len, lists)))
        best = self._best(known)
        sought = query[row[at]] << 32 | document[at]
        place = np.searchsorted(best[0], sought)
        is_graded = np.append(best[0], -1)[place] == sought
        graded, ungraded = at[is_graded], at[~is_graded]
        kinds = (best[0] >> 32) * 4 + best[1]
        counts = np.bincount(kinds, minlength=4 * len(known)).reshape(-1, 4)[query]
        return DocumentHits(
            row[graded],
            rank[graded],
            best[1][place[is_graded]],
            counts,
            lengths,
            open_row=row[ungraded],
            open_rank=rank[ungraded],
        )

    def _best(self, known: Sequence[QueryEvidence]) -> tuple[Ints, Ints]:
        """Return query << 32 | document of each graded document, ascending, and its best grade."""
        chunks = np.concatenate([NO_CHUNKS, *(each.grades.chunks for each in known)])
        grades = np.concatenate([NO_CHUNKS, *(each.grades.grades for each in known)])
        query = np.repeat(np.arange(len(known)), [len(each.grades.chunks) for each in known])
        document = self.positions.document[self.positions.indices(chunks)]
        there = document != NO_DOCUMENT
        numbers = np.sort((query[there] << 32 | document[there]) << 2 | grades[there])
        is_last = np.ones(len(numbers), dtype=np.bool_)
        is_last[:-1] = numbers[1:] >> 2 != numbers[:-1] >> 2
        best = numbers[is_last]
        return best >> 2, best & 3

    def found_evidence(
        self, known: Sequence[QueryEvidence], lists: Sequence[Sequence[ChunkNumbers]], rel: int
    ) -> FoundEvidence:
        """Return the evidence of grade ``rel`` or more that lists contain, one row per list."""
        positions, (chunks, _, _, lengths) = self.positions, _flatten_lists(lists)
        at = positions.indices(chunks)
        parts: list[tuple[int, int, int, int]] = []
        totals, row = [], 0
        for each, of in zip(known, lists, strict=True):
            evidence = self.evidence(each, rel)
            totals += [total_length(evidence)] * len(of)
            if evidence:
                parts += self._pieces(evidence, of, row)
            row += len(of)
        pieces = np.array(parts, dtype=np.int64).reshape(-1, 4)
        texts = _retrieved_texts(chunks, at, lengths, positions)
        return _evidence_from_pieces(pieces, np.array(totals, dtype=np.int64), texts)

    def evidence(self, known: QueryEvidence, rel: int) -> list[Span]:
        """Return the union of the passages marked for chunks of grade ``rel`` or more."""
        if not known.marks:
            return []
        grades = known.grades.as_dict()
        passage_spans = known.passage_spans(self.positions).items()
        found = (spans for chunk, spans in passage_spans if spans and grades.get(chunk, 0) >= rel)
        return merge_spans(chain.from_iterable(found))

    def count_lost(self, known: Iterable[QueryEvidence]) -> int:
        """Count the chunks whose marked passages are not in the evidence: they were not located."""
        return sum(
            spans is None for each in known for spans in each.passage_spans(self.positions).values()
        )

    @cached_property
    def chunks(self) -> Mapping[str, Ints]:
        """The chunks in the lists of each run, each once."""
        queries = range(len(self.collection.query_ids))
        return {
            run.name: np.unique(
                np.concatenate([NO_CHUNKS, *(self.lists.ordered(at, each) for each in queries)])
            ).astype(np.int64)
            for at, run in enumerate(self.collection.runs)
        }

    def overlaps(
        self, some: Sequence[int], others: Sequence[int]
    ) -> list[tuple[int, int, float, float]]:
        """Return pairs of chunks that share text: two indices, and the share of each text."""
        spans = [[self._spans(chunk) for chunk in chunks] for chunks in (some, others)]
        return [
            (at, beside, shared / total_length(one), shared / total_length(other))
            for at, one in enumerate(spans[0])
            for beside, other in enumerate(spans[1])
            if (shared := total_length(intersect_spans(one, other)))
        ]

    def _spans(self, chunk: int) -> list[Span]:
        located = self.positions.located.get(chunk)
        return [] if located is None else merge_spans(located.location.spans)

    def _pieces(
        self, evidence: list[Span], lists: Sequence[ChunkNumbers], row: int
    ) -> list[tuple[int, int, int, int]]:
        """Return the pieces of evidence that no higher ranked text of the list contains.

        Each is its row, its rank, its start in the text and its size.
        """
        near = self.positions.near(np.concatenate([NO_CHUNKS, *lists]), evidence)
        located = self.positions.located
        holders = {at: _evidence_in_text(evidence, located[at].location) for at in near}
        found = []
        for number, chunks in enumerate(lists, row):
            covered: list[Span] = []
            for place in np.flatnonzero(np.isin(chunks, near)).tolist():
                rank = place + 1
                for at, start, end in holders[int(chunks[place])]:
                    for piece in subtract_spans([(start, end)], covered):
                        found.append((number, rank, at + piece[0] - start, piece[1] - piece[0]))
                    covered = merge_spans([*covered, (start, end)])
        return found


def _evidence_in_text(evidence: list[Span], location: ChunkLocation) -> list[tuple[int, int, int]]:
    """Return each piece of evidence in a text: its start in that text, and its index span."""
    return [
        (segment.at + start - segment.start, start, end)
        for segment in location.segments
        for start, end in intersect_spans(evidence, [(segment.start, segment.start + segment.size)])
    ]


def _flatten_lists(
    lists: Sequence[Sequence[ChunkNumbers]],
) -> tuple[ChunkNumbers, Ints, Ints, Ints]:
    """Return all chunks of lists one after the other, their rows and ranks, and list lengths."""
    each = list(chain.from_iterable(lists))
    lengths = np.array(list(map(len, each)), dtype=np.int64)
    chunks = np.concatenate([NO_CHUNKS, *each])
    row = np.repeat(np.arange(len(each)), lengths)
    rank: Ints = np.arange(1, len(chunks) + 1) - (np.cumsum(lengths) - lengths)[row]
    return chunks, row, rank, lengths


def _retrieved_texts(
    chunks: ChunkNumbers, at: Ints, lengths: Ints, positions: ChunkPositions
) -> RetrievedTexts:
    def cut(place: int, left: int) -> int:
        located = positions.located.get(int(chunks[place]))
        return 0 if located is None else located.size_of(left)

    bounds = np.concatenate([[0], np.cumsum(lengths)])
    return RetrievedTexts(
        bounds, positions.size[at], positions.length[at], positions.unplaced[at], cut
    )


def _evidence_from_pieces(pieces: Ints, totals: Ints, texts: RetrievedTexts) -> FoundEvidence:
    """Return found evidence from pieces sorted by row, rank and start in the text."""
    row, rank, at, size = pieces.T
    is_new = np.ones(len(row), dtype=np.bool_)
    is_new[1:] = np.any(pieces[1:, :2] != pieces[:-1, :2], axis=1)
    return FoundEvidence(row[is_new], rank[is_new], np.cumsum(is_new) - 1, at, size, totals, texts)


@dataclass(eq=False)
class MeasureInputs:
    """The input of measures for some lists; documents and evidence are computed on first access.

    ``judged`` says which queries have a grade, `judged_anywhere` which have one in any chunking.
    The lists are those of all runs, or of ``run`` alone.
    """

    hits: Hits
    chunkings: CrossChunking
    known: Sequence[QueryEvidence]
    queries: Sequence[int]
    judged: Bools
    run: int | None = None

    def of(self, measure: Measure) -> Hits | FoundEvidence:
        """Return what a measure reads: chunks, documents or evidence."""
        if measure.reads == "documents":
            return self.documents
        return self.hits if measure.reads == "chunks" else self.found_evidence(measure.rel or 1)

    def unjudged(self, measure: Measure, k: int | Ints) -> Ints:
        """Count the entries in the top ``k`` of each list whose gain is unknown to a measure.

        These are unjudged chunks or documents; for evidence, texts that were not located.
        """
        found = self.of(measure)
        if isinstance(found, FoundEvidence):
            return found.unjudged(WHOLE_LIST if measure.cutoff is None else k, measure.characters)
        return found.unjudged(k)

    def lacks_input(self, measure: Measure) -> Bools:
        """Say which queries have no grade, or no evidence, that a measure could use."""
        found, runs = self.of(measure), self.chunkings.runs if self.run is None else 1
        some = found.total > 0 if isinstance(found, FoundEvidence) else found.known.sum(axis=1) > 0
        return ~some[::runs] if runs else np.ones(len(self.queries), dtype=np.bool_)

    @cached_property
    def _lists(self) -> list[list[ChunkNumbers]]:
        return [self.chunkings.ordered(query, self.run) for query in self.queries]

    @cached_property
    def documents(self) -> DocumentHits:
        return self.chunkings.documents(self.known, self._lists)

    @cached_property
    def _found_by_rel(self) -> dict[int, FoundEvidence]:
        return {}

    def found_evidence(self, rel: int) -> FoundEvidence:
        """Return the evidence of grade ``rel`` or more that the lists contain."""
        if rel not in self._found_by_rel:
            self._found_by_rel[rel] = self.chunkings.found_evidence(self.known, self._lists, rel)
        return self._found_by_rel[rel]

    @cached_property
    def judged_anywhere(self) -> Bools:
        """Which queries have a grade in any chunking."""
        return np.array([len(each.grades.chunks) > 0 for each in self.known], dtype=np.bool_)


NO_DOCUMENT = -1  # the document number of a chunk whose document is unknown
_MOST_COLLECTIONS = 2


@dataclass(frozen=True, eq=False)
class ChunkPositions:
    """Positions of chunks: arrays by chunk number, with a last entry for unknown chunks.

    ``document`` is the number of its document, or `NO_DOCUMENT`. ``size`` counts the characters
    without white space, ``length`` all of them. The text of an ``unplaced`` chunk was not found;
    a ``doubtful`` chunk fits several locations, and the first is used. All index spans of a chunk
    are between ``low`` and ``high``.
    """

    located: Mapping[int, LocatedChunk]
    document: Ints
    size: Ints
    length: Ints
    low: Ints
    high: Ints
    unplaced: Bools
    doubtful: Bools

    def near(self, chunks: npt.NDArray[np.signedinteger], spans: Sequence[Span]) -> list[int]:
        """Return the chunks that may overlap spans of the text index, each once, ascending."""
        every = np.unique(chunks)
        at = self.indices(every)
        edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
        near = (self.low[at, np.newaxis] < edges[:, 1]) & (edges[:, 0] < self.high[at, np.newaxis])
        found: list[int] = every[near.any(axis=1)].tolist()
        return found

    def indices(self, chunks: npt.NDArray[np.signedinteger]) -> Ints:
        """Return the array index of each chunk: the last one for an unknown chunk."""
        places: Ints = np.minimum(chunks, len(self.size) - 1)
        return places

    def marked(self, chunk: int, passages: Iterable[Passage]) -> list[Span] | None:
        """Return the index spans of a chunk's passages; None if they were not found."""
        located = self.located.get(chunk)
        return None if located is None else located.marked(passages)


@lru_cache(maxsize=_MOST_COLLECTIONS)
def find_chunk_positions(texts: CollectionTexts) -> ChunkPositions:
    """Locate all chunks; 100,000 chunks take some seconds."""
    chunkings: list[Sequence[Cut]] = [
        [cut_from_chunk(chunk) for chunk in cuts.values()] for cuts in texts.cuts.values()
    ]
    by_id = locate_chunkings(chunkings, texts.documents)
    numbers = {
        chunk.chunk_id: number for cuts in texts.cuts.values() for number, chunk in cuts.items()
    }
    return _as_arrays({numbers[chunk_id]: located for chunk_id, located in by_id.items()})


def _as_arrays(located: Mapping[int, LocatedChunk]) -> ChunkPositions:
    width = max(located, default=-1) + 2
    documents: dict[str, int] = {}
    document = np.full(width, NO_DOCUMENT, dtype=np.int64)
    size, length, low, high = (np.zeros(width, dtype=np.int64) for _ in range(4))
    unplaced, doubtful = (np.zeros(width, dtype=np.bool_) for _ in range(2))
    for number, each in located.items():
        if each.document_id is not None:
            document[number] = documents.setdefault(each.document_id, len(documents))
        size[number], length[number] = each.location.size, len(each.text)
        if spans := each.location.spans:
            low[number], high[number] = min(spans)[0], max(end for _, end in spans)
        unplaced[number] = not spans
        doubtful[number] = each.location.others > 0
    sizes = (document, size, length, low, high)
    return ChunkPositions(located, *sizes, unplaced, doubtful)


NO_POSITIONS = _as_arrays({})  # of a collection without texts
