"""What a report is made from, what it shows, and what its sections share."""

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
    """A golden set at one moment: the board, and what a board does not hold.

    ``chunks_of`` gives those of the chunks that have text, by number; ``with_text`` are the numbers
    of all such chunks. ``singles`` is None where it is not known who gave which grade, as of a
    version that was frozen. ``right`` says by run, then by query, which answers are right.
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

    Slices are by ``facets``, or by all there are where none is named. ``day`` is the one that the
    reader is told. A query fails by ``rule``, and ``decision`` says which run is better.
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
        """The runs that it is about."""
        return (self.a,) if self.b is None else (self.a, self.b)

    @property
    def shown(self) -> str:
        """The run that is looked at closely: B, where there is one."""
        return self.a if self.b is None else self.b

    def check(self, board: Scoreboard) -> None:
        """Raise `NotFound` for a run or a facet that is not there, `BadInput` for B that is A."""
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
        """What all numbers come from."""
        return self.source.board

    @cached_property
    def tests(self) -> PairTests:
        """The tests of A and B and of their buckets."""
        return assess_pair(self.board, self.asked.a, self.asked.shown, self.asked.decision)

    @property
    def facets(self) -> tuple[str, ...]:
        """The facets that slices are by."""
        return self.asked.facets or tuple(self.board.facets)

    @property
    def short(self) -> dict[str, str]:
        """What the runs are called where there is little room."""
        return short_names(self.asked.runs)

    @property
    def title(self) -> str:
        """What the file is called in a browser's tab."""
        a, *b = self.asked.runs
        return f"{b[0]} against {a}" if b else f"Report of {a}"

    @property
    def heading(self) -> htpy.Element:
        """The same, each name apart from the words around it."""
        a, *b = self.asked.runs
        if b:
            return htpy.h1[htpy.bdi[b[0]], " (B) against ", htpy.bdi[a], " (A)"]
        return htpy.h1["Report of ", htpy.bdi[a]]

    @property
    def letters(self) -> tuple[str, ...]:
        """What each run is called in tables: A and B, or one run alone as it is."""
        return RUN_LETTERS if self.asked.b is not None else ("Run",)

    def right_of(self, run: str) -> Mapping[str, bool]:
        """Which answers of a run are right, by query; empty where none is loaded."""
        return self.source.right.get(run, {})

    def became(self, run: str) -> Mapping[str, AnswerOutcome]:
        """What became of every query and its answer in a run."""
        return find_outcomes(self.board, run, self.right_of(run), self.asked.rule)

    def of_pair(self) -> PairBands:
        """Return what the unjudged chunks could make of A, B and B - A over all queries."""
        of_all = (self.board, self.measures)
        return self.bands.means(*of_all), self.bands.deltas(*of_all)


def describe_run(run: StoredRun) -> str:
    """Say of which system a run is and of which day, as far as its name does not."""
    system = "" if run.system in run.name else f", system {run.system}"
    day = "" if run.created_at is None else f", of {run.created_at[:10]}"
    return f"{system}{day}, {len(run.lists):,} queries"
