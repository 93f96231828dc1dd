"""What is asked of a golden set's state: by whom each pair is graded, and what was proposed for it.

Knows no SQL and no judgment of whether that is enough.
"""

from __future__ import annotations

from typing import NamedTuple


class GradedPair(NamedTuple):
    """A golden grade: how many ``people`` graded the pair, whether a lead ``adjudicated`` it.

    Neither where it only came with a file. ``at`` is when the judgment that decides it was given,
    or loaded; UTC, ISO 8601.
    """

    query_id: str
    people: int
    adjudicated: bool
    at: str


class Met(NamedTuple):
    """What a ``source`` proposed for a pair, and what a grader gave it before seeing that."""

    query_id: str
    source: str
    proposed: int
    given: int
