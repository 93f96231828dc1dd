"""The plain page that whoever stands at the door is shown: words, buttons, no script, no socket.

Every word from outside is escaped by the elements; knows nobody's rights.
"""

from __future__ import annotations

from collections.abc import Sequence

import htpy
from starlette.responses import HTMLResponse

from labeler.render.markup import style

HEADERS = {"cache-control": "no-store"}
STYLE = """
:root { color-scheme: light dark; --text: #0d1721; --page: #ffffff; --button: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8edf2; --page: #12171d; --button: #3576c2; }
}
body { margin: 0; background: var(--page); color: var(--text); line-height: 1.5; }
body { font-family: "Source Sans", "Source Sans Pro", system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 12vh 1.25rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem; }
p { margin: 0 0 1rem; }
.ways { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.5rem; align-items: center; }
form { margin: 0; }
button, a.button {
  display: inline-block; font: inherit; cursor: pointer; text-decoration: none; text-align: left;
  padding: 0.5rem 1rem; border-radius: 0.5rem; border: 1px solid var(--button);
  background: var(--button); color: #ffffff; overflow-wrap: anywhere;
}
button.quiet, a.quiet { background: transparent; color: inherit; }
button:focus-visible, a:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
"""

Way = htpy.Element


def page(
    heading: str, words: Sequence[str], ways: Sequence[Way] = (), *, status: int = 200
) -> HTMLResponse:
    """Return a page of a heading, sentences and the ways on."""
    content = htpy.html(lang="en")[
        htpy.head[
            htpy.meta(charset="utf-8"),
            htpy.meta(name="viewport", content="width=device-width, initial-scale=1"),
            htpy.meta(name="robots", content="noindex"),
            htpy.title[f"{heading} · labeler"],
            style(STYLE),
        ],
        htpy.body[
            htpy.main[
                htpy.h1[heading],
                [htpy.p[sentence] for sentence in words],
                htpy.div(".ways")[ways] if ways else None,
            ]
        ],
    ]
    return HTMLResponse(str(content), status_code=status, headers=HEADERS)


def button(label: str, action: str = "", *, quiet: bool = False) -> Way:
    """Return a button that changes something: it posts to ``action``, or to the page's address."""
    return htpy.form(method="post", action=action or None)[
        htpy.button(class_="quiet" if quiet else None, type="submit")[label]
    ]


def link(label: str, address: str, *, quiet: bool = False) -> Way:
    """Return a link that looks like a button."""
    return htpy.a(".button.quiet" if quiet else ".button", href=address)[label]
