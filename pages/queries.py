"""The Queries page: failing queries, worst first, why they fail, and one query in full."""

from labeler.ui.queries.page import show_page

show_page()
