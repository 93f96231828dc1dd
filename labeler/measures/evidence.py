"""Measures of evidence: recall, precision and IoU of marked passages, in characters.

They compare runs whatever the chunking. Each ranking comes with what it finds of the evidence;
where texts are in their documents is worked out elsewhere. White space does not count, except in
a prompt of so many characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from labeler.measures.formulas import divide
from labeler.measures.hits import WHOLE_LIST, Bools, Floats, Ints


class PromptTexts(NamedTuple):
    """What a prompt takes of each ranking: ``whole`` texts, and characters of the one after them.

    Both are (n,); ``more`` is 0 where no text is cut.
    """

    whole: Ints
    more: Ints


@dataclass(frozen=True, eq=False)
class RetrievedTexts:
    """The texts of ``n`` rankings, one after the other: the i-th's from ``bounds[i]`` on.

    ``sizes`` are the characters of each that count, ``lengths`` those it takes of a prompt, white
    space included. ``unplaced`` says whose place nobody knows, so that they find nothing. ``cut``
    returns how many characters count in the first so many of a text, by its place in ``sizes``.
    """

    bounds: Ints
    sizes: Ints
    lengths: Ints
    unplaced: Bools
    cut: Callable[[int, int], int]
    _taken: dict[object, PromptTexts] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(rankings: Sequence[Sequence[str]]) -> RetrievedTexts:
        """Return the texts of some rankings, all of them placed."""
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
        """Return what the top ``k`` are, or a prompt of so many characters, which cuts the last."""
        if characters is None:
            depth = np.diff(self.bounds)
            return PromptTexts(np.minimum(depth, k), np.zeros(len(depth), dtype=np.int64))
        if characters not in self._taken:
            self._taken[characters] = self._filled(characters)
        return self._taken[characters]

    def _filled(self, characters: int) -> PromptTexts:
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
        """Count the characters that are taken of each ranking; text counts each time it comes."""
        first = self.bounds[:-1]
        sizes: Ints = self._size_before[first + taken.whole] - self._size_before[first] + taken.more
        return sizes

    def count_unplaced(self, taken: PromptTexts) -> Ints:
        """Count the texts among them whose place nobody knows, the one that is cut included."""
        first = self.bounds[:-1]
        upto = np.minimum(first + taken.whole + (taken.more > 0), self.bounds[1:])
        counts: Ints = self._unplaced_before[upto] - self._unplaced_before[first]
        return counts


@dataclass(frozen=True, eq=False)
class FoundEvidence:
    """What ``n`` rankings find of the evidence of their queries.

    ``row``, ``rank``, ``size``: one entry for each text that brings evidence which none above it
    brought, by row, then by rank (from 1), with how many characters it brings. These are made of
    pieces: ``of`` which entry each is, ``at`` how many characters of the text stand before it, and
    its ``piece``'s size. ``total`` (n,) is all evidence a ranking's query has.
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
        """How many characters of evidence each entry brings."""
        sizes = np.bincount(self.of, self.piece, minlength=len(self.row))
        return sizes.astype(np.int64)

    def found_characters(self, taken: PromptTexts) -> Ints:
        """Return how much of its evidence each entry brings with what is taken of its ranking."""
        whole = taken.whole[self.row]
        sizes: Ints = self.size * (self.rank <= whole)
        if taken.more.any():
            is_cut = self.rank == whole + 1
            inside = np.clip(taken.more[self.row][self.of] - self.at, 0, self.piece)
            parts = np.bincount(self.of, inside, minlength=len(self.row)).astype(np.int64)
            sizes = sizes + parts * is_cut
        return sizes

    def holes(self, k: int | Ints, characters: int | None = None) -> Ints:
        """Count the texts that are taken of each ranking and whose place nobody knows."""
        return self.texts.count_unplaced(self.texts.taken(k, characters))


def _count_characters(
    finds: FoundEvidence, k: int | Ints, characters: int | None
) -> tuple[Ints, Ints, Ints]:
    """Return what each entry brings, what each ranking finds, and how much it retrieves."""
    taken = finds.texts.taken(k, characters)
    brought = finds.found_characters(taken)
    found = np.bincount(finds.row, brought, minlength=len(finds.total)).astype(np.int64)
    return brought, found, finds.texts.size(taken)


def _precision_divisor(finds: FoundEvidence, retrieved: Ints) -> Ints:
    """Return what precision is divided by: 0 where there is no evidence, so that it is undefined.

    Where nothing is retrieved nothing is found either, which is 0.
    """
    divisor: Ints = np.maximum(retrieved, 1) * (finds.total > 0)
    return divisor


def _iou_divisor(finds: FoundEvidence, found: Ints, retrieved: Ints) -> Ints:
    divisor: Ints = (finds.total + retrieved - found) * (finds.total > 0)
    return divisor


def recall(
    finds: FoundEvidence, k: int | Ints = WHOLE_LIST, *, characters: int | None = None
) -> Floats:
    """Evidence characters found, of all there are; undefined where nothing is marked."""
    _, found, _ = _count_characters(finds, k, characters)
    return divide(found, finds.total)


def precision(
    finds: FoundEvidence, k: int | Ints = WHOLE_LIST, *, characters: int | None = None
) -> Floats:
    """Evidence characters found, of all that is retrieved; 0 where nothing is."""
    _, found, retrieved = _count_characters(finds, k, characters)
    return divide(found, _precision_divisor(finds, retrieved))


def iou(
    finds: FoundEvidence, k: int | Ints = WHOLE_LIST, *, characters: int | None = None
) -> Floats:
    """Evidence characters found, of all that is evidence or retrieved."""
    _, found, retrieved = _count_characters(finds, k, characters)
    return divide(found, _iou_divisor(finds, found, retrieved))


def recall_terms(
    finds: FoundEvidence, k: int | Ints = WHOLE_LIST, *, characters: int | None = None
) -> Floats:
    """What each entry adds to `recall`."""
    brought, _, _ = _count_characters(finds, k, characters)
    return _shares(finds, brought, finds.total)


def precision_terms(
    finds: FoundEvidence, k: int | Ints = WHOLE_LIST, *, characters: int | None = None
) -> Floats:
    """What each entry adds to `precision`."""
    brought, _, retrieved = _count_characters(finds, k, characters)
    return _shares(finds, brought, _precision_divisor(finds, retrieved))


def iou_terms(
    finds: FoundEvidence, k: int | Ints = WHOLE_LIST, *, characters: int | None = None
) -> Floats:
    """What each entry adds to `iou`."""
    brought, found, retrieved = _count_characters(finds, k, characters)
    return _shares(finds, brought, _iou_divisor(finds, found, retrieved))


def _shares(finds: FoundEvidence, brought: Ints, whole: Ints) -> Floats:
    return np.nan_to_num(divide(brought, whole[finds.row]))
