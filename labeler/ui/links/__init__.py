"""Links between pages: plain anchors, which a script follows without a reload.

Streamlit's own links lose parameters that the current page has bound. These keep them on click,
middle click, Enter and Back. They also work without the script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy
import streamlit as st

from labeler.render.markup import show_html
from labeler.web.static_js import loader

STYLE = """
a.goto {
  color: inherit;
  padding: 0.125rem 0.5rem;
  margin-left: -0.5rem;
  border-radius: 0.5rem;
  text-decoration: underline;
  text-underline-offset: 0.2em;
}
a.goto:hover { background: color-mix(in srgb, currentColor 10%, transparent); }
a.goto:focus-visible { outline: 3px solid currentColor; }
a.go {
  display: inline-block;
  padding: 0.5rem 1rem;
  border-radius: 0.5rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-decoration: none;
}
a.go:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.st-key-links, .st-key-links-go { display: none; }
"""

_links = st.components.v2.component("labeler_links", html="", js=loader("links", "links"))


def follow(pages: Sequence[str], places: Sequence[str], missing: Mapping[str, str]) -> None:
    """Follow every link on the page to one of ``pages`` (paths) without a reload.

    Two URLs of one page are two steps of the Back button only if they differ in a parameter of
    ``places``. The parameters ``missing`` are added to URLs that lack them.
    """
    data = {"pages": list(pages), "places": list(places), "missing": dict(missing)}
    with st.container(key="links"):
        _links(key="follow", data=data)


def go(address: str) -> None:
    """Go to another page, as a link would, after a button has done its work."""
    with st.container(key="links-go"):
        _links(key="go", data={"go": address})


def link(label: str, address: str) -> None:
    """Draw a link as text."""
    show_html(htpy.a(".goto", href=address)[label], width="content")


def button(label: str, address: str) -> None:
    """Draw a link that looks like the button of the next step."""
    show_html(htpy.a(".go", href=address)[label], width="content")


def leave(label: str, address: str) -> None:
    """Draw a link to a page outside Streamlit, which the browser loads in this tab."""
    show_html(htpy.a(".goto", href=address, target="_self")[label], width="content")
