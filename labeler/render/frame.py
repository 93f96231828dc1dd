"""Header, title and icon of every page: its name, its golden set, and who is signed in.

Streamlit's pages and the plain pages for signing in draw the same header. It scrolls away with the
page. On a phone the links to pages have a row of their own.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

import htpy

from labeler.render.tokens import DARK, LIGHT

PRODUCT = "labeler"
WIDTH = "83rem"  # 1,328 pixels: 1,280 and the padding at both sides
FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", system-ui, -apple-system, sans-serif'

# The grades 1, 2 and 3, and a passage that is not graded yet. A browser tab has no CSS variables.
_SQUARES = ((1, 1, "grade-1"), (9, 1, "grade-2"), (1, 9, "grade-3"))
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><style>'
    + "".join(f".{name}{{fill:{LIGHT[name]}}}" for *_, name in _SQUARES)
    + f".open{{fill:none;stroke:{LIGHT['line2']}}}@media(prefers-color-scheme:dark){{"
    + "".join(f".{name}{{fill:{DARK[name]}}}" for *_, name in _SQUARES)
    + f".open{{stroke:{DARK['line2']}}}}}</style>"
    + "".join(
        f'<rect class="{name}" x="{x}" y="{y}" width="6" height="6" rx="1.5"/>'
        for x, y, name in _SQUARES
    )
    + '<rect class="open" x="9.5" y="9.5" width="5" height="5" rx="1"/></svg>'
)
ICON = f"data:image/svg+xml;base64,{base64.b64encode(_ICON.encode()).decode()}"

FRAME_CSS = """
.top {
  display: flex; align-items: center; gap: 0 2rem; height: 3.5rem;
  color: var(--ink); font-size: 0.9375rem; line-height: 1.5rem;
  border-image: linear-gradient(var(--card) calc(100% - 1px), var(--line) 0) fill 0 // 0 100vmax;
}
.top a { color: inherit; text-decoration: none; border-radius: 0.25rem; }
.top a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.top .brand {
  display: flex; align-items: center; gap: 0.625rem; min-width: 0; font-weight: 600;
  white-space: nowrap;
}
.top .brand i { font-style: normal; font-weight: 400; color: var(--line2); }
.top .brand .of {
  font-weight: 400; overflow: hidden; text-overflow: ellipsis; min-width: 0; max-width: 22rem;
}
.mark { display: grid; flex: none; grid-template-columns: 0.5rem 0.5rem; gap: 2px; }
.mark > * { width: 0.5rem; height: 0.5rem; border-radius: 2px; box-sizing: border-box; }
.mark .g1 { background: var(--grade-1); }
.mark .g2 { background: var(--grade-2); }
.mark .g3 { background: var(--grade-3); }
.mark .open { border: 1px solid var(--line2); }
.top nav { display: flex; gap: 0.25rem; height: 100%; flex: none; }
.top nav a {
  display: flex; flex-direction: column; justify-content: center; padding: 2px 0.625rem 0;
  color: var(--muted); border-bottom: 2px solid transparent; border-radius: 0; white-space: nowrap;
}
/* as wide as when it is the present page, so that none moves the others */
.top nav a::after {
  content: attr(data-title) / ""; height: 0; overflow: hidden; visibility: hidden; font-weight: 600;
}
.top nav a:hover { color: var(--ink); }
.top nav a[aria-current] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
.top nav a:focus-visible { outline-offset: -3px; }
.top .who {
  display: flex; align-items: center; gap: 1.25rem; margin-left: auto; min-width: 0;
  color: var(--muted); white-space: nowrap;
}
.top .live { display: none; align-items: center; gap: 0.5rem; }
.top .live::before {
  content: ""; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--accent);
}
.top .person { display: flex; align-items: center; gap: 0.5rem; min-width: 0; }
.top .named { overflow: hidden; text-overflow: ellipsis; max-width: 12rem; }
.top .initials {
  display: grid; flex: none; place-items: center; width: 1.75rem; height: 1.75rem;
  border-radius: 50%; background: var(--accent-soft); color: var(--accent); font-size: 0.8125rem;
  font-weight: 600;
}
.top :is(.leave, .mine) { text-decoration: underline; text-underline-offset: 3px; }
.title {
  display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; padding-top: 1.5rem;
}
.title h1 {
  margin: 0; padding: 0; font-size: 1.125rem; line-height: 1.5rem; font-weight: 600;
  letter-spacing: 0; color: var(--ink);
}
.title p { margin: 0; color: var(--muted); font-size: 0.9375rem; line-height: 1.5rem; }
.title .guide {
  margin-left: auto; color: var(--muted); font-size: 0.9375rem; line-height: 1.5rem;
  text-decoration: underline; text-underline-offset: 3px;
}
.unseen {
  position: absolute; width: 1px; height: 1px; padding: 0; overflow: hidden; clip-path: inset(50%);
}
@media (max-width: 75rem) {
  .top { gap: 0 1rem; }
  .top nav a { padding-inline: 0.5rem; }
  .top .named, .top:has(nav a + a) .mine { display: none; }
  .top .brand .of { max-width: 14rem; }
}
@media (max-width: 60rem) {
  .top { flex-wrap: wrap; height: auto; }
  .top .brand { flex: 1 1 0; height: 3rem; }
  .top .brand:has(.of) :is(b, i) { display: none; }
  .top .brand .of { max-width: none; font-weight: 600; }
  .top nav { order: 3; width: 100%; height: 2.75rem; gap: 0; justify-content: space-between; }
  .top nav a { padding-inline: 0.25rem; font-size: 0.8125rem; }
  .top nav a:only-child { display: none; }
  .top nav:has(a:only-child) { display: none; }
  .title { padding-top: 1rem; }
}
@media (max-width: 30rem) {
  .top .mine { display: none; }
}
@media (max-width: 22.5rem) {
  .top nav { flex-wrap: wrap; height: auto; justify-content: start; gap: 0 0.5rem; }
  .top nav a { height: 2.75rem; box-sizing: border-box; }
}
@media (min-width: 40rem) and (max-width: 60rem) {
  .top nav { justify-content: start; gap: 0.5rem; }
}
"""


def mark() -> htpy.Element:
    """Return the product's mark, in the colours of the page."""
    return htpy.span(".mark", aria_hidden="true")[
        *(htpy.span(class_=name) for name in ("g1", "g2", "g3", "open")),
    ]


def initials(name: str) -> str:
    """Return the first letters of a name's first and last word.

    >>> initials("Marit Dahl"), initials("anna"), initials("Ana de Sá"), initials(" ")
    ('MD', 'A', 'AS', '')
    """
    words = name.split()
    return "".join(word[0].upper() for word in dict.fromkeys([*words[:1], *words[-1:]]))


def header(
    name: str | None,
    *,
    home: str = "/",
    pages: Mapping[str, str] | None = None,
    here: str | None = None,
    person: str | None = None,
    leave: str | None = None,
    sign_out: str = "Sign out",
    mine: tuple[str, str] | None = None,
) -> htpy.Element:
    """Return the header: ``pages`` are addresses by title, ``here`` is the title of this page.

    ``name`` is the golden set's, None for a visitor who may not see it. ``leave`` is the address
    where ``person`` signs out, and ``sign_out`` is the text of that link. ``mine`` is the text and
    the address of the grades that the person gave.
    """
    links = [
        htpy.a(href=address, data_title=title, aria_current="page" if title == here else None)[
            title
        ]
        for title, address in (pages or {}).items()
    ]
    of = [" ", htpy.i(aria_hidden="true")["/"], " ", htpy.span(".of", title=name)[name]]
    return htpy.header(".top")[
        htpy.a(".brand", href=home)[mark(), htpy.b[PRODUCT], of if name else None],
        htpy.nav(".pages", aria_label="Pages")[links] if links else None,
        htpy.div(".who")[
            len(links) > 1 and htpy.span(".live", aria_hidden="true")["live"],
            mine and htpy.a(".mine", href=mine[1])[mine[0]],
            person
            and htpy.span(".person", title=person)[
                htpy.span(".initials", aria_hidden="true")[initials(person)],
                htpy.span(".named")[person],
            ],
            leave and htpy.a(".leave", href=leave, target="_self")[sign_out],
        ],
    ]


def title_row(title: str, answers: str | None, guide: str | None = None) -> htpy.Element:
    """Return a page's heading, the line that says what the page answers, and a link to ``guide``.

    ``guide`` is the address of the documentation's page. Without ``answers`` only screen readers
    get the heading.
    """
    if answers is None:
        return htpy.div(".title.unseen")[htpy.h1[title]]
    return htpy.div(".title")[
        htpy.h1[title],
        htpy.p[answers] if answers else None,
        htpy.a(".guide", href=guide, target="_blank")["Guide"] if guide else None,
    ]


def browser_title(*parts: str | None) -> str:
    """Return the title of the browser tab: the page, then the golden set.

    >>> browser_title("Compare", "Pellamy help centre"), browser_title("Sign in", None)
    ('Compare · Pellamy help centre', 'Sign in · labeler')
    """
    said = [part for part in parts if part]
    return " · ".join(said if len(said) > 1 else [*said, PRODUCT])
