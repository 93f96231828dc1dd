"""The report's keywords: how early each run shows them, which one run alone has, which none has."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.analysis.keywords import (
    KeywordPlace,
    corpora_of,
    described,
    found_alone,
    keyword_means,
    keyword_places,
    lists_of,
    missed_in_words,
    say_unusable,
)
from labeler.render import tables
from labeler.render.report.shared import Shared

K = 10
LISTED = 20
"""How many of the keywords that one run alone has are listed."""


def keywords_section(shared: Shared) -> htpy.Fragment | None:
    """Return what the runs do for keywords; None where no query has any."""
    there = set(shared.board.collection.query_ids)
    keywords = {
        name: query.keywords
        for name, query in shared.source.queries.items()
        if query.keywords and name in there
    }
    if not keywords:
        return None
    chunks = shared.source.chunks_of(shared.source.with_text)
    known = corpora_of(shared.board, {at: chunk.text or "" for at, chunk in chunks.items()})
    lists = lists_of(shared.board, shared.asked.runs)
    places = keyword_places(known.whole, keywords, lists)
    by = "no run" if shared.asked.b is None else "neither A nor B"
    means = keyword_means(known.scores(keywords, lists, K))
    said = [described(K, substring=False), say_unusable(known.whole, keywords) or ""]
    return htpy.fragment[
        tables.keyword_means_table(shared.letters, means, K),
        tables.small_print(said),
        _alone(shared, places),
        tables.sentences(missed_in_words(places, by)),
    ]


def _alone(shared: Shared, places: Sequence[KeywordPlace]) -> htpy.Node:
    """Return the keywords that A alone has among its first chunks, and those that B alone has."""
    a, b = shared.asked.a, shared.asked.b
    if b is None:
        return None
    return [
        htpy.fragment[
            htpy.h3[f"Only {letter} has these in its top {K}: {len(alone):,}"],
            tables.keyword_places_table(alone[:LISTED], a, b),
            tables.small_print([_left(len(alone) - LISTED)]),
        ]
        for letter, alone in zip(shared.letters, found_alone(places, a, b, K), strict=True)
        if alone
    ]


def _left(count: int) -> str:
    if count <= 0:
        return ""
    return f"{count:,} more are not listed; 'labeler score --keywords --per-query' has all."
