"""Sensitivity of a comparison to the graders: two runs compared again under other grades.

The other grades are one grader's own where they gave one, the lowest, median or highest grade of
each pair, or the golden grades without stale or non-blind judgments. The results come as one
sentence and as rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison.deltas import Comparison, Delta, compare
from labeler.analysis.comparison.significance import FEW, Significance
from labeler.evaluation import (
    UNJUDGED,
    GoldenGrades,
    Record,
    Scoreboard,
    format_signed,
    measure_names,
    regraded,
)
from labeler.measures import Bools, Ints, Measure
from labeler.model import (
    ADJUDICATE_KIND,
    GRADE_KIND,
    IMPORT_KIND,
    LOWER_MEDIAN,
    SingleGrades,
    agreed_grade,
    capitalize_first,
    format_count,
    format_list,
)
from labeler.stats import ALPHA, p_values

ENOUGH_CHANGED = 20
"""A reading that changes fewer pairs is spoken of in no sentence."""

READING_DRAWS = 1_000
"""How many flips of signs test a reading."""

NO_TESTS: Mapping[Measure, Significance] = MappingProxyType({})

AS_IT_IS, OWN_GRADES = "golden", "grader"
LOWEST, MEDIAN, HIGHEST = "lowest", "median", "highest"
NO_STALE, NO_NON_BLIND = "without stale", "without non-blind"

ALL_FROM_FILES = "every grade came with a file, so nobody's own grades are known"
ONE_GRADER = "only one person has graded, so there are no other grades to read instead"
TOO_FEW_DIFFER = (
    f"no grader's own grades change {ENOUGH_CHANGED} pairs or more, too few to say "
    "whether the verdict "
    "survives"
)


class GradeReading(NamedTuple):
    """One way of reading the judgments: what is golden for some pairs in place of what is.

    ``grades`` has `UNJUDGED` for a pair that would have none. ``grader`` is whose own grades these
    are, None for other kinds. Only pairs whose grade differs are there.
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
        return READING_LABELS[self.kind]


READING_LABELS = {
    AS_IT_IS: "as it is",
    LOWEST: "the lowest grade of each chunk",
    MEDIAN: "the lower median",
    HIGHEST: "the highest grade of each chunk",
    NO_STALE: "without stale judgments",
    NO_NON_BLIND: "without non-blind judgments",
}


class ReadingDelta(NamedTuple):
    """B against A under one reading; ``p`` is of a test of this difference alone, NaN without."""

    reading: GradeReading
    row: Delta
    p: float

    @property
    def changed(self) -> int:
        """How many pairs have another grade than the golden one."""
        return len(self.reading.pairs)


@dataclass(frozen=True, slots=True)
class GraderSensitivity:
    """One measure under each reading, the golden grades first.

    ``sure`` says that it is more than chance as it is; ``heading`` is what the measure is called.
    """

    measure: Measure
    told: tuple[ReadingDelta, ...]
    sure: bool
    heading: str

    @property
    def golden(self) -> ReadingDelta:
        """The difference as it is."""
        return self.told[0]

    @property
    def graders(self) -> list[ReadingDelta]:
        """The difference under each grader's own grades."""
        return [each for each in self.told if each.reading.kind == OWN_GRADES]

    @property
    def telling(self) -> list[ReadingDelta]:
        """Those of the graders that change enough pairs to be spoken of."""
        return [each for each in self.graders if each.changed >= ENOUGH_CHANGED]

    @property
    def turned(self) -> list[ReadingDelta]:
        """Those of the telling ones under which not the same run is ahead."""
        return [e for e in self.telling if e.row.direction != self.golden.row.direction]

    def is_better(self, each: ReadingDelta) -> bool:
        """Say whether a run may be called better under a reading, and not only ahead."""
        return self.sure and each.p <= ALPHA and each.row.n >= FEW

    @property
    def why_not_told(self) -> str | None:
        """Say why nothing can be said of graders; None where something can."""
        if math.isnan(self.golden.row.delta):
            return "there is no difference to recompute"
        if not self.graders:
            return ALL_FROM_FILES
        if self.telling:
            return None
        return ONE_GRADER if len(self.graders) == 1 else TOO_FEW_DIFFER


def grade_readings(
    golden: GoldenGrades, singles: SingleGrades, rule: str = LOWER_MEDIAN
) -> list[GradeReading]:
    """Return each way of reading the judgments, and which pairs it changes, if any.

    A grader's own grade counts wherever they gave one, also where it was adjudicated; so do the
    lowest, median and highest of people's grades. Without stale or non-blind judgments, several
    become one by the ``rule`` as ever. What came with a file is neither blind nor not.
    """
    people = singles.only(singles.kind == GRADE_KIND)
    own = [
        (OWN_GRADES, singles.names[grader], people.pair[mine], people.grade[mine])
        for grader in sorted(set(people.grader.tolist()))
        for mine in [people.grader == grader]
    ]
    sighted = ~singles.blind & (singles.kind != IMPORT_KIND)
    given = [
        *sorted(own, key=lambda each: str(each[1])),
        *_lowest_median_highest(people),
        (NO_STALE, None, *_without(singles, singles.stale, rule)),
        (NO_NON_BLIND, None, *_without(singles, sighted, rule)),
    ]
    return [_reading_of_changes(golden, *each) for each in given]


def _reading_of_changes(
    golden: GoldenGrades, kind: str, grader: str | None, pairs: Ints, grades: Ints
) -> GradeReading:
    other = golden.grades_of(pairs) != grades
    return GradeReading(kind, grader, pairs[other], grades[other])


def _lowest_median_highest(people: SingleGrades) -> list[tuple[str, None, Ints, Ints]]:
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
    grades = [_golden_grade_of(judgments, rule) for judgments in said.values()]
    return pairs, np.array(grades, dtype=np.int64)


def _golden_grade_of(judgments: Sequence[tuple[int, int]], rule: str) -> int:
    """Return the golden grade of a pair's judgments (kind, grade), the newest last; or
    `UNJUDGED`.
    """
    of_kind = {
        kind: [grade for each, grade in judgments if each == kind]
        for kind in (ADJUDICATE_KIND, GRADE_KIND, IMPORT_KIND)
    }
    if of_kind[ADJUDICATE_KIND]:
        return of_kind[ADJUDICATE_KIND][-1]
    if of_kind[GRADE_KIND]:
        agreed = agreed_grade(of_kind[GRADE_KIND], rule)
        return UNJUDGED if agreed is None else agreed
    return of_kind[IMPORT_KIND][-1] if of_kind[IMPORT_KIND] else UNJUDGED


def measure_sensitivity(
    board: Scoreboard,
    compared: Comparison,
    singles: SingleGrades,
    measures: Iterable[Measure],
    *,
    tested: Mapping[Measure, Significance] = NO_TESTS,
    bucket: str | None = None,
) -> tuple[GraderSensitivity, ...]:
    """Compare A and B anew under each reading of the judgments, by each measure.

    All is over the queries of one ``bucket`` of the facet compared by, if one is given. ``tested``
    are the tests of what is, which stand here, too: by a measure that is not more than chance as it
    is, no run is called better. Readings are tested by fewer draws, `READING_DRAWS`, as they are
    many.
    """
    board, chosen = board.snapshot(), list(measures)
    places = board.collection.places
    singles = singles if places is None else singles.among(places)
    golden = GoldenGrades.of(board)
    inside = _queries_in_bucket(board, compared.facet, bucket)
    judged = singles.only(inside[singles.pair >> 32])
    rule = board.conventions.golden_rule or LOWER_MEDIAN
    nothing = np.array([], dtype=np.int64)
    ways = [GradeReading(AS_IT_IS, None, nothing, nothing), *grade_readings(golden, judged, rule)]
    found = [_compare_under(board, compared, chosen, golden, way, bucket) for way in ways]
    return tuple(
        _sensitivity_by_measure(
            board, measure, ways, [(by, rows[at]) for by, rows in found], tested
        )
        for at, measure in enumerate(chosen)
    )


def _sensitivity_by_measure(
    board: Scoreboard,
    measure: Measure,
    ways: Sequence[GradeReading],
    found: Sequence[tuple[Comparison, Delta]],
    tested: Mapping[Measure, Significance],
) -> GraderSensitivity:
    golden, samples = tested.get(measure), [by.differences(row) for by, row in found[1:]]
    ps = [math.nan if golden is None else golden.p]
    ps += [each.p for each in p_values(samples, READING_DRAWS)]
    told = [ReadingDelta(way, row, p) for way, (_, row), p in zip(ways, found, ps, strict=True)]
    is_sure = golden is not None and golden.is_sure
    return GraderSensitivity(measure, tuple(told), is_sure, board.conventions.heading(measure))


def _queries_in_bucket(board: Scoreboard, facet: str | None, bucket: str | None) -> Bools:
    """Say which queries are looked at, (queries,)."""
    if facet is None or bucket is None:
        return np.ones(len(board.collection.query_ids), dtype=np.bool_)
    buckets, group = board.groups(facet)
    inside: Bools = group == buckets.index(bucket)
    return inside


ComparedRows = tuple[Comparison, list[Delta]]


def _compare_under(
    board: Scoreboard,
    compared: Comparison,
    measures: Sequence[Measure],
    golden: GoldenGrades,
    way: GradeReading,
    bucket: str | None,
) -> ComparedRows:
    facet = compared.facet if bucket is not None else None
    runs = (compared.a, compared.b)
    if len(way.pairs):
        board = regraded(board, runs, golden.changed(way.pairs, way.grades))
    found = compare(board, *runs, measures, facet)
    rows = found.deltas if facet is None else found.buckets
    return found, [row for row in rows if row.bucket == bucket]


MOST_NAMED = 3
"""So many graders are named; others are counted."""


def describe_sensitivity(found: GraderSensitivity, names: tuple[str, str]) -> str:
    """Say whether the same run is ahead with every grader's own grades; nothing if too few differ.

    ``names`` are what A and B are called.
    """
    if found.why_not_told is not None:
        return ""
    return (
        _describe_other_leaders(found, names)
        if found.turned
        else _describe_same_leader(found, names)
    )


def _describe_same_leader(found: GraderSensitivity, names: tuple[str, str]) -> str:
    telling, way = found.telling, found.golden.row.direction
    which = _whose_grades(found)
    if not way:
        return f"Neither is visibly ahead by {found.heading} {which}"
    first, other = names[::-1] if way > 0 else names
    doubtful = [each for each in telling if not found.is_better(each)]
    if not doubtful:
        return f"{first} is better than {other} by {found.heading} {which}"
    ahead = f"{first} is ahead of {other} by {found.heading} {which}"
    if len(doubtful) == len(telling):
        return f"{ahead}, which may be chance"
    return f"{ahead}; with {_list_graders(doubtful)} it may be chance"


def _whose_grades(found: GraderSensitivity) -> str:
    if len(found.telling) == len(found.graders):
        return "under every grader"
    if len(found.telling) == 1:
        return f"with {found.telling[0].reading.called}"
    return f"with the own grades of {_list_graders(found.telling)}"


def _describe_other_leaders(found: GraderSensitivity, names: tuple[str, str]) -> str:
    said = [_describe_other_leader(found, each, names) for each in found.turned[:MOST_NAMED]]
    left = len(found.turned) - MOST_NAMED
    more = [format_count(left, "more grader changes", "more graders change")] if left > 0 else []
    return capitalize_first("; ".join([*said, *(f"{each} it, too" for each in more)]))


def _describe_other_leader(
    found: GraderSensitivity, each: ReadingDelta, names: tuple[str, str]
) -> str:
    way, pairs = each.row.direction, f"{each.changed:,} pairs differ"
    whose = f"with {each.reading.grader}'s grades"
    if math.isnan(each.row.delta):
        return f"{whose} {found.heading} has no value ({pairs})"
    if not way:
        return f"{whose} neither is visibly ahead by {found.heading} ({pairs})"
    verb = "better" if found.is_better(each) else "ahead"
    change = format_signed(each.row.delta)
    return f"{whose} {names[way > 0]} is {verb} by {found.heading} ({change}; {pairs})"


def _list_graders(graders: Sequence[ReadingDelta]) -> str:
    return format_list([str(each.reading.grader) for each in graders], MOST_NAMED)


def describe_unchanged_readings(found: GraderSensitivity) -> str:
    """Say which readings change no pair; nothing where each does."""
    same = [each.reading.called for each in found.told[1:] if not each.changed]
    return f"Nothing changes with: {', '.join(same)}" if same else ""


def sensitivity_records(found: Iterable[GraderSensitivity], a: str, b: str) -> list[Record]:
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
        for names in measure_names(each.row.measure)
    ]
