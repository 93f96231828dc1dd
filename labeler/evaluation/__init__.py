"""From names to numbers: golden grades meet ranked lists once, then every value follows each grade.

Knows queries, runs and buckets; not where they are stored nor how they are shown.
"""

from labeler.evaluation.alignment import Ranked
from labeler.evaluation.checking import (
    GivenList,
    are_all,
    are_ids,
    check_chunk_ids,
    have_ids,
    is_number,
)
from labeler.evaluation.conventions import (
    PRESETS,
    Conventions,
    Undefined,
    arrowed,
    number,
    share_words,
    signed,
)
from labeler.evaluation.graded import Chunks
from labeler.evaluation.lookup import plain_board
from labeler.evaluation.means import (
    NO_RESULT,
    Counts,
    Means,
    QueryScore,
    Score,
    why_no_mean,
    why_no_value,
)
from labeler.evaluation.notes import (
    NOTHING_RELEVANT,
    OTHER_CHUNKINGS,
    SEVERAL_CHUNKINGS,
    WHY_NOTHING,
    Note,
    lack_relevance,
)
from labeler.evaluation.own_pool import (
    OwnPool,
    OwnPools,
    own_pool_notes,
    own_pool_records,
    own_pools,
    recalls_among,
    tau_in_words,
)
from labeler.evaluation.parts import Part, Shape, Whole
from labeler.evaluation.plain import collect
from labeler.evaluation.reading import (
    ACROSS,
    PRIMARY,
    USUAL,
    Caution,
    cautions,
    holes_of_runs,
    leading,
    primary,
    usual,
)
from labeler.evaluation.records import (
    Record,
    Residuals,
    names_of,
    notes_of,
    query_records,
    score_records,
)
from labeler.evaluation.regrading import HOLE, Golden, regraded
from labeler.evaluation.residuals import (
    Residual,
    residual_means,
    residual_notes,
    residuals_by_place,
    residuals_by_query,
)
from labeler.evaluation.scoreboard import Scoreboard
from labeler.evaluation.ties import (
    TieRange,
    TieRanges,
    tie_notes,
    tie_ranges,
    tied_ranges,
    with_ties,
)
from labeler.evaluation.weighing import NOT_WEIGHTED, worth

__all__ = [
    "ACROSS",
    "HOLE",
    "NOTHING_RELEVANT",
    "NOT_WEIGHTED",
    "NO_RESULT",
    "OTHER_CHUNKINGS",
    "PRESETS",
    "PRIMARY",
    "SEVERAL_CHUNKINGS",
    "USUAL",
    "WHY_NOTHING",
    "Caution",
    "Chunks",
    "Conventions",
    "Counts",
    "GivenList",
    "Golden",
    "Means",
    "Note",
    "OwnPool",
    "OwnPools",
    "Part",
    "QueryScore",
    "Ranked",
    "Record",
    "Residual",
    "Residuals",
    "Score",
    "Scoreboard",
    "Shape",
    "TieRange",
    "TieRanges",
    "Undefined",
    "Whole",
    "are_all",
    "are_ids",
    "arrowed",
    "cautions",
    "check_chunk_ids",
    "collect",
    "have_ids",
    "holes_of_runs",
    "is_number",
    "lack_relevance",
    "leading",
    "names_of",
    "notes_of",
    "number",
    "own_pool_notes",
    "own_pool_records",
    "own_pools",
    "plain_board",
    "primary",
    "query_records",
    "recalls_among",
    "regraded",
    "residual_means",
    "residual_notes",
    "residuals_by_place",
    "residuals_by_query",
    "score_records",
    "share_words",
    "signed",
    "tau_in_words",
    "tie_notes",
    "tie_ranges",
    "tied_ranges",
    "usual",
    "why_no_mean",
    "why_no_value",
    "with_ties",
    "worth",
]
