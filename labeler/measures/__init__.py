"""What each measure is: grades at ranks in, one value per ranking out; no names of queries or runs.

`Hits` are the judged chunks of any number of rankings, `Measure` is a measure with all its
parameters, `score` and `terms` bring them together, and `MEASURES` says what each one means.
"""

from labeler.measures.functions import GAINS, WHOLE_LIST, Bools, Floats, Hits, Ints
from labeler.measures.names import (
    BUDGET,
    MEASURES,
    Cutoff,
    Definition,
    Measure,
    parse,
    parse_all,
    score,
    terms,
)

__all__ = [
    "BUDGET",
    "GAINS",
    "MEASURES",
    "WHOLE_LIST",
    "Bools",
    "Cutoff",
    "Definition",
    "Floats",
    "Hits",
    "Ints",
    "Measure",
    "parse",
    "parse_all",
    "score",
    "terms",
]
