"""The next grade that decides which of two runs is better, and whether it is decided.

Knows runs, grades and what holes may be; not who is asked, nor how.
"""

from labeler.analysis.active.choosing import BATCH, Chosen, choose
from labeler.analysis.active.following import Decider, can_decide, one_measure
from labeler.analysis.active.standings import FAVOURS, LEAST, MATTERS, SURE, Standing, stand
from labeler.analysis.active.trials import Trial, try_out

__all__ = [
    "BATCH",
    "FAVOURS",
    "LEAST",
    "MATTERS",
    "SURE",
    "Chosen",
    "Decider",
    "Standing",
    "Trial",
    "can_decide",
    "choose",
    "one_measure",
    "stand",
    "try_out",
]
