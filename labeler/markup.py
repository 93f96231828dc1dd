"""Where HTML reaches a page: elements, which escape by themselves, and style sheets of our own.

Whatever is no element is text, so nothing that a name or a chunk says can become HTML; knows no
page and no table.
"""

from __future__ import annotations

from typing import Literal

import htpy
import streamlit as st
from markupsafe import Markup


def style(css: str) -> htpy.Element:
    """Return a style sheet; it is not escaped, so it is a constant and holds nothing from data."""
    return htpy.style[Markup(css)]


def show_html(*content: htpy.Node, width: Literal["stretch", "content"] = "stretch") -> None:
    """Draw elements and style sheets; a text between them stays a text."""
    st.html(str(htpy.fragment[content]), width=width)
