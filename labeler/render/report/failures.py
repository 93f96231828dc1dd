"""The report's failing queries: why they fail, their rank strips, and retrieval beside answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import (
    ANSWER_OUTCOMES,
    AnswerOutcome,
    Failure,
    FailureClass,
    QueryRow,
)
from labeler.evaluation import format_signed
from labeler.render import tables
from labeler.render.report.compare import shorten
from labeler.render.report.context import ReportContext
from labeler.render.report.rank_strips import STRIP_LEGEND, STRIP_STYLE, RankStrips

MOST_OPEN = 10
"""How many failing queries are shown at once; the others are folded below them."""

Failures = Mapping[str, Failure | None]


def failing_section(shared: ReportContext) -> htpy.Fragment:
    """Return why queries fail in the run shown, then the failing queries, worst first."""
    run, asked = shared.asked.shown, shared.asked
    found = _failures(shared, run)
    against = asked.a if asked.b is not None else None
    rows = diagnosis.query_rows(
        shared.board, shared.source.queries, run, against, shared.measures[:1], (None, None), found
    )
    failing = [
        row for row in diagnosis.sort_query_rows(rows, diagnosis.QUERY_ORDERS[0]) if row.failure
    ]
    where = diagnosis.describe_rule(shared.board, asked.rule, shared.short)
    called = shared.letters[-1] if against is not None else "The run"
    first, *others = diagnosis.describe_failures(found, where)
    exact = diagnosis.describe_exact_queries(found, shared.source.texts)
    said = [f"{called}: {first}", *others, _describe_reranking(shared, found), exact]
    return htpy.fragment[
        tables.sentences(filter(None, said)),
        _classes(found) if failing else None,
        _queries(shared, failing),
    ]


def _failures(shared: ReportContext, run: str) -> Failures:
    source = shared.source
    given = (source.with_text, source.chunks_of, diagnosis.remarks_by_query(source.remarks))
    found = diagnosis.find_failures(shared.board, run, shared.asked.rule, *given)
    if not shared.right_of(run):
        return found
    became = shared.became(run)
    return diagnosis.with_generation(shared.board, run, found, became, shared.asked.rule)


def _describe_reranking(shared: ReportContext, in_b: Failures) -> str:
    """Say what reranking did if B has no chunk that A did not find."""
    a, b = shared.asked.a, shared.asked.b
    if b is None:
        return ""
    return diagnosis.describe_reranking(
        *(shared.board, a, b, _failures(shared, a), in_b),
        names=(shared.short[a], shared.short[b]),
    )


def _classes(found: Failures) -> htpy.Fragment:
    """Return the reasons of failure by count, with the meaning of each and what to try."""
    classes = diagnosis.tally_classes(found)

    def link(_: FailureClass) -> str:
        return "#failing-queries"

    return tables.failure_table(classes, {}, link)


def _queries(shared: ReportContext, failing: Sequence[QueryRow]) -> htpy.Fragment:
    first, rest = failing[:MOST_OPEN], failing[MOST_OPEN:]
    ranks = RankStrips(shared.board, dict(zip(shared.letters, shared.asked.runs, strict=True)))
    folded = f"{len(rest):,} more failing quer{'ies' if len(rest) != 1 else 'y'}"
    return htpy.fragment[
        htpy.h3(id="failing-queries")["The queries that fail, worst first"] if failing else None,
        [STRIP_STYLE, tables.small_print([STRIP_LEGEND])] if first else None,
        _rows(shared, first, ranks) if first else None,
        htpy.details[htpy.summary[folded], _rows(shared, rest, ranks)] if rest else None,
    ]


def _rows(shared: ReportContext, failing: Sequence[QueryRow], ranks: RankStrips) -> htpy.Fragment:
    heading = shared.board.conventions.heading(shared.measures[0])
    against = ["B − A"] if shared.asked.b is not None else []
    headings = ["Query", heading, *against, "Ranks", "Why it fails", "Known relevant", "Unjudged"]
    return tables.plain_table(headings, [_row(row, ranks) for row in failing])


def _row(row: QueryRow, ranks: RankStrips) -> list[tables.CellContent]:
    delta = [] if row.delta is None else [format_signed(row.delta)]
    return [
        tables.TextCell(row.query_id, shorten(" ".join(row.text.split()))),
        tables.format_value(row.values[0], row.judged, row.counted[0]),
        *delta,
        ranks.of(row.query_id),
        tables.TextCell(row.status),
        tables.TextCell(row.positions_text),
        f"{row.unjudged} of {row.shown}",
    ]


FOUND_NOTE = (
    "Found: a chunk of the grade that the failure rule asks for, or better, is within the prompt "
    "size. Shares are of the queries in the four cells, with Wilson's 95% interval over the "
    "choice of queries."
)


def answers_section(shared: ReportContext, places: Mapping[str, int]) -> htpy.Node:
    """Return the outcomes of queries and their answers by run, None if no run has answers.

    ``places`` gives the row of a query in the comparison; a query that has one links to it.
    """
    named = list(zip(shared.letters, shared.asked.runs, strict=True))
    parts = [
        _answers_of_run(shared, letter, run, places)
        for letter, run in named
        if shared.right_of(run)
    ]
    if not parts:
        return None
    without = [letter for letter, run in named if not shared.right_of(run)]
    said = [f"No answer of {letter} is loaded." for letter in without]
    conventions = shared.board.conventions.sentence
    return htpy.fragment[parts, tables.small_print([*said, FOUND_NOTE, conventions])]


def _answers_of_run(
    shared: ReportContext, letter: str, run: str, places: Mapping[str, int]
) -> htpy.Fragment:
    became, right = shared.became(run), shared.right_of(run)
    table = diagnosis.count_two_by_two(became.items(), right, became)

    def link(outcome: AnswerOutcome) -> str:
        return f"#answers-{letter}-{outcome.name.replace(' ', '-')}"

    return htpy.fragment[
        htpy.h3[htpy.bdi[run], f" ({letter})" if shared.asked.b is not None else ""],
        tables.sentences(table.sentences),
        tables.two_by_two_table(table, link),
        tables.small_print(tables.describe_outcomes(table)),
        [
            _outcome_queries(shared, f"{letter}: {outcome.name}", link(outcome)[1:], names, places)
            for outcome in ANSWER_OUTCOMES
            if (names := [name for name, each in became.items() if each is outcome])
        ],
    ]


def _outcome_queries(
    shared: ReportContext, title: str, place: str, names: Sequence[str], places: Mapping[str, int]
) -> htpy.Element:
    """Return the queries of one outcome, folded; its cell in the table links here."""
    texts = shared.source.texts
    items = [
        htpy.a(href=f"#place-{places[name]}")[htpy.bdi[name]]
        if name in places
        else htpy.fragment[htpy.bdi[name], ": ", shorten(texts[name])]
        for name in names
    ]
    return htpy.details(id=place)[
        htpy.summary[f"{title}, {len(names):,}"],
        htpy.ul[(htpy.li[each] for each in items)],
    ]
