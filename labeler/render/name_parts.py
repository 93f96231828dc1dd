"""Long run names split into parts: differing parts as columns, shared parts shown once.

If runs have parameters, each parameter is a part. If not, a name is split at its separators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from labeler.render.short_names import LONGEST_SHORT, short_names

SEPARATORS = ("_", "/", "|", " ")
MOST_COLUMNS = 4
BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class NameParts:
    """The parts of each run's name in columns, and those ``shared`` by all.

    ``titles`` are the names of parameters, empty if the columns are parts by position.
    """

    titles: tuple[str, ...]
    of: Mapping[str, tuple[str, ...]]
    shared: tuple[str, ...]

    def called(self, run: str) -> str:
        """Return the parts that tell a run from the others, as one text."""
        return BETWEEN.join(filter(None, self.of[run]))


def called(names: Iterable[str]) -> dict[str, str]:
    """Return for each name the parts that tell it from the others, or else its short form.

    >>> names = [f"2026-11-{n}_production_top50_{m}" for n, m in [(8, "a"), (9, "b")]]
    >>> list(called(names).values()), called(["bm25"])
    (['2026-11-8 · a', '2026-11-9 · b'], {'bm25': 'bm25'})
    """
    whole = tuple(dict.fromkeys(names))
    parts = name_parts(whole)
    return short_names(whole) if parts is None else {run: parts.called(run) for run in whole}


@lru_cache(maxsize=32)
def name_parts(names: tuple[str, ...]) -> NameParts | None:
    """Return the parts of names by position; None where they are short or share no part.

    Parts that all names have are shared. A name with fewer parts leaves some columns empty: those
    where its parts would be least like the others'.
    """
    if len(names) < 2 or max(map(len, names)) <= LONGEST_SHORT:
        return None
    for separator in SEPARATORS:
        split = {name: [part for part in name.split(separator) if part] for name in names}
        shared = [part for part in split[names[0]] if all(part in split[name] for name in names)]
        if not shared:
            continue
        own = {name: [part for part in split[name] if part not in shared] for name in names}
        most = max(map(len, own.values()))
        rows = _aligned(own, most)
        is_told_apart = len(set(rows.values())) == len(names) and all(map(any, rows.values()))
        if 0 < most <= 2 * MOST_COLUMNS and is_told_apart:
            return NameParts((), {name: _few(row) for name, row in rows.items()}, tuple(shared))
    return None


def parameter_parts(params: Mapping[str, Mapping[str, str]]) -> NameParts | None:
    """Return runs' parameters as parts; None where a run has none, or two runs have the same.

    >>> found = parameter_parts({"a": {"k": "60", "model": "m"}, "b": {"k": "20", "model": "m"}})
    >>> found.titles, found.of["b"], found.shared
    (('k',), ('20',), ('model m',))
    """
    if not params or not all(params.values()):
        return None
    names = list(dict.fromkeys(name for given in params.values() for name in given))
    values = {name: [given.get(name, "") for given in params.values()] for name in names}
    own = [name for name in names if len(set(values[name])) > 1]
    rows = {run: tuple(given.get(name, "") for name in own) for run, given in params.items()}
    if not own or len(own) > 2 * MOST_COLUMNS or len(set(rows.values())) < len(rows):
        return None
    shared = tuple(f"{name} {values[name][0]}" for name in names if name not in own)
    return NameParts(tuple(own), rows, shared)


def _aligned(own: Mapping[str, Sequence[str]], most: int) -> dict[str, tuple[str, ...]]:
    """Return the parts in ``most`` columns, each where names with all parts have similar ones."""
    known: list[set[str]] = [set() for _ in range(most)]
    for parts in own.values():
        if len(parts) == most:
            for column, part in zip(known, parts, strict=True):
                column.add(part)
    return {name: _placed(parts, known) for name, parts in own.items()}


def _placed(parts: Sequence[str], known: Sequence[set[str]]) -> tuple[str, ...]:
    """Return parts in order, with gaps placed so that columns hold similar parts."""
    most = len(known)
    best: dict[tuple[int, int], tuple[float, tuple[str, ...]]] = {(0, 0): (0.0, ())}
    for column, taken in product(range(most), range(len(parts) + 1)):
        found = best.get((column, taken))
        if found is None:
            continue
        score, row = found
        steps = [((column + 1, taken), score, (*row, ""))]
        if taken < len(parts):
            alike = _likeness(parts[taken], known[column])
            steps.append(((column + 1, taken + 1), score + alike, (*row, parts[taken])))
        for place, value, longer in steps:
            if place not in best or value > best[place][0]:
                best[place] = (value, longer)
    return best[most, len(parts)][1]


def _likeness(part: str, column: set[str]) -> float:
    """Return how similar a part is to those of a column: equal, or with the same first letters."""
    if part in column:
        return 2.0
    same = max((_same_beginning(part, each) for each in column), default=0)
    return 0.5 + same / (1 + len(part))


def _same_beginning(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _few(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row of at most `MOST_COLUMNS` columns; the last one holds all further parts."""
    if len(row) <= MOST_COLUMNS:
        return row
    rest = BETWEEN.join(filter(None, row[MOST_COLUMNS - 1 :]))
    return (*row[: MOST_COLUMNS - 1], rest)
