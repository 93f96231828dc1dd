"""Parts of the Queries page: choices, failing queries with their causes, and the views of them."""

from labeler.ui.queries.choices import choose
from labeler.ui.queries.failures import (
    RunFailures,
    find_query_failures,
    find_run_failures,
)
from labeler.ui.queries.views import choose_page, show_answers, show_causes, show_list, show_steps
