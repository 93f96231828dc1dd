"""How far graders agree, as tables, and what one gave where another gave what, as a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import htpy

from labeler.analysis.agreement import AgainstOthers, Agreement, Coefficient
from labeler.evaluation import number, share_words, signed
from labeler.render.markup import style
from labeler.render.palette import SHADE
from labeler.render.tables.comparing import LOOK as ANSWER_LOOK
from labeler.render.tables.printed import sentences, small_print
from labeler.render.tables.shared import SHEET, framed, head
from labeler.render.tables.sheets import Cell, Said, sheet

MOST_SHADE = 55  # per cent: the page's own ink stays readable on it, in the light and in the dark
LOOK = style(
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
    + f".confusion {{ --shade: {SHADE}; }}"
)


def confusion_picture(
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
            [_cell(count, sum(row), at == place) for place, count in enumerate(row)],
            htpy.td(".rest")[f"{sum(row):,}"],
        ]
        for at, (name, row) in enumerate(zip(grades, table, strict=True))
    ]
    heads = [head("grade", words=True), *map(head, grades), head("all")]
    caption = htpy.fragment["Down: ", htpy.bdi[down], ". Across: ", htpy.bdi[across], "."]
    look, classes = [SHEET, LOOK], "sheet confusion"
    return framed(look, classes, heads, body, label="Confusion matrix", caption=caption)


def _cell(count: int, of: int, is_same: bool) -> htpy.Element:
    share = MOST_SHADE * count / of if of else 0.0
    under = htpy.small[share_words(count, of)] if count else None
    classes = {"same": is_same, "none": not count}
    return htpy.td(class_=classes, style=f"--share: {share:.1f}")[f"{count:,}", under]


def agreement_answer(
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
        LOOK,
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


Shown = Callable[[float], str]
COUNTED = ("95% interval", "chunks", "queries")


def agreement_table(found: Agreement) -> htpy.Fragment:
    """Return the coefficients of all graders together, a row each."""
    everybody = "chunks that all graded"
    rows: list[tuple[str, str, Coefficient, Shown]] = [
        (f"Alpha, {found.metric}", "Krippendorff; chunks of two or more", found.alpha, number),
        ("Fleiss' kappa", everybody, found.fleiss, number),
        ("Same grade, every two", everybody, found.same, percent),
    ]
    if len(found.graders) > 2:
        rows.append(("Same grade, all of them", everybody, found.all_same, percent))
    body: list[list[Cell]] = [
        [Said(name, of), shown(each.value), *counted(each, shown), why(each)]
        for name, of, each, shown in rows
    ]
    return _with_reasons(["all graders", "value", *COUNTED], body)


def pair_table(found: Agreement, link: Callable[[str, str], str]) -> htpy.Fragment:
    """Return every two graders: weighted kappa, and the plain share of the same grade.

    ``link`` gives the address of what two of them disagree on.
    """
    body: list[list[Cell]] = [
        [
            Said(pair.one),
            Said(pair.other),
            number(pair.kappa.value),
            *counted(pair.kappa),
            percent(pair.same.value),
            Said("show", link=link(pair.one, pair.other)) if pair.same.value < 1.0 else Said("–"),
            why(pair.kappa, *pair.notes),
        ]
        for pair in found.pairs
    ]
    headings = ["grader", "and", "weighted kappa", *COUNTED, "same grade", "where they differ"]
    return _with_reasons(headings, body)


def bucket_agreement_table(facet: str, found: Sequence[tuple[str, Agreement]]) -> htpy.Fragment:
    """Return alpha, and the rest, of each bucket of a facet."""
    body: list[list[Cell]] = [
        [
            Said(bucket),
            number(each.alpha.value),
            *counted(each.alpha),
            number(each.fleiss.value),
            percent(each.same.value),
            why(each.alpha),
        ]
        for bucket, each in found
    ]
    return _with_reasons([facet, "alpha", *COUNTED, "Fleiss' kappa", "same grade"], body)


def against_table(rows: Sequence[AgainstOthers]) -> htpy.Fragment:
    """Return each grader against the grade agreed without them."""
    headings = ["grader", "mean difference", *COUNTED, "same grade", "within one"]
    body: list[list[Cell]] = [
        [
            Said(row.grader),
            signed(row.difference.value),
            *counted(row.difference, signed),
            percent(row.same.value),
            percent(row.near.value),
            number(row.kappa.value),
            row.alone,
            row.at_odds,
            why(row.difference),
        ]
        for row in rows
    ]
    return _with_reasons([*headings, "weighted kappa", "nobody else's", "others at odds"], body)


def counted(found: Coefficient, shown: Shown = number) -> list[str]:
    """Return the cells of `COUNTED`: an interval, and what the number rests on."""
    interval = f"{shown(found.low)} to {shown(found.high)}" if found.unsure is None else "–"
    return [interval, f"{found.n:,}", f"{found.queries:,}"]


def percent(value: float) -> str:
    """Return a share for people, a dash where there is none.

    >>> percent(0.4624), percent(float("nan"))
    ('46.2%', '–')
    """
    return "–" if math.isnan(value) else f"{value:.1%}"


def why(found: Coefficient, *more: str) -> Said | None:
    """Say why a number or its interval is not there, or what else there is to know of it."""
    no_interval = f"no interval: {found.unsure}" if found.is_defined and found.unsure else None
    said = filter(None, [found.reason, no_interval, *more])
    return Said(text) if (text := " · ".join(said)) else None


def _with_reasons(headings: Sequence[str], body: Sequence[Sequence[Cell]]) -> htpy.Fragment:
    """Return a table whose last column is there only where a row has something to say in it."""
    if any(row[-1] is not None for row in body):
        return sheet([*headings, "to know"], [_told(row) for row in body])
    return sheet(headings, [row[:-1] for row in body])


def _told(row: Sequence[Cell]) -> list[Cell]:
    return [*row[:-1], row[-1] or Said("")]
