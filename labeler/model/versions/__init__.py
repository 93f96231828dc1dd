"""What a golden set is, as bytes that are the same everywhere, and the hash of them; no SQL.

Two golden sets have the same hash where they give every run the same numbers and the same people
stand behind them, on whatever machine and in whatever order they were loaded.
"""

from labeler.model.versions.canonical import (
    FORMAT,
    GradedBy,
    canonical_conventions,
    canonical_query,
    digest_of_written,
    query_digest,
    whole_hash,
    written,
)
from labeler.model.versions.content import Content, conventions_in, settings_with
from labeler.model.versions.difference import Change, cells_of, difference, in_words

__all__ = [
    "FORMAT",
    "Change",
    "Content",
    "GradedBy",
    "canonical_conventions",
    "canonical_query",
    "cells_of",
    "conventions_in",
    "difference",
    "digest_of_written",
    "in_words",
    "query_digest",
    "settings_with",
    "whole_hash",
    "written",
]
