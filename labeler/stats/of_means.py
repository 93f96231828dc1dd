"""The interval of each mean on a board: what another choice of queries could make of one run.

Knows runs and measures as a board does; not who shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from labeler.evaluation import Record, Scoreboard
from labeler.measures import Floats, Ints, Measure
from labeler.stats.draws import DRAWS
from labeler.stats.intervals import Interval, Sums
from labeler.stats.resampled import sums_of
from labeler.stats.weighted import weighted_intervals, weighted_wilson

Intervals = Mapping[tuple[str, str, "str | None"], Interval]
"""By run, full name of the measure, and bucket; None stands for all queries."""

_ENDS = ("lo", "hi", "interval", "caution")


def mean_intervals(
    board: Scoreboard,
    measures: Iterable[Measure],
    facet: str | None = None,
    *,
    runs: Collection[str] | None = None,
    buckets: Collection[str | None] | None = None,
    sums: Sums = sums_of,
) -> Intervals:
    """Return the 95% interval of each run's mean, over all queries or those of each bucket.

    Wilson's for a measure that is 0 or 1 for each query, else by the bootstrap (see `intervals`);
    over the queries that are in the mean, with their weights where it is weighted. ``runs`` and
    ``buckets`` are all unless given, ``sums`` is as in `intervals`. Raises `NotFound`
    for an unknown facet.

    >>> from labeler.evaluation import Conventions, collect
    >>> qrels, run = {"q1": {"c": 1}, "q2": {"c": 1}}, {"q1": ["c"], "q2": ["x"]}
    >>> board = Scoreboard(collect(qrels, {"A": run}), Conventions.of())
    >>> found = mean_intervals(board, board.conventions.measures("Success@3"))
    >>> {place: (round(each.lo, 3), round(each.hi, 3)) for place, each in found.items()}
    {('A', 'Success(rel=1)@3', None): (0.095, 0.905)}
    """
    board = board.snapshot()
    found: dict[tuple[str, str, str | None], Interval] = {}
    places: list[tuple[str, str, str | None]] = []
    samples: list[Floats] = []
    weights: list[Floats] = []
    for measure in board.resolve(measures):
        for run, bucket, sample, weight in _samples(board, measure, facet, runs, buckets):
            place = (run, str(measure), bucket)
            if measure.is_zero_or_one:
                found[place] = weighted_wilson(sample, weight)
            else:
                places.append(place)
                samples.append(sample)
                weights.append(weight)
    made = weighted_intervals(samples, weights, DRAWS, sums)
    return found | dict(zip(places, made, strict=True))


def with_intervals(records: Iterable[Record], found: Intervals) -> list[Record]:
    """Return means as rows with the ends of their intervals, how they were made and why not."""
    rows = []
    for record in records:
        each = found.get((record["run"], record["full_name"], record.get("bucket")))
        ends = (each.lo, each.hi, each.method or None, each.reason or None) if each else ()
        rows.append({**record, **dict(zip(_ENDS, ends or (None,) * 4, strict=True))})
    return rows


def _samples(
    board: Scoreboard,
    measure: Measure,
    facet: str | None,
    runs: Collection[str] | None,
    buckets: Collection[str | None] | None,
) -> Iterator[tuple[str, str | None, Floats, Floats]]:
    values = board.values(measure)
    weights = np.ones(len(values)) if board.weights is None else board.weights
    names, group = board.groups(facet)
    members: list[tuple[str | None, Ints]] = [
        (name, np.flatnonzero(group == at))
        for at, name in enumerate(names)
        if buckets is None or name in buckets
    ]
    for column, run in enumerate(board.run_names):
        if runs is None or run in runs:
            for name, inside in members:
                known = inside[~np.isnan(values[inside, column])]
                yield run, name, values[known, column], weights[known]
