"""What the Scores page is made of: what is chosen, its views, and what needs no grades; no SQL."""

from collections.abc import Callable, Mapping

from labeler.evaluation import Scoreboard
from labeler.ui.scores.by_keyword import show_keywords
from labeler.ui.scores.choosing import (
    KEYWORDS,
    MEASURES,
    RECALL,
    SAID_ABOVE,
    TREND,
    WEIGHED,
    Choice,
    choose,
    say_above,
    say_what,
)
from labeler.ui.scores.recalling import show_recall
from labeler.ui.scores.showing import BY_GRADES, WITH_INTERVALS, File, show_small_print
from labeler.ui.scores.trending import show_trend

VIEWS: Mapping[str, Callable[[Choice, Scoreboard], File | None]] = {
    **BY_GRADES,
    RECALL: show_recall,
    TREND: show_trend,
}
"""By view what shows its numbers, and returns what makes a file of them, None where none are."""

__all__ = [
    "KEYWORDS",
    "MEASURES",
    "SAID_ABOVE",
    "VIEWS",
    "WEIGHED",
    "WITH_INTERVALS",
    "Choice",
    "choose",
    "say_above",
    "say_what",
    "show_keywords",
    "show_small_print",
]
