"""What a golden set is, as bytes that are the same everywhere, and the hash of them; no SQL.

Two golden sets have the same hash where they give every run the same numbers and the same people
stand behind them, on whatever machine and in whatever order they were loaded.
"""

from labeler.versions.canonical import (
    FORMAT,
    GradedBy,
    canonical_conventions,
    canonical_query,
    query_digest,
    whole_hash,
)
from labeler.versions.content import Content, conventions_in, settings_with

__all__ = [
    "FORMAT",
    "Content",
    "GradedBy",
    "canonical_conventions",
    "canonical_query",
    "conventions_in",
    "query_digest",
    "settings_with",
    "whole_hash",
]
