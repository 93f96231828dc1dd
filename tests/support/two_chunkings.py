"""A document cut in two ways, with what answers a question marked in the first."""

from __future__ import annotations

from collections.abc import Sequence

from labeler.model import (
    Chunk,
    Document,
    Evidence,
    GoldenGrade,
    LoadedGolden,
    Query,
    Ranking,
)
from labeler.store import Store
from labeler.store.columns import hash_text
from tests.support.page import loaded

# Fifty characters of a document, of which 12-17 and 25-29 answer q1.
TEXT = "0123456789abcdefghijABCDEFGHIJklmnopqrstKLMNOPQRST"
OTHER = "Nothing of this is asked for."
BOTH = ("", "v2")


def cut(size: int, *starts: int) -> list[Chunk]:
    """Cut the document into pieces of one size, which know where they stand."""
    return [
        Chunk(str(at), TEXT[start : start + size], document_id="d", start=start, end=start + size)
        for at, start in enumerate(starts, 1)
    ]


def marked(
    chunks: Sequence[Chunk], chunk_id: str, grade: int, *passages: tuple[int, int]
) -> GoldenGrade:
    """Grade a chunk for q1, with what made the grade."""
    [text] = [chunk.text for chunk in chunks if chunk.chunk_id == chunk_id]
    evidence = Evidence(hash_text(text) or "", passages) if passages else None
    return GoldenGrade("q1", chunk_id, grade, evidence=evidence)


V1, V2 = cut(10, 0, 10, 20, 30, 40), cut(25, 0, 25)


def recut(store: Store) -> Store:
    """Load both chunkings, with a run on each; nobody has graded the second."""
    store.queries.load(loaded([Query("q1", "which letters?"), Query("q2", "which digits?")]))
    store.documents.load(loaded([Document("d", TEXT)]))
    store.chunks.load(loaded([*V1, Chunk("x", OTHER, document_id="e")]))
    store.runs.load(loaded([Ranking("q1", ("3", "1", "2")), Ranking("q2", ("1",))]), name="old")
    grades = [marked(V1, "2", 2, (2, 8)), marked(V1, "3", 3, (5, 10)), marked(V1, "1", 0)]
    grades.append(GoldenGrade("q2", "1", 1))
    store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    store.chunks.load(loaded(V2), chunking="v2")
    rankings = [Ranking("q1", ("1", "2")), Ranking("q2", ("2", "1"))]
    store.runs.load(loaded(rankings), name="new", chunking="v2")
    return store
