"""One query in full: one ranked list, or two joined by lines; the same view from every page."""

from labeler.ui.query_view.opened import OpenedQuery, QuerySteps, open_query
from labeler.ui.query_view.view import show_query
from labeler.ui.query_view.why import chunks_with_text, texts_of
