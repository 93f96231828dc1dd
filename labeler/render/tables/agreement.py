"""Tables of how far graders agree, and the confusion matrix of two graders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import htpy

from labeler.analysis.agreement import AgainstOthers, Agreement, Coefficient
from labeler.evaluation import format_number, format_share, format_signed
from labeler.render.markup import style
from labeler.render.palette import SHADE_COLOUR
from labeler.render.tables.compare import COMPARE_STYLE as ANSWER_LOOK
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    CellContent,
    TextCell,
    head,
    html_table,
    plain_table,
    sentences,
    small_print,
)

MOST_SHADE = 55  # per cent: the page's own ink stays readable on it, in the light and in the dark
AGREEMENT_STYLE = style(
    """
.of-graders a { color: inherit; font-weight: 600; white-space: nowrap; }
.confusion table { width: auto; }
.confusion th, .confusion td { padding: 0.3rem 0.6rem; vertical-align: middle; }
.confusion thead th { white-space: normal; text-align: center; max-width: 8rem; }
.confusion tbody th { text-align: left; white-space: normal; max-width: 14rem;
    overflow-wrap: anywhere; }
.confusion tbody td { min-width: 4.6rem; text-align: center; border: 1px solid transparent;
  background: color-mix(in srgb, var(--shade) calc(var(--share) * 1%), transparent); }
.confusion tbody td.same { outline: 2px solid currentColor; outline-offset: -3px; }
.confusion tbody td.none { color: color-mix(in srgb, currentColor 68%, transparent); }
.confusion tbody td.rest { background: none; }
.confusion caption { overflow-wrap: anywhere; font-weight: 400; }
@media (max-width: 40rem) {
  .confusion .word { display: none; }
  .confusion th, .confusion td { padding: 0.3rem; }
  .confusion tbody td { min-width: 3.4rem; }
}
"""
    + f".confusion {{ --shade: {SHADE_COLOUR}; }}"
)


def confusion_matrix(
    table: Sequence[Sequence[int]], words: Sequence[str], down: str, across: str
) -> htpy.Fragment:
    """Return a confusion matrix: a row for each grade ``down`` gave, a column for ``across``'s.

    A cell is the darker the more of its row it holds, so that rare grades are read as well as
    frequent ones. ``words`` are what the grades are called.
    """
    grades = [
        htpy.fragment[f"{grade} ", htpy.span(".word")[word]] for grade, word in enumerate(words)
    ]
    body = [
        htpy.tr[
            htpy.th(scope="row")[name],
            [_confusion_cell(count, sum(row), at == place) for place, count in enumerate(row)],
            htpy.td(".rest")[f"{sum(row):,}"],
        ]
        for at, (name, row) in enumerate(zip(grades, table, strict=True))
    ]
    heads = [head("grade", words=True), *map(head, grades), head("all")]
    caption = htpy.fragment["Down: ", htpy.bdi[down], ". Across: ", htpy.bdi[across], "."]
    look, classes = [TABLE_STYLE, AGREEMENT_STYLE], "sheet confusion"
    return html_table(look, classes, heads, body, label="Confusion matrix", caption=caption)


def _confusion_cell(count: int, of: int, is_same: bool) -> htpy.Element:
    share = MOST_SHADE * count / of if of else 0.0
    under = htpy.small[format_share(count, of)] if count else None
    classes = {"same": is_same, "none": not count}
    return htpy.td(class_=classes, style=f"--share: {share:.1f}")[f"{count:,}", under]


def agreement_card(
    headline: str,
    meaning: str,
    said: Iterable[str],
    table: htpy.Node,
    print_lines: Iterable[str],
    link: str = "",
) -> htpy.Fragment:
    """Return how far graders agree over the numbers it rests on, in the look of Compare's answer.

    ``link`` leads to what they disagree on.
    """
    step = htpy.a(href=link)["What they disagree on"] if link else None
    return htpy.fragment[
        ANSWER_LOOK,
        AGREEMENT_STYLE,
        htpy.div(".answer")[
            htpy.div(".of-graders")[
                htpy.p(".verdict")[headline],
                htpy.p(".change")[meaning, " ", step] if meaning or step else None,
            ],
            sentences(said),
            table,
            small_print(print_lines),
        ],
    ]


Formatter = Callable[[float], str]
COUNT_HEADINGS = ("95% interval", "chunks", "queries")


def agreement_table(found: Agreement) -> htpy.Fragment:
    """Return the coefficients of all graders together, a row each."""
    everybody = "chunks that all graded"
    rows: list[tuple[str, str, Coefficient, Formatter]] = [
        (
            f"Alpha, {found.metric}",
            "Krippendorff; chunks of two or more",
            found.alpha,
            format_number,
        ),
        ("Fleiss' kappa", everybody, found.fleiss, format_number),
        ("Same grade, every two", everybody, found.same, format_percent),
    ]
    if len(found.graders) > 2:
        rows.append(("Same grade, all of them", everybody, found.all_same, format_percent))
    body: list[list[CellContent]] = [
        [TextCell(name, of), shown(each.value), *count_cells(each, shown), reason_cell(each)]
        for name, of, each, shown in rows
    ]
    return _with_reasons(["all graders", "value", *COUNT_HEADINGS], body)


def pair_table(found: Agreement, link: Callable[[str, str], str]) -> htpy.Fragment:
    """Return every two graders: weighted kappa, and the plain share of the same grade.

    ``link`` gives the address of what two of them disagree on.
    """
    body: list[list[CellContent]] = [
        [
            TextCell(pair.one),
            TextCell(pair.other),
            format_number(pair.kappa.value),
            *count_cells(pair.kappa),
            format_percent(pair.same.value),
            TextCell("show", link=link(pair.one, pair.other))
            if pair.same.value < 1.0
            else TextCell("–"),
            reason_cell(pair.kappa, *pair.notes),
        ]
        for pair in found.pairs
    ]
    headings = [
        "grader",
        "and",
        "weighted kappa",
        *COUNT_HEADINGS,
        "same grade",
        "where they differ",
    ]
    return _with_reasons(headings, body)


def bucket_agreement_table(facet: str, found: Sequence[tuple[str, Agreement]]) -> htpy.Fragment:
    """Return alpha, and the rest, of each bucket of a facet."""
    body: list[list[CellContent]] = [
        [
            TextCell(bucket),
            format_number(each.alpha.value),
            *count_cells(each.alpha),
            format_number(each.fleiss.value),
            format_percent(each.same.value),
            reason_cell(each.alpha),
        ]
        for bucket, each in found
    ]
    return _with_reasons([facet, "alpha", *COUNT_HEADINGS, "Fleiss' kappa", "same grade"], body)


def against_others_table(rows: Sequence[AgainstOthers]) -> htpy.Fragment:
    """Return each grader against the grade agreed without them."""
    headings = ["grader", "mean difference", *COUNT_HEADINGS, "same grade", "within one"]
    body: list[list[CellContent]] = [
        [
            TextCell(row.grader),
            format_signed(row.difference.value),
            *count_cells(row.difference, format_signed),
            format_percent(row.same.value),
            format_percent(row.near.value),
            format_number(row.kappa.value),
            row.alone,
            row.at_odds,
            reason_cell(row.difference),
        ]
        for row in rows
    ]
    return _with_reasons([*headings, "weighted kappa", "nobody else's", "others at odds"], body)


def count_cells(found: Coefficient, shown: Formatter = format_number) -> list[str]:
    """Return the cells of `COUNT_HEADINGS`: an interval, and what the number rests on."""
    interval = f"{shown(found.low)} to {shown(found.high)}" if found.unsure is None else "–"
    return [interval, f"{found.n:,}", f"{found.queries:,}"]


def format_percent(value: float) -> str:
    """Return a share for people, a dash where there is none.

    >>> format_percent(0.4624), format_percent(float("nan"))
    ('46.2%', '–')
    """
    return "–" if math.isnan(value) else f"{value:.1%}"


def reason_cell(found: Coefficient, *more: str) -> TextCell | None:
    """Say why a number or its interval is not there, or what else there is to know of it."""
    no_interval = f"no interval: {found.unsure}" if found.is_defined and found.unsure else None
    said = filter(None, [found.reason, no_interval, *more])
    return TextCell(text) if (text := " · ".join(said)) else None


def _with_reasons(headings: Sequence[str], body: Sequence[Sequence[CellContent]]) -> htpy.Fragment:
    """Return a table whose last column is there only where a row has something to say in it."""
    if any(row[-1] is not None for row in body):
        return plain_table([*headings, "to know"], [_with_reason(row) for row in body])
    return plain_table(headings, [row[:-1] for row in body])


def _with_reason(row: Sequence[CellContent]) -> list[CellContent]:
    return [*row[:-1], row[-1] or TextCell("")]
