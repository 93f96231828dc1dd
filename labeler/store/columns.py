"""Turns the values of the field into what a column holds and back; runs no SQL."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.model import Chunk, Judgment, Query, Ranking, Rankings

Numbers: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]


def moment() -> str:
    """Return this moment as stored: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_hash(text: str | None) -> str | None:
    """Fingerprint a chunk's text, so that a grade knows which wording it was given for."""
    if text is None:
        return None
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def as_json(value: Any) -> str:
    """Write a value as the JSON text stored in a column."""
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False)


class PackedRun:
    """A run's lists as they are stored, made one by one: all at once a large one takes too much.

    ``chunk_ids`` are the distinct ids in it, ``query_ids`` whose its lists are.
    """

    def __init__(self, rankings: Sequence[Ranking]) -> None:
        self._rankings = rankings
        self.query_ids: Sequence[str]
        self.chunk_ids: Sequence[str]
        if isinstance(rankings, Rankings):
            self.query_ids, self.chunk_ids = rankings.query_ids, rankings.names.texts().tolist()
            self.depth = int(np.diff(rankings.bounds).max(initial=0))
        else:
            self.query_ids = [ranking.query_id for ranking in rankings]
            self.chunk_ids = list(dict.fromkeys(chain.from_iterable(map(_chunk_ids, rankings))))
            self.depth = max(map(len, map(_chunk_ids, rankings)), default=0)

    def lists(self, numbers: Numbers) -> Iterator[tuple[str, bytes, bytes | None]]:
        """Give query id, little-endian int32 chunks and float32 scores of each list.

        ``numbers`` are those that the store has for ``chunk_ids``.
        """
        for query_id, places, scores in self._places():
            packed = None if scores is None else float32_bytes(scores)
            yield query_id, numbers[places].astype("<i4").tobytes(), packed

    def _places(self) -> Iterator[tuple[str, Numbers, Sequence[float] | Floats | None]]:
        if isinstance(self._rankings, Rankings):
            bounds, chunks, scores = (
                self._rankings.bounds,
                self._rankings.chunks,
                self._rankings.scores,
            )
            for query_id, start, end in zip(self.query_ids, bounds, bounds[1:], strict=False):
                yield query_id, chunks[start:end], None if scores is None else scores[start:end]
            return
        known = {chunk_id: place for place, chunk_id in enumerate(self.chunk_ids)}
        for ranking in self._rankings:
            places = np.array([known[chunk_id] for chunk_id in ranking.chunk_ids], np.int32)
            yield ranking.query_id, places, ranking.scores


def _chunk_ids(ranking: Ranking) -> tuple[str, ...]:
    return ranking.chunk_ids


def float32_bytes(scores: Sequence[float] | Floats) -> bytes:
    """Return scores as little-endian float32; one beyond their range becomes infinite."""
    with np.errstate(over="ignore"):
        return np.array(scores, dtype="<f4").tobytes()


def fingerprint_of(rankings: Sequence[Ranking]) -> str:
    """Hash a run's content, whatever file format, compression or query order it came in."""
    digest = hashlib.blake2b(digest_size=16)
    for ranking in _by_query_id(rankings):
        digest.update(repr((ranking.query_id, ranking.chunk_ids)).encode())
        digest.update(b"" if ranking.scores is None else float32_bytes(ranking.scores))
    return digest.hexdigest()


def _by_query_id(rankings: Sequence[Ranking]) -> Iterable[Ranking]:
    if isinstance(rankings, Rankings):
        query_ids = rankings.query_ids
        return rankings.in_order(sorted(range(len(query_ids)), key=query_ids.__getitem__))
    return sorted(rankings, key=lambda ranking: ranking.query_id)


def query_of(row: Sequence[Any], buckets: Mapping[str, str]) -> Query:
    """Build a query from its columns."""
    query_id, text, task, reference, guideline, keywords, metadata = row
    return Query(
        query_id,
        text,
        task,
        reference,
        guideline,
        tuple(json.loads(keywords)),
        dict(buckets),
        json.loads(metadata),
    )


def chunk_of(row: Sequence[Any]) -> Chunk:
    """Build a chunk from its columns."""
    chunk_id, text, title, document_id, position, metadata = row
    return Chunk(chunk_id, text, title, document_id, position, json.loads(metadata))


def judgment_of(row: Sequence[Any]) -> Judgment:
    """Build a judgment from its columns, in the order the class has them."""
    event_id, query_id, chunk_id, grader, kind, grade, graders, reason, note, blind, *rest = row
    names = tuple(json.loads(graders)) if graders else ()
    return Judgment(
        event_id, query_id, chunk_id, grader, kind, grade, names, reason, note, bool(blind), *rest
    )
