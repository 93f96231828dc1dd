"""All that is said of two runs at once: what stands out, how sure it is, and the one answer.

Knows neither who keeps it nor what it is drawn on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labeler.analysis.comparison.answering import Answer, Lead, answer, lead_of
from labeler.analysis.comparison.deltas import Delta
from labeler.analysis.comparison.findings import Findings, findings
from labeler.analysis.comparison.splitting import Rerank
from labeler.analysis.comparison.surety import Reach, Sureties, Surety, reaches, sureties
from labeler.analysis.comparison.surviving import Survival
from labeler.analysis.comparison.verdict import rows_over
from labeler.analysis.comparison.views import View
from labeler.evaluation import WHY_NOTHING
from labeler.measures import Measure
from labeler.stats import DeltaBands, Sums, sums_of

SurvivalOf = Callable[[Measure, Surety], Survival | None]


@dataclass(frozen=True, slots=True)
class Summary:
    """What is said of two runs, and how sure each of the ``rows`` that are shown is."""

    rows: Sequence[Delta]
    findings: Findings
    tested: Sureties
    reaches: Sequence[Reach]


class Answered(NamedTuple):
    """The answer, and the one difference it is about, if it is about one."""

    answer: Answer
    lead: Lead | None = None
    is_same: bool = False

    @property
    def may_be_settled(self) -> bool:
        """Say whether there is a question that more grades could still settle."""
        if self.is_same:
            return False
        band = None if self.lead is None else self.lead.band
        return band is None or (band.is_open and not (band.lowest > 0.0 or band.highest < 0.0))


def sum_up(
    view: View,
    related: Rerank,
    bucket: str | None = None,
    names: tuple[str, str] | None = None,
    sums: Sums = sums_of,
) -> Summary:
    """Test what is shown and find what stands out, over all queries or those of one bucket.

    ``related`` and ``names`` are as `findings` takes them, ``sums`` as `reaches` does.
    """
    rows = rows_over(view.compared, bucket)
    tested = sureties(view.compared, rows)
    found = findings(view, related, bucket, names, tested)
    return Summary(rows, found, tested, reaches(view.compared, rows, sums))


def answered(
    view: View,
    summary: Summary,
    bands: DeltaBands,
    survival_of: SurvivalOf,
    names: tuple[str, str],
) -> Answered:
    """Return the answer, and how its difference comes out under each grader's own grades.

    ``bands`` are what the holes could make of the differences; ``survival_of`` is asked for the
    one measure that the answer is about. ``names`` are what A and B are called.
    """
    said = summary.findings
    if said.verdict is None:
        answered_so = said.identical or why_nothing(summary.rows, names)
        return Answered(Answer(answered_so), is_same=bool(said.identical))
    row = lead_of(said.verdict, summary.rows, view.by)
    if row is None:
        return Answered(Answer(said.verdict.sentence))
    surety, reach = summary.tested.of(row), summary.reaches[list(summary.rows).index(row)]
    band = bands.get((row.measure, row.bucket))
    retold = None if row.measure.crosses else survival_of(row.measure, surety)
    lead = Lead(row, surety, reach, band, retold)
    return Answered(answer(said.verdict, lead, view.compared.conventions, names), lead)


def why_nothing(rows: Sequence[Delta], names: tuple[str, str]) -> str:
    """Say why no measure tells two runs apart; nothing where no query has a grade at all."""
    if not any(row.undefined for row in rows):
        return ""
    return f"Nothing tells {names[0]} and {names[1]} apart: {WHY_NOTHING}"
