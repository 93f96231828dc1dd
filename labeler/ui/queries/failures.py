"""Failing queries of a run and their causes; a grade recomputes only the queries it changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import Failure, FailureRule, QueryRow, TwoByTwo, UsefulInPrompt
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import Query, Remark
from labeler.render.short_names import short_names
from labeler.ui import filter_widgets, url_state
from labeler.ui import shared as ui
from labeler.ui.queries.choices import QueriesChoice
from labeler.ui.query_view import chunks_with_text, texts_of

FailuresByQuery = Mapping[str, Failure | None]
RemarksByQuery = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class RunFailures:
    """The rows of all queries in the chosen run, and the data behind them.

    ``failures`` are those of all judged queries, ``within`` those of queries that pass the filters.
    ``right`` says for each answered query whether the answer was right; empty if no answer of the
    run is loaded.
    """

    choice: QueriesChoice
    board: Scoreboard
    measures: Sequence[Measure]
    rows: Sequence[QueryRow]
    failures: FailuresByQuery
    within: FailuresByQuery
    reranked: str
    right: Mapping[str, bool]

    @property
    def headings(self) -> list[str]:
        """The measures' names, as headings of their values."""
        return [self.board.conventions.heading(measure) for measure in self.measures]

    @property
    def where(self) -> str:
        """The end of a sentence that begins "a query fails where"."""
        said = diagnosis.describe_rule(self.board, self.choice.rule, self.short)
        if not self.right or self.against is not None:
            return said
        return f"{said}; or the prompt holds what it needs, and its answer is wrong"

    @property
    def against(self) -> str | None:
        """The run A that the run is compared with, if a query fails where it loses."""
        rule = self.choice.rule
        return rule.a if isinstance(rule, diagnosis.LossAgainstRun) else None

    @property
    def short(self) -> Mapping[str, str]:
        """The runs' names as they are shown."""
        return short_names(self.board.run_names)

    @property
    def small_print(self) -> str:
        """The conventions, and what "fails" means here."""
        said = f"{self.board.conventions.sentence} · a query fails where {self.where}"
        return f"{said} · {filter_widgets.NOT_WEIGHTED_HERE}" if url_state.get("weighted") else said

    @property
    def summary(self) -> list[str]:
        """Sentences that summarise the failing queries that pass the filters."""
        first, *others = diagnosis.describe_failures(self.within, self.where)
        texts = {row.query_id: row.text for row in self.rows}
        exact = diagnosis.describe_exact_queries(self.within, texts)
        return [
            f"{self.short[self.choice.run]}: {first}{self._lost}",
            *others,
            *filter(None, [self.reranked, exact]),
        ]

    @property
    def _lost(self) -> str:
        """In how many queries the run loses at all, if only large losses count as failures."""
        rule = self.choice.rule
        if not isinstance(rule, diagnosis.LossAgainstRun) or rule.measure != self.measures[0]:
            return ""
        lost = sum(row.loses for row in self.rows if row.query_id in self.within)
        return f" ({lost:,} are worse at all)"

    @property
    def table(self) -> TwoByTwo:
        """The outcomes of the queries that pass the filters, and of their answers."""
        through = [
            (row.query_id, row.outcome)
            for row in self.rows
            if row.outcome is not None and self.choice.filters.let_in(row, any_class=True)
        ]
        every = {row.query_id for row in self.rows}
        return diagnosis.count_two_by_two(through, self.right, every)

    def in_order(self, order: str) -> list[QueryRow]:
        """Return the rows that pass the filters, sorted."""
        through = (row for row in self.rows if self.choice.filters.let_in(row))
        return diagnosis.sort_query_rows(through, order)


def find_run_failures(
    board: Scoreboard,
    queries: Mapping[str, Query],
    remarks: Sequence[Remark],
    choice: QueriesChoice,
    right: Mapping[str, bool],
) -> RunFailures:
    """Return the row of every query in the chosen run, and why it fails. May raise `NotFound`.

    ``right`` says, for the queries answered with this run, whether the answer is right.
    """
    measures = board.resolve(filter_widgets.measures_of(choice.conventions, choice.texts))
    said = diagnosis.remarks_by_query(remarks)
    failures = _cached_failures(board, choice.run, choice.rule, said)
    became = diagnosis.find_outcomes(board, choice.run, right, choice.rule) if right else {}
    if not isinstance(choice.rule, diagnosis.LossAgainstRun):  # a loss does not concern answers
        failures = diagnosis.with_generation(board, choice.run, failures, became, choice.rule)
    facets = (choice.filters.facet, choice.filters.other)
    rows = diagnosis.query_rows(
        board, queries, choice.run, choice.a, measures, facets, failures, became
    )
    through = {row.query_id for row in rows if choice.filters.let_in(row, any_class=True)}
    within = {name: each for name, each in failures.items() if name in through}
    reranked = _reranked(board, choice, said, through)
    return RunFailures(choice, board, measures, rows, failures, within, reranked, right)


def _reranked(
    board: Scoreboard, choice: QueriesChoice, said: RemarksByQuery, names: set[str]
) -> str:
    if choice.a is None:
        return ""
    rule, which = _rule_of_reranking(choice.rule)
    in_a, in_b = (
        {
            name: each
            for name, each in _cached_failures(board, run, rule, said).items()
            if name in names
        }
        for run in (choice.a, choice.run)
    )
    short = short_names(board.run_names)
    called = (short[choice.a], short[choice.run])
    return diagnosis.describe_reranking(board, choice.a, choice.run, in_a, in_b, which, called)


def _rule_of_reranking(rule: FailureRule) -> tuple[FailureRule, str]:
    """Return a rule that applies to A and B alike, and its words: a loss against A fits only B."""
    if isinstance(rule, diagnosis.LossAgainstRun):
        return UsefulInPrompt(), "have nothing useful in the prompt of either"
    return rule, "fail in both"


def _cached_failures(
    board: Scoreboard, run: str, rule: FailureRule, said: RemarksByQuery
) -> FailuresByQuery:
    path, data_revision = _data_key(board)
    kept = _failure_cache(path, data_revision, repr(board.conventions), run, rule, said)
    known = chunks_with_text(path, data_revision)
    return kept.follow(
        board, lambda only: diagnosis.find_failures(board, run, rule, known, texts_of, said, only)
    )


def _data_key(board: Scoreboard) -> tuple[str, int]:
    return ui.database(), board.data_revision


class _FailureCache:
    """Why queries fail in one run by one rule; a grade recomputes only the queries it changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._board: Scoreboard | None = None
        self._found: FailuresByQuery = {}

    def follow(
        self, board: Scoreboard, find_among: Callable[[Collection[str] | None], FailuresByQuery]
    ) -> FailuresByQuery:
        """Return the failures on ``board``; ``find_among`` finds those of some queries or all."""
        with self._lock:
            if self._board is None:
                self._found = find_among(None)
            else:
                ids = board.collection.query_ids
                moved = {ids[at] for at in board.moved_since(self._board).tolist()}
                if moved:
                    stays = {name: each for name, each in self._found.items() if name not in moved}
                    found = {**stays, **find_among(moved)}
                    self._found = {name: found[name] for name in ids if name in found}
            self._board = board
            return self._found


@st.cache_resource(max_entries=40, show_spinner=False)
def _failure_cache(
    path: str, data_revision: int, words: str, run: str, rule: FailureRule, said: RemarksByQuery
) -> _FailureCache:
    return _FailureCache()
