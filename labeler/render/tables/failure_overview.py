"""Overview of Queries: the causes of failure with what to try, and the list with ranks and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import htpy

from labeler.analysis.failures import ClassTally, FailureClass, QueryRow
from labeler.evaluation import format_with_arrow
from labeler.render.markup import style
from labeler.render.tables.html_table import TABLE_STYLE, head, html_table
from labeler.render.tables.queries import LEAKED, LONGEST_TEXT, QUERY_LIST_STYLE, format_value
from labeler.render.tokens import GRADE_FILLS, GRADE_INKS

RANKS_SHOWN = 10
CAUSES_STYLE = style("""
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
""")
STRIP_STYLE = style(
    """
.sheet.queries tbody th > span { font-size: 0.8125rem; color: var(--muted); }
.sheet.queries .strip { display: inline-flex; gap: 2px; vertical-align: middle; }
.sheet.queries .strip i { width: 1.25rem; height: 1.25rem; border-radius: 3px; display: grid;
    place-items: center; font-style: normal; font-size: 0.8125rem; box-sizing: border-box;
    border: 1px solid var(--line2); }
.sheet.queries td.ranks { text-align: left; }
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
    """Return the causes that occur under the name of their group, each a link that filters.

    The cause that is ``chosen`` leads back to all queries, as ``link("")`` does.
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
                htpy.small[kind.lever],
            ],
        ]
    ]


def ranked_query_list(
    rows: Sequence[QueryRow],
    heading: str,
    run: str,
    grades: Mapping[str, Sequence[int | None]],
    link: Callable[[str], str],
) -> htpy.Fragment:
    """Return queries as a list: id, text, the grades by rank, first useful rank, value and why.

    ``grades`` are those of each query's first ranks in the ``run``, None where nobody has graded.
    """
    is_pair = any(row.delta is not None for row in rows)
    heads = [
        head("query", words=True),
        head("text", words=True),
        htpy.th(".words", scope="col")[htpy.bdi[run], ", grades by rank"],
        head("first useful", title="rank of the first chunk that the query needs"),
        head(heading),
        *([head("B − A")] if is_pair else []),
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
            htpy.td[_first_useful(row)],
            htpy.td[format_value(row.values[0], row.judged, row.counted[0])],
            is_pair
            and htpy.td[format_with_arrow(float("nan") if row.delta is None else row.delta)],
            htpy.td(".words")[row.status if row.failure or not row.judged else ""],
        ]
        for row in rows
    ]
    look = [TABLE_STYLE, QUERY_LIST_STYLE, STRIP_STYLE]
    return html_table(look, "sheet queries", heads, body, label="Queries")


def _strip(grades: Sequence[int | None]) -> htpy.Element:
    said = ", ".join("unjudged" if grade is None else str(grade) for grade in grades)
    return htpy.span(".strip", role="img", aria_label=f"grades {said}" if said else "no result")[
        (
            htpy.i(class_=None if grade is None else f"g{grade}")["" if grade is None else grade]
            for grade in grades
        )
    ]


def _first_useful(row: QueryRow) -> str:
    if row.failure is None:
        return ""
    first = row.failure.places.first
    return "none" if first is None else f"{first:,}"
