"""Practice passages: graded pairs that a lead chose, for graders to try the grades on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labeler.errors import NotFound
from labeler.model import Chunk, Query
from labeler.store import Store


@dataclass(frozen=True, slots=True)
class PracticeExample:
    """A pair for practice, and the golden grade that a grader's is compared with."""

    query: Query
    chunk: Chunk
    grade: int


def practice_examples(store: Store, ids: Sequence[str]) -> list[PracticeExample]:
    """Return the pairs that ``ids`` name, a query and a chunk in turn.

    Raises `NotFound` for a pair without a golden grade for the chunk's present text.
    """
    return [
        _example(store, query_id, chunk_id)
        for query_id, chunk_id in zip(ids[::2], ids[1::2], strict=True)
    ]


def _example(store: Store, query_id: str, chunk_id: str) -> PracticeExample:
    query, chunk = store.queries.get(query_id), store.chunks.get(chunk_id)
    grade = store.judgments.golden_grade(query_id, chunk_id)
    if grade is None or chunk is None or chunk.text is None:
        raise NotFound(
            f"practice: query {query_id!r} and chunk {chunk_id!r} have no golden grade; name three "
            "pairs that have one"
        )
    return PracticeExample(query, chunk, grade)
