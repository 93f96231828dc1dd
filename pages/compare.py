"""The Compare page: run B against run A, by how much, on which queries, which chunks moved."""

from labeler.ui.compare.page import show_page

show_page()
