"""Retrieval beside the answer: the two-by-two of all queries, and one query's answers in full."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import htpy

from labeler.analysis.failures import (
    CELLS,
    FOUND_RIGHT,
    FOUND_WRONG,
    MISSED_RIGHT,
    MISSED_WRONG,
    NO_ANSWER,
    UNDECIDED,
    Outcome,
    TwoByTwo,
)
from labeler.model import Answer
from labeler.render.markup import style
from labeler.render.tables.shared import SHEET, framed, head, small
from labeler.stats import Interval

LOOK = style("""
.sheet.two td { white-space: normal; min-width: 9rem; }
.sheet.two td strong { font-size: 1.15rem; }
@media (max-width: 640px) {
    .sheet.two th, .sheet.two td { padding: 0.38rem 0.25rem; min-width: 4.6rem; }
    .sheet.two th.words { min-width: 5.4rem; }
}
.answers { display: flex; flex-wrap: wrap; gap: 0.8rem 1rem; align-items: flex-start; }
.answers section { flex: 1 1 16rem; max-width: 48rem; min-width: 0; padding: 0.1rem 0.8rem 0.5rem;
    border-left: 3px solid color-mix(in srgb, currentColor 30%, transparent); }
.answers h4 { margin: 0; padding: 0.2rem 0; font-size: 0.9rem; overflow-wrap: anywhere; }
.answers h4 small { display: block; font-weight: 400; font-size: 0.82rem; }
.answers p { margin: 0; white-space: pre-line; overflow-wrap: anywhere; overflow-x: clip;
    font-size: 0.92rem; max-height: 18rem; overflow-y: auto; }
.answers p.none { font-style: italic; }
""")
FOUND, MISSED = "What the query needs is in the prompt", "It is not in the prompt"
GRID = ((FOUND_RIGHT, FOUND_WRONG), (MISSED_RIGHT, MISSED_WRONG))
Link = Callable[[Outcome], str]


def two_by_two_table(table: TwoByTwo, link: Link) -> htpy.Fragment:
    """Return the four cells with their shares of them all; each leads to its queries."""
    heads = [
        head("", words=True),
        head("Answer right"),
        head("Answer wrong"),
        head("Right of these", "95% interval"),
    ]
    rows = [
        htpy.tr[
            htpy.th(".words", scope="row")[FOUND if found else MISSED],
            [_cell(table, outcome, link) for outcome in cells],
            htpy.td[_right(table, found)],
        ]
        for found, cells in zip((True, False), GRID, strict=True)
    ]
    aside = [
        htpy.tr(".few")[
            htpy.th(".words", scope="row", colspan="4")[
                _linked(table, each, link(each)), f" {each.name}", small(each.meaning)
            ],
        ]
        for each in (UNDECIDED, NO_ANSWER)
        if table.counts[each]
    ]
    return htpy.fragment[
        LOOK, framed(SHEET, "sheet two", heads, [*rows, *aside], label="Retrieval and answer")
    ]


def _cell(table: TwoByTwo, outcome: Outcome, link: Link) -> htpy.Element:
    share, interval = table.share(outcome)
    return htpy.td[
        htpy.strong[_linked(table, outcome, link(outcome))],
        small(_share_words(share, interval)),
        small(outcome.matter),
    ]


def _linked(table: TwoByTwo, outcome: Outcome, href: str) -> htpy.Node:
    count = table.counts[outcome]
    shown = f"{count:,}"
    return htpy.a(href=href, title=outcome.meaning)[shown] if count else shown


def _right(table: TwoByTwo, found: bool) -> htpy.Node:
    right, of, share, interval = table.right_where(found)
    if not of:
        return "–"
    return f"{share:.0%}", small(f"{right:,} of {of:,}"), small(_ends(interval))


def _share_words(share: float, interval: Interval) -> str:
    return "–" if math.isnan(share) else f"{share:.0%} ({_ends(interval)})"


def _ends(interval: Interval) -> str:
    return f"{interval.lo:.0%} to {interval.hi:.0%}"


def outcome_table(
    by_bucket: Mapping[str, TwoByTwo], facet: str, link: Callable[[Outcome, str], str]
) -> htpy.Fragment:
    """Return a row for each bucket: the four cells, what is aside, and the answers that are right
    where retrieval did its part. ``link`` leads to the queries of an outcome in a bucket."""
    outcomes = (*CELLS, UNDECIDED, NO_ANSWER)
    heads = [
        head(facet, words=True),
        head("Right where found", "95% interval"),
        *(head(each.name.capitalize()) for each in outcomes),
    ]
    rows = [
        htpy.tr[
            htpy.th(".words", scope="row")[htpy.bdi[bucket]],
            htpy.td[_right(table, found=True)],
            [htpy.td[_linked(table, each, link(each, bucket))] for each in outcomes],
        ]
        for bucket, table in by_bucket.items()
    ]
    return framed(SHEET, "sheet outcomes", heads, rows, label="Retrieval and answer by bucket")


def answers_card(
    reference: str | None, answers: Iterable[tuple[htpy.Node, Answer, Outcome]]
) -> htpy.Fragment:
    """Return what was answered to one query beside its reference, text as it is."""
    sections = [
        _section(
            ["Answer with ", run],
            f"{'right' if answer.correct else 'wrong'} · {_words(outcome)}",
            answer.answer,
            "Its text is not loaded.",
        )
        for run, answer, outcome in answers
    ]
    first = _section("Reference", "what an answer should say", reference, "There is none.")
    return htpy.fragment[LOOK, htpy.div(".answers")[[first, *sections]]]


def _words(outcome: Outcome) -> str:
    return f"{outcome.name}: {outcome.matter}"


def _section(title: htpy.Node, line: str, text: str | None, nothing: str) -> htpy.Element:
    body = htpy.p[text] if text else htpy.p(".none")[nothing]
    return htpy.section[htpy.h4[title, htpy.small[line]], body]


def outcome_words(table: TwoByTwo) -> Sequence[str]:
    """Say what the cells mean that have a query."""
    return [f"{each.name} ({each.matter}): {each.meaning}" for each in CELLS if table.counts[each]]
