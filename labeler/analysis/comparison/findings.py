"""What a table of means hides, said in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass

from labeler.analysis.comparison.buckets import (
    Contradiction,
    contradictions,
    parts_of,
    sliced,
    worst_bucket,
)
from labeler.analysis.comparison.deltas import Comparison, Delta, compare
from labeler.analysis.comparison.splitting import Rerank, split
from labeler.analysis.comparison.surety import FEW, Sureties
from labeler.analysis.comparison.survival_words import NAMED
from labeler.analysis.comparison.verdict import Verdict, verdict
from labeler.analysis.comparison.views import View
from labeler.evaluation import signed
from labeler.measures import Measure
from labeler.model import listed


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, and the bucket's difference that it is about, None where it is about none."""

    sentence: str
    about: Delta | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What is to be said of two runs, the answer first: ``verdict`` is which of them is better.

    It is None where no measure has a value, and where the lists are the same: ``identical`` says
    so. ``losses`` says where B loses most, ``parts`` what the difference is made of, ``against``
    which buckets move against the total, the measure in question first.
    """

    verdict: Verdict | None = None
    identical: str = ""
    losses: Finding | None = None
    parts: tuple[str, ...] = ()
    against: tuple[Finding, ...] = ()


def findings(
    view: View,
    related: Rerank,
    bucket: str | None = None,
    names: tuple[str, str] | None = None,
    tested: Sureties | None = None,
) -> Findings:
    """Say of two runs what their means mean, over all queries or those of one bucket.

    ``related`` is how B's candidates relate to A's. ``names`` are what A and B are called, their
    own unless given. ``tested`` are the tests of the means that are shown, see `verdict`; buckets
    are tested among all of their facet, as on a table of its own.
    """
    if related.identical:
        return Findings(identical=related.sentence)
    said = verdict(view.board, view.compared, bucket, names, tested)
    found = [(comparison, sliced(comparison)) for comparison in _by_facet(view)]
    against = [each for pair in found for each in contradictions(pair[0], names, pair[1])]
    if bucket is not None:
        alone = [_alone(*pair, bucket, said) for pair in found]
        kept = _sentences(view, against, bucket)
        return Findings(said, parts=tuple(filter(None, alone)), against=kept)
    keeps = related.within == related.queries  # else the parts say how much other chunks matter
    return Findings(
        said,
        losses=_losses(view, found, names),
        parts=(*([related.sentence] if keeps else []), *_parts(view)),
        against=_sentences(view, against),
    )


def _parts(view: View) -> tuple[str, ...]:
    """Say what the difference is made of; nothing of a weighted one, whose parts are not known."""
    if view.board.weights is not None:
        return ()
    parts = split(view.board, view.compared.a, view.compared.b, view.by)
    return (parts.sentence,) if parts.n else ()


def of_buckets(
    comparison: Comparison, names: tuple[str, str], tested: Sureties
) -> tuple[Finding | None, tuple[Finding, ...]]:
    """Say of one facet where B loses most by the first measure, and what moves against the total.

    ``tested`` are the tests of its buckets and totals: neither is said of what may be chance. What
    moves against the total is not said to lose most, too.
    """
    against = contradictions(comparison, names, tested)
    worst = worst_bucket(comparison, comparison.measures[0], tested)
    said = tuple(Finding(each.sentence, each.bucket) for each in against)
    if worst is None or worst in [each.bucket for each in against]:
        return None, said
    return Finding(where_it_loses(comparison, worst, names[1]), worst), said


def where_it_loses(comparison: Comparison, row: Delta, b: str) -> str:
    """Say in which bucket B loses most, see `worst_bucket`."""
    change = f"{comparison.conventions.heading(row.measure)} {signed(row.delta)} (n {row.n:,})"
    return f"{b} loses most in {row.facet} = {row.bucket}: {change}, by more than chance"


def _alone(comparison: Comparison, tested: Sureties, bucket: str, said: Verdict | None) -> str:
    """Say which differences of a bucket are more than chance only as it is looked at by itself."""
    rows = [row for row in comparison.buckets if row.bucket == bucket and not math.isnan(row.delta)]
    sure = frozenset[Measure]() if said is None else said.sure
    unsure = [row for row in rows if row.measure in sure and not tested.of(row).is_sure]
    if not unsure:
        return ""
    named = listed([comparison.conventions.heading(row.measure) for row in unsure], NAMED)
    tests = max(tested.of(row).family for row in rows)
    return (
        f"By itself: among all buckets of {comparison.facet}, which are {tests:,} tests, {named} "
        "may be chance"
    )


def _by_facet(view: View) -> list[Comparison]:
    compared = view.compared
    facets = [compared.facet] if compared.facet else list(view.board.facets)
    return [
        compare(view.board, compared.a, compared.b, compared.measures, facet) for facet in facets
    ]


def _losses(
    view: View, found: list[tuple[Comparison, Sureties]], names: tuple[str, str] | None
) -> Finding | None:
    """Say where B loses most by the measure in question, of all facets."""
    rows = [(worst_bucket(by, view.by, tested), by) for by, tested in found]
    falling = [(row, comparison) for row, comparison in rows if row is not None]
    b = names[1] if names else view.compared.b
    if falling:
        row, comparison = min(falling, key=lambda each: each[0].delta)
        return Finding(where_it_loses(comparison, row, b), row)
    asked = [(row, tested) for by, tested in found for row in parts_of(by, view.by)]
    if not any(row.n >= FEW for row, _ in asked):
        return None
    of = f" of {view.compared.facet}" if view.compared.facet else ""
    tests = sorted({tested.of(row).family for row, tested in asked})
    over = f"{tests[0]:,} tests" if len(tests) == 1 else f"up to {tests[-1]:,} tests"
    return Finding(
        f"In no bucket{of} does {b} lose {view.heading} by more than chance, corrected over {over}"
    )


def _sentences(
    view: View, against: list[Contradiction], bucket: str | None = None
) -> tuple[Finding, ...]:
    kept = [each for each in against if bucket in (None, each.bucket.bucket)]
    kept.sort(key=lambda each: (each.total.measure != view.by, -abs(each.bucket.delta)))
    return tuple(Finding(each.sentence, each.bucket) for each in kept)
