"""Confidence intervals, p-values, and ranges over the grades of unjudged chunks.

All random draws are seeded and give the same result on every machine.
"""

from labeler.stats.confidence_bounds import (
    anytime_difference_bound,
    anytime_mean_bound,
    difference_bounds,
    mean_bound,
)
from labeler.stats.confidence_intervals import (
    ConfidenceInterval,
    IntervalsByPlace,
    as_equal_weights,
    mean_intervals,
    wilson_interval,
    with_intervals,
)
from labeler.stats.difference_intervals import (
    FEWEST_DIFFERING,
    FEWEST_QUERIES,
    count_differing,
    difference_intervals,
)
from labeler.stats.draws import DRAWS
from labeler.stats.paired_tests import (
    ALPHA,
    EXACT,
    PValue,
    detectable_difference,
    detectable_with_spread,
    holm,
    p_values,
    queries_needed,
    resolve_p_value,
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
