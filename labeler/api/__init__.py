"""Python functions for notebooks and scripts: from dicts, frames and files to frames."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeler.api.evaluation import compare, evaluate, trend_of
    from labeler.api.evaluation import trend_of as trend
    from labeler.api.gate_verdict import gate
    from labeler.api.grade_transfer import transfer
    from labeler.api.keywords import find_keywords
    from labeler.api.partwise import EvaluationPlan, plan
    from labeler.api.recorder import record
    from labeler.formats import GradeCuts, Limits

_MODULES = {
    "EvaluationPlan": "labeler.api.partwise",
    "GradeCuts": "labeler.formats",
    "Limits": "labeler.formats",
    "compare": "labeler.api.evaluation",
    "evaluate": "labeler.api.evaluation",
    "find_keywords": "labeler.api.keywords",
    "gate": "labeler.api.gate_verdict",
    "plan": "labeler.api.partwise",
    "record": "labeler.api.recorder",
    "transfer": "labeler.api.grade_transfer",
    "trend_of": "labeler.api.evaluation",
}
_ALIASES = {"trend": "trend_of"}


def __getattr__(name: str) -> Any:
    """Import a function on first use: `labeler.api.inputs` alone needs no pandas."""
    name = _ALIASES.get(name, name)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
