"""Significance tests and confidence intervals of the differences between two runs.

One measure decides which run is better and is tested alone. The golden set's other measures are
corrected for their number, and the deciding measure's buckets for theirs. What is tested does not
depend on what is shown, and a difference is clear exactly where its interval excludes 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from labeler.analysis.comparison.deltas import Comparison, Delta, compare
from labeler.errors import BadInput
from labeler.evaluation import NO_RESULT, Scoreboard, format_number, format_signed
from labeler.evaluation.measure_guidance import has_graded_chunkings
from labeler.measures import Floats, Measure
from labeler.model import Settings, capitalize_first, format_count
from labeler.model.results import DOUBT, Statement
from labeler.stats import (
    ALPHA,
    DRAWS,
    EXACT,
    FEWEST_DIFFERING,
    FEWEST_QUERIES,
    ConfidenceInterval,
    PValue,
    as_equal_weights,
    count_differing,
    detectable_difference,
    difference_intervals,
    p_values,
    queries_needed,
)

ACROSS_CHUNKINGS = ("EvidenceR@2000c", "RR", "nDCG(documents=True)@10")
"""The measures that can decide between runs of two chunkings, the first with a value."""

FEW = FEWEST_QUERIES

MOST_MORE = 10
"""More queries are named up to this many times those there are."""

TOO_FEW_QUERIES = f"fewer than {FEWEST_QUERIES} queries: not tested"
TOO_FEW_DIFFER = "too few differ: no interval"

SIGNIFICANCE_RULE = (
    "a difference is clear where its confidence interval excludes 0; the interval is at 95% for "
    "the measure that decides, and wider for the other tested measures and for buckets, corrected "
    "for how many they are"
)
METHODS_NOTE = (
    "intervals: Student's t over the queries' differences, or Tango's score interval for a measure "
    f"that is 0 or 1; they need {FEWEST_QUERIES} queries of which {FEWEST_DIFFERING} differ, and "
    "include 0 exactly where the test does not reject it; p: a two-sided randomisation test, all "
    f"flips of signs for up to {EXACT} queries that differ, else {DRAWS:,} draws; corrected by "
    "Bonferroni; the smallest difference these queries can show has 80% power"
)
COVERAGE_NOTE = (
    "intervals and p-values are about the choice of queries, not about unjudged chunks or graders"
)

DeltaKey = tuple[Measure, "str | None", "str | None"]


def delta_key(row: Delta) -> DeltaKey:
    """Return the key of a difference among those of the same two runs."""
    return row.measure, row.facet, row.bucket


@dataclass(frozen=True, slots=True)
class DecisionRules:
    """By which measure two runs are compared, which others are tested, and what is too small.

    The same for every page, command and file: they are settings of the golden set.
    """

    decide_by: str = "nDCG@10"
    measures: str = "nDCG@10 R@5 RR"
    matters: float = 0.01

    @classmethod
    def of(cls, settings: Settings) -> DecisionRules:
        """Return the rules of a golden set."""
        return cls(settings.decide_by, settings.measures, settings.matters)

    def deciding_measures(self, board: Scoreboard, a: str, b: str) -> Sequence[Measure]:
        """Return the measures of which the first with a value decides between A and B.

        None decides between runs of two chunkings until both chunkings have grades.
        """
        conventions = board.conventions
        if not _is_across(board, a, b):
            return board.resolve(conventions.measures(self.decide_by)[:1])
        if not has_graded_chunkings(board.collection, (a, b)):
            return ()
        return board.resolve(conventions.measures(ACROSS_CHUNKINGS))

    def tested_measures(self, board: Scoreboard, a: str, b: str) -> Sequence[Measure]:
        """Return the golden set's tested measures; coverage such as Judged is not tested.

        Across chunkings there are none beside the one that decides.
        """
        if _is_across(board, a, b):
            return ()
        found = board.resolve(board.conventions.measures(self.measures))
        return [each for each in found if not each.definition.always_defined]


def _is_across(board: Scoreboard, a: str, b: str) -> bool:
    return len({run.chunking for run in board.collection.runs if run.name in (a, b)}) > 1


class DeltaTest(NamedTuple):
    """The test of one difference between two runs, with its confidence interval.

    ``p`` is from a randomisation test and ``p_corrected`` after Bonferroni's correction for
    ``tests`` of them, which are ``counted`` as measures, buckets or tests; both are NaN if not
    tested, and ``reason`` says why there is no test or no interval. ``exact`` is True if all flips
    of signs were counted. ``differ`` of the queries differ. ``is_clear`` is True where the interval
    excludes 0; where all queries differ by the same, so that there is no interval, it follows from
    p. ``detectable`` is the smallest true difference that so many queries show with 80% power at
    the 5% level, ``more_queries`` how many more the difference seen would need; None where that
    cannot be computed.
    """

    p: float = math.nan
    tests: int = 0
    counted: str = "tests"
    exact: bool = False
    interval: ConfidenceInterval = ConfidenceInterval(math.nan, math.nan)
    differ: int = 0
    is_clear: bool = False
    detectable: float = math.nan
    more_queries: int | None = None
    reason: str = ""

    @property
    def p_corrected(self) -> float:
        return self.p if math.isnan(self.p) else min(1.0, self.p * self.tests)

    @property
    def level(self) -> float:
        """The level of the interval: 0.95, or more where several are corrected together."""
        return 1 - ALPHA / self.tests if self.tests else math.nan

    @property
    def kind(self) -> str | None:
        """How p was computed: ``exact`` or ``drawn``; None without a test."""
        if math.isnan(self.p):
            return None
        return "exact" if self.exact else "drawn"


NOT_TESTED = DeltaTest()


@dataclass(frozen=True, eq=False)
class PairTests:
    """The tests of two runs: the measure that decides, the golden set's others, and the buckets.

    ``deciding`` is None if no measure can decide. ``compared`` has the tested measures over all
    queries, ``by_facet`` the deciding measure in each facet's buckets.
    """

    a: str
    b: str
    rules: DecisionRules
    deciding: Measure | None
    compared: Comparison | None = None
    by_facet: Mapping[str, Comparison] = field(default_factory=dict)
    found: Mapping[DeltaKey, DeltaTest] = field(default_factory=dict)

    def of(self, row: Delta) -> DeltaTest:
        """Return the test of a difference; one that is not tested says why."""
        if (found := self.found.get(delta_key(row))) is not None:
            return found
        return DeltaTest(reason=self._why_not_tested(row))

    @property
    def total(self) -> Delta | None:
        """The difference of the deciding measure over all queries."""
        rows = () if self.compared is None else self.compared.deltas
        return next((row for row in rows if row.measure == self.deciding), None)

    @property
    def others(self) -> list[Delta]:
        """The differences of the other tested measures over all queries."""
        rows = () if self.compared is None else self.compared.deltas
        return [
            row for row in rows if row.measure != self.deciding and delta_key(row) in self.found
        ]

    @cached_property
    def buckets(self) -> list[Delta]:
        """The deciding measure in every bucket that does not hold all queries."""
        return [row for by in self.by_facet.values() for row in _proper_buckets(by)]

    @property
    def tested_buckets(self) -> list[Delta]:
        """Those of ``buckets`` that are large enough to test."""
        return [row for row in self.buckets if delta_key(row) in self.found]

    @property
    def small_buckets(self) -> list[Delta]:
        """Those of ``buckets`` with a value that are too small to test."""
        return [row for row in self.buckets if 0 < row.n < FEWEST_QUERIES]

    def row_in(self, facet: str | None, bucket: str | None) -> Delta | None:
        """Return the deciding measure's difference over all queries or in one bucket."""
        if bucket is None or facet is None:
            return self.total
        rows = self.by_facet[facet].buckets if facet in self.by_facet else ()
        return next((row for row in rows if row.bucket == bucket), None)

    def source_of(self, row: Delta) -> Comparison:
        """Return the comparison that a row of these tests comes from."""
        found = self.compared if row.bucket is None else self.by_facet[row.facet or ""]
        if found is None:
            raise BadInput("no measure can decide between these runs")
        return found

    def _why_not_tested(self, row: Delta) -> str:
        if row.n and math.isnan(row.delta):
            return f"not tested: {NO_RESULT}"
        if row.measure.definition.always_defined:
            return "not tested: it does not rank runs"
        if row.n <= 1:
            return "not tested: one query" if row.n else "not tested: no query counts"
        if row.bucket is not None and row.measure == self.deciding:
            few = row.n < FEWEST_QUERIES
            return TOO_FEW_QUERIES if few else "not tested: it holds all queries"
        if row.bucket is not None:
            return "not tested: buckets are tested by the measure that decides"
        return f"not tested: not in the golden set's measures ({self.rules.measures})"


def describe_statistics(tests: PairTests, row: Delta) -> list[Statement]:
    """Return p, what it is corrected for, and which difference so many queries can show."""
    test, queries = tests.of(row), f"{row.n:,} queries"
    if not test.tests:
        return [Statement("statistics", f"{capitalize_first(test.reason)}.", DOUBT)]
    heading = tests.source_of(row).conventions.heading(row.measure)
    corrected = f"corrected for {test.tests:,} {test.counted}"
    if test.tests == 1:
        corrected = f"not corrected, as {heading} decides and is tested alone"
    said = [f"p {format_p_value(test.p_corrected)} by a two-sided randomisation test, {corrected}."]
    if not math.isnan(test.detectable):
        least = format_number(test.detectable)
        said.append(f"The smallest true difference that {queries} can show is {least} (80% power).")
    if test.more_queries and not test.is_clear:
        more = format_count(test.more_queries, "more query", "more queries")
        said.append(f"About {more} would show the difference seen, if it is the true one.")
    return [Statement("statistics", " ".join(said), DOUBT)]


def assess_pair(
    board: Scoreboard, a: str, b: str, rules: DecisionRules = DecisionRules(), *, pairs: int = 1
) -> PairTests:
    """Test what the rules of a golden set say about two runs, whatever is shown of them.

    Of several ``pairs`` compared together, each test is corrected for their number, too. Raises
    `NotFound` for an unknown run, `BadInput` for two runs that cannot be compared.

    >>> from labeler.evaluation import collect
    >>> from labeler.evaluation import Conventions
    >>> ids = [f"q{number}" for number in range(12)]
    >>> runs = {"A": {q: ["x", "c"] for q in ids}, "B": {q: ["c", "x"] for q in ids}}
    >>> board = Scoreboard(collect({q: {"c": 1} for q in ids}, runs), Conventions.of())
    >>> tests = assess_pair(board, "A", "B")
    >>> [(row.measure.label, tests.of(row).tests) for row in [tests.total, *tests.others]]
    [('nDCG@10', 1), ('R@5', 3), ('RR', 3)]
    """
    board = board.snapshot()
    family = list(rules.tested_measures(board, a, b))
    able = rules.deciding_measures(board, a, b)
    if not able:
        return PairTests(a, b, rules, None)
    compared = compare(board, a, b, dict.fromkeys([*able, *family]))
    values = {row.measure: row.delta for row in compared.deltas}
    deciding = next((each for each in able if not math.isnan(values[each])), able[0])
    by_facet = {facet: compare(board, a, b, [deciding], facet) for facet in board.facets}
    totals = [row for row in compared.deltas if row.measure in (deciding, *family)]
    buckets = [row for by in by_facet.values() for row in _proper_buckets(by)]
    sized = [row for row in buckets if row.n >= FEWEST_QUERIES]
    asked = []
    for row in totals:
        tests = 1 if row.measure == deciding else max(1, len(family))
        asked.append(_Question(compared, row, tests, "measures"))
    for row in sized:
        asked.append(_Question(by_facet[row.facet or ""], row, len(sized), "buckets"))
    if pairs > 1:
        asked = [each._replace(tests=each.tests * pairs, counted="tests") for each in asked]
    found = _test_rows(asked)
    return PairTests(a, b, rules, deciding, compared, by_facet, found)


def _proper_buckets(by: Comparison) -> list[Delta]:
    """Return the first measure's buckets, without those that hold all queries."""
    [total] = by.deltas
    return [row for row in by.buckets if row.n < total.n]


class _Question(NamedTuple):
    """A difference to test, corrected for the number of ``tests``; ``counted`` says of what."""

    compared: Comparison
    row: Delta
    tests: int
    counted: str


def _test_rows(asked: Sequence[_Question]) -> dict[DeltaKey, DeltaTest]:
    """Return the test of each difference; of fewer than two queries there is none."""
    kept = [each for each in asked if each.row.n > 1 and not math.isnan(each.row.delta)]
    samples = [each.compared.differences(each.row) for each in kept]
    weights = [each.compared.weights_of(each.row) for each in kept]
    tested = p_values([x * w for x, w in zip(samples, weights, strict=True)])
    intervals = difference_intervals(
        samples,
        weights,
        [each.p for each in tested],
        tests=[each.tests for each in kept],
        zero_or_one=[each.row.measure.is_zero_or_one for each in kept],
    )
    parts = zip(kept, samples, weights, tested, intervals, strict=True)
    return {delta_key(each[0].row): _test_of(*each) for each in parts}


def assess_deltas(pairs: Mapping[str, Comparison], *, tests: int) -> dict[str, DeltaTest]:
    """Return the test of each comparison's first measure over all queries, by its name.

    Each is corrected for the number of ``tests``; what has no value is not tested.
    """
    found = {}
    for name, compared in pairs.items():
        row = compared.deltas[0]
        tested = _test_rows([_Question(compared, row, tests, "tests")])
        found[name] = tested.get(delta_key(row), NOT_TESTED)
    return found


def _test_of(
    asked: _Question, sample: Floats, weights: Floats, tested: PValue, interval: ConfidenceInterval
) -> DeltaTest:
    even, differ = as_equal_weights(sample, weights), count_differing(sample)
    needed = queries_needed(even)
    more = None if needed is None else max(needed, FEWEST_QUERIES - len(sample))
    is_clear = interval.excludes_zero
    is_enough = len(sample) >= FEWEST_QUERIES and differ >= FEWEST_DIFFERING
    if math.isnan(interval.lo) and is_enough:
        is_clear = asked.tests * tested.p <= ALPHA
    return DeltaTest(
        *(tested.p, asked.tests, asked.counted, tested.exact, interval, differ, is_clear),
        detectable=detectable_difference(even),
        more_queries=more,
        reason=interval.reason,
    )


def describe_interval(test: DeltaTest) -> str:
    """Return a difference's interval with its level, in words.

    >>> test = DeltaTest(0.2, 1, interval=ConfidenceInterval(-0.01, 0.25, "t"))
    >>> describe_interval(test)
    '95% confidence interval, −0.0100 to +0.2500,'
    """
    ends = f"{format_signed(test.interval.lo)} to {format_signed(test.interval.hi)}"
    if test.tests == 1:
        return f"95% confidence interval, {ends},"
    return f"confidence interval, {ends} (95%, corrected for {test.tests:,} {test.counted}),"


def format_p_value(p: float) -> str:
    """Return a p-value with four digits, and ``<0.0001`` where they would be 0.

    >>> format_p_value(0.0312), format_p_value(2**-17), format_p_value(math.nan)
    ('0.0312', '<0.0001', '–')
    """
    return "<0.0001" if p < 0.00005 else format_number(p)


def format_delta_interval(interval: ConfidenceInterval) -> str:
    """Return both ends of a difference's interval, a dash where there is none.

    >>> format_delta_interval(ConfidenceInterval(-0.01, 0.25, "t"))
    '−0.0100 to +0.2500'
    """
    if math.isnan(interval.lo):
        return "–"
    return f"{format_signed(interval.lo)} to {format_signed(interval.hi)}"
