"""The Scores page: every run by the chosen measures, updated while others grade."""

from labeler.ui.scores.page import show_page

show_page()
