"""Answer of a section: a sentence in large type, its number, and a line of doubt or next step."""

from __future__ import annotations

import htpy

from labeler.render.markup import show_html, style

STYLE = """
.answer { max-width: 62.5rem; margin: 1rem 0; }
.answer p { margin: 0; }
.answer .say {
  font-size: 1.75rem; line-height: 2.25rem; font-weight: 600; letter-spacing: -0.2px;
  text-wrap: balance; overflow-wrap: anywhere;
}
.answer .fig { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; }
.answer .fig b { font-size: 1.75rem; line-height: 2.25rem; font-weight: 400; }
.answer :is(.fig span, .doubt) { color: var(--muted); }
.answer a { color: var(--accent); text-underline-offset: 3px; }
.answer :is(.fig, .doubt) { margin-top: 0.5rem; max-width: 47.5rem; }
"""


def show_answer(
    sentence: str, doubt: htpy.Node = None, *, number: str | None = None, of: str = ""
) -> None:
    """Show the answer of a section, with a ``number`` and what it is ``of``, if there is one."""
    show_html(
        style(STYLE),
        htpy.div(".answer")[
            htpy.p(".say")[sentence],
            number and htpy.p(".fig")[htpy.b[number], " ", htpy.span[of]],
            doubt and htpy.p(".doubt")[doubt],
        ],
    )
