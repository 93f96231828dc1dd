"""Positions of keywords in the runs of a page, cached until the data changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from labeler.analysis.keyword_corpus import Corpus
from labeler.analysis.keywords import (
    Corpora,
    KeywordRanks,
    KeywordScore,
    build_corpora,
    describe_unusable,
    find_keyword_ranks,
    list_lookups,
)
from labeler.evaluation import Scoreboard
from labeler.model import Selection
from labeler.ui import scoreboards, url_state
from labeler.ui import shared as ui

DEFAULT_DEPTH, MOST_DEPTH = 10, 1_000
ScoresByRun = dict[str, dict[str, KeywordScore]]
"""Keyword scores by run and query."""


class KeywordKey(NamedTuple):
    """Everything that keyword scores depend on; grades do not affect them.

    ``golden`` is the version shown, ``selected`` its queries that count, ``within`` a facet and a
    bucket.
    """

    path: str
    data_revision: int
    preset: str
    golden: str | None
    selected: Selection
    within: tuple[str, str] | None = None

    @classmethod
    def of(cls, board: Scoreboard, within: tuple[str, str] | None = None) -> KeywordKey:
        """Return the key of a board of this server."""
        at = (ui.database(), board.data_revision, board.conventions.preset)
        return cls(*at, url_state.get("golden"), board.conventions.selected, within)


def choose_depth() -> int:
    """Let the user choose down to which rank keywords are searched."""
    top: int = url_state.choose_number(
        "Keywords in the top", "k", 1, MOST_DEPTH, DEFAULT_DEPTH, width=160
    )
    return top


def choose_substring() -> bool:
    """Let the user choose whether parts of words count."""
    return url_state.switch(
        "Find keywords inside longer words, too",
        "substring",
        help="A keyword without letters and digits, such as `++`, is then looked for, too.",
    )


@st.cache_resource(max_entries=2, show_spinner="Reading the chunks …")
def _corpora(
    path: str,
    data_revision: int,
    chunkings: Sequence[str] | None,
    substring: bool,
    _board: Scoreboard,
) -> Corpora:
    """Return the words of every chunk; one read for each change of the data."""
    with ui.open_store() as store:
        chunks = store.texts.numbered(store.chunks.with_text())
    texts = {number: chunk.text or "" for number, chunk in chunks.items()}
    return build_corpora(_board, texts, substring=substring)


def _corpora_for(at: KeywordKey, substring: bool, board: Scoreboard) -> Corpora:
    return _corpora(at.path, at.data_revision, at.selected.chunkings, substring, board)


@st.cache_resource(max_entries=4, show_spinner=False)
def keywords_by_query(at: KeywordKey) -> dict[str, tuple[str, ...]]:
    """Return the keywords of every query that has any."""
    with ui.open_store() as store:
        queries = scoreboards.shown_queries(store)
    return {query.query_id: query.keywords for query in queries if query.keywords}


def say_nothing_found(at: KeywordKey, unusable: str | None = None) -> None:
    """Say why no query shown has a keyword to search for."""
    if unusable:
        st.text(unusable)
    elif keywords_by_query(at._replace(within=None)):
        st.text("None of the queries that are chosen has keywords.")
    else:
        ui.say_no_query_has("keywords", "keywords")


@st.cache_data(max_entries=4, show_spinner="Looking for keywords …")
def keyword_values(
    at: KeywordKey, substring: bool, k: int, runs: Sequence[str], _board: Scoreboard
) -> tuple[ScoresByRun, str | None]:
    """Return runs' keyword scores by query, and the keywords that cannot be searched."""
    keywords = _keywords_on_board(at, _board)
    known = _corpora_for(at, substring, _board)
    found = known.scores(keywords, list_lookups(_board, runs), k)
    return found, describe_unusable(known.whole, keywords)


@st.cache_resource(max_entries=4, show_spinner="Looking for keywords …")
def places_in_runs(
    at: KeywordKey, substring: bool, runs: Sequence[str], _board: Scoreboard
) -> list[KeywordRanks]:
    """Return the first rank of each keyword of each query in each of the runs."""
    keywords = _keywords_on_board(at, _board)
    known = _corpora_for(at, substring, _board)
    return find_keyword_ranks(known.whole, keywords, list_lookups(_board, runs))


def _keywords_on_board(at: KeywordKey, board: Scoreboard) -> dict[str, tuple[str, ...]]:
    """Return the keywords of the queries on a board, or of those in a bucket."""
    ids, keywords = board.collection.query_ids, keywords_by_query(at._replace(within=None))
    wanted: Sequence[str] = ids
    if at.within is not None:
        facet, bucket = at.within
        given = board.collection.facets.get(facet, (None,) * len(ids))
        wanted = [each for each, held in zip(ids, given, strict=True) if held == bucket]
    return {each: keywords[each] for each in wanted if each in keywords}


def places_of_query(board: Scoreboard, query_id: str) -> list[KeywordRanks]:
    """Return the first rank of each keyword of one query in every run."""
    at = KeywordKey.of(board)
    words = keywords_by_query(at).get(query_id)
    return _find_places(at, query_id, words, board) if words else []


@st.cache_data(max_entries=20, show_spinner=False)
def _find_places(
    at: KeywordKey, query_id: str, words: Sequence[str], _board: Scoreboard
) -> list[KeywordRanks]:
    """Search only the chunks in the query's lists, because searching all texts is slow."""
    lists = list_lookups(_board, _board.run_names)
    numbers = {number for list_of in lists.values() for number in list_of(query_id)}
    with ui.open_store() as store:
        chunks = store.texts.numbered(numbers)
    known = Corpus({number: chunk.text or "" for number, chunk in chunks.items()})
    found = find_keyword_ranks(known, {query_id: words}, lists)
    return [place._replace(chunks=None) for place in found]


def describe_places(
    places: Sequence[KeywordRanks], runs: Sequence[str], short: Mapping[str, str]
) -> list[str]:
    """Say for each keyword its rank in ``runs``, and how many of all runs have it."""
    said = []
    for place in places:
        having = sum(rank is not None for rank in place.ranks.values())
        near = place._replace(ranks={run: place.ranks[run] for run in runs})
        if place.is_missed:
            said.append(place.in_words(short))
        elif len(runs) < len(place.ranks):
            said.append(
                f"{near.describe_where(short)} ({having} of all {len(place.ranks)} runs find it)"
            )
        else:
            said.append(near.in_words(short))
    return said
