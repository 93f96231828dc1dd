"""Rankings and measures as hypothesis draws them, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from labeler.measures import (
    MEASURES,
    PROMPT,
    Cutoff,
    Definition,
    Floats,
    Hits,
    Measure,
    parse,
    score,
)

GRADES = st.integers(0, 3)
RANKINGS = st.lists(st.none() | GRADES, max_size=25)
MISSED = st.lists(GRADES, max_size=6)
ROWS = st.lists(st.tuples(RANKINGS, MISSED), min_size=1, max_size=6)
CUTOFFS = st.none() | st.integers(1, 30)
ANY_CUTOFF = st.none() | st.integers(1, 1000) | st.just(PROMPT)
GAINS = (
    st.lists(st.integers(0, 100), min_size=3, max_size=3)
    .filter(any)
    .map(lambda gains: (0, *sorted(gains)))
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "rel": st.integers(1, 3),
    "dcg": st.sampled_from(["log2", "exp-log2"]),
    "gains": GAINS,
    "p": st.floats(0, 1, exclude_min=True, exclude_max=True),
    "beta": st.floats(0, 1000, exclude_min=True, exclude_max=True),
    "max": st.integers(3, 12),
    "recall": st.floats(0, 1),
    "characters": st.integers(1, 5000),
    "documents": st.booleans(),
    "judged_only": st.booleans(),
}
OF_CHUNKS = tuple(each for each in MEASURES.values() if each.reads == "chunks")
OF_EVIDENCE = tuple(each for each in MEASURES.values() if each.reads == "evidence")

Row = tuple[Sequence[int | None], Sequence[int]]


@st.composite
def measures(
    draw: st.DrawFn,
    cutoffs: st.SearchStrategy[Cutoff] = CUTOFFS,
    among: Sequence[Definition] = OF_CHUNKS,
) -> Measure:
    """Any measure with any of its parameters; ``cutoffs`` for those that take one."""
    definition = draw(st.sampled_from(among))
    given = {
        name: draw(VALUES[name])
        for name in definition.parameters
        if name not in definition.optional or draw(st.booleans())
    }
    if "gains" in given:
        del given["dcg"]
    cutoff = None if definition.cutoff == "never" or "characters" in given else draw(cutoffs)
    if cutoff is None and definition.cutoff == "must":
        cutoff = 5
    return Measure(definition.name, cutoff, **given)


def hits_of(rows: Sequence[Row]) -> Hits:
    """One row of hits for each ranking and what it missed."""
    return Hits.of([ranking for ranking, _ in rows], [missed for _, missed in rows])


def values(measure: str | Measure, rows: Sequence[Row]) -> Floats:
    """The value of each row."""
    return score(hits_of(rows), parse(measure) if isinstance(measure, str) else measure)


def value(
    measure: str | Measure, ranking: Sequence[int | None], missed: Sequence[int] = ()
) -> float:
    """The value of one ranking."""
    return float(values(measure, [(ranking, missed)])[0])
