"""Building blocks of all tables: frame, headings, run names, plain tables, lists of sentences.

A table that is wider than the page scrolls, with the keyboard too. A shadow marks each edge beyond
which there is more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import htpy

from labeler.evaluation import format_number
from labeler.measures import MEASURES, Measure, handbook_page
from labeler.render.markup import style
from labeler.stats import ConfidenceInterval

BACKGROUND = "--ground: var(--bg);"
"""The page's background, for the cells that stay in place while a table scrolls."""
SCROLL_SHADE = f"""{BACKGROUND}
    background:
        linear-gradient(var(--ground), var(--ground)) right -1px top / 1rem 100% no-repeat local,
        linear-gradient(to left, color-mix(in srgb, currentColor 28%, transparent), transparent)
        right / 0.8rem 100% no-repeat;"""
"""A shadow at the right edge; it disappears when the table is scrolled to its end."""
ROW_HEADS = """
@media (max-width: 40rem) {
    %s :is(th, td):first-child { position: sticky; left: 0; z-index: 1; max-width: 42vw;
        background: var(--ground); overflow-wrap: anywhere; white-space: normal; }
}
"""
"""On a phone the first column, which names the rows, stays visible while the table scrolls."""
LONG_HEADING = 40  # characters
TABLE_STYLE = style(
    f"""
.sheet {{ {SCROLL_SHADE} }}
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


def html_table(
    look: htpy.Node,
    classes: str,
    heads: Iterable[htpy.Element],
    rows: Iterable[htpy.Element],
    *,
    label: str | None = None,
    caption: htpy.Node = None,
    columns: int | None = None,
) -> htpy.Fragment:
    """Return a table with its style sheet; a wide table scrolls, with the keyboard too.

    ``columns`` is the number of columns, for style sheets that divide the width by it.
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
    """Return a column's heading, aligned left if the column holds ``words``.

    A long name is cut after a few lines; the whole name appears on hover.
    """
    classes = {"words": words, "tall": is_long(name)}
    shown = htpy.span[name] if is_long(name) else name
    whole = title or (name if isinstance(name, str) and is_long(name) else None)
    return htpy.th(scope="col", class_=classes, title=whole)[shown, small_line(under)]


def is_long(name: htpy.Node) -> bool:
    """Say whether a column's name is too long for a column of numbers."""
    return isinstance(name, str) and len(name) > LONG_HEADING


def row_head(name: htpy.Node, *under: htpy.Node) -> htpy.Element:
    """Return a row's heading."""
    return htpy.th(scope="row")[name, under]


def run_name(name: str, short: Mapping[str, str], *, long: int | None = None) -> htpy.Element:
    """Return a run's short name (`labeler.render.short_names.short_names`), the whole on hover.

    The name's direction of writing is isolated, so that it moves nothing around it. A short name
    that is still longer than ``long`` characters has the class "long".
    """
    shown = short.get(name, name)
    is_long = long is not None and len(shown) > long
    return htpy.bdi(class_="long" if is_long else None, title=None if shown == name else name)[
        shown
    ]


def small_line(text: str) -> htpy.Element | None:
    """Return a smaller line under a cell's value, None for an empty text."""
    return htpy.small[text] if text else None


def describe_interval(interval: ConfidenceInterval) -> str:
    """Describe a mean's interval, or say why it has none.

    >>> (
    ...     describe_interval(ConfidenceInterval(0.25, 0.5, "Wilson")),
    ...     describe_interval(ConfidenceInterval(0, 0, reason="one query")),
    ... )
    ('95% interval 0.2500 to 0.5000 (Wilson)', 'no interval: one query')
    """
    if not interval.method:
        return f"no interval: {interval.reason}"
    ends = f"{format_number(interval.lo)} to {format_number(interval.hi)}"
    return f"95% interval {ends} ({interval.method})"


def describe_transferred(transferred: int) -> str:
    """Count transferred grades in words, empty for 0.

    >>> describe_transferred(0), describe_transferred(1_200)
    ('', '1,200 transferred')
    """
    return f"{transferred:,} transferred" if transferred else ""


def describe_unjudged(unjudged: int, depth: str = "") -> str:
    """Count unjudged chunks in words; ``depth`` says down to which rank.

    >>> describe_unjudged(0), describe_unjudged(1), describe_unjudged(1200, "in the top 10")
    ('none unjudged', '1 unjudged', '1,200 unjudged in the top 10')
    """
    return (
        f"{unjudged:,} unjudged {depth}".rstrip() if unjudged else f"none unjudged {depth}".rstrip()
    )


PLAIN_STYLE = style("""
.sheet.review th, .sheet.review td { padding: 0.38rem 0.55rem; font-size: 0.93rem; }
.sheet.review th.words, .sheet.review td.words { min-width: 6rem; max-width: 26rem; }
.sheet.review thead th { white-space: normal; }
.sheet.review td.words { white-space: pre-line; }
.sheet.review.short table { width: auto; }
""")


class TextCell(NamedTuple):
    """A cell of text, with a smaller line under it and a link."""

    text: str
    under: str = ""
    link: str = ""


CellContent = TextCell | htpy.Element | str | int | None
"""A cell's content: text cells and elements are aligned left, numbers and plain strings right."""


def plain_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[CellContent]],
    total: Sequence[CellContent] | None = None,
    ids: Sequence[str] | None = None,
) -> htpy.Fragment:
    """Return rows as a table with ``total`` as its last row. Links reach rows by their ``ids``."""
    worded = [
        any(isinstance(row[at], TextCell | htpy.Element) for row in rows)
        for at in range(len(headings))
    ]
    heads = [head(name, words=words) for name, words in zip(headings, worded, strict=True)]
    named = [None] * len(rows) if ids is None else ids
    body = [htpy.tr(id=name)[_cells(row, worded)] for name, row in zip(named, rows, strict=True)]
    if total is not None:
        body.append(htpy.tr(".total")[_cells(total, worded)])
    short = " short" if len(headings) < 3 else ""
    return html_table([TABLE_STYLE, PLAIN_STYLE], f"sheet review{short}", heads, body)


def _cells(row: Sequence[CellContent], worded: Sequence[bool]) -> list[htpy.Element]:
    return [
        htpy.td(class_={"words": words})[_cell_content(cell)]
        for cell, words in zip(row, worded, strict=True)
    ]


def _cell_content(cell: CellContent) -> htpy.Node:
    if cell is None:
        return "–"
    if isinstance(cell, TextCell):
        text = htpy.a(href=cell.link)[cell.text] if cell.link else cell.text
        return text, small_line(cell.under)
    return f"{cell:,}" if isinstance(cell, int) else cell


SENTENCES_STYLE = style("""
.small-print, .told { overflow-x: clip; }
.small-print p {
    margin: 0; line-height: 1.4; font-size: 0.82rem; overflow-wrap: anywhere;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
.told { margin: 0; padding-left: 1.1rem; font-size: 0.9rem; }
.told li { margin: 0; padding: 0; overflow-wrap: anywhere; line-height: 1.4; }
.told a { color: inherit; text-decoration: underline; text-underline-offset: 0.15em; }
.opens { border: solid var(--line); border-width: 1px 0; color: var(--ink); }
.opens + .opens { border-top: 0; }
.opens summary { cursor: pointer; padding: 0.7rem 0; list-style: none; font-size: 0.9375rem;
    line-height: 1.5rem; display: flex; align-items: baseline; gap: 0.75rem; }
.opens summary::-webkit-details-marker { display: none; }
.opens summary::before { content: ""; width: 7px; height: 7px; margin: 0 2px;
    border: solid var(--muted); border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg); }
.opens[open] summary::before { transform: translateY(-3px) rotate(45deg); }
.opens summary:hover { background: var(--soft); }
.opens summary:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.opens .told { padding-bottom: 0.75rem; }
/* directly below other rows that open there is no gap */
[data-testid="stElementContainer"]:has(.folds) + [data-testid="stElementContainer"]
    .opens:first-of-type { margin-top: calc(-1rem - 1px); }
""")


def small_print(lines: Iterable[str]) -> htpy.Fragment:
    """Return lines in small print under numbers, such as their conventions."""
    return htpy.fragment[
        SENTENCES_STYLE, htpy.div(".small-print")[[htpy.p[each] for each in lines if each]]
    ]


def sentences(lines: Iterable[htpy.Node]) -> htpy.Fragment:
    """Return sentences as a list; without sentences there is no list."""
    items = [htpy.li[line] for line in lines]
    return htpy.fragment[SENTENCES_STYLE, htpy.ul(".told")[items] if items else None]


def measure_meanings(
    measures: Iterable[Measure], address: Callable[[str], str | None]
) -> htpy.Fragment:
    """Return what measures mean, each with a link to its section of the documentation.

    ``address`` returns where a page of the documentation is served, None if it is not.
    """
    lines: list[htpy.Node] = []
    for name in dict.fromkeys(measure.name for measure in measures):
        guide = address(handbook_page(name))
        named = name if guide is None else htpy.a(href=guide, target="_blank")[name]
        lines.append([named, f": {MEASURES[name].help}"])
    return sentences(lines)


def folded_names(short: Mapping[str, str], runs: Iterable[str]) -> htpy.Fragment:
    """Return the whole names of the runs that ``short`` shortens, folded; empty if it has none."""
    said = [f"{short[run]} is {run}" for run in runs if short.get(run, run) != run]
    return folded_sentences("The whole names of these runs", said) if said else htpy.fragment[()]


def folded_sentences(title: str, lines: Sequence[str]) -> htpy.Fragment:
    """Return sentences folded under a title."""
    return htpy.fragment[
        SENTENCES_STYLE, htpy.details(".opens")[htpy.summary[title], sentences(lines)]
    ]
