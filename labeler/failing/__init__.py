"""What the Queries page is made of: what is chosen, the list, the reasons; knows no SQL."""

from labeler.failing.answering import show_answers
from labeler.failing.choosing import Choice, choose
from labeler.failing.finding import Found, find, find_one
from labeler.failing.showing import choose_page, show_causes, show_list, show_steps

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
