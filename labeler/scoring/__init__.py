"""What the Scores page is made of: what is chosen, its views, and what needs no grades; no SQL."""

from labeler.scoring.by_keyword import show_keywords
from labeler.scoring.choosing import KEYWORDS, MEASURES, OWN_MEASURES, Choice, choose, show_all
from labeler.scoring.showing import VIEWS, show_small_print

__all__ = [
    "KEYWORDS",
    "MEASURES",
    "OWN_MEASURES",
    "VIEWS",
    "Choice",
    "choose",
    "show_all",
    "show_keywords",
    "show_small_print",
]
