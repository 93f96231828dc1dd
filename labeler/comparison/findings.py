"""What a table of means hides, said in sentences."""

from __future__ import annotations

from dataclasses import dataclass

from labeler.comparison.buckets import Contradiction, contradictions, worst_bucket
from labeler.comparison.chance import FEW
from labeler.comparison.deltas import Comparison, Delta, compare, more_than_chance
from labeler.comparison.splitting import Rerank, split
from labeler.comparison.verdict import verdict
from labeler.comparison.views import View
from labeler.evaluation import signed
from labeler.measures import Measure


@dataclass(frozen=True, slots=True)
class Findings:
    """What is to be said of two runs, the answer first: ``verdict`` is which of them is better.

    ``sure`` are the measures that move by more than chance. ``losses`` says where B loses most,
    ``parts`` what the difference is made of, ``against`` which buckets move against the total, the
    measure in question first.
    """

    verdict: str
    sure: frozenset[Measure] = frozenset()
    losses: str = ""
    parts: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


def findings(
    view: View,
    related: Rerank,
    bucket: str | None = None,
    names: tuple[str, str] | None = None,
) -> Findings:
    """Say of two runs what their means mean, over all queries or those of one bucket.

    ``related`` is how B's candidates relate to A's. ``names`` are what A and B are called, their
    own unless given.
    """
    if related.identical:
        return Findings(related.sentence)
    said = verdict(view.board, view.compared, bucket, names)
    first, sure = ("", frozenset[Measure]()) if said is None else (said.sentence, said.sure)
    found = _by_facet(view)
    against = [each for comparison in found for each in contradictions(comparison, names)]
    if bucket is not None:
        return Findings(first, sure, against=_sentences(view, against, bucket))
    parts = split(view.board, view.compared.a, view.compared.b, view.by)
    keeps = related.within == related.queries  # else the parts say how much other chunks matter
    return Findings(
        first,
        sure,
        _losses(view, found, names),
        (*([related.sentence] if keeps else []), *([parts.sentence] if parts.n else [])),
        _sentences(view, against),
    )


def where_it_loses(comparison: Comparison, row: Delta, b: str) -> str:
    """Say in which bucket B loses most, and whether that may be chance."""
    rows = [each for each in comparison.buckets if each.measure == row.measure]
    sure = "by more than chance" if row in more_than_chance(rows) else "which may be chance"
    change = f"{comparison.conventions.heading(row.measure)} {signed(row.delta)} (n {row.n})"
    return f"{b} loses most in {row.facet} = {row.bucket}: {change}, {sure}"


def _by_facet(view: View) -> list[Comparison]:
    compared = view.compared
    facets = [compared.facet] if compared.facet else list(view.board.facets)
    return [
        compare(view.board, compared.a, compared.b, compared.measures, facet) for facet in facets
    ]


def _losses(view: View, found: list[Comparison], names: tuple[str, str] | None) -> str:
    """Say where B loses most by the measure in question, of all facets."""
    rows = [(worst_bucket(comparison, view.by), comparison) for comparison in found]
    falling = [(row, comparison) for row, comparison in rows if row is not None]
    if falling:
        row, comparison = min(falling, key=lambda each: each[0].delta)
        return where_it_loses(comparison, row, names[1] if names else comparison.b)
    rose = any(row.n >= FEW for comparison in found for row in comparison.buckets)
    return f"No bucket of {FEW} queries or more falls by {view.heading}" if rose else ""


def _sentences(
    view: View, against: list[Contradiction], bucket: str | None = None
) -> tuple[str, ...]:
    kept = [each for each in against if bucket in (None, each.bucket.bucket)]
    kept.sort(key=lambda each: (each.total.measure != view.by, -abs(each.bucket.delta)))
    return tuple(each.sentence for each in kept)
