"""What comes next: from an empty golden set to one whose scores can be read."""

from __future__ import annotations

import pytest

from labeler.ui.data.setup_steps import (
    ALL,
    CHUNKS,
    GRADE,
    GRADE_ON,
    INVITE,
    MATCHING,
    QUERIES,
    RUN,
    SCORE,
    SetupCounts,
    next_steps,
)

READY = SetupCounts(queries=9, readable=90, runs=2, matching=2)


@pytest.mark.parametrize(
    ("there", "steps"),
    [
        (SetupCounts(), [ALL]),
        (SetupCounts(runs=2), [QUERIES, CHUNKS]),
        (SetupCounts(queries=9), [CHUNKS, RUN]),
        (SetupCounts(queries=9, readable=90), [RUN]),
        (SetupCounts(readable=90, runs=2), [QUERIES]),
        (SetupCounts(queries=9, readable=90, runs=2), [MATCHING]),
        (SetupCounts(queries=9, runs=2), [MATCHING, CHUNKS]),
        (SetupCounts(queries=9, runs=2, matching=1), [CHUNKS]),
        (SetupCounts(queries=9, runs=2, matching=1, grades=7), [CHUNKS, SCORE]),
        (READY, [INVITE, GRADE]),
        (SetupCounts(9, 90, 2, 2, invited=3), [GRADE]),
        (SetupCounts(9, 90, 2, 1, grades=7), [SCORE, INVITE, GRADE_ON]),
        (SetupCounts(9, 90, 2, 2, grades=7, invited=1), [SCORE, GRADE_ON]),
        (SetupCounts(9, 90, 0, 0, grades=7), [RUN]),
    ],
)
def test_what_comes_next_is_what_is_lacking_and_then_what_is_possible(there, steps):
    assert next_steps(there) == steps


def test_there_is_always_something_to_do_next():
    counts = [0, 1]
    every = [
        SetupCounts(q, c, r, min(q, r, m), g, i)
        for q in counts
        for c in counts
        for r in counts
        for m in counts
        for g in counts
        for i in counts
    ]
    assert all(next_steps(there) for there in every)
