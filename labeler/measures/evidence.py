"""Measures of evidence: recall, precision and IoU of marked passages, in characters.

Their values compare runs of any chunkings. The input is the evidence that each ranking finds; other
modules locate the texts in their documents. White space does not count, except in a prompt of a
given number of characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from labeler.measures.formulas import divide
from labeler.measures.hits import WHOLE_LIST, Bools, Floats, Ints


class PromptTexts(NamedTuple):
    """The texts of each ranking that go into a prompt, (n,).

    That is the number of ``whole`` texts, and how many characters ``more`` count in the next text,
    which is cut; 0 where none is.
    """

    whole: Ints
    more: Ints


@dataclass(frozen=True, eq=False)
class RetrievedTexts:
    """The texts of ``n`` rankings, one after the other: those of ranking i start at ``bounds[i]``.

    ``sizes`` are the numbers of characters that count, ``lengths`` those in a prompt, white space
    included. ``unplaced`` texts have no known position, so they find nothing. ``cut`` takes a
    text's index and a length, and returns how many characters count in that much of the text.
    """

    bounds: Ints
    sizes: Ints
    lengths: Ints
    unplaced: Bools
    cut: Callable[[int, int], int]
    _taken: dict[object, PromptTexts] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(rankings: Sequence[Sequence[str]]) -> RetrievedTexts:
        """Return the texts of some rankings, all with a known position."""
        texts = [text for ranking in rankings for text in ranking]
        sizes = [len("".join(text.split())) for text in texts]
        return RetrievedTexts(
            bounds=np.cumsum([0, *map(len, rankings)], dtype=np.int64),
            sizes=np.array(sizes, dtype=np.int64),
            lengths=np.array(list(map(len, texts)), dtype=np.int64),
            unplaced=np.zeros(len(texts), dtype=np.bool_),
            cut=lambda at, left: len("".join(texts[at][:left].split())),
        )

    @cached_property
    def _size_before(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def _length_before(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @cached_property
    def _unplaced_before(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.unplaced)])

    def taken(self, k: int | Ints, characters: int | None) -> PromptTexts:
        """Return the texts in the top ``k``, or in a prompt of ``characters``, which cuts one."""
        if characters is None:
            depth = np.diff(self.bounds)
            return PromptTexts(np.minimum(depth, k), np.zeros(len(depth), dtype=np.int64))
        if characters not in self._taken:
            self._taken[characters] = self._fill_prompt(characters)
        return self._taken[characters]

    def _fill_prompt(self, characters: int) -> PromptTexts:
        first, end = self.bounds[:-1], self.bounds[1:]
        before = self._length_before
        full = np.searchsorted(before, before[first] + characters, side="right") - 1
        full = np.minimum(full, end)
        left = before[first] + characters - before[full]
        more = [
            self.cut(at, rest) if at < stop and rest else 0
            for at, rest, stop in zip(full.tolist(), left.tolist(), end.tolist(), strict=True)
        ]
        return PromptTexts(full - first, np.array(more, dtype=np.int64))

    def size(self, taken: PromptTexts) -> Ints:
        """Count the characters taken of each ranking; repeated text counts each time."""
        first = self.bounds[:-1]
        sizes: Ints = self._size_before[first + taken.whole] - self._size_before[first] + taken.more
        return sizes

    def count_unplaced(self, taken: PromptTexts) -> Ints:
        """Count the texts taken without a known position, the one that is cut included."""
        first = self.bounds[:-1]
        upto = np.minimum(first + taken.whole + (taken.more > 0), self.bounds[1:])
        counts: Ints = self._unplaced_before[upto] - self._unplaced_before[first]
        return counts


@dataclass(frozen=True, eq=False)
class FoundEvidence:
    """The evidence of their queries that ``n`` rankings find.

    ``row``, ``rank``, ``size``: one entry for each text that adds evidence not found above it,
    sorted by row, then by rank (from 1), with the number of characters it adds. Entries consist of
    pieces: ``of`` is a piece's entry, ``at`` how many characters of the text precede it, ``piece``
    its size. ``total`` (n,) is all evidence of the ranking's query.
    """

    row: Ints
    rank: Ints
    of: Ints
    at: Ints
    piece: Ints
    total: Ints
    texts: RetrievedTexts

    @cached_property
    def size(self) -> Ints:
        """The number of characters of evidence that each entry adds."""
        sizes = np.bincount(self.of, self.piece, minlength=len(self.row))
        return sizes.astype(np.int64)

    def found_characters(self, taken: PromptTexts) -> Ints:
        """Return how many characters each entry adds if only ``taken`` counts."""
        whole = taken.whole[self.row]
        sizes: Ints = self.size * (self.rank <= whole)
        if taken.more.any():
            is_cut = self.rank == whole + 1
            inside = np.clip(taken.more[self.row][self.of] - self.at, 0, self.piece)
            parts = np.bincount(self.of, inside, minlength=len(self.row)).astype(np.int64)
            sizes = sizes + parts * is_cut
        return sizes

    def unjudged(self, k: int | Ints, characters: int | None = None) -> Ints:
        """Count the texts taken of each ranking without a known position."""
        return self.texts.count_unplaced(self.texts.taken(k, characters))


def _count_characters(
    finds: FoundEvidence, k: int | Ints, characters: int | None
) -> tuple[Ints, Ints, Ints]:
    """Return what each entry adds, what each ranking finds, and how much it retrieves."""
    taken = finds.texts.taken(k, characters)
    added = finds.found_characters(taken)
    found = np.bincount(finds.row, added, minlength=len(finds.total)).astype(np.int64)
    return added, found, finds.texts.size(taken)


Divisor = Callable[[FoundEvidence, Ints, Ints], Ints]
"""What evidence is divided by, given what each ranking finds and how much it retrieves."""


def _all_evidence(finds: FoundEvidence, found: Ints, retrieved: Ints) -> Ints:
    return finds.total


def _retrieved(finds: FoundEvidence, found: Ints, retrieved: Ints) -> Ints:
    """Return 0 without evidence, where precision is undefined; 1 if nothing is retrieved."""
    divisor: Ints = np.maximum(retrieved, 1) * (finds.total > 0)
    return divisor


def _evidence_or_retrieved(finds: FoundEvidence, found: Ints, retrieved: Ints) -> Ints:
    divisor: Ints = (finds.total + retrieved - found) * (finds.total > 0)
    return divisor


def _share(
    divisor: Divisor,
    finds: FoundEvidence,
    k: int | Ints = WHOLE_LIST,
    *,
    characters: int | None = None,
) -> Floats:
    """Return the evidence characters found, divided; NaN where the divisor is 0."""
    _, found, retrieved = _count_characters(finds, k, characters)
    return divide(found, divisor(finds, found, retrieved))


def _terms(
    divisor: Divisor,
    finds: FoundEvidence,
    k: int | Ints = WHOLE_LIST,
    *,
    characters: int | None = None,
) -> Floats:
    """Return what each entry adds to `_share`."""
    added, found, retrieved = _count_characters(finds, k, characters)
    whole = divisor(finds, found, retrieved)
    return np.nan_to_num(divide(added, whole[finds.row]))


recall, recall_terms = (partial(each, _all_evidence) for each in (_share, _terms))
precision, precision_terms = (partial(each, _retrieved) for each in (_share, _terms))
iou, iou_terms = (partial(each, _evidence_or_retrieved) for each in (_share, _terms))
