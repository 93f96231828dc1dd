"""What the holes could make of means and deltas: the widest bands, and what is likely within them.

Holes are the ungraded chunks that the compared runs have above a measure's cut-off, or in their top
20 where it has none. All other ungraded chunks are taken as not relevant: nothing is said of them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Cutoff, Ints, Measure, SmallInts
from labeler.stats.alone import NO_BAND
from labeler.stats.bounds import Reach, reach_of
from labeler.stats.filling import Filling, learn
from labeler.stats.ground import Ground, find_ground
from labeler.stats.sampling import Drawn, draw_values, draws_for
from labeler.stats.tops import DEPTH, UNGRADED, find_tops

LEARN_AGAIN = 0.02
"""Once so large a share of the grades is new, weights are learnt anew; levels always are."""

AT_A_TIME = 1000  # lists: what is found out about them takes about a tenth of a second
ROUNDING = 1e-9  # what sums in another order may differ by


class Band(NamedTuple):
    """Where a mean or a delta could end up once its holes are graded.

    No way of grading them takes it below ``lowest`` or above ``highest``; where ``exact``, some way
    takes it there. In 90 of 100 ways that are drawn as likely as the grades there are make them it
    is from ``low`` to ``high``. All NaN where there is no value whatever the grades. ``holes`` are
    how many chunks are open, each once for its query.
    """

    lowest: float
    highest: float
    exact: bool
    low: float
    high: float
    holes: int

    @property
    def is_open(self) -> bool:
        """Say whether some grade could move the number."""
        return self.highest > self.lowest


MeanBands = Mapping[tuple[str, Measure, str | None], Band]
"""By run, measure and bucket."""

DeltaBands = Mapping[tuple[Measure, str | None], Band]
"""By measure and bucket."""


@dataclass(eq=False)
class _Kept:
    """What is kept of one measure: by query, so that a grade costs one query's work."""

    reach: Reach
    drawn: Drawn

    def replaced(self, queries: Ints, part: _Kept) -> _Kept:
        """Return the same after some queries changed."""
        reach = self.reach.replaced(queries, part.reach)
        return _Kept(reach, self.drawn.replaced(queries, part.drawn))

    @classmethod
    def joined(cls, parts: Sequence[_Kept]) -> _Kept:
        """Return the same of all queries, from what is kept of some after the other."""
        reaches, drawn = [each.reach for each in parts], [each.drawn for each in parts]
        return cls(Reach.joined(reaches), Drawn.joined(drawn))


class Bands:
    """The bands of some runs' means, and of the delta if they are two, which follow the grades.

    Runs are compared with each other: a chunk that one of them has in its top k may be known to be
    relevant one day, which lowers the recall of the others. Any number of threads may ask.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "x"]}, "B": {"q": ["c", "y"]}}
    >>> board = Scoreboard(collect({"q": {"c": 1}}, runs), Conventions.of())
    >>> [p_at_2] = board.conventions.measures("P@2")
    >>> bands = Bands(board)
    >>> [(each.lowest, each.highest) for each in bands.means(board, [p_at_2]).values()]
    [(0.5, 1.0), (0.5, 1.0)]
    >>> [(each.lowest, each.highest) for each in bands.deltas(board, [p_at_2]).values()]
    [(-0.5, 0.5)]
    """

    def __init__(
        self, board: Scoreboard, runs: Sequence[str] | None = None, draws: int | None = None
    ) -> None:
        """``draws`` fillings are measured, or as many as take no long time.

        ``draws`` says how many once something was asked for.
        """
        self._asked = draws
        self.runs = tuple(board.run_names if runs is None else runs)
        self._columns = [board.column_of(run) for run in self.runs]
        self._lock = threading.Lock()
        self._begin(board.snapshot(), DEPTH)

    def means(
        self, board: Scoreboard, measures: Iterable[Measure], facet: str | None = None
    ) -> MeanBands:
        """Return the bands of every run's means; measures of what is graded have none.

        ``board`` is of the same runs and queries, at any revision. Raises `NotFound` for an unknown
        facet.
        """
        board, chosen = board.snapshot(), _with_band(board, measures)
        values = self._values(board, chosen, facet)
        if not self.runs:
            return {}
        with self._lock:
            self._follow(board, chosen)
            return {
                (run, measure, bucket): band.around(*values[run, measure, bucket])
                for measure in chosen
                for bucket, inside in _groups(board, facet)
                for run, band in zip(self.runs, self._bands(measure, inside), strict=False)
            }

    def deltas(
        self, board: Scoreboard, measures: Iterable[Measure], facet: str | None = None
    ) -> DeltaBands:
        """Return the bands of the second run's mean minus the first's; otherwise as `means`."""
        board, chosen = board.snapshot(), _with_band(board, measures)
        values = self._values(board, chosen, facet)
        a, b = self.runs
        with self._lock:
            self._follow(board, chosen)
            return {
                (measure, bucket): self._bands(measure, inside)[-1].around(
                    *_difference(values[a, measure, bucket], values[b, measure, bucket])
                )
                for measure in chosen
                for bucket, inside in _groups(board, facet)
            }

    def prepare(self, measures: Iterable[Measure]) -> Iterator[None]:
        """Find out beforehand what `means` will be asked for, a tenth of a second at a time.

        Nobody else may ask before the end. In all it takes longer than for who asks at once.
        """
        board = self._board
        chosen = _with_band(board, measures)
        self._reach_down(board, chosen)
        grounds, found = [], []
        for queries in _portions(self._tops.queries, len(self.runs)):
            grounds.append(self._ground(board, queries))
            yield
        self._settle_draws(grounds)
        for ground in grounds:
            found.append(self._find(board, chosen, ground))
            yield
        if found:
            self._kept |= {each: _Kept.joined([part[each] for part in found]) for each in chosen}

    def _begin(self, board: Scoreboard, depth: int) -> None:
        self._tops = find_tops(board, depth)
        self._filling: Filling = learn(board, self._tops)
        self._taught = int(np.sum(self._filling.grades > UNGRADED))
        self._board = board
        lengths = [board.hits(run).length for run in self.runs]
        self._answered: Bools = np.array(lengths).reshape(len(self.runs), self._tops.queries).T > 0
        self.draws = self._asked or 0  # not known yet
        self._kept: dict[Measure, _Kept] = {}

    def _follow(self, board: Scoreboard, measures: Sequence[Measure]) -> None:
        """Bring what is kept up to date with the board, and find out what is newly asked for."""
        self._reach_down(board, measures)
        changed, self._board = board.moved_since(self._board), board
        if len(changed):
            self._filling = self._filling.after(board, changed.tolist())
            taught = int(np.sum(self._filling.grades > UNGRADED))
            if abs(taught - self._taught) > LEARN_AGAIN * self._taught:
                self._begin(board, self._tops.depth)
            elif self._kept:
                found = self._find(board, list(self._kept), self._ground(board, changed))
                for measure, fresh in found.items():
                    self._kept[measure] = self._kept[measure].replaced(changed, fresh)
        new = [each for each in measures if each not in self._kept]
        if new:
            ground = self._ground(board, np.arange(self._tops.queries))
            self._settle_draws([ground])
            self._kept |= self._find(board, new, ground)

    def _reach_down(self, board: Scoreboard, measures: Sequence[Measure]) -> None:
        """Begin anew where a measure looks deeper than any before."""
        deepest = max((_depth(board, each) for each in measures), default=0)
        if deepest > self._tops.depth:
            self._begin(board, deepest)

    def _settle_draws(self, grounds: Iterable[Ground]) -> None:
        """Settle how many fillings are drawn, once all that they are measured in is known."""
        self.draws = self.draws or draws_for(sum(len(ground.row) for ground in grounds))

    def _ground(self, board: Scoreboard, queries: Ints) -> Ground:
        return find_ground(board, self._tops, self._columns, self._filling.grades, queries)

    def _find(
        self, board: Scoreboard, measures: Iterable[Measure], ground: Ground
    ) -> dict[Measure, _Kept]:
        """Find out what is kept of measures for some queries."""
        drawn = self._filling.draw(ground.holes, self.draws)
        alike: dict[tuple[Cutoff, bool], list[Measure]] = {}
        for measure in measures:
            alike.setdefault((measure.cutoff, measure.judged_only), []).append(measure)
        return {
            measure: kept
            for some in alike.values()
            for measure, kept in zip(
                some, self._find_alike(board, some, ground, drawn), strict=True
            )
        }

    def _find_alike(
        self, board: Scoreboard, measures: Sequence[Measure], ground: Ground, drawn: SmallInts
    ) -> list[_Kept]:
        """Find the same of measures that look equally deep, and so have the same holes."""
        stand_in, first, cutoff = board.conventions.stand_in, measures[0], board.cutoffs
        depth = cutoff(first) if first.cutoff is not None else np.full(self._tops.queries, DEPTH)
        kept = self._tops.within(self._columns, depth, ground.holes)
        of = cutoff(first)[ground.queries]
        sees_below = first.cutoff is None or first.judged_only
        part = ground.only(kept, None if sees_below else of)
        values = draw_values(part, measures, of, drawn[:, kept], stand_in=stand_in)
        reaches = [reach_of(part, measure, of, stand_in=stand_in) for measure in measures]
        return list(map(_Kept, reaches, values))

    def _bands(self, measure: Measure, inside: Bools) -> list[_Found]:
        """Return the bands of a measure over some queries: of each run, then of the delta."""
        kept = self._kept[measure]
        ends = (*kept.reach.of_mean(inside), *kept.drawn.interval(inside))
        holes = int(kept.reach.holes[inside].sum())
        low, high, exact, likely_low, likely_high = (end.tolist() for end in ends)
        speak = self._speak(kept.reach)
        exact = [each and always for each, always in zip(exact, speak, strict=False)]
        found = zip(low, high, exact, likely_low, likely_high, strict=True)
        return [_Found(*each, holes) for each in found]

    def _values(
        self, board: Scoreboard, measures: Sequence[Measure], facet: str | None
    ) -> Mapping[tuple[str, Measure, str | None], _Value]:
        """Return the means as they are, and which runs are silent."""
        answers: list[bool] = np.any(self._answered, axis=0).tolist()
        there = dict(zip(self.runs, answers, strict=True))
        return {
            (row.run, row.measure, row.bucket): (
                row.value,
                math.isnan(row.value) and (row.n > 0 or not there[row.run]),
            )
            for row in board.table(measures, facet)
            if row.run in there
        }

    def _speak(self, reach: Reach) -> list[bool]:
        """Say which runs, and so which delta, have a value under every filling that gives any.

        A run that answers no query that must count has none where only others come to count: then
        a bound may be of a filling that gives it no value, which is said to be not exact.
        """
        sure = np.any(self._answered[reach.must], axis=0)
        sure |= np.all(self._answered[reach.must | reach.may], axis=0)
        return [*sure.tolist(), bool(sure.all())]


class _Found(NamedTuple):
    lowest: float
    highest: float
    exact: bool
    low: float
    high: float
    holes: int

    def around(self, value: float, is_silent: bool) -> Band:
        """Return the band of a mean whose ``value`` is known: without a hole it is that alone.

        Sums of the same numbers in another order may differ in their last bits. A run that is
        silent, as it answers no query that counts, has no band. Where no filling gives the value
        there is, as a query that nobody graded comes to count under each, the band holds it, too,
        and is not exact.
        """
        if is_silent or (math.isnan(value) and not self.holes):
            return Band(math.nan, math.nan, True, math.nan, math.nan, self.holes)
        if not self.holes:
            return Band(value, value, True, value, value, 0)
        lowest, highest = self.lowest, self.highest
        if not math.isnan(value):
            lowest, highest = min(lowest, value), max(highest, value)
        exact = self.exact and max(self.lowest - lowest, highest - self.highest) < ROUNDING
        if math.isnan(self.low):  # no filling that was drawn gives a value
            return Band(lowest, highest, exact, lowest, highest, self.holes)
        low, high = (min(max(each, lowest), highest) for each in (self.low, self.high))
        return Band(lowest, highest, exact, low, high, self.holes)


_Value = tuple[float, bool]
"""A mean, and whether there is none because a run answers no query that counts."""


def _difference(a: _Value, b: _Value) -> _Value:
    return b[0] - a[0], a[1] or b[1]


def _with_band(board: Scoreboard, measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that have a band; none where a grade is known to one run and not another.

    What is to be filled is one set of grades for all runs, and two chunkings have two.
    """
    if board.collection.is_of_several:
        return []
    chosen = (each for each in board.resolve(measures) if not each.crosses)
    return [each for each in chosen if each.name not in NO_BAND]


def _depth(board: Scoreboard, measure: Measure) -> int:
    return DEPTH if measure.cutoff is None else int(board.cutoffs(measure).max(initial=0))


def _portions(queries: int, runs: int) -> list[Ints]:
    """Return all queries, some at a time and at least one; none where there is no run.

    >>> [len(each) for each in _portions(100, 20)], [len(each) for each in _portions(2, 5_000)]
    ([50, 50], [1, 1])
    """
    count = min(-(-queries * runs // AT_A_TIME), queries)
    return np.array_split(np.arange(queries), count) if count else []


def _groups(board: Scoreboard, facet: str | None) -> Iterator[tuple[str | None, Bools]]:
    """Give the buckets of a facet, each with the queries in it."""
    buckets, group = board.groups(facet)
    for at, bucket in enumerate(buckets):
        yield bucket, group == at
