"""Source, request and context of a report: its data, what it shows, and what its sections share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import htpy

from labeler.analysis.comparison import DecisionRules, PairTests, assess_pair
from labeler.analysis.failures import AnswerOutcome, FailureRule, UsefulInPrompt, find_outcomes
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import Chunk, Query, Remark, SingleGrades, StoredRun
from labeler.render.short_names import RUN_LETTERS, short_names
from labeler.stats import DeltaRanges, LiveRanges, MeanRanges

ChunkLookup = Callable[[Iterable[int]], Mapping[int, Chunk]]


@dataclass(frozen=True)
class ReportSource:
    """A golden set at one moment: the board, and the data that a board does not hold.

    ``with_text`` are the numbers of all chunks that have text. ``chunks_of`` returns the chunks of
    some of these numbers. ``singles`` is None if nobody knows who gave which grade, as in a frozen
    version. ``right`` says by run, then by query, which answers are right.
    """

    board: Scoreboard
    queries: Mapping[str, Query]
    remarks: Sequence[Remark]
    singles: SingleGrades | None
    with_text: frozenset[int]
    chunks_of: ChunkLookup
    right: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Each query's text on one line."""
        return {name: " ".join(query.text.split()) for name, query in self.queries.items()}


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What a report shows: run ``a``, or ``b`` against it, by ``measures``, the leading one first.

    Slices are by ``facets``, or by all facets if none is named. ``day`` is the date on the report.
    ``rule`` says which queries fail, and ``decision`` which run is better.
    """

    a: str
    b: str | None
    measures: tuple[Measure, ...]
    day: date
    facets: tuple[str, ...] = ()
    rule: FailureRule = field(default_factory=UsefulInPrompt)
    decision: DecisionRules = field(default_factory=DecisionRules)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of the report."""
        return (self.a,) if self.b is None else (self.a, self.b)

    @property
    def shown(self) -> str:
        """The run that is shown in detail: B if there is one, else A."""
        return self.a if self.b is None else self.b

    def check(self, board: Scoreboard) -> None:
        """Raise `NotFound` for an unknown run or facet, `BadInput` if A and B are the same run."""
        for run in self.runs:
            board.column_of(run)
        if self.a == self.b:
            raise BadInput(f"A and B are the same run, {self.a!r}; name two, or one alone")
        for facet in self.facets:
            if facet not in board.facets:
                known = ", ".join(board.facets) or "none"
                raise NotFound(f"no facet is called {facet!r}; there are: {known}")


PairBands = tuple[MeanRanges, DeltaRanges]


@dataclass(frozen=True)
class ReportContext:
    """One report while it is made."""

    source: ReportSource
    asked: ReportRequest
    bands: LiveRanges
    measures: tuple[Measure, ...]

    @classmethod
    def of(cls, source: ReportSource, asked: ReportRequest) -> ReportContext:
        """Begin a report; raises `NotFound` and `BadInput` as `ReportRequest.check` does."""
        asked.check(source.board)
        measures = source.board.resolve(asked.measures)
        return cls(source, asked, LiveRanges(source.board, asked.runs), measures)

    @property
    def board(self) -> Scoreboard:
        """The board from which all numbers are computed."""
        return self.source.board

    @cached_property
    def tests(self) -> PairTests:
        """The tests of A and B and of their buckets."""
        return assess_pair(self.board, self.asked.a, self.asked.shown, self.asked.decision)

    @property
    def facets(self) -> tuple[str, ...]:
        """The facets of the slices."""
        return self.asked.facets or tuple(self.board.facets)

    @property
    def short(self) -> dict[str, str]:
        """The short names of the runs."""
        return short_names(self.asked.runs)

    @property
    def title(self) -> str:
        """The title in the browser's tab."""
        a, *b = self.asked.runs
        return f"{b[0]} against {a}" if b else f"Report of {a}"

    @property
    def heading(self) -> htpy.Element:
        """The title as a heading, with the direction of each name's letters isolated."""
        a, *b = self.asked.runs
        if b:
            return htpy.h1[htpy.bdi[b[0]], " (B) against ", htpy.bdi[a], " (A)"]
        return htpy.h1["Report of ", htpy.bdi[a]]

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the runs in tables: A and B, or "Run" for a single one."""
        return RUN_LETTERS if self.asked.b is not None else ("Run",)

    def right_of(self, run: str) -> Mapping[str, bool]:
        """Say which answers of a run are right, by query; empty if none is loaded."""
        return self.source.right.get(run, {})

    def became(self, run: str) -> Mapping[str, AnswerOutcome]:
        """Return the outcome of every query and its answer in a run."""
        return find_outcomes(self.board, run, self.right_of(run), self.asked.rule)

    def of_pair(self) -> PairBands:
        """Return the ranges of A, B and B - A over the unjudged chunks, for all queries."""
        of_all = (self.board, self.measures)
        return self.bands.means(*of_all), self.bands.deltas(*of_all)


def describe_run(run: StoredRun) -> str:
    """Describe a run by its system, if its name does not say it, its day and its queries."""
    system = "" if run.system in run.name else f", system {run.system}"
    day = "" if run.created_at is None else f", of {run.created_at[:10]}"
    return f"{system}{day}, {len(run.lists):,} queries"
