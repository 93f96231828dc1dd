"""The run that scores highest, and which of the others are clearly lower.

Each other run is tested against the best one by the measure that decides, corrected for how many
they are; as the best one was picked from the same values, nothing less would do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labeler.analysis.comparison.deltas import compare
from labeler.analysis.comparison.significance import DecisionRules, DeltaTest, assess_deltas
from labeler.errors import BadInput
from labeler.evaluation import Score, Scoreboard, format_number
from labeler.measures import Measure
from labeler.model import format_count
from labeler.model.results import ANSWER, DOUBT, Statement
from labeler.stats import FEWEST_QUERIES

MOST_NAMED = 3  # runs that are not clearly lower; of more the number


def describe_best_run(
    board: Scoreboard, rules: DecisionRules, names: Mapping[str, str] | None = None
) -> tuple[Statement, ...]:
    """Return which run scores highest by the measure that decides, and how surely.

    Nothing where fewer than two have a value, or where runs are of several chunkings: their values
    rest on different grades. ``names`` are what people call the runs.

    >>> from labeler.evaluation import Conventions, collect
    >>> ids = [f"q{number}" for number in range(12)]
    >>> runs = {"A": {q: ["x", "c"] for q in ids}, "B": {q: ["c", "x"] for q in ids}}
    >>> board = Scoreboard(collect({q: {"c": 1} for q in ids}, runs), Conventions.of())
    >>> [each.sentence for each in describe_best_run(board, DecisionRules())]
    ['B scores clearly highest.', 'nDCG@10: B 1.0000, A 0.6309.']
    """
    if board.collection.has_several_chunkings:
        return ()
    board = board.snapshot()
    [measure] = board.resolve(board.conventions.measures(rules.decide_by)[:1])
    scores = [each for each in board.table([measure]) if each.n]
    if len(scores) < 2:
        return ()
    best, *others = sorted(scores, key=lambda each: -each.value)
    called = names or {each.run: each.run for each in scores}
    values = [f"{called[each.run]} {format_number(each.value)}" for each in (best, others[0])]
    heading = board.conventions.heading(measure)
    number = Statement("best values", f"{heading}: {', '.join(values)}.", DOUBT)
    if best.n < FEWEST_QUERIES:
        few = f"Too few queries to say which run is best: {best.n}."
        return Statement("too few queries", few, ANSWER), number
    tests = _tests_against(board, measure, best, others)
    lower = {run for run, test in tests.items() if test.is_clear}
    level = [called[each.run] for each in others if each.run not in lower]
    return Statement("best run", _answer(called[best.run], level), ANSWER), number


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
