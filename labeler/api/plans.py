"""Evaluates a log part by part: a plan for the parts, which any engine can fill, and their sum.

Knows no engine; `labeler.spark` has Spark group the rows, ``evaluate`` does it on one machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from labeler.api.columns import columns_of_whole
from labeler.api.given import (
    GivenGrades,
    GivenRun,
    RunRule,
    grades_from,
    lists_of_runs,
    named_in_python,
)
from labeler.api.grounds import Measures, rule_of, wanted_of
from labeler.errors import BadInput
from labeler.evaluation import (
    USUAL,
    Conventions,
    Part,
    Scoreboard,
    Shape,
    Undefined,
    Whole,
    collect,
    plain_board,
    score_records,
)
from labeler.formats import LIMITS, GradeRule, Limits, OnDuplicate, Order
from labeler.measures import Measure
from labeler.model import check_id


def plan(
    runs: Iterable[str],
    measures: Measures = USUAL,
    *,
    preset: str = "graded",
    rel: int = 1,
    budget: int = 5,
    grade_map: Mapping[float, int] | None = None,
    negative_as_zero: bool = False,
    negative_as_ungraded: bool | None = None,
    undefined: Undefined | None = None,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
    limits: Limits = LIMITS,
) -> Plan:
    """Plan how a log is evaluated piece by piece: these ``runs`` by name, the rest as `evaluate`.

    Cut it by query as you like: into Dask's partitions, Ray's blocks, files. Each piece has all
    grades and all lists of its queries, and the sum is that of one process, to the bit:

    >>> the_plan = plan(["A"], "RR")
    >>> first = the_plan.part({"q1": {"c1": 1}}, {"A": {"q1": ["x", "c1"]}})
    >>> other = the_plan.part({"q2": {"c2": 1}}, {})
    >>> the_plan.add_up([other, first]).value.tolist()
    [0.25]
    """
    conventions = Conventions.of(preset, rel=rel, budget=budget, undefined=undefined)
    names = tuple(check_id(name, "run") for name in runs)
    if not names:
        raise BadInput("name at least one run")
    if len(set(names)) < len(names):
        raise BadInput("runs have names that differ")
    rule = rule_of(conventions, grade_map, negative_as_zero, negative_as_ungraded)
    run_rule = RunRule(on_duplicate, order, limits)
    return Plan.of(names, wanted_of(conventions, measures), conventions, rule, run_rule)


@dataclass(frozen=True)
class Plan:
    """How a log is evaluated that is cut by query: `part` for each piece, `add_up` for all.

    Make one with `plan`. It can be pickled, and so can what `part` returns.
    """

    shape: Shape
    conventions: Conventions
    rule: GradeRule
    run_rule: RunRule

    @staticmethod
    def of(
        runs: Iterable[str],
        wanted: Iterable[Measure],
        conventions: Conventions,
        rule: GradeRule,
        run_rule: RunRule,
    ) -> Plan:
        """Make a plan of rules that are read already."""
        run_rule.check()
        chosen = Scoreboard(collect({}, {}), conventions).resolve(wanted)
        return Plan(Shape(tuple(runs), chosen), conventions, rule, run_rule)

    def part(self, qrels: GivenGrades, runs: Mapping[str, GivenRun]) -> Part:
        """Return what some queries say, of which everything is here: all grades, all lists.

        Takes what `evaluate` takes; a run may be missing, or have no list for any of them, and
        lists may be of queries that nobody graded. Raises `BadInput` as `evaluate` does.
        """
        if unknown := sorted({*runs} - {*self.shape.runs}):
            raise BadInput(f"the plan has no run {unknown[0]!r}; it has {self._named}")
        with named_in_python():
            grades = grades_from(qrels, self.rule, self.run_rule.limits)
            given = {name: runs.get(name, {}) for name in self.shape.runs}
            lists = lists_of_runs(given, self.run_rule)
        return Part.of(plain_board(grades, lists, self.conventions), self.shape)

    def add_up(
        self,
        parts: Iterable[Part],
        *,
        per_query: bool = False,
        order: Sequence[str] | None = None,
        foreign_to: Callable[[str], int] | None = None,
    ) -> pd.DataFrame:
        """Return what `evaluate` returns, of all parts, whatever is in which and in any order.

        Numbers are added in the ``order`` of the queries, or by their ids: then the bits are those
        of `evaluate` for a frame of grades that is sorted by query. ``foreign_to`` says of a run
        how many chunks are graded if none stands in its lists, for a note on other chunk ids.
        """
        whole = Whole(Part.joined(parts, order), self.shape, self.conventions)
        if not whole.part.query_ids:
            raise BadInput("there is no query in the qrels")
        if whole.absent.all():
            first = whole.part.query_ids[0]
            raise BadInput(
                f"run {self.shape.runs[0]!r} and the qrels share no query (the qrels begin with "
                f"{first!r})"
            )
        residuals = whole.residual_means() or None
        rows = columns_of_whole(whole) if per_query else score_records(whole.scores, residuals)
        frame = pd.DataFrame(rows)
        frame.attrs["conventions"] = self.conventions.describe()
        frame.attrs["notes"] = [note.sentence for note in whole.notes(foreign_to or _unasked)]
        return frame

    @property
    def _named(self) -> str:
        return ", ".join(map(repr, self.shape.runs))


def _unasked(_: str) -> int:
    return 0
