"""Possible ranges and 90% ranges of means and differences, given the unjudged chunks.

Unjudged chunks are those that any run of the scoreboard has down to a measure's cut-off, or in its
top 20 where it has none. All others count as not relevant and are not covered. The possible range
holds however the chunks are graded; the 90% range holds 90% of the gradings drawn from the model.
A run has the same ranges whichever runs are asked for with it.
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
from labeler.stats.unjudged_stretch import stretch_ranges

LEARN_AGAIN = 0.02
"""The share of new grades after which weights are fitted again; levels are after each one."""

LISTS_AT_ONCE = 1000  # lists, which take about a tenth of a second
MOST_LISTS = 20_000  # lists measured at once where nothing waits, which bounds the memory of draws
ROUNDING = 1e-12
"""More than what sums in another order differ by; a bound nearer to 0 than this is 0."""


class UnjudgedRange(NamedTuple):
    """The range of a mean or a delta once its unjudged chunks are graded.

    No grades take it below ``lowest`` or above ``highest``; if ``exact``, some grades reach both.
    In 90% of the draws from the model it is from ``low`` to ``high``. All are NaN where no grades
    give a value. ``unjudged`` counts the unjudged chunks, each once for its query.
    """

    lowest: float
    highest: float
    exact: bool
    low: float
    high: float
    unjudged: int

    def with_value(self, value: float, is_silent: bool) -> UnjudgedRange:
        """Return the range of a mean whose present ``value`` is known.

        Where no grade can change it, it is exactly the value, since sums in another order may
        differ in their last bits. A silent run has no range. The range always includes the value;
        it is not exact where no grades give it, because a query without grades then counts for all
        of them.
        """
        if is_silent or (math.isnan(value) and not self.unjudged):
            return UnjudgedRange(math.nan, math.nan, True, math.nan, math.nan, self.unjudged)
        lowest, highest = self.lowest, self.highest
        if not math.isnan(value):
            lowest, highest = min(lowest, value), max(highest, value)
            if not self.unjudged or highest - lowest < ROUNDING:
                return UnjudgedRange(value, value, True, value, value, self.unjudged)
        exact = self.exact and max(self.lowest - lowest, highest - self.highest) < ROUNDING
        ends = (
            lowest,
            highest,
            *(min(max(each, lowest), highest) for each in (self.low, self.high)),
        )
        lowest, highest, low, high = (0.0 if abs(each) < ROUNDING else each for each in ends)
        return UnjudgedRange(lowest, highest, exact, low, high, self.unjudged)


MeanRanges = Mapping[tuple[str, Measure, str | None], UnjudgedRange]
"""Ranges by run, measure and bucket."""

DeltaRanges = Mapping[tuple[Measure, str | None], UnjudgedRange]
"""Ranges by measure and bucket."""


@dataclass(eq=False)
class _KeptMeasure:
    """The kept results of one measure by query, so that a new grade costs one query's work."""

    bounds: ValueBounds
    sampled: SampledValues

    def replaced(self, queries: Ints, part: _KeptMeasure) -> _KeptMeasure:
        """Return the results in which ``queries`` have those of ``part``."""
        bounds = self.bounds.replaced(queries, part.bounds)
        return _KeptMeasure(bounds, self.sampled.replaced(queries, part.sampled))

    @classmethod
    def joined(cls, parts: Sequence[_KeptMeasure]) -> _KeptMeasure:
        """Return the results of the queries of all parts, in order."""
        bounds, sampled = [each.bounds for each in parts], [each.sampled for each in parts]
        return cls(ValueBounds.joined(bounds), SampledValues.joined(sampled))


class LiveRanges:
    """The ranges of some runs' means, and of the delta of two, kept up to date. Thread-safe.

    The runs affect each other: a chunk in the top k of one may turn out to be relevant, which
    lowers the recall of the others. So all runs of the scoreboard inform the ranges of each, and
    the number of draws depends on the scoreboard alone.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "x"]}, "B": {"q": ["c", "y"]}}
    >>> board = Scoreboard(collect({"q": {"c": 1}}, runs), Conventions.of())
    >>> [p_at_2] = board.conventions.measures("P@2")
    >>> ranges = LiveRanges(board)
    >>> [(each.lowest, each.highest) for each in ranges.means(board, [p_at_2]).values()]
    [(0.5, 1.0), (0.5, 1.0)]
    >>> [(each.lowest, each.highest) for each in ranges.deltas(board, [p_at_2]).values()]
    [(-0.5, 0.5)]
    """

    def __init__(
        self, board: Scoreboard, runs: Sequence[str] | None = None, draws: int | None = None
    ) -> None:
        """Prepare for ``runs`` (None: all); ``draws`` None means `affordable_draws`."""
        self._requested_draws = draws
        self.runs = tuple(board.run_names if runs is None else runs)
        self._columns = [board.column_of(run) for run in self.runs]
        self._lock = threading.Lock()
        self._begin(board.snapshot(), DEPTH)

    def means(
        self, board: Scoreboard, measures: Iterable[Measure], facet: str | None = None
    ) -> MeanRanges:
        """Return the ranges of every run's means; none for the measures in `WITHOUT_RANGE`.

        ``board`` has the same runs and queries, at any revision. Raises `NotFound` for an unknown
        facet.
        """
        board, chosen = board.snapshot(), _with_range(board, measures)
        values = self._values(board, chosen, facet)
        if not self.runs:
            return {}
        with self._lock:
            self._update(board, chosen)
            return {
                (run, measure, bucket): each.with_value(*values[run, measure, bucket])
                for measure in chosen
                for bucket, inside in _groups(board, facet)
                for run, each in zip(self.runs, self._raw_ranges(measure, inside), strict=False)
            }

    def deltas(
        self, board: Scoreboard, measures: Iterable[Measure], facet: str | None = None
    ) -> DeltaRanges:
        """Return the ranges of the second run's mean minus the first's; otherwise as `means`.

        ``unjudged`` counts what these two runs have above the cut-off, for the queries that count.
        """
        board, chosen = board.snapshot(), _with_range(board, measures)
        values = self._values(board, chosen, facet)
        a, b = self.runs
        with self._lock:
            self._update(board, chosen)
            return {
                (measure, bucket): self._raw_ranges(measure, inside)[-1]
                .with_value(*_difference(values[a, measure, bucket], values[b, measure, bucket]))
                ._replace(unjudged=int(self._unjudged_pairs(measure)[inside].sum()))
                for measure in chosen
                for bucket, inside in _groups(board, facet)
            }

    def _unjudged_pairs(self, measure: Measure) -> Ints:
        """Count the unjudged chunks of these runs above a measure's cut-off, (queries,)."""
        board, tops = self._board, self._tops
        cutoffs = np.full(tops.queries, DEPTH) if measure.cutoff is None else board.cutoffs(measure)
        found = (self._model.grades == UNGRADED) & tops.within(self._columns, cutoffs)
        count: Ints = np.bincount(tops.query[found], minlength=tops.queries)
        return np.where(board.counted(measure), count, 0)

    def prepare(self, measures: Iterable[Measure]) -> Iterator[None]:
        """Compute in advance what `means` needs, in steps of about a tenth of a second.

        No other method may be called before the end. In all it takes longer than one call of
        `means`.
        """
        board = self._board
        chosen = _with_range(board, measures)
        self._deepen(board, chosen)
        if self.runs:
            yield from self._add(board, chosen, LISTS_AT_ONCE)

    def _add(self, board: Scoreboard, measures: Sequence[Measure], at_once: int) -> Iterator[None]:
        """Compute the results of measures, some lists of the board at a time."""
        found = []
        for queries in _query_portions(self._tops.queries, len(board.run_names), at_once):
            lists = self._partly_judged(board, queries)
            yield
            found.append(self._compute(board, measures, lists))
            yield
        self._kept |= {
            each: _KeptMeasure.joined([part[each] for part in found]) for each in measures
        }

    def _begin(self, board: Scoreboard, depth: int) -> None:
        self._tops = find_top_chunks(board, depth)
        self._model: UnjudgedModel = fit_unjudged_model(board, self._tops)
        self._fitted_grades = int(np.sum(self._model.grades > UNGRADED))
        self._board = board
        lengths = [board.hits(run).length for run in self.runs]
        self._answered: Bools = np.array(lengths).reshape(len(self.runs), self._tops.queries).T > 0
        self.draws = self._requested_draws or affordable_draws(self._entries(board))
        self._kept: dict[Measure, _KeptMeasure] = {}

    def _entries(self, board: Scoreboard) -> int:
        """Return how many judged chunks all runs have in their lists, and unjudged near the top."""
        judged = sum(len(board.hits(run).row) for run in board.run_names)
        near = (self._model.grades == UNGRADED) & self._tops.is_near_top
        return judged + int(np.count_nonzero(self._tops.ranks[near]))

    def _update(self, board: Scoreboard, measures: Sequence[Measure]) -> None:
        """Bring the kept results up to date with the board, and add those of new measures."""
        self._deepen(board, measures)
        changed, self._board = board.moved_since(self._board), board
        if len(changed):
            self._model = self._model.after(board, changed.tolist())
            grades = int(np.sum(self._model.grades > UNGRADED))
            if abs(grades - self._fitted_grades) > LEARN_AGAIN * self._fitted_grades:
                self._begin(board, self._tops.depth)
            elif self._kept:
                lists = self._partly_judged(board, changed)
                for measure, part in self._compute(board, list(self._kept), lists).items():
                    self._kept[measure] = self._kept[measure].replaced(changed, part)
        new = [each for each in measures if each not in self._kept]
        if new:
            list(self._add(board, new, MOST_LISTS))

    def _deepen(self, board: Scoreboard, measures: Sequence[Measure]) -> None:
        """Begin again where a measure looks deeper than all before."""
        deepest = max((_depth(board, each) for each in measures), default=0)
        if deepest > self._tops.depth:
            self._begin(board, deepest)

    def _partly_judged(self, board: Scoreboard, queries: Ints) -> PartlyJudgedLists:
        grades = self._model.grades
        return find_partly_judged_lists(board, self._tops, self._columns, grades, queries)

    def _compute(
        self, board: Scoreboard, measures: Iterable[Measure], lists: PartlyJudgedLists
    ) -> dict[Measure, _KeptMeasure]:
        drawn = self._model.draw(lists.unjudged, self.draws)
        alike: dict[tuple[Cutoff, bool], list[Measure]] = {}
        for measure in measures:
            alike.setdefault((measure.cutoff, measure.judged_only), []).append(measure)
        return {
            measure: kept
            for some in alike.values()
            for measure, kept in zip(
                some, self._compute_alike(board, some, lists, drawn), strict=True
            )
        }

    def _compute_alike(
        self,
        board: Scoreboard,
        measures: Sequence[Measure],
        lists: PartlyJudgedLists,
        drawn: SmallInts,
    ) -> list[_KeptMeasure]:
        """Return the results of measures that look equally deep, so at the same unjudged chunks."""
        stand_in, first, cutoff = board.conventions.stand_in, measures[0], board.cutoffs
        depth = cutoff(first) if first.cutoff is not None else np.full(self._tops.queries, DEPTH)
        kept = self._tops.within(None, depth, lists.unjudged)
        of = cutoff(first)[lists.queries]
        sees_below = first.cutoff is None or first.judged_only
        part = lists.only(kept, None if sees_below else of)
        values = sample_values(part, measures, of, drawn[:, kept], stand_in=stand_in)
        bounds = [bound_values(part, measure, of, stand_in=stand_in) for measure in measures]
        return list(map(_KeptMeasure, bounds, values))

    def _raw_ranges(self, measure: Measure, inside: Bools) -> list[UnjudgedRange]:
        """Return the ranges of a measure over some queries: of each run, then of the delta."""
        kept = self._kept[measure]
        likely = stretch_ranges(measure.name, len(self.runs), kept.sampled.interval(inside))
        ends = (*kept.bounds.of_mean(inside), *likely)
        unjudged = int(kept.bounds.unjudged[inside].sum())
        low, high, exact, likely_low, likely_high = (end.tolist() for end in ends)
        always_defined = self._always_defined(kept.bounds)
        exact = [each and always for each, always in zip(exact, always_defined, strict=False)]
        found = zip(low, high, exact, likely_low, likely_high, strict=True)
        return [UnjudgedRange(*each, unjudged) for each in found]

    def _values(
        self, board: Scoreboard, measures: Sequence[Measure], facet: str | None
    ) -> Mapping[tuple[str, Measure, str | None], _MeanOrSilent]:
        """Return the present means, and which runs are silent."""
        answers: list[bool] = np.any(self._answered, axis=0).tolist()
        has_answers = dict(zip(self.runs, answers, strict=True))
        return {
            (row.run, row.measure, row.bucket): (
                row.value,
                math.isnan(row.value) and (row.n > 0 or not has_answers[row.run]),
            )
            for row in board.table(measures, facet)
            if row.run in has_answers
        }

    def _always_defined(self, bounds: ValueBounds) -> list[bool]:
        """Tell which runs, and so the delta, have a value for all grades that give any run one.

        A run without a list for the queries that always count may have no value for the grades
        that give a bound; that bound is then not exact.
        """
        defined = np.any(self._answered[bounds.must], axis=0)
        defined |= np.all(self._answered[bounds.must | bounds.may], axis=0)
        return [*defined.tolist(), bool(defined.all())]


_MeanOrSilent = tuple[float, bool]
"""A mean, and whether the run is silent: it has no mean since it answers no query that counts."""


def _difference(a: _MeanOrSilent, b: _MeanOrSilent) -> _MeanOrSilent:
    return b[0] - a[0], a[1] or b[1]


def _with_range(board: Scoreboard, measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that have a range; none where the runs have several chunkings.

    The model draws one set of grades for all runs, and each chunking needs a separate one.
    """
    if board.collection.has_several_chunkings:
        return []
    chosen = (each for each in board.resolve(measures) if not each.crosses)
    return [each for each in chosen if each.name not in WITHOUT_RANGE]


def _depth(board: Scoreboard, measure: Measure) -> int:
    return DEPTH if measure.cutoff is None else int(board.cutoffs(measure).max(initial=0))


def _query_portions(queries: int, runs: int, lists: int) -> list[Ints]:
    """Return all queries in portions of at most so many lists, and of at least one query.

    >>> (
    ...     [len(each) for each in _query_portions(100, 20, 1_000)],
    ...     [len(each) for each in _query_portions(2, 5_000, 1_000)],
    ... )
    ([50, 50], [1, 1])
    """
    count = min(-(-queries * runs // lists), queries)
    return np.array_split(np.arange(queries), max(count, 1))


def _groups(board: Scoreboard, facet: str | None) -> Iterator[tuple[str | None, Bools]]:
    """Yield the buckets of a facet, each with the mask of its queries."""
    buckets, group = board.groups(facet)
    for at, bucket in enumerate(buckets):
        yield bucket, group == at


LIKELY_LEVEL = 0.9
"""The share of draws whose means are in the interval."""

DRAW_COUNTS = (199, 99, 59, 39, 19)
"""Numbers of draws whose 5% and 95% quantiles are draws: (n + 1) · 5% is a whole number."""

MOST_ENTRIES = 6_000_000  # entries measured in all
ENTRIES_AT_ONCE = 200_000  # entries measured at once, which fit in a processor's cache


def affordable_draws(entries: int) -> int:
    """Return the number of draws: the more entries there are to measure, the fewer.

    The interval has the same coverage with few draws, since its ends are order statistics; only its
    ends vary more.

    >>> affordable_draws(20_000), affordable_draws(400_000)
    (199, 19)
    """
    return next(
        (count for count in DRAW_COUNTS if count * entries <= MOST_ENTRIES), DRAW_COUNTS[-1]
    )


@dataclass(frozen=True, eq=False)
class SampledValues:
    """The values of a measure for each draw of grades, by query.

    ``values`` (queries, draws, runs, plus one for the delta of two runs) are 0 where a query is not
    in the mean; ``counted`` (queries, draws) tells where it is.
    """

    values: Floats
    counted: Bools

    def replaced(self, queries: Ints, part: SampledValues) -> SampledValues:
        """Overwrite the values of ``queries`` by those of ``part``, and return this object."""
        self.values[queries], self.counted[queries] = part.values, part.counted
        return self

    @classmethod
    def joined(cls, parts: Sequence[SampledValues]) -> SampledValues:
        """Return the values of the queries of all parts, in order."""
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.counted for part in parts]),
        )

    def interval(self, inside: Bools) -> tuple[Floats, Floats]:
        """Return the 90% range of means over the queries ``inside``, for each run and the delta.

        NaN where no draw gives a mean.
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
    lists: PartlyJudgedLists,
    measures: Sequence[Measure],
    cutoff: Ints,
    grades: SmallInts,
    *,
    stand_in: float | None,
) -> list[SampledValues]:
    """Measure every list for each draw of ``grades``, (draws, unjudged chunks).

    ``lists`` has only the unjudged chunks that matter to the measures, which share a ``cutoff``.
    ``stand_in`` replaces undefined values.
    """
    queries, runs, draws = len(lists.queries), lists.runs, len(grades)
    at_once = max(1, ENTRIES_AT_ONCE // max(len(lists.row), 1))
    limits = MeasuredLists(lists, measures[0], cutoff).limit if queries else 1
    parts: list[list[Floats]] = [[] for _ in measures]
    for start in range(0, draws, at_once):
        some = grades[start : start + at_once]
        hits = lists.with_drawn_grades(some)
        limit = limits if isinstance(limits, int) else np.tile(limits, len(some))
        for part, measure in zip(parts, measures, strict=True):
            part.append(score(hits, measure, limit).reshape(len(some), queries, runs))
    return [_with_delta(np.concatenate(part), lists, stand_in=stand_in) for part in parts]


def _with_delta(
    found: Floats, lists: PartlyJudgedLists, *, stand_in: float | None
) -> SampledValues:
    values = found.transpose(1, 0, 2)
    counted = ~np.isnan(values[:, :, 0])
    if stand_in is not None:
        counted = np.broadcast_to((lists.judged | (lists.count > 0))[:, np.newaxis], counted.shape)
    values = np.nan_to_num(values, nan=stand_in or 0.0)
    if lists.runs == 2:
        values = np.concatenate([values, values[:, :, 1:] - values[:, :, :1]], axis=2)
    return SampledValues(np.ascontiguousarray(values), counted.copy())


NO_RANGE = UnjudgedRange(math.nan, math.nan, True, math.nan, math.nan, 0)


def with_unjudged_ranges(
    records: Iterable[Record], means: MeanRanges, deltas: DeltaRanges | None = None
) -> list[Record]:
    """Return rows of means, or of deltas, with the ranges over their unjudged chunks.

    ``possible_low`` and ``possible_high``: over all grades, reached by some where
    ``possible_exact``; ``likely_low`` and ``likely_high``: in 90% of the draws. Rows of two runs
    have them for the delta, and with ``_a`` and ``_b`` for the means. NaN where a measure has no
    range.
    """
    by_mean = {(run, str(measure), bucket): each for (run, measure, bucket), each in means.items()}
    by_delta = {(str(measure), bucket): each for (measure, bucket), each in (deltas or {}).items()}
    rows = []
    for record in records:
        name, bucket = record["full_name"], record.get("bucket")
        more: Record = {}
        if "run" in record:
            more |= _range_columns(by_mean.get((record["run"], name, bucket), NO_RANGE))
        else:
            more |= _range_columns(by_delta.get((name, bucket), NO_RANGE))
            for side in ("a", "b"):
                own = by_mean.get((record[f"run_{side}"], name, bucket), NO_RANGE)
                more |= _range_columns(own, f"_{side}")
        rows.append({**record, **more})
    return rows


def _range_columns(found: UnjudgedRange, side: str = "") -> Record:
    return {
        f"possible_low{side}": found.lowest,
        f"possible_high{side}": found.highest,
        f"possible_exact{side}": None if math.isnan(found.lowest) else found.exact,
        f"likely_low{side}": found.low,
        f"likely_high{side}": found.high,
    }
