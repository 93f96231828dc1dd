"""Notes beside the numbers: what was left out of them, or treated in a way that could surprise.

Each note has a kind for programs and a sentence for people, and names its runs or its measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from labeler.evaluation.conventions import Conventions
from labeler.evaluation.cross_chunking import NO_DOCUMENT, CrossChunking, QueryEvidence
from labeler.evaluation.means import NO_RESULT, Counts, Score
from labeler.measures import Bools, Ints, Measure
from labeler.model import Collection, StoredRun, describe_chunking, format_count

NO_RESULT_KIND, NOTHING_RELEVANT = "no result", "nothing relevant"
SEVERAL_CHUNKINGS, OTHER_CHUNKINGS = "several chunkings", "other chunkings"
NOTHING_GRADED, ABSENT = "nothing graded", "absent"
WARNING_KINDS = frozenset({NO_RESULT_KIND, NOTHING_RELEVANT, NOTHING_GRADED, ABSENT, "stale"})
WHY_NOTHING = (
    "no measure of relevance has a value yet: nothing relevant is known for any of these queries"
)


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on numbers: ``kind`` is for programs, ``sentence`` for people.

    It concerns the numbers of ``runs``, or of all if none is named; or only those of one
    ``measure`` or one ``bucket`` (facet and bucket), if given. A warning says that numbers mislead
    or are missing, other notes how they were computed.
    """

    kind: str
    sentence: str
    runs: tuple[str, ...] = ()
    measure: Measure | None = None
    bucket: tuple[str | None, str | None] | None = None
    is_warning: bool = False

    def is_about(self, *runs: str | None) -> bool:
        """Say whether it concerns any of ``runs``."""
        return not self.runs or not set(self.runs).isdisjoint(runs)


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Counts of one run, for the notes beside its values.

    ``tied`` is the number of its queries with equal scores; ``scoreless`` is 1 if a list has no
    scores. ``absent`` of the graded queries have no list in it; ``unanswered`` have none or an
    empty one. Its lists contain ``graded`` judged chunks. If no chunk in them is graded for any
    query, ``foreign_to`` is the number of graded chunks of the golden set, else 0.
    """

    tied: int
    scoreless: int
    absent: int
    unanswered: int
    graded: int
    foreign_to: int


def count_by_run(
    names: Sequence[str],
    tied: Sequence[int],
    scoreless: Sequence[bool],
    listed: Bools,
    answered: Bools,
    hits: Ints,
    judged: Bools,
    foreign_to: Callable[[int], int],
) -> Mapping[str, RunCounts]:
    """Return the counts of each run: ``listed``, ``answered`` and ``hits`` are (queries, runs).

    ``foreign_to`` is called only for runs without graded chunks in their lists.
    """
    graded = hits.sum(axis=0).tolist()
    absent, unanswered = (np.sum(~lists[judged], axis=0) for lists in (listed, answered))
    foreign = [0 if count else foreign_to(run) for run, count in enumerate(graded)]
    columns = (tied, map(int, scoreless), absent.tolist(), unanswered.tolist(), graded, foreign)
    return dict(zip(names, map(RunCounts, *columns), strict=True))


def absent_list_notes(
    names: Sequence[str], listed: Bools, judged: Bools, judged_anywhere: Bools
) -> Iterator[Note]:
    """Yield a note on each run that lacks lists for queries with a grade in any chunking.

    ``listed`` is (queries, runs). There is no note if these queries are the ``judged`` ones, and
    none on a run that has no list for any of them.
    """
    if np.array_equal(judged, judged_anywhere):
        return
    of = int(np.sum(judged_anywhere))
    for name, absent in zip(names, np.sum(~listed[judged_anywhere], axis=0).tolist(), strict=True):
        if 0 < absent < of:
            sentence = (
                f"{name}: no list for {_count_queries(absent)} of {of} with golden grades in any "
                "chunking, where its values of documents and of the evidence are 0"
            )
            yield Note(ABSENT, sentence, runs=(name,), is_warning=True)


def make_notes(
    collection: Collection,
    counts_of: Mapping[str, RunCounts],
    counts: Counts,
    conventions: Conventions,
    scores: Iterable[Score] = (),
) -> tuple[Note, ...]:
    """Return notes run by run, then on the golden set, then on the ``scores`` that are missing."""
    scores = list(scores)
    notes = [
        Note(kind, f"{run.name}: {sentence}", runs=(run.name,), is_warning=kind in WARNING_KINDS)
        for run in collection.runs
        for kind, sentence in _run_notes(run, counts_of[run.name], counts.judged, conventions)
    ]
    silent = {run for note in notes if note.kind == NO_RESULT_KIND for run in note.runs}
    if left_out := len(collection.left_out):
        chosen = replace(conventions.selected, chunkings=None).describe()  # chunkings omit no query
        said = f"{_count_queries(left_out)} of the golden set not in these numbers: {chosen}"
        notes.append(Note("not selected", said))
    notes += [Note(kind, sentence) for kind, sentence in _chunking_notes(collection)]
    among = " in each of these chunkings" if collection.has_several_chunkings else ""
    notes += [
        Note(kind, sentence, is_warning=kind in WARNING_KINDS)
        for kind, sentence in _golden_set_notes(counts, among)
    ]
    if nothing_is_relevant(scores):
        notes.append(Note(NOTHING_RELEVANT, WHY_NOTHING, is_warning=True))
    for score in scores:
        if score.reason == NO_RESULT and score.run not in silent:
            heading = conventions.heading(score.measure)
            sentence = f"{score.run}: no result for any query that counts in {heading}, so no value"
            found = Note(NO_RESULT_KIND, sentence, (score.run,), score.measure, is_warning=True)
            notes.append(found)
    return tuple(notes)


def nothing_is_relevant(scores: Iterable[Score]) -> bool:
    """Say whether no measure of relevance has a value, as no query has a relevant chunk."""
    able = [score for score in scores if not score.measure.definition.always_defined]
    return any(score.undefined for score in able) and not any(score.n for score in able)


def _chunking_notes(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield a note if the runs are of several chunkings, and one on runs of others left out."""
    if collection.has_several_chunkings:
        names = sorted({run.chunking for run in collection.runs})
        yield (
            SEVERAL_CHUNKINGS,
            f"runs are of {' and '.join(map(describe_chunking, names))}: what compares is which "
            "evidence and which documents they find; measures of chunks rest on the grades of each "
            "one's own, over the queries that count in all of these",
        )
    if others := collection.runs_left_out:
        of = dict.fromkeys(describe_chunking(run.chunking) for run in others)
        runs = format_count(len(others), "run", "runs")
        yield OTHER_CHUNKINGS, f"{runs} of {' and '.join(of)} not in these numbers"


def _golden_set_notes(counts: Counts, among: str) -> Iterator[tuple[str, str]]:
    if counts.unjudged:
        of = " of measures of chunks" if among else ""
        said = f"{_count_queries(counts.unjudged)} without any golden grade{among}: left out{of}"
        yield "ungraded", said
    if counts.transferred:
        of = format_count(counts.grades, "golden grade", "golden grades")
        yield (
            "transferred",
            f"{counts.transferred:,} of {of} transferred from other chunks: they "
            "follow from grades "
            "of these, and nobody gave them",
        )
    if counts.stale:
        grades = "grade is" if counts.stale == 1 else "grades are"
        yield "stale", f"{counts.stale} golden {grades} of an earlier wording of the chunk"


def _run_notes(
    run: StoredRun, own: RunCounts, judged: int, conventions: Conventions
) -> Iterator[tuple[str, str]]:
    if run.unknown_queries:
        yield (
            "unknown queries",
            f"{_count_queries(run.unknown_queries)} not in the golden set, left out",
        )
    if own.tied:
        order = "by chunk id, descending" if conventions.like_trec_eval else "in file order"
        yield "ties", f"{_count_queries(own.tied)} with tied scores, ties {order}"
    if conventions.like_trec_eval and own.scoreless:
        yield "no scores", "no scores, so a chunk's score is taken to be -rank"
    if judged:
        yield from _judged_notes(own, judged)


def _judged_notes(own: RunCounts, judged: int) -> Iterator[tuple[str, str]]:
    """Yield notes on how a run covers the graded queries, of which there is at least one."""
    if own.unanswered == judged:
        yield NO_RESULT_KIND, "no result for any query with golden grades, so no value"
        return
    if own.absent:
        yield (
            ABSENT,
            f"no list for {_count_queries(own.absent)} of {judged} with golden grades, where its "
            "values are 0",
        )
    if number := own.foreign_to:
        others = "one other is" if number == 1 else f"{number:,} others are"
        yield (
            NOTHING_GRADED,
            f"none of its chunks is graded, while {others}, hence the zeros: was it made on "
            "another chunking, or with other chunk ids?",
        )
    elif not own.graded:
        yield (
            NOTHING_GRADED,
            "no chunk in its lists is graded for the query it was found for, hence the zeros",
        )


def _count_queries(count: int) -> str:
    return format_count(count, "query", "queries")


EVIDENCE_RULE = (
    "evidence is the union of the passages marked in what is relevant, in whatever chunking; it "
    "counts once and what is retrieved as often as it is retrieved, without white space; a prompt "
    "of characters cuts its last chunk"
)
DOCUMENT_RULE = (
    "a document has the grade of its best chunk, in whatever chunking, and stands where its first "
    "chunk does"
)


def cross_chunking_notes(
    chunkings: CrossChunking, known: Sequence[QueryEvidence], measures: Iterable[Measure]
) -> Iterator[Note]:
    """Yield notes on how evidence and documents are counted, if measures read them."""
    reads = {measure.reads for measure in measures}
    if "evidence" in reads:
        yield Note("evidence", EVIDENCE_RULE)
        yield from _evidence_notes(chunkings, known)
        for run, chunks in chunkings.chunks.items():
            yield from _location_notes(chunkings, run, chunks)
    if "documents" in reads:
        yield Note("documents", DOCUMENT_RULE)
        for run, chunks in chunkings.chunks.items():
            document = chunkings.positions.document[chunkings.positions.indices(chunks)]
            unknown = np.sum(document == NO_DOCUMENT)
            if unknown:
                said = format_count(int(unknown), "chunk", "chunks")
                sentence = f"{run}: {said} whose document nobody knows, which count as of none"
                yield Note("no document", sentence, (run,), is_warning=True)


def _evidence_notes(chunkings: CrossChunking, known: Sequence[QueryEvidence]) -> Iterator[Note]:
    graded = sum(len(each.grades.chunks) > 0 for each in known)
    bare = sum(len(each.grades.chunks) > 0 and not chunkings.evidence(each, 1) for each in known)
    if bare:
        of = f"{bare:,} of {format_count(graded, 'graded query', 'graded queries')}"
        yield Note("no evidence", f"{of} without a passage marked in what is relevant: undefined")
    if lost := chunkings.count_lost(known):
        said = format_count(lost, "chunk has a passage", "chunks have passages")
        sentence = f"{said} marked that no document holds: no evidence"
        yield Note("lost evidence", sentence, is_warning=True)


def _location_notes(chunkings: CrossChunking, run: str, chunks: Ints) -> Iterator[Note]:
    at = chunkings.positions.indices(chunks)
    if unplaced := int(np.sum(chunkings.positions.unplaced[at])):
        said = format_count(unplaced, "chunk whose place", "chunks whose places")
        sentence = f"{run}: {said} in the documents nobody knows: retrieved, but finding nothing"
        yield Note("unplaced", sentence, (run,), is_warning=True)
    if doubtful := int(np.sum(chunkings.positions.doubtful[at])):
        said = format_count(doubtful, "chunk fits", "chunks fit")
        yield Note("several places", f"{run}: {said} several places, the first counts", (run,))
