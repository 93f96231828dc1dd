"""Possible and likely ranges of means and differences, given the chunks that are still unjudged.

Unjudged chunks are those that the compared runs have above a measure's cut-off, or in their top
20 where it has none. All others are taken as not relevant: the ranges say nothing of them. The
possible range holds however they are graded; the likely one holds 90% of the gradings drawn from
the model of unjudged chunks.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.evaluation import Record, Scoreboard
from labeler.measures import Bools, Cutoff, Floats, Ints, Measure, SmallInts, score
from labeler.stats.bounds import ValueBounds, bound_values
from labeler.stats.bounds_single import WITHOUT_RANGE, MeasuredLists
from labeler.stats.unjudged_chunks import (
    DEPTH,
    UNGRADED,
    PartlyJudgedLists,
    find_partly_judged_lists,
    find_top_chunks,
)
from labeler.stats.unjudged_model import UnjudgedModel, fit_unjudged_model

LEARN_AGAIN = 0.02
"""Once so large a share of the grades is new, weights are learnt anew; levels always are."""

LISTS_AT_ONCE = 1000  # lists: what is found out about them takes about a tenth of a second
ROUNDING = 1e-9  # what sums in another order may differ by


class UnjudgedRange(NamedTuple):
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


MeanRanges = Mapping[tuple[str, Measure, str | None], UnjudgedRange]
"""By run, measure and bucket."""

DeltaRanges = Mapping[tuple[Measure, str | None], UnjudgedRange]
"""By measure and bucket."""


@dataclass(eq=False)
class _KeptMeasure:
    """What is kept of one measure: by query, so that a grade costs one query's work."""

    reach: ValueBounds
    drawn: SampledValues

    def replaced(self, queries: Ints, part: _KeptMeasure) -> _KeptMeasure:
        """Return the same after some queries changed."""
        reach = self.reach.replaced(queries, part.reach)
        return _KeptMeasure(reach, self.drawn.replaced(queries, part.drawn))

    @classmethod
    def joined(cls, parts: Sequence[_KeptMeasure]) -> _KeptMeasure:
        """Return the same of all queries, from what is kept of some after the other."""
        reaches, drawn = [each.reach for each in parts], [each.drawn for each in parts]
        return cls(ValueBounds.joined(reaches), SampledValues.joined(drawn))


class LiveRanges:
    """The bands of some runs' means, and of the delta if they are two, which follow the grades.

    Runs are compared with each other: a chunk that one of them has in its top k may be known to be
    relevant one day, which lowers the recall of the others. Any number of threads may ask.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "x"]}, "B": {"q": ["c", "y"]}}
    >>> board = Scoreboard(collect({"q": {"c": 1}}, runs), Conventions.of())
    >>> [p_at_2] = board.conventions.measures("P@2")
    >>> bands = LiveRanges(board)
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
    ) -> MeanRanges:
        """Return the bands of every run's means; measures of what is graded have none.

        ``board`` is of the same runs and queries, at any revision. Raises `NotFound` for an unknown
        facet.
        """
        board, chosen = board.snapshot(), _with_range(board, measures)
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
    ) -> DeltaRanges:
        """Return the bands of the second run's mean minus the first's; otherwise as `means`."""
        board, chosen = board.snapshot(), _with_range(board, measures)
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
        chosen = _with_range(board, measures)
        self._reach_down(board, chosen)
        grounds, found = [], []
        for queries in _query_portions(self._tops.queries, len(self.runs)):
            grounds.append(self._ground(board, queries))
            yield
        self._settle_draws(grounds)
        for ground in grounds:
            found.append(self._find(board, chosen, ground))
            yield
        if found:
            self._kept |= {
                each: _KeptMeasure.joined([part[each] for part in found]) for each in chosen
            }

    def _begin(self, board: Scoreboard, depth: int) -> None:
        self._tops = find_top_chunks(board, depth)
        self._filling: UnjudgedModel = fit_unjudged_model(board, self._tops)
        self._taught = int(np.sum(self._filling.grades > UNGRADED))
        self._board = board
        lengths = [board.hits(run).length for run in self.runs]
        self._answered: Bools = np.array(lengths).reshape(len(self.runs), self._tops.queries).T > 0
        self.draws = self._asked or 0  # not known yet
        self._kept: dict[Measure, _KeptMeasure] = {}

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

    def _settle_draws(self, grounds: Iterable[PartlyJudgedLists]) -> None:
        """Settle how many fillings are drawn, once all that they are measured in is known."""
        self.draws = self.draws or affordable_draws(sum(len(ground.row) for ground in grounds))

    def _ground(self, board: Scoreboard, queries: Ints) -> PartlyJudgedLists:
        return find_partly_judged_lists(
            board, self._tops, self._columns, self._filling.grades, queries
        )

    def _find(
        self, board: Scoreboard, measures: Iterable[Measure], ground: PartlyJudgedLists
    ) -> dict[Measure, _KeptMeasure]:
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
        self,
        board: Scoreboard,
        measures: Sequence[Measure],
        ground: PartlyJudgedLists,
        drawn: SmallInts,
    ) -> list[_KeptMeasure]:
        """Find the same of measures that look equally deep, and so have the same holes."""
        stand_in, first, cutoff = board.conventions.stand_in, measures[0], board.cutoffs
        depth = cutoff(first) if first.cutoff is not None else np.full(self._tops.queries, DEPTH)
        kept = self._tops.within(self._columns, depth, ground.holes)
        of = cutoff(first)[ground.queries]
        sees_below = first.cutoff is None or first.judged_only
        part = ground.only(kept, None if sees_below else of)
        values = sample_values(part, measures, of, drawn[:, kept], stand_in=stand_in)
        reaches = [bound_values(part, measure, of, stand_in=stand_in) for measure in measures]
        return list(map(_KeptMeasure, reaches, values))

    def _bands(self, measure: Measure, inside: Bools) -> list[_RawRange]:
        """Return the bands of a measure over some queries: of each run, then of the delta."""
        kept = self._kept[measure]
        ends = (*kept.reach.of_mean(inside), *kept.drawn.interval(inside))
        holes = int(kept.reach.holes[inside].sum())
        low, high, exact, likely_low, likely_high = (end.tolist() for end in ends)
        speak = self._speak(kept.reach)
        exact = [each and always for each, always in zip(exact, speak, strict=False)]
        found = zip(low, high, exact, likely_low, likely_high, strict=True)
        return [_RawRange(*each, holes) for each in found]

    def _values(
        self, board: Scoreboard, measures: Sequence[Measure], facet: str | None
    ) -> Mapping[tuple[str, Measure, str | None], _MeanOrSilent]:
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

    def _speak(self, reach: ValueBounds) -> list[bool]:
        """Say which runs, and so which delta, have a value under every filling that gives any.

        A run that answers no query that must count has none where only others come to count: then
        a bound may be of a filling that gives it no value, which is said to be not exact.
        """
        sure = np.any(self._answered[reach.must], axis=0)
        sure |= np.all(self._answered[reach.must | reach.may], axis=0)
        return [*sure.tolist(), bool(sure.all())]


class _RawRange(NamedTuple):
    lowest: float
    highest: float
    exact: bool
    low: float
    high: float
    holes: int

    def around(self, value: float, is_silent: bool) -> UnjudgedRange:
        """Return the band of a mean whose ``value`` is known: without a hole it is that alone.

        Sums of the same numbers in another order may differ in their last bits. A run that is
        silent, as it answers no query that counts, has no band. Where no filling gives the value
        there is, as a query that nobody graded comes to count under each, the band holds it, too,
        and is not exact.
        """
        if is_silent or (math.isnan(value) and not self.holes):
            return UnjudgedRange(math.nan, math.nan, True, math.nan, math.nan, self.holes)
        if not self.holes:
            return UnjudgedRange(value, value, True, value, value, 0)
        lowest, highest = self.lowest, self.highest
        if not math.isnan(value):
            lowest, highest = min(lowest, value), max(highest, value)
        exact = self.exact and max(self.lowest - lowest, highest - self.highest) < ROUNDING
        if math.isnan(self.low):  # no filling that was drawn gives a value
            return UnjudgedRange(lowest, highest, exact, lowest, highest, self.holes)
        low, high = (min(max(each, lowest), highest) for each in (self.low, self.high))
        return UnjudgedRange(lowest, highest, exact, low, high, self.holes)


_MeanOrSilent = tuple[float, bool]
"""A mean, and whether there is none because a run answers no query that counts."""


def _difference(a: _MeanOrSilent, b: _MeanOrSilent) -> _MeanOrSilent:
    return b[0] - a[0], a[1] or b[1]


def _with_range(board: Scoreboard, measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that have a band; none where a grade is known to one run and not another.

    What is to be filled is one set of grades for all runs, and two chunkings have two.
    """
    if board.collection.has_several_chunkings:
        return []
    chosen = (each for each in board.resolve(measures) if not each.crosses)
    return [each for each in chosen if each.name not in WITHOUT_RANGE]


def _depth(board: Scoreboard, measure: Measure) -> int:
    return DEPTH if measure.cutoff is None else int(board.cutoffs(measure).max(initial=0))


def _query_portions(queries: int, runs: int) -> list[Ints]:
    """Return all queries, some at a time and at least one; none where there is no run.

    >>> (
    ...     [len(each) for each in _query_portions(100, 20)],
    ...     [len(each) for each in _query_portions(2, 5_000)],
    ... )
    ([50, 50], [1, 1])
    """
    count = min(-(-queries * runs // LISTS_AT_ONCE), queries)
    return np.array_split(np.arange(queries), count) if count else []


def _groups(board: Scoreboard, facet: str | None) -> Iterator[tuple[str | None, Bools]]:
    """Give the buckets of a facet, each with the queries in it."""
    buckets, group = board.groups(facet)
    for at, bucket in enumerate(buckets):
        yield bucket, group == at


LIKELY_LEVEL = 0.9
"""The share of fillings whose means the interval holds."""

DRAW_COUNTS = (199, 99, 59, 39, 19)
"""Numbers of fillings of which 5% and 95% fall on whole places: (n + 1) · 5% is one."""

MOST_ENTRIES = 6_000_000  # entries measured in all
ENTRIES_AT_ONCE = 200_000  # entries measured in one go: as many as a processor keeps at hand


def affordable_draws(entries: int) -> int:
    """Return how many fillings are drawn: the fewer the more there is to measure.

    The interval covers as often with few as with many, since it ends at places in the order of what
    was drawn; its ends are only less steady.

    >>> affordable_draws(20_000), affordable_draws(400_000)
    (199, 19)
    """
    return next(
        (count for count in DRAW_COUNTS if count * entries <= MOST_ENTRIES), DRAW_COUNTS[-1]
    )


@dataclass(frozen=True, eq=False)
class SampledValues:
    """What a measure gives under each of some fillings, by query.

    ``values`` (queries, fillings, runs, plus one for the delta where the runs are two) are 0 where
    a query is not in the mean, ``counted`` (queries, fillings) says where it is.
    """

    values: Floats
    counted: Bools

    def replaced(self, queries: Ints, part: SampledValues) -> SampledValues:
        """Return the same after some queries changed."""
        self.values[queries], self.counted[queries] = part.values, part.counted
        return self

    @classmethod
    def joined(cls, parts: Sequence[SampledValues]) -> SampledValues:
        """Return the same of the queries of all parts."""
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.counted for part in parts]),
        )

    def interval(self, inside: Bools) -> tuple[Floats, Floats]:
        """Return where 90% of the means over the queries ``inside`` are, for each run and delta.

        NaN where no filling gives a mean.
        """
        everything = bool(inside.all())
        values = self.values if everything else self.values[inside]
        count = (self.counted if everything else self.counted[inside]).sum(axis=0)
        means = values.sum(axis=0)[count > 0] / count[count > 0, np.newaxis]
        if not len(means):
            return (np.full(values.shape[2], np.nan),) * 2
        means.sort(axis=0)
        outside = max(round((1 - LIKELY_LEVEL) / 2 * (len(means) + 1)) - 1, 0)
        return means[outside], means[-1 - outside]


def sample_values(
    ground: PartlyJudgedLists,
    measures: Sequence[Measure],
    cutoff: Ints,
    grades: SmallInts,
    *,
    stand_in: float | None,
) -> list[SampledValues]:
    """Measure every list under each filling, (fillings, holes); ``stand_in`` is for undefined ones.

    ``ground`` has the holes that matter to the measures and no others; they share a ``cutoff``.
    """
    queries, runs, fillings = len(ground.queries), ground.runs, len(grades)
    at_once = max(1, ENTRIES_AT_ONCE // max(len(ground.row), 1))
    limits = MeasuredLists(ground, measures[0], cutoff).limit if queries else 1
    parts: list[list[Floats]] = [[] for _ in measures]
    for start in range(0, fillings, at_once):
        some = grades[start : start + at_once]
        hits = ground.filled_often(some)
        limit = limits if isinstance(limits, int) else np.tile(limits, len(some))
        for part, measure in zip(parts, measures, strict=True):
            part.append(score(hits, measure, limit).reshape(len(some), queries, runs))
    return [_with_delta(np.concatenate(part), ground, stand_in=stand_in) for part in parts]


def _with_delta(
    found: Floats, ground: PartlyJudgedLists, *, stand_in: float | None
) -> SampledValues:
    values = found.transpose(1, 0, 2)
    counted = ~np.isnan(values[:, :, 0])
    if stand_in is not None:
        counted = np.broadcast_to(
            (ground.judged | (ground.count > 0))[:, np.newaxis], counted.shape
        )
    values = np.nan_to_num(values, nan=stand_in or 0.0)
    if ground.runs == 2:
        values = np.concatenate([values, values[:, :, 1:] - values[:, :, :1]], axis=2)
    return SampledValues(np.ascontiguousarray(values), counted.copy())


NO_RANGE = UnjudgedRange(math.nan, math.nan, True, math.nan, math.nan, 0)


def with_unjudged_ranges(
    records: Iterable[Record], means: MeanRanges, deltas: DeltaRanges | None = None
) -> list[Record]:
    """Return rows of means, or of deltas, with what their holes could make of them.

    ``holes_lowest`` and ``holes_highest``: over all ways of grading the holes, reached by one where
    ``holes_exact``; ``sampled_low`` and ``sampled_high``: in 90 of 100 fillings. Rows of two runs
    have them for the delta, and with ``_a`` and ``_b`` for the means. NaN where a measure has no
    band.
    """
    by_mean = {(run, str(measure), bucket): band for (run, measure, bucket), band in means.items()}
    by_delta = {(str(measure), bucket): band for (measure, bucket), band in (deltas or {}).items()}
    rows = []
    for record in records:
        name, bucket = record["full_name"], record.get("bucket")
        more: Record = {}
        if "run" in record:
            more |= _range_columns(by_mean.get((record["run"], name, bucket), NO_RANGE))
        else:
            more |= _range_columns(by_delta.get((name, bucket), NO_RANGE))
            for side in ("a", "b"):
                band = by_mean.get((record[f"run_{side}"], name, bucket), NO_RANGE)
                more |= _range_columns(band, f"_{side}")
        rows.append({**record, **more})
    return rows


def _range_columns(band: UnjudgedRange, side: str = "") -> Record:
    return {
        f"holes_lowest{side}": band.lowest,
        f"holes_highest{side}": band.highest,
        f"holes_exact{side}": None if math.isnan(band.lowest) else band.exact,
        f"sampled_low{side}": band.low,
        f"sampled_high{side}": band.high,
    }
