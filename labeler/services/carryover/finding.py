"""Finds what follows for each pair that is asked for, and keeps what is decided in the log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeler.model import (
    MOST_PASSAGES,
    CarriedFrom,
    Evidence,
    GoldenGrade,
)
from labeler.rechunking import Basis, Carried, Graded, Places, carry, cut_of, find_places
from labeler.store import CarryBasis, Store, Witness, Witnessed
from labeler.store.columns import text_hash

STATES = ("decided", "proposed", "open")
Progress = Callable[[float], None]
_COUNT = re.compile(r"\b\d+(?= places)")
_SHARE = re.compile(r"\b\d+%(?= of)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a pair: what was found of it, and who gave the grades that it rests on.

    ``before`` is the grade that an earlier carry-over between the two chunkings gave it, None
    where none did; it ``stood`` where that counted until now.
    """

    found: Carried
    witnesses: tuple[Witness, ...]
    before: int | None = None
    stood: bool = False

    @property
    def why(self) -> str:
        """The reason without the names of chunks and without shares, alike for like pairs."""
        return _COUNT.sub("several", _SHARE.sub("a part", self.without_names("a graded chunk")))

    def without_names(self, instead: str) -> str:
        """Return the reason with the same words instead of the name of any chunk."""
        said = self.found.reason
        for name in sorted({each.chunk_id for each in self.witnesses}, key=len, reverse=True):
            said = said.replace(f"chunk {name}", instead)
        return said

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

    @property
    def left(self) -> int:
        """How many pairs are left to graders."""
        return self.states["proposed"] + self.states["open"]

    def by_reason(self) -> list[tuple[str, int | None, str, int]]:
        """Count the pairs by state, grade and reason, the most first within a state."""
        counts = Counter((each.found.state, each.found.grade, each.why) for each in self.outcomes)
        rows = [(*of, count) for of, count in counts.items()]
        return sorted(rows, key=lambda row: (STATES.index(row[0]), -row[3], row[2], row[1] or 0))

    @property
    def lost(self) -> list[Outcome]:
        """What an earlier carry-over decided and does not follow any more."""
        return [each for each in self.outcomes if each.is_lost]

    @property
    def withdrawn(self) -> list[tuple[str, str]]:
        """The pairs of these whose grade has counted until now, although all it rests on stands."""
        return [(each.found.query_id, each.found.chunk_id) for each in self.lost if each.stood]

    @property
    def is_new(self) -> bool:
        """Whether the log has not all of it as it is."""
        return bool(self.fresh or self.withdrawn)

    @cached_property
    def fresh(self) -> list[GoldenGrade]:
        """The decided grades that are not in the log as they are."""
        there = self.basis.recorded
        return [each for each in self.grades if there.get((each.query_id, each.chunk_id)) != each]

    @cached_property
    def grades(self) -> list[GoldenGrade]:
        """The decided grades as a golden set has them: they name what they rest on.

        Nobody stands behind them but those who gave that.
        """
        texts = {chunk.chunk_id: chunk.text for chunk in self.basis.new}
        golden = {
            witness.number: each.grade for each in self.basis.grades for witness in each.witnesses
        }
        return [
            GoldenGrade(
                each.found.query_id,
                each.found.chunk_id,
                grade,
                note=each.found.reason,
                evidence=_evidence(each.found, texts[each.found.chunk_id]),
                chunking=self.basis.new_name,
                carried_from=tuple(_base(witness, golden) for witness in each.witnesses),
            )
            for each in self.outcomes
            if each.found.state == "decided" and (grade := each.found.grade) is not None
        ]


def place(basis: CarryBasis, progress: Progress | None = None) -> Places:
    """Find where the chunks of both chunkings stand; raises `BadInput` for places that are wrong.

    A document that was not loaded is what its old chunks say.
    """
    return find_places(map(cut_of, basis.old), map(cut_of, basis.new), basis.documents, progress)


def follow(basis: CarryBasis, places: Places, progress: Progress | None = None) -> Carryover:
    """Say of every pair that is asked for what follows from the old chunking's grades.

    A pair that has a grade is left alone, unless an earlier carry-over gave it.
    """
    usable = [each for each in basis.grades if each.is_present]
    witnesses = {each.number: each for grade in usable for each in grade.witnesses}
    standing = {(each.query_id, each.chunk_id): each for each in basis.graded}
    before = _carried_before(basis)
    asked = [
        pair
        for pair in basis.asked
        if pair not in standing or (pair in before and standing[pair].kind == "carry")
    ]
    found = carry(map(_graded, usable), asked, places, progress)
    outcomes = [
        Outcome(
            each,
            tuple(witnesses[number] for number in each.rests_on),
            before.get(pair := (each.query_id, each.chunk_id)),
            pair in before and (pair in standing or not basis.counts),
        )
        for each in found
    ]
    left = len(basis.asked) - len(asked), len(basis.grades) - len(usable)
    return Carryover(basis, places, outcomes, *left)


def record(store: Store, found: Carryover, progress: Progress | None = None) -> None:
    """Add what is decided to the log, and take back what an earlier carry-over gave and is lost.

    What is there already as it is stays alone, so that doing it twice doubles nothing.
    """
    basis = found.basis
    wordings = {chunk.chunk_id: text_hash(chunk.text) for chunk in basis.new}
    names = basis.old_name, basis.new_name
    store.add_carried(*names, found.fresh, found.withdrawn, wordings, progress)


def _graded(grade: Witnessed) -> Graded:
    """Return a golden grade; what made a mean is nobody's to mark."""
    bases = (
        Basis(each.number, each.passages if each.grade == grade.grade else ())
        for each in grade.witnesses
    )
    return Graded(grade.query_id, grade.chunk_id, grade.grade, tuple(bases))


def _carried_before(basis: CarryBasis) -> Mapping[tuple[str, str], int]:
    """Return the pairs that a carry-over between the two chunkings gave a grade before."""
    old = {chunk.chunk_id for chunk in basis.old}
    return {
        pair: grade.grade
        for pair, grade in basis.recorded.items()
        if any(base.chunk_id in old for base in grade.carried_from)
    }


def _base(witness: Witness, golden: Mapping[int, int]) -> CarriedFrom:
    said = (witness.chunk_id, witness.grade, witness.who, witness.at)
    return CarriedFrom(witness.event_id, golden[witness.number], *said)


def _evidence(found: Carried, text: str | None) -> Evidence | None:
    """Return the passages of a relevant grade in the new text, where they are not too many."""
    wording = text_hash(text)
    if wording is None or not found.grade or not 0 < len(found.passages) <= MOST_PASSAGES:
        return None
    return Evidence(wording, found.passages)
