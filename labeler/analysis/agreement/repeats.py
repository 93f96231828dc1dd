"""How far graders agree, in numbers and kind words; knows grades, not where they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SMALL = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """How a grader graded chunks that came back: of ``again``, ``same`` got the same grade.

    ``near`` differ by exactly one grade; the rest differ by more.
    """

    again: int
    same: int
    near: int


def self_agreement(pairs: Iterable[tuple[int, int]]) -> SelfAgreement | None:
    """Count earlier and later grades of chunks shown again; None where none was.

    >>> self_agreement([(2, 2), (3, 2), (0, 3)])
    SelfAgreement(again=3, same=1, near=1)
    """
    apart = [abs(earlier - later) for earlier, later in pairs]
    return SelfAgreement(len(apart), apart.count(0), apart.count(1)) if apart else None


def by_grader(repeats: Iterable[tuple[str, int, int]]) -> dict[str, SelfAgreement]:
    """Count the repeats (grader, earlier grade, later grade) of each grader, by name.

    >>> by_grader([("Bob", 1, 1), ("Ann", 0, 2), ("Bob", 3, 2)])["Bob"]
    SelfAgreement(again=2, same=1, near=1)
    """
    pairs: dict[str, list[tuple[int, int]]] = {}
    for grader, *pair in repeats:
        pairs.setdefault(grader, []).append((pair[0], pair[1]))
    found = {grader: self_agreement(pairs[grader]) for grader in sorted(pairs)}
    return {grader: again for grader, again in found.items() if again is not None}


def in_words(
    found: SelfAgreement | None, who: str = "you", names: Sequence[str] = ("chunk", "chunks")
) -> str:
    """Say self-agreement in a sentence: to the grader, or of ``who`` to somebody else.

    ``names`` are what a chunk and several are called. Counts and no percentages: most have seen
    only a few again.

    >>> in_words(SelfAgreement(20, 18, 2), names=("passage", "passages"))
    'Of 20 passages that you saw again, 18 got the same grade; the other two differ by one.'
    >>> in_words(SelfAgreement(3, 3, 0), "Ann")
    'All three chunks that Ann saw again got the same grade.'
    """
    if found is None:
        return "not yet measured"
    if found.again == 1:
        end = "the same grade" if found.same else f"another grade, {_steps(found)} apart"
        return f"The one {names[0]} that {who} saw again got {end}."
    if found.same == found.again:
        again = _count(found.again)
        return f"All {again} {names[1]} that {who} saw again got the same grade."
    again = f"Of {found.again} {names[1]} that {who} saw again"
    return f"{again}, {found.same} got the same grade; {_others(found)}."


def _others(found: SelfAgreement) -> str:
    """Say how far apart the grades of the other chunks are."""
    others = found.again - found.same
    if found.near in (0, others):
        who = f"the other {_count(others)}" if found.same else f"all {_count(others)}"
        return f"{who} {_differ(others)} by {_steps(found)}"
    near, far = _count(found.near), _count(others - found.near)
    return f"{near} {_differ(found.near)} by one and {far} by more"


def _differ(number: int) -> str:
    return "differs" if number == 1 else "differ"


def _steps(found: SelfAgreement) -> str:
    return "one" if found.near else "more than one"


def _count(number: int) -> str:
    return SMALL[number] if number < len(SMALL) else str(number)
