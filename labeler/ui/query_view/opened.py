"""The opened query: its content, runs and measures, and the links to other queries and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeler.analysis import comparison
from labeler.analysis.comparison import RankChange
from labeler.analysis.failures import FailureRule, useful_grades
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import Query, Remark
from labeler.render.short_names import short_names
from labeler.ui import url_state

# Parameters of choices inside an opened query; they are removed when it is closed.
INSIDE = ("chunk", "rank", "grade", "tried", "ranks")


def open_query(query_id: str | None, **more: str | None) -> None:
    """Open a query, or close the one that is open."""
    url_state.write(query=query_id or None, **dict.fromkeys(INSIDE), **more)


@dataclass(frozen=True, slots=True)
class QuerySteps:
    """The place of the opened query in its list, and the links to other queries and back.

    ``back`` names the list that closing returns to, ``place`` says the query's place in it.
    ``before`` and ``after`` are its neighbours. ``leave`` closes it, ``go`` opens another.
    """

    back: str
    place: str
    before: str | None
    after: str | None
    leave: Callable[[], None]
    go: Callable[[str], None]


@dataclass(frozen=True)
class OpenedQuery:
    """A query in one run, or in runs A and B; the first of ``measures`` explains it.

    ``rule`` says when a query fails. ``words`` are the names of the grades, ``steps`` the links to
    other queries and back, ``path`` is the page of the query, and ``answered`` says whether answers
    of runs are loaded.
    """

    query: Query
    board: Scoreboard
    runs: Sequence[str]
    measures: Sequence[Measure]
    rule: FailureRule
    remarks: Sequence[Remark]
    words: Sequence[str]
    steps: QuerySteps
    path: str
    answered: bool

    @property
    def query_id(self) -> str:
        """The query's id."""
        return self.query.query_id

    @property
    def run(self) -> str:
        """The run that is shown in detail: B, or the only one."""
        return self.runs[-1]

    @property
    def a(self) -> str | None:
        """The run that it is compared with, if there is one."""
        return self.runs[0] if len(self.runs) > 1 else None

    @property
    def measure(self) -> Measure:
        """The measure that explains the query."""
        return self.measures[0]

    @property
    def tried_measures(self) -> Sequence[Measure]:
        """The measure that explains the query, and RR, which shows the first useful rank."""
        others = sorted(self.measures[1:], key=lambda measure: measure.name != "RR")
        return [self.measure, *others[:1]]

    @property
    def heading(self) -> str:
        """The name of that measure."""
        return self.board.conventions.heading(self.measure)

    @property
    def number(self) -> int:
        """The query's row on the board."""
        return self.board.number_of(self.query_id)

    @cached_property
    def short(self) -> Mapping[str, str]:
        """The names of runs on screen; the shown runs have names that tell just them apart."""
        between = {} if self.a is None else short_names(self.runs)
        return {**short_names(self.board.run_names), **between}

    @cached_property
    def is_apart(self) -> bool:
        """Whether the runs have different chunkings, so that no chunk is in both lists."""
        return len({self.board.chunking_of(run) for run in self.runs}) > 1

    @cached_property
    def changes(self) -> Sequence[RankChange]:
        """Every chunk of either list, with its ranks and what it adds."""
        given = (self.a, self.run, self.query_id, self.measure)
        return comparison.find_rank_changes(self.board, *given)

    @property
    def is_judged(self) -> bool:
        """Whether the query has a grade that one of the measures reads."""
        return any(self.board.judged_for(measure)[self.number] for measure in self.measures)

    def value(self, run: str, measure: Measure | None = None) -> float:
        """Return the query's value in a run, by the first measure unless another is given."""
        values = self.board.values(measure or self.measure)
        return float(values[self.number, self.board.column_of(run)])

    @cached_property
    def useful_grade(self) -> int:
        """The lowest grade of a useful chunk."""
        return int(useful_grades(self.board, self.run)[self.number])

    @cached_property
    def useful(self) -> Sequence[int]:
        """The chunks that are known to be useful."""
        golden = self.board.golden(self.query_id)
        return [chunk for chunk, grade in golden.items() if grade >= self.useful_grade]

    def ranks_of_useful(self, run: str) -> list[int | None]:
        """Return the rank of each useful chunk in a run, None if the run does not have it."""
        chunks = self.board.chunks(run, self.query_id).tolist()
        ranks = {chunk: rank for rank, chunk in enumerate(chunks, 1)}
        return [ranks.get(chunk) for chunk in self.useful]

    @property
    def prompt_k(self) -> int:
        """How many chunks go into the prompt."""
        return int(self.board.prompt_ks[self.number])

    def inside_url(self, **changes: str | None) -> str:
        """Return the URL of this query with another choice inside it."""
        return url_state.this_page_url(self.path, **changes)
