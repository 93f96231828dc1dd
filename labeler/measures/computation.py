"""Values of a measure on hits, and what each hit adds to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from labeler.errors import BadInput
from labeler.measures.definition import HIT_OPTIONS
from labeler.measures.evidence import FoundEvidence
from labeler.measures.hits import WHOLE_LIST, Floats, Hits, Ints
from labeler.measures.names import CACHED_MEASURES, PROMPT, Measure

Scorer = Callable[["Hits | FoundEvidence", "int | Ints | None"], Floats]


def score(hits: Hits | FoundEvidence, measure: Measure, k: int | Ints | None = None) -> Floats:
    """Return one value for each row of ``hits``, NaN where the measure is undefined.

    ``hits`` must match `Measure.reads`: `Hits` of chunks, `Hits` of documents, or `FoundEvidence`.
    ``k`` replaces the measure's cut-off: a number, or one for each row. It is required for
    ``@prompt``, since a measure does not know prompt_k. For several cut-offs, (cut-offs, 1), the
    values of chunks and documents are (cut-offs, rows).

    >>> score(Hits.of([[0, 1], [0, 0]]), Measure("RR", rel=1)).tolist()
    [0.5, nan]
    """
    return scorer(measure)(hits, k)


@lru_cache(CACHED_MEASURES)
def scorer(measure: Measure) -> Scorer:
    """Return `score` of one measure as a function, for callers that compute it repeatedly.

    >>> scorer(Measure("RR", rel=1))(Hits.of([[0, 1]]), None).tolist()
    [0.5]
    """
    function, (takes_cutoff, arguments) = measure.definition.function, _arguments(measure)

    def compute(hits: Hits | FoundEvidence, k: int | Ints | None) -> Floats:
        seen = _visible_hits(hits, measure) if measure.judged_only else hits
        if not takes_cutoff:
            return function(seen, **arguments)
        return function(seen, _cutoff_of(measure, k) if k is None else k, **arguments)

    return compute


def terms(hits: Hits | FoundEvidence, measure: Measure, k: int | Ints | None = None) -> Floats:
    """Return what each hit adds to the value of its row; ``k`` is as for `score`.

    The terms of a row sum to its value, and are all 0 where that is undefined; only the terms of
    NumRel, and of NumRet without ``rel``, do not. With judged_only hits keep their order.

    >>> terms(Hits.of([[0, 1, 1]]), Measure("RR", rel=1)).tolist()
    [0.0, 0.5, 0.0]
    """
    takes_cutoff, arguments = _arguments(measure)
    seen = _visible_hits(hits, measure)
    cutoff = (_cutoff_of(measure, k),) if takes_cutoff else ()
    return measure.definition.terms(seen, *cutoff, **arguments)


def _visible_hits(hits: Hits | FoundEvidence, measure: Measure) -> Hits | FoundEvidence:
    return hits.condensed if measure.judged_only and isinstance(hits, Hits) else hits


def _arguments(measure: Measure) -> tuple[bool, Mapping[str, Any]]:
    """Return whether a measure's function takes a cut-off, and its other arguments."""
    left_out = (*HIT_OPTIONS, "rel") if measure.reads == "evidence" else HIT_OPTIONS
    arguments = {name: value for name, value in measure.parameters.items() if name not in left_out}
    return measure.definition.cutoff != "never", arguments


def _cutoff_of(measure: Measure, k: int | Ints | None) -> int | Ints:
    if k is None and measure.cutoff == PROMPT:
        raise BadInput(f"{measure} needs to be told the prompt size")
    return k if k is not None else int(measure.cutoff or WHOLE_LIST)
