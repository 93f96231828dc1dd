"""What grades of an old chunking say of the new one's chunks, and what they leave open.

A grade says how much of what answers a query a chunk holds. A chunk that holds all of another's
evidence is at least as good as it, one whose evidence all lies in another is at best as good: a
grade is decided where the two meet. Knows places, passages and grades; not who gave them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from labeler.errors import NotFound
from labeler.rechunking.calibrating import answer_of, calibrate
from labeler.rechunking.deciding import decide
from labeler.rechunking.placing import Places
from labeler.rechunking.records import Carried, Graded
from labeler.rechunking.seeing import Old, old_of, seen_by

Progress = Callable[[float], None]

_OFTEN = 256  # pairs after which progress is told


def carry(
    grades: Iterable[Graded],
    asked: Iterable[tuple[str, str]],
    places: Places,
    progress: Progress | None = None,
) -> list[Carried]:
    """Return for each query and new chunk asked for what the old chunking's grades say of it.

    A grade is decided where it follows and all but 2% of the text lies in graded chunks: it is the
    same text as a graded chunk; or it lies in chunks graded 0, or in others outside of what made
    their grades (0); or it holds all that made a grade, and nothing more; or it holds as much of
    what is marked for its query as graded chunks of one and the same grade do. Without passages a
    relevant chunk is carried over only whole. Nothing is decided where the place is ambiguous,
    where words of the text were changed, and where graded chunks contradict each other.

    Grades are those of the old chunking, golden grades, of any queries; ``asked`` are pairs of
    query and new chunk. What is returned is in their order. Raises `NotFound` for an unknown chunk.

    >>> from labeler.rechunking import Basis, Cut, Graded, find_places
    >>> old = [Cut("o1", "Fees are due in May. Late fees are refused."), Cut("o2", "Dues vary.")]
    >>> new = [Cut("n1", "Fees are due in May."), Cut("n2", "Late fees are refused. Dues vary.")]
    >>> grades = [Graded("when", "o1", 3, (Basis(7, ((0, 19),)),)), Graded("when", "o2", 0)]
    >>> asked = [("when", "n1"), ("when", "n2")]
    >>> [(each.state, each.grade) for each in carry(grades, asked, find_places(old, new))]
    [('decided', 3), ('decided', 0)]
    """
    olds: dict[str, list[Old]] = defaultdict(list)
    for grade in grades:
        if grade.chunk_id not in places.old:
            raise NotFound(f"chunk {grade.chunk_id!r} is graded, and not in the old chunking")
        olds[grade.query_id].append(old_of(grade, places))
    calibration = calibrate(olds.values())
    answers = {query_id: answer_of(own) for query_id, own in olds.items()}
    pairs = list(asked)
    found = []
    for done, (query_id, chunk_id) in enumerate(pairs, 1):
        if chunk_id not in places.new:
            raise NotFound(f"chunk {chunk_id!r} is asked for, and not in the new chunking")
        sight = seen_by(chunk_id, olds.get(query_id, ()), places)
        found.append(decide(query_id, sight, calibration.of(sight, answers.get(query_id))))
        if progress is not None and (done % _OFTEN == 0 or done == len(pairs)):
            progress(done / len(pairs))
    return found
