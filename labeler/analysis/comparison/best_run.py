"""The run that scores highest, and which of the others are clearly lower.

Each other run is tested against the best one by the measure that decides, corrected for how many
they are; as the best one was picked from the same values, nothing less would do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeler.analysis.comparison.deltas import compare
from labeler.analysis.comparison.significance import (
    ACROSS_CHUNKINGS,
    NOT_TESTED,
    DecisionRules,
    DeltaTest,
    assess_deltas,
    format_delta_interval,
)
from labeler.errors import BadInput
from labeler.evaluation import CROSS_CHUNKING_MEASURES, Score, Scoreboard, format_number
from labeler.evaluation.measure_guidance import has_graded_chunkings
from labeler.measures import Measure
from labeler.model import describe_chunking, format_count, format_list
from labeler.model.results import ANSWER, DOUBT, Statement
from labeler.stats import ALPHA, FEWEST_DIFFERING, FEWEST_QUERIES

MOST_NAMED = 3  # runs that are not clearly lower; of more the number
HIGHEST, CLEARLY_HIGHEST = "highest", "clearly highest"
LOWER, NOT_CLEARLY_LOWER = "clearly lower", "not clearly lower"
NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class BestRun:
    """The run that scores highest by ``measure``, and the ``others`` from the next one down.

    ``tests`` are of each other run against the best, corrected for their number; none where the
    queries are too few. ``called`` are what people call the runs. ``ungraded`` are runs of
    chunkings without a grade, which cannot be compared.
    """

    board: Scoreboard
    measure: Measure
    best: Score
    others: tuple[Score, ...]
    tests: Mapping[str, DeltaTest]
    called: Mapping[str, str]
    ungraded: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """What the measure is called."""
        return self.board.conventions.heading(self.measure)

    @property
    def marks(self) -> dict[str, str]:
        """By run, whether it is the highest, or surely below it; nothing of too few queries."""
        if not self.tests:
            return {}
        lower = {run for run, test in self.tests.items() if test.is_clear}
        others = {
            each.run: LOWER if each.run in lower else NOT_CLEARLY_LOWER for each in self.others
        }
        first = HIGHEST if NOT_CLEARLY_LOWER in others.values() else CLEARLY_HIGHEST
        return {self.best.run: first, **others, **dict.fromkeys(self.ungraded, NOT_COMPARED)}

    @property
    def answer(self) -> Statement:
        """Which run is best."""
        if self.best.n < FEWEST_QUERIES:
            few = f"Too few queries to say which run is best: {self.best.n}."
            return Statement("too few queries", few, ANSWER)
        level = [self.called[run] for run, mark in self.marks.items() if mark == NOT_CLEARLY_LOWER]
        said = _answer(self.called[self.best.run], level)
        among = "Of the runs with graded chunks, " if self.ungraded else ""
        return Statement("best run", f"{among}{said}", ANSWER)

    @property
    def number(self) -> Statement:
        """The values of the two highest runs."""
        first = (self.best, self.others[0])
        values = [f"{self.called[each.run]} {format_number(each.value)}" for each in first]
        return Statement("best values", f"{self.heading}: {', '.join(values)}.", DOUBT)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Which run is best, by which values, and what these do not rest on."""
        return (self.answer, self.number, *self._left_out)

    @property
    def doubts(self) -> tuple[Statement, ...]:
        """How far the best run is above the next one, and what is known of the rest.

        The interval is that of these two compared alone, as wherever two runs are compared.
        """
        second = self.others[0]
        if second.run not in self.tests:
            return self._left_out
        compared = compare(self.board, second.run, self.best.run, [self.measure])
        alone = assess_deltas({second.run: compared}, tests=1)[second.run]
        delta = compared.deltas[0].delta
        place = "above" if delta >= 0 else "below"  # over the queries that both runs have
        names = (self.called[self.best.run], self.called[second.run])
        pair = f"{names[0]} is {format_number(abs(delta))} {place} {names[1]}"
        said = [Statement("next run", f"{pair}{self._interval(alone, second.run)}.", DOUBT)]
        if alone_lower := [self.called[each.run] for each in self.others[1:] if self._hides(each)]:
            who = format_list(alone_lower, MOST_NAMED)
            alone_each = f"Compared with it alone, {who} would be clearly lower."
            said.append(Statement("lower alone", alone_each, DOUBT))
        lower = sum(mark == LOWER for mark in self.marks.values())
        if 0 < lower < len(self.others):
            others = "The other run is" if lower == 1 else f"The other {lower:,} runs are"
            said.append(Statement("lower runs", f"{others} clearly lower.", DOUBT))
        return (*said, *self._left_out)

    @property
    def _left_out(self) -> tuple[Statement, ...]:
        """Which runs are not ranked, as nobody has graded a chunk of their chunking."""
        if not self.ungraded:
            return ()
        runs = [self.called.get(run, run) for run in self.ungraded]
        who = runs[0] if len(runs) == 1 else f"{len(runs):,} runs"
        return (describe_ungraded(who, self.board, self.ungraded),)

    def _hides(self, score: Score) -> bool:
        """Return whether a run is clearly lower alone, but not corrected for all of them."""
        test = self.tests.get(score.run, NOT_TESTED)
        is_enough = score.n >= FEWEST_QUERIES and test.differ >= FEWEST_DIFFERING
        return is_enough and not test.is_clear and test.p <= ALPHA

    def _interval(self, alone: DeltaTest, run: str) -> str:
        if math.isnan(alone.interval.lo):
            return ""
        said = f"; the 95% confidence interval, {format_delta_interval(alone.interval)},"
        if not alone.is_clear:
            return f"{said} includes 0"
        if self.tests[run].is_clear:
            return f"{said} excludes 0"
        return f"{said} excludes 0, but not if corrected for {len(self.others):,} runs"


def describe_best_run(
    board: Scoreboard, rules: DecisionRules, names: Mapping[str, str] | None = None
) -> tuple[Statement, ...]:
    """Return which run scores highest by the measure that decides, and how surely.

    Nothing where `find_best_run` finds none.

    >>> from labeler.evaluation import Conventions, collect
    >>> ids = [f"q{number}" for number in range(12)]
    >>> runs = {"A": {q: ["x", "c"] for q in ids}, "B": {q: ["c", "x"] for q in ids}}
    >>> board = Scoreboard(collect({q: {"c": 1} for q in ids}, runs), Conventions.of())
    >>> [each.sentence for each in describe_best_run(board, DecisionRules())]
    ['B scores clearly highest.', 'nDCG@10: B 1.0000, A 0.6309.']
    """
    found = find_best_run(board, rules, names)
    return () if found is None else found.statements


def find_best_run(
    board: Scoreboard, rules: DecisionRules, names: Mapping[str, str] | None = None
) -> BestRun | None:
    """Return the run that scores highest by the measure that decides, tested against the others.

    None where fewer than two have a value. Runs of several chunkings are ranked by the first
    measure with values that can decide between them, without those of chunkings that have no
    grades. ``names`` are what people call the runs.
    """
    board = board.snapshot()
    ungraded = find_ungraded(board)
    for measure in _deciding(board, rules):
        scores = [each for each in board.table([measure]) if each.n and not math.isnan(each.value)]
        ranked = [each for each in scores if each.run not in ungraded]
        if len(ranked) > 1:
            return _best_of(board, measure, ranked, names, ungraded)
    return None


def find_ungraded(board: Scoreboard) -> tuple[str, ...]:
    """Return the runs of chunkings without a grade, where there are several chunkings."""
    collection = board.collection
    if not collection.has_several_chunkings:
        return ()
    return tuple(
        run.name for run in collection.runs if not has_graded_chunkings(collection, [run.name])
    )


def describe_ungraded(who: str, board: Scoreboard, runs: Sequence[str]) -> Statement:
    """Return why some runs, named as ``who``, cannot be compared with the others."""
    chunkings = {run.name: describe_chunking(run.chunking) for run in board.collection.runs}
    of = " or ".join(dict.fromkeys(chunkings[run] for run in runs))
    said = f"{who} can't be compared yet: no chunk of {of} is graded."
    return Statement("ungraded chunking", said, DOUBT)


def _deciding(board: Scoreboard, rules: DecisionRules) -> Sequence[Measure]:
    """Return the measures of which the first with values decides between all runs."""
    collection, read = board.collection, board.conventions.measures
    if not collection.has_several_chunkings:
        return board.resolve(read(rules.decide_by)[:1])
    if has_graded_chunkings(collection, board.run_names):
        return board.resolve(read(ACROSS_CHUNKINGS))
    crossing = [name for name in ACROSS_CHUNKINGS if name in CROSS_CHUNKING_MEASURES]
    return board.resolve(read(crossing))


def _best_of(
    board: Scoreboard,
    measure: Measure,
    scores: Sequence[Score],
    names: Mapping[str, str] | None,
    ungraded: tuple[str, ...],
) -> BestRun:
    best, *others = sorted(scores, key=lambda each: -each.value)
    called = names or {each.run: each.run for each in scores}
    tests = _tests_against(board, measure, best, others) if best.n >= FEWEST_QUERIES else {}
    return BestRun(board, measure, best, tuple(others), tests, called, ungraded)


def _answer(best: str, level: Sequence[str]) -> str:
    """Return which run is best; those on the same ``level`` are not clearly lower."""
    if not level:
        return f"{best} scores clearly highest."
    if len(level) > MOST_NAMED:
        them = f"{format_count(len(level), 'run', 'runs')} are"
    else:
        *first, last = level
        them = f"{', '.join(first)} and {last} are" if first else f"{last} is"
    return f"{best} scores highest; {them} not clearly lower."


def _tests_against(
    board: Scoreboard, measure: Measure, best: Score, others: Sequence[Score]
) -> dict[str, DeltaTest]:
    """Return the test of each run against the best; runs without a common query have none."""
    pairs = {}
    for each in others:
        try:
            pairs[each.run] = compare(board, each.run, best.run, [measure])
        except BadInput:  # nothing in common
            continue
    return assess_deltas(pairs, tests=len(others))
