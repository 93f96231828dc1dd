"""The report's failing queries: why they fail, their rank strips, and retrieval beside answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import htpy

from labeler.analysis import failures as diagnosis
from labeler.analysis.comparison import ABSENT_CELL, UNJUDGED_CELL, grade_strips
from labeler.analysis.failures import (
    ANSWER_OUTCOMES,
    AnswerOutcome,
    Failure,
    FailureClass,
    QueryRow,
)
from labeler.evaluation import Scoreboard, format_signed
from labeler.render import charts, tables
from labeler.render.markup import style
from labeler.render.report.compare import shorten
from labeler.render.report.context import ReportContext
from labeler.render.tokens import GRADE_FILLS, GRADE_INKS

MOST_OPEN = 40
"""How many failing queries stand open; the others are folded behind them."""

Failures = Mapping[str, Failure | None]


def failing_section(shared: ReportContext) -> htpy.Fragment:
    """Return why queries fail in the run that is looked at, then the queries, worst first."""
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
        _classes(shared, found, called) if failing else None,
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
    """Say what reranking did where B holds nothing that A did not find."""
    a, b = shared.asked.a, shared.asked.b
    if b is None:
        return ""
    return diagnosis.describe_reranking(shared.board, a, b, _failures(shared, a), in_b)


def _classes(shared: ReportContext, found: Failures, called: str) -> htpy.Fragment:
    """Return the reasons by count, with what each means and what to try."""
    classes = diagnosis.tally_classes(found)
    counts = {kind: each.queries for kind, each in classes.items()}
    words = f"Failing queries of {called} by class"

    def link(_: FailureClass) -> str:
        return "#failing-queries"

    return htpy.fragment[
        tables.failure_table(classes, {}, link),
        shared.figures.draw(charts.failure_chart(counts, words), f"{words}."),
    ]


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


RANKS = 10
"""How many ranks a strip shows."""
MOST_DEEPER = 3
"""How many of the relevant chunks below them are named by their ranks."""
STRIP_LEGEND = (
    f"Ranks 1–{RANKS} of each list: a digit is a grade, · a chunk nobody has graded; after them "
    "the ranks of relevant chunks further down."
)
GRADE_STYLE = " ".join(
    f".strips .g{grade} {{ background: {fill}; color: {ink}; }}"
    for grade, (fill, ink) in enumerate(zip(GRADE_FILLS, GRADE_INKS, strict=True))
)
STRIP_STYLE = style(f"""
.strips {{ display: grid; gap: 2px;
    font: 600 0.72rem/1.25 ui-monospace, Menlo, Consolas, monospace; }}
.strips > div {{ display: flex; align-items: center; gap: 1px; white-space: nowrap;
    min-height: 1.1rem; }}
.strips b {{ width: 1.1em; }}
.strips i {{ width: 1.45em; text-align: center; font-style: normal; border-radius: 2px;
    border: 1px solid transparent; print-color-adjust: exact; }}
{GRADE_STYLE}
.strips .unjudged {{ color: inherit; border: 1px dashed currentColor; }}
.strips small {{ font-weight: 400; padding-left: 0.4em; }}
""")


class RankStrips:
    """The strips of some runs by what they are called in the report, worked out once."""

    def __init__(self, board: Scoreboard, runs: Mapping[str, str]) -> None:
        self._board = board
        self._cells = {name: grade_strips(board, run, RANKS).tolist() for name, run in runs.items()}
        self._deeper = {name: _deeper_by_query(board, run) for name, run in runs.items()}

    def of(self, query_id: str) -> htpy.Element:
        """Return a query's strips, one under the other, by name where there are several."""
        at = self._board.number_of(query_id)
        several = len(self._cells) > 1
        return htpy.div(".strips")[
            [
                htpy.div[
                    htpy.b[name] if several else None,
                    [_strip_cell(cell) for cell in cells[at] if cell != ABSENT_CELL],
                    _deeper_ranks(self._deeper[name].get(at, ())),
                ]
                for name, cells in self._cells.items()
            ]
        ]


def _strip_cell(grade: int) -> htpy.Element:
    return (
        htpy.i(class_="unjudged")["·"]
        if grade == UNJUDGED_CELL
        else htpy.i(class_=f"g{grade}")[str(grade)]
    )


def _deeper_ranks(ranks: Sequence[int]) -> htpy.Element | None:
    if not ranks:
        return None
    left = len(ranks) - MOST_DEEPER
    more = f" and {left:,} more" if left > 0 else ""
    return htpy.small[f"{', '.join(map(str, ranks[:MOST_DEEPER]))}{more}"]


def _deeper_by_query(board: Scoreboard, run: str) -> dict[int, list[int]]:
    """Return at which ranks below those shown relevant chunks stand, by query."""
    hits = board.hits(run)
    below = (hits.rank > RANKS) & (hits.grade >= board.conventions.rel)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row, rank in zip(hits.row[below].tolist(), hits.rank[below].tolist(), strict=True):
        found[row].append(rank)
    return {row: sorted(ranks) for row, ranks in found.items()}


FOUND_NOTE = (
    "Found: a chunk of the grade that the failure rule asks for, or better, is within the prompt "
    "size. Shares are of the queries in the four cells, with Wilson's 95% interval over the "
    "choice of queries."
)


def answers_section(shared: ReportContext, places: Mapping[str, int]) -> htpy.Node:
    """Return what became of queries and their answers, run by run; nothing where none has any.

    ``places`` are where the comparison has a row of a query, which is linked then.
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
        return f"#{_outcome_anchor(letter, outcome)}"

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
    """Return the queries of one outcome, folded, where its cell of the table leads."""
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


def _outcome_anchor(letter: str, outcome: AnswerOutcome) -> str:
    return f"answers-{letter}-{outcome.name.replace(' ', '-')}"
