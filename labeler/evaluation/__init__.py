"""From names to numbers: golden grades meet ranked lists once, then every value follows each grade.

Knows queries, runs and buckets; not where they are stored nor how they are shown.
"""

from labeler.evaluation.alignment import Chunks, Ranked, tied_queries
from labeler.evaluation.conventions import PRESETS, Conventions, number
from labeler.evaluation.means import (
    NO_RESULT,
    Counts,
    Means,
    QueryScore,
    Score,
    why_no_mean,
    why_no_value,
)
from labeler.evaluation.plain import GivenList, collect
from labeler.evaluation.reading import PRIMARY, Caution, cautions, primary
from labeler.evaluation.records import Record, Residuals, names_of, query_records, score_records
from labeler.evaluation.residuals import (
    Residual,
    residual_means,
    residual_notes,
    residuals_by_place,
    residuals_by_query,
)
from labeler.evaluation.scoreboard import Scoreboard
from labeler.evaluation.ties import TieRange, tie_notes, tie_ranges

__all__ = [
    "NO_RESULT",
    "PRESETS",
    "PRIMARY",
    "Caution",
    "Chunks",
    "Conventions",
    "Counts",
    "GivenList",
    "Means",
    "QueryScore",
    "Ranked",
    "Record",
    "Residual",
    "Residuals",
    "Score",
    "Scoreboard",
    "TieRange",
    "cautions",
    "collect",
    "names_of",
    "number",
    "primary",
    "query_records",
    "residual_means",
    "residual_notes",
    "residuals_by_place",
    "residuals_by_query",
    "score_records",
    "tie_notes",
    "tie_ranges",
    "tied_queries",
    "why_no_mean",
    "why_no_value",
]
