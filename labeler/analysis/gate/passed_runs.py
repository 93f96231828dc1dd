"""Runs that passed a gate: the JSON file that stores them, and the runs a new run is compared with.

Both runs of a comparison are scored by the same golden set. A run that passed is scored again
where the database still has it; its stored values are used only with the same golden set and
conventions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from labeler.analysis.gate.rules import BASELINE, BEST, LAST, Check, CheckKey
from labeler.analysis.gate.verdicts import (
    EQUAL_WITHIN,
    CachedBoard,
    KeptValues,
    ReferenceValues,
    RunValues,
)
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import current_name
from labeler.model import OLD_NAMES, escape_controls

PASSED_RUNS_FORMAT = 1
"""Increase it with every change that makes older files unreadable."""


@dataclass(frozen=True, slots=True)
class PassedRun:
    """A run as it was when it passed: its values, with their golden set and conventions.

    ``fingerprint`` is a hash of its lists, so that another run of the same name is not mistaken
    for it.
    """

    name: str
    fingerprint: str
    passed_at: str
    golden: str
    conventions: Mapping[str, Any]
    values: KeptValues


@dataclass(frozen=True, slots=True)
class PassedRuns:
    """The last run that passed, and the best run of each check, by fingerprint."""

    last: str
    best: Mapping[CheckKey, str] = field(default_factory=dict)
    runs: Mapping[str, PassedRun] = field(default_factory=dict)

    def as_text(self) -> str:
        """Return the content of the file: the same for the same runs, with a line per value."""
        kept = {
            "labeler": "runs that passed a gate",
            "format": PASSED_RUNS_FORMAT,
            "last": self.last,
            "best": [
                {"facet": facet, "bucket": bucket, "measure": measure, "run": fingerprint}
                for (facet, bucket, measure), fingerprint in self.best.items()
            ],
            "runs": [_run_to_json(run) for _, run in sorted(self.runs.items())],
        }
        return json.dumps(kept, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _run_to_json(run: PassedRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "fingerprint": run.fingerprint,
        "passed_at": run.passed_at,
        "golden": run.golden,
        "conventions": dict(run.conventions),
        "values": {name: dict(values) for name, values in run.values.items()},
    }


def read_passed_runs(data: bytes, name: str) -> PassedRuns:
    """Parse a file of passed runs; raises `BadInput` for any other file."""
    try:
        given = json.loads(data.decode("utf-8-sig"))
        runs = {each["fingerprint"]: _run_from_json(each) for each in given["runs"]}
        best = {
            (each["facet"], each["bucket"], current_name(each["measure"])): each["run"]
            for each in given["best"]
        }
        last, form = given["last"], given["format"]
        is_whole = {last, *best.values()} <= set(runs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(
            f"{name}: is not a file of runs that passed a gate "
            f"({escape_controls(repr(error))[:100]}); "
            "take it out of the way, then begin it anew with --begin"
        ) from None
    if form != PASSED_RUNS_FORMAT:
        raise BadInput(f"{name}: has format {form!r}, and this labeler reads {PASSED_RUNS_FORMAT}")
    if not is_whole:
        raise BadInput(
            f"{name}: names a run that is not in it; take it out of the way, then begin it anew "
            "with --begin"
        )
    return PassedRuns(last, best, runs)


def _run_from_json(given: Mapping[str, Any]) -> PassedRun:
    name, fingerprint, passed_at, golden = texts = [
        given[key] for key in ("name", "fingerprint", "passed_at", "golden")
    ]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a name, a fingerprint, a time and a golden version are texts")
    values = {
        current_name(str(name)): {
            str(query): _check_finite(value) for query, value in column.items()
        }
        for name, column in given["values"].items()
    }
    conventions = {OLD_NAMES.get(key, key): value for key, value in given["conventions"].items()}
    return PassedRun(name, fingerprint, passed_at, golden, conventions, values)


def _check_finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no value of a measure")
    return float(value)


@dataclass(frozen=True, eq=False)
class ReferenceRuns:
    """The runs that a new run is compared with, and the board that scores them."""

    board: Scoreboard
    fingerprints: Mapping[str, str]
    baseline: str | None = None
    passing: PassedRuns | None = None
    begins: bool = False

    @cached_property
    def _cached(self) -> CachedBoard:
        return CachedBoard(self.board)

    @property
    def golden(self) -> str:
        """The hash of the golden set; empty without one."""
        return self.board.conventions.golden or ""

    def others(self, check: Check) -> ReferenceValues:
        """Return the runs that a check compares a new run with, by role."""
        found: dict[str, RunValues | str | None] = {}
        if self.baseline is not None:
            found[BASELINE] = RunValues(self.baseline, self._cached)
        if self.begins:
            found[LAST] = None
        elif self.passing is not None:
            last, best = self.passing.last, self.passing.best.get(check.place)
            found[LAST] = self.values_of_passed(self.passing.runs[last], check)
            if best is not None and best != last:
                found[BEST] = self.values_of_passed(self.passing.runs[best], check)
        return found

    def values_of_passed(self, run: PassedRun, check: Check) -> RunValues | str:
        """Return the values of a passed run, or why there are none for this golden set."""
        for name, fingerprint in self.fingerprints.items():
            if fingerprint == run.fingerprint and name in self.board.run_names:
                return RunValues(name, self._cached)
        is_other = run.golden != self.golden or not self.golden
        if is_other or run.conventions != kept_conventions(self.board.conventions):
            what = "golden set" if is_other else "conventions"
            return (
                f"{run.name}, which passed on {run.passed_at[:10]}, was scored by another {what} "
                "and is not in the database; load it again, or start again with --begin"
            )
        if str(check.measure) not in run.values:
            return (
                f"{run.name}, which passed on {run.passed_at[:10]}, has no kept values of "
                f"{check.measure.label} and is not in the database; load it again, or begin anew "
                "with --begin"
            )
        return RunValues(run.name, self._cached, run.values)

    def passed(self, run: str, checks: Sequence[Check], now: str) -> PassedRuns:
        """Return what to store once a run has passed: this run, and the best one of each check.

        ``now`` is the time in UTC, ISO 8601.
        """
        fingerprint = self.fingerprints[run]
        keep = {fingerprint: self._kept(run, fingerprint, checks, now)}
        best: dict[CheckKey, str] = {}
        for check in checks:
            if check.drop is None:
                continue
            best[check.place] = fingerprint
            former = self._better(run, check)
            if former is not None:
                best[check.place] = former.fingerprint
                keep.setdefault(former.fingerprint, self._again(former, checks, check))
        return PassedRuns(fingerprint, best, keep)

    def _better(self, run: str, check: Check) -> PassedRun | None:
        """Return the best run so far if it is better than this one."""
        if self.passing is None:
            return None
        former = self.passing.runs[self.passing.best.get(check.place, self.passing.last)]
        other = self.values_of_passed(former, check)
        if not isinstance(other, RunValues):
            return None
        value = RunValues(run, self._cached).mean(check)
        return former if other.mean(check) > value + EQUAL_WITHIN else None

    def _kept(self, run: str, fingerprint: str, checks: Sequence[Check], now: str) -> PassedRun:
        side = RunValues(run, self._cached)
        measures = [check.measure for check in checks if check.drop is not None]
        values = {str(measure): side.values_to_keep(measure) for measure in measures}
        conventions = kept_conventions(self.board.conventions)
        return PassedRun(run, fingerprint, now, self.golden, conventions, values)

    def _again(self, run: PassedRun, checks: Sequence[Check], check: Check) -> PassedRun:
        """Return a run that is still the best, scored again where the database has it."""
        side = self.values_of_passed(run, check)
        if not isinstance(side, RunValues) or side.kept is not None:
            return run
        return self._kept(side.name, run.fingerprint, checks, run.passed_at)


def kept_conventions(conventions: Conventions) -> Mapping[str, object]:
    """Return conventions as read back from JSON, without description, golden hash and version."""
    apart = ("description", "golden", "frozen")  # the golden set is stored separately
    kept = {name: each for name, each in conventions.as_dict().items() if name not in apart}
    if conventions.weighted is None:  # older files have no such field
        del kept["weighted"]
    found: dict[str, object] = json.loads(json.dumps(kept))
    return found
