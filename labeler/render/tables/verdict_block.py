"""The head of a page's answer: a sentence, one number with what it is, doubts and counts."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.render.markup import style

VERDICT_STYLE = style("""
.answer { display: grid; gap: 0.5rem; max-width: 62rem; padding: 1rem 0; overflow-wrap: anywhere; }
.answer p { margin: 0; }
.answer .says { font-size: 1.75rem; line-height: 2.25rem; font-weight: 600; text-wrap: balance; }
.answer .figure { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem;
    color: var(--muted); }
.answer .figure b { font-size: 1.75rem; line-height: 2.25rem; font-weight: 400; color: var(--ink);
    font-variant-numeric: tabular-nums; }
.answer .doubt { max-width: 47.5rem; color: var(--muted); }
.answer .doubt a { color: var(--accent); text-underline-offset: 0.2em; }
.answer .counts { font-size: 0.8125rem; color: var(--muted); }
@media (max-width: 40rem) {
    .answer .says, .answer .figure b { font-size: 1.375rem; line-height: 1.75rem; }
}
""")


def verdict_block(
    says: htpy.Node,
    figure: tuple[str, htpy.Node] | None = None,
    doubts: Sequence[htpy.Node] = (),
    counts: htpy.Node = None,
) -> htpy.Fragment:
    """Return a page's answer: what it ``says``, its one number with what that is, then the rest."""
    return htpy.fragment[
        VERDICT_STYLE,
        htpy.div(".answer")[
            htpy.p(".says")[says],
            figure and htpy.p(".figure")[htpy.b[figure[0]], htpy.span[figure[1]]],
            [htpy.p(".doubt")[each] for each in doubts],
            counts and htpy.p(".counts")[counts],
        ],
    ]
