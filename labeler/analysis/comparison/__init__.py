"""Comparison of run B with run A: how far each measure moves, where, and through which chunks.

Everything reads a `Scoreboard`, so conventions, unjudged chunks and undefined values are those of
the scoreboard. A delta is always B minus A.
"""

from labeler.analysis.comparison.best_run import (
    CLEARLY_HIGHEST,
    HIGHEST,
    LOWER,
    NOT_CLEARLY_LOWER,
    BestRun,
    describe_best_run,
    find_best_run,
)
from labeler.analysis.comparison.buckets import (
    CrossedCell,
    cross_facets,
    describe_buckets,
    facet_to_open,
    lowest_first,
    worst_first,
)
from labeler.analysis.comparison.deltas import (
    TOLERANCE,
    VISIBLE,
    Comparison,
    Delta,
    QueryDelta,
    check_pair,
    compare,
)
from labeler.analysis.comparison.grader_sensitivity import (
    ENOUGH_CHANGED,
    GraderSensitivity,
    ReadingDelta,
    describe_sensitivity,
    describe_unchanged_readings,
    measure_sensitivity,
    sensitivity_records,
)
from labeler.analysis.comparison.list_overlap import OVERLAP_DEPTH, compare_lists
from labeler.analysis.comparison.query_lists import (
    PlacedChunk,
    describe_useful_ranks,
    place_chunks,
    terms_sum_to,
)
from labeler.analysis.comparison.query_views import (
    ABSENT_CELL,
    QUERY_OUTCOMES,
    QUERY_SORTS,
    UNJUDGED_CELL,
    ComparisonView,
    DrawnQuery,
    bucket_labels,
    format_strip,
    grade_strips,
    query_outcome,
    sort_queries,
)
from labeler.analysis.comparison.rank_changes import (
    ChunkContribution,
    DcgRow,
    DcgTable,
    RankChange,
    SharedText,
    TopMover,
    add_up_movers,
    best_partners,
    dcg_table,
    describe_dependence,
    describe_shared_text,
    find_contributions,
    find_rank_changes,
    find_shared_text,
    why_undefined,
)
from labeler.analysis.comparison.recall_vs_order import (
    CANDIDATE_COUNTS,
    CandidateOverlap,
    PerfectReranking,
    compare_candidates,
    describe_perfect_reranking,
    perfect_reranking_notes,
    perfect_rerankings,
    rerankable_measures,
    split_delta,
)
from labeler.analysis.comparison.records import (
    ShownPair,
    comparison_table,
    query_delta_records,
    query_table,
    statistics_table,
)
from labeler.analysis.comparison.significance import (
    COVERAGE_NOTE,
    FEW,
    METHODS_NOTE,
    SIGNIFICANCE_RULE,
    TOO_FEW_DIFFER,
    TOO_FEW_QUERIES,
    DecisionRules,
    DeltaTest,
    PairTests,
    assess_pair,
    describe_statistics,
    format_delta_interval,
    format_p_value,
)
from labeler.analysis.comparison.unjudged_doubt import describe_unjudged
from labeler.analysis.comparison.verdict import (
    PairEvidence,
    Verdict,
    decide_verdict,
)
from labeler.analysis.comparison.what_if import Trial, try_grades, try_ranks
