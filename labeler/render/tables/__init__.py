"""Values become tables and cards, as elements that escape by themselves; knows no database.

A function returns what `labeler.render.markup.show_html` draws, with the style sheet it needs.
"""

from labeler.render.tables.agreeing import (
    against_table,
    agreement_answer,
    agreement_table,
    bucket_agreement_table,
    confusion_picture,
    pair_table,
)
from labeler.render.tables.answering import (
    answers_card,
    outcome_table,
    outcome_words,
    two_by_two_table,
)
from labeler.render.tables.bands import Spread
from labeler.render.tables.certainty import certainty
from labeler.render.tables.comparing import (
    answer,
    chunk_text,
    compare_table,
    findings,
    means,
    query_head,
    query_table,
    what_if_table,
)
from labeler.render.tables.failing import failing_list, failure_table, value_words
from labeler.render.tables.legend import run_legend
from labeler.render.tables.moving import movers_table
from labeler.render.tables.opened import (
    carried_trail,
    list_column,
    lists_side_by_side,
    pool_table,
    query_card,
    run_failures_table,
    worked_table,
)
from labeler.render.tables.printed import folded, sentences, small_print, whole_names
from labeler.render.tables.reranking import reranked_table
from labeler.render.tables.runs import RunNames, RunTable, Steps, runs_table, sentence_with_link
from labeler.render.tables.scores import (
    BELOW,
    Limits,
    Marks,
    bucket_table,
    keyword_table,
    own_pool_table,
    residual_table,
    score_table,
    tie_table,
    with_gaps,
)
from labeler.render.tables.shared import run_name
from labeler.render.tables.sheets import Cell, Said, sheet
from labeler.render.tables.signals import heard_table, signal_table
from labeler.render.tables.slice_pictures import (
    SHADES,
    crossed_picture,
    difference_picture,
    value_picture,
)
from labeler.render.tables.slicing import crossed_table, slice_pair_table, slice_table
from labeler.render.tables.spreads import (
    BAND_DOUBTS,
    BAND_WORDS,
    GOES_ON,
    delta_spreads,
    pair_spreads,
    spreads_of,
)
from labeler.render.tables.surviving import survival_table
from labeler.render.tables.trending import parts_table, points_table, trend_table
from labeler.render.tables.wording import keyword_means_table, keyword_places_table, keyword_slices

__all__ = [
    "BAND_DOUBTS",
    "BAND_WORDS",
    "BELOW",
    "GOES_ON",
    "SHADES",
    "Cell",
    "Limits",
    "Marks",
    "RunNames",
    "RunTable",
    "Said",
    "Spread",
    "Steps",
    "against_table",
    "agreement_answer",
    "agreement_table",
    "answer",
    "answers_card",
    "bucket_agreement_table",
    "bucket_table",
    "carried_trail",
    "certainty",
    "chunk_text",
    "compare_table",
    "confusion_picture",
    "crossed_picture",
    "crossed_table",
    "delta_spreads",
    "difference_picture",
    "failing_list",
    "failure_table",
    "findings",
    "folded",
    "heard_table",
    "keyword_means_table",
    "keyword_places_table",
    "keyword_slices",
    "keyword_table",
    "list_column",
    "lists_side_by_side",
    "means",
    "movers_table",
    "outcome_table",
    "outcome_words",
    "own_pool_table",
    "pair_spreads",
    "pair_table",
    "parts_table",
    "points_table",
    "pool_table",
    "query_card",
    "query_head",
    "query_table",
    "reranked_table",
    "residual_table",
    "run_failures_table",
    "run_legend",
    "run_name",
    "runs_table",
    "score_table",
    "sentence_with_link",
    "sentences",
    "sheet",
    "signal_table",
    "slice_pair_table",
    "slice_table",
    "small_print",
    "spreads_of",
    "survival_table",
    "tie_table",
    "trend_table",
    "two_by_two_table",
    "value_picture",
    "value_words",
    "what_if_table",
    "whole_names",
    "with_gaps",
    "worked_table",
]
