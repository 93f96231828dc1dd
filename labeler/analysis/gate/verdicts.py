"""Verdicts on the limits of a gate: passed, failed or not judged, each with its sentence.

A value equal to its limit passes. A value that is undefined, or is over too few queries or too
few judged chunks, is not judged and never passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice

import numpy as np

from labeler.analysis.gate.rules import (
    BASELINE,
    BEST,
    FAILED,
    LAST,
    PASSED,
    UNJUDGED,
    Check,
    LimitResult,
)
from labeler.evaluation import Means, Scoreboard, format_number, format_signed
from labeler.measures import Bools, Floats, Ints, Measure
from labeler.model import format_count
from labeler.stats import (
    FEWEST_DIFFERING,
    ConfidenceInterval,
    anytime_difference_bound,
    anytime_mean_bound,
    count_differing,
    difference_bounds,
    mean_bound,
)

KeptValues = Mapping[str, Mapping[str, float]]
"""A run's values by full name of a measure, then by query; undefined ones are left out."""


class CachedBoard:
    """A board with cached results, because the checks of a gate need the same ones repeatedly."""

    def __init__(self, board: Scoreboard) -> None:
        self.board = board.snapshot()
        self.values: Callable[[Measure], Floats] = cache(self.board.values)
        self.unjudged: Callable[[Measure], Ints] = cache(self.board.unjudged)
        self.means: Callable[[Measure, str | None], Means] = cache(self._means)
        self.shown: Callable[[Measure], Ints] = cache(self.board.looked_at)
        self.inside: Callable[[str | None, str | None], Bools] = cache(self._inside)
        self._counted: Callable[[Measure], Bools] = cache(self.board.counted)

    def counted(self, check: Check) -> Bools:
        """Return which queries are in the mean of a check, (queries,)."""
        return self.inside(check.facet, check.bucket) & self._counted(check.measure)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each query, (queries,): 1 without weighting."""
        found = self.board.weights
        return np.ones(len(self.board.collection.query_ids)) if found is None else found

    def _means(self, measure: Measure, facet: str | None) -> Means:
        return self.board.means([measure], facet)

    def _inside(self, facet: str | None, bucket: str | None) -> Bools:
        """Return which queries are in a bucket, (queries,); None means all."""
        if bucket is None:
            return np.ones(len(self.board.collection.query_ids), dtype=np.bool_)
        buckets, group = self.board.groups(facet)
        there: Bools = group == buckets.index(bucket)
        return there


@dataclass(frozen=True, eq=False)
class RunValues:
    """The values of one run on the queries of a board.

    ``kept`` are stored values of a run that is not on the board, for the same golden set and
    conventions; None for a run that is.
    """

    name: str
    cached: CachedBoard
    kept: KeptValues | None = None

    @property
    def board(self) -> Scoreboard:
        """The board with these queries."""
        return self.cached.board

    @property
    def _at(self) -> int:
        return self.board.column_of(self.name)

    def values(self, check: Check) -> Floats:
        """Return the values that are in the mean, (queries,); NaN for every other query."""
        if self.kept is None:
            found = self.cached.values(check.measure)[:, self._at]
        else:
            own = self.kept.get(str(check.measure), {})
            ids = self.board.collection.query_ids
            found = np.array([own.get(query_id, math.nan) for query_id in ids], dtype=np.float64)
        return np.where(self.cached.inside(check.facet, check.bucket), found, np.nan)

    def mean(self, check: Check) -> float:
        """Return the mean of these values, as a board computes it; NaN if there are none."""
        if self.kept is not None:
            values = self.values(check)
            known = ~np.isnan(values)
            if not known.any():
                return math.nan
            return float(np.average(values[known], weights=self.cached.weights[known]))
        means = self.cached.means(check.measure, check.facet)
        return float(means.value[0, self._at, means.buckets.index(check.bucket)])

    def unjudged(self, check: Check) -> float:
        """Return the share of unjudged chunks in the top k, over the queries in the mean.

        It is 0 for stored values: the share was small enough when the run passed.
        """
        if self.kept is not None:
            return 0.0
        counted = self.cached.counted(check)
        shown = int(self.cached.shown(check.measure)[counted, self._at].sum())
        unjudged = int(self.cached.unjudged(check.measure)[counted, self._at].sum())
        return unjudged / shown if shown else 0.0

    def transferred(self, check: Check) -> int:
        """Count the chunks in the top k that have a transferred grade."""
        if self.kept is not None:
            return 0
        means = self.cached.means(check.measure, check.facet)
        return int(means.transferred[0, self._at, means.buckets.index(check.bucket)])

    def absent(self, check: Check) -> int:
        """Count the queries in the mean for which the run has no list."""
        if self.kept is not None:
            return 0
        return int(np.sum(self.board.absent(self.name) & self.cached.counted(check)))

    def values_to_keep(self, measure: Measure) -> dict[str, float]:
        """Return the run's values by query, to be stored once it has passed."""
        column = self.cached.values(measure)[:, self._at].tolist()
        pairs = zip(self.board.collection.query_ids, column, strict=True)
        return {query_id: value for query_id, value in pairs if not math.isnan(value)}


REFERENCE_LABELS = {BASELINE: "baseline", LAST: "last passing run", BEST: "best passing run"}
MOST_DIGITS = 12


def describe_result(
    board: Scoreboard, found: LimitResult, held: float, losses: Sequence[tuple[str, float]] = ()
) -> str:
    """Describe whether a limit was met; ``losses`` are the queries with the largest drops.

    ``held`` is what was compared with the limit: the value or the delta, or its lower bound.
    """
    heading = board.conventions.heading(found.check.measure)
    text = (
        _describe_least_value(found, heading, held)
        if found.against is None
        else _describe_drop(found, heading, held)
    )
    if losses:
        text += (
            f"; most in {', '.join(f'{query} ({format_signed(loss)})' for query, loss in losses)}"
        )
    return text


def describe_first_run(board: Scoreboard, found: LimitResult) -> str:
    """Describe a value that cannot be compared yet, because no run has passed before."""
    heading = board.conventions.heading(found.check.measure)
    return f"{heading} is {format_number(found.value)} (n {found.n:,}): no run passed before it"


def _describe_least_value(found: LimitResult, heading: str, held: float) -> str:
    shown, limit = format_apart(held, found.limit)
    kept, n = "at least" if found.verdict == PASSED else "below", f"n {found.n:,}"
    if math.isnan(found.bound):
        return f"{heading} is {shown}, {kept} {limit} ({n})"
    text = (
        f"{heading} is {format_number(found.value)} ({n}), with "
        f"{_format_confidence(found)} at least {shown}"
    )
    return f"{text}, and {limit} is asked" if found.verdict == PASSED else f"{text}, {kept} {limit}"


def _describe_drop(found: LimitResult, heading: str, held: float) -> str:
    size = format_apart(abs(found.delta), found.limit)[0]
    moved = f"{'fell' if found.delta < 0 else 'rose'} by {size}"
    few = f", {found.differing} differ" if 0 < found.differing < FEWEST_DIFFERING else ""
    means = f"{format_number(found.before)} to {format_number(found.value)}, n {found.n:,}{few}"
    text = f"{heading} {'is as before' if found.delta == 0 else moved} from the "
    text += f"{REFERENCE_LABELS[found.against or BASELINE]} {found.other} ({means})"
    if not found.differing:
        text += ": no query differs"
    allowed = format_apart(max(0.0, -held), found.limit)[1]
    only = "" if found.verdict == PASSED else "only "
    if math.isnan(found.bound):
        return f"{text}; {only}{allowed} is allowed"
    return f"{text}; {describe_surely(found, held)}, {only}{allowed} is allowed"


def describe_surely(found: LimitResult, held: float) -> str:
    """Say how much a value fell at most, with the confidence asked for."""
    lost = format_apart(max(0.0, -held), found.limit)[0]
    return f"with {_format_confidence(found)} it fell by {lost} at most"


def _format_confidence(found: LimitResult) -> str:
    terms = found.check.terms
    looks = " at every look" if terms.anytime else ""
    return f"{100 * (terms.confidence or math.nan):g}% confidence{looks}"


def format_apart(value: float, limit: float) -> tuple[str, str]:
    """Format a value and its limit with as many digits as tell them apart, four at least.

    >>> format_apart(0.5, 0.55), format_apart(0.549999, 0.55), format_apart(0.55, 0.55)
    (('0.5000', '0.55'), ('0.549999', '0.55'), ('0.5500', '0.55'))
    """
    shown = f"{limit:.10g}"
    for digits in range(4, MOST_DIGITS + 1):
        text = f"{value:.{digits}f}"
        if float(text) != limit or math.isclose(value, limit, rel_tol=0, abs_tol=1e-12):
            return text, shown
    return repr(value), shown


def describe_no_value(side: RunValues, check: Check) -> str:
    """Explain why a run has no value."""
    if side.kept is not None:
        return f"{side.name}: no value was kept of it when it passed"
    rows = side.board.table([check.measure], check.facet)
    reasons = [row.reason for row in rows if (row.run, row.bucket) == (side.name, check.bucket)]
    return f"{side.name}: {reasons[0]}"


def describe_too_few(n: int, fewest: int) -> str:
    """Explain that a mean is over too few queries."""
    queries = format_count(n, "query counts", "queries count")
    return f"{queries}, fewer than the {fewest} it takes to judge (fewest_queries)"


def describe_too_many_unjudged(run: str, share: float, most: float) -> str:
    """Explain that too large a share of a run's chunks is unjudged."""
    return (
        f"{run}: nobody has graded {share:.1%} of the chunks that count, more than "
        f"{100 * most:.10g}% (most_unjudged)"
    )


def describe_too_many_absent(run: str, absent: int, n: int) -> str:
    """Explain that a run to compare with has no list for too many queries."""
    return (
        f"{run}: no list for {absent} of {n} queries, where it would count 0 and hide a drop; load "
        "a run that has them, or allow it (most_absent)"
    )


EQUAL_WITHIN = 1e-12
"""How far a mean may be beyond a limit, since the order of summation changes the last digits."""

ReferenceValues = Mapping[str, "RunValues | str | None"]
"""Runs to compare with, by role (`BASELINE`, ...): the run's values, or a sentence on why it has
none, or None if no run has passed yet."""


@dataclass(frozen=True, eq=False)
class LimitQuestion:
    """One limit of a check with the values to test; ``against`` is the role of the other run."""

    check: Check
    side: RunValues
    against: str | None = None
    other: RunValues | str | None = None

    @property
    def is_first(self) -> bool:
        """Whether no run has passed before, so that a drop cannot be computed."""
        return self.against is not None and self.other is None

    @property
    def sample(self) -> Floats:
        """The values, or the differences, of the queries in the mean."""
        values = self._values
        found: Floats = values[~np.isnan(values)]
        return (
            np.where(np.abs(found) <= EQUAL_WITHIN, 0.0, found) if self.other is not None else found
        )

    @property
    def weights(self) -> Floats:
        """The weights of these queries."""
        weights: Floats = self.side.cached.weights[~np.isnan(self._values)]
        return weights

    @property
    def _values(self) -> Floats:
        values = self.side.values(self.check)
        return (
            values - self.other.values(self.check) if isinstance(self.other, RunValues) else values
        )

    @property
    def limit(self) -> float:
        """The lowest value, or the lowest difference, that passes."""
        least, drop = self.check.at_least, self.check.drop
        found = least if self.against is None else None if drop is None else -drop
        return math.nan if found is None else found


def judge_run(
    board: Scoreboard, run: str, checks: Sequence[Check], others: Callable[[Check], ReferenceValues]
) -> tuple[LimitResult, ...]:
    """Return the result of every limit for a run of a board.

    ``others`` returns the runs to compare with in a check. A value equal to its limit passes. A
    value that is undefined, or is over too few queries or judged chunks, is `UNJUDGED` and never
    passes.
    """
    side = RunValues(run, CachedBoard(board))
    return _limit_results(
        [question for check in checks for question in _limit_questions(check, side, others(check))]
    )


def judge_runs(
    board: Scoreboard,
    runs: Sequence[str],
    checks: Sequence[Check],
    others: Callable[[Check], ReferenceValues] = lambda _: {},
) -> dict[str, tuple[LimitResult, ...]]:
    """Return the results of several runs as `judge_run` does; none is compared with itself."""
    cached = CachedBoard(board)
    against = [(check, others(check)) for check in checks]
    by_run = {
        run: [
            question
            for check, held in against
            for question in _limit_questions(
                check, RunValues(run, cached), _without_itself(run, held)
            )
        ]
        for run in runs
    }
    found = iter(_limit_results([question for some in by_run.values() for question in some]))
    return {run: tuple(islice(found, len(some))) for run, some in by_run.items()}


def _without_itself(run: str, others: ReferenceValues) -> ReferenceValues:
    return {
        against: other
        for against, other in others.items()
        if not (isinstance(other, RunValues) and other.kept is None and other.name == run)
    }


def _limit_results(questions: Sequence[LimitQuestion]) -> tuple[LimitResult, ...]:
    bounds = _confidence_bounds(questions)
    return tuple(_judge_limit(each, bound) for each, bound in zip(questions, bounds, strict=True))


def _limit_questions(
    check: Check, side: RunValues, others: ReferenceValues
) -> Iterator[LimitQuestion]:
    if check.at_least is not None:
        yield LimitQuestion(check, side)
    if check.drop is not None:
        for against, other in others.items():
            yield LimitQuestion(check, side, against, other)


def _confidence_bounds(questions: Sequence[LimitQuestion]) -> list[ConfidenceInterval | None]:
    """Return each limit's interval; its lower end is compared with the limit.

    None if the check has no confidence, if there is no run to compare with, and if no query
    differs. Limits with the same confidence share the draws of their tests.
    """
    found: list[ConfidenceInterval | None] = [None] * len(questions)
    waiting: dict[float, list[int]] = {}
    for at, each in enumerate(questions):
        terms = each.check.terms
        if terms.confidence is None or isinstance(each.other, str) or each.is_first:
            continue
        if each.other is None and terms.anytime:
            found[at] = anytime_mean_bound(each.sample, terms.confidence)
        elif each.other is None:
            found[at] = mean_bound(each.sample, each.weights, each.check.measure, terms.confidence)
        elif count_differing(each.sample) and terms.anytime:
            found[at] = anytime_difference_bound(each.sample, terms.confidence)
        elif count_differing(each.sample):
            waiting.setdefault(terms.confidence, []).append(at)
    for confidence, places in waiting.items():
        some = [questions[at] for at in places]
        made = difference_bounds(
            [each.sample for each in some],
            [each.weights for each in some],
            confidence,
            [each.check.measure.is_zero_or_one for each in some],
        )
        for at, interval in zip(places, made, strict=True):
            found[at] = interval
    return found


def _judge_limit(question: LimitQuestion, bound: ConfidenceInterval | None) -> LimitResult:
    check, side = question.check, question.side
    n = int(np.sum(~np.isnan(side.values(check))))
    known = (side.mean(check), n, side.unjudged(check), question.against)
    if isinstance(question.other, str):
        return LimitResult(
            check, UNJUDGED, question.other, *known, transferred=side.transferred(check)
        )
    found = LimitResult(check, PASSED, "", *known, transferred=side.transferred(check))
    if question.other is not None:
        before = question.other.mean(check)
        found = replace(
            found,
            other=question.other.name,
            before=before,
            delta=found.value - before,
            differing=count_differing(question.sample),
        )
    if bound is not None:
        found = replace(found, bound=bound.lo, method=bound.method)
    return _with_verdict(question, found, bound)


def _with_verdict(
    question: LimitQuestion, found: LimitResult, bound: ConfidenceInterval | None
) -> LimitResult:
    sentence = _why_unjudged(question, found)
    if sentence:
        return replace(found, verdict=UNJUDGED, sentence=sentence)
    if question.is_first:
        return replace(found, sentence=describe_first_run(question.side.board, found))
    reached = found.value if found.against is None else found.delta
    held = reached if math.isnan(found.bound) else min(found.bound, reached)
    lowest = question.limit - EQUAL_WITHIN
    if bound is not None and bound.reason and reached >= lowest:
        if math.isnan(found.bound):
            sentence = f"no confidence can be given: {bound.reason}"
        elif held < lowest:
            allowed = format_apart(-held, found.limit)[1]
            sentence = f"{bound.reason}; {describe_surely(found, held)}, only {allowed} is allowed"
        if sentence:
            return replace(found, verdict=UNJUDGED, sentence=sentence)
    found = replace(found, verdict=PASSED if held >= lowest else FAILED)
    losses = _largest_losses(question) if found.verdict == FAILED else ()
    return replace(found, sentence=describe_result(question.side.board, found, held, losses))


def _why_unjudged(question: LimitQuestion, found: LimitResult) -> str:
    """Explain why a limit cannot be judged, whatever its bound; empty where it can."""
    check, terms = question.check, question.check.terms
    sides = [question.side, *([question.other] if isinstance(question.other, RunValues) else [])]
    if found.n == 0:
        return describe_no_value(question.side, check)
    if found.n < terms.fewest_queries:
        return describe_too_few(found.n, terms.fewest_queries)
    if terms.most_unjudged is not None:
        for side in sides:
            if side.unjudged(check) > terms.most_unjudged:
                return describe_too_many_unjudged(
                    side.name, side.unjudged(check), terms.most_unjudged
                )
    if isinstance(question.other, RunValues):
        if math.isnan(found.before):
            return describe_no_value(question.other, check)
        if (absent := question.other.absent(check)) > terms.most_absent * found.n:
            return describe_too_many_absent(question.other.name, absent, found.n)
    return ""


def _largest_losses(question: LimitQuestion) -> Sequence[tuple[str, float]]:
    """Return up to three queries with the largest drops; () if there is no other run."""
    if not isinstance(question.other, RunValues):
        return ()
    delta = question.side.values(question.check) - question.other.values(question.check)
    falling = [int(at) for at in np.argsort(np.nan_to_num(delta), kind="stable")[:3]]
    ids = question.side.board.collection.query_ids
    return [(ids[at], float(delta[at])) for at in falling if delta[at] < -EQUAL_WITHIN]
