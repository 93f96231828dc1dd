"""Where keywords stand in the runs of a page: looked for once for each change of the data.

Knows neither a grade nor where on the page it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from labeler.analysis.keywords import (
    Corpora,
    Corpus,
    KeywordPlace,
    KeywordScore,
    corpora_of,
    keyword_places,
    lists_of,
    say_unusable,
)
from labeler.evaluation import Scoreboard
from labeler.model import Selection
from labeler.ui import address, boards
from labeler.ui import shared as ui

K, DEEPEST = 10, 1_000
Values = dict[str, dict[str, KeywordScore]]
"""Keyword scores by run and query."""


class At(NamedTuple):
    """What keyword scores depend on, and on no grade.

    ``golden`` is the version that is shown, ``selected`` which of its queries are, ``within`` are a
    facet and a bucket.
    """

    path: str
    data_revision: int
    preset: str
    golden: str | None
    selected: Selection
    within: tuple[str, str] | None = None

    @classmethod
    def of(cls, board: Scoreboard, within: tuple[str, str] | None = None) -> At:
        """Return that of a board of this server."""
        at = (ui.database(), board.data_revision, board.conventions.preset)
        return cls(*at, address.given("golden"), board.conventions.selected, within)


def choose_top() -> int:
    """Let the user say how deep keywords are looked for."""
    top: int = address.choose_number("Keywords in the top", "k", 1, DEEPEST, K, width=160)
    return top


def choose_substring() -> bool:
    """Let the user say whether parts of words count."""
    return address.switch(
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
        chunks = store.chunks_numbered(store.chunks_with_text())
    texts = {number: chunk.text or "" for number, chunk in chunks.items()}
    return corpora_of(_board, texts, substring=substring)


def _known(at: At, substring: bool, board: Scoreboard) -> Corpora:
    return _corpora(at.path, at.data_revision, at.selected.chunkings, substring, board)


@st.cache_resource(max_entries=4, show_spinner=False)
def keywords_at(at: At) -> dict[str, tuple[str, ...]]:
    """Return the keywords of every query that has any."""
    with ui.open_store() as store:
        queries = boards.shown_queries(store)
    return {query.query_id: query.keywords for query in queries if query.keywords}


def say_nothing_found(at: At, unusable: str | None = None) -> None:
    """Say why no query that is shown has a keyword that is looked for."""
    if unusable:
        st.text(unusable)
    elif keywords_at(at._replace(within=None)):
        st.text("None of the queries that are chosen has keywords.")
    else:
        ui.say_no_query_has("keywords", "keywords")


@st.cache_data(max_entries=4, show_spinner="Looking for keywords …")
def keyword_values(
    at: At, substring: bool, k: int, runs: Sequence[str], _board: Scoreboard
) -> tuple[Values, str | None]:
    """Return runs' keyword scores by query, and what cannot be looked for; knows no grade."""
    keywords = _of_board(at, _board)
    known = _known(at, substring, _board)
    found = known.scores(keywords, lists_of(_board, runs), k)
    return found, say_unusable(known.whole, keywords)


@st.cache_resource(max_entries=4, show_spinner="Looking for keywords …")
def places_in(
    at: At, substring: bool, runs: Sequence[str], _board: Scoreboard
) -> list[KeywordPlace]:
    """Return where each keyword of each query first stands in each of the runs."""
    keywords = _of_board(at, _board)
    known = _known(at, substring, _board)
    return keyword_places(known.whole, keywords, lists_of(_board, runs))


def _of_board(at: At, board: Scoreboard) -> dict[str, tuple[str, ...]]:
    """Return the keywords of the queries that a board has, which may be some, or of a bucket."""
    ids, keywords = board.collection.query_ids, keywords_at(at._replace(within=None))
    wanted: Sequence[str] = ids
    if at.within is not None:
        facet, bucket = at.within
        given = board.collection.facets.get(facet, (None,) * len(ids))
        wanted = [each for each, held in zip(ids, given, strict=True) if held == bucket]
    return {each: keywords[each] for each in wanted if each in keywords}


def places_of_query(board: Scoreboard, query_id: str) -> list[KeywordPlace]:
    """Return where each keyword of one query first stands in every run."""
    at = At.of(board)
    words = keywords_at(at).get(query_id)
    return _places_of(at, query_id, words, board) if words else []


@st.cache_data(max_entries=20, show_spinner=False)
def _places_of(
    at: At, query_id: str, words: Sequence[str], _board: Scoreboard
) -> list[KeywordPlace]:
    """Look in the chunks of the query's lists alone, so that nobody waits for all texts."""
    lists = lists_of(_board, _board.run_names)
    numbers = {number for list_of in lists.values() for number in list_of(query_id)}
    with ui.open_store() as store:
        chunks = store.chunks_numbered(numbers)
    known = Corpus({number: chunk.text or "" for number, chunk in chunks.items()})
    found = keyword_places(known, {query_id: words}, lists)
    return [place._replace(chunks=None) for place in found]


def in_words(
    places: Sequence[KeywordPlace], runs: Sequence[str], short: Mapping[str, str]
) -> list[str]:
    """Say of each keyword where it stands in ``runs``, and how many of all runs have it."""
    said = []
    for place in places:
        having = sum(rank is not None for rank in place.ranks.values())
        near = place._replace(ranks={run: place.ranks[run] for run in runs})
        if place.is_missed:
            said.append(place.in_words(short))
        elif len(runs) < len(place.ranks):
            said.append(f"{near.in_some(short)} ({having} of all {len(place.ranks)} runs find it)")
        else:
            said.append(near.in_words(short))
    return said
