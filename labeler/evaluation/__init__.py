"""From names to numbers: golden grades meet ranked lists once, then every value follows each grade.

Knows queries, runs and buckets; not where they are stored nor how they are shown.
"""

from labeler.evaluation.alignment import Chunks, Ranked, tied_queries
from labeler.evaluation.conventions import PRESETS, Conventions, number
from labeler.evaluation.means import Counts, QueryScore, Score
from labeler.evaluation.plain import collect
from labeler.evaluation.reading import PRIMARY, Caution, cautions, primary
from labeler.evaluation.scoreboard import Scoreboard

__all__ = [
    "PRESETS",
    "PRIMARY",
    "Caution",
    "Chunks",
    "Conventions",
    "Counts",
    "QueryScore",
    "Ranked",
    "Score",
    "Scoreboard",
    "cautions",
    "collect",
    "number",
    "primary",
    "tied_queries",
]
