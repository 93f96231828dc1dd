"""Grade retrieved chunks into a golden set, and watch every retrieval measure move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeler.api import Limits, carry, compare, evaluate, find_keywords, plan, trend_of

__version__ = "0.1.0"
PUBLIC = ("Limits", "carry", "compare", "evaluate", "find_keywords", "plan", "trend_of")
__all__ = [
    "Limits",
    "__version__",
    "carry",
    "compare",
    "evaluate",
    "find_keywords",
    "plan",
    "trend_of",
]


def __getattr__(name: str) -> Any:
    """Fetch a public name when it is first asked for, so that importing labeler costs nothing."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'labeler' has no attribute {name!r}")
    from labeler import api

    return getattr(api, name)
