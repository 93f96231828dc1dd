"""The answer for somebody in a hurry: what is known of two runs, how surely, what would change it.

Brings together what others have worked out, in words; works out nothing and knows no page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from labeler.analysis.comparison.deltas import Delta
from labeler.analysis.comparison.surety import Reach, Surety, chance_in_words, interval_in_words
from labeler.analysis.comparison.survival_words import NAMED
from labeler.analysis.comparison.surviving import Survival
from labeler.analysis.comparison.verdict import AT_ODDS, OPEN, SURE, TOO_FEW, Verdict
from labeler.evaluation import Conventions, signed
from labeler.measures import Measure
from labeler.model import counted, listed, upper
from labeler.stats import DEPTH, Band


@dataclass(frozen=True, slots=True)
class Lead:
    """The one difference that an answer is about, how sure it is, and what could change it.

    ``band`` is what the holes could make of it, ``survival`` how it comes out under each grader's
    own grades; None where that is not known.
    """

    row: Delta
    surety: Surety
    reach: Reach
    band: Band | None = None
    survival: Survival | None = None

    @property
    def may_turn(self) -> bool:
        """Say whether the holes are likely enough to leave open which run is ahead."""
        if self.band is None or math.isnan(self.band.low):
            return False
        return not (self.band.low > 0.0 if self.row.delta > 0.0 else self.band.high < 0.0)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is ``known`` and how surely, and what would ``change`` it, which may be nothing."""

    known: str
    change: str = ""

    @property
    def sentence(self) -> str:
        """Both together."""
        return f"{self.known}. {self.change}" if self.change else self.known


def lead_of(verdict: Verdict, rows: Sequence[Delta], asked: Measure) -> Delta | None:
    """Return which of the ``rows`` that are shown an answer is about.

    It is what was ``asked`` for, unless only another one is more than chance. None where no row
    says which run is better.
    """
    able = [r for r in rows if not r.measure.definition.always_defined and not math.isnan(r.delta)]
    able.sort(key=lambda row: row.measure != asked)
    sure = [row for row in able if row.measure in verdict.sure]
    return next(iter([*sure, *able]), None)


def answer(
    verdict: Verdict, lead: Lead, conventions: Conventions, names: tuple[str, str]
) -> Answer:
    """Put into words what is known and what would change it, by no more than the numbers bear.

    Where the holes may well turn a difference, neither run is known to be better, however
    sure the test of the queries is. ``names`` are what A and B are called.
    """
    return Answer(
        _known(verdict, lead, conventions, names), _change(verdict, lead, conventions, names)
    )


def _known(verdict: Verdict, lead: Lead, conventions: Conventions, names: tuple[str, str]) -> str:
    row = lead.row
    if verdict.kind == TOO_FEW or _is_of_others(verdict, row) or not row.direction:
        return verdict.sentence
    seen = _seen(lead, conventions)
    if verdict.kind == OPEN:
        return f"{names[1]} cannot be told from {names[0]}: {seen}{_may_be_chance(verdict, row)}"
    also = [each for each in (*verdict.rises, *verdict.falls) if each.measure != row.measure]
    if lead.may_turn:
        said = f"; also more than chance: {_listed(also, conventions)}" if also else ""
        holes = "is more than chance, but holes may turn it"
        return f"Neither is known to be better: {seen} {holes}{said}"
    better, other = names[::-1] if row.direction > 0 else names
    said = f"; also by {_listed(also, conventions)}" if also else ""
    return f"{better} is better than {other}: {seen}{said}{_may_be_chance(verdict, row)}"


def _is_of_others(verdict: Verdict, row: Delta) -> bool:
    """Say whether the verdict rests on other measures than the one that is looked at."""
    is_hidden = verdict.kind == SURE and row.measure not in verdict.sure
    return verdict.kind == AT_ODDS or is_hidden


def _seen(lead: Lead, conventions: Conventions) -> str:
    """Say how far a measure moves, between what, and how surely."""
    heading, delta = conventions.heading(lead.row.measure), signed(lead.row.delta)
    corrected = "corrected " if lead.surety.family > 1 else ""
    sure = [
        f"95% {interval_in_words(lead.reach.interval)}" if lead.reach.interval.method else "",
        f"{corrected}p {chance_in_words(lead.surety.holm)}",
    ]
    return f"{heading} {delta} ({', '.join(filter(None, sure))})"


def _may_be_chance(verdict: Verdict, row: Delta) -> str:
    others = [each for each in verdict.others if each.measure != row.measure]
    if not others:
        return ""
    return f"; {counted(len(others), 'other measure', 'other measures')} may be chance"


def _listed(rows: Sequence[Delta], conventions: Conventions) -> str:
    return listed([conventions.heading(row.measure) for row in rows], NAMED)


def _change(verdict: Verdict, lead: Lead, conventions: Conventions, names: tuple[str, str]) -> str:
    """Say what could still change it: holes, graders, and where nothing is sure, more queries."""
    if verdict.kind == TOO_FEW:
        return ""
    parts = [_of_holes(lead), _of_graders(lead, names), _of_queries(verdict, lead)]
    said = "; ".join(filter(None, parts))
    if said and _is_of_others(verdict, lead.row):
        return f"{conventions.heading(lead.row.measure)} {signed(lead.row.delta)}: {said}."
    return said and f"{upper(said)}."


def _of_holes(lead: Lead) -> str:
    band = lead.band
    if band is None or math.isnan(band.lowest):
        return ""
    if not band.is_open:
        return "no hole could change it"
    holes = f"the {band.holes:,} holes" if band.holes != 1 else "the one hole"
    holes += "" if lead.row.measure.cutoff else f" in the top {DEPTH}"
    widest = f"{signed(band.lowest)} to {signed(band.highest)}"
    likely = f"{signed(band.low)} to {signed(band.high)} (90%)"
    if band.lowest > 0.0 or band.highest < 0.0:
        return f"no grade of {holes} can turn it ({widest})"
    return f"{holes} could make it {widest}, likely {likely}"


def _of_graders(lead: Lead, names: tuple[str, str]) -> str:
    survival = lead.survival
    if survival is None or survival.why_silent is not None or not lead.row.direction:
        return ""
    if turned := survival.turned:
        more = f" and {len(turned) - 1} more" if len(turned) > 1 else ""
        first = turned[0]
        ahead = names[first.row.direction > 0] if first.row.direction else "neither"
        whose = f"with {first.reading.grader}'s grades{more}"
        return f"{whose} {ahead} is ahead ({first.changed:,} pairs differ)"
    ahead = f"{names[lead.row.direction > 0]} is ahead"
    if len(survival.telling) == len(survival.graders):
        return f"{ahead} under every grader"
    if len(survival.telling) == 1:
        return f"{ahead} with {survival.telling[0].reading.grader}'s grades, too"
    graders = listed([str(each.reading.grader) for each in survival.telling], NAMED)
    return f"{ahead} with the own grades of {graders}, too"


def _of_queries(verdict: Verdict, lead: Lead) -> str:
    """Say how many more queries would tell, where that is what is missing."""
    more = lead.reach.more_queries
    if verdict.kind != OPEN or not more or not lead.row.direction or lead.may_turn:
        return ""
    return f"about {counted(more, 'more query', 'more queries')} would tell"
