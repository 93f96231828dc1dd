"""Where parts of a text stand in the ground, although not all of it does: same, changed, moved.

Knows squeezed texts and positions; not what they are chunks of. RapidFuzz aligns what lies between
two parts that are the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from labeler.rechunking.ground import GRAM, SURE, Ground, Hits, grams_of
from labeler.rechunking.records import Segment
from labeler.rechunking.spans import Span, common, joined, length
from labeler.rechunking.squeezing import says_something

SLACK = 300  # characters that may be put in or left out at one place
ENOUGH = 0.98  # of the best fit: another that fits as well makes the place ambiguous
_MOST_ALIKE = 100  # a gram that stands at more positions says nothing
_LEAST_BLOCK, _LEAST_AT_ENDS = 4, 8
_STEP = 64  # of so many grams in a row the first few are looked for at first
_SHIFT = 8  # characters by which what lies before the first run, or after the last, may be moved
_FAR = 2  # times its length
_SIMILAR = 0.3  # of what lies between two runs; less alike is alike by chance
_MOST_CELLS = 4_000_000


class Aligned(NamedTuple):
    """The parts that stand in the ground, how many other places fit, and whether words differ."""

    segments: list[Segment]
    others: int
    is_changed: bool


class _Fit(NamedTuple):
    """Segments that lie near each other in one source, and what of the text they could take."""

    source: int
    segments: list[Segment]
    spans: list[Span]


def align(text: str, ground: Ground, within: Span) -> Aligned:
    """Return where a squeezed text stands: the best place first, the rest of it by itself."""
    fits = _fits(text, ground, within)
    found: list[Segment] = []
    others, is_changed = 0, False
    waiting = [(0, len(text))]
    while waiting:
        free = waiting.pop()
        best = max(fits, key=lambda fit: _held(fit, free), default=None)
        if best is None or _held(best, free) < GRAM:
            continue
        others += _as_good(best, fits, free)
        chain = _chain(text, ground, best, free)
        found += chain
        is_changed |= any(_differs(text, ground, *pair) for pair in itertools.pairwise(chain))
        waiting += [
            rest
            for rest in ((free[0], chain[0].at), (chain[-1].at + chain[-1].size, free[1]))
            if rest[1] - rest[0] >= GRAM and rest != free
        ]
    return Aligned(sorted(found), others, is_changed)


def _held(fit: _Fit, free: Span) -> int:
    return length(common(fit.spans, [free]))


def _as_good(best: _Fit, fits: Sequence[_Fit], free: Span) -> int:
    """Count the other fits that take nearly all of what the best one takes."""
    taken = common(best.spans, [free])
    least = ENOUGH * length(taken)
    return sum(fit is not best and length(common(fit.spans, taken)) >= least for fit in fits)


def _fits(text: str, ground: Ground, within: Span) -> list[_Fit]:
    """Return what of the text stands where, longest runs of it, by where it would begin."""
    fits: list[_Fit] = []
    before: tuple[int, int] | None = None
    for source, segment in sorted(_runs(text, ground, within), key=_by_diagonal):
        diagonal = segment.start - segment.at
        if before is None or source != before[0] or diagonal - before[1] > SLACK:
            fits.append(_Fit(source, [], []))
        fits[-1].segments.append(segment)
        before = source, diagonal
    return [fit._replace(spans=joined(_span(each) for each in fit.segments)) for fit in fits]


def _by_diagonal(run: tuple[int, Segment]) -> tuple[int, int, int]:
    source, segment = run
    return source, segment.start - segment.at, segment.at


def _span(segment: Segment) -> Span:
    return segment.at, segment.at + segment.size


def _runs(text: str, ground: Ground, within: Span) -> Iterator[tuple[int, Segment]]:
    """Give the longest runs that a text and the ground have alike, with the number of the source.

    Each holds a gram that the ground knows. First a part of the grams is looked for, then all of
    those that lie in no run.
    """
    grams = grams_of(text)
    is_free = np.ones(len(grams), dtype=np.bool_)
    some = np.flatnonzero(np.arange(len(grams)) % _STEP < GRAM)
    for run in _runs_at(text, ground, ground.hits(grams, within, _MOST_ALIKE, some)):
        is_free[run[1].at : run[1].at + run[1].size] = False
        yield run
    is_free[some] = False
    if is_free.any():
        others = np.flatnonzero(is_free)
        yield from _runs_at(text, ground, ground.hits(grams, within, _MOST_ALIKE, others))


def _runs_at(text: str, ground: Ground, hits: Hits) -> Iterator[tuple[int, Segment]]:
    reached: dict[int, int] = {}
    for at, position in zip(hits.places.tolist(), hits.positions.tolist(), strict=True):
        diagonal = position - at
        if at < reached.get(diagonal, 0):
            continue
        low, high = ground.range_at(position)
        back = min(at, position - low)
        before = _alike_back(text[at - back : at], ground.text(position - back, position))
        ahead = min(len(text) - at, high - position)
        after = _alike(text[at : at + ahead], ground.text(position, position + ahead))
        reached[diagonal] = at + max(1, after)
        if before + after >= GRAM:
            run = Segment(at - before, position - before, before + after)
            yield ground.number_at(position), run


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts of one length begin with alike."""
    if one == other:
        return len(one)
    low, high = 0, len(one)
    while low < high - 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _alike_back(one: str, other: str) -> int:
    return _alike(one[::-1], other[::-1])


def _chain(text: str, ground: Ground, fit: _Fit, free: Span) -> list[Segment]:
    """Return the segments of one place in order, the longest first, and what lies between them."""
    low, high = ground.range_at(fit.segments[0].start)
    found: list[Segment] = []
    waiting = [(free, (low, high), fit.segments)]
    while waiting:
        at, stands, segments = waiting.pop()
        here = [each for each in (_cut(each, at, stands) for each in segments) if each]
        if here:
            best = max(here, key=lambda each: each.size)
            found.append(best)
            after = best.at + best.size, best.start + best.size
            waiting.append(((at[0], best.at), (stands[0], best.start), here))
            waiting.append(((after[0], at[1]), (after[1], stands[1]), here))
    found = _near(found)
    parts = [*itertools.starmap(_gap, itertools.pairwise(found))]
    between = [each for part in parts for each in _between(text, ground, *part)]
    ends = [
        each
        for part in _around(found, free, (low, high))
        for each in _between(text, ground, *part)
        if each.size >= _LEAST_AT_ENDS
    ]
    return sorted([*found, *between, *ends])


def _near(segments: Sequence[Segment]) -> list[Segment]:
    """Return the longest segment with those around it that are no farther off than they are long.

    What is short and far off is alike by chance.
    """
    ordered = sorted(segments)
    middle = ordered.index(max(ordered, key=lambda each: each.size))
    kept = [ordered[middle]]
    for each in ordered[middle + 1 :]:
        if each.at - kept[-1].at - kept[-1].size > _FAR * each.size:
            break
        kept.append(each)
    for each in reversed(ordered[:middle]):
        if kept[0].at - each.at - each.size > _FAR * each.size:
            break
        kept.insert(0, each)
    return kept


def _around(found: Sequence[Segment], free: Span, source: Span) -> list[tuple[Span, Span]]:
    """Return what lies just before the first segment and after the last: too short for a gram."""
    first, last = found[0], found[-1]
    wide = min(first.at - free[0], SURE)
    before = (first.at - wide, first.at), (max(source[0], first.start - wide - _SHIFT), first.start)
    at, start = last.at + last.size, last.start + last.size
    wide = min(free[1] - at, SURE)
    return [before, ((at, at + wide), (start, min(source[1], start + wide + _SHIFT)))]


def _gap(one: Segment, other: Segment) -> tuple[Span, Span]:
    """Return what lies between two segments: of the text, and of the ground."""
    return (one.at + one.size, other.at), (one.start + one.size, other.start)


def _cut(segment: Segment, at: Span, stands: Span) -> Segment | None:
    """Return what of a segment lies within a part of the text and of the ground."""
    skip = max(0, at[0] - segment.at, stands[0] - segment.start)
    start = segment.at + skip, segment.start + skip
    size = min(segment.size - skip, at[1] - start[0], stands[1] - start[1])
    return Segment(*start, size) if size >= _LEAST_BLOCK else None


def _between(text: str, ground: Ground, at: Span, stands: Span) -> Iterator[Segment]:
    """Give what is the same in a part of the text and of the ground, as RapidFuzz aligns them."""
    wide, far = at[1] - at[0], stands[1] - stands[0]
    if not wide or not far or wide * far > _MOST_CELLS:
        return
    one, other = text[at[0] : at[1]], ground.text(*stands)
    if Levenshtein.normalized_similarity(one, other) < _SIMILAR:
        return
    for block in Levenshtein.opcodes(one, other):
        size = block.src_end - block.src_start
        if block.tag == "equal" and size >= _LEAST_BLOCK:
            yield Segment(at[0] + block.src_start, stands[0] + block.dest_start, size)


def _differs(text: str, ground: Ground, one: Segment, other: Segment) -> bool:
    """Say whether words were put in, left out or changed between two segments of one place.

    What was left out where a piece begins is its heading, or what it shares with the one before.
    """
    if says_something(text[one.at + one.size : other.at]):
        return True
    left_out = one.start + one.size, other.start
    return not ground.has_edge(*left_out) and says_something(ground.text(*left_out))
