"""Rules that say when a query fails, and what a rule requires of each query.

The four rules are `UsefulInPrompt` (the default), a `MinimumValue` of a measure, a minimum for
each task (`MinimumByTask`), and a `LossAgainstRun`, which compares with another run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison import TOLERANCE
from labeler.errors import BadInput
from labeler.evaluation import MEASURES_BY_TASK, Conventions, Scoreboard, measures_for_task
from labeler.measures import PROMPT, Floats, Ints, Measure

USEFUL_GRADE = 2
HIGHEST_GRADE = 3
USUAL_MINIMUM = 0.5
USUAL_LOSS = 0.05


@dataclass(frozen=True, slots=True)
class UsefulInPrompt:
    """The rule that a query fails unless the prompt contains a chunk that is useful alone.

    Such a chunk has grade 2 or better, or grade 1 if the query has no better one, and never less
    than the conventions' threshold. The measure is Success at prompt_k.
    """


@dataclass(frozen=True, slots=True)
class MinimumValue:
    """The rule that a query fails where ``measure`` is below ``least``, or undefined.

    Where the query's grades do not allow that value, as with P@5 of a single relevant chunk, the
    best value they allow is enough.
    """

    measure: Measure
    least: float

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise BadInput(f"a bar is above 0 and at most 1, not {self.least}")

    @classmethod
    def usual(cls, measure: Measure) -> MinimumValue:
        """Return the usual minimum of a measure: 1 where it is yes or no, else half.

        >>> from labeler.measures import parse
        >>> [MinimumValue.usual(parse(name)).least for name in ("Success@5",
        ...     "nDCG@10", "RR", "R@5")]
        [1.0, 0.5, 0.5, 0.5]
        """
        return cls(measure, 1.0 if is_yes_or_no(measure) else USUAL_MINIMUM)


@dataclass(frozen=True, slots=True)
class MinimumByTask:
    """A minimum for each task; `UsefulInPrompt` applies to queries of other tasks, or of none."""

    bars: Mapping[str, MinimumValue]

    @classmethod
    def usual(
        cls, conventions: Conventions, by_task: Mapping[str, str] = MappingProxyType({})
    ) -> MinimumByTask:
        """Return the usual minimum of each task's first measure, see `measures_for_task`."""
        return cls(
            {
                task: MinimumValue.usual(measures_for_task(conventions, task, by_task)[0])
                for task in {**MEASURES_BY_TASK, **by_task}
            }
        )


@dataclass(frozen=True, slots=True)
class LossAgainstRun:
    """The rule that a query fails where its value is ``least`` or more below that of run ``a``."""

    a: str
    measure: Measure
    least: float = USUAL_LOSS

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise BadInput(f"a loss is above 0 and at most 1, not {self.least}")


FailureRule = UsefulInPrompt | MinimumValue | MinimumByTask | LossAgainstRun


class RuleRequirement(NamedTuple):
    """What a rule requires of one query in one run: that its ``value`` is not below ``least``.

    ``least`` is NaN where nothing is required, such as where run A has no value to compare with.
    Under the rule a chunk of grade ``rel`` or better is relevant, and the first ``k`` chunks are
    the top.
    """

    measure: Measure
    least: float
    value: float
    rel: int
    k: int

    @property
    def fails(self) -> bool:
        """Whether a value is required, and this one is below it or missing."""
        return not math.isnan(self.least) and not self.value >= self.least - TOLERANCE


def is_yes_or_no(measure: Measure) -> bool:
    """Return whether a measure is only ever met or not, so that only one minimum makes sense."""
    return measure.name == "Success" or measure.definition.count


def rule_requirements(board: Scoreboard, run: str, rule: FailureRule) -> list[RuleRequirement]:
    """Return what ``rule`` requires of every query of the board, in order; may raise `NotFound`.

    A chunk is relevant from the threshold of the rule's measure. With a measure without one, such
    as nDCG, it is relevant if it is useful alone (`UsefulInPrompt`) or, in a `LossAgainstRun`,
    from the conventions' threshold, since A may be ahead by low grades only. The top is the
    measure's cut-off, or else prompt_k.
    """
    useful = useful_grades(board, run)
    if isinstance(rule, LossAgainstRun):
        weak = np.full(len(useful), board.conventions.rel)
        values = board.values(rule.measure)
        # two tolerances, since `fails` takes one off: a loss of exactly `least` fails
        least = values[:, board.column_of(rule.a)] - rule.least + 2 * TOLERANCE
        return _requirement_rows(board, run, rule.measure, least, weak)
    bars = _minimum_by_query(board, rule, useful)
    columns = {
        bar: _requirement_rows(board, run, bar.measure, _least_values(board, run, bar), useful)
        for bar in dict.fromkeys(bars)
    }
    return [columns[bar][at] for at, bar in enumerate(bars)]


def useful_grades(board: Scoreboard, run: str) -> Ints:
    """Return for each query the lowest grade of a chunk useful alone, see `UsefulInPrompt`."""
    known = board.hits(run).known
    grades: Ints = np.where(known[:, USEFUL_GRADE:].any(axis=1), USEFUL_GRADE, 1)
    return np.maximum(grades, board.conventions.rel)


def describe_rule(
    board: Scoreboard, rule: FailureRule, short: Mapping[str, str] | None = None
) -> str:
    """Describe when a query fails, in words that follow "a query fails where".

    ``short`` maps names of runs to the names to show.
    """
    if isinstance(rule, LossAgainstRun):
        a, heading = (short or {}).get(rule.a, rule.a), _heading(board, rule.measure)
        return f"the run loses {rule.least:g} or more against A, {a}, by {heading}"
    if isinstance(rule, MinimumValue):
        return _describe_minimum(board, rule)
    if isinstance(rule, MinimumByTask):
        tasks = [f"{task}: {_describe_minimum(board, bar)}" for task, bar in rule.bars.items()]
        return "; ".join([*tasks, f"others: {_describe_useful(board)}"])
    return _describe_useful(board)


def _describe_useful(board: Scoreboard) -> str:
    rel = int(useful_grades(board, board.run_names[0]).max(initial=board.conventions.rel))
    grades = f"grade {rel} or better" if rel < HIGHEST_GRADE else f"grade {rel}"
    known = board.prompt_ks.tolist()
    top = f"the top {known[0]}" if len(set(known)) == 1 else "the prompt"
    has = "hold" if top != "the prompt" and known[0] > 1 else "holds"
    weaker = " (of grade 1 where none is better)" if rel > board.conventions.rel else ""
    return f"{top} {has} no chunk of {grades}{weaker}"


def _describe_minimum(board: Scoreboard, bar: MinimumValue) -> str:
    words = f"{_heading(board, bar.measure)} is below {bar.least:g}"
    if np.any(_least_values(board, board.run_names[0], bar) < bar.least - TOLERANCE):
        words += ", or below the best its grades allow where that is less"
    return words


def _heading(board: Scoreboard, measure: Measure) -> str:
    return board.conventions.heading(board.resolve([measure])[0])


def _minimum_by_query(
    board: Scoreboard, rule: UsefulInPrompt | MinimumValue | MinimumByTask, useful: Ints
) -> Sequence[MinimumValue]:
    if isinstance(rule, MinimumValue):
        return [rule] * len(useful)
    by_task = rule.bars if isinstance(rule, MinimumByTask) else {}
    tasks = board.collection.facets.get("task", (None,) * len(useful))
    in_prompt = {rel: MinimumValue(Measure("Success", PROMPT, rel=rel), 1.0) for rel in (1, 2, 3)}
    return [
        by_task.get(task or "", in_prompt[rel])
        for task, rel in zip(tasks, useful.tolist(), strict=True)
    ]


def _least_values(board: Scoreboard, run: str, bar: MinimumValue) -> Floats:
    """Return the required value of each query, never more than its grades allow."""
    best = board.measured(bar.measure, board.hits(run).ideal)
    least: Floats = np.where(best > 0, np.minimum(best, bar.least), bar.least)
    return least


def _requirement_rows(
    board: Scoreboard, run: str, measure: Measure, least: Floats, usual_rel: Ints
) -> list[RuleRequirement]:
    values = board.values(measure)[:, board.column_of(run)]
    rel = usual_rel if measure.rel is None else np.full(len(values), measure.rel)
    k = board.prompt_ks if measure.cutoff is None else board.cutoffs(measure)
    columns = (each.tolist() for each in (least, values, rel, k))
    return [RuleRequirement(measure, *row) for row in zip(*columns, strict=True)]
