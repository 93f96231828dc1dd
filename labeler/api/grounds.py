"""What all functions on plain data begin and end with: a board of what was given, a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import pandas as pd

from labeler.api.given import (
    GivenGrades,
    GivenRun,
    RunRule,
    grade_rule,
    grades_from,
    lists_of_runs,
    named_in_python,
)
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard, plain_board, tie_notes, tied_ranges
from labeler.formats import GradeRule
from labeler.measures import Measure

Measures: TypeAlias = "str | Measure | Iterable[str | Measure]"


def frame_of(
    rows: Sequence[Mapping[str, Any]] | dict[str, Any], board: Scoreboard, wanted: Sequence[Measure]
) -> pd.DataFrame:
    """Return rows with the conventions they are by, and what there is to know of them."""
    frame = pd.DataFrame(rows, copy=False)
    frame.attrs["conventions"] = board.conventions.describe()
    notes = [*board.notes(wanted), *tie_notes(tied_ranges(board, wanted), board.conventions)]
    frame.attrs["notes"] = [note.sentence for note in notes]
    return frame


def wanted_of(conventions: Conventions, measures: Measures) -> tuple[Measure, ...]:
    """Read measures from texts, or from measures of this library or of ir_measures."""
    one = isinstance(measures, str | bytes) or not isinstance(measures, Iterable)
    given: Iterable[object] = [measures] if one else cast(Iterable[object], measures)
    wanted = conventions.measures(map(str, given))
    if not wanted:
        raise BadInput("no measure is named; one is written like nDCG@10")
    return wanted


def rule_of(
    conventions: Conventions,
    grade_map: Mapping[float, int] | None,
    negative_as_zero: bool,
    negative_as_ungraded: bool | None,
) -> GradeRule:
    """Return how grades are read; one below 0 as trec_eval does, where all is as there."""
    with named_in_python():
        if negative_as_ungraded is None:
            negative_as_ungraded = conventions.like_trec_eval and not negative_as_zero
        return grade_rule(grade_map, negative_as_zero, negative_as_ungraded)


def board_of(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    conventions: Conventions,
    rule: GradeRule,
    run_rule: RunRule,
) -> Scoreboard:
    """Return a board of these grades and runs; raises `BadInput` where they share no query."""
    if not isinstance(runs, Mapping) or not runs:
        raise BadInput("runs must be {name: run} with at least one run")
    run_rule.check()
    with named_in_python():
        grades = grades_from(qrels, rule, run_rule.limits)
        if not grades:
            raise BadInput("there is no query in the qrels")
        lists = lists_of_runs(runs, run_rule)
    board = plain_board(grades, lists, conventions)
    if not any(run.lists for run in board.collection.runs):
        name, found = next(iter(lists.items()))
        first = f"the run with {next(iter(found))!r}" if found else "the run has none"
        raise BadInput(
            f"run {name!r} and the qrels share no query (the qrels begin with "
            f"{next(iter(grades))!r}, {first})"
        )
    return board
