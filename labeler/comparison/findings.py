"""What a table of means hides, said in sentences."""

from __future__ import annotations

from labeler.comparison.buckets import contradictions, one_number
from labeler.comparison.deltas import compare
from labeler.comparison.splitting import split
from labeler.comparison.views import View


def findings(view: View, candidates: str, most: int) -> list[str]:
    """Say where the means mislead, with at most so many buckets that move against the total.

    ``candidates`` is the sentence that says how B's candidates relate to A's.
    """
    parts = split(view.board, view.compared.a, view.compared.b, view.by)
    return [
        *one_number(view.compared),
        candidates,
        *([parts.sentence] if parts.n else []),
        *against_total(view, most),
    ]


def against_total(view: View, most: int) -> list[str]:
    """Say which buckets of any facet move against the total, the measure in question first."""
    compared = view.compared
    facets = [compared.facet] if compared.facet else list(view.board.facets)
    found = [
        each
        for facet in facets
        for each in contradictions(
            compare(view.board, compared.a, compared.b, compared.measures, facet)
        )
    ]
    found.sort(key=lambda each: (each.total.measure != view.by, -abs(each.bucket.delta)))
    said = [each.sentence for each in found[:most]]
    if len(found) > most:
        said.append(f"{len(found) - most} more of these are on the Slices page")
    return said
