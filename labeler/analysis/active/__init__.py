"""Active choice of the pairs to grade next, and how sure it is which of two runs is better."""

from labeler.analysis.active.certainty import (
    LEAST_GRADES,
    MOST_CLAIMED,
    NO_FAIR_SAMPLE_NOTE,
    SETTLED_AT,
    Certainty,
)
from labeler.analysis.active.decider import Decider, can_decide, parse_deciding_measure
from labeler.analysis.active.decision import (
    AT_ONCE,
    CERTAINTY_HEADING,
    describe_decision,
)
from labeler.analysis.active.simulation import BATCH, DecidingPair
