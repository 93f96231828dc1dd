"""What a report is made of, and what it is asked to show; knows not where that is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from labeler.analysis.failures import Rule, UsefulInPrompt
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import Chunk, Query, Remark, SingleGrades

ChunksOf = Callable[[Iterable[int]], Mapping[int, Chunk]]


@dataclass(frozen=True)
class Source:
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
    chunks_of: ChunksOf
    right: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Each query's text on one line."""
        return {name: " ".join(query.text.split()) for name, query in self.queries.items()}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report shows: run ``a``, or ``b`` against it, by ``measures``, the leading one first.

    Slices are by ``facets``, or by all there are where none is named. ``day`` is the one that the
    reader is told. A query fails by ``rule``.
    """

    a: str
    b: str | None
    measures: tuple[Measure, ...]
    day: date
    facets: tuple[str, ...] = ()
    rule: Rule = field(default_factory=UsefulInPrompt)

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
