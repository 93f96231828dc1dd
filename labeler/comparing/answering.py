"""The one answer on top of Compare: what is known of A and B, how surely, what would change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from labeler import comparison
from labeler.comparing.surviving import survival_of
from labeler.comparison import Answer, Delta, Findings, Lead, Reach, Sureties, View
from labeler.uncertainty import DeltaBands

NAMES = ("A", "B")  # what sentences call the runs, which the table names


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


def answered(
    view: View,
    bucket: str | None,
    rows: Sequence[Delta],
    found: Findings,
    sure: tuple[Sureties, Sequence[Reach]],
    bands: DeltaBands,
) -> Answered:
    """Return the answer, and how its difference comes out under each grader's own grades.

    ``rows`` are the differences that are shown, ``sure`` their tests and what they can show,
    ``bands`` what the holes could make of them.
    """
    if found.verdict is None:
        return Answered(Answer(found.identical), is_same=bool(found.identical))
    row = comparison.lead_of(found.verdict, rows, view.by)
    if row is None:
        return Answered(Answer(found.verdict.sentence))
    tested, reaches = sure
    survival = survival_of(view, bucket, row.measure, tested.of(row))
    band = bands.get((row.measure, row.bucket))
    lead = Lead(row, tested.of(row), reaches[list(rows).index(row)], band, survival)
    answer = comparison.answer(found.verdict, lead, view.compared.conventions, NAMES)
    return Answered(answer, lead)
