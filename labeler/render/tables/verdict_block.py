"""The answer of a page: a sentence, one number with its meaning, doubts, counts, next step.

Every page and the report draw their answer with it.
"""

from __future__ import annotations

from collections.abc import Iterable

import htpy

from labeler.render.markup import style

VERDICT_STYLE = style("""
.answer { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: start;
    gap: 1rem 2rem; padding: 1rem 0; color: var(--ink); overflow-wrap: anywhere; }
.answer > div { flex: 1 1 30rem; min-width: 0; max-width: 62rem; }
.answer p { margin: 0; max-width: 47.5rem; font-size: 0.9375rem; line-height: 1.5rem;
    color: var(--muted); }
.answer h2.says { margin: 0; padding: 0; font-size: 1.75rem; line-height: 2.25rem; font-weight: 600;
    letter-spacing: -0.2px; text-wrap: balance; color: var(--ink); }
.answer p.figure { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem;
    margin: 0.25rem 0; }
.answer .figure b { font-size: 1.75rem; line-height: 2.25rem; font-weight: 400; color: var(--ink);
    font-variant-numeric: tabular-nums; }
.answer p.counts { font-size: 0.8125rem; line-height: 1.25rem; margin-top: 0.25rem;
    max-width: none; }
.answer .beside { color: var(--ink); }
.answer .doubt b { font-weight: 600; }
.answer a:not(.go) { color: var(--accent); text-underline-offset: 0.2em; }
@media (max-width: 40rem) {
    .answer > div { flex-basis: 100%; }
    .answer h2.says, .answer .figure b { font-size: 1.375rem; line-height: 1.75rem; }
}
""")


def verdict_block(
    says: htpy.Node = None,
    figure: tuple[str, htpy.Node] | None = None,
    doubts: Iterable[htpy.Node] = (),
    counts: htpy.Node = None,
    step: htpy.Node = None,
) -> htpy.Fragment:
    """Return a page's answer: what it ``says``, one ``figure`` with its meaning, then the rest.

    ``counts`` say in small print what the answer is based on. ``step`` is the button of the next
    step.
    """
    return htpy.fragment[
        VERDICT_STYLE,
        htpy.section(".answer")[
            htpy.div[
                says and htpy.h2(".says")[says],
                figure and htpy.p(".figure")[htpy.b[figure[0]], " ", htpy.span[figure[1]]],
                [htpy.p(".doubt")[each] for each in doubts],
                counts and htpy.p(".counts")[counts],
            ],
            step,
        ],
    ]
