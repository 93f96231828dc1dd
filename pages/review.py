"""The Review page: work, progress, agreement, disagreements, and what graders said, for leads."""

from labeler.ui.review.page import show_page

show_page()
