"""Parts of the Scores page: choices, and the views by name."""

from collections.abc import Callable, Mapping

from labeler.evaluation import Scoreboard
from labeler.ui.scores.choices import (
    KEYWORDS,
    MEASURES,
    RECALL,
    SAID_ABOVE,
    TREND,
    WEIGHED,
    ScoresChoice,
    choose,
    show_warnings,
    show_what,
)
from labeler.ui.scores.keywords import show_keywords
from labeler.ui.scores.trend import show_trend
from labeler.ui.scores.views import (
    BY_GRADES,
    WITH_INTERVALS,
    FileContent,
    show_recall,
    show_small_print,
)

VIEWS: Mapping[str, Callable[[ScoresChoice, Scoreboard], FileContent | None]] = {
    **BY_GRADES,
    RECALL: show_recall,
    TREND: show_trend,
}
"""By view what shows its numbers, and returns what makes a file of them, None where none are."""
