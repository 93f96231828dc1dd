"""Finds of a file with the lines they stand on, block after block; opens no file itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from labeler.analysis.leakage.finding import Find, Finder, Needle
from labeler.analysis.leakage.words import words_of
from labeler.formats import Passages, read_passages
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.reading import Progress, StrPath


class Leak(NamedTuple):
    """A needle that was found: in which file, on which line, and there in which ``field``.

    Of Parquet the line is the row. ``score`` and ``words`` are as `Find` has them.
    """

    needle: Needle
    file: str
    line: int
    field: str
    score: float
    words: str
    is_exact: bool


def leaks_in(
    path: StrPath, finder: Finder, progress: Progress | None = None, limits: Limits = LIMITS
) -> Iterator[Leak]:
    """Give what is found in a file, line by line; only a block of it is in memory at a time."""
    for passages, find in _found(read_passages(path, progress, limits), finder):
        yield Leak(
            finder.needles[find.needle],
            str(path),
            passages.lines[find.first],
            passages.fields[find.first],
            find.score,
            find.words,
            find.is_exact,
        )


def _found(blocks: Iterable[Passages], finder: Finder) -> Iterator[tuple[Passages, Find]]:
    """Give finds with their block; what may go on in the next block is looked for there again."""
    rest = Passages([], [], [], flowing=True)
    waiting: list[tuple[Passages, Find]] = []
    begun: dict[int, int] = {}  # until which line a needle goes that began before the rest
    for each in blocks:
        block = _after(rest, each) if each.flowing else each
        cut = _tail(block.texts, finder.longest) if each.flowing else len(block.texts)
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


def _after(rest: Passages, block: Passages) -> Passages:
    return Passages(
        [*rest.lines, *block.lines],
        [*rest.fields, *block.fields],
        [*rest.texts, *block.texts],
        flowing=True,
    )


def _tail(texts: Sequence[str], words: int) -> int:
    """Return from which passage on there are at least so many words."""
    for number in range(len(texts) - 1, -1, -1):
        words -= len(words_of(texts[number]))
        if words <= 0:
            return number
    return 0
