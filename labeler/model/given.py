"""What people say a chunk is worth, one by one: what agreement is measured from."""

from __future__ import annotations

from typing import NamedTuple


class GivenGrade(NamedTuple):
    """A grade that stands: a person's own of a query's chunk, or an adjudication that overrules.

    ``wording`` tells which text of the chunk was graded, None where it has none. ``blind`` is
    whether they knew neither the systems nor what others gave. ``at`` is UTC, ISO 8601.
    """

    query_id: str
    chunk_id: str
    wording: str | None
    grader: str
    grade: int
    blind: bool
    at: str
    overrules: bool = False
