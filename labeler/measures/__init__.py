"""Retrieval measures: grades at ranks in, one value per ranking out.

`Hits` are the judged chunks of any number of rankings, `Measure` is a measure with all its
parameters, `score` computes values and `terms` what each hit adds to them, and `MEASURES`
says what each measure means. `rbp_residual` says how far unjudged chunks could raise RBP.
"""

from labeler.measures.computation import Scorer, score, scorer, terms
from labeler.measures.definition import Definition
from labeler.measures.evidence import FoundEvidence, PromptTexts, RetrievedTexts
from labeler.measures.formulas import GAINS, rbp_residual
from labeler.measures.hits import WHOLE_LIST, Bools, Floats, Hits, Ints, SmallInts
from labeler.measures.names import (
    PROMPT,
    Cutoff,
    Measure,
    Reads,
    UniqueMeasures,
    current_name,
    parse,
    parse_all,
    without_repeats,
)
from labeler.measures.registry import MEASURES, handbook_page
