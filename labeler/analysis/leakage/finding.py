"""Finds texts in passages, whole or with a few words changed: where, and how surely.

Where two words of a text stand in a row it is looked for around them. Of its pairs of words those
are tried that are rarest in the passages, as many as cannot all be lost where it is near enough.
RapidFuzz has the last word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

from labeler.analysis.leakage.words import (
    END,
    ENDED,
    FEWEST_WORDS,
    Numbers,
    Vocabulary,
    check_threshold,
    letters,
    words_of,
)

Places = npt.NDArray[np.int64]

_AT_ONCE = 1 << 17  # candidates that are looked at together
_NEARLY = 1e-6  # what is lost when a share is made of numbers


@dataclass(frozen=True, slots=True)
class Needle:
    """A text of the golden set that should stand nowhere else: ``part`` says what of a query."""

    query_id: str
    part: str
    text: str


class Find(NamedTuple):
    """A needle by number, and the passages by number from the first to the last it was found in.

    ``score`` is the share of its words that stand there in their order, among as many words as it
    has. ``words`` are those.
    """

    needle: int
    first: int
    last: int
    score: float
    words: str

    @property
    def is_exact(self) -> bool:
        """Whether all words are there, in their order and with none between."""
        return self.score > 1 - _NEARLY


class _Text(NamedTuple):
    """The words of passages; without their ends by number, with the passage each is in."""

    words: Sequence[str]
    places: Places
    numbers: Numbers
    passages: Places
    flowing: bool

    def said(self, first: int, last: int) -> str:
        """Return the words from one to before another."""
        found = self.words[self.places[first] : self.places[last - 1] + 1]
        return " ".join(word for word in found if word != END)


class _Candidates(NamedTuple):
    """Needles by number, and from where to where in a text each may stand."""

    needles: Places
    lows: Places
    highs: Places


class Finder:
    """Looks for needles in passages; made once for all of them.

    A needle of fewer than `FEWEST_WORDS` words is found only where a passage is nothing else.
    ``threshold`` is the least score of what is found, from 0.5 to 1.

    >>> finder = Finder([Needle("q1", "query", "How do I reset my password?")], 0.8)
    >>> [(find.score, find.words) for find in finder.find(["Q: how do i change my PASSWORD ..."])]
    [(0.8333333333333334, 'how do i change my password')]
    """

    def __init__(self, needles: Sequence[Needle], threshold: float) -> None:
        self.needles = needles
        self._least = check_threshold(threshold)
        words = [words_of(needle.text.replace(END, " ")) for needle in needles]
        self._vocabulary = Vocabulary(words)
        numbers = [self._vocabulary.numbers(each) for each in words]
        self._letters = np.array([letters(each) for each in numbers], dtype=object)
        self._sizes = np.array([len(each) for each in words], dtype=np.int64)
        # So many words may be other ones where a needle is near enough; each is in two pairs.
        self._misses = np.floor(self._sizes * (1 - threshold) + _NEARLY).astype(np.int64)
        self._short: dict[tuple[int, ...], list[int]] = {}
        for needle in np.flatnonzero((self._sizes > 0) & (self._sizes < FEWEST_WORDS)).tolist():
            self._short.setdefault(tuple(numbers[needle].tolist()), []).append(needle)
        self._cut_up(numbers)

    def _cut_up(self, numbers: Sequence[Numbers]) -> None:
        """Cut the longer needles into pairs: which pair it is, where it stands, and in which."""
        long = np.flatnonzero(self._sizes >= FEWEST_WORDS)
        none = np.empty(0, dtype=np.int64)
        pairs = [self._pairs(numbers[needle]) for needle in long.tolist()]
        self._known, self._pair = np.unique(np.concatenate([none, *pairs]), return_inverse=True)
        self._offset = np.concatenate([none, *(np.arange(len(each)) for each in pairs)])
        self._owner = np.repeat(long, [len(each) for each in pairs])

    def _pairs(self, numbers: Numbers) -> Places:
        wide = numbers.astype(np.int64)
        pairs: Places = wide[:-1] * len(self._vocabulary) + wide[1:]
        return pairs

    @property
    def longest(self) -> int:
        """How many words the longest needle has."""
        return int(self._sizes.max(initial=0))

    def find(self, texts: Sequence[str], *, flowing: bool = False) -> list[Find]:
        """Return what is found in passages: of each needle the likest place that begins in one.

        Where passages are ``flowing`` a place may go on in those that follow.
        """
        text = self._read(texts, flowing=flowing)
        found = sorted([*self._alone(text), *self._within(text)], key=lambda find: -find.score)
        taken: dict[tuple[int, int], Find] = {}
        for find in found:  # the likest first: what overlaps it is the same place
            touched = range(find.first, find.last + 1)
            if not any((find.needle, passage) in taken for passage in touched):
                taken.update({(find.needle, passage): find for passage in touched})
        return sorted(set(taken.values()), key=lambda find: (find.first, find.needle))

    def _read(self, texts: Sequence[str], *, flowing: bool) -> _Text:
        words = words_of(
            END.join(text.replace(END, " ") if END in text else text for text in texts)
        )
        numbers = self._vocabulary.numbers(words)
        ended = numbers == ENDED
        places = np.flatnonzero(~ended)
        return _Text(words, places, numbers[places], np.cumsum(ended)[places], flowing)

    def _alone(self, text: _Text) -> Iterator[Find]:
        """Give the passages that are a short needle and nothing else."""
        if not self._short or not len(text.passages):
            return
        starts = np.flatnonzero(np.diff(text.passages, prepend=-1))
        sizes = np.diff(starts, append=len(text.passages))
        known = np.minimum.reduceat(text.numbers, starts) >= 0
        for start, size in zip(
            *(each[known & (sizes < FEWEST_WORDS)].tolist() for each in (starts, sizes)),
            strict=True,
        ):
            passage = int(text.passages[start])
            for needle in self._short.get(tuple(text.numbers[start : start + size].tolist()), ()):
                yield Find(needle, passage, passage, 1.0, text.said(start, start + size))

    def _within(self, text: _Text) -> Iterator[Find]:
        """Give the places that are near enough to a longer needle."""
        written = letters(text.numbers)
        for each in self._candidates(text):
            needles = self._letters[each.needles]
            # Blanks at both ends: a needle that begins or ends outside lacks those words.
            around = ["\0" * len(needle) for needle in needles]
            windows = [
                f"{blank}{written[low:high]}{blank}"
                for blank, low, high in zip(
                    around, each.lows.tolist(), each.highs.tolist(), strict=True
                )
            ]
            least = self._least * 100 - _NEARLY
            scores = process.cpdist(
                needles, windows, scorer=fuzz.partial_ratio, score_cutoff=least, dtype=np.float64
            )
            for at in np.flatnonzero(scores).tolist():
                yield self._placed(text, each, at, windows[at])

    def _placed(self, text: _Text, candidates: _Candidates, at: int, window: str) -> Find:
        """Return where in its window a needle stands."""
        needle, low = int(candidates.needles[at]), int(candidates.lows[at])
        size, high = int(self._sizes[needle]), int(candidates.highs[at])
        place = fuzz.partial_ratio_alignment(self._letters[needle], window)
        begin = low if place is None else max(low, low + place.dest_start - size)
        end = high if place is None else min(high, low + place.dest_end - size)
        common = 0 if place is None else round(place.score / 100 * size)
        first, last = int(text.passages[begin]), int(text.passages[end - 1])
        return Find(needle, first, last, common / size, text.said(begin, end))

    def _candidates(self, text: _Text) -> Iterator[_Candidates]:
        """Give where needles may stand: around the pairs of theirs that are rarest here."""
        at, pair = self._hits(text)
        often = np.bincount(pair, minlength=len(self._known))
        by_pair = at[np.argsort(pair, kind="stable")]
        first = np.cumsum(often) - often
        seeds = self._seeds(often)
        ends = np.cumsum(often[self._pair[seeds]])
        cuts = np.searchsorted(ends, np.arange(0, ends[-1] if len(ends) else 0, _AT_ONCE))
        for some in np.split(seeds, np.unique(cuts[1:] + 1)):
            count = often[self._pair[some]]
            within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            hit = by_pair[np.repeat(first[self._pair[some]], count) + within]
            needles = np.repeat(self._owner[some], count)
            starts = hit - np.repeat(self._offset[some], count)
            yield self._windows(text, needles, starts, hit)

    def _hits(self, text: _Text) -> tuple[Places, Places]:
        """Return where pairs of needles stand, and which."""
        numbers = text.numbers
        likely = (numbers[:-1] >= 0) & (numbers[1:] >= 0)
        if not text.flowing:
            likely &= text.passages[:-1] == text.passages[1:]
        at = np.flatnonzero(likely)
        if not len(self._known) or not len(at):
            return at[:0], at[:0]
        pairs = numbers[at].astype(np.int64) * len(self._vocabulary) + numbers[at + 1]
        found = np.minimum(np.searchsorted(self._known, pairs), len(self._known) - 1)
        same = self._known[found] == pairs
        return at[same], found[same]

    def _seeds(self, often: Places) -> Places:
        """Return of each needle's pairs the rarest that cannot all be lost, if they are here."""
        order = np.lexsort((often[self._pair], self._owner))
        owners = self._owner[order]
        begins = np.searchsorted(owners, owners)
        chosen = order[np.arange(len(order)) - begins <= 2 * self._misses[owners]]
        seeds: Places = chosen[often[self._pair[chosen]] > 0]
        return seeds

    def _windows(self, text: _Text, needles: Places, starts: Places, hits: Places) -> _Candidates:
        """Return each needle once for each start, with as much around it as may be between."""
        _, once = np.unique((needles << 32) + starts + (1 << 31), return_index=True)
        needles, starts, hits = needles[once], starts[once], hits[once]
        low, high = np.zeros_like(hits), np.full_like(hits, len(text.numbers))
        if not text.flowing:
            passages = text.passages[hits]
            low = np.searchsorted(text.passages, passages)
            high = np.searchsorted(text.passages, passages, side="right")
        misses, sizes = self._misses[needles], self._sizes[needles]
        return _Candidates(
            needles,
            np.maximum(low, starts - misses),
            np.minimum(high, starts + sizes + misses),
        )
