"""Why a query fails in each run: its class, the answers, and which texts are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import Failure, LossAgainstRun, UsefulInPrompt
from labeler.model import Answer, Chunk
from labeler.services.assignment.items import LONGEST_IN_LIST
from labeler.ui import shared as ui
from labeler.ui.query_view.opened import OpenedQuery


def texts_of(numbers: Iterable[int]) -> dict[int, Chunk]:
    """Return the chunks that have text, by number; long texts are cut."""
    with ui.open_store() as store:
        return store.texts.numbered(numbers, LONGEST_IN_LIST)


@st.cache_resource(max_entries=2, show_spinner=False)
def chunks_with_text(path: str, data_revision: int) -> frozenset[int]:
    """Return the numbers of the chunks that have text; cached until the data changes."""
    with ui.open_store() as store:
        return store.chunks.with_text()


@dataclass(frozen=True, slots=True)
class QueryAnswers:
    """Answers to a query and why it fails, by run; ``reranked`` says what reranking did."""

    answers: Mapping[str, Answer]
    failures: Mapping[str, Failure | None]
    reranked: str

    @classmethod
    def of(cls, opened: OpenedQuery, runs: Sequence[str]) -> QueryAnswers:
        """Find the answers and failures for ``runs``."""
        with ui.open_store() as store:
            every = store.answers.to(opened.query_id, LONGEST_IN_LIST) if opened.answered else {}
        answers = {run: answer for run, answer in every.items() if run in opened.board.run_names}
        failures = {run: _failure_in(opened, run, answers.get(run)) for run in runs}
        return cls(answers, failures, _describe_reranking(opened))


def _failure_in(opened: OpenedQuery, run: str, answer: Answer | None) -> Failure | None:
    board, name, rule = opened.board, opened.query_id, opened.rule
    if isinstance(rule, LossAgainstRun) and run == rule.a:
        rule = UsefulInPrompt()
    said = diagnosis.remarks_by_query(opened.remarks)
    known = chunks_with_text(ui.database(), board.data_revision)
    found = diagnosis.find_failures(board, run, rule, known, texts_of, said, only=[name])
    if answer is not None:
        became = diagnosis.find_outcomes(board, run, {name: answer.correct}, rule)
        found = diagnosis.with_generation(board, run, found, became, rule)
    return found.get(name)


def _describe_reranking(opened: OpenedQuery) -> str:
    """Say how B reordered A's list, if B adds no chunk and the query fails in both."""
    if opened.a is None or opened.is_apart:
        return ""
    rule = UsefulInPrompt() if isinstance(opened.rule, LossAgainstRun) else opened.rule
    known = chunks_with_text(ui.database(), opened.board.data_revision)
    said = diagnosis.remarks_by_query(opened.remarks)
    in_a, in_b = (
        diagnosis.find_failures(
            opened.board, run, rule, known, texts_of, said, only=[opened.query_id]
        ).get(opened.query_id)
        for run in opened.runs
    )
    return diagnosis.describe_reranking_of_query(
        *(opened.board, opened.a, opened.run, in_a, in_b),
        (opened.short[opened.a], opened.short[opened.run]),
    )
