"""The report's failing queries: how many for which reason, what to try, and each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import Failure, FailureClass, QueryRow
from labeler.evaluation import signed
from labeler.render import charts, tables
from labeler.render.report.comparing import cut
from labeler.render.report.shared import Shared
from labeler.render.report.strips import LEGEND, LOOK, RankStrips

OPEN = 40
"""How many failing queries stand open; the others are folded behind them."""

Failures = Mapping[str, Failure | None]


def failing_section(shared: Shared) -> htpy.Fragment:
    """Return why queries fail in the run that is looked at, then the queries, worst first."""
    run, asked = shared.asked.shown, shared.asked
    found = _failures(shared, run)
    against = asked.a if asked.b is not None else None
    rows = diagnosis.query_rows(
        shared.board, shared.source.queries, run, against, shared.measures[:1], (None, None), found
    )
    failing = [row for row in diagnosis.in_order(rows, diagnosis.ORDERS[0]) if row.failure]
    where = diagnosis.fails_where(shared.board, asked.rule, shared.short)
    called = shared.letters[-1] if against is not None else "The run"
    first, *others = diagnosis.in_words(found, where)
    exact = diagnosis.exact_in_words(found, shared.source.texts)
    said = [f"{called}: {first}", *others, _reranked(shared, found), exact]
    return htpy.fragment[
        tables.sentences(filter(None, said)),
        _classes(shared, found, called) if failing else None,
        _queries(shared, failing),
    ]


def _failures(shared: Shared, run: str) -> Failures:
    source = shared.source
    given = (source.with_text, source.chunks_of, diagnosis.kinds_by_query(source.remarks))
    found = diagnosis.find_failures(shared.board, run, shared.asked.rule, *given)
    if not shared.right_of(run):
        return found
    became = shared.became(run)
    return diagnosis.with_generation(shared.board, run, found, became, shared.asked.rule)


def _reranked(shared: Shared, in_b: Failures) -> str:
    """Say what reranking did where B holds nothing that A did not find."""
    a, b = shared.asked.a, shared.asked.b
    if b is None:
        return ""
    return diagnosis.reranking_in_words(shared.board, a, b, _failures(shared, a), in_b)


def _classes(shared: Shared, found: Failures, called: str) -> htpy.Fragment:
    """Return the reasons by count, with what each means and what to try."""
    classes = diagnosis.tallies(found)
    counts = {kind: each.queries for kind, each in classes.items()}
    words = f"Failing queries of {called} by class"

    def link(_: FailureClass) -> str:
        return "#failing-queries"

    return htpy.fragment[
        tables.failure_table(classes, {}, link),
        shared.figures.draw(charts.failure_chart(counts, words), f"{words}."),
    ]


def _queries(shared: Shared, failing: Sequence[QueryRow]) -> htpy.Fragment:
    first, rest = failing[:OPEN], failing[OPEN:]
    ranks = RankStrips(shared.board, dict(zip(shared.letters, shared.asked.runs, strict=True)))
    folded = f"{len(rest):,} more failing quer{'ies' if len(rest) != 1 else 'y'}"
    return htpy.fragment[
        htpy.h3(id="failing-queries")["The queries that fail, worst first"] if failing else None,
        [LOOK, tables.small_print([LEGEND])] if first else None,
        _rows(shared, first, ranks) if first else None,
        htpy.details[htpy.summary[folded], _rows(shared, rest, ranks)] if rest else None,
    ]


def _rows(shared: Shared, failing: Sequence[QueryRow], ranks: RankStrips) -> htpy.Fragment:
    heading = shared.board.conventions.heading(shared.measures[0])
    against = ["B − A"] if shared.asked.b is not None else []
    headings = ["Query", heading, *against, "Ranks", "Why it fails", "Known relevant", "Holes"]
    return tables.sheet(headings, [_row(row, ranks) for row in failing])


def _row(row: QueryRow, ranks: RankStrips) -> list[tables.Cell]:
    delta = [] if row.delta is None else [signed(row.delta)]
    return [
        tables.Said(row.query_id, cut(" ".join(row.text.split()))),
        tables.value_words(row.values[0], row.judged, row.counted[0]),
        *delta,
        ranks.of(row.query_id),
        tables.Said(row.status),
        tables.Said(row.places_in_words),
        f"{row.holes} of {row.shown}",
    ]
