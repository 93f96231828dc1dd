"""What tables share: the frame, heads, small print under a cell, and the look of a sheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import htpy

from labeler.evaluation import number
from labeler.render.markup import style
from labeler.render.palette import DARK_GROUND, LIGHT_GROUND
from labeler.stats import BCA, Interval

GROUND = f"--ground: light-dark({LIGHT_GROUND}, {DARK_GROUND});"
"""The page's own colour, for what lies over the rest as a table is scrolled."""
EDGE = f"""{GROUND}
    background:
        linear-gradient(var(--ground), var(--ground)) right -1px top / 1rem 100% no-repeat local,
        linear-gradient(to left, color-mix(in srgb, currentColor 28%, transparent), transparent)
        right / 0.8rem 100% no-repeat;"""
"""A shade where a table that is scrolled goes on, which its own end covers."""
ROW_HEADS = """
@media (max-width: 40rem) {
    %s :is(th, td):first-child { position: sticky; left: 0; z-index: 1; max-width: 42vw;
        background: var(--ground); overflow-wrap: anywhere; white-space: normal; }
}
"""
"""On a phone the first column stays in sight, as names of what is scrolled to."""
LONG_HEADING = 40  # characters
SHEET = style(
    f"""
.sheet {{ {EDGE} }}
{ROW_HEADS % ".sheet"}
"""
    """
.sheet { overflow-x: auto; }
.sheet table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
.sheet caption { text-align: left; font-weight: 600; padding: 0.2rem 0 0.45rem; }
.sheet caption small { font-weight: 400; }
.sheet th, .sheet td {
    padding: 0.38rem 0.7rem; text-align: right; vertical-align: top; white-space: nowrap;
    border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent);
}
.sheet thead th { font-weight: 600; border-bottom-width: 2px; vertical-align: bottom; }
.sheet tbody th { font-weight: 400; }
.sheet th.words, .sheet td.words {
    text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 8rem;
}
.sheet th.wide { min-width: 17rem; }
.sheet.slices tbody th.words > :first-child {
    display: inline-block; width: max-content; max-width: min(17rem, 36vw);
}
.tall { min-width: 12rem; }
.tall > :first-child { white-space: normal; overflow-wrap: anywhere; overflow: hidden;
    display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.sheet th.words, .sheet td.words, .sheet td.id { overflow-x: clip; }
.sheet.failures th, .sheet.failures td { padding: 0.38rem 0.4rem; font-size: 0.93rem; }
.sheet.dcg th, .sheet.dcg td { padding: 0.35rem 0.42rem; font-size: 0.88rem; }
.sheet.dcg thead th { white-space: normal; }
.sheet td.id { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 6rem; }
.sheet tr.total > * {
    font-weight: 600; border-top: 2px solid color-mix(in srgb, currentColor 45%, transparent);
}
.sheet tr.few > * { color: color-mix(in srgb, currentColor 68%, transparent); }
.sheet tr.few td.lead { font-weight: 400; } .sheet tr.few small { color: inherit; }
.sheet td.lead { font-weight: 600; }
.sheet small { display: block; font-size: 0.78rem; font-weight: 400;
    color: color-mix(in srgb, currentColor 74%, transparent); }
.sheet .aside { font-size: 0.78rem; font-weight: 400; }
.sheet .tag { border: 1px dashed currentColor; border-radius: 0.6rem; padding: 0 0.4rem;
    font-size: 0.75rem; font-weight: 400; margin-left: 0.3rem; }
.sheet a { color: inherit; text-decoration: underline; text-underline-offset: 0.15em; }
@media (max-width: 40rem) {
    .sheet.why th, .sheet.why td { padding-inline: 0.35rem; font-size: 0.85rem; }
    .sheet.why .words { min-width: 5rem; }
    .sheet.why td.words:nth-child(3) { min-width: 9rem; }
}
"""
)


def framed(
    look: htpy.Node,
    classes: str,
    heads: Iterable[htpy.Element],
    rows: Iterable[htpy.Element],
    *,
    label: str | None = None,
    caption: htpy.Node = None,
    columns: int | None = None,
) -> htpy.Fragment:
    """Return a table under its style sheet; what does not fit scrolls, by the keyboard, too.

    ``columns`` are how many share the width where the style sheet gives each its part.
    """
    width = None if columns is None else f"--columns: {columns}"
    return htpy.fragment[
        look,
        htpy.div(class_=classes, tabindex="0", style=width)[
            htpy.table(aria_label=label)[
                None if caption is None else htpy.caption[caption],
                htpy.thead[htpy.tr[list(heads)]],
                htpy.tbody[list(rows)],
            ]
        ],
    ]


def head(
    name: htpy.Node, under: str = "", *, title: str | None = None, words: bool = False
) -> htpy.Element:
    """Return a column's head; ``words`` stand to the left.

    A long name takes a few lines and no more; hovering says it whole.
    """
    classes = {"words": words, "tall": is_long(name)}
    shown = htpy.span[name] if is_long(name) else name
    whole = title or (name if isinstance(name, str) and is_long(name) else None)
    return htpy.th(scope="col", class_=classes, title=whole)[shown, small(under)]


def is_long(name: htpy.Node) -> bool:
    """Say whether a column's name would make it wider than its numbers are worth."""
    return isinstance(name, str) and len(name) > LONG_HEADING


def row_head(name: htpy.Node, *under: htpy.Node, title: str | None = None) -> htpy.Element:
    """Return what a row is called."""
    return htpy.th(scope="row", title=title)[name, under]


def run_name(name: str, short: Mapping[str, str], *, long: int | None = None) -> htpy.Element:
    """Return a run's name as `labeler.render.naming.short_names` has it, the whole where one
    hovers.

    It is set apart, so that letters of another direction move nothing around it. What is ``long``
    (characters) even so has that class.
    """
    shown = short.get(name, name)
    is_long = long is not None and len(shown) > long
    return htpy.bdi(class_="long" if is_long else None, title=None if shown == name else name)[
        shown
    ]


def small(text: str) -> htpy.Element | None:
    """Return a smaller line under a cell's value, nothing where there is nothing to say."""
    return htpy.small[text] if text else None


def reach_words(interval: Interval) -> str:
    """Say where a mean's interval ends, or why it has none.

    >>> reach_words(Interval(0.25, 0.5, "Wilson")), reach_words(Interval(0, 0, reason="one query"))
    ('95% interval 0.2500 to 0.5000 (Wilson)', 'no interval: one query')
    """
    if not interval.method:
        return f"no interval: {interval.reason}"
    why = f", {interval.reason}" if interval.reason else ""
    ends = f"{number(interval.lo)} to {number(interval.hi)}"
    return f"95% interval {ends} ({interval.method}{why})"


def ends_words(interval: Interval) -> str:
    """Return a mean's interval where there is little room, or why it has none.

    >>> ends_words(Interval(0.25, 0.5, "BCa")), ends_words(Interval(0.25, 0.5, "Wilson"))
    ('0.2500–0.5000', '0.2500–0.5000 Wilson')
    """
    if not interval.method:
        return interval.reason
    method = "" if interval.method == BCA else f" {interval.method}"
    return f"{number(interval.lo)}–{number(interval.hi)}{method}"


def carried_words(carried: int) -> str:
    """Count carried grades in words, nothing where there are none.

    >>> carried_words(0), carried_words(1_200)
    ('', '1,200 carried')
    """
    return f"{carried:,} carried" if carried else ""


def hole_words(holes: int, depth: str = "") -> str:
    """Count holes in words; ``depth`` says down to where.

    >>> hole_words(0), hole_words(1), hole_words(1200, "in the top 10")
    ('no holes', '1 hole', '1,200 holes in the top 10')
    """
    counted = f"{holes:,} hole{'s' * (holes != 1)}" if holes else "no holes"
    return f"{counted} {depth}".rstrip()
