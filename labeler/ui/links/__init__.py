"""Links between pages: plain anchors, which a script follows without a reload.

Streamlit's own links lose parameters that the current page has bound. These keep them on click,
middle click, Enter and Back, and work without the script, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy
import streamlit as st

from labeler.render.markup import show_html
from labeler.web.static_js import loader

STYLE = """
nav.pages { display: flex; flex-wrap: wrap; gap: 0.25rem 0.5rem; margin-left: -0.5rem; }
nav.pages a, a.goto {
  color: inherit;
  text-decoration: none;
  padding: 0.125rem 0.5rem;
  border-radius: 0.5rem;
  white-space: nowrap;
}
nav.pages a[aria-current], nav.pages a:hover, a.goto:hover {
  background: color-mix(in srgb, currentColor 10%, transparent);
}
nav.pages a[aria-current] { font-weight: 600; }
a.goto {
  margin-left: -0.5rem;
  white-space: normal;
  text-decoration: underline;
  text-underline-offset: 0.2em;
}
nav.pages a:focus-visible, a.goto:focus-visible { outline: 3px solid currentColor; }
nav.pages a.leave { opacity: 0.8; }
nav.pages a.leave:only-child { font-size: 0.8125rem; padding-block: 0; }
.st-key-links, .st-key-links-go { display: none; }
@media (max-width: 40rem) {
  nav.pages { flex-wrap: nowrap; justify-content: space-between; gap: 0; margin: 0; }
  nav.pages { font-size: 0.8125rem; }
  nav.pages a { padding: 0.75rem 0.25rem; }
  nav.pages a.leave:not(:only-child) span { display: none; }
}
"""

_links = st.components.v2.component("labeler_links", html="", js=loader("links", "links"))


def follow(pages: Sequence[str], places: Sequence[str], missing: Mapping[str, str]) -> None:
    """Follow every link on the page to one of ``pages`` (paths) without a reload.

    Two URLs of one page are two steps for the Back button only if they differ in one of the
    parameters ``places``. The parameters ``missing`` are added to a URL without them.
    """
    data = {"pages": list(pages), "places": list(places), "missing": dict(missing)}
    with st.container(key="links"):
        _links(key="follow", data=data)


def go(address: str) -> None:
    """Lead to another page, as a link would, once a button has done what it is for."""
    with st.container(key="links-go"):
        _links(key="go", data={"go": address})


def page_links(links: Mapping[str, str], here: str, leave: str | None = None) -> None:
    """Draw the links to the pages, by title; ``here`` is the title of the present page.

    ``leave`` is where to sign out; if the row is full, that is one word.
    """
    anchors = [
        htpy.a(href=address, aria_current="page" if title == here else None)[title]
        for title, address in links.items()
    ]
    if leave is not None:
        words = htpy.span["Log "], "out"
        anchors.append(htpy.a(".leave", href=leave, target="_self", aria_label="Log out")[words])
    show_html(htpy.nav(".pages", aria_label="Pages")[anchors])


def link(label: str, address: str) -> None:
    """Draw one link in words."""
    show_html(htpy.a(".goto", href=address)[label], width="content")


def leave(label: str, address: str) -> None:
    """Draw a link out of the pages, to where no script runs: the browser loads it in this tab."""
    show_html(htpy.a(".goto", href=address, target="_self")[label], width="content")
