"""The grading component (the pad): shows the next chunk at once, posts grades to the grading API.

It fetches chunks ahead of time, so no script runs per grade. A grade stays in the browser's
storage until the server has acknowledged it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

from labeler.render.markup import show_html, style
from labeler.web.static_js import loader

COOKIE = "labeler_grader"
# The pad has what the window leaves it: nothing stands below it, and on a phone little beside it.
WINDOW_STYLE = """
.stMainBlockContainer { padding-bottom: 0; }
@media (max-width: 40rem), (max-height: 30rem) {
  [data-testid="stHeader"] { display: none; }
  .stMainBlockContainer { padding: 0.25rem 0.75rem 0; }
  .stMainBlockContainer > .stVerticalBlock { gap: 0.25rem; }
}
"""

_HERE = Path(__file__).parent


def _read(*names: str) -> str:
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


_pad = st.components.v2.component(
    "labeler_grading_pad",
    html=_read("pad.html"),
    css=_read("pad.css", "whole.css", "evidence.css", "before.css"),
    js=loader("grading", "main"),
)


@dataclass(frozen=True, slots=True)
class PadScope:
    """The part of the pool a grader keeps to: the queries of one bucket, of a split, or of both.

    ``leaked`` says what becomes of queries marked as leaked: ``with``, ``without`` or ``only``.
    Where ``old`` and ``recut`` name two chunkings it is what grades of the one leave open in the
    other.
    """

    facet: str | None = None
    bucket: str | None = None
    split: str | None = None
    leaked: str = "with"
    old: str | None = None
    recut: str | None = None


@dataclass(frozen=True, slots=True)
class GradingTerms:
    """The scale, and what the team calls a query and a chunk: one of them, and several."""

    words: Sequence[str]
    meanings: Sequence[str]
    colours: Sequence[str]
    question: Sequence[str]
    passage: Sequence[str]


@dataclass(frozen=True, slots=True)
class PadData:
    """What the pad needs to know: who grades where, with which words.

    ``token`` lets the pad use the routes; ``grader`` None makes it ask for a name first. ``key`` is
    whose grades wait in the browser, whatever they are called; ``known_as`` is the name that those
    of the version before wait under. ``is_new``
    says that they came by an invitation and have graded nothing yet. ``guideline`` is the team's,
    for every query; ``contact`` says whom to ask. From the grade ``evidence_from`` on it is asked
    which words made it. ``query`` is one to begin with, as a list, and ``splits`` are those to
    choose from, where the page offers a choice, and ``openings`` the chunkings between which
    something may be left open.
    """

    golden_set: str
    grader: str | None
    token: str | None
    key: str | None
    known_as: str | None
    terms: GradingTerms
    can_change_name: bool = True
    is_new: bool = False
    guideline: str = ""
    contact: str = ""
    evidence_from: int | None = None
    confined: PadScope | None = None
    splits: Sequence[str] = ()
    openings: Sequence[tuple[str, str]] = ()
    query: str | None = None


def pad(desk: PadData) -> None:
    """Show the grading pad. When its token runs out it asks for this script to run again."""
    show_html(style(WINDOW_STYLE))
    _pad(
        key="grading_pad",
        data={**asdict(desk), "cookie": COOKIE},
        on_renew_change=lambda: None,
    )
