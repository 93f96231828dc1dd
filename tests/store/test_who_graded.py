"""Who graded a pair, for the opened chunk of a query."""

from __future__ import annotations

import pytest

from labeler.model import GoldenGrade, Judgment
from labeler.store import Store

pytestmark = pytest.mark.parametrize("kept", ["file", "postgres"], indirect=True)


def test_who_graded_a_pair_is_said_with_the_kind_and_the_newest_last(filled: Store, golden):
    named = GoldenGrade("q2", "c2", 2, ("Eva", "Ola"))
    filled.golden_loads.add(golden([named]))
    for name in ("Ann", "Bob", "Lea"):
        filled.people.add(name)
    filled.judgments.add(Judgment("e1", "q1", "c2", "Ann", grade=0))
    filled.judgments.add(Judgment("e2", "q1", "c2", "Bob", grade=2))
    filled.judgments.add(Judgment("e3", "q1", "c2", "Ann", grade=1))
    filled.adjudication.adjudicate(
        Judgment("e4", "q1", "c2", "Lea", grade=3, kind="adjudicate"), None
    )
    assert filled.activity.who_graded("q1", "c2") == [
        *(("Bea", "import", 0), ("Bob", "grade", 2), ("Ann", "grade", 1), ("Lea", "adjudicate", 3)),
    ]
    assert filled.activity.who_graded("q2", "c2") == [("Eva, Ola", "import", 2)]
    assert filled.activity.who_graded("q2", "none") == []
