"""Tables of the Queries page: list of queries, failure classes, retrieval beside answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import htpy

from labeler.analysis.failures import (
    FOUND_RIGHT,
    FOUND_WRONG,
    MISSED_RIGHT,
    MISSED_WRONG,
    NO_ANSWER,
    OUTCOME_CELLS,
    SIDE_MEANINGS,
    UNDECIDED,
    AnswerOutcome,
    ClassTally,
    FailureClass,
    QueryRow,
    TwoByTwo,
)
from labeler.evaluation import format_number, format_share, format_with_arrow
from labeler.model import Answer
from labeler.render.markup import style
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    describe_transferred,
    head,
    html_table,
    small_line,
    small_print,
)
from labeler.stats import ConfidenceInterval

LEAKED, DELTA = "leaked", "difference"
LEAST_WIDTHS = {"class": 7.5, "answer": 6.5, "known relevant": 11}  # rem at least for some words
LONGEST_TEXT = 500  # characters of a query's text in the list
QUERY_LIST_STYLE = style("""
.sheet.queries { max-height: 36rem; overflow: auto; container-type: inline-size;
    /* what gets the focus does not stand under the heads */
    scroll-padding: 2.75rem 0 0 7rem; }
.sheet.queries th, .sheet.queries td { padding: 0.33rem 0.5rem; font-size: 0.93rem; }
.sheet.queries table { border-collapse: separate; border-spacing: 0; }
.sheet.queries th { position: sticky; background: var(--ground); }
.sheet.queries thead th { top: 0; z-index: 2; }
.sheet.queries tbody th, .sheet.queries thead th:first-child { left: 0; text-align: left; }
.sheet.queries tbody th { z-index: 1; }
.sheet.queries thead th:first-child { z-index: 3; }
.sheet.queries tbody th > span { display: -webkit-box; -webkit-box-orient: vertical;
    -webkit-line-clamp: 2; overflow: hidden; width: max-content; max-width: 11rem;
    white-space: normal; overflow-wrap: anywhere; }
.sheet.queries th.words, .sheet.queries td.words { min-width: 0; white-space: nowrap; }
/* what the numbers leave, so that these are in sight, and one line of it */
.sheet.queries td.text { width: 100%; max-width: 0; min-width: 12rem; overflow: hidden;
    text-overflow: ellipsis; }
/* one link a row, which all of the row is */
.sheet.queries tbody tr { position: relative; }
.sheet.queries tbody a { text-decoration: none; }
.sheet.queries tbody a::after { content: ""; position: absolute; inset: 0; z-index: 1; }
.sheet.queries tbody a:focus-visible { outline: none; }
.sheet.queries tbody a:focus-visible::after { outline: 2px solid currentColor;
    outline-offset: -2px; }
.sheet.queries tbody tr:is(:hover, :has(a:focus-visible)) > * {
    background: color-mix(in srgb, currentColor 7%, var(--ground)); }
.sheet.queries tbody tr:is(:hover, :has(a:focus-visible)) > th > span {
    text-decoration: underline; text-underline-offset: 0.2em; }
@container (max-width: 64rem) {
    .sheet.queries th, .sheet.queries td { padding: 0.33rem 0.27rem; }
    .sheet.queries tbody th > span { max-width: 6rem; }
    .sheet.queries td.text { min-width: 8rem; }
}
@container (40rem < width < 70rem) {
    .sheet.queries td.said { min-width: var(--least); white-space: normal; }
    .sheet.queries td.text a { display: -webkit-box; -webkit-box-orient: vertical;
        -webkit-line-clamp: 2; overflow: hidden; white-space: normal; }
}
@media print {
    .sheet.queries { max-height: none; overflow: visible; container-type: normal; }
    .sheet.queries th { position: static; }
    .sheet.queries th, .sheet.queries td.words:not(.text) { white-space: normal; padding: 0.2rem; }
    .sheet.queries td.words:not(.text), .sheet.queries td.text { min-width: 5rem; }
}
""")


def query_list(
    rows: Sequence[QueryRow],
    headings: Sequence[str],
    facet: str | None,
    link: Callable[[str], str],
) -> htpy.Fragment:
    """Return the list of queries, one per line; the whole line links to the query."""
    columns = _columns(rows, headings, facet)
    numbers = {*headings, f"{headings[0]} of A", DELTA}
    heads = [head(name, words=name not in numbers) for name in ("query", "text", *columns)]
    cells_of = [
        partial(
            htpy.td,
            class_={"words": name not in numbers, "said": name in LEAST_WIDTHS},
            style=f"--least: {LEAST_WIDTHS[name]}rem" if name in LEAST_WIDTHS else None,
        )
        for name in columns
    ]
    body = [
        htpy.tr[
            htpy.th(scope="row")[htpy.span[row.query_id]],
            htpy.td(".words.text")[
                htpy.a(href=link(row.query_id), title=f"{row.query_id}: {row.text[:LONGEST_TEXT]}")[
                    " ".join(row.text.split())[:LONGEST_TEXT]
                ]
            ],
            [made()[cell] for made, cell in zip(cells_of, cells, strict=True)],
        ]
        for row, *cells in zip(rows, *columns.values(), strict=True)
    ]
    return html_table(
        [TABLE_STYLE, QUERY_LIST_STYLE], "sheet queries", heads, body, label="Queries"
    )


def _columns(
    rows: Sequence[QueryRow], headings: Sequence[str], facet: str | None
) -> dict[str, list[str]]:
    """Return the cells beside each query's text, by the heading of their column."""
    columns: dict[str, list[str]] = {}
    first, *others = headings
    columns[first] = [format_value(row.values[0], row.judged, row.counted[0]) for row in rows]
    if any(row.delta is not None for row in rows):
        columns[f"{first} of A"] = [
            format_value(_nan_if_none(row.a), row.judged, row.counted[0]) for row in rows
        ]
        columns[DELTA] = [format_with_arrow(_nan_if_none(row.delta)) for row in rows]
    columns["class"] = [row.status for row in rows]
    if any(row.leaked for row in rows):
        columns[LEAKED] = [LEAKED if row.leaked else "" for row in rows]
    if any(row.outcome for row in rows):
        columns["answer"] = [row.outcome.name if row.outcome else "–" for row in rows]
    columns["known relevant"] = [row.positions_text for row in rows]
    columns["unjudged"] = [_describe_query_unjudged(row) for row in rows]
    for at, heading in enumerate(others, 1):
        columns[heading] = [
            format_value(row.values[at], row.judged, row.counted[at]) for row in rows
        ]
    if any(row.task for row in rows):
        columns["task"] = [row.task or "–" for row in rows]
    if any(row.split for row in rows):
        columns["split"] = [row.split or "–" for row in rows]
    if facet is not None and facet not in ("task", "split"):
        name = f"facet {facet}" if facet in ("query", "text", *columns) else facet
        columns[name] = [row.bucket or "–" for row in rows]
    return columns


def _nan_if_none(value: float | None) -> float:
    return math.nan if value is None else value


def format_value(value: float, judged: bool, counted: bool) -> str:
    """Return a query's value as text, or why it has none; "no result" is only for one ``counted``.

    >>> nan = math.nan
    >>> format_value(0.5, True, True), format_value(nan, True, False), format_value(nan, True, True)
    ('0.5000', 'undefined', 'no result')
    """
    if not math.isnan(value):
        return format_number(value)
    if counted:
        return "no result"
    return "undefined" if judged else "not graded"


def _describe_query_unjudged(row: QueryRow) -> str:
    if row.missing:
        return "absent"
    unjudged = f"{row.unjudged} of {row.shown}" if row.unjudged else "none"
    return ", ".join(filter(None, (unjudged, describe_transferred(row.transferred))))


def failure_table(
    found: Mapping[FailureClass, ClassTally],
    by_bucket: Mapping[str, Mapping[FailureClass, int]],
    link: Callable[[FailureClass], str],
) -> htpy.Fragment:
    """Return the classes that occur: count, share, known chunks, then a column a bucket.

    Each class says what it means and what to try, and links to its queries. Classes that do not
    occur are listed below the table.
    """
    there = {kind: each for kind, each in found.items() if each.queries}
    total = sum(each.queries for each in there.values())
    what = htpy.th(".words", scope="col")["Class, what it means, ", htpy.em["what to try"]]
    heads = [
        what,
        head("Queries"),
        head("Share"),
        head("Known relevant", "in the top / below / never"),
        head("Mostly unjudged", "in the top"),
        *map(head, by_bucket),
    ]
    rows = [
        htpy.tr[
            _class_head(kind, link(kind)),
            htpy.td(".lead")[f"{each.queries:,}"],
            htpy.td[format_share(each.queries, total)],
            htpy.td[f"{each.top:,} / {each.below:,} / {each.missed:,}"],
            htpy.td[f"{each.mostly_unjudged:,}"],
            [htpy.td[str(inside[kind])] for inside in by_bucket.values()],
        ]
        for kind, each in there.items()
    ]
    others = ", ".join(kind.name for kind in found if kind not in there)
    return htpy.fragment[
        html_table(TABLE_STYLE, "sheet failures", heads, rows),
        small_print([f"No query fails by: {others}" if others else ""]),
    ]


def _class_head(each: FailureClass, href: str) -> htpy.Element:
    name, _ = SIDE_MEANINGS[each.side]
    said = htpy.small[f"{name}: {each.meaning} ", htpy.em[each.lever]]
    return htpy.th(".words.wide", scope="row")[htpy.a(href=href)[each.name], said]


ANSWERS_STYLE = style("""
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
IN_PROMPT, NOT_IN_PROMPT = "What the query needs is in the prompt", "It is not in the prompt"
GRID = ((FOUND_RIGHT, FOUND_WRONG), (MISSED_RIGHT, MISSED_WRONG))
OutcomeLink = Callable[[AnswerOutcome], str]


def two_by_two_table(table: TwoByTwo, link: OutcomeLink) -> htpy.Fragment:
    """Return the four cells with their shares of all four; each links to its queries."""
    heads = [
        head("Retrieval", words=True),
        head("Answer right"),
        head("Answer wrong"),
        head("Right of these", "95% interval"),
    ]
    rows = [
        htpy.tr[
            htpy.th(".words", scope="row")[IN_PROMPT if found else NOT_IN_PROMPT],
            [_outcome_cell(table, outcome, link) for outcome in cells],
            htpy.td[_right_share(table, found)],
        ]
        for found, cells in zip((True, False), GRID, strict=True)
    ]
    aside = [
        htpy.tr(".few")[
            htpy.th(".words", scope="row", colspan="4")[
                _linked_count(table, each, link(each)), f" {each.name}", small_line(each.meaning)
            ],
        ]
        for each in (UNDECIDED, NO_ANSWER)
        if table.counts[each]
    ]
    return htpy.fragment[
        ANSWERS_STYLE,
        html_table(TABLE_STYLE, "sheet two", heads, [*rows, *aside], label="Retrieval and answer"),
    ]


def _outcome_cell(table: TwoByTwo, outcome: AnswerOutcome, link: OutcomeLink) -> htpy.Element:
    share, interval = table.share(outcome)
    return htpy.td[
        htpy.strong[_linked_count(table, outcome, link(outcome))],
        small_line(_format_share(share, interval)),
        small_line(outcome.matter),
    ]


def _linked_count(table: TwoByTwo, outcome: AnswerOutcome, href: str) -> htpy.Node:
    count = table.counts[outcome]
    shown = f"{count:,}"
    return htpy.a(href=href, title=outcome.meaning)[shown] if count else shown


def _right_share(table: TwoByTwo, found: bool) -> htpy.Node:
    right, of, share, interval = table.right_where(found)
    if not of:
        return "–"
    return (
        f"{share:.0%}",
        small_line(f"{right:,} of {of:,}"),
        small_line(_format_share_interval(interval)),
    )


def _format_share(share: float, interval: ConfidenceInterval) -> str:
    return "–" if math.isnan(share) else f"{share:.0%} ({_format_share_interval(interval)})"


def _format_share_interval(interval: ConfidenceInterval) -> str:
    return f"{interval.lo:.0%} to {interval.hi:.0%}"


def outcome_table(
    by_bucket: Mapping[str, TwoByTwo], facet: str, link: Callable[[AnswerOutcome, str], str]
) -> htpy.Fragment:
    """Return a row for each bucket: the share of right answers among found queries, and counts.

    The counts are of the four cells and of the other outcomes. ``link`` returns the address of the
    queries of an outcome in a bucket.
    """
    outcomes = (*OUTCOME_CELLS, UNDECIDED, NO_ANSWER)
    heads = [
        head(facet, words=True),
        head("Right where found", "95% interval"),
        *(head(each.name.capitalize()) for each in outcomes),
    ]
    rows = [
        htpy.tr[
            htpy.th(".words", scope="row")[htpy.bdi[bucket]],
            htpy.td[_right_share(table, found=True)],
            [htpy.td[_linked_count(table, each, link(each, bucket))] for each in outcomes],
        ]
        for bucket, table in by_bucket.items()
    ]
    return html_table(
        TABLE_STYLE, "sheet outcomes", heads, rows, label="Retrieval and answer by bucket"
    )


def answers_card(
    reference: str | None, answers: Iterable[tuple[htpy.Node, Answer, AnswerOutcome]]
) -> htpy.Fragment:
    """Return the answers to one query beside its reference, with their text as it is."""
    sections = [
        _answer_section(
            ["Answer with ", run],
            f"{'right' if answer.correct else 'wrong'} · {outcome.name}: {outcome.matter}",
            answer.answer,
            "Its text is not loaded.",
        )
        for run, answer, outcome in answers
    ]
    first = _answer_section("Reference", "what an answer should say", reference, "There is none.")
    return htpy.fragment[ANSWERS_STYLE, htpy.div(".answers")[[first, *sections]]]


def _answer_section(title: htpy.Node, line: str, text: str | None, nothing: str) -> htpy.Element:
    body = htpy.p[text] if text else htpy.p(".none")[nothing]
    return htpy.section[htpy.h4[title, htpy.small[line]], body]


def describe_outcomes(table: TwoByTwo) -> Sequence[str]:
    """Return the meanings of the cells that have queries."""
    return [
        f"{each.name} ({each.matter}): {each.meaning}"
        for each in OUTCOME_CELLS
        if table.counts[each]
    ]
