"""What a golden set still lacks before people can grade and systems be compared; loads nothing.

It knows counts and says what comes next, not where that is done or who asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Task = Literal["load", "invite", "grade", "score"]


@dataclass(frozen=True, slots=True)
class There:
    """What is there: how many of each, and of how many chunks the text is known.

    ``matching`` counts the runs that have a list for any of the queries, ``invited`` those who
    come in to grade and are no lead.
    """

    queries: int = 0
    readable: int = 0
    runs: int = 0
    matching: int = 0
    grades: int = 0
    invited: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do next, and what it is good for, in a sentence."""

    task: Task
    sentence: str


QUERIES = Step("load", "Load queries: what people ask.")
RUN = Step("load", "Load a run: which chunks a system returned for each query.")
MATCHING = Step(
    "load",
    "No run shares a query with the golden set: load the queries the runs were made for, or check "
    "that the ids are the same.",
)
CHUNKS = Step("load", "Load chunks: nobody can grade a chunk whose text is not known.")
INVITE = Step("invite", "Invite graders: each gets a link of their own.")
GRADE = Step("grade", "Grade the first chunks yourself.")
GRADE_ON = Step("grade", "Grade more: what is not graded is a hole in the measures.")
SCORE = Step("score", "Look at Scores: every run by every measure.")


def next_steps(there: There) -> list[Step]:
    """Return what to do next, the most urgent first; there is always something.

    >>> [step.task for step in next_steps(There(queries=9, readable=90, runs=1, matching=1))]
    ['invite', 'grade']
    """
    return [*_lacking(there), *_possible(there)]


def _lacking(there: There) -> Iterator[Step]:
    if not there.queries:
        yield QUERIES
    elif there.runs and not there.matching:
        yield MATCHING
    if not there.readable:
        yield CHUNKS
    if not there.runs:
        yield RUN


def _possible(there: There) -> Iterator[Step]:
    if there.matching and there.grades:
        yield SCORE
    if there.matching and there.readable:
        if not there.invited:
            yield INVITE
        yield GRADE_ON if there.grades else GRADE
