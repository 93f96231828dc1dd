"""The grading pad: a component that paints the next chunk itself, and its thin face in Python.

The pad gets chunks ahead of time and posts grades to the routes, so no script runs per grade.
What it sends waits in the browser's storage until the server acknowledges it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import streamlit as st

COOKIE = "labeler_grader"

_HERE = Path(__file__).parent


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


# One script, because the browser gets it as a blob, which cannot import its neighbours.
_pad = st.components.v2.component(
    "labeler_grading_pad",
    html=_read("pad.html"),
    css=_read("pad.css"),
    js="\n".join(_read(name) for name in ("outbox.js", "names.js", "pad.js")),
)


@dataclass(frozen=True, slots=True)
class Desk:
    """What the pad needs to know: who grades where, with which words.

    ``token`` lets the pad use the routes; ``grader`` None makes it ask for a name first.
    """

    golden_set: str
    grader: str | None
    token: str | None
    words: Sequence[str]
    colours: Sequence[str]


def pad(desk: Desk) -> None:
    """Show the grading pad. When its token runs out it asks for this script to run again."""
    _pad(
        key="grading_pad",
        data={**asdict(desk), "cookie": COOKIE},
        on_renew_change=lambda: None,
    )
