"""How sure a number is: what another choice of queries, or the holes, could make of it.

Knows no page, no file and no database. What comes of draws comes out alike on every machine.
"""

from labeler.stats.bands import Band, Bands, DeltaBands, MeanBands
from labeler.stats.draws import DRAWS
from labeler.stats.families import holm
from labeler.stats.filling import Filling, learn
from labeler.stats.intervals import (
    ALL_ALIKE,
    BCA,
    NO_QUERY,
    ONE_QUERY,
    PERCENTILE,
    WILSON,
    Interval,
    Sums,
    intervals,
    wilson,
)
from labeler.stats.of_means import Intervals, mean_intervals, with_intervals
from labeler.stats.permutation import EXACT, PValue, p_values, smallest
from labeler.stats.power import LEVEL, POWER, detectable, queries_needed, reach_of
from labeler.stats.records import with_bands
from labeler.stats.resampled import Resampled, sums_of
from labeler.stats.tops import DEPTH, Tops, find_tops
from labeler.stats.weighted import (
    as_if_equal,
    weighted_intervals,
    weighted_mean,
    weighted_wilson,
)

__all__ = [
    "ALL_ALIKE",
    "BCA",
    "DEPTH",
    "DRAWS",
    "EXACT",
    "LEVEL",
    "NO_QUERY",
    "ONE_QUERY",
    "PERCENTILE",
    "POWER",
    "WILSON",
    "Band",
    "Bands",
    "DeltaBands",
    "Filling",
    "Interval",
    "Intervals",
    "MeanBands",
    "PValue",
    "Resampled",
    "Sums",
    "Tops",
    "as_if_equal",
    "detectable",
    "find_tops",
    "holm",
    "intervals",
    "learn",
    "mean_intervals",
    "p_values",
    "queries_needed",
    "reach_of",
    "smallest",
    "sums_of",
    "weighted_intervals",
    "weighted_mean",
    "weighted_wilson",
    "wilson",
    "with_bands",
    "with_intervals",
]
