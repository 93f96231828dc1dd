"""Against what a run is held: its baseline, and the runs that passed before; knows no file.

Both sides of a comparison are of one golden set. A run that passed is scored again where the
database still has it; its kept values stand in only where they are of the same golden set by the
same conventions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeler.analysis.gate.judging import ALIKE, Others
from labeler.analysis.gate.passing import PassedRun, Passing
from labeler.analysis.gate.records import BASELINE, BEST, LAST, Check, Place
from labeler.analysis.gate.sides import Ground, Side
from labeler.evaluation import Conventions, Scoreboard


@dataclass(frozen=True, eq=False)
class History:
    """The runs to compare with on a board."""

    board: Scoreboard
    fingerprints: Mapping[str, str]
    baseline: str | None = None
    passing: Passing | None = None
    begins: bool = False

    @cached_property
    def _ground(self) -> Ground:
        return Ground(self.board)

    @property
    def golden(self) -> str:
        """The hash of the golden set, empty where none is kept."""
        return self.board.conventions.golden or ""

    def others(self, check: Check) -> Others:
        """Return what a run must not fall behind in a check, by what it is."""
        found: dict[str, Side | str | None] = {}
        if self.baseline is not None:
            found[BASELINE] = Side(self.baseline, self._ground)
        if self.begins:
            found[LAST] = None
        elif self.passing is not None:
            last, best = self.passing.last, self.passing.best.get(check.place)
            found[LAST] = self.side_of(self.passing.runs[last], check)
            if best is not None and best != last:
                found[BEST] = self.side_of(self.passing.runs[best], check)
        return found

    def side_of(self, run: PassedRun, check: Check) -> Side | str:
        """Return the values of a run that passed, or why there are none of this golden set."""
        for name, fingerprint in self.fingerprints.items():
            if fingerprint == run.fingerprint and name in self.board.run_names:
                return Side(name, self._ground)
        is_other = run.golden != self.golden or not self.golden
        if is_other or run.conventions != kept_of(self.board.conventions):
            what = "golden set" if is_other else "conventions"
            return (
                f"{run.name}, which passed on {run.passed_at[:10]}, was scored by another {what} "
                "and is not in the database; load it again, or begin anew with --begin"
            )
        if str(check.measure) not in run.values:
            return (
                f"{run.name}, which passed on {run.passed_at[:10]}, has no kept values of "
                f"{check.measure.label} and is not in the database; load it again, or begin anew "
                "with --begin"
            )
        return Side(run.name, self._ground, run.values)

    def passed(self, run: str, checks: Sequence[Check], now: str) -> Passing:
        """Return what is to be kept once a run has passed: itself, and by check the best so far.

        ``now`` is the time, UTC, ISO 8601.
        """
        fingerprint = self.fingerprints[run]
        keep = {fingerprint: self._kept(run, fingerprint, checks, now)}
        best: dict[Place, str] = {}
        for check in checks:
            if check.drop is None:
                continue
            best[check.place] = fingerprint
            former = self._better(run, check)
            if former is not None:
                best[check.place] = former.fingerprint
                keep.setdefault(former.fingerprint, self._again(former, checks, check))
        return Passing(fingerprint, best, keep)

    def _better(self, run: str, check: Check) -> PassedRun | None:
        """Return the best run so far, where it is better than this one."""
        if self.passing is None:
            return None
        former = self.passing.runs[self.passing.best.get(check.place, self.passing.last)]
        other = self.side_of(former, check)
        if not isinstance(other, Side):
            return None
        value = Side(run, self._ground).mean(check)
        return former if other.mean(check) > value + ALIKE else None

    def _kept(self, run: str, fingerprint: str, checks: Sequence[Check], now: str) -> PassedRun:
        side = Side(run, self._ground)
        measures = [check.measure for check in checks if check.drop is not None]
        values = {str(measure): side.all_kept(measure) for measure in measures}
        conventions = kept_of(self.board.conventions)
        return PassedRun(run, fingerprint, now, self.golden, conventions, values)

    def _again(self, run: PassedRun, checks: Sequence[Check], check: Check) -> PassedRun:
        """Return a run that stays the best: with fresh values where the database has it."""
        side = self.side_of(run, check)
        if not isinstance(side, Side) or side.kept is not None:
            return run
        return self._kept(side.name, run.fingerprint, checks, run.passed_at)


def kept_of(conventions: Conventions) -> Mapping[str, object]:
    """Return conventions as JSON gives them back, without the words for people."""
    apart = ("description", "golden", "frozen")  # which golden set it was is kept beside them
    said = {name: each for name, each in conventions.as_dict().items() if name not in apart}
    if conventions.weighted is None:  # as runs were kept that passed before there were weights
        del said["weighted"]
    found: dict[str, object] = json.loads(json.dumps(said))
    return found
