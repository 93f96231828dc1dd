"""The adjudication component: one disagreement at a time, decided by a lead with one key.

It reads and writes through the grading API, so no script runs per key. A decision stays in the
browser's storage until the server has acknowledged it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from labeler.render.words import DEFAULT_LANGUAGE, LANGUAGES
from labeler.web.static_js import loader, read_assets

# In English, like all pages of leads.
SENTENCES = {
    key: sentence
    for key, sentence in LANGUAGES[DEFAULT_LANGUAGE].sentences.items()
    if key.startswith(("keys.", "marks.", "status.", "trouble.", "refused.", "event."))
} | {
    "keys.ahead": "next",
    "keys.ahead_help": "next {passage}, without deciding",
    "keys.note": "reason",
    "keys.note_help": "write a reason for your decision",
}

_bench = st.components.v2.component(
    "labeler_bench",
    html=read_assets("adjudication/bench.html"),
    css=read_assets("js/marks.css", "adjudication/bench.css"),
    js=loader("adjudication", "main"),
)


@dataclass(frozen=True, slots=True)
class BenchData:
    """The data of the adjudication component: who decides, in which words, and which pairs.

    ``token`` grants access to the routes; ``key`` says whose decisions wait in the browser.
    ``asked`` are the URL parameters that select disagreements. ``newest`` changes with everything
    that could change the disagreements. ``rule`` is the name of the rule that turns several grades
    into one, ``rule_in_words`` explains it.
    """

    golden_set: str
    grader: str
    key: str
    token: str
    words: Sequence[str]
    meanings: Sequence[str]
    colours: Sequence[str]
    rule: str
    rule_in_words: str
    asked: str
    newest: Sequence[int]


def bench(data: BenchData) -> None:
    """Show the adjudication component, which runs this script again when its token expires."""
    _bench(key="bench", data={**asdict(data), "sentences": SENTENCES}, on_renew_change=lambda: None)
