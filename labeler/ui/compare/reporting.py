"""The report that Compare offers: the file that ``labeler report`` writes of the same two runs."""

from __future__ import annotations

from datetime import UTC, datetime

from labeler.analysis.comparison import View
from labeler.render.report import Asked, Source, make_report
from labeler.ui import boards
from labeler.ui import shared as ui


def report_of(view: View) -> bytes:
    """Return the report of A and B by the measures of a page, the leading one first.

    It is over all queries; slices are by the facet of the page, or by all facets.
    """
    compared = view.compared
    measures = dict.fromkeys([view.by, *compared.measures])
    facets = () if compared.facet is None else (compared.facet,)
    frozen = compared.conventions.frozen
    day = datetime.now(UTC).date()
    with ui.open_store() as store:
        source = Source(
            view.board,
            {query.query_id: query for query in boards.queries_of(store, frozen)},
            store.remarks() if frozen is None else [],
            store.single_grades() if frozen is None else None,
            store.chunks_with_text(),
            store.chunks_numbered,
            {run: store.right_answers(run) for run in store.answered_runs()},
        )
        return make_report(source, Asked(compared.a, compared.b, tuple(measures), day, facets))
