"""Evaluation: values of all runs, from golden grades and ranked lists, updated by each new grade.

`Scoreboard` holds the values, `Conventions` say how they are computed. The input is a `Collection`
of queries, runs and buckets: the store reads one, `collect` makes one from plain dicts.
"""

from labeler.evaluation.alignment import RankedChunk
from labeler.evaluation.conventions import (
    PRESETS,
    Conventions,
    Undefined,
    format_number,
    format_share,
    format_signed,
    format_with_arrow,
)
from labeler.evaluation.fast_lookup import plain_board
from labeler.evaluation.leave_one_run_out import (
    OwnPoolComparison,
    compare_own_pools,
    describe_tau,
    own_pool_notes,
    own_pool_table,
    recall_measures,
)
from labeler.evaluation.list_validation import (
    GivenList,
    all_ids,
    all_of_type,
    check_chunk_ids,
    is_number,
    keys_are_ids,
)
from labeler.evaluation.means import (
    NO_RESULT,
    NOT_WEIGHTED,
    Means,
    QueryScore,
    Score,
    effective_sample_size,
    why_no_mean,
    why_no_value,
)
from labeler.evaluation.measure_guidance import (
    CROSS_CHUNKING_MEASURES,
    DEFAULT_MEASURES,
    MEASURES_BY_TASK,
    measure_names_for_task,
    measures_for_runs,
    measures_for_task,
    queries_in_scope,
    unjudged_shares,
)
from labeler.evaluation.notes import (
    NOTHING_GRADED,
    NOTHING_RELEVANT,
    OTHER_CHUNKINGS,
    WHY_NOTHING,
    Note,
    nothing_is_relevant,
)
from labeler.evaluation.partitions import MergedPartitions, Partition, PartitionLayout
from labeler.evaluation.plain import collect
from labeler.evaluation.records import (
    Record,
    measure_names,
    notes_on_record,
    query_records,
    score_records,
)
from labeler.evaluation.scoreboard import UNJUDGED, GoldenGrades, Scoreboard, regraded
from labeler.evaluation.ties_and_residuals import (
    Residual,
    TieRange,
    TieRangesByRun,
    find_tie_ranges,
    residual_means,
    residual_notes,
    residuals_by_place,
    residuals_by_query,
    tie_notes,
    with_tie_ranges,
)
