"""Whether a verdict survives: two runs compared anew under other readings of the same judgments.

A reading is one grader's own grades where they gave one, the lowest, highest or median grade of
each pair, or the golden grades without some judgments. Knows no page, and not where judgments are
stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison.deltas import Comparison, Delta, compare
from labeler.analysis.comparison.surety import FEW, Surety
from labeler.evaluation import HOLE, Golden, Scoreboard, regraded
from labeler.measures import Bools, Ints, Measure
from labeler.model import ADJUDICATE, GRADE, IMPORT, LOWER_MEDIAN, SingleGrades, agreed_grade
from labeler.stats import LEVEL, p_values

ENOUGH = 20
"""A reading that changes fewer pairs is spoken of in no sentence."""

DRAWS = 1_000
"""How many flips of signs test a reading."""

NOTHING_TESTED: Mapping[Measure, Surety] = MappingProxyType({})

GOLDEN, GRADER = "golden", "grader"
LOWEST, MEDIAN, HIGHEST = "lowest", "median", "highest"
NO_STALE, NO_SIGHTED = "without stale", "without non-blind"

ALL_FROM_FILES = "every grade came with a file, so nobody's own grades are known"
ONE_GRADER = "only one person has graded, so there are no other grades to read instead"
TOO_FEW_DIFFER = (
    f"no grader's own grades change {ENOUGH} pairs or more, too few to say whether the verdict "
    "survives"
)


class Reading(NamedTuple):
    """One way of reading the judgments: what is golden for some pairs in place of what is.

    ``grades`` has `HOLE` for a pair that would have none. ``grader`` is whose own grades these are,
    None for other kinds. Only pairs whose grade differs are there.
    """

    kind: str
    grader: str | None
    pairs: Ints
    grades: Ints

    @property
    def called(self) -> str:
        """What it is called in a table."""
        if self.grader is not None:
            return f"{self.grader}'s own grades"
        return IN_WORDS[self.kind]


IN_WORDS = {
    GOLDEN: "as it is",
    LOWEST: "the lowest grade of each chunk",
    MEDIAN: "the lower median",
    HIGHEST: "the highest grade of each chunk",
    NO_STALE: "without stale judgments",
    NO_SIGHTED: "without non-blind judgments",
}


class Retold(NamedTuple):
    """B against A under one reading; ``p`` is of a test of this difference alone, NaN without."""

    reading: Reading
    row: Delta
    p: float

    @property
    def changed(self) -> int:
        """How many pairs have another grade than the golden one."""
        return len(self.reading.pairs)


@dataclass(frozen=True, slots=True)
class Survival:
    """One measure under each reading, the golden grades first.

    ``sure`` says that it is more than chance as it is; ``heading`` is what the measure is called.
    """

    measure: Measure
    told: tuple[Retold, ...]
    sure: bool
    heading: str

    @property
    def golden(self) -> Retold:
        """The difference as it is."""
        return self.told[0]

    @property
    def graders(self) -> list[Retold]:
        """The difference under each grader's own grades."""
        return [each for each in self.told if each.reading.kind == GRADER]

    @property
    def telling(self) -> list[Retold]:
        """Those of the graders that change enough pairs to be spoken of."""
        return [each for each in self.graders if each.changed >= ENOUGH]

    @property
    def turned(self) -> list[Retold]:
        """Those of the telling ones under which not the same run is ahead."""
        return [e for e in self.telling if e.row.direction != self.golden.row.direction]

    def is_better(self, each: Retold) -> bool:
        """Say whether a run may be called better under a reading, and not only ahead."""
        return self.sure and each.p <= LEVEL and each.row.n >= FEW

    @property
    def why_silent(self) -> str | None:
        """Say why nothing can be said of graders; None where something can."""
        if math.isnan(self.golden.row.delta):
            return "there is no difference to recompute"
        if not self.graders:
            return ALL_FROM_FILES
        if self.telling:
            return None
        return ONE_GRADER if len(self.graders) == 1 else TOO_FEW_DIFFER


def readings(golden: Golden, singles: SingleGrades, rule: str = LOWER_MEDIAN) -> list[Reading]:
    """Return each way of reading the judgments, and which pairs it changes, if any.

    A grader's own grade counts wherever they gave one, also where it was adjudicated; so do the
    lowest, median and highest of people's grades. Without stale or non-blind judgments, several
    become one by the ``rule`` as ever. What came with a file is neither blind nor not.
    """
    people = singles.only(singles.kind == GRADE)
    own = [
        (GRADER, singles.names[grader], people.pair[mine], people.grade[mine])
        for grader in sorted(set(people.grader.tolist()))
        for mine in [people.grader == grader]
    ]
    sighted = ~singles.blind & (singles.kind != IMPORT)
    given = [
        *sorted(own, key=lambda each: str(each[1])),
        *_middle_and_ends(people),
        (NO_STALE, None, *_without(singles, singles.stale, rule)),
        (NO_SIGHTED, None, *_without(singles, sighted, rule)),
    ]
    return [_changing(golden, *each) for each in given]


def _changing(golden: Golden, kind: str, grader: str | None, pairs: Ints, grades: Ints) -> Reading:
    other = golden.grades_of(pairs) != grades
    return Reading(kind, grader, pairs[other], grades[other])


def _middle_and_ends(people: SingleGrades) -> list[tuple[str, None, Ints, Ints]]:
    """Return the lowest, lower median and highest grade of each pair that people graded."""
    order = np.lexsort((people.grade, people.pair))
    grade = people.grade[order]
    pairs, first, count = np.unique(people.pair[order], return_index=True, return_counts=True)
    places = {LOWEST: first, MEDIAN: first + (count - 1) // 2, HIGHEST: first + count - 1}
    return [(kind, None, pairs, grade[place]) for kind, place in places.items()]


def _without(singles: SingleGrades, left_out: Bools, rule: str) -> tuple[Ints, Ints]:
    """Return what becomes golden for pairs some of whose judgments are left out."""
    pairs = np.unique(singles.pair[left_out])
    kept = singles.only(~left_out & np.isin(singles.pair, pairs))
    said: dict[int, list[tuple[int, int]]] = {pair: [] for pair in pairs.tolist()}
    columns = (kept.pair.tolist(), kept.kind.tolist(), kept.grade.tolist())
    for pair, kind, grade in zip(*columns, strict=True):
        said[pair].append((kind, grade))
    grades = [_agreed(judgments, rule) for judgments in said.values()]
    return pairs, np.array(grades, dtype=np.int64)


def _agreed(judgments: Sequence[tuple[int, int]], rule: str) -> int:
    """Return the golden grade of a pair's judgments (kind, grade), the newest last; or `HOLE`."""
    of_kind = {
        kind: [grade for each, grade in judgments if each == kind]
        for kind in (ADJUDICATE, GRADE, IMPORT)
    }
    if of_kind[ADJUDICATE]:
        return of_kind[ADJUDICATE][-1]
    if of_kind[GRADE]:
        agreed = agreed_grade(of_kind[GRADE], rule)
        return HOLE if agreed is None else agreed
    return of_kind[IMPORT][-1] if of_kind[IMPORT] else HOLE


def survivals(
    board: Scoreboard,
    compared: Comparison,
    singles: SingleGrades,
    measures: Iterable[Measure],
    *,
    tested: Mapping[Measure, Surety] = NOTHING_TESTED,
    bucket: str | None = None,
) -> tuple[Survival, ...]:
    """Compare A and B anew under each reading of the judgments, by each measure.

    All is over the queries of one ``bucket`` of the facet compared by, if one is given. ``tested``
    are the tests of what is, which stand here, too: by a measure that is not more than chance as it
    is, no run is called better. Readings are tested by fewer draws, `DRAWS`, as they are many.
    """
    board, chosen = board.snapshot(), list(measures)
    places = board.collection.places
    singles = singles if places is None else singles.among(places)
    golden = Golden.of(board)
    inside = _inside(board, compared.facet, bucket)
    judged = singles.only(inside[singles.pair >> 32])
    rule = board.conventions.golden_rule or LOWER_MEDIAN
    nothing = np.array([], dtype=np.int64)
    ways = [Reading(GOLDEN, None, nothing, nothing), *readings(golden, judged, rule)]
    found = [_compared(board, compared, chosen, golden, way, bucket) for way in ways]
    return tuple(
        _of_measure(board, measure, ways, [(by, rows[at]) for by, rows in found], tested)
        for at, measure in enumerate(chosen)
    )


def _of_measure(
    board: Scoreboard,
    measure: Measure,
    ways: Sequence[Reading],
    found: Sequence[tuple[Comparison, Delta]],
    tested: Mapping[Measure, Surety],
) -> Survival:
    golden, samples = tested.get(measure), [by.differences(row) for by, row in found[1:]]
    ps = [math.nan if golden is None else golden.p]
    ps += [each.p for each in p_values(samples, DRAWS)]
    told = [Retold(way, row, p) for way, (_, row), p in zip(ways, found, ps, strict=True)]
    is_sure = golden is not None and golden.is_sure
    return Survival(measure, tuple(told), is_sure, board.conventions.heading(measure))


def _inside(board: Scoreboard, facet: str | None, bucket: str | None) -> Bools:
    """Say which queries are looked at, (queries,)."""
    if facet is None or bucket is None:
        return np.ones(len(board.collection.query_ids), dtype=np.bool_)
    buckets, group = board.groups(facet)
    inside: Bools = group == buckets.index(bucket)
    return inside


Compared = tuple[Comparison, list[Delta]]


def _compared(
    board: Scoreboard,
    compared: Comparison,
    measures: Sequence[Measure],
    golden: Golden,
    way: Reading,
    bucket: str | None,
) -> Compared:
    facet = compared.facet if bucket is not None else None
    runs = (compared.a, compared.b)
    if len(way.pairs):
        board = regraded(board, runs, golden.changed(way.pairs, way.grades))
    found = compare(board, *runs, measures, facet)
    rows = found.deltas if facet is None else found.buckets
    return found, [row for row in rows if row.bucket == bucket]
