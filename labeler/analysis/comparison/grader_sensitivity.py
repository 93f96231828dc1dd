"""Sensitivity of a comparison to the graders: two runs compared again under other grades.

The other grades are those of one grader (where that grader graded the pair), the lowest, median or
highest grade of each pair, or the golden grades without stale or non-blind judgments. The results
are returned as one sentence and as rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison.deltas import Comparison, Delta, compare
from labeler.analysis.comparison.significance import DeltaTest
from labeler.evaluation import (
    UNJUDGED,
    Conventions,
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
from labeler.stats import ALPHA, FEWEST_QUERIES, p_values

ENOUGH_CHANGED = 20
"""Readings that change fewer pairs than this are left out of the sentences."""

READING_DRAWS = 1_000
"""The number of sign flips drawn to test a reading."""

NO_TESTS: Mapping[Measure, DeltaTest] = MappingProxyType({})

AS_IT_IS, OWN_GRADES = "golden", "grader"
LOWEST, MEDIAN, HIGHEST = "lowest", "median", "highest"
NO_STALE, NO_NON_BLIND = "without stale", "without non-blind"

ALL_FROM_FILES = "every grade came with a file, so nobody's own grades are known"
ONE_GRADER = "only one person has graded, so there are no other grades to read instead"
TOO_FEW_DIFFER = (
    f"no grader's own grades change {ENOUGH_CHANGED} pairs or more, too few to say whether the "
    "verdict survives"
)


class GradeReading(NamedTuple):
    """Alternative grades for some pairs, used in place of the golden grades.

    ``grades`` has `UNJUDGED` for a pair that would have none. ``grader`` is the grader whose own
    grades these are, None for other kinds. Only pairs whose grade differs are included.
    """

    kind: str
    grader: str | None
    pairs: Ints
    grades: Ints

    @property
    def called(self) -> str:
        """Its label in a table."""
        if self.grader is not None:
            return f"{self.grader}'s own grades"
        return READING_LABELS[self.kind]


READING_LABELS = {
    AS_IT_IS: "the golden grades",
    LOWEST: "the lowest grade of each chunk",
    MEDIAN: "the lower median",
    HIGHEST: "the highest grade of each chunk",
    NO_STALE: "without stale judgments",
    NO_NON_BLIND: "without non-blind judgments",
}


class ReadingDelta(NamedTuple):
    """The difference between A and B under one reading.

    ``p`` is from a test of this difference alone, NaN without a test.
    """

    reading: GradeReading
    row: Delta
    p: float

    @property
    def changed(self) -> int:
        """The number of pairs with another grade than the golden one."""
        return len(self.reading.pairs)


@dataclass(frozen=True, slots=True)
class GraderSensitivity:
    """The difference by one measure under each reading, the golden grades first.

    ``sure`` is True if the golden difference is clear; ``heading`` names the measure.
    """

    measure: Measure
    told: tuple[ReadingDelta, ...]
    sure: bool
    heading: str

    @property
    def golden(self) -> ReadingDelta:
        """The difference under the golden grades."""
        return self.told[0]

    @property
    def graders(self) -> list[ReadingDelta]:
        """The differences under each grader's own grades."""
        return [each for each in self.told if each.reading.kind == OWN_GRADES]

    @property
    def nameable(self) -> list[ReadingDelta]:
        """Those of ``graders`` that change enough pairs to be named in sentences."""
        return [each for each in self.graders if each.changed >= ENOUGH_CHANGED]

    @property
    def opposed(self) -> list[ReadingDelta]:
        """Those of ``nameable`` under which the other run, or neither run, is ahead."""
        return [e for e in self.nameable if e.row.direction != self.golden.row.direction]

    def is_better(self, each: ReadingDelta) -> bool:
        """Return whether a run may be called better under a reading, and not only ahead."""
        return self.sure and each.p <= ALPHA and each.row.n >= FEWEST_QUERIES

    @property
    def why_not_told(self) -> str | None:
        """The reason why nothing can be said about graders; None if something can."""
        if math.isnan(self.golden.row.delta):
            return "there is no difference to recompute"
        if not self.graders:
            return ALL_FROM_FILES
        if self.nameable:
            return None
        return ONE_GRADER if len(self.graders) == 1 else TOO_FEW_DIFFER


def grade_readings(
    golden: GoldenGrades, singles: SingleGrades, rule: str = LOWER_MEDIAN
) -> list[GradeReading]:
    """Return each set of alternative grades, with only the pairs that it changes.

    A grader's own grade replaces the golden grade even of an adjudicated pair. The lowest, median
    and highest of people's grades do the same. Without stale or non-blind judgments, several
    grades are combined by the ``rule`` as usual. Imported grades are never left out as non-blind.
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
    """Return the pairs with judgments ``left_out``, and their golden grades without these."""
    pairs = np.unique(singles.pair[left_out])
    kept = singles.only(~left_out & np.isin(singles.pair, pairs))
    by_pair: dict[int, list[tuple[int, int]]] = {pair: [] for pair in pairs.tolist()}
    columns = (kept.pair.tolist(), kept.kind.tolist(), kept.grade.tolist())
    for pair, kind, grade in zip(*columns, strict=True):
        by_pair[pair].append((kind, grade))
    grades = [_golden_grade_of(judgments, rule) for judgments in by_pair.values()]
    return pairs, np.array(grades, dtype=np.int64)


def _golden_grade_of(judgments: Sequence[tuple[int, int]], rule: str) -> int:
    """Return the golden grade of judgments (kind, grade), oldest first; or `UNJUDGED`."""
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
    tested: Mapping[Measure, DeltaTest] = NO_TESTS,
    bucket: str | None = None,
) -> tuple[GraderSensitivity, ...]:
    """Compare A and B again under each reading of the judgments, by each measure.

    With ``bucket``, only the queries in that bucket of the comparison's facet are used. ``tested``
    has the test results under the golden grades: no run is called better by a measure whose
    difference is not clear there. There are many readings, so each is tested with only
    `READING_DRAWS` draws.
    """
    board, chosen = board.snapshot(), list(measures)
    places = board.collection.places
    singles = singles if places is None else singles.among(places)
    golden = GoldenGrades.of(board)
    inside = _queries_in_bucket(board, compared.facet, bucket)
    judged = singles.only(inside[singles.pair >> 32])
    rule = board.conventions.golden_rule or LOWER_MEDIAN
    nothing = np.array([], dtype=np.int64)
    as_it_is = GradeReading(AS_IT_IS, None, nothing, nothing)
    readings = [as_it_is, *grade_readings(golden, judged, rule)]
    found = [_compare_under(board, compared, chosen, golden, each, bucket) for each in readings]
    return tuple(
        _sensitivity_by_measure(
            board, measure, readings, [(by, rows[at]) for by, rows in found], tested
        )
        for at, measure in enumerate(chosen)
    )


def _sensitivity_by_measure(
    board: Scoreboard,
    measure: Measure,
    readings: Sequence[GradeReading],
    found: Sequence[tuple[Comparison, Delta]],
    tested: Mapping[Measure, DeltaTest],
) -> GraderSensitivity:
    golden, samples = tested.get(measure), [by.differences(row) for by, row in found[1:]]
    ps = [math.nan if golden is None else golden.p]
    ps += [each.p for each in p_values(samples, READING_DRAWS)]
    zipped = zip(readings, found, ps, strict=True)
    deltas = [ReadingDelta(reading, row, p) for reading, (_, row), p in zipped]
    is_sure = golden is not None and golden.is_clear
    return GraderSensitivity(measure, tuple(deltas), is_sure, board.conventions.heading(measure))


def _queries_in_bucket(board: Scoreboard, facet: str | None, bucket: str | None) -> Bools:
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
    reading: GradeReading,
    bucket: str | None,
) -> ComparedRows:
    facet = compared.facet if bucket is not None else None
    runs = (compared.a, compared.b)
    if len(reading.pairs):
        board = regraded(board, runs, golden.changed(reading.pairs, reading.grades))
    found = compare(board, *runs, measures, facet)
    rows = found.deltas if facet is None else found.buckets
    return found, [row for row in rows if row.bucket == bucket]


MOST_NAMED = 3
"""The most graders or measures a sentence names; others are counted."""


def describe_sensitivity(found: GraderSensitivity, names: tuple[str, str]) -> str:
    """Return a sentence on whether the same run is ahead under every grader's own grades.

    It is empty if nothing can be said, such as where too few grades differ. ``names`` are what A
    and B are called.
    """
    if found.why_not_told is not None:
        return ""
    return (
        _describe_other_leaders(found, names)
        if found.opposed
        else _describe_same_leader(found, names)
    )


def _describe_same_leader(found: GraderSensitivity, names: tuple[str, str]) -> str:
    nameable, direction = found.nameable, found.golden.row.direction
    whose = _whose_grades(found)
    if not direction:
        return f"Neither is visibly ahead by {found.heading} {whose}"
    first, other = names[::-1] if direction > 0 else names
    doubtful = [each for each in nameable if not found.is_better(each)]
    if not doubtful:
        return f"{first} is better than {other} by {found.heading} {whose}"
    ahead = f"{first} is ahead of {other} by {found.heading} {whose}"
    if len(doubtful) == len(nameable):
        return f"{ahead}, but not clearly"
    return f"{ahead}; with the grades of {_list_graders(doubtful)} not clearly"


def _whose_grades(found: GraderSensitivity) -> str:
    apart = [e for e in found.graders if e.row.direction != found.golden.row.direction]
    if not apart:
        return "with each grader's own grades"
    return f"with {name_own_grades(found.nameable)} ({describe_left_out(apart)})"


def name_own_grades(graders: Sequence[ReadingDelta]) -> str:
    """Say whose own grades are read, such as "Ann's and Zoë's own grades"."""
    names = [f"{each.reading.grader}'s" for each in graders[:MOST_NAMED]]
    if (left := len(graders) - MOST_NAMED) > 0:
        names.append(format_count(left, "more grader's", "more graders'"))
    *first, last = names
    return f"{', '.join(first)}{' and ' * bool(first)}{last} own grades"


def describe_left_out(graders: Sequence[ReadingDelta]) -> str:
    """Say which graders change too few pairs to be named; empty if all change enough."""
    few = [each for each in graders if each.changed < ENOUGH_CHANGED]
    verb = "differs" if len(few) == 1 else "differ"
    return f"{_list_graders(few)} {verb} in too few pairs to say" if few else ""


def _describe_other_leaders(found: GraderSensitivity, names: tuple[str, str]) -> str:
    sentences = [_describe_other_leader(found, each, names) for each in found.opposed[:MOST_NAMED]]
    left = len(found.opposed) - MOST_NAMED
    more = [format_count(left, "more grader changes", "more graders change")] if left > 0 else []
    return capitalize_first("; ".join([*sentences, *(f"{each} it, too" for each in more)]))


def _describe_other_leader(
    found: GraderSensitivity, each: ReadingDelta, names: tuple[str, str]
) -> str:
    direction, pairs = each.row.direction, f"{each.changed:,} pairs differ"
    whose = f"with {each.reading.grader}'s grades"
    if math.isnan(each.row.delta):
        return f"{whose} {found.heading} has no value ({pairs})"
    if not direction:
        return f"{whose} neither is visibly ahead by {found.heading} ({pairs})"
    verb = "better" if found.is_better(each) else "ahead"
    change = format_signed(each.row.delta)
    return f"{whose} {names[direction > 0]} is {verb} by {found.heading} ({change}; {pairs})"


def _list_graders(graders: Sequence[ReadingDelta]) -> str:
    return format_list([str(each.reading.grader) for each in graders], MOST_NAMED)


def describe_unchanged_readings(found: GraderSensitivity) -> str:
    """Return a sentence that names the readings that change no pair; empty if there are none."""
    same = [each.reading.called for each in found.told[1:] if not each.changed]
    return f"Nothing changes with: {', '.join(same)}" if same else ""


def sensitivity_records(
    found: Iterable[GraderSensitivity], a: str, b: str, conventions: Conventions | None = None
) -> list[Record]:
    """Return a row for each measure and reading, the golden grades first.

    ``p`` is from a test of that difference alone. With ``conventions``, for people, measures and
    readings are named in words, and only readings that change something are there.
    """
    return [
        {
            "run_a": a,
            "run_b": b,
            "reading": each.reading.kind if conventions is None else each.reading.called,
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
        for sensitivity in found
        for each in sensitivity.told
        if conventions is None or each.changed or each is sensitivity.golden
        for names in measure_names(each.row.measure, conventions)
    ]
