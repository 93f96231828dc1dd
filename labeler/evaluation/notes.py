"""What was left out of the numbers, or treated in a way that could surprise, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from labeler.evaluation.conventions import Conventions
from labeler.evaluation.means import Counts
from labeler.model import StoredRun


def notes_on(
    runs: Iterable[StoredRun],
    tied: Mapping[str, int],
    absent: Mapping[str, int],
    unanswered: Mapping[str, int],
    counts: Counts,
    conventions: Conventions,
) -> tuple[str, ...]:
    """Say it run by run, then for the golden set.

    ``tied`` counts a run's queries with tied scores, ``absent`` the judged ones it has no list for,
    ``unanswered`` those and the ones whose list is empty.
    """
    notes: list[str] = []
    for run in runs:
        notes += _note_run(run, tied[run.name], conventions)
        if counts.judged and unanswered[run.name] == counts.judged:
            notes.append(f"{run.name}: no result for any query with golden grades, so no value")
        elif absent[run.name]:
            notes.append(f"{run.name}: {_absent(absent[run.name], counts.judged)}")
    if counts.unjudged:
        notes.append(f"{_queries(counts.unjudged)} without any golden grade: left out")
    if counts.stale:
        grades = "grade is" if counts.stale == 1 else "grades are"
        notes.append(f"{counts.stale} golden {grades} of an earlier wording of the chunk")
    return tuple(notes)


def _absent(count: int, judged: int) -> str:
    return f"no list for {_queries(count)} of {judged} with golden grades, where its values are 0"


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"


def _note_run(run: StoredRun, tied: int, conventions: Conventions) -> Iterator[str]:
    if run.unknown_queries:
        yield f"{run.name}: {_queries(run.unknown_queries)} not in the golden set, left out"
    if tied:
        order = "by chunk id, descending" if conventions.like_trec_eval else "in file order"
        yield f"{run.name}: {_queries(tied)} with tied scores, ties {order}"
    if conventions.like_trec_eval and any(ranked.scores is None for ranked in run.lists.values()):
        yield f"{run.name}: no scores, so a chunk's score is taken to be -rank"
