"""Transfer of grades: the outcome for each pair, its record in the log, and its description.

A pair is decided, proposed or open. Repeating a transfer adds nothing twice; a grade that no
longer follows is withdrawn. The command line and the page show the same sentences, written here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeler.model import (
    MOST_PASSAGES,
    Evidence,
    GoldenGrade,
    TransferSource,
    describe_chunking,
    format_count,
)
from labeler.model.results import Statement
from labeler.rechunking import (
    DerivedGrade,
    GradeBasis,
    LocatedChunkings,
    OldGrade,
    cut_from_chunk,
    describe_repeated_pairs,
    find_locations,
    transfer_grades,
)
from labeler.store import BasedGrade, BaseJudgment, Store, TransferInput
from labeler.store.columns import hash_text

TRANSFER_STATES = ("decided", "proposed", "open")
Progress = Callable[[float], None]
_COUNT = re.compile(r"\b\d+(?= places)")
_SHARE = re.compile(r"\b\d+%(?= of)")


@dataclass(frozen=True, slots=True)
class TransferOutcome:
    """The result of a transfer for one pair: its derived grade, and the judgments it rests on.

    ``before`` is the grade that an earlier transfer between the two chunkings gave it, or None;
    ``counted`` tells whether that grade has counted until now.
    """

    found: DerivedGrade
    witnesses: tuple[BaseJudgment, ...]
    before: int | None = None
    counted: bool = False

    @property
    def why(self) -> str:
        """The reason without names of chunks and shares, so that similar pairs have the same."""
        return _COUNT.sub("several", _SHARE.sub("a part", self.without_names("a graded chunk")))

    def without_names(self, instead: str) -> str:
        """Return the reason with the words ``instead`` for every named chunk."""
        reason = self.found.reason
        for name in sorted({each.chunk_id for each in self.witnesses}, key=len, reverse=True):
            reason = reason.replace(f"chunk {name}", instead)
        return reason

    @property
    def is_lost(self) -> bool:
        """Whether an earlier transfer gave the pair a grade that no longer follows."""
        return self.before is not None and self.found.state != "decided"


@dataclass(frozen=True)
class Transfer:
    """The outcomes of all requested pairs, in order, and counts of what was left out.

    ``graded`` counts pairs with a grade that was not transferred. ``outdated`` counts golden grades
    of an earlier text of their chunk, or of a chunk without text, which are not used.
    """

    basis: TransferInput
    places: LocatedChunkings
    outcomes: Sequence[TransferOutcome]
    graded: int
    outdated: int

    @cached_property
    def states(self) -> Counter[str]:
        """The number of pairs by `TRANSFER_STATES`."""
        return Counter(each.found.state for each in self.outcomes)

    @property
    def left(self) -> int:
        return self.states["proposed"] + self.states["open"]

    def by_reason(self) -> list[tuple[str, int | None, str, int]]:
        """Count the pairs by state, grade and reason, the most frequent first within a state."""
        counts = Counter((each.found.state, each.found.grade, each.why) for each in self.outcomes)
        rows = [(*of, count) for of, count in counts.items()]
        return sorted(
            rows, key=lambda row: (TRANSFER_STATES.index(row[0]), -row[3], row[2], row[1] or 0)
        )

    @property
    def lost(self) -> list[TransferOutcome]:
        """The outcomes whose grade from an earlier transfer no longer follows."""
        return [each for each in self.outcomes if each.is_lost]

    @property
    def withdrawn(self) -> list[tuple[str, str]]:
        """The lost pairs whose grade still counts, as the judgments it rests on do."""
        return [(each.found.query_id, each.found.chunk_id) for each in self.lost if each.counted]

    @property
    def is_new(self) -> bool:
        """Whether recording it would change the log."""
        return bool(self.fresh or self.withdrawn)

    @cached_property
    def fresh(self) -> list[GoldenGrade]:
        """The decided grades that the log does not have yet, or has differently."""
        known = self.basis.recorded
        return [each for each in self.grades if known.get((each.query_id, each.chunk_id)) != each]

    @cached_property
    def grades(self) -> list[GoldenGrade]:
        """The decided grades as golden grades, with the judgments they rest on but no grader."""
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
                carried_from=tuple(_transfer_basis(witness, golden) for witness in each.witnesses),
            )
            for each in self.outcomes
            if each.found.state == "decided" and (grade := each.found.grade) is not None
        ]


def locate_basis(basis: TransferInput, progress: Progress | None = None) -> LocatedChunkings:
    """Locate the chunks of both chunkings in their documents; raise `BadInput` for wrong positions.

    A document that was not loaded is reconstructed from its old chunks.
    """
    return find_locations(
        map(cut_from_chunk, basis.old), map(cut_from_chunk, basis.new), basis.documents, progress
    )


def compute_transfer(
    basis: TransferInput, places: LocatedChunkings, progress: Progress | None = None
) -> Transfer:
    """Derive the grade of every requested pair from the old chunking's grades.

    A pair that has a grade is skipped, unless an earlier transfer gave it.
    """
    usable = [each for each in basis.grades if each.is_present]
    witnesses = {each.number: each for grade in usable for each in grade.witnesses}
    current = {(each.query_id, each.chunk_id): each for each in basis.graded}
    before = _transferred_before(basis)
    asked = [
        pair
        for pair in basis.asked
        if pair not in current or (pair in before and current[pair].kind == "carry")
    ]
    found = transfer_grades(map(_graded_chunk, usable), asked, places, progress)
    outcomes = [
        TransferOutcome(
            each,
            tuple(witnesses[number] for number in each.rests_on),
            before.get(pair := (each.query_id, each.chunk_id)),
            pair in before and (pair in current or not basis.counts),
        )
        for each in found
    ]
    left = len(basis.asked) - len(asked), len(basis.grades) - len(usable)
    return Transfer(basis, places, outcomes, *left)


def record_transfer(store: Store, found: Transfer, progress: Progress | None = None) -> None:
    """Add the decided grades to the log, and withdraw earlier ones that no longer follow.

    Grades that the log already has are not added again, so repeating it changes nothing.
    """
    basis = found.basis
    wordings = {chunk.chunk_id: hash_text(chunk.text) for chunk in basis.new}
    names = basis.old_name, basis.new_name
    store.transfers.add(*names, found.fresh, found.withdrawn, wordings, progress)


def _graded_chunk(grade: BasedGrade) -> OldGrade:
    """Return the golden grade with its bases; passages count only for judgments of that grade."""
    bases = (
        GradeBasis(each.number, each.passages if each.grade == grade.grade else ())
        for each in grade.witnesses
    )
    return OldGrade(grade.query_id, grade.chunk_id, grade.grade, tuple(bases))


def _transferred_before(basis: TransferInput) -> Mapping[tuple[str, str], int]:
    """Return the grades that earlier transfers between the two chunkings gave, by pair."""
    old = {chunk.chunk_id for chunk in basis.old}
    return {
        pair: grade.grade
        for pair, grade in basis.recorded.items()
        if any(base.chunk_id in old for base in grade.carried_from)
    }


def _transfer_basis(witness: BaseJudgment, golden: Mapping[int, int]) -> TransferSource:
    judgment = (witness.chunk_id, witness.grade, witness.who, witness.at)
    return TransferSource(witness.event_id, golden[witness.number], *judgment)


def _evidence(found: DerivedGrade, text: str | None) -> Evidence | None:
    """Return the passages of a relevant grade in the new text, None if there are too many."""
    wording = hash_text(text)
    if wording is None or not found.grade or not 0 < len(found.passages) <= MOST_PASSAGES:
        return None
    return Evidence(wording, found.passages)


MOST_NAMED = 5


def describe_transfer(found: Transfer) -> Iterator[str]:
    """Yield sentences on the number of requested pairs, and of those transferred before."""
    basis = found.basis
    between = f"{describe_chunking(basis.old_name)} to {describe_chunking(basis.new_name)}"
    runs = format_count(basis.runs, "run", "runs")
    asked = format_count(len(found.outcomes), "pair is", "pairs are")
    graded = format_count(found.graded, "more has", "more have")
    top = f"the top {basis.depth:,} of {runs}"
    yield f"From {between}: {asked} asked for by {top}; {graded} a grade"
    if again := sum(each.before is not None for each in found.outcomes):
        yield f"{format_count(again, 'of these was', 'of these were')} transferred before"


def describe_logged(found: Transfer, verb: str = "transferred") -> str:
    """Return a sentence on the grades added to the log and withdrawn, or that would be."""
    new = format_count(len(found.fresh), "grade", "grades")
    lost = f", {len(found.withdrawn):,} undone" if found.withdrawn else ""
    return f"{new} {verb}{lost}"


def describe_left_out(found: Transfer) -> Iterator[str]:
    """Yield sentences on the chunks, grades and pairs that could not be used."""
    basis, places = found.basis, found.places
    for names, reason in (
        (places.unplaced, "not found in the old text: nothing is decided of them"),
        (places.ambiguous, "found in several places equally well: nothing is decided of them"),
    ):
        if names:
            yield f"{len(names):,} of {len(places.new):,} new chunks {reason}; {_name_some(names)}"
    if found.outdated:
        grades = format_count(found.outdated, "golden grade is", "golden grades are")
        yield f"{grades} not transferred: of an earlier text, or of a chunk without one"
    if basis.derived:
        grades = format_count(basis.derived, "golden grade was", "golden grades were")
        yield (
            f"{grades} transferred to {describe_chunking(basis.old_name)}, and not further: "
            "transfer from the chunking that people graded"
        )
    if basis.unreadable:
        pairs = format_count(basis.unreadable, "pair is", "pairs are")
        yield f"{pairs} asked for and not looked at: no text is known of the chunk"
    if lost := found.lost:
        which = [f"{each.found.query_id} {each.found.chunk_id}" for each in lost]
        grades = format_count(len(lost), "grade", "grades")
        yield (
            f"{grades} transferred before, which do not follow any more: their pairs are open "
            f"again; {_name_some(which)}"
        )


def transfer_statements(found: Transfer) -> list[Statement]:
    """Return a statement on what would decide the pairs that repeated text leaves open, if any."""
    basis = found.basis
    said = describe_repeated_pairs(
        (each.found for each in found.outcomes),
        [*map(cut_from_chunk, basis.old)],
        [*map(cut_from_chunk, basis.new)],
        basis.documents,
        (describe_chunking(basis.old_name), describe_chunking(basis.new_name)),
    )
    return [] if said is None else [said]


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
