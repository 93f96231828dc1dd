"""Release gate: minimum values and largest drops from a TOML file, and whether a run meets them."""

from labeler.analysis.gate.gate_file import (
    GATE_VARIABLE,
    read_gate_file,
    read_limited_bytes,
    resolve_checks,
    rules_for,
    served_gate,
    served_passed_runs,
    suggest_nearest,
    thresholds_for,
    why_other_conventions,
    with_runs,
)
from labeler.analysis.gate.passed_runs import PassedRuns, ReferenceRuns, read_passed_runs
from labeler.analysis.gate.rules import (
    BASELINE,
    FAILED,
    PASSED,
    UNJUDGED,
    Check,
    Gate,
    GateOutcome,
    LimitResult,
)
from labeler.analysis.gate.verdicts import REFERENCE_LABELS, format_apart, judge_run, judge_runs
