"""A gate before a release: thresholds, allowed drops, and whether a run keeps to them.

Knows boards, runs and buckets; not where they are stored, which exit code a build gets, nor who
looks.
"""

from labeler.analysis.gate.checks import (
    checks_of,
    other_conventions,
    rules_for,
    thresholds_for,
    with_runs,
)
from labeler.analysis.gate.files import SERVED, bytes_of, gate_at, served_gate, served_passing
from labeler.analysis.gate.history import History
from labeler.analysis.gate.judging import judge, judge_each
from labeler.analysis.gate.passing import PassedRun, Passing, read_passing
from labeler.analysis.gate.reading import nearest, read_gate
from labeler.analysis.gate.records import (
    BASELINE,
    BEST,
    FAILED,
    LAST,
    PASSED,
    UNJUDGED,
    Check,
    Finding,
    Gate,
    Outcome,
    Rule,
    Terms,
    Threshold,
)
from labeler.analysis.gate.words import KINDS, apart

__all__ = [
    "BASELINE",
    "BEST",
    "FAILED",
    "KINDS",
    "LAST",
    "PASSED",
    "SERVED",
    "UNJUDGED",
    "Check",
    "Finding",
    "Gate",
    "History",
    "Outcome",
    "PassedRun",
    "Passing",
    "Rule",
    "Terms",
    "Threshold",
    "apart",
    "bytes_of",
    "checks_of",
    "gate_at",
    "judge",
    "judge_each",
    "nearest",
    "other_conventions",
    "read_gate",
    "read_passing",
    "rules_for",
    "served_gate",
    "served_passing",
    "thresholds_for",
    "with_runs",
]
