"""How much a golden set holds, in a line."""

from __future__ import annotations

from labeler.model import counted
from labeler.store import Contents


def counts_line(contents: Contents) -> str:
    """Say in one line how much there is."""
    parts = [
        counted(contents.queries, "query", "queries"),
        counted(contents.chunks, "chunk", "chunks"),
        counted(contents.runs, "run", "runs"),
        counted(contents.golden, "golden grade", "golden grades"),
        counted(contents.graders, "grader", "graders"),
    ]
    if contents.stale:
        stale = counted(contents.stale, "grade", "grades")
        parts.append(f"{stale} of an earlier text")
    return " · ".join(parts)
