"""Headline of a comparison: which run is better, how sure that is, and what could change it.

It combines the verdict, test, unjudged range and grader sensitivity of one difference. If
the 90% range over unjudged chunks includes 0, neither run is called better, however small the
p-value is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labeler.analysis.comparison.deltas import Delta
from labeler.analysis.comparison.grader_sensitivity import MOST_NAMED, GraderSensitivity
from labeler.analysis.comparison.query_views import ComparisonView
from labeler.analysis.comparison.recall_vs_order import CandidateOverlap
from labeler.analysis.comparison.significance import (
    Power,
    Significance,
    SignificanceTable,
    assess_power,
    assess_significance,
    format_delta_interval,
    format_p_value,
)
from labeler.analysis.comparison.verdict import (
    AT_ODDS,
    OPEN,
    SURE,
    TOO_FEW,
    ComparisonFindings,
    Verdict,
    find_comparison_findings,
    rows_in_scope,
)
from labeler.evaluation import WHY_NOTHING, Conventions, format_signed
from labeler.measures import Measure
from labeler.model import capitalize_first, format_count, format_list
from labeler.stats import DEPTH, DeltaRanges, SumFunction, UnjudgedRange, resample_sums


@dataclass(frozen=True, slots=True)
class HeadlineDelta:
    """The one difference that a headline is about, how sure it is, and what could change it.

    ``band`` is its range over the grades that unjudged chunks may get, ``survival`` the difference
    with the grades of each grader alone; None where not known.
    """

    row: Delta
    surety: Significance
    reach: Power
    band: UnjudgedRange | None = None
    survival: GraderSensitivity | None = None

    @property
    def may_reverse(self) -> bool:
        """Whether the 90% range over unjudged chunks includes 0: the other run may be better."""
        if self.band is None or math.isnan(self.band.low):
            return False
        return not (self.band.low > 0.0 if self.row.delta > 0.0 else self.band.high < 0.0)


@dataclass(frozen=True, slots=True)
class Headline:
    """What is ``known`` and how sure it is; what could ``change`` it, or ""."""

    known: str
    change: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.known}. {self.change}" if self.change else self.known


def choose_headline_row(verdict: Verdict, rows: Sequence[Delta], asked: Measure) -> Delta | None:
    """Return which of the ``rows`` shown the headline is about.

    It is the row of the measure ``asked`` for. If that difference may be chance and another one is
    more than chance, it is the other. None if no row has a value; Judged is left out.
    """
    able = [r for r in rows if not r.measure.definition.always_defined and not math.isnan(r.delta)]
    able.sort(key=lambda row: row.measure != asked)
    sure = [row for row in able if row.measure in verdict.sure]
    return next(iter([*sure, *able]), None)


def write_headline(
    verdict: Verdict, lead: HeadlineDelta, conventions: Conventions, names: tuple[str, str]
) -> Headline:
    """Write what is known and what could change it.

    If the 90% range of a difference over unjudged chunks includes 0, neither run is called better,
    however small the p-value is. ``names`` are the names shown for A and B.
    """
    return Headline(
        _describe_known(verdict, lead, conventions, names),
        _describe_change(verdict, lead, conventions, names),
    )


def _describe_known(
    verdict: Verdict, lead: HeadlineDelta, conventions: Conventions, names: tuple[str, str]
) -> str:
    row = lead.row
    if verdict.kind == TOO_FEW or _rests_on_others(verdict, row) or not row.direction:
        return verdict.sentence
    delta = _format_delta(lead, conventions)
    if verdict.kind == OPEN:
        return f"{names[1]} cannot be told from {names[0]}: {delta}{_describe_others(verdict, row)}"
    others = [each for each in (*verdict.rises, *verdict.falls) if each.measure != row.measure]
    if lead.may_reverse:
        also = f"; also more than chance: {_list_measures(others, conventions)}" if others else ""
        unjudged = "is more than chance, but unjudged chunks may turn it"
        return f"Neither is known to be better: {delta} {unjudged}{also}"
    better, other = names[::-1] if row.direction > 0 else names
    also = f"; also by {_list_measures(others, conventions)}" if others else ""
    return f"{better} is better than {other}: {delta}{also}{_describe_others(verdict, row)}"


def _rests_on_others(verdict: Verdict, row: Delta) -> bool:
    """Return whether the verdict depends on measures other than the headline's."""
    is_hidden = verdict.kind == SURE and row.measure not in verdict.sure
    return verdict.kind == AT_ODDS or is_hidden


def _format_delta(lead: HeadlineDelta, conventions: Conventions) -> str:
    """Return a measure's delta with its confidence interval and p-value."""
    heading, delta = conventions.heading(lead.row.measure), format_signed(lead.row.delta)
    corrected = "corrected " if lead.surety.family > 1 else ""
    sure = [
        f"95% {format_delta_interval(lead.reach.interval)}" if lead.reach.interval.method else "",
        f"{corrected}p {format_p_value(lead.surety.holm)}",
    ]
    return f"{heading} {delta} ({', '.join(filter(None, sure))})"


def _describe_others(verdict: Verdict, row: Delta) -> str:
    others = [each for each in verdict.others if each.measure != row.measure]
    if not others:
        return ""
    return f"; {format_count(len(others), 'other measure', 'other measures')} may be chance"


def _list_measures(rows: Sequence[Delta], conventions: Conventions) -> str:
    return format_list([conventions.heading(row.measure) for row in rows], MOST_NAMED)


def _describe_change(
    verdict: Verdict, lead: HeadlineDelta, conventions: Conventions, names: tuple[str, str]
) -> str:
    """Return what could still change it: unjudged chunks, graders and, if unsure, more queries."""
    if verdict.kind == TOO_FEW:
        return ""
    parts = [
        _describe_unjudged(lead),
        _describe_graders(lead, names),
        _describe_more_queries(verdict, lead),
    ]
    text = "; ".join(filter(None, parts))
    if text and _rests_on_others(verdict, lead.row):
        return f"{conventions.heading(lead.row.measure)} {format_signed(lead.row.delta)}: {text}."
    return text and f"{capitalize_first(text)}."


def _describe_unjudged(lead: HeadlineDelta) -> str:
    band = lead.band
    if band is None or math.isnan(band.lowest):
        return ""
    if not band.is_open:
        return "no unjudged chunk could change it"
    unjudged = (
        f"the {band.unjudged:,} unjudged chunks" if band.unjudged != 1 else "the one unjudged chunk"
    )
    unjudged += "" if lead.row.measure.cutoff else f" in the top {DEPTH}"
    widest = f"{format_signed(band.lowest)} to {format_signed(band.highest)}"
    likely = f"{format_signed(band.low)} to {format_signed(band.high)} (90%)"
    if band.lowest > 0.0 or band.highest < 0.0:
        return f"no grade of {unjudged} can turn it ({widest})"
    return f"{unjudged} could make it {widest}, likely {likely}"


def _describe_graders(lead: HeadlineDelta, names: tuple[str, str]) -> str:
    survival = lead.survival
    if survival is None or survival.why_not_told is not None or not lead.row.direction:
        return ""
    if others := survival.opposed:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        first = others[0]
        ahead = names[first.row.direction > 0] if first.row.direction else "neither"
        whose = f"with {first.reading.grader}'s grades{more}"
        return f"{whose} {ahead} is ahead ({first.changed:,} pairs differ)"
    ahead = f"{names[lead.row.direction > 0]} is ahead"
    if len(survival.nameable) == len(survival.graders):
        return f"{ahead} under every grader"
    if len(survival.nameable) == 1:
        return f"{ahead} with {survival.nameable[0].reading.grader}'s grades, too"
    graders = format_list([str(each.reading.grader) for each in survival.nameable], MOST_NAMED)
    return f"{ahead} with the own grades of {graders}, too"


def _describe_more_queries(verdict: Verdict, lead: HeadlineDelta) -> str:
    more = lead.reach.more_queries
    if verdict.kind != OPEN or not more or not lead.row.direction or lead.may_reverse:
        return ""
    return f"about {format_count(more, 'more query', 'more queries')} would tell"


SensitivityLookup = Callable[[Measure, Significance], GraderSensitivity | None]


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """The findings on two runs, and the tests and intervals of the ``rows`` shown."""

    rows: Sequence[Delta]
    findings: ComparisonFindings
    tested: SignificanceTable
    reaches: Sequence[Power]


class HeadlineResult(NamedTuple):
    """The headline, and the one difference it is about, if it is about one."""

    answer: Headline
    lead: HeadlineDelta | None = None
    is_same: bool = False

    @property
    def may_be_settled(self) -> bool:
        """Whether more grades could still change the answer."""
        if self.is_same:
            return False
        band = None if self.lead is None else self.lead.band
        return band is None or (band.is_open and not (band.lowest > 0.0 or band.highest < 0.0))


def summarize_comparison(
    view: ComparisonView,
    related: CandidateOverlap,
    bucket: str | None = None,
    names: tuple[str, str] | None = None,
    sums: SumFunction = resample_sums,
) -> ComparisonSummary:
    """Test the rows shown and return the findings, over all queries or those of one bucket.

    ``related`` and ``names`` are as for `find_comparison_findings`, ``sums`` as for `assess_power`.
    """
    rows = rows_in_scope(view.compared, bucket)
    tested = assess_significance(view.compared, rows)
    found = find_comparison_findings(view, related, bucket, names, tested)
    return ComparisonSummary(rows, found, tested, assess_power(view.compared, rows, sums))


def find_headline(
    view: ComparisonView,
    summary: ComparisonSummary,
    bands: DeltaRanges,
    survival_of: SensitivityLookup,
    names: tuple[str, str],
) -> HeadlineResult:
    """Return the headline, with its difference by the grades of each grader alone.

    ``bands`` are the ranges of the differences over unjudged chunks; ``survival_of`` is called for
    the one measure that the headline is about. ``names`` are the names shown for A and B.
    """
    findings = summary.findings
    if findings.verdict is None:
        answer = findings.identical or why_no_headline(summary.rows, names)
        return HeadlineResult(Headline(answer), is_same=bool(findings.identical))
    row = choose_headline_row(findings.verdict, summary.rows, view.by)
    if row is None:
        return HeadlineResult(Headline(findings.verdict.sentence))
    significance, power = summary.tested.of(row), summary.reaches[list(summary.rows).index(row)]
    band = bands.get((row.measure, row.bucket))
    survival = None if row.measure.crosses else survival_of(row.measure, significance)
    lead = HeadlineDelta(row, significance, power, band, survival)
    return HeadlineResult(
        write_headline(findings.verdict, lead, view.compared.conventions, names), lead
    )


def why_no_headline(rows: Sequence[Delta], names: tuple[str, str]) -> str:
    """Return why no measure tells two runs apart; empty if no query has a grade."""
    if not any(row.undefined for row in rows):
        return ""
    return f"Nothing tells {names[0]} and {names[1]} apart: {WHY_NOTHING}"
