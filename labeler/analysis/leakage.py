"""Leakage of the golden set into other texts: search for its texts in files, with lines and score.

A text is found unchanged or with a few words changed. The search starts from pairs of neighbouring
words that the text and the passages share. It uses the rarest pairs: one more
of them than a match above the threshold can lose. RapidFuzz computes the final score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

from labeler.analysis.text_similarity import (
    END_NUMBER,
    FEWEST_WORDS,
    PASSAGE_END,
    Vocabulary,
    WordNumbers,
    check_threshold,
    comparable_words,
    words_as_letters,
)
from labeler.formats import TextBlock, read_text_blocks
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import Progress, StrPath

Positions = npt.NDArray[np.int64]

_CANDIDATES_AT_ONCE = 1 << 17  # candidates scored together
_ROUNDING = 1e-6  # tolerance for rounded shares
# A short text is compared with these parts of a passage, without what may stand before it in a
# prompt or a list: "2. ", "- ", "User 3: ".
_PART_ENDS = re.compile(r"[\r\n\t\v\f\u2028\u2029]+|(?<=[.!?…])\s+|(?<=[。！？])")
_PART_LABEL = re.compile(
    r"^(?:[\W_]+|\(?(?:\d{1,4}|[a-z])[.)]\s)*"
    r"(?:(?:q|a|query|question|user|human|customer|input|prompt|search|title)\s*\d{0,4}\s*[:：])?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Needle:
    """A text of the golden set that should occur nowhere else; ``part`` is the query's field."""

    query_id: str
    part: str
    text: str


class NeedleMatch(NamedTuple):
    """A needle, by number, found in the passages from number ``first`` to ``last``.

    ``score`` is the share of its words found there in their order, in a span of as many words as
    it has. ``words`` is the text of the span.
    """

    needle: int
    first: int
    last: int
    score: float
    words: str

    @property
    def is_exact(self) -> bool:
        """Whether all words were found, in their order and with none between."""
        return self.score > 1 - _ROUNDING


class _IndexedText(NamedTuple):
    """The words of passages; position, number and passage of each word that is not an end."""

    words: Sequence[str]
    places: Positions
    numbers: WordNumbers
    passages: Positions
    flowing: bool

    def between(self, first: int, last: int) -> str:
        """Return the text from word ``first`` to before word ``last``."""
        found = self.words[self.places[first] : self.places[last - 1] + 1]
        return " ".join(word for word in found if word != PASSAGE_END)


class _Candidates(NamedTuple):
    """Needles by number, and the range of words in which each may be."""

    needles: Positions
    lows: Positions
    highs: Positions


class NeedleFinder:
    """A search for needles in passages, prepared once for all files.

    A needle of fewer than `FEWEST_WORDS` words occurs in longer sentences by chance, so it is
    found only where it is a whole passage, or a line or a sentence of one. ``threshold`` is the
    lowest score of a match of the others, from 0.5 to 1.

    >>> finder = NeedleFinder([Needle("q1", "query", "How do I reset my password?")], 0.8)
    >>> [(find.score, find.words) for find in finder.find(["Q: how do i change my PASSWORD ..."])]
    [(0.8333333333333334, 'how do i change my password')]
    """

    def __init__(self, needles: Sequence[Needle], threshold: float) -> None:
        self.needles = needles
        self._least = check_threshold(threshold)
        words = [comparable_words(needle.text.replace(PASSAGE_END, " ")) for needle in needles]
        self._vocabulary = Vocabulary(words)
        numbers = [self._vocabulary.numbers(each) for each in words]
        self._letters = np.array([words_as_letters(each) for each in numbers], dtype=object)
        self._sizes = np.array([len(each) for each in words], dtype=np.int64)
        # How many words of a needle a match may miss; each word is in two pairs.
        self._misses = np.floor(self._sizes * (1 - threshold) + _ROUNDING).astype(np.int64)
        self._short: dict[tuple[str, ...], list[int]] = {}
        for needle in np.flatnonzero((self._sizes > 0) & (self._sizes < FEWEST_WORDS)).tolist():
            self._short.setdefault(tuple(words[needle]), []).append(needle)
        self._index_first_words([numbers[at] for each in self._short.values() for at in each[:1]])
        self._index_pairs(numbers)

    def _index_first_words(self, short: Sequence[WordNumbers]) -> None:
        """Index which words are first, second ... in short needles, by the size of these."""
        sizes = {len(each) for each in short}
        # the last row stays false: it is that of unknown words
        self._at_place = {
            size: np.zeros((size, len(self._vocabulary) + 1), dtype=np.bool_) for size in sizes
        }
        for each in short:
            self._at_place[len(each)][np.arange(len(each)), each] = True

    def _index_pairs(self, numbers: Sequence[WordNumbers]) -> None:
        """Split the longer needles into word pairs: number of the pair, offset and needle."""
        long = np.flatnonzero(self._sizes >= FEWEST_WORDS)
        none = np.empty(0, dtype=np.int64)
        pairs = [self._pairs(numbers[needle]) for needle in long.tolist()]
        self._known, self._pair = np.unique(np.concatenate([none, *pairs]), return_inverse=True)
        self._offset = np.concatenate([none, *(np.arange(len(each)) for each in pairs)])
        self._owner = np.repeat(long, [len(each) for each in pairs])

    def _pairs(self, numbers: WordNumbers) -> Positions:
        wide = numbers.astype(np.int64)
        pairs: Positions = wide[:-1] * len(self._vocabulary) + wide[1:]
        return pairs

    @property
    def longest(self) -> int:
        """The number of words of the longest needle."""
        return int(self._sizes.max(initial=0))

    def find(self, texts: Sequence[str], *, flowing: bool = False) -> list[NeedleMatch]:
        """Return the matches in passages: the best one of each needle that begins in a passage.

        Where passages are ``flowing`` a match may continue in those that follow.
        """
        text = self._read(texts, flowing=flowing)
        found = sorted(
            [*self._short_matches(text, texts), *self._long_matches(text)],
            key=lambda find: -find.score,
        )
        taken: dict[tuple[int, int], NeedleMatch] = {}
        for find in found:  # best first: later matches that overlap it are dropped
            touched = range(find.first, find.last + 1)
            if not any((find.needle, passage) in taken for passage in touched):
                taken.update({(find.needle, passage): find for passage in touched})
        return sorted(set(taken.values()), key=lambda find: (find.first, find.needle))

    def _read(self, texts: Sequence[str], *, flowing: bool) -> _IndexedText:
        words = comparable_words(
            PASSAGE_END.join(
                text.replace(PASSAGE_END, " ") if PASSAGE_END in text else text for text in texts
            )
        )
        numbers = self._vocabulary.numbers(words)
        ended = numbers == END_NUMBER
        places = np.flatnonzero(~ended)
        return _IndexedText(words, places, numbers[places], np.cumsum(ended)[places], flowing)

    def _short_matches(self, text: _IndexedText, texts: Sequence[str]) -> Iterator[NeedleMatch]:
        """Yield the passages that are a short needle, or hold it as a line or a sentence."""
        for passage in self._passages_to_split(text):
            whole = texts[passage].replace(PASSAGE_END, " ")
            parts = _PART_ENDS.split(whole)
            unlabelled = (_PART_LABEL.sub("", part) for part in parts)
            said = {tuple(comparable_words(part)) for part in (whole, *parts, *unlabelled)}
            for words in said & self._short.keys():
                for needle in self._short[words]:
                    yield NeedleMatch(needle, passage, passage, 1.0, " ".join(words))

    def _passages_to_split(self, text: _IndexedText) -> list[int]:
        """Return the passages that may hold the words of a short needle next to each other."""
        none = len(self._vocabulary)
        numbers = np.where(text.numbers < 0, none, text.numbers)
        found = [np.empty(0, dtype=np.int64)]
        for size, at_place in self._at_place.items():
            at = np.flatnonzero(at_place[0][numbers[: max(len(numbers) - size + 1, 0)]])
            for place in range(1, size):
                at = at[at_place[place][numbers[at + place]]]
            found.append(text.passages[at[text.passages[at] == text.passages[at + size - 1]]])
        passages: list[int] = np.unique(np.concatenate(found)).tolist()
        return passages

    def _long_matches(self, text: _IndexedText) -> Iterator[NeedleMatch]:
        """Yield the matches of longer needles that reach the threshold."""
        written = words_as_letters(text.numbers)
        for each in self._candidates(text):
            needles = self._letters[each.needles]
            # Padding at both ends: words of a needle that lie outside the window count as missing.
            around = ["\0" * len(needle) for needle in needles]
            windows = [
                f"{blank}{written[low:high]}{blank}"
                for blank, low, high in zip(
                    around, each.lows.tolist(), each.highs.tolist(), strict=True
                )
            ]
            least = self._least * 100 - _ROUNDING
            scores = process.cpdist(
                needles, windows, scorer=fuzz.partial_ratio, score_cutoff=least, dtype=np.float64
            )
            for at in np.flatnonzero(scores).tolist():
                yield self._located(text, each, at, windows[at])

    def _located(
        self, text: _IndexedText, candidates: _Candidates, at: int, window: str
    ) -> NeedleMatch:
        """Return the match with the exact range of a needle in its window."""
        needle, low = int(candidates.needles[at]), int(candidates.lows[at])
        size, high = int(self._sizes[needle]), int(candidates.highs[at])
        place = fuzz.partial_ratio_alignment(self._letters[needle], window)
        begin = low if place is None else max(low, low + place.dest_start - size)
        end = high if place is None else min(high, low + place.dest_end - size)
        common = 0 if place is None else round(place.score / 100 * size)
        first, last = int(text.passages[begin]), int(text.passages[end - 1])
        return NeedleMatch(needle, first, last, common / size, text.between(begin, end))

    def _candidates(self, text: _IndexedText) -> Iterator[_Candidates]:
        """Yield the ranges in which needles may be: around their pairs that are rarest here."""
        at, pair = self._hits(text)
        often = np.bincount(pair, minlength=len(self._known))
        by_pair = at[np.argsort(pair, kind="stable")]
        first = np.cumsum(often) - often
        seeds = self._seeds(often)
        ends = np.cumsum(often[self._pair[seeds]])
        cuts = np.searchsorted(
            ends, np.arange(0, ends[-1] if len(ends) else 0, _CANDIDATES_AT_ONCE)
        )
        for some in np.split(seeds, np.unique(cuts[1:] + 1)):
            count = often[self._pair[some]]
            within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            hit = by_pair[np.repeat(first[self._pair[some]], count) + within]
            needles = np.repeat(self._owner[some], count)
            starts = hit - np.repeat(self._offset[some], count)
            yield self._windows(text, needles, starts, hit)

    def _hits(self, text: _IndexedText) -> tuple[Positions, Positions]:
        """Return the positions of pairs of needles in the text, and the pairs."""
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

    def _seeds(self, often: Positions) -> Positions:
        """Return the rarest pairs of each needle, one more than a match can lose.

        Those that the text does not have are left out.
        """
        order = np.lexsort((often[self._pair], self._owner))
        owners = self._owner[order]
        begins = np.searchsorted(owners, owners)
        chosen = order[np.arange(len(order)) - begins <= 2 * self._misses[owners]]
        seeds: Positions = chosen[often[self._pair[chosen]] > 0]
        return seeds

    def _windows(
        self, text: _IndexedText, needles: Positions, starts: Positions, hits: Positions
    ) -> _Candidates:
        """Return one range per needle and start, wide enough for words inserted in a match."""
        _, once = np.unique((needles << 32) + starts + (1 << 31), return_index=True)
        needles, starts, hits = needles[once], starts[once], hits[once]
        low, high = np.zeros_like(hits), np.full_like(hits, len(text.numbers))
        if not text.flowing:
            passages = text.passages[hits]
            low = np.searchsorted(text.passages, passages)
            high = np.searchsorted(text.passages, passages, side="right")
        misses, sizes = self._misses[needles], self._sizes[needles]
        return _Candidates(
            needles, np.maximum(low, starts - misses), np.minimum(high, starts + sizes + misses)
        )


class Leak(NamedTuple):
    """A needle found in a file, on a line and in a ``field`` there; in Parquet a line is a row.

    ``score`` and ``words`` are those of `NeedleMatch`.
    """

    needle: Needle
    file: str
    line: int
    field: str
    score: float
    words: str
    is_exact: bool


def leaks_in(
    path: StrPath, finder: NeedleFinder, progress: Progress | None = None, limits: Limits = LIMITS
) -> Iterator[Leak]:
    """Yield the leaks in a file, line by line, with one block of it in memory at a time."""
    for passages, find in _matches_by_block(read_text_blocks(path, progress, limits), finder):
        yield Leak(
            finder.needles[find.needle],
            str(path),
            passages.lines[find.first],
            passages.fields[find.first],
            find.score,
            find.words,
            find.is_exact,
        )


def _matches_by_block(
    blocks: Iterable[TextBlock], finder: NeedleFinder
) -> Iterator[tuple[TextBlock, NeedleMatch]]:
    """Yield matches with their block; one that may continue is searched again in the next."""
    rest = TextBlock([], [], [], flowing=True)
    waiting: list[tuple[TextBlock, NeedleMatch]] = []
    begun: dict[int, int] = {}  # last line of each match that began before the rest
    for each in blocks:
        block = _joined_blocks(rest, each) if each.flowing else each
        cut = _tail_start(block.texts, finder.longest) if each.flowing else len(block.texts)
        known, begun, waiting = begun, {}, []
        for find in finder.find(block.texts, flowing=block.flowing):
            if block.lines[find.first] <= known.get(find.needle, 0):
                continue
            if find.first >= cut:
                waiting.append((block, find))
                continue
            if find.last >= cut:
                begun[find.needle] = block.lines[find.last]
            yield block, find
        rest = block.since(cut)
    yield from waiting


def _joined_blocks(rest: TextBlock, block: TextBlock) -> TextBlock:
    return TextBlock(
        [*rest.lines, *block.lines],
        [*rest.fields, *block.fields],
        [*rest.texts, *block.texts],
        flowing=True,
    )


def _tail_start(texts: Sequence[str], words: int) -> int:
    """Return the last passage that begins at least ``words`` words before the end, or 0."""
    for number in range(len(texts) - 1, -1, -1):
        words -= len(comparable_words(texts[number]))
        if words <= 0:
            return number
    return 0
