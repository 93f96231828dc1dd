"""Outcomes of retrieval and answer together: found or not found, answered rightly or wrongly.

Found means that the prompt (the first prompt_k chunks) contains a chunk that the failure rule calls
relevant: the answer is generated from these chunks only. A query is counted separately if an
unjudged chunk could be the relevant one, or if it has no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from labeler.analysis.failures.diagnosis import GENERATION, Failure
from labeler.analysis.failures.failure_rules import FailureRule, UsefulInPrompt, rule_requirements
from labeler.analysis.failures.relevant_positions import find_positions
from labeler.evaluation import Scoreboard
from labeler.measures import PROMPT, Bools, Measure
from labeler.model import format_count
from labeler.model.results import COUNT, NUMBER, RANGE, Column, Table
from labeler.stats import ConfidenceInterval, wilson_interval


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """An outcome of a query: its name, the part of the system to look at, and its meaning.

    ``found`` and ``right`` are None where unknown.
    """

    name: str
    matter: str
    meaning: str
    found: bool | None = None
    right: bool | None = None


FOUND_RIGHT = AnswerOutcome(
    "found and right",
    "as it should be",
    "The prompt holds what the query needs, and the answer is right.",
    found=True,
    right=True,
)
FOUND_WRONG = AnswerOutcome(
    "found but wrong",
    "generation",
    "The prompt holds what the query needs, and the answer is wrong all the same: look at the "
    "prompt and the model, no retriever can help.",
    found=True,
    right=False,
)
MISSED_WRONG = AnswerOutcome(
    "not found and wrong",
    "retrieval",
    "What the query needs is not in the prompt, and the answer is wrong: the reasons say why.",
    found=False,
    right=False,
)
MISSED_RIGHT = AnswerOutcome(
    "not found but right",
    "luck, or a gap in the golden set",
    "The answer is right without what the golden set says it needs: the model knew it, or a chunk "
    "that is graded too low or not in the pool holds it.",
    found=False,
    right=True,
)
UNDECIDED = AnswerOutcome(
    "undecided",
    "grades are missing",
    "No graded chunk of the prompt is enough, and nobody has graded all of it: grade the rest.",
)
NO_ANSWER = AnswerOutcome("no answer", "answers are missing", "No answer of this run is loaded.")

OUTCOME_CELLS = (FOUND_RIGHT, FOUND_WRONG, MISSED_WRONG, MISSED_RIGHT)
ANSWER_OUTCOMES = (*OUTCOME_CELLS, UNDECIDED, NO_ANSWER)
"""The four cells, and the two outcomes that are counted separately."""

_CELL_BY_FLAGS = {(each.found, each.right): each for each in OUTCOME_CELLS}


def find_outcomes(
    board: Scoreboard, run: str, right: Mapping[str, bool], rule: FailureRule | None = None
) -> dict[str, AnswerOutcome]:
    """Return the outcome of every query of the board in ``run``, in the board's order.

    ``right`` says of each query with an answer whether it is right. ``rule`` decides which grade
    is enough, as in `diagnose`. Raises `NotFound` for an unknown run.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q1": ["c"], "q2": ["x"], "q3": ["?"]}}
    >>> golden = {"q1": {"c": 3}, "q2": {"x": 0, "c": 3}, "q3": {"c": 3}}
    >>> board = Scoreboard(collect(golden, runs), Conventions.of())
    >>> found = find_outcomes(board, "A", {"q1": False, "q2": False, "q3": False})
    >>> [each.name for each in found.values()]
    ['found but wrong', 'not found and wrong', 'undecided']
    """
    board = board.snapshot()
    found, unsure = _found_in_prompt(board, run, rule or UsefulInPrompt())
    rows = zip(board.collection.query_ids, found.tolist(), unsure.tolist(), strict=True)
    return {
        query_id: NO_ANSWER
        if query_id not in right
        else UNDECIDED
        if is_unsure
        else _CELL_BY_FLAGS[is_found, right[query_id]]
        for query_id, is_found, is_unsure in rows
    }


def _found_in_prompt(board: Scoreboard, run: str, rule: FailureRule) -> tuple[Bools, Bools]:
    """Return which prompts contain a relevant chunk, and which others may (unjudged chunks)."""
    wanted = np.array([each.rel for each in rule_requirements(board, run, rule)])
    column = board.column_of(run)
    found: Bools = np.zeros(len(wanted), dtype=bool)
    for rel in np.unique(wanted).tolist():
        in_prompt = Measure("Success", PROMPT, rel=rel)
        found |= (wanted == rel) & (board.values(in_prompt)[:, column] > 0)
    unjudged = board.unjudged(Measure("Success", PROMPT, rel=1))[:, column]
    return found, ~found & (unjudged > 0)


def with_generation(
    board: Scoreboard,
    run: str,
    failures: Mapping[str, Failure | None],
    became: Mapping[str, AnswerOutcome],
    rule: FailureRule | None = None,
) -> dict[str, Failure | None]:
    """Return why queries fail, including those where only the answer is wrong (`GENERATION`).

    A query that fails by the rule keeps its reason: problems of retrieval come first.
    """
    wrong = {name for name, each in became.items() if each is FOUND_WRONG}
    wrong = {name for name in wrong if name in failures and failures[name] is None}
    if not wrong:
        return dict(failures)
    wanted = rule_requirements(board, run, rule or UsefulInPrompt())
    ids = board.collection.query_ids
    found = {
        name: Failure(name, GENERATION, each, find_positions(board, run, name, each))
        for name, each in zip(ids, wanted, strict=True)
        if name in wrong
    }
    return {name: found.get(name, each) for name, each in failures.items()}


@dataclass(frozen=True, slots=True)
class TwoByTwo:
    """Queries by outcome; ``elsewhere`` counts the answers to queries that could not be counted."""

    counts: Mapping[AnswerOutcome, int]
    right: int
    answered: int
    elsewhere: int = 0

    @property
    def n(self) -> int:
        """Number of queries in the four cells."""
        return sum(self.counts[each] for each in OUTCOME_CELLS)

    def share(self, outcome: AnswerOutcome) -> tuple[float, ConfidenceInterval]:
        """Return a cell's share of the four cells, with its interval.

        NaN where all four are empty, and for an outcome that is counted separately.
        """
        of = self.n if outcome in OUTCOME_CELLS else 0
        return _share_with_interval(self.counts[outcome], of)

    def right_where(self, found: bool) -> tuple[int, int, float, ConfidenceInterval]:
        """Return, for found or not found: right answers, answers, share right, its interval."""
        right = self.counts[_CELL_BY_FLAGS[found, True]]
        of = right + self.counts[_CELL_BY_FLAGS[found, False]]
        return right, of, *_share_with_interval(right, of)

    @property
    def sentences(self) -> list[str]:
        """Sentences on right answers, in all and by found or not, and on queries left out."""
        are = "answer is right" if self.answered == 1 else "answers are right"
        words = [_format_share(self.right, self.answered, are)]
        for found, where in ((True, "holds"), (False, "does not hold")):
            right, of, *_ = self.right_where(found)
            if of:
                words.append(
                    f"where the prompt {where} what the query needs: {_format_share(right, of)}"
                )
        aside = [
            f"{self.counts[UNDECIDED]:,} undecided (an unjudged chunk could be what is needed)",
            f"{format_count(self.counts[NO_ANSWER], 'query', 'queries')} without an answer",
            f"{format_count(self.elsewhere, 'answer', 'answers')} to queries that "
            "are not counted here",
        ]
        apart = [each for each in aside if not each.startswith("0 ")]
        return ["; ".join(words), *([f"not counted: {', '.join(apart)}"] if apart else [])]


def count_two_by_two(
    became: Iterable[tuple[str, AnswerOutcome]], right: Mapping[str, bool], within: Collection[str]
) -> TwoByTwo:
    """Count queries by outcome; ``within`` are all queries that could have been counted."""
    given = dict(became)
    counts = Counter(given.values())
    answered = [right[name] for name in given if name in right]
    return TwoByTwo(
        {each: counts[each] for each in ANSWER_OUTCOMES},
        right=sum(answered),
        answered=len(answered),
        elsewhere=len(right.keys() - set(within)),
    )


def answer_table(counted: Iterable[tuple[str, str | None, TwoByTwo]], facet: str | None) -> Table:
    """Return a row per run, bucket of ``facet`` and outcome.

    The four cells have a share with its interval. Without a facet there is no bucket.
    """
    place = () if facet is None else (Column("facet"), Column("bucket", facet))
    columns = (
        *place,
        *(Column("run", "run"), Column("outcome", "outcome"), Column("matter", "a matter of")),
        *(Column("queries", "queries", COUNT), Column("n"), Column("share", "share", NUMBER)),
        Column("interval", "95% interval", RANGE, parts=("lo", "hi")),
    )
    rows = []
    for run, bucket, table in counted:
        for outcome, count in table.counts.items():
            share, interval = table.share(outcome)
            said = {"run": run, "outcome": outcome.name, "matter": outcome.matter}
            numbers = {"share": float(share), "lo": interval.lo, "hi": interval.hi}
            where = {"facet": facet, "bucket": bucket}
            rows.append(where | said | {"queries": count, "n": table.n} | numbers)
    return Table(columns, rows)


def _share_with_interval(ones: int, n: int) -> tuple[float, ConfidenceInterval]:
    return (ones / n if n else np.nan), wilson_interval(ones, n)


def _format_share(ones: int, n: int, what: str = "") -> str:
    """Describe a share in words, with its interval.

    >>> _format_share(8, 10, "answers are right"), _format_share(0, 0)
    ('8 of 10 answers are right (80%; 95% interval 49% to 94%)', '0 of 0')
    """
    words = f"{ones:,} of {n:,} {what}".rstrip()
    if not n:
        return words
    ends = wilson_interval(ones, n)
    return f"{words} ({ones / n:.0%}; 95% interval {ends.lo:.0%} to {ends.hi:.0%})"
