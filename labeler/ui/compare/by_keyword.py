"""What Compare shows without grades: which keywords A and B find, and which only one of them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from labeler.analysis.comparison import View
from labeler.analysis.keywords import (
    KeywordPlace,
    described,
    found_alone,
    keyword_means,
    missed_in_words,
)
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.ui import address, wording

LISTED = 50  # keywords in each table


def show_keywords(view: View) -> None:
    """Show the means of A and B by keyword, then the keywords that one of them alone finds."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        k, substring = wording.choose_top(), wording.choose_substring()
    shown = {row.query_id for row in view.rows}
    at, runs = wording.At.of(view.board), (view.compared.a, view.compared.b)
    values, unusable = wording.keyword_values(at, substring, k, runs, view.board)
    found = {
        run: {name: each for name, each in scores.items() if name in shown}
        for run, scores in values.items()
    }
    if not any(found.values()):
        wording.say_nothing_found(at, unusable)
        return
    every = wording.places_in(at, substring, runs, view.board)
    places = [place for place in every if place.query_id in shown]
    show_html(tables.keyword_means_table("AB", keyword_means(found), k))
    print_lines = [described(k, substring=substring), unusable or ""]
    show_html(tables.small_print(print_lines))
    for name, alone in zip("AB", found_alone(places, *runs, k), strict=True):
        _show_alone(f"Only {name} has these in its top {k}", alone, runs)
    show_html(tables.sentences(missed_in_words(places, "neither A nor B")))


def _show_alone(title: str, alone: Sequence[KeywordPlace], runs: tuple[str, str]) -> None:
    if not alone:
        return
    with st.expander(f"{title}: {len(alone):,}", expanded=len(alone) <= LISTED):
        show_html(tables.keyword_places_table(alone[:LISTED], *runs, link=_opened))
        if len(alone) > LISTED:
            st.caption(f"The first {LISTED}; labeler score --keywords --per-query has all.")


def _opened(query_id: str) -> str:
    return address.here("/compare", query=query_id)
