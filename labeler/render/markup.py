"""HTML elements, style sheets and scripts: the one place where text is put into a page unescaped.

Elements of htpy escape everything they hold, so no run name or chunk text can become HTML. Only
our own style sheets and scripts, which hold no data, and JSON are not escaped. The JSON is written
so that no text can end its element.
"""

from __future__ import annotations

from typing import Literal

import htpy
from markupsafe import Markup


def style(css: str) -> htpy.Element:
    """Return a style sheet. It is not escaped, so it must be a constant without data."""
    return htpy.style[Markup(css)]


def script(code: str) -> htpy.Element:
    """Return a script of our own or of a library. It is not escaped, so it must hold no data."""
    return htpy.script(type="module")[Markup(code)]


def show_html(*content: htpy.Node, width: Literal["stretch", "content"] = "stretch") -> None:
    """Draw elements and style sheets; text between them is escaped."""
    import streamlit as st  # here: what is drawn on no page, such as a report, needs none

    st.html(str(htpy.fragment[content]), width=width)
