"""System A against system B: how much, where, and which chunk; knows no pages and no database.

Everything here asks a `Scoreboard`, so conventions, holes and undefined values are its. A delta is
always B minus A.
"""

from labeler.comparison.buckets import (
    Cell,
    Contradiction,
    contradictions,
    crossed,
    one_number,
)
from labeler.comparison.deltas import (
    TOLERANCE,
    Comparison,
    Delta,
    QueryDelta,
    check_pair,
    compare,
)
from labeler.comparison.findings import findings
from labeler.comparison.moves import (
    Move,
    WhatIf,
    moves,
    terms_depend,
    what_if,
    why_undefined,
)
from labeler.comparison.records import delta_records, query_delta_records
from labeler.comparison.reranking import TOPS, Reranked, reranked, reranked_in_words
from labeler.comparison.splitting import QuerySplit, Rerank, Split, rerank, split
from labeler.comparison.strips import ABSENT, HOLE, strip_text, strips
from labeler.comparison.trial import Trial, last_ranks, try_at
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
    "HOLE",
    "OUTCOMES",
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
    "Move",
    "QueryDelta",
    "QuerySplit",
    "Rerank",
    "Reranked",
    "Split",
    "Trial",
    "View",
    "WhatIf",
    "buckets_of",
    "check_pair",
    "compare",
    "contradictions",
    "crossed",
    "dcg_table",
    "delta_records",
    "drawn_queries",
    "findings",
    "last_ranks",
    "moves",
    "one_number",
    "query_delta_records",
    "query_words",
    "rerank",
    "reranked",
    "reranked_in_words",
    "sort_queries",
    "split",
    "strip_text",
    "strips",
    "terms_depend",
    "try_at",
    "what_if",
    "why_undefined",
]
