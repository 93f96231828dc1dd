"""HTML tables and cards, as elements that escape their text.

A function returns what `labeler.render.markup.show_html` draws, with the style sheet it needs.
"""

from labeler.render.tables.agreement import confusion_matrix
from labeler.render.tables.chunk_text import chunk_text, transfer_note
from labeler.render.tables.compare import (
    MoversLook,
    every_number_table,
    movers_table,
    reranked_table,
    statistics_table,
    survival_table,
)
from labeler.render.tables.html_table import (
    CellContent,
    TextCell,
    folded_names,
    folded_sentences,
    measure_meanings,
    plain_table,
    run_name,
    sentences,
    small_print,
)
from labeler.render.tables.queries import (
    answers_card,
    describe_outcomes,
    failure_table,
    format_value,
    outcome_table,
    query_list,
    two_by_two_table,
)
from labeler.render.tables.query_tables import ndcg_table, pool_table, run_failures_table
from labeler.render.tables.query_view import (
    ListLook,
    ListSide,
    link_in_place,
    query_heading,
    ranked_lists,
    under_lists,
    who_graded,
    wires,
)
from labeler.render.tables.results import html_table_of, statements_html
from labeler.render.tables.run_picture import (
    Fold,
    RankingHead,
    RunRow,
    folds_html,
    legend_line,
    ranking_table,
)
from labeler.render.tables.run_table import (
    RunNames,
    RunTable,
    runs_table,
    sentence_with_link,
)
from labeler.render.tables.scores import (
    BELOW_SIGN,
    Limits,
    Marks,
    bucket_table,
    explain_mean,
    keyword_means_table,
    keyword_places_table,
    keyword_slices,
    keyword_table,
    own_pool_table,
    residual_table,
    run_legend,
    score_table,
    tie_table,
    with_unjudged_shares,
)
from labeler.render.tables.slice_plots import (
    SHADES,
    crossed_plot,
    delta_plot,
    mean_plot,
)
from labeler.render.tables.slices import crossed_table
from labeler.render.tables.trend import (
    change_causes_table,
    points_table,
    signal_values_table,
    signals_table,
    trend_table,
)
from labeler.render.tables.what_if import what_if_table
