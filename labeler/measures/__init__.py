"""What each measure is: grades at ranks in, one value per ranking out; no names of queries or runs.

`Hits` are the judged chunks of any number of rankings, `Measure` is a measure with all its
parameters, `score` and `terms` bring them together, and `MEASURES` says what each one means.
`rbp_residual` says how far the chunks that nobody graded could raise RBP.
"""

from labeler.measures.computing import Scorer, score, scorer, terms
from labeler.measures.defining import Definition
from labeler.measures.definitions import MEASURES
from labeler.measures.evidence import Finds, Retrieved, Taken
from labeler.measures.functions import GAINS
from labeler.measures.hits import WHOLE_LIST, Bools, Floats, Hits, Ints, SmallInts
from labeler.measures.names import (
    BUDGET,
    Chosen,
    Cutoff,
    Measure,
    Reads,
    parse,
    parse_all,
    without_repeats,
)
from labeler.measures.reading_on import rbp_residual

__all__ = [
    "BUDGET",
    "GAINS",
    "MEASURES",
    "WHOLE_LIST",
    "Bools",
    "Chosen",
    "Cutoff",
    "Definition",
    "Finds",
    "Floats",
    "Hits",
    "Ints",
    "Measure",
    "Reads",
    "Retrieved",
    "Scorer",
    "SmallInts",
    "Taken",
    "parse",
    "parse_all",
    "rbp_residual",
    "score",
    "scorer",
    "terms",
    "without_repeats",
]
