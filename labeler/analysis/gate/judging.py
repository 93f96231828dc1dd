"""A run before a gate: what each limit comes to; knows no file and no exit code."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from labeler.analysis.gate import words
from labeler.analysis.gate.records import FAILED, PASSED, UNJUDGED, Check, Finding
from labeler.analysis.gate.sides import Ground, Side
from labeler.evaluation import Scoreboard
from labeler.measures import Floats
from labeler.stats import Interval, Sums, sums_of, weighted_intervals, weighted_wilson

ALIKE = 1e-12
"""How far a mean may be beyond a limit by the order of adding alone."""

Others = Mapping[str, "Side | str | None"]
"""By what it is (`BASELINE`, ...): a run to compare with, or why there is none; None if it is not
to be there yet."""


@dataclass(frozen=True, eq=False)
class Question:
    """One limit of a check, with the values it is about; ``against`` is what the other run is."""

    check: Check
    side: Side
    against: str | None = None
    other: Side | str | None = None

    @property
    def is_first(self) -> bool:
        """Whether a run is the first of those that passed, with nothing to fall from."""
        return self.against is not None and self.other is None

    @property
    def sample(self) -> Floats:
        """The values, or the differences, of the queries in the mean."""
        values = self._values
        found: Floats = values[~np.isnan(values)]
        return np.where(np.abs(found) <= ALIKE, 0.0, found) if self.other is not None else found

    @property
    def weights(self) -> Floats:
        """The weight of each of them."""
        weights: Floats = self.side.ground.weights[~np.isnan(self._values)]
        return weights

    @property
    def _values(self) -> Floats:
        values = self.side.values(self.check)
        return values - self.other.values(self.check) if isinstance(self.other, Side) else values

    @property
    def limit(self) -> float:
        """The least value, or the least difference."""
        least, drop = self.check.at_least, self.check.drop
        found = least if self.against is None else None if drop is None else -drop
        return math.nan if found is None else found


def judge(
    board: Scoreboard,
    run: str,
    checks: Sequence[Check],
    others: Callable[[Check], Others],
) -> tuple[Finding, ...]:
    """Hold a run of a board against all limits.

    ``others`` gives the runs that it must not fall behind in a check. A limit is kept at the limit
    itself. Whatever cannot be told, or rests on too little, is `UNJUDGED`, and never passed.
    """
    side = Side(run, Ground(board))
    return _findings(
        [question for check in checks for question in _questions(check, side, others(check))]
    )


def judge_each(
    board: Scoreboard,
    runs: Sequence[str],
    checks: Sequence[Check],
    others: Callable[[Check], Others] = lambda _: {},
    sums: Sums = sums_of,
) -> dict[str, tuple[Finding, ...]]:
    """Hold several runs of a board against checks, each as `judge` does; none against itself.

    ``sums`` adds up resamples; a `Resampled` does it sooner after a grade.
    """
    ground = Ground(board)
    against = [(check, others(check)) for check in checks]
    asked = {
        run: [
            question
            for check, held in against
            for question in _questions(check, Side(run, ground), _but(run, held))
        ]
        for run in runs
    }
    found = iter(_findings([question for some in asked.values() for question in some], sums))
    return {run: tuple(islice(found, len(some))) for run, some in asked.items()}


def _but(run: str, others: Others) -> Others:
    """Return what a run is held against, which is never the run itself."""
    return {
        against: other
        for against, other in others.items()
        if not (isinstance(other, Side) and other.kept is None and other.name == run)
    }


def _findings(questions: Sequence[Question], sums: Sums = sums_of) -> tuple[Finding, ...]:
    bounds = _bounds(questions, sums)
    return tuple(_judged(each, bound) for each, bound in zip(questions, bounds, strict=True))


def _questions(check: Check, side: Side, others: Others) -> Iterator[Question]:
    if check.at_least is not None:
        yield Question(check, side)
    if check.drop is not None:
        for against, other in others.items():
            yield Question(check, side, against, other)


def _bounds(questions: Sequence[Question], sums: Sums) -> list[Interval | None]:
    """Return the interval whose lower end is what a value surely is at least; None if not asked.

    Of a confidence of 95% it is the 90% interval, as only one of its ends is looked at. Those of
    one confidence share their draws.
    """
    found: list[Interval | None] = [None] * len(questions)
    waiting: dict[float, list[tuple[int, Floats, Floats]]] = {}
    for at, each in enumerate(questions):
        confidence = each.check.terms.confidence
        if confidence is None or isinstance(each.other, str) or each.is_first:
            continue
        level, sample, weights = 2 * confidence - 1, each.sample, each.weights
        if each.other is None and each.check.measure.is_zero_or_one:
            found[at] = weighted_wilson(sample, weights, level=level)
        else:
            waiting.setdefault(level, []).append((at, sample, weights))
    for level, some in waiting.items():
        places, samples, weighing = zip(*some, strict=True)
        made = weighted_intervals(samples, weighing, sums=sums, level=level)
        for at, interval in zip(places, made, strict=True):
            found[at] = interval
    return found


def _judged(asked: Question, bound: Interval | None) -> Finding:
    check, side = asked.check, asked.side
    n = int(np.sum(~np.isnan(side.values(check))))
    known = (side.mean(check), n, side.holes(check), asked.against)
    if isinstance(asked.other, str):
        return Finding(check, UNJUDGED, asked.other, *known, carried=side.carried(check))
    found = Finding(check, PASSED, "", *known, carried=side.carried(check))
    if asked.other is not None:
        before = asked.other.mean(check)
        delta = found.value - before
        found = replace(found, other=asked.other.name, before=before, delta=delta)
    if bound is not None:
        found = replace(found, bound=bound.lo, method=bound.method)
    return _with_verdict(asked, found, bound)


def _with_verdict(asked: Question, found: Finding, bound: Interval | None) -> Finding:
    """Return a finding with its verdict and its sentence."""
    verdict, sentence = UNJUDGED, _why_unjudged(asked, found, bound)
    if not sentence and asked.is_first:
        verdict, sentence = PASSED, words.first(asked.side.board, found)
    elif not sentence:
        reached = found.value if found.against is None else found.delta
        held = reached if bound is None else min(bound.lo, reached)
        verdict = PASSED if held >= asked.limit - ALIKE else FAILED
        losses = _losses(asked) if verdict == FAILED else ()
        found = replace(found, verdict=verdict)
        sentence = words.of_finding(asked.side.board, found, held, losses)
    return replace(found, verdict=verdict, sentence=sentence)


def _why_unjudged(asked: Question, found: Finding, bound: Interval | None) -> str:
    """Say why a limit cannot be judged; nothing where it can."""
    check, terms = asked.check, asked.check.terms
    sides = [asked.side, *([asked.other] if isinstance(asked.other, Side) else [])]
    if found.n == 0:
        return words.no_value(asked.side, check)
    if found.n < terms.fewest_queries:
        return words.too_few(found.n, terms.fewest_queries)
    if terms.most_holes is not None:
        for side in sides:
            if side.holes(check) > terms.most_holes:
                return words.too_many_holes(side.name, side.holes(check), terms.most_holes)
    if isinstance(asked.other, Side):
        if math.isnan(found.before):
            return words.no_value(asked.other, check)
        if (absent := asked.other.absent(check)) > terms.most_absent * found.n:
            return words.too_many_absent(asked.other.name, absent, found.n)
    if bound is not None and math.isnan(bound.lo):
        return f"no confidence can be given: {bound.reason}"
    return ""


def _losses(asked: Question) -> Sequence[tuple[str, float]]:
    """Return the three queries that fell most, with by how much; none of a least value."""
    if not isinstance(asked.other, Side):
        return ()
    delta = asked.side.values(asked.check) - asked.other.values(asked.check)
    falling = [int(at) for at in np.argsort(np.nan_to_num(delta), kind="stable")[:3]]
    ids = asked.side.board.collection.query_ids
    return [(ids[at], float(delta[at])) for at in falling if delta[at] < -ALIKE]
