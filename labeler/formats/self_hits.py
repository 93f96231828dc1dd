"""Queries that are chunks themselves: their own id in their list, left out if asked.

BEIR leaves such chunks out of ArguAna and Quora, where each query is also in the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from labeler.model import ChangedRankings, Loaded, Ranking, RankingsByQuery

_SELDOM = 10  # one list in so many has its query's own id by chance, where ids are short numbers


def describe_own_hits(lists: Mapping[str, Any]) -> str | None:
    """Return a sentence where many lists hold a chunk with their query's own id, else None.

    >>> describe_own_hits({"q1": ["q1", "c"], "q2": {"q2": 2.5}, "q3": ["c"]})
    "in 2 of 3 lists a chunk has the query's own id; --leave-out-self leaves it out"
    """
    if isinstance(lists, RankingsByQuery):
        own = _count_own(lists)
    else:
        each = (
            (query_id, getattr(ranked, "chunk_ids", ranked)) for query_id, ranked in lists.items()
        )
        own = sum(query_id in ranked for query_id, ranked in each)
    if not own or own * _SELDOM < len(lists):
        return None
    return (
        f"in {own:,} of {len(lists):,} lists a chunk has the query's own id; --leave-out-self "
        "leaves it out"
    )


def _count_own(lists: RankingsByQuery) -> int:
    found = lists.rankings
    query_of_chunk = found.names.places_in(found.query_ids)
    queries = np.repeat(np.arange(len(found.query_ids)), np.diff(found.bounds))
    return int((query_of_chunk[found.chunks] == queries).sum())


def without_self(loaded: Loaded[Ranking]) -> Loaded[Ranking]:
    """Return a run without the chunks that have the id of their query; the facts count them."""
    own = sum(ranking.query_id in ranking.chunk_ids for ranking in loaded.records)
    facts = {**loaded.facts, "chunks with the query's own id, left out": own}
    records = ChangedRankings(loaded.records, _without_own_id)
    return Loaded(loaded.source, records, loaded.lines, facts, loaded.warnings)


def _without_own_id(ranking: Ranking) -> Ranking:
    if ranking.query_id not in ranking.chunk_ids:
        return ranking
    at = ranking.chunk_ids.index(ranking.query_id)
    scores = ranking.scores
    return replace(
        ranking,
        chunk_ids=ranking.chunk_ids[:at] + ranking.chunk_ids[at + 1 :],
        scores=None if scores is None else scores[:at] + scores[at + 1 :],
    )
