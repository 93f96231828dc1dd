"""Which queries fail in the chosen run and why, worked out anew for what a grade has moved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import Failure, QueryRow, Rule, TwoByTwo, UsefulInPrompt
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import Answer, Query, Remark
from labeler.render.naming import short_names
from labeler.ui import address, choices
from labeler.ui import shared as ui
from labeler.ui.queries.choosing import Choice
from labeler.ui.query_detail import texts_of

Failures = Mapping[str, Failure | None]
Remarks = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of all queries as the chosen run answers them, and what stands behind them.

    ``failures`` are of all judged queries, ``within`` of those that the filters let through.
    ``right`` says of each query that was answered whether rightly; it is empty where no answer of
    the run is loaded.
    """

    choice: Choice
    board: Scoreboard
    measures: Sequence[Measure]
    rows: Sequence[QueryRow]
    failures: Failures
    within: Failures
    reranked: str
    right: Mapping[str, bool]

    @property
    def headings(self) -> list[str]:
        """The measures as they stand above their values."""
        return [self.board.conventions.heading(measure) for measure in self.measures]

    @property
    def where(self) -> str:
        """When a query fails, to stand after "a query fails where"."""
        said = diagnosis.fails_where(self.board, self.choice.rule, self.short)
        if not self.right:
            return said
        return f"{said}; or the prompt holds what it needs, and its answer is wrong"

    @property
    def short(self) -> Mapping[str, str]:
        """The runs' names as they are shown."""
        return short_names(self.board.run_names)

    @property
    def small_print(self) -> str:
        """What stands under every number: the conventions, and what "fails" means here."""
        said = f"{self.board.conventions.sentence} · a query fails where {self.where}"
        return f"{said} · {choices.NOT_WEIGHTED_HERE}" if address.given("weighted") else said

    @property
    def summary(self) -> list[str]:
        """What the failing queries that the filters let through say together, in sentences."""
        first, *others = diagnosis.in_words(self.within, self.where)
        texts = {row.query_id: row.text for row in self.rows}
        exact = diagnosis.exact_in_words(self.within, texts)
        return [
            f"{self.short[self.choice.run]}: {first}{self._lost}",
            *others,
            *filter(None, [self.reranked, exact]),
        ]

    @property
    def _lost(self) -> str:
        """In how many queries the run loses at all, where only those fail that lose much."""
        rule = self.choice.rule
        if not isinstance(rule, diagnosis.Loss) or rule.measure != self.measures[0]:
            return ""
        lost = sum(row.loses for row in self.rows if row.query_id in self.within)
        return f" (it loses at all in {lost:,})"

    @property
    def table(self) -> TwoByTwo:
        """What became of the queries that the filters let through, and of their answers."""
        through = [
            (row.query_id, row.outcome)
            for row in self.rows
            if row.outcome is not None and self.choice.filters.let_in(row, any_class=True)
        ]
        every = {row.query_id for row in self.rows}
        return diagnosis.two_by_two(through, self.right, every)

    def in_order(self, order: str) -> list[QueryRow]:
        """Return the rows that the filters let through, sorted."""
        through = (row for row in self.rows if self.choice.filters.let_in(row))
        return diagnosis.in_order(through, order)


def find(
    board: Scoreboard,
    queries: Mapping[str, Query],
    remarks: Sequence[Remark],
    choice: Choice,
    right: Mapping[str, bool],
) -> Found:
    """Say of every query how the chosen run answers it, and why it fails. May raise `NotFound`.

    ``right`` says of the queries that were answered with this run whether rightly.
    """
    measures = board.resolve(choices.measures_of(choice.conventions, choice.texts))
    said = diagnosis.kinds_by_query(remarks)
    failures = _failures_in(board, choice.run, choice.rule, said)
    became = diagnosis.outcomes(board, choice.run, right, choice.rule) if right else {}
    failures = diagnosis.with_generation(board, choice.run, failures, became, choice.rule)
    facets = (choice.filters.facet, choice.filters.other)
    rows = diagnosis.query_rows(
        board, queries, choice.run, choice.a, measures, facets, failures, became
    )
    through = {row.query_id for row in rows if choice.filters.let_in(row, any_class=True)}
    within = {name: each for name, each in failures.items() if name in through}
    reranked = _reranked(board, choice, said, through)
    return Found(choice, board, measures, rows, failures, within, reranked, right)


def find_one(
    found: Found, remarks: Sequence[Remark], query_id: str, answers: Mapping[str, Answer]
) -> tuple[Failures, str]:
    """Say by run why one query fails there, and what reranking did for it, if anything.

    ``answers`` are what was answered to it, by run.
    """
    board, choice = found.board, found.choice
    said = diagnosis.kinds_by_query(remarks)
    given = (_known_texts(*_at(board)), texts_of, said)
    failures = {
        name: diagnosis.find_failures(board, name, choice.rule, *given, only=[query_id])
        for name in board.run_names
    }
    for name, answer in answers.items():
        right = {query_id: answer.correct}
        became = diagnosis.outcomes(board, name, right, choice.rule)
        failures[name] = diagnosis.with_generation(board, name, failures[name], became, choice.rule)
    reranked = _reranked_one(board, choice, said, query_id)
    return {name: each.get(query_id) for name, each in failures.items()}, reranked


def _reranked_one(board: Scoreboard, choice: Choice, said: Remarks, query_id: str) -> str:
    if choice.a is None:
        return ""
    rule, _ = _rule_of_reranking(choice.rule)
    in_a, in_b = (
        _failures_in(board, run, rule, said).get(query_id) for run in (choice.a, choice.run)
    )
    return diagnosis.reranking_of_one(board, choice.a, choice.run, in_a, in_b)


def _reranked(board: Scoreboard, choice: Choice, said: Remarks, names: set[str]) -> str:
    if choice.a is None:
        return ""
    rule, which = _rule_of_reranking(choice.rule)
    in_a, in_b = (
        {name: each for name, each in _failures_in(board, run, rule, said).items() if name in names}
        for run in (choice.a, choice.run)
    )
    return diagnosis.reranking_in_words(board, choice.a, choice.run, in_a, in_b, which)


def _rule_of_reranking(rule: Rule) -> tuple[Rule, str]:
    """Return by which rule A and B fail alike, and its words: what B loses, A does not."""
    if isinstance(rule, diagnosis.Loss):
        return UsefulInPrompt(), "have nothing useful in the prompt of either"
    return rule, "fail in both"


def _failures_in(board: Scoreboard, run: str, rule: Rule, said: Remarks) -> Failures:
    path, data_revision = _at(board)
    kept = _diagnosed(path, data_revision, repr(board.conventions), run, rule, said)
    known = _known_texts(path, data_revision)
    return kept.follow(
        board,
        lambda only: diagnosis.find_failures(board, run, rule, known, texts_of, said, only),
    )


def _at(board: Scoreboard) -> tuple[str, int]:
    return ui.database(), board.data_revision


class _Diagnosed:
    """Why queries fail in one run by one rule: after a grade, only what moved is asked again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._board: Scoreboard | None = None
        self._found: Failures = {}

    def follow(
        self, board: Scoreboard, find_among: Callable[[Collection[str] | None], Failures]
    ) -> Failures:
        """Return it as ``board`` has it; ``find_among`` finds it of some queries, or of all."""
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
def _diagnosed(
    path: str, data_revision: int, words: str, run: str, rule: Rule, said: Remarks
) -> _Diagnosed:
    return _Diagnosed()


@st.cache_resource(max_entries=2, show_spinner=False)
def _known_texts(path: str, data_revision: int) -> frozenset[int]:
    """Return the numbers of the chunks that have text; one read for each change of the data."""
    with ui.open_store() as store:
        return store.chunks_with_text()
