"""Overview of Queries: the causes of failure with what to try, and the list of queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import htpy

from labeler.analysis.failures import ClassTally, FailureClass, QueryRow
from labeler.evaluation import format_with_arrow
from labeler.render.markup import style
from labeler.render.tables.html_table import TABLE_STYLE, head, html_table
from labeler.render.tables.queries import (
    DELTA,
    LEAKED,
    LONGEST_TEXT,
    QUERY_LIST_STYLE,
    format_value,
)
from labeler.render.tokens import GRADE_FILLS, GRADE_INKS

RANKS_SHOWN = 10
MOST_WHOLE = 25  # rows: a longer list scrolls under its headings
CAUSES_STYLE = style("""
.causes { overflow-x: clip; overflow-wrap: anywhere; }
.causes h2 { font-size: 1.125rem; line-height: 1.5rem; font-weight: 600; padding: 0 0 0.5rem; }
.causes ol { list-style: none; margin: 0 0 1.5rem; padding: 0; }
.causes li { margin: 0; border-top: 1px solid var(--line); }
.causes a { display: grid; grid-template-columns: 2rem 1fr; padding: 0.75rem 0; color: inherit;
    text-decoration: none; }
.causes a:is(:hover, [aria-current]) { background: var(--soft); }
.causes a:focus-visible { outline: 2px solid var(--accent); }
.causes b { display: block; font-weight: 600; text-decoration: underline;
    text-decoration-color: var(--line2); text-underline-offset: 0.2em; }
.causes b::first-letter { text-transform: uppercase; }
.causes .bar { display: block; height: 8px; border-radius: 2px; background: var(--line2);
    margin: 4px 0; }
.causes small { display: block; font-size: 0.8125rem; line-height: 1.25rem; color: var(--muted); }
/* where there is no room beside the list, causes stand above it as a row */
@media (max-width: 73.75rem) {
    .st-key-overview > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {
        flex-wrap: wrap; }
    .st-key-overview [data-testid="stColumn"] { flex: 1 1 100%; min-width: 0; }
    .causes ol { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-bottom: 0.75rem; }
    .causes li { border: 1px solid var(--line2); border-radius: 8px; }
    .causes a { grid-template-columns: auto auto; gap: 0.5rem; padding: 0.25rem 0.75rem; }
    .causes :is(.bar, small) { display: none; }
}
""")
STRIP_STYLE = style(
    """
.sheet.queries tbody th > span { font-size: 0.8125rem; color: var(--muted); }
.sheet.queries .strip { display: inline-flex; gap: 2px; vertical-align: middle; }
.sheet.queries .strip i { width: 1.25rem; height: 1.25rem; border-radius: 3px; display: grid;
    place-items: center; font-style: normal; font-size: 0.8125rem; box-sizing: border-box;
    border: 1px solid var(--line2); }
.sheet.queries td.ranks { text-align: left; }
.sheet.queries.whole { max-height: none; }
@container (max-width: 44rem) {
    .sheet.queries.ranked :is(table, tbody) { display: block; }
    .sheet.queries.ranked thead { display: none; }
    .sheet.queries.ranked tbody tr { display: grid; grid-template-columns: minmax(0, 1fr) auto auto;
        gap: 0 0.75rem; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
    .sheet.queries.ranked tbody :is(th, td) { position: static; border: 0; padding: 0;
        text-align: left; }
    .sheet.queries.ranked tbody th > span { width: auto; max-width: none; -webkit-line-clamp: 1; }
    .sheet.queries.ranked :is(th, td.text) { min-width: 0; overflow: hidden; }
    .sheet.queries.ranked td.text { grid-area: 2 / 1 / auto / -1; max-width: none; min-width: 0;
        white-space: normal; }
    .sheet.queries.ranked td.text a { -webkit-line-clamp: 3; }
    .sheet.queries.ranked td.ranks { grid-area: 3 / 1 / auto / -1; }
    .sheet.queries.ranked td.value { grid-area: 1 / 2; }
    .sheet.queries.ranked td.delta { grid-area: 1 / 3; }
    .sheet.queries.ranked td.reason { grid-area: 4 / 1 / auto / 2; color: var(--muted); }
    .sheet.queries.ranked td.first { grid-area: 4 / 2 / auto / -1; color: var(--muted); }
    .sheet.queries.ranked td.first:not(:empty)::before { content: attr(data-is) ": "; }
}
"""
    + "".join(
        f".sheet.queries .strip .g{grade} {{ background: {fill}; color: {ink}; border: 0; }}"
        for grade, (fill, ink) in enumerate(zip(GRADE_FILLS, GRADE_INKS, strict=True))
    )
)


def causes_list(
    groups: Mapping[str, Mapping[FailureClass, ClassTally]],
    link: Callable[[str], str],
    chosen: str,
) -> htpy.Fragment:
    """Return the causes that occur, by group; each is a link that filters the list.

    The ``chosen`` cause links back to all queries, as ``link("")`` does.
    """
    most = max((each.queries for group in groups.values() for each in group.values()), default=1)
    return htpy.fragment[
        CAUSES_STYLE,
        htpy.div(".causes")[
            (
                [
                    htpy.h2[f"{name}: {sum(each.queries for each in group.values()):,}"],
                    htpy.ol[(_cause(*each, most, link, chosen) for each in group.items())],
                ]
                for name, group in groups.items()
                if group
            )
        ],
    ]


def _cause(
    kind: FailureClass, tally: ClassTally, most: int, link: Callable[[str], str], chosen: str
) -> htpy.Element:
    is_chosen = kind.name == chosen
    href = link("" if is_chosen else kind.name)
    current = "true" if is_chosen else None
    return htpy.li[
        htpy.a(href=href, target="_self", title=kind.meaning, aria_current=current)[
            htpy.span[f"{tally.queries:,}"],
            htpy.span[
                htpy.b[kind.name],
                htpy.span(".bar", style=f"width: {100 * tally.queries / most:.0f}%"),
                htpy.small[kind.lever, _unsure(kind, tally)],
            ],
        ]
    ]


def _unsure(kind: FailureClass, tally: ClassTally) -> str:
    """Say how many queries of a cause have too few grades to be sure of it."""
    many = tally.mostly_unjudged if kind.side in ("ranking", "recall") else 0
    return f" In {many:,} the top is mostly unjudged." if many else ""


def ranked_query_list(
    rows: Sequence[QueryRow],
    heading: str,
    run: str,
    grades: Mapping[str, Sequence[int | None]],
    first: str,
    link: Callable[[str], str],
) -> htpy.Fragment:
    """Return queries as a list: id, text, the grades by rank, first useful rank, value and why.

    ``grades`` are those of each query's first ranks in the ``run``, None for an unjudged chunk.
    ``first`` is the heading of the rank of the first useful chunk.
    """
    is_pair = any(row.delta is not None for row in rows)
    heads = [
        head("query", words=True),
        head("text", words=True),
        htpy.th(".words", scope="col")[htpy.bdi[run], ", grades by rank"],
        head(first, title="rank of the first chunk that is useful alone"),
        head(heading),
        *([head(DELTA)] if is_pair else []),
        head("why it fails", words=True),
    ]
    body = [
        htpy.tr[
            htpy.th(scope="row")[htpy.span[row.query_id]],
            htpy.td(".words.text")[
                row.leaked and htpy.small[f"{LEAKED} · "],
                htpy.a(href=link(row.query_id), title=f"{row.query_id}: {row.text[:LONGEST_TEXT]}")[
                    " ".join(row.text.split())[:LONGEST_TEXT]
                ],
            ],
            htpy.td(".ranks")[_strip(grades.get(row.query_id, ()))],
            htpy.td(".first", data_is=first)[
                ("none" if row.first is None else f"{row.first:,}") if row.judged else ""
            ],
            htpy.td(".value")[format_value(row.values[0], row.judged, row.counted[0])],
            is_pair
            and htpy.td(".delta")[
                format_with_arrow(float("nan") if row.delta is None else row.delta)
            ],
            htpy.td(".words.reason")[row.status if row.failure or not row.judged else ""],
        ]
        for row in rows
    ]
    look = [TABLE_STYLE, QUERY_LIST_STYLE, STRIP_STYLE]
    height = " whole" if len(rows) <= MOST_WHOLE else ""
    return html_table(look, f"sheet queries ranked{height}", heads, body, label="Queries")


def _strip(grades: Sequence[int | None]) -> htpy.Element:
    said = ", ".join("unjudged" if grade is None else str(grade) for grade in grades)
    return htpy.span(".strip", role="img", aria_label=f"grades {said}" if said else "no result")[
        (
            htpy.i(class_=None if grade is None else f"g{grade}")["" if grade is None else grade]
            for grade in grades
        )
    ]
