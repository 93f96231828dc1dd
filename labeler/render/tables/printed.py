"""What stands over and under numbers: sentences as a list, some folded, and the small print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import htpy

from labeler.render.markup import style

LOOK = style("""
.small-print, .told { overflow-x: clip; }
.small-print p {
    margin: 0; line-height: 1.4; font-size: 0.82rem; overflow-wrap: anywhere;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
.told { margin: 0; padding-left: 1.1rem; font-size: 0.9rem; }
.told li { margin: 0; padding: 0; overflow-wrap: anywhere; line-height: 1.4; }
.told a { color: inherit; text-decoration: underline; text-underline-offset: 0.15em; }
.opens summary { cursor: pointer; font-size: 0.85rem; }
.opens summary:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
""")


def small_print(lines: Iterable[str]) -> htpy.Fragment:
    """Return lines that stand under numbers, such as their conventions."""
    return htpy.fragment[LOOK, htpy.div(".small-print")[[htpy.p[each] for each in lines if each]]]


def sentences(lines: Iterable[htpy.Node]) -> htpy.Fragment:
    """Return sentences as a list; nothing where there are none."""
    items = [htpy.li[line] for line in lines]
    return htpy.fragment[LOOK, htpy.ul(".told")[items] if items else None]


def whole_names(short: Mapping[str, str], runs: Iterable[str]) -> htpy.Fragment:
    """Return, folded, the whole names of those runs that are shown by ``short`` ones, if any."""
    said = [f"{short[run]} is {run}" for run in runs if short.get(run, run) != run]
    return folded("The whole names of these runs", said) if said else htpy.fragment[()]


def folded(title: str, lines: Sequence[str]) -> htpy.Fragment:
    """Return sentences under a title that opens them."""
    return htpy.fragment[LOOK, htpy.details(".opens")[htpy.summary[title], sentences(lines)]]
