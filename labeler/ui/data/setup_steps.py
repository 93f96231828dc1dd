"""Next steps for a golden set: what it lacks before people can grade and runs can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SetupTask = Literal["load", "invite", "grade", "score"]


@dataclass(frozen=True, slots=True)
class SetupCounts:
    """The stored data in numbers; ``readable`` counts chunks whose text is known.

    ``matching`` counts the runs that have a list for any query, ``invited`` the graders who are not
    leads.
    """

    queries: int = 0
    readable: int = 0
    runs: int = 0
    matching: int = 0
    grades: int = 0
    invited: int = 0


@dataclass(frozen=True, slots=True)
class SetupStep:
    """One thing to do next, and its purpose in a sentence."""

    task: SetupTask
    sentence: str


ALL = SetupStep(
    "load",
    "Load what your system retrieved. One file of questions with their results is enough.",
)
QUERIES = SetupStep("load", "Load queries: the questions people ask.")
RUN = SetupStep("load", "Load a run: which chunks a system returned for each query.")
MATCHING = SetupStep(
    "load",
    "No run shares a query with the golden set. Load the queries of the runs, or check that the "
    "ids are the same.",
)
CHUNKS = SetupStep("load", "Load chunks: nobody can grade a chunk without its text.")
INVITE = SetupStep("invite", "Invite graders: each gets a personal link.")
GRADE = SetupStep("grade", "Grade the first chunks yourself.")
GRADE_ON = SetupStep("grade", "Grade more: unjudged chunks count as not relevant.")
SCORE = SetupStep("score", "See the scores of every run.")


def next_steps(there: SetupCounts) -> list[SetupStep]:
    """Return what to do next, the most urgent first; there is always something.

    >>> [step.task for step in next_steps(SetupCounts(queries=9, readable=90, runs=1, matching=1))]
    ['invite', 'grade']
    """
    return [*_missing_steps(there), *_possible_steps(there)]


def _missing_steps(there: SetupCounts) -> Iterator[SetupStep]:
    if not (there.queries or there.readable or there.runs):
        yield ALL
        return
    if not there.queries:
        yield QUERIES
    elif there.runs and not there.matching:
        yield MATCHING
    if not there.readable:
        yield CHUNKS
    if not there.runs:
        yield RUN


def _possible_steps(there: SetupCounts) -> Iterator[SetupStep]:
    if there.matching and there.grades:
        yield SCORE
    if there.matching and there.readable:
        if not there.invited:
            yield INVITE
        yield GRADE_ON if there.grades else GRADE
