"""HTML elements, style sheets and scripts: the one place where text is put into a page unescaped.

Elements of htpy escape everything they hold, so nothing that a run's name or a chunk says can
become HTML. Unescaped are only our own style sheets and scripts, which hold no data, and JSON
in which no text can end its element.
"""

from __future__ import annotations

import json
from typing import Literal

import htpy
from markupsafe import Markup

SCRIPT_ESCAPES = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


def style(css: str) -> htpy.Element:
    """Return a style sheet; it is not escaped, so it is a constant and holds nothing from data."""
    return htpy.style[Markup(css)]


def script(code: str) -> htpy.Element:
    """Return a script of our own or of a library; it is not escaped and holds nothing from data."""
    return htpy.script(type="module")[Markup(code)]


def json_data(name: str, content: object) -> htpy.Element:
    """Return what a script reads by ``name``, as JSON in which no text can end it.

    >>> print(json_data("names", ["</script>"]))
    <script type="application/json" id="names">["\\u003c/script\\u003e"]</script>
    """
    written = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return htpy.script(type="application/json", id=name)[Markup(written.translate(SCRIPT_ESCAPES))]


def show_html(*content: htpy.Node, width: Literal["stretch", "content"] = "stretch") -> None:
    """Draw elements and style sheets; a text between them stays a text."""
    import streamlit as st  # here: what is drawn on no page, such as a report, needs none

    st.html(str(htpy.fragment[content]), width=width)
