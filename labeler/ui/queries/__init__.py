"""What the Queries page is made of: what is chosen, the list, the reasons; knows no SQL."""

from labeler.ui.queries.answering import show_answers
from labeler.ui.queries.choosing import Choice, choose
from labeler.ui.queries.finding import Found, find, find_one
from labeler.ui.queries.showing import choose_page, show_causes, show_list, show_steps

__all__ = [
    "Choice",
    "Found",
    "choose",
    "choose_page",
    "find",
    "find_one",
    "show_answers",
    "show_causes",
    "show_list",
    "show_steps",
]
