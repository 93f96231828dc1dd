"""Thresholds of a gate file on Scores: limits, and the means that miss them."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from labeler.analysis.gate import (
    BASELINE,
    FAILED,
    PASSED,
    REFERENCE_LABELS,
    Check,
    Gate,
    LimitResult,
    PassedRuns,
    ReferenceRuns,
    format_apart,
    judge_runs,
    rules_for,
    served_gate,
    served_passed_runs,
    thresholds_for,
    why_other_conventions,
)
from labeler.analysis.trend import NO_THRESHOLDS, Thresholds, TrendSeries, thresholds_by_series
from labeler.evaluation import Conventions, Score, Scoreboard, format_number
from labeler.measures import Measure
from labeler.render import tables
from labeler.ui import scoreboards
from labeler.ui import shared as ui
from labeler.ui.scores.choices import ScoresChoice

MOST_BROKEN_OPEN = 5


@dataclass(frozen=True)
class ThresholdMarks:
    """The thresholds at the columns and cells of a table, and in sentences under it.

    ``aside`` says why there are none although the server has a gate file, or which other golden set
    they belong to.
    """

    limits: tables.Limits = field(default_factory=dict)
    marks: tables.Marks = field(default_factory=dict)
    sentences: Sequence[str] = ()
    aside: str = ""


NO_MARKS = ThresholdMarks()


def threshold_marks(
    choice: ScoresChoice, board: Scoreboard, scores: Iterable[Score]
) -> ThresholdMarks:
    """Return the thresholds of these means in the server's gate file, and the means below them."""
    gate, wrong = served_gate(os.environ)
    if gate is None:
        return ThresholdMarks(aside=f"No thresholds: {wrong}") if wrong else NO_MARKS
    if other := why_other_conventions(gate, choice.conventions):
        return ThresholdMarks(aside=other)
    shown = [score for score in scores if choice.shows(score.run)]
    places = dict.fromkeys((score.measure, score.facet, score.bucket) for score in shown)
    checks = [check for place in places for check in checks_at(gate, board, *place)]
    if not checks:
        return NO_MARKS
    history, missing = history_of(gate, board, checks)
    runs = tuple(dict.fromkeys(score.run for score in shown))
    asked = (
        *scoreboards.cache_key(board),
        repr(checks),
        runs,
        history.baseline,
        _passing_key(history.passing),
    )
    found = _judged(asked, checks, runs, history)
    aside = [_note_other_golden(gate, board.conventions), *missing]
    has_other = history.baseline is not None or history.passing is not None
    bars = _marks_from(gate, board.conventions, checks, found, has_other=has_other)
    return replace(bars, aside="\n".join(filter(None, aside)))


def history_of(
    gate: Gate, board: Scoreboard, checks: Sequence[Check]
) -> tuple[ReferenceRuns, Sequence[str]]:
    """Return the history that `labeler gate` compares a run with, and which part is missing.

    Nothing is missing if the gate has no limit on drops.
    """
    held = gate.baseline if gate.baseline in board.run_names else None
    if all(check.drop is None for check in checks):
        return ReferenceRuns(board, {}, held), []
    passing, why = served_passed_runs(os.environ, gate)
    with ui.open_store() as store:
        fingerprints = store.runs.fingerprints()
    missing = [why]
    if gate.baseline is not None and held is None:
        missing.append(
            f"{gate.name}: no run is called {gate.baseline!r}, its baseline, so no drop is shown"
        )
    return ReferenceRuns(board, fingerprints, held, passing), missing


def _passing_key(passing: PassedRuns | None) -> Hashable:
    """Return a cache key of the runs that passed, and when."""
    if passing is None:
        return None
    runs = sorted((run.fingerprint, run.passed_at, run.golden) for run in passing.runs.values())
    return passing.last, tuple(sorted(passing.best.items(), key=repr)), tuple(runs)


def thresholds_over_time(
    choice: ScoresChoice, board: Scoreboard, every: Iterable[TrendSeries]
) -> Thresholds:
    """Return the least values in the server's gate file by series, none for other conventions."""
    gate, _ = served_gate(os.environ)
    if gate is None or why_other_conventions(gate, choice.conventions):
        return NO_THRESHOLDS
    return thresholds_by_series(
        every, lambda *place: [each.at_least for each in thresholds_for(gate, board, *place)]
    )


def checks_at(
    gate: Gate, board: Scoreboard, measure: Measure, facet: str | None, bucket: str | None
) -> list[Check]:
    """Return the checks of a gate in one place."""
    return [
        Check(measure, facet, bucket, rule.at_least, rule.drop, rule.terms)
        for rule in rules_for(gate, board, measure, facet, bucket)
    ]


@st.cache_data(max_entries=16, show_spinner=False)
def _judged(
    at: tuple[Hashable, ...],
    _checks: Sequence[Check],
    _runs: Sequence[str],
    _history: ReferenceRuns,
) -> dict[str, tuple[LimitResult, ...]]:
    history = _history
    return judge_runs(history.board, _runs, _checks, history.others)


def _marks_from(
    gate: Gate,
    conventions: Conventions,
    checks: Sequence[Check],
    found: Mapping[str, Sequence[LimitResult]],
    *,
    has_other: bool,
) -> ThresholdMarks:
    limits = {
        (check.measure, check.bucket): _describe_limit(check, has_other=has_other)
        for check in checks
    }
    findings = [(run, each) for run, row in found.items() for each in row]
    marks: dict[tuple[str, Measure, str | None], str] = {}
    for run, each in findings:
        if each.verdict != PASSED:
            place = (run, each.check.measure, each.check.bucket)
            marks[place] = "; ".join(filter(None, [marks.get(place), _describe_fault(gate, each)]))
    broken = [(run, each) for run, each in findings if each.verdict == FAILED]
    sentences = [_describe_broken(gate, conventions, *each) for each in broken]
    return ThresholdMarks({at: asked for at, asked in limits.items() if asked}, marks, sentences)


def _note_other_golden(gate: Gate, chosen: Conventions) -> str:
    """Say that a gate uses another golden set than these numbers, if it does."""
    own = (chosen.golden or "", chosen.frozen or "")
    if gate.golden is None or own[0].startswith(gate.golden.lower()) or gate.golden == own[1]:
        return ""
    return f"{gate.name} is for golden set {gate.golden!r}; these numbers are from another one"


def _describe_limit(check: Check, *, has_other: bool) -> str:
    """Return the limits of a mean in words, one per line."""
    confidence, looks = check.terms.confidence, " at every look" if check.terms.anytime else ""
    asked = [] if check.at_least is None else [f"≥ {check.at_least:.10g}"]
    if check.drop is not None and has_other:
        asked.append(f"drop ≤ {check.drop:.10g}")
    sure = "" if confidence is None else f", {100 * confidence:g}% sure{looks}"
    return "\n".join(f"{each}{sure}" for each in asked)


def _describe_fault(gate: Gate, finding: LimitResult) -> str:
    """Say in a few words which limit a mean misses, and of which gate."""
    if finding.verdict != FAILED:
        return f"not judged: {finding.sentence} ({gate.name})"
    lost, limit = format_apart(max(0.0, -finding.delta), finding.limit)
    sure = 100 * (finding.check.terms.confidence or 0)
    if finding.against is not None:
        other = finding.other or ""
        if finding.against != BASELINE:
            other = f"the {REFERENCE_LABELS[finding.against]} {other}"
        if finding.delta >= 0:
            rose = f"{finding.delta:.4f} above {other}"
            return f"{rose}, but not surely within the drop of {limit} allowed ({gate.name})"
        fell = f"{lost} below {other}"
        if -finding.delta > finding.limit:
            return f"{fell}, {limit} allowed ({gate.name})"
        return f"{fell}, not surely within the {limit} allowed, {sure:g}% confidence ({gate.name})"
    if finding.value < finding.limit:
        return f"below {limit} ({gate.name})"
    return f"not above {limit} with {sure:g}% confidence ({gate.name})"


def _describe_broken(gate: Gate, conventions: Conventions, run: str, finding: LimitResult) -> str:
    check = finding.check
    place = "" if check.bucket is None else f"{check.where}, "
    heading, value = conventions.heading(check.measure), format_number(finding.value)
    return f"{place}{run}: {heading} {value} is {_describe_fault(gate, finding)}"


def show_broken(bars: ThresholdMarks) -> None:
    """Show the means that are too low by the gate file, or say why there are no thresholds."""
    if bars.aside:
        st.text(bars.aside)
    said = "\n".join(f"{tables.BELOW_SIGN} {sentence}" for sentence in bars.sentences)
    if len(bars.sentences) > MOST_BROKEN_OPEN:
        heading = f"{tables.BELOW_SIGN} {len(bars.sentences)} limits are broken"
        with st.expander(heading, key="below"):
            st.text(said)
    elif said:
        st.text(said)
