"""What a golden set's grades of one chunking say of another's chunks, and whom that rests on.

Brings the golden set and `labeler.rechunking` together; writes nothing and knows no page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeler.model import (
    MOST_PASSAGES,
    Chunk,
    Evidence,
    GoldenGrade,
    chunking_in_words,
)
from labeler.rechunking import Basis, Carried, Cut, Graded, Places, carry, find_places
from labeler.store import CARRIED, CarryBasis, Witness, Witnessed
from labeler.store.columns import text_hash

STATES = ("decided", "proposed", "open")
Progress = Callable[[float], None]
_COUNT = re.compile(r"\b\d+(?= places)")
_SHARE = re.compile(r"\b\d+%(?= of)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a pair: what was found of it, and who gave the grades that it rests on.

    ``before`` is the grade that an earlier carry-over gave it, None where none did.
    """

    found: Carried
    witnesses: tuple[Witness, ...]
    before: int | None = None

    @property
    def why(self) -> str:
        """The reason without the names of chunks and without shares, alike for like pairs."""
        said = self.found.reason
        for name in sorted({each.chunk_id for each in self.witnesses}, key=len, reverse=True):
            said = said.replace(f"chunk {name}", "a graded chunk")
        return _COUNT.sub("several", _SHARE.sub("a part", said))

    @property
    def is_lost(self) -> bool:
        """Whether an earlier carry-over gave it a grade that does not follow any more."""
        return self.before is not None and self.found.state != "decided"


@dataclass(frozen=True)
class Carryover:
    """All that was asked for, in order, and what was left out of it.

    ``graded`` pairs have a grade that was not carried over. ``outdated`` golden grades are of an
    earlier text of their chunk, or of one without a text: nothing follows from them.
    """

    basis: CarryBasis
    places: Places
    outcomes: Sequence[Outcome]
    graded: int
    outdated: int

    @cached_property
    def states(self) -> Counter[str]:
        """How many pairs are decided, proposed and open."""
        return Counter(each.found.state for each in self.outcomes)

    def by_reason(self) -> list[tuple[str, int | None, str, int]]:
        """Count the pairs by state, grade and reason, the most first within a state."""
        counts = Counter((each.found.state, each.found.grade, each.why) for each in self.outcomes)
        rows = [(*of, count) for of, count in counts.items()]
        return sorted(rows, key=lambda row: (STATES.index(row[0]), -row[3], row[2], row[1] or 0))

    @property
    def lost(self) -> list[Outcome]:
        """What an earlier carry-over decided and does not follow any more."""
        return [each for each in self.outcomes if each.is_lost]

    def grades(self) -> list[GoldenGrade]:
        """Return the decided grades as a golden set has them: imports that name what they rest on.

        Nobody stands behind them but those whom their notes name.
        """
        texts = {chunk.chunk_id: chunk.text for chunk in self.basis.new}
        return [
            GoldenGrade(
                each.found.query_id,
                each.found.chunk_id,
                grade,
                note=_note(each, self.basis.old_name),
                evidence=_evidence(each.found, texts[each.found.chunk_id]),
                chunking=self.basis.new_name,
            )
            for each in self.outcomes
            if each.found.state == "decided" and (grade := each.found.grade) is not None
        ]


def place(basis: CarryBasis, progress: Progress | None = None) -> Places:
    """Find where the chunks of both chunkings stand; raises `BadInput` for places that are wrong.

    A document that was not loaded is what its old chunks say.
    """
    return find_places(_cuts(basis.old), _cuts(basis.new), basis.documents, progress)


def follow(basis: CarryBasis, places: Places, progress: Progress | None = None) -> Carryover:
    """Say of every pair that is asked for what follows from the old chunking's grades.

    A pair that has a grade is left alone, unless an earlier carry-over gave it.
    """
    usable = [each for each in basis.grades if each.is_present]
    witnesses = {each.number: each for grade in usable for each in grade.witnesses}
    standing = {(each.query_id, each.chunk_id): each for each in basis.graded}
    before = {pair: each.grade for pair, each in standing.items() if _is_carried(each, basis)}
    asked = [pair for pair in basis.asked if pair not in standing or pair in before]
    found = carry(map(_graded, usable), asked, places, progress)
    outcomes = [
        Outcome(
            each,
            tuple(witnesses[number] for number in each.rests_on),
            before.get((each.query_id, each.chunk_id)),
        )
        for each in found
    ]
    left = len(basis.asked) - len(asked), len(basis.grades) - len(usable)
    return Carryover(basis, places, outcomes, *left)


def _cuts(chunks: Iterable[Chunk]) -> list[Cut]:
    return [
        Cut(each.chunk_id, each.text or "", each.document_id, each.position, each.start, each.end)
        for each in chunks
    ]


def _graded(grade: Witnessed) -> Graded:
    """Return a golden grade; what made a mean is nobody's to mark."""
    bases = (
        Basis(each.number, each.passages if each.grade == grade.grade else ())
        for each in grade.witnesses
    )
    return Graded(grade.query_id, grade.chunk_id, grade.grade, tuple(bases))


def _is_carried(grade: Witnessed, basis: CarryBasis) -> bool:
    """Say whether a grade was carried over from the same chunking before."""
    beginning = _beginning(basis.old_name)
    return grade.kind == "import" and (grade.note or "").startswith(beginning)


def _beginning(chunking: str) -> str:
    return f"{CARRIED}{chunking_in_words(chunking)}: "


def _note(outcome: Outcome, chunking: str) -> str:
    """Say why a grade follows, and who gave the grades that it follows from, and when."""
    rests = "; ".join(map(_said, outcome.witnesses))
    return f"{_beginning(chunking)}{outcome.found.reason}; rests on {rests}"


def _said(witness: Witness) -> str:
    who = ", ".join(witness.who) or "a file"
    return f"chunk {witness.chunk_id}: {witness.grade} by {who} on {witness.at[:10]}"


def _evidence(found: Carried, text: str | None) -> Evidence | None:
    """Return the passages of a relevant grade in the new text, where they are not too many."""
    wording = text_hash(text)
    if wording is None or not found.grade or not 0 < len(found.passages) <= MOST_PASSAGES:
        return None
    return Evidence(wording, found.passages)
