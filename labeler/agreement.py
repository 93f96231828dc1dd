"""How far graders agree, in numbers and kind words; knows grades, not where they are stored."""

from __future__ import annotations

from collections.abc import Iterable
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


def in_words(found: SelfAgreement | None, name: str | None = None) -> str:
    """Say self-agreement in a sentence: to the grader, or of the one called ``name``.

    Counts and no percentages: most have seen only a few chunks again.

    >>> in_words(SelfAgreement(20, 18, 2))
    'Shown again, you gave 18 of 20 chunks the same grade; the other two differ by one.'
    >>> in_words(SelfAgreement(3, 3, 0), "Ann")
    'Ann gave all three chunks the same grade.'
    """
    if found is None:
        return "not yet measured"
    gave = "Shown again, you gave" if name is None else f"{name} gave"
    if found.again == 1:
        end = "the same grade" if found.same else f"another grade, {_steps(found)} apart"
        return f"{gave} the one chunk {end}."
    if found.same == found.again:
        return f"{gave} all {_count(found.again)} chunks the same grade."
    return f"{gave} {found.same} of {found.again} chunks the same grade; {_others(found)}."


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
