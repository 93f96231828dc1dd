"""Verdict on two runs and the findings beside it, in sentences.

The verdict says which run is better, as far as the tests support it. The usual measures are
tested even where they are not shown, so that no drop goes unnoticed. The findings say what a
table of means hides: where B loses most, and which buckets move against the total.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labeler.analysis.comparison.buckets import (
    Contradiction,
    assess_buckets,
    find_contradictions,
    find_worst_bucket,
    proper_buckets,
)
from labeler.analysis.comparison.deltas import Comparison, Delta, compare
from labeler.analysis.comparison.grader_sensitivity import MOST_NAMED
from labeler.analysis.comparison.query_views import ComparisonView
from labeler.analysis.comparison.recall_vs_order import CandidateOverlap, split_delta
from labeler.analysis.comparison.significance import FEW, SignificanceTable, assess_significance
from labeler.evaluation import Conventions, Scoreboard, format_signed, measures_for_runs
from labeler.measures import Measure
from labeler.model import format_count, format_list

AT_ODDS, SURE, OPEN, TOO_FEW = "no one number", "more than chance", "may be chance", "few"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which measures move from A to B, of all that were tested, and the sentence that says so.

    ``kind`` is `AT_ODDS` if some rise and others fall by more than chance, `SURE` if they only rise
    or only fall, `OPEN` if none does either, `TOO_FEW` for fewer than `FEW` queries. ``others``
    move visibly, but not by more than chance.
    """

    kind: str
    rises: tuple[Delta, ...]
    falls: tuple[Delta, ...]
    sentence: str
    others: tuple[Delta, ...] = ()

    @property
    def sure(self) -> frozenset[Measure]:
        """The measures that move by more than chance."""
        return frozenset(row.measure for row in (*self.rises, *self.falls))


def decide_verdict(
    board: Scoreboard,
    comparison: Comparison,
    bucket: str | None = None,
    names: tuple[str, str] | None = None,
    tested: SignificanceTable | None = None,
) -> Verdict | None:
    """Return which run is better, over all queries or over one bucket of the comparison's facet.

    The usual measures that were not compared are tested too, as a separate family, so that no drop
    goes unnoticed; Judged is left out. For runs of two chunkings only measures of the evidence and
    of documents count, if one of them has a value. ``tested`` are the tests of the rows shown, so
    that the verdict and the table agree; without it, the measures compared are tested as one
    family. ``names`` replace the names of A and B. Returns None if no measure has a value.
    """
    rows = _tested_rows(board, comparison, bucket, tested)
    if not rows:
        return None
    a, b = names or (comparison.a, comparison.b)
    n = max(row.n for row, _ in rows)
    if n < FEW:
        few = f"Fewer than {FEW} queries (n {n}): any difference of {b} from {a} may be chance"
        return Verdict(TOO_FEW, (), (), few)
    rises, falls = (
        tuple(row for row, is_sure in rows if is_sure and row.direction == way) for way in (1, -1)
    )
    others = [row for row, is_sure in rows if row.direction and not is_sure]
    kind, sentence = _describe_verdict(comparison.conventions, a, b, rises, falls, others)
    return Verdict(kind, rises, falls, sentence, tuple(others))


def rows_in_scope(comparison: Comparison, bucket: str | None) -> list[Delta]:
    """Return the means over all queries, or over those of one bucket."""
    if bucket is None:
        return [*comparison.deltas]
    return [row for row in comparison.buckets if row.bucket == bucket]


def _tested_rows(
    board: Scoreboard, comparison: Comparison, bucket: str | None, tested: SignificanceTable | None
) -> list[tuple[Delta, bool]]:
    """Return the rows of all measures, those compared first; True marks more than chance."""
    shown = rows_in_scope(comparison, bucket)
    tested = assess_significance(comparison, shown) if tested is None else tested
    hidden, hidden_tests = _rows_not_shown(board, comparison, bucket)
    sure = [(row, tested.of(row).is_sure) for row in shown]
    sure += [(row, hidden_tests.of(row).is_sure) for row in hidden]
    rankable = [
        (row, is_sure)
        for row, is_sure in sure
        if not math.isnan(row.delta) and not row.measure.definition.always_defined
    ]
    comparable = [each for each in rankable if each[0].measure.crosses]
    return comparable if board.collection.has_several_chunkings and comparable else rankable


def _rows_not_shown(
    board: Scoreboard, comparison: Comparison, bucket: str | None
) -> tuple[list[Delta], SignificanceTable]:
    """Return the usual measures that were not compared, and their tests."""
    asked = measures_for_runs(board.collection, (comparison.a, comparison.b))
    more = [
        measure
        for measure in board.resolve(comparison.conventions.measures(asked))
        if measure not in comparison.columns and not measure.definition.always_defined
    ]
    if not more:
        return [], SignificanceTable()
    facet = comparison.facet if bucket is not None else None
    found = compare(board, comparison.a, comparison.b, more, facet)
    rows = rows_in_scope(found, bucket)
    return rows, assess_significance(found, rows)


def _describe_verdict(
    conventions: Conventions,
    a: str,
    b: str,
    rises: Sequence[Delta],
    falls: Sequence[Delta],
    others: Sequence[Delta],
) -> tuple[str, str]:
    rising, falling = (_list_deltas(conventions, rows) for rows in (rises, falls))
    left = f"; {_count_others(others)} may be chance" if others else ""
    if rises and falls:
        verbs = ["rises" if len(rises) == 1 else "rise", "falls" if len(falls) == 1 else "fall"]
        change = f"from {a} to {b}, {rising} {verbs[0]} while {falling} {verbs[1]}"
        return AT_ODDS, f"No one number tells: {change}, each by more than chance{left}"
    if rises or falls:
        better = "better" if rises else "worse"
        return SURE, f"{b} is {better} than {a} by more than chance: {rising or falling}{left}"
    if others:
        first = _list_deltas(conventions, others[:1])
        more = f" and {_count_others(others[1:])}" if others[1:] else ""
        return OPEN, f"No measure tells {b} from {a}: {first}{more} may be chance"
    return OPEN, f"No measure moves from {a} to {b}"


def _count_others(rows: Sequence[Delta]) -> str:
    return format_count(len(rows), "other measure", "other measures")


def _list_deltas(conventions: Conventions, rows: Iterable[Delta]) -> str:
    return ", ".join(
        f"{conventions.heading(row.measure)} ({format_signed(row.delta)})" for row in rows
    )


@dataclass(frozen=True, slots=True)
class ComparisonFinding:
    """A sentence, and the row of the bucket that it is about, if it is about one."""

    sentence: str
    about: Delta | None = None


@dataclass(frozen=True, slots=True)
class ComparisonFindings:
    """All findings on two runs: the verdict first, or ``identical`` if their lists are the same.

    ``verdict`` is None for identical lists, and where no measure has a value. ``losses`` says where
    B loses most. ``parts`` split the difference into its causes, or say which deltas of a bucket
    are more than chance only if it is tested alone. ``against`` are the buckets that move against
    the total; those by the view's measure come first.
    """

    verdict: Verdict | None = None
    identical: str = ""
    losses: ComparisonFinding | None = None
    parts: tuple[str, ...] = ()
    against: tuple[ComparisonFinding, ...] = ()


def find_comparison_findings(
    view: ComparisonView,
    related: CandidateOverlap,
    bucket: str | None = None,
    names: tuple[str, str] | None = None,
    tested: SignificanceTable | None = None,
) -> ComparisonFindings:
    """Return the findings on two runs, over all queries or those of one bucket.

    ``related`` says whether B only reorders A's candidates. ``names`` replace the names of A and
    B. ``tested`` are the tests of the means shown, see `decide_verdict`. A bucket is tested
    together with all buckets of its facet.
    """
    if related.identical:
        return ComparisonFindings(identical=related.sentence)
    verdict = decide_verdict(view.board, view.compared, bucket, names, tested)
    found = [(comparison, assess_buckets(comparison)) for comparison in _compare_by_facet(view)]
    against = [each for pair in found for each in find_contradictions(pair[0], names, pair[1])]
    if bucket is not None:
        alone = [_describe_alone(*pair, bucket, verdict) for pair in found]
        kept = _contradiction_findings(view, against, bucket)
        return ComparisonFindings(verdict, parts=tuple(filter(None, alone)), against=kept)
    # if B has chunks that A has not, the parts of the difference say how much they matter
    keeps = related.within == related.queries
    return ComparisonFindings(
        verdict,
        losses=_find_loss(view, found, names),
        parts=(*([related.sentence] if keeps else []), *_describe_parts(view)),
        against=_contradiction_findings(view, against),
    )


def _describe_parts(view: ComparisonView) -> tuple[str, ...]:
    """Return the parts of the difference as a sentence; () if weighted: parts ignore weights."""
    if view.board.weights is not None:
        return ()
    parts = split_delta(view.board, view.compared.a, view.compared.b, view.by)
    return (parts.sentence,) if parts.n else ()


def find_bucket_findings(
    comparison: Comparison, names: tuple[str, str], tested: SignificanceTable
) -> tuple[ComparisonFinding | None, tuple[ComparisonFinding, ...]]:
    """Return where B loses most in one facet, and which buckets move against the total.

    ``tested`` are the tests of the facet's buckets and totals; differences that may be chance are
    left out. The loss is by the first measure; it is None if that bucket moves against the total,
    because another finding is about it already.
    """
    against = find_contradictions(comparison, names, tested)
    worst = find_worst_bucket(comparison, comparison.measures[0], tested)
    contradictions = tuple(ComparisonFinding(each.sentence, each.bucket) for each in against)
    if worst is None or worst in [each.bucket for each in against]:
        return None, contradictions
    return ComparisonFinding(describe_loss(comparison, worst, names[1]), worst), contradictions


def describe_loss(comparison: Comparison, row: Delta, b: str) -> str:
    """Return the sentence on the bucket in which B loses most, see `find_worst_bucket`."""
    change = (
        f"{comparison.conventions.heading(row.measure)} {format_signed(row.delta)} (n {row.n:,})"
    )
    return f"{b} loses most in {row.facet} = {row.bucket}: {change}, by more than chance"


def _describe_alone(
    comparison: Comparison, tested: SignificanceTable, bucket: str, verdict: Verdict | None
) -> str:
    """Return which deltas of a bucket are more than chance only if the bucket is tested alone."""
    rows = [row for row in comparison.buckets if row.bucket == bucket and not math.isnan(row.delta)]
    sure = frozenset[Measure]() if verdict is None else verdict.sure
    unsure = [row for row in rows if row.measure in sure and not tested.of(row).is_sure]
    if not unsure:
        return ""
    named = format_list([comparison.conventions.heading(row.measure) for row in unsure], MOST_NAMED)
    tests = max(tested.of(row).family for row in rows)
    return (
        f"By itself: among all buckets of {comparison.facet}, which are {tests:,} tests, {named} "
        "may be chance"
    )


def _compare_by_facet(view: ComparisonView) -> list[Comparison]:
    compared = view.compared
    facets = [compared.facet] if compared.facet else list(view.board.facets)
    return [
        compare(view.board, compared.a, compared.b, compared.measures, facet) for facet in facets
    ]


def _find_loss(
    view: ComparisonView,
    found: list[tuple[Comparison, SignificanceTable]],
    names: tuple[str, str] | None,
) -> ComparisonFinding | None:
    """Return the bucket of all facets in which B loses most by the view's measure."""
    rows = [(find_worst_bucket(by, view.by, tested), by) for by, tested in found]
    falling = [(row, comparison) for row, comparison in rows if row is not None]
    b = names[1] if names else view.compared.b
    if falling:
        row, comparison = min(falling, key=lambda each: each[0].delta)
        return ComparisonFinding(describe_loss(comparison, row, b), row)
    proper = [(row, tested) for by, tested in found for row in proper_buckets(by, view.by)]
    if not any(row.n >= FEW for row, _ in proper):
        return None
    of = f" of {view.compared.facet}" if view.compared.facet else ""
    tests = sorted({tested.of(row).family for row, tested in proper})
    over = f"{tests[0]:,} tests" if len(tests) == 1 else f"up to {tests[-1]:,} tests"
    return ComparisonFinding(
        f"In no bucket{of} does {b} lose {view.heading} by more than chance, corrected over {over}"
    )


def _contradiction_findings(
    view: ComparisonView, against: list[Contradiction], bucket: str | None = None
) -> tuple[ComparisonFinding, ...]:
    kept = [each for each in against if bucket in (None, each.bucket.bucket)]
    kept.sort(key=lambda each: (each.total.measure != view.by, -abs(each.bucket.delta)))
    return tuple(ComparisonFinding(each.sentence, each.bucket) for each in kept)
