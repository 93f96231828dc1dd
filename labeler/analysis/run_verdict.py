"""Verdict on two runs with all that is known: the tests, unjudged chunks, graders and buckets.

Pages, commands, reports and files say of two runs what `judge_pair` returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from labeler.analysis.active import (
    CERTAINTY_HEADING,
    Certainty,
    Decider,
    can_decide,
    describe_decision,
)
from labeler.analysis.comparison import (
    HIGHEST,
    NOT_CLEARLY_LOWER,
    CandidateOverlap,
    DecisionRules,
    Delta,
    DeltaTest,
    GraderSensitivity,
    PairEvidence,
    PairTests,
    Verdict,
    assess_pair,
    compare_candidates,
    compare_lists,
    decide_verdict,
    describe_buckets,
    find_best_run,
    measure_sensitivity,
    split_delta,
)
from labeler.analysis.comparison.unjudged_doubt import COULD_CHANGE, describe_unjudged
from labeler.analysis.comparison.verdict import ALL_TIED, GRADERS, NO_VALUE, TOO_FEW
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import ACTIVE_OF_TWO, Settings, SingleGrades
from labeler.model.results import DOUBT, NOTE, Statement
from labeler.stats import ALPHA, LiveRanges, UnjudgedRange


@dataclass(frozen=True, eq=False)
class PairResult:
    """What is known of two runs: the verdict, what is behind it, and all statements in order."""

    verdict: Verdict
    tests: PairTests
    evidence: PairEvidence
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class PairSources:
    """Where the evidence beside the tests comes from; a page keeps it from one grade to the next.

    ``band`` returns the range of B - A by a measure over unjudged chunks, ``sensitivity`` that
    difference by each grader's grades, and ``certainty`` how sure it is who will be ahead. None
    where that is not known. ``asked``: graders are asked for what decides between these two, so
    that how far this is comes first.
    """

    band: Callable[[Measure], UnjudgedRange | None] = lambda _: None
    sensitivity: Callable[[Measure, DeltaTest], GraderSensitivity | None] = lambda *_: None
    certainty: Callable[[Measure], Certainty | None] = lambda _: None
    asked: bool = False


def is_asked_for(settings: Settings, a: str, b: str) -> bool:
    """Return whether graders are asked for what decides between just these two runs."""
    return settings.strategy == ACTIVE_OF_TWO and set(settings.unjudged_of or ()) == {a, b}


RangesLookup = Callable[[str, str], LiveRanges]
"""Gives what keeps the ranges of runs A and B, and of their difference, over unjudged chunks."""


def judge_pair(
    board: Scoreboard,
    a: str,
    b: str,
    rules: DecisionRules,
    *,
    singles: SingleGrades | None = None,
    names: tuple[str, str] | None = None,
    pairs: int = 1,
    decider: Decider | None = None,
    ranges_of: RangesLookup | None = None,
    asked: bool = False,
) -> PairResult:
    """Return which of two runs is better over all queries, and what could change that.

    All runs of the ``board`` inform what its unjudged chunks may be. ``singles`` are the graders'
    own grades, None where they are not known. Of several ``pairs`` compared together, each test is
    corrected for their number. ``names`` are shown for A and B. A ``decider`` works out how many
    more grades are needed, which takes seconds on large sets; without one that is not said. Who
    needs the ranges of these runs as well keeps them and gives ``ranges_of``. ``asked`` is that of
    `PairSources`.
    """
    board = board.snapshot()
    tests = assess_pair(board, a, b, rules, pairs=pairs)
    sources = replace(direct_sources(board, tests, singles, decider, ranges_of), asked=asked)
    return describe_pair(board, tests, compare_candidates(board, a, b, names), sources, names=names)


def describe_pair(
    board: Scoreboard,
    tests: PairTests,
    overlap: CandidateOverlap,
    sources: PairSources,
    *,
    names: tuple[str, str] | None = None,
    within: tuple[str, str] | None = None,
) -> PairResult:
    """Return what is known of two tested runs, over all queries or ``within`` a facet's bucket."""
    row = tests.row_in(*(within or (None, None)))
    evidence = PairEvidence()
    if row is not None and not math.isnan(row.delta) and not overlap.identical:
        evidence = _gather(board, tests, sources, row.measure, within)
        best_of = 0 if within is not None else count_runs_if_best(board, tests, row)
        evidence = evidence._replace(best_of=best_of)
    verdict = decide_verdict(board, tests, overlap, evidence, names=names, within=within)
    is_whole = within is None and not overlap.identical
    more = describe_buckets(tests, names) if is_whole else []
    notes = _notes(board, tests, overlap) if verdict.row is not None and within is None else ()
    said = (*verdict.statements, *more, *notes)
    if is_whole and (sources.asked or verdict.outcome == NO_VALUE):
        said = _with_decision(board, tests, sources, verdict, names, said)
    return PairResult(verdict, tests, evidence, said)


def _with_decision(
    board: Scoreboard,
    tests: PairTests,
    sources: PairSources,
    verdict: Verdict,
    names: tuple[str, str] | None,
    said: tuple[Statement, ...],
) -> tuple[Statement, ...]:
    """Return what is ``said`` of a verdict with how far the decision is that graders are asked for.

    Where nothing is graded yet, what both runs found comes first. The decision is the answer as
    long as less than half is graded, or grades could change who is ahead.
    """
    measure = tests.deciding
    standing = None
    if measure is not None and board.weights is None and _can_ask_for_grades(board, measure):
        standing = sources.certainty(measure)
    decision = [] if standing is None else [*describe_decision(standing, names)]
    if not board.counts.grades and not board.collection.has_several_chunkings:
        return (*compare_lists(board, tests.a, tests.b).statements(names), *decision)
    if standing is None or not decision:
        return said
    could_change = any(each.kind == COULD_CHANGE for each in said)
    if could_change or verdict.outcome in NOTHING_TESTED or 2 * standing.graded < standing.pool:
        return (*decision, *_grades_so_far(verdict))
    answer = replace(decision[0], severity=DOUBT, heading=CERTAINTY_HEADING)
    return (*said, answer)


SO_FAR_HEADING = "Grades so far"
NOTHING_TESTED = (NO_VALUE, TOO_FEW, ALL_TIED)


def _grades_so_far(verdict: Verdict) -> Iterator[Statement]:
    """Yield what the grades so far say: beside a decision they are no longer the answer.

    They were chosen to decide, so that no confidence interval over other questions holds.
    """
    for each in verdict.statements:
        if each.kind == "number":
            said = f"{each.sentence.removesuffix('.')}, if no unjudged chunk is relevant."
            yield replace(each, sentence=said, severity=DOUBT, heading=SO_FAR_HEADING)
        elif each.kind in ("queries", NO_VALUE):
            yield replace(each, severity=DOUBT)
        elif each.heading == GRADERS:
            yield each


def count_runs_if_best(board: Scoreboard, tests: PairTests, row: Delta) -> int:
    """Return of how many runs one of the two is the best, where that makes the difference unclear.

    The best run is picked from the values that it is compared by. Scores corrects for that, and so
    may not call clear what is clear where two runs are compared alone; 0 where both say the same.
    """
    test, most = tests.of(row), len(board.run_names) - 1
    if test.tests != 1 or not test.is_clear or test.p * most <= ALPHA:
        return 0
    found = find_best_run(board, tests.rules)
    if found is None or found.measure != row.measure:
        return 0
    said = {found.marks.get(run) for run in (tests.a, tests.b)}
    return len(found.others) + 1 if said == {HIGHEST, NOT_CLEARLY_LOWER} else 0


def _gather(
    board: Scoreboard,
    tests: PairTests,
    sources: PairSources,
    measure: Measure,
    within: tuple[str, str] | None,
) -> PairEvidence:
    row = tests.row_in(*(within or (None, None)))
    if board.weights is not None or row is None:
        return PairEvidence()
    band, test = sources.band(measure), tests.of(row)
    sensitivity = None if measure.crosses else sources.sensitivity(measure, test)
    doubt = describe_unjudged(row, band, (tests.a, tests.b))
    can_change = doubt is not None and doubt.kind == COULD_CHANGE
    can_ask = can_change and within is None and _can_ask_for_grades(board, measure)
    standing = sources.certainty(measure) if can_ask else None
    return PairEvidence(band, sensitivity, 0 if standing is None else standing.likely)


def _can_ask_for_grades(board: Scoreboard, measure: Measure) -> bool:
    """Return whether graders can be asked: not for a frozen set and not across chunkings."""
    is_live = board.conventions.frozen is None and not board.collection.has_several_chunkings
    return is_live and can_decide(measure)


def direct_sources(
    board: Scoreboard,
    tests: PairTests,
    singles: SingleGrades | None,
    decider: Decider | None,
    ranges_of: RangesLookup | None = None,
) -> PairSources:
    """Return sources that compute everything when it is asked for."""
    a, b, compared = tests.a, tests.b, tests.compared

    def band(measure: Measure) -> UnjudgedRange | None:
        live = LiveRanges(board, (a, b)) if ranges_of is None else ranges_of(a, b)
        return live.deltas(board, [measure]).get((measure, None))

    def sensitivity(measure: Measure, test: DeltaTest) -> GraderSensitivity | None:
        if singles is None or compared is None:
            return None
        tested = {measure: test}
        return measure_sensitivity(board, compared, singles, [measure], tested=tested)[0]

    def certainty(measure: Measure) -> Certainty | None:
        if decider is None:
            return None
        return decider.standing(board, a, b, measure, tests.rules.matters)

    return PairSources(band, sensitivity, certainty)


def _notes(board: Scoreboard, tests: PairTests, overlap: CandidateOverlap) -> tuple[Statement, ...]:
    """Return what kind of difference it is: of the chunks found, or of their order."""
    found = []
    if overlap.within == overlap.queries:
        found.append(Statement("same chunks", f"{overlap.sentence}.", NOTE))
    if board.weights is None and tests.deciding is not None:
        parts = split_delta(board, tests.a, tests.b, tests.deciding)
        if parts.n:
            found.append(Statement("parts", f"{parts.sentence}.", NOTE))
    return tuple(found)
