"""The Slices page: buckets that collapsed although the mean over all queries did not."""

from labeler.ui.slices.page import show_page

show_page()
