"""Grade retrieved chunks into a golden set, and watch every retrieval measure move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeler.api import (
        GradeCuts,
        Limits,
        compare,
        evaluate,
        find_keywords,
        gate,
        plan,
        record,
        transfer,
        trend,
        trend_of,
    )

__version__ = "0.1.0"
OLD_NAMES = {"carry": "transfer"}
__all__ = [
    "GradeCuts",
    "Limits",
    "__version__",
    "compare",
    "evaluate",
    "find_keywords",
    "gate",
    "plan",
    "record",
    "transfer",
    "trend",
    "trend_of",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that importing labeler is fast."""
    name = OLD_NAMES.get(name, name)
    if name not in __all__:
        raise AttributeError(f"module 'labeler' has no attribute {name!r}")
    from labeler import api

    return getattr(api, name)


def __dir__() -> list[str]:
    """List the public names only, for `dir` and tab completion."""
    return sorted(__all__)
