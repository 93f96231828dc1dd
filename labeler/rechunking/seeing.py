"""What a new chunk holds of graded chunks and of the passages marked in them.

Knows places and passages; decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeler.rechunking.ground import Ground
from labeler.rechunking.placing import Places
from labeler.rechunking.records import Graded, Place
from labeler.rechunking.spans import Span, common, joined, length, without
from labeler.rechunking.squeezing import (
    says_something,
    sizes_in,
    spans_in,
    spans_squeezed,
    squeezed,
)

TRIFLE = 0.02  # the share of a text or of a passage whose loss changes nothing


@dataclass(frozen=True, slots=True)
class Old:
    """A graded chunk in the ground, with the passages each judgment marks, and what they take.

    A judgment of which a passage was not placed is left out: what made its grade may be anywhere.
    """

    grade: Graded
    place: Place
    spans: list[Span]
    marked: list[list[list[Span]]]
    evidence: list[Span]


@dataclass(frozen=True, slots=True)
class Held:
    """What a new chunk holds of an old one: spans of the new text, and shares of the old.

    ``share`` is how much it holds of what made the grade: of the passages where they are marked,
    else of the text. It holds ``all`` of it, or at least ``some`` whole passage.
    """

    old: Old
    cover: list[Span]
    evidence: list[Span]
    of_text: float
    share: float
    all: bool
    some: bool

    @property
    def grade(self) -> int:
        """The old chunk's golden grade."""
        return self.old.grade.grade

    @property
    def is_marked(self) -> bool:
        """Whether it is known which passages made its grade."""
        return bool(self.old.marked)


@dataclass(frozen=True)
class Sight:
    """A new chunk and all graded chunks of a query that it has text in common with."""

    chunk_id: str
    text: str
    place: Place
    held: list[Held]

    @cached_property
    def plain(self) -> str:
        """The squeezed text."""
        return squeezed(self.text)

    @cached_property
    def size(self) -> int:
        """How many squeezed characters it has beside its heading."""
        return max(1, self.place.size - self.place.heading)

    @cached_property
    def cover(self) -> list[Span]:
        """What of it lies in graded chunks."""
        return joined(span for each in self.held for span in each.cover)

    @cached_property
    def covered(self) -> float:
        """The share of its text, apart from a heading, that lies in graded chunks."""
        body = self.place.heading, self.place.size
        if self.cover[:1] == [body]:
            return 1.0
        sizes = sizes_in(self.text, [body, *common(self.cover, [body])])
        return sum(sizes[1:]) / max(1, sizes[0])

    @cached_property
    def evidence(self) -> list[Span]:
        """What of it is marked."""
        return joined(span for each in self.held for span in each.evidence)

    @cached_property
    def possible(self) -> list[Span]:
        """What of it may answer: marked, or in a relevant chunk of which nobody knows what does.

        What another chunk has in common with that one and is graded 0 or marked elsewhere is not.
        """
        unknown = [each for each in self.held if each.grade and not each.is_marked]
        known = [each for each in self.held if not (each.grade and not each.is_marked)]
        maybe = without(
            joined(span for each in unknown for span in each.cover),
            joined(span for each in known for span in each.cover),
        )
        if length(maybe) <= TRIFLE * self.size:
            maybe = []
        return joined([*self.evidence, *maybe])

    @property
    def passages(self) -> tuple[Span, ...]:
        """What of it is marked, as code points of its text."""
        return tuple(spans_in(self.text, self.evidence))

    def says(self, spans: Iterable[Span]) -> bool:
        """Say whether there are letters or digits in parts of it."""
        return says_something("".join(self.plain[start:end] for start, end in spans))


def old_of(grade: Graded, places: Places) -> Old:
    """Return a graded chunk as it stands in the ground."""
    place = places.old[grade.chunk_id]
    text = places.old_texts[grade.chunk_id]
    bases = [basis for basis in grade.bases if basis.passages] if grade.grade else []
    marked = [found for basis in bases if (found := marked_in(basis.passages, text, place))]
    evidence = joined(span for found in marked for passage in found for span in passage)
    return Old(grade, place, joined(place.spans), marked, evidence)


def marked_in(marks: Sequence[Span], text: str, place: Place) -> list[list[Span]]:
    """Return what each passage takes of the ground; nothing where one is not found there."""
    passages = [span for span in spans_squeezed(text, marks) if span[0] < span[1]]
    found = [_in_ground([span], place) for span in passages]
    is_found = all(
        length(each) >= (1 - TRIFLE) * (end - start)
        for each, (start, end) in zip(found, passages, strict=True)
    )
    return found if is_found else []


def seen_by(chunk_id: str, olds: Iterable[Old], places: Places) -> Sight:
    """Return what a new chunk holds of graded chunks."""
    place = places.new[chunk_id]
    stands = joined(place.spans)
    held = []
    for old in olds:
        shared = common(old.spans, stands)
        if shared:
            held.append(_held(old, shared, place, places.ground))
    return Sight(chunk_id, places.new_texts[chunk_id], place, held)


def _held(old: Old, shared: list[Span], place: Place, ground: Ground) -> Held:
    cover = in_text(shared, place)
    of_text = length(shared) / max(1, old.place.size - old.place.heading)
    if not old.marked:
        return Held(old, cover, [], of_text, of_text, of_text >= 1 - TRIFLE, False)
    shares = [[_share(passage, shared, ground) for passage in each] for each in old.marked]
    touched = [
        common(passage, shared)
        for passages, found in zip(old.marked, shares, strict=True)
        for passage, share in zip(passages, found, strict=True)
        if share > TRIFLE
    ]
    return Held(
        old,
        cover,
        in_text(joined(span for each in touched for span in each), place),
        of_text,
        max(sum(each) / len(each) for each in shares),
        any(min(each) >= 1 - TRIFLE for each in shares),
        any(max(each) >= 1 - TRIFLE for each in shares),
    )


def _share(passage: list[Span], shared: list[Span], ground: Ground) -> float:
    """Return how much of a passage is shared: all or nothing where the rest is punctuation."""
    size, found = length(passage), common(passage, shared)
    if not found:
        return 0.0
    missed = without(passage, shared)
    if not says_something("".join(ground.text(*span) for span in missed)):
        return 1.0
    if not says_something("".join(ground.text(*span) for span in found)):
        return 0.0
    return length(found) / size


def _in_ground(spans: Sequence[Span], place: Place) -> list[Span]:
    """Return spans of a chunk's squeezed text as spans of the ground, as far as it was placed."""
    return joined(
        (start - each.at + each.start, end - each.at + each.start)
        for each in place.segments
        for start, end in common(spans, [(each.at, each.at + each.size)])
    )


def in_text(spans: Sequence[Span], place: Place) -> list[Span]:
    """Return spans of the ground as spans of a chunk's squeezed text."""
    return joined(
        (start - each.start + each.at, end - each.start + each.at)
        for each in place.segments
        for start, end in common(spans, [(each.start, each.start + each.size)])
    )
