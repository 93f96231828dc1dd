"""A run out, as bytes that are the same every time; knows no disk and no database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from labeler.errors import BadInput
from labeler.formats import ragas
from labeler.formats.by_query import as_lines
from labeler.formats.writing import as_bytes, word
from labeler.model import Ranking

RunKind: TypeAlias = Literal["trec", "ranx", "ragas"]
RUN_KINDS: tuple[str, ...] = get_args(RunKind)


def write_run(
    rankings: Sequence[Ranking],
    name: str,
    kind: RunKind,
    queries: Mapping[str, str] | None = None,
    texts: Mapping[str, str | None] | None = None,
) -> bytes:
    """Return a run as a file, its lists in the given order.

    ``trec`` has ``name`` as its tag, with a hyphen for what no tag can hold, and refuses ids with
    blanks. A list without scores, or whose scores rise in it, gets minus its ranks: who reads it
    orders by scores. ``ragas`` shows the texts of queries and of chunks by their ids, where all of
    a list have one.
    """
    if kind == "trec":
        return as_bytes(_trec(rankings, name))
    if kind == "ranx":
        return as_lines({each.query_id: dict(_scored(each)) for each in rankings}).encode()
    if kind == "ragas":
        ranked = {each.query_id: each.chunk_ids for each in rankings}
        return as_bytes(ragas.sampled_run(queries or {}, ranked, texts or {}))
    raise BadInput(f"a run is written as {', '.join(RUN_KINDS)}, not {kind!r}")


def _scored(ranking: Ranking) -> Iterable[tuple[str, float]]:
    scores = ranking.scores
    if scores is None or any(later > first for first, later in pairwise(scores)):
        scores = tuple(-float(rank) for rank in range(1, len(ranking.chunk_ids) + 1))
    return zip(ranking.chunk_ids, scores, strict=True)


def _trec(rankings: Sequence[Ranking], name: str) -> Iterator[str]:
    tag = "-".join(name.split())
    for ranking in rankings:
        query_id = word(ranking.query_id, "query", "TREC")
        for rank, (chunk_id, score) in enumerate(_scored(ranking), 1):
            yield f"{query_id} Q0 {word(chunk_id, 'chunk', 'TREC')} {rank} {score!r} {tag}"
