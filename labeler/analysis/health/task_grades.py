"""Single-answer queries whose grades find an answer in several documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeler.analysis.text_similarity import comparable_words
from labeler.model import Chunk, GradedPair, Query

SINGLE = "single"
PARTIAL_ANSWER = 2  # the lowest grade of a chunk that answers at least a part


@dataclass(frozen=True, slots=True)
class SingleAnswers:
    """The graded queries with the task single, and those of ``several`` documents.

    ``several`` are the query and the number of documents, most documents first.
    """

    queries: int
    several: tuple[tuple[str, int], ...]


def answering_pairs(
    queries: Iterable[Query], graded: Iterable[GradedPair], rel: int
) -> dict[str, list[GradedPair]]:
    """Return the chunks that answer each graded single-answer query.

    They are relevant, from grade ``rel`` on, and answer a part at least; chunks that are only on
    the topic count where no chunk is better.
    """
    found: dict[str, list[GradedPair]] = {}
    single = {query.query_id for query in queries if query.task == SINGLE}
    for pair in graded:
        if pair.query_id in single:
            found.setdefault(pair.query_id, []).append(pair)
    for query_id, pairs in found.items():
        least = max(rel, min(PARTIAL_ANSWER, max(pair.grade for pair in pairs)))
        found[query_id] = [pair for pair in pairs if pair.grade >= least]
    return found


def count_single_answers(
    answers: Mapping[str, Sequence[GradedPair]], chunks: Mapping[int, Chunk]
) -> SingleAnswers:
    """Count the queries with answers in several documents; ``chunks`` are by number.

    Chunks with the same words, in whatever documents, are one answer; a chunk without a document or
    a text is one of its own.
    """
    several = [
        (query_id, count)
        for query_id, pairs in answers.items()
        if (count := _count_documents([pair.chunk for pair in pairs], chunks)) > 1
    ]
    several.sort(key=lambda each: -each[1])
    return SingleAnswers(len(answers), tuple(several))


def _count_documents(numbers: Sequence[int], chunks: Mapping[int, Chunk]) -> int:
    texts, documents = set(), set()
    for number in numbers:
        chunk = chunks.get(number)
        words = tuple(comparable_words(chunk.text or "")) if chunk else ()
        if words and words in texts:
            continue
        texts.add(words)
        document = None if chunk is None else chunk.document_id
        documents.add(number if document is None else document)
    return len(documents)
