"""What to know of measures that compare between chunkings, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from labeler.evaluation.across import Across, Known
from labeler.evaluation.laid import NOWHERE
from labeler.evaluation.notes import Note
from labeler.measures import Ints, Measure
from labeler.model import counted

COUNTED = (
    "evidence is the union of the passages marked in what is relevant, in whatever chunking; it "
    "counts once and what is retrieved as often as it is retrieved, without white space; a prompt "
    "of characters cuts its last chunk"
)
RANKED = (
    "a document has the grade of its best chunk, in whatever chunking, and stands where its first "
    "chunk does"
)


def crossing_notes(
    across: Across, known: Sequence[Known], measures: Iterable[Measure]
) -> Iterator[Note]:
    """Say how evidence and documents are counted, where measures of them are asked for."""
    reads = {measure.reads for measure in measures}
    if "evidence" in reads:
        yield Note("evidence", COUNTED)
        yield from _of_marks(across, known)
        for run, chunks in across.chunks.items():
            yield from _of_places(across, run, chunks)
    if "documents" in reads:
        yield Note("documents", RANKED)
        for run, chunks in across.chunks.items():
            unknown = np.sum(across.laid.document[across.laid.at(chunks)] == NOWHERE)
            if unknown:
                said = counted(int(unknown), "chunk", "chunks")
                sentence = f"{run}: {said} whose document nobody knows, which count as of none"
                yield Note("no document", sentence, (run,))


def _of_marks(across: Across, known: Sequence[Known]) -> Iterator[Note]:
    graded = sum(len(each.grades.chunks) > 0 for each in known)
    bare = sum(len(each.grades.chunks) > 0 and not across.evidence(each, 1) for each in known)
    if bare:
        of = f"{bare:,} of {counted(graded, 'graded query', 'graded queries')}"
        yield Note("no evidence", f"{of} without a passage marked in what is relevant: undefined")
    if lost := across.lost(known):
        said = counted(lost, "chunk has a passage", "chunks have passages")
        yield Note("lost evidence", f"{said} marked that no document holds: no evidence")


def _of_places(across: Across, run: str, chunks: Ints) -> Iterator[Note]:
    at = across.laid.at(chunks)
    if unplaced := int(np.sum(across.laid.unplaced[at])):
        said = counted(unplaced, "chunk whose place", "chunks whose places")
        sentence = f"{run}: {said} in the documents nobody knows: retrieved, but finding nothing"
        yield Note("unplaced", sentence, (run,))
    if doubtful := int(np.sum(across.laid.doubtful[at])):
        said = counted(doubtful, "chunk fits", "chunks fit")
        yield Note("several places", f"{run}: {said} several places, the first counts", (run,))
