"""Statistics: how sure a number is, over the choice of queries and over the unjudged chunks.

All random draws are seeded and give the same result on every machine.
"""

from labeler.stats.confidence_intervals import (
    ALL_ALIKE,
    BCA,
    NO_QUERY,
    ONE_QUERY,
    PERCENTILE,
    WILSON,
    ConfidenceInterval,
    IntervalsByPlace,
    SumFunction,
    as_equal_weights,
    bootstrap_intervals,
    mean_intervals,
    weighted_intervals,
    weighted_mean,
    weighted_wilson_interval,
    wilson_interval,
    with_intervals,
)
from labeler.stats.draws import DRAWS, ResampleCache, resample_sums
from labeler.stats.paired_tests import (
    ALPHA,
    EXACT,
    POWER,
    PValue,
    detectable_difference,
    detectable_with_spread,
    holm,
    p_values,
    queries_needed,
    smallest_p_value,
)
from labeler.stats.unjudged_chunks import DEPTH, TopChunks, find_top_chunks
from labeler.stats.unjudged_model import UnjudgedModel, fit_unjudged_model
from labeler.stats.unjudged_ranges import (
    DeltaRanges,
    LiveRanges,
    MeanRanges,
    UnjudgedRange,
    with_unjudged_ranges,
)

__all__ = [
    "ALL_ALIKE",
    "ALPHA",
    "BCA",
    "DEPTH",
    "DRAWS",
    "EXACT",
    "NO_QUERY",
    "ONE_QUERY",
    "PERCENTILE",
    "POWER",
    "WILSON",
    "ConfidenceInterval",
    "DeltaRanges",
    "IntervalsByPlace",
    "LiveRanges",
    "MeanRanges",
    "PValue",
    "ResampleCache",
    "SumFunction",
    "TopChunks",
    "UnjudgedModel",
    "UnjudgedRange",
    "as_equal_weights",
    "bootstrap_intervals",
    "detectable_difference",
    "detectable_with_spread",
    "find_top_chunks",
    "fit_unjudged_model",
    "holm",
    "mean_intervals",
    "p_values",
    "queries_needed",
    "resample_sums",
    "smallest_p_value",
    "weighted_intervals",
    "weighted_mean",
    "weighted_wilson_interval",
    "wilson_interval",
    "with_intervals",
    "with_unjudged_ranges",
]
