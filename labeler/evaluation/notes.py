"""What was left out of the numbers, or treated in a way that could surprise, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from labeler.evaluation.conventions import Conventions
from labeler.evaluation.means import NO_RESULT, Counts, Score
from labeler.measures import Bools, Ints, Measure
from labeler.model import Collection, StoredRun, chunking_in_words, counted

SILENT, NOTHING_RELEVANT = "no result", "nothing relevant"
SEVERAL_CHUNKINGS, OTHER_CHUNKINGS = "several chunkings", "other chunkings"
WHY_NOTHING = (
    "no measure of relevance has a value yet: nothing relevant is known for any of these queries"
)


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about numbers: ``kind`` is for programs, ``sentence`` for people.

    It concerns the numbers of ``runs``, or of all where none is named; of one ``measure`` alone, of
    one ``bucket`` (facet and bucket) or of one ``pair`` of runs compared, where they are given.
    """

    kind: str
    sentence: str
    runs: tuple[str, ...] = ()
    measure: Measure | None = None
    bucket: tuple[str | None, str | None] | None = None
    pair: tuple[str, str] | None = None

    def is_about(self, *runs: str | None) -> bool:
        """Say whether it concerns any of ``runs``."""
        return not self.runs or not set(self.runs).isdisjoint(runs)


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What to know of one run beside its values.

    Of its queries ``tied`` have equal scores, and ``scoreless`` is 1 where one has none. Of those
    that somebody graded it has no list for ``absent`` and no result for ``unanswered``; in the
    others' lists stand ``graded`` chunks that have a golden grade. Where not one chunk in its lists
    is graded for any query, ``foreign_to`` is how many others are, else 0.
    """

    tied: int
    scoreless: int
    absent: int
    unanswered: int
    graded: int
    foreign_to: int


def run_counts(
    names: Sequence[str],
    tied: Sequence[int],
    scoreless: Sequence[bool],
    listed: Bools,
    answered: Bools,
    hits: Ints,
    judged: Bools,
    foreign_to: Callable[[int], int],
) -> Mapping[str, RunCounts]:
    """Count it for each run: ``listed``, ``answered`` and its ``hits`` are (queries, runs).

    ``foreign_to`` is asked only of runs in whose lists nothing is graded.
    """
    graded = hits.sum(axis=0).tolist()
    absent, unanswered = (np.sum(~there[judged], axis=0) for there in (listed, answered))
    foreign = [0 if count else foreign_to(run) for run, count in enumerate(graded)]
    columns = (tied, map(int, scoreless), absent.tolist(), unanswered.tolist(), graded, foreign)
    return dict(zip(names, map(RunCounts, *columns), strict=True))


def absent_anywhere(
    names: Sequence[str], listed: Bools, judged: Bools, anywhere: Bools
) -> Iterator[Note]:
    """Say which runs have no list for queries that count by a grade of any chunking.

    ``listed`` is (queries, runs). Nothing is said where those that are ``judged`` tell the same, or
    of a run that has no list for any of them.
    """
    if np.array_equal(judged, anywhere):
        return
    of = int(np.sum(anywhere))
    for name, absent in zip(names, np.sum(~listed[anywhere], axis=0).tolist(), strict=True):
        if 0 < absent < of:
            sentence = (
                f"{name}: no list for {_queries(absent)} of {of} with golden grades in any "
                "chunking, where its values of documents and of the evidence are 0"
            )
            yield Note("absent", sentence, runs=(name,))


def notes_on(
    collection: Collection,
    counts_of: Mapping[str, RunCounts],
    counts: Counts,
    conventions: Conventions,
    scores: Iterable[Score] = (),
) -> tuple[Note, ...]:
    """Say it run by run, then for the golden set, then for the ``scores`` that a run has not."""
    scores = list(scores)
    notes = [
        Note(kind, f"{run.name}: {sentence}", runs=(run.name,))
        for run in collection.runs
        for kind, sentence in _of_run(run, counts_of[run.name], counts.judged, conventions)
    ]
    silent = {run for note in notes if note.kind == SILENT for run in note.runs}
    if left_out := len(collection.left_out):
        chosen = replace(conventions.selected, chunkings=None).describe()  # which leave none out
        said = f"{_queries(left_out)} of the golden set not in these numbers: {chosen}"
        notes.append(Note("not selected", said))
    notes += [Note(kind, sentence) for kind, sentence in _of_chunkings(collection)]
    among = " in each of these chunkings" if collection.is_of_several else ""
    notes += [Note(kind, sentence) for kind, sentence in _of_golden_set(counts, among)]
    if lack_relevance(scores):
        notes.append(Note(NOTHING_RELEVANT, WHY_NOTHING))
    for score in scores:
        if score.reason == NO_RESULT and score.run not in silent:
            heading = conventions.heading(score.measure)
            sentence = f"{score.run}: no result for any query that counts in {heading}, so no value"
            notes.append(Note(SILENT, sentence, runs=(score.run,), measure=score.measure))
    return tuple(notes)


def lack_relevance(scores: Iterable[Score]) -> bool:
    """Say whether no measure of relevance has a value, as no query has a relevant chunk."""
    able = [score for score in scores if not score.measure.definition.always_defined]
    return any(score.undefined for score in able) and not any(score.n for score in able)


def _of_chunkings(collection: Collection) -> Iterator[tuple[str, str]]:
    """Say which chunkings runs are of, where they are of several or others are left out."""
    if collection.is_of_several:
        names = sorted({run.chunking for run in collection.runs})
        yield (
            SEVERAL_CHUNKINGS,
            f"runs are of {' and '.join(map(chunking_in_words, names))}: what compares is which "
            "evidence and which documents they find; measures of chunks rest on the grades of each "
            "one's own, over the queries that count in all of these",
        )
    if others := collection.runs_left_out:
        of = dict.fromkeys(chunking_in_words(run.chunking) for run in others)
        runs = counted(len(others), "run", "runs")
        yield OTHER_CHUNKINGS, f"{runs} of {' and '.join(of)} not in these numbers"


def _of_golden_set(counts: Counts, among: str) -> Iterator[tuple[str, str]]:
    if counts.unjudged:
        of = " of measures of chunks" if among else ""
        said = f"{_queries(counts.unjudged)} without any golden grade{among}: left out{of}"
        yield "ungraded", said
    if counts.carried:
        of = counted(counts.grades, "golden grade", "golden grades")
        yield (
            "carried over",
            f"{counts.carried:,} of {of} carried over from other chunks: they follow from grades "
            "of these, and nobody gave them",
        )
    if counts.stale:
        grades = "grade is" if counts.stale == 1 else "grades are"
        yield "stale", f"{counts.stale} golden {grades} of an earlier wording of the chunk"


def _of_run(
    run: StoredRun, own: RunCounts, judged: int, conventions: Conventions
) -> Iterator[tuple[str, str]]:
    if run.unknown_queries:
        yield "unknown queries", f"{_queries(run.unknown_queries)} not in the golden set, left out"
    if own.tied:
        order = "by chunk id, descending" if conventions.like_trec_eval else "in file order"
        yield "ties", f"{_queries(own.tied)} with tied scores, ties {order}"
    if conventions.like_trec_eval and own.scoreless:
        yield "no scores", "no scores, so a chunk's score is taken to be -rank"
    if judged:
        yield from _of_judged(own, judged)


def _of_judged(own: RunCounts, judged: int) -> Iterator[tuple[str, str]]:
    """Say how a run meets the queries that somebody graded, of which there are some."""
    if own.unanswered == judged:
        yield SILENT, "no result for any query with golden grades, so no value"
        return
    if own.absent:
        yield (
            "absent",
            f"no list for {_queries(own.absent)} of {judged} with golden grades, where its values "
            "are 0",
        )
    if number := own.foreign_to:
        others = "one other is" if number == 1 else f"{number:,} others are"
        yield (
            "nothing graded",
            f"none of its chunks is graded, while {others}, hence the zeros: was it made on "
            "another chunking, or with other chunk ids?",
        )
    elif not own.graded:
        yield (
            "nothing graded",
            "no chunk in its lists is graded for the query it was found for, hence the zeros",
        )


def _queries(count: int) -> str:
    return counted(count, "query", "queries")
