"""Pairs of runs that one table shows: tested together, and how sure each difference is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labeler.analysis import comparison
from labeler.analysis.active import Decider, can_decide
from labeler.analysis.active.certainty import how_sure, is_telling
from labeler.analysis.comparison import (
    Answer,
    Answered,
    Comparison,
    Delta,
    Lead,
    Reach,
    Sureties,
    Verdict,
)
from labeler.cli.tables import Table
from labeler.evaluation import Scoreboard, number, signed
from labeler.model import legible
from labeler.stats import Bands, DeltaBands


@dataclass(frozen=True, slots=True)
class Shown:
    """Two runs compared: the ``rows`` that the table shows of them, and their tests."""

    found: Comparison
    rows: Sequence[Delta]
    tested: Sureties

    @property
    def of_totals(self) -> Sureties:
        """The tests of the means over all queries, a family of their own where others are shown."""
        if self.found.facet is None:
            return self.tested
        return comparison.sureties(self.found, self.found.deltas)


def tested_together(found: Sequence[Comparison]) -> list[Shown]:
    """Test all that a table shows of all pairs: the means of buckets, or over all queries."""
    rows = [each.buckets if each.facet else each.deltas for each in found]
    tested = comparison.sureties_of_pairs(list(zip(found, rows, strict=True)))
    return [Shown(*parts) for parts in zip(found, rows, tested, strict=True)]


def answered(every_run: Scoreboard, shown: Shown, said: Verdict) -> Answered:
    """Return what is known of two runs, how surely, and what would change it, over all queries.

    All runs there are tell what ungraded chunks may be, as on the page, and not these two alone.
    """
    found, tested = shown.found, shown.of_totals
    row = comparison.lead_of(said, found.deltas, found.measures[0])
    if row is None:
        return Answered(Answer(said.sentence))
    [reach] = comparison.reaches(found, [row])
    bands: DeltaBands = {}
    if found.weights is None:
        bands = Bands(every_run, (found.a, found.b)).deltas(every_run, [row.measure])
    lead = Lead(row, tested.of(row), reach, bands.get((row.measure, None)))
    return Answered(comparison.answer(said, lead, found.conventions, (found.a, found.b)), lead)


def settling_in_words(
    every_run: Scoreboard, found: Comparison, answer: Answered, matters: float
) -> str:
    """Say who is ahead once all holes are graded, how surely, and how many grades would settle it.

    As Compare says it, and as there nothing where no grade can say more. ``matters`` is the least
    difference that is one.
    """
    measure = found.measures[0] if answer.lead is None else answer.lead.row.measure
    if not can_decide(measure) or not answer.may_be_settled:
        return ""
    standing = Decider().standing(every_run, found.a, found.b, measure, matters)
    if not is_telling(standing):
        return ""
    seen, band = (None, None) if answer.lead is None else (answer.lead.row, answer.lead.band)
    return how_sure(standing, found.conventions, (found.a, found.b), seen, band)


def surety_table(shown: Sequence[Shown]) -> Table:
    """Return how sure each difference is: a line for each, in the order of the table of means."""
    facet = shown[0].found.facet
    pair = ["A", "B"] if len(shown) > 1 else []
    names = [*pair, *([legible(facet)] if facet else []), "measure"]
    numbers = ["delta", "95% interval", "p", "Holm p", "finds from", "more queries"]
    lines, cautions = [], []
    for each in shown:
        runs = [legible(each.found.a), legible(each.found.b)] if pair else []
        reaches = comparison.reaches(each.found, each.rows)
        for row, reach in zip(each.rows, reaches, strict=True):
            place = [] if row.bucket is None else [legible(row.bucket)]
            heading = each.found.conventions.heading(row.measure)
            lines.append([*runs, *place, heading, *_cells(row, reach, each.tested)])
            cautions.append(comparison.cautions_of(row, reach))
    if any(cautions):
        numbers.append("caution")
        lines = [[*line, said] for line, said in zip(lines, cautions, strict=True)]
    return Table(names, numbers, lines)


def _cells(row: Delta, reach: Reach, tested: Sureties) -> list[str]:
    surety = tested.of(row)
    return [
        signed(row.delta),
        comparison.interval_in_words(reach.interval),
        comparison.chance_in_words(surety.p),
        comparison.chance_in_words(surety.holm),
        number(reach.detectable),
        comparison.more_in_words(reach),
    ]
