"""Short forms of long run names: the parts that all names share become an ellipsis.

Names are shortened on screen only. They are stored, compared and downloaded whole.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile

from labeler.model.results import Statement

RUN_LETTERS = ("A", "B")  # for two runs, if there is no room for their names
ELLIPSIS = "…"
LONGEST_SHORT = 24  # characters: if no name is longer, none is folded
LEAST_END, LEAST_MIDDLE = 4, 12  # shared characters that are worth folding
TOO_LONG = 80  # characters: a name that is still longer may be folded inside its words
CUT = (40, 19)  # letters kept at the beginning and the end of a name that is still too long
SEPARATORS = frozenset(" _-./\\:;,+=()[]{}@|#~&")
JOINER = "\u200d"
INVISIBLE_CATEGORIES = ("Mn", "Mc", "Me", "Cf")
SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"

Pieces = Sequence[str]


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return a short form of each name, with an ellipsis for the parts that all names share.

    The common beginning, the common end and long common parts in the middle are folded. Names are
    folded between words only, never inside a part that differs; a number keeps the word before it.
    If names are still long, those with the same beginning are folded as a group. A name that is
    still too long keeps only its beginning and its end. No two short forms are equal. A single
    name, short names and names with nothing in common stay whole up to 80 characters.

    >>> short = short_names(f"2026-11_index_size-{n}_{m}_top-50" for n, m in [(8, "a"), (16, "b")])
    >>> list(short.values())
    ['…size-8_a…', '…size-16_b…']
    >>> list(short_names(["bm25", *short]).values())
    ['bm25', '…size-8_a…', '…size-16_b…']
    """
    whole = tuple(dict.fromkeys(names))
    return dict(zip(whole, _shortened(whole), strict=True))


def shorten_runs(said: Statement, short: Mapping[str, str]) -> Statement:
    """Return a statement that calls the runs it is about by their ``short`` names.

    >>> said = Statement("few", "Half of v1-long is unjudged.", numbers={"runs": ["v1-long"]})
    >>> shorten_runs(said, {"v1-long": "v1…"}).sentence
    'Half of v1… is unjudged.'
    """
    sentence = said.sentence
    for run in said.numbers.get("runs", ()):
        sentence = sentence.replace(run, short.get(run, run))
    return replace(said, sentence=sentence)


@lru_cache(maxsize=16)  # a page needs the same names many times, and long names are slow
def _shortened(whole: tuple[str, ...]) -> Sequence[str]:
    short: Sequence[str] = whole
    if len(whole) > 1 and max(map(len, whole)) > LONGEST_SHORT:
        short = _fold_alike(_fold(list(map(_words, whole))), _words, 1)
        if max(map(len, short)) > TOO_LONG:
            torn = _fold_alike(_fold(list(map(_letters, whole))), _letters, LEAST_END)
            pairs = zip(short, torn, strict=True)
            short = [other if len(name) > TOO_LONG else name for name, other in pairs]
    # a name may hold an ellipsis itself
    ways = (list(map(_cut, short)), short, list(map(_cut, whole)))
    return next((way for way in ways if len(set(way)) == len(whole)), whole)


def _cut(name: str) -> str:
    """Return a name without its middle, if it is too long."""
    letters = _letters(name)
    start, end = CUT
    if len(name) <= TOO_LONG or len(letters) <= start + end:
        return name
    return f"{''.join(letters[:start])}{ELLIPSIS}{''.join(letters[-end:])}"


def _fold_alike(names: list[str], cut: Callable[[str], Pieces], most: int) -> list[str]:
    """Fold names that share their first pieces, up to ``most``; leave the others as they are.

    If several groups of names are folded, each keeps its first pieces.
    """
    if max(map(len, names)) <= LONGEST_SHORT:
        return names
    kinds: dict[Pieces, list[str]] = {}
    for name in names:
        kinds.setdefault(tuple(cut(name)[:most]), []).append(name)
    several = {first: alike for first, alike in kinds.items() if len(alike) > 1}
    if len(kinds) < 2:
        return names
    short: dict[str, str] = {}
    for first, alike in several.items():
        kept = first if len(several) > 1 else ()
        folded = _fold([cut(name)[len(kept) :] for name in alike])
        short |= zip(alike, (f"{''.join(kept)}{rest}" for rest in folded), strict=True)
    return [short.get(name, name) for name in names]


def _fold(names: Sequence[Pieces]) -> list[str]:
    """Return the names with their common beginning, middle parts and end folded."""
    start, end = _ends(names)
    middles = [name[start : len(name) - end] for name in names]
    before, after = (ELLIPSIS if count else "" for count in (start, end))
    return [
        f"{before}{middle.removeprefix(before).removesuffix(after)}{after}"
        for middle in _fold_between(middles)
    ]


def _ends(names: Sequence[Pieces]) -> tuple[int, int]:
    """Count the pieces of the common beginning and of the common end that are worth folding."""
    shortest = min(map(len, names))
    start = _same_beginning(names)
    same_end = _same_beginning([name[::-1] for name in names])
    end = min(same_end, shortest - start)
    while start + end and any(
        SEPARATORS.issuperset(name[start : len(name) - end]) for name in names
    ):
        if start:
            start -= 1
            end = min(same_end, shortest - start)
        else:
            end -= 1
    if any(_begins_with_number(name[start:]) for name in names):
        start = _before_last_word(names[0][:start])
    some = names[0]
    if len("".join(some[:start])) < LEAST_END:
        start = 0
    if len("".join(some[len(some) - end :])) < LEAST_END:
        end = 0
    return start, end


def _same_beginning(names: Sequence[Pieces]) -> int:
    places = zip(*names, strict=False)  # as far as the shortest goes
    return sum(1 for _ in takewhile(lambda found: len(set(found)) == 1, places))


def _begins_with_number(pieces: Pieces) -> bool:
    return bool(pieces) and pieces[0].isdigit()


def _before_last_word(pieces: Pieces) -> int:
    """Count the pieces before the last word; there may be none."""
    words = [at for at, piece in enumerate(pieces) if piece not in SEPARATORS]
    return words[-1] if words else 0


def _fold_between(parts: Sequence[Pieces]) -> list[str]:
    """Return the parts as text, with each longest sequence of pieces that all share folded."""
    run = _longest_common_run(parts)
    cuts = [(at, at + len(run)) for part in parts for at in [_index_of_run(run, part)]]
    rests = [part[end:] for part, (_, end) in zip(parts, cuts, strict=True)]
    if any(map(_begins_with_number, rests)):
        run = run[: _before_last_word(run)]
        cuts = [(at, at + len(run)) for at, _ in cuts]
    if len("".join(run)) < LEAST_MIDDLE:
        return ["".join(part) for part in parts]
    left = _fold_between([part[:at] for part, (at, _) in zip(parts, cuts, strict=True)])
    right = _fold_between([part[end:] for part, (_, end) in zip(parts, cuts, strict=True)])
    return [
        f"{one.removesuffix(ELLIPSIS)}{ELLIPSIS}{other.removeprefix(ELLIPSIS)}"
        for one, other in zip(left, right, strict=True)
    ]


def _longest_common_run(parts: Sequence[Pieces]) -> Pieces:
    """Return the longest sequence of pieces that every part has; empty if there is none."""
    none, most = 0, min(map(len, parts))
    found: Pieces = ()
    while none < most:  # if all parts share a sequence, they share every shorter one inside it
        length = (none + most + 1) // 2
        common = set.intersection(*(set(_runs(part, length)) for part in parts))
        if common:
            found, none = max(common, key=lambda run: (len("".join(run)), run)), length
        else:
            most = length - 1
    return found


def _runs(pieces: Pieces, length: int) -> Iterator[tuple[str, ...]]:
    for at in range(len(pieces) - length + 1):
        yield tuple(pieces[at : at + length])


def _index_of_run(run: Pieces, pieces: Pieces) -> int:
    return next(at for at, found in enumerate(_runs(pieces, len(run))) if found == tuple(run))


def _words(name: str) -> list[str]:
    """Split a name into words and the separators between them, one by one."""
    pieces: list[str] = []
    for letter in _letters(name):
        if pieces and letter not in SEPARATORS and pieces[-1] not in SEPARATORS:
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return pieces


def _letters(name: str) -> list[str]:
    """Split a name into letters, each with its combining marks; joined emoji stay together."""
    letters: list[str] = []
    for character in name:
        if letters and _continues(letters[-1], character):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _continues(letter: str, character: str) -> bool:
    """Say whether a character belongs to the letter before it."""
    is_unseen = unicodedata.category(character) in INVISIBLE_CATEGORIES
    return is_unseen or letter.endswith(JOINER) or character in SKIN_TONES
