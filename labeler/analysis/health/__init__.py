"""What a golden set is fit for: its size, sources, graders, age, buckets and traffic; no SQL."""

from labeler.analysis.health.proposed import Share, SourceAgreement, agreement_by_source
from labeler.analysis.health.size import USUAL_SPREAD, Mark, marks, rarest_seen, spread_of
from labeler.analysis.health.traffic import LEVEL, Shares, distance, shares_of
from labeler.analysis.health.whole import (
    FEW,
    OLD_AFTER,
    Ages,
    Confirmed,
    Fitness,
    Thin,
    Told,
    fitness_of,
)
from labeler.analysis.health.words import Part, parts_of, record_of

__all__ = [
    "FEW",
    "LEVEL",
    "OLD_AFTER",
    "USUAL_SPREAD",
    "Ages",
    "Confirmed",
    "Fitness",
    "Mark",
    "Part",
    "Share",
    "Shares",
    "SourceAgreement",
    "Thin",
    "Told",
    "agreement_by_source",
    "distance",
    "fitness_of",
    "marks",
    "parts_of",
    "rarest_seen",
    "record_of",
    "shares_of",
    "spread_of",
]
