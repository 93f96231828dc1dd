"""Whether a verdict survives other readings of the grades, in a sentence and as rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from labeler.analysis.comparison.surviving import Retold, Survival
from labeler.evaluation import Record, names_of, signed
from labeler.model import counted, listed, upper

NAMED = 3
"""So many graders are named; others are counted."""


def survival_in_words(found: Survival, names: tuple[str, str]) -> str:
    """Say whether the same run is ahead with every grader's own grades; nothing if too few differ.

    ``names`` are what A and B are called.
    """
    if found.why_silent is not None:
        return ""
    return _turns(found, names) if found.turned else _holds(found, names)


def _holds(found: Survival, names: tuple[str, str]) -> str:
    telling, way = found.telling, found.golden.row.direction
    which = _whose(found)
    if not way:
        return f"Neither is visibly ahead by {found.heading} {which}"
    first, other = names[::-1] if way > 0 else names
    doubtful = [each for each in telling if not found.is_better(each)]
    if not doubtful:
        return f"{first} is better than {other} by {found.heading} {which}"
    ahead = f"{first} is ahead of {other} by {found.heading} {which}"
    if len(doubtful) == len(telling):
        return f"{ahead}, which may be chance"
    return f"{ahead}; with {_listed(doubtful)} it may be chance"


def _whose(found: Survival) -> str:
    if len(found.telling) == len(found.graders):
        return "under every grader"
    if len(found.telling) == 1:
        return f"with {found.telling[0].reading.called}"
    return f"with the own grades of {_listed(found.telling)}"


def _turns(found: Survival, names: tuple[str, str]) -> str:
    said = [_turned(found, each, names) for each in found.turned[:NAMED]]
    left = len(found.turned) - NAMED
    more = [counted(left, "more grader changes", "more graders change")] if left > 0 else []
    return upper("; ".join([*said, *(f"{each} it, too" for each in more)]))


def _turned(found: Survival, each: Retold, names: tuple[str, str]) -> str:
    way, pairs = each.row.direction, f"{each.changed:,} pairs differ"
    whose = f"with {each.reading.grader}'s grades"
    if math.isnan(each.row.delta):
        return f"{whose} {found.heading} has no value ({pairs})"
    if not way:
        return f"{whose} neither is visibly ahead by {found.heading} ({pairs})"
    verb = "better" if found.is_better(each) else "ahead"
    change = signed(each.row.delta)
    return f"{whose} {names[way > 0]} is {verb} by {found.heading} ({change}; {pairs})"


def _listed(graders: Sequence[Retold]) -> str:
    return listed([str(each.reading.grader) for each in graders], NAMED)


def unchanged_in_words(found: Survival) -> str:
    """Say which readings change no pair; nothing where each does."""
    same = [each.reading.called for each in found.told[1:] if not each.changed]
    return f"Nothing changes with: {', '.join(same)}" if same else ""


def survival_records(found: Iterable[Survival], a: str, b: str) -> list[Record]:
    """Return what programs get: a row for each measure and reading, the golden grades first.

    ``p`` is of a test of that difference alone.
    """
    return [
        {
            "run_a": a,
            "run_b": b,
            "reading": each.reading.kind,
            "grader": each.reading.grader,
            "pairs_changed": each.changed,
            **names,
            "a": each.row.a,
            "b": each.row.b,
            "delta": each.row.delta,
            "wins": each.row.wins,
            "ties": each.row.ties,
            "losses": each.row.losses,
            "n": each.row.n,
            "undefined": each.row.undefined,
            "p": each.p,
        }
        for survival in found
        for each in survival.told
        for names in names_of(each.row.measure)
    ]
