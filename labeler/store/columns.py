"""Conversion of queries, chunks, judgments and rankings to the values of SQL columns and back.

`BEGIN_ASSIGNMENT` is here as well: on PostgreSQL its text, comment included, selects the lock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from labeler.model import (
    Chunk,
    Judgment,
    Passage,
    Query,
    Ranking,
    TransferSource,
    check_evidence,
    check_transfer_sources,
    transfer_source_dicts,
)

DATABASE_NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
"""The present moment as stored, by one clock: those of app servers may differ."""
ALL_ROWS = 2**63 - 1
"""A LIMIT that returns all rows."""


def moment(when: datetime | None = None) -> str:
    """Return a moment, by default now, as stored: UTC, ISO 8601, to the millisecond."""
    utc = (when or datetime.now(UTC)).astimezone(UTC)
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def hash_text(text: str | None) -> str | None:
    """Return the hash of a text, which tells for which wording a grade was given."""
    if text is None:
        return None
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def as_json(value: Any) -> str:
    """Write a value as the JSON text stored in a column."""
    if isinstance(value, Mapping):
        value = dict(value)
    return json.dumps(value, ensure_ascii=False)


def quoted(name: str) -> str:
    """Quote the name of a column, which may be a keyword of SQL."""
    return f'"{name}"'


def pack_ranking(ranking: Ranking, numbers: Mapping[str, int]) -> tuple[str, bytes, bytes | None]:
    """Return a ranking as stored: query id, little-endian int32 chunks, float32 scores."""
    chunks = np.array([numbers[chunk_id] for chunk_id in ranking.chunk_ids], dtype="<i4")
    scores = None if ranking.scores is None else float32_bytes(ranking.scores)
    return ranking.query_id, chunks.tobytes(), scores


def batch_rankings(rankings: Iterable[Ranking], most: int) -> Iterator[list[Ranking]]:
    """Yield lists in batches of at least ``most`` results, as all of a run take too much memory."""
    some: list[Ranking] = []
    held = 0
    for ranking in rankings:
        some.append(ranking)
        held += len(ranking.chunk_ids)
        if held >= most:
            yield some
            some, held = [], 0
    if some:
        yield some


def float32_bytes(scores: Sequence[float]) -> bytes:
    """Return scores as little-endian float32; one beyond their range becomes infinite."""
    with np.errstate(over="ignore"):
        return np.array(scores, dtype="<f4").tobytes()


APART = "order_in_64_bits"
"""The key in a run's parameters that holds the `order_in_64_bits` of its lists, by query."""


def order_in_64_bits(ranking: Ranking) -> list[int] | None:
    """Return the order of scores as numbers, 0 the lowest, if float32 would merge some; else None.

    >>> order_in_64_bits(Ranking("q", ("a", "b", "c"), (2000000.02, 2000000.01, 1.0)))
    [2, 1, 0]
    """
    values, numbers = np.unique(np.array(ranking.scores or (), "<f8"), return_inverse=True)
    with np.errstate(over="ignore"):
        is_apart = len(np.unique(values.astype("<f4"))) < len(values)
    return numbers.tolist() if is_apart else None


def run_fingerprint(rankings: Sequence[Ranking]) -> str:
    """Hash a run's content, regardless of its file's format, compression and query order."""
    digest = hashlib.blake2b(digest_size=16)
    for ranking in _by_query_id(rankings):
        digest.update(repr((ranking.query_id, ranking.chunk_ids)).encode())
        digest.update(b"" if ranking.scores is None else float32_bytes(ranking.scores))
    return digest.hexdigest()


def _by_query_id(rankings: Sequence[Ranking]) -> Iterator[Ranking]:
    query_ids = [ranking.query_id for ranking in rankings]
    places = sorted(range(len(query_ids)), key=query_ids.__getitem__)
    return (rankings[place] for place in places)


def query_from_row(row: Sequence[Any], buckets: Mapping[str, str]) -> Query:
    """Build a query from its columns."""
    query_id, text, task, reference, guideline, keywords, metadata, split = row
    return Query(
        query_id,
        text,
        task,
        reference,
        guideline,
        () if keywords == "[]" else tuple(json.loads(keywords)),
        dict(buckets),
        {} if metadata == "{}" else json.loads(metadata),
        split,
    )


def chunk_from_row(row: Sequence[Any]) -> Chunk:
    """Build a chunk from its columns."""
    chunk_id, text, title, document_id, position, metadata, *place = row
    return Chunk(chunk_id, text, title, document_id, position, json.loads(metadata), *place)


def judgment_from_row(row: Sequence[Any]) -> Judgment:
    """Build a judgment from its columns, in the order of its fields."""
    columns = list(row)
    columns[6] = tuple(json.loads(columns[6])) if columns[6] else ()
    columns[9] = bool(columns[9])
    evidence, sources, seen_whole, highlighted = columns[-4:]
    columns[-4:] = (
        *(passages_from_column(evidence), sources_from_column(sources)),
        *(truth_from_column(each) for each in (seen_whole, highlighted)),
    )
    return Judgment(*columns)


def truth_from_column(column: int | None) -> bool | None:
    """Return the truth value in a column, None for null: unknown."""
    return None if column is None else bool(column)


def column_from_truth(truth: bool | None) -> int | None:
    """Return the column for a truth value, null for None: unknown."""
    return None if truth is None else int(truth)


def passages_from_column(column: str | None) -> tuple[Passage, ...]:
    """Return the passages that a column holds."""
    return check_evidence(json.loads(column)) if column else ()


def column_from_passages(passages: Sequence[Passage]) -> str | None:
    """Return the column that holds passages, null for none."""
    return as_json(passages) if passages else None


def sources_from_column(column: str | None) -> tuple[TransferSource, ...] | None:
    """Return the sources of a transferred grade, None for any other judgment."""
    return None if column is None else check_transfer_sources(json.loads(column))


def column_from_sources(bases: Sequence[TransferSource] | None) -> str | None:
    """Return the column that holds the sources of a transferred grade, null for None."""
    return None if bases is None else as_json(transfer_source_dicts(bases))


BEGIN_ASSIGNMENT = "BEGIN IMMEDIATE -- in turn with whoever chooses, and with no writer"
