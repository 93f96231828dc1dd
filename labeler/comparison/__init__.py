"""System A against system B: how much, where, and which chunk; knows no pages and no database.

Everything here asks a `Scoreboard`, so conventions, holes and undefined values are its. A delta is
always B minus A.
"""

from labeler.comparison.buckets import (
    Cell,
    Contradiction,
    contradictions,
    crossed,
    worst_bucket,
)
from labeler.comparison.chance import FEW, LEVEL, RULE, beyond_chance, holm, t_test, two_sided
from labeler.comparison.deltas import (
    TOLERANCE,
    Comparison,
    Delta,
    QueryDelta,
    check_pair,
    compare,
    more_than_chance,
)
from labeler.comparison.findings import Findings, findings, where_it_loses
from labeler.comparison.movers import Moved, Mover, moved, movers_by
from labeler.comparison.moves import (
    Move,
    WhatIf,
    moves,
    terms_depend,
    what_if,
    why_undefined,
)
from labeler.comparison.records import delta_records, query_delta_records
from labeler.comparison.reranking import (
    TOPS,
    Reranked,
    reranked,
    reranked_in_words,
    reranked_notes,
)
from labeler.comparison.slices import lowest_first, worst_first
from labeler.comparison.splitting import QuerySplit, Rerank, Split, rerank, split
from labeler.comparison.strips import ABSENT, HOLE, strip_text, strips
from labeler.comparison.survival_words import (
    survival_in_words,
    survival_records,
    unchanged_in_words,
)
from labeler.comparison.surviving import ENOUGH, Retold, Survival, survivals
from labeler.comparison.trial import Trial, last_ranks, try_at
from labeler.comparison.verdict import Verdict, verdict
from labeler.comparison.views import (
    OUTCOMES,
    SORTS,
    DrawnQuery,
    View,
    buckets_of,
    drawn_queries,
    query_words,
    sort_queries,
)
from labeler.comparison.worked import DcgRow, DcgTable, dcg_table

__all__ = [
    "ABSENT",
    "ENOUGH",
    "FEW",
    "HOLE",
    "LEVEL",
    "OUTCOMES",
    "RULE",
    "SORTS",
    "TOLERANCE",
    "TOPS",
    "Cell",
    "Comparison",
    "Contradiction",
    "DcgRow",
    "DcgTable",
    "Delta",
    "DrawnQuery",
    "Findings",
    "Move",
    "Moved",
    "Mover",
    "QueryDelta",
    "QuerySplit",
    "Rerank",
    "Reranked",
    "Retold",
    "Split",
    "Survival",
    "Trial",
    "Verdict",
    "View",
    "WhatIf",
    "beyond_chance",
    "buckets_of",
    "check_pair",
    "compare",
    "contradictions",
    "crossed",
    "dcg_table",
    "delta_records",
    "drawn_queries",
    "findings",
    "holm",
    "last_ranks",
    "lowest_first",
    "more_than_chance",
    "moved",
    "movers_by",
    "moves",
    "query_delta_records",
    "query_words",
    "rerank",
    "reranked",
    "reranked_in_words",
    "reranked_notes",
    "sort_queries",
    "split",
    "strip_text",
    "strips",
    "survival_in_words",
    "survival_records",
    "survivals",
    "t_test",
    "terms_depend",
    "try_at",
    "two_sided",
    "unchanged_in_words",
    "verdict",
    "what_if",
    "where_it_loses",
    "why_undefined",
    "worst_bucket",
    "worst_first",
]
