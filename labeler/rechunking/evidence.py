"""How much of what answers a query is retrieved, whatever the chunking; knows no page."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from labeler.rechunking.placing import Places
from labeler.rechunking.records import Graded, Place
from labeler.rechunking.seeing import old_of
from labeler.rechunking.spans import Span, common, joined, length
from labeler.rechunking.squeezing import spans_squeezed


class EvidenceScore(NamedTuple):
    """Characters of evidence that were found, of all that was retrieved, and all evidence there is.

    White space does not count. Text that is retrieved twice counts twice, evidence once.
    """

    found: int
    retrieved: int
    total: int

    @property
    def recall(self) -> float:
        """The share of the evidence that was found; NaN where there is none.

        >>> EvidenceScore(50, 400, 100).recall
        0.5
        """
        return self.found / self.total if self.total else math.nan

    @property
    def precision(self) -> float:
        """The share of what was retrieved that is evidence; NaN without either.

        >>> EvidenceScore(50, 400, 100).precision
        0.125
        """
        return self.found / self.retrieved if self.retrieved and self.total else math.nan

    @property
    def iou(self) -> float:
        """What was found, of all that is evidence or was retrieved; NaN without evidence.

        >>> round(EvidenceScore(50, 400, 100).iou, 4)
        0.1111
        """
        return self.found / (self.total + self.retrieved - self.found) if self.total else math.nan


def evidence_of(grades: Iterable[Graded], places: Places) -> dict[str, list[Span]]:
    """Return for each query the union of what is marked in its relevant chunks, in the ground.

    A query of which nothing is marked has none. Grades are of the old chunking.
    """
    found: dict[str, list[Span]] = defaultdict(list)
    for grade in grades:
        if grade.grade and any(basis.passages for basis in grade.bases):
            found[grade.query_id] += old_of(grade, places).evidence
    return {query_id: joined(spans) for query_id, spans in found.items()}


def score_evidence(
    ranked: Sequence[str],
    evidence: Sequence[Span],
    placed: Mapping[str, Place],
    texts: Mapping[str, str],
    *,
    k: int | None = None,
    characters: int | None = None,
) -> EvidenceScore:
    """Measure what chunks of either chunking hold of a query's evidence, best first.

    The prompt takes ``k`` chunks, or so many ``characters`` (code points, white space too), which
    cuts the last one; all without either. ``placed`` and ``texts`` are of the run's chunking.

    >>> from labeler.rechunking import Basis, Cut, Graded, evidence_of, find_places
    >>> old = [Cut("o", "Fees are due in May. Late fees are refused.")]
    >>> places = find_places(old, [Cut("n", "due in May. Late fees are refused.")])
    >>> [evidence] = evidence_of([Graded("q", "o", 3, (Basis(1, ((0, 19),)),))], places).values()
    >>> round(score_evidence(["n"], evidence, places.new, places.new_texts).recall, 2)
    0.53
    >>> score_evidence(["n"], evidence, places.new, places.new_texts, characters=6).found
    5
    """
    held: list[Span] = []
    retrieved, left = 0, characters
    for chunk_id in ranked[:k]:
        place, text = placed[chunk_id], texts[chunk_id]
        size = place.size
        if left is not None:
            if left <= 0:
                break
            if left < len(text):
                [(_, size)] = spans_squeezed(text, [(0, left)])
            left -= len(text)
        retrieved += size
        held += [
            (each.start, each.start + min(each.size, size - each.at))
            for each in place.segments
            if each.at < size
        ]
    return EvidenceScore(length(common(evidence, joined(held))), retrieved, length(evidence))
