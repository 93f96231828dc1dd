"""Random but reproducible assignment of queries to the splits dev, test and held-out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from labeler.analysis.text_similarity import SIMILARITY_THRESHOLD, similar_pairs
from labeler.errors import BadInput
from labeler.model import SPLITS, Query

PERCENT = 100


def assign_splits(
    queries: Sequence[Query], shares: Mapping[str, float], seed: str, *, redraw: bool = False
) -> dict[str, str]:
    """Assign a split to each query that has none, or with ``redraw`` to all.

    It depends on the query's id and the ``seed`` alone, so that later queries change none and every
    machine draws the same. A near-duplicate of an earlier query gets the same split; otherwise a
    system tuned on one would be tested on the other. ``shares`` are in percent; with few queries
    they are met only roughly.

    >>> shares = {"dev": 60, "test": 20, "held-out": 20}
    >>> queries = [Query(f"q{n}", text) for n, text in enumerate(["Why?", "Where is it?", "why"])]
    >>> assign_splits(queries, shares, "1")
    {'q0': 'held-out', 'q1': 'test', 'q2': 'held-out'}
    """
    check_shares(shares)
    first: dict[int, int] = {}
    for pair in similar_pairs([query.text for query in queries], SIMILARITY_THRESHOLD):
        first.setdefault(pair.second, pair.first)
    found: list[str] = []
    for at, query in enumerate(queries):
        if query.split is not None and not redraw:
            found.append(query.split)
        else:
            found.append(
                found[first[at]] if at in first else draw_split(query.query_id, shares, seed)
            )
    return {
        query.query_id: split
        for query, split in zip(queries, found, strict=True)
        if redraw or query.split is None
    }


def draw_split(query_id: str, shares: Mapping[str, float], seed: str) -> str:
    """Draw the split of a query from its id and the seed."""
    digest = hashlib.sha256(f"{seed}\0{query_id}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64 * PERCENT
    reached = 0.0
    for split in SPLITS:
        reached += shares[split]
        if place < reached:
            return split
    return next(split for split in reversed(SPLITS) if shares[split])  # a sum a hair below 100


def check_shares(shares: Mapping[str, float]) -> None:
    """Raise `BadInput` unless the shares of the splits add up to 100%."""
    if any(share < 0 for share in shares.values()) or abs(sum(shares.values()) - PERCENT) > 1e-9:
        given = ", ".join(f"{split} {share:g}" for split, share in shares.items())
        raise BadInput(f"the shares of the splits must be {PERCENT}% in all, not {given}")
