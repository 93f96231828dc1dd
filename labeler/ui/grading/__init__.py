"""The grading component (the pad): shows the next chunk at once, posts grades to the grading API.

It fetches chunks ahead of time, so no script runs per grade. A grade stays in the browser's
storage until the server has acknowledged it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from labeler.render.markup import show_html, style
from labeler.render.words import Sentence
from labeler.web.static_js import loader, read_assets

COOKIE = "labeler_grader"
# The pad fills the rest of the window: nothing is below it, and on a phone little beside it.
WINDOW_STYLE = """
.stMainBlockContainer { padding-bottom: 0; }
@media (max-width: 40rem), (max-height: 30rem) {
  [data-testid="stHeader"] { display: none; }
  .stMainBlockContainer > .stVerticalBlock { gap: 0.25rem; }
}
@media (max-height: 30rem) {
  header.top { flex-wrap: nowrap; height: 2.5rem; }
  header.top .brand { flex: 0 1 auto; }
  header.top nav { order: 0; width: auto; height: 100%; }
}
"""

_pad = st.components.v2.component(
    "labeler_grading_pad",
    html=read_assets("grading/pad.html"),
    css=read_assets(
        *("grading/pad.css", "js/marks.css", "grading/query_list.css"),
        *("grading/evidence.css", "grading/transfer_hint.css"),
    ),
    js=loader("grading", "main"),
)


@dataclass(frozen=True, slots=True)
class PadScope:
    """The part of the pool that a grader gets: the queries of one bucket, of a split, or of both.

    ``leaked`` is ``with``, ``without`` or ``only``, for queries marked as leaked. ``old`` and
    ``recut`` are two chunkings: the pairs that grades of the first leave open in the second.
    ``until`` keeps to the pairs that decide between two runs, until it is ``decided``.
    """

    facet: str | None = None
    bucket: str | None = None
    split: str | None = None
    leaked: str = "with"
    old: str | None = None
    recut: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class GradingTerms:
    """The scale, and the team's words for a query and a chunk, singular and plural."""

    words: Sequence[str]
    meanings: Sequence[str]
    colours: Sequence[str]
    question: Sequence[str]
    passage: Sequence[str]


@dataclass(frozen=True, slots=True)
class PadData:
    """The data of the pad: who grades, in which words, and what.

    ``token`` grants access to the routes. Without a ``grader`` the pad asks for a name first.
    ``known`` are the graders so far with their numbers of grades, if people type their names.
    ``key`` says whose grades wait in the browser. ``is_new`` says that this grader has graded
    nothing yet; the pad then explains the task, for the golden set called ``name``. ``guideline``
    is the team's, ``contact`` says whom to ask. From the grade ``evidence_from`` on, the pad asks
    for the words that a grade rests on; ``highlight`` marks the question's words. ``query`` is
    opened first, as a list; with ``mine`` the grader's own grades are. ``splits`` and ``openings``
    (pairs of chunkings) are choices of what to grade. ``verdict_url`` is a lead's link to the
    verdict if a decision is asked for, ``load_url`` the page that loads missing texts.
    ``sentences`` are those of the ``language``, by their keys.
    """

    golden_set: str
    grader: str | None
    token: str | None
    key: str | None
    terms: GradingTerms
    language: str
    sentences: Mapping[str, Sentence]
    can_change_name: bool = True
    known: Sequence[tuple[str, int]] = ()
    is_new: bool = False
    name: str = ""
    inviter: str | None = None
    highlight: bool = False
    guideline: str = ""
    contact: str = ""
    evidence_from: int | None = None
    confined: PadScope | None = None
    splits: Sequence[str] = ()
    openings: Sequence[tuple[str, str]] = ()
    query: str | None = None
    mine: bool = False
    verdict_url: str | None = None
    load_url: str | None = None


def pad(desk: PadData) -> None:
    """Show the grading pad, which runs this script again when its token expires."""
    show_html(style(WINDOW_STYLE))
    _pad(key="grading_pad", data={**asdict(desk), "cookie": COOKIE}, on_renew_change=lambda: None)
