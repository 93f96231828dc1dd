"""Cautions about what a mean rests on: too few or leaked queries, low buckets, unjudged chunks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from labeler.analysis.cautions.means_in_question import (
    MeansInQuestion,
    mean_of,
)
from labeler.evaluation import format_number, unjudged_shares
from labeler.measures import PROMPT, Floats, Measure
from labeler.model import WITH_LEAKED, format_count
from labeler.model.results import Statement
from labeler.stats import ALPHA, FEWEST_QUERIES, mean_intervals

MOST_HALF_WIDTH = 0.1
MOST_UNJUDGED = 0.2
FAR_BELOW = 2 / 3  # of the mean of all queries
# Of others, such as P@5, a perfect ranking has less the fewer relevant chunks a query has.
PERFECT_IS_ONE = ("nDCG", "R", "Success", "RR", "AP", "Rprec", "Bpref", "EvidenceR")
_DRAWS, _SEED = 20_000, 20_260_101
_MOST_DRAWN = 1_000  # queries; from here on the normal distribution is exact enough


def few_queries(looked: MeansInQuestion) -> Iterator[Statement]:
    n = int(looked.counted.sum())
    if not looked.scope.any():
        yield looked.caution("few", f"No query{looked.where} is judged: there is no mean yet.")
    elif 0 < n < FEWEST_QUERIES:
        only = format_count(n, "query is", "queries are")
        said = f"Only {only} in the mean{looked.where}: any difference may be chance."
        yield looked.caution("few", said)


def wide_interval(looked: MeansInQuestion) -> Iterator[Statement]:
    if looked.counted.sum() < FEWEST_QUERIES:
        return
    one = [looked.bucket] if looked.bucket is not None else None
    facet = None if one is None else looked.facet
    found = mean_intervals(
        looked.board, [looked.lead], facet, runs=tuple(looked.columns), buckets=one
    )
    widths = {place[0]: (each.hi - each.lo) / 2 for place, each in found.items()}
    widths = {run: half for run, half in widths.items() if half > MOST_HALF_WIDTH}
    if widths:
        run = max(widths, key=widths.__getitem__)
        ends = found[run, str(looked.lead), looked.bucket]
        mean = looked.mean(looked.lead, run, looked.counted)
        n = format_count(int(looked.counted.sum()), "query", "queries")
        yield looked.caution(
            "wide interval",
            f"{n}{looked.where} say little: {looked.heading()} of {run} is "
            f"{mean:.2f}, with a 95% confidence interval from {ends.lo:.2f} to {ends.hi:.2f}.",
            run,
            value=mean,
            lo=ends.lo,
            hi=ends.hi,
        )


def leaked_queries(looked: MeansInQuestion) -> Iterator[Statement]:
    """Yield that queries known from elsewhere are in the mean, unless they were asked for alone."""
    board = looked.board
    if not board.collection.leaked or board.conventions.selected.leaked != WITH_LEAKED:
        return
    is_leaked = np.array([q in board.collection.leaked for q in board.collection.query_ids])
    leaked, others = looked.counted & is_leaked, looked.counted & ~is_leaked
    if not leaked.any() or not looked.columns:
        return
    both = {
        run: (looked.mean(looked.lead, run, looked.counted), looked.mean(looked.lead, run, others))
        for run in looked.columns
    }
    count = int(leaked.sum())
    every = format_count(int(looked.counted.sum()), "query", "queries")
    are = "is" if count == 1 else "are"
    said = f"{count:,} of the {every} in the mean{looked.where} {are} marked as leaked"
    run = max(both, key=lambda name: abs(np.nan_to_num(both[name][0] - both[name][1])))
    before, after = both[run]
    if math.isnan(after):
        said += ": no other query is left."
    elif format_number(before) == format_number(after):
        said += f": without them {looked.heading()} of {run} stays {before:.2f}."
    else:
        before_shown, after_shown = format_apart(before, after)
        said += (
            f": without {'it' if count == 1 else 'them'} {looked.heading()} of {run} is "
            f"{after_shown} instead of {before_shown}."
        )
    yield looked.caution("leaked", said, leaked=count, value=before, without=after)


@dataclass(frozen=True)
class _LowBucket:
    """A bucket in which a run's mean is far below that of all queries."""

    run: str
    facet: str
    bucket: str
    n: int
    mean: float
    whole: float


def low_bucket(looked: MeansInQuestion) -> Iterator[Statement]:
    """Yield the bucket of ten or more queries that is furthest below the mean, beyond chance."""
    board = looked.board
    is_fit = looked.lead.name in PERFECT_IS_ONE and board.weights is None
    if looked.bucket is not None or not is_fit:
        return
    tests, low = 0, []
    for facet in board.facets:
        names, group = board.groups(facet)
        for run in looked.columns if facet != looked.facet else ():
            values = looked.values(looked.lead, run, looked.counted)
            known = ~np.isnan(values)
            sample, place = values[known], group[looked.counted][known]
            sizes = np.bincount(place, minlength=len(names) + 1)[: len(names)]
            sums = np.bincount(place, sample, minlength=len(names) + 1)[: len(names)]
            fit = np.flatnonzero((sizes >= FEWEST_QUERIES) & (sizes < len(sample)))
            tests += len(fit)
            whole = mean_of(sample)
            for at in fit[sums[fit] <= FAR_BELOW * whole * sizes[fit]].tolist():
                size, mean = int(sizes[at]), float(sums[at] / sizes[at])
                low.append((_LowBucket(run, facet, str(names[at]), size, mean, whole), sample))
    sure = [each for each, of in low if _chance_of_bucket(of, each.n, each.mean) <= ALPHA / tests]
    if sure:
        worst = max(sure, key=lambda each: each.whole - each.mean)
        others = len({(each.facet, each.bucket) for each in sure}) - 1
        also = f", and {format_count(others, 'other bucket is', 'other buckets are')} low too"
        yield looked.caution(
            "low bucket",
            f"The mean hides a low bucket: {looked.heading()} of {worst.run} is {worst.whole:.2f} "
            f"over all queries, but {worst.mean:.2f} in {worst.facet} = {worst.bucket} "
            f"({worst.n:,} queries){also if others else ''}.",
            worst.run,
            facet=worst.facet,
            bucket=worst.bucket,
            bucket_n=worst.n,
            value=worst.whole,
            bucket_value=worst.mean,
        )


def _chance_of_bucket(sample: Floats, size: int, mean: float) -> float:
    """Return how often as many queries, drawn from all, have so low a mean."""
    n = len(sample)
    if n > _MOST_DRAWN:
        spread = math.sqrt(float(sample.var(ddof=1)) / size * (n - size) / n)
        return math.erfc((mean_of(sample) - mean) / spread / math.sqrt(2)) / 2 if spread else 1.0
    source, low, done = np.random.default_rng(_SEED), 0, 0
    while done < _DRAWS:
        step = min(_DRAWS - done, 2_000_000 // n)
        drawn = np.argpartition(source.random((step, n)), size - 1, axis=1)[:, :size]
        low += int(np.sum(sample[drawn].mean(axis=1) <= mean + 1e-12))
        done += step
    return (low + 1) / (_DRAWS + 1)


def unjudged_chunks(looked: MeansInQuestion, measures: Sequence[Measure]) -> Iterator[Statement]:
    """Yield the run of whose top most is not graded, down to the first cut-off there is."""
    of_chunks = [measure for measure in measures if not measure.crosses]
    with_cutoff = [measure for measure in of_chunks if measure.cutoff is not None]
    for measure in (with_cutoff or of_chunks)[:1]:
        depth = looked.board.conventions.pool_depth if measure.cutoff is None else measure.cutoff
        shares = unjudged_shares(looked.board, depth, looked.facet, looked.bucket)
        shown = {run: shares[run] for run in looked.names if run in shares}
        many = {run: share for run, share in shown.items() if share > MOST_UNJUDGED}
        if not many:
            return
        of = "the prompt" if depth == PROMPT else f"the top {depth}"
        run = max(many, key=many.__getitem__)
        said = f"{many[run]:.0%} of {of} of {run}{looked.where} is unjudged"
        if len(many) > 1:
            among = f"{len(many):,} of {len(shown):,}"
            if len(many) == len(shown):
                among = "both" if len(many) == 2 else f"all {len(many):,}"
            said = (
                f"More than {MOST_UNJUDGED:.0%} of {of}{looked.where} is unjudged in {among} runs, "
                f"most in {run} ({many[run]:.0%})"
            )
        yield looked.caution(
            "unjudged",
            f"{said}: grading these chunks can change the scores either way.",
            run,
            share=many[run],
        )


def format_apart(*values: float) -> list[str]:
    """Return numbers with two digits, with four where two would show them equal."""
    short = [f"{value:.2f}" for value in values]
    return short if len({*short}) == len(short) else [format_number(value) for value in values]
