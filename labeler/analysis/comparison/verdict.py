"""Verdict on two runs: which one is better by the measure that decides, and what could change that.

The verdict is a list of statements, the answer first, then the number, then each doubt under its
own heading: other questions, unjudged chunks, graders. It does not depend on what is shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison.deltas import TOLERANCE, Delta
from labeler.analysis.comparison.grader_sensitivity import (
    GraderSensitivity,
    ReadingDelta,
    describe_left_out,
    name_own_grades,
)
from labeler.analysis.comparison.recall_vs_order import CandidateOverlap
from labeler.analysis.comparison.significance import (
    MOST_MORE,
    DeltaTest,
    PairTests,
    describe_interval,
    format_p_value,
)
from labeler.analysis.comparison.unjudged_doubt import (
    COULD_CHANGE,
    advise_grades,
    describe_unjudged,
)
from labeler.evaluation import Scoreboard, format_number, format_signed
from labeler.evaluation.measure_guidance import has_graded_chunkings
from labeler.measures import Measure
from labeler.model import describe_chunking, format_count
from labeler.model.results import ANSWER, DOUBT, Statement
from labeler.stats import FEWEST_DIFFERING, FEWEST_QUERIES, UnjudgedRange

BETTER, WORSE = "better", "worse"
BY_LITTLE, NO_DIFFERENCE = "better by less than matters", "no difference that matters"
AHEAD, PROVISIONAL = "ahead on these queries", "ahead on the grades so far"
NOT_CLEAR, ALL_TIED, TOO_FEW = "not clear", "no query differs", "too few queries"
IDENTICAL, INCOMPARABLE, NO_VALUE = "identical", "cannot be compared", "no value"

TRANSFER = "transfer"
TRANSFER_PLACE = {"page": "data", "section": "Advanced", "show": "Transfer"}
OTHER_QUESTIONS, GRADERS, NEXT_STEP = "Other questions", "Graders", "Next step"


class PairEvidence(NamedTuple):
    """What is known of a difference beside its test.

    ``band`` is its range over unjudged chunks, ``sensitivity`` the difference by each grader's own
    grades; None where not known. About ``useful`` more grades would decide who is ahead once all
    chunks are judged, 0 if unknown. ``best_of`` are how many runs one of the two is the best of,
    where that choice makes a clear difference unclear; else 0.
    """

    band: UnjudgedRange | None = None
    sensitivity: GraderSensitivity | None = None
    useful: int = 0
    best_of: int = 0


NO_EVIDENCE = PairEvidence()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which of two runs is better: the ``outcome`` for programs, and the statements for people.

    ``row`` is the difference that it is about and ``test`` its test; None if there is none.
    """

    outcome: str
    statements: tuple[Statement, ...]
    row: Delta | None = None
    test: DeltaTest | None = None

    @property
    def sentence(self) -> str:
        """The answer alone."""
        return self.statements[0].sentence

    @property
    def measure(self) -> Measure | None:
        """The measure that decides."""
        return None if self.row is None else self.row.measure


def decide_verdict(
    board: Scoreboard,
    tests: PairTests,
    overlap: CandidateOverlap,
    evidence: PairEvidence = NO_EVIDENCE,
    *,
    names: tuple[str, str] | None = None,
    within: tuple[str, str] | None = None,
) -> Verdict:
    """Return which of two runs is better, over all queries or ``within`` one facet's bucket.

    ``overlap`` says whether their lists are the same. ``names`` are shown for A and B.
    """
    a, b = names or (tests.a, tests.b)
    row = tests.row_in(*(within or (None, None)))
    if overlap.identical:
        return _short(IDENTICAL, f"{a} and {b} return the same results.")
    if tests.deciding is None or row is None:
        return describe_incomparable(board, tests, (a, b))
    if math.isnan(row.delta):
        return _without_value(row, (a, b))
    said = _Wording(board, tests, row, (a, b), evidence, within)
    outcome = said.outcome()
    parts = [said.answer(outcome), said.number(), said.queries()]
    if outcome in (TOO_FEW, ALL_TIED):
        more = FEWEST_QUERIES - row.n
        step = said.request(format_count(more, "more query", "more queries"))
        parts += [Statement("more queries", step, DOUBT, NEXT_STEP)] if more > 0 else []
    else:
        parts += [said.other_questions()]
    parts += [*said.unjudged(), *said.graders(), *said.other_measure()]
    return Verdict(outcome, tuple(parts), row, tests.of(row))


def _short(outcome: str, sentence: str, *more: Statement) -> Verdict:
    return Verdict(outcome, (Statement(outcome, sentence, ANSWER), *more))


def describe_incomparable(board: Scoreboard, tests: PairTests, names: tuple[str, str]) -> Verdict:
    """Return why no measure decides between runs of two chunkings, and what would change that."""
    runs = {run.name: run.chunking for run in board.collection.runs}
    chunkings = [describe_chunking(runs[name]) for name in (tests.a, tests.b)]
    pair = (
        f"{names[0]} and {names[1]} can't be compared yet: they return different chunks "
        f"({' and '.join(chunkings)})"
    )
    if not any(has_graded_chunkings(board.collection, (name,)) for name in (tests.a, tests.b)):
        return _short(INCOMPARABLE, f"{pair}, and neither has grades.")
    step = "Transfer the grades between the chunkings, on Data or with 'labeler transfer'."
    return _short(
        INCOMPARABLE,
        f"{pair}, and only one of the two has grades.",
        Statement(TRANSFER, step, DOUBT, NEXT_STEP, target=TRANSFER_PLACE),
    )


def _without_value(row: Delta, names: tuple[str, str]) -> Verdict:
    pair = f"{names[0]} and {names[1]} can't be compared"
    if not row.n:
        return _short(NO_VALUE, f"{pair} yet: nothing relevant is known for any of these queries.")
    empty = [name for name, mean in zip(names, (row.a, row.b), strict=True) if math.isnan(mean)]
    verb = "has" if len(empty) == 1 else "have"
    who = " and ".join(empty)
    return _short(NO_VALUE, f"{pair}: {who} {verb} no result for any query that counts.")


@dataclass(frozen=True, slots=True)
class _Wording:
    """The statements on one difference."""

    board: Scoreboard
    tests: PairTests
    row: Delta
    names: tuple[str, str]
    evidence: PairEvidence
    within: tuple[str, str] | None

    @property
    def test(self) -> DeltaTest:
        return self.tests.of(self.row)

    @property
    def heading(self) -> str:
        return self.board.conventions.heading(self.row.measure)

    @property
    def matters(self) -> float:
        return self.tests.rules.matters

    def outcome(self) -> str:
        """Return which situation this is; the answer's words follow from it."""
        row, test = self.row, self.test
        if row.n < FEWEST_QUERIES:
            return TOO_FEW
        if not row.wins and not row.losses:
            return ALL_TIED
        is_within = self._is_within_what_matters()
        if test.is_clear and self._unjudged_could_change():
            return PROVISIONAL
        if test.is_clear and (is_within or abs(row.delta) < self.matters):
            return BY_LITTLE
        if test.is_clear:
            return BETTER if row.delta > 0 else WORSE
        if is_within:
            return NO_DIFFERENCE
        is_known = test.differ >= FEWEST_DIFFERING and self.board.weights is None
        if not is_known or abs(row.delta) < max(self.matters, TOLERANCE):
            return NOT_CLEAR
        return NOT_CLEAR if self._unjudged_could_change() else AHEAD

    def _is_within_what_matters(self) -> bool:
        """Whether the whole interval is too small to matter; False without an interval."""
        interval = self.test.interval
        return -self.matters <= interval.lo and interval.hi <= self.matters

    def _unjudged_could_change(self) -> bool:
        found = self._unjudged()
        return found is not None and found.kind == COULD_CHANGE

    def answer(self, outcome: str) -> Statement:
        """Return the answer to which run is better."""
        sentence = self._answer(outcome)
        if self.within is not None:
            sentence = f"{self.within[0]} = {self.within[1]}: {sentence}"
        numbers = {"measure": str(self.row.measure), "delta": self.row.delta, "n": self.row.n}
        return Statement(outcome, sentence, ANSWER, numbers=numbers)

    def _answer(self, outcome: str) -> str:
        (a, b), row, small = self.names, self.row, f"{self.matters:g}"
        leader, other = (b, a) if row.delta > 0 else (a, b)
        by = f" by {self.heading}, a measure that holds across chunkings"
        across = by if self._is_across else ""
        if outcome in (BETTER, WORSE):
            but = ", but not by every grader's grades" if self._opposed() else ""
            decides = f" by {self.heading}, the measure that decides" if self._against() else ""
            return f"{b} is {outcome} than {a}{across or decides}{but}."
        if outcome == BY_LITTLE:
            less = f"less than what matters here ({small})"
            if self._is_within_what_matters():
                return f"{leader} is better than {other}{across}, by {less}."
            return f"{leader} is better than {other}{across}, but the difference seen is {less}."
        if outcome == PROVISIONAL:
            chunks = "unjudged chunks could change that"
            return f"{leader} is ahead of {other}{across} on the grades so far, but {chunks}."
        if outcome == AHEAD:
            hold = "but that may not hold for other questions"
            return f"{leader} is ahead on these {row.n:,} queries{across}, {hold}."
        if outcome == TOO_FEW:
            return f"Too few queries to compare {a} and {b}: {row.n}."
        if outcome == ALL_TIED:
            return f"{a} and {b} score the same on all {row.n:,} queries."
        if outcome == NO_DIFFERENCE:
            return f"No difference that matters between {a} and {b}{across}."
        return f"No clear difference between {a} and {b}{across}."

    @property
    def _is_of_evidence(self) -> bool:
        return self.row.measure.reads == "evidence"

    def request(self, queries: str) -> str:
        """Ask for queries that count by this measure."""
        return f"Mark passages for {queries}." if self._is_of_evidence else f"Grade {queries}."

    @property
    def _is_across(self) -> bool:
        return self.tests.compared is not None and self.tests.compared.apart

    def number(self) -> Statement:
        """Return the difference, and the two means."""
        row = self.row
        means = f"from {format_number(row.a)} to {format_number(row.b)}"
        weighted = self.board.conventions.weighted
        by = f", weighted by {weighted.facet}" if weighted is not None else ""
        sentence = f"{format_signed(row.delta)} {self.heading}, {means}{by}."
        numbers = {"a": row.a, "b": row.b, "delta": row.delta}
        return Statement("number", sentence, ANSWER, numbers=numbers)

    def queries(self) -> Statement:
        """Return how many queries the means are over, why not all, and in how many B is better."""
        source, row = self.tests.source_of(self.row), self.row
        names, group = source.groups
        of = len(group) if row.bucket is None else int(np.sum(group == names.index(row.bucket)))
        not_graded = of - row.n - row.undefined
        why = [f"{not_graded:,} not graded"] if not_graded else []
        lacks = "no passage marked" if self._is_of_evidence else "nothing relevant"
        why += [f"{row.undefined:,} with {lacks}"] if row.undefined else []
        left_out = f" ({', '.join(why)})" if why else ""
        absent = [
            f"{name} has no list for {format_count(missing, 'query', 'queries')}, which count 0."
            for name, missing in zip(self.names, (row.missing_a, row.missing_b), strict=True)
            if missing
        ]
        if (both := source.means_in_common(row)) is not None:
            absent.append(
                f"Over the {both.n:,} that both runs answered: {format_signed(both.delta)}, from "
                f"{format_number(both.a)} to {format_number(both.b)}."
            )
        moved = f"{self.names[1]} is better on {row.wins:,}, worse on {row.losses:,}"
        where = "" if self.within is None else f" of {' = '.join(self.within)}"
        whole = f"The one query{where}" if of == 1 else f"All {of:,} queries{where}"
        over = whole if row.n == of else f"{row.n:,} of {of:,} queries{where}{left_out}"
        sentence = " ".join([f"{over}: {moved}.", *absent])
        numbers = {"n": row.n, "of": of, "undefined": row.undefined, "not_graded": not_graded}
        numbers |= {"wins": row.wins, "losses": row.losses}
        return Statement("queries", sentence, ANSWER, numbers=numbers, target=self._queries())

    def _queries(self) -> dict[str, str]:
        row, place = self.row, self.within
        which = {"which": "worse" if row.losses else "better"} if row.wins or row.losses else {}
        where = {} if place is None else {"facet": place[0], "bucket": place[1]}
        return {"page": "queries", **which, **where}

    def other_questions(self) -> Statement:
        """Return how sure the difference is beyond the queries at hand."""
        test, row = self.test, self.row
        differ = f"{test.differ:,} of {row.n:,} queries differ{'s' * (test.differ == 1)}"
        p = f"p {format_p_value(test.p_corrected)}"
        numbers = {"lo": test.interval.lo, "hi": test.interval.hi, "p": test.p_corrected}
        numbers |= {"tests": test.tests, "differ": test.differ}
        if math.isnan(test.interval.lo) and test.differ < FEWEST_DIFFERING:
            few = f"Only {differ}: too few for a confidence interval ({p})."
            said = f"{few} {self.request('more queries')}"
        elif math.isnan(test.interval.lo):
            said = self._without_interval(p)
        else:
            few = f"Only {differ}. " if test.differ < FEWEST_DIFFERING else ""
            said = f"{few}The {describe_interval(test)} {self._meaning_of_interval(p)}"
        sentence = " ".join(filter(None, [said, self._more_queries(), self._choice_of_best()]))
        return Statement("other questions", sentence, DOUBT, OTHER_QUESTIONS, numbers)

    def _choice_of_best(self) -> str:
        """Say that the choice of the best run makes the difference unclear, as on Scores."""
        runs = self.evidence.best_of
        if not runs:
            return ""
        p = format_p_value(min(1.0, self.test.p * (runs - 1)))
        chosen = f"Corrected for the choice of the best of {runs:,} runs"
        return f"{chosen} it is not clear (p {p}), as Scores says."

    def _without_interval(self, p: str) -> str:
        """Say why there is no interval although enough queries differ."""
        if self.test.is_clear:
            return (
                f"All {self.row.n:,} queries differ by the same amount, so there is no confidence "
                f"interval; the choice of questions alone hardly explains the difference ({p})."
            )
        return f"No confidence interval: {self.test.reason} ({p})."

    def _meaning_of_interval(self, p: str) -> str:
        test = self.test
        if test.is_clear:
            return (
                "excludes 0, so the choice of questions alone hardly explains the difference "
                f"({p})."
            )
        if self._is_within_what_matters():
            return f"leaves no room for a difference that matters here ({self.matters:g})."
        return f"{'includes' if test.interval.lo < 0 < test.interval.hi else 'reaches'} 0 ({p})."

    def _more_queries(self) -> str:
        more, has_interval = self.test.more_queries, not math.isnan(self.test.interval.lo)
        few = self.test.differ < FEWEST_DIFFERING
        is_enough = self.test.is_clear or self._is_within_what_matters()
        if is_enough or few or not has_interval or not more:
            return ""
        if more > MOST_MORE * self.row.n:
            return "A difference this small would take more than ten times as many queries to show."
        return (
            f"If the true difference is the one seen, about "
            f"{format_count(more, 'more query', 'more queries')} would show it (80% power)."
        )

    def _unjudged(self) -> Statement | None:
        return describe_unjudged(self.row, self.evidence.band, self.names)

    def unjudged(self) -> Iterator[Statement]:
        """Yield what more grades could change, if anything."""
        if (found := self._unjudged()) is None:
            return
        yield found
        if self.evidence.useful and found.kind == COULD_CHANGE:
            yield advise_grades(self.evidence.useful, found.numbers["unjudged"])

    def _opposed(self) -> list[ReadingDelta]:
        """Return the readings by whose grades the run that leads does not."""
        found = self.evidence.sensitivity
        is_told = found is not None and found.why_not_told is None and self.row.direction
        opposed = found.opposed if found is not None and is_told else []
        return [each for each in opposed if not math.isnan(each.row.delta)]

    def graders(self) -> Iterator[Statement]:
        """Yield whether the same run is ahead by each grader's own grades."""
        found = self.evidence.sensitivity
        if found is None or found.why_not_told is not None or not self.row.direction:
            return
        leader, opposed = self.names[self.row.delta > 0], self._opposed()
        if opposed:
            yield self._opposed_graders(opposed, len(found.graders))
            return
        agree = [each for each in found.graders if each.row.direction == self.row.direction]
        named = [each for each in agree if each in found.nameable]
        if not named:
            graders = name_own_grades(found.nameable)
            sentence = f"By {graders}, no chunk is relevant, so nothing compares."
            yield Statement("graders leave nothing", sentence, DOUBT, GRADERS)
            return
        if len(agree) == len(found.graders) > 1:
            sentence = f"{leader} is also ahead by each grader's own grades."
        else:
            without = [each for each in found.nameable if each not in named]
            nothing = f"no chunk is relevant by {name_own_grades(without)}" if without else ""
            few = describe_left_out([each for each in found.graders if each not in agree])
            said = f"{leader} is also ahead by {name_own_grades(named)}"
            sentence = f"{'; '.join(filter(None, [said, nothing, few]))}."
        yield Statement("graders agree", sentence, DOUBT, GRADERS)

    def _opposed_graders(self, opposed: Sequence[ReadingDelta], graders: int) -> Statement:
        sides = {0: "neither run is ahead", 1: f"{self.names[1]} is ahead"}
        sides[-1] = f"{self.names[0]} is ahead"
        [(direction, first), *_] = Counter(each.row.direction for each in opposed).most_common(1)
        those = [each for each in opposed if each.row.direction == direction]
        how = f"{first:,} of {graders:,} graders"
        if len(those) == 1:
            differ = format_count(those[0].changed, "grade differs", "grades differ")
            how = f"{differ} from those that count"
        said = f"By {name_own_grades(those)}, {sides[direction]} ({how})."
        numbers = {"graders": [each.reading.grader for each in opposed]}
        return Statement("graders disagree", said, DOUBT, GRADERS, numbers)

    def other_measure(self) -> Iterator[Statement]:
        """Yield another tested measure that clearly tells another story, at most one."""
        if self.within is not None or self.row.n < FEWEST_QUERIES:
            return
        against = self._against()
        rows = against or ([] if self.test.is_clear else self._clear_others())
        if rows:
            yield self._clear_measure(rows[0], "But " if against else "")

    def _clear_others(self) -> list[Delta]:
        """Return the other tested measures that are clear, the largest difference first."""
        clear = [row for row in self.tests.others if self.tests.of(row).is_clear]
        return sorted(clear, key=lambda row: -abs(row.delta))

    def _against(self) -> list[Delta]:
        """Return those that point the other way."""
        if self.within is not None or abs(self.row.delta) <= TOLERANCE:
            return []
        return [row for row in self._clear_others() if row.delta * self.row.delta < 0]

    def _clear_measure(self, row: Delta, but: str) -> Statement:
        test, moves = self.tests.of(row), "rises" if row.delta > 0 else "falls"
        corrected = f", corrected for {test.tests:,} {test.counted}" if test.tests > 1 else ""
        sentence = (
            f"{but}{self.board.conventions.heading(row.measure)} {moves} by "
            f"{abs(row.delta):.4f}, clearly (p {format_p_value(test.p_corrected)}{corrected})."
        )
        numbers = {"measure": str(row.measure), "delta": row.delta, "p": test.p_corrected}
        return Statement("other measure", sentence, DOUBT, numbers=numbers)
